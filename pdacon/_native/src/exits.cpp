#include "exits.hpp"

#include <algorithm>
#include <numeric>

namespace pdacon {

Exits::Exits(const Pushdown& machine)
    : machine_(machine),
      ignored_(machine.lexer.ignored_label()),
      yields_(static_cast<std::size_t>(machine.tables.num_nonterminals)),
      rests_(static_cast<std::size_t>(machine.tables.num_states)),
      closes_(static_cast<std::size_t>(machine.lexer.end_label()) + 1, 0) {
    find_rules();
    find_yields();
    for (const auto& rule : rules_) find_items(rule);
    find_rests();
    closes_.back() = 1;
    for (const auto& rest : rests_) {
        first_.push_back(rest.first);
        if (rest.first >= 0) closes_[static_cast<std::size_t>(rest.first)] = 1;
    }
    nearest_first_.resize(rests_.size());
    std::iota(nearest_first_.begin(), nearest_first_.end(), 0);
    std::stable_sort(nearest_first_.begin(), nearest_first_.end(), [&](std::int32_t a, std::int32_t b) {
        return rests_[static_cast<std::size_t>(a)].cost < rests_[static_cast<std::size_t>(b)].cost;
    });
    rules_ = {};
    items_ = {};
    rests_ = {};
    yields_ = {};
}

// Every state below one in which a rule is complete has the rule's item with the point one symbol further to
// the left, so the symbols that lead into states spell it backwards.
void Exits::find_rules() {
    const auto& tables = machine_.tables;
    std::vector<std::int32_t> into(rests_.size(), 0);  // the symbol that leads into each state
    std::vector<std::int32_t> rule_of(tables.lhs.size(), -1);
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        for (std::int32_t terminal = 0; terminal < tables.num_terminals; ++terminal)
            for (const auto next : machine_.shifted(state, terminal))
                into[static_cast<std::size_t>(next)] = terminal;
        for (std::int32_t nonterminal = 0; nonterminal < tables.num_nonterminals; ++nonterminal)
            if (const auto next = tables.goto_of(state, nonterminal); next >= 0)
                into[static_cast<std::size_t>(next)] = tables.num_terminals + nonterminal;
    }
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        if (machine_.predecessors[static_cast<std::size_t>(state)].empty() &&
            state != machine_.start.start_state)
            continue;
        for (std::int32_t terminal = 0; terminal <= tables.num_terminals; ++terminal) {
            const auto action = tables.action_of(state, terminal);
            if (action >= 0) continue;
            const auto production = static_cast<std::size_t>(-action - 1);
            auto& known = rule_of[production];
            if (known < 0) {
                known = static_cast<std::int32_t>(rules_.size());
                rules_.push_back({tables.lhs[production], {}, {}});
                auto& symbols = rules_.back().symbols;
                auto at = static_cast<std::size_t>(state);
                for (auto left = tables.length[production]; left > 0; --left) {
                    symbols.push_back(into[at]);
                    at = static_cast<std::size_t>(machine_.predecessors[at].front());
                }
                std::reverse(symbols.begin(), symbols.end());
            }
            auto& ends = rules_[static_cast<std::size_t>(known)].ends;
            if (ends.empty() || ends.back() != state) ends.push_back(state);
        }
    }
}

Exits::Yield Exits::yield_of(std::int32_t symbol) const {
    const auto terminals = machine_.tables.num_terminals;
    return symbol < terminals ? Yield{1, symbol} : yields_[static_cast<std::size_t>(symbol - terminals)];
}

Exits::Yield Exits::join(const Yield& head, const Yield& tail) {
    return {std::min(head.cost + tail.cost, kEndless), head.first == kDone ? tail.first : head.first};
}

// Source: Knuth 1977, "A generalization of Dijkstra's algorithm"; here by rounds, which are few.
void Exits::find_yields() {
    for (bool again = true; again;) {
        again = false;
        for (const auto& rule : rules_) {
            Yield yield{0, kDone};
            for (const auto symbol : rule.symbols) yield = join(yield, yield_of(symbol));
            auto& known = yields_[static_cast<std::size_t>(rule.lhs)];
            if (yield.cost >= known.cost) continue;
            known = yield;
            again = true;
        }
    }
}

// Of a rule that has been begun: what is left of it in each of the states on the way.
void Exits::find_items(const Rule& rule) {
    auto& start = rests_[static_cast<std::size_t>(machine_.start.start_state)];
    auto states = rule.ends;
    Yield rest{0, kDone};
    for (auto left = rule.symbols.size(); left > 0; --left) {
        std::vector<std::int32_t> below;
        for (const auto state : states) {
            items_.push_back({state, left == 1 ? rule.lhs : -1, rest});
            const auto& into = machine_.predecessors[static_cast<std::size_t>(state)];
            below.insert(below.end(), into.begin(), into.end());
        }
        std::sort(below.begin(), below.end());
        below.erase(std::unique(below.begin(), below.end()), below.end());
        states = std::move(below);
        rest = join(yield_of(rule.symbols[left - 1]), rest);
    }
    const bool whole =
        std::binary_search(states.begin(), states.end(), machine_.start.start_state) &&
        machine_.tables.goto_of(machine_.start.start_state, rule.lhs) == machine_.start.end_state;
    if (whole && rest.cost < start.cost) start = rest;
}

// The rank of what an item leads to once its rule is complete, on the worst of the stacks.
std::int32_t Exits::rank_below(const Item& item) const {
    if (item.lhs < 0) return 0;
    std::int32_t worst = 0;
    for (const auto state : machine_.predecessors[static_cast<std::size_t>(item.state)]) {
        const auto next = machine_.tables.goto_of(state, item.lhs);
        if (next < 0) return kEndless;
        if (next != machine_.start.end_state)
            worst = std::max(worst, rests_[static_cast<std::size_t>(next)].cost + 1);
    }
    return worst;
}

// Of each state the item of the least rank: the terminals that are missing, and what comes after it.
void Exits::find_rests() {
    for (bool again = true; again;) {
        again = false;
        for (const auto& item : items_) {
            const auto rank = item.rest.cost + rank_below(item);
            auto& known = rests_[static_cast<std::size_t>(item.state)];
            if (rank >= known.cost) continue;
            known = {rank, item.rest.first};
            again = true;
        }
    }
}

}  // namespace pdacon
