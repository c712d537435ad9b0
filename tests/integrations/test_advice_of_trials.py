"""What users tried first, and what they are told: the way out stands in the message."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import pdacon
from pdacon import Grammar, Vocabulary
from pdacon.integrations.huggingface import generate, load_tiny


@dataclass
class Point:
    x: int
    tags: list[str]


@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        (re.compile("[0-9]{4}"), r"Grammar\.from_regex\('\[0-9\]\{4\}'\)"),
        (["yes", "no"], r"Grammar\.from_choices"),
        ("[0-9]{4}", r"Grammar\.from_regex"),
        ("JSON", r"did you mean json\b"),
        ('root ::= "a"', r"Grammar\.from_gbnf"),
    ],
    ids=["a pattern", "a list", "the text of a pattern", "capitals", "GBNF"],
)
def test_what_is_no_grammar(given: object, way_out: str) -> None:
    with pytest.raises((TypeError, ValueError, pdacon.GrammarError), match=way_out):
        pdacon.compile(given, Vocabulary.bytes())  # type: ignore[arg-type]


def test_from_type_of_a_value() -> None:
    with pytest.raises(TypeError, match="give its class, Point"):
        Grammar.from_type(Point(1, []))
    with pytest.raises(TypeError, match="from_json_schema"):
        Grammar.from_type({"type": "integer"})


def test_the_value_of_a_text_is_the_text() -> None:
    model, tokenizer = load_tiny()
    answer = generate(model, tokenizer, "Say:", grammar=Grammar.from_choices(["yes", "no"]), seed=1)
    assert answer.value == str(answer)
    constraint = pdacon.compile(Grammar.from_lark('start: "a"'), Vocabulary.bytes())
    with pytest.raises(TypeError, match=r"lark\.Lark\(grammar\.to_lark\(\)"):
        constraint.parse("a")


def test_lax_is_an_option_of_the_grammar() -> None:
    model, tokenizer = load_tiny()
    with pytest.raises(TypeError, match=r"from_type\(a_type, lax=True\)"):
        generate(model, tokenizer, "Say:", grammar=int, lax=True)


def test_a_bitmask_of_numpy_is_applied() -> None:
    torch = pytest.importorskip("torch")
    from pdacon.integrations.torch import apply_bitmask

    constraint = pdacon.compile(Grammar.from_choices(["yes", "no"]), Vocabulary.bytes())
    bitmask = constraint.new_bitmask(1)
    constraint.matcher().fill_bitmask(bitmask, 0)
    logits = torch.zeros(1, constraint.vocabulary.size)
    apply_bitmask(logits, bitmask)
    assert np.flatnonzero(np.isfinite(logits[0].numpy())).tolist() == [ord("n"), ord("y")]


UNMATCHED = """
start: "!" COLOUR | "!" ANY
COLOUR: /red|blue/
ANY.2: /[a-z]+/
"""


def test_a_terminal_that_is_never_matched_is_a_warning_of_compile() -> None:
    with pytest.warns(pdacon.GrammarWarning, match=r"3:1: COLOUR is never matched.*PDA010.*pdacon\.check") as caught:
        pdacon.compile(UNMATCHED, Vocabulary.bytes())
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize(
    "text",
    ['start: "a"', "start: A | NEVER\nA: /a/\nNEVER: /(?!)x/", 'start: A | B\nA: "a"\nB: /[a-z]+/'],
    ids=["nothing to say", "meant to match nothing", "a keyword"],
)
def test_other_grammars_are_compiled_in_silence(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pdacon.compile(text, Vocabulary.bytes())
