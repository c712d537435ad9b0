"""Blanks between values: all patterns of blanks of small values against a policy's own definition, and real layouts."""

from __future__ import annotations

import itertools
import json
import re
from random import Random
from typing import Any

import jsonschema
import pytest
from support.on_demand import WORDS, both, compare
from support.real_vocabularies import coded

import pdacon
from pdacon import Grammar, Spelling, Vocabulary

GAPS = ["", " ", "  ", "\n", "\n ", "\n   ", "\n\t", "\n\t\t", "\n\n", " \n", "\t", "\r\n", "\n \t"]
SIGN = re.compile(r'"[^"]*"|[0-9a-z]+|[\[\]{},:]')
OBJECT = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": "integer"}, "maxItems": 2}, "b": {"const": True}},
    "required": ["a"],
    "additionalProperties": False,
}
VALUES: list[Any] = [{"a": []}, {"a": [1]}, {"a": [1, 2]}, {"a": [], "b": True}, {"b": True}, {}, {"a": [1, 2, 3]}]
POLICIES = {
    "usual": (Spelling(whitespace="usual", max_blanks=4), {"inside": r"( |\n\t?|\n {0,4})?"}),
    "usual, 64": (Spelling(whitespace="usual"), {"inside": r"( |\n\t{0,16}|\n {0,64})?"}),
    "pattern": (Spelling(whitespace="any", whitespace_pattern=r" ?\n?"), {"all": r" ?\n?"}),
    "outlines": (Spelling(whitespace="any", whitespace_pattern="[ ]?"), {"all": " ?"}),
    "any": (Spelling(whitespace="any", max_blanks=2), {"all": r"[ \t\r\n]{0,2}"}),
}


def allows(policy: dict[str, str], before: str, gap: str, after: str) -> bool:
    """Whether blanks may stand between two signs, by what the policy says in words."""
    if not (before in "[{,:" or after in "]},:"):
        return gap == ""
    if "all" in policy:
        # Between two signs, as in `]}`, there are blanks before the second one only, but around commas on both sides.
        return re.fullmatch(policy["all"], gap) is not None
    if after in ",:":
        return gap == ""
    return re.fullmatch(" ?" if before == ":" else policy["inside"], gap) is not None


@pytest.mark.parametrize("name", POLICIES)
def test_all_blanks_of_small_values(name: str) -> None:
    spelling, policy = POLICIES[name]
    grammar = Grammar.from_json_schema(OBJECT, spelling)
    accepts = pdacon.compile(grammar, Vocabulary.bytes()).accepts
    validator = jsonschema.Draft202012Validator(OBJECT)
    taken = 0
    for value in VALUES:
        signs = SIGN.findall(json.dumps(value))
        base = [" " if one == ":" else "" for one in signs[:-1]]
        if name in ("pattern", "outlines", "any"):
            base = [""] * len(base)
        places = range(len(base))
        for chosen in [*itertools.combinations(places, 1), *list(itertools.combinations(places, 2))[::3]]:
            for gaps in itertools.product(GAPS, repeat=len(chosen)):
                blanks = list(base)
                for place, gap in zip(chosen, gaps, strict=True):
                    blanks[place] = gap
                text = "".join(sign + gap for sign, gap in zip(signs, [*blanks, ""], strict=True))
                fits = all(
                    allows(policy, before, gap, after)
                    for (before, after), gap in zip(itertools.pairwise(signs), blanks, strict=True)
                )
                expected = fits and validator.is_valid(json.loads(text))
                assert accepts(text) == expected, (text, fits)
                taken += expected
    assert taken > 100


LAYOUTS: list[dict[str, Any]] = [
    {}, {"separators": (",", ":")}, {"indent": 0}, {"indent": 1}, {"indent": 2}, {"indent": 4}, {"indent": "\t"},
]  # fmt: skip


@pytest.mark.parametrize("words", ["tekken", "SentencePiece"])
def test_every_usual_layout_is_taken_token_by_token(words: str) -> None:
    value = {"a": [], "b": {"x": [1, [True, {}]], "y": None}, "c": [{"d": "e"}, {"d": "f, g: {"}]}
    coding = coded(words)
    constraint = pdacon.compile(Grammar.from_json_schema({}, Spelling(whitespace="usual")), coding.vocabulary)
    for layout in LAYOUTS:
        text = json.dumps(value, **layout)
        matcher = constraint.matcher()
        assert all(map(matcher.accept_token, coding.encode_inside(text))), text
        assert matcher.is_accepting()


