"""Operators that are read as the beginning of the word after them, where the parser does not take that word.

In: tables and lexing automaton. Out: findings PDA023. In ``1-2`` the lexer reads ``-2`` if a signed number is looked
for after ``1``, because some other rule goes on so, and the sum that was meant is a syntax error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pdacon.base.bit_sets import members
from pdacon.base.quoting import quote
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import Examples
from pdacon.determinism.language.follow_sets import FollowSets
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.determinism.report.listing import listed
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables
from pdacon.pda import Configuration, Machine, Stack

_WORD = re.compile(rb"[0-9A-Za-z_]")
_FEW = 6
_SIGNED = frozenset({"SIGNED_INT", "SIGNED_FLOAT", "SIGNED_NUMBER"})


@dataclass(frozen=True, slots=True)
class _Pair:
    """An operator and a terminal after it, with a text of each, and the terminal that the lexer reads both as."""

    operator: int
    operand: int
    operator_text: bytes
    operand_text: bytes
    word: int


@dataclass(frozen=True, slots=True)
class _Loss:
    """A pair, the terminals before it, a text of these, and a blank that parts the pair; ``b""`` if none does."""

    pair: _Pair
    way: tuple[int, ...]
    text: bytes
    blank: bytes


def swallowed_findings(tables: Tables, texts: WitnessTexts, examples: Examples, deadline: Deadline) -> list[Finding]:
    """PDA023: a note for each terminal that takes operators before it, with which a text of the rules is refused.

    Never a false alarm: the text is read byte by byte, and a blank after the operator is named only if it helps.
    Only shortest texts of terminals are tried, and the shortest way to each LR state that shifts the operator. A string
    that takes an operator, such as ``"--"``, is left alone: longest match is what its author knows of.

    Cost: one reading of a short text for each context and pair of terminals, where the lexer goes on after the
    operator; then one walk through the tables for each state that shifts an operator of which this is so.
    """
    losses: dict[int, dict[int, _Loss]] = {}
    for loss in _losses(tables, texts, examples, deadline):
        losses.setdefault(loss.pair.word, {}).setdefault(loss.pair.operator, loss)
    return [_finding(texts, [found[k] for k in sorted(found)]) for _, found in sorted(losses.items())]


def _losses(tables: Tables, texts: WitnessTexts, examples: Examples, deadline: Deadline) -> Iterator[_Loss]:
    pairs = _pairs(texts, deadline)
    if not pairs:
        return
    machine = Machine(texts.grammar, tables)
    contexts = texts.lexer.context_of_state
    for operator in sorted({pair.operator for found in pairs.values() for pair in found}):
        for state in np.flatnonzero(tables.action[:, operator] > 0).tolist():
            deadline.require()
            way = examples.way(state)
            for start, stack in _stacks(machine, way or ()):
                for pair in pairs.get(int(contexts[stack.state]), ()):
                    shifted = machine.shift(stack, operator) if pair.operator == operator else None
                    if (
                        shifted is None
                        or machine.shift(shifted, pair.operand) is None
                        or machine.shift(stack, pair.word)
                    ):
                        continue
                    if (loss := _loss(machine, texts, pair, way or (), start, stack, shifted)) is not None:
                        yield loss


def _pairs(texts: WitnessTexts, deadline: Deadline) -> dict[int, list[_Pair]]:
    """For each context the operators that a pattern takes together with a word that the rules put after them."""
    grammar = texts.grammar
    follow = FollowSets(grammar)
    shortest = {k: text for k in range(grammar.end) if k not in grammar.ignore and (text := texts.shortest(k))}
    words = {k: text for k, text in shortest.items() if _WORD.match(text)}
    operators = {k: text for k, text in shortest.items() if not _WORD.match(text[-1:]) and not text[-1:].isspace()}
    found: dict[int, list[_Pair]] = {}
    for context in texts.entered:
        deadline.require()
        looked_for = sorted(texts.looked_for(context))
        patterns = [k for k in looked_for if k not in grammar.ignore and _is_pattern(grammar, k)]
        for operator in (k for k in looked_for if patterns and k in operators):
            before = operators[operator]
            state = texts.within(context, before)
            for operand in members(follow.after(operator)) if state >= 0 else ():
                if operand not in words or not texts.goes_on(state, words[operand][0]):
                    continue
                text = before + words[operand]
                found.setdefault(context, []).extend(
                    _Pair(operator, operand, before, words[operand], word)
                    for word in patterns
                    if word != operator and texts.always_reads(context, text, word, len(text))
                )
    return found


def _is_pattern(grammar: GrammarData, terminal: int) -> bool:
    pattern = grammar.terminals[terminal].pattern
    return pattern is not None and pattern.kind == "re"


def _stacks(machine: Machine, way: Sequence[int]) -> Iterator[tuple[int, Stack]]:
    """For each start that takes some terminals, the parser's stack after them."""
    for start, state in enumerate(machine.start_states):
        stack: Stack | None = Stack(state)
        for terminal in way:
            stack = None if stack is None else machine.shift(stack, terminal)
        if stack is not None and way:
            yield start, stack


