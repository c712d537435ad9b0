// Saturation of a pushdown system: from a control on a stack symbol, which controls come out when it is
// popped.
//
// Controls: a *pending* control is a label that waits to be taken to the parser (pending_controls.hpp); a
// *pop* control is a reduction under way (left-hand side, symbols still to pop, what is pending after it).
// summary(c, s) is the set of pop controls that can expose what lies below s, and whether acceptance can be
// reached without looking below s. Tabulated on demand, so only what is asked for is computed.
//
// The table is a graph. A node is a summary, a link hands the pops of one node on to another, and each pop of
// a node flows through each of its links once. Cost: O(links x pops of their sources).
//
// Unusable after an exception, because work that was under way is lost: its owner drops it (GuardedWork).
//
// Sources: pre* by saturation (Bouajjani, Esparza & Maler 1997); summaries as in Reps, Horwitz & Sagiv 1995.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "liveness/pending_controls.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

// What a caller knows already, so that it need not be tabulated.
class Shortcuts {
  public:
    virtual ~Shortcuts() = default;
    // Whether a label counts on a state. If not, summaries lack what it leads to.
    virtual bool counts(std::int32_t label, std::int32_t state) const = 0;
    // Whether acceptance is known to be reached, on every stack with this top, once a control's label has
    // been taken there or skipped.
    virtual bool is_known_live(std::int32_t control, std::int32_t top, bool skipped) = 0;
};

class Summaries {
  public:
    struct Summary {
        std::vector<std::int32_t> pops;  // ids of pop controls
        bool accepts = false;            // acceptance is reached without looking below
    };

    // `every_step`: reduces that only lead to other reduces get nodes too, so that they can be visited.
    Summaries(const Pushdown& machine, PendingControls& pending, Budget& budget,
              Shortcuts* shortcuts = nullptr, bool every_step = false)
        : machine_(machine),
          pending_(pending),
          shortcuts_(shortcuts),
          every_step_(every_step),
          budget_(budget) {}

    // References are valid until the next call.
    const Summary& pending(std::int32_t control, std::int32_t state) {
        return solve(kPending, control, state);
    }
    // A pop control's left-hand side, symbols still to pop, and pending control.
    std::array<std::int32_t, 3> pop(std::int32_t id) const {
        const auto key = pop_ids_[id];
        return {key[0], key[1], key[2]};
    }
    // Whether a label that waits on a state counts there, and is skipped or has an action.
    bool goes_on(std::int32_t pending, std::int32_t state) const;
    // The production by which a label that waits on a state reduces what lies there, or -1.
    std::int32_t reduce_by_label(std::int32_t pending, std::int32_t state) const;
    // Whether the end of the text is among pending controls.
    bool has_end(std::span<const std::int32_t> pending) const;

    // Visit what has been tabulated with every_step: each (label, state on which it waits), and each (state,
    // left-hand side whose reduction is complete above it). The reductions of empty productions are not among
    // the latter: they are complete where their label waits.
    template <class Visit>
    void for_each_pending(Visit visit) const {
        for (const auto& node : nodes_)
            if (node.kind == kPending) visit(pending_.label(node.control), node.state);
    }
    template <class Visit>
    void for_each_completed(Visit visit) const {
        for (const auto& node : nodes_)
            if (node.kind == kPop && pop_ids_[node.control][1] == 0)
                visit(node.state, pop_ids_[node.control][0]);
    }

    // Visits of what was tabulated for some (pending control, state) each (label, state on which it waits)
    // that lies on a path from one of them to acceptance.
    template <class Visit>
    void for_each_useful_pending(std::span<const std::array<std::int32_t, 2>> roots, Visit visit) {
        const auto useful = find_useful(roots);
        for (std::size_t at = 0; at < useful.size(); ++at)
            if (useful[at] != 0 && nodes_[at].kind == kPending)
                visit(pending_.label(nodes_[at].control), nodes_[at].state);
    }

  private:
    struct Link {
        std::int32_t target;
        std::int32_t below;  // the stack symbol that the pops go on to pop; -1: none
    };
    // A node summarises a pending control, a pop control, or any one of a list of pending controls.
    enum Kind : std::int32_t { kPending, kPop, kAnyOf };
    struct Node {
        std::int32_t kind, control, state;
        Summary summary;
        std::vector<Link> links;
    };

    const Summary& solve(std::int32_t kind, std::int32_t control, std::int32_t state);
    std::int32_t node(std::int32_t kind, std::int32_t control, std::int32_t state);
    bool counts(std::int32_t control, std::int32_t state) const {
        return shortcuts_ == nullptr || shortcuts_->counts(pending_.label(control), state);
    }
    void expand(std::int32_t at);
    // The pop control with one symbol less to pop, which is the same below every symbol. kNone: it has no
    // symbol left, and its left-hand side is to be pushed.
    static constexpr std::int32_t kNone = -1;
    std::int32_t lower(std::int32_t pop);
    static constexpr std::int32_t kDead = -1, kAccepted = -2;
    std::int32_t complete(std::int32_t pending, std::int32_t lhs, std::int32_t state) const;
    // The outcome of a reduction that is complete above a state, and of the reduces that follow it there:
    // kDead, kAccepted, or the state on which the label waits after the last of them, which was to `lhs`. If
    // `pop` is given, that pop control is what remains below the state.
    struct Followed {
        std::int32_t next, lhs, pop = kNone;
    };
    Followed follow(std::int32_t pending, std::int32_t lhs, std::int32_t state);
    void expand_goto(std::int32_t at, std::int32_t pending, std::int32_t lhs, std::int32_t state);
    void take_pending(std::int32_t at, std::int32_t control, std::int32_t state);
    std::int32_t pop_control(std::int32_t lhs, std::int32_t left, std::int32_t pending);
    void link(std::int32_t source, Link link);
    void add(std::int32_t at, std::int32_t pop);
    void accept(std::int32_t at);
    static constexpr std::int32_t kAccept = -1;  // instead of a pop
    void flow(const Link& link, std::int32_t pop);
    // What a pop becomes on its way through a link: another pop, kAccept, or nothing. Or `node` has to pop
    // for it first.
    struct Flowed {
        std::optional<std::int32_t> pop;
        std::int32_t node = -1;
    };
    Flowed flowed(const Link& link, std::int32_t pop);
    bool has(std::int32_t at, std::int32_t pop) const;
    std::vector<std::uint8_t> find_useful(std::span<const std::array<std::int32_t, 2>> roots);

    const Pushdown& machine_;
    PendingControls& pending_;
    Shortcuts* shortcuts_;  // null: all is tabulated
    bool every_step_;
    Budget& budget_;
    Interner node_ids_, pop_ids_;
    std::vector<std::int32_t> lowered_;  // by pop control: the answer of `lower`
    std::vector<Node> nodes_;
    static constexpr std::size_t kLinksPerState = 16;  // links are small, and count less against the limit
    std::size_t num_links_ = 0;
    std::vector<std::int32_t> fresh_;  // nodes to expand
    std::deque<std::pair<std::int32_t, std::int32_t>>
        found_;  // nodes, and pops of theirs to hand on, or kAccept
};

}  // namespace pdacon
