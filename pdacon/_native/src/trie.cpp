#include "trie.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace pdacon {

namespace {

// The UTF-8 automaton (Unicode 15, table 3-7): state 0 lies between characters, 8 is an error.
constexpr int kUtf8States = 8;

int utf8_step(int state, std::uint8_t byte) {
    const auto in = [byte](int low, int high) { return low <= byte && byte <= high; };
    switch (state) {
        case 0:
            if (byte < 0x80) return 0;
            if (in(0xC2, 0xDF)) return 1;
            if (byte == 0xE0) return 4;
            if (byte == 0xED) return 5;
            if (in(0xE1, 0xEF)) return 2;
            if (byte == 0xF0) return 6;
            if (in(0xF1, 0xF3)) return 3;
            if (byte == 0xF4) return 7;
            return kUtf8States;
        case 1:
        case 2:
        case 3:
            return in(0x80, 0xBF) ? state - 1 : kUtf8States;
        case 4:
            return in(0xA0, 0xBF) ? 1 : kUtf8States;
        case 5:
            return in(0x80, 0x9F) ? 1 : kUtf8States;
        case 6:
            return in(0x90, 0xBF) ? 2 : kUtf8States;
        default:
            return in(0x80, 0x8F) ? 2 : kUtf8States;
    }
}

}  // namespace

Trie::Trie(std::span<const std::uint8_t> text, std::span<const std::int64_t> offsets,
           std::span<const std::int32_t> end_tokens)
    : text_(text.begin(), text.end()),
      offsets_(offsets.begin(), offsets.end()),
      end_tokens_(end_tokens.begin(), end_tokens.end()) {
    if (offsets_.size() < 2 || offsets_.front() != 0 ||
        offsets_.back() != static_cast<std::int64_t>(text_.size()) ||
        !std::is_sorted(offsets_.begin(), offsets_.end()))
        throw std::invalid_argument("vocabulary: offsets do not cover the text");
    if (text_.size() > (1U << 30)) throw std::invalid_argument("vocabulary: more than 1 GiB of text");
    is_end_.assign(size(), 0);
    for (const auto token : end_tokens_) {
        if (token < 0 || static_cast<std::size_t>(token) >= size())
            throw std::invalid_argument("vocabulary: an end token is not in it");
        is_end_[static_cast<std::size_t>(token)] = 1;
    }
    build_nodes();
    summarise();
}

void Trie::build_nodes() {
    for (std::size_t token = 0; token < size(); ++token)
        if (!is_end_[token] && offsets_[token + 1] > offsets_[token])
            order_.push_back(static_cast<std::int32_t>(token));
    std::sort(order_.begin(), order_.end(), [this](std::int32_t a, std::int32_t b) {
        const auto order = bytes_of(a).compare(bytes_of(b));
        return order != 0 ? order < 0 : a < b;
    });
    std::vector<std::int32_t> path;  // the nodes on the way to the last token, without the root
    const auto close = [&](std::size_t keep) {
        for (; path.size() > keep; path.pop_back())
            subtree_end_[static_cast<std::size_t>(path.back())] = num_nodes();
    };
    const auto open = [&](std::uint8_t byte, std::int32_t depth, std::size_t position) {
        byte_.push_back(byte);
        depth_.push_back(depth);
        subtree_end_.push_back(0);
        first_token_.push_back(static_cast<std::int32_t>(position));
        max_depth_ = std::max(max_depth_, depth);
    };
    open(0, 0, 0);
    std::string_view previous;
    for (std::size_t position = 0; position < order_.size(); ++position) {
        const auto bytes = bytes_of(order_[position]);
        const auto common = static_cast<std::size_t>(
            std::mismatch(bytes.begin(), bytes.end(), previous.begin(), previous.end()).first -
            bytes.begin());
        if (common < bytes.size()) close(common);
        for (auto at = path.size(); at < bytes.size(); ++at) {
            path.push_back(num_nodes());
            open(static_cast<std::uint8_t>(bytes[at]), static_cast<std::int32_t>(at) + 1, position);
        }
        previous = bytes;
    }
    close(0);
    subtree_end_[0] = num_nodes();
    first_token_.push_back(static_cast<std::int32_t>(order_.size()));
}

void Trie::summarise() {
    below_.resize(byte_.size());
    // Bit s: from UTF-8 state s, every way down is well-formed so far.
    std::vector<std::uint16_t> accepted(byte_.size(), (1U << kUtf8States) - 1);
    std::vector<std::int32_t> parent(byte_.size(), 0);
    std::vector<std::int32_t> path(static_cast<std::size_t>(max_depth_) + 1, 0);
    for (std::int32_t node = 1; node < num_nodes(); ++node) {
        parent[static_cast<std::size_t>(node)] = path[static_cast<std::size_t>(depth(node)) - 1];
        path[static_cast<std::size_t>(depth(node))] = node;
    }
    for (auto node = num_nodes() - 1; node > 0; --node) {
        const auto at = static_cast<std::size_t>(node), up = static_cast<std::size_t>(parent[at]);
        below_[at].well_formed = accepted[at] & 1U;
        for (int state = 0; state < kUtf8States; ++state) {
            const int next = utf8_step(state, byte_[at]);
            if (next == kUtf8States || !(accepted[at] >> next & 1U))
                accepted[up] = static_cast<std::uint16_t>(accepted[up] & ~(1U << state));
        }
        if (byte_[at] < 0x80)
            below_[up].ascii[byte_[at] / 64] |= std::uint64_t{1} << (byte_[at] % 64);
        else
            below_[up].other = true;
        below_[up].ascii[0] |= below_[at].ascii[0];
        below_[up].ascii[1] |= below_[at].ascii[1];
        below_[up].other |= below_[at].other;
    }
    below_[0].well_formed = accepted[0] & 1U;
}

}  // namespace pdacon
