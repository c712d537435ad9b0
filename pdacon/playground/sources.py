"""Reads what a page says of its grammar, and makes grammars and constraints of it, kept by their content.

In: a request's JSON. Out: a `Source`, and of it a `Grammar`, a `Constraint` or a report, each made once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from threading import Event, Lock
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, get_args

from pdacon import (
    CompileCache,
    Constraint,
    DeterminismReport,
    Grammar,
    Limits,
    NondeterministicGrammarError,
    Vocabulary,
    check,
    time_limit,
)
from pdacon.base.languages import LANGUAGES
from pdacon.errors import CancelledError, GrammarSyntaxError, LimitExceededError, PdaconError
from pdacon.front.lark_files import lark_file_grammar
from pdacon.grammar.builtin import builtin_options, builtin_source
from pdacon.grammar.head_options import read_head

Notation = Literal["lark", "json-schema", "gbnf", "ebnf", "llguidance", "regex"]
NOTATIONS: tuple[Notation, ...] = get_args(Notation)
POLICIES: Mapping[Notation, tuple[str, ...]] = MappingProxyType(
    {
        "lark": LANGUAGES["Lark"].policies,
        "gbnf": LANGUAGES["GBNF"].policies,
        "ebnf": LANGUAGES["EBNF"].policies,
        "llguidance": LANGUAGES["llguidance"].policies,
    }
)
"""The notations that can accept what is an error else, and by which options."""
INDENTERS = ("python", "python4")

SECONDS = 10.0
"""Most time for a grammar and its constraint."""
_CHECK_SECONDS = 8.0
_CACHE_BYTES = 1 << 28
_LIMITS = Limits(seconds=SECONDS, bytes=1 << 28)
_LIMITS_OF_CHECKS = Limits(bytes=1 << 28)
_GRAMMARS, _REPORTS = 32, 16
_USUAL = ("error", "reject", "")  # what options are where nobody chooses
_LONGEST = 200_000  # characters of a grammar

_Made = TypeVar("_Made")


class WrongRequest(Exception):
    """A request says what makes no sense; the message is for whoever wrote the page."""


@dataclass(frozen=True, slots=True)
class Source:
    """A grammar as a page has it.

    ``builtin`` is the name of the built-in grammar that the text was, or is: its Indenter and its imports hold.
    """

    text: str
    notation: Notation = "lark"
    start: str = ""
    conflicts: Literal["error", "shift"] = "error"
    lookahead: Literal["reject", "commit"] = "reject"
    postlex: str = ""
    builtin: str = ""

    @classmethod
    def of(cls, given: Any) -> Source:
        """The source in a request.

        Raises WrongRequest.
        """
        if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
            raise WrongRequest("source: expected an object of texts")
        if unknown := set(given) - set(cls.__slots__):
            raise WrongRequest(f"source: it has no {min(unknown)!r}")
        choices = {
            "notation": NOTATIONS,
            "conflicts": ("error", "shift"),
            "lookahead": ("reject", "commit"),
            "postlex": ("", *INDENTERS),
            "builtin": ("", *Grammar.builtins()),
        }
        for name, choice in choices.items():
            if name in given and given[name] not in choice:
                raise WrongRequest(f"source.{name}: expected one of {', '.join(choice)}")
        if len(given.get("text", "")) > _LONGEST:
            raise WrongRequest(f"source.text: a grammar has at most {_LONGEST:,} characters here")
        return cls(**{"text": "", **given})

    def grammar(self) -> Grammar:
        """Read it.

        Raises PdaconError, or ValueError where an option does not go with it.
        """
        if self.notation == "lark":
            return self._of_lark()
        if self.notation == "json-schema":
            return Grammar.from_json_schema(self.text)
        make: dict[str, Callable[..., Grammar]] = {
            "gbnf": Grammar.from_gbnf,
            "ebnf": Grammar.from_ebnf,
            "llguidance": Grammar.from_llguidance,
            "regex": Grammar.from_regex,
        }
        policies = {name: getattr(self, name) for name in POLICIES.get(self.notation, ())}
        return make[self.notation](self.text, **policies)

    def _of_lark(self) -> Grammar:
        """What the page says goes before the head of the text."""
        if (place := read_head(self.text, None).place("import_paths")) is not None:
            raise GrammarSyntaxError("only grammars that come with pdacon import files here; leave it out", place)
        given = {"conflicts": self.conflicts, "lookahead": self.lookahead, "postlex": self.postlex}
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value not in _USUAL}
        if self.start:
            chosen["start"] = self.start.split()
        if not self.builtin:
            return lark_file_grammar(Grammar, self.text, None, chosen, otherwise={"extensions": True})
        text, path = builtin_source(self.builtin)
        if self.text == text and not chosen:
            return Grammar.builtin(self.builtin)
        # Its imports are beside it.
        return lark_file_grammar(Grammar, self.text, path, chosen, otherwise=builtin_options(self.builtin))


class KeptByContent(Generic[_Made]):
    """What was made, by its key, errors included; the least recently used go first. Safe for several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._made: OrderedDict[Hashable, _Made | Exception] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """What ``make`` makes, or raises again: not what depends on time."""
        with self._lock:
            made: _Made | Exception | None = self._made.get(key)
            if made is not None:
                self._made.move_to_end(key)
        if made is None:
            try:
                made = make()
            except (CancelledError, LimitExceededError):
                raise
            except (PdaconError, ValueError) as error:
                made = error.with_traceback(None)
            with self._lock:
                self._made[key] = made
                while len(self._made) > self._most:
                    self._made.popitem(last=False)
        if isinstance(made, Exception):
            raise made.with_traceback(None)
        return made


