"""The options of one command each, as records; `with_records` makes options of their fields."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pdacon.cli.failures import BadInput
from pdacon.cli.options import SeedOption, hidden_option
from pdacon.cli.prompts import require_unicode

_HIGHEST_SEED = 2**62


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How `pdacon generate` draws texts."""

    prefix: Annotated[
        str, hidden_option("--prefix", metavar="TEXT", help="How each text begins.", show_default=False)
    ] = ""
    count: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many texts for each prompt.")] = 1
    seed: SeedOption = None
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, metavar="N", help="The most tokens of a text.")] = (
        256
    )
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            min=0.0,
            max=100.0,
            metavar="T",
            help="0: always the likeliest token. Default: as the model says, or 1; 0 with beams.",
        ),
    ] = None
    top_p: Annotated[
        float | None,
        hidden_option("--top-p", min=0.0, max=1.0, metavar="P", help="Draw from the likeliest tokens that make up P."),
    ] = None
    beams: Annotated[int, hidden_option("--beams", min=1, metavar="N", help="Beam search with so many beams.")] = 1
    batch: Annotated[
        int, hidden_option("--batch-size", min=1, metavar="N", help="How many texts are generated at a time.")
    ] = 1
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help="Show what the constraint did to the model, token by token.")
    ] = False
    canonical: Annotated[
        bool, hidden_option("--canonical", help="Only tokens that the tokenizer itself would produce.")
    ] = False
    skip_forced: Annotated[
        bool, hidden_option("--skip-forced", help="Append the only tokens allowed without asking the model.")
    ] = False
    complete: Annotated[
        bool, typer.Option("--complete", help="End every text within --max-tokens: none is cut off.")
    ] = False
    soft: Annotated[
        int | None,
        hidden_option("--soft", min=0, metavar="N", help="With --complete: begin nothing any more after N tokens."),
    ] = None
    draft: Annotated[
        bool,
        hidden_option(
            "--draft",
            help="Draft tokens that the grammar forces or that were seen before; the model verifies several at a time.",
        ),
    ] = False

    def __post_init__(self) -> None:
        require_unicode(self.prefix, "--prefix")
        if self.soft is not None and not self.complete:
            raise BadInput("--soft says from when on an end is preferred; it needs --complete")
        if self.draft and (self.beams > 1 or self.batch > 1 or self.skip_forced):
            raise BadInput("--draft is for one text at a time: leave out --beams, --batch-size and --skip-forced")
        if self.skip_forced and (self.beams > 1 or self.batch > 1):
            raise BadInput("--skip-forced is for one text at a time: leave out --beams and --batch-size")
        if self.count > 1 and self.beams == 1 and self.temperature == 0:
            raise BadInput("temperature 0 always gives the same text: -n needs a temperature above 0, or --beams")
        if self.seed is not None and self.seed > _HIGHEST_SEED:
            raise BadInput(f"--seed {self.seed} is too large; the highest is {_HIGHEST_SEED}")
        if self.beams > 1 and self.count > self.beams:
            raise BadInput(f"-n {self.count} needs at least --beams {self.count}")

    @property
    def options(self) -> dict[str, Any]:
        """What `pdacon.generate` has of it."""
        from pdacon.matching import Budget

        budget = Budget(tokens=self.max_tokens, soft=self.soft) if self.complete else None
        return {
            "prefix": self.prefix,
            "budget": budget,
            "max_tokens": None if self.complete else self.max_tokens,
            "temperature": self.temperature,
            "num_beams": self.beams,
            "diagnostics": self.diagnose,
            "skip_forced": self.skip_forced,
            **({"top_p": self.top_p} if self.top_p is not None and self.draws else {}),
        }

    @property
    def draws(self) -> bool:
        """Whether there is chance in it."""
        return self.beams == 1 if self.temperature is None else self.temperature > 0


