"""Gives a grammar rules of their own for what stands at the end of its sentences.

LALR tables have one row for a rule's end wherever the rule stands. Of a recursive grammar that is put before a text,
such as any JSON object before `}`, what may come after an inner object and what may come after the outermost one would
be in one row, so that a text after the grammar would meet a terminal of its own. With copies of the rules that may be
last, the outermost end has a row of its own.

Source of the method: splitting nonterminals by what follows them, as LR(1) tables split states; D. Pager, "A practical
general method for constructing LR(k) parsers" (1977).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from pdacon.grammar import GrammarData


def with_final_rules(grammar: GrammarData) -> GrammarData:
    """The grammar with the same sentences in which no rule stands both at the end of a sentence and before it.

    A rule whose last symbol may be empty is not followed further. Grammars with an Indenter, and those that were put
    together of others, are returned as they are.
    """
    if grammar.layout is not None or grammar.islands or len(grammar.starts) != 1:
        return grammar
    last, inner = _last(grammar), _inner(grammar)
    copied = sorted(last & inner)
    if not copied:
        return grammar
    first = grammar.end + 1 + len(grammar.nonterminals)
    final = {symbol: first + place for place, symbol in enumerate(copied)}
    originals = [grammar.nonterminals[symbol - grammar.end - 1] for symbol in copied]
    names = {one.name for one in grammar.nonterminals}
    copies = []
    for one in originals:
        name = f"{one.name}_at_the_end"
        while name in names:
            name += "_"
        names.add(name)
        copies.append(replace(one, name=name))
    productions = []
    for production in grammar.productions:
        side = production.rhs
        ended = (*side[:-1], final.get(side[-1], side[-1])) if side else ()
        if production.lhs in final:
            productions += [production, replace(production, lhs=final[production.lhs], rhs=ended)]
        else:
            productions.append(replace(production, rhs=ended) if production.lhs in last else production)
    return replace(
        grammar,
        nonterminals=(*grammar.nonterminals, *copies),
        productions=tuple(productions),
        starts=tuple(final.get(start, start) for start in grammar.starts),
    )


def _last(grammar: GrammarData) -> set[int]:
    """The nonterminals that may stand at the end of a sentence: the start, and of each of them the last symbol."""
    return _closure(grammar, grammar.starts, slice(-1, None))


def _inner(grammar: GrammarData) -> set[int]:
    """The nonterminals that may stand before the end of a sentence, with all that they are made of."""
    begun = {symbol for one in grammar.productions for symbol in one.rhs[:-1] if symbol > grammar.end}
    return _closure(grammar, begun, slice(None))


def _closure(grammar: GrammarData, begun: Iterable[int], part: slice) -> set[int]:
    """Nonterminals with those that a part of their right sides leads to."""
    leads: defaultdict[int, set[int]] = defaultdict(set)
    for one in grammar.productions:
        leads[one.lhs].update(symbol for symbol in one.rhs[part] if symbol > grammar.end)
    reached, pending = set(begun), list(begun)
    while pending:
        new = leads[pending.pop()] - reached
        reached |= new
        pending += new
    return reached
