// A text -> a deterministic automaton of its factors, the strings that occur in it, over the bytes of UTF-8.
//
// Source: Blumer, Blumer, Haussler, Ehrenfeucht, Chen and Seiferas 1985, "The smallest automaton recognizing
// the subwords of a text", for the automaton over code points and its construction, letter by letter.
#pragma once

#include <cstdint>
#include <span>

#include "base/budget.hpp"
#include "regular/word_automaton.hpp"

namespace pdacon {

// The factors of a text of code points, the empty one left out. A factor begins and ends between two
// characters, never within one. All states lead to a factor; state 0 is the start, nothing leads there, and
// the edges of a state ascend by byte. At most two states for each code point, and for each edge that reads
// one beyond ASCII up to three more. Takes O(length) steps, each of which looks through the edges of a state.
// Throws std::invalid_argument for what is no code point of a text, LimitExceeded("states").
WordAutomaton factor_automaton(std::span<const std::int32_t> points, Budget& budget);

}  // namespace pdacon
