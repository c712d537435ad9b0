#include "regular/signatures.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/interner.hpp"

namespace pdacon {

namespace {

// The joint classes of the automata: of each one's classes, -1 where it has none, those that some character
// is in. No string has surrogates.
std::vector<std::vector<std::int32_t>> joint_classes(std::span<const CharacterDfa* const> automata,
                                                     Budget& budget) {
    std::map<std::int32_t, std::vector<std::pair<std::size_t, std::int32_t>>> changes;  // by the first point
    changes[0xD800];
    changes[0xE000];
    for (std::size_t k = 0; k < automata.size(); ++k) {
        const auto& classes = automata[k]->classes;
        for (std::size_t at = 0; at < classes.firsts.size(); ++at)
            changes[classes.firsts[at]].emplace_back(k, classes.numbers[at]);
    }
    std::vector<std::int32_t> now(automata.size(), -1);
    std::set<std::vector<std::int32_t>> joint;
    for (const auto& [first, some] : changes) {
        budget.tick();
        for (const auto& [k, number] : some) now[k] = number;
        if (first < 0xD800 || first >= 0xE000) joint.insert(now);
    }
    return {joint.begin(), joint.end()};
}

}  // namespace

std::vector<std::vector<std::int32_t>> signatures_of(std::span<const CharacterDfa* const> automata,
                                                     Budget& budget) {
    const auto joint = joint_classes(automata, budget);
    Interner states;  // automata that are alive, each with its state
    std::vector<std::int32_t> state;
    for (std::size_t k = 0; k < automata.size(); ++k)
        if (automata[k]->size() > 0) state.insert(state.end(), {static_cast<std::int32_t>(k), 0});
    states.intern(state);
    std::set<std::vector<std::int32_t>> found;
    for (std::size_t number = 0; number < states.size(); ++number) {
        budget.check_states(states.size());
        const auto view = states[static_cast<std::int32_t>(number)];
        const std::vector<std::int32_t> from(view.begin(), view.end());
        std::vector<std::int32_t> accepting;
        for (std::size_t at = 0; at < from.size(); at += 2)
            if (automata[static_cast<std::size_t>(from[at])]
                    ->accepting[static_cast<std::size_t>(from[at + 1])] != 0)
                accepting.push_back(from[at]);
        found.insert(std::move(accepting));
        for (const auto& classes : joint) {
            budget.tick();
            state.clear();
            for (std::size_t at = 0; at < from.size(); at += 2) {
                const auto k = static_cast<std::size_t>(from[at]);
                const auto next = classes[k] < 0 ? -1 : automata[k]->next(from[at + 1], classes[k]);
                if (next >= 0) state.insert(state.end(), {from[at], next});
            }
            states.intern(state);
        }
    }
    return {found.begin(), found.end()};
}

}  // namespace pdacon
