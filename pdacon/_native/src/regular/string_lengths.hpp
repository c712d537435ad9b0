// How many characters a string can still have, from each state of an automaton.
//
// The states from which some string of n + 1 characters is left are those with a character to a state from
// which one of n is left: a function of the set for n alone. So the sets come again in a circle, mostly of
// one (every length from some number on, or none), and whether a string of a length is left is known for all
// lengths. Source: M. Chrobak, "Finite Automata and Unary Languages", Theoretical Computer Science 47, 1986.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pdacon {

struct CharacterDfa;

class StringLengths {
  public:
    static constexpr std::int32_t kEndless = 1 << 30;
    // By state, the states that its characters lead to, and whether a string may end there. None: it would be
    // more work than is worth it.
    static std::optional<StringLengths> of(std::span<const std::vector<std::int32_t>> targets,
                                           std::span<const std::uint8_t> accepting);
    static std::optional<StringLengths> of(const CharacterDfa& dfa);

    // Whether some string from a state has at least and at most so many characters.
    bool meet(std::int32_t state, std::int32_t least, std::int32_t most) const;
    // Where strings of all lengths from one on, and of none below, are left: that one; else -1.
    std::int32_t all_from(std::int32_t state) const;
    // From how many characters on it makes no difference how many they are; -1: it always may.
    std::int32_t settled() const { return period_ == 1 ? first_ : -1; }

  private:
    using Span = std::pair<std::int32_t, std::int32_t>;

    std::int32_t first_ = 0, period_ = 1;  // the sets for n and n + period are the same, from first on
    std::vector<std::int32_t> offset_;     // by state, into:
    std::vector<Span> spans_;              // lengths below first + 2 periods: from one to another, ascending
};

}  // namespace pdacon
