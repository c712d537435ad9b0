// Weighted summaries: what it costs to pop a stack symbol, from a control on it to each reduction that
// exposes what lies below, with what is pending then.
//
// As Summaries (liveness/summaries.hpp), with three differences. A cost counts only bytes beyond the least
// yields of the grammar, so it is a small number, and 0 along a shortest path. Summaries are told apart by
// the kernel reduction they lead to, because the yields differ by it. And a summary is explored only as far
// as a bound that is asked for, and raised later: most pops cost nothing or little more.
//
// Cost: O(links x results of their sources), of those within the bounds.
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
#include "base/interned_map.hpp"
#include "completion/least_yields.hpp"
#include "completion/weighted_controls.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class WeightedSummaries {
  public:
    static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 4;

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
    // Finds all results of a summary that cost no more than `bound`; there may be others.
    void explore(std::int32_t summary, std::int64_t bound);
    std::int64_t bound(std::int32_t summary) const { return nodes_[summary].bound; }
    // Valid until the next call.
    const std::vector<Result>& results(std::int32_t summary) const { return nodes_[summary].results; }

  private:
    struct Link {
        std::int32_t target;
        std::int32_t
            lhs;  // its reduction is complete above the target's state then; -1: results are handed on
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
    // After a push: one of the new top's kernel reductions that leads on, and its cost beyond the least
    // yields.
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
                            std::int64_t known);
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
    static constexpr std::size_t kLinksPerState = 16;  // links are small, and count less against the limit
    std::size_t num_links_ = 0;
    std::vector<std::int32_t> raised_;  // nodes to expand anew, as their bounds were raised
    std::deque<std::pair<std::int32_t, Result>>
        improved_;  // nodes, and new or cheaper results of theirs to hand on
};

}  // namespace pdacon
