"""About a model and its vocabulary: ``generate``, ``serve``, ``tokens``."""

from __future__ import annotations

from typing import Annotated

import typer

from pdacon.cli.failures import BadInput
from pdacon.cli.grammars import load_grammar
from pdacon.cli.inputs import require_one_form, require_one_standard_input, tokens_of
from pdacon.cli.option_records import Sampling, Serving
from pdacon.cli.options import (
    GRAMMAR_HELP,
    GrammarOptions,
    HelpAllOption,
    JsonLinesOption,
    JsonOption,
    NullOption,
    TokenizerOption,
    complete_grammar,
    hidden_option,
    with_records,
)


@with_records
def generate(
    *,
    positional: Annotated[
        str | None,
        typer.Argument(metavar="GRAMMAR", help=GRAMMAR_HELP, autocompletion=complete_grammar, show_default=False),
    ] = None,
    grammar: Annotated[
        str | None,
        hidden_option(
            "--grammar", "-g", metavar="GRAMMAR", help="The same, as an option.", autocompletion=complete_grammar
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME|PATH", help="A Hugging Face model. Default: a tiny one."),
    ] = None,
    prompts: Annotated[
        list[str] | None, typer.Option("--prompt", "-p", metavar="TEXT", help="What comes before; may be repeated.")
    ] = None,
    source: Annotated[
        str | None,
        hidden_option(
            "--input",
            "-i",
            metavar="PATH",
            help="A file (-: standard input) with a JSON object a line that has a 'prompt', or 'messages' of a chat.",
        ),
    ] = None,
    chat: Annotated[bool, hidden_option("--chat", help="Write prompts with the tokenizer's chat template.")] = False,
    sampling: Sampling,
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
    given = [one for one in (positional, grammar) if one is not None]
    if not given and options.schema and options.schema[0].suffix == ".json":
        given = ["json"]  # which is what goes with a JSON Schema
    if len(given) != 1:
        raise BadInput("give the grammar: pdacon generate GRAMMAR" + (", only once" if given else ""))
    (name,) = given
    require_one_form(json_lines, null)
    require_one_standard_input(name, source)
    loaded = load_grammar(name, options)
    from pdacon.cli.generating import EMBEDDED_PROMPTS, show_texts
    from pdacon.cli.prompts import requests_of

    if not prompts and source is None:
        known = EMBEDDED_PROMPTS.get(name) if model is None else None
        prompts = [known or ""]
        if known is not None:
            typer.echo(f"prompt: {known}", err=True)
    return show_texts(
        name, loaded, model, requests_of(prompts or [], source, chat=chat), sampling, json_lines=json_lines, null=null
    )


@with_records
def serve(*, told: Serving) -> int:
    """Serve a model as OpenAI's API does, under schemas and grammars.

    `response_format`, `tools` and `structured_outputs` of chat completions and completions, and LoRAX's `/generate`;
    `/health`, `/ready` and `/metrics` for whoever looks after it. SIGINT or SIGTERM ends it once running answers are
    written.
    """
    from pdacon.cli.serving import serve_model

    return serve_model(told)


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
    help_all: HelpAllOption = False,
) -> int:
    """What does a vocabulary look like? What is this token?

    Exit status: 1 if a text is not one token; then those that begin with it are shown.
    """
    from pdacon.cli.inventory import show_tokens

    return show_tokens(tokens_of(tokenizer), wanted or [], json_format=as_json)
