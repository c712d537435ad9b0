"""How many tokens of random sentences are the only ones allowed, with ``canonical`` and without.

    PYTHONPATH=tests python tests/benchmarks/forced_tokens.py

The sentences are written in the tokens of the tokenizer, so that both are asked about the same ones.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from mistral_common.tokens.tokenizers.tekken import Tekkenizer

import pdacon
from pdacon.integrations.huggingface import load_tiny

_GRAMMARS = ("arithmetic", "json", "json_dumps", "sql", "python")
_SENTENCES = 40


def forced(constraint: pdacon.Constraint, sentences: list[list[int]]) -> tuple[int, int]:
    """How many tokens are the only ones that are allowed where they stand, and of how many."""
    count = total = 0
    for tokens in sentences:
        matcher = constraint.matcher()
        for token in tokens:
            if not matcher.is_allowed(token):
                break
            total += 1
            count += matcher.allowed_tokens() == [token]
            matcher.accept_token(token)
    return count, total


def main() -> None:
    """Prints a row of a table for each grammar."""
    model, tiny = load_tiny()
    tekken = Tekkenizer.from_file(str(files("mistral_common") / "data" / "tekken_240911.json"))
    vocabularies: list[tuple[str, Any, Any]] = [
        ("tiny", {"tokenizer": tiny, "model": model}, lambda text: tiny.encode(text, add_special_tokens=False)),
        ("tekken", {"tokenizer": tekken}, lambda text: tekken.encode(text, bos=False, eos=False)),
    ]
    print("| grammar | vocabulary | tokens | without | `canonical` |\n|---|---|---|---|---|")
    for name in _GRAMMARS:
        texts = pdacon.Grammar.builtin(name).sample(_SENTENCES, seed=0)
        for vocabulary, given, encode in vocabularies:
            sentences = [encode(text) for text in texts]
            shares = []
            for canonical in (False, True):
                count, total = forced(pdacon.compile(name, **given, canonical=canonical), sentences)
                shares.append(f"{count / total:.1%}")
            print(f"| `{name}` | {vocabulary} | {total:,} | {shares[0]} | {shares[1]} |", flush=True)


if __name__ == "__main__":
    main()
