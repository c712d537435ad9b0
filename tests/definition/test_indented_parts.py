"""Grammars with indentation within other texts, against the definition: Lark's Indenter reads the part alone.

Stock Lark with the Indenter says which texts the indented part may have. What it closes at the end of its text it
closes here before the terminal that comes after the part, as it stands or within a string of JSON. Texts are cut to a
length, as a set that the whole has to be in, so that all sentences are known and with them every mask.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import lark
import pytest
from lark import Lark, Token, Tree
from lark.exceptions import LarkError
from lark.indenter import Indenter, PythonIndenter

import pdacon
from pdacon import FixedWidthIndenter, Grammar, RegularSet
from pdacon.errors import UnsupportedGrammarError
from pdacon.regular.ordered.escaping import ESCAPES, Escapes
from tests.support.known_sentences import require_masks_of_sentences
from tests.support.spellings import spellings


class Blocks(Indenter):
    """Blocks by any width, with tabs of two columns."""

    NL_type = "_NL"
    OPEN_PAREN_types = ["LPAR"]  # noqa: RUF012 - Lark's name
    CLOSE_PAREN_types = ["RPAR"]  # noqa: RUF012 - Lark's name
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 2


class Twos(FixedWidthIndenter, Blocks):
    """Blocks that are all two columns further in."""

    indent_len = 2


TREE = 'start: item+\nitem: A _NL [_INDENT item+ _DEDENT]\nA: "a"\n%declare _INDENT _DEDENT\n'
# The indented grammar, its Indenter, its alphabet, and the most characters of its texts.
PARTS: dict[str, tuple[str, type[Indenter], str, int]] = {
    "blocks": (TREE + "_NL: /(\\n *)+/", Blocks, "a\n ", 7),
    "one line break": (TREE + "_NL: /\\n */", Blocks, "a\n ", 7),
    "blanks at the end alone": (TREE + "_NL: /\\n+ */", Blocks, "a\n ", 7),
    "tabs": (TREE + "_NL: /(\\n[ \\t]*)+/", Blocks, "a\n \t", 6),
    "tabs alone": (TREE + "_NL: /\\n\\t*/", Blocks, "a\n\t", 6),
    "twos": (TREE + "_NL: /(\\n *)+/", Twos, "a\n ", 7),
    "every second column": (TREE + "_NL: /\\n(  )*/", Blocks, "a\n ", 7),
    "comments": (TREE + '_NL: /(\\n *|#)+/\n%ignore "#"', Blocks, "a\n #", 6),
    "parentheses": (
        'start: item+\nitem: "a" ["(" item* ")"] _NL [_INDENT item+ _DEDENT] | "a"\n_NL: /(\\n *)+/\n'
        '%ignore " "\n%declare _INDENT _DEDENT',
        Blocks,
        "a\n ()",
        6,
    ),
    "an end without a line break": (
        'start: (item _NL)* item?\nitem: "a" [":" _NL _INDENT start _DEDENT]\n_NL: /(\\n *)+/\n'
        "%declare _INDENT _DEDENT",
        Blocks,
        "a:\n ",
        6,
    ),
    "carriage returns": (TREE + "_NL: /(\\r?\\n *)+/", Blocks, "a\n\r ", 6),
    "look-behind": (
        TREE.replace('A: "a"', "A: /(?<!a)a|(?<=\\na)a/") + "_NL: /(\\n *)+/\n%ignore /(?<=[a#])#/",
        Blocks,
        "a\n #",
        6,
    ),
    "look-ahead": (TREE.replace('"a"', "/a(?=\\n)/") + "_NL: /(\\n *)+/", Blocks, "a\n ", 7),
}


def texts_over(alphabet: str, length: int) -> list[str]:
    return ["".join(text) for size in range(length + 1) for text in product(alphabet, repeat=size)]


def sentences_of(name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("lark.lexer.has_interegular", False)
    text, indenter, alphabet, length = PARTS[name]
    stock = Lark(text, parser="lalr", postlex=indenter())
    found = []
    for one in texts_over(alphabet, length):
        try:
            stock.parse(one)
        except (LarkError, AssertionError, IndexError):
            continue
        found.append(one)
    assert found
    assert any("\n " in one or "\t" in one for one in found)
    return found


def part(name: str) -> Grammar:
    text, indenter, _, _ = PARTS[name]
    return Grammar.from_lark(text, postlex=indenter())


@pytest.mark.parametrize("name", PARTS)
def test_what_stands_after_a_part_closes_its_blocks(
    name: str, monkeypatch: pytest.MonkeyPatch, scaled: Callable[[int], int]
) -> None:
    inner = sentences_of(name, monkeypatch)
    alphabet, length = PARTS[name][2:]
    grammar = Grammar.compose('start: "<" h ">"', h=part(name))
    expected = {f"<{one}>".encode() for one in inner}
    short = RegularSet.from_choices([*f"<>{alphabet}"]).repeat(0, length + 2)
    require_masks_of_sentences(grammar, short, expected, Random(name), scaled(60), strange=b"\n x")
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    for one in texts_over(alphabet, length - 1):
        assert constraint.accepts(f"<{one}>") == (one in set(inner)), one


def test_many_parts(monkeypatch: pytest.MonkeyPatch, scaled: Callable[[int], int]) -> None:
    """One after the other, within what ignores other text."""
    inner = [one for one in sentences_of("blocks", monkeypatch) if len(one) < 5]
    piece = Grammar.compose('start: "<" h ">"', h=part("blocks"))
    grammar = Grammar.compose('start: "[" (p ("," p)*)? "]"\n%ignore " "', p=piece)
    pieces = [f"<{one}>" for one in inner]
    frames = ["[]", "[ ]", " [#]", "[# ]", "[#,#]", "[# , #]"]
    expected = set()
    for frame in frames:
        for chosen in product(pieces, repeat=frame.count("#")):
            fillings = iter(chosen)
            expected.add("".join(next(fillings) if letter == "#" else letter for letter in frame))
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    random = Random(5)
    for one in random.sample(sorted(expected), min(len(expected), scaled(200))):
        assert constraint.accepts(one), one
        broken = list(one)
        broken[random.randrange(len(one))] = random.choice("<>a\n [],")
        text = "".join(broken)
        assert constraint.accepts(text) == _is_list(text, set(inner)), text


def _is_list(text: str, inner: set[str]) -> bool:
    text, parts = text.strip(" "), []
    if not (text[:1] == "[" and text[-1:] == "]" and len(text) > 1):
        return False
    rest = text[1:-1].strip(" ")
    while rest:
        begin, end = rest.find("<"), rest.find(">")
        if begin != 0 or end < 0 or rest[1:end] not in inner:
            return False
        parts.append(rest[1:end])
        rest = rest[end + 1 :].strip(" ")
        if rest and (rest[0] != "," or not rest[1:].strip(" ")):
            return False
        rest = rest[1:].strip(" ")
    return True


@pytest.mark.parametrize("escapes", ESCAPES)
@pytest.mark.parametrize("name", PARTS)
def test_in_a_string_lines_are_those_that_are_meant(
    name: str, escapes: Escapes, monkeypatch: pytest.MonkeyPatch, scaled: Callable[[int], int]
) -> None:
    alphabet = PARTS[name][2]
    random = Random(f"{name}, {escapes}")
    inner = sentences_of(name, monkeypatch)
    most = PARTS[name][3]
    if escapes == "any":
        most = 4
        inner = [one for one in inner if len(one) <= most]
    units = {letter: spellings(letter, escapes)[:3] for letter in alphabet}
    expected = {f'"{"".join(written)}"'.encode() for one in inner for written in product(*map(units.__getitem__, one))}
    assert all(json.loads(one) in inner for one in expected)
    grammar = part(name).escaped("json", escapes=escapes, quotes=True)
    spelled = [unit.encode() for letter in alphabet for unit in units[letter]]
    short = RegularSet.from_choices([one.decode() for one in [b'"', *spelled]]).repeat(0, most + 2)
    require_masks_of_sentences(grammar, short, expected, random, scaled(40), strange=b"\n x")
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    for one in texts_over(alphabet, min(most, 5)):
        text = f'"{"".join(random.choice(units[letter]) for letter in one)}"'
        assert constraint.accepts(text) == (one in inner), text


def test_values_are_those_of_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lark.lexer.has_interegular", False)
    text, indenter, _, _ = PARTS["parentheses"]
    code = "a(a\n  a)\n  a\na"
    tree = Lark(text, parser="lalr", postlex=indenter()).parse(code)
    plain = Grammar.compose('start: "<" h ">" B?\nB: "b"', h=part("parentheses"))
    constraint = pdacon.compile(plain, pdacon.Vocabulary.bytes())
    assert constraint.parse(f"<{code}>b") == Tree("start", [tree, Token("B", "b")])
    quoted = Grammar.compose(
        'start: "{" "\\"code\\"" ":" h "}"\n%ignore " "', h=part("parentheses").escaped("json", quotes=True)
    )
    constraint = pdacon.compile(quoted, pdacon.Vocabulary.bytes())
    assert constraint.parse(json.dumps({"code": code})) == Tree("start", [tree])
    within = Grammar.compose('start: "\\"" h "\\"" B?\nB: "b"', h=part("parentheses").escaped("json"))
    constraint = pdacon.compile(within, pdacon.Vocabulary.bytes())
    assert constraint.parse(json.dumps(code) + "b") == Tree("start", [tree, Token("B", "b")])


@pytest.mark.parametrize(
    ("outer", "holes", "message"),
    [
        ('start: h ">"', {"h": "blocks"}, "a terminal right before h and one right after"),
        ('start: "<" h', {"h": "blocks"}, "a terminal right before h and one right after"),
        ('start: "<" h b\nb: ">"', {"h": "blocks"}, "a terminal right before h and one right after"),
        ('start: "<" h ">"\n%ignore " "', {"h": "blocks"}, "blanks count in it"),
        ('start: "<" h ">" "(" k ")"', {"h": "blocks", "k": "twos"}, "there can be one"),
        ('start: "<" h "\\n>"', {"h": "blocks"}, "nobody knows where it ends"),
        ('start: "<" h " >"', {"h": "blocks"}, "nobody knows where it ends"),
        ('start: "<" h "a"', {"h": "blocks"}, "nobody knows where it ends"),
    ],
)
def test_what_is_refused(outer: str, holes: dict[str, str], message: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match=message):
        Grammar.compose(outer, {name: part(which) for name, which in holes.items()})


def test_a_part_of_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indented text in a fence, and all of that in a string."""
    inner = set(sentences_of("blocks", monkeypatch))
    fenced = Grammar.compose('start: "```\\n" h "```"', h=part("blocks"))
    constraint = pdacon.compile(fenced.escaped("json", quotes=True), pdacon.Vocabulary.bytes())
    for one in texts_over("a\n ", 6):
        assert constraint.accepts(json.dumps(f"```\n{one}```")) == (one in inner), one
    with pytest.raises(UnsupportedGrammarError, match="may end in a backslash"):
        Grammar.compose('start: "\\\\" h', h=part("look-behind").escaped("json", quotes=True))
    with pytest.raises(UnsupportedGrammarError, match="the outer grammar has a postlexer"):
        Grammar.compose(
            Grammar.from_lark(TREE.replace("A _NL", "H _NL") + "_NL: /\\n */\n%declare H", postlex=Blocks()),
            H=part("blocks"),
        )
    with pytest.raises(UnsupportedGrammarError, match="escaped twice"):
        fenced.escaped("json").escaped("json")


