// The plain states of the subset construction: see PlainState.
#include <algorithm>
#include <utility>

#include "lexer/subset_construction.hpp"

namespace pdacon {

namespace {

// A terminal with so many positions is large: its states are far from one another in memory.
constexpr std::size_t kLarge = std::size_t{1} << 16;

}  // namespace

bool SubsetConstruction::is_plain(const State& state) const {
    return has_plain_states() && !state.at_start && state.threads.size() == 1 && state.keywords.empty() &&
           !spec_.nfa.is_pending(state.threads[0].position) && !state.fallback.waits() &&
           (state.fallback.label == Match::kNone ||
            state.fallback.label == label_at(state.threads[0].position));
}

SubsetConstruction::FallbackRow& SubsetConstruction::fallback_row(std::int32_t label) {
    auto& found = fallback_rows_[label - Match::kNone];
    if (found.row >= 0) return found;
    found.row = transitions_.add_row(LexingAutomaton::kDead);
    found.waits.resize(static_cast<std::size_t>(bytes_.count));
    if (label >= 0)
        for (std::int32_t cls = 0; cls < bytes_.count; ++cls)
            found.open.push_back(static_cast<std::uint8_t>(cls));
    return found;
}

bool SubsetConstruction::is_large_and_alone(std::int32_t terminal) const {
    return spec_.nfa.kind.size() >= kLarge && !is_laid_out_[terminal] &&
           std::ranges::all_of(spec_.contexts, [&](const LexicalContext& context) {
               return context.renames.empty() &&
                      (context.alternation.size() == 1 ||
                       std::ranges::find(context.alternation, terminal) == context.alternation.end());
           });
}

// Numbers the plain states of a terminal by their positions, as soon as a text can begin with it. By the
// order in which texts reach them each would be far from the last one, and so would be all that is kept by
// state.
void SubsetConstruction::number_plain_states(std::int32_t terminal) {
    is_laid_out_[terminal] = true;
    const auto states = plain_states_of(terminal);
    const auto count = static_cast<std::size_t>(std::ranges::count(states, true));
    reached_.reserve(reached_.size() + count);
    transitions_.reserve(count, spec_.nfa.target.size() / 2);  // about so many: those of splits are not
    for (std::size_t state = 0; state < states.size(); ++state)
        if (states[state]) reach(kPlain + static_cast<std::int32_t>(state));
}

// The plain states that texts of a terminal lead to, by their ids from kPlain on, where it is read alone.
// Empty where some of its states are not plain, or not all that edges lead to is certainly reached.
std::vector<bool> SubsetConstruction::plain_states_of(std::int32_t terminal) {
    const auto& nfa = spec_.nfa;
    std::vector<bool> found(plain_number_.size()), passed(plain_number_.size());
    const auto entry = nfa.entry_of(terminal, 0);
    if (entry < 0 || nfa.kind_of(entry) != NfaKind::kBytes) return {};
    std::vector<std::int32_t> open{plain_id(entry, false)};
    const auto visit = [&](std::int32_t next, std::vector<bool>& seen) {
        if (found[next - kPlain] || seen[next - kPlain]) return;
        seen[next - kPlain] = true;
        open.push_back(next);
    };
    while (!open.empty()) {
        budget_.tick();
        const auto [position, matched] = plain_state(open.back());
        const auto label = matched ? label_at(position) : Match::kNone;
        open.pop_back();
        int above = -1;
        for (const auto edge : nfa.edges(static_cast<std::size_t>(position))) {
            if (nfa.low[edge] <= above) return {};
            above = nfa.high[edge];
            for (auto byte = static_cast<std::size_t>(nfa.low[edge]); byte <= nfa.high[edge]; ++byte) {
                const auto next = plain_target(label, bytes_.class_of[byte], nfa.target[edge]);
                if (next >= 0)
                    visit(next, found);
                else if (next == Step::kUnknown && nfa.kind_of(nfa.target[edge]) == NfaKind::kBytes)
                    visit(plain_id(nfa.target[edge], false), passed);  // a match waits there
                else if (next == Step::kUnknown)
                    return {};
            }
        }
    }
    return found;
}

// Does what `step_all` does, without a look at each class. The classes on which the thread goes on become
// edges; all others lead where they lead from any plain state with this match.
void SubsetConstruction::step_plain(std::int32_t from, const PlainState& state) {
    budget_.tick();
    const auto& nfa = spec_.nfa;
    const auto position = static_cast<std::size_t>(state.position);
    plain_edges_.clear();
    for (const auto edge : nfa.edges(position))
        for (std::size_t byte = nfa.low[edge]; byte <= nfa.high[edge]; ++byte)
            if (const auto cls = bytes_.class_of[byte]; bytes_.representative[cls] == byte)
                plain_edges_.emplace_back(cls, nfa.target[edge]);
    if (plain_edges_.size() > 1) {
        const auto by_class = &decltype(plain_edges_)::value_type::first;
        if (!std::ranges::is_sorted(plain_edges_, {}, by_class))  // mostly they are
            std::ranges::stable_sort(plain_edges_, {}, by_class);
        const auto doubled = std::ranges::unique(plain_edges_, {}, by_class);  // the first edge counts
        plain_edges_.erase(doubled.begin(), doubled.end());
    }
    const Match match{state.matched ? label_at(state.position) : Match::kNone};
    auto& others = fallback_row(match.label);
    transitions_.add_state(others.row);
    std::size_t kept = 0;
    auto open = others.open.begin();
    // States and commits are numbered by the classes that lead to them, in their order.
    const auto fill_until = [&](std::int32_t limit) {
        for (; open != others.open.end() && *open < limit; ++open)
            if (const auto after = read_on(match, *open); after.label >= 0)
                transitions_.row(others.row)[*open] = reach(commit(after));
    };
    for (const auto& [cls, to] : plain_edges_) {
        fill_until(cls);
        if (open != others.open.end() && *open == cls) others.open[kept++] = *open++;
        const auto [target, matched] = plain_step(from, match.label, cls, to);
        transitions_.add_edge(cls, target == LexingAutomaton::kDead ? target : reach(target));
        if (matched >= 0) note_match(matched);
    }
    fill_until(bytes_.count);
    others.open.resize(kept);
}

// Whether a match of a label waits for what follows while its thread reads a byte class.
bool SubsetConstruction::waits_after(std::int32_t label, std::int32_t cls) {
    auto& known = fallback_row(label).waits[cls];
    if (!known) known = read_on({label}, cls).label >= 0;
    return *known;
}

// Where an edge to a position leads from a plain state with a match of a label, or with none, if that is a
// plain state; kDead where it is a match that is certain at once; kUnknown: something else.
std::int32_t SubsetConstruction::plain_target(std::int32_t label, std::int32_t cls, std::int32_t target) {
    const auto& nfa = spec_.nfa;
    const auto at = static_cast<std::size_t>(target);
    switch (nfa.kind_of(target)) {
        case NfaKind::kMatch:
            return LexingAutomaton::kDead;
        case NfaKind::kBytes:
            return label >= 0 && waits_after(label, cls) ? Step::kUnknown : plain_id(target, false);
        case NfaKind::kSplit: {
            const auto edge = static_cast<std::size_t>(nfa.offset[at]);
            if (nfa.offset[at + 1] - nfa.offset[at] == 2 &&
                nfa.kind_of(nfa.target[edge]) == NfaKind::kBytes &&
                nfa.kind_of(nfa.target[edge + 1]) == NfaKind::kMatch)
                return plain_id(nfa.target[edge], true);
            break;
        }
        default:
            break;
    }
    return Step::kUnknown;
}

// Where an edge to a position leads from a plain state with a match of a label, or with none, and which
// terminal it makes the first to match.
SubsetConstruction::Step SubsetConstruction::plain_step(std::int32_t from, std::int32_t label,
                                                        std::int32_t cls, std::int32_t target) {
    const auto next = plain_target(label, cls, target);
    if (next == Step::kUnknown) return step(written_out(from), cls);
    const auto terminal = spec_.nfa.owner[static_cast<std::size_t>(target)];
    if (next == LexingAutomaton::kDead) return {commit({label_of(terminal)}), terminal};
    return {next, plain_state(next).matched ? terminal : -1};
}

// The id of an ordinary state that is equal to a plain one: for steps that are not plain.
std::int32_t SubsetConstruction::written_out(std::int32_t plain) {
    const std::int32_t key[] = {-1, plain};  // no other key begins like that
    const auto id = state_ids_.intern(key);
    if (static_cast<std::size_t>(id) == states_.size()) {
        const auto [position, matched] = plain_state(plain);
        State state;
        state.threads.push_back({position, {}});
        if (matched) state.fallback = {label_at(position)};
        states_.push_back(std::move(state));
        steps_.emplace_back();
        number_.push_back(LexingAutomaton::kDead);
        budget_.check_states(num_states());
    }
    return id;
}

}  // namespace pdacon
