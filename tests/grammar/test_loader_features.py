"""Each feature of Lark's loader, by what it does to the language: all texts of a few pieces, against stock Lark.

Where a case says what the text would be without the feature, that has another language: so the texts show it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.load_grammar import FromPackageLoader
from support.languages import sentences_of_lark, sentences_of_pdacon, texts_of

from pdacon import Grammar

FILES = {
    "words.lark": 'WORD: /[a-z]+/\nKEY: "k" | "key"\nlist: item ("," item)*\n?item: WORD | "(" list ")"\n%ignore "!"\n',
    "deep/inner.lark": '%import .more (ONE, TWO)\npair: ONE TWO | WORD ":" _tail\n_tail: TWO\nWORD: /[a-z]/\n',
    "deep/more.lark": 'ONE: "1"\nTWO: "2" ONE?\n',
    "templates.lark": 'sep{x, d}: x (d x)*\nopt{x}: x | "-"\nA: "a"\n',
    "priorities.lark": 'HIGH.3: "ab"\nLOW.-2: /[ab]+/\nr.2: "x" | "y"\n',
    "declared.lark": '%declare _X\nr: "a" _X | "b"\n',
    "flags.lark": "ANY: /k/i\nDOT: /.\\n?/s\n",
}


@dataclass(frozen=True)
class Case:
    """A grammar, the pieces of its texts, and the text without what it is about."""

    text: str
    pieces: str
    options: dict[str, Any] = field(default_factory=dict)
    without: str | None = None
    conflicts: str = "error"


CASES = {
    # %import
    "import from common": Case("%import common.INT\nstart: INT", "1 2 - a", without="start: INT\nINT: /1/"),
    "import several": Case("%import common (INT, LETTER)\nstart: INT LETTER", "1 2 a B -"),
    "import renamed": Case('%import common.INT -> NUM\nstart: NUM | INT\nINT: "x"', "1 a x"),
    "import from python": Case("%import python.NAME\nstart: NAME", "a 1 _ é", without="start: NAME\nNAME: /[a-z]/"),
    "import a rule of python": Case("%import python.DEC_NUMBER\nstart: DEC_NUMBER", "0 1 _ 9"),
    "import from lark": Case('%import lark.OP\nstart: (OP "a")+', "? * a +"),
    "import a file": Case("%import .words.WORD\nstart: WORD", "a b 1"),
    "import a file by import_paths": Case("%import words.WORD\nstart: WORD", "a b 1", {"import_paths": ["."]}),
    "import a file, not its %ignore": Case("%import .words.WORD\nstart: WORD+", "a b !"),
    "import several of a file": Case('%import .words (WORD, KEY)\nstart: KEY ":" WORD', "k key : a"),
    "import a rule with what it uses": Case("%import .words.list\nstart: list", "a , ( )"),
    "import a rule renamed": Case('%import .words.list -> all\nstart: "<" all ">" | list\nlist: "l"', "a , ( ) < > l"),
    "import a conditional rule": Case("%import .words.item -> x\nstart: x x?", "a ( )"),
    "import from a folder": Case("%import .deep.inner.pair\nstart: pair", "1 2 a :"),
    "import twice removed": Case("%import .deep.inner (pair, ONE)\nstart: pair ONE?", "1 2 a :"),
    "import a template": Case('%import .templates.sep\n%import .templates.A\nstart: sep{A, ","}', "a , -"),
    "import templates of one name": Case(
        '%import .templates (sep, opt)\nstart: sep{b, opt{","}}\nb: "b"', "b , -", conflicts="shift"
    ),
    "import keeps priorities": Case(
        "%import .priorities (HIGH, LOW)\nstart: LOW | HIGH LOW", "a b", without="start: LOW\nLOW: /[ab]+/"
    ),
    "import keeps priorities of rules": Case(
        '%import .priorities.r\nstart: r "1" | s "2"\ns: "x"', "x y 1 2", conflicts="shift"
    ),
    "import what is declared": Case("%import .declared.r\nstart: r", "a b"),
    "import keeps flags": Case("%import .flags (ANY, DOT)\nstart: ANY DOT", "k K \u212a \n a"),
    "import from a package": Case(
        "%import gadgets.BOLT\nstart: BOLT", "b o l t", {"import_paths": [FromPackageLoader("gadgetry", ("grammars",))]}
    ),
    # %override, %extend, %declare
    "override an imported terminal": Case(
        '%import .words (list, WORD)\n%override WORD: "w"\nstart: list',
        "w a , ( )",
        without="%import .words.list\nstart: list",
    ),
    "override an imported rule": Case(
        '%import .words.item\n%override item: WORD "!"\n%import .words.WORD\nstart: item', "a ! ("
    ),
    "override a rule and use it from there": Case(
        '%import .words (list, item)\n%override item: "x"\nstart: list',
        "x , a ( )",
        without="%import .words.list\nstart: list",
    ),
    "override what is common": Case('%import common.INT\n%override INT: "0" | /[1-9]/\nstart: INT', "0 1 2"),
    "extend an imported terminal": Case(
        '%import common.INT\n%extend INT: "inf"\nstart: INT', "1 2 inf i", without="%import common.INT\nstart: INT"
    ),
    "extend an imported rule": Case('%import .words (list, item)\n%extend item: "[" "]"\nstart: list', "a , [ ]"),
    "extend a rule": Case('start: a a?\na: "x"\n%extend a: "y" | "z"', "x y z"),
    "extend a template": Case('start: t{"a"}\nt{x}: x\n%extend t{x}: "(" x ")"', "a ( )"),
    "declare what a rule needs": Case('start: "a" | "b" X\n%declare X', "a b"),
    # Templates
    "template": Case('start: list{NUM} ";"\nlist{x}: x ("," x)*\nNUM: /[0-9]/', "1 2 , ;"),
    "template of a template": Case('start: two{opt{"a"}}\ntwo{x}: x "," x\nopt{x}: x | "-"', "a , -"),
    "template that uses itself": Case('start: sep{"a", ","}\nsep{x, d}: x | sep{x, d} d x', "a , -"),
    "template with terminals, literals and rules": Case(
        'start: pair{A, "b"} pair{r, A}?\npair{x, y}: "<" x y ">"\nA: "a"\nr: "r" | "b"', "< > a b r"
    ),
    "template with a priority": Case('start: p{"a"} "1" | q{"a"} "2"\np{x}.2: x\nq{x}: x', "a 1 2"),
    "template that is inlined": Case('start: _t{"a"}+\n_t{x}: x "," | "[" x "]"', "a , [ ]"),
    "template with repetition": Case('start: r{"a"}\nr{x}: x~2..3 ["," x] x?', "a ,", conflicts="shift"),
    # Rules
    "aliases": Case(
        'start: "a" -> one\n | "b" start -> two\n | x -> two\nx: "d" | ("c" | "c" "d") -> three', "a b c d"
    ),
    "inlined, conditional and kept": Case(
        '?start: _a | b | c\n_a: "a" b\n?b: "b" | "(" _a ")"\n!c: "c"\n', "a b c ( )"
    ),
    "rule priorities": Case(
        'start: a "1" | b "1" "1"\na.2: "x"\nb.1: "x" | "y"',
        "x y 1",
        without='start: a "1" | b "1" "1"\na: "x"\nb.1: "x" | "y"',
    ),
    "rule priorities the other way": Case('start: a "1" | b "1" "1"\na.1: "x"\nb.2: "x" | "y"', "x y 1"),
    "rule priorities, negative": Case('start: a "1" | b "1" "1"\na.-1: "x"\nb: "x" | "y"', "x y 1"),
    "rule priorities inverted": Case(
        'start: a "1" | b "1" "1"\na.2: "x"\nb.1: "x"', "x y 1", {"priority": "invert"}, 'start: "x1"'
    ),
    "terminal priorities": Case(
        'start: (A | B "!")+\nA.2: /a/\nB: /a+/', "a !", without='start: (A | B "!")+\nA: /a/\nB.2: /a+/'
    ),
    "terminal priorities inverted": Case(
        'start: (A | B "!")+\nA.2: /a/\nB: /a+/',
        "a !",
        {"priority": "invert"},
        'start: (A | B "!")+\nA: /a/\nB.-2: /a+/',
    ),
    "terminal priorities ignored": Case(
        'start: (A | B "!")+\nA.2: /a/\nB: /a+/', "a !", {"priority": None}, conflicts="shift"
    ),
    "priority normal": Case('start: (A | B "!")+\nA.2: /a/\nB: /a+/', "a !", {"priority": "normal"}),
    "optional with placeholders": Case('start: ["a"] "b" ["c" ["a"]]', "a b c"),
    "optional without placeholders": Case('start: ["a"] "b" ["c" ["a"]]', "a b c", {"maybe_placeholders": False}),
    "equal optionals without placeholders": Case('start: (["a"] | "b"?) "c"', "a b c", {"maybe_placeholders": False}),
    "repetition": Case('start: "a"* ("b" | "c"+ ".")~1..2 "d"?', "a b c d ."),
    "counted": Case('start: x~3 ("," x)~0..2\nx: "a" | "b"', "a b ,"),
    "counted by helper rules": Case('start: "a"~51..53 "b"', f"{25 * 'a'} {26 * 'a'} a b"),
    "the empty rule": Case('start: x "a" x\nx:\n | "b"', "a b"),
    "several starts": Case('one: "a" two?\ntwo: "b" one? | "c"', "a b c", {"start": ["one", "two"]}),
    "several starts, one within another": Case(
        'top: "(" inner ")"\ninner: "a" | top', "( ) a", {"start": ["inner", "top"]}
    ),
    "several starts share one table": Case(
        'one: x "a" | "b"\ntwo: x "b"\nx: W\nW: /[ab]/', "a b", {"start": ["one", "two"]}, conflicts="shift"
    ),
    # Terminals
    "terminals of terminals": Case('start: A\nA: B ("-" C)* D?\nB: "b" | C\nC: /c+/\nD: "d"', "b c d -"),
    "alternatives of a terminal are sorted": Case(
        'start: A "b"?\nA: "a" | "ab" | /abb/', "a b", without='start: A "b"?\nA: /a|ab|abb/'
    ),
    "ranges": Case('start: "a".."c" R\nR: "0".."1" | "x".."z"', "a c d 0 2 y"),
    "counts in a terminal": Case('start: A\nA: "a"~2 ("b" | "c")~1..2 ["d"] "e"?', "a b c d e"),
    "unicode escapes": Case(r'start: "\u00e9" /[\u0430-\u044f]/ "\x41"', "é б A a"),
    "flags of terminals": Case('start: A B C\nA: "a"i\nB: /./s\nC: /c d # e\n/x', "a A \n c d cd"),
    "flags of a part": Case('start: A\nA: "a"i "b" /c/i', "a A b B c C"),
    "flag m": Case("start: (A | B | NL)+\nA.2: /^a/m\nB: /[ab]/\nNL: /\\n/", "a b \n"),
    "flag u": Case("start: A\nA: /\\w/u", "a é -"),
    "IGNORECASE for all": Case(
        'start: "k" A\nA: /[s-t]/', "k K \u212a s \u017f", {"g_regex_flags": re.I}, 'start: "k" "s"'
    ),
    "DOTALL for all": Case("start: /a./", "a \n b", {"g_regex_flags": re.S}, "start: /a./"),
    "MULTILINE for all": Case(
        "start: (A | B | NL)+\nA.2: /^a/\nB: /[ab]/\nNL: /\\n/", "a b \n", {"g_regex_flags": re.M}
    ),
    "ASCII for all": Case("start: /\\w/ /\\d/", "a é 1 \u0661", {"g_regex_flags": re.A}, "start: /\\w/ /\\d/"),
    "VERBOSE for all": Case(
        'start: "a b" A\nA: /a b/', "a b \\s ab", {"g_regex_flags": re.X}, 'start: "a b" A\nA: /a b/'
    ),
    "several flags for all": Case('start: "k" /./', "k K \n a", {"g_regex_flags": re.I | re.S | re.A}),
    "named by its text": Case('start: "if" NAME | IF "!"\nIF: "if"\nNAME: /[a-z]+/\n%ignore " "', "if f ! \\s"),
    # %ignore and lexers
    "ignore": Case('start: "a" "b"\n%ignore " "\n%ignore /#[^\\n]*/', "a b \\s # \n", without='start: "a" "b"'),
    "ignore what a rule uses": Case('start: "a" WS? "b"\nWS: " "\n%ignore WS', "a b \\s"),
    "ignore an expression": Case('start: "a" "b"\n%ignore ("-" | "=")~1..2 "."', "a b - = ."),
    "contextual lexer": Case('start: "x" A "1" | "y" B "2"\nA: /a+/\nB: /a/', "x y a 1 2"),
    "basic lexer": Case(
        'start: "x" A "1" | "y" B "2"\nA: /a+/\nB: /a/', "x y a 1 2", {"lexer": "basic"}, conflicts="shift"
    ),
    "use_bytes": Case(r"start: /\w/ /[\x80-\xff]/", "a é \xff", {"use_bytes": True}, r'start: /\w/ "a"'),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The files that grammars import, and a package of them."""
    folder = tmp_path_factory.mktemp("grammars")
    package = {"gadgetry/__init__.py": "", "gadgetry/grammars/gadgets.lark": 'BOLT: "bo" /l+t/\n'}
    for name, text in (FILES | package).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.mark.parametrize("name", CASES)
def test_feature(name: str, folder: Path, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    case = CASES[name]
    paths = [folder if path == "." else path for path in case.options.get("import_paths", ())]
    options = {**case.options, "import_paths": paths, "source_path": str(folder / "main.lark")}
    grammar = Grammar.from_lark(case.text, conflicts=case.conflicts, **options)
    parser = lark.Lark(case.text, parser="lalr", **{**options, "import_paths": list(map(str_of, paths))})
    pieces = [piece.replace("\\s", " ") for piece in case.pieces.split(" ")]
    for start in parser.options.start:
        texts = list(texts_of(pieces, scaled(700)))
        expected = sentences_of_lark(parser, texts, start)
        assert sentences_of_pdacon(grammar, texts, start) == expected
        assert 0 < len(expected) < len(texts)
        if case.without is not None:
            other = lark.Lark(case.without, parser="lalr", source_path=options["source_path"])
            assert sentences_of_lark(other, texts) != expected
        tally(texts=len(texts), sentences=len(expected))
    tally(features=1)


def str_of(path: Any) -> Any:
    return path if callable(path) else str(path)
