// The LR(0) automaton: states are hash-consed kernels, numbered breadth first from the starts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hpp"
#include "lalr/tables.hpp"

namespace pdacon::lalr {

// The productions with the augmented starts appended, and their items. Item = rhs_offset[p] + p + dot, so
// that advancing the dot is adding one.
struct Items {
    explicit Items(const Productions& grammar);

    int32_t num_productions;            // without the augmented starts
    std::vector<int32_t> first;         // [P + K + 1]: the item of a production with the dot in front
    std::vector<int32_t> next;          // symbol after the dot, -1 at the end
    std::vector<int32_t> production;    // of each item
    std::vector<int32_t> origin;        // [P + K]: lhs as a nonterminal number, -1 for augmented starts
    std::vector<int32_t> rules_offset;  // [N + 1]
    std::vector<int32_t> rules;         // productions of each nonterminal

    int32_t length(int32_t p) const { return first[p + 1] - first[p] - 1; }
    std::span<const int32_t> rules_of(int32_t nonterminal) const {
        return {rules.data() + rules_offset[nonterminal], rules.data() + rules_offset[nonterminal + 1]};
    }
};

struct Automaton {
    std::vector<int32_t> accessing;    // [S]
    Interner kernels;                  // of states: items, ascending
    std::vector<int32_t> edge_offset;  // [S + 1]
    std::vector<int32_t> edge_symbol;  // ascending in each state: terminals come first
    std::vector<int32_t> edge_target;
    std::vector<int32_t> reduction_offset;  // [S + 1]
    std::vector<int32_t> reduction;         // productions complete in the state, ascending

    int32_t num_states() const { return static_cast<int32_t>(accessing.size()); }
};

// Time is linear in the sum of the closures' sizes.
Automaton build_automaton(const Productions& grammar, const Items& items, Budget& budget);

}  // namespace pdacon::lalr
