"""Models by name: the embedded one, local folders, the Hugging Face hub."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

from pdacon.cli.failures import BadInput
from pdacon.cli.waiting import waiting

TINY = "tiny"
"""What the embedded model is called; a folder of that name goes before it."""


def load_model(name: str | None) -> tuple[Any, Any]:
    """Model and tokenizer; None or ``tiny``: the embedded ones. On the GPU if there is one and a name was given.

    Raises BadInput: if they cannot be loaded.
    """
    if name == TINY and not Path(name).exists():
        name = None
    require("torch", "transformers")
    with waiting("loading PyTorch and transformers"):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        from pdacon.integrations.hub import load_named
        from pdacon.integrations.huggingface import load_tiny

    be_quiet(bars=not is_local(name))
    if name is None:
        torch.set_num_threads(1)  # for so small a model more threads only wait for each other
        with waiting("loading the tiny model"):
            return load_tiny()
    tokenizer = load(
        "tokenizer", name, partial(load_named, "tokenizer", load=AutoTokenizer.from_pretrained), option="--model"
    )
    read = partial(AutoModelForCausalLM.from_pretrained, dtype="auto")
    model = load("model", name, partial(load_named, "model", load=read))
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer


def require(*modules: str, extra: str = "huggingface") -> None:
    """Raise BadInput, with what to install, unless all these modules are there."""
    for module in modules:
        if find_spec(module) is None:
            raise BadInput(f"this needs {module}: pip install 'pdacon[{extra}]'")


def is_local(name: str | None) -> bool:
    """Whether nothing has to be downloaded, which takes time and shows bars of its own."""
    return name in (None, TINY) or Path(str(name)).is_dir()


def be_quiet(*, bars: bool) -> None:
    """No advice about how a model was loaded, no report of each retry; bars for what takes time, on a terminal only."""
    from huggingface_hub.utils.tqdm import disable_progress_bars
    from transformers.utils import logging

    be_quiet_about_downloads()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    if not bars or not sys.stderr.isatty():
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        disable_progress_bars()


def be_quiet_about_downloads() -> None:
    """Without the retries, but with bars."""
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]


def load(what: str, name: str, load: Callable[[str], Any], *, option: str | None = None) -> Any:
    """What ``load`` makes of a name, or BadInput with the reason on one line; the option is where the name is from.

    The loaders raise whatever their parts raise: OSError, ValueError, network, JSON and safetensors errors.
    """
    if name.startswith((".", "/", "~")) and not Path(name).exists():
        option = option or f"--{what}"
        raise BadInput(f"{name}: no such folder; {option} takes a folder or a name on the Hugging Face hub")
    try:
        with waiting(f"loading the {what} {name}"):
            return load(name)
    except Exception as error:
        reason = str(error) or type(error).__name__
        if not isinstance(error, ConnectionError):  # which is our own, and ends with the way out
            reason = shorten(reason, 200, placeholder=" ...")
        raise BadInput(f"cannot load the {what} {name!r}: {reason}") from error
