#include "liveness/coaccessibility.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pdacon {

const std::vector<std::int32_t>& QuotientControls::of_set(std::int32_t set) {
    const auto [known, added] = of_set_.try_emplace(set);
    if (added) {
        std::vector<std::array<std::int32_t, 3>> left;  // labels, columns and pushbacks
        for (const auto id : futures_.emissions(set)) {
            const auto& emission = futures_.emission(id);
            left.push_back({emission.label, emission.column, emission.pushback});
        }
        std::sort(left.begin(), left.end());
        auto& controls = known->second;
        std::vector<std::int32_t> pushbacks;
        for (std::size_t at = 0; at < left.size(); ++at) {
            pushbacks.push_back(left[at][2]);
            if (at + 1 < left.size() && left[at + 1][0] == left[at][0] && left[at + 1][1] == left[at][1])
                continue;
            emit_controls(left[at][0], left[at][1], pushbacks,
                          [&](std::int32_t control) { controls.push_back(control); });
            pushbacks.clear();
        }
    }
    return known->second;
}

std::vector<PendingControls::Successor> QuotientControls::lexed(std::int32_t context,
                                                                std::span<const std::int32_t> pushbacks) {
    std::vector<std::int32_t> emissions, sets;  // most pushbacks lead to the same sets
    for (const auto pushback : pushbacks) {
        const auto result = futures_.scan(context, pushback);
        if (result.emission >= 0) emissions.push_back(result.emission);
        if (result.reading.state >= 0) sets.push_back(futures_.of(result.reading, result.speller_state));
    }
    const auto sort = [](std::vector<std::int32_t>& ids) {
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    };
    sort(sets);
    for (const auto set : sets) {
        const auto more = futures_.emissions(set);
        emissions.insert(emissions.end(), more.begin(), more.end());
    }
    sort(emissions);
    std::vector<Successor> successors;
    for (const auto next : of_set(futures_.intern_set(emissions))) successors.push_back({next, 0});
    return successors;
}

Coaccessibility::Coaccessibility(const Pushdown& machine, const Speller& speller,
                                 LivenessTable& liveness_table, Budget& budget, const Futures* known)
    : machine_(machine),
      futures_(known != nullptr
                   ? Futures(*known, budget)
                   : Futures(machine.lexer, speller, machine.layout.newline, machine.layout.classes, budget)),
      controls_(futures_, machine.layout),
      hints_(machine),
      hinted_(*this, &hints_),
      all_(*this, nullptr),
      hinted_proofs_(machine, controls_, budget, hinted_),
      proofs_(machine, controls_, budget, all_),
      liveness_table_(liveness_table) {
    const bool fresh = liveness_table.empty();
    make_rows();
    if (fresh) prove_entries();
}

void Coaccessibility::make_rows() {
    const auto& lexer = machine_.lexer;
    for (std::int32_t state = 0; state < lexer.num_states(); ++state)
        future_.push_back(lexer.keeps_columns(state) ? -1 : futures_.of({state, {}, {}}, 0));
    std::vector<std::int32_t> first_line;
    std::vector<Line> lines;
    if (machine_.layout.newline >= 0) find_lines(first_line, lines);
    std::size_t count = 0;
    const auto row_of = [&](std::int32_t future) {
        if (static_cast<std::size_t>(future) >= dense_.size())
            dense_.resize(static_cast<std::size_t>(future) + 1, -1);
        auto& known = dense_[static_cast<std::size_t>(future)];
        if (known < 0) known = static_cast<std::int32_t>(count++);
        return known;
    };
    std::vector<std::int32_t> rows;
    for (const auto future : future_) rows.push_back(future < 0 ? -1 : row_of(future));
    for (std::size_t at = 0; at < lines.size(); ++at) lines[at].row = row_of(line_future_[at]);
    if (!liveness_table_.set_rows(std::move(rows), std::move(first_line), std::move(lines), count))
        throw ArtifactDamage("the artifact is damaged: the rows of the verdicts are those of other tables");
}

