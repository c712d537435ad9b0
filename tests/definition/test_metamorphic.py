"""What must not matter: the order of a vocabulary, the names of symbols, how an equivalent grammar is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from support.definition import mask_of
from support.small_grammars import SmallGrammar
from support.strategies import EXACT, small_world
from support.vocabularies import TinyVocabulary

import pdacon
from pdacon import Constraint, EmptyLanguageError, Grammar, Vocabulary

GRAMMARS = Path(__file__).parents[1] / "support" / "grammars"


def sample_masks(
    constraints: list[Constraint], tiny: TinyVocabulary, random: Random, walks: int, steps: int
) -> list[list[frozenset[int]]]:
    """The masks of several constraints along the same random texts."""
    masks: list[list[frozenset[int]]] = []
    for _ in range(walks):
        matchers = [constraint.matcher() for constraint in constraints]
        for _ in range(steps):
            masks.append([mask_of(matcher, tiny.size) for matcher in matchers])
            choices = sorted(masks[-1][0] - set(tiny.ends))
            if not choices:
                break
            token = random.choice(choices)
            assert all(matcher.accept_bytes(tiny.text(token)) for matcher in matchers)
    return masks


@pytest.mark.parametrize("grammar", EXACT, ids=lambda grammar: grammar.name)
def test_a_permuted_vocabulary_permutes_the_mask(grammar: SmallGrammar, tally: Callable[..., None]) -> None:
    random = Random(grammar.name)
    for kind in (2, 3):
        world = small_world(grammar.name, kind)
        if world is None:
            continue
        order = random.sample(range(world.tiny.size), world.tiny.size)
        permuted = pdacon.compile(world.constraint.grammar, world.tiny.permuted(order).vocabulary())
        for original, other in sample_masks([world.constraint, permuted], world.tiny, random, 6, 6):
            assert original == {order[place] for place in other}
            tally(masks=1)


def vocabulary_for(text: str) -> TinyVocabulary:
    """Single bytes and pieces of a grammar's own text: words, brackets, spaces."""
    pieces = sorted(set(re.findall(r"\w+|\s+|[^\w\s]+|\w\w", text)))
    tokens = [*(bytes([byte]) for byte in range(256)), *(piece.encode() for piece in pieces)]
    return TinyVocabulary("bytes and pieces", (*tokens, None), (len(tokens),))


def assert_same_masks(one: Grammar, other: Grammar, tally: Callable[..., None]) -> None:
    tiny = vocabulary_for(one.data.source + other.data.source)
    constraints = [pdacon.compile(grammar, tiny.vocabulary()) for grammar in (one, other)]
    for first, second in sample_masks(constraints, tiny, Random(1), 12, 15):
        assert first == second
        tally(masks=1)


RENAMED = {
    "json": {
        "value": "thing",
        "object": "a_map",
        "array": "list_",
        "pair": "zz",
        "NUMBER": "NUMERAL",
        "STRING": "TEXT",
    },
    "arithmetic": {"sum": "zum", "product": "a", "factor": "qq", "atom": "b_", "NUMBER": "NUM", "NAME": "N"},
    "statements": {"statement": "s", "expression": "e_", "block": "zzz", "comparison": "a", "call": "invoke"},
    "query": {"select": "q", "columns": "c", "name": "identifier", "value": "v", "TEXT": "TEXT_", "INT": "INT_"},
    "settings": {"entry": "e", "section": "zz", "value": "a_value", "list": "sequence", "WORD": "WORD_"},
}


@pytest.mark.parametrize("name", RENAMED)
def test_names_do_not_matter(name: str, tally: Callable[..., None]) -> None:
    """Rules may have any name; terminals too, where their order in a context does not hang on it."""
    file = GRAMMARS / f"{name}.lark"
    grammar = Grammar.from_file(file) if file.exists() else Grammar.builtin(name)
    text = re.sub(r"//.*", "", grammar.data.source)
    for old, new in RENAMED[name].items():
        text, changes = re.subn(rf'(?<![\w".@]){old}(?![\w"])', new, text)
        assert changes > 1
    assert_same_masks(grammar, Grammar.from_lark(text), tally)


EQUIVALENT = {
    "recursion to the left or to the right": (
        'start: "[" list "]"\nlist: ITEM | list "," ITEM\nITEM: /[a-c]+/',
        'start: "[" list "]"\nlist: ITEM | ITEM "," list\nITEM: /[a-c]+/',
    ),
    "EBNF or rules": (
        'start: ("a" "b"?)+ [C] "d"~2\nC: /c+/',
        'start: some c "d" "d"\nsome: one | some one\none: "a" | "a" "b"\nc: | C\nC: /c+/',
    ),
    "templates or copies": (
        '_list{x}: "(" [x ("," x)*] ")"\nstart: _list{A} _list{b}\nb: "b" A\nA: /a+/',
        'start: "(" [A ("," A)*] ")" "(" [b ("," b)*] ")"\nb: "b" A\nA: /a+/',
    ),
    "unit rules or none": (
        'start: a ";"\na: b\nb: c | "(" a ")"\nc: X\nX: /x{1,3}/',
        'start: a ";"\na: X | "(" a ")"\nX: /x{1,3}/',
    ),
    "a terminal or its definition": (
        "start: (WORD | NUM)+\nWORD: LETTER+\nNUM: DIGIT+\nLETTER: /[a-z]/\nDIGIT: /[0-9]/\n%ignore / /",
        "start: (WORD | NUM)+\nWORD: /[a-z]+/\nNUM: /[0-9]+/\n%ignore / /",
    ),
    "an ignored terminal or several": (
        'start: "a"+ "b"\n%ignore / |\\t/',
        'start: "a"+ "b"\n%ignore " "\n%ignore "\\t"',
    ),
    "strings or an alternation": (
        'start: ("if" | "in" | "int") "x"',
        'start: KW "x"\nKW: /int|if|in/',
    ),
}


@pytest.mark.parametrize("name", EQUIVALENT)
def test_equivalent_grammars_have_the_same_masks(name: str, tally: Callable[..., None]) -> None:
    one, other = (Grammar.from_lark(text) for text in EQUIVALENT[name])
    assert_same_masks(one, other, tally)


@pytest.mark.slow
def test_a_larger_vocabulary_allows_the_same_of_the_smaller_one(tally: Callable[..., None]) -> None:
    """With all bytes in a vocabulary, whether a token is allowed does not depend on the other tokens."""
    for grammar in EXACT:
        world = small_world(grammar.name, 1)
        if world is None:
            continue
        tiny = world.tiny
        more = (*tiny.tokens, *(text * 2 for text in tiny.texts()[1:40]))
        try:
            larger = pdacon.compile(world.constraint.grammar, Vocabulary.from_tokens(more, eos_ids=tiny.ends))
        except EmptyLanguageError:
            pytest.fail(f"{grammar}")
        small, large = world.constraint.matcher(), larger.matcher()
        random = Random(grammar.name)
        for _ in range(5):
            mask = mask_of(small, tiny.size)
            assert mask == {token for token in mask_of(large, len(more)) if token < tiny.size}, str(grammar)
            tally(masks=1)
            token = random.choice(sorted(mask))
            assert small.accept_token(token)
            assert large.accept_token(token)
