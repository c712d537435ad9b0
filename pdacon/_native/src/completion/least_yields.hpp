// Least yields: a lower bound of the bytes to a completion, from the grammar alone, by their weight.
//
// It is what the parser needs if every lookahead were good, and lexemes needed nothing between them. The
// least yield of a nonterminal is the least sum over its productions, with the shortest lexeme of each
// terminal. A kernel item of an LR state says which reduction can expose what lies below it, and the yield
// after its dot what that costs.
//
// Cost: one visit of the tables, then Knuth's algorithm, O(n log n) in the size of the grammar.
// Source: Knuth 1977, "A generalization of Dijkstra's algorithm".
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "completion/lexeme_lengths.hpp"
#include "completion/weights.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class LeastYields {
  public:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int64_t kMost = Weights::kMost;  // sums saturate here
    static std::int64_t sum(std::int64_t a, std::int64_t b) {
        return a == kNever || b == kNever ? kNever : std::min(a + b, kMost);
    }

    // A kernel-item reduction of an LR state: to `lhs`, which pops the state and `left` more below it, and
    // the least bytes until it is complete. The start state and the accepting state have one more, the end of
    // the whole text, whose left-hand side is `whole_text()`.
    struct KernelReduction {
        std::int32_t lhs, left;
        std::int64_t cost;
    };

    LeastYields(const Pushdown& machine, const LexemeLengths& lengths, const Weights& weights,
                Budget& budget);

    std::span<const KernelReduction> reductions(std::int32_t state) const { return reductions_[state]; }
    // The least bytes from where the reduction to `lhs` is complete above a state until one of the state's
    // own reductions is; kNever: it does not lead there.
    std::int64_t after(std::int32_t lhs, std::int32_t state, std::int32_t reduction);
    std::int32_t whole_text() const { return machine_.tables.num_nonterminals; }

  private:
    struct WeightedProduction {
        std::int32_t lhs;
        std::vector<std::int32_t> symbols;
        std::vector<std::int64_t> rest;  // by position of the dot: the yield after it
    };
    struct Item {
        std::int32_t reduction, next;  // the nonterminal after the dot, -1: none
        std::int64_t rest;             // after that
    };
    // Negative for terminals, which come first among symbols.
    std::int32_t nonterminal(std::int32_t symbol) const { return symbol - machine_.tables.num_terminals; }
    void find_productions();
    void find_yields(const LexemeLengths& lengths, const Weights& weights, Budget& budget);
    void find_reductions(Budget& budget);
    void add_item(std::int32_t state, std::int32_t production, std::int32_t dot);
    const std::unordered_map<std::int32_t, std::int64_t>& left_corners(std::int32_t nonterminal);

    const Pushdown& machine_;
    std::vector<WeightedProduction> productions_;  // those that are reduced; last, the whole text
    std::vector<std::pair<std::int32_t, std::int32_t>> reduced_;  // (state, production), ascending
    std::vector<std::vector<std::int32_t>> productions_of_;       // of each nonterminal
    std::vector<std::vector<KernelReduction>> reductions_;        // of each state
    std::vector<std::vector<Item>> items_;                        // of each state
    // By nonterminal: its left corners, each with the least yield of what comes after it.
    std::unordered_map<std::int32_t, std::unordered_map<std::int32_t, std::int64_t>> left_corners_;
};

}  // namespace pdacon
