"""``pdacon mask``: what it says agrees with the matcher, and bad texts are placed."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.indented_grammars import TreeIndenter
from support.small_tokenizers import train_byte_fallback, train_byte_level, train_word_piece
from transformers import PreTrainedTokenizerFast

import pdacon
from pdacon.cli import main
from pdacon.cli.masking import look_ahead
from pdacon.cli.vocabularies import load_vocabulary


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tokenizer")
    trained = train_byte_level("llama3", ["</s>"], 500)
    PreTrainedTokenizerFast(tokenizer_object=trained, eos_token="</s>").save_pretrained(folder)
    return str(folder)


@pytest.fixture
def mask(tokenizer: str, capsys: pytest.CaptureFixture[str]):
    def mask(*arguments: str) -> tuple[int, str, str]:
        status = main(["mask", "--tokenizer", tokenizer, *arguments])
        return status, *capsys.readouterr()

    return mask


@pytest.mark.slow
def test_says_what_the_tokenizer_itself_would_produce(mask, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "animals.lark"
    file.write_text('start: "quick" | "brown"\n')
    status, out, _ = mask(str(file), "", "--canonical")
    assert status == 0
    lines = {line.split(":")[0]: line for line in out.splitlines()}
    assert '"q"' in lines["tokens"]
    assert '"q"' not in lines["canonical"]
    status, out, _ = mask(str(file), "", "--canonical", "--json")
    found = json.loads(out)
    assert set(found["canonical_tokens"]) < set(found["tokens"])
    assert main(["mask", "--tokenizer", "bytes", str(file), "", "--canonical"]) == 2
    assert "--canonical asks the tokenizer" in capsys.readouterr().err


def test_a_file_that_is_canonical_needs_no_tokenizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grammar, file = tmp_path / "animals.lark", tmp_path / "animals.pda"
    grammar.write_text('start: "quick" | "brown"\n')
    train_byte_fallback().save(str(tmp_path / "tokenizer.json"))
    named = ["--tokenizer", str(tmp_path / "tokenizer.json")]
    assert main(["compile", *named, str(grammar), "--canonical", "-o", str(file)]) == 0
    capsys.readouterr()
    found = []
    for given in ([], named):
        assert main(["mask", str(file), "", "--canonical", "--json", *given]) == 0
        found.append(json.loads(capsys.readouterr().out)["canonical_tokens"])
    assert found[0] == found[1] != []


@pytest.mark.parametrize(("train", "first"), [(train_byte_fallback, "▁"), (train_word_piece, "")])
def test_a_text_begins_as_the_tokenizer_begins_it(
    train: Any, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the space that it puts before a text, which is none of the text."""
    trained = train()
    trained.save(str(tmp_path / "tokenizer.json"))
    file = tmp_path / "words.lark"
    file.write_text('start: "true" | "null" | "trunk"\n')
    arguments = ["mask", "--tokenizer", str(tmp_path / "tokenizer.json"), str(file), "", "--canonical", "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    words = {trained.encode(word, add_special_tokens=False).ids[0] for word in ("true", "null", "trunk")}
    assert set(found["canonical_tokens"]) == words
    assert all(trained.id_to_token(i).startswith(first) for i in words)


def test_says_what_may_come(mask) -> None:
    status, out, err = mask("json", '{"a": 1')
    assert status == 0
    assert err == ""
    assert "NUMBER" in out
    assert '","' in out
    assert '"}"' in out


def test_listed_texts(mask, tmp_path: Path) -> None:
    grammar = tmp_path / "drinks.lark"
    grammar.write_text('start: "a" DRINK\nDRINK: "tea" | "coffee" | "cocoa"\n%ignore " "\n')
    assert 'DRINK: "cocoa"  "coffee"\n' in mask(str(grammar), "a c")[1]
    assert json.loads(mask(str(grammar), "a ", "--json")[1])["listed"] == {"DRINK": ["cocoa", "coffee", "tea"]}
    status, out, _ = mask(str(grammar), "a tee")
    assert status == 1
    assert 'because: "tee" is not listed here (did you mean "tea"?)' in out


@pytest.mark.parametrize(
    ("text", "unfinished", "next", "accepted"),
    [
        ('{"a": 1', {"NUMBER"}, {"COMMA", "RBRACE", "WS"}, False),
        ("[", set(), {"RSQB", "LSQB", "LBRACE", "STRING", "NUMBER", "TRUE", "FALSE", "NULL", "WS"}, False),
        ("[tr", {"TRUE"}, set(), False),
        ("[]", set(), {"WS"}, True),
        ("[-", {"NUMBER"}, set(), False),
    ],
)
def test_json_format_has_everything(text: str, unfinished: set[str], next: set[str], accepted: bool, mask) -> None:
    status, out, _ = mask("json", text, "--json")
    shown = json.loads(out)
    assert status == 0
    assert shown["viable"] is True
    assert shown["accepted"] is accepted
    assert set(shown["unfinished_terminals"]) == unfinished
    assert set(shown["next_terminals"]) == next
    assert shown["tokens"]
    json.loads(text + shown["shortest_completion"])


def test_a_terminal_that_no_token_begins_may_not_follow(mask, tmp_path: Path) -> None:
    grammar = tmp_path / "blocks.lark"
    grammar.write_text('start: NAME | "if" NAME _INDENT\nNAME: /[a-z]+/\nSPACE: " "\n%declare _INDENT\n%ignore SPACE\n')
    for text, possible in (("if", False), ("i", True)):
        assert ("SPACE" in json.loads(mask(str(grammar), text, "--json")[1])["next_terminals"]) is possible


def test_a_text_that_begins_with_a_dash_goes_after_two(mask) -> None:
    status, out, _ = mask("json", "--json", "--", "-1")
    assert status == 0
    assert json.loads(out)["accepted"] is True


@pytest.mark.parametrize(
    ("text", "viable"),
    [('{"a": 1x}', 7), ("[1,\n 2,\n tru3", 12), ("x", 0), ('["é"}', 5), (b'["\xff"]', 2), ("[]]", 2), ('["\\u00x', 6)],
)
def test_a_text_that_is_not_viable_is_cut_where_it_stops_being_so(
    text: str | bytes, viable: int, tmp_path: Path, mask
) -> None:
    file = tmp_path / "text"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    status, out, err = mask("json", f"@{file}", "--json")
    shown = json.loads(out)
    assert status == 1
    assert err == ""
    assert shown["viable"] is False
    assert shown["viable_bytes"] == viable


def test_the_place_is_in_lines_and_characters(mask) -> None:
    status, out, _ = mask("json", '["é",\n "é" 7]')
    assert status == 1
    assert '"7" at line 2, column 6 (byte 13)' in out


def test_tokens_are_those_of_the_matcher(tokenizer: str) -> None:
    vocabulary = pdacon.Vocabulary.from_huggingface(PreTrainedTokenizerFast.from_pretrained(tokenizer))
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary)
    for text in (b"", b'{"a', b"[1", b'"\\', b"[] "):
        matcher = constraint.matcher()
        assert matcher.accept_bytes(text)
        allowed = tuple(token for token in range(vocabulary.size) if matcher.is_allowed(token))
        assert look_ahead(constraint, text).tokens == allowed


