"""Readers of answers: the parts of a model's answer while its tokens come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdacon.base.arguments import require_bool
from pdacon.front.compiled import Compiled, name_of, sense_of

if TYPE_CHECKING:
    from pdacon.detokenizer import Vocabulary
    from pdacon.frontends.tool_formats import AnswerReader, AnswerValues


def answer_reader(compiled: Compiled, strip_leading_space: bool) -> AnswerReader:
    """See `Constraint.reader`."""
    from pdacon.frontends.tool_formats import AnswerValues

    require_bool("reader", "strip_leading_space", strip_leading_space)
    values = sense_of(compiled).values
    if not isinstance(values, AnswerValues):
        raise TypeError(
            f"{name_of(compiled)} has no answers to read; grammars of pdacon.Grammar.from_tools(tools, format=...) "
            "have, and constraints that were loaded from a file if the grammar was given to load"
        )
    return reader_with(values, compiled.vocabulary, strip_leading_space)


def reader_with(values: AnswerValues, vocabulary: Vocabulary, strip_leading_space: bool) -> AnswerReader:
    """A reader of answers in the tokens of a vocabulary, for whom the constraint does not know its grammar."""
    return values.reader(_TokenTexts(vocabulary, strip_leading_space))


class _TokenTexts:
    """What each token adds to a text: bytes; the name of a special token as a str."""

    def __init__(self, vocabulary: Vocabulary, strip_leading_space: bool) -> None:
        self._tokens, self._ends = vocabulary.tokens, frozenset(vocabulary.eos_ids)
        self._names = {i: name for name, i in vocabulary.special_tokens.items()}
        self._strips = strip_leading_space

    def __call__(self, token: int) -> bytes | str:
        if token in self._ends:
            return b""
        if not 0 <= token < len(self._tokens):
            raise ValueError(f"token {token} is not in this vocabulary of {len(self._tokens)} tokens")
        text = self._tokens[token]
        if text:
            data = text if isinstance(text, bytes) else bytes(text)
            if self._strips:
                data, self._strips = data.removeprefix(b" "), False
            return data
        name = self._names.get(token)
        if name is None:
            raise ValueError(f"token {token} has no text and no name")
        return name
