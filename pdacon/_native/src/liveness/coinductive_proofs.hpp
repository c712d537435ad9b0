// Proofs that some pop controls lead to acceptance on every stack with a given state on top.
//
// A goal is a pair of a set of pop controls and the LR state on which they are. It asks whether, on every
// stack with this state on top, one of the set can be run to acceptance. A goal holds if acceptance is
// reached above the state, or if for each state that can lie below it the goal holds that the pop controls
// leave there. `accept_on_every_stack` takes the greatest fixpoint of that equation by coinduction: it
// assumes all goals that are reached from the one asked for, and refutes from there. A least fixpoint would
// refuse nesting: the state after an open bracket lies below itself.
//
// Pop controls that differ only in what is pending after their reduction do the same until the reduction is
// complete. They are one group, and are told apart only where its left-hand side has been pushed.
//
// Unusable after an exception, as are the summaries in it.
//
// Cost: for each goal one visit of the predecessors of its state, and O(log) for each refutation.
// Source: Kozen and Silva 2017, "Practical coinduction".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "base/interned_map.hpp"
#include "base/interner.hpp"
#include "liveness/summaries.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class CoinductiveProofs {
  public:
    CoinductiveProofs(const Pushdown& machine, PendingControls& controls, Budget& budget,
                      Shortcuts& shortcuts)
        : machine_(machine), budget_(budget), summaries_(machine, controls, budget, &shortcuts) {}

    // Both return the id of the set of pop controls that remain when `state` has been popped, or kAccepts
    // where acceptance is reached without popping it. They start with any one of some pending controls on the
    // state, or with any one of a set of pop controls.
    static constexpr std::int32_t kAccepts = -1;
    std::int32_t below(std::vector<std::int32_t> pending, std::int32_t state);
    std::int32_t below(std::int32_t pops, std::int32_t state);
    bool is_empty(std::int32_t pops) const { return pop_sets_[pops].empty(); }

    // Whether one of a set of pop controls leads to acceptance, whatever lies below this state.
    bool accept_on_every_stack(std::int32_t pops, std::int32_t state);

  private:
    enum class Status : std::uint8_t { kNone, kOpen, kHolds, kFails };
    struct Goal {
        Status status = Status::kNone;
        std::int32_t below = kUnknown;
    };
    static constexpr std::int32_t kUnknown = -2;
    // The pop controls of one reduction, with `left` symbols still to pop, for a set of pending controls.
    struct PopGroup {
        std::int32_t lhs, left, pending;
        auto operator<=>(const PopGroup&) const = default;
    };

    std::int32_t goal(std::int32_t pops, std::int32_t state);
    std::int32_t exposed(std::int32_t pending, std::int32_t state);
    std::int32_t find_exposed(std::span<const std::int32_t> pending, std::int32_t state);
    bool add_below(const PopGroup& complete, std::int32_t state, std::vector<PopGroup>& found);
    std::int32_t intern(std::vector<PopGroup>& groups);
    bool is_subset(std::int32_t pending, std::int32_t of) const;

    const Pushdown& machine_;
    Budget& budget_;
    Summaries summaries_;
    Interner pending_sets_;  // sets of pending controls
    Interner pop_sets_;      // sets of pop controls: their groups in ascending order, three numbers each
    InternedMap<std::int32_t> exposed_;       // by set of pending controls, and state
    InternedMap<Goal> goals_;                 // by set of pop controls, and state
    std::vector<std::int32_t> key_, joined_;  // scratch space
};

}  // namespace pdacon
