#include "trie.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "utf8.hpp"

namespace pdacon {

Trie::Trie(std::shared_ptr<const Tokens> tokens) : tokens_(std::move(tokens)) {
    std::vector<std::int32_t> order;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < size(); ++token)
        if (tokens_->has_text(token)) order.push_back(token);
    std::sort(order.begin(), order.end(), [this](std::int32_t a, std::int32_t b) {
        const auto compared = tokens_->bytes_of(a).compare(tokens_->bytes_of(b));
        return compared != 0 ? compared < 0 : a < b;
    });
    order_ = std::move(order);
    build();
}

Trie::Trie(std::shared_ptr<const Tokens> tokens, Flat<std::int32_t> order)
    : tokens_(std::move(tokens)), order_(std::move(order)) {
    require_artifact(in_order(), "the tokens are not in order");
    build();
}

bool Trie::in_order() const {
    if (!all_within(order_.view(), 0, static_cast<std::int64_t>(size()))) return false;
    std::size_t texts = 0;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < size(); ++token)
        texts += tokens_->has_text(token) ? 1 : 0;
    for (std::size_t at = 0; at < order_.size(); ++at) {
        if (!tokens_->has_text(order_[at])) return false;
        if (at == 0) continue;
        const auto compared = tokens_->bytes_of(order_[at - 1]).compare(tokens_->bytes_of(order_[at]));
        if (compared > 0 || (compared == 0 && order_[at - 1] >= order_[at])) return false;
    }
    return texts == order_.size();  // in strict order, so each of them once
}

void Trie::build() {
    build_nodes();
    summarise();
    find_alphabet();
    loops_ = std::make_unique<LoopCache>(*this);
}

void Trie::build_nodes() {
    texts_.assign(words(), 0);
    for (const auto token : order_) set_bit(texts_, token);
    std::vector<std::size_t> path;  // the nodes on the way to the last token, without the root
    const auto close = [&](std::size_t keep) {
        for (; path.size() > keep; path.pop_back())
            nodes_[path.back()].subtree_end = static_cast<std::int32_t>(nodes_.size());
    };
    nodes_.push_back({0, 0, 0, 0});
    std::string_view previous;
    for (std::size_t position = 0; position < order_.size(); ++position) {
        const auto bytes = tokens_->bytes_of(order_[position]);
        const auto common = static_cast<std::size_t>(
            std::mismatch(bytes.begin(), bytes.end(), previous.begin(), previous.end()).first -
            bytes.begin());
        if (common < bytes.size()) close(common);
        for (auto at = path.size(); at < bytes.size(); ++at) {
            path.push_back(nodes_.size());
            nodes_.push_back({0, static_cast<std::int32_t>(position), static_cast<std::int32_t>(at) + 1,
                              static_cast<std::uint8_t>(bytes[at])});
        }
        max_depth_ = std::max(max_depth_, static_cast<std::int32_t>(bytes.size()));
        previous = bytes;
    }
    close(0);
    nodes_[0].subtree_end = static_cast<std::int32_t>(nodes_.size());
    below_.resize(nodes_.size());
    nodes_.push_back({0, num_texts(), 0, 0});
}

void Trie::summarise() {
    std::vector<std::int32_t> parent(below_.size(), 0);
    std::vector<std::int32_t> path(static_cast<std::size_t>(max_depth_) + 1, 0);
    for (std::int32_t node = 1; node < num_nodes(); ++node) {
        parent[static_cast<std::size_t>(node)] = path[static_cast<std::size_t>(depth(node)) - 1];
        path[static_cast<std::size_t>(depth(node))] = node;
    }
    for (auto node = num_nodes() - 1; node > 0; --node) {
        const auto at = static_cast<std::size_t>(node), up = static_cast<std::size_t>(parent[at]);
        const auto here = byte(node);
        for (int state = 0; state < kUtf8Error; ++state) {
            const int next = utf8_step(state, here);
            if (next == kUtf8Error || !is_text_below(node, next))
                below_[up].text = static_cast<std::uint8_t>(below_[up].text & ~(1U << state));
        }
        if (here < 0x80)
            below_[up].ascii[here / 64] |= std::uint64_t{1} << (here % 64);
        else
            below_[up].other = true;
        below_[up].ascii[0] |= below_[at].ascii[0];
        below_[up].ascii[1] |= below_[at].ascii[1];
        below_[up].other |= below_[at].other;
    }
}

void Trie::find_alphabet() {
    std::array<bool, 256> single{}, used{};
    for (std::int32_t node = 1; node < num_nodes(); ++node) {
        used[byte(node)] = true;
        if (depth(node) == 1 && first_token(node) < first_token(node + 1)) single[byte(node)] = true;
    }
    if (used != single) return;
    for (std::size_t value = 0; value < 256; ++value)
        if (single[value]) alphabet_.push_back(static_cast<std::uint8_t>(value));
}

void LazyTrie::save(ArtifactWriter& artifact) const {
    tokens_->save(artifact);
    artifact.add(Part::kTokenOrder, ArtifactWriter::kShared, get().order().view());
}

const Trie& LazyTrie::get() const {
    std::call_once(once_, [this] {
        if (trie_) return;
        auto order = artifact_->array<std::int32_t>(Part::kTokenOrder, ArtifactReader::kShared);
        trie_ = std::make_shared<const Trie>(tokens_, std::move(order));
        artifact_.reset();
    });
    return *trie_;
}

}  // namespace pdacon
