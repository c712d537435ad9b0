"""Productions -> productions in which each nonterminal is followed by the same terminals wherever it stands.

LALR(1) tables have one state for what has been read alike, whatever may follow it there; a lexer that looks for all
that may follow anywhere cannot tell ``,`` and a member of an object from ``,`` and an item of an array. With a copy
of each nonterminal for each set that can follow it, a row of the tables has what can follow there. No side of a
production is empty but the start's, which is above the others, so that what follows is what the next symbol begins
with.

Source: for nonterminals that carry what follows, the construction of an SLR(1) grammar from an LR(1) one in
M. Mickunas, R. Lancaster and V. Schneider, "Transforming LR(k) Grammars to LR(1), SLR(1), and (1,1) Bounded
Right-Context Grammars", Journal of the ACM 23(3), 1976.
"""

from __future__ import annotations

from pdacon.base.cancelling import every
from pdacon.base.graphs import Numbering
from pdacon.errors import LimitExceededError
from pdacon.frontends.dialects.segments import Symbols

_END = 0
"""The end of the text among terminals, which are negative."""
_MOST_PRODUCTIONS = 20_000


def split_by_what_follows(symbols: Symbols) -> Symbols:
    """See above.

    Raises
    ------
    LimitExceededError
        There are too many copies.
    """
    sides: dict[int, list[tuple[int, ...]]] = {}
    for lhs, rhs in symbols.productions:
        sides.setdefault(lhs, []).append(rhs)
    begins = _begins(sides)
    copies = Numbering((0, frozenset({_END})))
    productions = []
    for lhs, follow in every(copies):
        for rhs in sides[lhs]:
            side = []
            for place, symbol in enumerate(rhs):
                if symbol >= 0:
                    after = begins[rhs[place + 1]] if place + 1 < len(rhs) else follow
                    symbol = copies[symbol, after]
                side.append(symbol)
            productions.append((copies[lhs, follow], tuple(side)))
        if len(productions) > _MOST_PRODUCTIONS:
            raise LimitExceededError("productions", len(productions), _MOST_PRODUCTIONS, fixed=True)
    return Symbols(symbols.terminals, symbols.segments, [symbols.nonterminals[rule] for rule, _ in copies], productions)


def _begins(sides: dict[int, list[tuple[int, ...]]]) -> dict[int, frozenset[int]]:
    """The terminals that each symbol can begin with."""
    symbols = {symbol for some in sides.values() for rhs in some for symbol in rhs}
    begins: dict[int, set[int]] = {symbol: {symbol} if symbol < 0 else set() for symbol in symbols | sides.keys()}
    grows = True
    while grows:
        grows = False
        for lhs, some in every(sides.items()):
            before = len(begins[lhs])
            begins[lhs].update(*(begins[rhs[0]] for rhs in some if rhs))
            grows = grows or len(begins[lhs]) > before
    return {symbol: frozenset(some) for symbol, some in begins.items()}
