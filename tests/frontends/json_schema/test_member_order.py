"""In which order members come: every order of small objects against ``jsonschema``, in both forms, and masks too."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.on_demand import WORDS, both, compare, forms
from support.scaling import scaled

import pdacon
from pdacon import Budget, Grammar, Spelling, UnsupportedSchemaError, Vocabulary
from pdacon.front.stages import compiled
from pdacon.frontends.json_schema.exploring import Explorer

BYTES = Vocabulary.bytes()
ANY = Spelling(order="any")
NAMES = ["a", "b", "c", "d"]
OBJECTS: list[dict[str, Any]] = [
    dict(zip(some, values, strict=True))
    for size in range(4)
    for some in itertools.combinations(NAMES, size)
    for values in itertools.product([1, "x"], repeat=size)
]
FULL = [dict(zip(NAMES, values, strict=True)) for values in itertools.product([1, "x"], repeat=4)]


def listing(random: Random, one: Any = 1) -> dict[str, Any]:
    names = random.sample(NAMES, random.randrange(1, 4))
    values: list[Any] = [True, {"const": one}, {"type": "string"}, {"enum": [one, "x"]}]
    node: dict[str, Any] = {"properties": {name: random.choice(values) for name in names}}
    if random.random() < 0.5:
        node["required"] = random.sample(NAMES, random.randrange(1, 3))
    if random.random() < 0.25:
        node["additionalProperties"] = random.choice([False, {"const": one}])
    return node


def random_schema(random: Random, one: Any = 1) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "object"}
    if random.random() < 0.6:
        node |= listing(random, one)
    node |= random.choice([
        lambda: {"anyOf": [listing(random, one) for _ in range(random.randrange(2, 4))]},
        lambda: {"oneOf": [listing(random, one) for _ in range(random.randrange(2, 4))]},
        lambda: {"if": listing(random, one), "then": listing(random, one), "else": listing(random, one)},
        lambda: {"dependentSchemas": {random.choice(NAMES): listing(random, one)}},
        lambda: {"allOf": [listing(random, one), listing(random, one)]},
        lambda: {"patternProperties": {random.choice(["^(b|a)$", "^[ac]$"]): random.choice([{"const": one}, {}])}},
        lambda: {"not": listing(random, one)},
    ])()  # fmt: skip
    if random.random() < 0.2:
        node["dependentRequired"] = {random.choice(NAMES): [random.choice(NAMES)]}
    if random.random() < 0.15:
        node["unevaluatedProperties"] = False
    return node


def lists_of(node: Any) -> Iterator[Sequence[str]]:
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield list(node["properties"])
        for part in node.values():
            yield from lists_of(part)
    elif isinstance(node, list):
        for part in node:
            yield from lists_of(part)


def agree(lists: Sequence[Sequence[str]]) -> bool:
    """Whether some order of all names is one of each list."""
    return any(
        all(list(names) == sorted(names, key=order.index) for names in lists) for order in itertools.permutations(NAMES)
    )


def without_broken_lists(node: Any, order: Sequence[str]) -> Any:
    """A schema in which no object satisfies the schemas whose properties do not come in order."""
    if isinstance(node, list):
        return [without_broken_lists(part, order) for part in node]
    if not isinstance(node, dict):
        return node
    changed = {
        key: {name: without_broken_lists(part, order) for name, part in value.items()}
        if key == "dependentSchemas"
        else value
        if key in ("properties", "patternProperties")
        else without_broken_lists(value, order)
        for key, value in node.items()
    }
    listed = [name for name in node.get("properties", ()) if name in order]
    return {"allOf": [changed, False]} if listed != sorted(listed, key=order.index) else changed


@pytest.mark.parametrize("first", range(0, 12 * scaled(5), 12))
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_every_order_of_small_objects(first: int) -> None:
    for seed in range(first, first + 12):
        random = Random(seed)
        schema = random_schema(random)
        valid = Draft202012Validator(schema).is_valid
        in_agreement = agree(list(lists_of(schema)))
        for order in ("any", "schema"):
            try:
                grammar = Grammar.from_json_schema(schema, Spelling(order=order))
            except pdacon.EmptyLanguageError:
                assert not any(map(valid, OBJECTS))
                continue
            made, whole = forms(grammar, BYTES)
            for value in random.sample(OBJECTS, 25):
                for names in itertools.permutations(value):
                    text = json.dumps({name: value[name] for name in names})
                    taken = made.accepts(text)
                    assert whole.accepts(text) == taken, (schema, text)
                    if order == "any":
                        assert taken == valid(value), (schema, text)
                    elif in_agreement:
                        asked = without_broken_lists(schema, names)
                        expected = valid(value) and Draft202012Validator(asked).is_valid(value)
                        assert taken == expected, (schema, text)
                    else:
                        assert not taken or valid(value), (schema, text)


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_masks_are_the_same_as_a_whole(order: Any, seed: int) -> None:
    for case in range(6):
        random = Random(100 * seed + case)
        try:
            made = both(random_schema(random, "y"), WORDS, Spelling(order=order))
        except pdacon.EmptyLanguageError:
            continue
        if made is not None:
            compare(*made, random, 40)


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_masks_allow_what_valid_texts_go_on_with(seed: int) -> None:
    """Of closed objects of few values all valid texts are known, and so what may come behind each beginning."""
    random = Random(seed)
    values = [{"const": 1}, {"enum": [1, "x"]}]
    schema = {
        "type": "object",
        "properties": {name: random.choice(values) for name in NAMES},
        "additionalProperties": False,
        random.choice(["anyOf", "oneOf"]): [
            {"properties": {random.choice(NAMES): {"const": 1}}, "required": random.sample(NAMES, 2)} for _ in range(2)
        ],
    }
    valid = Draft202012Validator(schema).is_valid
    texts = [
        json.dumps({name: value[name] for name in names}).encode()
        for value in [*OBJECTS, *FULL]
        if valid(value)
        for names in itertools.permutations(value)
    ]
    allowed: dict[bytes, set[int]] = {}
    for text in texts:
        for cut in range(len(text)):
            allowed.setdefault(text[:cut], set()).add(text[cut])
    constraint = pdacon.compile(Grammar.from_json_schema(schema, ANY), BYTES)
    for beginning in random.sample(sorted(allowed), min(len(allowed), 150)):
        matcher = constraint.matcher()
        assert matcher.accept_bytes(beginning)
        assert matcher.is_accepting() == (beginning in texts)
        assert {token for token in matcher.allowed_tokens() if token < 256} == allowed[beginning], (schema, beginning)


NO_ORDER: list[tuple[Any, str]] = [
    ({"patternProperties": {"^(windows|macos|linux)$": {}}}, '{"windows": 1, "linux": 2, "macos": 3}'),
    ({"patternProperties": {"^IO[0-9]$": {"type": "integer"}}}, '{"IO7": 1, "IO3": 2}'),
    ({"properties": {"a": {}}, "required": ["b", "a"]}, '{"b": 1, "a": 2}'),
    ({"dependentSchemas": {"t": {"properties": {"a": {}}, "required": ["a"]}}}, '{"t": 1, "a": 2}'),
    ({"dependentSchemas": {"t": {"properties": {"a": {}}, "required": ["a"]}}}, '{"a": 2, "t": 1}'),
    ({"if": {"required": ["k"]}, "then": {"properties": {"a": {"type": "integer"}}}}, '{"k": 1, "a": 2}'),
    ({"if": {"properties": {"k": {"const": 1}}}, "then": {"properties": {"a": {}}}}, '{"a": 2, "k": 1}'),
    (
        {"oneOf": [{"properties": {"t": {"const": one}, **{name: {} for name in names}}, "required": ["t"]}
                   for one, names in (("p", "abc"), ("q", "d"))]},
        '{"t": "q", "c": 1, "d": 2, "a": 3}',
    ),
    ({"anyOf": [{"properties": {"given": {}, "name": {}}, "required": ["name"]},
                {"properties": {"name": {}}, "required": ["name"]}]}, '{"name": 1, "given": 2}'),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "text"), NO_ORDER)
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_no_order_is_asked_for_that_no_schema_has(schema: Any, text: str) -> None:
    assert Draft202012Validator(schema).is_valid(json.loads(text))
    grammar = Grammar.from_json_schema({"type": "object", **schema})
    assert pdacon.compile(grammar, BYTES).accepts(text)
    assert compiled(grammar.data, BYTES).accepts(text)


def test_an_alternative_asks_for_its_own_order() -> None:
    some = [
        {"properties": {"t": {"const": one}, **{name: {} for name in names}}, "required": ["t"]}
        for one, names in (("p", "abc"), ("q", "de"))
    ]
    made = pdacon.compile(Grammar.from_json_schema({"type": "object", "oneOf": some}), BYTES)
    assert made.accepts('{"t": "p", "a": 1, "c": 2}')
    assert made.accepts('{"t": "p", "e": 0, "a": 1, "d": 0, "c": 2}')
    assert not made.accepts('{"t": "p", "c": 2, "a": 1}')
    assert not made.accepts('{"a": 1, "t": "p"}')


def many(count: int) -> dict[str, Any]:
    names = [f"name_{k}" for k in range(count)]
    return {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": names[::3],
        "additionalProperties": False,
    }


def test_any_number_of_names_in_any_order() -> None:
    schema = many(150)
    constraint = pdacon.compile(Grammar.from_json_schema(schema, ANY), WORDS)
    names = list(schema["properties"])
    Random(1).shuffle(names)
    text = json.dumps(dict.fromkeys(names, 1))
    matcher = constraint.matcher()
    for character in text:
        matcher.allowed_mask()
        assert matcher.accept(character)
    assert matcher.is_accepting()
    assert not constraint.accepts(text[:-1] + ', "name_7": 1}')
    assert not constraint.accepts('{"name_1": 1}')
    assert constraint.accepts(json.dumps(dict.fromkeys(schema["required"][::-1], 1)))
    matcher = constraint.matcher()
    assert matcher.accept(json.dumps(dict.fromkeys(sorted(set(schema["required"]) - {"name_9"}), 1))[:-1] + ', "')
    assert matcher.forced_bytes() == b"name_"
    assert matcher.accept("name_9")
    assert matcher.forced_bytes() == b""  # name_91 and others begin like it


def test_what_needs_a_whole_of_many_names_says_so() -> None:
    constraint = pdacon.compile(Grammar.from_json_schema(many(40), ANY), WORDS)
    matcher = constraint.matcher()
    assert matcher.accept('{"name_3": 1, "name_1": 2, "')
    why = r'^#: as a whole it takes more than 50,000 productions, since members come in any .*order="schema"(\n|$)'
    for ask in (matcher.shortest_completion, constraint.to_bytes, lambda: constraint.matcher(budget=Budget(tokens=99))):
        with pytest.raises(UnsupportedSchemaError, match=why):
            ask()
    assert matcher.accept("name_0")  # and goes on as it was


def test_a_limit_bounds_what_a_text_visits() -> None:
    constraint = pdacon.compile(Grammar.from_json_schema(many(60), ANY), WORDS, limits=pdacon.Limits(states=300))
    matcher = constraint.matcher()
    text = json.dumps(dict.fromkeys(many(60)["properties"], 1))

    def read() -> None:
        for character in text:
            assert matcher.accept(character)

    with pytest.raises(pdacon.LimitExceededError, match="states"):
        read()


def test_alternatives_in_any_order_are_refused_as_a_whole() -> None:
    some = [{"properties": {f"p{k}": {"type": "integer"}}, "required": [f"p{k}"]} for k in range(40)]
    grammar = Grammar.from_json_schema({"type": "object", "anyOf": some})
    made = pdacon.compile(grammar, BYTES)
    assert made.accepts(json.dumps({f"p{k}": "x" if k else 1 for k in reversed(range(40))}))
    assert not made.accepts(json.dumps({f"p{k}": "x" for k in reversed(range(40))}))
    with pytest.raises(UnsupportedSchemaError, match="40 alternatives, such as #/anyOf/0"):
        made.to_bytes()


def test_what_some_orders_alone_come_to_is_refused_beforehand() -> None:
    """Before `b` has come, the second alternative asks for the members of `a` to be counted."""
    counted = {"properties": {"a": {"maxProperties": 1}, "b": {"type": "null"}}, "required": ["b"]}
    schema = {"properties": {"b": {"type": "string"}}, "oneOf": [True, counted]}
    for order in ("any", "schema"):
        with pytest.raises(
            pdacon.UnsupportedSchemaError, match="2 members or more cannot be told where names are free"
        ):
            Grammar.from_json_schema(schema, spelling=Spelling(order=order))


def told_by_type(random: Random, count: int) -> dict[str, Any]:
    """A schema of objects whose ``type``, at any place, says which names are asked for, each list in its order."""
    lists = [random.sample([f"n{k}" for k in range(count)], random.randrange(2, count)) for _ in range(2)]
    of_lists: list[dict[str, Any]] = [
        {"properties": {name: {"enum": [1, "x"][: random.randrange(1, 3)]} for name in names}, "required": names}
        for names in lists
    ]
    of_others = {"if": {"properties": {"type": {"enum": ["b"]}}}, "then": of_lists[1], "else": {}}
    node = {"if": {"properties": {"type": {"enum": ["a"]}}}, "then": of_lists[0], "else": of_others}
    return {"properties": {"type": {"enum": ["a", "b"]}}, "required": ["type"], **node}


@pytest.mark.parametrize("seed", range(8 * scaled(5)))
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_a_member_that_tells_which_names_come(seed: int) -> None:
    random = Random(seed)
    made = both(told_by_type(random, 5), WORDS)
    assert made is not None
    for _ in range(3):
        compare(*made, random, 60)


def test_names_that_lead_nowhere_cost_no_search_of_all_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a name that comes too early, all orders of the others lead nowhere; ``type`` alone tells that."""
    asked = 0
    plainly_possible = Explorer.plainly_possible

    def counted(explorer: Explorer, question: int) -> bool:
        nonlocal asked
        asked += 1
        return plainly_possible(explorer, question)

    monkeypatch.setattr(Explorer, "plainly_possible", counted)
    compiled_schema = pdacon.compile(Grammar.from_json_schema(told_by_type(Random(3), 14)), WORDS)
    compiled_schema.matcher().allowed_tokens()
    assert asked < 500
