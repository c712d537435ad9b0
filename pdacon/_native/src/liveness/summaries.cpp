#include "liveness/summaries.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pdacon {

const Summaries::Summary& Summaries::solve(std::int32_t kind, std::int32_t control, std::int32_t state) {
    const auto root = node(kind, control, state);
    while (!fresh_.empty() || !found_.empty()) {
        budget_.tick();
        if (!fresh_.empty()) {
            const auto at = fresh_.back();
            fresh_.pop_back();
            expand(at);
            continue;
        }
        const auto [at, pop] = found_.front();
        found_.pop_front();
        for (std::size_t i = 0; i < nodes_[at].links.size(); ++i) {
            const auto link = nodes_[at].links[i];
            flow(link, pop);
        }
    }
    return nodes_[root].summary;
}

std::int32_t Summaries::node(std::int32_t kind, std::int32_t control, std::int32_t state) {
    const std::int32_t key[] = {kind, control, state};
    const auto id = node_ids_.intern(key);
    if (static_cast<std::size_t>(id) == nodes_.size()) {
        nodes_.push_back({kind, control, state, {}, {}});
        budget_.check_states(nodes_.size());
        fresh_.push_back(id);
    }
    return id;
}

std::int32_t Summaries::pop_control(std::int32_t lhs, std::int32_t left, std::int32_t pending) {
    const std::int32_t key[] = {lhs, left, pending};
    return pop_ids_.intern(key);
}

std::int32_t Summaries::lower(std::int32_t pop) {
    constexpr std::int32_t kUnknown = -2;
    if (lowered_.size() < pop_ids_.size()) lowered_.resize(pop_ids_.size(), kUnknown);
    auto known = lowered_[pop];
    if (known == kUnknown) {
        const auto key = pop_ids_[pop];
        known = key[1] > 0 ? pop_control(key[0], key[1] - 1, key[2]) : kNone;
        lowered_[pop] = known;
    }
    return known;
}

void Summaries::expand(std::int32_t at) {
    const auto [kind, control, state] = std::tuple(nodes_[at].kind, nodes_[at].control, nodes_[at].state);
    const auto& tables = machine_.tables;
    if (kind == kAnyOf) {
        for (const auto& successor : pending_.successors(control))
            if (counts(successor.control, state)) take_pending(at, successor.control, state);
        return;
    }
    if (kind == kPop) {
        const auto key = pop_ids_[control];
        const auto [lhs, pending] = std::pair(key[0], key[2]);
        if (const auto lowered = lower(control); lowered != kNone)
            add(at, lowered);
        else
            expand_goto(at, pending, lhs, state);
        return;
    }
    const auto label = pending_.label(control);
    const bool skipped = machine_.is_skipped(label, state);
    const auto action = skipped ? 0 : tables.action_of(state, label);
    if (skipped || action > 0) {
        auto top = skipped ? state : action - 1;
        if (label == machine_.layout.indent) top = machine_.opened(state, pending_.column(control));
        if (top < 0) return;
        if (shortcuts_ != nullptr && shortcuts_->is_known_live(control, top, skipped)) return accept(at);
        const auto list = pending_.after(tables.context[top], machine_.block(top), control, skipped);
        link(node(kAnyOf, list, top), {at, skipped ? -1 : state});
    } else if (action < 0) {
        const auto production = static_cast<std::size_t>(-action - 1);
        const auto lhs = tables.lhs[production], length = tables.length[production];
        if (length > 0)
            add(at, pop_control(lhs, length - 1, control));
        else
            expand_goto(at, control, lhs, state);
    }
}

// Pushes the left-hand side of a reduction that is complete above `state`, where the same label waits again.
// Returns the state it waits on, kDead or kAccepted.
std::int32_t Summaries::complete(std::int32_t pending, std::int32_t lhs, std::int32_t state) const {
    const auto label = pending_.label(pending);
    const auto next = machine_.tables.goto_of(state, lhs);
    if (next < 0) return kDead;
    if (next == machine_.start.end_state && label == machine_.lexer.end_label()) return kAccepted;
    return goes_on(pending, next) ? next : kDead;
}

bool Summaries::goes_on(std::int32_t pending, std::int32_t state) const {
    const auto label = pending_.label(pending);
    return counts(pending, state) &&
           (machine_.is_skipped(label, state) || machine_.tables.action_of(state, label) != 0);
}

bool Summaries::has_end(std::span<const std::int32_t> pending) const {
    return std::any_of(pending.begin(), pending.end(), [&](std::int32_t control) {
        return pending_.label(control) == machine_.lexer.end_label();
    });
}

std::int32_t Summaries::reduce_by_label(std::int32_t pending, std::int32_t state) const {
    const auto label = pending_.label(pending);
    if (machine_.is_skipped(label, state)) return -1;
    const auto action = machine_.tables.action_of(state, label);
    return action < 0 && machine_.tables.length[-action - 1] > 0 ? -action - 1 : -1;
}

// Reduces that pop no more than was pushed above `state` are followed at once, without nodes of their own.
// More reduces in place than there are nonterminals go round for ever.
Summaries::Followed Summaries::follow(std::int32_t pending, std::int32_t lhs, std::int32_t state) {
    const auto& tables = machine_.tables;
    for (std::int32_t reduces = 0; reduces <= tables.num_nonterminals; ++reduces) {
        const auto next = complete(pending, lhs, state);
        const auto production = every_step_ || next < 0 ? -1 : reduce_by_label(pending, next);
        if (production < 0) return {next, lhs};
        lhs = tables.lhs[production];
        const auto length = tables.length[production];
        if (length > 1) return {next, lhs, pop_control(lhs, length - 2, pending)};
    }
    return {kDead, lhs};
}

