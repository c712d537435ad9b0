#include "completion/weighted_controls.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pdacon {

namespace {

void add_least(WeightedControls::EmissionCosts& costs, std::int32_t emission, std::int64_t cost) {
    if (emission < 0) return;
    const auto [at, added] = costs.try_emplace(emission, cost);
    if (!added) at->second = std::min(at->second, cost);
}

}  // namespace

// One control for each label, column and cost. Controls with costs relative to their cheapest residue would
// be fewer, but their number need not be finite.
std::vector<PendingControls::Successor> WeightedControls::by_label(const EmissionCosts& costs) {
    std::map<std::tuple<std::int32_t, std::int32_t, bool, std::int64_t>, std::vector<std::int32_t>> groups;
    for (const auto& [id, cost] : costs) {
        const auto& emission = futures_.emission(id);
        // An INDENT at the end of the text has a cost of its own.
        const bool ended =
            lines_ != nullptr && emission.label == newline_ && futures_.text_of(emission.residue)[0] != 0;
        const auto beyond = cost - weights_.of_bytes(lengths_.of_word(futures_.bytes_of(emission.residue))) -
                            length(emission.label);
        groups[{emission.label, emission.column, ended, beyond}].push_back(emission.residue);
    }
    std::vector<Successor> successors;
    for (auto& [group, residues] : groups) {
        const auto [label, column, ended, beyond] = group;
        std::sort(residues.begin(), residues.end());
        emit_controls(label, column, residues,
                      [&, cost = beyond](std::int32_t control) { successors.push_back({control, cost}); });
    }
    return successors;
}

// The last line of a text has been left without its blanks where any column may be the first one. They are
// paid for once they open a block.
std::int64_t WeightedControls::cost_of_indent(std::int32_t column,
                                              std::span<const std::int32_t> residues) const {
    if (lines_ == nullptr || column != 0 || futures_.text_of(residues.front())[0] == 0) return 0;
    return lines_->weight == LineCosts::kNever ? kNever : lines_->weight;
}

// What can be emitted first once any one of some residues has been read in a context, where each has cost a
// number, of which its own bytes are a part.
WeightedControls::EmissionCosts WeightedControls::lexed_costs(
    std::int32_t context, std::span<const std::pair<std::int32_t, std::int64_t>> residues) {
    EmissionCosts costs;
    std::vector<std::pair<std::int64_t, State>> open;
    for (const auto& [residue, spent] : residues) {
        const auto result = futures_.scan(context, residue);
        // With LineCosts a line has its blanks after a residue, if at all.
        const bool placed = lines_ == nullptr || !result.column.known() || is_first(result.column);
        if (result.emission >= 0 && placed) add_least(costs, result.emission, spent);
        if (result.lexing.state < 0 || (lines_ != nullptr && result.lexing.now.value > 0)) continue;
        const auto line = lines_ != nullptr && result.lexing.now.known() ? Line::kBegun : Line::kNone;
        const State state{futures_.classes().least(result.lexing), result.speller_state, line};
        if (lines_ != nullptr && residues.size() >= kManyResidues) {
            open.emplace_back(spent, state);
            continue;
        }
        for (const auto& [emission, cost] : emission_costs(state)) add_least(costs, emission, spent + cost);
    }
    if (!open.empty())
        for (const auto& [emission, cost] : least_costs(std::move(open))) add_least(costs, emission, cost);
    if (tokens_ != nullptr) drop_covered(costs);
    return costs;
}

std::vector<PendingControls::Successor> WeightedControls::lexed(std::int32_t context,
                                                                std::span<const std::int32_t> residues) {
    std::vector<std::pair<std::int32_t, std::int64_t>> spent;
    for (const auto residue : residues)
        spent.emplace_back(residue, weights_.of_bytes(lengths_.of_word(futures_.bytes_of(residue))));
    return by_label(lexed_costs(context, spent));
}

WeightedControls::Following WeightedControls::following(const EmissionCosts& costs) {
    auto successors = by_label(costs);
    Following found;
    for (const auto& successor : successors) found.cost = std::min(found.cost, successor.cost);
    for (auto& successor : successors) successor.cost -= found.cost;
    found.list = list(successors);
    return found;
}

WeightedControls::Following WeightedControls::following(const LexerConfiguration& lexing,
                                                        std::int32_t speller_state) {
    const State from{futures_.classes().least(lexing), speller_state};
    if (const auto known = following_.find(number(from)); known != following_.end()) return known->second;
    const auto found = following(emission_costs(from));
    following_.emplace(number(from), found);
    return found;
}

WeightedControls::Following WeightedControls::following(
    std::int32_t context, std::span<const std::pair<std::int32_t, std::int64_t>> residues) {
    return following(lexed_costs(context, residues));
}

