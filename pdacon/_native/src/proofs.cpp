#include "proofs.hpp"

#include <algorithm>
#include <unordered_map>

namespace pdacon {

std::int32_t Proofs::intern_found() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return sets_.intern(found_);
}

std::int32_t Proofs::below(std::span<const std::int32_t> pending, std::int32_t state) {
    found_.clear();
    for (const auto control : pending) {
        const auto& summary = summaries_.pending(control, state);
        if (summary.accepts) return kAccepts;
        found_.insert(found_.end(), summary.pops.begin(), summary.pops.end());
    }
    return intern_found();
}

std::int32_t Proofs::below(std::int32_t pops, std::int32_t state) {
    const auto id = static_cast<std::size_t>(claim(pops, state));
    if (claims_[id].below != kUnasked) return claims_[id].below;
    const auto known = sets_[pops];
    const std::vector<std::int32_t> controls(known.begin(), known.end());
    found_.clear();
    for (const auto control : controls) {
        if (const auto lowered = summaries_.lower(control); lowered != Summaries::kNone)
            found_.push_back(lowered);
        else if (summaries_.add_below(control, state, found_))
            return claims_[id].below = kAccepts;
    }
    return claims_[id].below = intern_found();
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
    proof(root) = Proof::kHolds;
    std::vector<std::int32_t> open{root}, refuted;
    std::unordered_map<std::int32_t, std::vector<std::int32_t>> users;
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
            if (proof(next) == Proof::kFails) {
                fails = true;
                continue;
            }
            if (proof(next) == Proof::kNone) {
                proof(next) = Proof::kHolds;
                open.push_back(next);
            }
            users[next].push_back(id);
        }
        if (fails) refuted.push_back(id);
    }
    while (!refuted.empty()) {
        const auto id = refuted.back();
        refuted.pop_back();
        if (proof(id) == Proof::kFails) continue;
        proof(id) = Proof::kFails;
        for (const auto user : users[id]) refuted.push_back(user);
    }
    return proof(root) == Proof::kHolds;
}

}  // namespace pdacon
