"""Terminals that list their texts, such as the names of a schema, and which of these a word may have been meant for.

In: a grammar, and the place where a text is refused. Out: the texts that a terminal lists, read off its pattern, and
the `Unlisted` word with the text that comes nearest. What is nearest, difflib says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pdacon.base.once import memoized
from pdacon.base.quoting import LISTED
from pdacon.grammar import GrammarData
from pdacon.matching.explanation import Unlisted
from pdacon.pda import Configuration, Expectation, expect
from pdacon.regular.ordered import sre

_MOST_TEXTS = 50_000
_MOST_CHOICES = 16  # of characters in one place, before they are no list but a class
_CLOSE, _CLOSE_TO_A_KEYWORD = 0.6, 0.7
_WORD = re.compile(r"[\w$]+")
_IN_NO_WORD = re.compile("[\x00-\x1f\x7f\udc80-\udcff]")  # the last are bytes that are not UTF-8
_QUOTES = "\"'`[]"
_NAME = re.compile(r"""(?:[^"'`\[\]]|"[^"]+"|'[^']+'|`[^`]+`|\[[^]]+\])+""")  # no quotation mark of it is open
_LONGEST = 200  # characters of what is still a word


class ListedTexts:
    """What the terminals of a grammar list; each is looked at when it is first asked for."""

    def __init__(self, grammar: GrammarData) -> None:
        self._grammar = grammar

    @memoized
    def of(self, terminal: int) -> tuple[str, ...]:
        """The texts of a terminal that matches no others, in ascending order, whatever may have to follow.

        Where letters have no case, each text is there once. Empty if there is no end of them, or too many.
        """
        return tuple(sorted(set(self._texts(terminal))))

    def is_list(self, terminal: int) -> bool:
        """Whether a terminal lists several names, words among them: no keyword, no signs, no prefixes of strings."""
        texts = self.of(terminal)
        words = any(len(text) > 1 and text[0].isalpha() for text in texts)
        return len(texts) > 1 and words and all(map(_NAME.fullmatch, texts))

    def is_single_name(self, terminal: int) -> bool:
        """Whether it lists one name, and is no keyword that is called by it: a list of columns, say, with one left."""
        texts, known = self.of(terminal), self._grammar.terminals[terminal]
        if len(texts) != 1 or known.pattern is None or known.pattern.kind == "str":
            return False
        (text,) = texts
        return _WORD.fullmatch(text) is not None and known.name.strip("_").lower() != text.lower()

    def naming(self, word: bytes) -> list[int]:
        """The terminals that list a word, whatever the case of its letters; those that list no other one, if any."""
        text = word.decode("utf-8", "surrogateescape").lower()
        terminals = range(len(self._grammar.terminals)) if any(map(str.isalpha, text)) else ()
        found = [terminal for terminal in terminals if text in map(str.lower, self.of(terminal))]
        return [terminal for terminal in found if {known.lower() for known in self.of(terminal)} == {text}] or found

    def _texts(self, terminal: int) -> Sequence[str]:
        pattern = self._grammar.terminals[terminal].pattern
        if pattern is None:
            return ()
        if pattern.kind == "str":
            return (pattern.value,)
        tree, _ = sre.parse(pattern.regexp, self._grammar.options.g_regex_flags)
        return _sequences(tree) or ()


def find_unlisted(
    listed: ListedTexts,
    place: Configuration,
    read: bytes,
    rest: bytes,
    expect_before: Callable[[Configuration], Expectation],
) -> Unlisted | None:
    """The word that a text was refused in, if what lists its texts could stand there; None if that is not why.

    ``place``: that of the longest beginning of the text that is viable. ``read``, ``rest``: that beginning, of which at
    least the lexeme that was begun, and what comes after it. ``expect_before``: what may come before the lexeme that an
    alternative of the place has begun.
    """
    begun = _begun(place, read)
    spelled = word_of(read[len(read) - begun.length :], rest)
    word = spelled.decode("utf-8", "surrogateescape")
    if (
        len(word) > _LONGEST
        or _IN_NO_WORD.search(word)
        or not any(map(str.isalpha, word))
        or word[0].isdigit()
        or (begun.fresh and _WORD.fullmatch(word[0] + _last_character(read)))
    ):
        return None
    begin = begun.restart()
    expected = expect_before(begun).next
    if _matches(begin, spelled):
        return None
    texts = {terminal: listed.of(terminal) for terminal in expected}
    if begun.length and word[0] in _QUOTES and not any(text[:1] == word[0] for some in texts.values() for text in some):
        return None  # a literal, and not a name, has begun
    whole = word.lower()
    if any(text.lower() == whole for some in texts.values() for text in some):
        return None
    behind = _shared(word, [text for terminal in expected if listed.is_list(terminal) for text in texts[terminal]])
    pieces = {terminal: _pieces(some, word[:behind].lower()) for terminal, some in texts.items()}
    near = {piece[behind:].strip(_QUOTES + ".").lower(): piece for some in pieces.values() for piece in some}
    near.pop("", None)
    lists = {terminal: some for terminal, some in pieces.items() if some and listed.is_list(terminal)}
    if lists:
        lists |= {terminal: some for terminal, some in pieces.items() if some and listed.is_single_name(terminal)}
    cutoff = _CLOSE if lists else _CLOSE_TO_A_KEYWORD
    meant = next((near[text] for text in get_close_matches(whole[behind:].strip(_QUOTES), near, 1, cutoff)), None)
    if not (lists or meant):
        return None

    def far(group: tuple[tuple[str, ...], list[int]]) -> tuple[bool, bool, int]:
        """The list of what was meant comes first, then those of words, then short ones."""
        texts = group[0]
        return meant not in texts, not any(_WORD.fullmatch(text[behind:]) for text in texts), len(texts)

    first = begin.step(spelled[0])
    others = [terminal for terminal in (expect(first).unfinished if first else ()) if texts.get(terminal) == ()]
    name = place.machine.grammar.describe_symbol
    return Unlisted(
        word=word,
        listed=tuple(
            (tuple(map(name, terminals)), some) for some, terminals in sorted(_grouped(lists).items(), key=far)
        ),
        unmatched=tuple(map(name, others)) if lists else (),
        meant=meant,
    )


def _begun(place: Configuration, read: bytes) -> Configuration:
    """The configuration of the lexeme that a word would be; blanks before it are another one, which may not be over."""
    fitting = (at for at in place.alternatives() if at.fresh or not read[len(read) - at.length :].isspace())
    return next(fitting, place)


def _matches(begin: Configuration, word: bytes) -> bool:
    """Whether a word is a whole lexeme that the parser takes: then it is not the word that is refused."""
    at = begin.read(word[:-1])
    terminal = None if at is None else at.match(word[-1])
    return terminal is not None and begin.takes(terminal)


def word_of(lexeme: bytes, rest: bytes) -> bytes:
    """What a reader takes for one word: the lexeme and letters after it, or all up to the closing quotation mark."""
    text = (lexeme + rest[:_LONGEST]).decode("utf-8", "surrogateescape")
    begun = len(lexeme.decode("utf-8", "ignore"))
    closing = {"[": "]"}.get(text[0], text[0])
    if closing in _QUOTES and text[: max(begun, 1)].replace("[", "]").count(closing) % 2:
        quoted = re.compile(rf"[^\n{re.escape(closing)}]*{re.escape(closing)}").match(text, max(begun, 1))
        if quoted is not None:
            return text[: quoted.end()].encode("utf-8", "surrogateescape")
    found = _WORD.match(text, begun)
    return text[: found.end() if found else begun].encode("utf-8", "surrogateescape")


def _last_character(text: bytes) -> str:
    return text[-4:].decode("utf-8", "ignore")[-1:]


def _shared(word: str, texts: Iterable[str]) -> int:
    """How much of a word some of the texts begin with: all up to a sign in it, or nothing."""
    known = [text.lower() for text in texts]
    ends = [sign.end() for sign in re.finditer(r"\W", word.rstrip(_QUOTES))]
    return next((end for end in reversed(ends) if any(text.startswith(word[:end].lower()) for text in known)), 0)


def _pieces(texts: Iterable[str], prefix: str) -> tuple[str, ...]:
    """The texts that begin so, of many only what comes before their next dot; each once, in the fewest quotes."""
    found = [text for text in texts if text.lower().startswith(prefix)]
    if len(found) > LISTED:
        found = [text[: text.find(".", len(prefix)) + 1] or text for text in found]
    pieces: dict[str, str] = {}
    for text in found:
        key = "".join(character for character in text if character not in _QUOTES)
        if len(text) < len(pieces.get(key, text + " ")):
            pieces[key] = text
    return tuple(pieces.values())


def _grouped(lists: Mapping[int, tuple[str, ...]]) -> dict[tuple[str, ...], list[int]]:
    """The terminals that list the same, by what they list."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for terminal, texts in lists.items():
        groups.setdefault(texts, []).append(terminal)
    return groups


def _sequences(tree: Any) -> list[str] | None:
    """The texts of a sequence of nodes; None if they are no list."""
    texts = [""]
    for operator, argument in tree:
        parts = _alternatives(operator.name, argument)
        if parts is None or len(texts) * len(parts) > _MOST_TEXTS:
            return None
        texts = [text + part for text in texts for part in parts]
    return texts


def _alternatives(operator: str, argument: Any) -> list[str] | None:
    """The texts of one node."""
    if operator == "LITERAL":
        return [chr(argument)]
    if operator == "IN":
        few = len(argument) <= _MOST_CHOICES and all(kind.name == "LITERAL" for kind, _ in argument)
        return [chr(code) for _, code in argument] if few else None
    if operator.startswith("ASSERT") or operator == "AT":
        return [""]
    if operator in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _sequences(argument[-1] if operator == "SUBPATTERN" else argument)
    if operator == "BRANCH":
        return _united(map(_sequences, argument[1]))
    if operator.endswith("REPEAT") and argument[1] == 1:
        return _united([[""] if argument[0] == 0 else [], _sequences(argument[2])])
    return None


def _united(lists: Iterable[list[str] | None]) -> list[str] | None:
    found: list[str] = []
    for some in lists:
        if some is None:
            return None
        found += some
    return found
