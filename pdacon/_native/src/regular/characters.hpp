// Automata over the bytes of UTF-8 -> automata over the characters that those spell.
#pragma once

#include <cstdint>
#include <span>

#include "base/budget.hpp"
#include "regular/character_dfa.hpp"

namespace pdacon {

enum class ByteState : std::uint8_t { kBytes, kSplit, kEnd, kNowhere };

// A nondeterministic automaton over bytes. A kBytes state has edges that read a byte of a range; a kSplit
// state is any of the targets of its edges; a kEnd state accepts, a kNowhere state does not, and their edges
// do not count. Splits form no cycle.
struct ByteNfa {
    std::span<const std::uint8_t> kind;  // ByteState of each state
    std::span<const std::int32_t> offset;
    std::span<const std::uint8_t> low, high;  // of each edge
    std::span<const std::int32_t> target;
};

// The least automaton over characters of the texts that are accepted from a state: the subset construction,
// after which the bytes between two characters are read at once. Throws std::invalid_argument if the arrays
// do not fit together or something else than UTF-8 is read, LimitExceeded("states") where there are more
// subsets.
CharacterDfa characters_of(const ByteNfa& bytes, std::int32_t start, Budget& budget);

}  // namespace pdacon
