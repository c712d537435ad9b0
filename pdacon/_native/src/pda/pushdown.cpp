#include "pda/pushdown.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "artifact/needs.hpp"

namespace pdacon {

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// Whether the rows lie one after the other, each in ascending order, and every number is in its range.
bool are_gotos(const ParseTables& tables) {
    const auto& [offset, nonterminal, target] = tables.gotos;
    const auto count = nonterminal.size();
    if (offset.size() != static_cast<std::size_t>(tables.num_states) + 1 || offset[0] != 0 ||
        !std::cmp_equal(offset[offset.size() - 1], count) || target.size() != count)
        return false;
    if (!std::is_sorted(offset.begin(), offset.end())) return false;
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        std::int32_t before = -1;
        for (const auto one : tables.gotos.of(state).nonterminals)
            if (one <= std::exchange(before, one)) return false;
        if (before >= tables.num_nonterminals) return false;
    }
    return all_within(target.view(), 0, tables.num_states);
}

void validate(const LexingAutomaton& lexer, const ParseTables& tables, const StartSymbol& start,
              const Layout& layout) {
    const auto states = static_cast<std::size_t>(tables.num_states);
    require(tables.num_states > 0 && tables.num_terminals >= 0 && tables.num_nonterminals > 0,
            "tables: empty");
    require(tables.num_terminals == lexer.end_label(), "tables: not the lexer's terminals");
    require(tables.action.size() == states * static_cast<std::size_t>(tables.num_terminals + 1),
            "tables: action has the wrong size");
    require(tables.lhs.size() >= static_cast<std::size_t>(tables.num_nonterminals),
            "tables: a nonterminal has no production");
    require(are_gotos(tables), "tables: bad goto");
    require(tables.lhs.size() == tables.length.size(), "tables: productions differ in length");
    require(tables.context.size() == states, "tables: context has the wrong size");
    const auto productions = static_cast<std::int64_t>(tables.lhs.size());
    require(all_within(tables.action, -productions, std::int64_t{tables.num_states} + 1),
            "tables: bad action");
    for (std::int32_t state = 0; state < tables.num_states; ++state)
        require(tables.action_of(state, tables.num_terminals) <= 0, "tables: a shift of the end");
    for (const auto lhs : tables.lhs) require(lhs >= 0 && lhs < tables.num_nonterminals, "tables: bad lhs");
    for (const auto length : tables.length) require(length >= 0, "tables: bad length");
    for (const auto context : tables.context)
        require(context >= 0 && context < lexer.num_contexts(), "tables: bad context");
    for (const auto state : {start.start_state, start.end_state})
        require(state >= 0 && state < tables.num_states, "tables: bad start or end state");
    require(lexer.entry(tables.context[start.start_state], 0) >= 0, "tables: no lexeme can begin a text");
    if (layout.newline != -1) {
        for (const auto terminal : {layout.newline, layout.indent, layout.dedent})
            require(terminal >= 0 && terminal < tables.num_terminals, "tables: bad terminal of the layout");
        require(layout.newline != layout.indent && layout.newline != layout.dedent &&
                    layout.indent != layout.dedent,
                "tables: a terminal of the layout is two of them");
        require(layout.indent_len >= 0 && layout.indent_len <= Column::kMost, "tables: bad width of blocks");
        require(layout.in_parens.size() == states, "tables: in_parens has the wrong size");
        const auto& classes = layout.classes;
        require(classes.single >= 0 && classes.single < Column::kMost && classes.period > 0 &&
                    classes.period < Column::kMost,
                "tables: bad classes of columns");
        require(layout.block.size() == states, "tables: block has the wrong size");
        require(layout.closes.size() == static_cast<std::size_t>(tables.num_terminals) + 1 &&
                    layout.closes_blocks(lexer.end_label()),
                "tables: closes has the wrong size");
        for (const auto terminal : {layout.newline, layout.indent, layout.dedent})
            require(!layout.closes_blocks(terminal), "tables: a terminal of the layout closes blocks");
        require(layout.opened.size() == states * static_cast<std::size_t>(classes.count()),
                "tables: opened has the wrong size");
        for (const auto block : layout.block)
            require(block >= 0 && block < classes.count(), "tables: bad class of a column");
        require(layout.block[start.start_state] == classes.least(Column::at(0)).value,
                "tables: the text does not begin in the first column");
        for (std::int32_t state = 0; state < tables.num_states; ++state) {
            if (tables.action_of(state, layout.indent) <= 0) continue;
            const auto row = static_cast<std::size_t>(state) * static_cast<std::size_t>(classes.count());
            const auto outer = layout.block[state];
            for (std::int32_t column = 0; column < classes.count(); ++column) {
                const auto next = layout.opened[row + static_cast<std::size_t>(column)];
                require(
                    next >= -1 && next < tables.num_states && (next >= 0) == layout.may_open(outer, column),
                    "tables: bad state in a new block");
            }
        }
        require(lexer.has_columns(), "tables: the lexer keeps no columns");
        for (const auto& commit : lexer.commits())
            require(commit.label != layout.indent && commit.label != layout.dedent,
                    "tables: the lexer opens blocks by itself");
    }
}

