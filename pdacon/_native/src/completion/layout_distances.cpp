#include "completion/layout_distances.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace pdacon {

namespace {

constexpr std::int32_t kBetweenTokens = 0;  // a speller state
constexpr auto kUnlimited = 2 * LeastYields::kMost;

std::int32_t column_of(const StackView& stack) { return stack.block == nullptr ? 0 : stack.block->column; }

}  // namespace

LayoutDistances::LayoutDistances(const Pushdown& machine, const Trie& trie, const Measure& measure,
                                 Budget& budget, StackCells& cells)
    : machine_(machine),
      measure_(measure),
      weights_(measure.weights()),
      budget_(budget),
      cells_(cells),
      yields_(machine, measure.lengths, weights_, budget),
      blanks_(machine.lexer, trie,
              measure.tokens != nullptr ? BlankCosts::Unit::kTokens : BlankCosts::Unit::kBytes,
              machine.layout.newline),
      step_(machine.layout.classes.count() + machine.layout.indent_len),
      up_to_(blanks_.up_to_columns(kTable)) {
    const auto& lexer = machine.lexer;
    const auto line_break = lexer.byte_class('\n');
    std::set<std::int32_t> begun, waiting;
    for (std::int32_t state = 0; state < lexer.num_states(); ++state) {
        const auto next = lexer.next(state, line_break);
        if (next >= 0 && lexer.keeps_columns(next)) begun.insert(next);
        for (const auto blank : {' ', '\t'}) {
            const auto to = lexer.next(state, lexer.byte_class(static_cast<std::uint8_t>(blank)));
            if (to >= 0 && lexer.counts(to) && lexer.keeps_old_match(to)) waiting.insert(to);
        }
    }
    overhang_ = static_cast<std::int32_t>(waiting.size()) * std::max(lexer.tab_width(), 1);
    lines_begun_ = static_cast<std::int32_t>(begun.size());
    lines_fall_back_ =
        std::ranges::any_of(begun, [&](std::int32_t state) { return lexer.keeps_old_match(state); });
}

// The ceiling with a number, ascending; null: there are not so many. From each to the next what a line takes
// is about doubled.
LayoutDistances::Ceiling* LayoutDistances::ceiling(std::size_t number) {
    while (ceilings_.size() <= number) {
        std::int32_t column = -1, most = 1;
        if (!ceilings_.empty()) {
            column = ceilings_.back()->column;
            if (column >= kHighest || up_to_[column + 1] == BlankCosts::kNever) return nullptr;
            most = std::max(2 * ceilings_.back()->line_units, up_to_[column + 1]);
        }
        if (up_to_[kTable] == BlankCosts::kNever) {  // no line begins with blanks
            add_ceiling(std::numeric_limits<std::int32_t>::max(), BlankCosts::kNever);
            continue;
        }
        while (up_to_.back() <= most && std::ssize(up_to_) <= kHighest + 1)
            up_to_ = blanks_.up_to_columns(2 * (static_cast<std::int32_t>(up_to_.size()) - 1));
        column = static_cast<std::int32_t>(std::ranges::upper_bound(up_to_, most) - up_to_.begin()) - 1;
        add_ceiling(column, up_to_[column]);
    }
    return ceilings_[number].get();
}

void LayoutDistances::add_ceiling(std::int32_t column, std::int32_t line_units) {
    ceilings_.push_back(
        std::make_unique<Ceiling>(machine_, measure_, yields_, budget_, cells_, column, line_units));
}

// Whether all columns of a run of this cost are below the ceiling.
bool LayoutDistances::is_below(const Ceiling& ceiling, std::int32_t column, std::int64_t cost) const {
    if (ceiling.line_units == BlankCosts::kNever) return Weights::are_apart(cost, 1);
    if (!Weights::are_apart(cost, ceiling.line_units + 1)) return false;
    return Weights::indents_in(cost) <= (std::int64_t{ceiling.column} - column - overhang_) / step_ &&
           ceiling.column - column >= overhang_;
}

