"""Grammars, starts and rules without a single sentence.

In: a grammar; or its tables and lexer, and perhaps a vocabulary. Out: findings PDA007 and PDA014. What the rules derive
is found by shortest yields, linear in the grammar; what the lexer and the vocabulary leave of it, by a composition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from pdacon.base.graphs import reachable
from pdacon.base.limits import Limits
from pdacon.composition import byte_vocabulary, compose
from pdacon.determinism.examples import shortest_yields
from pdacon.determinism.report.findings import TITLES, Finding, Level
from pdacon.detokenizer import Vocabulary
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables
from pdacon.lexer import Lexer

_UNREAD = (
    "The rules derive terminals, but no text is cut into them: a lexeme takes the text that the next one would need, "
    "another terminal is found in its place, or nothing produces it."
)
_OTHER_TERMINALS = "let the terminals stop earlier, exclude each other, or be parted by something else."
_UNSPELLED = "There are sentences, but each of them has bytes that no token of the vocabulary spells."
_OTHER_TOKENS = "take a vocabulary that spells every byte, or write the terminals with what this one has."


def emptiness_findings(grammar: GrammarData) -> list[Finding]:
    """A finding for each start rule that derives no string of terminals: an error if no other start derives one.

    Linear in the grammar, up to a logarithm.
    """
    length = shortest_yields(grammar).length
    first = grammar.end + 1
    endless = [nonterminal.name for nonterminal, n in zip(grammar.nonterminals, length, strict=True) if n < 0]
    return [
        Finding(
            id="PDA007",
            level=_level(all(length[start - first] < 0 for start in grammar.starts)),
            title=f"{TITLES['PDA007']}: {grammar.describe_symbol(start)} derives no text",
            message="Every alternative of these rules needs one of them again: "
            f"{', '.join(map(grammar.describe_name, endless))}.",
            span=grammar.nonterminals[start - first].span,
            symbols=(grammar.symbol_name(start), *(name for name in endless if name != grammar.symbol_name(start))),
            repair="give one of these rules an alternative that does not need another of them.",
        )
        for start in dict.fromkeys(grammar.starts)
        if length[start - first] < 0
    ]


def unproductive_findings(grammar: GrammarData) -> list[Finding]:
    """PDA014, a warning for each rule that derives no string of terminals, in a grammar whose starts all derive one.

    Exact, of the rules as they stand: what the lexer makes impossible is PDA015. Linear in the grammar.
    """
    length = shortest_yields(grammar).length
    first = grammar.end + 1
    if any(length[start - first] < 0 for start in grammar.starts):
        return []  # PDA007 names them all
    endless = [k for k, n in enumerate(length) if n < 0 and not grammar.nonterminals[k].repeats]
    names = [grammar.nonterminals[k].name for k in endless]
    return [
        Finding(
            id="PDA014",
            level="warning",
            title=f"{TITLES['PDA014']}: {grammar.describe_symbol(first + k)}",
            message="Each of its alternatives needs a rule that derives no text: "
            f"{', '.join(map(grammar.describe_name, _needed(grammar, k, names)))}. What needs it is in no text either.",
            span=grammar.nonterminals[k].span,
            symbols=(grammar.nonterminals[k].name,),
            repair="give it an alternative that needs none of them, or remove it.",
        )
        for k in endless
    ]


def _needed(grammar: GrammarData, nonterminal: int, names: Collection[str]) -> list[str]:
    """Which of some rules the alternatives of a rule need, through repetitions too."""
    first = grammar.end + 1

    def used(index: int) -> Iterator[int]:
        sides = (p.rhs for p in grammar.productions if p.lhs == first + index)
        return (symbol - first for rhs in sides for symbol in rhs if symbol >= first)

    def repetitions(index: int) -> Iterator[int]:
        return (inner for inner in used(index) if grammar.nonterminals[inner].repeats)

    inner = (grammar.nonterminals[k].name for index in reachable([nonterminal], repetitions) for k in used(index))
    return list(dict.fromkeys(name for name in inner if name in names))


def empty_findings(
    grammar: GrammarData, tables: Tables, lexer: Lexer, limits: Limits, vocabulary: Vocabulary | None = None
) -> list[Finding]:
    """A finding for each start rule that no text is a sentence of: an error if the others have none either.

    For a grammar without other errors: `emptiness_findings`, and the start rules that derive strings of terminals, none
    of which any text is cut into. With a vocabulary: none that it can spell. Cost: one composition for each start, as
    in ``compile``, with a vocabulary of the 256 bytes where none is given.

    Raises LimitExceededError. VocabularyError: as ``compile`` does: the grammar has layout, and the vocabulary cannot
    spell every column.
    """
    underived = emptiness_findings(grammar)
    known = {finding.symbols[0] for finding in underived}
    unread = [
        _unread_finding(grammar, tables, lexer, k, limits, vocabulary)
        for k, name in enumerate(grammar.options.start)
        if name not in known and _is_empty(lexer, tables, k, vocabulary or byte_vocabulary(grammar), limits)
    ]
    found = [*underived, *unread]
    return [replace(finding, level=_level(len(found) == len(grammar.options.start))) for finding in found]


def _unread_finding(
    grammar: GrammarData, tables: Tables, lexer: Lexer, start: int, limits: Limits, vocabulary: Vocabulary | None
) -> Finding:
    name = grammar.options.start[start]
    spelled = vocabulary is not None and not _is_empty(lexer, tables, start, byte_vocabulary(grammar), limits)
    return Finding(
        id="PDA007",
        level="error",
        title=f"{TITLES['PDA007']}: no text is read as {name}",
        message=_UNSPELLED if spelled else _UNREAD,
        span=grammar.nonterminals[grammar.starts[start] - grammar.end - 1].span,
        symbols=(name,),
        repair=_OTHER_TOKENS if spelled else _OTHER_TERMINALS,
    )


def _level(nothing_left: bool) -> Level:
    """An empty start among others is no error: only who begins with it is refused."""
    return "error" if nothing_left else "warning"


def _is_empty(lexer: Lexer, tables: Tables, start: int, vocabulary: Vocabulary, limits: Limits) -> bool:
    pda = compose(lexer, tables, vocabulary, limits).pda(start)
    return pda.empty_language(vocabulary.strip_leading_space)
