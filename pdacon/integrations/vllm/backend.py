"""What vLLM's engine asks for grammars."""

from __future__ import annotations

from typing import Any

import torch

from pdacon.integrations.vllm.requests import compiler_for, constraint, require_ends
from pdacon.integrations.vllm.tracking import TrackedAnswer


class Backend:
    """What vLLM's ``StructuredOutputBackend`` does.

    ``tokenizer``: the engine's; it is read now.
    Raises VocabularyError: the tokenizer is none that can be read, or names no end; the engine does not start.
    """

    def __init__(self, vllm_config: Any, tokenizer: Any) -> None:
        self._compiler = compiler_for(tokenizer, vllm_config.model_config)
        self._max_rollback = vllm_config.num_speculative_tokens

    def compile_grammar(
        self, request_type: Any, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> TrackedAnswer:
        """The answer to a request, at its beginning. What is raised ends that request."""
        vocabulary = self._compiler.vocabulary
        require_ends(vocabulary, stop_token_ids)
        held = constraint(self._compiler, request_type.name, grammar_spec)
        return TrackedAnswer(held, self._max_rollback, vocabulary.eos_ids)

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """int32[max_num_seqs, ceil(V / 32)], in which everything is allowed."""
        return torch.full((max_num_seqs, -(-self._compiler.vocabulary.size // 32)), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Nothing is left to do."""