// All that can be read of a newline, and which of it is free. Where a line begins every column of a class can
// be reached if one can. So if what can follow there is what can follow here, the column here does not
// matter. All that lies between has that future too, because futures only lose emissions.
void Coaccessibility::find_lines(std::vector<std::int32_t>& first_line, std::vector<Line>& lines) {
    const auto& lexer = machine_.lexer;
    first_line.assign(future_.size(), -1);
    std::vector<std::vector<std::int32_t>> before;  // of each line: those of the same future
    const auto add = [&](const Reading& reading) {
        const auto known = find_line(first_line, lines, reading);
        if (known >= 0) return known;
        auto& first = first_line[static_cast<std::size_t>(reading.state)];
        const auto at = static_cast<std::int32_t>(lines.size());
        const bool free = !reading.now.known() && any_column(lexer, reading);
        line_future_.push_back(futures_.of(reading, 0));
        lines.push_back({reading, -1, std::exchange(first, at), free});
        before.emplace_back();
        return at;
    };
    for (const auto& reading : lexer.first_columns()) add(machine_.layout.classes.least(reading));
    std::vector<std::uint8_t> is_token(static_cast<std::size_t>(lexer.num_classes()), 0);
    for (const auto& move : futures_.moves(0))
        if (move.speller_state == 0) is_token[static_cast<std::size_t>(move.byte_class)] = 1;
    for (std::size_t at = 0; at < lines.size(); ++at) {
        std::int32_t last = LexingAutomaton::kDead;  // neighbours mostly lead to the same
        for (std::int32_t cls = 0; cls < lexer.num_classes(); ++cls) {
            const auto next = lexer.next(lines[at].reading.state, cls);
            const bool plain = is_token[static_cast<std::size_t>(cls)] != 0 && !lexer.is_blank(cls);
            const bool again = plain && next == std::exchange(last, next);
            if (next < 0 || again || !lexer.keeps_columns(next)) continue;
            const auto to = static_cast<std::size_t>(add(futures_.moved(lines[at].reading, next, cls)));
            if (!is_token[static_cast<std::size_t>(cls)] || line_future_[to] != line_future_[at]) continue;
            before[to].push_back(static_cast<std::int32_t>(at));
            if (lexer.is_line_break(cls) && any_column(lexer, lines[to].reading)) lines[at].free = true;
        }
    }
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < lines.size(); ++at)
        if (lines[at].free) open.push_back(at);
    while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        for (const auto from : before[at])
            if (!std::exchange(lines[static_cast<std::size_t>(from)].free, true))
                open.push_back(static_cast<std::size_t>(from));
    }
    find_column_free(first_line, lines);
}

// The lexer states of which every reading is free, and has the same future.
void Coaccessibility::find_column_free(const std::vector<std::int32_t>& first_line,
                                       const std::vector<Line>& lines) {
    for (std::size_t state = 0; state < future_.size(); ++state) {
        if (future_[state] >= 0 || first_line[state] < 0) continue;
        const auto future = line_future_[static_cast<std::size_t>(first_line[state])];
        bool all = true;
        for (auto at = first_line[state]; at >= 0; at = lines[static_cast<std::size_t>(at)].further)
            all = all && lines[static_cast<std::size_t>(at)].free &&
                  line_future_[static_cast<std::size_t>(at)] == future;
        if (all) future_[state] = future;
    }
}

// In most grammars every start of a lexeme is alive on every stack, and shown to be by the hints of the
// states alone. Then what follows a lexeme need not be looked into for anything else. What follows most of
// all is a blank, whose future is less than that of the start: where it is proved, both are.
void Coaccessibility::prove_entries() {
    std::vector<Begun> of_context(static_cast<std::size_t>(machine_.lexer.num_contexts()));
    for (const auto state : hints_.cheapest_first()) {
        const auto context = machine_.tables.context[static_cast<std::size_t>(state)];
        auto& begun = of_context[static_cast<std::size_t>(context)];
        if (begun.starts.empty()) begun = begun_in(context);
        const auto prove = [&](std::int32_t set) {
            if (is_proved(set, state)) liveness_table_.set(row(set), state, Liveness::kMustLive);
        };
        for (const auto set : begun.blanks) prove(set);
        for (const auto& [set, blank] : begun.starts)
            if (blank >= 0 && liveness_table_.at(row(blank), state) == Liveness::kMustLive)
                liveness_table_.set(row(set), state, Liveness::kMustLive);
            else
                prove(set);
    }
}

