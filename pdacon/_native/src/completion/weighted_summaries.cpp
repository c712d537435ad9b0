#include "completion/weighted_summaries.hpp"

#include <algorithm>
#include <tuple>

namespace pdacon {

void WeightedSummaries::explore(std::int32_t summary, std::int64_t bound) {
    raise(summary, bound);
    while (!raised_.empty() || !improved_.empty()) {
        budget_.tick();
        if (!raised_.empty()) {
            const auto at = raised_.back();
            raised_.pop_back();
            nodes_[at].queued = false;
            expand(at);
            continue;
        }
        const auto [at, result] = improved_.front();
        improved_.pop_front();
        for (std::size_t i = 0; i < nodes_[at].links.size(); ++i) {
            const auto link = nodes_[at].links[i];
            flow(link, result);
        }
    }
}

std::int32_t WeightedSummaries::node(std::int32_t kind, std::int32_t control, std::int32_t state,
                                     std::int32_t reduction, std::int32_t lhs) {
    const std::int32_t key[] = {kind, control, state, reduction, lhs};
    return nodes_.find_or_make(key, [&] {
        budget_.check_states((nodes_.size() + 1) / kNodesPerState);
        return Node{kind, control, state, reduction, lhs, -1, false, {}, {}};
    });
}

void WeightedSummaries::raise(std::int32_t at, std::int64_t bound) {
    auto& node = nodes_[at];
    if (bound <= node.bound) return;
    const auto step = pending_.weights().step();
    // Less what was spent on the way, no bound is one still.
    bound = bound > kUnbounded / 2 ? kUnbounded : bound / step * step + step - 1;
    node.bound = bound;
    if (node.queued) return;
    node.queued = true;
    raised_.push_back(at);
}

// Finds the continuations of a step that has pushed `found.top` on `state` for `cost` bytes: the kernel
// reductions of the new top that lead to the wanted one of `state`. `potential`: the least yield from where
// the step began.
void WeightedSummaries::find_continuations(Step& found, std::int32_t state, std::int32_t reduction,
                                           std::int64_t cost, std::int64_t potential) {
    const auto& wanted = yields_.reductions(state)[reduction];
    const auto reductions = yields_.reductions(found.top);
    for (std::size_t at = 0; at < reductions.size(); ++at) {
        const auto& [lhs, left, least] = reductions[at];
        std::int64_t rest = 0;
        if (left == 0)
            rest = yields_.after(lhs, state, reduction);
        else if (lhs != wanted.lhs || left - 1 != wanted.left)
            continue;
        const auto total = LeastYields::sum(cost, LeastYields::sum(least, rest));
        if (total == LeastYields::kNever) continue;
        const auto more = std::max<std::int64_t>(0, total - potential);
        found.continuations.push_back({static_cast<std::int32_t>(at), left == 0 ? lhs : -1, more});
        found.least = std::min(found.least, more);
    }
}

WeightedSummaries::Step WeightedSummaries::find_step(std::int32_t control, std::int32_t state,
                                                     std::int32_t reduction) {
    const auto& tables = machine_.tables;
    const auto& wanted = yields_.reductions(state)[reduction];
    const auto label = pending_.label(control);
    Step found;
    if (machine_.is_skipped(label, state)) {
        found.kind = Step::kSkip;
        found.least = pending_.length(label);
        return found;
    }
    if (label == machine_.lexer.end_label() && state == machine_.start.end_state) {
        if (wanted.lhs != yields_.whole_text()) return found;
        found.kind = Step::kExposes;
        found.least = 0;
        return found;
    }
    const auto action = tables.action_of(state, label);
    if (action > 0) {
        found.kind = Step::kShift;
        found.top =
            label == machine_.layout.indent ? machine_.opened(state, pending_.column(control)) : action - 1;
        const auto cost =
            pending_.length(label) + (label == machine_.layout.indent ? pending_.weights().indent : 0);
        if (found.top >= 0) find_continuations(found, state, reduction, cost, wanted.cost);
    } else if (action < 0) {
        const auto production = static_cast<std::size_t>(-action - 1);
        const auto lhs = tables.lhs[production], length = tables.length[production];
        if (length > 0) {
            if (lhs != wanted.lhs || length - 1 != wanted.left) return found;
            found.kind = Step::kExposes;
            found.least = 0;
        } else {
            found.kind = Step::kGoto;
            found.top = tables.goto_of(state, lhs);
            if (found.top >= 0) find_continuations(found, state, reduction, 0, wanted.cost);
        }
    }
    return found;
}

const WeightedSummaries::Step& WeightedSummaries::step(std::int32_t control, std::int32_t state,
                                                       std::int32_t reduction) {
    const auto label = pending_.label(control);
    const auto column = label == machine_.layout.indent ? pending_.column(control) : -1;
    const std::int32_t key[] = {label, column, state, reduction};
    return steps_[steps_.find_or_make(key, [&] { return find_step(control, state, reduction); })];
}

const WeightedSummaries::Step& WeightedSummaries::step_after(std::int32_t lhs, std::int32_t state,
                                                             std::int32_t reduction) {
    const std::int32_t key[] = {lhs, state, reduction};
    return steps_[steps_.find_or_make(key, [&] {
        Step found;
        found.top = machine_.tables.goto_of(state, lhs);
        found.kind = Step::kGoto;
        if (found.top >= 0)
            find_continuations(found, state, reduction, 0, yields_.after(lhs, state, reduction));
        return found;
    })];
}

// Whether a control's label can do anything on a state. After most reductions it cannot.
bool WeightedSummaries::leads_on(std::int32_t control, std::int32_t state) const {
    const auto label = pending_.label(control);
    return machine_.is_skipped(label, state) || machine_.tables.action_of(state, label) != 0 ||
           (label == machine_.lexer.end_label() && state == machine_.start.end_state);
}

void WeightedSummaries::expand(std::int32_t at) {
    const auto& node = nodes_[at];
    const auto [kind, control, state, reduction, lhs] =
        std::tuple(node.kind, node.control, node.state, node.reduction, node.lhs);
    if (kind == kPending) return expand_pending(at, control, state, reduction);
    if (kind == kAnyOf) {
        for (const auto& successor : pending_.successors(control))
            connect_pending(successor.control, state, reduction, {at, -1, successor.cost});
        return;
    }
    const auto& found = step_after(lhs, state, reduction);
    if (found.top < 0) return;
    if (kind == kBeforeAny) {
        const auto top = found.top;
        for (const auto any : pending_.any())
            if (leads_on(any, top)) connect(completed(lhs, any, state, reduction), {at, -1, 0});
        return;
    }
    for (const auto& continuation : found.continuations)
        connect_pending(control, found.top, continuation.reduction,
                        {at, continuation.lhs, continuation.cost});
}

void WeightedSummaries::expand_pending(std::int32_t at, std::int32_t control, std::int32_t state,
                                       std::int32_t reduction) {
    const auto& found = step(control, state, reduction);
    switch (found.kind) {
        case Step::kDead:
            return;
        case Step::kExposes:
            return add(at, control, 0);
        case Step::kGoto:
            for (const auto& continuation : found.continuations)
                connect_pending(control, found.top, continuation.reduction,
                                {at, continuation.lhs, continuation.cost});
            return;
        case Step::kSkip:
        case Step::kShift:
            break;
    }
    const bool skipped = found.kind == Step::kSkip;
    const auto top = skipped ? state : found.top;
    if (top < 0) return;
    const auto list = pending_.after(machine_.tables.context[top], machine_.block(top), control, skipped);
    if (skipped) return connect(any_of(list, top, reduction), {at, -1, found.least});
    const auto bound = nodes_[at].bound;
    for (const auto& continuation : found.continuations)
        if (continuation.cost <= bound)
            connect(any_of(list, top, continuation.reduction), {at, continuation.lhs, continuation.cost});
}

// Links a pending control to a node if its least cost is within the node's bound.
void WeightedSummaries::connect_pending(std::int32_t control, std::int32_t state, std::int32_t reduction,
                                        const Link& link) {
    const auto least = step(control, state, reduction).least;
    if (link.cost + least <= nodes_[link.target].bound)
        connect(node(kPending, control, state, reduction, -1), link);
}

// Adds a link, and raises the source's bound to what the target can use of it.
void WeightedSummaries::connect(std::int32_t source, const Link& link) {
    auto& links = nodes_[source].links;
    const auto known = std::find_if(links.begin(), links.end(), [&](const Link& other) {
        return other.target == link.target && other.lhs == link.lhs;
    });
    if (known == links.end()) {
        links.push_back(link);
        budget_.check_states(++num_links_ / kLinksPerState);
    } else if (known->cost > link.cost) {
        known->cost = link.cost;
    }
    raise(source, nodes_[link.target].bound - link.cost);
    // By index: `flow` may add nodes, and results to this one.
    for (std::size_t i = 0; i < nodes_[source].results.size(); ++i) {
        const auto result = nodes_[source].results[i];
        flow(link, result);
    }
}

void WeightedSummaries::add(std::int32_t at, std::int32_t control, std::int64_t cost) {
    auto& results = nodes_[at].results;
    const auto known = std::find_if(results.begin(), results.end(),
                                    [&](const Result& result) { return result.control == control; });
    if (known == results.end())
        results.push_back({control, cost});
    else if (known->cost > cost)
        known->cost = cost;
    else
        return;
    improved_.emplace_back(at, Result{control, cost});
}

void WeightedSummaries::flow(const Link& through, const Result& result) {
    const auto [bound, state, reduction] = [&] {
        const auto& target = nodes_[through.target];
        return std::tuple(target.bound, target.state, target.reduction);
    }();
    const auto cost = result.cost + through.cost;
    if (cost > bound) return;
    if (through.lhs < 0) return add(through.target, result.control, cost);
    const auto& after = step_after(through.lhs, state, reduction);
    if (after.top >= 0 && cost + after.least <= bound && leads_on(result.control, after.top))
        connect(completed(through.lhs, result.control, state, reduction), {through.target, -1, cost});
}

}  // namespace pdacon
