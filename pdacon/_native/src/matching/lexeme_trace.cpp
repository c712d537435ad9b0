#include "matching/lexeme_trace.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/interner.hpp"
#include "pda/stack.hpp"

namespace pdacon {

namespace {

// The symbol of the transition from one LR state to another.
std::int32_t symbol_between(const Pushdown& machine, std::int32_t below, std::int32_t state) {
    const auto& tables = machine.tables;
    for (std::int32_t terminal = 0; terminal < tables.num_terminals; ++terminal)
        if (tables.action_of(below, terminal) == state + 1) return terminal;
    const auto [nonterminals, targets] = tables.gotos.of(below);
    for (std::size_t at = 0; at < targets.size(); ++at)
        if (targets[at] == state) return tables.num_terminals + 1 + nonterminals[at];
    return machine.layout.indent;  // whose target is a state for each class of columns
}

void describe(const Pushdown& machine, const PersistentStack& stack, LexemeTrace& trace) {
    Interner known;
    std::vector<std::int32_t> symbols;
    const auto [top, innermost] = stack.view();
    for (const auto* node = top; node->below != nullptr; node = node->below) {
        const std::array key{node->below->state, node->state};
        const auto id = static_cast<std::size_t>(known.intern(key));
        if (id == symbols.size()) symbols.push_back(symbol_between(machine, key[0], key[1]));
        trace.symbols.push_back(symbols[id]);
    }
    for (const auto* block = innermost; block != nullptr; block = block->around)
        trace.columns.push_back(block->column);
    std::ranges::reverse(trace.symbols);
    std::ranges::reverse(trace.columns);
}

}  // namespace

// Bytes that a commit pushes back are read again from the text, as the header says.
LexemeTrace trace_lexemes(const Pushdown& machine, std::string_view text, std::size_t since,
                          std::int64_t most) {
    const auto& lexer = machine.lexer;
    LexemeTrace trace;
    PersistentStack stack(machine.start.start_state);
    auto lexing = boundary(machine, stack, 0);
    std::size_t read = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto byte_class = lexer.byte_class(static_cast<std::uint8_t>(text[at]));
        const auto next = lexing.state < 0 ? LexingAutomaton::kDead : lexer.next(lexing.state, byte_class);
        read = std::max(read, ++at);
        if (next >= 0) {
            lexer.move(lexing, next, byte_class);
            continue;
        }
        if (next == LexingAutomaton::kDead) throw std::invalid_argument("trace: the text is not viable");
        const auto& commit = lexer.commit(next);
        const bool dropped = machine.is_skipped(commit.label, stack.top());
        const auto column = lexer.committed_column(commit, lexing, byte_class);
        if (!feed_label(machine, stack, commit.label, column))
            throw std::invalid_argument("trace: the text is not viable");
        lexing = boundary(machine, stack, commit.look_behind);
        const auto begin = trace.begin;
        trace.begin =
            static_cast<std::int64_t>(at) - static_cast<std::int64_t>(lexer.pushback(commit.pushback).size());
        if (trace.begin <= begin) throw std::invalid_argument("trace: a lexeme without a text");
        at = static_cast<std::size_t>(trace.begin);
        if (read <= since) continue;
        ++trace.count;
        if (most == 0) continue;
        trace.lexemes.push_back({commit.label, begin, trace.begin, dropped});
        if (most > 0 && static_cast<std::int64_t>(trace.lexemes.size()) > most) trace.lexemes.pop_front();
    }
    describe(machine, stack, trace);
    return trace;
}

}  // namespace pdacon
