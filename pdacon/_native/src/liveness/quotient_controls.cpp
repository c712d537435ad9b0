#include "liveness/quotient_controls.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pdacon {

const std::vector<std::int32_t>& QuotientControls::of_set(std::int32_t set) {
    if (const auto known = of_set_.find(set); known != of_set_.end()) return known->second;
    std::vector<std::array<std::int32_t, 3>> left;  // labels, columns and residues
    for (const auto id : futures_.emissions(set)) {
        const auto& emission = futures_.emission(id);
        left.push_back({emission.label, emission.column, emission.residue});
    }
    std::sort(left.begin(), left.end());
    std::vector<std::int32_t> controls, residues;
    for (std::size_t at = 0; at < left.size(); ++at) {
        residues.push_back(left[at][2]);
        if (at + 1 < left.size() && left[at + 1][0] == left[at][0] && left[at + 1][1] == left[at][1])
            continue;
        emit_controls(left[at][0], left[at][1], residues,
                      [&](std::int32_t control) { controls.push_back(control); });
        residues.clear();
    }
    return of_set_.emplace(set, std::move(controls)).first->second;
}

std::vector<PendingControls::Successor> QuotientControls::lexed(std::int32_t context,
                                                                std::span<const std::int32_t> residues) {
    std::vector<std::int32_t> emissions, sets;  // most residues lead to the same sets
    for (const auto residue : residues) {
        const auto result = futures_.scan(context, residue);
        if (result.emission >= 0) emissions.push_back(result.emission);
        if (result.lexing.state >= 0) sets.push_back(futures_.of(result.lexing, result.speller_state));
    }
    const auto sort = [](std::vector<std::int32_t>& ids) {
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    };
    sort(sets);
    for (const auto set : sets) {
        const auto more = futures_.emissions(set);
        emissions.insert(emissions.end(), more.begin(), more.end());
    }
    sort(emissions);
    std::vector<Successor> successors;
    for (const auto next : of_set(futures_.intern_set(emissions))) successors.push_back({next, 0});
    return successors;
}

}  // namespace pdacon
