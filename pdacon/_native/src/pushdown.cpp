#include "pushdown.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pdacon {

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

void validate(const LexingAutomaton& lexer, const ParseTables& tables, const StartSymbol& start) {
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
    for (const auto next : tables.go) require(next >= -1 && next < tables.num_states, "tables: bad goto");
    for (const auto lhs : tables.lhs) require(lhs >= 0 && lhs < tables.num_nonterminals, "tables: bad lhs");
    for (const auto length : tables.length) require(length >= 0, "tables: bad length");
    for (const auto context : tables.context)
        require(context >= 0 && static_cast<std::size_t>(context) < lexer.num_contexts(),
                "tables: bad context");
    for (const auto state : {start.start_state, start.end_state})
        require(state >= 0 && state < tables.num_states, "tables: bad start or end state");
}

}  // namespace

Pushdown::Pushdown(std::shared_ptr<const LexingAutomaton> lexer_, ParseTables tables_, StartSymbol start_)
    : shared_lexer(std::move(lexer_)), lexer(*shared_lexer), tables(std::move(tables_)), start(start_) {
    validate(lexer, tables, start);
    predecessors.resize(static_cast<std::size_t>(tables.num_states));
    const auto add = [&](std::int32_t from, std::int32_t to) {
        auto& into = predecessors[static_cast<std::size_t>(to)];
        if (into.empty() || into.back() != from) into.push_back(from);
    };
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        for (std::int32_t terminal = 0; terminal < tables.num_terminals; ++terminal)
            if (const auto action = tables.action_of(state, terminal); action > 0) add(state, action - 1);
        for (std::int32_t nonterminal = 0; nonterminal < tables.num_nonterminals; ++nonterminal)
            if (const auto next = tables.goto_of(state, nonterminal); next >= 0) add(state, next);
    }
}

}  // namespace pdacon
