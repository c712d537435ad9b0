"""Random sentences of a grammar, to see what it means, to test a parser, to fuzz whatever comes after a model.

A walk: from where a matcher is, try moves that look sensible (a lexeme of each terminal that the parser waits for, with
or without a space before it; or some tokens), keep those that the matcher takes, and choose one so that every kind of
continuation has its share. Once the wanted size is reached, keep only moves that come nearer to the end. The matcher
decides what is allowed, so every text is a sentence, whatever the moves are.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from random import Random
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pdacon.base.cancelling import look
from pdacon.errors import MatcherError, UnsupportedGrammarError
from pdacon.front.compiled import Compiled, data_of
from pdacon.front.stages import shown_label
from pdacon.lalr import build_tables
from pdacon.matching.matcher import Matcher
from pdacon.matching.pieces import Pieces, WordKind, ignorable
from pdacon.pda import Configuration, Machine

T = TypeVar("T")

# Weights beside 1: of moves that lead nowhere new, of those that leave nothing to say, of the end.
_SAME, _LAST, _STOP = 0.1, 0.05, 0.1
_ALSO_NAMES = 0.02  # of keywords where they are read as names, beside names themselves
_AGAIN = 0.25  # of moves that lead to a situation that the text has been in
_SHARED = 0.75  # of n moves that lead to the same situation each has its weight divided by n to the power of this
_LONG = 8.0  # bytes to the end with which a move is half as likely as with none
_TRIED = 24  # tokens of several bytes tried at each place
_AIRY = (0.05, 0.5, 0.95)  # how often there is a space where there need not be one, one share for each text
_ATTEMPTS = 4
_PATIENCE = 100  # sentences in a row that are not new before there seem to be no more
_FEW = 20  # the same before what is left is looked for
_LOOKED_AT = 10_000  # beginnings of sentences that are looked at, where chance brings nothing new
_FAR = 4  # times the wanted size: where the shortest end is farther away than that, it is taken as it is


def sample(
    constraint: Compiled, rng: Random | int | None = None, *, size: int = 60, start: str | None = None
) -> Iterator[str]:
    """Random sentences, without end.

    Parameters
    ----------
    constraint : Constraint
        For any vocabulary that has all bytes; only its grammar matters. The quickest is
        ``Vocabulary.from_tokens([bytes([b]) for b in range(256)])``.
    rng : random.Random or int, optional
        The source of chance, or a seed for one: the same seed gives the same sentences, in the same version.
    size : int
        How long a sentence may grow, in bytes, before it is finished by the shortest way: each one has a target of its
        own between 1 and this. Shorter if the grammar ends sooner, longer if its shortest end is.
    start : str, optional
        Which of the grammar's start rules.

    Yields
    ------
    str
        A sentence; of a grammar with ``use_bytes`` each character stands for a byte (latin-1). Not uniform over
        anything: at each place each kind of continuation is about as likely as the others, less so if the text has
        been there or the way to its end is long; strings and names are short and mostly letters, whitespace is rare.
        Sentences may repeat.

    Examples
    --------
    >>> import itertools, pdacon
    >>> from pdacon.front.sampling import sample
    >>> grammar = pdacon.Grammar.from_lark('start: "a" ("," "a")*')
    >>> words = pdacon.Vocabulary.from_tokens([bytes([b]) for b in range(256)])
    >>> all(set(text) <= set("a,") for text in itertools.islice(sample(pdacon.compile(grammar, words), 1), 5))
    True
    """
    _require_size(size)
    _require_texts(constraint)
    encoding = data_of(constraint).options.encoding
    return (text.decode(encoding) for text in _texts(constraint, _random(rng), size, start))


def sample_tokens(
    constraint: Compiled,
    rng: Random | int | None = None,
    *,
    size: int = 20,
    start: str | None = None,
    strip_leading_space: bool = False,
) -> Iterator[list[int]]:
    """Random sentences as tokens that a model could have generated, end token included; without end.

    Walks over the tokens that the mask allows, so the texts are stranger than those of `sample`, and the tokens seldom
    those that the tokenizer itself would choose for them.

    Parameters
    ----------
    constraint, rng, start
        As for `sample`.
    size : int
        As for `sample`, in tokens.
    strip_leading_space : bool
        As for `Constraint.matcher`: whether one space that the tokens begin with is not part of the text.

    Yields
    ------
    list of int
        Token ids; the last one is an end token.

    Raises
    ------
    ValueError
        The vocabulary has no end token, or the constraint is canonical.
    """
    _require_size(size)
    _require_texts(constraint)
    if constraint.is_canonical:
        raise ValueError("sample_tokens is not for a constraint with canonical: encode the texts of sample")
    if not constraint.vocabulary.eos_ids:
        raise ValueError("the vocabulary has no end token, so no sequence of its tokens is a whole text; give eos_ids")
    return _token_walks(constraint, _random(rng), size, partial(constraint.matcher, start, None, strip_leading_space))


def _require_texts(constraint: Compiled) -> None:
    if (grammar := data_of(constraint)).labels:
        raise UnsupportedGrammarError(
            f"{shown_label(grammar)} is a token and no text, so a grammar that has it has no random texts; draw from "
            "the tokens that Matcher.allowed_tokens gives",
            feature="token labels",
        )


def different(
    sentences: Iterable[T], text: Callable[[T], Hashable] = lambda sentence: sentence, patience: int = _PATIENCE
) -> Iterator[T]:
    """Those of random sentences that are new; ends when so many in a row were not.

    ``text``: what makes two of them the same.
    """
    seen: set[Hashable] = set()
    stale = 0
    for sentence in sentences:
        stale += 1
        if text(sentence) not in seen:
            seen.add(text(sentence))
            stale = 0
            yield sentence
        if stale == patience:
            return


def sample_different(
    constraint: Compiled, rng: Random | int | None = None, *, size: int = 60, start: str | None = None
) -> Iterator[str]:
    """Random sentences as of `sample`, all different: where chance brings nothing new, what is left is looked for.

    So a grammar with few sentences has all of them in the end, but such as differ in ignored text only.
    """
    chance = _random(rng)
    encoding = data_of(constraint).options.encoding
    seen: set[str] = set()
    for text in different(sample(constraint, chance, size=size, start=start), patience=_FEW):
        seen.add(text)
        yield text
    for found in _enumerated(constraint, chance, size, start):
        if (text := found.decode(encoding)) not in seen:
            yield text


def _enumerated(constraint: Compiled, rng: Random, size: int, start: str | None) -> Iterator[bytes]:
    """Sentences, each once, depth first: once there are ``size`` bytes only what comes nearer to the end goes on."""
    blank = ignorable(data_of(constraint))
    pending = [(constraint.matcher(start), b"")]
    for _ in range(_LOOKED_AT):
        if not pending:
            return
        matcher, text = pending.pop()
        if matcher.is_accepting():
            yield text
        here = matcher._mask_key()
        left = matcher._completion_length() if len(text) >= size else None
        further = []
        for byte in range(256):
            if not matcher.accept_bytes(bytes([byte])):
                continue
            is_nearer = left is None or matcher._completion_length() < left
            if is_nearer and not (byte in blank and matcher._mask_key() == here):
                further.append((matcher.fork(), text + bytes([byte])))
            matcher.rollback(1)
        rng.shuffle(further)
        pending += further


def _random(rng: Random | int | None) -> Random:
    return rng if isinstance(rng, Random) else Random(rng)


def _require_size(size: int) -> None:
    if size < 1:
        raise ValueError(f"size is {size}; it must be at least 1")


def _texts(constraint: Compiled, rng: Random, size: int, start: str | None) -> Iterator[bytes]:
    number = constraint._index(start)
    grammar = data_of(constraint)
    machine = Machine(grammar, build_tables(grammar))
    initial = Configuration.initial(machine, number)
    pieces, ends = Pieces(grammar), _Ends(constraint)

    def walk(target: int) -> tuple[int, bytes]:
        matcher = constraint.matcher(start)

        def is_allowed(piece: bytes) -> bool:
            allowed = matcher.accept_bytes(piece)
            if allowed:
                matcher.rollback(1)
            return allowed

        configuration: Configuration | None = initial
        airy = rng.choice(_AIRY)
        text = b""
        seen: set[Hashable] = set()
        while True:
            look()
            left = matcher._completion_length() if len(text) >= target else None
            if left is not None and left > _FAR * size:
                break
            moves = pieces.moves(rng, text, configuration, airy, is_allowed)
            piece = _step(matcher, rng, moves, matcher.accept_bytes, ends.reached, left, seen)
            if piece is None:
                break
            text += piece
            configuration = configuration and configuration.read(piece)
        missing, rest = matcher._completion_head(sys.maxsize)  # whatever tokens spell it
        text += rest if len(rest) == missing else matcher.shortest_completion()  # which says that it is too long
        return len(text), text

    while True:
        look()
        yield _longest_of_few(walk, max(rng.randint(1, size), rng.randint(1, size)))


def _token_walks(constraint: Compiled, rng: Random, size: int, begin: Callable[[], Matcher]) -> Iterator[list[int]]:
    vocabulary = constraint.vocabulary
    ends = _Ends(constraint)
    single = np.array([text is not None and len(text) == 1 for text in vocabulary.tokens])
    liked = [0.0 if text is None else _liking(text) for text in vocabulary.tokens]
    by_text = {text: i for i, text in enumerate(vocabulary.tokens) if text is not None}

    def walk(target: int) -> tuple[int, list[int]]:
        matcher = begin()
        ids: list[int] = []
        seen: set[Hashable] = set()
        while True:
            look()
            left = matcher._completion_length() if len(ids) >= target else None
            if left is not None and left > _FAR * size:
                break
            allowed = ends.allowed(matcher)
            few = np.flatnonzero(allowed & single).tolist()
            many = np.flatnonzero(allowed & ~single).tolist()
            tried = few + (rng.sample(many, _TRIED) if len(many) > _TRIED else many)
            moves = [(i, liked[i], None) for i in tried if liked[i]]
            token = _step(matcher, rng, moves, matcher.accept_token, ends.reached, left, seen)
            if token is None:
                break
            ids.append(token)
        ids += [*_finish(matcher, by_text), rng.choice(vocabulary.eos_ids)]
        return len(ids), ids

    while True:
        look()
        yield _longest_of_few(walk, max(rng.randint(1, size), rng.randint(1, size)))


def _longest_of_few(walk: Callable[[int], tuple[int, T]], target: int) -> T:
    """The first walk that comes near the target; if none does, the longest."""
    best, sentence = walk(target)
    for _ in range(_ATTEMPTS - 1):
        if 2 * best >= target:
            break
        length, other = walk(target)
        if length > best:
            best, sentence = length, other
    return sentence


def _step(
    matcher: Matcher,
    rng: Random,
    moves: Iterable[tuple[T, float, WordKind]],
    accept: Callable[[T], bool],
    is_over: Callable[[Matcher], bool],
    left: int | None,
    seen: set[Hashable],
) -> T | None:
    """Make one of the moves; None: the text had better end here.

    ``moves``: each with its weight, and of what kind of word it is.

    ``seen``: the situations so far; this one is added.
    ``left``: only moves that leave less than so many bytes to the end; None: any move.
    """
    if left == 0 or is_over(matcher):
        return None
    here = matcher._mask_key()
    seen.add(here)
    found: list[tuple[T, Hashable, float, WordKind]] = []
    lengths: dict[Hashable, int] = {}  # to the end: of those in one situation that of the first will do
    for move, weight, kind in moves:
        if not accept(move):
            continue
        there = matcher._mask_key()
        if left is not None or there not in lengths:
            lengths[there] = matcher._completion_length()
        if left is None or lengths[there] < left:
            weight *= _SAME if there == here else _LAST if is_over(matcher) else _AGAIN if there in seen else 1.0
            weight *= _LONG / (_LONG + lengths[there])
            found.append((move, there, weight, kind))
        matcher.rollback(1)
    # Moves that lead to the same situation share their chance: twenty operators are not twenty times as likely as the
    # end of the expression. A keyword that leads where a name does is one there.
    names = {there for _, there, _, kind in found if kind == "name"}
    shares = Counter(there for _, there, _, kind in found if kind != "keyword" or there not in names)
    choices: list[T | None] = [move for move, _, _, _ in found]
    weights = [
        weight * (_ALSO_NAMES if kind == "keyword" and there in names else 1.0) / shares[there] ** _SHARED
        for _, there, weight, kind in found
    ]
    if matcher.is_accepting():
        choices.append(None)
        weights.append(_STOP)
    chosen = rng.choices(choices, weights)[0] if choices else None
    if chosen is not None:
        accept(chosen)
    return chosen


def _finish(matcher: Matcher, by_text: dict[bytes, int]) -> Iterator[int]:
    """The tokens of a shortest way to the end, the longest ones first."""
    longest = max(map(len, by_text), default=0)
    rest, at = matcher.shortest_completion(), 0
    while at < len(rest):
        most = min(longest, len(rest) - at)
        heads = ((length, by_text.get(rest[at : at + length])) for length in range(most, 0, -1))
        length, token = next(((n, i) for n, i in heads if i is not None and matcher.accept_token(i)), (0, None))
        if token is not None:
            yield token
            at += length
        elif at:
            # Long tokens have led to where the rest of that way cannot be spelled; another way can be.
            rest, at = matcher.shortest_completion(), 0
        else:
            shown = repr(rest[:40]) + ("..." if len(rest) > 40 else "")
            raise MatcherError(f"no token of the vocabulary begins {shown}, which is the shortest way to the end")


class _Ends:
    """Knows where nothing but ignored text may follow."""

    def __init__(self, constraint: Compiled) -> None:
        first = ignorable(data_of(constraint))
        tokens = constraint.vocabulary.tokens
        self._more = np.array([text is not None and text[0] not in first for text in tokens])
        self._bitmask = np.zeros(-(-len(tokens) // 32), dtype=np.int32)

    def allowed(self, matcher: Matcher) -> NDArray[np.bool_]:
        """The mask: bool[V]."""
        matcher.fill_bitmask(self._bitmask)
        bits = np.unpackbits(self._bitmask.view(np.uint8), bitorder="little", count=len(self._more))
        return bits.view(np.bool_)

    def reached(self, matcher: Matcher) -> bool:
        """Whether the text is a sentence and only ignored text can follow."""
        return matcher.is_accepting() and not (self.allowed(matcher) & self._more).any()


def _liking(text: bytes) -> float:
    """How much a token is wanted in a text that a person reads."""
    shown = text.decode("utf-8", "replace").replace("\ufffd", "\0")
    if not shown.isprintable() or shown.isspace():
        return 0.03
    return 0.1 if "\\" in shown else 1.0
