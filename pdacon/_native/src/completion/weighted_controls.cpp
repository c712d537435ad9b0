#include "completion/weighted_controls.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pdacon {

// One control for each label, column and cost. Controls with costs relative to their cheapest residue would
// be fewer, but their number need not be finite.
std::vector<PendingControls::Successor> WeightedControls::by_label(const EmissionCosts& costs) {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::vector<std::int32_t>> groups;
    for (const auto& [id, cost] : costs) {
        const auto& emission = futures_.emission(id);
        const auto beyond =
            cost - lengths_.of_word(futures_.bytes_of(emission.residue)) - lengths_.of(emission.label);
        groups[{emission.label, emission.column, beyond}].push_back(emission.residue);
    }
    std::vector<Successor> successors;
    for (auto& [group, residues] : groups) {
        const auto [label, column, beyond] = group;
        std::sort(residues.begin(), residues.end());
        emit_controls(label, column, residues,
                      [&, cost = beyond](std::int32_t control) { successors.push_back({control, cost}); });
    }
    return successors;
}

std::vector<PendingControls::Successor> WeightedControls::lexed(std::int32_t context,
                                                                std::span<const std::int32_t> residues) {
    EmissionCosts costs;
    const auto add = [&](std::int32_t emission, std::int32_t cost) {
        const auto [at, added] = costs.try_emplace(emission, cost);
        if (!added) at->second = std::min(at->second, cost);
    };
    for (const auto residue : residues) {
        const auto result = futures_.scan(context, residue);
        const auto bytes = lengths_.of_word(futures_.bytes_of(residue));
        if (result.emission >= 0) add(result.emission, bytes);
        if (result.reading.state < 0) continue;
        for (const auto& [emission, cost] : emission_costs({result.reading, result.speller_state}))
            add(emission, bytes + cost);
    }
    if (tokens_ != nullptr) drop_covered(costs);
    return by_label(costs);
}

WeightedControls::Following WeightedControls::following(const LexerConfiguration& reading,
                                                        std::int32_t speller_state) {
    const State from{futures_.classes().least(reading), speller_state};
    if (const auto known = following_.find(number(from)); known != following_.end()) return known->second;
    auto successors = by_label(emission_costs(from));
    Following found;
    for (const auto& successor : successors) found.cost = std::min(found.cost, successor.cost);
    for (auto& successor : successors) successor.cost -= found.cost;
    found.list = list(successors);
    following_.emplace(number(from), found);
    return found;
}

const std::vector<std::int32_t>& WeightedControls::any() {
    if (!any_.empty()) return any_;
    std::vector<std::int32_t> controls;
    const auto& lexer = futures_.lexer();
    std::set<std::int32_t> entries, emissions;
    for (std::int32_t context = 0; context < lexer.num_contexts(); ++context)
        for (std::int32_t behind = 0; behind < lexer.num_look_behind(); ++behind)
            if (const auto entry = lexer.entry(context, behind); entry >= 0) entries.insert(entry);
    for (const auto entry : entries) {
        const auto set = futures_.emissions(futures_.of({entry, {}, {}}, 0));
        emissions.insert(set.begin(), set.end());
    }
    std::map<std::pair<std::int32_t, std::int32_t>, std::set<std::int32_t>> groups;
    for (const auto id : emissions) {
        const auto& emission = futures_.emission(id);
        groups[{emission.label, emission.column}].insert(emission.residue);
        if (has_layout_)
            error_bound_ =
                std::max(error_bound_, static_cast<std::int32_t>(futures_.bytes_of(emission.residue).size()));
    }
    for (const auto& [group, residues] : groups) {
        const std::vector<std::int32_t> left(residues.begin(), residues.end());
        const auto add = [&](std::int32_t control) { controls.push_back(control); };
        emit_controls(group.first, group.second, left, [&](std::int32_t control) {
            add(control);
            emit_blocks(control, add);
        });
    }
    return any_ = std::move(controls);
}

WeightedControls::Visited::Visited(WeightedControls& controls)
    : marks_(controls.plain_ ? &controls.marks_ : nullptr) {
    if (marks_ == nullptr) return;
    marks_->resize(static_cast<std::size_t>(controls.futures_.lexer().num_states()), 0);
    mark_ = ++controls.searches_;
}

bool WeightedControls::Visited::add(const State& state) {
    const auto& reading = state.reading;
    if (marks_ != nullptr)
        return std::exchange((*marks_)[static_cast<std::size_t>(reading.state)], mark_) != mark_;
    const std::int32_t key[] = {reading.state, reading.now.value, reading.matched.value, state.speller_state};
    const auto known = states_.size();
    return static_cast<std::size_t>(states_.intern(key)) == known;
}

// Breadth first by the number of bytes; visit(state, bytes) says whether to go on from a state. Blanks of a
// line that has begun do not count.
template <class Visit>
void WeightedControls::search(const State& from, Visit visit) {
    Visited visited(*this);
    std::vector<State> here{from}, further;
    for (std::int32_t bytes = 0; !here.empty(); ++bytes) {
        while (!here.empty()) {
            const auto state = here.back();
            here.pop_back();
            const auto& [reading, speller_state] = state;
            if (!visited.add(state) || !visit(state, bytes)) continue;
            for (const auto& move : futures_.moves(speller_state)) {
                const auto next = futures_.lexer().next(reading.state, move.byte_class);
                if (next < 0) continue;
                const bool free = reading.now.known() && lengths_.of_byte(move.byte_class) == 0;
                (free ? here : further)
                    .push_back({futures_.moved(reading, next, move.byte_class), move.speller_state});
            }
        }
        std::swap(here, further);
    }
}

