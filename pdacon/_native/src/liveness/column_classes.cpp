#include "liveness/column_classes.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/components.hpp"
#include "base/interner.hpp"
#include "detokenizer/vocabulary_star.hpp"

namespace pdacon {

namespace {

using Numbers = std::vector<std::int32_t>;

void unite(Numbers& into, std::span<const std::int32_t> more) {
    into.insert(into.end(), more.begin(), more.end());
}

void sort_unique(Numbers& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// Whether a transition commits a newline that ends with the byte itself, with no pushback.
bool is_bare_newline(const LexingAutomaton& lexer, std::int32_t next, std::int32_t newline) {
    return LexingAutomaton::is_commit(next) && lexer.commit(next).label == newline &&
           lexer.pushback(lexer.commit(next).pushback).empty();
}

// A sufficient test that all columns are equivalent: within a line, no blank leads to another lexer state
// that keeps columns, or commits at once, and where a line begins a space may stand. Then whatever can be
// emitted with one column can be with every other. It holds for most newlines, and it needs nothing but the
// lexer. Where lines are escaped, a blank can be of several bytes, and the test says nothing.
class BlankIndependence {
  public:
    BlankIndependence(const LexingAutomaton& lexer, const VocabularyStar& speller, std::int32_t newline)
        : lexer_(lexer), speller_(speller), newline_(newline) {}

    bool holds() {
        if (lexer_.has_escaped_lines() || speller_.edges.size() != 1 || pushes_lines_back() ||
            ends_at_line_break())
            return false;
        Numbers classes;
        for (const auto& edge : speller_.edges[0]) classes.push_back(lexer_.byte_class(edge.byte));
        sort_unique(classes);
        for (const auto& lexing : lexer_.first_columns()) add(lexing.state, lexing.now.known());
        for (std::size_t at = 0; at < states_.size(); ++at) {
            const auto [state, in_line] = states_[at];
            std::int32_t last = LexingAutomaton::kDead;  // neighbours mostly lead to the same
            for (const auto byte_class : classes) {
                const auto next = lexer_.next(state, byte_class);
                const auto kind = lexer_.blank(state, byte_class);
                if (kind == Blank::kNone && next == std::exchange(last, next)) continue;
                const bool blank = kind == Blank::kSpace || kind == Blank::kTab;
                if (in_line && blank && next != state &&
                    (next >= 0 ? lexer_.keeps_columns(next)
                               : next != LexingAutomaton::kDead &&
                                     lexer_.pushback(lexer_.commit(next).pushback).empty()))
                    return false;
                if (next < 0) continue;
                add(next, in_line || kind == Blank::kLineBreak);
            }
        }
        return true;
    }

  private:
    // Whether a line break and bytes after it can be pushed back together.
    bool pushes_lines_back() const {
        for (std::int32_t at = 0; at < lexer_.num_commits(); ++at) {
            const auto word = lexer_.pushback(lexer_.commit(LexingAutomaton::commit_with(at)).pushback);
            for (std::size_t i = 0; i + 1 < word.size(); ++i)
                if (word[i] == lexer_.byte_class('\n')) return true;
        }
        return false;
    }
    // Whether a newline can end at a line break, or a space after one changes the state.
    bool ends_at_line_break() const {
        const auto line_break = lexer_.byte_class('\n'), space = lexer_.byte_class(' ');
        for (std::int32_t state = 0; state < lexer_.num_states(); ++state) {
            const auto next = lexer_.next(state, line_break);
            if (is_bare_newline(lexer_, next, newline_)) return true;
            if (next >= 0 && lexer_.keeps_columns(next) &&
                !(lexer_.counts(next) && lexer_.next(next, space) == next))
                return true;
        }
        return false;
    }
    void add(std::int32_t state, bool in_line) {
        if (state < 0 || !lexer_.keeps_columns(state)) return;
        const std::int32_t key[] = {state, in_line};
        if (static_cast<std::size_t>(seen_.intern(key)) == states_.size())
            states_.emplace_back(state, in_line);
    }

    const LexingAutomaton& lexer_;
    const VocabularyStar& speller_;
    std::int32_t newline_;
    Interner seen_;
    std::vector<std::pair<std::int32_t, bool>> states_;
};

// Computes which newline emissions can be made with which column, from each point where a line begins or a
// pushback leads into one, and from that the coarsest classes. Two emissions count as one if they differ only
// in their columns: it is residue classes that are compared.
class ColumnEquivalence {
  public:
    ColumnEquivalence(Futures& futures, std::int32_t newline, Budget& budget)
        : lexer_(futures.lexer()),
          newline_(newline),
          width_(std::max(lexer_.tab_width(), 1)),
          budget_(budget),
          futures_(futures) {
        for (std::int32_t state = 0; state < lexer_.num_states(); ++state) futures_.of({state, {}, {}}, 0);
        for (std::int32_t spelled = 0; spelled < futures_.num_speller_states(); ++spelled) {
            for (const auto& lexing : lexer_.first_columns())
                lexing.now.known() ? void(line_start(lexing.state, spelled))
                                   : add_before_line(lexing.state, spelled);
            observe_bare_newlines(spelled);
        }
        for (std::size_t at = 0; at < before_line_.size(); ++at) expand_before_line(before_line_[at]);
        // Emissions that are made on the way add scan results, and these are points to observe as well.
        for (std::size_t at = 0, result = 0;
             at < states_.size() || result < futures_.results_with_columns().size();) {
            if (at < states_.size())
                expand(static_cast<std::int32_t>(at++));
            else
                observe(futures_.results_with_columns()[result++]);
        }
    }

    ColumnClasses classes() {
        find_older_matches();
        follow_columns();
        find_later_lines();
        return coarsest_classes();
    }

  private:
    // A lexer state within a newline and a speller state: the product automaton over which columns count up.
    // Sets of residue classes say what is emitted on its edges, by the column that the emission gets; sets
    // of states say where its other edges lead, by what becomes of the column. The match that is the fallback
    // keeps the column that it had: a fresh match, which ends at this state, has the state's column, an older
    // one another.
    struct ProductState {
        std::int32_t lexer_state, speller_state;
        bool begins_line = false;
        Numbers now;            // emitted with this state's column
        Numbers older;          // emitted with the column of an older match
        Numbers on_line_break;  // emitted by a line break itself, with column 0
        std::vector<std::pair<std::int32_t, std::int32_t>>
            after_byte;                                    // emitted, width added by the byte itself
        Numbers same_column, spaced, tabbed, line_breaks;  // states: column + 0, + 1, + tab, := 0
        Numbers matched;  // states whose older match is the match of this state
        Numbers still;    // states whose older match is the older match of this state
    };
    // A point from which the emissions that can come must be the same for all columns of a class.
    struct Observation {
        std::int32_t state = -1, column = 0;        // a state within a line, in this column
        std::int32_t older = -1, older_column = 0;  // a state with an older match, in that column
        std::int32_t emission = -1;                 // or a single residue class, emitted with `column`
    };

    bool keeps_fresh_match(std::int32_t state) const {
        return lexer_.keeps_match(state) && !lexer_.keeps_old_match(state);
    }
    bool has_column(std::int32_t state) const { return lexer_.counts(state) || keeps_fresh_match(state); }
    std::int32_t state_of(std::int32_t lexer_state, std::int32_t speller_state) {
        const std::int32_t key[] = {lexer_state, speller_state};
        const auto id = state_ids_.intern(key);
        if (static_cast<std::size_t>(id) == states_.size()) {
            states_.emplace_back();
            states_.back().lexer_state = lexer_state;
            states_.back().speller_state = speller_state;
            budget_.check_states(states_.size());
        }
        return id;
    }
    std::int32_t line_start(std::int32_t lexer_state, std::int32_t speller_state) {
        const auto id = state_of(lexer_state, speller_state);
        states_[id].begins_line = true;
        return id;
    }
    void add_before_line(std::int32_t state, std::int32_t spelled) {
        if (state < 0 || !lexer_.keeps_columns(state)) return;
        const std::int32_t key[] = {state, spelled};
        if (static_cast<std::size_t>(before_line_ids_.intern(key)) == before_line_.size())
            before_line_.emplace_back(state, spelled);
    }
    // Bare newlines have column 0 wherever they are emitted.
    void observe_bare_newlines(std::int32_t spelled) {
        for (const auto& move : futures_.moves(spelled)) {
            for (std::int32_t state = 0; state < lexer_.num_states(); ++state) {
                if (!lexer_.is_line_break(state, move.byte_class)) continue;
                const auto next = lexer_.next(state, move.byte_class);
                if (!is_bare_newline(lexer_, next, newline_)) continue;
                const auto emission = futures_.commit_emission(next, {state, {}, {}}, move);
                if (emission >= 0)
                    observations_.push_back({.emission = futures_.emission(emission).residue_class});
            }
        }
    }
    // Configurations of a newline before its first line break have no column. They are followed to where a
    // line begins.
    void expand_before_line(std::pair<std::int32_t, std::int32_t> at) {
        for (const auto& move : futures_.moves(at.second)) {
            const auto next = lexer_.next(at.first, move.byte_class);
            if (next < 0) continue;
            if (!lexer_.is_line_break(at.first, move.byte_class))
                add_before_line(next, move.speller_state);
            else if (has_column(next))
                line_start(next, move.speller_state);
        }
    }
    void observe(const Futures::ScanResult& result) {
        Observation observation;
        if (result.emission >= 0) {
            observation.emission = futures_.emission(result.emission).residue_class;
            observation.column = result.column.value;
        } else {
            const auto& [state, now, matched] = result.lexing;
            const auto id = state_of(state, result.speller_state);
            if (now.known() || keeps_fresh_match(state)) {
                observation.state = id;
                observation.column = std::max(now.value, matched.value);
            }
            if (lexer_.keeps_old_match(state) && matched.known()) {
                observation.older = id;
                observation.older_column = matched.value;
                if (observation.state >= 0) observation.column = now.value;
            }
        }
        observations_.push_back(observation);
    }
    void expand(std::int32_t id);
    void follow_move(std::int32_t id, std::int32_t next, const Futures::Move& move);
    void add_commit(std::int32_t id, std::int32_t next, const Futures::Move& move);
    void find_older_matches();
    void follow_columns();
    void find_later_lines();
    ColumnClasses coarsest_classes();
    std::int32_t committed(const Observation& observation, std::int32_t column);
    std::int32_t width(std::int32_t state, std::int32_t byte_class) const {
        const auto kind = lexer_.blank(state, byte_class);
        return kind == Blank::kSpace ? 1 : kind == Blank::kTab ? lexer_.tab_width() : 0;
    }
    // The least sets, by state, that hold what `add` adds for a state and what its successors have. The
    // states of a strongly connected component share theirs.
    template <class Add>
    std::vector<std::int32_t> by_component(const std::vector<Numbers>& successors, Add add);
    // The column among those followed that has the same sets: from repeat_ on they repeat with period_.
    std::size_t representative(std::int32_t column) const {
        return static_cast<std::size_t>(column < repeat_ ? column : repeat_ + (column - repeat_) % period_);
    }

    const LexingAutomaton& lexer_;
    std::int32_t newline_, width_;
    Budget& budget_;
    Futures& futures_;
    Interner before_line_ids_, state_ids_, sets_;
    std::vector<std::pair<std::int32_t, std::int32_t>> before_line_;
    std::vector<ProductState> states_;
    std::vector<Observation> observations_;
    // By state, sets of residue classes: those emitted with the column of its older match; [distance] those
    // emitted with a column so much further in than the state's own; [column] those emitted with this column
    // in a later line.
    Numbers older_;
    std::vector<Numbers> at_distance_, in_later_line_;
    std::int32_t repeat_ = 0, period_ = 1;
};

void ColumnEquivalence::expand(std::int32_t id) {
    const auto state = states_[id].lexer_state;
    const auto spelled = states_[id].speller_state;
    for (const auto& move : futures_.moves(spelled)) {
        budget_.tick();
        const auto next = lexer_.next(state, move.byte_class);
        if (next >= 0)
            follow_move(id, next, move);
        else if (LexingAutomaton::is_commit(next) && lexer_.commit(next).label == newline_)
            add_commit(id, next, move);
    }
    const auto end = lexer_.at_end(state);
    if (!futures_.may_end(spelled) || !LexingAutomaton::is_commit(end) ||
        lexer_.commit(end).label != newline_)
        return;
    if (const auto emission = futures_.end_emission({state, {}, {}}); emission >= 0) {
        auto& at = states_[id];
        (keeps_fresh_match(state) ? at.now : at.older).push_back(futures_.emission(emission).residue_class);
    }
}

void ColumnEquivalence::follow_move(std::int32_t id, std::int32_t next, const Futures::Move& move) {
    const auto state = states_[id].lexer_state;
    if (lexer_.keeps_old_match(next)) {
        const auto to = state_of(next, move.speller_state);
        auto& at = states_[id];
        (keeps_fresh_match(state) ? at.matched : at.still).push_back(to);
    }
    if (!has_column(next)) return;
    const bool breaks = lexer_.is_line_break(state, move.byte_class);
    const auto to = breaks ? line_start(next, move.speller_state) : state_of(next, move.speller_state);
    auto& at = states_[id];
    const auto after_byte = width(state, move.byte_class);
    (breaks            ? at.line_breaks
     : after_byte == 0 ? at.same_column
     : after_byte == 1 ? at.spaced
                       : at.tabbed)
        .push_back(to);
}

void ColumnEquivalence::add_commit(std::int32_t id, std::int32_t next, const Futures::Move& move) {
    const auto state = states_[id].lexer_state;
    const auto known = futures_.commit_emission(next, {state, {}, {}}, move);
    if (known < 0) return;
    const auto emission = futures_.emission(known).residue_class;
    auto& at = states_[id];
    if (!lexer_.pushback(lexer_.commit(next).pushback).empty())
        (keeps_fresh_match(state) ? at.now : at.older).push_back(emission);
    else if (lexer_.is_line_break(state, move.byte_class))
        at.on_line_break.push_back(emission);
    else
        at.after_byte.emplace_back(emission, width(state, move.byte_class));
}

template <class Add>
std::vector<std::int32_t> ColumnEquivalence::by_component(const std::vector<Numbers>& successors, Add add) {
    const auto component = components(successors);
    std::vector<Numbers> members(states_.size());
    for (std::size_t id = 0; id < states_.size(); ++id)
        members[component[id]].push_back(static_cast<std::int32_t>(id));
    std::vector<std::int32_t> found(states_.size(), -1);
    for (const auto& group : members) {  // successors first
        Numbers emissions;
        for (const auto id : group) {
            const auto at = static_cast<std::size_t>(id);
            add(at, found, emissions);
            for (const auto next : successors[at])
                if (const auto set = found[next]; set >= 0) unite(emissions, sets_[set]);
        }
        sort_unique(emissions);
        const auto set = sets_.intern(emissions);
        for (const auto id : group) found[id] = set;
    }
    return found;
}

void ColumnEquivalence::find_older_matches() {
    std::vector<Numbers> successors;
    for (const auto& state : states_) successors.push_back(state.still);
    older_ = by_component(successors, [&](std::size_t at, const Numbers&, Numbers& emissions) {
        unite(emissions, states_[at].older);
    });
}

// Computes the sets distance by distance. Those at one distance are determined by those at the last width_
// distances, so when such a window comes again, all repeats: the sets are ultimately periodic.
void ColumnEquivalence::follow_columns() {
    std::vector<Numbers> successors;
    for (const auto& state : states_) successors.push_back(state.same_column);
    Interner columns, windows;
    Numbers seen;           // by distance: a number for all its sets
    Numbers window_ends;    // by window: the distance at which it ended
    std::int32_t same = 0;  // how many distances before this one have the same sets
    for (std::int32_t column = 0;; ++column) {
        budget_.check_states(at_distance_.size() * states_.size());
        const auto at_column = [&](std::size_t back) -> const Numbers& {
            return at_distance_[at_distance_.size() - back];
        };
        at_distance_.push_back(
            by_component(successors, [&](std::size_t id, const Numbers&, Numbers& emissions) {
                const auto& at = states_[id];
                if (column == 0) {
                    unite(emissions, at.now);
                    for (const auto next : at.matched) unite(emissions, sets_[older_[next]]);
                }
                for (const auto& [emission, width] : at.after_byte)
                    if (width == column) emissions.push_back(emission);
                if (column >= 1)
                    for (const auto next : at.spaced) unite(emissions, sets_[at_column(1)[next]]);
                if (column >= width_)
                    for (const auto next : at.tabbed)
                        unite(emissions, sets_[at_column(static_cast<std::size_t>(width_))[next]]);
            }));
        const auto number = columns.intern(at_distance_.back());
        same = !seen.empty() && seen.back() == number ? same + 1 : 0;
        seen.push_back(number);
        if (column <= 2 * width_) continue;
        if (same > width_) {
            repeat_ = column - same;
            return;
        }
        const auto window = windows.intern(std::span(seen).last(static_cast<std::size_t>(width_)));
        if (static_cast<std::size_t>(window) < window_ends.size()) {
            repeat_ = window_ends[window];
            period_ = column - repeat_;
            return;
        }
        window_ends.push_back(column);
    }
}

void ColumnEquivalence::find_later_lines() {
    std::vector<Numbers> successors;
    for (const auto& state : states_) {
        successors.push_back(state.same_column);
        for (const auto* more : {&state.spaced, &state.tabbed, &state.line_breaks})
            unite(successors.back(), *more);
    }
    for (std::int32_t column = 0; column < repeat_ + period_; ++column)
        in_later_line_.push_back(
            by_component(successors, [&](std::size_t id, const Numbers&, Numbers& emissions) {
                if (column == 0) unite(emissions, states_[id].on_line_break);
                for (const auto next : states_[id].line_breaks)
                    unite(emissions, sets_[at_distance_[column][next]]);
            }));
}

// The set of what can be emitted with a column from a point.
std::int32_t ColumnEquivalence::committed(const Observation& observation, std::int32_t column) {
    Numbers emissions;
    if (observation.state >= 0) {
        const auto state = static_cast<std::size_t>(observation.state);
        if (column >= observation.column)
            unite(emissions, sets_[at_distance_[representative(column - observation.column)][state]]);
        unite(emissions, sets_[in_later_line_[representative(column)][state]]);
    }
    if (observation.older >= 0 && column == observation.older_column)
        unite(emissions, sets_[older_[observation.older]]);
    if (observation.emission >= 0 && column == observation.column) emissions.push_back(observation.emission);
    sort_unique(emissions);
    return sets_.intern(emissions);
}

// Columns are of one kind if every observation sees the same with them. The classes are the shortest prefix
// of single columns and the shortest period that keep kinds apart.
ColumnClasses ColumnEquivalence::coarsest_classes() {
    std::int32_t most = 0;
    for (std::size_t id = 0; id < states_.size(); ++id)
        if (states_[id].begins_line) observations_.push_back({static_cast<std::int32_t>(id)});
    for (const auto& observation : observations_)
        most = std::max({most, observation.column, observation.older_column});
    const auto single = repeat_ + most + 1;  // from here on, all columns repeat with period_
    Interner columns;
    Numbers kinds;
    for (std::int32_t column = 0; column < single + period_; ++column) {
        Numbers sets;
        for (const auto& observation : observations_) sets.push_back(committed(observation, column));
        kinds.push_back(columns.intern(sets));
    }
    const auto kind = [&](std::int32_t column) {
        return kinds[column < single ? column : single + (column - single) % period_];
    };
    ColumnClasses found{single, period_};
    const auto repeats = [&](std::int32_t period) {
        for (std::int32_t column = single; column < single + period_; ++column)
            if (kind(column) != kind(column + period)) return false;
        return true;
    };
    for (std::int32_t period = period_; period > 0; --period)
        if (period_ % period == 0 && repeats(period)) found.period = period;
    while (found.single > 0 && kind(found.single - 1) == kind(found.single - 1 + found.period))
        --found.single;
    return found;
}

}  // namespace

Columns::Columns(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const Trie> trie,
                 std::int32_t newline, Budget budget)
    : lexer_(std::move(lexer)), trie_(std::move(trie)), newline_(newline), budget_(budget) {
    const VocabularyStar speller(*trie_, budget_);
    if (newline < 0 || !lexer_->has_columns() || BlankIndependence(*lexer_, speller, newline).holds()) return;
    futures_.emplace(*lexer_, speller, newline, ColumnClasses{}, budget_);
    classes_ = ColumnEquivalence(*futures_, newline, budget_).classes();
    budget_.stop_clock();
}

const Futures* Columns::futures(const LexingAutomaton& lexer, const Trie& trie, std::int32_t newline) const {
    const bool same = &lexer == lexer_.get() && &trie == trie_.get() && newline == newline_;
    return same && classes_.count() == 1 && futures_ ? &*futures_ : nullptr;
}

}  // namespace pdacon
