"""Drafts for speculative decoding that no second model writes: what the grammar forces, and what texts have shown.

Source: forced tokens as in guidance (microsoft/guidance), and coalescence (Cognetta et al. 2025, section 3.3.1); drafts
from n-grams as in prompt lookup decoding (Saxena 2023), here of all texts that were seen, and less what the grammar
forbids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from transformers import StoppingCriteriaList
from transformers.generation.candidate_generator import CandidateGenerator
from transformers.generation.stopping_criteria import StopStringCriteria

from pdacon.base.arguments import require_count
from pdacon.front.constraint import Constraint
from pdacon.integrations.huggingface.internals import decode_with
from pdacon.matching import Matcher

_FORCED_BYTES = 256  # of what is forced so many are tokenized at most
_MOST_BYTES = 1 << 16  # of forced tokens in one pass


class Draft:
    """Drafts several tokens at a time, which the model then verifies in one pass; what it writes stays the same.

    Give it to `generate` as ``draft=``. A draft goes on as long as the grammar forces what comes next, or the last
    tokens have been seen before, in the prompt, in this answer or in an earlier one: then with the token that most
    often came after them, of those that the grammar allows here.

    Parameters
    ----------
    constraint : Constraint
        What `generate` is given.
    tokenizer : transformers.PreTrainedTokenizerFast, optional
        Forced text is drafted in the tokens that it makes of it. Default: pairs are merged in the order of their ids.
    most : int
        The most tokens of a draft.
    order : int
        How many tokens have to have been seen before, at most; fewer, down to 2, if so many have not.
    samples : int
        So many random sentences of the grammar count as seen; it needs `tokenizer`.
    seed : int
        Of these sentences.

    Attributes
    ----------
    passes, drafted, accepted : int
        How often the model was asked, how many tokens were drafted for it, and how many of them it wrote.

    Raises
    ------
    ValueError, TypeError

    Notes
    -----
    For one generation at a time; what it has seen it keeps for the next one. Cost: for each drafted token a look-up and
    a check of one token; of forced ones as `Matcher.forced_tokens`.
    """

    def __init__(
        self,
        constraint: Constraint,
        tokenizer: Any = None,
        *,
        most: int = 10,
        order: int = 4,
        samples: int = 0,
        seed: int = 0,
    ) -> None:
        for name, number, least in (("most", most, 1), ("order", order, 2), ("samples", samples, 0)):
            if require_count("Draft", name, number) < least:
                raise ValueError(f"Draft: {name} is {number}; it must be at least {least}")
        if samples and tokenizer is None:
            raise ValueError("Draft: samples are read in the tokens of a tokenizer; give tokenizer=")
        self.constraint, self.most, self.order = constraint, most, order
        self.passes = self.drafted = self.accepted = 0
        self._followers: dict[tuple[int, ...], Counter[int]] = {}
        self._tokenize: Callable[[str], list[int]] | None = None
        if tokenizer is not None:
            self._tokenize = lambda text: tokenizer.encode(text, add_special_tokens=False)
            for text in constraint.grammar.sample(samples, seed=seed) if samples else ():
                self.learn(self._tokenize(text))

    def learn(self, token_ids: Sequence[int], known: int = 0) -> None:
        """Count a text, in tokens, as seen; its first `known` tokens are counted already."""
        for place in range(max(known, 2), len(token_ids)):
            for size in range(2, min(self.order, place) + 1):
                key = tuple(token_ids[place - size : place])
                self._followers.setdefault(key, Counter())[token_ids[place]] += 1

    def propose(self, matcher: Matcher, before: Sequence[int], limit: int | None = None) -> list[int]:
        """Draft what comes after some tokens.

        Parameters
        ----------
        matcher : Matcher
            Stands where the draft begins; it stays there.
        before : sequence of int
            The prompt and the answer so far.
        limit : int, optional
            The most tokens, if these are fewer than `most`.

        Returns
        -------
        list of int
            Tokens that can be accepted in turn, no end token among them, at most `most`.
        """
        drafted: list[int] = []
        most = self.most if limit is None else min(self.most, limit)
        here, context = matcher.fork(), list(before)
        while len(drafted) < most:
            following = here.forced_tokens(self._tokenize, _FORCED_BYTES) or self._seen_after(here, context)
            taken = 0
            for token in following[: most - len(drafted)]:
                if token in self.constraint.vocabulary.eos_ids or not here.accept_token(token):
                    break
                drafted.append(token)
                context.append(token)
                taken += 1
            if not taken or taken < len(following):
                break
        return drafted

    def _seen_after(self, here: Matcher, context: Sequence[int]) -> list[int]:
        """The token that most often came after the last ones, as many as can be, of those that are allowed."""
        for size in range(min(self.order, len(context)), 1, -1):
            for token, _ in self._followers.get(tuple(context[-size:]), Counter()).most_common():
                if token < self.constraint.vocabulary.size and here.is_allowed(token):
                    return [token]
        return []


class Forced:
    """Drafts the tokens that are the only ones allowed, one after another: the model has nothing to choose there.

    It counts as a `Draft` does. ``drafted`` and ``accepted`` are equal, unless another logits processor forbids what
    the constraint wants, or something comes before the text, such as a begin token.
    """

    most = 1

    def __init__(self) -> None:
        self.passes = self.drafted = self.accepted = 0

    def learn(self, token_ids: Sequence[int], known: int = 0) -> None:
        """Nothing is learnt from texts."""

    def propose(self, matcher: Matcher, before: Sequence[int], limit: int | None = None) -> list[int]:
        """As of a `Draft`, with no other limit. Cost: a mask for each token."""
        return matcher._only_tokens(_MOST_BYTES, limit)


class Candidates(CandidateGenerator):
    """A draft as transformers' assisted decoding asks for it, for one row.

    ``matcher``: stands where the answer begins. ``columns``: of the prompt. ``last``: the column before which the
    generation stops.
    """

    requires_model_outputs = False

    def __init__(self, draft: Draft | Forced, matcher: Matcher, columns: int, last: int) -> None:
        self._draft, self._matcher = draft, matcher
        self._columns, self._last = columns, last
        self._known = 0  # columns that are learnt
        self._proposed = 0

    def get_candidates(self, input_ids: torch.LongTensor, **_: Any) -> tuple[torch.LongTensor, Any]:
        """The ids and what is drafted after them; no scores: a token of the draft is kept if the model chooses it."""
        ids = input_ids[0].tolist()
        for token in ids[max(self._columns, self._known) :]:
            self._matcher.accept_token(token)
        self._draft.learn(ids, self._known)
        self._known = len(ids)
        # One more token comes from the model.
        proposed = self._draft.propose(self._matcher, ids, max(self._last - len(ids) - 1, 0))
        self._proposed = len(proposed)
        self._draft.passes += 1
        self._draft.drafted += self._proposed
        more = torch.tensor([proposed], dtype=input_ids.dtype, device=input_ids.device)
        return (torch.cat([input_ids, more], dim=1) if proposed else input_ids), None  # type: ignore[return-value]

    def update_candidate_strategy(self, input_ids: torch.LongTensor, scores: torch.Tensor, num_matches: int) -> None:
        """Count what the model has kept."""
        self._draft.accepted += min(int(num_matches), self._proposed)


def drafting(draft: Draft | Forced, matcher: Matcher, tokenizer: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of ``model.generate`` with which a draft is written: assisted decoding with other candidates.

    ``matcher``: stands where the answer begins. ``options``: the other ones. A ``custom_generate`` is handed no
    streamer, and beside one transformers has no tokenizer for stop strings, so both are seen to here.
    """
    streamer: Any = options.get("streamer")
    strings = options.get("stop_strings")

    def decode(model: Any, input_ids: torch.LongTensor, *, generation_config: Any, **others: Any) -> Any:
        candidates = Candidates(draft, matcher, input_ids.shape[1], generation_config.max_length)
        others["streamer"] = streamer
        return decode_with(candidates, model, input_ids, generation_config=generation_config, **others)

    changed = {name: value for name, value in options.items() if name != "stop_strings"}
    if strings:
        criteria = [*options.get("stopping_criteria", ()), StopStringCriteria(tokenizer, strings)]
        changed["stopping_criteria"] = StoppingCriteriaList(criteria)
    # The number makes transformers prepare what assisted decoding needs.
    return {**changed, "custom_generate": decode, "prompt_lookup_num_tokens": draft.most}
