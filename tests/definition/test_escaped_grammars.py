"""`Grammar.escaped` against the definition: what ``json.loads`` makes a sentence of, in the spelling that is asked for.

Stock Lark says which texts are sentences. All texts over small alphabets are tried, cut to a length as a set that the
grammar has to be in, so that all sentences are known and with them every mask.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from random import Random

import pytest
from lark import Lark
from lark.exceptions import LarkError

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.regular.ordered.escaping import ESCAPES, Escapes
from tests.support.known_sentences import require_masks_of_sentences
from tests.support.spellings import spellings

# The grammar, and the alphabet.
CASES: dict[str, tuple[str, str]] = {
    "ignored text": ('start: A+\nA: "a"\n%ignore /[ \\n]+/', "a \n"),
    "two kinds of ignored text": ('start: A*\nA: "a"\n%ignore /#[^\\n]*/\n%ignore "\\n"', "a#\n"),
    "keywords": ('start: NAME ("=" (NAME | "if"))? | "if" NAME\nNAME: /[if]+/\n%ignore "\\n"', "if=\n"),
    "keywords with escapes": ('start: ("\\"" X | X) "\\n"?\nX: "\\"\\"" | "a"\nQ: /"+/', '"a\n'),
    "strings": ('start: STRING ("+" STRING)*\nSTRING: /"(\\\\.|[^"\\\\])*"/', '"\\+a'),
    "brackets": ('start: "[" start* "]" | "\\"" "\\\\"?', '[]"\\'),
    "look-ahead": ("start: (A | B | C)+\nA: /a(?!\\n)/\nB: /a(?=\\n\\n)/\nC: /\\n|a\\n/", "a\n"),
    "end of the text": ("start: (A | B)+\nA: /a$|\\n/\nB: /a(?!$)/", "a\n"),
    "inner word boundaries": ("start: (A | B)*\nA.1: /a\\b/\nB: /a|\\n|é/", "aé\n"),
    "what falls back": ('start: (X | Y | Z)*\nX: "a"\nY: "a\\n\\n\\n"\nZ: "\\n"', "a\n"),
    "order of alternatives": ("start: (A | B)*\nA: /a|a\\n/\nB: /\\n/", "a\n"),
    "letters": ('start: (W "\\t")*\nW: /\\w+/', "é\t"),
    "beyond sixteen bits": ('start: /[\\U0001f600-\\U0001f64f]+/ "é"*', "😀é"),
    "delete": ('start: /[\\x7f-\\xe9]+/ "a"?', "\x7fé"),
    "without case": ('start: "É"i "/"', "éÉ/"),
    "priorities": ("start: (A | B | D)*\nA.2: /\\n/\nB.1: /\\n\\n|a/\nD: /a+/", "a\n"),
    "empty": ('start: ("\\n" start "\\t")?', "\n\t"),
}


def sentences_of(text: str, alphabet: str, length: int) -> list[str]:
    lark = Lark(text, parser="lalr")
    found = []
    for size in range(length + 1):
        for letters in product(alphabet, repeat=size):
            try:
                lark.parse("".join(letters))
            except LarkError:
                continue
            found.append("".join(letters))
    return found


@pytest.mark.parametrize("escapes", ESCAPES)
@pytest.mark.parametrize("name", CASES)
def test_masks_are_those_of_escaped_sentences(name: str, escapes: Escapes, scaled: Callable[[int], int]) -> None:
    text, alphabet = CASES[name]
    length = (5 if len(alphabet) < 4 else 4) if escapes != "any" else 3 if len(alphabet) < 4 else 2
    inner = sentences_of(text, alphabet, length)
    units = {character: spellings(character, escapes) for character in alphabet}
    expected = {"".join(written).encode() for one in inner for written in product(*map(units.__getitem__, one))}
    assert all(json.loads(f'"{one.decode()}"') in inner for one in expected)
    grammar = Grammar.from_lark(text).escaped("json", escapes=escapes)
    short = RegularSet.from_choices([*alphabet]).repeat(0, length).escaped("json", escapes="any")
    random = Random(f"{name}, {escapes}")
    require_masks_of_sentences(
        grammar, short, expected, random, scaled(60), strange=b'"\n x', has_shortest_completions=True
    )


@pytest.mark.parametrize("escapes", ESCAPES)
@pytest.mark.parametrize("name", CASES)
def test_within_quotes(name: str, escapes: Escapes) -> None:
    """Look-ahead sees the end of the text in the quote, and nothing beside the string gets into it."""
    text, alphabet = CASES[name]
    inner = set(sentences_of(text, alphabet, 3))
    code = Grammar.from_lark(text).escaped("json", escapes=escapes, quotes=True)
    whole = Grammar.compose('start: "{" "\\"code\\"" ":" code "}"\n%import common.WS\n%ignore WS', code=code)
    constraint = pdacon.compile(whole, pdacon.Vocabulary.bytes())
    for size in range(4):
        for letters in product(alphabet, repeat=size):
            for written in product(*(spellings(character, escapes)[:2] for character in letters)):
                one = "".join(written)
                assert constraint.accepts(f'{{ "code" : "{one}"\n}}') == ("".join(letters) in inner), one
    for blank in " \n":
        if blank not in alphabet:
            assert not any(constraint.accepts(f'{{"code": "{blank}{one}"}}') for one in inner)
