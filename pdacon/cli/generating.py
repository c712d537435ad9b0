"""``pdacon generate``: texts on standard output, everything else on standard error."""

from __future__ import annotations

import json
import secrets
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

import pdacon
from pdacon.cli.compiled import constraint_for
from pdacon.cli.display import ORANGE, RED
from pdacon.cli.failures import BadInput, enough_is_enough
from pdacon.cli.grammars import artifact_of
from pdacon.cli.models import is_local, load_model
from pdacon.cli.option_records import Sampling
from pdacon.cli.prompts import Request
from pdacon.cli.several import TextWriter
from pdacon.cli.vocabularies import BYTES, load_vocabulary
from pdacon.front.grammar import Grammar

if TYPE_CHECKING:
    from pdacon.integrations.huggingface import Diagnostics, Generation

# What the embedded model was trained to answer; any other prompt is news to it.
EMBEDDED_PROMPTS = MappingProxyType(
    {"json": "Describe a person as JSON:", "arithmetic": "Write an arithmetic expression:"}
)
_MUCH = 0.5  # of the probability, removed at one token


@dataclass(frozen=True)
class PrintedAnswer:
    """A text, what it answers, and the seed with which its batch was drawn."""

    request: Request
    generation: Generation
    seed: int


class Generator:
    """A model under a grammar."""

    def __init__(self, name: str, grammar: Grammar, model_name: str | None, sampling: Sampling) -> None:
        status = Console(stderr=True, highlight=False)
        if artifact_of(name) is None:
            with status.status("checking the grammar"):  # before anyone waits for a model
                pdacon.compile(grammar, load_vocabulary(BYTES).vocabulary)
        with status.status("loading the model") if is_local(model_name) else nullcontext():
            self._model, self._tokenizer = load_model(model_name)
            from pdacon.integrations.huggingface import vocabulary
        with status.status("compiling the grammar"):
            used = vocabulary(self._model, self._tokenizer)
            self._constraint = (
                pdacon.compile(grammar, used, canonical=self._tokenizer)
                if sampling.canonical
                else constraint_for(name, grammar, used)
            )
        from pdacon.integrations.huggingface import Draft

        self._draft = Draft(self._constraint, self._tokenizer) if sampling.draft else None
        self._ends = frozenset(self._constraint.vocabulary.eos_ids)
        self._sampling = sampling
        self.seed = secrets.randbelow(2**31) if sampling.seed is None else sampling.seed

    def stream(self, request: Request, index: int, write: Callable[[str], None] | None = None) -> PrintedAnswer:
        """One text; ``write`` is given its parts as they come."""
        pending = [self._sampling.prefix]

        def write_part(text: str) -> None:
            assert write is not None
            write("".join([*pending, text]))
            pending.clear()

        follower = None if write is None else write_part
        (generation,) = self._generate([request], 1, self.seed + index, on_text=follower)
        if follower is not None and pending:
            follower("")
        return PrintedAnswer(request, generation, self.seed + index)

    def ended(self, answer: PrintedAnswer) -> bool:
        """Whether the model has said that it is done."""
        return not self._ends.isdisjoint(answer.generation.token_ids[-1:])

    def answers(self, requests: Sequence[Request]) -> Iterator[PrintedAnswer]:
        """All texts for all requests, in their order, batch by batch."""
        sampling = self._sampling
        several = sampling.count if sampling.beams > 1 else 1
        wanted = [request for request in requests for _ in range(sampling.count // several)]
        for first in range(0, len(wanted), sampling.batch):
            batch = wanted[first : first + sampling.batch]
            for generation in self._generate(batch, several, self.seed + first):
                yield PrintedAnswer(batch[generation.prompt], generation, self.seed + first)

    def _generate(self, requests: Sequence[Request], count: int, seed: int, **options: Any) -> list[Generation]:
        from torch.cuda import OutOfMemoryError

        from pdacon.integrations.huggingface import generate

        prompts = [request.prompt for request in requests]
        warnings.simplefilter("ignore", pdacon.IncompleteWarning)  # the command says itself which texts are cut off
        try:
            answers = generate(
                self._model,
                self._tokenizer,
                prompts,
                grammar=self._constraint,
                draft=self._draft,
                seed=seed,
                num_return_sequences=count,
                **self._sampling.options,
                **options,
            )
            return list(answers)
        except OutOfMemoryError as error:
            raise BadInput("the memory of the device is full; give a smaller --batch-size or --beams") from error
        except (ValueError, IndexError) as error:
            raise BadInput(f"cannot generate: {error}") from error


@enough_is_enough
def show_texts(
    name: str,
    grammar: Grammar,
    model_name: str | None,
    requests: Sequence[Request],
    sampling: Sampling,
    *,
    json_lines: bool,
    null: bool,
) -> int:
    """Generate ``count`` texts for each request and print them; as they come, if they come one by one."""
    generator = Generator(name, grammar, model_name, sampling)
    started = time.perf_counter()
    wanted = [request for request in requests for _ in range(sampling.count)]
    texts = TextWriter(len(wanted), null=null)
    if not json_lines and sampling.batch == 1 and sampling.beams == 1:
        for index, request in enumerate(wanted):
            _write_one(generator, request, index, sampling, texts, len(wanted))
        return 0
    answers = []
    for answer in generator.answers(requests):
        answers.append(answer)
        text = answer.generation.text
        if json_lines:
            sys.stdout.write(f"{json.dumps(_row(answer, sampling), ensure_ascii=False)}\n")
            sys.stdout.flush()
        else:
            texts.whole(text, lines=text.count("\n") + 1)
        if not answer.generation.complete:
            sys.stderr.write(f"text {len(answers)}: {_state(generator, answer, sampling)}\n")
        if sampling.diagnose and not json_lines:
            _show_diagnostics(answer.generation.diagnostics)
    seconds = time.perf_counter() - started
    tokens = sum(len(answer.generation.token_ids) for answer in answers)
    complete = sum(answer.generation.complete for answer in answers)
    drawn = f"; --seed {generator.seed}" if sampling.draws else ""
    sys.stderr.write(
        f"{_count(len(answers), 'text')}, {complete} complete: {_count(tokens, 'token')} in {seconds:.1f} s "
        f"({tokens / seconds:.0f} tokens/s){drawn}\n"
    )
    return 0


def _write_one(
    generator: Generator, request: Request, index: int, sampling: Sampling, texts: TextWriter, wanted: int
) -> None:
    started = time.perf_counter()
    if texts.streams:
        texts.begin()
        try:
            answer = generator.stream(request, index, texts.piece)
        except KeyboardInterrupt:
            texts.end()
            raise
        texts.end()
    else:
        answer = generator.stream(request, index)
        text = answer.generation.text
        texts.whole(text, lines=text.count("\n") + 1)
    seconds = time.perf_counter() - started
    tokens = len(answer.generation.token_ids)
    drawn = f"; --seed {answer.seed}" if sampling.draws else ""
    which = f"text {index + 1}: " if wanted > 1 else ""
    sys.stderr.write(
        f"{which}{_count(tokens, 'token')} in {seconds:.1f} s ({tokens / seconds:.0f} tokens/s); "
        f"{_state(generator, answer, sampling)}{drawn}\n"
    )
    if sampling.diagnose:
        _show_diagnostics(answer.generation.diagnostics)


def _show_diagnostics(diagnostics: Diagnostics) -> None:
    """A table on standard error.

    Red is where the constraint forbade what the model wanted, orange where it removed more than half of it all.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    head, *lines, total = diagnostics.render().splitlines()
    console.print(Text(head, style="bold"))
    for line, step in zip(lines, diagnostics.steps, strict=True):
        style = RED if not step.wanted_allowed else ORANGE if step.mass_removed > _MUCH else ""
        console.print(Text(line, style=style))
    console.print(Text(total, style="bold"))


def _state(generator: Generator, answer: PrintedAnswer, sampling: Sampling) -> str:
    """Whether a text is complete, and if not, why."""
    state = "complete" if answer.generation.complete else "cut off"
    if len(answer.generation.token_ids) == sampling.max_tokens and not generator.ended(answer):
        state += f" by --max-tokens {sampling.max_tokens}" if state == "cut off" else ", but it might have gone on"
    if sampling.skip_forced:
        state += f"; the model was asked for {answer.generation.passes}"
    return state


def _row(answer: PrintedAnswer, sampling: Sampling) -> dict[str, Any]:
    """What the request's line said, and the answer."""
    prompt = {} if isinstance(answer.request.prompt, list) else {"prompt": answer.request.prompt}
    seed = {"seed": answer.seed} if sampling.draws else {}
    generation = answer.generation
    return {
        **prompt,
        **answer.request.row,
        "text": generation.text,
        "complete": generation.complete,
        "tokens": len(generation.token_ids),
        **({"skipped": generation.skipped} if sampling.skip_forced else {}),
        **seed,
        **(_probabilities(generation.diagnostics) if sampling.diagnose else {}),
    }


def _probabilities(diagnostics: Diagnostics) -> dict[str, Any]:
    return {
        "log_prob": diagnostics.log_prob,
        "constrained_log_prob": diagnostics.constrained_log_prob,
        "diverged": diagnostics.diverged(),
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
