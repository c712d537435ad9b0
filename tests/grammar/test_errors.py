"""Errors in grammars: the class, the place, and that nothing of Lark's comes out."""

from __future__ import annotations

import inspect
import pickle
import sys
from functools import partial
from pathlib import Path
from typing import Any

import lark
import pytest

import pdacon
from pdacon.errors import GrammarSyntaxError, Span, UnsupportedGrammarError
from pdacon.front.grammar import Grammar

PLACES = [
    ("start: NUMBER\n%import common.NUMBR\n", 2, 16, "there is no terminal NUMBR in common; did you mean NUMBER?"),
    ("start: WSS\n%import common (NUMBER, WSS)\n", 2, 25, "there is no terminal WSS in common; did you mean WS?"),
    ("start: NUMBER\n%import NUMBER\n", 2, 9, "name a file and what is in it; import it, on a line of its own"),
    ("start: NUMBER\n%import common NUMBER\n", 2, 16, "%import common.NUMBER"),
    ("start: INT\n%import common.(INT, WS)\n", 2, 16, "no dot before the parenthesis: %import common (INT, WS)"),
    ("from common import INT\nstart: INT\n", 1, 6, "names the file first: %import common.INT"),
    ('start: "a" -- the a\n', 1, 12, "a comment begins with //"),
    ("start: “a”\n", 1, 8, 'texts stand in straight double quotes: "a"'),
    ("start: `a`\n", 1, 8, 'texts stand in double quotes: "a"'),
    ("start: ?b\nb: /b/\n", 1, 8, "? stands after what it is for: b?"),
    ('start: "a"~3-5\n', 1, 13, "from so many to so many is written ~3..5"),
    ('start: "a" . "b"\n', 1, 12, "side by side, without dots"),
    ('1st: "a"\n', 1, 1, "a name begins with a letter: _1st"),
    ('start: été\nété: "a"\n', 1, 8, "names have letters from a to z only"),
    (
        'start: "a"\n%ignore ws\nws: " "\n',
        2,
        9,
        "%ignore takes a terminal, and ws is a rule; write its name in upper case: WS",
    ),
    ('start: A\nA: "x" b\nb: "y"\n', 2, 8, "terminal A uses the rule b, and a terminal consists of"),
    ('start: "a"\nb: ("c"\n', 2, 8, "Unclosed"),
    ('start: "a")\n', 1, 11, "Unmatched"),
    ('start: "a"\nx "b"\n', 2, 3, "missing colon"),
    ('start: "a"??\n', 1, 12, "Misplaced operator"),
    ('start: "a" ; "b"\n', 1, 12, "unexpected character ';'"),
    ('start: "a\n', 1, 8, "unexpected character"),
    ("my grammars/calc.lark", 1, 1, "is no grammar; Grammar.from_file reads one from a file"),
    ('start: "a\0"\n', 1, 8, "a NUL character"),
    ("start: A\nA: /a\0/\n", 2, 4, "a NUL character"),
    ('start:: "a"\n', 1, 7, "Unexpected colon"),
    ('start: a : "b"\n', 1, 10, "Unexpected colon"),
    ("start: ( {\n", 1, 10, "unexpected '{'; what may stand here: "),
    ("start: a b\na: /x/\n", 1, 10, "rule 'b' is used but not defined"),
    ('start: "b" /b/ b // b\n', 1, 16, "rule 'b' is used but not defined"),
    ("start: A\nA: B\n", 2, 4, "terminal 'B' is used but not defined"),
    ('start: y\nB: "b"\ny: [A] [A] B\nA: "a"\n', 3, 1, "Rules defined twice"),
    ('start: [A] [A] "b"\nA: "a"\n', 1, 1, "Rules defined twice"),
    ('start: B A ~ 3 .. 1\nA: "a"\nB: "b"\n', 1, 12, "write the smaller number first"),
    ('start: (A -> foo | B)\nA: "a"\nB: "b"\n', 1, 14, "not within parentheses"),
    ("start: a{b}\nb: /b/\n", 1, 8, "template 'a' is used but not defined"),
    ('start: "a"\nstart: "b"\n', 2, 1, "defined more than once"),
    ('start: "a"\n%ignore B\n', 2, 9, "terminal B is ignored but not defined"),
    ('start: "a"\n\n%declare A B\n%ignore B\n', 3, 12, "terminal B is ignored but only declared"),
    ('start: "a"\n%import .none.X\n', 2, 15, "there is no none.lark in"),
    ('start: "a"\n%import none (X, Y)\n', 2, 15, "give its folder with import_paths="),
    ('start: A\n\nA: ("a" | /b*/)\n', 3, 1, "terminal A can match the empty string"),
    ('start: "a" /b*/\n', 1, 12, "terminal /b*/ can match the empty string"),
    ("start: A\nA: /(/\n", 2, 1, "missing )"),
    ('start: "a"\nx: "b" ""\n', 2, 8, "Empty terminals are not allowed"),
    ('start: "a" "z".."a"\n', 1, 12, "bad character range z-a"),
    ('start: "a" "zz".."a"\n', 1, 12, "single characters"),
    ('start: "a"\nx: "b"~3..2\n', 2, 7, "smaller number first"),
    ('start: A\nA: "a" -> a\n', 2, 1, "Aliasing not allowed in terminals"),
    ('start: _a\n?_a: "a"\n', 2, 2, "Inlined rules"),
    ("start: A\nA: B\n%declare B\n", 2, 1, "what is only declared (B)"),
]

