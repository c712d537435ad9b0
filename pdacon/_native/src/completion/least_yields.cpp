#include "completion/least_yields.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <utility>

#include "pda/productions.hpp"

namespace pdacon {

namespace {

// A queue with the least first.
template <class Key>
using Agenda = std::priority_queue<Key, std::vector<Key>, std::greater<>>;

}  // namespace

LeastYields::LeastYields(const Pushdown& machine, const LexemeLengths& lengths, const Weights& weights,
                         Budget& budget)
    : machine_(machine),
      productions_of_(static_cast<std::size_t>(machine.tables.num_nonterminals) + 1),
      reductions_(static_cast<std::size_t>(machine.tables.num_states)),
      items_(reductions_.size()) {
    find_productions();
    find_yields(lengths, weights, budget);
    find_reductions(budget);
}

void LeastYields::find_productions() {
    const auto accessing_symbol = accessing_symbols(machine_);
    for (auto& production : reduced_productions(machine_, accessing_symbol)) {
        for (const auto state : production.reduced_in)
            reduced_.emplace_back(state, static_cast<std::int32_t>(productions_.size()));
        productions_.push_back({production.lhs, std::move(production.symbols), {}});
    }
    std::sort(reduced_.begin(), reduced_.end());
    const auto accepted = accessing_symbol[machine_.start.end_state];
    productions_.push_back({whole_text(), {accepted}, {}});
    for (std::size_t at = 0; at < productions_.size(); ++at)
        productions_of_[productions_[at].lhs].push_back(static_cast<std::int32_t>(at));
}

void LeastYields::find_yields(const LexemeLengths& lengths, const Weights& weights, Budget& budget) {
    const auto num_terminals = machine_.tables.num_terminals;
    std::vector<std::int64_t> yields(static_cast<std::size_t>(num_terminals) + productions_of_.size(),
                                     kNever);
    std::vector<std::vector<std::size_t>> users(
        yields.size());                // by symbol: the productions with it, once for each occurrence
    std::vector<std::size_t> missing;  // by production: its symbols without a yield so far
    Agenda<std::pair<std::int64_t, std::int32_t>> open;
    const auto offer = [&](const WeightedProduction& production) {
        std::int64_t total = 0;
        for (const auto symbol : production.symbols) total = sum(total, yields[symbol]);
        open.emplace(total, num_terminals + production.lhs);
    };
    for (std::size_t at = 0; at < productions_.size(); ++at) {
        for (const auto symbol : productions_[at].symbols)
            if (symbol >= 0) users[symbol].push_back(at);
        missing.push_back(productions_[at].symbols.size());
        if (missing.back() == 0) offer(productions_[at]);
    }
    for (std::int32_t terminal = 0; terminal < num_terminals; ++terminal)
        if (const auto length = lengths.of(terminal); length != LexemeLengths::kNever)
            open.emplace(weights.of_bytes(length), terminal);
    while (!open.empty()) {
        budget.tick();
        const auto [cost, symbol] = open.top();
        open.pop();
        if (std::exchange(yields[symbol], std::min(yields[symbol], cost)) != kNever) continue;
        for (const auto user : users[symbol])
            if (--missing[user] == 0) offer(productions_[user]);
    }
    for (auto& production : productions_) {
        production.rest.assign(production.symbols.size() + 1, 0);
        for (auto at = production.symbols.size(); at-- > 0;) {
            const auto symbol = production.symbols[at];
            const auto yield = symbol < 0 ? kNever : yields[symbol];
            production.rest[at] = sum(yield, production.rest[at + 1]);
        }
    }
}

void LeastYields::add_item(std::int32_t state, std::int32_t number, std::int32_t dot) {
    const auto& production = productions_[number];
    const auto cost = production.rest[dot];
    if (cost == kNever) return;
    auto& reductions = reductions_[state];
    const auto known =
        std::find_if(reductions.begin(), reductions.end(), [&](const KernelReduction& reduction) {
            return reduction.lhs == production.lhs && reduction.left == dot - 1;
        });
    const auto reduction = static_cast<std::int32_t>(known - reductions.begin());
    if (known == reductions.end())
        reductions.push_back({production.lhs, dot - 1, cost});
    else
        known->cost = std::min(known->cost, cost);
    if (static_cast<std::size_t>(dot) == production.symbols.size()) return;
    const auto next = nonterminal(production.symbols[dot]);
    if (next >= 0) items_[state].push_back({reduction, next, production.rest[dot + 1]});
}

// Finds the kernel items of all states, backwards from the states that reduce their productions.
void LeastYields::find_reductions(Budget& budget) {
    Interner seen;
    std::vector<std::array<std::int32_t, 3>> open;  // state, production, symbols before the dot
    const auto add = [&](std::int32_t state, std::int32_t production, std::int32_t dot) {
        const std::array key{state, production, dot};
        const auto known = seen.size();
        if (dot > 0 && static_cast<std::size_t>(seen.intern(key)) == known) open.push_back(key);
    };
    for (const auto& [state, production] : reduced_)
        add(state, production, static_cast<std::int32_t>(productions_[production].symbols.size()));
    while (!open.empty()) {
        budget.tick();
        const auto [state, production, dot] = open.back();
        open.pop_back();
        add_item(state, production, dot);
        for (const auto below : machine_.predecessors[state]) add(below, production, dot - 1);
    }
    // The whole text: the start state is popped with the one of acceptance.
    const auto& text = productions_.back();
    reductions_[machine_.start.end_state].push_back({whole_text(), 1, 0});
    if (text.rest[0] == kNever) return;
    const auto start = static_cast<std::size_t>(machine_.start.start_state);
    reductions_[start].push_back({whole_text(), 0, text.rest[0]});
    if (const auto next = nonterminal(text.symbols[0]); next >= 0)
        items_[start].push_back({static_cast<std::int32_t>(reductions_[start].size()) - 1, next, 0});
}

const std::unordered_map<std::int32_t, std::int64_t>& LeastYields::left_corners(std::int32_t of) {
    const auto [known, added] = left_corners_.try_emplace(of);
    auto& found = known->second;
    if (!added) return found;
    Agenda<std::pair<std::int64_t, std::int32_t>> open;
    open.emplace(0, of);
    while (!open.empty()) {
        const auto [cost, lhs] = open.top();
        open.pop();
        if (!found.try_emplace(lhs, cost).second) continue;
        for (const auto number : productions_of_[lhs]) {
            const auto& production = productions_[number];
            if (production.symbols.empty() || production.rest[0] == kNever) continue;
            const auto first = nonterminal(production.symbols[0]);
            if (first >= 0) open.emplace(sum(cost, production.rest[1]), first);
        }
    }
    return found;
}

std::int64_t LeastYields::after(std::int32_t lhs, std::int32_t state, std::int32_t reduction) {
    auto least = kNever;
    for (const auto& item : items_[state]) {
        if (item.reduction != reduction) continue;
        const auto& first = left_corners(item.next);
        if (const auto found = first.find(lhs); found != first.end())
            least = std::min(least, sum(found->second, item.rest));
    }
    return least;
}

}  // namespace pdacon
