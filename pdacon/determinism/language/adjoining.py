"""Words that can stand side by side without a blank, though the grammar ignores blanks.

In: tables and lexing automaton. Out: findings PDA020. A pair is a terminal and one that the rules put behind it, each
with a text of letters, digits and underscores at the border, that the lexer cuts at the border wherever it may begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pdacon.determinism.language.follow_sets import FollowSets
from pdacon.determinism.lexical.repair.suggested import definition, written
from pdacon.determinism.lexical.texts import Lexeme
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.quoting import quote

if TYPE_CHECKING:
    from pdacon.determinism.deadline import Deadline
    from pdacon.determinism.lexical.texts import Texts
    from pdacon.grammar import Grammar
    from pdacon.lalr import Tables

_SHOWN = 5  # pairs beside the first
_WORD = re.compile(rb"[0-9A-Za-z_]")
_BLANK = b" "


@dataclass(frozen=True, slots=True)
class Adjoined:
    """Two terminals, and a text of each."""

    first: int
    second: int
    before: bytes
    behind: bytes


def adjoining_findings(tables: Tables, texts: Texts, deadline: Deadline) -> list[Finding]:
    """PDA020, one note for all pairs of terminals whose words need no blank between them.

    Only shortest texts are tried: a pair whose shortest words grow together to one is not named, whatever longer ones
    do. Cost: two readings of a short text for each LR state and pair of terminals that it stands between.
    """
    ignored = Lexeme(texts.grammar.end + 1, len(_BLANK))
    if not any(texts.first_lexeme(context, _BLANK) == ignored for context in texts.entered):
        return []
    pairs = list(_pairs(tables, texts, deadline))
    return [_finding(texts.grammar, pairs)] if pairs else []


def _pairs(tables: Tables, texts: Texts, deadline: Deadline) -> Iterator[Adjoined]:
    grammar, context_of = texts.grammar, texts.lexer.context_of_state
    words = {k: word for k in range(grammar.end) if (word := _word(texts, k)) is not None}
    follow = FollowSets(grammar)
    found: set[tuple[int, int]] = set()
    for first, before in words.items():
        seconds = [second for second in words if follow.after(first) >> second & 1]
        shifts = tables.action[:, first]
        for target in np.unique(shifts[shifts > 0]).tolist() if seconds else ():
            deadline.require()
            here = {int(context) for context in context_of[np.flatnonzero(shifts == target)]}
            there = int(context_of[target - 1])
            for second in seconds:
                if (first, second) in found or tables.action[target - 1, second] == 0:
                    continue
                behind = words[second]
                if texts.always_reads(there, behind, second, len(behind)) and any(
                    texts.always_reads(context, before + behind, first, len(before)) for context in here
                ):
                    found.add((first, second))
                    yield Adjoined(first, second, before, behind)


def _word(texts: Texts, terminal: int) -> bytes | None:
    """The shortest text of a terminal, if that begins and ends as words do."""
    if terminal in texts.grammar.ignore:
        return None
    text = texts.shortest(terminal)
    return text if text and _WORD.match(text) and _WORD.match(text[-1:]) else None


def _finding(grammar: Grammar, pairs: list[Adjoined]) -> Finding:
    describe = grammar.describe_symbol
    pair = pairs[0]
    text = pair.before + pair.behind
    lines = [
        f"{quote(text)} is read as {quote(pair.before)} and {quote(pair.behind)}, so a model may leave the blank out.",
        *(["The same goes for:"] if pairs[1:] else []),
        *(
            f"  {describe(one.first)} {describe(one.second)}, such as {quote(one.before + one.behind)}"
            for one in pairs[1 : 1 + _SHOWN]
        ),
        *([f"  and {len(pairs) - 1 - _SHOWN} more pairs"] if len(pairs) > 1 + _SHOWN else []),
    ]
    names = dict.fromkeys(grammar.terminals[k].name for one in pairs for k in (one.first, one.second))
    return Finding(
        id="PDA020",
        level="note",
        title=f"{TITLES['PDA020']}: {describe(pair.first)} {describe(pair.second)}",
        message="\n".join(lines),
        span=grammar.terminals[pair.first].span,
        symbols=tuple(names),
        witness=Witness((describe(pair.first), describe(pair.second)), 1, text),
        repair="none is needed if that may be; else let the first not end within a word:\n"
        f"  {_parted(grammar, pair.first)}",
    )


def _parted(grammar: Grammar, terminal: int) -> str:
    """What to write so that no more of a word follows the terminal."""
    record = grammar.terminals[terminal]
    assert record.pattern is not None
    if record.pattern.kind == "str":
        # A pattern is no keyword; its priority makes it come before those that match the word, too.
        value, priority = re.escape(record.pattern.value), record.priority + 1
    else:
        value = record.pattern.value
        value, priority = f"(?:{value})" if "|" in value else value, record.priority
    return definition(grammar, terminal, written(rf"{value}(?!\w)", record.pattern.flags), priority)
