// Completion hints: for each LR state the terminals with which it is cheapest to bring one of its rules to an
// end.
//
// An LR state is on a stack only where each of its kernel items is valid. So if one item can be completed
// whatever follows, every stack with this state on top is live. Proofs that follow hinted labels alone look
// at a small part of what can follow, and nearly always succeed. Nothing rests on that: where they fail, all
// labels are tried.
//
// A path must come to an end, and must not go round a left recursion. Completing an item with two symbols or
// more before its dot pops below the state, and the stack gets lower. With one symbol, the left-hand side
// takes the state's place, so the cost of that next state is added. Which state that is depends on the one
// below: the state after a name may end a statement above `del`, and be in the middle of an expression above
// others. So each pair of a state and one below it has a cheapest item, and a state's hints are those of all
// its pairs. Where the item is already complete, any lookahead of it will do: the hints of the states that
// its reduction leads to.
//
// Costs count terminals, as in Knuth 1977, "A generalization of Dijkstra's algorithm", but by rounds
// (Bellman-Ford), of which each visits what has changed (base/rounds.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/budget.hpp"
#include "base/flat.hpp"
#include "pda/productions.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class CompletionHints {
  public:
    // Cost: for each reduce of a state, the states that can lie as far below as it pops; then one visit of
    // each pair of a state and one below it, and another one whenever what follows it becomes cheaper. Throws
    // LimitExceeded("seconds").
    CompletionHints(const Pushdown& machine, Budget& budget);
    // What `save` has written for the same machine, without the order of the states. Any bits would do: what
    // is hinted at is proved all the same. Throws ArtifactDamage.
    CompletionHints(const Pushdown& machine, const ArtifactReader& artifact, std::int32_t start);
    void save(ArtifactWriter& artifact, std::int32_t start) const;

    // Whether a label is hinted at on a state.
    bool has(std::int32_t state, std::int32_t label) const {
        const auto at =
            in_matrix(state, labels_.size() / words_, static_cast<std::size_t>(label) / 64, words_);
        return (labels_[at] >> (label % 64) & 1U) != 0;
    }

    // The states by the cost of their dearest hint.
    const std::vector<std::int32_t>& cheapest_first() const { return cheapest_first_; }

  private:
    static constexpr std::int32_t kComplete = -1;  // no terminal: the item is complete
    static constexpr std::int32_t kUnknown = -2;   // no item is known to end
    static constexpr std::int32_t kEndless = 1 << 20;

    // The fewest terminals that a string of symbols derives, and the first of them.
    struct Yield {
        std::int32_t cost = kEndless, first = kUnknown;
    };
    struct Rule {
        Production production;
        std::vector<std::int32_t> leads_to;  // the states on top once its left-hand side has been pushed
    };
    static Yield join(const Yield& head, const Yield& tail);
    void find_yields(Budget& budget);
    // A kernel item with one symbol before its dot, and the yield of what comes after it.
    struct Item {
        std::int32_t state, lhs;
        Yield rest;
    };
    void find_items(Rule& rule);
    // The number of a pair of a state and one that can lie below it. The pairs of a state are consecutive.
    std::size_t pair_of(std::int32_t state, std::int32_t below) const;
    void find_cheapest(Budget& budget);
    void find_hinted_labels(Budget& budget);
    Yield yield_of(std::int32_t symbol) const;

    const Pushdown& machine_;
    std::vector<Rule> rules_;
    std::vector<Yield> yields_;  // by nonterminal
    std::vector<Yield>
        popping_;  // by state: the cheapest item that pops below it; of the start state, the whole text
    std::vector<Item> items_;
    std::vector<std::size_t> first_pair_;  // of each state
    std::vector<Yield> best_;  // by pair: the first terminal of the cheapest item, and the cost to its end
    std::size_t words_;
    Flat<std::uint64_t> labels_;  // by state, one bit for each label
    std::vector<std::int32_t> cheapest_first_;
};

}  // namespace pdacon