Coaccessibility::Begun Coaccessibility::begun_in(std::int32_t context) {
    const auto& lexer = machine_.lexer;
    Begun begun;
    for (std::int32_t behind = 0; behind < lexer.num_behind(); ++behind) {
        const auto entry = lexer.entry(context, behind);
        if (entry < 0) continue;
        const auto start = future({entry, {}, {}});
        if (std::ranges::find(begun.starts, start, &Begun::Start::future) != begun.starts.end()) continue;
        begun.starts.push_back({start, -1});
        for (std::int32_t cls = 0; cls < lexer.num_classes(); ++cls) {
            const auto next = lexer.next(entry, cls);
            const auto inside = next < 0 ? -1 : future(next);
            if (inside < 0 || !is_blank(inside)) continue;
            if (std::ranges::includes(futures_.emissions(start), futures_.emissions(inside)))
                begun.starts.back().blank = inside;
            if (std::ranges::find(begun.blanks, inside) == begun.blanks.end()) begun.blanks.push_back(inside);
        }
    }
    return begun;
}

bool Coaccessibility::is_blank(std::int32_t future) const {
    const auto emissions = futures_.emissions(future);
    return !emissions.empty() && std::ranges::all_of(emissions, [&](std::int32_t emission) {
        return futures_.emission(emission).label == machine_.lexer.ignored_label();
    });
}

// What the hints alone lead to.
std::int32_t Coaccessibility::below_hinted(std::int32_t future, std::int32_t top) {
    std::vector<std::int32_t> controls;
    for (const auto control : controls_.of_set(future))
        if (hints_.has(top, controls_.label(control))) controls.push_back(control);
    return hinted_proofs_.below(controls, top);
}

bool Coaccessibility::is_proved(std::int32_t future, std::int32_t top) {
    const auto pops = below_hinted(future, top);
    if (pops == CoinductiveProofs::kAccepts) return true;
    const auto& below = machine_.predecessors[static_cast<std::size_t>(top)];
    return !hinted_proofs_.is_empty(pops) && !below.empty() &&
           std::all_of(below.begin(), below.end(),
                       [&](std::int32_t state) { return hinted_proofs_.accept_on_every_stack(pops, state); });
}

// In the middle of a lexeme no proof for all stacks is tried: it would cost up to some milliseconds; the
// stack at hand is looked through in less than one microsecond.
Liveness Coaccessibility::find_liveness(std::int32_t future, std::int32_t top) {
    if (below_hinted(future, top) == CoinductiveProofs::kAccepts) return Liveness::kMustLive;
    const auto& controls = controls_.of_set(future);
    const bool can_go_on = std::any_of(controls.begin(), controls.end(), [&](std::int32_t control) {
        const auto label = controls_.label(control);
        return machine_.is_skipped(label, top) || machine_.tables.action_of(top, label) != 0;
    });
    return can_go_on ? Liveness::kMayLive : Liveness::kDead;
}

// Mostly one of the labels on a way out is enough.
void Coaccessibility::hinted_first(std::vector<std::int32_t>& controls, std::int32_t top) const {
    std::stable_partition(controls.begin(), controls.end(),
                          [&](std::int32_t control) { return hints_.has(top, controls_.label(control)); });
}

Liveness Coaccessibility::liveness(std::int32_t future, std::int32_t top) {
    auto answer = liveness_table_.at(row(future), top);
    if (answer != Liveness::kUnknown) return answer;
    answer = find_liveness(future, top);
    liveness_table_.set(row(future), top, answer);
    return answer;
}