def _loss(
    machine: Machine, texts: WitnessTexts, pair: _Pair, way: tuple[int, ...], start: int, stack: Stack, shifted: Stack
) -> _Loss | None:
    """The pair after these terminals as a text, if that is read so far and the word is refused there."""
    pieces = [text for terminal in way if (text := texts.shortest(terminal)) is not None]
    blank = texts.blank or b""
    for gap in dict.fromkeys([b"", blank]):
        before = Configuration.initial(machine, start).read(gap.join(pieces))
        if len(pieces) == len(way) and before is not None and _is_refused(before, pair, stack):
            return _Loss(pair, way, gap.join(pieces), blank if _parts(blank, before, pair, shifted) else b"")
    return None


def _is_refused(before: Configuration, pair: _Pair, stack: Stack) -> bool:
    """Whether the pair is read as the word, and the parser, whose stack is this one, does not take that."""
    text = pair.operator_text + pair.operand_text
    last = before.read(text[:-1])
    return (
        last is not None
        and (last.stack, last.length) == (stack, len(text) - 1)
        and last.match(text[-1]) == pair.word
        and not last.takes(pair.word)
    )


def _parts(blank: bytes, before: Configuration, pair: _Pair, shifted: Stack) -> bool:
    """Whether the pair is read as the operator, which leads to this stack, and the operand, with a blank between."""
    after = before.read(pair.operator_text + blank + pair.operand_text)
    is_operand = after is not None and (after.stack, after.length) == (shifted, len(pair.operand_text))
    return bool(blank) and is_operand and after is not None and after.read(blank) is not None


def _finding(texts: WitnessTexts, losses: Sequence[_Loss]) -> Finding:
    grammar, describe = texts.grammar, texts.grammar.describe_symbol
    loss = losses[0]
    pair = loss.pair
    both = pair.operator_text + pair.operand_text
    text = loss.text + both
    word, operators = describe(pair.word), listed((describe(one.pair.operator) for one in losses), _FEW)
    lines = [
        f"In {quote(text)} the lexer reads {quote(both)} as one {word}, because that may come in "
        f"other places. Here the parser does not take it: the rules go on with {describe(pair.operator)}."
    ]
    if loss.blank:
        parted = loss.text + pair.operator_text + loss.blank + pair.operand_text
        lines.append(f"{quote(parted)}, with a blank after the operator, is read as the rules mean it.")
    return Finding(
        id="PDA023",
        level="note",
        title=f"{TITLES['PDA023']}: {operators} of {word}",
        message="\n".join(lines),
        span=grammar.terminals[pair.word].span,
        symbols=(*(grammar.terminals[one.pair.operator].name for one in losses), grammar.terminals[pair.word].name),
        witness=Witness(
            (*map(describe, loss.way), describe(pair.operator), describe(pair.operand)), len(loss.way), text
        ),
        repair=f"let {word} begin without {operators}, and have the rules say where that may stand, such as "
        f"{_optional([describe(one.pair.operator) for one in losses])} {_unsigned(grammar, pair.word)}",
    )


def _unsigned(grammar: GrammarData, terminal: int) -> str:
    """What to write in place of a terminal: of Lark's own numbers there are such without a sign."""
    name = grammar.terminals[terminal].name
    return f"{name.removeprefix('SIGNED_')} instead of {name}" if name in _SIGNED else grammar.describe_symbol(terminal)


def _optional(names: Sequence[str]) -> str:
    return f"{names[0]}?" if len(names) == 1 else f"({' | '.join(names)})?"
