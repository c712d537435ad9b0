#include "liveness/completion_hints.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace pdacon {

CompletionHints::CompletionHints(const Pushdown& machine)
    : machine_(machine),
      yields_(static_cast<std::size_t>(machine.tables.num_nonterminals)),
      downs_(static_cast<std::size_t>(machine.tables.num_states)),
      words_(static_cast<std::size_t>(machine.lexer.ignored_label()) / 64 + 1) {
    find_rules();
    find_yields();
    for (auto& rule : rules_) find_items(rule);
    find_rests();
    find_labels();
    rules_ = {};
    yields_ = {};
    downs_ = {};
    items_ = {};
    first_pair_ = {};
    rests_ = {};
}

// Every state below one in which a rule is complete has the rule's item with the point one symbol further to
// the left, so the symbols that lead into states spell it backwards.
void CompletionHints::find_rules() {
    const auto& tables = machine_.tables;
    std::vector<std::int32_t> into(downs_.size(), 0);  // the symbol that leads into each state
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
                rules_.push_back({tables.lhs[production], {}, {}, {}});
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

CompletionHints::Yield CompletionHints::yield_of(std::int32_t symbol) const {
    const auto terminals = machine_.tables.num_terminals;
    return symbol < terminals ? Yield{1, symbol} : yields_[static_cast<std::size_t>(symbol - terminals)];
}

CompletionHints::Yield CompletionHints::join(const Yield& head, const Yield& tail) {
    return {std::min(head.cost + tail.cost, kEndless), head.first == kDone ? tail.first : head.first};
}

// Source: Knuth 1977, "A generalization of Dijkstra's algorithm"; here by rounds, which are few.
void CompletionHints::find_yields() {
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
void CompletionHints::find_items(Rule& rule) {
    const auto improve = [&](std::int32_t state, const Yield& way) {
        auto& known = downs_[static_cast<std::size_t>(state)];
        if (way.cost < known.cost) known = way;
    };
    auto states = rule.ends;
    Yield rest{0, kDone};
    for (auto left = rule.symbols.size(); left > 0; --left) {
        std::vector<std::int32_t> below;
        for (const auto state : states) {
            if (left == 1)
                items_.push_back({state, rule.lhs, rest});
            else
                improve(state, rest);
            const auto& into = machine_.predecessors[static_cast<std::size_t>(state)];
            below.insert(below.end(), into.begin(), into.end());
        }
        std::sort(below.begin(), below.end());
        below.erase(std::unique(below.begin(), below.end()), below.end());
        states = std::move(below);
        rest = join(yield_of(rule.symbols[left - 1]), rest);
    }
    for (const auto state : states)
        if (const auto next = machine_.tables.goto_of(state, rule.lhs); next >= 0)
            rule.leads_to.push_back(next);
    std::sort(rule.leads_to.begin(), rule.leads_to.end());
    rule.leads_to.erase(std::unique(rule.leads_to.begin(), rule.leads_to.end()), rule.leads_to.end());
    const auto start = machine_.start.start_state;
    if (std::binary_search(states.begin(), states.end(), start) &&
        machine_.tables.goto_of(start, rule.lhs) == machine_.start.end_state)
        improve(start, rest);
}

std::size_t CompletionHints::pair_of(std::int32_t state, std::int32_t below) const {
    const auto& states = machine_.predecessors[static_cast<std::size_t>(state)];
    const auto at = std::lower_bound(states.begin(), states.end(), below) - states.begin();
    return first_pair_[static_cast<std::size_t>(state)] + static_cast<std::size_t>(at);
}

// Of each pair the rule of the least cost: the terminals that are missing, and what comes after it. Shortest
// paths by rounds, of which there are as many as a chain of unit rules is long.
void CompletionHints::find_rests() {
    for (std::size_t state = 0; state < downs_.size(); ++state) {
        first_pair_.push_back(rests_.size());
        rests_.insert(rests_.end(), machine_.predecessors[state].size(), downs_[state]);
    }
    first_pair_.push_back(rests_.size());
    struct Step {
        std::size_t from, to;
        Yield rest;
    };
    std::vector<Step> steps;
    for (const auto& item : items_) {
        for (const auto below : machine_.predecessors[static_cast<std::size_t>(item.state)]) {
            const auto from = pair_of(item.state, below);
            const auto next = machine_.tables.goto_of(below, item.lhs);
            if (next == machine_.start.end_state) {
                if (item.rest.cost < rests_[from].cost) rests_[from] = item.rest;
            } else if (next >= 0) {
                steps.push_back({from, pair_of(next, below), item.rest});
            }
        }
    }
    for (bool again = true; again;) {
        again = false;
        for (const auto& [from, to, rest] : steps) {
            const auto cost = rest.cost + rests_[to].cost + 1;
            if (cost >= rests_[from].cost) continue;
            rests_[from] = {cost, rest.first};
            again = true;
        }
    }
}

void CompletionHints::find_labels() {
    const auto set = [](std::span<std::uint64_t> labels, std::int32_t label) {
        labels[static_cast<std::size_t>(label) / 64] |= std::uint64_t{1} << (label % 64);
    };
    labels_.assign(downs_.size() * words_, 0);
    std::vector<std::uint8_t> done(downs_.size(), 0);  // whether a rule is complete
    std::vector<std::int32_t> cost(downs_.size());     // the worst
    for (std::size_t state = 0; state < downs_.size(); ++state) {
        const auto labels = labels_of(state);
        if (machine_.lexer.ignored_label() >= 0) set(labels, machine_.lexer.ignored_label());
        const auto add = [&](const Yield& way) {
            cost[state] = std::max(cost[state], way.cost);
            if (way.first == kDone) done[state] = 1;
            if (way.first >= 0) set(labels, way.first);
        };
        const auto pairs =
            std::span(rests_).subspan(first_pair_[state], first_pair_[state + 1] - first_pair_[state]);
        for (const auto& way : pairs) add(way);
        if (pairs.empty()) add(downs_[state]);
    }
    // Where a rule is complete: what is on a way out of where it leads to.
    std::vector<std::uint64_t> closing(words_);
    for (bool again = true; again;) {
        again = false;
        for (const auto& rule : rules_) {
            std::ranges::fill(closing, 0);
            for (const auto next : rule.leads_to) {
                if (next == machine_.start.end_state) set(closing, machine_.lexer.end_label());
                for (std::size_t word = 0; word < words_; ++word)
                    closing[word] |= labels_of(static_cast<std::size_t>(next))[word];
            }
            for (const auto state : rule.ends)
                for (std::size_t word = 0; done[static_cast<std::size_t>(state)] != 0 && word < words_;
                     ++word) {
                    auto& known = labels_of(static_cast<std::size_t>(state))[word];
                    again |= (closing[word] & ~known) != 0;
                    known |= closing[word];
                }
        }
    }
    // INDENT and DEDENT are made of a newline.
    if (const auto& layout = machine_.layout; layout.newline >= 0)
        for (std::int32_t state = 0; state < machine_.tables.num_states; ++state)
            if (has(state, layout.indent) || has(state, layout.dedent))
                set(labels_of(static_cast<std::size_t>(state)), layout.newline);
    cheapest_first_.resize(downs_.size());
    std::iota(cheapest_first_.begin(), cheapest_first_.end(), 0);
    std::stable_sort(cheapest_first_.begin(), cheapest_first_.end(), [&](std::int32_t a, std::int32_t b) {
        return cost[static_cast<std::size_t>(a)] < cost[static_cast<std::size_t>(b)];
    });
}

}  // namespace pdacon
