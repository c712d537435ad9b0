#include "pda/productions.hpp"

#include <algorithm>

namespace pdacon {

std::vector<std::int32_t> accessing_symbols(const Pushdown& machine) {
    const auto& tables = machine.tables;
    std::vector<std::int32_t> found(static_cast<std::size_t>(tables.num_states), -1);
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        for (std::int32_t terminal = 0; terminal < tables.num_terminals; ++terminal)
            for (const auto next : machine.shifted(state, terminal)) found[next] = terminal;
        const auto [nonterminals, targets] = tables.gotos.of(state);
        for (std::size_t at = 0; at < targets.size(); ++at)
            found[targets[at]] = tables.num_terminals + nonterminals[at];
    }
    return found;
}

std::vector<Production> reduced_productions(const Pushdown& machine,
                                            const std::vector<std::int32_t>& accessing_symbol) {
    const auto& tables = machine.tables;
    std::vector<Production> found;
    std::vector<std::int32_t> number(tables.lhs.size(), -1);  // by production of the tables: in `found`
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        if (state != machine.start.start_state && machine.predecessors[state].empty()) continue;
        for (std::int32_t terminal = 0; terminal <= tables.num_terminals; ++terminal) {
            const auto action = tables.action_of(state, terminal);
            if (action >= 0) continue;
            const auto production = static_cast<std::size_t>(-action - 1);
            auto& known = number[production];
            if (known < 0) {
                known = static_cast<std::int32_t>(found.size());
                auto& symbols = found.emplace_back(Production{tables.lhs[production], {}, {}}).symbols;
                auto at = static_cast<std::size_t>(state);
                for (auto left = tables.length[production]; left > 0; --left) {
                    symbols.push_back(accessing_symbol[at]);
                    if (const auto& below = machine.predecessors[at]; !below.empty())
                        at = static_cast<std::size_t>(below.front());
                }
                std::reverse(symbols.begin(), symbols.end());
            }
            auto& states = found[known].reduced_in;
            if (states.empty() || states.back() != state) states.push_back(state);
        }
    }
    return found;
}

}  // namespace pdacon
