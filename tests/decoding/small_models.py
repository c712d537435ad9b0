"""Small models with random weights, so that everything is possible and nothing is likely."""

from __future__ import annotations

from typing import Any

import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)


def make_model(architecture: str, tokenizer: Any, scale: float = 4.0) -> Any:
    """A model with two ends, and with more columns than the tokenizer has tokens."""
    torch.manual_seed(3)
    ends = tokenizer.convert_tokens_to_ids(["<eos>", "<end>"])
    special = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": ends, "pad_token_id": tokenizer.pad_token_id}
    width = 448
    made: Any
    if architecture == "gpt2":
        made = GPT2LMHeadModel(GPT2Config(vocab_size=width, n_embd=32, n_layer=2, n_head=2, n_positions=128, **special))
    elif architecture == "t5":
        sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
        made = T5ForConditionalGeneration(
            T5Config(vocab_size=width, decoder_start_token_id=tokenizer.bos_token_id, **sizes, **special)
        )
    else:
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        kind: Any = LlamaForCausalLM
        config: Any = LlamaConfig
        if architecture == "mistral":
            kind, config = MistralForCausalLM, MistralConfig
            sizes |= {"sliding_window": 4, "num_key_value_heads": 2}  # so many tokens are seen, and kept
        made = kind(config(vocab_size=width, max_position_embeddings=128, **sizes, **special))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(1.5 if architecture == "t5" else scale)  # so that contexts matter
    return made.eval()
