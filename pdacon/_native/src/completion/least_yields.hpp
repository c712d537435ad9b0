// The fewest bytes with which the parser gets on, if every lookahead were good and lexemes needed nothing
// between them: a lower bound of what a completion costs, found from the grammar alone.
//
// The least yield of a nonterminal is the least sum over its productions. Of each LR state the kernel items
// say which reductions can expose what lies below it, and the yields of their rests what that costs.
//
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
#include "pda/pushdown.hpp"

namespace pdacon {

class LeastYields {
  public:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    // Stands for all that is as much or more: the shortest sentence can be as long as 2 to the number of
    // rules.
    static constexpr std::int64_t kMost = std::int64_t{1} << 40;
    static std::int64_t sum(std::int64_t a, std::int64_t b) {
        return a == kNever || b == kNever ? kNever : std::min(a + b, kMost);
    }

    // A reduction to `lhs` that pops a state and `left` more below it, and the least bytes up to it. Of the
    // start state and of that of acceptance the whole text, of which the left-hand side is `whole()`.
    struct Goal {
        std::int32_t lhs, left;
        std::int64_t cost;
    };

    LeastYields(const Pushdown& machine, const LexemeLengths& lengths, Budget& budget);

    std::span<const Goal> goals(std::int32_t state) const { return goals_[static_cast<std::size_t>(state)]; }
    // From where a nonterminal has been read after a state to one of the state's goals; kNever: it leads
    // elsewhere.
    std::int64_t after(std::int32_t lhs, std::int32_t state, std::int32_t goal);
    std::int32_t whole() const { return machine_.tables.num_nonterminals; }

  private:
    struct WeightedProduction {
        std::int32_t lhs;
        std::vector<std::int32_t> symbols;
        std::vector<std::int64_t> rest;  // from each symbol on, the last one: 0
    };
    struct Item {
        std::int32_t goal, next;  // the nonterminal behind the dot, -1: none
        std::int64_t rest;        // behind that
    };
    // Symbols: terminals, then nonterminals.
    std::int32_t nonterminal(std::int32_t symbol) const { return symbol - machine_.tables.num_terminals; }
    void find_productions();
    void find_yields(const LexemeLengths& lengths, Budget& budget);
    void find_goals(Budget& budget);
    void add_item(std::int32_t state, std::int32_t production, std::int32_t dot);
    const std::unordered_map<std::int32_t, std::int64_t>& corners(std::int32_t nonterminal);

    const Pushdown& machine_;
    std::vector<WeightedProduction> productions_;                 // those that are reduced, and the whole
    std::vector<std::pair<std::int32_t, std::int32_t>> reduced_;  // states and productions
    std::vector<std::vector<std::int32_t>> productions_of_;       // of each nonterminal
    std::vector<std::vector<Goal>> goals_;                        // of each state
    std::vector<std::vector<Item>> items_;                        // of each state
    // Of each nonterminal: what can come first in it, and the least that is still to be read then.
    std::unordered_map<std::int32_t, std::unordered_map<std::int32_t, std::int64_t>> corners_;
};

}  // namespace pdacon