@pytest.mark.parametrize("seed", range(3))
def test_no_model_writes_blanks_for_ever(seed: int) -> None:
    """A model that writes blanks whenever it may: after 65 of them there is none that it may."""
    coding, random = coded("tekken"), Random(seed)
    constraint = pdacon.compile(Grammar.from_json_schema({}, Spelling(whitespace="usual")), coding.vocabulary)
    tokens = coding.vocabulary.tokens
    blank = [token for token, spelt in enumerate(tokens) if spelt and not spelt.strip(b" \t\r\n")]
    matcher, in_a_row = constraint.matcher(), 0
    assert matcher.accept_bytes(b"[")
    for _ in range(40):
        allowed = [token for token in blank if matcher.is_allowed(token)]
        if allowed:
            token = random.choice(sorted(allowed, key=lambda one: -len(tokens[one] or b""))[:3])
            in_a_row += len(tokens[token] or b"")
        else:
            token = tokens.index(b"[")
            in_a_row = 0
        assert in_a_row <= 65
        assert matcher.accept_token(token)


@pytest.mark.parametrize("seed", range(4))
def test_masks_on_demand_are_those_of_the_whole(seed: int) -> None:
    made = both(OBJECT if seed % 2 else {"type": "object"}, WORDS, Spelling(whitespace="usual", max_blanks=8))
    assert made is not None
    assert compare(*made, Random(seed), 60) > 5


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"whitespace_pattern": " "}, 'goes with the whitespace "any"'),
        ({"whitespace": "any", "max_blanks": 3, "whitespace_pattern": " "}, "says itself how many"),
        ({"whitespace": "any", "whitespace_pattern": "x"}, "something else than blanks"),
        ({"whitespace": "any", "whitespace_pattern": r"\s?"}, "something else than blanks"),
        ({"whitespace": "any", "whitespace_pattern": "[ ]*"}, "for ever"),
        ({"whitespace": "any", "whitespace_pattern": " $"}, "depends on what stands beside it"),
        ({"whitespace": "any", "whitespace_pattern": "("}, "whitespace_pattern: "),
        ({"whitespace": "any", "whitespace_pattern": "[ ]{0,5000}"}, "whitespace_pattern: "),
        ({"whitespace": "any", "separators": (",", ":")}, "blanks are fixed"),
        ({"separators": (";", ":")}, "a comma and a colon"),
        ({"separators": ","}, "a comma and a colon"),
        ({"whitespace": "model"}, "whitespace is"),
        ({"max_blanks": -1}, "max_blanks"),
    ],
)
def test_what_is_no_policy_of_blanks_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Spelling(**options)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ":"), (" ,", " : "), (",\n", ":\t")])
def test_separators_as_json_dumps_takes_them(separators: tuple[str, str]) -> None:
    value = {"a": [1, 2], "b": True}
    others = json.dumps(value)
    for given in (OBJECT, {"const": value}, {}):
        accepts = Grammar.from_json_schema(given, Spelling(separators=separators)).accepts
        assert accepts(json.dumps(value, separators=separators))
        assert not accepts(others)
    indented = Grammar.from_json_schema(OBJECT, Spelling(whitespace="indent", separators=separators)).accepts
    assert indented(json.dumps(value, separators=separators, indent=2))


@pytest.mark.parametrize(
    "spelling",
    [
        Spelling(whitespace="usual"),
        Spelling(whitespace="any", whitespace_pattern=" {2}"),
        Spelling(whitespace="any", max_blanks=0),
        Spelling(separators=(" ,", ":")),
        Spelling(whitespace="indent", separators=(", ", " : ")),
    ],
)
def test_values_of_types_are_written_as_they_are_read(spelling: Spelling) -> None:
    grammar = Grammar.from_type(dict[str, list[int]], spelling=spelling)
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    for value in ({}, {"a": []}, {"a": [1, 2], "b": [3]}):
        text = grammar.write(value)
        assert constraint.accepts(text), text
        assert constraint.parse(text) == value
