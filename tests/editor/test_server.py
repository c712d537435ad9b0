"""The language server, asked as an editor does: through pygls' client, over pipes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from pdacon.editor.diagnosing import tell_problems
from pdacon.editor.server import create_server

PATIENCE = 60.0
SUMS = 'start: sum\nsum: sum "+" sum | NUMBER\nNUMBER: /[0-9]+/\n'
COMMAND = (sys.executable, "-P", "-m", "pdacon", "server")
Visit = Callable[["Editor"], Awaitable[None]]


class Editor:
    """An editor with one text open."""

    def __init__(self, client: LanguageClient, uri: str) -> None:
        self.client, self.uri = client, uri
        self.version = 0
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

    async def open(self, text: str) -> None:
        item = types.TextDocumentItem(self.uri, "lark", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def write(self, text: str) -> None:
        self.version += 1
        identifier = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [whole]))

    async def until(self, holds: Callable[[list[types.Diagnostic]], bool]) -> list[types.Diagnostic]:
        """The next diagnostics of the text as it is now of which something holds."""
        while True:
            said = await asyncio.wait_for(self.published.get(), PATIENCE)
            if said.version == self.version and holds(list(said.diagnostics)):
                return list(said.diagnostics)

    def at(self, line: int, column: int) -> dict[str, Any]:
        return {"text_document": types.TextDocumentIdentifier(self.uri), "position": types.Position(line, column)}


def visit(tmp_path: Path, act: Visit, options: Any = None) -> None:
    """Start a server, let an editor act, stop it."""

    async def session() -> None:
        client = LanguageClient("test", "1")
        editor = Editor(client, (tmp_path / "my.lark").as_uri())

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            editor.published.put_nowait(params)

        await client.start_io(*COMMAND, env=dict(os.environ))
        given = types.InitializeParams(types.ClientCapabilities(), root_uri=None, initialization_options=options)
        await client.initialize_async(given)
        client.initialized(types.InitializedParams())
        try:
            await act(editor)
        finally:
            await client.shutdown_async(None)
            client.exit(None)
            await client.stop()

    asyncio.run(asyncio.wait_for(session(), 5 * PATIENCE))


pytestmark = pytest.mark.slow
ITEM = {"uri": "untitled:one", "languageId": "lark", "version": 1, "text": 'start: pair\npair: "a"\n'}
AT = {"textDocument": {"uri": "untitled:one"}, "position": {"line": 1, "character": 1}}


def test_syntax_conflicts_and_repairs(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        await editor.open('start: "a\n')
        (error,) = await editor.until(bool)
        assert (error.severity, error.range.start) == (types.DiagnosticSeverity.Error, types.Position(0, 7))
        await editor.write(SUMS)
        (conflict,) = await editor.until(lambda said: bool(said) and "repair: " in said[0].message)
        assert (conflict.code, conflict.source) == ("PDA001", "pdacon")
        assert conflict.range == types.Range(types.Position(1, 5), types.Position(1, 16))
        actions: Any = []
        while not actions:  # the errors come first, and the repairs with what is found later
            asked = types.CodeActionParams(
                types.TextDocumentIdentifier(editor.uri), conflict.range, types.CodeActionContext([conflict])
            )
            actions = await editor.client.text_document_code_action_async(asked)
        ((edit,),) = actions[0].edit.changes.values()
        repaired = applied(SUMS, edit)
        assert repaired == 'start: sum\nsum: sum "+" sum_2 | sum_2\nsum_2: NUMBER\nNUMBER: /[0-9]+/\n'
        ((edit,),) = actions[-1].edit.changes.values()
        assert actions[-1].title == "pdacon: write // pdacon: --conflicts shift"
        assert "with `// pdacon: --conflicts shift` at the head of the file: " in conflict.message
        accepted = applied(SUMS, edit)
        assert accepted == f"// pdacon: --conflicts shift\n{SUMS}"
        await editor.write(repaired)
        assert await editor.until(lambda said: not said) == []
        nothing = await editor.client.text_document_code_action_async(asked)
        assert not nothing, "repairs of another text are none of this one"

    visit(tmp_path, act)


def applied(text: str, edit: types.TextEdit) -> str:
    """A text of ASCII after an edit."""
    lines = text.splitlines(keepends=True)

    def offset(place: types.Position) -> int:
        return sum(map(len, lines[: place.line])) + place.character

    return text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]


GOOD = 'start: pair ("," pair)*\npair: NAME "=" NUMBER // 𝛼\nNAME: /[a-z]+/\nNUMBER: /[1-9][0-9]{0,2}/\n%ignore " "\n'


def test_hover_definition_references_rename_symbols(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        await editor.open(GOOD)
        client = editor.client
        hover = await client.text_document_hover_async(types.HoverParams(**editor.at(1, 16)))
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "NUMBER: /[1-9][0-9]{0,2}/" in hover.contents.value
        assert "such as `" in hover.contents.value
        assert await client.text_document_hover_async(types.HoverParams(**editor.at(1, 13))) is None
        rule = await client.text_document_hover_async(types.HoverParams(**editor.at(0, 8)))
        assert rule is not None
        assert isinstance(rule.contents, types.MarkupContent)
        assert 'pair: NAME "=" NUMBER' in rule.contents.value
        places: Any = await client.text_document_definition_async(types.DefinitionParams(**editor.at(0, 19)))
        assert [place.range.start for place in places] == [types.Position(1, 0)]
        context = types.ReferenceContext(include_declaration=False)
        references = await client.text_document_references_async(types.ReferenceParams(context, **editor.at(1, 1)))
        assert [one.range.start for one in references or ()] == [types.Position(0, 7), types.Position(0, 17)]
        rename = await client.text_document_rename_async(types.RenameParams(new_name="both", **editor.at(1, 1)))
        assert rename is not None
        assert rename.changes is not None
        assert [edit.range.start.line for edit in rename.changes[editor.uri]] == [0, 0, 1]
        symbols = await client.text_document_document_symbol_async(
            types.DocumentSymbolParams(types.TextDocumentIdentifier(editor.uri))
        )
        assert [symbol.name for symbol in symbols or ()] == ["start", "pair", "NAME", "NUMBER"]

    visit(tmp_path, act)


def test_layout_and_completion(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        text = types.TextDocumentIdentifier(editor.uri)
        layout = types.DocumentFormattingParams(text, types.FormattingOptions(tab_size=4, insert_spaces=True))
        await editor.open('start:sum\nsum : sum "+" sum|NUMBER\nNUMBER: /[0-9]+/\n')
        (edit,) = await editor.client.text_document_formatting_async(layout) or ()
        assert (edit.range.start, edit.new_text) == (types.Position(0, 0), 'start: sum\nsum: sum "+" sum | NUMBER\n')
        completion = await editor.client.text_document_completion_async(types.CompletionParams(**editor.at(1, 5)))
        assert isinstance(completion, list)
        assert [item.label for item in completion[:4]] == ["NUMBER", "start", "sum", "%declare"]
        await editor.write(SUMS)
        assert not await editor.client.text_document_formatting_async(layout)
        await editor.write('start: "a" ^\n')
        assert await editor.client.text_document_formatting_async(layout) is None

    visit(tmp_path, act)


@pytest.mark.parametrize("name", ["Both", "start", "NAME", "", "a b", "1a"])
def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, name: str) -> None:
    async def act(editor: Editor) -> None:
        await editor.open(GOOD)
        with pytest.raises(Exception, match=r"name"):
            await editor.client.text_document_rename_async(types.RenameParams(new_name=name, **editor.at(1, 1)))

    visit(tmp_path, act)


def test_a_refusal_is_an_answer_and_no_accident() -> None:
    """It goes to the editor, with LSP's code for it, and not into the log as a traceback."""
    answers, log = conversation(
        {"method": "textDocument/didOpen", "params": {"textDocument": ITEM}},
        {"id": 2, "method": "textDocument/rename", "params": {**AT, "newName": "start"}},
    )
    refusal = answers[2]["error"]
    assert (refusal["code"], refusal["message"]) == (-32803, "start is a name already")
    assert log == ""


