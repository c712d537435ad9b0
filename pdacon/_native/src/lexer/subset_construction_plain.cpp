// The plain states of the subset construction: see PlainState.
#include <algorithm>
#include <utility>

#include "lexer/subset_construction.hpp"

namespace pdacon {

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
    if (label >= 0)
        for (std::int32_t cls = 0; cls < bytes_.count; ++cls)
            found.open.push_back(static_cast<std::uint8_t>(cls));
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
        const auto [target, matched] = plain_step(from, state.matched, cls, to);
        transitions_.add_edge(cls, target == LexingAutomaton::kDead ? target : reach(target));
        if (matched >= 0) note_match(matched);
    }
    fill_until(bytes_.count);
    others.open.resize(kept);
}

// Where an edge to a position leads from a plain state, and which terminal it makes the first to match.
SubsetConstruction::Step SubsetConstruction::plain_step(std::int32_t from, bool matched, std::int32_t cls,
                                                        std::int32_t target) {
    const auto& nfa = spec_.nfa;
    const auto at = static_cast<std::size_t>(target);
    switch (nfa.kind_of(target)) {
        case NfaKind::kMatch:
            return {commit({label_of(nfa.owner[at])}), nfa.owner[at]};
        case NfaKind::kBytes:
            if (!matched) return {plain_id(target, false), -1};
            break;
        case NfaKind::kSplit: {
            const auto edge = static_cast<std::size_t>(nfa.offset[at]);
            if (nfa.offset[at + 1] - nfa.offset[at] == 2 &&
                nfa.kind_of(nfa.target[edge]) == NfaKind::kBytes &&
                nfa.kind_of(nfa.target[edge + 1]) == NfaKind::kMatch)
                return {plain_id(nfa.target[edge], true), nfa.owner[at]};
            break;
        }
        default:
            break;
    }
    return step(written_out(from), cls);
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
