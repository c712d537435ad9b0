"""The exception tree, and the places in a source that errors, grammars and findings name.

Every message is one clear line that names the place and the way out. Each class has a page in docs/findings, as each
kind of finding has; ``.page`` is its name, and a traceback ends with its address.

PdaconError
├── GrammarError                    .span: where in the grammar, if known
│   ├── GrammarSyntaxError          the text is not a grammar that Lark loads
│   ├── UnsupportedGrammarError     .feature: what pdacon does not do (yet); .advice: what to write instead
│   ├── UnsupportedSchemaError      .pointer, .keyword: a JSON Schema that cannot be enforced as it stands
│   ├── UnsupportedTypeError        .path: a Python type whose values cannot be written, or not as it says
│   └── EmptyLanguageError          the grammar has no sentence at all
├── NondeterministicGrammarError    .report: every conflict, with a witness
├── SchemaError                     tables and columns, or the database that they are read from, that cannot be used
├── VocabularyError                 tokens or a tokenizer that cannot be used as given
├── LimitExceededError              .what, .given, .limit
├── CancelledError                  the caller asked to stop
├── DrawingError                    there is nothing of that name to draw
├── ArtifactError                   a constraint on disk that is damaged, of another version, or of something else
└── MatcherError                    a Matcher used in a way that has no meaning

UserWarning
├── GrammarWarning                  a grammar or a schema can be used, and may not mean what its author thinks
└── IncompleteWarning               a generated text was cut off before it was a sentence
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

SITE = ""
"""Where the pages are read, with a slash behind: the ``Documentation`` of ``project.urls``. While there is none, the
command line prints them."""

_MOST_BITS = 1000
_LONG_WORD = re.compile(r"(\S{100})\S{800,}(\S{100})")


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a grammar's source. Lines and columns count from 1, columns in characters; the end is exclusive."""

    path: str | None
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path or '<grammar>'}:{self.line}:{self.column}"


