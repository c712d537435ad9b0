"""Productions by keys -> Grammar: what leads nowhere is left out, and symbols get numbers and names.

In: `Productions` and the start. Out: the parts of a `Grammar`. Source: J. Hopcroft and J. Ullman, "Introduction to
Automata Theory, Languages, and Computation" (1979), section 4.4, for useless symbols.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from pdacon.frontends.json_schema.productions import Productions, Text
from pdacon.grammar.model import Nonterminal, Pattern, Production, Terminal
from pdacon.lexer.program import to_automaton
from pdacon.quoting import quoted

_WIDE = 4_294_967_295  # sre's MAXREPEAT: without a bound


@dataclass(frozen=True, slots=True)
class Lowered:
    """Terminals, nonterminals and productions as a `Grammar` has them; nonterminal 0 is the start."""

    terminals: tuple[Terminal, ...]
    nonterminals: tuple[Nonterminal, ...]
    productions: tuple[Production, ...]


def lower(out: Productions, start: int) -> Lowered | None:
    """The productions of those nonterminals that a sentence of the start can have; None if there is no sentence."""
    productions = _productive(out.productions)
    by_lhs: dict[int, list[tuple[int, ...]]] = {}
    for lhs, rhs in dict.fromkeys(productions):
        by_lhs.setdefault(lhs, []).append(rhs)
    if start not in by_lhs:
        return None
    _without_names_for_one(by_lhs, start)
    order = {start: 0}
    terminals: dict[int, int] = {}
    pending = [start]
    for lhs in pending:  # grows
        for rhs in by_lhs[lhs]:
            for symbol in rhs:
                if symbol < 0:
                    terminals.setdefault(symbol, len(terminals))
                elif symbol not in order:
                    order[symbol] = len(order)
                    pending.append(symbol)
    base = len(terminals) + 1
    names = _Names()
    nonterminals = [names.nonterminal(str(out.nonterminals[symbol][0])) for symbol in order]
    return Lowered(
        terminals=tuple(_terminal(names, *out.terminals[~symbol]) for symbol in terminals),
        nonterminals=tuple(Nonterminal("start" if k == 0 else name, None) for k, name in enumerate(nonterminals)),
        productions=tuple(
            Production(
                lhs=base + order[lhs],
                rhs=tuple(terminals[one] if one < 0 else base + order[one] for one in rhs),
                priority=0,
                rule="start" if lhs == start else nonterminals[order[lhs]],
                alias=None,
                order=k,
                span=None,
            )
            for lhs in order
            for k, rhs in enumerate(by_lhs[lhs])
        ),
    )


def _productive(productions: list[tuple[int, tuple[int, ...]]]) -> list[tuple[int, tuple[int, ...]]]:
    """Those with right sides that some text derives from, in the same order."""
    missing = [sum(symbol >= 0 for symbol in rhs) for _, rhs in productions]
    users: dict[int, list[int]] = {}
    for k, (_, rhs) in enumerate(productions):
        for symbol in rhs:
            if symbol >= 0:
                users.setdefault(symbol, []).append(k)
    known: set[int] = set()
    pending = [productions[k][0] for k, count in enumerate(missing) if count == 0]
    while pending:
        symbol = pending.pop()
        if symbol in known:
            continue
        known.add(symbol)
        for k in users.get(symbol, ()):
            missing[k] -= 1
            if missing[k] == 0:
                pending.append(productions[k][0])
    return [production for k, production in enumerate(productions) if missing[k] == 0]


def _without_names_for_one(by_lhs: dict[int, list[tuple[int, ...]]], start: int) -> None:
    """Put what a nonterminal stands for in its place, where that is a single symbol: there are fewer LR states then."""
    single = {lhs: some[0][0] for lhs, some in by_lhs.items() if len(some) == 1 and len(some[0]) == 1 and lhs != start}

    def meant(symbol: int) -> int:
        while symbol in single:
            symbol = single[symbol]
        return symbol

    for some in by_lhs.values():
        some[:] = [tuple(map(meant, rhs)) for rhs in some]


class _Names:
    """Names as Lark takes them, each used once."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def nonterminal(self, kind: str) -> str:
        return self._numbered(kind.replace(" ", "_"))

    def terminal(self, name: str, text: Text) -> str:
        word = re.sub(r"\W+", "_", text.value, flags=re.ASCII).strip("_").upper() if text.kind == "str" else ""
        return self._numbered(f"{name}_{word}"[:60] if word and word != name else name)

    def _numbered(self, name: str) -> str:
        self._used[name] += 1
        count = self._used[name]
        return name if count == 1 else f"{name}__{count}"


def _terminal(names: _Names, name: str, text: Text) -> Terminal:
    if text.program is not None:
        pattern = Pattern("automaton", text.value, frozenset(), "", 1, _WIDE, to_automaton(text.program))
    elif text.kind == "str":
        pattern = Pattern("str", text.value, frozenset(), re.escape(text.value), len(text.value), len(text.value))
    else:
        pattern = Pattern("re", text.value, frozenset(), text.value, 1, _WIDE)
    literal = quoted(text.value) if text.kind == "str" else None
    return Terminal(names.terminal(name, text), pattern, 0, None, literal)
