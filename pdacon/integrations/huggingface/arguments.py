"""What the arguments that `generate` and `generate_batch` share mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from pdacon.detokenizer import Vocabulary, logits_width, vocabulary_of
from pdacon.errors import VocabularyError
from pdacon.front.compiling import compile
from pdacon.front.constraint import Constraint
from pdacon.front.grammar import GrammarSource, grammar_of
from pdacon.integrations.huggingface.beginnings import Begun
from pdacon.integrations.huggingface.options import Options
from pdacon.integrations.huggingface.results import Generation, continued

Given = GrammarSource | Constraint
"""What constrains a text: whatever a grammar may be given as, or what `compile` made of one."""
Grammars = Given | Sequence[Given | None]
"""One for all prompts, or one for each."""


def vocabulary(model: Any, tokenizer: Any) -> Vocabulary:
    """Return the vocabulary to compile a constraint for: as wide as the model's logits, ended as ``generate`` ends.

    The last one is kept as long as the tokenizer is. ``compile(grammar, tokenizer=tokenizer, model=model)`` uses the
    same one.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    tokenizer : transformers.PreTrainedTokenizerFast
        See `pdacon.Vocabulary.from_huggingface` for the families that can be read.

    Raises
    ------
    VocabularyError
        See `pdacon.Vocabulary.from_huggingface`.
    """
    return vocabulary_of("vocabulary", tokenizer=tokenizer, model=model)


def choose_constraints(model: Any, tokenizer: Any, options: Options, prompts: int) -> list[Constraint | None]:
    """Return what constrains each prompt, as ``grammar`` says it; each is compiled once.

    It is one for all prompts, or a list with one for each, in which None constrains nothing.

    Raises TypeError: there is none, or something that is none. ValueError: there is not one for each prompt, or see
    `grammar_of`; or a constraint has other ends. VocabularyError: see `require_same_texts`. PdaconError: a grammar
    cannot be compiled; of a list, the note says which.
    """
    caller, given = options.caller, options.grammar
    if given is None:
        raise TypeError(f"{caller} needs a grammar, or a constraint in its place: grammar=")
    if isinstance(given, list | tuple) and len(given) != prompts:
        choices = all(isinstance(one, str) for one in given)
        other = "; choices are one grammar: pdacon.Grammar.from_choices([...])" if choices else ""
        raise ValueError(f"{counted(prompts)}, but {len(given)} grammars; give one for each{other}")
    return each_once(caller, given, partial(constraint_of, model, tokenizer, options), prompts)


def each_once(caller: str, given: Any, make: Callable[[Any], Constraint], times: int) -> list[Constraint | None]:
    """Return what is made of each of a list, of equal ones once, and None of None; or of one thing, so many times.

    Errors say which one of a list they are about, such as ``grammar[1]``.
    """
    if not isinstance(given, list | tuple):
        return [make(given)] * times
    made: dict[int, Constraint | None] = {id(None): None}
    for index, one in enumerate(given):
        if id(one) in made:
            continue
        try:
            made[id(one)] = make(one)
        except Exception as error:
            if len(error.args) == 1 and isinstance(error.args[0], str):
                error.args = (f"{caller}: grammar[{index}]: {error.args[0].removeprefix(f'{caller}: ')}",)
            raise
    return [made[id(one)] for one in given]


def constraint_of(model: Any, tokenizer: Any, options: Options, source: Any) -> Constraint:
    """A constraint, if it is for this model, or a grammar, compiled for it."""
    if isinstance(source, Constraint):
        return require_same_texts(model, tokenizer, source, options.ends)
    words = vocabulary_of(options.caller, None, tokenizer, model, options.ends)
    return compile(grammar_of(options.caller, source, options.start), words)


def end_ids(vocabularies: Sequence[Vocabulary]) -> list[int]:
    """Return the ids that end a text, which are one set for all rows of a call.

    Raises ValueError: the constraints have different ones.
    """
    known = {one.eos_ids for one in vocabularies}
    if len(known) > 1:
        listed = " and ".join(str(list(ends)) for ends in sorted(known))
        raise ValueError(f"the constraints end with different tokens, {listed}; compile them for one vocabulary")
    return list(known.pop())


def require_same_texts(
    model: Any, tokenizer: Any, constraint: Constraint, ends: tuple[int, ...] | None = None
) -> Constraint:
    """Return a constraint, unless it means other texts by the ids than the tokenizer, or ends otherwise than asked.

    Ids that have no text for the constraint are never allowed, so it may know fewer of them; end ids are its own
    business. So are more ids of the tokenizer than the model has columns: the model never gives them. With a tokenizer
    that cannot be read there is nothing to compare; the width of the scores decides then.

    Raises ValueError: it has other ends than were asked for. VocabularyError: an id has a text that is not the
    tokenizer's.
    """
    ours = constraint.vocabulary
    if ends is not None and set(ends) != set(ours.eos_ids):
        raise ValueError(
            f"eos_token_id is {list(ends)}, but the constraint ends with {list(ours.eos_ids)}; give the grammar to "
            "this call, or compile it for a vocabulary made with eos_ids=, which Vocabulary.from_huggingface has"
        )
    theirs = _texts_of(model, tokenizer)
    if theirs is not None:
        _require_texts(ours, theirs)
    return constraint


def _texts_of(model: Any, tokenizer: Any) -> Vocabulary | None:
    """What the tokenizer's ids mean, be they more than the model's or without an end; None if it cannot be read."""
    with suppress(VocabularyError):
        return vocabulary(model, tokenizer)
    with suppress(VocabularyError):
        return Vocabulary.from_huggingface(tokenizer, eos_ids=())
    return None


def is_readable(model: Any, tokenizer: Any) -> bool:
    """Whether there is a vocabulary of this tokenizer for this model; if not, it was written by hand."""
    try:
        vocabulary(model, tokenizer)
    except VocabularyError:
        return False
    return True


def require_vocabulary(constraint: Constraint, model: Any, tokenizer: Any) -> None:
    """Refuse a constraint that is not for this model, this tokenizer, or both: what is given of them.

    Raises VocabularyError: a text or the number of tokens is another, or the tokenizer is none that can be read.
    """
    ours = constraint.vocabulary
    width = None if model is None else logits_width(model)
    if tokenizer is not None:
        _require_texts(ours, Vocabulary.from_huggingface(tokenizer) if model is None else vocabulary(model, tokenizer))
    elif width is not None and ours.size != width:
        raise VocabularyError(
            f"the constraint was compiled for another vocabulary, of {ours.size} tokens, and the scores of this model "
            f"have {width} columns; compile it for vocabulary(model, tokenizer), or give tokenizer= as well"
        )


def _require_texts(ours: Vocabulary, theirs: Vocabulary) -> None:
    if ours is theirs or ours.fingerprint == theirs.fingerprint:
        return
    for token, text in enumerate(ours.tokens):
        known = theirs.tokens[token] if token < theirs.size else None
        if text and text != known:
            what = "no text" if not known else f"{known!r}"
            raise VocabularyError(
                f"the constraint was compiled for another vocabulary, of {ours.size} tokens: in it token {token} is "
                f"{text!r}, in this tokenizer {what}; compile it for vocabulary(model, tokenizer)"
            )


def read_prefixes(
    vocabularies: Sequence[Vocabulary], prefix: str | Generation | Sequence[str | Generation]
) -> list[Begun]:
    """Return what each of the answers begins with; the vocabularies are those of its constraint.

    Raises ValueError: there is not one for each prompt, or one is complete.
    """
    number = len(vocabularies)
    prefixes = [prefix] * number if isinstance(prefix, str | Generation) else list(prefix)
    if len(prefixes) != number:
        raise ValueError(f"{counted(number)}, but {len(prefixes)} prefixes; give one for each, or one for all")
    return [continued(one, prefix) for one, prefix in zip(vocabularies, prefixes, strict=True)]


def counted(prompts: int) -> str:
    """How many prompts there are, as a sentence begins."""
    return "there is 1 prompt" if prompts == 1 else f"there are {prompts} prompts"


def pad_id(model: Any, tokenizer: Any, ends: list[int]) -> int | None:
    """Return what pads rows: what the model or the tokenizer says, or an end token."""
    known = (model.generation_config.pad_token_id, tokenizer.pad_token_id, *ends)
    return next((i for i in known if i is not None), None)