class PdaconError(Exception):
    """What everything that pdacon raises on purpose derives from.

    ``page`` is the name of the page about it, ``address`` where to read that; a traceback ends with it (Python 3.11).
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        if hasattr(self, "add_note"):
            self.add_note(self.address)

    @property
    def page(self) -> str:
        """The name of the page: that of the nearest class of this module."""
        return next(base.__name__ for base in type(self).__mro__ if base.__module__ == __name__)

    @property
    def address(self) -> str:
        """Where the page is read, as a line that begins with ``see:``."""
        return address_of(self.page)


class GrammarError(PdaconError):
    """A grammar cannot be used. ``span`` is the place, or None where none is known; ``message`` is without it.

    ``excerpt`` has the line of the grammar with the place underlined, once it is known; a traceback shows it as a note.
    """

    def __init__(self, message: str, span: Span | None = None) -> None:
        # A name, or another word, can have megabytes, and a message stays one line that a person reads.
        self.message, self.span = _LONG_WORD.sub(r"\1...\2", message), span
        self.excerpt = ""
        super().__init__(f"{span}: {self.message}" if span is not None else self.message)
        self._arguments: tuple[Any, ...] = (self.message, span)

    def show(self, excerpt: str) -> None:
        """Add what the place looks like."""
        self.excerpt = excerpt
        if hasattr(self, "add_note"):
            self.__notes__.insert(-1, excerpt)

    def __reduce__(self) -> tuple[Any, ...]:
        notes = getattr(self, "__notes__", [])
        return type(self), self._arguments, {"excerpt": self.excerpt, **({"__notes__": list(notes)} if notes else {})}


class GrammarSyntaxError(GrammarError):
    """The text is not a grammar that Lark loads."""


class UnsupportedGrammarError(GrammarError):
    """The grammar uses something that pdacon does not support; the message says what to write instead.

    Where ``advice`` is given, it is what to write instead, and ``reason`` is ``message`` without it.
    """

    def __init__(self, reason: str, span: Span | None = None, feature: str = "", advice: str = "") -> None:
        super().__init__(f"{reason}; {advice}" if advice else reason, span)
        self.reason, self.feature, self.advice = reason, feature, advice
        self._arguments = (reason, span, feature, advice)


class UnsupportedSchemaError(GrammarError):
    """A JSON Schema says what cannot be enforced, or what is no JSON Schema.

    ``pointer`` is the JSON pointer of the schema with ``keyword``; ``why`` says what stands in the way, and what to do.
    """

    def __init__(self, pointer: str, keyword: str, why: str) -> None:
        self.pointer, self.keyword, self.why = pointer, keyword, why
        super().__init__(f"{pointer}: {keyword}: {why}" if keyword else f"{pointer}: {why}")
        self._arguments = (pointer, keyword, why)


class UnsupportedTypeError(GrammarError):
    """A Python type has values that cannot be written, or says what cannot be enforced.

    ``path`` is the place, such as ``Order.items[].price``; ``why`` says what stands in the way, and what to do.
    ``pointer`` is the JSON pointer of the place where a JSON Schema describes it, as in a tool's parameters.
    """

    def __init__(self, path: str, why: str, pointer: str = "") -> None:
        self.path, self.why, self.pointer = path, why, pointer
        super().__init__(f"{path}: {why}")
        self._arguments = (path, why, pointer)


class EmptyLanguageError(GrammarError):
    """No text at all is a sentence of the grammar (or none that the vocabulary can spell)."""


class NondeterministicGrammarError(PdaconError):
    """The grammar is not deterministic. ``report`` is the DeterminismReport with every finding.

    Unlike that of other errors its message has several lines: the first findings, with their source.
    """

    def __init__(self, report: Any) -> None:
        self.report = report
        super().__init__(report.excerpt())

    @property
    def page(self) -> str:
        """That of the first finding that is an error."""
        return next((finding.id for finding in self.report.findings if finding.level == "error"), super().page)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.report,)


class SchemaError(PdaconError):
    """Tables and columns cannot be bound, or not be read from a database."""


class VocabularyError(PdaconError):
    """A tokenizer or a list of tokens cannot be turned into a vocabulary."""


class LimitExceededError(PdaconError):
    """A limit was reached before the work was done: ``what`` needed ``given``, allowed was ``limit``.

    ``detail`` says what is large, where that is known; ``fixed``: it is a limit that no `Limits` raises, and a detail
    ends with what to do instead.
    """

    def __init__(self, what: str, given: float, limit: float, detail: str = "", *, fixed: bool = False) -> None:
        self.what, self.given, self.limit, self.detail, self.fixed = what, given, limit, detail, fixed
        way_out = f"raise it with pdacon.Limits({what}=...)"
        if fixed:
            way_out = "" if detail else "make its patterns or rules smaller"
        elif what == "seconds":
            way_out = "give it more seconds"
        said = (f"{what}: {_shown(given)} exceeds the limit of {_shown(limit)}", detail, way_out)
        super().__init__("; ".join(part for part in said if part))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), fixed=self.fixed), (self.what, self.given, self.limit, self.detail)


class CancelledError(PdaconError):
    """The caller cancelled the work."""


class DrawingError(PdaconError):
    """What is to be drawn is not in the grammar: a terminal, a rule or a state; the message names those there are."""


class GrammarWarning(UserWarning):
    """A grammar, or a JSON Schema, can be used, and may not mean what its author thinks."""


class IncompleteWarning(UserWarning):
    """A generated text was cut off before it was a sentence."""


class ArtifactError(PdaconError):
    """A file, or bytes, that are no constraint, or not the one that is wanted; or what no file can hold."""


class MatcherError(PdaconError):
    """A Matcher was used in a way that has no meaning, such as from two threads at once."""


def address_of(page: str) -> str:
    """Where a page of docs/findings is read: on the site, if there is one, else by a command that works offline."""
    return f"see: {SITE}findings/{page}.html" if SITE else f"see: pdacon check --explain {page}"


def _shown(number: float) -> str:
    if isinstance(number, int) and number.bit_length() > _MOST_BITS:  # no float, and no text, may have so many digits
        return f"10^{int(number.bit_length() * 0.30103)}"
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:g}"