const std::vector<std::int32_t>& WeightedControls::any() {
    if (!any_.empty()) return any_;
    std::vector<std::int32_t> controls;
    const auto& lexer = futures_.lexer();
    std::set<std::int32_t> entries, emissions;
    for (std::int32_t context = 0; context < lexer.num_contexts(); ++context)
        for (std::int32_t look_behind = 0; look_behind < lexer.num_look_behind(); ++look_behind)
            if (const auto entry = lexer.entry(context, look_behind); entry >= 0) entries.insert(entry);
    for (const auto entry : entries) {
        const auto set = futures_.emissions(futures_.of({entry, {}, {}}, 0));
        emissions.insert(set.begin(), set.end());
    }
    std::map<std::pair<std::int32_t, std::int32_t>, std::set<std::int32_t>> groups;
    for (const auto id : emissions) {
        const auto& emission = futures_.emission(id);
        groups[{emission.label, emission.column}].insert(emission.residue);
        const auto bytes = futures_.bytes_of(emission.residue);
        error_bound_ =
            std::max(error_bound_, static_cast<std::int32_t>(bytes.size()) - lengths_.of_word(bytes));
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
    const auto& lexing = state.lexing;
    if (marks_ != nullptr) return std::exchange((*marks_)[lexing.state], mark_) != mark_;
    const std::int32_t key[] = {lexing.state,
                                lexing.now.value,
                                lexing.matched.value,
                                state.speller_state,
                                static_cast<std::int32_t>(state.line),
                                state.column};
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
            const auto& [lexing, speller_state, line, column] = state;
            if (!visited.add(state) || !visit(state, bytes)) continue;
            for (const auto& move : futures_.moves(speller_state)) {
                const auto next = futures_.lexer().next(lexing.state, move.byte_class);
                if (next < 0) continue;
                const bool free = lexing.now.known() && lengths_.of_byte(move.byte_class) == 0;
                (free ? here : further)
                    .push_back({futures_.moved(lexing, next, move.byte_class), move.speller_state, line});
            }
        }
        std::swap(here, further);
    }
}

const WeightedControls::EmissionCosts& WeightedControls::emission_costs(State from) {
    if (from.line != Line::kExact) from.lexing = futures_.classes().least(from.lexing);
    const auto known = emission_costs_.find(number(from));
    if (known != emission_costs_.end()) return known->second;
    if (lines_ != nullptr || tokens_ != nullptr)
        return emission_costs_.emplace(number(from), least_costs({{0, from}})).first->second;
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
    const auto add = [&](std::int32_t emission, std::int32_t cost) { add_least(found, emission, cost); };
    search(from, [&](const State& state, std::int32_t bytes) {
        if (const auto known = emission_costs_.find(number(state)); known != emission_costs_.end()) {
            for (const auto& [emission, cost] : known->second) add(emission, bytes + cost);
            return false;
        }
        if (futures_.may_end(state.speller_state)) add(futures_.end_emission(state.lexing), bytes);
        for (const auto& move : futures_.moves(state.speller_state)) {
            const auto next = lexer.next(state.lexing.state, move.byte_class);
            if (LexingAutomaton::is_commit(next))
                add(futures_.commit_emission(next, state.lexing, move), bytes + 1);
        }
        return true;
    });
    return found;
}

bool WeightedControls::is_last_blank(std::int32_t next, std::int32_t byte_class) const {
    if (!LexingAutomaton::is_commit(next) || !futures_.lexer().indents(byte_class)) return false;
    const auto& commit = futures_.lexer().commit(next);
    return commit.label == newline_ && futures_.lexer().pushback(commit.pushback).empty();
}

// The moves of a state: emit(emission, bytes, whether a token ends), and go(state). With LineCosts less what
// LayoutDistances leaves out: blanks that begin a line, and newlines whose last line has no column yet.
template <class Emit, class Go>
void WeightedControls::for_each_move(const State& from, Emit emit, Go go) {
    const auto& lexer = futures_.lexer();
    const auto& [lexing, speller_state, line, wanted] = from;
    if (futures_.may_end(speller_state)) {
        const auto emission = futures_.end_emission(lexing);
        const bool ends_line = emission >= 0 && futures_.emission(emission).label == newline_;
        const bool any = !ends_line || line == Line::kNone || line == Line::kPlaced;
        if (any || lexing.matched.value == (line == Line::kExact ? wanted : 0)) emit(emission, 0, false);
    }
    for (const auto& move : futures_.moves(speller_state)) {
        const auto next = lexer.next(lexing.state, move.byte_class);
        if (LexingAutomaton::is_commit(next)) {
            if (lines_ != nullptr && lexer.commit(next).label == newline_) {
                const auto column = futures_.column_of(lexer.commit(next), lexing, move.byte_class);
                if (is_last_blank(next, move.byte_class)) continue;
                if (line == Line::kExact ? column.value != wanted
                                         : line != Line::kPlaced && !is_first(column))
                    continue;
            }
            emit(futures_.commit_emission(next, lexing, move), 1, move.speller_state == kBetweenTokens);
        }
        if (next < 0) continue;
        auto after = Line::kNone;
        if (lines_ != nullptr && lexer.keeps_columns(next)) {
            if (lexing.now.known() && lexer.indents(move.byte_class)) continue;
            if (line == Line::kExact) {
                auto to = lexing;
                lexer.move(to, next, move.byte_class);
                go({to, move.speller_state, line, wanted});
                continue;
            }
            after = lexer.is_line_break(lexing.state, move.byte_class) ? Line::kBegun : line;
        }
        go({futures_.moved(lexing, next, move.byte_class), move.speller_state, after});
    }
}

