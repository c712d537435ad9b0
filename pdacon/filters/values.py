"""Filters as values: what else texts and tokens must be, whatever the grammar.

A `Filter` says it in up to two ways: a set of texts, whose automaton over characters becomes a factor of the grammar's
(docs/decisions/0020-grammars-within-sets.md), and a tokenizer, whose automaton over tokens runs beside the grammar's
(0025). The texts of all filters are intersected first, so that what they forbid together is in no state.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import pairwise
from typing import Any, Protocol, get_args, runtime_checkable

import numpy as np

from pdacon.filters.automata import of_characters
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.filters.normal_forms import Form, normal_form
from pdacon.filters.scripts import ranges_of, require_scripts
from pdacon.filters.tokenizer_texts import changes_or_refusal
from pdacon.regular import Ranges, RegularSet


@runtime_checkable
class Filter(Protocol):
    """What ``compile(..., filters=[...])`` takes.

    Filters compose in any order: a text is allowed if the grammar and each filter allow it, and a token if the text so
    far, with it, goes on to such a text.
    """

    def texts(self) -> RegularSet | None:
        """The texts that the filter allows; its name is what messages call the filter. None: all texts."""


@dataclass(frozen=True)
class Characters:
    """Texts of some characters only.

    Parameters
    ----------
    allowed : "ascii" or iterable of str
        Every ASCII character, or the characters that are listed.

    Raises
    ------
    TypeError, ValueError
        Something that is listed is no single character.

    Examples
    --------
    >>> import pdacon
    >>> ascii = pdacon.filters.Characters("ascii")
    >>> pdacon.compile("json", pdacon.Vocabulary.bytes(), filters=[ascii]).accepts('"é"')
    False
    """

    allowed: str | Iterable[str]

    def __post_init__(self) -> None:
        if isinstance(self.allowed, str):
            if self.allowed != "ascii":
                raise ValueError(
                    f'Characters takes "ascii" or a list of characters, not {self.allowed!r:.60}; write '
                    f"Characters(list({self.allowed!r:.60}))"
                )
            return
        if not isinstance(self.allowed, Iterable):
            raise TypeError(f'Characters takes "ascii" or a list of characters, not {self.allowed!r:.60}')
        listed = frozenset(self.allowed)
        for one in listed:
            if not isinstance(one, str) or len(one) != 1:
                raise TypeError(f"Characters takes single characters, not {one!r:.60}")
        object.__setattr__(self, "allowed", listed)

    def texts(self) -> RegularSet:
        """The texts that have no other characters."""
        if isinstance(self.allowed, str):
            return RegularSet(of_characters(((0, 0x7F),)), "ASCII")
        codes = sorted(map(ord, self.allowed))
        shown = "".join(map(chr, codes[:20])) + ("..." if len(codes) > 20 else "")
        return RegularSet(of_characters(tuple((code, code) for code in codes)), f"the characters {shown!r}")


@dataclass(frozen=True)
class Scripts:
    """Texts in some scripts only.

    Parameters
    ----------
    allowed : sequence of str
        Values of the property Script of Unicode, such as ``"Latin"`` or ``"Hangul"``.
    common : bool
        Whether what no one script has is allowed as well: digits, blanks, punctuation, symbols (``Common``), and marks
        that take the script of what they stand on (``Inherited``).

    Raises
    ------
    ValueError
        A script is not known; the message names those that are spelled alike.

    Examples
    --------
    >>> import pdacon
    >>> korean = pdacon.filters.Scripts(["Hangul"])
    >>> constraint = pdacon.compile("json", pdacon.Vocabulary.bytes(), filters=[korean])
    >>> constraint.accepts('["한국", 1]'), constraint.accepts('["Korea", 1]')
    (True, False)
    """

    allowed: Sequence[str]
    common: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", require_scripts(self.allowed))

    def texts(self) -> RegularSet:
        """The texts that have no characters of other scripts."""
        names = (*self.allowed, *(("Common", "Inherited") if self.common else ()))
        ranges: Ranges = tuple(piece for name in names for piece in ranges_of(name))
        kind = "script" if len(self.allowed) == 1 else "scripts"
        return RegularSet(of_characters(ranges), f"the {kind} {', '.join(self.allowed)}")


@dataclass(frozen=True)
class Words:
    """Texts of which each run of letters and marks is a word of a dictionary; what stands between them is free.

    A mark, such as an accent that is a character by itself, belongs to the word that it stands in: of ``"a"`` and an
    accent, ``"a"`` alone is no word.

    Parameters
    ----------
    allowed : iterable of str
        The words, as they are written: with upper case where it may stand.

    Raises
    ------
    TypeError
        One is no str; or `allowed` is one str.
    ValueError
        One has something else than letters and the marks on them, or there is none.

    Notes
    -----
    Cost: an automaton with a state for each beginning of words, less what their ends have in common: 100,000 words are
    made in a second. Where a grammar reads any text, as within a string, each becomes a state of its lexer.

    Examples
    --------
    >>> import pdacon
    >>> colours = pdacon.filters.InTerminals("STRING", pdacon.filters.Words(["red", "green"]))
    >>> constraint = pdacon.compile("json", pdacon.Vocabulary.bytes(), filters=[colours])
    >>> constraint.accepts('["red-green", 1, true]'), constraint.accepts('["reddish"]')
    (True, False)
    """

    allowed: Iterable[str]

    def __post_init__(self) -> None:
        if isinstance(self.allowed, str):
            raise TypeError(f"Words takes a list of words: write Words([{self.allowed!r:.60}])")
        if not isinstance(self.allowed, Iterable):
            raise TypeError(f'Words takes a list of words, not {self.allowed!r:.60}; write Words(["one", "two"])')
        listed = frozenset(self.allowed)
        for word in listed:
            if not isinstance(word, str):
                raise TypeError(f"Words takes words, not {word!r:.60}")
            if not word or not all(map(_is_letter, word)):
                raise ValueError(f"Words: {word!r:.60} is no word: it has something else than letters")
        if not listed:
            raise ValueError('Words: no word is given; write Words(["one", "two"])')
        object.__setattr__(self, "allowed", listed)

    def texts(self) -> RegularSet:
        """The texts that have no other words."""
        words = RegularSet.from_choices(self.allowed)
        others = RegularSet(of_characters(_other_characters()), "no letters")
        empty = RegularSet.from_choices([""])
        between = (others - empty + words).repeat()
        listed = sorted(self.allowed)
        shown = ", ".join(listed[:5]) + (", ..." if len(listed) > 5 else "")
        return ((words | empty) + between + others).named(f"the words {shown}")


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM"


@cache
def _other_characters() -> Ranges:
    letters = np.array([_is_letter(chr(code)) for code in range(NUM_CODE_POINTS)])
    edges = [0, *(np.flatnonzero(np.diff(letters)) + 1).tolist(), NUM_CODE_POINTS]
    return tuple((first, last - 1) for first, last in pairwise(edges) if not letters[first])


@dataclass(frozen=True)
class NormalForm:
    """Texts in a normal form of Unicode, also across the borders of lexemes and tokens.

    Parameters
    ----------
    form : {"NFC", "NFD", "NFKC", "NFKD"}
        Unicode's version is that of this Python (``unicodedata.unidata_version``).

    Raises
    ------
    ValueError
        There is no such form.

    Notes
    -----
    Cost: 5,000 states for NFC and NFKC, 55 for NFD and NFKD. Where a grammar reads any character, as within a string,
    each of them becomes states of the lexing automaton: JSON takes 1 s to compile.

    Examples
    --------
    >>> import pdacon
    >>> constraint = pdacon.compile("json", pdacon.Vocabulary.bytes(), filters=[pdacon.filters.NormalForm("NFC")])
    >>> constraint.accepts('"\u00e9"'), constraint.accepts('"e\u0301"')
    (True, False)
    """

    form: Form

    def __post_init__(self) -> None:
        if self.form not in get_args(Form):
            raise ValueError(f"there is no normal form {self.form!r:.40}; there are {', '.join(get_args(Form))}")

    def texts(self) -> RegularSet:
        """The texts that normalizing does not change."""
        return RegularSet(normal_form(self.form), f"{self.form} of Unicode {unicodedata.unidata_version}")


@dataclass(frozen=True, eq=False)
class Normalized:
    """Texts that the normalizer of a tokenizer leaves as they are, however they are cut into tokens.

    What it changes, such as upper case that it lowers, the model has never seen, and its tokenizer never reads it.
    ``canonical=tokenizer`` has the same texts, in the tokens of the tokenizer. `Grammar.unreachable` says what a
    grammar loses.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerBase, tokenizers.Tokenizer, SentencePieceProcessor, ...
        Its normalizer may have normal forms, Lowercase, Strip, StripAccents, Replace, Nmt, Precompiled and
        BertNormalizer, or be SentencePiece's own.

    Raises
    ------
    VocabularyError
        From `texts`: a step of the normalizer is not known, or it is no tokenizer that says what it does.
    """

    tokenizer: Any

    def texts(self) -> RegularSet | None:
        """The texts; None: the tokenizer changes none."""
        return changes_or_refusal("Normalized", self.tokenizer).texts(form=True)


@dataclass(frozen=True)
class InTerminals:
    """A filter within some terminals only: the texts of each are those of its pattern that the filter allows.

    So the strings of JSON can be Korean, and all else stays as it is.

    Parameters
    ----------
    terminals : str or sequence of str
        Their names in the grammar, or literals as the grammar has them, such as ``'"true"'``.
    filter : Filter
        What texts of these terminals must be: `Characters`, `Scripts`, `Words`, `NormalForm` or `Normalized`.

    Raises
    ------
    TypeError
        From the constructor: there are no names, or the filter is none of texts. `compile` raises a ValueError for a
        name that the grammar does not have, UnsupportedGrammarError for a terminal that looks at the text before it,
        and EmptyLanguageError if nothing of a terminal is left.

    Examples
    --------
    >>> import pdacon
    >>> from pdacon.filters import InTerminals, Scripts
    >>> korean = InTerminals("STRING", Scripts(["Hangul"]))
    >>> constraint = pdacon.compile("json", pdacon.Vocabulary.bytes(), filters=[korean])
    >>> constraint.accepts('["한국", true]'), constraint.accepts('["Korea", true]')
    (True, False)
    """

    terminals: str | Sequence[str]
    filter: Characters | Scripts | Words | NormalForm | Normalized

    def __post_init__(self) -> None:
        names = (self.terminals,) if isinstance(self.terminals, str) else tuple(self.terminals)
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError(f"InTerminals takes names of terminals, not {self.terminals!r:.60}")
        object.__setattr__(self, "terminals", names)
        if not isinstance(self.filter, Characters | Scripts | Words | NormalForm | Normalized):
            raise TypeError(f"InTerminals takes a filter of texts, not {self.filter!r:.60}")

    def texts(self) -> None:
        """All texts: what it forbids depends on where terminals begin and end."""


def texts_of(filters: Iterable[Filter]) -> RegularSet | None:
    """The texts that all filters allow; None: all texts."""
    given = [texts for one in filters if (texts := one.texts()) is not None]
    if not given:
        return None
    return reduce(RegularSet.__and__, given).named(" and ".join(dict.fromkeys(one.name for one in given)))
