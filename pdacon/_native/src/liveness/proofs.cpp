#include "liveness/proofs.hpp"

#include <algorithm>
#include <utility>

namespace pdacon {

// The set of some groups: those of one reduction, with as many symbols to pop, become one.
std::int32_t Proofs::intern(std::vector<Group>& groups) {
    std::sort(groups.begin(), groups.end());
    key_.clear();
    for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
        const auto [lhs, left, labels] = groups[begin];
        joined_.clear();
        for (end = begin; end < groups.size() && groups[end].lhs == lhs && groups[end].left == left; ++end) {
            const auto more = labels_[groups[end].labels];
            joined_.insert(joined_.end(), more.begin(), more.end());
        }
        if (end > begin + 1) {
            std::sort(joined_.begin(), joined_.end());
            joined_.erase(std::unique(joined_.begin(), joined_.end()), joined_.end());
        }
        key_.insert(key_.end(), {lhs, left, end > begin + 1 ? labels_.intern(joined_) : labels});
    }
    return sets_.intern(key_);
}

bool Proofs::is_part(std::int32_t labels, std::int32_t of) const {
    return labels == of || std::ranges::includes(labels_[of], labels_[labels]);
}

// What any one of a set of pending controls exposes below a state.
std::int32_t Proofs::exposed(std::int32_t labels, std::int32_t state) {
    const std::int32_t key[] = {labels, state};
    const auto id = static_cast<std::size_t>(exposed_ids_.intern(key));
    if (id == exposed_.size()) {
        const auto pending = labels_[labels];
        const std::vector<std::int32_t> controls(pending.begin(), pending.end());
        exposed_.push_back(find_exposed(controls, state));
        budget_.check_states(exposed_.size());
    }
    return exposed_[id];
}

std::int32_t Proofs::find_exposed(std::span<const std::int32_t> pending, std::int32_t state) {
    const auto& tables = machine_.tables;
    std::vector<Group> groups;
    const auto add = [&](std::int32_t lhs, std::int32_t left, std::int32_t control) {
        const std::int32_t label[] = {control};
        groups.push_back({lhs, left, labels_.intern(label)});
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
            const auto [lhs, left, label] = summaries_.pop(pop);
            add(lhs, left, label);
        }
    }
    return intern(groups);
}

// Adds what becomes of reductions that are complete above a state. True: acceptance is reached without a look
// below. Those that expose the state again are followed.
bool Proofs::add_below(const Group& complete, std::int32_t state, std::vector<Group>& found) {
    std::vector<Group> open{complete};
    for (std::size_t at = 0; at < open.size(); ++at) {
        budget_.tick();
        const auto [lhs, left, labels] = open[at];
        const auto next = machine_.tables.goto_of(state, lhs);
        if (next < 0) continue;
        if (next == machine_.start.end_state && summaries_.has_end(labels_[labels])) return true;
        const auto pops = exposed(labels, next);
        if (pops == kAccepts) return true;
        const auto groups = sets_[pops];
        for (std::size_t group = 0; group < groups.size(); group += 3) {
            const Group exposing{groups[group], groups[group + 1], groups[group + 2]};
            if (exposing.left > 0)
                found.push_back({exposing.lhs, exposing.left - 1, exposing.labels});
            else if (std::ranges::none_of(open, [&](const Group& known) {
                         return known.lhs == exposing.lhs && is_part(exposing.labels, known.labels);
                     }))
                open.push_back(exposing);
        }
    }
    return false;
}

std::int32_t Proofs::below(std::vector<std::int32_t> pending, std::int32_t state) {
    std::sort(pending.begin(), pending.end());
    return exposed(labels_.intern(pending), state);
}

std::int32_t Proofs::below(std::int32_t pops, std::int32_t state) {
    const auto id = static_cast<std::size_t>(claim(pops, state));
    if (claims_[id].below != kUnasked) return claims_[id].below;
    std::vector<Group> found;
    for (std::size_t at = 0; at < sets_[pops].size(); at += 3) {  // anew: sets are added
        const Group group{sets_[pops][at], sets_[pops][at + 1], sets_[pops][at + 2]};
        if (group.left > 0)
            found.push_back({group.lhs, group.left - 1, group.labels});
        else if (add_below(group, state, found))
            return claims_[id].below = kAccepts;
    }
    return claims_[id].below = intern(found);
}

std::int32_t Proofs::claim(std::int32_t pops, std::int32_t state) {
    const std::int32_t key[] = {pops, state};
    const auto id = claim_ids_.intern(key);
    if (static_cast<std::size_t>(id) == claims_.size()) claims_.emplace_back();
    return id;
}

// Greatest fixpoint over (set of pop controls, state): a claim holds if acceptance is reached above, or if
// for every state that can lie below the claim about what the pops bring there holds. Sound by induction on
// the height of the stack, because each step goes one symbol down and the start state must accept by itself.
bool Proofs::always(std::int32_t pops, std::int32_t state) {
    const auto proof = [&](std::int32_t id) -> Proof& { return claims_[static_cast<std::size_t>(id)].proof; };
    const auto root = claim(pops, state);
    if (proof(root) != Proof::kNone) return proof(root) == Proof::kHolds;
    proof(root) = Proof::kOpen;
    std::vector<std::int32_t> open{root}, refuted;
    std::vector<std::pair<std::int32_t, std::int32_t>> uses;  // open claims, and those that need them
    for (std::size_t i = 0; i < open.size(); ++i) {
        const auto id = open[i];
        const auto key = claim_ids_[id];
        const auto [controls, at] = std::pair(key[0], key[1]);
        const auto next_controls = below(controls, at);
        if (next_controls == kAccepts) continue;
        const auto& states = machine_.predecessors[static_cast<std::size_t>(at)];
        bool fails = is_empty(next_controls) || states.empty();
        for (std::size_t b = 0; b < states.size() && !fails; ++b) {
            const auto next = claim(next_controls, states[b]);
            if (proof(next) == Proof::kNone) {
                proof(next) = Proof::kOpen;
                open.push_back(next);
            }
            fails = proof(next) == Proof::kFails;
            if (proof(next) == Proof::kOpen) uses.emplace_back(next, id);
        }
        if (fails) refuted.push_back(id);
    }
    if (!refuted.empty()) std::sort(uses.begin(), uses.end());
    while (!refuted.empty()) {
        const auto id = refuted.back();
        refuted.pop_back();
        if (proof(id) == Proof::kFails) continue;
        proof(id) = Proof::kFails;
        const auto first = std::lower_bound(uses.begin(), uses.end(), std::pair(id, std::int32_t{0}));
        for (auto use = first; use != uses.end() && use->first == id; ++use) refuted.push_back(use->second);
    }
    for (const auto id : open)
        if (proof(id) == Proof::kOpen) proof(id) = Proof::kHolds;
    return proof(root) == Proof::kHolds;
}

}  // namespace pdacon
