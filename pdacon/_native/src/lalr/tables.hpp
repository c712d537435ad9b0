// Room `lalr`: productions to tables.
//
// In: productions as integers, priorities. Out: action and goto tables, and every conflict with its
// productions. It does not know what a terminal looks like.
//
// LALR(1) tables by DeRemer and Pennello's method, but with Lark's lookaheads: Lark's `includes` has pairs
// that the paper's does not have. They are reproduced, because each action row is a lexical context: with
// fewer terminals in a row, texts would be lexed otherwise. So rows equal Lark's wherever Lark accepts the
// grammar and `reads` has no cycle.
//
// Sizes: T terminals, N nonterminals, P productions, K starts, S states, G gotos. Symbols: 0..T-1 are the
// terminals, T is $END, T+1..T+N are the nonterminals. States 0..K-1 are the start states. Productions
// P..P+K-1 are the augmented starts `$root_k -> starts[k]`; as in Lark they do not end in $END, so that it is
// never shifted.
//
// Source: F. DeRemer and T. Pennello, "Efficient Computation of LALR(1) Look-Ahead Sets",
// ACM TOPLAS 4(4), 1982.
#pragma once

#include <cstdint>
#include <vector>

#include "base/budget.hpp"

namespace pdacon::lalr {

// The input, copied once and validated by build_tables.
struct Productions {
    int32_t num_terminals = 0;
    int32_t num_nonterminals = 0;
    std::vector<int32_t> lhs;         // [P] symbol
    std::vector<int32_t> rhs_offset;  // [P + 1]
    std::vector<int32_t> rhs;         // symbols
    std::vector<int32_t> priority;    // [P], only the order matters
    std::vector<int32_t> starts;      // [K] symbols, distinct

    int32_t end() const { return num_terminals; }
    bool is_terminal(int32_t symbol) const { return symbol < num_terminals; }
    int32_t nonterminal(int32_t symbol) const { return symbol - num_terminals - 1; }
};

enum class ConflictKind : int32_t { shift_reduce, reduce_reduce, reads_cycle };
enum class Settled : int32_t { no, by_shift, by_priority };

// One row of Tables::conflicts; its productions are conflict_productions[first_production ...) up to the
// first_production of the next row. `symbol` is the lookahead. A reads cycle is a cycle of two or more
// transitions in the paper's `reads`; `state` and `symbol` are its first transition, on a nonterminal.
struct Conflict {
    ConflictKind kind;
    int32_t state;
    int32_t symbol;
    int32_t shift_to;  // state or -1
    Settled settled;
    int32_t chosen;     // by priority, or -1; it may still lose to a shift: then that is another row
    int32_t lark_only;  // 1: with the paper's lookaheads, no conflict of this kind at this state and symbol
    int32_t first_production;
};

// As in Budget and MemoryLimit, zero is no limit.
struct Limits {
    int64_t states;
    int64_t bytes;
    Canceller* canceller = nullptr;
};

struct Tables {
    int32_t num_states = 0;
    int32_t num_terminals = 0;
    int32_t num_nonterminals = 0;
    std::vector<int32_t> action;  // [S, T + 1]: 0 error, k > 0 shift to k - 1, k < 0 reduce -k - 1
    // Transitions on nonterminals, ascending by state and nonterminal: most entries of a dense table would be
    // empty, and it grows with the square of the grammar.
    std::vector<int32_t> goto_offset;        // [S + 1]
    std::vector<int32_t> goto_nonterminal;   // [G]: counted from 0
    std::vector<int32_t> goto_target;        // [G]
    std::vector<int32_t> start_states;       // [K]
    std::vector<int32_t> end_states;         // [K]
    std::vector<int32_t> accessing;          // [S]: symbol, -1 for a start state
    std::vector<int32_t> kernel_offset;      // [S + 1]
    std::vector<int32_t> kernel_production;  // items of the kernel of each state, ascending
    std::vector<int32_t> kernel_dot;
    std::vector<Conflict> conflicts;  // by (state, symbol); reads cycles first
    std::vector<int32_t> conflict_productions;
};

// Throws std::invalid_argument for malformed input, LimitExceeded and OutOfBytes.
Tables build_tables(const Productions& grammar, const Limits& limits);

}  // namespace pdacon::lalr