HABITS = [
    ("start: 'a'\n", 1, 8, 'texts stand in double quotes: "a"'),
    ('start: "it\'s" \'say "x"\'\n', 1, 15, 'texts stand in double quotes: "say \\"x\\""'),
    ("start: 'a\n", 1, 8, 'texts stand in double quotes: "..."'),
    (
        'start ::= "a"\n',
        1,
        8,
        "a definition has one colon after its name: start: ...; where ::= stands is GBNF (pdacon.Grammar.from_gbnf)",
    ),
    ('start = "a"\n', 1, 7, "a definition has one colon after its name: start: ..."),
    ('start := "a"\n', 1, 8, "a definition has one colon after its name: start: ..."),
    ('start: "a"\n%ignre " "\n', 2, 1, "did you mean %ignore?"),
    ('start: "a"\n%skip " "\n', 2, 1, "after % stands one of ignore, import, declare, override, extend"),
    ('start: "b" | !("on"|"off")\n', 1, 14, "an ! stands before the name of a rule that keeps all tokens: !rule: ..."),
    ('start -> "a"\n', 1, 7, "a definition has one colon after its name: start: ..."),
    ('<start> ::= "a"\n', 1, 1, "names stand without < and >: start: ..."),
    ('start: <b>\nb: "x"\n', 1, 8, "names stand without < and >: b"),
    ('start: "a\n', 1, 8, 'the text that begins here has no closing " on its line'),
    ('start: "a" | "b" "\n', 1, 18, 'the text that begins here has no closing " on its line'),
    ("start: /abc\n", 1, 8, "the regular expression that begins here has no closing / on its line"),
    ('start: stmt;\nstmt: "x";\n', 1, 12, "a definition ends with its line: leave the ; out"),
    (
        'start: Expr\nexpr: "x"\n',
        1,
        8,
        "those of terminals in upper case: expr or EXPR",
    ),
    ('start: "x"\nItems: "x"\n', 2, 2, "those of terminals in upper case: items or ITEMS"),
    ("start: [a-z]+\n", 1, 10, "a set of characters is a regular expression: /[a-z]+/"),
    ("start: my-rule\n", 1, 10, "names have no hyphens: my_rule"),
    ('start: "a", "b"\n', 1, 11, "side by side, without commas"),
    ('start: {"a"}\n', 1, 8, 'stands in parentheses, with * after them: ("a")*'),
    ('start: "a"{2}\n', 1, 11, "so many are written with ~: x~2"),
    ('start: "a"{2,3}\n', 1, 11, "so many are written with ~: x~2..3"),
    ("import common.WS\nstart: WS\n", 1, 8, "an import begins with %: %import common.NAME"),
    ('start: WS\n%import "common.WS"\n', 2, 9, "an import names a file and what is in it: %import .file.name"),
    ('/* hi */\nstart: "a"\n', 1, 1, "a comment begins with // and ends with its line"),
    ("start: NUMBR\n%import common.NUMBR\n", 2, 16, "did you mean NUMBER?"),
    ("start: WS\n%import comon.WS\n", 2, 15, "did you mean common? "),
    ("start: NUMBER\nNUMBR: /1/\n", 1, 8, "did you mean NUMBR? "),
    ('start: itms\nitems: "x"\n', 1, 8, "did you mean items? "),
    ('start: yes "no"\n', 1, 8, 'if it is meant as text, write it in quotes: "yes"'),
    ("start: 42\n", 1, 8, 'a text stands in double quotes: "42"'),
    ("start: \\d+\n", 1, 8, r"a pattern stands between slashes: /\d+/"),
    ('start: A\nA: "v" \\d+\\.\\d* "x"\n', 2, 8, r"a pattern stands between slashes: /\d+\.\d*/"),
    ("start: (\\w+ | A)*\nA: /a/\n", 1, 9, r"a pattern stands between slashes: /\w+/"),
    ("start: .*\n", 1, 8, "a pattern stands between slashes: /.*/"),
    ("start: ^a$\n", 1, 8, "a pattern stands between slashes: /^a$/"),
    ('start: "a"\n%ignore WS\n', 2, 9, "import it, on a line of its own: %import common.WS"),
    ("start: NUMBER\n", 1, 8, "import it, on a line of its own: %import common.NUMBER"),
    ('{"type": "object"}', 1, 1, "of a JSON Schema pdacon.Grammar.from_json_schema makes one"),
    ('{\n  "type": "object",\n  "properties": {}\n}', 1, 1, "pdacon.Grammar.from_json_schema makes one"),
    ("{}", 1, 1, "pdacon.Grammar.from_json_schema makes one"),
]
PLACES += HABITS


