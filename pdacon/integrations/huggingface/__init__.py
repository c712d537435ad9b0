"""Hugging Face transformers: constrained ``model.generate``, and a tiny model to try it with.

`PDALogitsProcessor` masks the scores inside ``generate``; `generate` is the whole way from prompts to texts;
`generate_batch` and `constrain` are for continuous batching; `vocabulary` reads what a constraint must be compiled for;
`load_tiny` loads the model that comes with pdacon.

Needs ``pip install 'pdacon[huggingface]'``: torch 2.4 and transformers 5.0 or later.
"""

try:
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"pdacon.integrations.huggingface needs {error.name}; install it with: pip install 'pdacon[huggingface]'"
    ) from error

from pdacon.integrations.huggingface.arguments import vocabulary
from pdacon.integrations.huggingface.batches import generate_batch
from pdacon.integrations.huggingface.continuous import PDAContinuousProcessor, constrain
from pdacon.integrations.huggingface.generation import generate
from pdacon.integrations.huggingface.processor import PDALogitsProcessor
from pdacon.integrations.huggingface.results import Generation
from pdacon.integrations.huggingface.tiny import load_tiny, tiny_path

__all__ = [
    "Generation",
    "PDAContinuousProcessor",
    "PDALogitsProcessor",
    "constrain",
    "generate",
    "generate_batch",
    "load_tiny",
    "tiny_path",
    "vocabulary",
]
