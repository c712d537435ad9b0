#include "completion/line_costs.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace pdacon {

namespace {

constexpr char kBlanks[] = {' ', '\t'};

// Calls visit(byte, lexing) for each blank that goes on within the newline, and where it leads.
template <class Visit>
void for_each_blank(const LexingAutomaton& lexer, const LexerConfiguration& lexing, Visit visit) {
    for (const auto byte : kBlanks) {
        const auto byte_class = lexer.byte_class(static_cast<std::uint8_t>(byte));
        const auto next = lexer.next(lexing.state, byte_class);
        if (next < 0) continue;
        auto to = lexing;
        lexer.move(to, next, byte_class);
        if (to.now.known()) visit(byte, to);
    }
}

std::tuple<std::int32_t, std::int32_t, std::int32_t> key_of(const LexerConfiguration& lexing) {
    return {lexing.state, lexing.now.value, lexing.matched.value};
}

}  // namespace

std::vector<LexerConfiguration> placed_lines(const Futures& futures, const LexerConfiguration& begun) {
    std::vector<LexerConfiguration> found{futures.classes().least(begun)};
    for (std::size_t at = 0; at < found.size(); ++at)
        for_each_blank(futures.lexer(), LexerConfiguration(found[at]),
                       [&](char, const LexerConfiguration& to) {
                           const auto like = futures.classes().least(to);
                           if (std::ranges::find(found, like) == found.end()) found.push_back(like);
                       });
    return found;
}

const std::vector<BlankCosts::Placed>& BlankCosts::from(const LexerConfiguration& lexing, std::int32_t most) {
    const std::int32_t key[] = {lexing.state, lexing.now.value, lexing.matched.value, most};
    return known_[known_.find_or_make(key, [&] { return search(lexing, most); })];
}

Column BlankCosts::last_column(const LexerConfiguration& lexing, std::int32_t byte_class) const {
    const auto next = lexer_.next(lexing.state, byte_class);
    if (!lexing.now.known() || !LexingAutomaton::is_commit(next)) return {};
    const auto& commit = lexer_.commit(next);
    if (commit.label != newline_ || !lexer_.pushback(commit.pushback).empty()) return {};
    return lexer_.committed_column(commit, lexing, byte_class);
}

// Dijkstra's algorithm; within a token of blanks down the trie.
std::vector<BlankCosts::Placed> BlankCosts::search(const LexerConfiguration& lexing,
                                                   std::int32_t most) const {
    std::vector<Placed> found;
    std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t>> seen;
    std::vector<std::vector<LexerConfiguration>> open{{lexing}};  // by cost
    std::vector<Placed> ended;
    const auto cost_of = [&](std::int32_t node) {
        return unit_ == Unit::kTokens ? 1 : static_cast<std::int32_t>(trie_.depth(node));
    };
    const auto is_token = [&](std::int32_t node) {
        return trie_.first_token(node) != trie_.first_token(node + 1);
    };
    for (std::size_t cost = 0; cost < open.size(); ++cost) {
        while (!open[cost].empty()) {
            const auto here = open[cost].back();
            open[cost].pop_back();
            if (!seen.insert(key_of(here)).second) continue;
            found.push_back({here, static_cast<std::int32_t>(cost)});
            std::vector<std::pair<LexerConfiguration, std::int32_t>> within{{here, 0}};  // nodes of the trie
            while (!within.empty()) {
                const auto [at, node] = within.back();
                within.pop_back();
                for (const auto byte : kBlanks) {
                    const auto byte_class = lexer_.byte_class(static_cast<std::uint8_t>(byte));
                    const auto column = last_column(at, byte_class);
                    const auto child = trie_.child(node, static_cast<std::uint8_t>(byte));
                    if (column.known() && column.value <= most && child >= 0 && is_token(child))
                        ended.push_back({at, static_cast<std::int32_t>(cost) + cost_of(child),
                                         lexer_.next(at.state, byte_class), byte_class});
                }
                for_each_blank(lexer_, at, [&](char byte, const LexerConfiguration& to) {
                    const auto child = trie_.child(node, static_cast<std::uint8_t>(byte));
                    if (child < 0 || to.now.value > most) return;
                    within.emplace_back(to, child);
                    if (!is_token(child)) return;
                    const auto after = cost + static_cast<std::size_t>(cost_of(child));
                    if (after >= open.size()) open.resize(after + 1);
                    open[after].push_back(to);
                });
            }
        }
    }
    found.insert(found.end(), ended.begin(), ended.end());
    std::ranges::stable_sort(found, {}, &Placed::cost);
    return found;
}

std::vector<std::int32_t> BlankCosts::up_to_columns(std::int32_t most) const {
    std::set<std::int32_t> begun;  // states
    const auto line_break = lexer_.byte_class('\n');
    for (std::int32_t state = 0; state < lexer_.num_states(); ++state)
        if (const auto next = lexer_.next(state, line_break); next >= 0 && lexer_.counts(next))
            begun.insert(next);
    std::vector<std::int32_t> worst(static_cast<std::size_t>(most) + 1, 0);
    const auto raise = [&](std::int32_t column, std::int32_t cost) {
        auto& known = worst[column];
        known = std::max(known, cost);
    };
    for (const auto state : begun) {
        // What blanks cost does not depend on which match is kept.
        const LexerConfiguration start{state, Column::at(0), {}};
        constexpr std::int32_t kEnded = -1;
        std::set<std::pair<std::int32_t, std::int32_t>> reachable{{state, 0}}, reached;  // states and columns
        std::vector<LexerConfiguration> open{start};
        while (!open.empty()) {
            const auto at = open.back();
            open.pop_back();
            for (const auto byte : kBlanks)
                if (const auto column = last_column(at, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
                    column.known() && column.value <= most)
                    reachable.emplace(kEnded, column.value);
            for_each_blank(lexer_, at, [&](char, const LexerConfiguration& to) {
                if (to.now.value <= most && reachable.emplace(to.state, to.now.value).second)
                    open.push_back(to);
            });
        }
        for (const auto& [lexing, cost, commit, byte_class] : search(start, most)) {
            const auto column = byte_class < 0 ? lexing.now : last_column(lexing, byte_class);
            if (reached.emplace(byte_class < 0 ? lexing.state : kEnded, column.value).second)
                raise(column.value, cost);
        }
        for (const auto& [other, column] : reachable)
            if (!reached.contains({other, column})) raise(column, kNever);
    }
    for (std::size_t column = 1; column < worst.size(); ++column)
        worst[column] = std::max(worst[column], worst[column - 1]);
    return worst;
}

}  // namespace pdacon
