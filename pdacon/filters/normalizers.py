"""What the normalizer of a tokenizer does to texts: those that it leaves as they are, and no others, can be decoded.

In: the steps of a normalizer as `tokenizers` writes them in JSON, or a SentencePiece model. Out: a normal form of
Unicode, and a set of texts. A text in both is left as it is. For one step alone, and for steps that change characters
one by one, the converse holds. Other steps may change a text and change it back, as NFKD, StripAccents and NFKC do with
Hangul; the set lacks such texts.

Classes of characters are those of this Python's version of Unicode.

Source: the normalizers of huggingface/tokenizers 0.23; normalizer.cc of google/sentencepiece 0.2.
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from pdacon.detokenizer.decoders import flattened
from pdacon.detokenizer.sentencepiece_model import Model
from pdacon.errors import UnsupportedGrammarError
from pdacon.filters.automata import of_characters, without
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.filters.charsmap import replacements
from pdacon.filters.normal_forms import Form, normal_form
from pdacon.regular import Ranges, RegularSet

_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_NMT_DROPPED = frozenset([*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F])
_NMT_BLANK = frozenset([9, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD])
_EVERYTHING = RegularSet.from_regex(r"(?s:.*)")


class Changes(NamedTuple):
    """What a normalizer does to texts."""

    form: Form | None = None  # The normal form that it makes
    # The texts in which it changes nothing else. What stands in one of them is in the set as well; None: all texts.
    within: RegularSet | None = None
    ends: RegularSet | None = None  # The texts of which it takes nothing from their ends; None: all texts
    names: tuple[str, ...] = ()  # Its steps, for messages

    def texts(self, *, form: bool, ends: bool = True) -> RegularSet | None:
        """The texts that are left as they are: by `within`, by the form if `form`, by `ends` if `ends`; None: all."""
        parts = [self.within, self.ends if ends else None]
        if form and self.form is not None:
            parts.append(RegularSet(normal_form(self.form), self.form))
        given = [one for one in parts if one is not None]
        if not given:
            return None
        return reduce(RegularSet.__and__, given).named(f"what the tokenizer's {' and '.join(self.names)} leaves")


def changes_of(steps: Sequence[dict[str, Any]], *, single_spaces: bool = False) -> Changes:
    """What the steps of a normalizer do, one after another; and, with ``single_spaces``, WhitespaceSplit after them.

    Raises ValueError: a step is not known, or it cannot be said which texts it leaves; the message names it.
    """
    forms: list[Form] = []  # with other steps between them
    within: list[RegularSet] = []
    ends: RegularSet | None = None
    before = ""
    steps = [inner for step in steps for inner in flattened(step, "normalizers")]
    for step in steps:
        kind = step["type"]
        if kind in get_args(Form):
            own = cast(Form, kind)
            forms.append(_then(forms.pop(), own) if before in get_args(Form) else own)
        elif kind == "Strip":
            ends = _trimmed(step["strip_left"], step["strip_right"])
        elif kind == "Replace":
            within.append(_not_replaced(step["pattern"], step["content"]))
        elif kind == "Precompiled":
            within.append(not_in_table(base64.b64decode(step["precompiled_charsmap"])))
        elif kind not in _CHARACTER_STEPS:
            raise ValueError(kind)
        before = kind
    if single_spaces:
        ends = _trimmed(left=True, right=True)
        within.append(RegularSet.from_regex(f"(?s:(?: (?! )|[^{_BLANKS}])*)"))
    names = tuple(dict.fromkeys(step["type"] for step in steps))
    names += ("WhitespaceSplit",) if single_spaces else ()
    single = tuple(kind for step in steps for kind in _character_steps(step))
    if single:
        within.append(_kept(single))
    if any(step["type"] == "BertNormalizer" and _strips_accents(step) for step in steps):
        forms.append("NFD")
    composed = [one for one in forms if one.endswith("C")]
    if 0 < len(composed) < len(forms):
        # A text is in both kinds of forms if it is composed and none of its characters can be decomposed.
        within.append(_kept((_decomposed,)))
    form = None
    for one in [*(one for one in forms if one not in composed), *composed]:
        form = one if form is None else _then(form, one)
    return Changes(form, reduce(RegularSet.__and__, within) if within else None, ends, names)


def changes_of_model(model: Model) -> Changes:
    """What the normalizer of a SentencePiece model does, but for the space that it puts before texts."""
    names: tuple[str, ...] = ("table of normalization",) if model.charsmap else ()
    ends = None
    within = not_in_table(model.charsmap) if model.charsmap else None
    if model.remove_extra_whitespaces:
        names += ("remove_extra_whitespaces",)
        single = RegularSet(without(["  "]), "no two spaces")
        within = single if within is None else within & single
        ends = RegularSet.from_regex(r"(?s:|[^ ]|[^ ].*[^ ])")
    return Changes(None, within, ends, names)


@lru_cache(maxsize=4)
def not_in_table(table: bytes) -> RegularSet:
    """The texts in which nothing stands that a table of SentencePiece replaces.

    Raises ValueError: it is no such table.
    """
    strings = replacements(table)
    single = {string for string in strings if len(string) == 1}
    # A string with one of these characters in it is in no text anyway.
    longer = [string for string in strings if len(string) > 1 and single.isdisjoint(string)]
    kept = np.ones(NUM_CODE_POINTS, np.bool_)
    kept[list(map(ord, single))] = False
    return RegularSet(of_characters(_ranges(kept)), "characters") & RegularSet(without(longer), "strings")


def _then(first: Form, second: Form) -> Form:
    """What one normal form makes of another one: it is composed if the second one is."""
    return second if "K" in second or "K" not in first else "NFKC" if second == "NFC" else "NFKD"


def _trimmed(left: bool, right: bool) -> RegularSet | None:
    """The texts that begin, and end, with something else than a blank; None: all."""
    if not (left or right):
        return None
    blank, other = f"[{_BLANKS}]", f"[^{_BLANKS}]"
    first, last = other if left else f"(?:{blank}|{other})", other if right else f"(?:{blank}|{other})"
    return RegularSet.from_regex(f"(?s:|(?={first}).*(?<={last}))")


def _not_replaced(pattern: dict[str, str], content: str) -> RegularSet:
    """The texts in which nothing is replaced by something else."""
    if "String" in pattern:
        string = pattern["String"]
        return RegularSet(without([string]), "texts") if string not in ("", content) else _EVERYTHING
    regex = pattern["Regex"]
    try:
        if any(one in regex for one in ("(?=", "(?!", "(?<", "^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z", "\\G")):
            raise UnsupportedGrammarError("it looks around", feature="look-around")
        matches = RegularSet.from_regex(regex) - RegularSet.from_choices([content, ""])
    except UnsupportedGrammarError as error:
        raise ValueError(f"Replace of {regex!r:.40}") from error
    return ~(_EVERYTHING + matches + _EVERYTHING)


def _decomposed(character: str) -> str:
    return unicodedata.normalize("NFD", character)


def _lowered(character: str) -> str:
    return character.lower()


def _without_accent(character: str) -> str:
    return "" if unicodedata.category(character) == "Mn" else character


def _without_mark(character: str) -> str:
    return "" if unicodedata.category(character)[0] == "M" else character


def _nmt(character: str) -> str:
    code = ord(character)
    return "" if code in _NMT_DROPPED else " " if code in _NMT_BLANK else character


def _cleaned(character: str) -> str:
    """``clean_text`` of BertNormalizer."""
    if character in "\t\n\r" or (character.isspace() and unicodedata.category(character) != "Cc"):
        return " "
    return "" if character in "\0\ufffd" or unicodedata.category(character)[0] == "C" else character


_CHARACTER_STEPS: dict[str, tuple[Callable[[str], str], ...]] = {
    "Lowercase": (_lowered,),
    "StripAccents": (_without_mark,),
    "Nmt": (_nmt,),
    "BertNormalizer": (_cleaned, _without_accent, _lowered),  # by its options: see `_character_steps`
}


def _strips_accents(step: dict[str, Any]) -> bool:
    return bool(step["lowercase"] if step["strip_accents"] is None else step["strip_accents"])


def _character_steps(step: dict[str, Any]) -> Iterator[Callable[[str], str]]:
    """What a step does to single characters, whatever stands beside them."""
    if step["type"] != "BertNormalizer":
        yield from _CHARACTER_STEPS.get(step["type"], ())
        return
    if step["clean_text"]:
        yield _cleaned
    if _strips_accents(step):
        yield _without_accent
    if step["lowercase"]:
        yield _lowered


@lru_cache(maxsize=8)
def _kept(steps: tuple[Callable[[str], str], ...]) -> RegularSet:
    """The texts of characters that all steps together leave as they are."""
    kept = np.zeros(NUM_CODE_POINTS, np.bool_)
    for code in range(NUM_CODE_POINTS):
        text = chr(code)
        for step in steps:
            text = "".join(map(step, text))
        kept[code] = text == chr(code)
    return RegularSet(of_characters(_ranges(kept)), "characters")


def _ranges(kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Ranges:
    borders = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]]).astype(np.int8)))
    return tuple((int(first), int(end) - 1) for first, end in borders.reshape(-1, 2))