void Summaries::expand_goto(std::int32_t at, std::int32_t pending, std::int32_t lhs, std::int32_t state) {
    const auto found = follow(pending, lhs, state);
    if (found.pop != kNone)
        add(at, found.pop);
    else if (found.next == kAccepted)
        accept(at);
    else if (found.next != kDead)
        link(node(kPending, pending, found.next), {at, state});
}

// Adds to a node the summary of a pending control. One that reduces at once needs no node of its own.
void Summaries::take_pending(std::int32_t at, std::int32_t control, std::int32_t state) {
    const auto production = every_step_ ? -1 : reduce_by_label(control, state);
    if (production < 0) return link(node(kPending, control, state), {at, -1});
    const auto index = static_cast<std::size_t>(production);
    add(at, pop_control(machine_.tables.lhs[index], machine_.tables.length[index] - 1, control));
}

void Summaries::link(std::int32_t source, Link link) {
    auto& links = nodes_[source].links;
    const auto known = std::find_if(links.begin(), links.end(), [&](const Link& other) {
        return other.target == link.target && other.below == link.below;
    });
    if (known != links.end()) return;
    links.push_back(link);
    budget_.check_states(++num_links_ / kLinksPerState);
    // By index: `flow` may add nodes, and pops to this one.
    for (std::size_t i = 0; i < nodes_[source].summary.pops.size(); ++i) {
        const auto pop = nodes_[source].summary.pops[i];
        flow(link, pop);
    }
    if (nodes_[source].summary.accepts) flow(link, kAccept);
}

void Summaries::add(std::int32_t at, std::int32_t pop) {
    auto& pops = nodes_[at].summary.pops;
    if (std::find(pops.begin(), pops.end(), pop) != pops.end()) return;
    pops.push_back(pop);
    found_.emplace_back(at, pop);
}

void Summaries::accept(std::int32_t at) {
    if (std::exchange(nodes_[at].summary.accepts, true)) return;
    found_.emplace_back(at, kAccept);
}

void Summaries::flow(const Link& through, std::int32_t pop) {
    const auto [out, completed] = flowed(through, pop);
    if (completed >= 0)
        link(completed, {through.target, -1});
    else if (out && *out == kAccept)
        accept(through.target);
    else if (out)
        add(through.target, *out);
}

Summaries::Flowed Summaries::flowed(const Link& through, std::int32_t pop) {
    if (pop == kAccept || through.below < 0) return {pop};
    if (const auto lowered = lower(pop); lowered != kNone) return {lowered};
    const auto key = pop_ids_[pop];
    const auto pending = key[2];
    const auto found = follow(pending, key[0], through.below);
    if (found.pop != kNone) return {found.pop};
    if (found.next == kAccepted) return {kAccept};
    if (found.next == kDead) return {};
    return {{}, node(kPop, pop_control(found.lhs, 0, pending), through.below)};
}

// Marks backwards from acceptance what is of use: (node, pop) if some link makes of the pop one that is of
// use at the link's target, and (node, kAccept) alike. A node is useful if anything of it is marked.
std::vector<std::uint8_t> Summaries::find_useful(std::span<const std::array<std::int32_t, 2>> roots) {
    struct Incoming {
        std::int32_t from, below;
    };
    std::vector<std::vector<Incoming>> incoming(nodes_.size());
    for (std::size_t at = 0; at < nodes_.size(); ++at)
        for (const auto& link : nodes_[at].links)
            incoming[link.target].push_back({static_cast<std::int32_t>(at), link.below});
    std::vector<std::vector<std::int32_t>> marked(nodes_.size());
    std::vector<std::pair<std::int32_t, std::int32_t>> open;
    const auto mark = [&](std::int32_t at, std::int32_t pop) {
        auto& known = marked[at];
        if (std::ranges::find(known, pop) != known.end()) return;
        known.push_back(pop);
        open.emplace_back(at, pop);
    };
    for (const auto& [control, state] : roots) {
        const std::int32_t key[] = {kPending, control, state};
        if (const auto root = node_ids_.find(key); root >= 0 && nodes_[root].summary.accepts)
            mark(root, kAccept);
    }
    while (!open.empty()) {
        budget_.tick();
        const auto [at, wanted] = open.back();
        open.pop_back();
        for (const auto& [from, below] : incoming[at]) {
            if (below < 0 || wanted == kAccept) {
                if (has(from, wanted)) mark(from, wanted);  // they go through as they are
                if (below < 0) continue;
            }
            const Link through{at, below};
            for (const auto pop : nodes_[from].summary.pops) {
                const auto [out, completed] = flowed(through, pop);
                const bool leads = completed < 0 ? out == wanted : has(completed, wanted);
                if (leads) mark(from, pop);
            }
        }
    }
    std::vector<std::uint8_t> useful;
    for (const auto& pops : marked) useful.push_back(!pops.empty());
    return useful;
}

bool Summaries::has(std::int32_t at, std::int32_t pop) const {
    const auto& summary = nodes_[at].summary;
    return pop == kAccept ? summary.accepts : std::ranges::find(summary.pops, pop) != summary.pops.end();
}

}  // namespace pdacon
