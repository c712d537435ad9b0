// Out of each LR state one way: the terminal that the rest of one of its rules begins with.
//
// An LR state lies on a stack only where each of its items is valid, so one rule that can be brought to its
// end shows that every stack with this state on top leads on. It has to lead down: the end of a rule of which
// two symbols or more have been read leaves a lower stack; where it is one symbol, what the rule's left-hand
// side leads to counts as well, so that no way goes round a left recursion for ever. That depends on the
// state below: behind `del` a place is complete where an expression goes on. So a state has a way out for
// each state that can lie below it; they are mostly the same. What follows those ways alone is a small part
// of all that can follow. Where a rule is complete, what counts are the ways out of the states that it leads
// to. These are hints: what cannot be shown with them is shown without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pda/pushdown.hpp"

namespace pdacon {

class CompletionHints {
  public:
    // Cost: for each reduce of a state, the states that can lie as far below as it pops; then, as often as
    // the longest chain of unit rules is long, the pairs of a state and one below it.
    explicit CompletionHints(const Pushdown& machine);

    // Whether a label is on a way out of a state.
    bool has(std::int32_t state, std::int32_t label) const {
        const auto at =
            in_matrix(state, labels_.size() / words_, static_cast<std::size_t>(label) / 64, words_);
        return (labels_[at] >> (label % 64) & 1U) != 0;
    }

    // The states by the length of their ways out.
    const std::vector<std::int32_t>& cheapest_first() const { return cheapest_first_; }

  private:
    static constexpr std::int32_t kDone = -1;     // one of the state's rules is complete
    static constexpr std::int32_t kUnknown = -2;  // of none it is known how it ends
    static constexpr std::int32_t kEndless = 1 << 20;

    // Of a string of symbols: the fewest terminals that it derives, and the first of those.
    struct Yield {
        std::int32_t cost = kEndless, first = kUnknown;
    };
    // A production whose end is in some table row; its symbols are terminals, and nonterminals from
    // num_terminals on.
    struct Rule {
        std::int32_t lhs;
        std::vector<std::int32_t> symbols;
        std::vector<std::int32_t> ends;      // the states in which it is complete
        std::vector<std::int32_t> leads_to;  // the states in which what it makes is on top
    };
    static Yield join(const Yield& head, const Yield& tail);
    void find_rules();
    void find_yields();
    // Of a rule of which one symbol has been read in a state: what is left of it.
    struct Item {
        std::int32_t state, lhs;
        Yield rest;
    };
    void find_items(Rule& rule);
    // A state and one that lies below it are a pair; those of a state come one after another.
    std::size_t pair_of(std::int32_t state, std::int32_t below) const;
    void find_rests();
    void find_labels();
    std::span<std::uint64_t> labels_of(std::size_t state) {
        return std::span(labels_).subspan(state * words_, words_);
    }
    Yield yield_of(std::int32_t symbol) const;

    const Pushdown& machine_;
    std::vector<Rule> rules_;
    std::vector<Yield> yields_;  // of each nonterminal
    std::vector<Yield>
        downs_;  // of each state: the way out that leads down, or of the start state to the end
    std::vector<Item> items_;
    std::vector<std::size_t> first_pair_;  // of each state
    std::vector<Yield> rests_;             // of each pair: the way out, and its cost
    std::size_t words_;
    std::vector<std::uint64_t> labels_;  // of each state, by bit
    std::vector<std::int32_t> cheapest_first_;
};

}  // namespace pdacon
