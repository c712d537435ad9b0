// Finite sets of strings -> their least deterministic automata over bytes.
//
// Source: Daciuk, Mihov, Watson and Watson 2000, "Incremental construction of minimal acyclic finite-state
// automata", for words in ascending order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"

namespace pdacon {

// State 0 is the start, and nothing leads there. The edges of a state ascend by byte, and lead to states with
// higher numbers. All states lead to a word.
struct WordAutomaton {
    std::vector<std::int32_t> offset{0};
    std::vector<std::uint8_t> byte;
    std::vector<std::int32_t> target;
    std::vector<std::uint8_t> accepting;

    std::size_t size() const { return accepting.size(); }
};

// The automaton of words, given one after the other, in any order and any number of times. Takes the time
// of sorting them, and O(letters). Throws std::invalid_argument where the lengths do not fit,
// LimitExceeded("states").
WordAutomaton word_automaton(std::span<const std::uint8_t> letters, std::span<const std::int32_t> lengths,
                             Budget& budget);

}  // namespace pdacon
