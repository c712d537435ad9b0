"""The language server: what an editor asks, and when it is told.

In: the language server protocol, which pygls reads and writes. Out: the same. Each change of a text ends the work for
the one before; what is slow is done in threads.
"""

from __future__ import annotations

import asyncio
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from pdacon import Grammar, time_limit
from pdacon.editor.diagnosing import Problem, is_here, read, tell_problems
from pdacon.editor.head import head_completions, head_hover
from pdacon.editor.hovering import hover_text
from pdacon.editor.outline import Dialect, Occurrence, name_at, occurrences
from pdacon.errors import CancelledError, GrammarSyntaxError, PdaconError, Span
from pdacon.grammar.formatting import STATEMENTS, formatted

_WORKERS = 2
_HOVER_SECONDS = 2.0
_NAME = re.compile(r"_?[A-Z][A-Z0-9_]*|_?[a-z][a-z0-9_]*")
_RULE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")  # which both GBNF and EBNF take
_DIALECTS: tuple[Dialect, ...] = ("gbnf", "ebnf")
_LEVELS = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


class RefusedRename(JsonRpcException):
    """A name cannot have the one that was asked for: LSP's "request failed", whose message editors show."""

    CODE = -32803


def _is_news(record: logging.LogRecord) -> bool:
    """Whether pygls logs more than an answer of ours."""
    return not (record.exc_info and isinstance(record.exc_info[1], RefusedRename))


class _Open:
    """An open text: the work for it, and what was last said of it."""

    def __init__(self) -> None:
        self.cancel = Event()
        self.problems: list[tuple[types.Diagnostic, Problem]] = []
        self.text = ""


class GrammarServer(LanguageServer):
    """A language server for grammars in Lark's language, GBNF and EBNF, one for each editor."""

    def __init__(self) -> None:
        super().__init__("pdacon", version("pdacon"), text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
        self._open: dict[str, _Open] = {}
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="editor")
        self._reports_error = False
        self.options: dict[str, Any] = {}

    def end_work(self) -> None:
        """Stop what is being checked: the editor reads no more answers."""
        for entry in self._open.values():
            entry.cancel.set()

    def shutdown(self) -> None:
        """End, also where the editor went without a word."""
        self.end_work()
        super().shutdown()  # type: ignore[no-untyped-call]

    def report_server_error(self, error: Exception, source: type[PyglsError | JsonRpcException]) -> None:
        """Tell the editor of an error, unless telling it is what failed: pygls would tell it of that, and so on."""
        if self._reports_error:
            return
        self._reports_error = True
        try:
            super().report_server_error(error, source)
        finally:
            self._reports_error = False

    async def diagnose(self, uri: str) -> None:
        """Say what is wrong with a text, stage by stage, until it changes."""
        document = self.workspace.get_text_document(uri)
        entry = self._open.setdefault(uri, _Open())
        entry.cancel.set()
        entry.cancel = cancel = Event()
        text, number = document.source, document.version
        loop = asyncio.get_running_loop()

        def tell(problems: list[Problem] | None) -> None:
            loop.call_soon_threadsafe(publish, problems)

        def publish(problems: list[Problem] | None) -> None:
            if cancel.is_set():
                return
            if problems is None:  # It can be read. What was said of its rules stays until they are checked again.
                entry.text = ""
                entry.problems = [(diagnostic, problem) for diagnostic, problem in entry.problems if problem.id]
            else:
                entry.text = text
                entry.problems = [(self._diagnostic(document, problem), problem) for problem in problems]
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, [diagnostic for diagnostic, _ in entry.problems], number)
            )

        work = partial(tell_problems, text, path_of(document), self.options, cancel, tell, dialect_of(document))
        with suppress(CancelledError):
            await loop.run_in_executor(self._workers, work)

    def close(self, uri: str) -> None:
        """Forget a text, and what was said of it."""
        entry = self._open.pop(uri, None)
        if entry is not None:
            entry.cancel.set()
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _diagnostic(self, document: TextDocument, problem: Problem) -> types.Diagnostic:
        here = problem.span is not None and is_here(problem.span, path_of(document))
        place = f"{problem.span}: " if problem.span is not None and not here else ""
        related = [
            types.DiagnosticRelatedInformation(types.Location(document.uri, range_of(document, span)), label)
            for label, span in problem.related
            if is_here(span, path_of(document))
        ]
        return types.Diagnostic(
            range_of(document, problem.span if here else None),
            place + problem.message,
            _LEVELS[problem.level],
            problem.id or None,
            source="pdacon",
            related_information=related or None,
        )

    def repairs(self, document: TextDocument, asked: types.Range) -> list[types.CodeAction]:
        """The repairs of what is underlined in a range, as long as the text is the one that was checked."""
        entry = self._open.get(document.uri)
        if entry is None or entry.text != document.source:
            return []
        return [
            types.CodeAction(
                f"pdacon: write {label}",
                types.CodeActionKind.QuickFix,
                [diagnostic],
                is_preferred=number == 0,
                edit=types.WorkspaceEdit({document.uri: [change(document, text)]}),
            )
            for diagnostic, problem in entry.problems
            if _overlap(diagnostic.range, asked)
            for number, (label, text) in enumerate(problem.repairs)
        ]

    async def hover(self, document: TextDocument, name: Occurrence) -> str | None:
        """What a name stands for, in Markdown."""
        text, path, dialect = document.source, path_of(document), dialect_of(document)

        def work() -> str | None:
            try:
                with time_limit(_HOVER_SECONDS):
                    grammar: Grammar | None = read(text, path, self.options, dialect)
            except (PdaconError, ValueError, TypeError):
                grammar = None
            return hover_text(text, name, grammar, dialect)

        return await asyncio.get_running_loop().run_in_executor(self._workers, work)


