"""Labels: what a pattern may ask for beside text, one token of a set.

In: patterns as an author writes them, with ``extensions=True``. Out: patterns for ``re`` in which each label is one
character that no text has, a surrogate; and the labels, in the order of their characters. To the lexer the spelling of
a label is two bytes that no UTF-8 has, so that nothing behind it need know labels but what makes masks.

Source: T. Koo, F. Liu and L. He, "Automata-based constraints for language model decoding" (2024), section 2.5.1 and
Table 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pdacon.errors import GrammarSyntaxError, LimitExceededError, Span
from pdacon.regular.groups import SetTable, code_point
from pdacon.regular.ordered.labels import FIRST_BYTE, FIRST_SYMBOL, MOST_LABELS, RADIX

RESERVED = frozenset({"TOKEN"})
"""Names of groups that stand for something else than a label of that name."""


@dataclass(frozen=True, slots=True)
class Label:
    """One token of a set that the vocabulary knows."""

    name: str  # Of the set, such as ``PARAGRAPH_TOKEN``; or of the special token, such as ``<|tool_call|>``
    is_token: bool = False  # Whether it is a special token's

    @property
    def is_any_text(self) -> bool:
        """Whether it is of all tokens with a text, perhaps but for some."""
        return excluded_by_name(self.name) is not None if self.is_token else self.name == ANY_TEXT

    def __str__(self) -> str:
        """As it is written in a pattern."""
        if not self.is_token:
            return f"(?P<{self.name}>)"
        name = re.sub(r"([\\)/])", r"\\\1", self.name)
        return f"(?P<TOKEN>{name})"


_IDS = re.compile(r"<\[(\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*)\]>", re.ASCII)


def ids_of_name(name: str) -> list[tuple[int, int]] | None:
    """The first and last id of each range in a name such as ``<[17]>`` or ``<[12-14,17]>``, as llguidance writes tokens
    by their ids; None for a name of another kind."""
    match = _IDS.fullmatch(name)
    if match is None:
        return None
    ranges = [part.partition("-") for part in match[1].split(",")]
    return [(int(first), int(last or first)) for first, _, last in ranges]


ANY_TEXT = "TEXT_TOKEN"
"""The name of the label of all tokens whose text is whole characters."""


def label_without(excluded: Iterable[int | str]) -> Label:
    """The label of all tokens whose text is whole characters, but for some.

    Parameters
    ----------
    excluded : iterable
        Their ids, or names such as ``<[12-14]>`` with several; or names of special tokens, or texts of others.
    """
    listed = json.dumps(list(excluded), ensure_ascii=False)[1:-1]
    return Label(f"<[^{listed}]>", is_token=True) if listed else Label(ANY_TEXT)


def excluded_by_name(name: str) -> list[int | str] | None:
    """What `label_without` left out of a label; None for a name of another kind."""
    if not (name.startswith("<[^") and name.endswith("]>")):
        return None
    excluded: list[int | str] = json.loads(f"[{name[3:-2]}]")
    return excluded


def written_out(text: bytes, labels: tuple[Label, ...]) -> bytes:
    """A text that has spellings of labels, with each label as its author writes it."""
    return _SPELLED.sub(lambda found: _written(found[0], labels).encode(), text) if labels else text


def written_out_in(message: str, labels: tuple[Label, ...]) -> str:
    """A message with texts in it that were quoted with the spellings of labels, as ``written_out``."""
    return _QUOTED.sub(lambda found: _written(bytes.fromhex(found[1] + found[2]), labels), message)


def _written(spelled: bytes, labels: tuple[Label, ...]) -> str:
    number = (spelled[0] - FIRST_BYTE) * RADIX + spelled[1] - FIRST_BYTE
    return str(labels[number]) if number < len(labels) else spelled.decode("ascii", "backslashreplace")


class LabelError(GrammarSyntaxError):
    """What is wrong with a pattern that may have labels."""


class LabelTable:
    """The labels of a grammar, numbered as they are met, and the sets of texts that its patterns have.

    ``sets``: see `SetTable`.
    """

    def __init__(self, sets: Mapping[str, Any]) -> None:
        self._numbers: dict[Label, int] = {}
        self.sets = SetTable(sets)

    @property
    def labels(self) -> tuple[Label, ...]:
        """In the order of their numbers."""
        return tuple(self._numbers)

    def symbols_for(self, pattern: str, span: Span | None = None) -> str:
        """A pattern in which each label is an escape of its character, such as ``(?:\\ud800)``; sets are written out.

        Raises LabelError, RegularGroupError: the pattern has surrogates of its own; or see `SetTable.written_out`.
        LimitExceededError: "labels": the grammar has too many.
        """
        if _SURROGATE.search(pattern):
            raise LabelError(f"{escaped(pattern):.60} has a surrogate, which is in no text; leave it out", span)
        return "".join(
            piece if isinstance(piece, str) else f"(?:\\u{FIRST_SYMBOL + self._number(piece):04x})"
            for piece in pieces_of(self.sets.written_out(pattern, span))
        )

    def _number(self, label: Label) -> int:
        number = self._numbers.setdefault(label, len(self._numbers))
        if number >= MOST_LABELS:
            raise LimitExceededError("labels", number + 1, MOST_LABELS)
        return number

    def written(self, pattern: str) -> str:
        """The author's pattern, of one with escapes of characters or the characters themselves."""
        labels = self.labels
        pattern = self.sets.written(pattern)
        return _SYMBOL.sub(lambda found: str(labels[code_point(found[1]) - FIRST_SYMBOL]), pattern)


def escaped(pattern: str) -> str:
    """A pattern with an escape for each surrogate."""
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", pattern)


def pieces_of(pattern: str) -> Iterator[str | Label]:
    """A pattern's text, and the labels in it."""
    begin = 0
    for found in _GROUP.finditer(pattern):
        name, token = found["name"], found["token"]
        if name is None and token is None:
            continue
        yield pattern[begin : found.start()]
        begin = found.end()
        yield Label(name) if token is None else Label(re.sub(r"\\(.)", r"\1", token), True)
    yield pattern[begin:]


_GROUP = re.compile(
    r"""
      \\. | \[ \^? \]? (?: \\. | [^\\\]] )* \] | \(\?\# [^)]* \)
    | \(\?P<TOKEN> (?P<token> (?: \\. | [^\\)] )+ ) \)
    | \(\?P<(?P<name>\w+)>\)
    """,
    re.VERBOSE | re.DOTALL,
)
_SURROGATE = re.compile(r"[\ud800-\udfff]|(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_SPELLED = re.compile(rb"[\xf5-\xff]{2}", re.DOTALL)
_QUOTED = re.compile(r"\\x(f[5-9a-f])\\x(f[5-9a-f])")
_SYMBOL = re.compile(r"\(\?:(\\u[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff])\)")
