"""Rules over characters -> a `Grammar` of the same language, with terminals as large as can be.

Tried in this order: one terminal, if all is regular; segments between the rules that are not regular, each of which
stays; segments with no more rules than have to stay, so that what begins alike is read once; single characters. The
first without a conflict is taken. If all have one, it is the last: its conflicts are about the author's own
alternatives, and the checker says what they are.
"""

from __future__ import annotations

from pdacon.base.cancelling import raise_if_out_of_time
from pdacon.errors import LimitExceededError
from pdacon.frontends.dialects.absorbing import absorbing
from pdacon.frontends.dialects.cutting import cut_of
from pdacon.frontends.dialects.follow_splitting import split_by_what_follows
from pdacon.frontends.dialects.gbnf import EBNF, GBNF, read_rules
from pdacon.frontends.dialects.making import grammar_of, numbered
from pdacon.frontends.dialects.network import Network, network_of
from pdacon.frontends.dialects.rule_graph import breaking, graph_of, regular_machines
from pdacon.frontends.dialects.segments import symbols_of
from pdacon.frontends.dialects.single_characters import by_characters
from pdacon.frontends.dialects.tree import Rules
from pdacon.grammar import GrammarData
from pdacon.lalr import build_tables
from pdacon.regular import Ranges
from pdacon.regular.characters import BLANKS, intersection


def gbnf_grammar(text: str, path: str | None) -> GrammarData:
    """See `Grammar.from_gbnf`."""
    return lower(read_rules(text, GBNF, "root", path))


def ebnf_grammar(text: str, start: str, path: str | None) -> GrammarData:
    """See `Grammar.from_ebnf`."""
    return lower(read_rules(text, EBNF, start, path))


def lower(rules: Rules) -> GrammarData:
    """The grammar; it has conflicts if no deterministic one was found.

    Raises
    ------
    EmptyLanguageError
        No text is derived.
    LimitExceededError
        Repetitions are counted too high, and single characters have conflicts, or are too many.
    """
    graph = graph_of(rules)
    too_large: LimitExceededError | None = None
    try:
        names, regular = regular_machines(rules, graph)
        others = [name for name in graph if name not in names]
        for kept in dict.fromkeys((tuple(others), tuple(sorted(breaking(graph, others))))):
            grammar = _by_segments(rules, network_of(rules, graph, regular, kept))
            if grammar is not None:
                return grammar
    except LimitExceededError as error:
        raise_if_out_of_time(error)
        too_large = error
    try:
        grammar = by_characters(rules, graph)
        if too_large is None or not build_tables(grammar).conflicts:
            return grammar
    except LimitExceededError as error:
        raise_if_out_of_time(error)
        too_large = too_large or error
    # It is not the author's alternatives that are in conflict, but what became of them because they were too large.
    raise too_large


def _by_segments(rules: Rules, network: Network) -> GrammarData | None:
    """The grammar of a network, if it is deterministic; else of the same with borders that a lexer finds."""
    grammar = _of_network(rules, network)
    if isinstance(grammar, GrammarData):
        return grammar
    for characters in dict.fromkeys((intersection(grammar, BLANKS), grammar)):
        other = absorbing(network, characters) if characters else None
        if other is not None:
            grammar = _of_network(rules, other)
            if isinstance(grammar, GrammarData):
                return grammar
    return None


def _of_network(rules: Rules, network: Network) -> GrammarData | Ranges:
    """The grammar, or the characters that are in dispute between terminals; none if that is not what is wrong."""
    symbols = symbols_of(network)
    disputed: Ranges = ()
    for split in (False, True):
        some = split_by_what_follows(symbols) if split else symbols
        plain = numbered(some, network, rules)
        tables = build_tables(plain)
        cut = cut_of(some, network, tables)
        if cut.is_certain and not tables.conflicts:
            return grammar_of(some, network, rules, plain, cut)
        disputed = cut.disputed
    return disputed
