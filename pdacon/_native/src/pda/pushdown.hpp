// Room `pda`: tables and lexing automaton to a pushdown automaton over byte classes.
//
// In: the arrays of both. Out: one step of it, on any kind of stack. It does not know tokens, nor which
// configurations lead on to a sentence.
//
// The deterministic pushdown automaton over byte classes: a lexing automaton whose commits drive LALR tables.
// A configuration is a lexer configuration and a stack of LR states, and, with an Indenter, the columns of
// the open blocks. Every function here is a template over the stack, so that the matcher (a persistent stack)
// and the mask computation (an overlay on a stack that is only read) run the same code.
//
// Invariants: no reduce pops more than a stack holds, which is checked when the tables come in; and no
// transition leads to the start state, so that it marks the bottom of the stack.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat.hpp"
#include "base/in_range.hpp"
#include "lexer/automaton.hpp"
#include "pda/empty_reduces.hpp"

namespace pdacon {

// The transitions on nonterminals, by LR state and then by nonterminal, both ascending. A dense table would
// be nearly empty: a state has few of them, and a grammar with many nonterminals has many states.
struct Gotos {
    Flat<std::int32_t> offset;       // [num_states + 1]
    Flat<std::int32_t> nonterminal;  // counted from 0
    Flat<std::int32_t> target;       // LR states

    struct Row {
        std::span<const std::int32_t> nonterminals, targets;
    };
    Row of(std::int32_t state) const {
        const auto at = in_range(state, offset.size() - 1);
        const auto begin = static_cast<std::size_t>(offset[at]);
        const auto count = static_cast<std::size_t>(offset[at + 1]) - begin;
        ensure(begin + count <= target.size());
        return {nonterminal.view().subspan(begin, count), target.view().subspan(begin, count)};
    }
    // The next state; -1: there is none. Binary search without branches that depend on what is found.
    std::int32_t of(std::int32_t state, std::int32_t wanted) const {
        const auto row = of(state);
        if (row.nonterminals.empty()) return -1;
        const auto* at = row.nonterminals.data();
        for (auto left = row.nonterminals.size(); left > 1;) {
            const auto half = left / 2;
            at += at[half - 1] < wanted ? half : 0;
            left -= half;
        }
        return *at == wanted ? row.targets[at - row.nonterminals.data()] : -1;
    }
};

// LALR(1) tables as Lark's parser reads them.
struct ParseTables {
    std::int32_t num_states = 0, num_terminals = 0, num_nonterminals = 0;
    // [num_states, num_terminals + 1]: 0 error, k > 0 shift to k - 1, k < 0 reduce -k - 1
    Packed action;
    Gotos gotos;
    Flat<std::int32_t> lhs;      // by production: its nonterminal, counted from 0
    Flat<std::int32_t> length;   // by production
    Flat<std::int32_t> context;  // by state: its lexical context
    // Whether no conflict was settled in them, so that they have the viable-prefix property. Artifacts do not
    // tell: they have what follows from it.
    bool are_without_conflicts = false;

    std::int32_t action_of(std::int32_t state, std::int32_t terminal) const {
        return action[in_matrix(state, static_cast<std::size_t>(num_states), terminal,
                                static_cast<std::size_t>(num_terminals) + 1)];
    }
    std::int32_t goto_of(std::int32_t state, std::int32_t nonterminal) const {
        return gotos.of(state, nonterminal);
    }
};

// Lark's Indenter: its terminals, which are -1 in a grammar without layout, and what each LR state knows of
// blocks.
struct Layout {
    std::int32_t newline = -1, indent = -1, dedent = -1;
    std::int32_t indent_len = 0;   // a block is so much further in than the one around it; 0: by any width
    Flat<std::uint8_t> in_parens;  // by LR state: whether the newline is skipped there
    ColumnClasses classes;
    Flat<std::int32_t> block;  // by LR state: the class of the innermost block's column
    Flat<std::int32_t>
        opened;  // [states, classes]: the state after an INDENT to a column of this class; -1: none
    Flat<std::uint8_t> closes;  // [num_terminals + 1]: before which labels all open blocks are closed