@dataclass(frozen=True, kw_only=True)
class Serving:
    """What `pdacon serve` is told."""

    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME|PATH", help="A Hugging Face model. Default: a tiny one."),
    ] = None
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1"
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="0: a free one.")] = 8000
    name: Annotated[
        str | None,
        typer.Option("--served-model-name", metavar="NAME", help="What requests call it. Default: that of --model."),
    ] = None
    api_keys: Annotated[
        list[str] | None,
        typer.Option("--api-key", metavar="KEY", help="Ask for it, as for those of PDACON_API_KEY; may be repeated."),
    ] = None
    api_key_file: Annotated[
        Path | None,
        typer.Option("--api-key-file", metavar="FILE", help="Ask for one of its lines; `ps` shows no key then."),
    ] = None
    tool_format: Annotated[
        str,
        typer.Option(
            "--tool-format",
            metavar="NAME",
            help="How the model writes calls of tools; auto: as its chat template does.",
        ),
    ] = "auto"
    cache: Annotated[
        Path | None,
        typer.Option("--cache", metavar="FOLDER", help="Keep compiled grammars there; schemas are read on demand."),
    ] = None
    store: Annotated[
        str | None, hidden_option("--store", metavar="URL", help="Share them there with other machines: s3://...")
    ] = None
    cache_mib: Annotated[
        int, hidden_option("--cache-mib", min=1, metavar="N", help="Room for them, in memory and in --cache.")
    ] = 1024
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, metavar="N", help="How many answers are written at a time.")
    ] = 32
    max_requests: Annotated[
        int, hidden_option("--max-requests", min=1, metavar="N", help="Running and waiting; more are refused.")
    ] = 256
    compile_seconds: Annotated[
        float, hidden_option("--compile-seconds", min=0.1, metavar="S", help="For a schema or grammar.")
    ] = 10.0
    compile_workers: Annotated[
        int, hidden_option("--compile-workers", min=1, metavar="N", help="Compilations at a time.")
    ] = 2
    compile_in: Annotated[
        Literal["processes", "threads"],
        hidden_option("--compile-in", help="threads: less memory, and answers wait for them."),
    ] = "processes"
    cache_tokens: Annotated[
        int | None, hidden_option("--cache-tokens", min=1, metavar="N", help="Room of the key-value cache.")
    ] = None
    json: Annotated[
        str | None,
        hidden_option("--json", metavar="JSON", help='How JSON is written: {"whitespace": "usual", "closed": true}.'),
    ] = None
    max_tokens: Annotated[
        int | None, hidden_option("--max-tokens", min=1, metavar="N", help="Of an answer, unless a request says so.")
    ] = None
    drain_delay: Annotated[
        float, hidden_option("--drain-delay", min=0, metavar="S", help="From /ready's no to the refusals.")
    ] = 0.0
    drain_seconds: Annotated[
        float, hidden_option("--drain-seconds", min=0, metavar="S", help="For answers that a stop finds running.")
    ] = 30.0


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What `pdacon draw` draws: at most one of these is given (``after`` goes with ``pda``, too), and else all rules,
    or the schema."""

    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rule", metavar="NAME", help="Only this rule, or part of a schema (#/$defs/x); may be repeated."
        ),
    ] = None
    terminals: Annotated[
        list[str] | None,
        typer.Option("--terminal", metavar="NAME", help="A terminal's automaton; of several: which one wins?"),
    ] = None
    conflict: Annotated[
        int | None, typer.Option("--conflict", metavar="N", help="The two readings behind the Nth conflict.")
    ] = None
    pda: Annotated[bool, typer.Option("--pda", help="The parser: all its LR states.")] = False
    state: Annotated[int | None, typer.Option("--state", metavar="N", help="An LR state, and those around it.")] = None
    after: Annotated[
        str | None,
        typer.Option("--after", metavar="TEXT", help="The LR state after this text; with --pda marked there."),
    ] = None
    around: Annotated[
        int, hidden_option("--around", min=0, metavar="K", help="States up to K steps away are drawn, too.")
    ] = 1
    context: Annotated[
        int | None, hidden_option("--context", metavar="N", help="A lexical context: which terminals compete.")
    ] = None
    most: Annotated[int | None, hidden_option("--most", min=1, metavar="N", help="The most states to draw.")] = None
    lowered: Annotated[
        bool, typer.Option("--lowered", help="Of a JSON Schema, GBNF or EBNF: the rules that it becomes.")
    ] = False

    def __post_init__(self) -> None:
        given = self._given()
        if len(given) > 1 and set(given) != {"after", "pda"}:
            raise BadInput(f"one picture at a time: --{' or --'.join(given)}")

    @property
    def says_what(self) -> bool:
        """Whether it is something else than rules, or the schema."""
        return bool({*self._given()} - {"rule"})

    def _given(self) -> list[str]:
        numbers = [name for name in ("state", "after", "context", "conflict") if getattr(self, name) is not None]
        flags = {"rule": self.rules, "terminal": self.terminals, "pda": self.pda, "lowered": self.lowered}
        return [*numbers, *(name for name, value in flags.items() if value)]