// The cost under the first ceiling that all columns of its run are below, or a number beyond the limit.
// `column`: of the innermost block. Under a higher ceiling a cost has the same bytes, and no fewer units.
template <class Cost>
std::int64_t LayoutDistances::under_ceilings(std::int32_t column, std::int64_t limit, Cost cost) {
    for (std::size_t number = 0; auto* at = ceiling(number); ++number) {
        if (at->column < column || at->column < machine_.layout.classes.count()) continue;
        const auto found = cost(*at);
        if (found > limit || is_below(*at, column, found)) return found;
    }
    return kNone;
}

std::int64_t LayoutDistances::least(const LexerConfiguration& lexing, std::int32_t speller_state,
                                    const StackView& stack) {
    const auto found = cost(lexing, speller_state, stack);
    return found == kNone ? kNone : weights_.measured(found);
}

std::int64_t LayoutDistances::cost(const LexerConfiguration& lexing, std::int32_t speller_state,
                                   const StackView& stack) {
    if (lexing.now.known() || lexing.matched.known()) return cost_of_line(lexing, stack);
    const auto cell = cells_.of(stack.top);
    return under_ceilings(column_of(stack), kUnlimited, [&](Ceiling& at) {
        return at.search.cost(lexing, speller_state, cell, kUnlimited);
    });
}

// Within a newline: it ends with this line, or goes on to a next one. Dijkstra's algorithm over the lines.
std::int64_t LayoutDistances::cost_of_line(const LexerConfiguration& lexing, const StackView& stack) {
    using Key = std::array<std::int32_t, 4>;
    auto best = kNone;
    std::set<Key> seen;
    std::set<std::pair<Key, std::int32_t>> ended;
    std::map<std::int64_t, std::vector<LexerConfiguration>> open{{0, {lexing}}};  // by cost
    const auto end_here = [&](const LexerConfiguration& begun, std::int64_t before) {
        const auto columns = columns_of(begun, stack);
        // A copy: what follows asks for others.
        const auto places = blanks_.from(begun, columns.back() + overhang_);
        for (const auto& placed : places) {
            const auto spent = before + placed.cost * weights_.unit;
            for_each_end(placed, [&](const LineEnd& end) {
                if (end.column.known() && !std::ranges::binary_search(columns, end.column.value)) return;
                Key key;
                std::ranges::copy(end.key, key.begin());
                const auto limit = best == kNone ? kUnlimited : best - spent - 1;
                // One that is like it has been met at no more cost, in this line or in one before it.
                if (limit < 0 || !ended.emplace(key, end.column.value).second) return;
                const auto rest = cost_placed(end, stack, limit);
                if (rest != kNone) best = spent + rest;
            });
        }
        // If the line can go on as it is to every state in which a line begins, blanks do not help with that.
        const auto add = [&](const LexerConfiguration& at, std::int64_t spent) {
            const auto& lines = next_lines(at);
            for (const auto& [next, cost] : lines) open[spent + cost].push_back(next);
            return std::ssize(lines) >= lines_begun_ && !lines_fall_back_;
        };
        if (add(begun, before)) return;
        for (const auto& placed : places)
            if (placed.byte_class < 0) add(placed.lexing, before + placed.cost * weights_.unit);
    };
    while (!open.empty() && open.begin()->first < best) {
        const auto [cost, lines] = *open.begin();
        open.erase(open.begin());
        for (const auto& line : lines)
            if (seen.insert({line.state, line.now.value, line.matched.value, 0}).second) end_here(line, cost);
    }
    return best;
}

