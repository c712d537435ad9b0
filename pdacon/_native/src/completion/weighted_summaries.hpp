// Weighted summaries: what it costs to pop a stack symbol, from a control on it to each reduction that
// exposes what lies below, with what is pending then.
//
// As Summaries (liveness/summaries.hpp), with three differences. The least yields of the grammar are a
// potential: a cost counts only the bytes beyond them, so it is a small number, and 0 along a shortest path.
// Summaries are told apart by the kernel reduction they lead to, because the yields differ by it. And they
// are deepened iteratively: a summary is explored only as far as a bound that is asked for, and raised later,
// because most pops cost nothing or little more.
//
// A summary whose bound is raised is expanded again, and asks its sources for more. Results are handed on as
// they are found, not in the order of their costs, so one may be found again at less cost.
//
// Unusable after an exception, because work that was under way is lost: its owner drops it (GuardedWork).
//
// Cost: for each bound of a summary O(links x results of their sources) within it, and again for results that
// are found at less cost. Completion raises a bound by an eighth, and in the end to all there is, so that
// bounds are few. A link is looked for among those of its source one by one. Sources: summaries as in Reps,
// Horwitz and Sagiv 1995; weights as in Reps, Schwoon, Jha and Melski 2005; potentials as in Johnson 1977,
// "Efficient algorithms for shortest paths in sparse networks"; deepening as in Korf 1985, "Depth-first
// iterative-deepening".
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interned_map.hpp"
#include "completion/least_yields.hpp"
#include "completion/weighted_controls.hpp"
#include "completion/weights.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class WeightedSummaries {
  public:
    static constexpr std::int64_t kUnbounded = 2 * Weights::kMost;

    struct Result {
        std::int32_t control;  // what is pending when the reduction is complete
        std::int64_t cost;
    };

    WeightedSummaries(const Pushdown& machine, WeightedControls& pending, LeastYields& yields, Budget& budget)
        : machine_(machine), pending_(pending), yields_(yields), budget_(budget) {}

    // The numbers of summaries. `any_of`: from a state with any one of a list of controls pending to one of
    // the state's kernel reductions. `completed`: to it from where the reduction to `lhs` is complete above
    // the state, with one control pending.
    std::int32_t any_of(std::int32_t list, std::int32_t state, std::int32_t reduction) {
        return node(kAnyOf, list, state, reduction, -1);
    }
    std::int32_t completed(std::int32_t lhs, std::int32_t control, std::int32_t state,
                           std::int32_t reduction) {
        return node(kCompleted, control, state, reduction, lhs);
    }
    // As `completed`, with any one of WeightedControls::any pending.
    std::int32_t completed_before_any(std::int32_t lhs, std::int32_t state, std::int32_t reduction) {
        return node(kBeforeAny, -1, state, reduction, lhs);
    }
    // Finds all results of a summary that cost no more than `bound`. It may have others, too.
    void explore(std::int32_t summary, std::int64_t bound);
    std::int64_t bound(std::int32_t summary) const { return nodes_[summary].bound; }
    // Valid until the next call.
    const std::vector<Result>& results(std::int32_t summary) const { return nodes_[summary].results; }

  private:
    // Hands the results of a source on to `target`. `lhs`: its reduction is complete above the target's state
    // then; -1: the results are the target's own.
    struct Link {
        std::int32_t target, lhs;
        std::int64_t cost;
    };
    enum Kind : std::int32_t { kPending, kAnyOf, kCompleted, kBeforeAny };
    struct Node {
        std::int32_t kind, control, state, reduction, lhs;
        std::int64_t bound = -1;
        bool queued = false;
        std::vector<Result> results;
        std::vector<Link> links;
    };
    // After a push: a kernel reduction of the new top that leads on, and its cost beyond the least yields.
    struct Continuation {
        std::int32_t reduction, lhs;  // as in Link
        std::int64_t cost;
    };
    // What a label does on a state, if that is to lead to a kernel reduction of it. kExposes: it completes
    // the reduction. kGoto: an empty production is reduced, or a nonterminal pushed, and the label waits on a
    // new top.
    struct Step {
        enum Kind : std::int32_t { kDead, kExposes, kSkip, kShift, kGoto } kind = kDead;
        std::int32_t top = -1;
        std::vector<Continuation> continuations;
        std::int64_t least = 2 * kUnbounded;  // the least cost of the continuations
    };

    std::int32_t node(std::int32_t kind, std::int32_t control, std::int32_t state, std::int32_t reduction,
                      std::int32_t lhs);
    const Step& step(std::int32_t control, std::int32_t state, std::int32_t reduction);
    Step find_step(std::int32_t control, std::int32_t state, std::int32_t reduction);
    const Step& step_after(std::int32_t lhs, std::int32_t state, std::int32_t reduction);
    void find_continuations(Step& step, std::int32_t state, std::int32_t reduction, std::int64_t cost,
                            std::int64_t potential);
    bool leads_on(std::int32_t control, std::int32_t state) const;
    void raise(std::int32_t at, std::int64_t bound);
    void expand(std::int32_t at);
    void expand_pending(std::int32_t at, std::int32_t control, std::int32_t state, std::int32_t reduction);
    void connect_pending(std::int32_t control, std::int32_t state, std::int32_t reduction, const Link& link);
    void connect(std::int32_t source, const Link& link);
    void add(std::int32_t at, std::int32_t control, std::int64_t cost);
    void flow(const Link& through, const Result& result);

    const Pushdown& machine_;
    WeightedControls& pending_;
    LeastYields& yields_;
    Budget& budget_;
    InternedMap<Node> nodes_;  // by kind, control, state, reduction and left-hand side
    // By label, column, state and reduction; those after a reduction by its left-hand side, state and
    // reduction.
    InternedMap<Step, std::deque<Step>> steps_;
    // Nodes and links are smaller than states of automata, and count less against the limit.
    static constexpr std::size_t kNodesPerState = 4, kLinksPerState = 16;
    std::size_t num_links_ = 0;
    std::vector<std::int32_t> raised_;                      // nodes to expand, as their bounds were raised
    std::deque<std::pair<std::int32_t, Result>> improved_;  // of nodes: results to hand on, new or cheaper
};

}  // namespace pdacon
