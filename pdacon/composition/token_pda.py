"""Compose a lowered grammar with a vocabulary.

In: a `Lexer`, LALR `Tables`, a `Vocabulary` and `Limits`. Out: the native token-level PDA of one start symbol. The trie
of a vocabulary is made once for a process.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import accumulate
from typing import Any, SupportsFloat, SupportsIndex
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.cancelling import CancelEvent
from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError
from pdacon.grammar import Grammar
from pdacon.grammar.labels import Label, spelling
from pdacon.lalr import ColumnClasses, Tables, split_blocks
from pdacon.lexer import Lexer

_MOST_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work a grammar may cause. Exceeding one raises `LimitExceededError` with its name.

    Attributes
    ----------
    states : int
        Most states of any one automaton: LR states, lexer states, and what their products need. What a terminal is
        that comes as an automaton, such as 100,000 choices or the substrings of a document, was counted when that was
        made: there may be as many more.
    seconds : float
        Most time for ``compile``, in seconds; 0: no limit. Masks computed later are not counted. ``eager`` stops then
        and keeps the masks that it has. The trie of a vocabulary, made at its first use, is made to the end in any
        case (about 0.1 s for 131,072 tokens).
    bytes : int
        Most memory that each stage of ``compile`` takes in the native core: the parse tables, the lexing automaton, and
        for each start symbol the token-level PDA. The same holds later for the masks of a start symbol and what they
        are made from (token classes, answers by stack), during generation as well: what can be made again is forgotten
        when there is no room left; masks have to stay, because their ids do. 0: no limit.
    depth : int
        Most LR states on a matcher's stack; 0: no limit.
    columns : int
        In a grammar with a postlex, the greatest column for whose lines ``eager`` computes masks; at most 16. Each
        more doubles the sets of open blocks that there can be.
    """

    states: int = 100_000
    seconds: float = 0.0
    bytes: int = 1 << 29
    depth: int = 10_000_000
    columns: int = 4

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if type(value) is (float if name == "seconds" else int) and 0 <= value < 1 << 62:
                continue
            wanted, kind = (SupportsFloat, "a number") if name == "seconds" else (SupportsIndex, "a whole number")
            if isinstance(value, bool) or not isinstance(value, wanted):
                raise TypeError(f"Limits({name}=...) must be {kind}, not {type(value).__name__}")
            python: Callable[[Any], float] = float if name == "seconds" else operator.index
            number = python(value)  # NumPy's numbers are numbers too
            if not 0 <= number < 1 << 62:
                raise ValueError(f"Limits({name}=...) must be at least 0 and less than 2**62, got {number}")
            object.__setattr__(self, name, number)
        if self.columns > _MOST_COLUMNS:
            raise ValueError(f"Limits(columns=...) must be at most {_MOST_COLUMNS}, got {self.columns}")

    def beside(self, grammar: Grammar) -> Limits:
        """The limits for a grammar, with room for the automata that it has already."""
        patterns = [terminal.pattern for terminal in grammar.terminals if terminal.pattern is not None]
        there = sum(len(pattern.automaton.kind) for pattern in patterns if pattern.automaton is not None)
        return replace(self, states=self.states + there) if self.states and there else self


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


def label_masks(grammar: Grammar, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The tokens of each label of a grammar as a mask, one after another.

    Raises
    ------
    VocabularyError
        The vocabulary does not know a label, or has no token for it.
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
    if token is None:
        near = get_close_matches(label.name, vocabulary.special_tokens, n=1)
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


def compose(
    lexer: Lexer,
    tables: Tables,
    start: int,
    vocabulary: Vocabulary,
    limits: Limits,
    seconds: float,
    cancel: CancelEvent | None = None,
) -> _core.TokenPda:
    """The token-level PDA for one start symbol.

    Parameters
    ----------
    start : int
        Index into ``tables.start_states``.
    seconds : float
        What is left of the time limit; 0: no limit.

    Raises
    ------
    LimitExceededError, CancelledError
    VocabularyError
        The grammar has layout, and the vocabulary cannot spell every column; or a label that the vocabulary lacks.
    """
    grammar = lexer.grammar
    layout = grammar.layout
    if layout is not None and not all(blank in vocabulary.tokens for blank in (b" ", b"\n")):
        raise VocabularyError("a grammar with indentation needs a vocabulary with tokens for a space and for a newline")
    masks = label_masks(grammar, vocabulary)
    trie = native_trie(vocabulary, len(grammar.labels))
    context, blocks = lexer.context_of_state, np.empty(0, np.int32)
    opened, classes, known = blocks, ColumnClasses(), None
    closes = np.empty(0, np.uint8)
    if layout is not None:
        closes = np.zeros(len(grammar.terminals) + 1, np.uint8)
        closes[[*layout.closers, grammar.end]] = 1
        known = _core.Columns.make(lexer.automaton, trie, layout.newline, limits.states, seconds, cancel, limits.bytes)
        classes = ColumnClasses(known.single, known.period)
        split = split_blocks(grammar, tables, classes, max_states=limits.states)
        tables, context, blocks, opened = split.tables, context[split.parent], split.block, split.opened.reshape(-1)
    base, flat = len(grammar.terminals) + 1, grammar.flat_productions
    return _core.TokenPda.make(
        lexer.automaton,
        tables.action,
        tables.goto.offset,
        tables.goto.nonterminal,
        tables.goto.target,
        not tables.conflicts,
        tables.goto.num_nonterminals,
        flat.lhs - np.int32(base),
        np.diff(flat.offset),
        context,
        tables.start_states[start],
        tables.end_states[start],
        np.array([-1] * 3 if layout is None else [layout.newline, layout.indent, layout.dedent], np.int32),
        0 if layout is None or layout.indent_len is None else layout.indent_len,
        tables.in_parens.astype(np.uint8),
        (classes.single, classes.period),
        blocks,
        opened,
        closes,
        trie,
        masks,
        limits.states,
        seconds,
        limits.depth,
        limits.bytes,
        cancel,
        known,
    )