def test_text_comes_from_an_argument_a_file_or_a_pipe(mask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "text.json"
    file.write_bytes(b"[1")
    expected = mask("json", "[1")
    assert expected[0] == 0
    assert mask("json", f"@{file}") == expected
    for arguments in (("-",), ()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[1")))
        assert mask("json", *arguments) == expected


def test_a_grammar_comes_from_a_pipe(mask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO('start: "é" "b"\n'.encode())))
    status, out, _ = mask("-", "é", "--json")
    assert status == 0
    assert json.loads(out)["next_terminals"] == ["B"]


def test_the_lexer_can_be_chosen(mask, tmp_path: Path) -> None:
    grammar = tmp_path / "words.lark"
    grammar.write_text('start: "a" NAME\nNAME: /[a-z]/\n')  # to the basic lexer every "a" is A
    for lexer, viable in (("contextual", True), ("basic", False)):
        out = mask(str(grammar), "aa", "--lexer", lexer, "--json")[1]
        assert json.loads(out)["viable"] is viable


def test_two_at_signs_are_a_text(mask, tmp_path: Path) -> None:
    grammar = tmp_path / "at.lark"
    grammar.write_text('start: "@" "a"\n')
    status, out, _ = mask(str(grammar), "@@", "--json")
    assert status == 0
    assert json.loads(out)["next_terminals"] == ["A"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["json", "@nosuch"],
        ["json", "@"],
        ["json", "x", "--tokenizer", "./nosuch"],
        ["json", "x", "--show", "-1"],
        ["-", "-"],
        ["nosuch", "x"],
        ["conflict.lark", "x"],
        ["endless.lark", "x"],
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str],
    tokenizer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conflict.lark").write_text('start: start "+" start | "1"\n')
    (tmp_path / "endless.lark").write_text('start: "x" start\n')
    if "--tokenizer" not in arguments:
        arguments = [*arguments, "--tokenizer", tokenizer]
    assert main(["mask", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pdacon: ")
    assert err.count("\n") == 1 + err.count("\nsee: pdacon check --explain ")


@pytest.fixture(scope="module")
def stripping(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer that strips a space at the start of what it decodes, as Llama 2's does."""
    folder = tmp_path_factory.mktemp("stripping")
    trained = train_byte_fallback(strip=True)
    PreTrainedTokenizerFast(tokenizer_object=trained, eos_token="</s>").save_pretrained(folder)
    return str(folder)


WORDS = 'start: "The" " " "fox"'


def test_a_leading_space_counts_as_it_does_when_a_model_generates(
    stripping: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grammar = tmp_path / "words.lark"
    grammar.write_text(WORDS)

    def said(*arguments: str) -> dict[str, Any]:
        assert main([arguments[0], str(grammar), *arguments[1:], "--tokenizer", stripping, "--json"]) == 0
        shown: dict[str, Any] = json.loads(capsys.readouterr().out)
        return shown

    vocabulary = load_vocabulary(stripping).vocabulary
    assert vocabulary.strip_leading_space
    first = {vocabulary.tokens[i] for i in said("mask", "")["tokens"]}
    assert {b"T", b" "} <= first
    assert said("mask", "")["next_terminals"] == ["THE"]
    behind = {vocabulary.tokens[i] for i in said("mask", "The")["tokens"]}
    assert b" " in behind
    assert b"f" not in behind
    main(["mask", str(grammar), "", "--tokenizer", stripping])
    assert ", of whose spaces in front one does not count:" in capsys.readouterr().out
    assert said("explain", "", f"#{vocabulary.tokens.index(b' ')}")["text"] == ""
    assert main(["sample", str(grammar), "-n", "1", "--tokenizer", stripping, "--jsonl", "--seed", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == "The fox"


def test_blanks_that_a_column_needs_are_in_the_length() -> None:
    """The core's bound of the length has the bytes of the lexemes only."""
    grammar = pdacon.Grammar.from_lark(
        'start: "a" _NL _INDENT "b" _NL _DEDENT\n_NL: /\\n */\n%declare _INDENT _DEDENT\n', postlex=TreeIndenter()
    )
    outlook = look_ahead(pdacon.compile(grammar, pdacon.Vocabulary.bytes()), b"")
    assert (outlook.completion, outlook.missing) == (b"a\n b\n", 5)


def test_a_grammar_of_another_dialect_is_in_the_words_of_its_author(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "list.gbnf"
    path.write_text('root ::= item ("," item)*\nitem ::= name "=" digit+\nname ::= [a-z]+\ndigit ::= [0-9]\n')
    assert main(["mask", str(path), "a=1,b=1"]) == 0
    out = capsys.readouterr().out
    assert "rules: item in root" in out
    assert 'may follow: [0-9]  ","  the end' in out
    assert "ROOT" not in out
    assert main(["mask", str(path), "a=", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["written_rules"], shown["written_next"]) == (["item in root"], ["[0-9]"])
