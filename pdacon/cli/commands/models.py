"""About a model and its vocabulary: ``generate``, ``serve``, ``tokens``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdacon.cli.failures import BadInput
from pdacon.cli.grammars import load_grammar
from pdacon.cli.imported import is_imported
from pdacon.cli.inputs import require_one_form, require_one_standard_input, tokens_of
from pdacon.cli.options import (
    GRAMMAR_HELP,
    CompileIn,
    Format,
    FormatOption,
    GrammarOptions,
    HelpAllOption,
    JsonLinesOption,
    JsonOption,
    NullOption,
    SeedOption,
    TokenizerOption,
    complete_grammar,
    with_grammar_options,
)


@with_grammar_options
def generate(
    *,
    positional: Annotated[
        str | None,
        typer.Argument(metavar="GRAMMAR", help=GRAMMAR_HELP, autocompletion=complete_grammar, show_default=False),
    ] = None,
    grammar: Annotated[
        str | None,
        typer.Option(
            "--grammar",
            "-g",
            metavar="GRAMMAR",
            help="The same, as an option.",
            autocompletion=complete_grammar,
            hidden=True,
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--type", metavar="MODULE:NAME", help="In its place a Python type; or FILE.py:NAME.", hidden=True),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME|PATH", help="A Hugging Face model. Default: a tiny one."),
    ] = None,
    prompts: Annotated[
        list[str] | None,
        typer.Option(
            "--prompt",
            "-p",
            metavar="TEXT",
            help="What comes before; may be repeated.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            "-i",
            metavar="PATH",
            help="A file (-: standard input) with a JSON object a line that has a 'prompt', or 'messages' of a chat.",
            hidden=True,
        ),
    ] = None,
    chat: Annotated[
        bool, typer.Option("--chat", metavar="", help="Write prompts with the tokenizer's chat template.", hidden=True)
    ] = False,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="TEXT", help="How each text begins.", show_default=False, hidden=True)
    ] = "",
    count: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many texts for each prompt.")] = 1,
    seed: SeedOption = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, metavar="N", help="The most tokens of a text.")
    ] = 256,
    max_new_tokens: Annotated[
        int | None,
        typer.Option("--max-new-tokens", min=1, metavar="N", help="The same.", show_default=False, hidden=True),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            min=0.0,
            max=100.0,
            metavar="T",
            help="0: always the likeliest token. Default: as the model says, or 1; 0 with beams.",
        ),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            "--top-p", min=0.0, max=1.0, metavar="P", help="Draw from the likeliest tokens that make up P.", hidden=True
        ),
    ] = None,
    beams: Annotated[
        int, typer.Option("--beams", min=1, metavar="N", help="Beam search with so many beams.", hidden=True)
    ] = 1,
    batch: Annotated[
        int,
        typer.Option("--batch-size", min=1, metavar="N", help="How many texts are generated at a time.", hidden=True),
    ] = 1,
    diagnose: Annotated[
        bool,
        typer.Option("--diagnose", metavar="", help="Show what the constraint did to the model, token by token."),
    ] = False,
    canonical: Annotated[
        bool,
        typer.Option(
            "--canonical", metavar="", help="Only tokens that the tokenizer itself would produce.", hidden=True
        ),
    ] = False,
    skip_forced: Annotated[
        bool,
        typer.Option(
            "--skip-forced", metavar="", help="Append the only tokens allowed without asking the model.", hidden=True
        ),
    ] = False,
    complete: Annotated[
        bool, typer.Option("--complete", metavar="", help="End every text within --max-tokens: none is cut off.")
    ] = False,
    soft: Annotated[
        int | None,
        typer.Option(
            "--soft", min=0, metavar="N", help="With --complete: begin nothing any more after N tokens.", hidden=True
        ),
    ] = None,
    draft: Annotated[
        bool,
        typer.Option(
            "--draft",
            metavar="",
            help="Draft tokens that the grammar forces or that were seen before; the model verifies several at a time.",
            hidden=True,
        ),
    ] = False,
    json_lines: JsonLinesOption = False,
    null: NullOption = False,
    options: GrammarOptions,
) -> int:
    """Let a language model write texts that the grammar allows.

    Texts go to standard output, one by one as they come or, with `--jsonl`, as one object a line with what the input's
    line said, `text` and `complete`; everything else goes to standard error. Text i is drawn with seed + i, a batch
    with the seed of its first text.

    A text that `--max-tokens` cuts off is the beginning of a text of the grammar; it is said which ones are. With
    `--complete` none is: each ends in time, and with `--soft` an end is preferred from then on.
    Once a text has several lines, `--- 2 ---` and so on stand between texts, on a terminal always; `--jsonl` and
    `--null` say exactly where each ends.

    `--diagnose` writes a table to standard error, or logarithms of probabilities into each object: how probable each
    token was by the model alone and among those allowed, how much was removed, and what the model wanted.

    `--skip-forced` says how many tokens the model was not asked for: most where a schema fixes texts, with
    `--canonical`.
    """
    given = [one for one in (positional, grammar, kind) if one is not None]
    if not given and options.schema and options.schema[0].suffix == ".json":
        given = ["json"]  # which is what goes with a JSON Schema
    if len(given) != 1:
        raise BadInput("give the grammar: pdacon generate GRAMMAR" + (", only once" if given else ""))
    (name,) = given
    if kind is not None and not is_imported(kind):
        raise BadInput(f"--type {kind}: expected MODULE:NAME or FILE.py:NAME")
    require_one_form(json_lines, null)
    require_one_standard_input(name, source)
    loaded = load_grammar(name, options)
    from pdacon.cli.generating import EMBEDDED_PROMPTS, Sampling, show_texts
    from pdacon.cli.prompts import requests_of

    if not prompts and source is None:
        known = EMBEDDED_PROMPTS.get(name) if model is None else None
        prompts = [known or ""]
        if known is not None:
            typer.echo(f"prompt: {known}", err=True)
    sampling = Sampling(
        max_new_tokens or max_tokens,
        temperature,
        top_p,
        seed,
        count,
        beams,
        batch,
        prefix,
        diagnose,
        canonical,
        skip_forced,
        complete,
        soft,
        draft,
    )
    return show_texts(
        name, loaded, model, requests_of(prompts or [], source, chat=chat), sampling, json_lines=json_lines, null=null
    )


def serve(
    *,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME|PATH", help="A Hugging Face model. Default: a tiny one."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="0: a free one.")] = 8000,
    name: Annotated[
        str | None,
        typer.Option("--served-model-name", metavar="NAME", help="What requests call it. Default: that of --model."),
    ] = None,
    api_keys: Annotated[
        list[str] | None,
        typer.Option("--api-key", metavar="KEY", help="Ask for it, as for those of PDACON_API_KEY; may be repeated."),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option("--api-key-file", metavar="FILE", help="Ask for one of its lines; `ps` shows no key then."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", metavar="FOLDER", help="Keep compiled schemas and grammars there."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="URL", help="Share them there with other machines: s3://...", hidden=True),
    ] = None,
    cache_mib: Annotated[
        int,
        typer.Option("--cache-mib", min=1, metavar="N", help="Room for them, in memory and in --cache.", hidden=True),
    ] = 1024,
    batch: Annotated[
        int, typer.Option("--batch-size", min=1, metavar="N", help="How many answers are written at a time.")
    ] = 32,
    requests: Annotated[
        int,
        typer.Option("--max-requests", min=1, metavar="N", help="Running and waiting; more are refused.", hidden=True),
    ] = 256,
    seconds: Annotated[
        float, typer.Option("--compile-seconds", min=0.1, metavar="S", help="For a schema or grammar.", hidden=True)
    ] = 10.0,
    workers: Annotated[
        int, typer.Option("--compile-workers", min=1, metavar="N", help="Compilations at a time.", hidden=True)
    ] = 2,
    compile_in: Annotated[
        CompileIn, typer.Option("--compile-in", help="threads: less memory, and answers wait for them.", hidden=True)
    ] = CompileIn.processes,
    cache_tokens: Annotated[
        int | None,
        typer.Option("--cache-tokens", min=1, metavar="N", help="Room of the key-value cache.", hidden=True),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", min=1, metavar="N", help="Of an answer, unless a request says so.", hidden=True),
    ] = None,
    drain_delay: Annotated[
        float,
        typer.Option("--drain-delay", min=0, metavar="S", help="From /ready's no to the refusals.", hidden=True),
    ] = 0.0,
    drain_seconds: Annotated[
        float,
        typer.Option("--drain-seconds", min=0, metavar="S", help="For answers that a stop finds running.", hidden=True),
    ] = 30.0,
    help_all: HelpAllOption = False,
) -> int:
    """Serve a model as OpenAI's API does, each answer in the schema or grammar of its request.

    `response_format`, `tools` and `structured_outputs` of chat completions and completions, and LoRAX's `/generate`;
    `/health`, `/ready` and `/metrics` for whoever looks after it. SIGINT or SIGTERM ends it once running answers are
    written.
    """
    from pdacon.cli.serving import Serving, serve_model

    return serve_model(
        Serving(
            model,
            host,
            port,
            name,
            tuple(api_keys or ()),
            api_key_file,
            cache,
            store,
            cache_mib,
            batch,
            requests,
            seconds,
            workers,
            "threads" if compile_in is CompileIn.threads else "processes",
            cache_tokens,
            max_tokens,
            drain_delay,
            drain_seconds,
        )
    )


def tokens(
    *,
    wanted: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOKEN",
            help="Tokens to look up: '#ID' (in quotes), or a text (## for one that begins with #).",
            show_default=False,
        ),
    ] = None,
    tokenizer: TokenizerOption = None,
    as_json: JsonOption = False,
    format: FormatOption = Format.text,
    help_all: HelpAllOption = False,
) -> int:
    """What does a vocabulary look like? What is this token?

    Exit status: 1 if a text is not one token; then those that begin with it are shown.
    """
    from pdacon.cli.inventory import show_tokens

    return show_tokens(tokens_of(tokenizer), wanted or [], json_format=as_json or format is Format.json)
