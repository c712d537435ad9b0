"""Continuous batching: ``generate_batch`` and its manager, with a mask for each request.

Continuous batching hands a processor no ids, but the requests of a batch before each step, and takes one int32 for each
of them to the device. That integer is the place of the request's mask in a table that lies there.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessor

from pdacon.errors import MatcherError, PdaconError
from pdacon.front.constraint import Constraint
from pdacon.integrations.huggingface.arguments import require_vocabulary
from pdacon.integrations.huggingface.beginnings import Beginning, begin
from pdacon.integrations.huggingface.internals import add_processor, ends_of, written_before
from pdacon.integrations.huggingface.masks import Asked, ScoreMasks
from pdacon.integrations.huggingface.rows import Row
from pdacon.integrations.widths import refusal
from pdacon.matching import Budget, Matcher

_TABLE_BYTES = 1 << 24
_FREE = -1  # the number of what requests without a constraint, and rows that only pad a batch, are allowed


@dataclass(slots=True)
class _Followed:
    """A request that has begun: `again` are the first ids of its row, which it had generated before an interruption."""

    state: weakref.ref[Any]
    constraint: Constraint
    prefix: Beginning
    row: Row
    again: int

    def is_of(self, constraint: Constraint, prefix: Beginning, generated: list[int]) -> bool:
        """Whether the row is a beginning of what was generated since, as far as a host only appends to that."""
        seen = len(self.row.ids) - self.again
        goes_on = seen <= len(generated) and (seen == 0 or self.row.ids[-1] == generated[seen - 1])
        return goes_on and self.constraint is constraint and self.prefix == prefix


class PDAContinuousProcessor(ContinuousBatchingLogitsProcessor):
    """Allow each request what its constraint allows; `constrain` puts it into a manager.

    A request says which constraint by name, ``manager.add_request(ids, constraint="json")``, and may say what of the
    constrained text its prompt ends in, ``prefix="..."`` (str or bytes). Where it names a constraint that there is
    none, or a prefix that begins no sentence, the request ends at once with that in its ``error``; others go on.

    Parameters
    ----------
    constraints : Constraint, or mapping of names to Constraint or None
        One for every request, or those that requests name; None stands for no constraint.
    columns : int
        The columns of the scores.
    device : torch.device
        Where they are.
    max_requests : int
        The most requests in one batch.
    budget : Budget, optional
        Within how much, after its prefix, what a request writes under a constraint is to be a sentence.
    compared : bool
        The constraints are known to be for the tokenizer of the model, so that only scores narrower than a vocabulary
        are refused.

    Attributes
    ----------
    constraints : dict
        By name; `add` and `remove` change it.
    on_step : callable or None
        Is told how many seconds each batch has taken here, to accept tokens and find masks, and how many of CPU time.

    Raises
    ------
    ValueError
        There is no constraint, or one has more tokens than the scores have columns, or so few that the surplus is no
        padding (see `PDALogitsProcessor`).

    Notes
    -----
    Memory on the device: 16 MiB, or two masks for each request of the largest batch if these need more: 16 KiB each for
    131,072 tokens (on the CPU 512 KiB, when they are first used).
    """

    supported_kwargs: dict[str, type] = {"constraint": str, "prefix": object}  # noqa: RUF012 (the host's declaration)
    ignored_kwargs: tuple[str, ...] = ()

    def __init__(
        self,
        constraints: Constraint | Mapping[str, Constraint | None],
        columns: int,
        device: torch.device,
        max_requests: int,
        *,
        budget: Budget | None = None,
        compared: bool = False,
    ) -> None:
        self.constraints: dict[str, Constraint | None] = (
            dict(constraints) if isinstance(constraints, Mapping) else {"": constraints}
        )
        if not self.constraints:
            raise ValueError("there is no constraint; give at least one")
        self._budgets: dict[str, Budget | None] = dict.fromkeys(self.constraints, budget)
        self.on_step: Callable[[float, float], object] | None = None
        self._compared = compared
        self._columns = columns
        for constraint in self.constraints.values():
            if constraint is not None:
                self._require_width(constraint)
        most_rows = max(_TABLE_BYTES // (4 * -(-columns // 32)), 2 * max_requests)
        self._masks = ScoreMasks(columns, device, torch.float32, most_rows, fixed=True)
        self._followed: dict[int, _Followed] = {}  # by the id of a request's state, as long as the host has that

    def add(self, name: str, constraint: Constraint | None, budget: Budget | None = None) -> None:
        """Let requests name one more constraint, perhaps with a budget; safe while the manager runs.

        Raises
        ------
        ValueError
            The name is taken, or see the parameters of the class.
        """
        if name in self.constraints:
            raise ValueError(f"there is a constraint {name!r} already; remove it before another one takes its name")
        if constraint is not None:
            self._require_width(constraint)
        self._budgets[name] = budget
        self.constraints[name] = constraint

    def remove(self, name: str) -> None:
        """Forget a constraint, if there is one of this name; a request that still names it ends with an error."""
        self.constraints.pop(name, None)
        self._budgets.pop(name, None)

    def _require_width(self, constraint: Constraint) -> None:
        size = constraint.vocabulary.size
        way_out = "compile it for vocabulary(model, tokenizer), or give constrain the tokenizer= of this model"
        said = refusal(self._columns, size, way_out, compared=self._compared, constraint="a constraint")
        if said is not None:
            raise ValueError(said)

    def fill_defaults(self, int32_tensor: torch.Tensor) -> None:
        """Write what rows are given that no request has: everything."""
        int32_tensor.fill_(_FREE)

    def prepare_tensor_args(self, requests_with_new_token: Sequence[Any]) -> torch.Tensor:
        """Return where the mask of each request is: int32[requests]."""
        began, cpu_began = time.perf_counter(), time.thread_time()
        numbers = torch.from_numpy(self._find([request.state for request in requests_with_new_token])).clone()
        if self.on_step is not None:
            self.on_step(time.perf_counter() - began, time.thread_time() - cpu_began)
        return numbers

    def __call__(self, scores: torch.Tensor, tensor_arg: torch.Tensor) -> torch.Tensor:
        """Return scores of shape (tokens, columns) with -inf for every token that may not come next."""
        return self._masks.apply(scores, tensor_arg[: scores.shape[0]])[0]

    def _find(self, states: Sequence[Any]) -> NDArray[np.int32]:
        """Find the masks of requests; one that has none ends, and others go on."""
        asked = [self._asked(state) for state in states]
        try:
            numbers = self._masks.find(asked)
        except (ValueError, PdaconError):  # it names one of them at most
            mask = np.empty((1, self._masks.table.shape[1]), np.int32)
            for index, matcher in enumerate(asked):
                if isinstance(matcher, Matcher):
                    try:
                        matcher.fill_bitmask(mask)
                    except (ValueError, PdaconError) as error:
                        asked[index] = _ended(states[index], error)
            numbers = self._masks.find(asked)
        ended = [index for index in self._masks.empty(numbers) if isinstance(asked[index], Matcher)]
        if not ended:
            return numbers
        for index in ended:
            generated = len(self._followed[id(states[index])].row.ids)
            asked[index] = _ended(
                states[index],
                MatcherError(
                    f"no token is allowed after {generated} generated tokens; if the text is complete, the vocabulary "
                    "lacks an end token: give it eos_ids"
                ),
            )
        return self._masks.find(asked)

    def _asked(self, state: Any) -> Asked:
        """What a request may go on with."""
        if state.request_id.startswith("__warmup_"):
            return None
        _require_synchronous(state)
        name = state.logit_processor_kwargs.get("constraint", "")
        prefix = state.logit_processor_kwargs.get("prefix", "")
        try:
            if name not in self.constraints:
                known = ", ".join(map(repr, self.constraints))
                raise ValueError(f"the request names the constraint {name!r}; there are {known}")
            if not isinstance(prefix, Beginning):
                raise ValueError(f"the prefix is {prefix!r}; it must be str or bytes")
            constraint = self.constraints[name]
            if constraint is None:
                return None
            row = self._follow(state, constraint, prefix, self._budgets.get(name)).row
            if row.refusal is not None:
                raise row.refusal
            return row.matcher
        except (ValueError, PdaconError) as error:
            return _ended(state, error)

    def _follow(self, state: Any, constraint: Constraint, prefix: Beginning, budget: Budget | None) -> _Followed:
        """Return a request with its row, brought to what it has generated."""
        followed = self._followed.get(id(state))
        if followed is None or not followed.is_of(constraint, prefix, state.generated_tokens):
            followed = self._begun(state, constraint, prefix, budget)
        row = followed.row
        row.extend(state.generated_tokens[len(row.ids) - followed.again :], 0)
        return followed

    def _begun(self, state: Any, constraint: Constraint, prefix: Beginning, budget: Budget | None) -> _Followed:
        """Return the row of a request from its beginning."""
        again = written_before(state)
        row = Row(begin(constraint, prefix, budget=budget), constraint.vocabulary, None)
        row.extend(again, 0)
        key, all_followed = id(state), self._followed
        there = weakref.ref(state, lambda _: all_followed.pop(key, None))
        followed = all_followed[key] = _Followed(there, constraint, prefix, row, len(again))
        return followed


def constrain(
    manager: Any,
    constraints: Constraint | Mapping[str, Constraint | None],
    *,
    tokenizer: Any = None,
    budget: Budget | None = None,
) -> PDAContinuousProcessor:
    """Constrain what a continuous batching manager generates.

    Parameters
    ----------
    manager : transformers.ContinuousBatchingManager
        As ``model.init_continuous_batching`` returns it: not yet started. It is switched to synchronous batches,
        because a mask depends on the token before.
    constraints : Constraint, or mapping of names to Constraint or None
        See `PDAContinuousProcessor`.
    tokenizer : transformers.PreTrainedTokenizerFast, optional
        The constraints must mean the same texts by the ids as this one. Without it, only their sizes are compared with
        the model's.
    budget : Budget, optional
        Within how much, after its prefix, what a request writes under a constraint is to be a sentence.

    Returns
    -------
    PDAContinuousProcessor
        The manager's first processor from now on.

    Raises
    ------
    ValueError
        The manager has started, or see `PDAContinuousProcessor`.
    VocabularyError
        A constraint was compiled for another vocabulary than the tokenizer's.
    """
    if manager.batch_processor is not None or manager.is_running():
        raise ValueError("the manager has started already; constrain it before its warmup and its start")
    config = manager.continuous_batching_config
    config.use_async_batching = False
    model = manager.model
    if tokenizer is not None:
        for one in constraints.values() if isinstance(constraints, Mapping) else (constraints,):
            if one is not None:
                require_vocabulary(one, model, tokenizer)
    processor = PDAContinuousProcessor(
        constraints,
        model.config.get_text_config(decoder=True).vocab_size,
        model.device,
        config.max_requests_per_batch,
        budget=budget,
        compared=tokenizer is not None,
    )
    add_processor(manager, processor, first=True)
    return processor


def _ended(state: Any, error: Exception) -> tuple[int, ...]:
    """End a request with an error, which would end every request of the manager if it were raised."""
    state.error = str(error)
    return ends_of(state) or (0,)


def _require_synchronous(state: Any) -> None:
    """Refuse a step that is prepared before the token of the last one is known: its mask would be the last one's."""
    known = len(state.initial_tokens) + len(state.generated_tokens)
    if state.position_offset != known:
        raise MatcherError(
            f"request {state.request_id}: its position is {state.position_offset}, but {known} tokens are known: "
            "asynchronous batches cannot be constrained; use `constrain`, or use_async_batching=False"
        )
