"""What was generated, read back from the ids that ``generate`` returns and checked once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pdacon.constraint import Constraint
from pdacon.integrations.huggingface.beginnings import Begun
from pdacon.integrations.huggingface.rows import Row
from pdacon.matching import Matcher


@dataclass(frozen=True, slots=True)
class Generation:
    """One generated text.

    Attributes
    ----------
    text : str
        The constrained text, a prefix that it continues included: what ``tokenizer.decode`` says of the ids. A
        character that the last token leaves unfinished is dropped.
    token_ids : tuple of int
        The generated ids, the end token included if there is one.
    complete : bool
        Whether the text is a sentence of the grammar. False: `max_tokens` or another stop cut it, and it is the
        beginning of one.
    prompt : int
        Which of the prompts it answers.
    prefix : str
        The beginning of the text that was given as text; the ids are what comes behind it.
    """

    text: str
    token_ids: tuple[int, ...]
    complete: bool
    prompt: int = 0
    prefix: str = ""


def continued(constraint: Constraint, prefix: str | Generation) -> Begun:
    """Return what a prefix says of the text that it begins.

    Raises
    ------
    ValueError
        The prefix is a generation that has its end token: nothing can follow.
    """
    if isinstance(prefix, str):
        return Begun(prefix.encode(), prefix)
    if any(token in constraint.vocabulary.eos_ids for token in prefix.token_ids):
        raise ValueError(f"the text {prefix.text!r} has its end token: there is nothing to continue")
    text = prefix.prefix.encode() + spelled(constraint, prefix.token_ids, first=not prefix.prefix)
    return Begun(text, prefix.prefix, prefix.token_ids)


def spelled(constraint: Constraint, ids: Sequence[int], *, first: bool) -> bytes:
    """Return what ids spell: the tokenizer may take a space from it if the text begins with them."""
    text = constraint.vocabulary.decode(ids)
    return text.removeprefix(b" ") if first and constraint.vocabulary.strip_leading_space else text


def read(
    constraint: Constraint, matcher: Matcher, before: Begun, ids: Sequence[int], pad_id: int | None, prompt: int
) -> Generation:
    """Return the generation that a row of ids is.

    Parameters
    ----------
    constraint : Constraint
    matcher : Matcher
        Stands behind `before`; it is used up.
    before : Begun
        What was there before.
    ids : sequence of int
        The generated columns of the row, padding included.
    pad_id : int or None
        What pads it.
    prompt : int
        The number of the prompt.

    Raises
    ------
    MatcherError
        An id was not allowed where it stands.
    """
    row = Row(matcher, constraint.vocabulary, pad_id)
    row.extend(ids, prompt)
    if row.refusal is not None:
        raise row.refusal
    kept = _up_to_end(ids[: row.opening + row.accepted], constraint.vocabulary.eos_ids)
    text = before.text + spelled(constraint, kept, first=before.nothing)
    return Generation(
        text.decode("utf-8", "ignore"),
        before.token_ids + kept,
        row.matcher.is_terminated() or row.matcher.is_accepting(),
        prompt,
        before.written,
    )


def _up_to_end(ids: Sequence[int], ends: Sequence[int]) -> tuple[int, ...]:
    """Return the ids without what repeats the end token: padding may be one, and beams go on behind theirs."""
    length = next((index + 1 for index, token in enumerate(ids) if token in ends), len(ids))
    return tuple(ids[:length])


def is_placeholder(matcher: Matcher, ids: Sequence[int], ends: Sequence[int], pad_id: int | None) -> bool:
    """Whether a row is what beam search returns in place of a text that it did not find: filling, and nothing else.

    It fills with padding or, if that is id 0, with an end token, so that the empty text looks the same; it is not one
    where the matcher, which stands at its beginning, may end.
    """
    if len(set(ids)) > 1:
        return False
    return not ids or (ids[0] in ends and not matcher.is_accepting()) or (ids[0] == pad_id and ids[0] not in ends)
