// Room `regular`: sets of strings as deterministic automata over code points.
//
// In: sets of characters, automata whose states are positions in patterns, and Boolean combinations. Out:
// minimal deterministic automata, and the bytes that JSON writes their strings in. It does not know what a
// terminal, a lexer or a token is. Strings have no surrogates.
//
// CharacterDfa: such an automaton, its table over classes of characters that it does not tell apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"

namespace pdacon {

constexpr std::int32_t kCodePoints = 0x110000;

// A partition of the code points: those from firsts[i] up to the next first are in the class numbers[i], or
// in none (-1), so that no string has them.
struct CharacterClasses {
    std::vector<std::int32_t> firsts{0}, numbers{-1};
    std::int32_t count = 0;

    std::int32_t of(std::int32_t point) const;
};

// Ascending, disjoint, inclusive ranges of code points: first, last, first, last, ...
using CharacterRanges = std::span<const std::int32_t>;
bool is_character_set(CharacterRanges set);

// The coarsest partition in which every set is a union of classes; what is in none of them has no class.
// `members` gets the sets that each class lies in, ascending. O(ranges log ranges) and the size of the
// result.
CharacterClasses classes_of(std::span<const CharacterRanges> sets,
                            std::vector<std::vector<std::int32_t>>& members);

// State 0 is the start; without states it is the empty set. table[state * classes.count + class] is the next
// state, or -1.
struct CharacterDfa {
    CharacterClasses classes;
    std::vector<std::int32_t> table;
    std::vector<std::uint8_t> accepting;

    std::size_t size() const { return accepting.size(); }
    std::int32_t next(std::int32_t state, std::int32_t cls) const {
        return table[static_cast<std::size_t>(state) * static_cast<std::size_t>(classes.count) +
                     static_cast<std::size_t>(cls)];
    }
    bool accepts(std::span<const std::int32_t> points) const;
};

// The least automaton of the same strings: all its states are reachable and lead to acceptance, no two of
// them and no two classes are alike. States are numbered in the order in which they are first met in the
// given one, whose states must be reachable. O(n log n) in the entries of the table.
//
// Source: A. Valmari and P. Lehtinen, "Efficient Minimization of DFAs with Partial Transition Functions",
// STACS 2008, for Hopcroft's algorithm without a state for what leads nowhere.
CharacterDfa minimized(const CharacterDfa& dfa, Budget& budget);

}  // namespace pdacon
