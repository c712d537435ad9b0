#include "liveness/completion_hints.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/rounds.hpp"
#include "pda/productions.hpp"

namespace pdacon {

namespace {

std::size_t words_for(const Pushdown& machine) {
    return static_cast<std::size_t>(machine.lexer.ignored_label()) / 64 + 1;
}

}  // namespace

CompletionHints::CompletionHints(const Pushdown& machine, Budget& budget)
    : machine_(machine),
      yields_(static_cast<std::size_t>(machine.tables.num_nonterminals)),
      popping_(static_cast<std::size_t>(machine.tables.num_states)),
      words_(words_for(machine)) {
    for (auto& production : reduced_productions(machine, accessing_symbols(machine)))
        rules_.push_back({std::move(production), {}});
    find_yields(budget);
    for (auto& rule : rules_) {
        budget.tick();
        find_items(rule);
    }
    find_cheapest(budget);
    find_hinted_labels(budget);
    rules_ = {};
    yields_ = {};
    popping_ = {};
    items_ = {};
    first_pair_ = {};
    best_ = {};
}

CompletionHints::CompletionHints(const Pushdown& machine, const ArtifactReader& artifact, std::int32_t start)
    : machine_(machine),
      words_(words_for(machine)),
      labels_(artifact.array<std::uint64_t>(Part::kHints, start)) {
    require_artifact(labels_.size() == static_cast<std::size_t>(machine.tables.num_states) * words_,
                     "hints of other tables");
}

void CompletionHints::save(ArtifactWriter& artifact, std::int32_t start) const {
    artifact.add(Part::kHints, start, labels_.view());
}

CompletionHints::Yield CompletionHints::yield_of(std::int32_t symbol) const {
    const auto terminals = machine_.tables.num_terminals;
    return symbol < terminals ? Yield{1, symbol} : yields_[symbol - terminals];
}

CompletionHints::Yield CompletionHints::join(const Yield& head, const Yield& tail) {
    return {std::min(head.cost + tail.cost, kEndless), head.first == kComplete ? tail.first : head.first};
}

void CompletionHints::find_yields(Budget& budget) {
    const auto terminals = machine_.tables.num_terminals;
    std::vector<std::vector<std::int32_t>> readers(yields_.size());
    for (std::size_t at = 0; at < rules_.size(); ++at)
        for (const auto symbol : rules_[at].production.symbols)
            if (symbol >= terminals) readers[symbol - terminals].push_back(static_cast<std::int32_t>(at));
    evaluate_in_rounds(rules_.size(), readers, budget, [&](std::int32_t at, const auto& changed) {
        const auto& production = rules_[at].production;
        Yield yield{0, kComplete};
        for (const auto symbol : production.symbols) yield = join(yield, yield_of(symbol));
        auto& known = yields_[production.lhs];
        if (yield.cost >= known.cost) return;
        known = yield;
        changed(production.lhs);
    });
}

// Walks a rule's kernel items backwards from where it is reduced, with the yield of what comes after the dot.
void CompletionHints::find_items(Rule& rule) {
    const auto improve = [&](std::int32_t state, const Yield& way) {
        auto& known = popping_[state];
        if (way.cost < known.cost) known = way;
    };
    auto states = rule.production.reduced_in;
    Yield rest{0, kComplete};
    for (auto left = rule.production.symbols.size(); left > 0; --left) {
        std::vector<std::int32_t> below;
        for (const auto state : states) {
            if (left == 1)
                items_.push_back({state, rule.production.lhs, rest});
            else
                improve(state, rest);
            const auto& into = machine_.predecessors[state];
            below.insert(below.end(), into.begin(), into.end());
        }
        std::sort(below.begin(), below.end());
        below.erase(std::unique(below.begin(), below.end()), below.end());
        states = std::move(below);
        rest = join(yield_of(rule.production.symbols[left - 1]), rest);
    }
    for (const auto state : states)
        if (const auto next = machine_.tables.goto_of(state, rule.production.lhs); next >= 0)
            rule.leads_to.push_back(next);
    std::sort(rule.leads_to.begin(), rule.leads_to.end());
    rule.leads_to.erase(std::unique(rule.leads_to.begin(), rule.leads_to.end()), rule.leads_to.end());
    const auto start = machine_.start.start_state;
    if (std::binary_search(states.begin(), states.end(), start) &&
        machine_.tables.goto_of(start, rule.production.lhs) == machine_.start.end_state)
        improve(start, rest);
}

std::size_t CompletionHints::pair_of(std::int32_t state, std::int32_t below) const {
    const auto& states = machine_.predecessors[state];
    const auto at = std::lower_bound(states.begin(), states.end(), below) - states.begin();
    return first_pair_[state] + static_cast<std::size_t>(at);
}

// The cheapest item of each pair: the terminals after its dot and, if it pops only the state itself, one
// more than the cheapest of the pair that takes its place. Shortest paths by rounds.
void CompletionHints::find_cheapest(Budget& budget) {
    for (std::size_t state = 0; state < popping_.size(); ++state) {
        first_pair_.push_back(best_.size());
        best_.insert(best_.end(), machine_.predecessors[state].size(), popping_[state]);
    }
    first_pair_.push_back(best_.size());
    struct Step {
        std::size_t from, to;
        Yield rest;
    };
    std::vector<Step> steps;
    for (const auto& item : items_) {
        for (const auto below : machine_.predecessors[item.state]) {
            const auto from = pair_of(item.state, below);
            const auto next = machine_.tables.goto_of(below, item.lhs);
            if (next == machine_.start.end_state) {
                if (item.rest.cost < best_[from].cost) best_[from] = item.rest;
            } else if (next >= 0) {
                steps.push_back({from, pair_of(next, below), item.rest});
            }
        }
    }
    std::vector<std::vector<std::int32_t>> readers(best_.size());
    for (std::size_t at = 0; at < steps.size(); ++at)
        readers[steps[at].to].push_back(static_cast<std::int32_t>(at));
    evaluate_in_rounds(steps.size(), readers, budget, [&](std::int32_t at, const auto& changed) {
        const auto& [from, to, rest] = steps[at];
        const auto cost = rest.cost + best_[to].cost + 1;
        if (cost >= best_[from].cost) return;
        best_[from] = {cost, rest.first};
        changed(static_cast<std::int32_t>(from));
    });
}

void CompletionHints::find_hinted_labels(Budget& budget) {
    std::vector<std::uint64_t> hinted(popping_.size() * words_, 0);
    const auto labels_of = [&](std::size_t state) {
        return std::span(hinted).subspan(state * words_, words_);
    };
    const auto set = [](std::span<std::uint64_t> labels, std::int32_t label) {
        labels[static_cast<std::size_t>(label) / 64] |= std::uint64_t{1} << (label % 64);
    };
    std::vector<std::uint8_t> done(popping_.size(), 0);  // whether a cheapest item is complete
    std::vector<std::int32_t> cost(popping_.size());     // of the dearest hint
    for (std::size_t state = 0; state < popping_.size(); ++state) {
        const auto labels = labels_of(state);
        if (machine_.lexer.ignored_label() >= 0) set(labels, machine_.lexer.ignored_label());
        const auto add = [&](const Yield& way) {
            cost[state] = std::max(cost[state], way.cost);
            if (way.first == kComplete) done[state] = 1;
            if (way.first >= 0) set(labels, way.first);
        };
        const auto pairs =
            std::span(best_).subspan(first_pair_[state], first_pair_[state + 1] - first_pair_[state]);
        for (const auto& way : pairs) add(way);
        if (pairs.empty()) add(popping_[state]);
    }
    // A complete item takes the hints of the states that its reduction leads to, to a fixpoint.
    std::vector<std::uint64_t> closing(words_);
    std::vector<std::vector<std::int32_t>> readers(popping_.size());
    for (std::size_t at = 0; at < rules_.size(); ++at)
        for (const auto next : rules_[at].leads_to) readers[next].push_back(static_cast<std::int32_t>(at));
    evaluate_in_rounds(rules_.size(), readers, budget, [&](std::int32_t at, const auto& changed) {
        const auto& rule = rules_[at];
        std::ranges::fill(closing, 0);
        for (const auto next : rule.leads_to) {
            if (next == machine_.start.end_state) set(closing, machine_.lexer.end_label());
            for (std::size_t word = 0; word < words_; ++word)
                closing[word] |= labels_of(static_cast<std::size_t>(next))[word];
        }
        for (const auto state : rule.production.reduced_in) {
            bool is_new = false;
            for (std::size_t word = 0; done[state] != 0 && word < words_; ++word) {
                auto& known = labels_of(static_cast<std::size_t>(state))[word];
                is_new |= (closing[word] & ~known) != 0;
                known |= closing[word];
            }
            if (is_new) changed(state);
        }
    });
    // INDENT and DEDENT are made of a newline, and DEDENT of what closes all blocks.
    const auto has = [&](std::int32_t state, std::int32_t label) {
        const auto at = static_cast<std::size_t>(label);
        return (labels_of(static_cast<std::size_t>(state))[at / 64] >> (at % 64) & 1U) != 0;
    };
    if (const auto& layout = machine_.layout; layout.newline >= 0)
        for (std::int32_t state = 0; state < machine_.tables.num_states; ++state) {
            const auto labels = labels_of(static_cast<std::size_t>(state));
            if (has(state, layout.indent) || has(state, layout.dedent)) set(labels, layout.newline);
            if (!has(state, layout.dedent)) continue;
            for (std::int32_t label = 0; label < machine_.tables.num_terminals; ++label)
                if (layout.closes_blocks(label)) set(labels, label);
        }
    labels_ = std::move(hinted);
    cheapest_first_.resize(popping_.size());
    std::iota(cheapest_first_.begin(), cheapest_first_.end(), 0);
    std::stable_sort(cheapest_first_.begin(), cheapest_first_.end(),
                     [&](std::int32_t a, std::int32_t b) { return cost[a] < cost[b]; });
}

}  // namespace pdacon
