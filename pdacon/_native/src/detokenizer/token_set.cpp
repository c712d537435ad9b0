#include "detokenizer/token_set.hpp"

#include <algorithm>

#include "detokenizer/trie.hpp"

namespace pdacon {

namespace {

// Cuts a range at the boundaries of blocks, and visits the pieces.
void for_each_piece(TokenRange range, const auto& visit) {
    for (auto [begin, end] = range; begin < end;) {
        const auto block = begin / Trie::kBlock;
        const auto until = std::min(end, (block + 1) * Trie::kBlock);
        visit(block, begin, until);
        begin = until;
    }
}

// The mask of ascending ranges. A block of which more than half lies in the ranges is taken as a whole, from
// the trie's prefix masks, and the tokens between the ranges are cleared again.
std::vector<std::int32_t> mask_of(const Trie& trie, std::span<const TokenRange> ranges) {
    std::vector<std::int32_t> mask(trie.words(), 0);
    std::vector<std::int32_t> inside(static_cast<std::size_t>(trie.num_blocks()), 0);
    for (const auto& range : ranges)
        for_each_piece(range, [&](std::int32_t block, std::int32_t begin, std::int32_t end) {
            inside[block] += end - begin;
        });
    const auto is_taken = [&](std::int32_t block) {
        return block >= 0 && block < trie.num_blocks() && inside[block] > Trie::kBlock / 2;
    };
    for (std::int32_t block = 0; block <= trie.num_blocks(); ++block) {
        if (is_taken(block) == is_taken(block - 1)) continue;
        const auto before = trie.before(block);
        for (std::size_t at = 0; at < mask.size(); ++at) mask[at] ^= before[at];
    }
    const auto set_all = [&](TokenRange range, bool set) {
        for_each_piece(range, [&](std::int32_t block, std::int32_t begin, std::int32_t end) {
            if (is_taken(block) == set) return;
            for (auto position = begin; position < end; ++position)
                set ? set_bit(mask, trie.token(position)) : clear_bit(mask, trie.token(position));
        });
    };
    std::int32_t at = 0;
    for (const auto& range : ranges) {
        set_all({at, range.first}, false);
        set_all(range, true);
        at = range.second;
    }
    set_all({at, trie.num_texts()}, false);
    return mask;
}

}  // namespace

bool are_few(const Trie& trie, std::span<const TokenRange> ranges) {
    std::size_t count = 0;
    for (const auto& [begin, end] : ranges) count += static_cast<std::size_t>(end - begin);
    // OR-ing a mask costs about a sixteenth of setting as many single bits.
    return count * 16 <= trie.words();
}

void append_tokens(const Trie& trie, std::span<const TokenRange> ranges, std::vector<std::int32_t>& tokens) {
    for (const auto& [begin, end] : ranges)
        for (auto position = begin; position < end; ++position) tokens.push_back(trie.token(position));
}

TokenSet::TokenSet(const Trie& trie, std::vector<TokenRange> ranges) {
    if (are_few(trie, ranges)) {
        append_tokens(trie, ranges, ids_);
        return;
    }
    if (!std::ranges::is_sorted(ranges)) std::ranges::sort(ranges);
    mask_ = mask_of(trie, ranges);
}

void TokenSet::add_to(std::span<std::int32_t> mask) const {
    for (std::size_t at = 0; at < mask_.size(); ++at) mask[at] |= mask_[at];
    for (const auto token : ids_) set_bit(mask, token);
}

}  // namespace pdacon