// Visits the ends of a line for each column that its newline may get: where it has come to, that of the
// fallback, and 0, if a token goes on to a next line. Configurations that differ only in which columns of a
// class these are have the same emissions, and are computed once.
template <class Visit>
void LayoutDistances::for_each_end(const BlankCosts::Placed& placed, Visit visit) {
    const auto& classes = machine_.layout.classes;
    const auto& [lexing, cost, commit, byte_class] = placed;
    if (byte_class >= 0) {
        const auto column =
            machine_.lexer.committed_column(machine_.lexer.commit(commit), lexing, byte_class);
        const std::int32_t key[] = {commit, byte_class, classes.least(column).value, -1};
        const auto& found = last_blanks_[last_blanks_.find_or_make(key, [&] {
            const auto emission =
                measure_.futures.commit_emission(commit, lexing, {byte_class, kBetweenTokens});
            return emission < 0 ? WeightedControls::EmissionCosts{}
                                : WeightedControls::EmissionCosts{{emission, 0}};
        })];
        // No column is -2, so that the key is none of those below.
        return visit(LineEnd{found, {commit, byte_class, classes.least(column).value, -2}, column});
    }
    // What stands for a column: the least one of its class, but for `taken`, which stands for `other`. 0
    // stands for itself.
    const auto like = [&](Column column, Column other, Column taken) {
        if (!column.known() || column.value == 0) return column;
        if (column == other) return taken;
        auto found = classes.least(column, 1);
        if (found == taken) found.value += classes.period;
        return found;
    };
    const auto now = like(lexing.now, {-2}, {});
    const LexerConfiguration alike{lexing.state, now, like(lexing.matched, lexing.now, now)};
    const auto end_in = [&](Column column, Column as) {
        const auto& found = ceiling(0)->controls.emissions_in_column(alike, as.value);
        if (!found.empty())
            visit(LineEnd{found, {alike.state, alike.now.value, alike.matched.value, as.value}, column});
    };
    end_in(lexing.now, alike.now);
    if (lexing.matched != lexing.now) end_in(lexing.matched, alike.matched);
    if (lexing.now.value != 0 && lexing.matched.value != 0) end_in(Column::at(0), Column::at(0));
}