    // Whether all open blocks are closed before the parser gets a label: the end of the text, and what stands
    // after an indented part of it.
    bool closes_blocks(std::int32_t label) const {
        return newline >= 0 && std::cmp_less(label, closes.size()) && closes[label] != 0;
    }
    // Whether a line in column `inner` opens a block within one in column `outer`.
    bool opens(Column outer, Column inner) const {
        return indent_len == 0 ? inner.value > outer.value : inner.value - outer.value == indent_len;
    }
    // The same for classes: whether some of their columns do.
    bool may_open(std::int32_t outer, std::int32_t inner) const {
        if (indent_len > 0) return inner == classes.least(Column::at(outer).plus(indent_len)).value;
        return inner >= classes.single || inner > outer;
    }
    // In a block at this column, all columns of a class from here on are equivalent.
    std::int32_t equivalent_from(std::int32_t column) const { return column + 1 + indent_len; }
};

struct StartSymbol {
    std::int32_t start_state,
        end_state;  // a text is accepted when a reduce on $END leaves end_state on top
};

// The automaton of one start symbol of a grammar. Immutable, and shared by all matchers.
struct Pushdown {
    // Throws std::invalid_argument if the parts do not fit together.
    Pushdown(std::shared_ptr<const LexingAutomaton> lexer_, ParseTables tables_, StartSymbol start_,
             Layout layout_);
    // Loads what `save` has written, without `predecessors`. Throws ArtifactDamage.
    Pushdown(std::shared_ptr<const LexingAutomaton> lexer_, const ArtifactReader& artifact,
             std::int32_t number);
    void save(ArtifactWriter& artifact, std::int32_t number) const;
    // Computes `predecessors` where they are not known. Throws std::invalid_argument if a reduce may pop more
    // than a stack holds.
    void find_predecessors();

    std::shared_ptr<const LexingAutomaton> shared_lexer;
    const LexingAutomaton& lexer;
    ParseTables tables;
    StartSymbol start;
    Layout layout;
    // Whether a label is skipped in a state: the parser does not get to see it.
    bool is_skipped(std::int32_t label, std::int32_t state) const {
        return label == lexer.ignored_label() || (label == layout.newline && layout.in_parens[state] != 0);
    }
    // The class of the innermost block's column with this state on top.
    std::int32_t block(std::int32_t state) const { return layout.newline < 0 ? 0 : layout.block[state]; }
    // The state after the INDENT that a state shifts, if it opens a block in a column of this class; -1: no
    // such column opens one.
    std::int32_t opened(std::int32_t state, std::int32_t column) const {
        return layout.opened[in_matrix(state, static_cast<std::size_t>(tables.num_states), column,
                                       static_cast<std::size_t>(layout.classes.count()))];
    }
    // The states that a shift of a terminal can lead to: one, but for INDENT.
    std::vector<std::int32_t> shifted(std::int32_t state, std::int32_t terminal) const {
        if (tables.action_of(state, terminal) <= 0) return {};  // as for most terminals
        return shifts(state, terminal);
    }
    // By LR state: the states with a transition to it, ascending, among those that the start state reaches.
    // These are the states that can lie below it on a stack.
    std::vector<std::vector<std::int32_t>> predecessors;

