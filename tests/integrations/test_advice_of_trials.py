"""What users tried first, and what they are told: the way out stands in the message."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

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


def test_a_processor_takes_one_constraint() -> None:
    from pdacon.integrations.huggingface import PDALogitsProcessor

    grammar = Grammar.from_lark('start: "a"')
    with pytest.raises(TypeError, match=r"give pdacon\.compile\(grammar, tokenizer=tokenizer, model=model\)"):
        PDALogitsProcessor(grammar, object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="by name"):
        PDALogitsProcessor(pdacon.compile(grammar, Vocabulary.bytes()), object())


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


def test_a_text_that_is_cut_within_blanks_is_told_so() -> None:
    """More tokens would be more blanks."""
    model, tokenizer = load_tiny()
    grammar = 'start: / {90}/ "a"\n'
    with pytest.warns(pdacon.IncompleteWarning, match="at its end are 30 blanks or more: take a grammar that does not"):
        generate(model, tokenizer, "x", grammar, temperature=0, max_tokens=30, eos_token_id=0)


FOLDED = """
start: "if" NAME
     | NAME
NAME: /[a-z]+/
%ignore " "
"""


def test_notes_that_need_no_repair_have_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pdacon.cli import main

    file = tmp_path / "words.lark"
    file.write_text(FOLDED)
    assert main(["check", str(file)]) == 0
    short = capsys.readouterr().out
    assert main(["check", str(file), "--all"]) == 0
    whole = capsys.readouterr().out
    (finding,) = [one for one in pdacon.check(FOLDED).findings if one.id == "PDA011"]
    assert f"note[PDA011]: {finding.title}\n    No repair is needed of this one" in short
    assert "repair: none is needed if they may be read so" in whole
    assert "repair: none is needed" not in short
    assert short.splitlines()[-1] == whole.splitlines()[-1]
