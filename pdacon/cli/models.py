"""Models and tokenizers by name: the embedded ones, local folders, the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

from pdacon.cli.failures import BadInput
from pdacon.detokenizer import Vocabulary


def load_model(name: str | None) -> tuple[Any, Any]:
    """Model and tokenizer; None: the embedded ones. On the GPU if there is one and a name was given.

    Raises
    ------
    BadInput
        If they cannot be loaded.
    """
    _require_huggingface()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from pdacon.integrations.huggingface import load_tiny

    _be_quiet(bars=not is_local(name))
    if name is None:
        torch.set_num_threads(1)  # for so small a model more threads only wait for each other
        return load_tiny()
    tokenizer = _load("tokenizer", name, AutoTokenizer.from_pretrained)
    model = _load("model", name, partial(AutoModelForCausalLM.from_pretrained, dtype="auto"))
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer


def load_vocabulary(name: str | None) -> Vocabulary:
    """The vocabulary of a tokenizer; None: the embedded model's.

    Raises
    ------
    BadInput
        If it cannot be loaded.
    VocabularyError
        If it is of a family that pdacon cannot read.
    """
    _require_huggingface()
    from transformers import AutoTokenizer

    from pdacon.integrations.huggingface import tiny_path

    _be_quiet(bars=not is_local(name))
    return Vocabulary.from_huggingface(_load("tokenizer", name or str(tiny_path()), AutoTokenizer.from_pretrained))


def _require_huggingface() -> None:
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise BadInput(f"this command needs {error.name}: pip install 'pdacon[huggingface]'") from error


def is_local(name: str | None) -> bool:
    """Whether nothing has to be downloaded, which takes time and shows bars of its own."""
    return name is None or Path(name).is_dir()


def _be_quiet(*, bars: bool) -> None:
    """No advice about how a model was loaded, no reports of each retry; bars only for what takes time."""
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging

    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    if not bars:
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def _load(what: str, name: str, load: Callable[[str], Any]) -> Any:
    if name.startswith((".", "/", "~")) and not Path(name).is_dir():
        raise BadInput(f"{name}: no such folder; --{what} takes a folder or a name on the Hugging Face hub")
    try:
        return load(name)
    except Exception as error:
        # The loaders raise whatever their parts raise: OSError, ValueError, network, JSON and safetensors errors.
        reason = shorten(str(error) or type(error).__name__, 200, placeholder=" ...")
        raise BadInput(f"cannot load the {what} {name!r}: {reason}") from error
