"""What a constraint did to a model: the probabilities of a generated text, token by token, with it and without.

They are the model's own, at temperature 1, before anything else than the constraint changes them: what drew the text,
be it a temperature, ``top_p`` or beams, does not come into them. They are read in one pass of the model over the
prompt and the text, so they are there for every way to generate, and cost less than generating did.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from pdacon.base.html import table
from pdacon.detokenizer import Vocabulary, logits_width
from pdacon.front.constraint import Constraint
from pdacon.integrations.huggingface.beginnings import Begun, begin, begun
from pdacon.integrations.huggingface.padded_prompts import Inputs
from pdacon.integrations.huggingface.plots import plot
from pdacon.integrations.huggingface.rows import Row
from pdacon.integrations.torch import shift_out
from pdacon.matching import Budget

MOST_SCORES = 1 << 25  # that one pass of the model keeps: 128 MiB in float32
_SHOWN = 24  # characters of a token in a table


@dataclass(frozen=True, slots=True)
class Step:
    """One generated token.

    Attributes
    ----------
    token : int
    text : str
        What the token spells; empty for one that ends the text. Bytes that are no text alone are escaped.
    log_prob : float
        The natural logarithm of the model's own probability of it, where nothing is forbidden.
    constrained_log_prob : float
        The same among the tokens that were allowed there: what the constraint left, divided by its sum.
    mass_removed : float
        The model's probability of all tokens that were not allowed there, from 0 to 1.
    rank : int
        Which place the token has among all tokens by the model's probability; 1 is the first.
    wanted : int
        The token that has the first place: what the model would most likely have written here.
    wanted_text : str
    wanted_log_prob : float
    wanted_allowed : bool
        Whether the constraint allowed that token.
    """

    token: int
    text: str
    log_prob: float
    constrained_log_prob: float
    mass_removed: float
    rank: int
    wanted: int
    wanted_text: str
    wanted_log_prob: float
    wanted_allowed: bool


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """The probabilities of a generated text, and what the constraint did to the model; ``str()`` is a table.

    Attributes
    ----------
    steps : tuple of Step
        One for each of the generation's ``token_ids``.
    """

    steps: tuple[Step, ...]

    @property
    def log_prob(self) -> float:
        """The natural logarithm of the probability of all tokens after the prompt, by the model alone."""
        return self.cumulative_log_probs[-1] if self.steps else 0.0

    @property
    def constrained_log_prob(self) -> float:
        """The same by the model under the constraint: with what it was drawn, at temperature 1 and without more."""
        return self.cumulative_constrained_log_probs[-1] if self.steps else 0.0

    @property
    def log_weight(self) -> float:
        """The logarithm of the product of what the constraint left of the model's probability at each step.

        It is ``log_prob - constrained_log_prob``, the importance weight of the text: by so much the constrained model
        prefers it, compared with the model's own distribution over sentences. Never above 0.
        """
        return math.fsum(step.log_prob - step.constrained_log_prob for step in self.steps)

    @property
    def cumulative_log_probs(self) -> tuple[float, ...]:
        """For each token the logarithm of the probability of all up to it, by the model alone."""
        return tuple(accumulate(step.log_prob for step in self.steps))

    @property
    def cumulative_constrained_log_probs(self) -> tuple[float, ...]:
        """For each token the logarithm of the probability of all up to it, by the model under the constraint."""
        return tuple(accumulate(step.constrained_log_prob for step in self.steps))

    def diverged(self) -> tuple[int, ...]:
        """The steps, by number from 0, at which the constraint did not allow what the model wanted.

        Where it was allowed, and chance drew another token, the step is not among them.
        """
        return tuple(number for number, step in enumerate(self.steps) if not step.wanted_allowed)

    def render(self) -> str:
        """A table for people: a line for each token, and one for the whole text."""
        return "\n".join(self._lines())

    __str__ = render

    def _repr_html_(self) -> str:
        """The table; the more of the model's probability was removed at a token, the longer its bar."""
        head = ("token", "alone", "allowed", "removed", "rank", "wanted")
        rows = []
        for step in self.steps:
            chances = (math.exp(step.log_prob), math.exp(step.constrained_log_prob), step.mass_removed)
            first = "" if step.rank == 1 else f"{_shown(step.wanted_text)} {math.exp(step.wanted_log_prob):.3g}"
            cells = (_shown(step.text), *(f"{chance:.3g}" for chance in chances), str(step.rank), first)
            said = "" if step.wanted_allowed else f"the constraint refused {_shown(step.wanted_text)}; "
            title = f"{said}{step.mass_removed:.1%} of the probability was removed"
            rows.append((cells, step.mass_removed, title))
        whole = f"all {len(self.steps)} tokens: alone {math.exp(self.log_prob):.3g}"
        return table(head, rows, f"{whole}, allowed {math.exp(self.constrained_log_prob):.3g}")

    def plot(self, axes: Any = None) -> Any:
        """A picture: of each token its probability by the model alone and among what was allowed, and what was removed.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            What to draw on. Default: those of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            ``.figure.savefig(path)`` writes it.

        Raises
        ------
        ImportError
            matplotlib is not installed: ``pip install 'pdacon[plot]'``.
        """
        return plot(
            [step.text for step in self.steps],
            [math.exp(step.log_prob) for step in self.steps],
            [math.exp(step.constrained_log_prob) for step in self.steps],
            [step.mass_removed for step in self.steps],
            self.diverged(),
            axes,
        )

    def _lines(self) -> Iterator[str]:
        yield f"{'token':<{_SHOWN}}  {'alone':>8}  {'allowed':>8}  {'removed':>8}  {'rank':>6}  wanted"
        for step in self.steps:
            first = "" if step.rank == 1 else f"{_shown(step.wanted_text)} {math.exp(step.wanted_log_prob):.3g}"
            chances = f"{math.exp(step.log_prob):>8.3g}  {math.exp(step.constrained_log_prob):>8.3g}"
            cells = f"{chances}  {step.mass_removed:>8.3g}  {step.rank:>6}"
            yield f"{_shown(step.text):<{_SHOWN}}  {cells}  {first}".rstrip()
        whole = f"all {len(self.steps)} tokens"
        yield f"{whole:<{_SHOWN}}  {math.exp(self.log_prob):>8.3g}  {math.exp(self.constrained_log_prob):>8.3g}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A text to be measured, and where it stands in what ``model.generate`` returned."""

    row: int  # of the output
    before: Begun  # what the text began with; what of it was generated earlier is measured, too
    token_ids: tuple[int, ...]  # all that was generated, earlier and now
    vocabulary: Vocabulary  # what the ids mean
    constraint: Constraint | None
    start: str | None
    budget: Budget | None  # within how much after `before` the text had to be a sentence


