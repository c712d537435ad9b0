// Saturation of a pushdown system: from a control on a stack symbol, which controls come out when it is
// popped.
//
// Controls: a *pending* control is a label that waits to be taken to the parser (pending.hpp); a *pop*
// control is a reduction under way (left-hand side, symbols still to pop, what is pending after it).
// summary(c, s) is the set of pop controls that can expose what lies below s, and whether acceptance can be
// reached without looking below s. Tabulated on demand, so only what is asked for is computed.
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
#include "liveness/pending.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

// What need not be tabulated.
class Shortcuts {
  public:
    virtual ~Shortcuts() = default;
    // Whether a label is looked at on a state. If not, less is found than there is.
    virtual bool counts(std::int32_t label, std::int32_t state) const = 0;
    // Whether acceptance is known to be reached, on every stack with this top, once a control's label has
    // been taken there or skipped.
    virtual bool is_settled(std::int32_t control, std::int32_t top, bool skipped) = 0;
};

class Summaries {
  public:
    struct Summary {
        std::vector<std::int32_t> pops;  // ids of pop controls
        bool accepts = false;            // without a look below
    };

    // `every_step`: reduces that only lead to other ones are kept as well, to be visited.
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
    // Of a pop control: left-hand side, symbols still to pop, what is pending.
    std::array<std::int32_t, 3> pop(std::int32_t id) const {
        const auto key = pop_ids_[id];
        return {key[0], key[1], key[2]};
    }
    // Whether a label that waits on a state is looked at there and can be taken, or is skipped.
    bool goes_on(std::int32_t pending, std::int32_t state) const;
    // The production by which a label that waits on a state reduces what lies there, or -1.
    std::int32_t reduce_by_label(std::int32_t pending, std::int32_t state) const;
    // Whether the end of the text is among pending controls.
    bool has_end(std::span<const std::int32_t> pending) const;

    // What has been tabulated, of every step: each label that waits on each state, and each left-hand side of
    // which a reduction is complete above a state. Not those of empty productions, which are where a label
    // waits.
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

    // Of all that has been tabulated below pending controls on states: each label that waits on a state on
    // some way from one of these to acceptance.
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
        std::int32_t below;  // the stack symbol that the pops go on with; -1: hand them on
    };
    // What a node summarises: a pending control, a pop control, or any one of a list of pending ones.
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
    // What a pop control is below any symbol at all, as long as it is the same for all: with one symbol less
    // to pop. kNone: it has popped all of its own.
    static constexpr std::int32_t kNone = -1;
    std::int32_t lower(std::int32_t pop);
    static constexpr std::int32_t kDead = -1, kAccepted = -2;
    std::int32_t complete(std::int32_t pending, std::int32_t lhs, std::int32_t state) const;
    // What becomes of a reduction that is complete above a state: kDead, kAccepted, or the state where the
    // label waits behind the last reduce, which is one to `lhs`; or with `pop` what is looked for below.
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
    // What a pop becomes on its way through a link: another one, kAccept, or nothing; and the node that has
    // to pop something for it, or -1.
    struct Flowed {
        std::optional<std::int32_t> pop;
        std::int32_t node = -1;
    };
    Flowed flowed(const Link& link, std::int32_t pop);
    bool has(std::int32_t at, std::int32_t pop) const;
    std::vector<std::uint8_t> find_useful(std::span<const std::array<std::int32_t, 2>> roots);

    const Pushdown& machine_;
    PendingControls& pending_;
    Shortcuts* shortcuts_;  // none: all is tabulated
    bool every_step_;
    Budget& budget_;
    Interner node_ids_, pop_ids_;
    std::vector<std::int32_t> lowered_;  // of each pop control: what `lower` answers
    std::vector<Node> nodes_;
    static constexpr std::size_t kLinksPerState = 16;  // for the limit: links are small
    std::size_t num_links_ = 0;
    std::vector<std::int32_t> fresh_;  // nodes to expand
    std::deque<std::pair<std::int32_t, std::int32_t>>
        found_;  // pops to hand on, or kAccept, and of which nodes
};

}  // namespace pdacon