def test_the_head_goes_before_what_the_editor_says(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        await editor.open("// pdacon: --start sum --conflicts shift\n" + SUMS)
        said = await editor.until(lambda said: any(one.code == "PDA001" for one in said))
        (conflict,) = [one for one in said if one.code == "PDA001"]
        assert conflict.severity == types.DiagnosticSeverity.Information
        await editor.write("// pdacon: --start sum --conflict shift\n" + SUMS)
        (wrong,) = await editor.until(lambda said: bool(said) and not said[0].code)
        assert "No such option: --conflict; did you mean --conflicts?" in wrong.message
        assert wrong.range == types.Range(types.Position(0, 23), types.Position(0, 33))
        await editor.write("// pdacon: --start some\n" + SUMS)
        (wrong,) = await editor.until(lambda said: bool(said) and "some" in said[0].message)
        assert wrong.range == types.Range(types.Position(0, 19), types.Position(0, 23))

    visit(tmp_path, act, {"conflicts": "error"})


def test_a_file_for_llguidance_is_read_as_such() -> None:
    told: list[Any] = []
    text = "// pdacon: --conflicts shift\n%llguidance {}\nstart: A\nA: B & /[a-c]+/\nB: /[b-d]{1,3}/\n"
    tell_problems(text, "my.lark", {"start": "start", "lexer": "basic"}, threading.Event(), told.append)
    assert told == [None, [], []]


def test_the_head_is_completed_and_explained(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        async def offered(column: int) -> list[str]:
            asked = types.CompletionParams(**editor.at(0, column))
            items = await editor.client.text_document_completion_async(asked)
            assert isinstance(items, list)
            return [item.label for item in items]

        await editor.open("// pdacon: --conflicts shift --start \n" + SUMS)
        assert {"--start", "--conflicts", "--import-path"} < set(await offered(11))
        assert await offered(23) == ["error", "shift"]
        assert await offered(26) == ["error", "shift"]
        assert await offered(37) == ["start", "sum"]
        assert "%import" in await offered(5)
        hover = await editor.client.text_document_hover_async(types.HoverParams(**editor.at(0, 13)))
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert hover.contents.value.startswith("`--conflicts error|shift`")
        assert hover.range == types.Range(types.Position(0, 11), types.Position(0, 22))
        assert await editor.client.text_document_hover_async(types.HoverParams(**editor.at(0, 25))) is None

    visit(tmp_path, act)


def test_the_last_of_many_changes_counts(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        await editor.open(SUMS)
        for number in range(20):
            await editor.write(SUMS + f"A{number}: /a/\n")
        await editor.write('start: "a"\n')
        assert await editor.until(lambda said: not said) == []

    visit(tmp_path, act)


class Pipe:
    """Where a server writes."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken, self.written = broken, 0

    def write(self, data: bytes) -> None:
        if self.broken:
            raise ValueError("write to closed file")
        self.written += 1

    def close(self) -> None:
        self.broken = True


def test_what_an_editor_no_longer_reads_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """pygls tells the editor that it cannot tell it, a thousand times: ten megabytes on a pipe that nobody reads."""
    server = create_server()
    server.protocol.set_writer(Pipe(broken=True))
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams("file:///my.lark", []))
    assert len(caplog.records) == 2  # the diagnostics could not be sent, nor could that be told


@pytest.mark.parametrize("ending", [types.SHUTDOWN, types.EXIT, "the process ends"])
def test_the_end_of_an_editor_ends_the_checks(ending: str) -> None:
    """Nothing is written after it, and what is left of the check is not waited for."""
    server, pipe = create_server(), Pipe()
    server.protocol.set_writer(pipe)
    uri = "untitled:one"

    async def session() -> None:
        list(server.protocol.lsp_initialize(types.InitializeParams(types.ClientCapabilities())))
        item = types.TextDocumentItem(uri, "lark", 1, SUMS)
        server.workspace.put_text_document(item)
        work = asyncio.create_task(server.diagnose(uri))
        while not pipe.written:
            await asyncio.sleep(0)
        if ending == "the process ends":
            server.shutdown()
        else:
            server.protocol.fm.features[ending](None)
        written = pipe.written
        await asyncio.wait_for(work, PATIENCE)
        assert pipe.written == written

    asyncio.run(session())


def test_imports_lie_beside_the_file_and_options_come_from_the_editor(tmp_path: Path) -> None:
    (tmp_path / "other.lark").write_text("number: /[0-9]+/\n", encoding="utf-8")

    async def act(editor: Editor) -> None:
        await editor.open(SUMS + "%import .other.number\n")
        said = await editor.until(lambda said: any(one.code == "PDA001" for one in said))
        (conflict,) = [one for one in said if one.code == "PDA001"]
        assert conflict.severity == types.DiagnosticSeverity.Information

    visit(tmp_path, act, {"conflicts": "shift", "unknown": 3})


def test_places_are_in_the_units_of_the_editor(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        await editor.open('start: "𝛼" nothing\n')
        (error,) = await editor.until(bool)
        assert error.range.start == types.Position(0, 12)  # the letter has two units of UTF-16

    visit(tmp_path, act)


def test_every_undefined_name_is_underlined(tmp_path: Path) -> None:
    """Lark names the first one only; without syntax there are no names yet."""

    async def act(editor: Editor) -> None:
        await editor.open('start: missing "a" OTHER\n// missing\n')
        said = await editor.until(lambda said: any("; " in error.message or "(" in error.message for error in said))
        assert sorted(error.range.start.character for error in said) == [7, 19]
        assert all("is used but not defined" in error.message for error in said)
        await editor.write('start: missing "a\n')
        (error,) = await editor.until(lambda said: bool(said) and "used" not in said[0].message)
        assert error.range.start == types.Position(0, 15)

    visit(tmp_path, act)


def test_gbnf(tmp_path: Path) -> None:
    """Diagnostics, hover, definition, rename and completion of what is no Lark grammar; no layout."""

    async def act(editor: Editor) -> None:
        editor.uri = (tmp_path / "my.gbnf").as_uri()
        client, text = editor.client, types.TextDocumentIdentifier(editor.uri)
        await editor.open('root ::= num "," nun\nnum ::= [0-9]+\n')
        (error,) = await editor.until(bool)
        assert error.range == types.Range(types.Position(0, 17), types.Position(0, 20))
        await editor.write('root ::= num "\n')
        (error,) = await editor.until(lambda said: bool(said) and "not closed" in said[0].message)
        assert error.range.start == types.Position(0, 13)
        await editor.write('root ::= num "," num\nnum ::= [0-9]+\n')
        assert await editor.until(lambda said: not said) == []
        hover = await client.text_document_hover_async(types.HoverParams(**editor.at(0, 10)))
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "num ::= [0-9]+" in hover.contents.value
        places: Any = await client.text_document_definition_async(types.DefinitionParams(**editor.at(0, 18)))
        assert [place.range.start for place in places] == [types.Position(1, 0)]
        edit: Any = await client.text_document_rename_async(types.RenameParams(new_name="a-b", **editor.at(1, 1)))
        assert [len(edits) for edits in edit.changes.values()] == [3]
        layout = types.DocumentFormattingParams(text, types.FormattingOptions(tab_size=4, insert_spaces=True))
        assert await client.text_document_formatting_async(layout) is None
        items: Any = await client.text_document_completion_async(types.CompletionParams(**editor.at(1, 2)))
        assert [item.label for item in items] == ["num", "root"]

    visit(tmp_path, act)


def conversation(*messages: dict[str, Any]) -> tuple[dict[int, Any], str]:
    """The answers to messages between a beginning and an end, by their ids, and what the server logs."""
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:

        def send(**message: Any) -> None:
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            assert server.stdin is not None
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

        send(id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}})
        send(method="initialized", params={})
        for message in messages:
            send(**message)
        send(id=99, method="shutdown", params=None)
        send(method="exit")
        answered, log = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    bodies = re.split(rb"(?:Content-[^\r\n]*\r\n)+\r\n", answered)
    answers = [json.loads(body) for body in bodies if body]
    return {answer["id"]: answer for answer in answers if "id" in answer}, log.decode()


def test_a_server_that_is_told_to_stop_ends_in_silence() -> None:
    answers, log = conversation()
    assert (sorted(answers), log) == ([1, 99], "")
