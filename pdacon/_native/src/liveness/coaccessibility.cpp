#include "liveness/coaccessibility.hpp"

#include <algorithm>
#include <utility>

#include "liveness/lexical_dead_ends.hpp"

namespace pdacon {

Coaccessibility::Coaccessibility(const Pushdown& machine, const VocabularyStar& speller,
                                 LivenessTable& liveness_table, Budget& budget, const Futures* known,
                                 std::shared_ptr<const CompletionHints> hints)
    : machine_(machine),
      futures_(known != nullptr
                   ? Futures(*known, budget)
                   : Futures(machine.lexer, speller, machine.layout.newline, machine.layout.classes, budget)),
      controls_(futures_, machine.layout),
      hints_(hints ? std::move(hints) : std::make_shared<const CompletionHints>(machine, budget)),
      hinted_shortcuts_(*this, hints_.get()),
      shortcuts_(*this, nullptr),
      hinted_proofs_(machine, controls_, budget, hinted_shortcuts_),
      proofs_(machine, controls_, budget, shortcuts_),
      liveness_table_(liveness_table),
      rows_(machine, futures_, liveness_table) {
    if (rows_.are_new() && !prove_all_starts(budget)) prove_starts();
}

// Fills the cells of the starts of lexemes where the tables promise a sequence of terminals from every stack,
// and the lexer can write all sequences. Returns false where it cannot, or where they do not.
bool Coaccessibility::prove_all_starts(Budget& budget) {
    if (!machine_.tables.are_without_conflicts || machine_.layout.newline >= 0) return false;
    LexicalDeadEnds dead_ends(machine_, controls_, budget);
    std::vector<std::pair<std::int32_t, LexemeStarts>> starts;  // by context
    for (const auto context : dead_ends.contexts()) {
        starts.emplace_back(context, starts_in(context));
        for (const auto& start : starts.back().second.starts)
            if (!dead_ends.leave_out(context, controls_.of_set(start.future))) return false;
    }
    if (!dead_ends.can_do_without()) return false;
    std::vector<std::vector<std::int32_t>> rows_of(static_cast<std::size_t>(machine_.lexer.num_contexts()));
    for (const auto& [context, found] : starts) {
        auto futures = found.blanks;
        for (const auto& start : found.starts) futures.push_back(start.future);
        for (const auto future : futures) {
            if (dead_ends.may_follow(context, controls_.of_set(future))) return false;
            rows_of[context].push_back(rows_.row(future));
        }
    }
    // Where no lexeme can start, as above a nonterminal, the cells stay unknown.
    for (std::int32_t state = 0; state < machine_.tables.num_states; ++state)
        for (const auto row : rows_of[machine_.tables.context[state]])
            liveness_table_.set(row, state, Liveness::kLiveOnAll);
    return true;
}

// Fills the cells of the starts of lexemes. In most grammars every start is live on every stack, and the
// hints prove it. After that, whatever takes a whole lexeme is live without a further look. If a lexeme
// may begin with a blank, the emissions after the blank are among those of the start, so that one proof, for
// the future after the blank, serves both.
void Coaccessibility::prove_starts() {
    std::vector<LexemeStarts> starts_of(static_cast<std::size_t>(machine_.lexer.num_contexts()));
    for (const auto state : hints_->cheapest_first()) {
        const auto context = machine_.tables.context[state];
        auto& found = starts_of[context];
        if (found.starts.empty()) found = starts_in(context);
        const auto prove = [&](std::int32_t start) {
            if (is_proved(start, state)) liveness_table_.set(rows_.row(start), state, Liveness::kLiveOnAll);
        };
        for (const auto blank : found.blanks) prove(blank);
        for (const auto& [start, blank] : found.starts)
            if (blank >= 0 && liveness_table_.at(rows_.row(blank), state) == Liveness::kLiveOnAll)
                liveness_table_.set(rows_.row(start), state, Liveness::kLiveOnAll);
            else
                prove(start);
    }
}

Coaccessibility::LexemeStarts Coaccessibility::starts_in(std::int32_t context) {
    const auto& lexer = machine_.lexer;
    LexemeStarts found;
    for (std::int32_t look_behind = 0; look_behind < lexer.num_look_behind(); ++look_behind) {
        const auto entry = lexer.entry(context, look_behind);
        if (entry < 0) continue;
        const auto start = future({entry, {}, {}});
        if (std::ranges::find(found.starts, start, &LexemeStarts::Start::future) != found.starts.end())
            continue;
        found.starts.push_back({start, -1});
        for (std::int32_t cls = 0; cls < lexer.num_classes(); ++cls) {
            const auto next = lexer.next(entry, cls);
            const auto inside = next < 0 ? -1 : future(next);
            if (inside < 0 || !is_blank(inside)) continue;
            if (std::ranges::includes(futures_.emissions(start), futures_.emissions(inside)))
                found.starts.back().blank = inside;
            if (std::ranges::find(found.blanks, inside) == found.blanks.end()) found.blanks.push_back(inside);
        }
    }
    return found;
}

bool Coaccessibility::is_blank(std::int32_t future) const {
    const auto emissions = futures_.emissions(future);
    return !emissions.empty() && std::ranges::all_of(emissions, [&](std::int32_t emission) {
        return futures_.emission(emission).label == machine_.lexer.ignored_label();
    });
}

// What remains below `top` of a future if only hinted labels are taken: see CoinductiveProofs::below.
std::int32_t Coaccessibility::below_hinted(std::int32_t future, std::int32_t top) {
    std::vector<std::int32_t> controls;
    for (const auto control : controls_.of_set(future))
        if (hints_->has(top, controls_.label(control))) controls.push_back(control);
    return hinted_proofs_.below(controls, top);
}

bool Coaccessibility::is_proved(std::int32_t future, std::int32_t top) {
    const auto pops = below_hinted(future, top);
    if (pops == CoinductiveProofs::kAccepts) return true;
    const auto& below = machine_.predecessors[top];
    return !hinted_proofs_.is_empty(pops) && !below.empty() &&
           std::all_of(below.begin(), below.end(),
                       [&](std::int32_t state) { return hinted_proofs_.accept_on_every_stack(pops, state); });
}

// What an unknown cell becomes, without a look below `top` (step 2). No coinductive proof is tried: it can
// cost some milliseconds, and the search on the stack at hand takes less than a microsecond.
Liveness Coaccessibility::find_liveness(std::int32_t future, std::int32_t top) {
    if (below_hinted(future, top) == CoinductiveProofs::kAccepts) return Liveness::kLiveOnAll;
    const auto& controls = controls_.of_set(future);
    const bool can_go_on = std::any_of(controls.begin(), controls.end(), [&](std::int32_t control) {
        const auto label = controls_.label(control);
        return machine_.is_skipped(label, top) || machine_.tables.action_of(top, label) != 0;
    });
    return can_go_on ? Liveness::kUndecided : Liveness::kDeadOnAll;
}

// Puts the hinted controls first, as the search mostly ends with the first of them.
void Coaccessibility::hinted_first(std::vector<std::int32_t>& controls, std::int32_t top) const {
    std::stable_partition(controls.begin(), controls.end(),
                          [&](std::int32_t control) { return hints_->has(top, controls_.label(control)); });
}

Liveness Coaccessibility::liveness(std::int32_t future, std::int32_t top) {
    auto answer = liveness_table_.at(rows_.row(future), top);
    if (answer != Liveness::kUnknown) return answer;
    answer = find_liveness(future, top);
    liveness_table_.set(rows_.row(future), top, answer);
    return answer;
}

// Answers that depend on many states are not remembered: finding them anew is as quick as looking them up.
bool Coaccessibility::is_live(std::int32_t future, const StackView& stack, ReadSet& read_set) {
    constexpr std::uint32_t kMostStates = 64;
    read_set.states = std::max(read_set.states, 1U);
    const auto answer = liveness(future, stack.top->state);
    if (answer != Liveness::kUndecided) return answer == Liveness::kLiveOnAll;
    auto known = answers_.find(future, stack.top);
    if (known.answer < 0) {
        ReadSet here;
        known.answer = search(future, Overlay(stack, here));
        known.states = here.states;
        if (bytes() > kMostBytes) forget();
        if (known.states <= kMostStates) answers_.add(future, stack.top, known);
    }
    read_set.states = std::max(read_set.states, known.states);
    return known.answer != 0;
}

bool Coaccessibility::is_live(std::int32_t future, Overlay& stack) {
    const auto answer = liveness(future, stack.top());
    return answer == Liveness::kUndecided ? search(future, stack) : answer == Liveness::kLiveOnAll;
}

bool Coaccessibility::search(std::int32_t future, Overlay stack) {
    int feeds = kMostFeeds;
    const auto found = try_labels(controls_.of_set(future), stack, 0, feeds);
    return found ? *found : reaches_end(future, stack);
}

// Step 3, depth first over the labels that can come next: true where some sequence of them is accepted, or
// leads to a future that is live on every stack with the new top; false where all sequences fail within the
// limits; nothing where a limit ends the search first. A label that is skipped leaves the stack as it is, so
// what can follow it is tried at the same depth.
std::optional<bool> Coaccessibility::try_labels(std::vector<std::int32_t> controls, const Overlay& stack,
                                                int depth, int& feeds) {
    struct Taken {
        std::int32_t control;
        Overlay stack;
    };
    const auto add_successors = [&](std::int32_t control, const Overlay& after, bool skipped,
                                    std::vector<std::int32_t>& next) {
        const auto context = machine_.tables.context[after.top()];
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
        if (label == machine_.lexer.end_label() ||
            hinted_shortcuts_.is_known_live(control, after.top(), skipped) ||
            is_known_live(control, after.top(), skipped, liveness_of))
            return true;
        if (skipped)
            add_successors(control, after, skipped, controls);
        else
            taken.push_back({control, std::move(after)});
    }
    if (taken.empty()) return false;
    if (depth + 1 == kMostLabels) return std::nullopt;
    bool unknown = false;
    for (auto& [control, after] : taken) {
        std::vector<std::int32_t> next;
        add_successors(control, after, false, next);
        const auto found = try_labels(std::move(next), after, depth + 1, feeds);
        if (found && *found) return true;
        unknown |= !found;
    }
    return unknown ? std::nullopt : std::optional(false);
}

// Step 4: pops the stack symbol by symbol, with the set of pop controls that remain, until they accept, are
// proved to accept, or none is left.
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
