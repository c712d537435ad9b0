// Room `frontends`: what a front end makes where Python would be too slow: automata over bytes, productions.
//
// In: automata over code points, words; formulas about objects and arrays. Out: automata over bytes, which
// become terminals, and productions (containers.hpp). It does not know what a lexer is, nor any schema.
//
// ByteAutomaton: a deterministic automaton as flat arrays.
#pragma once

#include <cstdint>
#include <vector>

namespace pdacon {

// States with the ranges of bytes that lead from each to others, ascending and disjoint. State 0 is the
// start.
struct ByteAutomaton {
    std::vector<std::int32_t> offset{0};
    std::vector<std::uint8_t> low, high;
    std::vector<std::int32_t> target;

    // Adds an edge to the last state that is not ended.
    void add(std::uint8_t from, std::uint8_t to, std::int32_t state) {
        low.push_back(from);
        high.push_back(to);
        target.push_back(state);
    }
    void end_state() { offset.push_back(static_cast<std::int32_t>(target.size())); }
};

}  // namespace pdacon
