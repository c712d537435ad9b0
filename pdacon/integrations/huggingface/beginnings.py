"""Where a constrained text begins: with the first generated token, or with text that stands there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pdacon.base.arguments import what_was_given
from pdacon.front.constraint import Constraint
from pdacon.matching import Budget, Matcher


@dataclass(frozen=True, slots=True)
class Begun:
    """The constrained text that precedes what is generated."""

    text: bytes = b""  # all of it
    written: str = ""  # its beginning, if that was given as text and not generated
    token_ids: tuple[int, ...] = ()  # what was generated after that

    @property
    def nothing(self) -> bool:
        """Whether the text begins with what is generated next."""
        return not (self.text or self.token_ids)


Beginning = str | bytes | Begun
NOTHING_ENDS = "a budget says when a constraint has to end a text, and there is none; give max_tokens, or a constraint"


def begun(beginning: Beginning) -> Begun:
    """Return what a text that stands there already means."""
    if isinstance(beginning, Begun):
        return beginning
    if not isinstance(beginning, str | bytes):
        raise TypeError(f"prefix must be a str, not {what_was_given(beginning)}")
    return Begun(beginning.encode(), beginning) if isinstance(beginning, str) else Begun(beginning)


def begin(
    constraint: Constraint,
    beginning: Beginning,
    start: str | None = None,
    strip_leading_space: bool | None = None,
    budget: Budget | None = None,
) -> Matcher:
    """Return a matcher that stands after a beginning.

    ``beginning``: if it is empty, the text begins with the next token. ``start``: which of the grammar's start rules.
    ``strip_leading_space``: whether a space that the text begins with does not count. Default: whether the tokenizer
    strips it. What stands behind a beginning keeps its spaces. ``budget``: within how much after the beginning the text
    is to be a sentence.
    Raises ValueError: it is not the beginning of a sentence, or no sentence is so near.
    """
    before = begun(beginning)
    strip = constraint.vocabulary.strip_leading_space if strip_leading_space is None else strip_leading_space
    matcher = constraint.matcher(start, strip_leading_space=strip and before.nothing)
    if before.text and not matcher.accept_bytes(before.text):
        good = before.text
        while not matcher.accept_bytes(good):
            good = good[:-1]
        raise ValueError(
            f"the prefix {_shown(before.text)} is not the beginning of a sentence: after {_shown(good)} the grammar "
            f"does not allow {_shown(before.text[len(good) :])}: {matcher.explain(before.text[len(good) :]).reason}"
        )
    if budget is not None:
        matcher.keep_within(budget)
    return matcher


def one_for_each(
    constraints: Sequence[Constraint | None], prefixes: Sequence[Beginning]
) -> tuple[list[Constraint | None], list[Beginning]]:
    """Return a constraint and a beginning for each prompt, of which one may have been given for all prompts.

    Raises ValueError: there are several of both, and not as many of one as of the other.
    """
    count = max(len(constraints), len(prefixes))
    if not prefixes or not {len(constraints), len(prefixes)} <= {1, count}:
        raise ValueError(
            f"there are {len(constraints)} constraints and {len(prefixes)} prefixes; give one for each prompt, or one "
            "for all of them"
        )
    return [*constraints] * (count // len(constraints)), [*prefixes] * (count // len(prefixes))


def _shown(text: bytes) -> str:
    whole = text.decode("utf-8", "backslashreplace")
    return repr(whole if len(whole) <= 40 else whole[:37] + "...")
