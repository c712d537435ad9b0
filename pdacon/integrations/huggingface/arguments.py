"""What the arguments that `generate` and `generate_batch` share mean."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from pdacon.compiling import compile
from pdacon.constraint import Constraint
from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError
from pdacon.grammar import Grammar
from pdacon.integrations.huggingface.beginnings import Begun
from pdacon.integrations.huggingface.results import Generation, continued

_vocabularies: WeakKeyDictionary[Any, tuple[object, Vocabulary]] = WeakKeyDictionary()


def vocabulary(model: Any, tokenizer: Any) -> Vocabulary:
    """Return the vocabulary to compile a constraint for: as wide as the model's logits, ended as ``generate`` ends.

    The last one is kept as long as the tokenizer is.

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
    width = model.config.get_text_config(decoder=True).vocab_size
    ends = model.generation_config.eos_token_id
    # Tokens can be added to a tokenizer, and words that it has can be made special.
    key = (width, repr(ends), len(tokenizer), tuple(getattr(tokenizer, "all_special_ids", ())))
    known = _vocabularies.get(tokenizer)
    if known is None or known[0] != key:
        known = key, Vocabulary.from_huggingface(tokenizer, size=width, eos_ids=ends)
        _vocabularies[tokenizer] = known
    return known[1]


def require_sensible(max_tokens: int, temperature: float, num_beams: int, num_return_sequences: int) -> None:
    """Raise ValueError for numbers out of range, and for several texts where there is only one."""
    if max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}; at least 1 token must be generated")
    if not temperature >= 0:
        raise ValueError(f"temperature is {temperature}; it must be 0 (no sampling) or more")
    if num_beams < 1:
        raise ValueError(f"num_beams is {num_beams}; it must be at least 1")
    if num_return_sequences < 1:
        raise ValueError(f"num_return_sequences is {num_return_sequences}; it must be at least 1")
    if num_beams == 1 and num_return_sequences > 1 and temperature == 0:
        raise ValueError(
            "temperature 0 generates one text only; give num_return_sequences=1, a temperature above 0, or num_beams"
        )
    if num_beams > 1 and num_return_sequences > num_beams:
        raise ValueError(f"{num_beams} beams cannot give {num_return_sequences} texts; give more num_beams")


def choose_constraint(
    model: Any, tokenizer: Any, grammar: Grammar | str | None, constraint: Constraint | None, start: str | None
) -> Constraint:
    """Return the constraint that two arguments mean; a grammar is compiled.

    Raises
    ------
    TypeError
        Neither or both are given.
    ValueError
        The text of the grammar looks like a name.
    VocabularyError
        See `require_same_texts`.
    """
    if (grammar is None) == (constraint is None):
        raise TypeError("generate needs grammar or constraint, and not both")
    if constraint is not None:
        require_same_texts(model, tokenizer, constraint)
        return constraint
    if isinstance(grammar, str):
        _require_grammar_text(grammar)
        grammar = Grammar.from_lark(grammar) if start is None else Grammar.from_lark(grammar, start=start)
    assert grammar is not None
    return compile(grammar, vocabulary(model, tokenizer))


def require_same_texts(model: Any, tokenizer: Any, constraint: Constraint) -> None:
    """Refuse a constraint that means other texts by the ids than the tokenizer does.

    Ids that have no text for the constraint are never allowed, so it may know fewer of them; end ids are its own
    business. So are more ids of the tokenizer than the model has columns: the model never gives them. With a tokenizer
    that cannot be read there is nothing to compare; the width of the scores decides then.

    Raises
    ------
    TypeError
        It is no constraint.
    VocabularyError
        An id has a text that is not the tokenizer's.
    """
    ours: Vocabulary | None = getattr(constraint, "vocabulary", None)
    if ours is None:
        raise TypeError(
            f"constraint is of type {type(constraint).__name__}; give one that pdacon.compile returns, or grammar="
        )
    theirs = _texts_of(model, tokenizer)
    if theirs is not None:
        _require_texts(ours, theirs)


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

    Raises
    ------
    VocabularyError
        A text or the number of tokens is another, or the tokenizer is none that can be read.
    """
    ours = constraint.vocabulary
    width = None if model is None else model.config.get_text_config(decoder=True).vocab_size
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


def _require_grammar_text(grammar: str) -> None:
    """Refuse the name of a grammar or of a file: a text from elsewhere must not decide which files are read."""
    named = grammar.strip() and "\n" not in grammar and "%" not in grammar
    if named and (":" not in grammar or grammar.endswith(".lark")):
        raise ValueError(
            f"grammar={grammar!r} is not the text of a grammar; for a built-in one give Grammar.builtin(name), "
            "for a file Grammar.from_file(path)"
        )


def read_prefixes(
    constraints: Sequence[Constraint], prefix: str | Generation | Sequence[str | Generation]
) -> list[Begun]:
    """Return what each of the answers begins with.

    Raises
    ------
    ValueError
        There is not one for each prompt, or one is complete.
    """
    number = len(constraints)
    prefixes = [prefix] * number if isinstance(prefix, str | Generation) else list(prefix)
    if len(prefixes) != number:
        raise ValueError(f"there are {number} prompts, but {len(prefixes)} prefixes; give one for each, or one for all")
    return [continued(constraint, one) for constraint, one in zip(constraints, prefixes, strict=True)]


def pad_id(model: Any, tokenizer: Any, ends: list[int]) -> int | None:
    """Return what pads rows: what the model or the tokenizer says, or an end token."""
    known = (model.generation_config.pad_token_id, tokenizer.pad_token_id, *ends)
    return next((i for i in known if i is not None), None)
