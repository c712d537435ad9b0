"""Texts of a grammar that no sequence of a vocabulary's tokens spells.

In: tables, lexing automaton and vocabulary. Out: findings PDA017. The texts are followed lexeme by lexeme, once with
all bytes and once with those that tokens spell; what only the first leads to is lost.
"""

from __future__ import annotations

import numpy as np

from pdacon.base.bit_sets import members
from pdacon.base.quoting import quote
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.language.reachability import Follower, Reach
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.detokenizer import Vocabulary
from pdacon.errors import LimitExceededError
from pdacon.lalr import Tables
from pdacon.regular.ordered.labels import FIRST_BYTE

_FEW = 12


def unspellable_findings(
    tables: Tables, texts: WitnessTexts, reach: Reach | None, vocabulary: Vocabulary, deadline: Deadline
) -> list[Finding]:
    """PDA017: at most one warning and one note.

    The warning has the terminals that some text of the grammar has, and no text that is a sequence of the vocabulary's
    tokens. The note has the bytes that texts of other terminals can have and that no token has.

    ``reach`` is what texts lead to; None (lookahead without bound): terminals that are lost are not looked for.
    Cost: nothing where each byte that the grammar uses has a token; else one more walk, over the product of the lexing
    automaton with what tokens can spell.
    """
    used = _used_bytes(texts)
    if texts.grammar.labels:
        used -= set(range(FIRST_BYTE, 256))  # a label's spelling is a token of its own
    tokens = {token for token in vocabulary.tokens if token}
    if all(bytes([byte]) in tokens for byte in used):
        return []
    lacking = used.difference(b"".join(tokens))
    lost = [] if reach is None else _lost(tables, texts, reach, vocabulary, lacking, deadline)
    partly = {
        k: missing for k in range(texts.grammar.end) if k not in lost and (missing := lacking & texts.bytes_of(k))
    }
    found = []
    if lost:
        found.append(_lost_terminals(texts, lost, lacking))
    if partly:
        found.append(_lacking_bytes(texts, partly))
    return found


def _used_bytes(texts: WitnessTexts) -> set[int]:
    classes = set(np.flatnonzero((texts.next != -1).any(axis=0)).tolist())
    return {byte for byte in range(256) if texts.classes[byte] in classes}


def _lost(
    tables: Tables, texts: WitnessTexts, reach: Reach, vocabulary: Vocabulary, lacking: set[int], deadline: Deadline
) -> list[int]:
    try:
        spelled = Follower(texts.grammar, tables, texts.lexer, vocabulary, deadline).find()
    except LimitExceededError:
        return []
    lost = [k for k in members(_shifted(reach) & ~_shifted(spelled)) if texts.grammar.terminals[k].pattern is not None]
    # Where nothing at all can be spelled (PDA007), those that are to blame.
    return [k for k in lost if spelled.accepts or lacking.intersection(texts.shortest(k) or b"")]


def _shifted(reach: Reach) -> int:
    shifted = 0
    for labels in reach.shifted.values():
        shifted |= labels
    return shifted


def _lost_terminals(texts: WitnessTexts, lost: list[int], lacking: set[int]) -> Finding:
    grammar = texts.grammar
    names = [grammar.describe_symbol(k) for k in lost]
    needed = [lacking.intersection(texts.shortest(k) or b"") for k in lost]
    rules = list(dict.fromkeys(grammar.describe_name(p.rule) for p in grammar.productions if set(lost) & set(p.rhs)))
    why = [f"No token has {_bytes(set().union(*needed))}."] if any(needed) else []
    unspelled = [name for name, bytes_of_it in zip(names, needed, strict=True) if not bytes_of_it]
    why += [f"No sequence of tokens spells a text of {_some(unspelled)}."] if unspelled else []
    return Finding(
        id="PDA017",
        level="warning",
        title=f"{TITLES['PDA017']}: no text of {_some(names)}",
        message=f"{' '.join(why)} So no text has what needs {'it' if len(lost) == 1 else 'them'} in {_some(rules)}.",
        span=grammar.terminals[lost[0]].span,
        symbols=tuple(grammar.terminals[k].name for k in lost),
        witness=Witness(text=texts.shortest(lost[0])),
        repair="take a vocabulary with a token for each byte, or let the grammar do without.",
    )


def _lacking_bytes(texts: WitnessTexts, partly: dict[int, set[int]]) -> Finding:
    grammar = texts.grammar
    names = [grammar.describe_symbol(k) for k in partly]
    lacking = set().union(*partly.values())
    first = next(iter(partly))
    return Finding(
        id="PDA017",
        level="note",
        title=f"{TITLES['PDA017']}: {len(lacking)} in {_some(names)}",
        message=f"No token has {_bytes(lacking)}: texts with "
        f"{'it' if len(lacking) == 1 else 'them'} are in the grammar's language, and the model cannot write them.",
        span=grammar.terminals[first].span,
        symbols=tuple(grammar.terminals[k].name for k in partly),
        witness=Witness(text=bytes([min(partly[first])])),
        repair="none is needed if the other texts are enough; else take a vocabulary with a token for each byte.",
    )


def _bytes(values: set[int]) -> str:
    shown = [quote(bytes([value])) if value < 128 else f"the byte {value:02X}" for value in sorted(values)]
    return _some(shown, " or ")


def _some(names: list[str], last: str = " and ") -> str:
    if len(names) > _FEW:
        return f"{', '.join(names[:_FEW])} and {len(names) - _FEW} more"
    return last.join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
