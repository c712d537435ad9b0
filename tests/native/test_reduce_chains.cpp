// Chains of reduces beside a parser that makes each step, on the tables of random grammars. Many of these
// have conflicts and empty productions, so that some chains go round for ever.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "check.hpp"
#include "lalr/tables.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace {

using pdacon::PersistentStack, pdacon::Pushdown;

constexpr int kMostSteps = 20'000;  // more than any chain that ends has in a grammar of this size

// A lexer for terminals of one byte each, `a`, `b` and so on, all of which can follow each other.
std::shared_ptr<const pdacon::LexingAutomaton> letters(std::int32_t terminals) {
    std::vector<std::int32_t> offset = {0};
    std::vector<std::int32_t> target, entry, owner;
    std::vector<std::uint8_t> kind, low, high;
    for (std::int32_t terminal = 0; terminal < terminals; ++terminal) {
        const auto letter = static_cast<std::uint8_t>('a' + terminal);
        entry.push_back(static_cast<std::int32_t>(kind.size()));
        kind.push_back(static_cast<std::uint8_t>(pdacon::NfaKind::kBytes));
        kind.push_back(static_cast<std::uint8_t>(pdacon::NfaKind::kMatch));
        low.push_back(letter);
        high.push_back(letter);
        target.push_back(static_cast<std::int32_t>(kind.size()) - 1);
        offset.insert(offset.end(), 2, static_cast<std::int32_t>(target.size()));
        owner.insert(owner.end(), 2, terminal);
    }
    pdacon::Nfa nfa;
    nfa.kind = std::move(kind);
    nfa.offset = std::move(offset);
    nfa.low = std::move(low);
    nfa.high = std::move(high);
    nfa.target = std::move(target);
    nfa.owner = std::move(owner);
    nfa.entry = std::move(entry);
    nfa.look_behind = std::vector<std::int32_t>(256, 0);
    pdacon::LexerSpec spec{nfa, {}, {}, {}, {}};
    spec.contexts.emplace_back();
    for (std::int32_t terminal = 0; terminal < terminals; ++terminal)
        spec.contexts.back().alternation.push_back(terminal);
    spec.ignored.assign(static_cast<std::size_t>(terminals), 0);
    spec.follow.assign(static_cast<std::size_t>(terminals), {0});
    spec.starts = {0};
    pdacon::Budget budget(0, 0);
    return std::make_shared<const pdacon::LexingAutomaton>(spec, budget);
}

// The right-hand sides of one nonterminal, without doubles.
std::set<std::vector<std::int32_t>> random_sides(pdacon::test::Random& random,
                                                 const pdacon::lalr::Productions& of) {
    std::set<std::vector<std::int32_t>> sides;
    for (auto left = 1 + random.below(3); left > 0; --left) {
        std::vector<std::int32_t> symbols(static_cast<std::size_t>(random.below(4)));
        for (auto& symbol : symbols)
            symbol = random.below(2) == 0 ? random.below(of.num_terminals)
                                          : of.num_terminals + 1 + random.below(of.num_nonterminals);
        sides.insert(std::move(symbols));
    }
    return sides;
}

pdacon::lalr::Productions random_productions(pdacon::test::Random& random) {
    pdacon::lalr::Productions made;
    made.num_terminals = 1 + random.below(3);
    made.num_nonterminals = 1 + random.below(4);
    made.rhs_offset.push_back(0);
    for (std::int32_t lhs = 0; lhs < made.num_nonterminals; ++lhs)
        for (const auto& symbols : random_sides(random, made)) {
            made.lhs.push_back(made.num_terminals + 1 + lhs);
            made.rhs.insert(made.rhs.end(), symbols.begin(), symbols.end());
            made.rhs_offset.push_back(static_cast<std::int32_t>(made.rhs.size()));
        }
    made.priority.assign(made.lhs.size(), 0);
    made.starts = {made.num_terminals + 1};
    return made;
}

