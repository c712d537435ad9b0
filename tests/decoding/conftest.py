"""Pipelines of small models, and of a small tokenizer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from decoding.small_models import make_model
from support.small_tokenizers import train_byte_level
from transformers import PreTrainedTokenizerFast

import pdacon

torch.set_num_threads(1)  # the models are so small that threads only wait for one another


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    backend = train_byte_level("llama3", ["<bos>", "<eos>", "<end>", "<pad>"])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<bos>", eos_token="<eos>", pad_token="<pad>", padding_side="left"
    )


@pytest.fixture(scope="session", params=["gpt2", "llama", "mistral", "t5"])
def pipeline(request: pytest.FixtureRequest, tokenizer: Any) -> pdacon.Pipeline:
    return pdacon.Pipeline(make_model(request.param, tokenizer), tokenizer)
