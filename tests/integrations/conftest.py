"""A small tokenizer and small models with random weights, which therefore want to say anything."""

from __future__ import annotations

import pytest
import torch
from support.finite_languages import SentenceConstraint
from support.small_tokenizers import train_byte_level
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedModel
from transformers import PreTrainedTokenizerFast as FastTokenizer

from pdacon.detokenizer import Vocabulary

# The models are so small that threads only wait for one another, and badly where tests run in parallel.
torch.set_num_threads(1)

SENTENCES = ["", "a", "aa", "ab" * 5, "The quick brown fox", "The lazy dog", '{"name": "Zoë"}', "1234567890", "🙂🙃"]


@pytest.fixture(scope="session")
def tokenizer() -> FastTokenizer:
    backend = train_byte_level("llama3", ["<bos>", "<eos>", "<end>", "<pad>"])
    return FastTokenizer(
        tokenizer_object=backend, bos_token="<bos>", eos_token="<eos>", pad_token="<pad>", padding_side="left"
    )


def _model(width: int, architecture: str, tokenizer: FastTokenizer) -> PreTrainedModel:
    torch.manual_seed(0)
    ends = tokenizer.convert_tokens_to_ids(["<eos>", "<end>"])
    special = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": ends, "pad_token_id": tokenizer.pad_token_id}
    model: PreTrainedModel
    if architecture == "gpt2":
        model = GPT2LMHeadModel(
            GPT2Config(vocab_size=width, n_embd=32, n_layer=1, n_head=2, n_positions=128, **special)
        )
    else:
        config = LlamaConfig(
            vocab_size=width,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=128,
            **special,
        )
        model = LlamaForCausalLM(config)
    return model.eval()


@pytest.fixture(scope="session", params=["gpt2", "llama"])
def model(request: pytest.FixtureRequest, tokenizer: FastTokenizer) -> PreTrainedModel:
    """Logits are wider than the tokenizer, as if padded."""
    return _model(512, request.param, tokenizer)


@pytest.fixture(scope="session")
def constraint(tokenizer: FastTokenizer) -> SentenceConstraint:
    """Compiled for the tokenizer alone: the model's surplus columns are beyond its vocabulary."""
    ends = tokenizer.convert_tokens_to_ids(["<eos>", "<end>"])
    return SentenceConstraint(Vocabulary.from_huggingface(tokenizer, eos_ids=ends), SENTENCES)