// What many states tell is as quick to find as to find again.
bool Coaccessibility::alive(std::int32_t future, const StackView& stack, ReadSet& read_set) {
    constexpr std::uint32_t kMostStates = 64;
    read_set.states = std::max(read_set.states, 1U);
    const auto answer = liveness(future, stack.top->state);
    if (answer != Liveness::kMayLive) return answer == Liveness::kMustLive;
    auto known = alive_.find(future, stack.top);
    if (known.answer < 0) {
        ReadSet here;
        known.answer = look_at(future, Overlay(stack, here));
        known.states = here.states;
        if (bytes() > kMostBytes) forget();
        if (known.states <= kMostStates) alive_.add(future, stack.top, known);
    }
    read_set.states = std::max(read_set.states, known.states);
    return known.answer != 0;
}

bool Coaccessibility::alive(std::int32_t future, Overlay& stack) {
    const auto answer = liveness(future, stack.top());
    return answer == Liveness::kMayLive ? look_at(future, stack) : answer == Liveness::kMustLive;
}

bool Coaccessibility::look_at(std::int32_t future, Overlay stack) {
    int feeds = kMostFeeds;
    const auto found = alive_after(controls_.of_set(future), stack, 0, feeds);
    return found ? *found : reaches_end(future, stack);
}

// Whether one of the labels that can come next leads to where all stacks are alive, or others behind it do.
// Not known if some can be taken, but none leads there soon. What is skipped leaves the stack as it is, so
// that what can come behind it can come next.
std::optional<bool> Coaccessibility::alive_after(std::vector<std::int32_t> controls, const Overlay& stack,
                                                 int depth, int& feeds) {
    struct Taken {
        std::int32_t control;
        Overlay stack;
    };
    const auto add_successors = [&](std::int32_t control, const Overlay& after, bool skipped,
                                    std::vector<std::int32_t>& next) {
        const auto context = machine_.tables.context[static_cast<std::size_t>(after.top())];
        const auto block = machine_.block(after.top());
        for (const auto& successor : controls_.successors(controls_.after(context, block, control, skipped)))
            if (std::find(next.begin(), next.end(), successor.control) == next.end())
                next.push_back(successor.control);
    };
    const auto top = stack.top();
    hinted_first(controls, top);
    std::vector<Taken> taken;
    for (std::size_t at = 0; at < controls.size(); ++at) {
        const auto control = controls[at];
        const auto label = controls_.label(control);
        const bool skipped = machine_.is_skipped(label, top);
        if (!skipped && machine_.tables.action_of(top, label) == 0) continue;
        if (--feeds < 0) return std::nullopt;
        auto after = stack;
        if (!skipped &&
            !(label == machine_.layout.indent ? feed_indent(machine_, after, controls_.column(control))
                                              : feed(machine_, after, label)))
            continue;
        const auto liveness_of = [&](std::int32_t future) { return liveness(future, after.top()); };
        if (label == machine_.lexer.end_label() || hinted_.is_settled(control, after.top(), skipped) ||
            is_settled(control, after.top(), skipped, liveness_of))
            return true;
        if (skipped)
            add_successors(control, after, skipped, controls);
        else
            taken.push_back({control, std::move(after)});
    }
    if (taken.empty()) return false;
    if (depth == kMostLabels) return std::nullopt;
    bool unknown = false;
    for (auto& [control, after] : taken) {
        std::vector<std::int32_t> next;
        add_successors(control, after, false, next);
        const auto found = alive_after(std::move(next), after, depth + 1, feeds);
        if (found && *found) return true;
        unknown |= !found;
    }
    return unknown ? std::nullopt : std::optional(false);
}

bool Coaccessibility::reaches_end(std::int32_t emissions, Overlay below) {
    auto pops = proofs_.below(controls_.of_set(emissions), below.top());
    for (;;) {
        if (pops == CoinductiveProofs::kAccepts) return true;
        if (proofs_.is_empty(pops) || below.at_bottom()) return false;
        below.pop(1);
        if (proofs_.accept_on_every_stack(pops, below.top())) return true;
        pops = proofs_.below(pops, below.top());
    }
}

}  // namespace pdacon
