#include "liveness/column_classes.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/components.hpp"
#include "base/interner.hpp"
#include "detokenizer/speller.hpp"

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

// Whether a byte completes a newline at once.
bool is_whole(const LexingAutomaton& lexer, std::int32_t next, std::int32_t newline) {
    return LexingAutomaton::is_commit(next) && lexer.commit(next).label == newline &&
           lexer.word(lexer.commit(next).word).empty();
}

// Whether blanks make no difference within a line: in each place they lead nowhere else, and where a line
// begins a space may stand. Then every column is one of as good as any other. Sufficient, and true of most
// newlines; nothing but the lexer is asked.
class Blanks {
  public:
    Blanks(const LexingAutomaton& lexer, const Speller& speller, std::int32_t newline)
        : lexer_(lexer), speller_(speller), newline_(newline) {}

    bool make_no_difference() {
        if (speller_.edges.size() != 1 || leaves_lines() || ends_lines()) return false;
        Numbers classes;
        for (const auto& edge : speller_.edges[0]) classes.push_back(lexer_.byte_class(edge.byte));
        sort_unique(classes);
        for (const auto& reading : lexer_.first_columns()) add(reading.state, reading.now.known());
        for (std::size_t at = 0; at < places_.size(); ++at) {
            const auto [state, in_line] = places_[at];
            std::int32_t last = LexingAutomaton::kDead;  // neighbours mostly lead to the same
            for (const auto byte_class : classes) {
                const auto next = lexer_.next(state, byte_class);
                if (!lexer_.is_blank(byte_class) && next == std::exchange(last, next)) continue;
                const bool blank = lexer_.is_space(byte_class) || lexer_.is_tab(byte_class);
                if (in_line && blank && next != state &&
                    (next >= 0
                         ? lexer_.keeps_columns(next)
                         : next != LexingAutomaton::kDead && lexer_.word(lexer_.commit(next).word).empty()))
                    return false;
                if (next < 0) continue;
                add(next, in_line || lexer_.is_line_break(byte_class));
            }
        }
        return true;
    }

  private:
    // Whether anything is read after a line break before it turns out that it has to be lexed again.
    bool leaves_lines() const {
        for (std::int32_t at = 0; at < lexer_.num_commits(); ++at) {
            const auto word = lexer_.word(lexer_.commit(LexingAutomaton::kDead - 1 - at).word);
            for (std::size_t i = 0; i + 1 < word.size(); ++i)
                if (lexer_.is_line_break(word[i])) return true;
        }
        return false;
    }
    // Whether what a line break leads to is a newline, and not the same behind a space.
    bool ends_lines() const {
        const auto line_break = lexer_.byte_class('\n'), space = lexer_.byte_class(' ');
        for (std::int32_t state = 0; state < lexer_.num_states(); ++state) {
            const auto next = lexer_.next(state, line_break);
            if (is_whole(lexer_, next, newline_)) return true;
            if (next >= 0 && lexer_.keeps_columns(next) &&
                !(lexer_.counts(next) && lexer_.next(next, space) == next))
                return true;
        }
        return false;
    }
    void add(std::int32_t state, bool in_line) {
        if (state < 0 || !lexer_.keeps_columns(state)) return;
        const std::int32_t key[] = {state, in_line};
        if (static_cast<std::size_t>(seen_.intern(key)) == places_.size())
            places_.emplace_back(state, in_line);
    }

    const LexingAutomaton& lexer_;
    const Speller& speller_;
    std::int32_t newline_;
    Interner seen_;
    std::vector<std::pair<std::int32_t, bool>> places_;
};

// What can be committed with which column, from the places of lines: a lexer and a speller state each.
// Emissions stand for what they lead to, whatever their column.
class Lines {
  public:
    Lines(Futures& futures, std::int32_t newline, Budget& budget)
        : lexer_(futures.lexer()),
          newline_(newline),
          width_(std::max(lexer_.tab_width(), 1)),
          budget_(budget),
          futures_(futures) {
        for (std::int32_t state = 0; state < lexer_.num_states(); ++state) futures_.of({state, {}, {}}, 0);
        for (std::int32_t spelled = 0; spelled < futures_.num_speller_states(); ++spelled) {
            for (const auto& reading : lexer_.first_columns())
                reading.now.known() ? void(line(reading.state, spelled)) : add_before(reading.state, spelled);
            add_whole(spelled);
        }
        for (std::size_t at = 0; at < before_.size(); ++at) expand_before(before_[at]);
        // Emissions are made on the way, and with them what their pushbacks lead to.
        for (std::size_t at = 0, result = 0;
             at < places_.size() || result < futures_.results_with_columns().size();) {
            if (at < places_.size())
                expand(static_cast<std::int32_t>(at++));
            else
                add_start(futures_.results_with_columns()[result++]);
        }
    }

