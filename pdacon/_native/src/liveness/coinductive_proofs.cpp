#include "liveness/coinductive_proofs.hpp"

#include <algorithm>
#include <utility>

namespace pdacon {

// The id of a set of groups. Groups of one reduction with as many symbols left become one.
std::int32_t CoinductiveProofs::intern(std::vector<PopGroup>& groups) {
    std::sort(groups.begin(), groups.end());
    key_.clear();
    for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
        const auto [lhs, left, pending] = groups[begin];
        joined_.clear();
        for (end = begin; end < groups.size() && groups[end].lhs == lhs && groups[end].left == left; ++end) {
            const auto more = pending_sets_[groups[end].pending];
            joined_.insert(joined_.end(), more.begin(), more.end());
        }
        if (end > begin + 1) {
            std::sort(joined_.begin(), joined_.end());
            joined_.erase(std::unique(joined_.begin(), joined_.end()), joined_.end());
        }
        key_.insert(key_.end(), {lhs, left, end > begin + 1 ? pending_sets_.intern(joined_) : pending});
    }
    return pop_sets_.intern(key_);
}

bool CoinductiveProofs::is_subset(std::int32_t pending, std::int32_t of) const {
    return pending == of || std::ranges::includes(pending_sets_[of], pending_sets_[pending]);
}

// What remains of any one of a set of pending controls when the state has been popped.
std::int32_t CoinductiveProofs::exposed(std::int32_t pending, std::int32_t state) {
    const std::int32_t key[] = {pending, state};
    return exposed_[exposed_.find_or_make(key, [&] {
        budget_.check_states(exposed_.size() + 1);
        const auto known = pending_sets_[pending];
        const std::vector<std::int32_t> controls(known.begin(), known.end());
        return find_exposed(controls, state);
    })];
}

std::int32_t CoinductiveProofs::find_exposed(std::span<const std::int32_t> pending, std::int32_t state) {
    const auto& tables = machine_.tables;
    std::vector<PopGroup> groups;
    const auto add = [&](std::int32_t lhs, std::int32_t left, std::int32_t control) {
        const std::int32_t alone[] = {control};
        groups.push_back({lhs, left, pending_sets_.intern(alone)});
    };
    for (const auto control : pending) {
        if (!summaries_.goes_on(control, state)) continue;
        if (const auto production = summaries_.reduce_by_label(control, state); production >= 0) {
            const auto index = static_cast<std::size_t>(production);
            add(tables.lhs[index], tables.length[index] - 1, control);
            continue;
        }
        const auto& summary = summaries_.pending(control, state);
        if (summary.accepts) return kAccepts;
        for (const auto pop : summary.pops) {
            const auto [lhs, left, pending_control] = summaries_.pop(pop);
            add(lhs, left, pending_control);
        }
    }
    return intern(groups);
}

// Adds to `found` what remains of a group whose symbols have all been popped, so that its left-hand side is
// pushed on `state`. Reductions that come back to the same state are followed until nothing new appears.
// Returns true where acceptance is reached without popping the state.
bool CoinductiveProofs::add_below(const PopGroup& complete, std::int32_t state,
                                  std::vector<PopGroup>& found) {
    std::vector<PopGroup> open{complete};
    for (std::size_t at = 0; at < open.size(); ++at) {
        budget_.tick();
        const auto [lhs, left, pending] = open[at];
        const auto next = machine_.tables.goto_of(state, lhs);
        if (next < 0) continue;
        if (next == machine_.start.end_state && summaries_.has_end(pending_sets_[pending])) return true;
        const auto pops = exposed(pending, next);
        if (pops == kAccepts) return true;
        const auto groups = pop_sets_[pops];
        for (std::size_t pop = 0; pop < groups.size(); pop += 3) {
            const PopGroup next_group{groups[pop], groups[pop + 1], groups[pop + 2]};
            if (next_group.left > 0)
                found.push_back({next_group.lhs, next_group.left - 1, next_group.pending});
            else if (std::ranges::none_of(open, [&](const PopGroup& known) {
                         return known.lhs == next_group.lhs && is_subset(next_group.pending, known.pending);
                     }))
                open.push_back(next_group);
        }
    }
    return false;
}

std::int32_t CoinductiveProofs::below(std::vector<std::int32_t> pending, std::int32_t state) {
    std::sort(pending.begin(), pending.end());
    return exposed(pending_sets_.intern(pending), state);
}

std::int32_t CoinductiveProofs::below(std::int32_t pops, std::int32_t state) {
    const auto id = goal(pops, state);
    if (goals_[id].below != kUnknown) return goals_[id].below;
    std::vector<PopGroup> found;
    for (std::size_t at = 0; at < pop_sets_[pops].size(); at += 3) {  // looked up anew: add_below adds sets
        const PopGroup pop{pop_sets_[pops][at], pop_sets_[pops][at + 1], pop_sets_[pops][at + 2]};
        if (pop.left > 0)
            found.push_back({pop.lhs, pop.left - 1, pop.pending});
        else if (add_below(pop, state, found))
            return goals_[id].below = kAccepts;
    }
    return goals_[id].below = intern(found);
}

std::int32_t CoinductiveProofs::goal(std::int32_t pops, std::int32_t state) {
    const std::int32_t key[] = {pops, state};
    return goals_.find_or_make(key, [] { return Goal{}; });
}

// The greatest fixpoint that the header defines: all goals that are reached are open first, and those that
// fail refute the ones that use them. What is left holds. This is sound by induction on the height of the
// stack: each step goes one symbol down, and the start state, which has nothing below it, must accept by
// itself.
bool CoinductiveProofs::accept_on_every_stack(std::int32_t pops, std::int32_t state) {
    const auto status_of = [&](std::int32_t id) -> Status& { return goals_[id].status; };
    const auto root = goal(pops, state);
    if (status_of(root) != Status::kNone) return status_of(root) == Status::kHolds;
    status_of(root) = Status::kOpen;
    std::vector<std::int32_t> open{root}, refuted;
    std::vector<std::pair<std::int32_t, std::int32_t>> uses;  // open goals, and those that need them
    for (std::size_t i = 0; i < open.size(); ++i) {
        const auto id = open[i];
        const auto key = goals_.key(id);
        const auto [controls, at] = std::pair(key[0], key[1]);
        const auto next_controls = below(controls, at);
        if (next_controls == kAccepts) continue;
        const auto& states = machine_.predecessors[at];
        bool fails = is_empty(next_controls) || states.empty();
        for (std::size_t b = 0; b < states.size() && !fails; ++b) {
            const auto next = goal(next_controls, states[b]);
            if (status_of(next) == Status::kNone) {
                status_of(next) = Status::kOpen;
                open.push_back(next);
            }
            fails = status_of(next) == Status::kFails;
            if (status_of(next) == Status::kOpen) uses.emplace_back(next, id);
        }
        if (fails) refuted.push_back(id);
    }
    if (!refuted.empty()) std::sort(uses.begin(), uses.end());
    while (!refuted.empty()) {
        const auto id = refuted.back();
        refuted.pop_back();
        if (status_of(id) == Status::kFails) continue;
        status_of(id) = Status::kFails;
        const auto first = std::lower_bound(uses.begin(), uses.end(), std::pair(id, std::int32_t{0}));
        for (auto use = first; use != uses.end() && use->first == id; ++use) refuted.push_back(use->second);
    }
    for (const auto id : open)
        if (status_of(id) == Status::kOpen) status_of(id) = Status::kHolds;
    return status_of(root) == Status::kHolds;
}

}  // namespace pdacon