@pytest.mark.slow
@pytest.mark.parametrize("escapes", ["needed", "ascii"])
def test_python_in_a_call(escapes: Escapes, scaled: Callable[[int], int]) -> None:
    """Programs and what is made of them by a change: the call is one if and only if Lark takes the program."""
    text = (Path(lark.__file__).parent / "grammars" / "python.lark").read_text(encoding="utf-8")
    stock = Lark(text, parser="lalr", start="file_input", postlex=PythonIndenter())
    python = Grammar.from_lark(text, start="file_input", postlex="python", conflicts="shift")
    outer = Grammar.from_lark(
        'start: "{" "\\"tool\\"" ":" "\\"run\\"" "," "\\"code\\"" ":" CODE "}"\n%import common.WS\n%ignore WS\n'
        "%declare CODE",
        conflicts="shift",
    )
    call = Grammar.compose(outer, CODE=python.escaped("json", escapes=escapes, quotes=True))
    constraint = pdacon.compile(call, pdacon.Vocabulary.bytes())
    random = Random(0)
    taken: dict[bool, int] = {True: 0, False: 0}
    for program in [*PROGRAMS, *(_changed(random, random.choice(PROGRAMS)) for _ in range(scaled(120)))]:
        try:
            stock.parse(program)
            expected = True
        except (LarkError, AssertionError, IndexError):
            expected = False
        taken[expected] += 1
        text = json.dumps({"tool": "run", "code": program}, ensure_ascii=escapes == "ascii")
        assert constraint.accepts(text) == expected, program
        matcher = constraint.matcher()
        end = random.randrange(len(text) + 1)
        if matcher.accept(text[:end]):
            completion = matcher.shortest_completion()
            whole = text[:end].encode() + completion
            stock.parse(json.loads(whole)["code"])
        else:
            assert not expected
    assert min(taken.values()) > 10


