// The futures of the many states of a large lexer that do alike: see Futures.
//
// In the automaton of all substrings of a text nearly all states accept, and from each all the rest of the
// text can be read: they have one future. What the states of a kind can lead to bounds the future of each of
// them from above; what is met on the way to later states, from below. Where both are the same, a state needs
// no visit and no node.
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

// A set of emissions: a bit for each, by its number.
using Emissions = std::uint64_t;

// States that share a row of transitions and do the same at the end of the input, but for their edges.
struct Kind {
    bool is_read = false;
    std::vector<std::pair<std::uint8_t, Emissions>> commits;  // of byte classes in the row: their emissions
    Emissions certain = 0;  // what its states emit, whatever edges they have
    Emissions all = 0;      // what texts can lead to from its states, and perhaps more
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

class Futures::AlikeStates {
  public:
    explicit AlikeStates(Futures& futures)
        : futures_(futures), lexer_(futures.lexer_), transitions_(lexer_.transitions()) {}

    // Answers the states whose future is that of their kind.
    void answer() {
        kind_of_ = kinds_of_states(lexer_);
        if (kind_of_.empty() || !read_kinds()) return;
        close_over_kinds();
        const auto emitted = emitted_by_states();
        const auto sets = sets_of_kinds();
        for (std::int32_t state = 0; state < lexer_.num_states(); ++state)
            if (emitted[state] == kind(state).all)
                futures_.plain_nodes_[state] = kUnvisited - 1 - sets[kind_of_[state]];
    }

  private:
    Kind& kind(std::int32_t state) { return kinds_[kind_of_[state]]; }

    // The emission itself, as a set. Numbers beyond the last bit share bits until `read_kinds` gives up.
    Emissions set_of(std::int32_t emission) {
        if (emission < 0) return 0;
        const auto number =
            static_cast<std::size_t>(std::ranges::find(numbers_, emission) - numbers_.begin());
        if (number == numbers_.size()) numbers_.push_back(emission);
        return Emissions{1} << (number % kEmissions);
    }

    // What a transition emits by itself.
    Emissions emitted_at(std::int32_t next) {
        if (!LexingAutomaton::is_commit(next)) return 0;
        return set_of(futures_.classify(futures_.plain_commit(next)));
    }

    // What the states of each kind emit by themselves, and the kinds that they lead to. False: there are too
    // many emissions.
    bool read_kinds() {
        for (std::int32_t state = 0; state < lexer_.num_states(); ++state) {
            futures_.budget_->tick();
            if (!std::exchange(kind(state).is_read, true)) read_row(state);
            for (const auto target : transitions_.edge_targets(state))
                if (target >= 0)
                    kind(state).leads_to[kind_of_[target]] = true;
                else
                    kind(state).all |= emitted_at(target);
            if (numbers_.size() > kEmissions) return false;
        }
        return true;
    }

    // What all states of a kind have in common: their row, and what they do at the end of the input.
    void read_row(std::int32_t state) {
        auto& its = kind(state);
        if (futures_.may_end(0)) its.certain = set_of(futures_.end_emission({state, {}, {}}));
        its.all = its.certain;
        const auto row = transitions_.row(transitions_.row_of(state));
        for (const auto& [byte_class, speller_state] : futures_.moves(0)) {
            const auto next = row[byte_class];
            if (next >= 0) its.leads_to[kind_of_[next]] = true;
            const auto emissions = emitted_at(next);
            if (emissions != 0) its.commits.emplace_back(static_cast<std::uint8_t>(byte_class), emissions);
            its.all |= emissions;
        }
    }

    void close_over_kinds() {
        for (bool more = true; std::exchange(more, false);)
            for (auto& from : kinds_)
                for (std::size_t to = 0; to < kKinds; ++to)
                    if (from.leads_to[to] && (kinds_[to].all & ~from.all) != 0) {
                        from.all |= kinds_[to].all;
                        more = true;
                    }
    }

    // For each state what is met on the way to later states. Depth first, as each state can be told when all
    // that it leads to have been; on a cycle perhaps less than all is told. From the last state on, as most
    // lead to later ones.
    std::vector<Emissions> emitted_by_states() {
        std::vector<Emissions> emitted(kind_of_.size());
        std::vector<bool> seen(kind_of_.size());
        std::vector<std::pair<std::int32_t, std::size_t>> path;  // a state, and which of its edges is next
        const auto visit = [&](std::int32_t state) {
            seen[state] = true;
            emitted[state] = emitted_by(state);
            if (emitted[state] != kind(state).all) path.emplace_back(state, 0);
        };
        for (auto root = lexer_.num_states(); root-- > 0;) {
            if (!seen[root]) visit(root);
            while (!path.empty()) {
                futures_.budget_->tick();
                const auto [state, edge] = path.back();
                const auto targets = transitions_.edge_targets(state);
                if (edge == targets.size() || emitted[state] == kind(state).all) {
                    path.pop_back();
                    if (!path.empty()) emitted[path.back().first] |= emitted[state];
                    continue;
                }
                ++path.back().second;
                const auto target = targets[edge];
                if (target >= 0 && !seen[target]) visit(target);
                emitted[state] |= target >= 0 ? emitted[target] : emitted_at(target);
            }
        }
        return emitted;
    }

    // What a state emits by itself: at the end of the input, and where its row commits and no edge is in the
    // way.
    Emissions emitted_by(std::int32_t state) {
        auto emissions = kind(state).certain;
        const auto edges = transitions_.edge_classes(state);
        for (const auto& [byte_class, commit] : kind(state).commits)
            if (std::ranges::find(edges, byte_class) == edges.end()) emissions |= commit;
        return emissions;
    }

    std::vector<std::int32_t> sets_of_kinds() {
        std::vector<std::int32_t> sets;
        for (const auto& its : kinds_) {
            std::vector<std::int32_t> emissions;
            for (const auto emission : numbers_)
                if ((its.all & set_of(emission)) != 0) emissions.push_back(emission);
            std::ranges::sort(emissions);
            sets.push_back(futures_.sets_.intern(emissions));
        }
        return sets;
    }

    Futures& futures_;
    const LexingAutomaton& lexer_;
    const Transitions& transitions_;
    std::vector<std::uint8_t> kind_of_;  // by state
    std::vector<Kind> kinds_ = std::vector<Kind>(kKinds);
    std::vector<std::int32_t> numbers_;  // emissions, by their numbers
};

void Futures::answer_alike_states() {
    const auto& transitions = lexer_.transitions();
    if (transitions.has_shared_rows() && newline_ < 0 && moves_.size() == 1) AlikeStates(*this).answer();
}

}  // namespace pdacon
