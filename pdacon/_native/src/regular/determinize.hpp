// Nondeterministic automata over code points, and Boolean combinations of deterministic ones -> the least
// deterministic automaton.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "regular/character_dfa.hpp"

namespace pdacon {

// Positions in patterns. Edge e of a position, from edge_offsets[position] up to the next, reads a character
// of the set sets[e] and leads to the positions of the list targets[e].
struct Positions {
    std::vector<CharacterRanges> sets;
    std::vector<std::int32_t> edge_offsets, edge_sets, edge_lists;
    std::vector<std::int32_t> list_offsets, lists;
    std::vector<std::uint8_t> accepting;
    std::int32_t everything = -1;  // the position of every string: beside it the others do not matter
};

// The strings that are accepted from any position of a list. The subset construction (Rabin and Scott 1959).
// Throws std::invalid_argument on inconsistent input, LimitExceeded("states").
CharacterDfa determinized(const Positions& positions, std::int32_t start_list, Budget& budget);

// A reduced ordered decision diagram: node i asks whether the string is in the language of an automaton and
// goes on with one of two nodes. Nodes 0 and 1 are false and true; the successors of a node come before it.
struct Diagram {
    std::vector<std::int32_t> automata, then, otherwise;  // of the nodes from 2 on
};

// The strings for which a diagram, from its last node on, says true. Automata whose answer is known already,
// or no longer matters, are forgotten, so that the states are about as few as the combination itself has.
// Throws std::invalid_argument on inconsistent input, LimitExceeded("states").
CharacterDfa combined(std::span<const CharacterDfa* const> automata, const Diagram& diagram, Budget& budget);

}  // namespace pdacon
