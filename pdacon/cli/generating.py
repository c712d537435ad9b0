"""``pdacon generate``: text on standard output as it comes, everything else on standard error."""

from __future__ import annotations

import secrets
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from types import MappingProxyType

from rich.console import Console

import pdacon
from pdacon.cli.failures import BadInput
from pdacon.cli.models import is_local, load_model
from pdacon.grammar import Grammar

# What the embedded model was trained to answer; any other prompt is news to it.
EMBEDDED_PROMPTS = MappingProxyType(
    {"json": "Describe a person as JSON:", "arithmetic": "Write an arithmetic expression:"}
)


@dataclass(frozen=True)
class Sampling:
    """How to draw: see the options of the command."""

    prompt: str
    max_tokens: int
    temperature: float
    seed: int | None
    count: int


def generate_texts(grammar: Grammar, model_name: str | None, sampling: Sampling) -> int:
    """Generate ``count`` texts one after the other, text i from seed + i, and print each as it comes."""
    if sampling.count > 1 and sampling.temperature == 0:
        raise BadInput("temperature 0 always gives the same text: -n needs a temperature above 0")
    status = Console(stderr=True, highlight=False)
    with status.status("loading the model") if is_local(model_name) else nullcontext():
        model, tokenizer = load_model(model_name)
        from pdacon.integrations.huggingface import vocabulary
    with status.status("compiling the grammar"):
        constraint = pdacon.compile(grammar, vocabulary(model, tokenizer))
    seed = secrets.randbelow(2**31) if sampling.seed is None else sampling.seed
    for index in range(sampling.count):
        _generate_one(model, tokenizer, constraint, sampling, seed + index)
    return 0


def _generate_one(
    model: object, tokenizer: object, constraint: pdacon.Constraint, sampling: Sampling, seed: int
) -> None:
    from pdacon.integrations.huggingface import generate

    started = time.perf_counter()
    try:
        (generation,) = generate(
            model,
            tokenizer,
            sampling.prompt,
            constraint=constraint,
            max_tokens=sampling.max_tokens,
            seed=seed,
            temperature=sampling.temperature,
            on_text=_write,
        )
    finally:
        _write("\n")
    seconds = time.perf_counter() - started
    count = len(generation.token_ids)
    tokens = "1 token" if count == 1 else f"{count} tokens"
    state = "complete" if generation.complete else f"cut off by --max-tokens {sampling.max_tokens}"
    drawn = f"; --seed {seed}" if sampling.temperature > 0 else ""
    sys.stderr.write(f"{tokens} in {seconds:.1f} s ({count / seconds:.0f} tokens/s); {state}{drawn}\n")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
