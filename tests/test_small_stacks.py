"""Nothing recurses on its input: all of it works in threads with a stack of 256 KB, or is refused by name."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np
import pytest
from support.lowering import load
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar
from support.small_stack import in_small_stack

import pdacon
from pdacon import Constraint, Grammar, PdaconError, Vocabulary, drawing
from pdacon.front.sampling import sample

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])


def use(grammar: Grammar, texts: int = 2) -> None:
    """Everything that can be done with a grammar."""
    report = pdacon.check(grammar)
    assert report.render()
    assert report.to_dict()
    drawing.draw_rules(grammar.data)
    try:
        constraint = pdacon.compile(grammar, BYTES)
        constraint.matcher()
    except PdaconError:
        return
    row = np.zeros((1, 9), np.int32)
    for text in islice(sample(constraint, 1), texts):
        matcher = constraint.matcher()
        for byte in text.encode(grammar.data.options.encoding):
            matcher.fill_bitmask(row)
            assert matcher.accept_token(byte)
        assert str(matcher.explain(b"\0"))
        assert matcher.is_accepting()
    loaded = Constraint.from_bytes(constraint.to_bytes(), BYTES, verify=True).matcher()
    assert loaded.accept_bytes(loaded.shortest_completion())
    assert loaded.accept_token(256)


def use_text(grammar: SmallGrammar) -> None:
    use(load(grammar))


@pytest.mark.parametrize("name", ["json", "sql_select", "lark", "c"])
def test_built_in_grammars(name: str) -> None:
    in_small_stack(lambda: use(Grammar.builtin(name)))


@pytest.mark.slow
def test_small_grammars() -> None:
    for grammar in SMALL_GRAMMARS[::2]:
        in_small_stack(partial(use_text, grammar))


@pytest.mark.parametrize("length", [200, 1500])
def test_what_is_lexed_again_has_many_lexemes(length: int) -> None:
    grammar = f'start: A rest | B\nrest: C+\nA: "a"\nB: /a{{{length}}}b/\nC: /[a]/\n'
    in_small_stack(lambda: use(Grammar.from_lark(grammar), 1))


@pytest.mark.parametrize(
    "rules",
    [
        "start: " + "(" * 100 + '"a"' + ")" * 100,
        "start: " + '("b" | "c" ' * 100 + '"a"' + ' "d")' * 100,
        "start: " + '["b" ' * 100 + '"a"' + ' "d"]' * 100,
        "start: A\nA: " + '("b" ' * 100 + '"a"' + ")?" * 99 + ")",
        "start: A\nA: /b" + "(?:a" * 100 + "a" + ")?" * 100 + "/",
    ],
)
def test_what_nests_as_deep_as_is_allowed(rules: str) -> None:
    in_small_stack(lambda: use(Grammar.from_lark(rules), 1))
