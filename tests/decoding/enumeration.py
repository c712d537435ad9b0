"""Probabilities by the definition: every sequence of tokens, and the model asked without a cache for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

import pdacon

PROMPT = "Say it: "


class Definition:
    """What a model says after a prompt, with nothing kept between two questions but the answers."""

    def __init__(self, pipeline: pdacon.Pipeline, prompt: str = PROMPT) -> None:
        self.model, self.tokenizer = pipeline.model, pipeline.tokenizer
        self.prompt: list[int] = self.tokenizer(prompt)["input_ids"]
        self.vocabulary = pdacon.Vocabulary.from_huggingface(
            self.tokenizer, size=self.model.config.vocab_size, eos_ids=self.model.generation_config.eos_token_id
        )
        self._known: dict[tuple[int, ...], list[float]] = {}

    def chances(self, ids: tuple[int, ...]) -> list[float]:
        """The probabilities of the next token."""
        if ids not in self._known:
            with torch.no_grad():
                if self.model.config.is_encoder_decoder:
                    begin = self.model.config.decoder_start_token_id
                    decoder = torch.tensor([[begin, *ids]])
                    output = self.model(input_ids=torch.tensor([self.prompt]), decoder_input_ids=decoder)
                else:
                    output = self.model(input_ids=torch.tensor([[*self.prompt, *ids]]))
            self._known[ids] = output.logits[0, -1].double().softmax(dim=0).tolist()
        return self._known[ids]

    def of_tokens(self, ids: tuple[int, ...]) -> float:
        """The probability of these tokens, whatever follows."""
        product = 1.0
        for place, token in enumerate(ids):
            product *= self.chances(ids[:place])[token]
        return product

    def end(self, ids: tuple[int, ...]) -> float:
        """The probability that the text ends here."""
        return sum(self.chances(ids)[token] for token in self.vocabulary.eos_ids)

    def spellings(self, text: bytes) -> Iterator[tuple[int, ...]]:
        """All sequences of tokens that spell a text."""
        if not text:
            yield ()
        for token, spelt in enumerate(self.vocabulary.tokens):
            if spelt and token not in self.vocabulary.eos_ids and text.startswith(spelt):
                for rest in self.spellings(text[len(spelt) :]):
                    yield (token, *rest)

    def of_text(self, text: str, also: Callable[[tuple[int, ...]], bool] = lambda ids: True) -> float:
        """The probability of a text with its end, over all of its spellings."""
        return sum(self.of_tokens(ids) * self.end(ids) for ids in self.spellings(text.encode()) if also(ids))
