"""Ready lark.Lark objects: their text and options are taken, what pdacon cannot mean is refused by name."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.indenter import PythonIndenter
from support.indented_grammars import TreeIndenter
from support.languages import sentences_of_lark, sentences_of_pdacon, texts_of

from pdacon.errors import UnsupportedGrammarError
from pdacon.front.grammar import Grammar

TEXT = 'start: a | b\na.2: "x" ["y"] A\nb.1: "z" A\nA: /[a-z]/\n%ignore " "\n'


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lexer": "basic"},
        {"lexer": "auto", "strict": False},
        {"priority": "invert"},
        {"priority": None},
        {"start": ["a", "b"], "keep_all_tokens": True},
        {"g_regex_flags": re.IGNORECASE, "maybe_placeholders": False, "propagate_positions": True},
        {"transformer": lark.Transformer()},
        {"use_bytes": True},
    ],
)
def test_options_are_taken(options: dict[str, Any]) -> None:
    parser = lark.Lark(TEXT, parser="lalr", **options)
    before = [(r.options.priority, r.origin.name) for r in parser.rules], [t.priority for t in parser.terminals]
    grammar = Grammar.from_lark(parser, conflicts="shift", lookahead="commit")
    assert (grammar.data.options.conflicts, grammar.data.options.lookahead) == ("shift", "commit")
    assert grammar.data.options.lexer == parser.options.lexer
    assert list(grammar.data.options.start) == parser.options.start
    assert [p.priority for p in grammar.data.productions] == [r.options.priority or 0 for r in parser.rules]
    assert [t.priority for t in grammar.data.terminals] == [t.priority for t in parser.terminals]
    assert before == (
        [(r.options.priority, r.origin.name) for r in parser.rules],
        [t.priority for t in parser.terminals],
    )
    assert grammar.fingerprint == Grammar.from_lark(parser, conflicts="shift", lookahead="commit").fingerprint


LANGUAGE = 'start: "x" [A] | b\nb: "z" A "x"? | "Z"\nA.1: /[a-y]/\nB.2: "xy"\n%ignore /[ ]/\n%import common.INT\nc: INT'
LAYOUT = 'start: ("x" "(" (_NEWLINE | "z")* ")" | "x" _NEWLINE)+\n_NEWLINE: /(\\n *)+/\n%declare _INDENT _DEDENT'


class Leaf(lark.Tree[Any]):
    pass


class Shout(lark.Transformer[Any, Any]):
    """Changes what rules and terminals become."""

    def A(self, token: lark.Token) -> str:
        return token.upper()

    def b(self, children: list[Any]) -> Any:
        return lark.Discard


@pytest.mark.parametrize(
    "options",
    [
        {"lexer": "contextual"},
        {"lexer": "basic"},
        {"lexer": "auto"},
        {"start": "b"},
        {"start": ["c", "start"]},
        {"g_regex_flags": re.IGNORECASE},
        {"g_regex_flags": re.IGNORECASE | re.ASCII},
        {"priority": "auto"},
        {"priority": "normal"},
        {"priority": "invert"},
        {"priority": None},
        {"maybe_placeholders": False},
        {"use_bytes": True},
        {"keep_all_tokens": True},
        {"propagate_positions": True},
        {"propagate_positions": lambda node: True},
        {"transformer": Shout()},
        {"transformer": Shout(visit_tokens=False)},
        {"tree_class": Leaf},
        {"debug": True},
        {"strict": True},
        {"ordered_sets": False},
        {"cache": True, "cache_grammar": True},
        {"import_paths": ["/nowhere"]},
        {"source_path": "/nowhere/main.lark"},
        {"postlex": PythonIndenter()},
        {"postlex": type("Narrow", (PythonIndenter,), {"tab_len": 1})()},
        {"postlex": type("Named", (TreeIndenter,), {"NL_type": "_NEWLINE"})(), "lexer": "basic"},
    ],
    ids=lambda options: "-".join(options),
)
def test_the_language_is_the_parsers(
    options: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scaled: Callable[[int], int],
    tally: Callable[..., None],
) -> None:
    if options.get("strict"):
        monkeypatch.setattr("lark.lexer.has_interegular", True)  # which this mode asks for; see support.collisions
    if "cache" in options:
        options = options | {"cache": str(tmp_path / "cache")}
        lark.Lark(LANGUAGE, parser="lalr", **options)
    layout = "postlex" in options
    parser = lark.Lark(LAYOUT if layout else LANGUAGE, parser="lalr", **options)
    grammar = Grammar.from_lark(parser, conflicts="shift")
    texts = list(
        texts_of(["x", "(", ")", "\n", " "] if layout else ["x", "z", "Z", "y", " ", "1", "\u212a"], scaled(3000))
    )
    if options.get("use_bytes"):
        texts = [text for text in texts if text.isascii()]
    for start in parser.options.start:
        expected = sentences_of_lark(parser, texts, start)
        assert sentences_of_pdacon(grammar, texts, start) == expected
        assert 0 < len(expected) < len(texts)
        again = lark.Lark(grammar.to_lark(), **grammar.lark_options)
        assert sentences_of_lark(again, texts, start) == expected
        tally(texts=len(texts), sentences=len(expected))
    tally(options=1)


def test_every_option_of_lark_has_a_test() -> None:
    """So that an option of another version of Lark is looked at before it is ignored."""
    known = test_the_language_is_the_parsers, test_what_means_something_else_is_refused_by_name
    tried = {
        name
        for test in known
        for mark in test.pytestmark  # type: ignore[attr-defined]
        for case in mark.args[1]
        for name in (case if isinstance(case, dict) else case[1])
    }
    since_1_3 = {"cache_grammar"}
    assert set(lark.lark.LarkOptions._defaults) | since_1_3 == tried


def test_files_and_imports_are_found_again(tmp_path: Path) -> None:
    (tmp_path / "words.lark").write_text("WORD: /[a-z]+/\n")
    (tmp_path / "main.lark").write_text("start: WORD\n%import .words.WORD\n")
    opened = lark.Lark.open(str(tmp_path / "main.lark"), parser="lalr")
    assert Grammar.from_lark(opened).data.source_path == str(tmp_path / "main.lark")
    packaged = lark.Lark.open_from_package("lark", "lark.lark", ["grammars"], parser="lalr")
    grammar = Grammar.from_lark(packaged)
    assert grammar.data.source_path is not None
    assert grammar.data.source_path.startswith("lark/")
    assert lark.Lark(grammar.to_lark(), **grammar.lark_options).rules == packaged.rules


def test_a_cached_parser_still_has_its_text(tmp_path: Path) -> None:
    for _ in range(2):
        parser = lark.Lark(TEXT, parser="lalr", cache=str(tmp_path / "cache"))
        assert len(Grammar.from_lark(parser).data.productions) == len(parser.rules)


class Upper(lark.lark.PostLex):
    def process(self, stream: Any) -> Any:
        return (token.update(value=token.upper()) for token in stream)


class CustomLexer(lark.lexer.Lexer):
    def __init__(self, conf: Any) -> None: ...

    def lex(self, lexer_state: Any, parser_state: Any) -> Any: ...


@pytest.mark.parametrize(
    ("feature", "options"),
    [
        ("parser", {"parser": "earley"}),
        ("parser", {"parser": "cyk"}),
        ("parser", {"parser": None, "lexer": "basic"}),
        ("parser", {"parser": "earley", "ambiguity": "explicit"}),
        ("regex", {"regex": True}),
        ("lexer_callbacks", {"lexer_callbacks": {"A": lambda token: token}}),
        ("edit_terminals", {"edit_terminals": lambda terminal: None}),
        ("lexer", {"lexer": CustomLexer}),
        ("_plugins", {"_plugins": {"BasicLexer": lark.lexer.BasicLexer}}),
        ("postlex", {"postlex": Upper()}),
    ],
)
def test_what_means_something_else_is_refused_by_name(feature: str, options: dict[str, Any]) -> None:
    if feature == "regex":
        pytest.importorskip("regex")
    parser = lark.Lark(TEXT.replace('["y"]', ""), **{"parser": "lalr", **options})
    with pytest.raises(UnsupportedGrammarError, match=f"{feature}=.*; ") as caught:
        Grammar.from_lark(parser)
    assert caught.value.feature == feature


def test_a_parser_without_its_text_is_refused() -> None:
    saved = io.BytesIO()
    parser = lark.Lark(TEXT, parser="lalr")
    parser.save(saved)
    saved.seek(0)
    for other in [lark.Lark.load(saved), lark.Lark(parser.grammar, parser="lalr")]:
        with pytest.raises(UnsupportedGrammarError, match="pass the text"):
            Grammar.from_lark(other)


def test_a_parser_that_is_not_what_its_text_says_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.lark").write_text("WORD: /[a-z]+/\n")
    parser = lark.Lark("start: WORD\n%import words.WORD\n", parser="lalr", import_paths=[str(tmp_path)])
    (tmp_path / "words.lark").write_text("WORD: /[a-z0-9]+/\n")
    with pytest.raises(UnsupportedGrammarError, match="not what its text gives now"):
        Grammar.from_lark(parser)


def test_options_beside_a_parser_are_refused() -> None:
    parser = lark.Lark(TEXT, parser="lalr")
    with pytest.raises(ValueError, match="only conflicts= and lookahead="):
        Grammar.from_lark(parser, start="a")
    with pytest.raises(TypeError, match=r"a grammar's text or a lark\.Lark, got bytes"):
        Grammar.from_lark(TEXT.encode())  # type: ignore[arg-type]