constexpr auto kNever = std::numeric_limits<std::int32_t>::max();  // the depth of a state that is on no stack

struct Numbers {
    std::int32_t num_states, num_terminals, num_nonterminals, start_state, end_state, newline, indent, dedent,
        indent_len, single, period;
};

}  // namespace

Pushdown::Pushdown(std::shared_ptr<const LexingAutomaton> lexer_, ParseTables tables_, StartSymbol start_,
                   Layout layout_)
    : shared_lexer(std::move(lexer_)),
      lexer(*shared_lexer),
      tables(std::move(tables_)),
      start(start_),
      layout(std::move(layout_)) {
    validate(lexer, tables, start, layout);
    find_predecessors();
}

void Pushdown::find_predecessors() {
    if (!predecessors.empty()) return;
    std::vector<std::vector<std::int32_t>> found;
    const auto distance = connect(found);
    predecessors = std::move(found);
    try {
        check_reduces(distance);
    } catch (...) {
        predecessors.clear();  // so that the next call does not take them for checked
        throw;
    }
}

std::vector<std::int32_t> Pushdown::shifts(std::int32_t state, std::int32_t terminal) const {
    if (terminal != layout.indent) return {tables.action_of(state, terminal) - 1};
    std::vector<std::int32_t> found;
    for (std::int32_t column = 0; column < layout.classes.count(); ++column)
        if (const auto next = opened(state, column); next >= 0) found.push_back(next);
    return found;
}

// Finds the predecessors of all states that the start state reaches, breadth first, and returns the distance
// of each from it, or -1. The states of other start symbols stay out: what is wrong with them is no fault of
// this one.
std::vector<std::int32_t> Pushdown::connect(std::vector<std::vector<std::int32_t>>& predecessors_of) const {
    predecessors_of.resize(static_cast<std::size_t>(tables.num_states));
    std::vector<std::int32_t> distance(predecessors_of.size(), -1), open{start.start_state};
    distance[start.start_state] = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
        const auto state = open[i];
        const auto add = [&](std::int32_t to) {
            auto& into = predecessors_of[to];
            if (into.empty() || into.back() != state) into.push_back(state);
            if (distance[to] >= 0) return;
            distance[to] = distance[state] + 1;
            open.push_back(to);
        };
        for (std::int32_t terminal = 0; terminal < tables.num_terminals; ++terminal)
            for (const auto next : shifted(state, terminal)) add(next);
        for (const auto next : tables.gotos.of(state).targets) add(next);
    }
    for (auto& into : predecessors_of) std::sort(into.begin(), into.end());
    return distance;
}

// A stack is a path from the start state. No reduce pops more than the shortest such path, so none reaches
// below the start state; and nothing leads back to that, so it marks the bottom.
void Pushdown::check_reduces(const std::vector<std::int32_t>& distance) const {
    require(predecessors[start.start_state].empty(), "tables: a transition leads to the start state");
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        const auto depth = distance[state];
        for (std::int32_t terminal = 0; depth >= 0 && terminal <= tables.num_terminals; ++terminal) {
            const auto action = tables.action_of(state, terminal);
            require(action >= 0 || tables.length[-action - 1] <= depth,
                    "tables: a reduce pops more than the stack holds");
        }
    }
}

// Checks that no reduce reaches below the bottom, given the least number of states below each state on any
// stack. It is a check of loaded tables that needs no search: the depths are the certificate.
bool Pushdown::stacks_hold(std::span<const std::int32_t> least_depth) const {
    const auto states = static_cast<std::size_t>(tables.num_states), productions = tables.length.size();
    const auto terminals = static_cast<std::size_t>(tables.num_terminals) + 1;
    // By action: how many states must be on the stack before it, the top included. Reduces are negative,
    // shifts positive.
    std::vector<std::int32_t> needed(productions + 1 + states, 0);
    for (std::size_t at = 0; at < productions; ++at) needed[productions - 1 - at] = tables.length[at] + 1;
    std::ranges::copy(least_depth, needed.begin() + static_cast<std::ptrdiff_t>(productions) + 1);
    const Needs of_action(std::move(needed), -static_cast<std::int32_t>(productions), 0);
    bool good = least_depth[start.start_state] == 0;
    for (std::size_t state = 0; state < states; ++state) {
        const auto depth = least_depth[state];
        if (depth == kNever) continue;
        good &= tables.action.visit([&](auto all) {
            return of_action.are_within(all.subspan(state * terminals, terminals), depth + 1);
        });
        for (const auto next : tables.gotos.of(static_cast<std::int32_t>(state)).targets)
            good &= least_depth[next] <= depth + 1;
        if (layout.newline < 0 || tables.action_of(static_cast<std::int32_t>(state), layout.indent) <= 0)
            continue;
        for (std::int32_t column = 0; column < layout.classes.count(); ++column)
            if (const auto next = opened(static_cast<std::int32_t>(state), column); next >= 0)
                good &= least_depth[next] <= depth + 1;
    }
    return good;
}

