"""How much room continuous batching takes for keys and values, where its configuration leaves that open.

On an accelerator transformers takes what is free there, which is what it is for. On the CPU it would take 60 % of the
machine's memory, and each step reads and masks as much of it as there is, however few requests it has: a warm-up of a
minute, for answers of two seconds.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from transformers import ContinuousBatchingConfig

_ROWS = 32  # that are written at a time
_PROMPT_TOKENS = 512  # that are read at a time
_MOST_TOKENS = 64 << 10  # for which there is room, unless one request needs more


def with_room(
    config: ContinuousBatchingConfig | None, device: str, prompts: Sequence[int], new_tokens: int
) -> ContinuousBatchingConfig:
    """Return a copy of a configuration with room for some requests.

    ``config``: what it says stays as it is. ``device``: the type of the device; anything but ``"cpu"`` is left to
    transformers. ``prompts``: the tokens of each request's prompt. ``new_tokens``: the most tokens that each may get.
    """
    config = ContinuousBatchingConfig() if config is None else copy.deepcopy(config)
    if device != "cpu":
        return config
    if config.max_requests_per_batch is None:
        config.max_requests_per_batch = min(_ROWS, len(prompts))
    rows = config.max_requests_per_batch
    if config.max_batch_tokens is None:
        config.max_batch_tokens = max(rows, min(_PROMPT_TOKENS, sum(prompts)))
    if config.num_blocks is None:
        # Earlier versions of transformers call a page a block.
        page = getattr(config, "page_size", None) or config.block_size
        assert page is not None
        longest = sorted((prompt + new_tokens for prompt in prompts), reverse=True)[:rows]
        pages = [-(-length // page) + 1 for length in longest]
        config.num_blocks = min(sum(pages), max(pages[0], _MOST_TOKENS // page))
    return config
