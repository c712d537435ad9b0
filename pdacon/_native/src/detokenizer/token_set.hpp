// Sets of tokens in a form that is cheap to add to a mask.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pdacon {

class Trie;

// The tokens at positions begin .. end of the trie's order.
using TokenRange = std::pair<std::int32_t, std::int32_t>;

// Whether setting one bit for each token of the ranges is cheaper than adding a whole mask.
bool are_few(const Trie& trie, std::span<const TokenRange> ranges);
// Appends the tokens of some ranges.
void append_tokens(const Trie& trie, std::span<const TokenRange> ranges, std::vector<std::int32_t>& tokens);

// A set, kept as ids or as a mask, whichever is cheaper to add: O(tokens) or O(words of a mask).
class TokenSet {
  public:
    TokenSet() = default;
    // The ranges are disjoint, in any order.
    TokenSet(const Trie& trie, std::vector<TokenRange> ranges);

    // Sets the bit of each token in the mask, which has as many words as the trie says.
    void add_to(std::span<std::int32_t> mask) const;
    bool is_mask() const { return !mask_.empty(); }
    std::span<const std::int32_t> ids() const { return ids_; }  // unless it is a mask
    std::size_t bytes() const { return (ids_.size() + mask_.size()) * sizeof(std::int32_t); }
    bool empty() const { return ids_.empty() && mask_.empty(); }

  private:
    std::vector<std::int32_t> ids_, mask_;
};

// Bit t % 32 of word t / 32.
inline void set_bit(std::span<std::int32_t> mask, std::int32_t token) {
    auto& word = mask[static_cast<std::size_t>(token) / 32];
    word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | 1U << (token % 32));
}

inline void clear_bit(std::span<std::int32_t> mask, std::int32_t token) {
    auto& word = mask[static_cast<std::size_t>(token) / 32];
    word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) & ~(1U << (token % 32)));
}

inline bool has_bit(const std::int32_t* mask, std::int32_t token) {
    return (static_cast<std::uint32_t>(mask[token / 32]) >> (token % 32) & 1U) != 0;
}

// Calls visit(token) for the tokens of a mask, ascending, until it returns false. Returns whether it never
// did.
template <class Visit>
bool for_each_bit(std::span<const std::int32_t> mask, Visit visit) {
    for (std::size_t word = 0; word < mask.size(); ++word)
        for (auto rest = static_cast<std::uint32_t>(mask[word]); rest != 0; rest &= rest - 1)
            if (!visit(static_cast<std::int32_t>(word) * 32 + std::countr_zero(rest))) return false;
    return true;
}

}  // namespace pdacon
