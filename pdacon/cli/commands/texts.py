"""About a text of a grammar: ``mask``, ``explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from pdacon.cli.grammars import decoded, load_grammar
from pdacon.cli.inputs import artifact_name, require_one_standard_input, tokens_of
from pdacon.cli.options import GrammarArgument, GrammarOptions, JsonOption, TextArgument, TokenizerOption, with_records


@with_records
def mask(
    grammar: GrammarArgument,
    *,
    text: TextArgument = None,
    tokenizer: TokenizerOption = None,
    show: Annotated[int, typer.Option("--show", min=0, metavar="N", help="The most tokens to list.")] = 40,
    uncut: Annotated[bool, typer.Option("--all", help="All texts, however long.")] = False,
    canonical: Annotated[
        bool, typer.Option("--canonical", help="Also those that the tokenizer itself would produce.")
    ] = False,
    options: GrammarOptions,
    as_json: JsonOption = False,
) -> int:
    """What may come after this text, as terminals and as tokens?

    Files and standard input are taken byte for byte, the last newline included. Exit status: 1 if the text is not the
    beginning of any text of the grammar; then it is shown where it stops being one. `--json` lists all ids.
    """
    require_one_standard_input(grammar, text)
    loaded = load_grammar(grammar, options)
    from pdacon.cli.compiled import constraint_for
    from pdacon.cli.masking import canonical_constraint, show_mask
    from pdacon.cli.text_argument import read_text

    given = read_text(text)
    tokens = tokens_of(tokenizer or artifact_name(grammar))
    constraint = constraint_for(grammar, loaded, tokens.vocabulary)
    in_file = constraint.is_canonical and tokens.tokenizer is None
    narrowed = (constraint if in_file else canonical_constraint(loaded, tokens)) if canonical else None
    return show_mask(constraint, given, tokens, narrowed, most=show, uncut=uncut, json_format=as_json)


@with_records
def parse(
    grammar: GrammarArgument,
    *,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="The text (@PATH: a file, -: standard input, -- before a dash).", show_default=False
        ),
    ],
    all_tokens: Annotated[
        bool, typer.Option("--all-tokens", help="With the texts that Lark leaves out, such as commas.")
    ] = False,
    options: GrammarOptions,
    as_json: JsonOption = False,
) -> int:
    """The tree that Lark makes of a text.

    A line for each rule and each lexeme, indented by its depth; `-` is what may be missing and is.

    Exit status: 1 if the text is no whole text of the grammar; then it is shown why.
    """
    require_one_standard_input(grammar, text)
    loaded = load_grammar(grammar, options)
    from pdacon.cli.compiled import constraint_for
    from pdacon.cli.text_argument import name_of_text, read_text
    from pdacon.cli.text_trees import show_tree

    given = read_text(text)
    constraint = constraint_for(grammar, loaded, None)
    return show_tree(constraint, given, name_of_text(text), all_tokens=all_tokens, json_format=as_json)


@with_records
def bench(
    grammar: GrammarArgument,
    *,
    text: Annotated[
        list[str] | None,
        typer.Option("--text", metavar="TEXT", help="A text to measure with (@PATH: a file). Default: samples."),
    ] = None,
    count: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many texts.")] = 50,
    tokenizer: TokenizerOption = None,
    options: GrammarOptions,
    as_json: JsonOption = False,
) -> int:
    """How long do the masks of a grammar take, and what memory?

    Texts are read twice, token by token: the first time masks are computed where they are not known, then all are.
    """
    loaded = load_grammar(grammar, options)
    from pdacon.cli.measuring import measured, show_figures
    from pdacon.cli.text_argument import name_of_text, read_text

    texts = [decoded(read_text(given), name_of_text(given)) for given in text or []]
    tokens = tokens_of(tokenizer)
    figures = measured(loaded, tokens, texts, count)
    return show_figures(figures, tokens, json_format=as_json)


@with_records
def explain(
    grammar: GrammarArgument,
    *,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="The text (@PATH: a file, -: standard input, -- before a dash).", show_default=False
        ),
    ],
    token: Annotated[
        str | None,
        typer.Argument(
            metavar="TOKEN", help="What is to come after it: a text, or '#ID' of a token.", show_default=False
        ),
    ] = None,
    tokenizer: TokenizerOption = None,
    whole: Annotated[bool, typer.Option("--whole", help="Exit with 1 unless the text is a whole one.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Every rule that is being parsed.")] = False,
    uncut: Annotated[bool, typer.Option("--all", help="Everything, however long.")] = False,
    options: GrammarOptions,
    as_json: JsonOption = False,
) -> int:
    """Why may this text, or this token, not come here?

    Without a TOKEN: where the text stops being the beginning of a text of the grammar, or whether it is a whole one.
    Shows the last lexemes, what is expected, the rules that are being parsed, and the parser's stack.

    Exit status: 0 if it is allowed, 1 if it is not; with `--whole` 1 if the text could not end there.
    """
    require_one_standard_input(grammar, text)
    loaded = load_grammar(grammar, options)
    from pdacon.cli.compiled import constraint_for
    from pdacon.cli.explaining import show_explanation
    from pdacon.cli.inventory import is_id
    from pdacon.cli.text_argument import name_of_text, read_text

    given = read_text(text)
    tokenizer = tokenizer or artifact_name(grammar)
    tokens = tokens_of(tokenizer) if tokenizer is not None or (token is not None and is_id(token)) else None
    constraint = constraint_for(grammar, loaded, None if tokens is None else tokens.vocabulary)
    shown = {"whole": whole, "full": full, "uncut": uncut, "json_format": as_json}
    return show_explanation(constraint, given, token, tokens, source=name_of_text(text), **shown)
