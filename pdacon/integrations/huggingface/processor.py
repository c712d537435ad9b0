"""`PDALogitsProcessor`: the mask of a constraint inside ``model.generate``."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from transformers import LogitsProcessor

from pdacon.constraint import Constraint
from pdacon.errors import MatcherError
from pdacon.integrations.huggingface.rows import Row, follow


class PDALogitsProcessor(LogitsProcessor):
    """Allow only what the constraint allows: every other score becomes -inf.

    Pass it as ``model.generate(..., logits_processor=[PDALogitsProcessor(constraint)])``. Greedy decoding and
    sampling, beam search, assisted decoding and prompt lookup work, in batches with left padding and with
    ``num_return_sequences``. Scores may have any floating dtype, any device, and more columns than the vocabulary has
    tokens (the surplus is never allowed); those given are not changed in place.

    A row that has its end token may only repeat end tokens. Rows that ``generate`` has finished and fills with padding
    are tolerated; a row finished by something other than an end token (``stop_strings``, say) is recognised by its
    padding, if `pad_token_id` is given.

    The state of a row is found by its content. What is prompt and what is generated is learnt when a generation
    begins, so one processor serves several calls of ``generate``: a generation is a new one if its prompt is
    not the last one, or if it is more than one token longer than what was seen last. Only a prompt that is the last
    prompt plus a part of the last answer is taken for a continuation of that answer; call `reset` before it
    if it is not meant so.

    Parameters
    ----------
    constraint : Constraint
        Compiled for the vocabulary of the model.
    prompt_length : int, optional
        The number of columns that are prompt, padding included, in every call. Default: the columns of the first
        call of a generation. A smaller number makes the end of the prompt a part of the text that is constrained.
    pad_token_id : int, optional
        What ``generate`` writes into finished rows.

    Notes
    -----
    Cost per call and row, for 131,072 tokens in float32 on the CPU: the matcher's mask, 15 us to unpack it, 100 to
    200 us to select the scores, 20 us to see that something is left; and comparing the ids with the last call's.
    """

    def __init__(
        self, constraint: Constraint, *, prompt_length: int | None = None, pad_token_id: int | None = None
    ) -> None:
        if prompt_length is not None and prompt_length < 0:
            raise ValueError(f"prompt_length is {prompt_length}; it counts columns")
        self.constraint = constraint
        self.pad_token_id = pad_token_id
        self._prompt_length = prompt_length
        self.reset()

    def reset(self) -> None:
        """Forget all rows and the prompt: the next call begins a new generation."""
        self._rows: list[Row] = []
        self._seen: torch.Tensor | None = None  # the ids of the last call
        self._start = 0  # the column behind the prompt

    def __call__(self, input_ids: torch.LongTensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores with -inf for every token that may not come next.

        Parameters
        ----------
        input_ids : torch.LongTensor of shape (rows, length)
            The prompt and what was generated so far.
        scores : torch.Tensor of shape (rows, columns), floating
            The scores of the next token; not changed.

        Returns
        -------
        torch.Tensor
            Of the shape, dtype and device of `scores`.

        Raises
        ------
        MatcherError
            A row contains a token that was not allowed, or nothing is left for it: no token is allowed, or another
            processor has ruled out all that are.
        """
        try:
            self._follow(input_ids)
            masked = torch.where(self._allowed(scores), scores, -torch.inf)
            self._require_choice(masked)
        except BaseException:
            self.reset()  # half-followed rows must not be found again
            raise
        return masked

    def _follow(self, input_ids: torch.Tensor) -> None:
        """Bring the rows to what `input_ids` contains."""
        seen = self._seen
        if seen is not None and _is_one_longer(input_ids, seen) and torch.equal(input_ids[:, :-1], seen):
            for index, token in enumerate(input_ids[:, -1].tolist()):
                self._rows[index].extend([token], index)
        else:
            self._find_start(input_ids)
            self._rows = follow(self._rows, input_ids[:, self._start :].tolist(), self._new_row)
        self._seen = input_ids.clone()

    def _find_start(self, input_ids: torch.Tensor) -> None:
        """Decide whether this is the generation seen last, moved or shrunk, or a new one."""
        if self._prompt_length is not None:
            self._start = self._prompt_length
            return
        seen, start = self._seen, self._start
        # Beam search adds one column. Assisted decoding asks for candidates one by one and keeps some of them. So a
        # generation that grows by more is another one.
        same = (
            seen is not None
            and len(input_ids) == len(seen)
            and start <= input_ids.shape[1] <= seen.shape[1] + 1
            and torch.equal(input_ids[:, :start], seen[:, :start])
        )
        if not same:
            self._rows = []
            self._start = input_ids.shape[1]

    def _new_row(self) -> Row:
        return Row(self.constraint.matcher(), self.constraint.vocabulary, self.pad_token_id)

    def _allowed(self, scores: torch.Tensor) -> torch.Tensor:
        """Return the mask of every row, True for allowed: bool of the shape and on the device of `scores`."""
        columns = scores.shape[1]
        vocabulary = self.constraint.vocabulary.size
        if columns < vocabulary:
            raise MatcherError(
                f"the scores have {columns} columns, but the constraint was compiled for {vocabulary} tokens: compile "
                "it for the vocabulary of this model"
            )
        bitmask = np.zeros((len(self._rows), -(-columns // 32)), dtype=np.int32)
        for index, row in enumerate(self._rows):
            if row.stopped and not row.matcher.is_terminated():
                _allow_only(bitmask[index], row.pad_id)
                continue
            row.matcher.fill_bitmask(bitmask, index)
            if not bitmask[index].any():
                raise MatcherError(
                    f"row {index}: no token is allowed after {len(row.ids)} generated tokens; if the text is "
                    "complete, the vocabulary lacks an end token: give it eos_ids"
                )
        return unpack(bitmask, columns, scores.device)

    def _require_choice(self, masked: torch.Tensor) -> None:
        """Refuse a row in which every score is -inf: sampling would fail, and greedy decoding would take id 0."""
        empty = (masked.amax(dim=-1) == -torch.inf).tolist()
        if any(empty):
            index = empty.index(True)
            raise MatcherError(
                f"row {index}: after {len(self._rows[index].ids)} generated tokens every token that the constraint "
                "allows has the score -inf; another logits processor (min_new_tokens, suppress_tokens, bad_words_ids, "
                "no_repeat_ngram_size, ...) forbids them"
            )


def unpack(bitmask: np.ndarray[Any, np.dtype[np.int32]], columns: int, device: torch.device) -> torch.Tensor:
    """Return the bits of int32[rows, words] as bool[rows, columns] on a device; token t is bit t%32 of word t//32."""
    if device.type == "cpu":  # six times as fast as shifting
        bits = np.unpackbits(bitmask.view(np.uint8), axis=1, count=columns, bitorder="little")
        return torch.from_numpy(bits.view(np.bool_))
    return shift_out(torch.from_numpy(bitmask).to(device), columns)  # an eighth of the transfer of bools


def shift_out(words: torch.Tensor, columns: int) -> torch.Tensor:
    """Do what `unpack` does where the words already are."""
    places = torch.arange(32, dtype=torch.int32, device=words.device)
    return ((words.unsqueeze(-1) >> places) & 1).flatten(1)[:, :columns].bool()


def _is_one_longer(input_ids: torch.Tensor, seen: torch.Tensor) -> bool:
    return input_ids.shape[0] == seen.shape[0] and input_ids.shape[1] == seen.shape[1] + 1


def _allow_only(words: np.ndarray[Any, np.dtype[np.int32]], token: int | None) -> None:
    assert token is not None
    words.view(np.uint32)[token // 32] = np.uint32(1 << token % 32)
