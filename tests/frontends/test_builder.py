"""What is built of rules is what Lark's loader makes of the same rules as a text."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pdacon.errors import GrammarSyntaxError
from pdacon.frontends.builder import Alternative, Builder, Expression, Unnamed, token, written
from pdacon.grammar import GrammarData, GrammarOptions, Pattern, Terminal
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.grammar.lark_reading import read_text
from pdacon.grammar.model import Definition

Rules = dict[str, list[Alternative]]

NAMED = {"NUMBER": "1", "BAR": "|", "_HIDDEN": "_"}
LEAVES: list[Expression] = [
    *("start", "r0", "r1", "r2", "NUMBER", "_HIDDEN", "HOLE"),
    *(Unnamed(Pattern.of_text(text), f'"{text}"') for text in ("|", "if", "{", "++", "é", "1")),
    token("<a>"),
]


def built(rules: Rules) -> GrammarData:
    builder = Builder()
    for name, alternatives in rules.items():
        builder.rule(name, alternatives)
    for name, text in NAMED.items():
        builder.terminal(Terminal(name, Pattern.of_text(text), 0, None))
    builder.terminal(Terminal("HOLE", None, 0, None))
    return builder.built("")


def loaded(rules: Rules) -> GrammarData:
    """The same by way of Lark's loader, without places."""
    sides = {name: " | ".join(map(written, alternatives)) for name, alternatives in rules.items()}
    lines = [
        *(f"{name}: {side}" for name, side in sides.items()),
        *(f'{name}: "{text}"' for name, text in NAMED.items()),
    ]
    grammar = read_text("\n".join([*lines, "%declare HOLE", ""]), GrammarOptions(extensions=True))
    return replace(
        grammar,
        terminals=tuple(replace(one, span=None) for one in grammar.terminals),
        nonterminals=tuple(replace(one, span=None) for one in grammar.nonterminals),
        productions=tuple(replace(one, span=None) for one in grammar.productions),
        unused=tuple(Definition(one.name, None) for one in grammar.unused if one.name in rules),
        source="",
    )


def random_node(rng: random.Random, depth: int) -> Expression:
    kind = rng.randrange(9) if depth else 0
    if kind < 4:
        return rng.choice(LEAVES)
    if kind < 6:
        large = rng.random() < 0.1
        bounds = [(55, 55), (3, 70), (0, 50)] if large else [(0, None), (1, None), (0, 1), (1, 2), (0, 0)]
        return Repeated(rng.choice(LEAVES) if large else random_item(rng, depth - 1), *rng.choice(bounds))
    return OneOf(tuple(InOrder(random_items(rng, depth - 1)) for _ in range(rng.randint(1, 2))))


def random_item(rng: random.Random, depth: int) -> Expression:
    """What a sign may stand after."""
    node = random_node(rng, depth)
    return OneOf((InOrder((node,)),)) if isinstance(node, Repeated) else node


def random_items(rng: random.Random, depth: int) -> tuple[Expression, ...]:
    return tuple(random_node(rng, depth) for _ in range(rng.randint(0, 3)))


def random_alternative(rng: random.Random) -> Alternative:
    items = random_items(rng, 2)
    return Alternative(("BAR", *items), rng.choice("xy")) if rng.random() < 0.4 else Alternative(items)


def random_rules(rng: random.Random) -> Rules:
    names = ("start", "r0", "r1", "r2")
    return {name: [random_alternative(rng) for _ in range(rng.randint(1, 3))] for name in names}


@pytest.mark.parametrize("seed", range(60))
def test_the_same_as_by_larks_loader(seed: int) -> None:
    rules = random_rules(random.Random(seed))
    try:
        expected = loaded(rules)
    except GrammarSyntaxError:  # of equal alternatives with two aliases, which Lark refuses, the first counts
        productions = built(rules).productions
        assert len({(one.lhs, one.rhs) for one in productions}) == len(productions)
        return
    assert built(rules) == expected


@pytest.mark.parametrize("item", [InOrder(("NUMBER", "BAR")), InOrder(("NUMBER",)), Repeated("NUMBER", 1, 2)])
@pytest.mark.parametrize("bounds", [(0, None), (1, None), (2, 3), (0, 60)])
def test_the_sign_stands_after_all_of_what_is_repeated(item: Expression, bounds: tuple[int, int | None]) -> None:
    rules = {"start": [Alternative(("BAR", Repeated(item, *bounds)))]}
    assert built(rules) == loaded(rules)
