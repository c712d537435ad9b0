"""WordPiece: what it makes of words, the longest token at each place, and which words its tokens write.

In: the JSON of a `tokenizers.Tokenizer` and the tokenizer itself, which is asked what it does to single characters: a
character stays as it is, or stands alone, or is changed; no token with a character that is changed is ever produced.

Source: Schuster and Nakajima 2012; Song et al. 2021, "Fast WordPiece tokenization".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.filters.splitting import SplitAutomaton
from pdacon.regular import Dfa
from pdacon.regular.string_programs import utf8

_BEGINS, _CONTINUES, _ALONE = 1, 2, 3
_MOST_SETTLED = 8
"""Characters of a word that is known beforehand to have tokens; more make the automaton larger."""
_LIMITS = Limits(bytes=256 << 20)


_NOTHING, _NO_PENALTY = np.empty(0, np.float64), np.zeros(1)
Star = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8]]


class Words(NamedTuple):
    """What a tokenizer does to words that does not merge: WordPiece, or a unigram model."""

    # uint8[V]: of each token: 1 begins a word, 2 goes on with one, 3 is a word that nothing continues, 0 is never
    # produced.
    kinds: NDArray[np.uint8]
    most: int  # The characters of a word; one of more is unknown
    # offset, low, high, target, accepting: the automaton over bytes of words, with single spaces between them, for
    # which there are tokens in any case.
    star: Star
    # float64[V]: of a unigram model, what its tokens add to a path; `kinds` is 1 for those that it has. Empty for
    # WordPiece.
    scores: NDArray[np.float64] = _NOTHING
    # float64[1] or float64[2]: what a character that is no token adds; and, unless texts are split at each space, by
    # how much paths may differ and all be allowed.
    unknown: NDArray[np.float64] = _NO_PENALTY


def is_word_piece(backend: Any) -> bool:
    """Whether a `tokenizers.Tokenizer` is of this family."""
    return type(backend.model).__name__ == "WordPiece"


def words_of(state: dict[str, Any], backend: Any, vocabulary: Vocabulary) -> Words:
    """Take a WordPiece tokenizer apart.

    Raises ValueError: it splits or changes texts in a way that is not known, or its decoder writes words otherwise; the
    message says what stands in the way.
    """
    for step, allowed in (("normalizer", "BertNormalizer"), ("pre_tokenizer", "BertPreTokenizer")):
        kind = (state[step] or {"type": allowed if step == "normalizer" else "nothing"})["type"]
        if kind != allowed:
            raise ValueError(f"its {step} is {kind}")
    model, prefix = state["model"], state["model"]["continuing_subword_prefix"]
    silent = {token["id"] for token in state["added_tokens"]}
    pieces = {
        i: word
        for word, i in model["vocab"].items()
        if i not in silent and (i >= vocabulary.size or vocabulary.tokens[i] is not None)
    }
    letters = {letter for word in pieces.values() for letter in word}
    kind_of = {letter: _kind_of(letter, backend) for letter in letters}
    kinds = np.zeros(vocabulary.size, np.uint8)
    singles: dict[int, set[str]] = {_BEGINS: set(), _CONTINUES: set(), _ALONE: set()}
    for i, word in pieces.items():
        if i >= vocabulary.size:
            raise ValueError(f"token {i} is {word!r:.40}, and the vocabulary has no such")
        continues = word.startswith(prefix)
        piece = word[len(prefix) :] if continues else word
        of_letters = {kind_of[letter] for letter in piece}
        if of_letters == {_ALONE} and len(piece) == 1 and not continues:
            kind = _ALONE
        elif of_letters == {_BEGINS}:
            kind = _CONTINUES if continues else _BEGINS
        else:
            continue
        text = vocabulary.tokens[i]
        spaced = b" " + piece.encode()
        if text != (piece.encode() if continues else spaced) and (kind != _ALONE or text != piece.encode()):
            raise ValueError(f"token {i} is {word!r:.40}, and its decoder writes {text!r:.40}")
        kinds[i] = kind
        if len(piece) == 1 and text == (piece.encode() if continues else spaced):
            singles[kind].add(piece)
    most = int(model["max_input_chars_per_word"])
    return Words(kinds, most, _star(singles[_BEGINS] & singles[_CONTINUES], singles[_ALONE], most))


def word_borders() -> SplitAutomaton:
    """A border before each space, and nowhere else for certain."""
    classes = np.zeros(NUM_CODE_POINTS, np.uint8)
    classes[ord(" ")] = 1
    following = np.array([[[1, -1], [2, -1]], [[1, -1], [-1, 2]], [[1, -1], [-1, 2]]], np.int32)
    return SplitAutomaton(classes, following, np.ones(3, np.uint8), np.ones(3, np.uint8))


def _kind_of(letter: str, backend: Any) -> int:
    """Whether a character goes on with the word that it stands in, or stands alone; 0: it is changed."""
    text = f"a{letter}a"
    if backend.normalizer is not None:
        text = backend.normalizer.normalize_str(text)
    if text not in (f"a{letter}a", f"a {letter} a"):
        return 0
    parts = [part for part, _ in backend.pre_tokenizer.pre_tokenize_str(text)]
    return _BEGINS if parts == [f"a{letter}a"] else _ALONE if parts == ["a", letter, "a"] else 0


def _star(letters: set[str], alone: set[str], most: int) -> Star:
    classes = np.full(NUM_CODE_POINTS, -1, np.int32)
    classes[list(map(ord, letters))] = 0
    classes[list(map(ord, alone))] = 1
    classes[ord(" ")] = 2
    # State 0 is after a space, state n is after n characters of a word, and the last one after a character alone.
    longest = min(most, _MOST_SETTLED)
    last = longest + 1
    rows = [[1, last, -1]]
    rows += [[length + 1 if length < longest else -1, -1, 0] for length in range(1, longest + 1)]
    rows.append([-1, -1, 0])
    accepting = np.ones(len(rows), np.uint8)
    accepting[0] = 0
    return star_arrays(classes, rows, accepting)


def star_arrays(classes: NDArray[np.int32], rows: list[list[int]], accepting: NDArray[np.uint8]) -> Star:
    """An automaton over characters, by the class of each code point, as one over bytes."""
    firsts = np.append(0, np.flatnonzero(np.diff(classes)) + 1).astype(np.int32)
    table = np.array(rows, np.int32).reshape(-1)
    dfa = Dfa(_core.CharacterDfa.make(firsts, classes[firsts], table, accepting, _LIMITS.bytes))
    offset, low, high, target = utf8(dfa, _LIMITS)
    may_end = np.zeros(len(offset) - 1, np.uint8)
    may_end[: len(dfa)] = dfa.native.accepting
    return offset, low, high, target, may_end