  private:
    // As `shifted`, for a terminal that is.
    std::vector<std::int32_t> shifts(std::int32_t state, std::int32_t terminal) const;
    std::vector<std::int32_t> connect(std::vector<std::vector<std::int32_t>>& predecessors_of) const;
    void check_reduces(const std::vector<std::int32_t>& distance) const;
    bool stacks_hold(std::span<const std::int32_t> least_depth) const;
};

// After so many reduces a chain is no longer followed step by step, but by EmptyReduces.
constexpr int kPlainReduces = 256;

// The rest of a long chain of reduces, and the shift: as `feed`. Between two pops no step is made twice on
// the same state. Cost: O(depth of the stack x nonterminals).
template <class Stack>
bool feed_on(const Pushdown& machine, Stack& stack, std::int32_t terminal) {
    using Kind = EmptyReduces::Outcome::Kind;
    const auto& tables = machine.tables;
    EmptyReduces reduces(machine, terminal);
    for (std::int32_t in_place = 0;;) {  // reduces in a row that popped one state each
        const auto found = reduces.of(stack.top());
        if (found.kind == Kind::kShifts) {
            for (auto above = found.state; above >= 0; above = reduces.of(above).state) stack.push(above);
            stack.push(tables.action_of(stack.top(), terminal) - 1);
            return true;
        }
        if (found.kind != Kind::kPops) return found.kind == Kind::kAccepts;
        in_place = found.length == 1 ? in_place + 1 : 0;
        if (in_place > tables.num_nonterminals + 1) return false;  // they go round for ever
        stack.pop(found.length);
        const auto next = tables.goto_of(stack.top(), found.lhs);
        if (next < 0) return false;
        stack.push(next);
        if (terminal == tables.num_terminals && next == machine.start.end_state) return true;
    }
}

// Runs the reduce chain that `terminal` calls for, then shifts it. Returns false at an error, and where the
// chain never ends, so that Lark's parser would never come back from it; the stack is of no use then. For
// $END it returns whether the text is accepted.
template <class Stack>
bool feed(const Pushdown& machine, Stack& stack, std::int32_t terminal) {
    const auto& tables = machine.tables;
    for (int reduces = 0; reduces < kPlainReduces; ++reduces) {
        const auto action = tables.action_of(stack.top(), terminal);
        if (action > 0) {
            stack.push(action - 1);
            return true;
        }
        if (action == 0) return false;
        const auto production = static_cast<std::size_t>(-action - 1);
        stack.pop(tables.length[production]);
        const auto next = tables.goto_of(stack.top(), tables.lhs[production]);
        if (next < 0) return false;
        stack.push(next);
        if (terminal == tables.num_terminals && next == machine.start.end_state) return true;
    }
    return feed_on(machine, stack, terminal);
}

// Feeds an INDENT that opens a block in a column of this class.
template <class Stack>
bool feed_indent(const Pushdown& machine, Stack& stack, std::int32_t column) {
    if (!feed(machine, stack, machine.layout.indent)) return false;
    stack.pop(1);
    const auto opened = machine.opened(stack.top(), column);
    if (opened >= 0) stack.push(opened);
    return opened >= 0;
}

// Feeds what a newline's column makes of it. A column further in than the innermost block opens a block; else
// all blocks that are further in than it are closed, and it must be the column of the one that is left.
template <class Stack>
bool feed_column(const Pushdown& machine, Stack& stack, Column column) {
    const auto current = stack.column();
    if (!column.known()) return false;
    if (column.value > current) {
        if (!machine.layout.opens(Column::at(current), column)) return false;
        stack.open_block(column.value);
        return feed_indent(machine, stack, machine.layout.classes.least(column).value);
    }
    while (column.value < stack.column()) {
        stack.close_block();
        if (!feed(machine, stack, machine.layout.dedent)) return false;
    }
    return column.value == stack.column();
}

// Closes all open blocks. Where the parser takes no DEDENT, none is open, or what follows is an error anyway:
// on a stack with open blocks the tables have no way to what comes after them.
template <class Stack>
bool close_blocks(const Pushdown& machine, Stack& stack) {
    if (machine.tables.action_of(stack.top(), machine.layout.dedent) == 0) return true;
    while (stack.in_block()) {
        stack.close_block();
        if (!feed(machine, stack, machine.layout.dedent)) return false;
    }
    return true;
}

// Feeds a committed label, or the end of the text; with a newline also the blocks that its column opens or
// closes, and before what ends an indented part all DEDENTs that are left. A label that is skipped changes
// nothing.
template <class Stack>
bool feed_label(const Pushdown& machine, Stack& stack, std::int32_t label, Column column) {
    if (label == machine.lexer.ignored_label()) return true;
    if (machine.layout.closes_blocks(label) && !close_blocks(machine, stack)) return false;
    if (label != machine.layout.newline) return feed(machine, stack, label);
    if (machine.is_skipped(label, stack.top())) return true;
    return feed(machine, stack, label) && feed_column(machine, stack, column);
}

// The lexer configuration at the start of the next lexeme, given the look-behind state; state kDead where
// none can start.
template <class Stack>
LexerConfiguration boundary(const Pushdown& machine, Stack& stack, std::int32_t look_behind) {
    return {machine.lexer.entry(machine.tables.context[stack.top()], look_behind), {}, {}};
}

// Reads byte classes from the back of `pending`, to which commits add what they push back. Returns false
// where the text is no viable prefix; the lexer configuration and the stack are of no use then.
template <class Stack>
bool read(const Pushdown& machine, Stack& stack, LexerConfiguration& lexing,
          std::vector<std::int32_t>& pending) {
    while (!pending.empty()) {
        const auto byte_class = pending.back();
        const auto next = machine.lexer.next(lexing.state, byte_class);
        pending.pop_back();
        if (next >= 0) {
            machine.lexer.move(lexing, next, byte_class);
            continue;
        }
        if (next == LexingAutomaton::kDead) return false;
        const auto& commit = machine.lexer.commit(next);
        const auto column = machine.lexer.committed_column(commit, lexing, byte_class);
        if (!feed_label(machine, stack, commit.label, column)) return false;
        lexing = boundary(machine, stack, commit.look_behind);
        if (lexing.state < 0) return false;
        const auto word = machine.lexer.pushback(commit.pushback);
        pending.insert(pending.end(), word.rbegin(), word.rend());
    }
    return true;
}

// Whether the text may end here. The stack is of no use afterwards.
template <class Stack>
bool ends(const Pushdown& machine, Stack& stack, LexerConfiguration lexing) {
    std::vector<std::int32_t> pending;
    for (;;) {
        const auto end = machine.lexer.at_end(lexing.state);
        if (end == LexingAutomaton::kBoundary)
            return feed_label(machine, stack, machine.lexer.end_label(), {});
        if (end == LexingAutomaton::kDead) return false;
        const auto& commit = machine.lexer.commit(end);
        if (!feed_label(machine, stack, commit.label, lexing.matched)) return false;
        lexing = boundary(machine, stack, commit.look_behind);
        if (lexing.state < 0) return false;
        const auto word = machine.lexer.pushback(commit.pushback);
        pending.assign(word.rbegin(), word.rend());
        if (!read(machine, stack, lexing, pending)) return false;
    }
}

}  // namespace pdacon
