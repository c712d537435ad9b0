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

from pdacon.base.graphs import reachable
from pdacon.grammar import GrammarData


def with_final_rules(grammar: GrammarData) -> GrammarData:
    """The grammar with the same sentences in which no rule stands both at the end of a sentence and before it.

    Only a rule's last symbol counts as final: where that may be empty, the one before it is not split. Grammars with an
    Indenter, those that were put together of others, and those with several starts are returned as they are.
    """
    if grammar.layout is not None or grammar.islands or len(grammar.starts) != 1:
        return grammar
    final, inner = _final_nonterminals(grammar), _inner_nonterminals(grammar)
    split = sorted(final & inner)
    if not split:
        return grammar
    # Symbols are terminals, then `grammar.end`, then the nonterminals; the copies come after all of them.
    first_copy = grammar.end + 1 + len(grammar.nonterminals)
    copy_of = {symbol: first_copy + k for k, symbol in enumerate(split)}
    originals = [grammar.nonterminals[symbol - grammar.end - 1] for symbol in split]
    names = {nonterminal.name for nonterminal in grammar.nonterminals}
    copies = []
    for original in originals:
        name = f"{original.name}_at_the_end"
        while name in names:
            name += "_"
        names.add(name)
        copies.append(replace(original, name=name))
    productions = []
    for production in grammar.productions:
        rhs = production.rhs
        final_rhs = (*rhs[:-1], copy_of.get(rhs[-1], rhs[-1])) if rhs else ()
        if production.lhs in copy_of:
            productions += [production, replace(production, lhs=copy_of[production.lhs], rhs=final_rhs)]
        else:
            productions.append(replace(production, rhs=final_rhs) if production.lhs in final else production)
    return replace(
        grammar,
        nonterminals=(*grammar.nonterminals, *copies),
        productions=tuple(productions),
        starts=tuple(copy_of.get(start, start) for start in grammar.starts),
    )


def _final_nonterminals(grammar: GrammarData) -> set[int]:
    """The nonterminals that may stand at the end of a sentence: the start, and of each of them the last symbol."""
    return _closure(grammar, grammar.starts, slice(-1, None))


def _inner_nonterminals(grammar: GrammarData) -> set[int]:
    """The nonterminals that may stand before the end of a sentence, with all that they are made of."""
    seeds = {symbol for production in grammar.productions for symbol in production.rhs[:-1] if symbol > grammar.end}
    return _closure(grammar, seeds, slice(None))


def _closure(grammar: GrammarData, seeds: Iterable[int], positions: slice) -> set[int]:
    """The seeds, and all nonterminals that these positions of right-hand sides lead to."""
    successors: defaultdict[int, set[int]] = defaultdict(set)
    for production in grammar.productions:
        successors[production.lhs].update(symbol for symbol in production.rhs[positions] if symbol > grammar.end)
    return set(reachable(seeds, successors.__getitem__))
