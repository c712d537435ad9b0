"""Productions by keys -> Grammar: symbols get numbers and names.

In: `Productions` and the start. Out: the parts of a `Grammar`. The core leaves out what leads nowhere.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from pdacon.frontends.json_schema.productions import KINDS, Productions, Text
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
    lowered = out.native.lowered(start)
    if lowered is None:
        return None
    terminals, order, lhs, offset, rhs, places = lowered
    names = _Names()
    nonterminals = [names.nonterminal(KINDS[out.native.kind(symbol)]) for symbol in order]
    rules = ["start", *nonterminals[1:]]
    symbols, ends = rhs.tolist(), offset.tolist()
    base = len(terminals) + 1
    return Lowered(
        terminals=tuple(_terminal(names, *out.terminals[~symbol]) for symbol in terminals),
        nonterminals=tuple(Nonterminal(name, None) for name in rules),
        productions=tuple(
            Production(own, tuple(symbols[begin:end]), 0, rules[own - base], None, place, None)
            for own, begin, end, place in zip(lhs.tolist(), ends, ends[1:], places.tolist(), strict=False)
        ),
    )


class _Names:
    """Names as Lark takes them, each used once."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def nonterminal(self, kind: str) -> str:
        return self._numbered(kind)

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
