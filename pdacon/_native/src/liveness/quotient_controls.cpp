#include "liveness/quotient_controls.hpp"

#include <algorithm>
#include <array>

namespace pdacon {

const std::vector<std::int32_t>& QuotientControls::of_set(std::int32_t set) {
    const auto [known, added] = of_set_.try_emplace(set);
    if (added) {
        std::vector<std::array<std::int32_t, 3>> left;  // labels, columns and pushbacks
        for (const auto id : futures_.emissions(set)) {
            const auto& emission = futures_.emission(id);
            left.push_back({emission.label, emission.column, emission.pushback});
        }
        std::sort(left.begin(), left.end());
        auto& controls = known->second;
        std::vector<std::int32_t> pushbacks;
        for (std::size_t at = 0; at < left.size(); ++at) {
            pushbacks.push_back(left[at][2]);
            if (at + 1 < left.size() && left[at + 1][0] == left[at][0] && left[at + 1][1] == left[at][1])
                continue;
            emit_controls(left[at][0], left[at][1], pushbacks,
                          [&](std::int32_t control) { controls.push_back(control); });
            pushbacks.clear();
        }
    }
    return known->second;
}

std::vector<PendingControls::Successor> QuotientControls::lexed(std::int32_t context,
                                                                std::span<const std::int32_t> pushbacks) {
    std::vector<std::int32_t> emissions, sets;  // most pushbacks lead to the same sets
    for (const auto pushback : pushbacks) {
        const auto result = futures_.scan(context, pushback);
        if (result.emission >= 0) emissions.push_back(result.emission);
        if (result.reading.state >= 0) sets.push_back(futures_.of(result.reading, result.speller_state));
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