// Dijkstra's algorithm over bytes, or over tokens. Where a line begins between two tokens, its blanks are
// paid for at once. `open`: where the search begins, with costs.
WeightedControls::EmissionCosts WeightedControls::least_costs(
    std::vector<std::pair<std::int64_t, State>> open) {
    EmissionCosts found;
    Visited visited(*this);
    const auto is_after = [](const auto& a, const auto& b) { return a.first > b.first; };
    std::ranges::make_heap(open, is_after);
    const auto add = [&](std::int64_t cost, const State& state) {
        open.emplace_back(cost, state);
        std::ranges::push_heap(open, is_after);
    };
    while (!open.empty()) {
        budget_.tick();
        std::ranges::pop_heap(open, is_after);
        const auto [cost, state] = open.back();
        open.pop_back();
        if (!visited.add(state)) continue;
        if (const auto known = emission_costs_.find(number(state)); known != emission_costs_.end()) {
            for (const auto& [emission, more] : known->second) add_least(found, emission, cost + more);
            continue;
        }
        if (state.line == Line::kBegun && futures_.may_end(state.speller_state) &&
            state.lexing.now.value == 0 && lines_->weight != LineCosts::kNever) {
            for (const auto& placed : placed_lines(futures_, state.lexing)) {
                add(cost + lines_->weight, {placed, kBetweenTokens, Line::kPlaced});
                for (const auto& move : futures_.moves(kBetweenTokens)) {
                    const auto next = futures_.lexer().next(placed.state, move.byte_class);
                    if (futures_.may_end(move.speller_state) && is_last_blank(next, move.byte_class))
                        add_least(found,
                                  futures_.commit_emission(next, placed, {move.byte_class, kBetweenTokens}),
                                  cost + lines_->weight);
                }
            }
        }
        if (tokens_ == nullptr) {
            for_each_move(
                state,
                [&, cost = cost](std::int32_t emission, std::int32_t bytes, bool) {
                    add_least(found, emission, cost + bytes * weights_.byte);
                },
                [&, cost = cost](const State& to) { add(cost + weights_.byte, to); });
            continue;
        }
        const auto& within = within_token(state);
        for (const auto& [emission, more] : within.emissions) add_least(found, emission, cost + more);
        for (const auto& [lexing, line, column, more] : within.ends)
            add(cost + more, {lexing, kBetweenTokens, line, column});
    }
    if (tokens_ != nullptr) drop_covered(found);
    return found;
}

// Breadth first by the number of bytes.
const WeightedControls::WithinToken& WeightedControls::within_token(const State& from) {
    if (const auto known = within_token_.find(number(from)); known != within_token_.end())
        return known->second;
    WithinToken found;
    Visited visited(*this);
    std::vector<State> here{from}, further;
    for (std::int64_t cost = 0; !here.empty(); cost += weights_.byte) {
        for (const auto& state : here) {
            budget_.tick();
            if (!visited.add(state)) continue;
            for_each_move(
                state,
                [&](std::int32_t emission, std::int32_t bytes, bool ends) {
                    add_least(found.emissions, emission,
                              cost + bytes * weights_.byte + (ends ? weights_.token : 0));
                },
                [&](const State& to) {
                    if (to.speller_state != TokenSpeller::kBoundary) return further.push_back(to);
                    const auto is_end = [&](const TokenEnd& end) {
                        return end.lexing == to.lexing && end.line == to.line;
                    };
                    if (std::ranges::none_of(found.ends, is_end))
                        found.ends.push_back(
                            {to.lexing, to.line, to.column, cost + weights_.byte + weights_.token});
                });
        }
        here = std::exchange(further, {});
    }
    drop_covered(found.emissions);
    return within_token_.emplace(number(from), std::move(found)).first->second;
}

void WeightedControls::drop_covered(EmissionCosts& costs) const {
    struct Entry {
        std::int32_t emission;
        std::int64_t cost;
        std::int32_t speller_state;
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