def path_of(document: TextDocument) -> str | None:
    """The file that a text is in; None where it is in none yet."""
    return str(Path(document.path)) if document.uri.startswith("file:") else None


def dialect_of(document: TextDocument) -> Dialect:
    """What a text is written in, by the ending of its file, or by what the editor calls it."""
    for dialect in _DIALECTS:
        if document.uri.endswith(f".{dialect}") or document.language_id == dialect:
            return dialect
    return ""


def _names_in(document: TextDocument) -> list[Occurrence]:
    return occurrences(document.source, dialect_of(document))


def range_of(document: TextDocument, span: Span | None) -> types.Range:
    """A place as editors count; without one, the beginning of the text."""
    if span is None:
        return types.Range(types.Position(0, 0), types.Position(0, 1))
    own = types.Range(
        types.Position(span.line - 1, span.column - 1), types.Position(span.end_line - 1, span.end_column - 1)
    )
    return document.position_codec.range_to_client_units(document.lines, own)


def _range_of_name(document: TextDocument, name: Occurrence) -> types.Range:
    return range_of(document, Span(None, name.line + 1, name.column + 1, name.line + 1, name.end + 1))


def change(document: TextDocument, text: str) -> types.TextEdit:
    """What turns the text of a document into another one: the lines that differ."""
    old, new = document.source.split("\n"), text.split("\n")
    most = min(len(old), len(new)) - 1
    begin = next((k for k in range(most) if old[k] != new[k]), most)
    same = next((k for k in range(most - begin) if old[-1 - k] != new[-1 - k]), most - begin)
    if same:
        end, written = types.Position(len(old) - same, 0), "\n".join([*new[begin : len(new) - same], ""])
    else:
        units = document.position_codec.client_num_units(old[-1])
        end, written = types.Position(len(old) - 1, units), "\n".join(new[begin:])
    return types.TextEdit(types.Range(types.Position(begin, 0), end), written)


def require_name(new: str, old: Occurrence, names: list[Occurrence], dialect: Dialect = "") -> None:
    """Raise RefusedRename unless a name can have the new one everywhere in its file."""
    if dialect and _RULE_NAME.fullmatch(new) is None:
        raise RefusedRename(f"{new!r:.60}: the name of a rule, with letters, digits and -")
    if not dialect and (_NAME.fullmatch(new) is None or new.isupper() != old.is_terminal):
        kind = "terminal is in upper case" if old.is_terminal else "rule is in lower case"
        raise RefusedRename(f"{new!r:.60}: the name of a {kind}, with letters, digits and _")
    if any(name.name == new for name in names):
        raise RefusedRename(f"{new} is a name already")
    if any(name.name == old.name and name.role == "import" for name in names):
        raise RefusedRename(f"{old.name} is imported; import it under another name: {old.name} -> {new}")


