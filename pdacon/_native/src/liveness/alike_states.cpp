// The futures of the many states of a large lexer that do alike: see Futures.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "liveness/futures.hpp"

namespace pdacon {

namespace {

// So many kinds of states are told apart, and so many emissions. With more, states are visited as in any
// lexer.
constexpr std::size_t kKinds = 256, kEmissions = 64;

// States that share a row of transitions and do the same at the end of the input, but for their edges. Sets
// of emissions are bits.
struct Kind {
    bool is_read = false;
    std::vector<std::pair<std::uint8_t, std::uint64_t>>
        commits;                // of byte classes in the row: their emissions
    std::uint64_t certain = 0;  // what its states emit, whatever edges they have
    std::uint64_t all = 0;      // what texts can lead to from its states, and perhaps more
    std::array<bool, kKinds> leads_to{};
};

// Numbers the kinds of all states. Empty if there are too many.
std::vector<std::uint8_t> kinds_of_states(const LexingAutomaton& lexer) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> numbers;
    std::vector<std::uint8_t> kind_of(static_cast<std::size_t>(lexer.num_states()));
    for (std::int32_t state = 0; state < lexer.num_states(); ++state) {
        const std::pair key{lexer.transitions().row_of(state), lexer.at_end(state)};
        const auto number = numbers.try_emplace(key, numbers.size()).first->second;
        if (number == kKinds) return {};
        kind_of[static_cast<std::size_t>(state)] = static_cast<std::uint8_t>(number);
    }
    return kind_of;
}

}  // namespace

// In the automaton of all substrings of a text nearly all states accept, and from each all the rest of the
// text can be read: they have one future. What the states of a kind can lead to bounds the future of each of
// them from above; what is met on the way to later states, from below. Where both are the same, a state needs
// no visit and no node.
void Futures::answer_alike_states() {
    const auto& transitions = lexer_.transitions();
    if (!transitions.has_shared_rows() || newline_ >= 0 || moves_.size() != 1) return;
    const auto kind_of = kinds_of_states(lexer_);
    if (kind_of.empty()) return;
    std::vector<Kind> kinds(kKinds);
    std::vector<std::int32_t> numbers;  // of the emissions: their bits
    const auto number_of = [&](std::int32_t emission) {
        const auto number = static_cast<std::size_t>(std::ranges::find(numbers, emission) - numbers.begin());
        if (number == numbers.size()) numbers.push_back(emission);
        return number;
    };
    const auto bit = [](std::size_t number) { return std::uint64_t{1} << (number % kEmissions); };
    const auto bits_of = [&](std::int32_t next) -> std::uint64_t {
        if (!LexingAutomaton::is_commit(next)) return 0;
        const auto emission = classify(plain_commit(next));
        return emission < 0 ? 0 : bit(number_of(emission));
    };
    for (std::int32_t state = 0; state < lexer_.num_states(); ++state) {
        budget_->tick();
        auto& kind = kinds[kind_of[state]];
        if (!std::exchange(kind.is_read, true)) {
            if (const auto end = may_end(0) ? end_emission({state, {}, {}}) : -1; end >= 0)
                kind.certain = bit(number_of(end));
            kind.all = kind.certain;
            const auto row = transitions.row(transitions.row_of(state));
            for (const auto& [byte_class, speller_state] : moves(0)) {
                const auto next = row[byte_class];
                if (next >= 0) kind.leads_to[kind_of[next]] = true;
                const auto bits = bits_of(next);
                if (bits != 0) kind.commits.emplace_back(static_cast<std::uint8_t>(byte_class), bits);
                kind.all |= bits;
            }
        }
        for (const auto target : transitions.edge_targets(state))
            if (target >= 0)
                kind.leads_to[kind_of[target]] = true;
            else
                kind.all |= bits_of(target);
        if (numbers.size() > kEmissions) return;
    }
    for (bool more = true; std::exchange(more, false);)
        for (auto& kind : kinds)
            for (std::size_t other = 0; other < kKinds; ++other)
                if (kind.leads_to[other] && (kinds[other].all & ~kind.all) != 0) {
                    kind.all |= kinds[other].all;
                    more = true;
                }
    // Depth first, as each state can be told when all that it leads to have been; on a cycle perhaps less
    // than all is told. From the last state on, as most lead to later ones.
    std::vector<std::uint64_t> emitted(kind_of.size());
    std::vector<bool> seen(kind_of.size());
    std::vector<std::pair<std::int32_t, std::size_t>> path;  // a state, and which of its edges is next
    const auto visit = [&](std::int32_t state) {
        seen[state] = true;
        const auto& kind = kinds[kind_of[state]];
        emitted[state] = kind.certain;
        if (kind.certain == kind.all) return;
        const auto edges = transitions.edge_classes(state);
        for (const auto& [byte_class, commit] : kind.commits)
            if (std::ranges::find(edges, byte_class) == edges.end()) emitted[state] |= commit;
        path.emplace_back(state, 0);
    };
    for (auto root = lexer_.num_states(); root-- > 0;) {
        if (!seen[root]) visit(root);
        while (!path.empty()) {
            budget_->tick();
            const auto [state, edge] = path.back();
            const auto targets = transitions.edge_targets(state);
            if (edge == targets.size() || emitted[state] == kinds[kind_of[state]].all) {
                path.pop_back();
                if (!path.empty()) emitted[path.back().first] |= emitted[state];
                continue;
            }
            ++path.back().second;
            const auto target = targets[edge];
            if (target >= 0 && !seen[target]) visit(target);
            emitted[state] |= target >= 0 ? emitted[target] : bits_of(target);
        }
    }
    std::vector<std::int32_t> sets;
    for (const auto& kind : kinds) {
        std::vector<std::int32_t> emissions;
        for (std::size_t number = 0; number < numbers.size(); ++number)
            if ((kind.all & bit(number)) != 0) emissions.push_back(numbers[number]);
        std::ranges::sort(emissions);
        sets.push_back(sets_.intern(emissions));
    }
    for (std::int32_t state = 0; state < lexer_.num_states(); ++state)
        if (emitted[state] == kinds[kind_of[state]].all)
            plain_nodes_[state] = kUnvisited - 1 - sets[kind_of[state]];
}

}  // namespace pdacon
