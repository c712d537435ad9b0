"""Productions by keys -> Grammar: symbols get numbers and names.

In: `Productions` and the start. Out: the parts of a `Grammar`. The core leaves out what leads nowhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pdacon.base.cancelling import every
from pdacon.base.quoting import quoted
from pdacon.frontends.json_schema.productions import KINDS, Productions, Text
from pdacon.grammar.flat import FlatProductions
from pdacon.grammar.model import UNBOUNDED, Nonterminal, Pattern, Terminal


@dataclass(frozen=True, slots=True)
class Lowered:
    """Terminals, nonterminals and productions as a `Grammar` has them; nonterminal 0 is the start.

    ``symbols`` are the numbers that the nonterminals had as keys.
    """

    terminals: tuple[Terminal, ...]
    nonterminals: tuple[Nonterminal, ...]
    productions: FlatProductions
    symbols: frozenset[int]


def lower(out: Productions, start: int) -> Lowered | None:
    """The productions of those nonterminals that a sentence of the start can have; None if there is no sentence."""
    lowered = out.native.lowered(start)
    if lowered is None:
        return None
    terminals, order, lhs, offset, rhs = lowered
    names = _Names()
    nonterminals = [names.unique(KINDS[out.native.kind(symbol)]) for symbol in every(order)]
    rules = ["start", *nonterminals[1:]]
    return Lowered(
        terminals=tuple(_terminal(names, *out.terminals[~symbol]) for symbol in every(terminals)),
        nonterminals=tuple(Nonterminal(name, None) for name in every(rules)),
        productions=FlatProductions(lhs, offset, rhs, np.zeros(len(lhs), np.int32)),
        symbols=frozenset(map(int, order)),
    )


class _Names:
    """Names as Lark takes them, each used once."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """The name itself, or with a number after it."""
        count = self._used[name] = self._used.get(name, 0) + 1
        return name if count == 1 else f"{name}__{count}"


def _terminal(names: _Names, name: str, text: Text) -> Terminal:
    if text.automaton is not None:
        pattern = Pattern.of_automaton(text.automaton, text.value if text.pattern is None else text.pattern())
    elif text.kind == "str":
        word, pattern, literal = _literal(text.value)
        named = f"{name}_{word}"[:60] if word and word != name else name
        return Terminal(names.unique(named), pattern, 0, None, literal)
    else:
        pattern = Pattern("re", text.value, frozenset(), text.value, 1, UNBOUNDED)
    return Terminal(names.unique(name), pattern, 0, None, None)


@lru_cache(maxsize=4096)
def _literal(text: str) -> tuple[str, Pattern, str]:
    """Of a text, such as a member's name: what its terminal is named after, its pattern, and how it is shown."""
    word = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").upper()
    return word, Pattern.of_text(text), quoted(text)
