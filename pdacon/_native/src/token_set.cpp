#include "token_set.hpp"

#include <algorithm>

#include "trie.hpp"

namespace pdacon {

namespace {

using Ranges = std::span<const TokenRange>;

void for_each_token(const Trie& trie, Ranges ranges, const auto& visit) {
    for (const auto& [begin, end] : ranges)
        for (auto position = begin; position < end; ++position) visit(trie.token(position));
}

// The ranges between the given ones.
std::vector<TokenRange> complement(const Trie& trie, Ranges ranges) {
    std::vector<TokenRange> sorted(ranges.begin(), ranges.end()), rest;
    std::sort(sorted.begin(), sorted.end());
    std::int32_t at = 0;
    for (const auto& [begin, end] : sorted) {
        if (at < begin) rest.emplace_back(at, begin);
        at = end;
    }
    if (at < trie.num_texts()) rest.emplace_back(at, trie.num_texts());
    return rest;
}

}  // namespace

TokenSet::TokenSet(const Trie& trie, Ranges ranges) {
    std::size_t count = 0;
    for (const auto& [begin, end] : ranges) count += static_cast<std::size_t>(end - begin);
    // OR-ing a mask costs about a sixteenth of setting as many single bits.
    if (count * 16 <= trie.words()) {
        ids_.reserve(count);
        for_each_token(trie, ranges, [&](std::int32_t token) { ids_.push_back(token); });
        return;
    }
    if (count * 2 <= static_cast<std::size_t>(trie.num_texts())) {
        mask_.assign(trie.words(), 0);
        for_each_token(trie, ranges, [&](std::int32_t token) { set_bit(mask_, token); });
    } else {
        mask_ = trie.texts();
        for_each_token(trie, complement(trie, ranges), [&](std::int32_t token) { clear_bit(mask_, token); });
    }
}

void TokenSet::add_to(std::span<std::int32_t> mask) const {
    for (std::size_t at = 0; at < mask_.size(); ++at) mask[at] |= mask_[at];
    for (const auto token : ids_) set_bit(mask, token);
}

}  // namespace pdacon