void Pushdown::save(ArtifactWriter& artifact, std::int32_t number) const {
    const Numbers numbers{tables.num_states,     tables.num_terminals, tables.num_nonterminals,
                          start.start_state,     start.end_state,      layout.newline,
                          layout.indent,         layout.dedent,        layout.indent_len,
                          layout.classes.single, layout.classes.period};
    std::vector<std::vector<std::int32_t>> unused;
    auto least_depth = connect(unused);
    std::replace(least_depth.begin(), least_depth.end(), -1, kNever);
    artifact.add(Part::kMachine, number, std::span(&numbers, 1));
    artifact.add_packed(Part::kAction, number, tables.action);
    artifact.add(Part::kGotoOffsets, number, tables.gotos.offset.view());
    artifact.add(Part::kGotoNonterminals, number, tables.gotos.nonterminal.view());
    artifact.add(Part::kGotoTargets, number, tables.gotos.target.view());
    artifact.add(Part::kLhs, number, tables.lhs.view());
    artifact.add(Part::kLength, number, tables.length.view());
    artifact.add(Part::kContext, number, tables.context.view());
    artifact.add(Part::kInParens, number, layout.in_parens.view());
    artifact.add(Part::kBlock, number, layout.block.view());
    artifact.add(Part::kOpened, number, layout.opened.view());
    artifact.add(Part::kCloses, number, layout.closes.view());
    artifact.add(Part::kLeastDepth, number, std::span<const std::int32_t>(least_depth));
}

Pushdown::Pushdown(std::shared_ptr<const LexingAutomaton> lexer_, const ArtifactReader& artifact,
                   std::int32_t number)
    : shared_lexer(std::move(lexer_)), lexer(*shared_lexer) {
    const auto given = artifact.array<Numbers>(Part::kMachine, number);
    require_artifact(given.size() == 1, "numbers of the parser");
    const auto& numbers = given[0];
    constexpr std::int32_t kMost = 1 << 28;
    for (const auto count : {numbers.num_states, numbers.num_terminals, numbers.num_nonterminals,
                             numbers.single, numbers.period, numbers.indent_len})
        require_artifact(count >= 0 && count < kMost, "sizes of the parser");
    require_artifact(
        numbers.period > 0 && (numbers.newline != -1 || (numbers.indent == -1 && numbers.dedent == -1)),
        "sizes of the parser");
    tables.num_states = numbers.num_states;
    tables.num_terminals = numbers.num_terminals;
    tables.num_nonterminals = numbers.num_nonterminals;
    start = {numbers.start_state, numbers.end_state};
    const auto states = static_cast<std::size_t>(numbers.num_states);
    tables.action = artifact.packed(Part::kAction, number,
                                    states * (static_cast<std::size_t>(numbers.num_terminals) + 1));
    tables.gotos = {artifact.array<std::int32_t>(Part::kGotoOffsets, number),
                    artifact.array<std::int32_t>(Part::kGotoNonterminals, number),
                    artifact.array<std::int32_t>(Part::kGotoTargets, number)};
    tables.lhs = artifact.array<std::int32_t>(Part::kLhs, number);
    tables.length = artifact.array<std::int32_t>(Part::kLength, number);
    tables.context = artifact.array<std::int32_t>(Part::kContext, number);
    layout.newline = numbers.newline;
    layout.indent = numbers.indent;
    layout.dedent = numbers.dedent;
    layout.indent_len = numbers.indent_len;
    layout.classes = {numbers.single, numbers.period};
    layout.in_parens = artifact.array<std::uint8_t>(Part::kInParens, number);
    layout.block = artifact.array<std::int32_t>(Part::kBlock, number);
    layout.opened = artifact.array<std::int32_t>(Part::kOpened, number);
    layout.closes = artifact.array<std::uint8_t>(Part::kCloses, number);
    require_artifact(tables.action.size() < kMost && tables.gotos.target.size() < kMost &&
                         layout.opened.size() < kMost && tables.lhs.size() < kMost,
                     "sizes of the parser");
    try {
        validate(lexer, tables, start, layout);
    } catch (const std::invalid_argument& error) {
        throw ArtifactDamage(std::string("the artifact is damaged: ") + error.what());
    }
    const auto depth = artifact.array<std::int32_t>(Part::kLeastDepth, number);
    require_artifact(all_within(tables.length.view(), 0, kMost), "a production's length");
    require_artifact(depth.size() == static_cast<std::size_t>(tables.num_states) &&
                         all_within(depth.view(), 0, std::int64_t{1} << 31) && stacks_hold(depth),
                     "a parser that would take more from its stack than there is");
}

}  // namespace pdacon