PROGRAMS = [
    "x = 1\n",
    'def f(x):\n    if x:\n        return [1,\n  2]\n    return "é\\n"\n',
    "class A:\n\t'''doc\n  string'''\n\tx: int = 0  # a comment\n\n\n\tdef g(self): pass\n\nA()\n",
    "for i in range(3):\n  print(i, end='')\n  # less\n # lesser\n  continue\nelse:\n  pass",
    "try:\n    a = {\n'b': \\\n 1}\nexcept E as e:\n    raise\n",
    "\n\nwith open('f') as f:\n        f.read()\n",
]


@pytest.mark.slow
def test_python_of_its_own_grammar_in_a_string() -> None:
    """Its terminals look at the text before them: what is meant, from the quote on."""
    python = Grammar.builtin("python")
    alone = pdacon.compile(python, pdacon.Vocabulary.bytes())
    quoted = pdacon.compile(python.escaped("json", quotes=True), pdacon.Vocabulary.bytes())
    random = Random(1)
    strings = ['f"{x}\\n{y!r:>{z}}"\n', "f'''\n{x}\n'''\n"]
    programs = [*PROGRAMS, "  x\n", " \n  # a\nx\n", "\\\nx\n", "\fx\n", *strings]
    for program in [*programs, *(_changed(random, random.choice(programs)) for _ in range(150))]:
        text = json.dumps(program, ensure_ascii=False)
        assert quoted.accepts(text) == alone.accepts(program), program
        matcher = quoted.matcher()
        assert (matcher.explain(text).viable == len(text.encode())) == quoted.matcher().accept(text)
        if matcher.accept(text[: len(text) // 2]):
            whole = text[: len(text) // 2].encode() + matcher.shortest_completion()
            assert alone.accepts(json.loads(whole)), whole


def _changed(random: Random, program: str) -> str:
    for _ in range(random.randint(1, 2)):
        at = random.randrange(len(program))
        put = random.choice([" ", "    ", "\n", "", "(", "\t", ":", "#", '"', "\\"])
        program = program[:at] + put + program[at + random.randint(0, 2) :]
    return program
