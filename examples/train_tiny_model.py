"""Train the tiny model that comes with pdacon, from nothing, in a quarter of an hour on one CPU core.

    python examples/train_tiny_model.py --out pdacon/models/tiny

A byte-level BPE tokenizer and a four-layer Llama of about 1.1 million parameters learn the documents of
`tiny_corpus`. The seed fixes the corpus, the tokenizer and the start of training; sums of floating-point numbers differ
between machines, and so do the last digits of the weights.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from tiny_corpus import documents
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

BEGIN, END, PAD = "<|begin|>", "<|end|>", "<|pad|>"
VOCABULARY = 1536
COLUMNS = 256  # tokens of a training row
# Words with their space, single digits, runs of other characters.
PIECES = r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+"


def train_tokenizer(seed: int, count: int) -> PreTrainedTokenizerFast:
    """Byte-level BPE on the first `count` documents; every text starts with the begin token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[BEGIN, END, PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = documents(seed)
    tokenizer.train_from_iterator((piece for _ in range(count) for piece in next(texts)), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", special_tokens=[(BEGIN, tokenizer.token_to_id(BEGIN))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=BEGIN, eos_token=END, pad_token=PAD, padding_side="left"
    )


def new_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama whose input and output embeddings are one matrix."""
    special = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        **special,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(do_sample=True, temperature=0.8, **special)
    return model


def rows(tokenizer: PreTrainedTokenizerFast, seed: int) -> Iterator[list[int]]:
    """Documents one after the other, cut into rows; prompt and answer never share a token."""
    encode = tokenizer.backend_tokenizer.encode
    begin, end = tokenizer.bos_token_id, tokenizer.eos_token_id
    row: list[int] = []
    for prompt, answer in documents(seed):
        row += [begin, *encode(prompt, add_special_tokens=False).ids]
        row += [*encode(answer, add_special_tokens=False).ids, end]
        while len(row) >= COLUMNS:
            yield row[:COLUMNS]
            row = row[COLUMNS:]


def train(model: LlamaForCausalLM, batches: Iterator[torch.Tensor], steps: int, peak: float) -> None:
    """AdamW; the learning rate rises over a twentieth of the steps and falls as a cosine to a twentieth."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, betas=(0.9, 0.98), weight_decay=0.05)
    warm = max(1, steps // 20)

    def rate(step: int) -> float:
        if step < warm:
            return (step + 1) / warm
        return 0.05 + 0.475 * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    start, recent = time.perf_counter(), 0.0
    for step in range(steps):
        batch = next(batches)
        loss = model(input_ids=batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        recent = loss.item() if step == 0 else 0.95 * recent + 0.05 * loss.item()
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:5}  loss {recent:.3f}  {time.perf_counter() - start:5.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="directory to write the model to")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=2800)
    parser.add_argument("--batch", type=int, default=8, help=f"rows of {COLUMNS} tokens in a step")
    parser.add_argument("--rate", type=float, default=3e-3, help="the highest learning rate")
    parser.add_argument("--threads", type=int, default=1, help="two take longer: the work is small")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    tokenizer = train_tokenizer(arguments.seed, count=20_000)
    model = new_model(tokenizer)
    source = rows(tokenizer, arguments.seed)
    batches = (torch.tensor([next(source) for _ in range(arguments.batch)]) for _ in iter(int, 1))
    print(f"{model.num_parameters():,} parameters, {arguments.steps * arguments.batch * COLUMNS:,} tokens", flush=True)
    model.train()
    train(model, batches, arguments.steps, arguments.rate)
    model.to(torch.bfloat16).save_pretrained(arguments.out)
    tokenizer.save_pretrained(arguments.out)


if __name__ == "__main__":
    main()
