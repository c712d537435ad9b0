"""Hugging Face transformers: constrained ``model.generate``, and a tiny model to try it with.

`PDALogitsProcessor` masks the scores inside ``generate``; `generate` is the whole way from prompts to texts;
`generate_batch` and `constrain` are for continuous batching; `heal` is for prompts that end within a token;
`vocabulary` reads what a constraint must be compiled for; `load_tiny` loads the model that comes with pdacon.

Needs ``pip install 'pdacon[huggingface]'``: torch 2.4 and transformers 5.0 or later.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import torch  # noqa: F401
    import transformers
except ImportError as error:
    raise ImportError(
        f"pdacon.integrations.huggingface needs {error.name}; install it with: pip install 'pdacon[huggingface]'"
    ) from error

from pdacon.integrations.huggingface.arguments import vocabulary
from pdacon.integrations.huggingface.diagnostics import Diagnostics, Step
from pdacon.integrations.huggingface.drafts import Draft
from pdacon.integrations.huggingface.generation import generate
from pdacon.integrations.huggingface.generator import Generator
from pdacon.integrations.huggingface.healing import Healed, heal
from pdacon.integrations.huggingface.processor import PDALogitsProcessor
from pdacon.integrations.huggingface.progress import Progress
from pdacon.integrations.huggingface.results import Generation
from pdacon.integrations.huggingface.streams import AsyncStream, Piece, Stream
from pdacon.integrations.huggingface.tiny import load_tiny, tiny_path

if TYPE_CHECKING:
    from pdacon.integrations.huggingface.batches import generate_batch
    from pdacon.integrations.huggingface.continuous import PDAContinuousProcessor, constrain

_CONTINUOUS = {"generate_batch": "batches", "PDAContinuousProcessor": "continuous", "constrain": "continuous"}


def __getattr__(name: str) -> Any:
    """Import continuous batching when it is asked for: a part of transformers that came late, and changes."""
    if name not in _CONTINUOUS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_CONTINUOUS[name]}"), name)
    except ImportError as error:
        raise ImportError(
            f"{name} needs the continuous batching of a later transformers than {transformers.__version__} "
            f"(it was written for 5.23): {error}"
        ) from error


__all__ = [
    "AsyncStream",
    "Diagnostics",
    "Draft",
    "Generation",
    "Generator",
    "Healed",
    "PDAContinuousProcessor",
    "PDALogitsProcessor",
    "Piece",
    "Progress",
    "Step",
    "Stream",
    "constrain",
    "generate",
    "generate_batch",
    "heal",
    "load_tiny",
    "tiny_path",
    "vocabulary",
]