const WeightedControls::EmissionCosts& WeightedControls::emission_costs(State from) {
    from.reading = futures_.classes().least(from.reading);
    const auto known = emission_costs_.find(number(from));
    if (known != emission_costs_.end()) return known->second;
    if (tokens_ != nullptr)
        return emission_costs_.emplace(number(from), token_costs_from(from)).first->second;
    std::vector<State> ahead;
    search(from, [&](const State& state, std::int32_t bytes) {
        if (emission_costs_.contains(number(state))) return false;
        if (bytes > 0 && bytes % kSpan == 0) ahead.push_back(state);
        return true;
    });
    for (; !ahead.empty(); ahead.pop_back())
        emission_costs_.emplace(number(ahead.back()), costs_from(ahead.back()));
    return emission_costs_.emplace(number(from), costs_from(from)).first->second;
}

WeightedControls::EmissionCosts WeightedControls::costs_from(const State& from) {
    const auto& lexer = futures_.lexer();
    EmissionCosts found;
    const auto add = [&](std::int32_t emission, std::int32_t cost) {
        if (emission < 0) return;
        const auto [at, added] = found.try_emplace(emission, cost);
        if (!added) at->second = std::min(at->second, cost);
    };
    search(from, [&](const State& state, std::int32_t bytes) {
        if (const auto known = emission_costs_.find(number(state)); known != emission_costs_.end()) {
            for (const auto& [emission, cost] : known->second) add(emission, bytes + cost);
            return false;
        }
        if (futures_.may_end(state.speller_state)) add(futures_.end_emission(state.reading), bytes);
        for (const auto& move : futures_.moves(state.speller_state)) {
            const auto next = lexer.next(state.reading.state, move.byte_class);
            if (LexingAutomaton::is_commit(next))
                add(futures_.commit_emission(next, state.reading, move), bytes + 1);
        }
        return true;
    });
    return found;
}

const WeightedControls::WithinToken& WeightedControls::within_token(const State& from) {
    if (const auto known = within_token_.find(number(from)); known != within_token_.end())
        return known->second;
    const auto& lexer = futures_.lexer();
    WithinToken found;
    const auto add = [&](std::int32_t emission, std::int32_t cost) {
        if (emission < 0) return;
        const auto [at, added] = found.emissions.try_emplace(emission, cost);
        if (!added) at->second = std::min(at->second, cost);
    };
    Visited visited(*this);
    std::vector<State> open{from};
    while (!open.empty()) {
        budget_.tick();
        const auto [reading, speller_state] = open.back();
        open.pop_back();
        if (!visited.add({reading, speller_state})) continue;
        if (futures_.may_end(speller_state)) add(futures_.end_emission(reading), 0);
        for (const auto& move : futures_.moves(speller_state)) {
            const auto next = lexer.next(reading.state, move.byte_class);
            const bool ends = move.speller_state == TokenSpeller::kBoundary;
            if (LexingAutomaton::is_commit(next)) add(futures_.commit_emission(next, reading, move), ends);
            if (next < 0) continue;
            const auto to = futures_.moved(reading, next, move.byte_class);
            if (!ends)
                open.push_back({to, move.speller_state});
            else if (std::ranges::find(found.ends, to) == found.ends.end())
                found.ends.push_back(to);
        }
    }
    drop_covered(found.emissions);
    return within_token_.emplace(number(from), std::move(found)).first->second;
}

// Breadth first by the number of tokens.
WeightedControls::EmissionCosts WeightedControls::token_costs_from(const State& from) {
    EmissionCosts found;
    Interner seen;
    std::vector<State> here{from}, further;
    for (std::int32_t tokens = 0; !here.empty(); ++tokens) {
        for (const auto& state : here) {
            const auto& within = within_token(state);
            for (const auto& [emission, cost] : within.emissions) {
                const auto [at, added] = found.try_emplace(emission, tokens + cost);
                if (!added) at->second = std::min(at->second, tokens + cost);
            }
            for (const auto& reading : within.ends) {
                const std::int32_t key[] = {reading.state, reading.now.value, reading.matched.value};
                const auto known = seen.size();
                if (static_cast<std::size_t>(seen.intern(key)) == known)
                    further.push_back({reading, TokenSpeller::kBoundary});
            }
        }
        here = std::exchange(further, {});
    }
    drop_covered(found);
    return found;
}

void WeightedControls::drop_covered(EmissionCosts& costs) const {
    struct Entry {
        std::int32_t emission, cost, speller_state;
    };
    std::map<std::vector<std::int32_t>, std::vector<Entry>> groups;  // by what residues must have in common
    for (const auto& [id, cost] : costs) {
        const auto& emission = futures_.emission(id);
        const auto text = futures_.text_of(emission.residue);
        std::vector<std::int32_t> key{emission.label, emission.column};
        key.insert(key.end(), text.begin(), text.end());
        groups[key].push_back({id, cost, futures_.speller_state_of(emission.residue)});
    }
    for (auto& [key, entries] : groups) {
        std::ranges::sort(entries, [&](const Entry& a, const Entry& b) {
            return std::tuple(a.cost, -tokens_->size(a.speller_state), a.emission) <
                   std::tuple(b.cost, -tokens_->size(b.speller_state), b.emission);
        });
        std::vector<std::int32_t> kept;  // speller states
        for (const auto& entry : entries) {
            const auto covers = [&](std::int32_t other) {
                return tokens_->covers(other, entry.speller_state);
            };
            if (std::ranges::any_of(kept, covers))
                costs.erase(entry.emission);
            else
                kept.push_back(entry.speller_state);
        }
    }
}

}  // namespace pdacon
