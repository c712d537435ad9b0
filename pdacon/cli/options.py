"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

ReportFormat = Literal["text", "json", "sarif", "github"]
"""How a report is written."""
Level = Literal["error", "warning", "note"]
"""The least level of a finding that makes the exit status 1."""


def complete_grammar(incomplete: str) -> list[str]:
    """Built-in names and grammar files that begin like that."""
    from pdacon.grammar.builtin import builtin_names

    folder, _, name = incomplete.rpartition("/")
    here = Path(folder + "/" if folder else ".")
    files = [
        (f"{folder}/" if incomplete.startswith(f"{folder}/") else "") + entry.name + ("/" if entry.is_dir() else "")
        for entry in (sorted(here.iterdir()) if here.is_dir() else ())
        if entry.name.startswith(name) and (name or not entry.name.startswith("."))
        if entry.suffix in (".lark", ".json", ".gbnf", ".ebnf") or entry.is_dir()
    ]
    return [*(found for found in builtin_names() if found.startswith(incomplete)), *files]


hidden_option = partial(typer.Option, hidden=True)
"""An option that only `--help-all` shows."""

GRAMMAR_HELP = (
    "A Lark grammar: a file, a built-in one (pdacon list), -, a compiled file; a JSON Schema (.json), GBNF (.gbnf) or "
    "EBNF (.ebnf); or a Python type (MODULE:NAME, FILE.py:NAME)."
)

