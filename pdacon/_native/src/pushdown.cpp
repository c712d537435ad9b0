#include "pushdown.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pdacon {

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

void validate(const LexingAutomaton& lexer, const ParseTables& tables, const StartSymbol& start,
              const Layout& layout) {
    const auto states = static_cast<std::size_t>(tables.num_states);
    require(tables.num_states > 0 && tables.num_terminals >= 0 && tables.num_nonterminals > 0,
            "tables: empty");
    require(tables.num_terminals == lexer.end_label(), "tables: not the lexer's terminals");
    require(tables.action.size() == states * static_cast<std::size_t>(tables.num_terminals + 1),
            "tables: action has the wrong size");
    require(tables.go.size() == states * static_cast<std::size_t>(tables.num_nonterminals),
            "tables: goto has the wrong size");
    require(tables.lhs.size() == tables.length.size(), "tables: productions differ in length");
    require(tables.context.size() == states, "tables: context has the wrong size");
    const auto productions = static_cast<std::int32_t>(tables.lhs.size());
    for (const auto action : tables.action)
        require(action <= tables.num_states && action >= -productions, "tables: bad action");
    for (std::int32_t state = 0; state < tables.num_states; ++state)
        require(tables.action_of(state, tables.num_terminals) <= 0, "tables: a shift of the end");
    for (const auto next : tables.go) require(next >= -1 && next < tables.num_states, "tables: bad goto");
    for (const auto lhs : tables.lhs) require(lhs >= 0 && lhs < tables.num_nonterminals, "tables: bad lhs");
    for (const auto length : tables.length) require(length >= 0, "tables: bad length");
    for (const auto context : tables.context)
        require(context >= 0 && context < lexer.num_contexts(), "tables: bad context");
    if (layout.newline != -1) {
        for (const auto terminal : {layout.newline, layout.indent, layout.dedent})
            require(terminal >= 0 && terminal < tables.num_terminals, "tables: bad terminal of the layout");
        require(layout.indent_len >= 0 && layout.indent_len <= Column::kMost, "tables: bad width of blocks");
        require(layout.in_parens.size() == states, "tables: in_parens has the wrong size");
        const auto& classes = layout.classes;
        require(classes.single >= 0 && classes.period > 0 && classes.count() > 0,
                "tables: bad classes of columns");
        require(layout.block.size() == states, "tables: block has the wrong size");
        require(layout.opened.size() == states * static_cast<std::size_t>(classes.count()),
                "tables: opened has the wrong size");
        for (const auto block : layout.block)
            require(block >= 0 && block < classes.count(), "tables: bad class of a column");
        require(
            layout.block[static_cast<std::size_t>(start.start_state)] == classes.least(Column::at(0)).value,
            "tables: the text does not begin in the first column");
        for (std::int32_t state = 0; state < tables.num_states; ++state) {
            if (tables.action_of(state, layout.indent) <= 0) continue;
            const auto row = static_cast<std::size_t>(state) * static_cast<std::size_t>(classes.count());
            const auto outer = layout.block[static_cast<std::size_t>(state)];
            for (std::int32_t column = 0; column < classes.count(); ++column) {
                const auto next = layout.opened[row + static_cast<std::size_t>(column)];
                require(
                    next >= -1 && next < tables.num_states && (next >= 0) == layout.may_open(outer, column),
                    "tables: bad state in a new block");
            }
        }
        require(lexer.is_line_break(lexer.byte_class('\n')), "tables: the lexer keeps no columns");
    }
    for (const auto state : {start.start_state, start.end_state})
        require(state >= 0 && state < tables.num_states, "tables: bad start or end state");
}

}  // namespace

Pushdown::Pushdown(std::shared_ptr<const LexingAutomaton> lexer_, ParseTables tables_, StartSymbol start_,
                   Layout layout_)
    : shared_lexer(std::move(lexer_)),
      lexer(*shared_lexer),
      tables(std::move(tables_)),
      start(start_),
      layout(std::move(layout_)) {
    validate(lexer, tables, start, layout);
    check_reduces(connect());
}

std::vector<std::int32_t> Pushdown::shifted(std::int32_t state, std::int32_t terminal) const {
    const auto action = tables.action_of(state, terminal);
    if (action <= 0) return {};
    if (terminal != layout.indent) return {action - 1};
    std::vector<std::int32_t> found;
    for (std::int32_t column = 0; column < layout.classes.count(); ++column)
        if (const auto next = opened(state, column); next >= 0) found.push_back(next);
    return found;
}

// Breadth first from the start state; returns how many transitions lead to each state, -1: none do. Other
// start symbols' states stay out, so that what is dead there does not count against this one.
std::vector<std::int32_t> Pushdown::connect() {
    predecessors.resize(static_cast<std::size_t>(tables.num_states));
    std::vector<std::int32_t> distance(predecessors.size(), -1), open{start.start_state};
    distance[static_cast<std::size_t>(start.start_state)] = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
        const auto state = open[i];
        const auto add = [&](std::int32_t to) {
            auto& into = predecessors[static_cast<std::size_t>(to)];
            if (into.empty() || into.back() != state) into.push_back(state);
            if (distance[static_cast<std::size_t>(to)] >= 0) return;
            distance[static_cast<std::size_t>(to)] = distance[static_cast<std::size_t>(state)] + 1;
            open.push_back(to);
        };
        for (std::int32_t terminal = 0; terminal < tables.num_terminals; ++terminal)
            for (const auto next : shifted(state, terminal)) add(next);
        for (std::int32_t nonterminal = 0; nonterminal < tables.num_nonterminals; ++nonterminal)
            if (const auto next = tables.goto_of(state, nonterminal); next >= 0) add(next);
    }
    for (auto& into : predecessors) std::sort(into.begin(), into.end());
    return distance;
}

// A stack is a path from the start state. No reduce pops more than the shortest such path, so none reaches
// below the start state; and nothing leads back to that, so it marks the bottom.
void Pushdown::check_reduces(const std::vector<std::int32_t>& distance) const {
    require(predecessors[static_cast<std::size_t>(start.start_state)].empty(),
            "tables: a transition leads to the start state");
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        const auto depth = distance[static_cast<std::size_t>(state)];
        for (std::int32_t terminal = 0; depth >= 0 && terminal <= tables.num_terminals; ++terminal) {
            const auto action = tables.action_of(state, terminal);
            require(action >= 0 || tables.length[static_cast<std::size_t>(-action - 1)] <= depth,
                    "tables: a reduce pops more than the stack holds");
        }
    }
}

}  // namespace pdacon
