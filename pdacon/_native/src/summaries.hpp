// Saturation of a pushdown system: from a control on a stack symbol, which controls come out when it is
// popped.
//
// Controls: a *pending* control is a label that waits to be taken to the parser; a *pop* control is a
// reduction under way (left-hand side, symbols still to pop, what is pending after it). summary(c, s) is the
// set of pop controls that can expose what lies below s, each with its least cost, and the least cost of
// acceptance without looking below s. Tabulated on demand, so only what is asked for is computed.
//
// Sources: pre* by saturation (Bouajjani, Esparza & Maler 1997); summaries as in Reps, Horwitz & Sagiv 1995.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "budget.hpp"
#include "interner.hpp"
#include "pushdown.hpp"

namespace pdacon {

// What the tabulation needs to know about pending controls.
class PendingControls {
  public:
    struct Successor {
        std::int32_t control;
        std::int32_t cost;  // bytes that must be added
    };
    virtual ~PendingControls() = default;
    virtual std::int32_t label(std::int32_t control) const = 0;
    // What can be pending after the control's label has been taken, or dropped, and the context is this one:
    // a list of successors. Many controls have the same one.
    virtual std::int32_t after(std::int32_t context, std::int32_t control, bool dropped) = 0;
    std::vector<Successor> successors(std::int32_t list) const {
        const auto known = lists_[list];
        std::vector<Successor> found;
        for (std::size_t at = 0; at < known.size(); at += 2) found.push_back({known[at], known[at + 1]});
        return found;
    }

  protected:
    std::int32_t intern_list(const std::vector<Successor>& successors) {
        std::vector<std::int32_t> flat;
        for (const auto& successor : successors) flat.insert(flat.end(), {successor.control, successor.cost});
        return lists_.intern(flat);
    }
    // In a grammar with layout blocks open or close between a newline and the next lexeme, and close at the
    // end of the text. Which column a newline gets is free here: one further in is always possible, and the
    // columns further out are those of open blocks, as many as the parser lets close. Controls are named by
    // their label and residues; those of an end of the text have kAtEnd before its residue.
    static constexpr std::int32_t kAtEnd = -1;
    template <class Emit>
    static void add_blocks(const Layout& layout, Interner& ids, std::int32_t control, Emit emit) {
        const auto known = ids[control];
        std::vector<std::int32_t> key(known.begin(), known.end());
        if (key[0] == layout.newline) {
            key[0] = layout.indent;
            emit(ids.intern(key));
            key[0] = layout.dedent;
            emit(ids.intern(key));
        } else if (key[0] == layout.dedent) {
            emit(control);
        }
    }

  private:
    Interner lists_;
};

class Summaries {
  public:
    static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

    struct Result {
        std::int32_t pop;   // id of a pop control
        std::int32_t cost;  // less than kNever; kNever - 1: that much or more
    };
    struct Summary {
        std::vector<Result> results;
        std::int32_t accept = kNever;  // least cost of acceptance without a look below
    };

    Summaries(const Pushdown& machine, PendingControls& pending, Budget& budget)
        : machine_(machine), pending_(pending), budget_(budget) {}

    // References are valid until the next call.
    const Summary& pending(std::int32_t control, std::int32_t state) {
        return solve(kPending, control, state);
    }
    const Summary& pop(std::int32_t control, std::int32_t state) { return solve(kPop, control, state); }

  private:
    struct Link {
        std::int32_t target;
        std::int32_t below;  // the stack symbol that the results' pops go on with; -1: hand the results on
        std::int32_t cost;
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
    void expand(std::int32_t at);
    void expand_goto(std::int32_t at, std::int32_t pending, std::int32_t lhs, std::int32_t state);
    std::int32_t pop_control(std::int32_t lhs, std::int32_t left, std::int32_t pending);
    void link(std::int32_t source, Link link);
    void add(std::int32_t at, std::int32_t pop, std::int32_t cost);
    void accept(std::int32_t at, std::int32_t cost);
    void flow(const Link& link, const Result& result);

    const Pushdown& machine_;
    PendingControls& pending_;
    Budget& budget_;
    Interner node_ids_, pop_ids_;
    std::vector<Node> nodes_;
    static constexpr std::size_t kLinksPerState = 16;  // for the limit: links are small
    std::size_t num_links_ = 0;
    std::vector<std::int32_t> fresh_;                       // nodes to expand
    std::deque<std::pair<std::int32_t, Result>> improved_;  // results to hand on; pop -1: acceptance
};

}  // namespace pdacon