@pytest.mark.parametrize(("text", "line", "column", "message"), PLACES)
def test_places(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text, source_path="some/x.lark")
    span = caught.value.span
    assert span is not None
    assert (span.path, span.line, span.column) == ("some/x.lark", line, column)
    assert str(caught.value).startswith(f"some/x.lark:{line}:{column}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "line", "column", "message"), PLACES)
def test_nothing_of_larks_comes_out(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text)
    assert not isinstance(caught.value, lark.exceptions.LarkError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.span) == (str(caught.value), caught.value.span)


def test_advice_is_data_beside_the_reason() -> None:
    error = UnsupportedGrammarError("it is; so", Span("x.lark", 1, 2, 1, 3), "feature", "leave it; out")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "x.lark:1:2: it is; so; leave it; out"
    assert (again.reason, again.span, again.feature, again.advice) == (
        error.reason,
        error.span,
        error.feature,
        error.advice,
    )


class _Model:
    """What Pydantic's classes have."""

    @classmethod
    def model_json_schema(cls) -> dict[str, str]:
        return {"type": "object"}


@pytest.mark.parametrize("load", [Grammar.from_lark, partial(pdacon.compile, vocabulary=pdacon.Vocabulary.bytes())])
def test_a_json_schema_is_told_where_it_belongs(load: Any) -> None:
    for given, words in [
        ({"type": "object"}, r"Grammar\.from_json_schema"),
        (_Model(), r"Grammar\.from_type\(_Model\)"),
    ]:
        with pytest.raises(TypeError, match=words):
            load(given)
    with pytest.raises((GrammarSyntaxError, ValueError), match=r"Grammar\.from_json_schema makes one"):
        load('{"type": "object"}')


def test_a_saved_constraint_is_no_grammar(tmp_path: Path) -> None:
    path = tmp_path / "json.pda"
    pdacon.compile("json", pdacon.Vocabulary.bytes()).save(path)
    with pytest.raises(GrammarSyntaxError, match=r"pdacon\.Constraint\.load\('.*json\.pda'\)"):
        Grammar.from_file(path)
    with pytest.raises(ValueError, match=r"pdacon\.Constraint\.load\('.*json\.pda'\)"):
        pdacon.compile(str(path), pdacon.Vocabulary.bytes())


def test_an_error_in_an_imported_file_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "outer.lark").write_text("X: Y\n%import .inner.Y\n")
    (tmp_path / "inner.lark").write_text('\nY: "a" )\n')
    (tmp_path / "main.lark").write_text("start: X\n%import .outer.X\n")
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_file(tmp_path / "main.lark")
    assert str(caught.value).startswith(f"{tmp_path / 'inner.lark'}:2:8: Unmatched closing parenthesis")


def test_an_error_that_only_the_import_shows_has_the_imports_place(tmp_path: Path) -> None:
    (tmp_path / "rules.lark").write_text('x: "a"\n')
    text = 'x: "b"\nstart: x\n%import .rules.x\n'
    (tmp_path / "main.lark").write_text(text)
    with pytest.raises(GrammarSyntaxError, match=r"main\.lark:1:1: Rule 'x' defined more than once"):
        Grammar.from_file(tmp_path / "main.lark")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "x.lark"
    with pytest.raises(FileNotFoundError):
        Grammar.from_file(path)
    path.write_bytes('// é\nstart: "'.encode() + b'\xff"\n')
    with pytest.raises(GrammarSyntaxError, match=":2:9: not UTF-8 at byte 14"):
        Grammar.from_file(path)
    path.write_bytes('\ufeffstart: "a"\n'.encode())
    with pytest.raises(GrammarSyntaxError, match="byte order mark"):
        Grammar.from_file(path)
    path.write_bytes(b'start: "a"\r\n  | "b"\r\n')
    assert [str(p.span) for p in Grammar.from_file(path).data.productions] == [f"{path}:1:8", f"{path}:2:5"]


def test_too_little_of_pythons_stack_is_an_error_of_ours() -> None:
    """What is allowed can be too deep for one who calls from far down already."""
    text = "start: " + "[" * 99 + '"a"' + "]" * 99

    def load_from(depth: int, path: str | None) -> None:
        if depth:
            load_from(depth - 1, path)
        else:
            Grammar.from_lark(text, source_path=path)

    left = sys.getrecursionlimit() - len(inspect.stack())
    with pytest.raises(GrammarSyntaxError, match="nested too deeply"):
        load_from(left - 300, None)
    with pytest.raises(GrammarSyntaxError, match=r"^deep\.lark:1:1: nested too deeply"):
        load_from(left - 300, "deep.lark")
