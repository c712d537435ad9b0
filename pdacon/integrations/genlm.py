"""GenLM Control: a constraint as a potential, which multiplies with a model's and is sampled by its algorithms.

A potential gives sequences of tokens a weight: here 1 to sentences, and to what sentences begin with, 0 to all others.

    model = PromptedLLM.from_name("gpt2", eos_byte_strings=[b"<|endoftext|>"])
    grammar = ConstraintPotential(constraint, model.vocab)
    sequences = await AWRS(model, grammar).smc(n_particles=10, ess_threshold=0.5, max_tokens=100)

Needs ``pip install genlm-control``; written for 0.4.1.

Source: J. Loula et al., "Syntactic and semantic control of large language models via sequential Monte Carlo" (2025).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from genlm.control import Potential

from pdacon.errors import VocabularyError
from pdacon.front.constraint import Constraint
from pdacon.matching import Matcher

__all__ = ["ConstraintPotential"]

_KEPT = 4096  # contexts whose matchers are kept


class ConstraintPotential(Potential):  # type: ignore[misc]  # which has no types
    """The potential that is 1, in logarithms 0, for what a constraint allows.

    Parameters
    ----------
    constraint : Constraint
    vocabulary : sequence of tokens, optional
        Of the potential that it is multiplied with, such as ``PromptedLLM.vocab``: tokens that have a ``token_id``, by
        which they are known to the constraint's vocabulary; or bytes. Default: the bytes of the constraint's tokens.
    start : str, optional
        Which of the grammar's start rules.

    Raises
    ------
    VocabularyError
        A token is not in the constraint's vocabulary, or spells something else there.

    Notes
    -----
    Cost: of a context that adds a token to one that was asked for lately, one step of a matcher; of another one as many
    as it has tokens. `prefix` and `complete` ask for no mask.

    Examples
    --------
    ::

        potential = ConstraintPotential(pdacon.compile("json", vocabulary))
        await potential.prefix([b"[", b"1"]), await potential.complete([b"[", b"1"])  # 0.0, -inf
    """

    def __init__(
        self, constraint: Constraint, vocabulary: Sequence[Any] | None = None, *, start: str | None = None
    ) -> None:
        spelled = constraint.vocabulary.tokens
        ends = constraint.vocabulary.eos_ids
        number: dict[bytes, int] = {}
        for token, text in enumerate(spelled):
            if text and token not in ends:
                number.setdefault(text, token)
        super().__init__(vocabulary=list(number) if vocabulary is None else list(vocabulary))
        self._constraint = constraint
        self._number = number
        self._ids = np.array([self._id(token) for token in self.vocab], dtype=np.int64)
        self._texts = ~np.isin(self._ids, ends)  # which tokens of the potential do not end a text
        self._matchers: OrderedDict[tuple[int, ...], Matcher | None] = OrderedDict()
        self._matchers[()] = constraint.matcher(start)

    async def complete(self, context: Iterable[Any]) -> float:
        """0 where a sequence of tokens is a sentence, else -inf."""
        matcher = self._after(context)
        return 0.0 if matcher is not None and matcher.is_accepting() else -math.inf

    async def prefix(self, context: Iterable[Any]) -> float:
        """0 where some sentence begins with a sequence of tokens, else -inf."""
        return -math.inf if self._after(context) is None else 0.0

    async def logw_next(self, context: Iterable[Any]) -> Any:
        """Weights of all tokens that may come next, and of the end: one mask.

        Raises
        ------
        ValueError
            No sentence begins with the context.
        """
        matcher = self._after(context)
        if matcher is None:
            raise ValueError(f"Context {list(context)!r} has weight zero under `prefix`.")
        weights = np.full(len(self.vocab_eos), -math.inf)
        weights[:-1][matcher.allowed_mask()[self._ids] & self._texts] = 0.0
        if matcher.is_accepting():
            weights[-1] = 0.0
        return self.make_lazy_weights(weights)

    def spawn(self) -> ConstraintPotential:
        """Another one of the same constraint, for another task or thread: matchers are kept by each for itself."""
        twin = object.__new__(ConstraintPotential)
        Potential.__init__(twin, vocabulary=self.vocab)
        twin._constraint, twin._number = self._constraint, self._number
        twin._ids, twin._texts = self._ids, self._texts
        first = self._matchers[()]
        assert first is not None
        twin._matchers = OrderedDict({(): first.fork()})
        return twin

    def _id(self, token: Any) -> int:
        """What the constraint calls a token."""
        known = getattr(token, "token_id", None)
        number = self._number.get(bytes(token), -1) if known is None else int(known)
        spelled = self._constraint.vocabulary.tokens
        if not 0 <= number < len(spelled):
            raise VocabularyError(f"the constraint's vocabulary has no token {token!r:.60}; compile it for the model's")
        if known is not None and spelled[number] and spelled[number] != bytes(token):
            raise VocabularyError(
                f"token {number} is {bytes(token)!r:.60}, and in the constraint's vocabulary {spelled[number]!r:.60}: "
                "compile it for the model's"
            )
        return number

    def _after(self, context: Iterable[Any]) -> Matcher | None:
        """The matcher after some tokens; None if no sentence begins with them."""
        ids = tuple(int(self._ids[self.lookup[token]]) for token in context)
        length = len(ids)
        while ids[:length] not in self._matchers:
            length -= 1
        matcher = self._matchers[ids[:length]]
        if length:
            self._matchers.move_to_end(ids[:length])
        for end in range(length + 1, len(ids) + 1):
            if matcher is not None:
                matcher = matcher.fork()
                goes_on = ids[end - 1] not in self._constraint.vocabulary.eos_ids and matcher.accept_token(ids[end - 1])
                matcher = matcher if goes_on else None
            self._matchers[ids[:end]] = matcher
        while len(self._matchers) > _KEPT + length:
            oldest = next(key for key in self._matchers if key)
            del self._matchers[oldest]
        return matcher
