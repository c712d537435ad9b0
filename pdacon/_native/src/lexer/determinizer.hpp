// Determinizes a lexer: builds the arrays of a LexingAutomaton.
//
// Most grammars need one pass of the ordered subset construction (SubsetConstruction). Where pushbacks grow,
// the automaton may be infinite, and three passes are made: the first is given up; a survey, which takes all
// pushbacks for alike and so ends, finds the cycles in which a match waits for ever (LookaheadCycles); the
// last gives up the matches that are in such a cycle.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "lexer/automaton.hpp"
#include "lexer/transitions.hpp"

namespace pdacon {

// See LexingAutomaton for what these are.
struct LexingTables {
    std::int32_t num_classes = 0;
    std::array<std::uint8_t, 256> byte_class{};
    Transitions delta;
    std::vector<std::int32_t> end, entries;
    std::vector<std::uint8_t> keeps;  // of each state, in a grammar with layout
    std::vector<Commit> commits;
    Interner pushbacks;
    std::int32_t lookahead = 0;
    std::vector<UnboundedLookahead> unbounded;
    Packed waiting_labels;
    std::vector<std::int32_t> waiting_lengths, matched, states_by_terminal;
};

// `spec` is valid, and its terminals do not match the empty text: throws std::invalid_argument otherwise;
// LimitExceeded("states" | "seconds"). Takes O(states x threads x byte classes) in most grammars; there can
// be exponentially many states, which the budget bounds.
LexingTables determinize(const LexerSpec& spec, Budget& budget);

}  // namespace pdacon
