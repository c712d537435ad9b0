// Out of each LR state one way: the terminal that the rest of one of its rules begins with.
//
// An LR state lies on a stack only where each of its items is valid, so one rule that can be brought to its
// end shows that every stack with this state on top leads on. It has to lead down: the end of a rule of which
// two symbols or more have been read leaves a lower stack; where it is one symbol, the states that the rule's
// left-hand side leads to count as well, so that no way goes round a left recursion for ever. What follows
// that way alone is a small part of all that can follow. These are hints: what cannot be shown with them is
// shown without.
#pragma once

#include <cstdint>
#include <vector>

#include "pushdown.hpp"

namespace pdacon {

class Exits {
  public:
    // Cost: for each reduce of a state, the states that can lie as far below as it pops.
    explicit Exits(const Pushdown& machine);

    // Whether a label is on the way out of a state.
    bool has(std::int32_t state, std::int32_t label) const {
        if (label == ignored_) return true;
        const auto wanted = first_[static_cast<std::size_t>(state)];
        return wanted == label || (wanted == kDone && closes_[static_cast<std::size_t>(label)] != 0);
    }

    // The states by the length of their ways out.
    const std::vector<std::int32_t>& nearest_first() const { return nearest_first_; }

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
        std::vector<std::int32_t> ends;  // the states in which it is complete
    };
    static Yield join(const Yield& head, const Yield& tail);
    void find_rules();
    void find_yields();
    // A rule of which a symbol or more has been read in a state: what is left of it. `lhs` counts if it has
    // been one symbol; else it is -1.
    struct Item {
        std::int32_t state, lhs;
        Yield rest;
    };
    void find_items(const Rule& rule);
    void find_rests();
    std::int32_t rank_below(const Item& item) const;
    Yield yield_of(std::int32_t symbol) const;

    const Pushdown& machine_;
    std::int32_t ignored_;
    std::vector<Rule> rules_;
    std::vector<Yield> yields_;  // of each nonterminal
    std::vector<Item> items_;
    std::vector<Yield> rests_;  // of each state: the way out, and its rank
    std::vector<std::int32_t> first_, nearest_first_;
    std::vector<std::uint8_t> closes_;  // of each label: whether it is on the way out of some state
};

}  // namespace pdacon
