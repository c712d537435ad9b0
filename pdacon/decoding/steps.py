"""`Steps`: a text that is written one token at a time, by whoever decides which."""

from __future__ import annotations

import torch

from pdacon.base.arguments import require_count
from pdacon.decoding.states import States
from pdacon.decoding.ways_on import allowed_tokens
from pdacon.detokenizer import Vocabulary
from pdacon.integrations.huggingface.beginnings import Begun
from pdacon.integrations.huggingface.results import spelled
from pdacon.matching import Matcher


class Steps:
    """A model after a text under way, with what the constraint allows; `Pipeline.steps` makes it.

    Look at `log_probs` and `allowed`, choose a token, `take` it; `fork` to try several.

    Attributes
    ----------
    token_ids : tuple of int
        The tokens that were taken.
    log_prob : float
        The natural logarithm of their probability by the model alone.
    constrained_log_prob : float
        The same by the model under the constraint.
    """

    def __init__(self, states: States, matcher: Matcher | None, vocabulary: Vocabulary, before: Begun) -> None:
        self._states = states
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._before = before
        self._allowed: torch.Tensor | None = None
        self.token_ids: tuple[int, ...] = ()
        self.log_prob = self.constrained_log_prob = 0.0

    @property
    def log_probs(self) -> torch.Tensor:
        """The logarithms of the model's own probabilities of the next token: float[columns]."""
        return self._states.log_probs[0]

    @property
    def allowed(self) -> torch.Tensor:
        """Which tokens may come next: bool[columns], on the device of the model."""
        if self._allowed is None:
            log_probs = self.log_probs
            if self.ended:
                self._allowed = torch.zeros_like(log_probs, dtype=torch.bool)
            elif self._matcher is None:
                self._allowed = torch.ones_like(log_probs, dtype=torch.bool)
            else:
                self._allowed = allowed_tokens([self._matcher], len(log_probs))[0].to(log_probs.device)
        return self._allowed

    @property
    def log_mass(self) -> float:
        """The logarithm of the model's probability of all that is allowed.

        0 where nothing constrains, -inf after an end token.
        """
        if self._matcher is None and not self.ended:
            return 0.0  # the sum of all probabilities is 1 but for rounding
        return min(float(self.log_probs.masked_fill(~self.allowed, -torch.inf).logsumexp(dim=-1)), 0.0)

    @property
    def constrained_log_probs(self) -> torch.Tensor:
        """The logarithms of the probabilities among what is allowed: float[columns], -inf elsewhere."""
        return self.log_probs.masked_fill(~self.allowed, -torch.inf) - self.log_mass

    @property
    def ended(self) -> bool:
        """Whether an end token was taken: nothing can follow."""
        return bool(self.token_ids) and self.token_ids[-1] in self._vocabulary.eos_ids

    @property
    def complete(self) -> bool:
        """Whether the text is a sentence; where nothing constrains it, whether it has its end token."""
        if self._matcher is None:
            return self.ended
        return self._matcher.is_accepting() or self._matcher.is_terminated()

    @property
    def text(self) -> str:
        """The text so far, what it began with included, in whole characters."""
        text = self._before.text + spelled(self._vocabulary, self.token_ids, first=self._before.nothing)
        return text.decode("utf-8", "ignore")

    def take(self, token: int | None = None) -> int:
        """Go on with a token, which costs a step of the model, and return it.

        Parameters
        ----------
        token : int, optional
            Default: the most probable of those that are allowed.

        Raises
        ------
        ValueError
            It is not allowed here, or the model's context is full: nothing changes. Or the text has its end token.
        """
        if self.ended:
            raise ValueError("the text has its end token: nothing can follow")
        if token is None:
            token = int(self.constrained_log_probs.argmax())
        token = require_count("take", "token", token)
        if not 0 <= token < len(self.log_probs) or not bool(self.allowed[token]):
            why = "" if self._matcher is None or token >= self._vocabulary.size else self._matcher.explain(token).reason
            raise ValueError(f"token {token} is not allowed here: {why}".rstrip(": "))
        log_prob = float(self.log_probs[token])
        constrained = log_prob - self.log_mass
        if token not in self._vocabulary.eos_ids:
            self._states = self._states.rows([0]).step([token])
        if self._matcher is not None:
            self._matcher.accept_token(token)
        self.token_ids = (*self.token_ids, token)
        self.log_prob += log_prob
        self.constrained_log_prob = min(self.constrained_log_prob + constrained, 0.0)
        self._allowed = None
        return token

    def fork(self) -> Steps:
        """An independent one at the same place. Cost: none before one of the two goes on."""
        twin = Steps(
            self._states, None if self._matcher is None else self._matcher.fork(), self._vocabulary, self._before
        )
        twin.token_ids, twin.log_prob = self.token_ids, self.log_prob
        twin.constrained_log_prob = self.constrained_log_prob
        return twin

    def __repr__(self) -> str:
        state = "ended" if self.ended else "complete" if self.complete else "under way"
        return f"<Steps after {self.text[-30:]!r}, {len(self.token_ids)} tokens, {state}>"
