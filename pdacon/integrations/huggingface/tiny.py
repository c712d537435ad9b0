"""The tiny model that comes with pdacon, to see constrained generation without a download."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging


def tiny_path() -> Path:
    """Return the directory of the tiny model; its README.md says how it was trained."""
    return Path(__file__).parents[2] / "models" / "tiny"


def load_tiny() -> tuple[Any, Any]:
    """Load the tiny model and its tokenizer: about a million parameters, in float32 on the CPU.

    It has seen JSON objects, arithmetic and short prompts for them, such as ``Describe a person as JSON:``, and
    knows nothing else.

    Returns
    -------
    model : transformers.PreTrainedModel
    tokenizer : transformers.PreTrainedTokenizerFast
    """
    path = tiny_path()
    with _without_bars():
        model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    return model.eval(), AutoTokenizer.from_pretrained(path)


@contextmanager
def _without_bars() -> Iterator[None]:
    """No progress bar for what takes no time; the setting is for the whole process, so it is put back."""
    if not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.enable_progress_bar()  # type: ignore[no-untyped-call]
