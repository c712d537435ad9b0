"""Answers what a page asks: plain functions from a request to a record that is JSON.

In: a topic, the request, its source. Out: the answer, of which what is wrong with a grammar or a text is a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from threading import Event
from typing import Any

from pdacon import Grammar, Vocabulary, time_limit
from pdacon.errors import CancelledError, PdaconError
from pdacon.grammar.builtin import builtin_source
from pdacon.playground import looking
from pdacon.playground.examples import EXAMPLES
from pdacon.playground.findings import error_record, report_record
from pdacon.playground.pictures import draw_grammar, draw_parser, terminals_of
from pdacon.playground.sources import INDENTERS, NOTATIONS, SECONDS, Desk, Source, WrongRequest, first_report

_SAMPLES, _SAMPLE_BYTES = 8, 60
_MOST_CHIPS = 2000


class Answers:
    """What pages may ask, with the grammars, constraints and reports that they share.

    ``vocabularies`` are those that a page may choose, by name.
    """

    def __init__(self, vocabularies: dict[str, Vocabulary]) -> None:
        self._desk = Desk(vocabularies)
        self._topics: dict[str, Callable[[dict[str, Any], Event], dict[str, Any]]] = {
            "mask": self._mask,
            "look": self._look,
            "check": self._check,
            "explain": self._explain,
            "picture": self._picture,
            "names": self._names,
            "samples": self._samples,
        }
        self.topics = tuple(self._topics)

    def start(self) -> dict[str, Any]:
        """What a page begins with: tokenizers, notations, Indenters, examples, and the texts of built-in grammars."""
        return {
            "tokenizers": [{"name": name, "size": words.size} for name, words in self._desk.vocabularies.items()],
            "notations": list(NOTATIONS),
            "indenters": list(INDENTERS),
            "examples": [asdict(example) for example in EXAMPLES],
            "builtins": [{"name": name, "text": _builtin_text(name)} for name in Grammar.builtins()],
        }

    def answer(self, topic: str, given: dict[str, Any], source: Source, cancel: Event) -> dict[str, Any]:
        """The answer to a request.

        Raises CancelledError: ``cancel`` was set. Raises WrongRequest: the request makes no sense.
        """
        if cancel.is_set():
            raise CancelledError("a later request has come")
        try:
            return self._topics[topic]({**given, "source": source}, cancel)
        except CancelledError:
            raise
        except (PdaconError, ValueError) as error:
            if cancel.is_set():
                raise CancelledError("a later request has come") from error
            return {"error": error_record(source, error)}
        except ModuleNotFoundError as error:
            return {"error": {"kind": "ModuleNotFoundError", "message": str(error), "span": None, "pointer": None}}

    def _mask(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        """The grammar, as far as compiling it tells, and the next tokens: what of `_look` is there first."""
        return self._read(given, cancel, looking.read_tokens)

    def _look(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        """The grammar, as far as compiling it tells, and the text under it."""
        return self._read(given, cancel, looking.read_text)

    def _read(self, given: dict[str, Any], cancel: Event, read: Callable[..., dict[str, Any]]) -> dict[str, Any]:
        source = given["source"]
        text, wanted = text_of(given, "text", looking.LONGEST), text_of(given, "wanted")
        vocabulary = self._desk.vocabulary(given.get("tokenizer"))
        most = given.get("most", 0)
        if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most <= _MOST_CHIPS:
            raise WrongRequest(f"most: expected a number up to {_MOST_CHIPS}")
        try:
            constraint = self._desk.constraint(source, vocabulary, cancel)
        except PdaconError as error:
            report = first_report(error)
            if report is None:
                raise
            return {"report": report_record(source, report, complete=False)}
        chips = {"most": most} if most else {}
        return {"text": read(constraint, text, wanted, **chips)}

    def _check(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        source = given["source"]
        report = self._desk.report(source, cancel)
        with time_limit(SECONDS, cancel):  # each repair is read as a grammar; what comes too late is not offered
            return {"report": report_record(source, report, complete=True)}

    def _explain(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        text, typed = text_of(given, "text", looking.LONGEST), text_of(given, "typed")
        vocabulary = self._desk.vocabulary(given.get("tokenizer"))
        token = given.get("token")
        if token is not None and (type(token) is not int or not 0 <= token < vocabulary.size):
            raise WrongRequest(f"token: expected an id below {vocabulary.size}")
        constraint = self._desk.constraint(given["source"], vocabulary, cancel)
        return looking.explain_token(constraint, text, token, typed)

    def _picture(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        source, kind, name = given["source"], text_of(given, "kind"), text_of(given, "name")
        if kind == "conflict":
            return {"svg": self._desk.report(source, cancel).draw(int(name) if name.isdecimal() else 1)}
        if kind == "parser":
            vocabulary = self._desk.vocabulary(given.get("tokenizer"))
            constraint = self._desk.constraint(source, vocabulary, cancel)
            return {"svg": draw_parser(constraint, text_of(given, "text", looking.LONGEST))}
        return {"svg": draw_grammar(self._desk.grammar(source, cancel), kind, name)}

    def _names(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        return {"terminals": terminals_of(self._desk.grammar(given["source"], cancel))}

    def _samples(self, given: dict[str, Any], cancel: Event) -> dict[str, Any]:
        seed = given.get("seed", 1)
        if type(seed) is not int or not 0 <= seed < 1 << 31:
            raise WrongRequest("seed: expected a number from 0")
        grammar = self._desk.grammar(given["source"], cancel)
        return {"samples": self._desk.limited(cancel, lambda: grammar.sample(_SAMPLES, seed=seed, size=_SAMPLE_BYTES))}


def text_of(given: Mapping[str, Any], name: str, most: int = 1000) -> str:
    """A text of a request.

    Raises WrongRequest: it is none, or has more than ``most`` characters.
    """
    text = given.get(name, "")
    if not isinstance(text, str):
        raise WrongRequest(f"{name}: expected a text")
    if len(text) > most:
        raise WrongRequest(f"{name}: it has at most {most:,} characters here")
    return text


@cache
def _builtin_text(name: str) -> str:
    return builtin_source(name)[0]
