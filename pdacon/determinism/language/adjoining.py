"""Words that can stand side by side without a blank, though the grammar ignores blanks.

In: tables and lexing automaton. Out: findings PDA020. A pair is a terminal and one that the rules put after it, each
with a text of letters, digits and underscores at the border, that the lexer cuts there wherever it may begin. A pair
that no blank can part is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from pdacon.base.quoting import quote
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.language.follow_sets import FollowSets
from pdacon.determinism.lexical.repair.lexical_repairs import Repairs
from pdacon.determinism.lexical.repair.suggested import definition, written
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables

_SHOWN = 5  # pairs beside the first
_WORD = re.compile(r"\w")
_BLANK = b" "


@dataclass(frozen=True, slots=True)
class Adjoined:
    """Two terminals, and a text of each."""

    first: int
    second: int
    before: bytes
    behind: bytes


def adjoining_findings(tables: Tables, texts: WitnessTexts, repairs: Repairs, deadline: Deadline) -> list[Finding]:
    """PDA020, one note for all pairs of terminals whose words need no blank between them.

    Only shortest texts are tried: a pair whose shortest words grow together to one is not named, whatever longer ones
    do. Cost: two readings of a short text for each LR state and pair of terminals that it stands between.
    """
    if not any(texts.may_ignore(context, _BLANK, len(_BLANK)) for context in texts.entered):
        return []
    pairs = list(_pairs(tables, texts, deadline))
    return [_finding(texts.grammar, pairs, repairs)] if pairs else []


def _pairs(tables: Tables, texts: WitnessTexts, deadline: Deadline) -> Iterator[Adjoined]:
    grammar, context_of = texts.grammar, texts.lexer.context_of_state
    words = {k: word for k in range(grammar.end) if (word := _word(texts, k)) is not None}
    follow = FollowSets(grammar)
    follows = cache(partial(_can_follow, texts))  # asked of each pair of terminals, and each LR state between them
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
                pair = Adjoined(first, second, before, words[second])
                if follows(there, second, pair.behind) and any(_is_cut(texts, context, pair) for context in here):
                    found.add((first, second))
                    yield pair


def _can_follow(texts: WitnessTexts, context: int, terminal: int, word: bytes) -> bool:
    """Whether a terminal's word is read as the terminal in a context, and can stand after a blank there."""
    return texts.always_reads(context, word, terminal, len(word)) and texts.may_ignore(
        context, _BLANK + word, len(_BLANK)
    )


def _is_cut(texts: WitnessTexts, context: int, pair: Adjoined) -> bool:
    """Whether the first of a pair is read as its terminal where the second follows; with a blank between, too."""
    return all(
        texts.always_reads(context, pair.before + gap + pair.behind, pair.first, len(pair.before))
        for gap in (b"", _BLANK)
    )


def _word(texts: WitnessTexts, terminal: int) -> bytes | None:
    """The shortest text of a terminal, if that begins and ends as words do."""
    if terminal in texts.grammar.ignore:
        return None
    text = texts.shortest(terminal)
    shown = "" if text is None else text.decode("utf-8", "replace")
    return text if _WORD.match(shown) and _WORD.match(shown[-1]) else None


def _finding(grammar: GrammarData, pairs: list[Adjoined], repairs: Repairs) -> Finding:
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
    pattern, priority = _parted(grammar, pair.first)
    hints = [pair.before, pair.behind]
    example = "."
    if repairs.is_harmless(pair.first, pattern, hints, priority):
        each = ", and so for each pair" if pairs[1:] else ""
        line = definition(grammar, pair.first, pattern, priority)
        example = f"{each}:\n  {line}\n{repairs.pattern_told(pair.first, pattern, hints, priority)}"
    names = dict.fromkeys(grammar.terminals[k].name for one in pairs for k in (one.first, one.second))
    return Finding(
        id="PDA020",
        level="note",
        title=f"{TITLES['PDA020']}: {describe(pair.first)} {describe(pair.second)}",
        message="\n".join(lines),
        span=grammar.terminals[pair.first].span,
        symbols=tuple(names),
        witness=Witness((describe(pair.first), describe(pair.second)), 1, text),
        repair=f"none is needed if that may be; else let the first not end within a word{example}",
    )


def _parted(grammar: GrammarData, terminal: int) -> tuple[str, int]:
    """The pattern and the priority with which no more of a word follows the terminal."""
    record = grammar.terminals[terminal]
    assert record.pattern is not None
    if record.pattern.kind == "str":
        # A pattern is no keyword; its priority makes it come before those that match the word, too.
        value, priority = re.escape(record.pattern.value), record.priority + 1
    else:
        value = record.pattern.value
        value, priority = f"(?:{value})" if "|" in value else value, record.priority
    return written(rf"{value}(?!\w)", record.pattern.flags), priority
