"""`Grammar.unreachable`: what of a grammar a tokenizer can never read or write, because its normalizer changes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.errors import EmptyLanguageError, Span, UnsupportedGrammarError
from pdacon.filters import changes_or_refusal
from pdacon.front.stages import compiled
from pdacon.grammar import GrammarData
from pdacon.grammar.model import Terminal
from pdacon.regular import RegularSet


@dataclass(frozen=True)
class UnreachableTerminal:
    """A terminal of which a normalizer changes some texts.

    Attributes
    ----------
    name : str
        As the grammar's author wrote it: the text of a literal in quotes, or the terminal's name.
    text : str
        A text of the terminal that the tokenizer changes: the shortest.
    always : bool
        Whether it changes all of them, so that no sentence with the terminal can be written.
    span : Span or None
        Where the terminal is defined.
    """

    name: str
    text: str
    always: bool
    span: Span | None


@dataclass(frozen=True)
class Unreachable:
    """What of a grammar a tokenizer changes. ``bool()``: whether there is anything; ``str()``: the same in words.

    Attributes
    ----------
    normalizer : tuple of str
        What changes texts, such as ``"NFC"`` and ``"Lowercase"``; empty: nothing does.
    sentence : str or None
        A short sentence of the grammar that is changed; None if none is.
    becomes : str or None
        What it is changed to, where the tokenizer can be asked.
    everything : bool
        Whether each sentence is changed: nothing that the grammar allows can be written.
    terminals : tuple of UnreachableTerminal
        Those of which some texts are changed by themselves. A sentence may be changed without any: where a letter and
        an accent are two terminals.
    """

    normalizer: tuple[str, ...]
    sentence: str | None
    becomes: str | None
    everything: bool
    terminals: tuple[UnreachableTerminal, ...]

    def __bool__(self) -> bool:
        return self.sentence is not None

    def __str__(self) -> str:
        if self.sentence is None:
            return "the tokenizer leaves each sentence of the grammar as it is"
        what = "every sentence" if self.everything else "some sentences"
        to = "" if self.becomes is None else f", which becomes {self.becomes!r}"
        lines = [f"the tokenizer changes {what} ({', '.join(self.normalizer)}), such as {self.sentence!r}{to}"]
        for one in self.terminals:
            place = "" if one.span is None else f"{one.span}: "
            lines.append(f"{place}{one.name}: {'each text' if one.always else 'some texts'}, such as {one.text!r}")
        return "\n".join(lines)


def unreachable(grammar: GrammarData, tokenizer: Any, limits: Limits | None = None) -> Unreachable:
    """See `Grammar.unreachable`."""
    changes = changes_or_refusal("unreachable", tokenizer)
    left = changes.texts(form=True)
    if left is None:
        return Unreachable((), None, None, False, ())
    sentence = _shortest(grammar, ~left, limits)
    if sentence is None:
        return Unreachable(changes.names, None, None, False, ())
    within = changes.texts(form=True, ends=False)
    found = () if within is None else tuple(filter(None, (_asked(one, within) for one in grammar.terminals)))
    everything = _shortest(grammar, left, limits) is None
    return Unreachable(changes.names, sentence, _changed(tokenizer, sentence), everything, found)


def _shortest(grammar: GrammarData, texts: RegularSet, limits: Limits | None) -> str | None:
    """A short sentence that is in a set of texts; None: there is none."""
    try:
        matcher = compiled(grammar, Vocabulary.bytes(), limits, filters=[_Within(texts)]).matcher()
    except EmptyLanguageError:
        return None
    return matcher.shortest_completion().decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class _Within:
    """A filter: the texts of a set."""

    given: RegularSet

    def texts(self) -> RegularSet:
        return self.given


def _asked(terminal: Terminal, within: RegularSet) -> UnreachableTerminal | None:
    pattern = terminal.pattern
    if pattern is None or pattern.automaton is not None:
        return None
    try:
        texts = RegularSet.from_regex(pattern.regexp)
    except UnsupportedGrammarError:  # it looks at what stands beside it
        return None
    text = (texts - within).shortest()
    if text is None:
        return None
    name = terminal.name if terminal.literal is None else terminal.literal
    return UnreachableTerminal(name, text, texts.isdisjoint(within), terminal.span)


def _changed(tokenizer: Any, text: str) -> str | None:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    normalizer = getattr(backend, "normalizer", None)
    return None if normalizer is None else normalizer.normalize_str(text)
