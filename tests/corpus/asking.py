"""Asks a grammar everything that `answers.py` writes down, by pdacon's public names.

In: `Asked`. Out: `Answers`, texts by what was asked: digests, but errors and warnings as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from corpus.asked_grammars import Asked
from corpus.reading import NotInstalledError

import pdacon
from pdacon import Constraint, Grammar, Matcher, Vocabulary
from pdacon.errors import PdaconError

WALKS, STEPS = 6, 40
INSTALLED = Path(pdacon.__file__).resolve().parent
PLACES = [str(INSTALLED), str(INSTALLED.parent), str(Path(np.__file__).resolve().parents[1])]
"""Where pdacon and the packages are: texts say it of files, and two versions are not in one place."""
Answers: TypeAlias = dict[str, str]
Tokens: TypeAlias = npt.NDArray[np.bool_]


def digest(*parts: bytes | str) -> str:
    sums = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        sums.update(len(data).to_bytes(8, "little") + data)
    return sums.hexdigest()[:24]


def without_places(text: str) -> str:
    for place in PLACES:
        text = text.replace(place, "")
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def in_words(error: BaseException) -> str:
    """Class and text; but not how many bytes something took, which depends on what the allocator has at hand."""
    return without_places(re.sub(r"\bbytes: [\d,]+ exceeds", "bytes: more exceeds", f"{type(error).__name__}: {error}"))


def ask(make: Callable[[], Asked]) -> Answers:
    """All answers about one grammar."""
    answers: Answers = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _ask(make(), answers)
        except NotInstalledError:
            return {"not": "installed"}
        except Exception as error:
            answers["error"] = in_words(error)
    if caught:
        texts = {without_places(f"{one.category.__name__}: {one.message}") for one in caught}
        answers["warnings"] = "\n".join(sorted(texts))
    return answers


def _ask(asked: Asked, answers: Answers) -> None:
    answers["source"] = digest(without_places(asked.source))
    try:
        grammar = asked.load()
    except PdaconError as error:
        if asked.load_instead is None:
            raise
        answers["refused"] = in_words(error)
        grammar = asked.load_instead()
    answers["fingerprint"] = grammar.fingerprint[:24]
    answers["Lark text"] = _lark_text(grammar)
    answers["names"] = _names(grammar)
    if grammar.unenforced:
        answers["unenforced"] = json.dumps(grammar.unenforced)
    vocabulary = asked.vocabulary()
    report = pdacon.check(grammar, vocabulary, seconds=0)
    data = report.to_dict()
    answers["report"] = digest(*(without_places(text) for text in (report.render(), json.dumps(data, sort_keys=True))))
    answers["findings"] = " ".join(finding.id for finding in report.findings)
    constraint = pdacon.compile(grammar, vocabulary, limits=pdacon.Limits(**asked.limits))
    stored = Constraint.from_bytes(constraint.to_bytes())
    for number, start in enumerate(asked.starts or grammar.data.options.start):
        for prefix, each in (("", constraint), ("stored ", stored)):
            walks = [Walk(each, vocabulary, start, Random(f"{number} {walk}")) for walk in range(WALKS)]
            answers[f"{prefix}masks of start {number}"] = digest(*(part for walk in walks for part in walk.masks))
            answers[f"{prefix}explanations of start {number}"] = digest(*(walk.explanation for walk in walks))
            if asked.has_values and each is constraint:
                answers["values"] = digest(*(_value(constraint, grammar, walk.text) for walk in walks))


def _lark_text(grammar: Grammar) -> str:
    try:
        return digest(without_places(grammar.to_lark()))
    except PdaconError as error:
        return in_words(error)


def _names(grammar: Grammar) -> str:
    symbols = [grammar.data.describe_symbol(symbol) for symbol in range(len(grammar.data.terminals))]
    productions = [grammar.data.describe_production(number) for number in range(len(grammar.data.productions))]
    return digest(without_places(repr(grammar)), *symbols, *productions)


def _value(constraint: Constraint, grammar: Grammar, text: bytes) -> str:
    """The value of a text, and the text of that where the grammar writes any."""
    try:
        value = constraint.parse(text)
    except (ValueError, TypeError, RecursionError) as error:
        return in_words(error)
    try:
        return f"{value!r} {grammar.write(value)}"
    except (ValueError, TypeError, RecursionError, PdaconError) as error:
        return f"{value!r} {in_words(error)}"


class Walk:
    """A random walk through the masks of a constraint.

    Attributes
    ----------
    masks
        What is said at each step: the mask, whether the text may end, what is forced; and the shortest completion.
    explanation
        In words, about any token where the walk ends; or the error that ended it.
    text
        The text that was walked, with its completion.
    """

    def __init__(self, constraint: Constraint, vocabulary: Vocabulary, start: str, rng: Random) -> None:
        self.masks: list[bytes | str] = []
        self.text = b""
        try:
            matcher = constraint.matcher(start)
            for token in self._steps(matcher, _with_text(vocabulary), rng):
                self.text += vocabulary.tokens[token] or b""
            completion = matcher.shortest_completion()
            self.masks.append(completion)
            self.text += completion
            self.explanation = without_places(matcher.explain(rng.choice(vocabulary.tokens) or b"a").render())
        except PdaconError as error:
            self.masks.append(type(error).__name__)
            self.explanation = in_words(error)

    def _steps(self, matcher: Matcher, with_text: Tokens, rng: Random) -> Iterator[int]:
        row = np.zeros((len(with_text) + 31) // 32, dtype=np.int32)
        for _ in range(STEPS):
            matcher.fill_bitmask(row)
            self.masks += [row.tobytes(), str(matcher.is_accepting()), matcher.forced_bytes(limit=200)]
            allowed = np.unpackbits(row.view(np.uint8), bitorder="little")[: len(with_text)]
            inner = np.flatnonzero(allowed & with_text)
            if not len(inner):
                break
            token = int(rng.choice(inner))
            matcher.accept_token(token)
            yield token


@lru_cache(maxsize=1)
def _with_text(vocabulary: Vocabulary) -> Tokens:
    """For each token whether it has a text."""
    return np.array([bool(text) for text in vocabulary.tokens])
