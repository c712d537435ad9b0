"""What a constraint leaves of a model's distribution: of each row the tokens that may go on, and whether it may stop.

A text *stops* where it is a sentence and a border comes next, and *goes on* with any other token that is allowed. So
the ways on from a place exclude each other, whatever counts as a border.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from pdacon.integrations.torch import shift_out
from pdacon.matching import Matcher


@dataclass(frozen=True, slots=True)
class WaysOn:
    """The logarithms of the model's probabilities of what is allowed next."""

    tokens: torch.Tensor  # of each token with which a text goes on; -inf where it may not
    stop: torch.Tensor  # of all borders together; -inf where the text is no sentence

    @property
    def mass(self) -> torch.Tensor:
        """Of all ways on together: float[rows]."""
        return torch.logaddexp(self.tokens.logsumexp(dim=-1), self.stop)


class Borders:
    """The tokens that are a border, where the scores are; `size` tokens are known to the matchers."""

    def __init__(self, tokens: NDArray[np.bool_], size: int, device: torch.device) -> None:
        self.size = size
        self.ids = frozenset(np.flatnonzero(tokens).tolist())
        self.mask = torch.from_numpy(tokens).to(device)


def ways_on(log_probs: torch.Tensor, matchers: Sequence[Matcher], borders: Borders) -> WaysOn:
    """Return what the matchers leave of a model's distribution.

    ``log_probs``, float[rows, columns]. ``matchers``: one for each row, none of which has its end token.
    """
    allowed = allowed_tokens(matchers, log_probs.shape[1]).to(log_probs.device)
    sentences = torch.tensor([matcher.is_accepting() for matcher in matchers], device=log_probs.device)
    stop = log_probs.masked_fill(~borders.mask, -torch.inf).logsumexp(dim=-1).masked_fill(~sentences, -torch.inf)
    # After a sentence a border ends it; elsewhere such a token is one like others.
    forbidden = ~allowed | (borders.mask & sentences.unsqueeze(1))
    return WaysOn(log_probs.masked_fill(forbidden, -torch.inf), stop)


def allowed_tokens(matchers: Sequence[Matcher], columns: int) -> torch.Tensor:
    """The masks of matchers as bool[rows, columns]; what is beyond their vocabulary is not allowed."""
    words = np.zeros((len(matchers), -(-columns // 32)), dtype=np.int32)
    for row, matcher in enumerate(matchers):
        matcher.fill_bitmask(words, row)
    return shift_out(torch.from_numpy(words), columns)
