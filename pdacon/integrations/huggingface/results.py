"""What was generated, read back from the ids that ``generate`` returns and checked once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from pdacon.base.cautions import caution
from pdacon.base.html import preformatted, shaded
from pdacon.base.type_variables import Value
from pdacon.detokenizer import Vocabulary
from pdacon.errors import IncompleteWarning
from pdacon.front.constraint import Constraint
from pdacon.front.values import UNKNOWN, reader_of, reader_of_builtin
from pdacon.integrations.huggingface.beginnings import Begun, begin, begun
from pdacon.integrations.huggingface.diagnostics import Diagnostics
from pdacon.integrations.huggingface.rows import Row
from pdacon.matching import Matcher

_MANY_BLANKS = 20  # at the end of a text that is no sentence yet: more than layouts of texts want


@dataclass(frozen=True, slots=True)
class Generation(Generic[Value]):
    """One generated text; ``str()`` is its text. Of a `Generator` of a type ``T`` its `value` is a ``T``.

    Attributes
    ----------
    text : str
        The constrained text, a prefix that it continues included: what ``tokenizer.decode`` says of the ids. A
        character that the last token leaves unfinished is dropped.
    token_ids : tuple of int
        The generated ids, the end token included if there is one.
    complete : bool
        Whether the text is a sentence of the grammar. False: `max_tokens` or another stop cut it, and it is the
        beginning of one. Where nothing constrains it: whether it has its end token.
    prompt : int
        Which of the prompts it answers.
    prefix : str
        The beginning of the text that was given as text; the ids are what comes after it.
    grammar : str or None
        The name of the built-in grammar that constrained it, if it was one.
    skipped : int or None
        With ``skip_forced=True``: how many of the tokens that the call wrote were the only ones allowed, so that the
        model was not asked for them.
    passes : int or None
        With ``skip_forced=True``: how often it was asked, once for each of the other tokens.
    """

    text: str
    token_ids: tuple[int, ...]
    complete: bool
    prompt: int = 0
    prefix: str = ""
    grammar: str | None = field(default=None, repr=False, compare=False)
    skipped: int | None = field(default=None, repr=False, compare=False)
    passes: int | None = field(default=None, repr=False, compare=False)
    _diagnostics: Diagnostics | None = field(default=None, repr=False, compare=False)
    _constraint: Constraint | None = field(default=None, repr=False, compare=False)

    @property
    def diagnostics(self) -> Diagnostics:
        """The probabilities of its tokens, with the constraint and without, and what the model would have written.

        Raises
        ------
        ValueError
            They were not asked for, with ``diagnostics=True``.
        """
        if self._diagnostics is None:
            raise ValueError("this text was generated without its probabilities; give diagnostics=True to the call")
        return self._diagnostics

    @property
    def skip_rate(self) -> float:
        """Of the tokens that the call wrote, the share for which the model was not asked: 0 to 1.

        Raises
        ------
        ValueError
            The text was generated without ``skip_forced=True``.
        """
        if self.skipped is None or self.passes is None:
            raise ValueError("the model was asked for each token of this text; give skip_forced=True to the call")
        return self.skipped / (self.skipped + self.passes)

    @property
    def value(self) -> Value:
        """What the text stands for, where the grammar knows it: of a type, of a JSON Schema, of the built-in ``json``.

        Raises
        ------
        ValueError
            The text was cut off, or Python's limits refuse it, such as that on digits.
        TypeError
            The grammar knows no values.
        RecursionError
            It is nested too deeply for ``json.loads``.
        """
        of = self._constraint
        read = reader_of_builtin(self.grammar) if of is None else reader_of(of)
        if read is None:
            raise TypeError(f"the grammar of this text {UNKNOWN}")
        if not self.complete:
            raise ValueError(f"the text was cut off after {len(self.token_ids)} tokens; give more max_new_tokens")
        value: Value = read(self.text)
        return value

    def __str__(self) -> str:
        return self.text

    def __iter__(self) -> Iterator[Generation[Value]]:
        """Only itself: ``(answer,) = generate(...)`` unpacks one text as it does a list of one."""
        yield self

    def __getitem__(self, index: int) -> Generation[Value]:
        """Itself at 0, as of a list of one."""
        return (self,)[index]

    def __reduce__(self) -> tuple[Any, ...]:
        """All but the constraint, which pickles by itself."""
        known = (self.text, self.token_ids, self.complete, self.prompt, self.prefix, self.grammar)
        return Generation, (*known, self.skipped, self.passes, self._diagnostics)

    def _repr_html_(self) -> str:
        """The text, token by token: the fewer tokens were allowed, the darker; pointed at, it says how many."""
        state = f"{'complete' if self.complete else 'cut off'}, {len(self.token_ids)} tokens"
        steps = None if self._constraint is None else steps_of(self._constraint, self)
        return preformatted(f"{self.text}\n\n{state}") if steps is None else shaded(self.prefix, steps, state)


def continued(vocabulary: Vocabulary, prefix: str | Generation) -> Begun:
    """Return what a prefix says of the text that it begins.

    Raises ValueError: the prefix is a generation that has its end token: nothing can follow.
    """
    if isinstance(prefix, str):
        return begun(prefix)
    if any(token in vocabulary.eos_ids for token in prefix.token_ids):
        raise ValueError(f"the text {prefix.text!r} has its end token: there is nothing to continue")
    text = prefix.prefix.encode() + spelled(vocabulary, prefix.token_ids, first=not prefix.prefix)
    return Begun(text, prefix.prefix, prefix.token_ids)


def spelled(vocabulary: Vocabulary, ids: Sequence[int], *, first: bool) -> bytes:
    """Return what ids spell: the tokenizer may take a space from it if the text begins with them."""
    text = vocabulary.decode(ids)
    return text.removeprefix(b" ") if first and vocabulary.strip_leading_space else text


def read(
    constraint: Constraint, matcher: Matcher, before: Begun, ids: Sequence[int], pad_id: int | None, prompt: int
) -> Generation:
    """Return the generation that a row of ids is.

    Parameters
    ----------
    constraint : Constraint
    matcher : Matcher
        Stands after `before`; it is used up.
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
    text = before.text + spelled(constraint.vocabulary, kept, first=before.nothing)
    return Generation(
        text.decode("utf-8", "ignore"),
        before.token_ids + kept,
        row.matcher.is_terminated() or row.matcher.is_accepting(),
        prompt,
        before.written,
        constraint.builtin_name,
        _constraint=constraint,
    )