    ColumnClasses classes() {
        find_older();
        follow_columns();
        find_any_line();
        return coarsest();
    }

  private:
    struct Place {
        std::int32_t lexer_state, speller_state;
        bool begins = false;  // a line
        Numbers now, older;   // emissions with the column of the place, and with that of an older match
        std::vector<std::pair<std::int32_t, std::int32_t>> further;  // emissions further in, and by how much
        Numbers first;  // emissions in the first column of another line
        Numbers here, spaced, tabbed,
            lines;        // the places that a byte leads to, by what becomes of the column
        Numbers matched;  // places whose older match is that of this place
        Numbers still;    // places whose older match is the older one of this place
    };
    // From where what can be committed has to be the same for all columns of a class.
    struct Start {
        std::int32_t place = -1, column = 0;        // in a line
        std::int32_t older = -1, older_column = 0;  // a place with an older match
        std::int32_t emission = -1;                 // one emission alone, in `column`
    };

    bool has_match(std::int32_t state) const {
        return lexer_.keeps_match(state) && !lexer_.keeps_old_match(state);
    }
    bool has_column(std::int32_t state) const { return lexer_.counts(state) || has_match(state); }
    std::int32_t place(std::int32_t lexer_state, std::int32_t speller_state) {
        const std::int32_t key[] = {lexer_state, speller_state};
        const auto id = place_ids_.intern(key);
        if (static_cast<std::size_t>(id) == places_.size()) {
            places_.emplace_back();
            places_.back().lexer_state = lexer_state;
            places_.back().speller_state = speller_state;
            budget_.check_states(places_.size());
        }
        return id;
    }
    std::int32_t line(std::int32_t lexer_state, std::int32_t speller_state) {
        const auto id = place(lexer_state, speller_state);
        places_[static_cast<std::size_t>(id)].begins = true;
        return id;
    }
    void add_before(std::int32_t state, std::int32_t spelled) {
        if (state < 0 || !lexer_.keeps_columns(state)) return;
        const std::int32_t key[] = {state, spelled};
        if (static_cast<std::size_t>(before_ids_.intern(key)) == before_.size())
            before_.emplace_back(state, spelled);
    }
    // Newlines that end with their line break.
    void add_whole(std::int32_t spelled) {
        const auto line_break = lexer_.byte_class('\n');
        for (const auto& move : futures_.moves(spelled)) {
            if (move.byte_class != line_break) continue;
            for (std::int32_t state = 0; state < lexer_.num_states(); ++state) {
                const auto next = lexer_.next(state, line_break);
                if (!is_whole(lexer_, next, newline_)) continue;
                const auto emission = futures_.commit_emission(next, {state, {}, {}}, move);
                if (emission >= 0)
                    starts_.push_back({.emission = futures_.emission(emission).pushback_class});
            }
        }
    }
    // Before the first line break of a lexeme.
    void expand_before(std::pair<std::int32_t, std::int32_t> at) {
        for (const auto& move : futures_.moves(at.second)) {
            const auto next = lexer_.next(at.first, move.byte_class);
            if (next < 0) continue;
            if (!lexer_.is_line_break(move.byte_class))
                add_before(next, move.speller_state);
            else if (has_column(next))
                line(next, move.speller_state);
        }
    }
    void add_start(const Futures::ScanResult& result) {
        Start start;
        if (result.emission >= 0) {
            start.emission = futures_.emission(result.emission).pushback_class;
            start.column = result.column.value;
        } else {
            const auto& [state, now, matched] = result.reading;
            const auto id = place(state, result.speller_state);
            if (now.known() || has_match(state)) {
                start.place = id;
                start.column = std::max(now.value, matched.value);
            }
            if (lexer_.keeps_old_match(state) && matched.known()) {
                start.older = id;
                start.older_column = matched.value;
                if (start.place >= 0) start.column = now.value;
            }
        }
        starts_.push_back(start);
    }
    void expand(std::int32_t id);
    void lead(std::int32_t id, std::int32_t next, const Futures::Move& move);
    void commit(std::int32_t id, std::int32_t next, const Futures::Move& move);
    void find_older();
    void follow_columns();
    void find_any_line();
    ColumnClasses coarsest();
    std::int32_t committed(const Start& start, std::int32_t column);
    std::int32_t width(std::int32_t byte_class) const {
        return lexer_.is_space(byte_class) ? 1 : lexer_.is_tab(byte_class) ? lexer_.tab_width() : 0;
    }
    // The set of what the members of a component have, given what each place adds.
    template <class Add>
    std::vector<std::int32_t> by_component(const std::vector<Numbers>& successors, Add add);
    // Among the columns that were followed, one that is like a column.
    std::size_t like(std::int32_t column) const {
        return static_cast<std::size_t>(column < repeat_ ? column : repeat_ + (column - repeat_) % period_);
    }

