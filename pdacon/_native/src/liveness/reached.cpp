#include "liveness/reached.hpp"

#include <algorithm>
#include <stdexcept>

#include "liveness/coaccessibility.hpp"
#include "liveness/futures.hpp"
#include "liveness/summaries.hpp"

namespace pdacon {

Reached find_reached(const Pushdown& machine, const VocabularyStar& speller, Budget budget) {
    const auto& tables = machine.tables;
    if (machine.layout.newline >= 0) throw std::invalid_argument("reached: the machine has layout");
    Futures futures(machine.lexer, speller, machine.layout.newline, machine.layout.classes, budget);
    QuotientControls controls(futures, machine.layout);
    Summaries summaries(machine, controls, budget, nullptr, true);
    Reached found;
    found.productions.assign(tables.lhs.size(), 0);
    const auto start = machine.start.start_state;
    const auto entry = machine.lexer.entry(tables.context[start], 0);
    if (entry < 0) return found;
    const auto begun = controls.of_set(futures.of({entry, {}, {}}, 0));  // a copy: more are made
    std::vector<std::array<std::int32_t, 2>> roots;
    for (const auto control : begun) {
        summaries.pending(control, start);
        roots.push_back({control, start});
    }

    const auto complete = [&](std::int32_t state, std::int32_t lhs) {
        if (tables.goto_of(state, lhs) >= 0) found.gotos.push_back({state, lhs});
    };
    summaries.for_each_useful_pending(roots, [&](std::int32_t label, std::int32_t state) {
        found.next_in_sentences.push_back({state, label});
    });
    summaries.for_each_pending([&](std::int32_t label, std::int32_t state) {
        found.next.push_back({state, label});
        if (machine.is_skipped(label, state)) return;
        const auto action = tables.action_of(state, label);
        if (action > 0) found.shifts.push_back({state, label});
        if (action >= 0) return;
        const auto production = static_cast<std::size_t>(-action - 1);
        found.productions[production] = 1;
        if (tables.length[production] == 0) complete(state, tables.lhs[production]);
    });
    summaries.for_each_completed(complete);
    for (auto* pairs : {&found.shifts, &found.gotos, &found.next, &found.next_in_sentences}) {
        std::sort(pairs->begin(), pairs->end());
        pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
    }
    return found;
}

}  // namespace pdacon