def steps_of(constraint: Constraint, generation: Generation) -> list[tuple[str, int, int]] | None:
    """Return for each generated token its text, how many were allowed there, and of how many.

    None where the ids are not those of the constraint's first start.
    """
    vocabulary = constraint.vocabulary
    try:
        matcher = begin(constraint, generation.prefix)
    except ValueError:
        return None
    steps = []
    for token in generation.token_ids:
        allowed = int(matcher.allowed_mask().sum())
        if not matcher.accept_token(token):
            return None
        text = vocabulary.tokens[token] or b""
        steps.append((text.decode("utf-8", "backslashreplace"), allowed, vocabulary.size))
    return steps


def read_free(
    vocabulary: Vocabulary, before: Begun, ids: Sequence[int], ends: Sequence[int], pad_id: int | None, prompt: int
) -> Generation:
    """Return the generation that a row of ids is which nothing constrained; parameters as of `read`."""
    kept = _up_to_end(ids, ends)
    complete = any(token in ends for token in kept)
    while kept and not complete and kept[-1] == pad_id:
        kept = kept[:-1]
    text = before.text + spelled(vocabulary, kept, first=before.nothing)
    return Generation(text.decode("utf-8", "ignore"), before.token_ids + kept, complete, prompt, before.written)


def warn_of_cuts(texts: Sequence[Generation], max_tokens: int) -> None:
    """Warn the caller of `generate` about texts that the most tokens have cut."""
    held = [text for text in texts if text._constraint is not None]  # what nothing constrains has no end to miss
    cut = [text for text in held if not text.complete and len(text.token_ids) >= max_tokens]
    if cut:
        which = "the text was" if len(held) == 1 else f"{len(cut)} of {len(held)} texts were"
        way_out = "give more max_new_tokens, or continue with prefix="
        blanks = min(len(text.text) - len(text.text.rstrip()) for text in cut)
        if blanks >= _MANY_BLANKS:  # more tokens would be more of them
            way_out = f"at its end are {blanks} blanks or more: take a grammar that does not allow any number of them"
        caution(
            f"{which} cut off after {max_tokens} tokens, before the grammar's end (`complete` says which are whole); "
            f"{way_out}",
            IncompleteWarning,
        )


def _up_to_end(ids: Sequence[int], ends: Sequence[int]) -> tuple[int, ...]:
    """Return the ids without what repeats the end token: padding may be one, and beams go on after theirs."""
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