def _overlap(first: types.Range, second: types.Range) -> bool:
    def at(place: types.Position) -> tuple[int, int]:
        return place.line, place.character

    return at(first.start) <= at(second.end) and at(second.start) <= at(first.end)


def create_server() -> GrammarServer:
    """A language server; ``create_server().start_io()`` speaks to an editor by standard input and output."""
    server = GrammarServer()
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_news)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        given = params.initialization_options
        server.options = dict(given) if isinstance(given, dict) else {}

    @server.feature(types.SHUTDOWN)
    @server.feature(types.EXIT)
    def end(_: None) -> None:
        server.end_work()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        await server.diagnose(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        await server.diagnose(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    def named(uri: str, position: types.Position) -> tuple[TextDocument, list[Occurrence], Occurrence | None]:
        document = server.workspace.get_text_document(uri)
        names = _names_in(document)
        place = document.position_codec.position_from_client_units(document.lines, position)
        return document, names, name_at(names, place.line, place.character)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document, _, name = named(params.text_document.uri, params.position)
        at = document.position_codec.position_from_client_units(document.lines, params.position)
        if not dialect_of(document) and (option := head_hover(document.source, at.line, at.character)):
            word, about = option
            return types.Hover(
                types.MarkupContent(types.MarkupKind.Markdown, about), range_of(document, word.span(None))
            )
        text = None if name is None else await server.hover(document, name)
        if name is None or text is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), _range_of_name(document, name))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        document, names, name = named(params.text_document.uri, params.position)
        places = [place for place in names if name and place.name == name.name and place.role != "use"]
        return [types.Location(document.uri, _range_of_name(document, place)) for place in places]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        document, names, name = named(params.text_document.uri, params.position)
        places = [place for place in names if name and place.name == name.name]
        if not params.context.include_declaration:
            places = [place for place in places if place.role == "use"]
        return [types.Location(document.uri, _range_of_name(document, place)) for place in places]

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        document, names, name = named(params.text_document.uri, params.position)
        if name is None:
            return None
        require_name(params.new_name, name, names, dialect_of(document))
        places = [place for place in names if place.name == name.name]
        edits = [types.TextEdit(_range_of_name(document, place), params.new_name) for place in places]
        return types.WorkspaceEdit({document.uri: edits})

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = server.workspace.get_text_document(params.text_document.uri)
        return [
            types.DocumentSymbol(
                name.name,
                types.SymbolKind.Constant if name.is_terminal else types.SymbolKind.Function,
                _range_of_name(document, name),
                _range_of_name(document, name),
            )
            for name in _names_in(document)
            if name.role == "definition"
        ]

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return server.repairs(server.workspace.get_text_document(params.text_document.uri), params.range)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        document = server.workspace.get_text_document(params.text_document.uri)
        if dialect_of(document):
            return None
        try:
            laid_out = formatted(document.source)
        except GrammarSyntaxError:  # which is underlined
            return None
        return [] if laid_out == document.source else [change(document, laid_out)]

    @server.feature(types.TEXT_DOCUMENT_COMPLETION)
    def completion(params: types.CompletionParams) -> list[types.CompletionItem]:
        document = server.workspace.get_text_document(params.text_document.uri)
        at = document.position_codec.position_from_client_units(document.lines, params.position)
        options = None if dialect_of(document) else head_completions(document.source, at.line, at.character)
        if options is not None:
            kind = types.CompletionItemKind.Property
            return [types.CompletionItem(option, kind=kind, detail=about) for option, about in options.items()]
        rules = {name.name: name.is_terminal for name in _names_in(document) if name.role != "use"}
        rule, terminal = types.CompletionItemKind.Function, types.CompletionItemKind.Constant
        named = [types.CompletionItem(name, kind=terminal if upper else rule) for name, upper in sorted(rules.items())]
        if dialect_of(document):
            return named
        keyword = types.CompletionItemKind.Keyword
        return [*named, *(types.CompletionItem(word, kind=keyword) for word in STATEMENTS)]

    return server