    const LexingAutomaton& lexer_;
    std::int32_t newline_, width_;
    Budget& budget_;
    Futures& futures_;
    Interner before_ids_, place_ids_, sets_;
    std::vector<std::pair<std::int32_t, std::int32_t>> before_;
    std::vector<Place> places_;
    std::vector<Start> starts_;
    // Of each place, sets of emissions: with the column of its older match; [columns] with a column so much
    // further in; [columns] with a column in a later line.
    Numbers older_;
    std::vector<Numbers> attained_, any_line_;
    std::int32_t repeat_ = 0, period_ = 1;
};

void Lines::expand(std::int32_t id) {
    const auto state = places_[static_cast<std::size_t>(id)].lexer_state;
    const auto spelled = places_[static_cast<std::size_t>(id)].speller_state;
    for (const auto& move : futures_.moves(spelled)) {
        budget_.tick();
        const auto next = lexer_.next(state, move.byte_class);
        if (next >= 0)
            lead(id, next, move);
        else if (LexingAutomaton::is_commit(next) && lexer_.commit(next).label == newline_)
            commit(id, next, move);
    }
    const auto end = lexer_.at_end(state);
    if (!futures_.may_end(spelled) || !LexingAutomaton::is_commit(end) ||
        lexer_.commit(end).label != newline_)
        return;
    if (const auto emission = futures_.end_emission({state, {}, {}}); emission >= 0) {
        auto& at = places_[static_cast<std::size_t>(id)];
        (has_match(state) ? at.now : at.older).push_back(futures_.emission(emission).pushback_class);
    }
}

void Lines::lead(std::int32_t id, std::int32_t next, const Futures::Move& move) {
    const auto state = places_[static_cast<std::size_t>(id)].lexer_state;
    if (lexer_.keeps_old_match(next)) {
        const auto to = place(next, move.speller_state);
        auto& at = places_[static_cast<std::size_t>(id)];
        (has_match(state) ? at.matched : at.still).push_back(to);
    }
    if (!has_column(next)) return;
    const bool breaks = lexer_.is_line_break(move.byte_class);
    const auto to = breaks ? line(next, move.speller_state) : place(next, move.speller_state);
    auto& at = places_[static_cast<std::size_t>(id)];
    const auto further = width(move.byte_class);
    (breaks ? at.lines : further == 0 ? at.here : further == 1 ? at.spaced : at.tabbed).push_back(to);
}

void Lines::commit(std::int32_t id, std::int32_t next, const Futures::Move& move) {
    const auto state = places_[static_cast<std::size_t>(id)].lexer_state;
    const auto known = futures_.commit_emission(next, {state, {}, {}}, move);
    if (known < 0) return;
    const auto emission = futures_.emission(known).pushback_class;
    auto& at = places_[static_cast<std::size_t>(id)];
    if (!lexer_.word(lexer_.commit(next).word).empty())
        (has_match(state) ? at.now : at.older).push_back(emission);
    else if (lexer_.is_line_break(move.byte_class))
        at.first.push_back(emission);
    else
        at.further.emplace_back(emission, width(move.byte_class));
}

template <class Add>
std::vector<std::int32_t> Lines::by_component(const std::vector<Numbers>& successors, Add add) {
    const auto component = components(successors);
    std::vector<Numbers> members(places_.size());
    for (std::size_t id = 0; id < places_.size(); ++id)
        members[static_cast<std::size_t>(component[id])].push_back(static_cast<std::int32_t>(id));
    std::vector<std::int32_t> found(places_.size(), -1);
    for (const auto& group : members) {  // successors first
        Numbers emissions;
        for (const auto id : group) {
            const auto at = static_cast<std::size_t>(id);
            add(at, found, emissions);
            for (const auto next : successors[at])
                if (const auto set = found[static_cast<std::size_t>(next)]; set >= 0)
                    unite(emissions, sets_[set]);
        }
        sort_unique(emissions);
        const auto set = sets_.intern(emissions);
        for (const auto id : group) found[static_cast<std::size_t>(id)] = set;
    }
    return found;
}

void Lines::find_older() {
    std::vector<Numbers> successors;
    for (const auto& place : places_) successors.push_back(place.still);
    older_ = by_component(successors, [&](std::size_t at, const Numbers&, Numbers& emissions) {
        unite(emissions, places_[at].older);
    });
}

