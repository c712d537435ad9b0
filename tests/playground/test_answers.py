"""What the playground answers is what the library says: masks, lexemes, reasons, findings, repairs, pictures."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import pdacon
from pdacon import Grammar, Vocabulary
from pdacon.playground.examples import EXAMPLES

Ask = Callable[..., Any]

ORDERS = """\
start: order ("," order)* "."
order: COUNT SIZE? DRINK
COUNT: /[1-9][0-9]?/
SIZE: "small" | "large"
DRINK: "tea" | "café"
%ignore " "
"""
SUMS = 'start: sum\nsum: sum "+" sum | NUMBER\nNUMBER: /[0-9]+/\n'


def source_of(example: Any) -> dict[str, str]:
    text = example.grammar or Grammar.builtin(example.builtin).data.source
    return {"text": text, "notation": example.notation, "builtin": example.builtin}


def mask_of(tokens: dict[str, Any]) -> list[int]:
    bits = np.frombuffer(base64.b64decode(tokens["bits"]), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(bits, bitorder="little", count=tokens["size"])).tolist()


@pytest.mark.parametrize("text", ["", "2", "2 large ", "2 large te", "2 large caf", "2 large café.", "2 tea, 1"])
def test_the_mask_is_the_matcher_s(ask: Ask, vocabulary: Vocabulary, text: str) -> None:
    tokens = ask("look", ORDERS, text=text, most=2000)["text"]["tokens"]
    matcher = pdacon.compile(Grammar.from_lark(ORDERS), vocabulary).matcher()
    assert matcher.accept(text)
    allowed = matcher.allowed_tokens()
    assert mask_of(tokens) == allowed
    assert sorted(chip["id"] for chip in tokens["chips"]) == allowed
    refused = sorted(chip["id"] for chip in tokens["refused"])
    assert refused == sorted(set(range(vocabulary.size)) - set(allowed))


@pytest.mark.parametrize("text", ["", "1", "1+", "1+1", "x", "é"])
def test_the_mask_that_comes_first_is_that_of_the_whole_answer(ask: Ask, text: str) -> None:
    sums = 'start: N ("+" N)*\nN: /[0-9]+/'
    first, whole = (ask(topic, sums, text=text)["text"] for topic in ("mask", "look"))
    assert first["viable"] == whole["viable"]
    assert first.get("tokens", whole["tokens"]) == whole["tokens"]
    assert ("tokens" in first) == whole["viable"]
    assert ask("mask", "start: nothing", text=text) == ask("look", "start: nothing", text=text)
    assert ask("mask", SUMS, text=text) == ask("look", SUMS, text=text)


def test_a_chip_that_can_be_typed_goes_on_with_the_text(ask: Ask) -> None:
    for chip in ask("look", ORDERS, text="2 ", most=2000)["text"]["tokens"]["chips"]:
        if chip["adds"] is not None:
            assert ask("look", ORDERS, text="2 " + chip["adds"])["text"]["viable"], chip


def test_tokens_are_found_by_text_and_by_number(ask: Ask, vocabulary: Vocabulary) -> None:
    tokens = ask("look", ORDERS, text="2 ", wanted="te")["text"]["tokens"]
    assert {chip["text"] for chip in tokens["chips"]} == {"te", "tea", "␣tea"}
    end = vocabulary.eos_ids[0]
    tokens = ask("look", ORDERS, text="2 ", wanted=f"#{end}")["text"]["tokens"]
    assert [chip["text"] for chip in tokens["refused"]] == ["<end>"]
    assert tokens["chips"] == []


@pytest.mark.parametrize("text", ["", "2 large tea, 1 café", "2 large tee", "x", "2 \ud800", "2 cafe", "2 té", "\0"])
def test_the_lexemes_are_what_was_read(ask: Ask, text: str) -> None:
    reading = ask("look", ORDERS, text=text)["text"]
    read = "".join(piece["text"] for piece in reading["lexemes"])
    assert text.startswith(read)
    assert reading["viable"] == (read == text)
    assert bool(reading["why"]) != reading["viable"]


def test_a_long_text_comes_in_few_pieces_and_whole(ask: Ask) -> None:
    text = "2 tea," * 5000
    pieces = ask("look", ORDERS, text=text)["text"]["lexemes"]
    assert "".join(piece["text"] for piece in pieces) == text
    assert pieces[0]["fate"] == "earlier"
    assert len(pieces) <= 2002


def test_a_refused_word_is_named_with_its_place(ask: Ask) -> None:
    reading = ask("look", ORDERS, text="2 large tee")["text"]
    assert (reading["line"], reading["column"], reading["meant"]) == (1, 11, "tea")
    assert reading["stack"] == ["COUNT", "SIZE"]
    assert reading["forced"] == "a"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_show_what_they_say(ask: Ask, example: Any) -> None:
    source = source_of(example)
    answer = ask("look", source, text=example.text, tokenizer="bytes")
    if example.name in ("Sums", "Branches"):
        assert not answer["report"]["ok"]
        assert ask("check", source)["report"]["findings"][0]["offers"]
        return
    reading = answer["text"]
    assert reading["viable"] == (example.name != "Orders"), reading["why"]
    grammar = pdacon.compile(source_grammar(example), Vocabulary.bytes())
    assert mask_of(reading["tokens"]) == allowed_after(grammar, example.text, viable=reading["viable"])


def source_grammar(example: Any) -> Grammar:
    if example.builtin:
        return Grammar.builtin(example.builtin)
    make = {
        "lark": Grammar.from_lark,
        "json-schema": Grammar.from_json_schema,
        "gbnf": Grammar.from_gbnf,
        "regex": Grammar.from_regex,
    }
    return make[example.notation](example.grammar)


def allowed_after(constraint: pdacon.Constraint, text: str, *, viable: bool) -> list[int]:
    matcher = constraint.matcher()
    assert matcher.accept(text if viable else text[: matcher.explain(text).viable])
    return matcher.allowed_tokens()


@pytest.mark.parametrize("notation", ["gbnf", "ebnf"])
def test_a_conflict_of_another_notation_can_be_settled(notation: str, ask: Ask) -> None:
    source = {"notation": notation, "text": 'root ::= "if " root (" else " root)? | "x"\n'}
    (finding,) = ask("check", source)["report"]["findings"]
    assert finding["offers"] == [{"label": "settle it by a shift", "change": {"conflicts": "shift"}}]
    settled = source | finding["offers"][0]["change"]
    assert ask("check", settled)["report"]["ok"]
    assert ask("look", settled, text="if if x else x", tokenizer="bytes")["text"]["viable"]


def test_a_repair_that_is_taken_ends_the_finding(ask: Ask) -> None:
    finding = ask("check", SUMS)["report"]["findings"][0]
    assert (finding["id"], finding["span"], finding["picture"]) == ("PDA001", [2, 6, 2, 17], 1)
    rewritten, accepted = (offer["change"] for offer in finding["offers"])
    assert ask("check", rewritten["text"])["report"]["ok"]
    assert ask("look", rewritten["text"], text="1+2")["text"]["whole"]
    assert accepted == {"conflicts": "shift"}
    assert ask("look", {"text": SUMS, **accepted}, text="1+2")["text"]["whole"]


def test_what_compiling_finds_is_there_at_once_and_the_rest_later(ask: Ask) -> None:
    report = ask("look", SUMS)["report"]
    assert not report["complete"]
    assert [finding["id"] for finding in report["findings"]] == ["PDA001"]
    assert ask("check", SUMS)["report"]["complete"]


@pytest.mark.parametrize(
    ("source", "span"),
    [
        ({"text": 'start: "a\n'}, [1, 8, 1, 9]),
        ({"text": "start: a\n"}, None),
        ({"text": "root ::= [a", "notation": "gbnf"}, None),
        ({"text": "{", "notation": "json-schema"}, None),
        ({"text": '{"type": "nonsense"}', "notation": "json-schema"}, None),
        ({"text": "(", "notation": "regex"}, None),
        ({"text": "root ::= (", "notation": "ebnf"}, None),
        ({"text": "start: <[", "notation": "llguidance"}, None),
        ({"text": ""}, None),
        ({"text": "start: \ud800"}, None),
        ({"text": 'start: "a"', "start": "nothing"}, None),
        ({"text": 'start: "a"', "postlex": "python"}, None),
    ],
)
def test_what_is_no_grammar_gets_a_message(ask: Ask, source: dict[str, str], span: list[int] | None) -> None:
    error = ask("look", source)["error"]
    assert error["message"]
    if span is not None:
        assert error["span"][:2] == span[:2]
    assert "error" in ask("check", source)
    assert "error" in ask("picture", source, kind="rules")
    assert "error" in ask("samples", source)


def test_no_grammar_reaches_files_beside_the_server(ask: Ask) -> None:
    for text in ("%import .json.value\nstart: value", "%import .._unicode.X\nstart: X", "%include /etc/passwd"):
        assert "error" in ask("look", text)


def test_the_head_of_a_text_is_read_and_what_the_page_says_goes_before(ask: Ask) -> None:
    text = '// pdacon: --start sum --conflicts shift\nsum: sum "+" sum | "1"\nother: "x"\n'
    assert ask("look", text, text="1+1")["text"]["viable"]
    assert ask("look", {"text": text, "start": "other"}, text="x")["text"]["viable"]
    wrong = ask("look", text.replace("--conflicts", "--conflict"), text="")["error"]
    assert wrong["span"] == [1, 24, 1, 34]
    assert "did you mean --conflicts?" in wrong["message"]


def test_a_head_brings_no_files(ask: Ask) -> None:
    for builtin in ("", "json"):
        source = {"text": '// pdacon: --import-path /etc\nstart: "a"\n', "builtin": builtin}
        wrong = ask("look", source, text="")["error"]
        assert wrong["span"] == [1, 26, 1, 30] or builtin
        assert "only grammars that come with pdacon import files here" in wrong["message"]


def test_a_builtin_grammar_may_be_changed_and_keeps_its_indenter(ask: Ask) -> None:
    text = Grammar.builtin("python_spaces").data.source + "\n// mine\n"
    answer = ask("look", {"text": text, "builtin": "python_spaces"}, text="if x:\n    y", tokenizer="bytes")
    assert answer["text"]["viable"]


def test_a_token_is_explained_as_the_matcher_does(ask: Ask, vocabulary: Vocabulary) -> None:
    constraint = pdacon.compile(Grammar.from_lark(ORDERS), vocabulary)
    matcher = constraint.matcher()
    matcher.accept("2 ")
    for token in (ord("x"), ord("t"), *vocabulary.eos_ids):
        answer = ask("explain", ORDERS, text="2 ", token=token)
        assert answer["allowed"] == matcher.is_allowed(token)
        assert answer["reason"] == matcher.explain(token).reason
    assert ask("explain", ORDERS, text="2 ", typed="tee")["meant"] == "tea"
    assert not ask("explain", ORDERS, text="2 large tee", token=ord("x"))["allowed"], "explained after `2 large te`"


@pytest.mark.parametrize(
    ("grammar", "more"),
    [
        (ORDERS, {"kind": "rules"}),
        (ORDERS, {"kind": "rules", "name": "order"}),
        (ORDERS, {"kind": "automaton", "name": "COUNT"}),
        (ORDERS, {"kind": "parser", "text": "2 large te!"}),
        (SUMS, {"kind": "conflict", "name": "1"}),
        ({"text": '{"type": "integer"}', "notation": "json-schema"}, {"kind": "rules"}),
        ({"text": 'root ::= "a"+', "notation": "gbnf"}, {"kind": "rules"}),
    ],
)
def test_pictures(ask: Ask, grammar: Any, more: dict[str, str]) -> None:
    assert ask("picture", grammar, **more)["svg"].startswith("<svg")


def test_a_conflict_below_other_findings_is_drawn_by_its_number(ask: Ask) -> None:
    source = {"text": f'{SUMS}unused: "a"\n', "conflicts": "shift"}
    findings = ask("check", source)["report"]["findings"]
    assert [(finding["id"], finding["picture"]) for finding in findings] == [("PDA013", 0), ("PDA001", 2)]
    assert ask("picture", source, kind="conflict", name="2")["svg"].startswith("<svg")


def test_each_terminal_that_is_named_can_be_drawn(ask: Ask) -> None:
    names = ask("names", ORDERS)["terminals"]
    assert names[:3] == ["COUNT", "DRINK", "SIZE"]
    for name in names:
        assert "svg" in ask("picture", ORDERS, kind="automaton", name=name), name


def test_a_picture_that_there_is_not_gets_a_message(ask: Ask) -> None:
    assert "NOTHING" in ask("picture", ORDERS, kind="automaton", name="NOTHING")["error"]["message"]
    assert ask("picture", ORDERS, kind="conflict", name="1")["error"]["message"]


def test_samples_are_sentences(ask: Ask) -> None:
    samples = ask("samples", ORDERS, seed=3)["samples"]
    assert samples
    grammar = Grammar.from_lark(ORDERS)
    assert all(grammar.accepts(sample) for sample in samples)
    assert ask("samples", ORDERS, seed=3)["samples"] == samples


def test_the_page_is_whole_in_itself(client: TestClient) -> None:
    page = client.get("/").text
    for path in ("style.css", "page.js", "icon.svg"):
        assert path in page
    for path in ("/", "/style.css", "/editor.js", "/state.js", "/panels.js", "/page.js", "/icon.svg"):
        response = client.get(path)
        assert response.status_code == 200
        assert "default-src 'none'" in response.headers["content-security-policy"]
        addresses = response.text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in addresses
        assert "https://" not in addresses
    assert [words["name"] for words in client.get("/api/start").json()["tokenizers"]] == ["words", "bytes"]