// The columns that a line that has been begun may get, ascending: where it stands, 0, those of the open
// blocks, and those of a new one.
std::vector<std::int32_t> LayoutDistances::columns_of(const LexerConfiguration& lexing,
                                                      const StackView& stack) const {
    std::vector<std::int32_t> columns{lexing.now.value, 0};
    for (const auto* block = stack.block; block != nullptr; block = block->around)
        columns.push_back(block->column);
    for (std::int32_t step = 1; step <= step_; ++step) columns.push_back(column_of(stack) + step);
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

// What can be pending once a newline, whose last line has its column, has been committed as a label.
WeightedControls::Following LayoutDistances::after_line(Ceiling& ceiling, const LineEnd& end,
                                                        std::int32_t label, std::int32_t context) {
    std::vector<std::int32_t> key(std::begin(end.key), std::end(end.key));
    key.insert(key.end(), {label, context});
    return ceiling.after_line[ceiling.after_line.find_or_make(key, [&] {
        std::vector<std::pair<std::int32_t, std::int64_t>> residues;
        for (const auto& [id, cost] : end.emissions)
            if (const auto& emission = measure_.futures.emission(id); emission.label == label)
                residues.emplace_back(emission.residue, cost);
        std::ranges::sort(residues);
        return ceiling.controls.following(context, residues);
    })];
}

// Whether a line of text can follow once the parser has read the newline. If none can, as where only an
// INDENT is wanted, a search would find that only after it has seen everything.
bool LayoutDistances::leads_on(const LineEnd& end, std::int32_t label, const Overlay& after) {
    if (measure_.liveness == nullptr) return true;
    const auto& futures = measure_.futures;
    for (const auto& [id, cost] : end.emissions) {
        const auto& emission = futures.emission(id);
        if (emission.label != label) continue;
        const auto text = futures.text_of(emission.residue);  // whether it has ended, look-behind, bytes
        auto stack = after;
        auto lexing = boundary(machine_, stack, text[1]);
        std::vector<std::int32_t> pending(text.rbegin(), text.rend() - 2);
        if (lexing.state < 0 || !read(machine_, stack, lexing, pending)) continue;
        if (text[0] != 0 ? ends(machine_, stack, lexing)
                         : measure_.liveness->is_future_live(lexing, 0, stack))
            return true;
    }
    return false;
}

// The cost once a line has its column: the parser reads the newline, or what else may be committed. kNone:
// more than the limit.
std::int64_t LayoutDistances::cost_placed(const LineEnd& end, const StackView& stack, std::int64_t limit) {
    std::vector<std::int32_t> labels;
    for (const auto& [id, cost] : end.emissions) labels.push_back(measure_.futures.emission(id).label);
    // The newline first: what else may be committed is searched only as far as it may be cheaper.
    std::ranges::sort(labels, {},
                      [&](std::int32_t label) { return std::pair(label != machine_.layout.newline, label); });
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    auto best = kNone;
    for (const auto label : labels) {
        ReadSet read_set;
        Overlay after(stack, read_set);
        if (label == machine_.lexer.end_label() || !feed_label(machine_, after, label, end.column)) continue;
        if (!leads_on(end, label, after)) continue;
        Overlay::Nodes nodes;
        const auto view = after.view(nodes);
        const auto cell = cells_.of(view.top);
        const auto context = machine_.tables.context[view.top->state];
        const auto rest = under_ceilings(column_of(view), limit, [&](Ceiling& at) {
            return at.search.cost(after_line(at, end, label, context), cell, limit);
        });
        if (rest > limit) continue;
        best = rest;
        limit = rest - 1;
    }
    return best;
}

// The beginnings of further lines of the same newline, each state at its least cost; with a fallback in a
// line before, all configurations, since they are not alike.
const std::vector<LayoutDistances::NextLine>& LayoutDistances::next_lines(const LexerConfiguration& lexing) {
    const std::int32_t key[] = {lexing.state, lexing.now.value, lexing.matched.value};
    return next_lines_[next_lines_.find_or_make(key, [&] {
        const auto& lexer = machine_.lexer;
        std::vector<NextLine> found;
        std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>> seen;
        using State = std::pair<LexerConfiguration, std::int32_t>;  // and a speller state
        std::map<std::int64_t, std::vector<State>> open{{0, {{lexing, kBetweenTokens}}}};  // by cost
        std::set<std::int32_t> begun;
        while (!open.empty() && (lines_fall_back_ || std::ssize(begun) < lines_begun_)) {
            const auto [cost, states] = *open.begin();
            open.erase(open.begin());
            for (const auto& [at, speller_state] : states) {
                budget_.tick();
                if (!seen.emplace(at.state, at.now.value, at.matched.value, speller_state).second) continue;
                for (const auto& move : measure_.futures.moves(speller_state)) {
                    const auto next = lexer.next(at.state, move.byte_class);
                    if (next < 0 || !lexer.keeps_columns(next) || lexer.indents(move.byte_class)) continue;
                    auto to = at;
                    lexer.move(to, next, move.byte_class);
                    const bool ends = measure_.futures.may_end(move.speller_state);
                    const auto after = cost + weights_.byte + (ends ? weights_.token : 0);
                    if (ends && lexer.is_line_break(at.state, move.byte_class) && to.now.value == 0) {
                        found.push_back({to, after});
                        begun.insert(to.state);
                    } else {
                        open[after].emplace_back(to, move.speller_state);
                    }
                }
            }
        }
        return found;
    })];
}

void LayoutDistances::forget() {
    for (const auto& ceiling : ceilings_) ceiling->search.forget();
}

std::size_t LayoutDistances::size() const {
    std::size_t size = 0;
    for (const auto& ceiling : ceilings_) size += ceiling->search.size();
    return size;
}

}  // namespace pdacon