// The definition: one reduce after another, until the terminal is shifted, $END accepted, or an error met.
bool feed_step_by_step(const Pushdown& machine, std::vector<std::int32_t>& stack, std::int32_t terminal,
                       int& steps) {
    const auto& tables = machine.tables;
    for (steps = 0; steps < kMostSteps; ++steps) {
        const auto action = tables.action_of(stack.back(), terminal);
        if (action == 0) return false;
        if (action > 0) {
            stack.push_back(action - 1);
            return true;
        }
        const auto production = static_cast<std::size_t>(-action - 1);
        stack.resize(stack.size() - static_cast<std::size_t>(tables.length[production]));
        const auto next = tables.goto_of(stack.back(), tables.lhs[production]);
        if (next < 0) return false;
        stack.push_back(next);
        if (terminal == tables.num_terminals && next == machine.start.end_state) return true;
    }
    return false;
}

bool is(const PersistentStack& stack, const std::vector<std::int32_t>& states) {
    auto left = states.size();
    for (const auto* node = stack.node(); node != nullptr; node = node->below)
        if (left == 0 || node->state != states[--left]) return false;
    return left == 0;
}

struct Counts {
    int grammars = 0, shifts = 0, long_chains = 0, endless = 0, accepted = 0;
};

void check_one(unsigned seed, Counts& counts) {
    pdacon::test::Random random(seed);
    const auto productions = random_productions(random);
    auto built = pdacon::lalr::build_tables(productions, {0, 0});
    const auto end = built.num_terminals;
    std::vector<std::int32_t> lhs, length;
    for (std::size_t at = 0; at < productions.lhs.size(); ++at) {
        lhs.push_back(productions.nonterminal(productions.lhs[at]));
        length.push_back(productions.rhs_offset[at + 1] - productions.rhs_offset[at]);
    }
    pdacon::ParseTables tables;
    tables.num_states = built.num_states;
    tables.num_terminals = built.num_terminals;
    tables.num_nonterminals = built.num_nonterminals;
    tables.action = std::move(built.action);
    tables.gotos = {std::move(built.goto_offset), std::move(built.goto_nonterminal),
                    std::move(built.goto_target)};
    tables.lhs = std::move(lhs);
    tables.length = std::move(length);
    tables.context = std::vector<std::int32_t>(static_cast<std::size_t>(built.num_states), 0);
    const Pushdown machine(letters(end), std::move(tables), {built.start_states[0], built.end_states[0]}, {});
    ++counts.grammars;
    for (int walk = 0; walk < 10; ++walk) {
        PersistentStack stack(machine.start.start_state);
        std::vector<std::int32_t> states{machine.start.start_state};
        for (int length_left = 12; length_left > 0; --length_left) {
            std::optional<std::vector<std::int32_t>> shifted;
            const auto first = random.below(end + 1);
            for (std::int32_t at = 0; at <= end; ++at) {
                const auto terminal = (first + at) % (end + 1);
                auto expected = states;
                int steps = 0;
                const bool taken = feed_step_by_step(machine, expected, terminal, steps);
                // `feed` makes the first steps one by one; `feed_on` has to be right from the first one on.
                for (const bool at_once : {false, true}) {
                    auto here = stack;
                    const bool found = at_once ? pdacon::feed_on(machine, here, terminal)
                                               : pdacon::feed(machine, here, terminal);
                    CHECK(found == taken);
                    CHECK(!taken || terminal == end || is(here, expected));
                }
                counts.endless += steps == kMostSteps;
                counts.long_chains += taken && steps > 4;
                counts.accepted += taken && terminal == end;
                if (taken && terminal < end && !shifted) shifted = std::move(expected);
            }
            if (!shifted) break;
            ++counts.shifts;
            states = std::move(*shifted);
            PersistentStack copy(states.front());
            for (std::size_t at = 1; at < states.size(); ++at) copy.push(states[at]);
            stack = std::move(copy);
        }
    }
}

}  // namespace

int main() {
    Counts counts;
    for (unsigned seed = 0; seed < 1500; ++seed) check_one(seed, counts);
    std::printf("%d grammars, %d shifts, %d long chains, %d endless ones, %d sentences\n", counts.grammars,
                counts.shifts, counts.long_chains, counts.endless, counts.accepted);
    CHECK(counts.shifts > 1000 && counts.long_chains > 100 && counts.endless > 10 && counts.accepted > 100);
}
