"""Tokenizers of the families that users have, as transformers wraps them."""

from __future__ import annotations

import base64
import json
from importlib.resources import files
from pathlib import Path

import pytest
from support.small_tokenizers import train_byte_level
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast


@pytest.fixture(scope="session")
def gpt2_style() -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(
        tokenizer_object=train_byte_level("gpt2", ["<|endoftext|>"]), eos_token="<|endoftext|>"
    )


@pytest.fixture(scope="session")
def llama3_style() -> PreTrainedTokenizerFast:
    """With special tokens after the text, several of which end one, and added tokens that are text."""
    tokenizer = train_byte_level("llama3", [])
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|finetune_right_pad_id|>"])
    tokenizer.add_tokens(
        [AddedToken("<tool_call>", special=False), AddedToken("    ", special=False, normalized=False)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<|begin_of_text|>",
        eos_token="<|eot_id|>",
        pad_token="<|finetune_right_pad_id|>",
    )


@pytest.fixture(scope="session")
def tekken() -> tuple[PreTrainedTokenizerFast, list[bytes | None]]:
    """The real vocabulary of 131,072 ids, as a fast tokenizer and as the file itself spells it."""
    pytest.importorskip("mistral_common")
    from transformers.integrations.mistral.tokenizer import MistralConverter

    path = Path(str(files("mistral_common") / "data" / "tekken_240911.json"))
    model = json.loads(path.read_text())
    control = model["config"]["default_num_special_tokens"]
    entries = model["vocab"][: model["config"]["default_vocab_size"] - control]
    backend = MistralConverter(str(path)).converted()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>")
    return tokenizer, [None] * control + [base64.b64decode(entry["token_bytes"]) for entry in entries]
