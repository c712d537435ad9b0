"""Compose a lowered grammar with a vocabulary.

In: a `Lexer`, LALR `Tables`, a `Vocabulary` and `Limits`. Out: a `Composition`, which makes the native token-level PDA
of each start symbol. The trie of a vocabulary is made once for a process.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import accumulate
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.limits import Limits
from pdacon.base.quoting import near_names
from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError
from pdacon.grammar import GrammarData
from pdacon.grammar.labels import ANY_TEXT, Label, excluded_by_name, ids_of_name
from pdacon.lalr import BlockTables, ColumnClasses, Tables, split_blocks
from pdacon.lexer import Lexer
from pdacon.regular.ordered.labels import spelling

TRIES = _core.Tries()
"""The tries of all constraints of this process, loaded ones included."""

_tries: WeakKeyDictionary[Vocabulary, dict[int, _core.Trie]] = WeakKeyDictionary()
_tries_lock = threading.Lock()


def native_trie(vocabulary: Vocabulary, num_labels: int = 0) -> _core.Trie:
    """The detokenizing trie of a vocabulary and of so many labels, built once.

    Cost: about 0.1 s for 131,072 tokens.
    """
    with _tries_lock:
        made = _tries.setdefault(vocabulary, {})
        if num_labels not in made:
            texts = [*(token or b"" for token in vocabulary.tokens), *map(spelling, range(num_labels))]
            offsets = np.fromiter(accumulate(map(len, texts), initial=0), np.int32, len(texts) + 1)
            ends = np.array(vocabulary.eos_ids, np.int32)
            made[num_labels] = TRIES.of(b"".join(texts), offsets, ends, num_labels)
        return made[num_labels]


def label_masks(grammar: GrammarData, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The tokens of each label of a grammar as a mask, one after another.

    Raises VocabularyError: the vocabulary does not know a label, or has no token for it.
    """
    if not grammar.labels:
        return np.empty(0, np.int32)
    words = -(-vocabulary.size // 32)
    bits = np.zeros((len(grammar.labels), words * 32), np.uint8)
    for row, label in zip(bits, grammar.labels, strict=True):
        row[np.array(_tokens_of(label, vocabulary), np.intp)] = 1
    return np.packbits(bits, axis=-1, bitorder="little").view("<i4").astype(np.int32).reshape(-1)


def _tokens_of(label: Label, vocabulary: Vocabulary) -> tuple[int, ...]:
    if not label.is_token:
        return vocabulary.ids_of(label.name)
    token = vocabulary.special_tokens.get(label.name)
    if token is None and (listed := ids_of_name(label.name)) is not None:
        return _without_text(label.name, listed, vocabulary)
    if token is None and (excluded := excluded_by_name(label.name)) is not None:
        left_out = {id for each in excluded for id in _named(each, label.name, vocabulary)}
        return tuple(id for id in vocabulary.ids_of(ANY_TEXT) if id not in left_out)
    if token is None:
        near = near_names(label.name, vocabulary.special_tokens, 1)
        raise VocabularyError(
            f"this vocabulary knows no special token {label.name}; {f'did you mean {near[0]}? Or ' if near else ''}"
            f"say which it is, as in vocabulary.with_special_tokens({{{label.name!r}: id}})"
        )
    if token in vocabulary.eos_ids:
        raise VocabularyError(
            f"{label.name} is token {token}, which ends a text and so cannot be in one; leave it out of the grammar "
            "(it is allowed wherever a text may end), or out of eos_ids"
        )
    return (token,)


def _named(token: int | str, name: str, vocabulary: Vocabulary) -> tuple[int, ...]:
    """The tokens that are left out of a label: by an id, ranges of ids, the name of a special token, or a text."""
    listed = [(token, token)] if isinstance(token, int) else ids_of_name(token)
    if listed is not None:
        return _ids(name, listed, vocabulary)
    assert isinstance(token, str)
    special, spelled = vocabulary.special_tokens.get(token), token.encode()
    texts = (id for id, text in enumerate(vocabulary.tokens) if text == spelled)
    named = tuple(texts) if special is None else (special,)
    if not named:
        raise VocabularyError(
            f"{name}: this vocabulary has no token {token!r:.40}; write the text of the token, not how a tokenizer's "
            "file spells it, or its id"
        )
    return named


def _ids(name: str, ranges: list[tuple[int, int]], vocabulary: Vocabulary) -> tuple[int, ...]:
    """All ids of some ranges."""
    for first, last in ranges:
        if first > last:
            raise VocabularyError(f"{name}: there is no token from {first} to {last}; write {last}-{first}")
        if last >= vocabulary.size:
            raise VocabularyError(f"{name}: there is no token {last} in this vocabulary of {vocabulary.size}")
    return tuple(sorted({token for first, last in ranges for token in range(first, last + 1)}))


def _without_text(name: str, ranges: list[tuple[int, int]], vocabulary: Vocabulary) -> tuple[int, ...]:
    """Tokens by their ids: a single one with or without a text, or several that have none."""
    ids = _ids(name, ranges, vocabulary)
    for token in ids:
        if token in vocabulary.eos_ids:
            raise VocabularyError(f"{name}: token {token} ends a text and so cannot be in one; leave it out")
        if vocabulary.tokens[token] and len(ids) > 1:
            raise VocabularyError(f"{name}: token {token} has the text {vocabulary.tokens[token]!r:.40}; write that")
    return ids


@dataclass(frozen=True, slots=True)
class Composition:
    """A lowered grammar and a vocabulary: what the token-level PDAs of all start symbols have in common."""

    _parts: _core.PdaParts
    _tables: Tables
    _limits: Limits

    def pda(self, start: int, first_masks: NDArray[np.int32] | None = None) -> _core.TokenPda:
        """The token-level PDA of one start symbol, by its index in ``tables.start_states``.

        ``first_masks``: int32[n * words], masks that have the first ids. Raises LimitExceededError, CancelledError.
        """
        begin, end = self._tables.start_states[start], self._tables.end_states[start]
        limits = self._limits
        return _core.TokenPda.make(self._parts, begin, end, limits.states, limits.depth, limits.bytes, first_masks)


def compose(lexer: Lexer, tables: Tables, vocabulary: Vocabulary, limits: Limits) -> Composition:
    """Bring a lowered grammar together with a vocabulary.

    Raises
    ------
    LimitExceededError, CancelledError
    VocabularyError
        The grammar has layout, and the vocabulary cannot spell every column; or a label that the vocabulary lacks.
    """
    grammar = lexer.grammar
    if grammar.layout is not None and not all(blank in vocabulary.tokens for blank in (b" ", b"\n")):
        raise VocabularyError("a grammar with indentation needs a vocabulary with tokens for a space and for a newline")
    labels = label_masks(grammar, vocabulary)
    trie = native_trie(vocabulary, len(grammar.labels))
    context, layout = lexer.context_of_state, None
    if grammar.layout is not None:
        columns = _core.Columns.make(lexer.automaton, trie, grammar.layout.newline, limits.states, limits.bytes)
        classes = ColumnClasses(columns.single, columns.period)
        split = split_blocks(grammar, tables, classes, limits)
        tables, context = split.tables, context[split.parent]
        layout = _native_layout(grammar, split, classes, columns)
    parts = _core.PdaParts(
        lexer=lexer.automaton, tables=_native_tables(grammar, tables, context), layout=layout, trie=trie, labels=labels
    )
    return Composition(parts, tables, limits)


def _native_tables(grammar: GrammarData, tables: Tables, context: NDArray[np.int32]) -> _core.ParseTables:
    """Tables as the core has them; ``context``: int32[S], that of each LR state."""
    flat, first = grammar.flat_productions, np.int32(grammar.end + 1)
    return _core.ParseTables(
        action=tables.action,
        goto_offset=tables.goto.offset,
        goto_nonterminal=tables.goto.nonterminal,
        goto_target=tables.goto.target,
        num_nonterminals=tables.goto.num_nonterminals,
        lhs=flat.lhs - first,
        length=np.diff(flat.offset),
        context=context,
        are_without_conflicts=not tables.conflicts,
    )


def _native_layout(
    grammar: GrammarData, split: BlockTables, classes: ColumnClasses, columns: _core.Columns
) -> _core.Layout:
    """The layout that a grammar has, as the core has it."""
    layout = grammar.layout
    assert layout is not None
    closes = np.zeros(len(grammar.terminals) + 1, np.uint8)
    closes[[*layout.closers, grammar.end]] = 1
    return _core.Layout(
        newline=layout.newline,
        indent=layout.indent,
        dedent=layout.dedent,
        indent_len=layout.indent_len or 0,
        in_parens=split.tables.in_parens.astype(np.uint8),
        classes=(classes.single, classes.period),
        block=split.block,
        opened=split.opened.reshape(-1),
        closes=closes,
        columns=columns,
    )
