#include "detokenizer/trie.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/utf8.hpp"
#include "detokenizer/labels.hpp"
#include "detokenizer/token_set.hpp"

namespace pdacon {

namespace {

// The tokens that have a text, by their bytes, then by their ids. Most are told apart by their first bytes.
std::vector<std::int32_t> ordered(const Tokens& tokens) {
    std::vector<std::pair<std::uint64_t, std::int32_t>> keyed;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < tokens.num_texts(); ++token) {
        if (!tokens.has_text(token)) continue;
        const auto bytes = tokens.bytes_of(token);
        std::uint64_t first = 0;
        for (std::size_t at = 0; at < sizeof(first); ++at)
            first = first << 8 | (at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0U);
        keyed.emplace_back(first, token);
    }
    std::ranges::sort(keyed, [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        const auto compared = tokens.bytes_of(a.second).compare(tokens.bytes_of(b.second));
        return compared != 0 ? compared < 0 : a.second < b.second;
    });
    std::vector<std::int32_t> order;
    for (const auto& [first, token] : keyed) order.push_back(token);
    return order;
}

}  // namespace

Trie::Trie(std::shared_ptr<const Tokens> tokens) : tokens_(std::move(tokens)), order_(ordered(*tokens_)) {
    build();
}

Trie::Trie(std::shared_ptr<const Tokens> tokens, Flat<std::int32_t> order)
    : tokens_(std::move(tokens)), order_(std::move(order)) {
    require_artifact(all_within(order_.view(), 0, static_cast<std::int64_t>(size())),
                     "an order of other tokens");
    build();
}

// Throws ArtifactDamage if the order is not that of all tokens with a text.
void Trie::build() {
    std::size_t texts = 0;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < size(); ++token)
        texts += tokens_->has_text(token) ? 1 : 0;
    require_artifact(texts == order_.size(), "tokens are missing in their order");
    build_nodes(common_prefixes());
    build_blocks();
    find_alphabet();
}

// Of each token in order: how many bytes it has in common with the one before it.
std::vector<std::int32_t> Trie::common_prefixes() const {
    std::vector<std::int32_t> found(order_.size(), 0);
    bool ascending = true;
    std::string_view previous;
    for (std::size_t at = 0; at < order_.size(); ++at) {
        const auto bytes = tokens_->bytes_of(order_[at]);
        const auto most = std::min(bytes.size(), previous.size());
        std::size_t common = 0;
        while (common < most && bytes[common] == previous[common]) ++common;
        found[at] = static_cast<std::int32_t>(common);
        if (common < most)
            ascending &=
                static_cast<std::uint8_t>(previous[common]) < static_cast<std::uint8_t>(bytes[common]);
        else if (bytes.size() == previous.size())
            ascending &= !bytes.empty() && order_[at - 1] < order_[at];
        else
            ascending &= previous.size() < bytes.size();
        previous = bytes;
    }
    require_artifact(ascending, "the tokens are not in order");
    return found;
}

void Trie::build_nodes(std::span<const std::int32_t> common_prefixes) {
    std::size_t count = 2;  // the root, and the end
    for (std::size_t at = 0; at < order_.size(); ++at)
        count += tokens_->bytes_of(order_[at]).size() - static_cast<std::size_t>(common_prefixes[at]);
    nodes_.reserve(count);
    below_.reserve(count);
    const auto open = [&](std::size_t position, std::size_t depth, std::uint8_t byte) {
        nodes_.push_back({0, static_cast<std::int32_t>(position), static_cast<std::int32_t>(depth), byte});
        below_.emplace_back();
    };
    std::vector<std::size_t> path{0};  // the nodes on the way to the last token
    const auto close = [&](std::size_t keep) {
        for (; path.size() > keep; path.pop_back()) {
            const auto at = path.back();
            nodes_[at].subtree_end = static_cast<std::int32_t>(nodes_.size());
            if (path.size() > 1) below_[path[path.size() - 2]].add(nodes_[at].byte, below_[at]);
        }
    };
    open(0, 0, 0);
    for (std::size_t position = 0; position < order_.size(); ++position) {
        const auto bytes = tokens_->bytes_of(order_[position]);
        const auto common = static_cast<std::size_t>(common_prefixes[position]);
        if (common < bytes.size()) close(common + 1);
        for (auto at = path.size() - 1; at < bytes.size(); ++at) {
            path.push_back(nodes_.size());
            open(position, at + 1, static_cast<std::uint8_t>(bytes[at]));
        }
        max_depth_ = std::max(max_depth_, static_cast<std::int32_t>(bytes.size()));
    }
    close(0);
    nodes_.push_back({0, num_texts(), 0, 0});
}

void Trie::build_blocks() {
    before_.reserve((static_cast<std::size_t>(num_blocks()) + 1) * words());
    std::vector<std::int32_t> mask(words(), 0);
    for (std::int32_t position = 0; position < num_texts(); ++position) {
        if (position % kBlock == 0) before_.insert(before_.end(), mask.begin(), mask.end());
        set_bit(mask, token(position));
    }
    before_.insert(before_.end(), mask.begin(), mask.end());
}

void Trie::SubtreeBytes::add(std::uint8_t byte, const SubtreeBytes& child) {
    std::uint8_t utf8_before = child.utf8 & 1U;  // an ASCII byte is text between characters
    if (byte < 0x80) {
        ascii[byte / 64] |= std::uint64_t{1} << (byte % 64);
    } else {
        other = true;
        utf8_before = 0;
        for (int state = 0; state < kUtf8Error; ++state) {
            const int next = utf8_step(state, byte);
            if (next != kUtf8Error && (child.utf8 >> next & 1U) != 0)
                utf8_before = static_cast<std::uint8_t>(utf8_before | 1U << state);
        }
    }
    utf8 &= utf8_before;
    ascii[0] |= child.ascii[0];
    ascii[1] |= child.ascii[1];
    other |= child.other;
}

void Trie::find_alphabet() {
    std::array<bool, 256> single{}, used{};
    for (std::int32_t node = 1; node < num_nodes(); ++node) {
        used[byte(node)] = true;
        if (tokens_->num_labels() > 0 && byte(node) >= Labels::kFirstByte) single[byte(node)] = true;
        if (depth(node) == 1 && first_token(node) < first_token(node + 1)) single[byte(node)] = true;
    }
    if (used != single) return;
    for (std::size_t value = 0; value < 256; ++value)
        if (single[value]) alphabet_.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace pdacon
