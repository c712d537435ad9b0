"""`PDALogitsProcessor`: the mask of a constraint inside ``model.generate``."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import LogitsProcessor

from pdacon.errors import MatcherError
from pdacon.front.constraint import Constraint
from pdacon.integrations.huggingface.arguments import require_vocabulary
from pdacon.integrations.huggingface.beginnings import Beginning, begin, one_for_each
from pdacon.integrations.huggingface.masks import ScoreMasks
from pdacon.integrations.huggingface.rows import FreeRow, Row, follow
from pdacon.integrations.huggingface.steady_batch import SteadyBatch
from pdacon.integrations.huggingface.successions import Succession
from pdacon.integrations.widths import refusal
from pdacon.matching import Budget, Matcher

_SHOWN = 40  # characters of a grammar that is given in place of a constraint
_NORMALISED = 1e-3  # How far from 0 the logarithm of a sum of probabilities may be that is meant to be 1.


class PDALogitsProcessor(LogitsProcessor):
    """Allow only what the constraint allows: every other score becomes -inf.

    Pass it as ``model.generate(..., logits_processor=[PDALogitsProcessor(constraint)])``. Greedy decoding, sampling,
    beam search, assisted decoding and prompt lookup work, for decoders and encoder-decoders, in batches with left
    padding and with ``num_return_sequences``. Scores may have any floating dtype, any device, and more columns than
    the vocabulary has tokens (the surplus is never allowed); those given are not changed in place.

    The text that is constrained is what ``tokenizer.decode`` says of the generated ids alone. So where a tokenizer
    strips the space in front of what it decodes (`Vocabulary.strip_leading_space`), the first token may have one more,
    whether a prompt precedes or not.

    The state of a row is found by its content. What is prompt and what is generated is learnt when a generation
    begins, so one processor serves several calls of ``generate``: a generation is a new one if its prompt is
    not the last one, or if it is more than one token longer than what was seen last. Only a prompt that is the last
    prompt plus a part of the last answer is taken for a continuation of that answer; call `reset` before it
    if it is not meant so. The same holds after an error: `input_ids` that go on with that text are read from where
    it began.

    It serves one generation at a time. Two at once, in two threads or in loops that take turns, are a `MatcherError` in
    the one that comes back: make one processor for each, of the same constraint, or use a `Generator`, which threads
    can share. One after the other, threads may use it; but what one thread has begun another one can continue only with
    `prompt_length`.

    A row that has its end token may only repeat end tokens. Rows that ``generate`` has finished and fills with padding
    are tolerated; a row finished by something other than an end token (``stop_strings``, say) is recognised by its
    padding, if `pad_token_id` is given. A begin token that ``forced_bos_token_id`` puts in front of the text is let
    through.

    Parameters
    ----------
    constraint : Constraint, or sequence with one for each prompt
        In a sequence None constrains nothing. Compiled for the vocabulary of the model, with which it is compared if
        `model` or `tokenizer` is given. Without them, scores are refused that are narrower than the vocabulary, or
        wider than models pad it: more than twice as wide, or by more than 1,024 columns and more than an eighth (128
        columns are never too many).
    *others : object
        Nothing may stand here: a tokenizer, say, is given by name, and else a TypeError says so.
    prefix : str, bytes or sequence of them, optional
        The constrained text that stands at the end of the prompt already, when an unfinished text is continued; one
        for each prompt if the prompts differ. Default: the text begins with what is generated.
    prompt_length : int, optional
        The number of columns that are prompt, padding included, in every call. Default: the columns of the first
        call of a generation. A smaller number makes the end of the prompt a part of the text that is constrained,
        as `prefix` does, but token by token.
    num_beams : int, optional
        How many rows in succession compete with each other; what ``generate`` is given. Where beam search runs out
        of candidates (as it does when it samples, or meets other processors) a beam dies; that is no error as long as
        the best beam of its prompt lives. Default: found out, when a row dies, by what only beam search does: rows in
        succession have the same prompt, and scores are log-probabilities. Other processors can hide that; 1 says
        that there are none, so that a row that dies is an error.
    pad_token_id : int, optional
        What ``generate`` writes into finished rows.
    start : str, optional
        Which of the grammar's start rules; the first if it is not given.
    strip_leading_space : bool, optional
        False: constrain what the ids spell, whatever the tokenizer strips; for those who decode prompt and answer
        together. Default: as the tokenizer decodes.
    budget : Budget, optional
        Within how much, after `prefix`, every text is to be a sentence. Of tokens so many as ``generate`` is given as
        ``max_new_tokens``. Default: a text may be cut off.
    model : transformers.PreTrainedModel, optional
        Whose scores they are: the constraint must have been compiled for as many tokens as it has columns, which
        ``vocabulary(model, tokenizer)`` has, unless `tokenizer` says that the texts are the same.
    tokenizer : transformers.PreTrainedTokenizerFast, optional
        The constraint must mean the same texts by the ids as this one.

    Raises
    ------
    ValueError
        A number is out of range, a prefix is not the beginning of a sentence, or no sentence is within `budget`.
    VocabularyError
        The constraint was compiled for another vocabulary than that of `model` or `tokenizer`, or the tokenizer is none
        that can be read.

    Notes
    -----
    Cost per call and row, for 131,072 tokens in float32 on the CPU: the matcher's mask, 30 us to select the scores, 20
    us to see that something is left; and comparing the ids with the last call's.
    """

    def __init__(
        self,
        constraint: Constraint | Sequence[Constraint | None],
        *others: object,
        prefix: Beginning | Sequence[Beginning] = "",
        prompt_length: int | None = None,
        num_beams: int | None = None,
        pad_token_id: int | None = None,
        start: str | None = None,
        strip_leading_space: bool | None = None,
        budget: Budget | None = None,
        model: Any = None,
        tokenizer: Any = None,
    ) -> None:
        constraints: list[Any] = list(constraint) if isinstance(constraint, list | tuple) else [constraint]
        for one in constraints:
            if one is not None and not hasattr(one, "matcher"):
                shown = repr(one) if isinstance(one, str) and len(one) < _SHOWN else "grammar"
                raise TypeError(
                    f"PDALogitsProcessor takes a pdacon.Constraint, not {type(one).__name__}; "
                    f"give pdacon.compile({shown}, tokenizer=tokenizer, model=model)"
                )
        if others:
            raise TypeError(
                "PDALogitsProcessor takes a constraint, and what else there is by name, as in tokenizer=..."
            )
        if not any(constraints):
            raise ValueError("there is no constraint; give at least one that is not None")
        if prompt_length is not None and prompt_length < 0:
            raise ValueError(f"prompt_length is {prompt_length}; it counts columns")
        if num_beams is not None and num_beams < 1:
            raise ValueError(f"num_beams is {num_beams}; it must be at least 1")
        for one in dict.fromkeys(filter(None, constraints)):
            require_vocabulary(one, model, tokenizer)
        self._compared = model is not None or tokenizer is not None
        self.constraint = constraint
        self.pad_token_id = pad_token_id
        prefixes = [prefix] if isinstance(prefix, Beginning) else list(prefix)
        self._constraints, prefixes = one_for_each(constraints, prefixes)
        self._matchers = [
            None if one is None else begin(one, begun, start, strip_leading_space, budget)
            for one, begun in zip(self._constraints, prefixes, strict=True)
        ]
        self._size = max(one.vocabulary.size for one in constraints if one is not None)
        self._num_beams = num_beams
        self._prompt_length = prompt_length
        self._masks: ScoreMasks | None = None
        self._lock = threading.Lock()
        self._succession = Succession()
        self._known: list[Row] = []  # the rows, which `_steady` may have more to tell
        self._steady: SteadyBatch | None = None  # these, as long as they go on as they are
        self._start = 0  # the column after the prompt

    def __repr__(self) -> str:
        last = self._succession.last
        columns = 0 if last is None else last.ids.shape[1] - self._start
        generated = f", {len(self._known)} rows of {columns} generated tokens" if self._known else ""
        return f"<PDALogitsProcessor of {self.constraint!r}{generated}>"

    def reset(self) -> None:
        """Forget all rows and the prompt: the next call begins a new generation."""
        with self._lock:
            self._forget()

    @property
    def _rows(self) -> list[Row]:
        if self._steady is not None:
            self._steady.tell()
        return self._known

    @_rows.setter
    def _rows(self, rows: list[Row]) -> None:
        self._known, self._steady = rows, None

    def _forget(self) -> None:
        self._rows = []
        self._start = 0
        self._succession.forget()

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
            processor has ruled out all that are. Or another generation has used the processor since this one began.
        """
        with self._lock:
            grows = bool(self._known) and self._succession.grows_by_one(input_ids)
            start = self._start if grows else self._start_of(input_ids)  # who is refused here disturbs nobody else
            try:
                found = self._follow(input_ids, scores, start, grows)
                if found is None or self._steady is None or self._steady.apart:  # else all have taken their tokens
                    self._require_life(input_ids, scores)
                masked, best, ended = self._mask(scores, found)
                if ended:
                    raise self._no_token(ended[0])
                self._require_choice(scores, masked, best)
            except BaseException:
                self._rows = []  # half-followed ones must not be found again; where the text begins is still known
                raise
            return masked

    def _follow(
        self, input_ids: torch.Tensor, scores: torch.Tensor, start: int | None, grows: bool
    ) -> NDArray[np.int32] | None:
        """Bring the rows to what `input_ids` contains. Returns their masks, where these were found with that."""
        found = None
        if grows:
            found = self._extend(_last_of(input_ids), scores)
        else:
            known = [] if start is None else self._rows
            self._start = input_ids.shape[1] if start is None else start
            self._rows = self._followed(known, input_ids, self._start)
        self._succession.add(input_ids, self._start)
        return found

    def _extend(self, tokens: list[int], scores: torch.Tensor) -> NDArray[np.int32] | None:
        """Add a token to each row: in one call, which finds the masks, too, and one by one where that refuses any."""
        masks, steady = self._masks, self._steady
        if steady is None or masks is None or min(tokens, default=-1) < 0 or not masks.fits(scores):
            for index, row in enumerate(self._rows):
                row.extend([tokens[index]], index)
            self._steady = None
            return None
        refused: list[int] = []
        found = masks.find(steady.asked, steady.for_matchers(tokens), refused)
        if refused:
            steady.add_but(tokens, refused)
            self._steady = None
        else:
            steady.add(tokens)
        for index in (*steady.apart, *refused):
            self._known[index].extend([tokens[index]], index)
        return None if refused else found

    def _followed(self, rows: Sequence[Row], input_ids: torch.Tensor, start: int) -> list[Row]:
        """The rows of a text that begins in a column, made from those that there are."""
        count = len(input_ids)
        origins = len(self._matchers)
        if count % origins:
            raise MatcherError(
                f"there are {count} rows, but {origins} prefixes or constraints; give one for each prompt"
            )
        return follow(rows, input_ids[:, start:].tolist(), lambda index: self._new_row(index, count), origins)

    def _start_of(self, input_ids: torch.Tensor) -> int | None:
        """The column after the prompt if this is the generation seen last, moved or shrunk; None if it is new."""
        if self._prompt_length is not None:
            if input_ids.shape[1] < self._prompt_length:
                raise MatcherError(
                    f"there are {input_ids.shape[1]} columns of ids, but prompt_length is {self._prompt_length}"
                )
            return self._prompt_length

        def is_text(start: int) -> bool:
            rows = self._followed((), input_ids, start)
            return any(row.refusal is None for row in rows if not isinstance(row, FreeRow))

        return self._succession.start_of(input_ids, is_text)

    def _new_row(self, index: int, count: int) -> Row:
        matcher, constraint = self._matchers[self._prompt(index, count)], self._constraints[self._prompt(index, count)]
        if matcher is None or constraint is None:
            return FreeRow()
        return Row(matcher.fork(), constraint.vocabulary, self.pad_token_id)

    def _prompt(self, index: int, count: int) -> int:
        """Which of the prompts the row at an index belongs to, of so many rows."""
        return index * len(self._matchers) // count

    def _require_life(self, input_ids: torch.Tensor, scores: torch.Tensor) -> None:
        """Raise for a row that went astray, unless it is a beam after the best one.

        Where beam search has fewer candidates than beams it takes tokens of score -inf; the beam has that score from
        then on, so it is sorted after all others, and neither wins nor is returned. If the best beam is astray,
        something else than its score chose it.
        """
        for group in self._groups():
            refusal = self._known[group[0]].refusal
            if refusal is not None and not (
                self._num_beams is None and self._is_lesser_beam(group[0], input_ids, scores)
            ):
                raise refusal

    def _is_lesser_beam(self, index: int, input_ids: torch.Tensor, scores: torch.Tensor) -> bool:
        """Whether a row cannot but be a beam, and the best one of its prompt is not astray.

        Greedy decoding and sampling pass the model's scores as they are, only beam search makes log-probabilities of
        them first. In rows that nobody chooses between, going astray stays an error.
        """
        prompts = input_ids[:, : self._start]
        first = index
        while first > 0 and torch.equal(prompts[first - 1], prompts[index]):
            first -= 1
        total = scores[first : index + 1].float().logsumexp(dim=-1)
        return first < index and self._rows[first].refusal is None and bool((total.abs() < _NORMALISED).all())

    def _groups(self) -> Iterator[range]:
        """The rows that compete with each other."""
        size = self._num_beams or 1
        for first in range(0, len(self._known), size):
            yield range(first, min(first + size, len(self._known)))

    def _mask(
        self, scores: torch.Tensor, found: NDArray[np.int32] | None
    ) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
        """Return the scores with -inf for what is not allowed, the best of each row, and which rows nothing follows."""
        masks, steady = self._masks, self._steady
        if found is None or masks is None or steady is None:
            masks = self._masks = self._masks_for(scores)
            steady = self._steady = SteadyBatch(self._rows)
            found = masks.find(steady.asked)
        masked, best = masks.apply(scores)
        ended = [index for index in masks.empty(found) if isinstance(steady.asked[index], Matcher)]
        return masked, best, ended

    def _masks_for(self, scores: torch.Tensor) -> ScoreMasks:
        if self._masks is not None and self._masks.fits(scores):
            return self._masks
        columns = scores.shape[1]
        way_out = "compile it for vocabulary(model, tokenizer), or give tokenizer= if it is the tokenizer of this model"
        if (said := refusal(columns, self._size, way_out, compared=self._compared)) is not None:
            raise MatcherError(said)
        masks = ScoreMasks(columns, scores.device, scores.dtype)
        if not masks.fits(scores):  # so many rows are more than are kept
            masks = ScoreMasks(columns, scores.device, scores.dtype, len(scores))
        return masks

    def _require_choice(self, scores: torch.Tensor, masked: torch.Tensor, best: torch.Tensor) -> None:
        """Refuse a row in which every score is -inf: sampling would fail, and greedy decoding would take id 0.

        A token without text that is forced in front of the text is put back.
        """
        highest = best.tolist()
        if -math.inf not in highest:
            return
        empty = [score == -math.inf for score in highest]
        for index, row in enumerate(self._rows):
            if empty[index]:
                possible = (scores[index] > -torch.inf).nonzero().flatten().tolist()
                if len(possible) == 1 and row.opens_with(possible[0]):
                    masked[index] = scores[index]
                    empty[index] = False
        for group in self._groups():
            if all(empty[index] or self._rows[index].refusal is not None for index in group):
                index = next(index for index in group if empty[index])
                raise self._no_choice(self._rows[index], index)

    def _no_token(self, index: int) -> MatcherError:
        return MatcherError(
            f"row {index}: no token is allowed after {len(self._rows[index].ids)} generated tokens; if the text is "
            "complete, the vocabulary lacks an end token: give it eos_ids"
        )

    def _no_choice(self, row: Row, index: int) -> MatcherError:
        given = (self._num_beams or 1) > 1
        beams = "" if given else "; in beam search, give num_beams to this one to let other beams go on"
        return MatcherError(
            f"row {index}: after {len(row.ids)} generated tokens every token that the constraint allows has the score "
            "-inf; another logits processor (min_new_tokens, forced_eos_token_id, suppress_tokens, bad_words_ids, "
            f"no_repeat_ngram_size, ...) forbids them{beams}"
        )


def _last_of(ids: torch.Tensor) -> list[int]:
    """The last id of each row; of a tensor on the CPU NumPy finds them in half the time."""
    last: list[int] = (ids.numpy()[:, -1] if ids.device.type == "cpu" else ids[:, -1]).tolist()
    return last
