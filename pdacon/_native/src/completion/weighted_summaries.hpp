// What it costs to pop a stack symbol: from a control on it to each of the reductions that can expose what
// lies below, with what is pending then.
//
// Costs count what is more than the least yields of the grammar, so they are small numbers, and 0 along the
// shortest ways: only what costs no more than is asked for is ever tabulated.
//
// Sources: summaries as in Reps, Horwitz & Sagiv 1995; weights as in Reps, Schwoon, Jha & Melski 2005; the
// lower bound as potential: A* (Hart, Nilsson & Raphael 1968).
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "completion/least_yields.hpp"
#include "completion/weighted_controls.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class WeightedSummaries {
  public:
    static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 4;

    struct Result {
        std::int32_t control;  // what is pending at the goal
        std::int64_t cost;
    };

    WeightedSummaries(const Pushdown& machine, WeightedControls& pending, LeastYields& yields, Budget& budget)
        : machine_(machine), pending_(pending), yields_(yields), budget_(budget) {}

    // The number of a summary: from a state with any one of a list of controls pending to one of the state's
    // goals, beyond what that costs at least; and from where a reduction to `lhs` is complete above a state,
    // with one control pending.
    std::int32_t any_of(std::int32_t list, std::int32_t state, std::int32_t goal) {
        return node(kAnyOf, list, state, goal, -1);
    }
    std::int32_t completed(std::int32_t lhs, std::int32_t control, std::int32_t state, std::int32_t goal) {
        return node(kCompleted, control, state, goal, lhs);
    }
    // The same with any one of WeightedControls::any pending.
    std::int32_t completed_before_any(std::int32_t lhs, std::int32_t state, std::int32_t goal) {
        return node(kBeforeAny, -1, state, goal, lhs);
    }
    // Finds all results of a summary that cost no more than `bound`; there may be others.
    void explore(std::int32_t summary, std::int64_t bound);
    std::int64_t bound(std::int32_t summary) const { return nodes_[static_cast<std::size_t>(summary)].bound; }
    // Valid until the next call.
    const std::vector<Result>& results(std::int32_t summary) const {
        return nodes_[static_cast<std::size_t>(summary)].results;
    }

  private:
    struct Link {
        std::int32_t target;
        std::int32_t
            lhs;  // whose reduction is complete then above the target's state; -1: the goal is reached
        std::int64_t cost;
    };
    enum Kind : std::int32_t { kPending, kAnyOf, kCompleted, kBeforeAny };
    struct Node {
        std::int32_t kind, control, state, goal, lhs;
        std::int64_t bound = -1;
        bool queued = false;
        std::vector<Result> results;
        std::vector<Link> links;
    };
    // A way on: another state is on top, on its way to one of its own goals.
    struct Way {
        std::int32_t goal, lhs;  // as in Link
        std::int64_t cost;
    };
    // What a label does on a state on the way to a goal.
    struct Step {
        enum Kind : std::int32_t { kDead, kGoal, kSkip, kShift, kReduce } kind = kDead;
        std::int32_t top = -1;
        std::vector<Way> ways;
        std::int64_t least = 2 * kUnbounded;  // of the ways
    };

    std::int32_t node(std::int32_t kind, std::int32_t control, std::int32_t state, std::int32_t goal,
                      std::int32_t lhs);
    const Step& step(std::int32_t control, std::int32_t state, std::int32_t goal);
    Step find_step(std::int32_t control, std::int32_t state, std::int32_t goal);
    const Step& step_after(std::int32_t lhs, std::int32_t state, std::int32_t goal);
    void find_ways(Step& step, std::int32_t state, std::int32_t goal, std::int64_t cost, std::int64_t known);
    bool leads_on(std::int32_t control, std::int32_t state) const;
    void raise(std::int32_t at, std::int64_t bound);
    void expand(std::int32_t at);
    void expand_pending(std::int32_t at, std::int32_t control, std::int32_t state, std::int32_t goal);
    void connect_pending(std::int32_t control, std::int32_t state, std::int32_t goal, const Link& link);
    void connect(std::int32_t source, const Link& link);
    void add(std::int32_t at, std::int32_t control, std::int64_t cost);
    void flow(const Link& through, const Result& result);

    const Pushdown& machine_;
    WeightedControls& pending_;
    LeastYields& yields_;
    Budget& budget_;
    Interner node_ids_, step_ids_;
    std::vector<Node> nodes_;
    std::deque<Step> steps_;
    static constexpr std::size_t kLinksPerState = 16;  // for the limit: links are small
    std::size_t num_links_ = 0;
    std::vector<std::int32_t> raised_;                      // nodes to expand
    std::deque<std::pair<std::int32_t, Result>> improved_;  // results to hand on
};

}  // namespace pdacon