GrammarArgument = Annotated[
    str, typer.Argument(metavar="GRAMMAR", help=GRAMMAR_HELP, autocompletion=complete_grammar, show_default=False)
]
TextArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TEXT", help="The text so far (@PATH: a file, -: standard input, -- before a dash).", show_default=False
    ),
]
TokenizerOption = Annotated[
    str | None,
    typer.Option(
        "--tokenizer",
        "-t",
        metavar="NAME|PATH",
        help="A tokenizer: a folder, a file, a name on the hub, 'tiny' or 'bytes'.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="The result as JSON.")]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, metavar="N", help="Makes it repeatable. Default: a new one.")
]
JsonLinesOption = Annotated[bool, typer.Option("--json", "--jsonl", help="One JSON object a line.")]
NullOption = Annotated[bool, hidden_option("--null", "-0", help="End each text with a NUL byte, as for xargs -0.")]


LONG_HELP: dict[str, str] = {}
"""What `--help-all` says of each command before its options."""


def show_all_help(context: typer.Context, wanted: bool) -> None:
    """Show the help with all options, and end."""
    if wanted:
        command = context.command
        command.help = LONG_HELP[command.name or ""]
        for parameter in command.params:
            parameter.hidden = False  # type: ignore[attr-defined]
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit


HelpAllOption = Annotated[bool, typer.Option("--help-all", help="All options.", callback=show_all_help, is_eager=True)]


_usual = partial(typer.Option, rich_help_panel="Grammar options", show_default=False)
_option = partial(_usual, hidden=True)
_json_option = partial(typer.Option, rich_help_panel="With a JSON Schema", show_default=False, hidden=True)
_schema_option = partial(typer.Option, rich_help_panel="With --schema", show_default=False, hidden=True)


@dataclass(frozen=True, kw_only=True)
class GrammarOptions:
    """How the grammar on the command line is to be read; each field is an option of the commands that take one."""

    start: Annotated[list[str] | None, _usual("--start", metavar="RULE", help="The start rule. Default: start.")] = None
    conflicts: Annotated[
        Literal["error", "shift"] | None,
        _usual("--conflicts", metavar="error|shift", help="'shift' takes what Lark settles in silence."),
    ] = None
    lookahead: Annotated[
        Literal["reject", "commit"] | None,
        _usual("--lookahead", metavar="reject|commit", help="'commit' gives up some texts."),
    ] = None
    lexer: Annotated[
        Literal["contextual", "basic"] | None,
        _option("--lexer", metavar="contextual|basic", help="Which of Lark's lexers gives the grammar its meaning."),
    ] = None
    postlex: Annotated[
        str | None,
        _option(
            "--postlex",
            metavar="INDENTER",
            help="Where indentation comes from: 'python' is Lark's PythonIndenter (_NEWLINE, _INDENT, _DEDENT), "
            "'python4' the same with blocks of four columns, MODULE:CLASS an Indenter of your own, which is imported.",
        ),
    ] = None
    use_bytes: Annotated[
        bool,
        _option(
            "--use-bytes",
            help="Texts are bytes, and each character of a pattern stands for one, as with Lark's use_bytes.",
        ),
    ] = False
    import_path: Annotated[
        list[Path] | None, _option("--import-path", metavar="DIR", help="Where %import looks; may be repeated.")
    ] = None
    characters: Annotated[
        str | None,
        _option("--characters", metavar="ascii|CHARACTERS", help="Texts have only ASCII, or only these characters."),
    ] = None
    scripts: Annotated[
        list[str] | None,
        _option(
            "--script",
            metavar="NAME",
            help="Texts have only this script, such as Latin, with digits and punctuation; may be repeated.",
        ),
    ] = None
    normal_form: Annotated[
        Literal["NFC", "NFD", "NFKC", "NFKD"] | None,
        _option("--normal-form", metavar="NFC|NFD|NFKC|NFKD", help="Texts are in this normal form of Unicode."),
    ] = None
    schema: Annotated[
        list[Path] | None,
        _option(
            "--schema",
            metavar="FILE",
            help="With the grammar json: a JSON Schema. With the grammar sql_select (queries) or sql (queries, INSERT, "
            "UPDATE and DELETE): a SQLite file, of which only tables and columns are named.",
        ),
    ] = None
    tables: Annotated[
        list[str] | None, _schema_option("--tables", metavar="NAME", help="Only this table; may be repeated.")
    ] = None
    exclude: Annotated[
        list[str] | None,
        _schema_option("--exclude", metavar="NAME", help="Not this table, or TABLE.COLUMN; may be repeated."),
    ] = None
    views: Annotated[
        bool, _schema_option("--views/--no-views", help="Whether views count as tables that can be read.")
    ] = True
    targets: Annotated[
        list[str] | None,
        _schema_option(
            "--targets", metavar="NAME", help="With sql: only this table is changed; may be repeated. Default: no view."
        ),
    ] = None
    functions: Annotated[
        list[str] | None,
        _schema_option("--functions", metavar="NAME", help="A function beside SQLite's own; may be repeated."),
    ] = None
    aliases: Annotated[
        str | None,
        _schema_option(
            "--aliases", metavar="REGEX", help="What a text may call tables. Default: a letter, or one and a number."
        ),
    ] = None
    labels: Annotated[str | None, _schema_option("--labels", metavar="REGEX", help="The same for columns.")] = None
    bound_labels: Annotated[
        bool, _schema_option("--bound-labels", help="Behind AS only what can be named again, not any name.")
    ] = False
    double_quoted: Annotated[
        Literal["text", "name"],
        _schema_option("--double-quoted", metavar="text|name", help="What may stand in double quotes beside names."),
    ] = "text"
    comments: Annotated[bool, _schema_option("--comments/--no-comments", help="Whether there may be comments.")] = True
    with_clause: Annotated[
        bool,
        _schema_option("--with/--no-with", help="Whether WITH may define tables. Without: FROM takes listed ones."),
    ] = True
    whitespace: Annotated[
        Literal["json.dumps", "compact", "indent", "usual", "any"],
        _json_option(
            "--whitespace",
            metavar="json.dumps|compact|indent|usual|any",
            help="One space after , and :, none, indented lines, any of these at each place, or any blanks.",
        ),
    ] = "json.dumps"
    language: Annotated[
        Literal["json", "yaml"],
        _json_option("--language", metavar="json|yaml", help="What values are written in."),
    ] = "json"
    max_blanks: Annotated[
        int | None,
        _json_option(
            "--max-blanks", metavar="N", min=0, help="Blanks at one place; with 'usual', behind a line break."
        ),
    ] = None
    whitespace_pattern: Annotated[
        str | None,
        _json_option("--whitespace-pattern", metavar="RE", help="With 'any': the blanks at one place, by a pattern."),
    ] = None
    separators: Annotated[
        tuple[str, str] | None,
        _json_option("--separators", metavar="COMMA COLON", help="As json.dumps takes them, where blanks are fixed."),
    ] = None
    indent: Annotated[
        int,
        _json_option("--indent", metavar="N", min=0, help="Spaces of a level, with --whitespace indent. Default: 2."),
    ] = 2
    max_depth: Annotated[
        int,
        _json_option("--max-depth", metavar="N", min=0, help="Levels, where lines are indented. Default: 16."),
    ] = 16
    escapes: Annotated[
        Literal["needed", "ascii", "any"],
        _json_option("--escapes", metavar="needed|ascii|any", help="Escapes where needed, if not ASCII, or anywhere."),
    ] = "needed"
    numbers: Annotated[
        Literal["any", "canonical"],
        _json_option("--numbers", metavar="any|canonical", help="Zeros at the end, exponents, or one spelling each."),
    ] = "any"
    integers: Annotated[
        Literal["plain", "decimal"],
        _json_option("--integers", metavar="plain|decimal", help="Integers without a fraction, or also with .0."),
    ] = "plain"
    exponents: Annotated[
        Literal["any", "json.dumps", "none"],
        _json_option("--exponents", metavar="any|json.dumps|none", help="Of numbers: any, very large and small, none."),
    ] = "any"
    max_digits: Annotated[
        int | None,
        _json_option("--max-digits", metavar="N", min=1, help="Digits of a number before its point, and after it."),
    ] = None
    excludes: Annotated[
        list[str] | None,
        _json_option("--excludes", metavar="TEXT", help="What no string and no name has in it as it is written."),
    ] = None
    any_order: Annotated[bool, _json_option("--any-order", help="The members of objects come in any order.")] = False
    lax: Annotated[
        bool, _json_option("--lax", help="Leave out what cannot be enforced, and name it on standard error.")
    ] = False
    strict: Annotated[
        bool, _json_option("--strict", help="Of a Python type: refuse what only the class can see to.")
    ] = False
    asserted: Annotated[
        list[str] | None,
        _json_option(
            "--asserted", metavar="KEYWORD", help="Enforce contentEncoding, contentMediaType or dependencies."
        ),
    ] = None
    profile: Annotated[
        Literal["openai"] | None,
        _json_option("--profile", metavar="openai", help="Refuse what that service refuses in a schema."),
    ] = None
    formats: Annotated[
        bool, _json_option("--formats/--no-formats", help="Whether format is enforced, or is an annotation.")
    ] = True
    closed: Annotated[
        bool, _json_option("--closed", help="Objects have only the properties that are listed, unless it says.")
    ] = False

    def given(self, options: Iterable[str]) -> dict[str, Any]:
        """Of these options those that are not as they are by themselves."""
        defaults = GrammarOptions()
        return {name: value for name in options if (value := getattr(self, name)) != getattr(defaults, name)}


_NAMES = tuple(field.name for field in fields(GrammarOptions))
SCHEMA_OPTIONS = _NAMES[_NAMES.index("schema") : _NAMES.index("whitespace")]
"""Those that go with the schema of a database, itself first."""
FILTER_OPTIONS = ("characters", "scripts", "normal_form")
"""Those that go with every grammar: what else its texts are."""
JSON_OPTIONS = _NAMES[_NAMES.index("whitespace") :]
"""Those that go with a JSON Schema."""


def with_records(command: Callable[..., int]) -> Callable[..., int]:
    """The command as typer is to see it: in place of each parameter that is a record an option for each field."""
    records: dict[str, list[Parameter]] = {}
    kinds: dict[str, Any] = {}
    shown: list[Parameter] = []
    for parameter in signature(command, eval_str=True).parameters.values():
        if not is_dataclass(kind := parameter.annotation):
            shown.append(parameter)
            continue
        types = get_type_hints(kind, include_extras=True)
        kinds[parameter.name] = kind
        records[parameter.name] = [
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name])
            for field in fields(kind)
        ]
        shown += records[parameter.name]
    all_help = Parameter("help_all", Parameter.KEYWORD_ONLY, default=False, annotation=HelpAllOption)

    @wraps(command)
    def collecting(**given: Any) -> int:
        given.pop(all_help.name)
        made = {
            name: kinds[name](**{option.name: given.pop(option.name) for option in options})
            for name, options in records.items()
        }
        return command(**given, **made)

    collecting.__signature__ = Signature([*shown, all_help])  # type: ignore[attr-defined]
    return collecting