def measure(model: Any, inputs: Inputs, output: torch.Tensor, texts: Sequence[Measured]) -> list[Diagnostics]:
    """Return the probabilities of generated texts.

    ``inputs``: what ``model.generate`` was called with. ``output``, int64[rows, columns]: what it returned: as many
    rows for each prompt, one after the other.

    Cost: one pass of the model over prompts and texts, without gradients, in parts that need 128 MiB for their scores,
    or one text at a time; and one mask for each token.
    """
    if not texts:
        return []
    first = min(inputs.columns - len(text.before.token_ids) for text in texts) - 1
    width = max(int(output.shape[1]) - first, 1) * logits_width(model)
    part = max(1, MOST_SCORES // width)
    measured = []
    for place in range(0, len(texts), part):
        several = texts[place : place + part]
        scores = scores_behind(model, inputs, output, [text.row for text in several], first)
        for number, text in enumerate(several):
            here = inputs.columns - len(text.before.token_ids) - 1 - first
            rows = scores[number, here : here + len(text.token_ids)]
            measured.append(_measured(rows, text))
    return measured


def scores_behind(model: Any, inputs: Inputs, output: torch.Tensor, rows: Sequence[int], first: int) -> torch.Tensor:
    """The scores of what comes after each column from the first on: float[rows, columns, vocabulary].

    ``inputs``: prompts. ``output``, int64[rows, columns]: the prompts with what stands behind them: as many rows for
    each prompt, one behind the other. ``rows``: which rows of the output are asked for. ``first``: a column.
    """
    given = inputs.arguments
    repeats = len(output) // len(given["input_ids"])
    prompts = torch.tensor([row // repeats for row in rows], device=output.device)
    ids = output[torch.tensor(rows, device=output.device)]
    parameters = inspect.signature(model.forward).parameters
    mask = given["attention_mask"][prompts]
    arguments: dict[str, Any]
    if model.config.is_encoder_decoder:
        arguments = {"input_ids": given["input_ids"][prompts], "attention_mask": mask, "decoder_input_ids": ids}
    else:
        mask = torch.cat([mask, mask.new_ones(len(rows), ids.shape[1] - mask.shape[1])], dim=1)
        arguments = {"input_ids": ids, "attention_mask": mask}
        if "position_ids" in parameters and not bool(mask.all()):
            arguments["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)
    if "logits_to_keep" in parameters:
        arguments["logits_to_keep"] = ids.shape[1] - first
        first = 0
    with torch.inference_mode():
        scores: torch.Tensor = model(**arguments, use_cache=False).logits
    return scores[:, first:]


def log_softmax(scores: torch.Tensor) -> torch.Tensor:
    """Logarithms of probabilities, along the last dimension: in float64 where the device has it.

    There are sums over a hundred thousand tokens in them, and differences from 1.
    """
    return scores.to(torch.float32 if scores.device.type == "mps" else torch.float64).log_softmax(dim=-1)


def _measured(scores: torch.Tensor, text: Measured) -> Diagnostics:
    """The probabilities of one text, from the scores float[tokens, columns] of its tokens."""
    log_probs = log_softmax(scores)
    count, columns = log_probs.shape
    allowed = torch.ones((count, columns), dtype=torch.bool, device=log_probs.device)
    if text.constraint is not None:
        bits = shift_out(torch.from_numpy(_masks(text, text.constraint)).to(log_probs.device), columns)
        allowed.fill_(False)
        allowed[:, : bits.shape[1]] = bits
    chosen = torch.tensor(text.token_ids, dtype=torch.int64, device=log_probs.device).unsqueeze(1)
    alone = log_probs.gather(1, chosen)
    # A sum of rounded probabilities may exceed 1; the constraint would seem to make the text less probable.
    kept = log_probs.masked_fill(~allowed, -torch.inf).logsumexp(dim=-1, keepdim=True).clamp(max=0)
    removed = log_probs.exp().masked_fill(allowed, 0).sum(dim=-1)
    ranks = (log_probs > alone).sum(dim=-1) + 1
    best, wanted = log_probs.max(dim=-1)
    columns_of_steps = (
        text.token_ids,
        [spelling(text.vocabulary, token) for token in text.token_ids],
        alone.flatten().tolist(),
        (alone - kept).flatten().clamp(max=0).tolist(),
        removed.clamp(0, 1).tolist(),
        ranks.tolist(),
        wanted.tolist(),
        [spelling(text.vocabulary, token) for token in wanted.tolist()],
        best.tolist(),
        allowed.gather(1, wanted.unsqueeze(1)).flatten().tolist(),
    )
    return Diagnostics(tuple(Step(*step) for step in zip(*columns_of_steps, strict=True)))


def _masks(text: Measured, constraint: Constraint) -> np.ndarray[Any, np.dtype[np.int32]]:
    """What was allowed at each token: int32[tokens, words]."""
    before = text.before
    matcher = begin(constraint, begun(before.written), text.start)
    row = Row(matcher, constraint.vocabulary, None)
    words = np.zeros((len(text.token_ids), -(-constraint.vocabulary.size // 32)), dtype=np.int32)
    for number, token in enumerate(text.token_ids):
        if number == len(before.token_ids) and text.budget is not None:
            row.matcher.keep_within(text.budget)
        row.matcher.fill_bitmask(words, number)
        if row.opens_with(token):  # something else than the constraint forced it
            words[number] = -1
        row.extend([token], text.row)
    return words


def spelling(vocabulary: Vocabulary, token: int) -> str:
    """What a token spells, escaped where it is no text alone; empty for one that has no text."""
    text = vocabulary.tokens[token] if token < vocabulary.size else None
    return "" if not text or token in vocabulary.eos_ids else text.decode("utf-8", "backslashreplace")


def _shown(text: str) -> str:
    if not text:
        return "(end)"
    whole = repr(text)
    return whole if len(whole) <= _SHOWN else whole[: _SHOWN - 4] + "...'"
