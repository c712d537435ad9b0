"""Indentation and the parser's stack: is every block and every parenthesis closed where it was opened, and which LR
states are inside parentheses?

A pushdown automaton has one stack. Lark's ``Indenter`` keeps two things beside it, the columns of the open blocks and
the number of open parentheses. Their depths are functions of the parser's stack if each symbol on it always counts the
same, whatever it was reduced from: nothing, where every production closes what it opens, as in most grammars; or one,
in a grammar that has a rule of its own for INDENT. `find_imbalances` says where this fails.

Whether a newline counts has to be readable from the top of the stack. LALR merges what comes inside and outside of
parentheses into one state, so that the states are split: a copy stands for an LR state and a number of open
parentheses, counted up to one more than the rules that are at work in the state will close. That is all of the number
that matters: it says whether the newline counts here, and, when these are closed, whether it counts then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from pdacon.base.bit_sets import members
from pdacon.base.limits import LARGE, Limits
from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.grammar import GrammarData, Span
from pdacon.lalr.gotos import Gotos
from pdacon.lalr.tables import Tables


@dataclass(frozen=True, slots=True)
class Imbalance:
    """A production that does not close what it opens, or closes what it has not opened, and nothing makes up for it.

    Attributes
    ----------
    what : {"blocks", "parentheses"}
    rule : str
        The author's rule.
    opens, closes : tuple of str
        Names of the terminals that open and close: those of the production, or all there are.
    excess : int
        How many more it opens than it closes; 0 if only their order is wrong.
    message, advice : str
        One line that says so, and one that says what to write instead.
    span : Span or None
        The alternative in the source.
    """

    what: str
    rule: str
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    excess: int
    message: str
    advice: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Levels:
    """What each symbol does to a level, such as the number of open parentheses."""

    net: list[int]  # What it adds in all; each text that a nonterminal derives adds the same
    low: list[int]  # How far below its beginning the level gets within it, at most: 0 or less

    def lowest(self, symbols: Sequence[int]) -> int:
        """How far below its beginning the level gets within a sequence; 0 or less."""
        level = lowest = 0
        for symbol in symbols:
            lowest = min(lowest, level + self.low[symbol])
            level += self.net[symbol]
        return lowest


def find_imbalances(grammar: GrammarData) -> list[Imbalance]:
    """The productions because of which indentation cannot be followed; none for a grammar without layout.

    Parentheses may be left open at the end of a text, unless another one goes on around it. Blocks may not: there Lark
    closes them all.

    Cost: linear in the grammar where each production is balanced in itself; else up to the number of nonterminals
    times that.
    """
    return _imbalances(grammar, levels_of(grammar, _parentheses(grammar)))


def _imbalances(grammar: GrammarData, parentheses: Levels | None) -> list[Imbalance]:
    """The same, with what is known of parentheses."""
    if grammar.layout is None:
        return []
    blocks = {grammar.layout.indent: 1, grammar.layout.dedent: -1}
    found = []
    for what, effect, levels in (
        ("blocks", blocks, levels_of(grammar, blocks)),
        ("parentheses", _parentheses(grammar), parentheses),
    ):
        closed = what == "blocks" or bool(grammar.layout.closers)
        if levels is None or (closed and any(levels.net[start] for start in grammar.starts)):
            alone = [(k, [effect.get(symbol, 0) for symbol in p.rhs]) for k, p in enumerate(grammar.productions)]
            depths = [(k, list(accumulate(effects))) for k, effects in alone if any(effects)]
            found += [
                _imbalance(grammar, k, what, effect, depth[-1]) for k, depth in depths if depth[-1] or min(depth) < 0
            ]
    return found


def split_parentheses(grammar: GrammarData, tables: Tables, limits: Limits = LARGE) -> Tables:
    """Tables whose states know whether they are inside parentheses, where a newline counts for nothing.

    Parameters
    ----------
    tables : Tables
        ``build_tables(grammar)``.
    limits : Limits
        Most states.

    Returns
    -------
    Tables
        The given states, outside parentheses where they can be, keep their numbers; ``origin`` says which state each
        further one is a copy of, ``in_parens`` where newlines are dropped. Rows are those of the origins, but that
        shifts and gotos lead to the copy with the right number of parentheses. The conflicts are the given ones.

    Raises
    ------
    UnsupportedGrammarError
        A production is not balanced; the first one that `find_imbalances` finds.
    LimitExceededError
        "states".

    Notes
    -----
    Cost: linear in the result; lark's python.lark (796 states become 1,105) 6 ms. A rule that opens n parentheses
    itself before it closes one makes up to n + 1 copies of the states in it.
    """
    if grammar.layout is None:
        return tables
    effect = _parentheses(grammar)
    levels = levels_of(grammar, effect)
    imbalance = next(iter(_imbalances(grammar, levels)), None)
    if imbalance is not None:
        raise UnsupportedGrammarError(imbalance.message, imbalance.span, "postlex", imbalance.advice)
    if not effect or levels is None:
        return tables
    entered = np.where(tables.accessing < 0, 0, np.array(levels.net, np.int64)[tables.accessing])
    most = most_counted(tables, levels)
    reached = _reached(tables, entered.tolist(), most.tolist())
    return _copies(tables, entered, most, reached, limits.states)


def open_parentheses(grammar: GrammarData, symbols: Iterable[int]) -> int:
    """How many parentheses are open where these symbols are on the stack; 0 if a grammar has none that count."""
    effect = _parentheses(grammar)
    levels = levels_of(grammar, effect) if effect else None
    return 0 if levels is None else sum(map(levels.net.__getitem__, symbols))


def _parentheses(grammar: GrammarData) -> dict[int, int]:
    if grammar.layout is None:
        return {}
    return {**dict.fromkeys(grammar.layout.opens, 1), **dict.fromkeys(grammar.layout.closes, -1)}


def _imbalance(grammar: GrammarData, index: int, what: str, effect: Mapping[int, int], excess: int) -> Imbalance:
    production = grammar.productions[index]

    def names(sign: int) -> tuple[str, ...]:
        own = sorted({grammar.describe_symbol(symbol) for symbol in production.rhs if effect.get(symbol) == sign})
        return tuple(own or sorted(grammar.describe_symbol(symbol) for symbol, e in effect.items() if e == sign))

    opens, closes = names(1), names(-1)
    if excess > 0:
        fault = f"opens {what} ({', '.join(opens)}) that it does not close"
        advice = f"write {' or '.join(closes) or 'what closes them'} into the same alternative"
    elif excess < 0:
        fault = f"closes {what} ({', '.join(closes)}) that it does not open"
        advice = f"write {' or '.join(opens) or 'what opens them'} into the same alternative"
    else:
        fault, advice = f"closes {what} ({', '.join(closes)}) before it opens them", "open them first"
    message = (
        f"rule {production.rule}: this alternative {fault}, so that indentation does not follow from the parser's "
        f"stack: {grammar.describe_production(index)}"
    )
    return Imbalance(what, production.rule, opens, closes, excess, message, advice, production.span)


def levels_of(grammar: GrammarData, effect: Mapping[int, int]) -> Levels | None:
    """None if a nonterminal derives texts of different effect, or a text can close what it has not opened.

    Cost: linear in the grammar, and for the lowest levels up to the number of nonterminals times the rules that count.
    """
    count = grammar.end + 1 + len(grammar.nonterminals)
    levels = Levels([0] * count, [0] * count)
    for symbol, gain in effect.items():
        levels.net[symbol], levels.low[symbol] = gain, min(0, gain)
    rules = [(p.lhs, p.rhs) for p in grammar.productions]
    touched = [rhs for _, rhs in rules if not effect.keys().isdisjoint(rhs)]
    if all(levels.lowest(rhs) == 0 == sum(levels.net[symbol] for symbol in rhs) for rhs in touched):
        return levels
    uses: list[list[int]] = [[] for _ in range(count)]  # Of each symbol: the rules that have it.
    for index, (_, rhs) in enumerate(rules):
        for symbol in set(rhs):
            uses[symbol].append(index)
    _find_net(levels, rules, uses, range(grammar.end))
    if any(levels.net[lhs] != sum(levels.net[symbol] for symbol in rhs) for lhs, rhs in rules):
        return None
    changed = [symbol for symbol in range(count) if levels.net[symbol] or levels.low[symbol]]
    for _ in range(len(grammar.nonterminals) + 1):
        affected = [rules[index] for index in {index for symbol in changed for index in uses[symbol]}]
        lower: dict[int, int] = {}
        for lhs, rhs in affected:
            lower[lhs] = min(lower.get(lhs, levels.low[lhs]), levels.lowest(rhs))
        changed = [lhs for lhs, low in lower.items() if low < levels.low[lhs]]
        if not changed:
            return levels if all(levels.low[start] == 0 for start in grammar.starts) else None
        for lhs in changed:
            levels.low[lhs] = lower[lhs]
    return None


def _find_net(
    levels: Levels,
    rules: Sequence[tuple[int, tuple[int, ...]]],
    uses: Sequence[Sequence[int]],
    terminals: Iterable[int],
) -> None:
    """What each nonterminal adds, by the first of its rules of whose symbols that is known."""
    missing = [len(set(rhs)) for _, rhs in rules]
    ready = [index for index, symbols in enumerate(missing) if symbols == 0]
    known = set(terminals)
    newly = list(known)
    while newly or ready:
        for symbol in newly:
            for index in uses[symbol]:
                missing[index] -= 1
                if missing[index] == 0:
                    ready.append(index)
        newly = []
        for lhs, rhs in map(rules.__getitem__, ready):
            if lhs not in known:
                known.add(lhs)
                newly.append(lhs)
                levels.net[lhs] = sum(levels.net[symbol] for symbol in rhs)
        ready = []


def most_counted(tables: Tables, levels: Levels) -> NDArray[np.int64]:
    """For each state: 1 + the most parentheses or blocks that the rest of a rule at work in it closes for others."""
    first = [0, *accumulate(len(rhs) + 1 for _, rhs in tables._rules.all)]
    behind = np.zeros(first[-1], np.int64)  # For each rule and dot; the augmented rules close nothing.
    for index, (_, rhs) in enumerate(tables._rules.all):
        lowest = 0
        for dot in range(len(rhs) - 1, -1, -1):
            symbol = rhs[dot]
            lowest = min(levels.low[symbol], levels.net[symbol] + lowest)
            behind[first[index] + dot] = -lowest
    offset, production, dots = tables._kernels
    state = np.repeat(np.arange(tables.num_states), np.diff(offset))
    most = np.zeros(tables.num_states, np.int64)
    np.maximum.at(most, state, behind[np.array(first)[production] + dots])
    return most + 1


def _reached(tables: Tables, entered: list[int], most: list[int]) -> list[int]:
    """For each state the numbers of parentheses with which it comes, as bits."""
    shifts = tables.action > 0
    source = np.concatenate([np.nonzero(shifts)[0], tables.goto.source()])
    target = np.concatenate([tables.action[shifts] - 1, tables.goto.target])
    order = np.argsort(source, kind="stable")
    ends = np.searchsorted(source[order], np.arange(tables.num_states + 1)).tolist()
    following = target[order].tolist()
    reached = [0] * tables.num_states
    for start in tables.start_states:
        reached[start] = 1
    pending = list(dict.fromkeys(tables.start_states))
    while pending:
        state = pending.pop()
        counts = reached[state]
        for next_state in following[ends[state] : ends[state + 1]]:
            # No bit falls off below: nothing is closed that was not opened.
            gain = entered[next_state]
            moved = counts << gain if gain >= 0 else counts >> -gain
            top = 1 << most[next_state]
            if moved >= 2 * top:
                moved = (moved & (top - 1)) | top
            if moved & ~reached[next_state]:
                reached[next_state] |= moved
                pending.append(next_state)
    return reached


def _copies(
    tables: Tables, entered: NDArray[np.int64], most: NDArray[np.int64], reached: Iterable[int], max_states: int
) -> Tables:
    """One state for each state and number of parentheses; the least number of each state comes in its place."""
    pairs = [(state, count) for state, bits in enumerate(reached) for count in members(bits)]
    if max_states and len(pairs) > max_states:
        raise LimitExceededError("states", len(pairs), max_states)
    first = np.unique([state for state, _ in pairs], return_index=True)[1]
    further = np.setdiff1d(np.arange(len(pairs)), first)
    origin, parens = np.array(pairs, np.int64)[np.concatenate([first, further])].T
    width = int(most.max()) + 1
    keys = origin * width + parens
    by_key = np.argsort(keys)

    def led(targets: NDArray[np.int32], source: NDArray[np.int64]) -> NDArray[np.int64]:
        count = parens[source] + entered[targets]
        wanted = targets * width + np.minimum(count, most[targets])
        moved: NDArray[np.int64] = by_key[np.searchsorted(keys, wanted, sorter=by_key)]
        return moved

    action = tables.action[origin]
    shifts = action > 0
    action[shifts] = led(action[shifts] - 1, np.nonzero(shifts)[0]) + 1
    offset, production, dot = tables._kernels
    items, of_items = _rows(offset, origin)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(of_items, minlength=len(origin)))]).astype(np.int32)
    gotos, of_gotos = _rows(tables.goto.offset, origin)
    targets = led(tables.goto.target[gotos], of_gotos)
    in_parens, origin = parens > 0, origin.astype(np.int32)
    for array in (action, in_parens, origin):
        array.flags.writeable = False
    return replace(
        tables,
        action=action,
        goto=Gotos.by_source(
            of_gotos, tables.goto.nonterminal[gotos], targets, len(origin), tables.goto.num_nonterminals
        ),
        accessing=tables.accessing[origin],
        _kernels=(offsets, production[items], dot[items]),
        origin=origin,
        in_parens=in_parens,
    )


def _rows(offset: NDArray[np.int32], wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the entries of some rows are, one row after the other, and for each entry the place of its row."""
    sizes = np.diff(offset)[wanted]
    entries = np.repeat(offset[wanted] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    return entries, np.repeat(np.arange(len(wanted)), sizes)