class Desk:
    """Grammars, constraints and reports of a server's pages, within limits of time and memory.

    ``vocabularies`` are those that a page may choose, by name.
    """

    def __init__(self, vocabularies: dict[str, Vocabulary]) -> None:
        self.vocabularies = vocabularies
        self._cache = CompileCache(_CACHE_BYTES)
        self._grammars: KeptByContent[Grammar] = KeptByContent(_GRAMMARS)
        self._reports: KeptByContent[DeterminismReport] = KeptByContent(_REPORTS)

    def vocabulary(self, name: Any) -> Vocabulary:
        """A vocabulary by name.

        Raises WrongRequest.
        """
        if not isinstance(name, str) or name not in self.vocabularies:
            raise WrongRequest(f"tokenizer: expected one of {', '.join(self.vocabularies)}")
        return self.vocabularies[name]

    def grammar(self, source: Source, cancel: Event) -> Grammar:
        """The grammar.

        Raises PdaconError, ValueError.
        """
        with time_limit(SECONDS, cancel):
            return self._grammars.get(source, source.grammar)

    def constraint(self, source: Source, vocabulary: Vocabulary, cancel: Event) -> Constraint:
        """The constraint for a vocabulary.

        Raises PdaconError, ValueError.
        """
        return self._cache.compile(self.grammar(source, cancel), vocabulary, limits=_LIMITS, cancel=cancel)

    def report(self, source: Source, cancel: Event) -> DeterminismReport:
        """What the checker says: what explains conflicts, and advice, as far as the time for it goes.

        Raises PdaconError, ValueError.
        """
        grammar = self.grammar(source, cancel)
        with time_limit(3 * _CHECK_SECONDS):
            return self._reports.get(
                source, lambda: check(grammar, limits=_LIMITS_OF_CHECKS, cancel=cancel, seconds=_CHECK_SECONDS)
            )

    def limited(self, cancel: Event, work: Callable[[], _Made]) -> _Made:
        """What some other work gives, within the time for a grammar."""
        with time_limit(SECONDS, cancel):
            return work()


def first_report(error: PdaconError | ValueError) -> DeterminismReport | None:
    """The errors that compiling found by itself, which are there at once."""
    return error.report if isinstance(error, NondeterministicGrammarError) else None
