// The productions that some row of the tables reduces, with their symbols, read back from the LR automaton.
//
// The tables give a production's left-hand side and length. Its symbols are those of the transitions below
// any state that reduces it: each of these states holds the same item with the dot one symbol further to the
// left, and all transitions into an LR state are over one symbol, its accessing symbol.
//
// Cost: one visit of the tables.
#pragma once

#include <cstdint>
#include <vector>

#include "pda/pushdown.hpp"

namespace pdacon {

// Symbols are terminals, and nonterminals from num_terminals on.
struct Production {
    std::int32_t lhs;
    std::vector<std::int32_t> symbols;
    std::vector<std::int32_t> reduced_in;  // the states that reduce it, ascending
};

// By LR state: its accessing symbol; -1: no transition leads there.
std::vector<std::int32_t> accessing_symbols(const Pushdown& machine);

// Only of states that the start state reaches, in the order in which their rows reduce them.
std::vector<Production> reduced_productions(const Pushdown& machine,
                                            const std::vector<std::int32_t>& accessing_symbol);

}  // namespace pdacon
