"""The sentences of a grammar without recursion as a regular set, which a tag joins to the texts around them.

So nobody need find where they end.

In: a grammar that means its rules over characters, not what a lexer makes of them. Out: a `RegularSet`, or None.
"""

from __future__ import annotations

from pdacon.base.cancelling import every
from pdacon.frontends.insertion.borders import set_of
from pdacon.grammar import GrammarData
from pdacon.regular import RegularSet

_MOST_PRODUCTIONS = 100
"""Of larger grammars the set may be large, too."""
_LOOKS = ("(?=", "(?!", "(?<", "\\b", "\\B", "^", "$")


def sentences_of(grammar: GrammarData) -> RegularSet | None:
    """The sentences of a small grammar; None where rules lead to themselves, or a terminal looks beyond its text."""
    if grammar.ignore or grammar.layout is not None or grammar.labels or grammar.islands or len(grammar.starts) != 1:
        return None
    if len(grammar.productions) > _MOST_PRODUCTIONS or any(t.pattern is None for t in grammar.terminals):
        return None
    if any(
        terminal.pattern is not None
        and terminal.pattern.kind == "re"
        and terminal.pattern.automaton is None
        and any(look in terminal.pattern.regexp for look in _LOOKS)
        for terminal in grammar.terminals
    ):
        return None
    needed: dict[int, set[int]] = {}
    for production in grammar.productions:
        needed.setdefault(production.lhs, set()).update(symbol for symbol in production.rhs if symbol > grammar.end)
    sets = {k: set_of(t.pattern) for k, t in enumerate(grammar.terminals) if t.pattern is not None}
    ready = list(needed)  # those that lead to themselves never are
    while ready:
        ready = [symbol for symbol, parts in needed.items() if symbol not in sets and parts <= sets.keys()]
        for symbol in every(ready, 1):
            sets[symbol] = _alternatives(grammar, symbol, sets)
    return sets.get(grammar.starts[0])


def _alternatives(grammar: GrammarData, symbol: int, sets: dict[int, RegularSet]) -> RegularSet:
    texts = RegularSet.from_choices([])
    for production in grammar.productions:
        if production.lhs == symbol:
            side = RegularSet.from_choices([""])
            for part in production.rhs:
                side = side + sets[part]
            texts = texts | side
    return texts
