"""Which widths of scores can belong to a vocabulary, where nothing else is known of the model.

Models pad their scores: to a multiple of 64, 128 or 1,024, at most of a few thousand. The surplus of published models
is at most 1,024 columns, or a fortieth of the vocabulary (DeepSeek LLM: 102,400 columns for 100,015 tokens); small
vocabularies leave a larger part free (ByT5: 384 columns, 259 of them with a text), and tiny ones are padded to 64 or
128. All of them have room to spare here.
"""

from __future__ import annotations

_PADDING = 1024  # Columns that any vocabulary but a small one may lack.
_LEAST = 128  # Columns that a vocabulary of any size may be padded to.
_PART = 8  # A vocabulary may lack one column for each so many tokens that it has.


def is_plausible(columns: int, size: int) -> bool:
    """Whether scores of so many columns can be of a model whose vocabulary has `size` tokens."""
    return size <= columns <= max(_LEAST, min(2 * size, size + max(_PADDING, size // _PART)))


def refusal(
    columns: int, size: int, way_out: str, *, compared: bool = False, constraint: str = "the constraint"
) -> str | None:
    """Why scores of so many columns are not for a vocabulary of `size` tokens; None: they may be.

    ``compared``: the constraint is known to be for the model's tokenizer, so that it may be padded as far as you like.
    ``way_out`` is for scores that are too wide.
    """
    if columns >= size and (compared or is_plausible(columns, size)):
        return None
    text = f"the scores have {columns} columns, but {constraint} was compiled for {size} tokens"
    if columns < size:
        return f"{text}: compile it for the vocabulary of this model"
    return f"{text}, and models do not pad so far: {way_out}"