// Column by column, until what there is comes again: it depends on as many columns as a tab is wide.
void Lines::follow_columns() {
    std::vector<Numbers> successors;
    for (const auto& place : places_) successors.push_back(place.here);
    Interner columns, windows;
    Numbers seen;           // the columns' numbers
    Numbers window_ends;    // of each window
    std::int32_t same = 0;  // how many columns before this one are like it
    for (std::int32_t column = 0;; ++column) {
        budget_.check_states(attained_.size() * places_.size());
        const auto at_column = [&](std::size_t back) -> const Numbers& {
            return attained_[attained_.size() - back];
        };
        attained_.push_back(by_component(successors, [&](std::size_t id, const Numbers&, Numbers& emissions) {
            const auto& at = places_[id];
            if (column == 0) {
                unite(emissions, at.now);
                for (const auto next : at.matched)
                    unite(emissions, sets_[older_[static_cast<std::size_t>(next)]]);
            }
            for (const auto& [emission, width] : at.further)
                if (width == column) emissions.push_back(emission);
            if (column >= 1)
                for (const auto next : at.spaced)
                    unite(emissions, sets_[at_column(1)[static_cast<std::size_t>(next)]]);
            if (column >= width_)
                for (const auto next : at.tabbed)
                    unite(emissions,
                          sets_[at_column(static_cast<std::size_t>(width_))[static_cast<std::size_t>(next)]]);
        }));
        const auto number = columns.intern(attained_.back());
        same = !seen.empty() && seen.back() == number ? same + 1 : 0;
        seen.push_back(number);
        if (column <= 2 * width_) continue;
        if (same > width_) {
            repeat_ = column - same;
            return;
        }
        const auto window = windows.intern(std::span(seen).last(static_cast<std::size_t>(width_)));
        if (static_cast<std::size_t>(window) < window_ends.size()) {
            repeat_ = window_ends[static_cast<std::size_t>(window)];
            period_ = column - repeat_;
            return;
        }
        window_ends.push_back(column);
    }
}

void Lines::find_any_line() {
    std::vector<Numbers> successors;
    for (const auto& place : places_) {
        successors.push_back(place.here);
        for (const auto* more : {&place.spaced, &place.tabbed, &place.lines}) unite(successors.back(), *more);
    }
    for (std::int32_t column = 0; column < repeat_ + period_; ++column)
        any_line_.push_back(by_component(successors, [&](std::size_t id, const Numbers&, Numbers& emissions) {
            if (column == 0) unite(emissions, places_[id].first);
            for (const auto next : places_[id].lines)
                unite(emissions,
                      sets_[attained_[static_cast<std::size_t>(column)][static_cast<std::size_t>(next)]]);
        }));
}

// What can be committed with a column.
std::int32_t Lines::committed(const Start& start, std::int32_t column) {
    Numbers emissions;
    if (start.place >= 0) {
        const auto place = static_cast<std::size_t>(start.place);
        if (column >= start.column) unite(emissions, sets_[attained_[like(column - start.column)][place]]);
        unite(emissions, sets_[any_line_[like(column)][place]]);
    }
    if (start.older >= 0 && column == start.older_column)
        unite(emissions, sets_[older_[static_cast<std::size_t>(start.older)]]);
    if (start.emission >= 0 && column == start.column) emissions.push_back(start.emission);
    sort_unique(emissions);
    return sets_.intern(emissions);
}

ColumnClasses Lines::coarsest() {
    std::int32_t most = 0;
    for (std::size_t id = 0; id < places_.size(); ++id)
        if (places_[id].begins) starts_.push_back({static_cast<std::int32_t>(id)});
    for (const auto& start : starts_) most = std::max({most, start.column, start.older_column});
    const auto single = repeat_ + most + 1;  // from there on columns repeat
    Interner columns;
    Numbers kinds;
    for (std::int32_t column = 0; column < single + period_; ++column) {
        Numbers sets;
        for (const auto& start : starts_) sets.push_back(committed(start, column));
        kinds.push_back(columns.intern(sets));
    }
    const auto kind = [&](std::int32_t column) {
        return kinds[static_cast<std::size_t>(column < single ? column
                                                              : single + (column - single) % period_)];
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
    const Speller speller(*trie_, budget_);
    if (newline < 0 || !lexer_->has_columns() || Blanks(*lexer_, speller, newline).make_no_difference())
        return;
    futures_.emplace(*lexer_, speller, newline, ColumnClasses{}, budget_);
    classes_ = Lines(*futures_, newline, budget_).classes();
    budget_.stop_clock();
}

const Futures* Columns::futures(const LexingAutomaton& lexer, const Trie& trie, std::int32_t newline) const {
    const bool same = &lexer == lexer_.get() && &trie == trie_.get() && newline == newline_;
    return same && classes_.count() == 1 && futures_ ? &*futures_ : nullptr;
}

}  // namespace pdacon
