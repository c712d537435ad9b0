"""Structural tags against a reader that follows their documentation, and their messages."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from itertools import product
from random import Random
from typing import Any

import jsonschema
import pydantic
import pytest
from support.scaling import scaled
from support.structural_tags import (
    AFTER_A,
    ALPHABET,
    BALANCED,
    CALLS,
    FORMATS,
    IGNORING,
    LETTERS,
    LIST_OR_INTEGER,
    NESTED,
    NESTED_CALL,
    NESTED_CALLS,
    ONE,
    Format,
    any_text,
    const,
    grammar,
    random_format,
    regex,
    tag,
)

import pdacon
from pdacon import Grammar
from pdacon.errors import (
    EmptyLanguageError,
    GrammarWarning,
    PdaconError,
    UnsupportedGrammarError,
    UnsupportedSchemaError,
)
from pdacon.front.compiled import Compiled
from pdacon.front.stages import compiled


def ends_of(one: Format, text: str, at: int, ends: tuple[str, ...] = ()) -> set[int]:
    """Where a format that begins at a place of a text may end: each clause of the documentation, as it stands there."""
    rest = range(at, len(text) + 1)
    kind = one["type"]
    if kind == "const_string":
        return {at + len(one["value"])} if text.startswith(one["value"], at) else set()
    if kind == "regex":
        return {end for end in rest if re.fullmatch(one["pattern"], text[at:end])}
    if kind == "json_schema":
        return {end for end in rest if text[at:end] in map(json.dumps, one["json_schema"]["enum"])}
    if kind == "grammar":
        return {end for end in rest if nested(one["grammar"], text[at:end])}
    if kind == "any_text":
        stops = [*one.get("excludes", ()), *ends]
        short = one.get("max_chars", len(text))
        return {end for end in rest if end - at <= short and not any(stop in text[at:end] for stop in stops)}
    if kind == "sequence":
        return in_order(one["elements"], text, {at}, ends)
    if kind == "or":
        return {end for element in one["elements"] for end in ends_of(element, text, at, ends)}
    if kind in ("optional", "star", "plus", "repeat"):
        least, most = {"optional": (0, 1), "star": (0, -1), "plus": (1, -1)}.get(kind) or (one["min"], one["max"])
        found, here, count = ({at} if least == 0 else set()), {at}, 0
        while here and count <= len(text) + least and count != most:
            here = in_order([one["content"]], text, here, ends)
            count += 1
            found |= here if count >= least else set()
        return found
    if kind == "tag":
        begun = {at + len(one["begin"])} if text.startswith(one["begin"], at) else set()
        return behind_begin(one, text, begun)
    if kind == "tags_with_separator":
        return separated(one, text, at)
    rules: list[tuple[str, list[Format]]]
    if kind == "dispatch":
        rules, loop = [(stop, [inner]) for stop, inner in one["rules"]], one.get("loop", True)
        return dispatched(rules, one, text, {at}, (), loop, lambda inner, place: ends_of(inner, text, place, ends))
    assert kind == "triggered_tags"
    rules = [(stop, [tag for tag in one["tags"] if tag["begin"].startswith(stop)]) for stop in one["triggers"]]

    def tail(tag: Format, place: int) -> set[int]:
        stop = next(stop for stop, tags in rules if tag in tags)
        missing = tag["begin"][len(stop) :]
        return behind_begin(tag, text, {place + len(missing)} if text.startswith(missing, place) else set())

    loop = not one.get("stop_after_first", False)
    if not one.get("at_least_one"):
        return dispatched(rules, one, text, {at}, ends, loop, tail)
    first = {end for tag in one["tags"] for end in ends_of(tag, text, at)}
    return dispatched(rules, one, text, first, ends, loop, tail) if loop else first


def nested(grammar: str, text: str) -> bool:
    """Whether a text is a sentence of ``NESTED`` or ``BALANCED``."""
    size = len(text) // 2
    if grammar == NESTED:
        return len(text) % 2 == 1 and text == "a" * size + "1" + "b" * size
    return len(text) % 2 == 0 and size > 0 and text == "a" * size + ">" * size


def in_order(formats: list[Format], text: str, places: set[int], ends: tuple[str, ...]) -> set[int]:
    for one in formats:
        places = {end for place in places for end in ends_of(one, text, place, ends)}
    return places


def behind_begin(tag: Format, text: str, places: set[int]) -> set[int]:
    ends = (tag["end"],) if isinstance(tag["end"], str) else tuple(tag["end"])
    inner = in_order([tag["content"]], text, places, tuple(filter(None, ends)))
    return {place + len(end) for place in inner for end in ends if text.startswith(end, place)}


def separated(one: Format, text: str, at: int) -> set[int]:
    found = set() if one.get("at_least_one") else {at}
    here = {end for tag in one["tags"] for end in ends_of(tag, text, at)}
    while here - found:
        found |= here
        if one.get("stop_after_first"):
            break
        behind = {place + len(one["separator"]) for place in here if text.startswith(one["separator"], place)}
        here = {end for place in behind for tag in one["tags"] for end in ends_of(tag, text, place)}
    return found


def dispatched(
    rules: list[tuple[str, list[Format]]],
    one: Format,
    text: str,
    places: set[int],
    ends: tuple[str, ...],
    loop: bool,
    tail: Any,
) -> set[int]:
    """Free text up to the string that ends first, what has to come after that, and so on."""
    stops = [*(stop for stop, _ in rules), *one.get("excludes", ()), *ends]
    found: set[int] = set()
    pending = set(places)
    seen: set[int] = set()
    while pending:
        at = pending.pop()
        seen.add(at)
        for end in range(at, len(text) + 1):
            met = [stop for stop in stops if text[at:end].endswith(stop)]
            if not met:
                found.add(end)
                continue
            for stop, inner in rules:
                if stop in met:
                    behind = {place for one in inner for place in tail(one, end)}
                    if loop:
                        pending |= behind - seen
                    else:
                        found |= behind
            break
    return found


def texts(longest: int) -> list[str]:
    return ["".join(letters) for size in range(longest + 1) for letters in product(ALPHABET, repeat=size)]


def assert_same(one: Format, longest: int) -> None:
    grammar = Grammar.from_structural_tag({"type": "structural_tag", "format": one})
    constraints: list[Compiled] = [pdacon.compile(grammar, pdacon.Vocabulary.bytes())]
    if constraints[0].matcher()._is_nested():
        with suppress(UnsupportedGrammarError):  # on demand fewer tags are refused
            constraints.append(compiled(grammar.data, pdacon.Vocabulary.bytes()))
    for text in texts(longest):
        expected = len(text) in ends_of(one, text, 0)
        assert [constraint.accepts(text) == expected for constraint in constraints] == [True] * len(constraints), (
            text,
            one,
        )


NEVER = regex("(?!)a")
NO_TAG = tag("<b", {"type": "sequence", "elements": [NEVER, ONE]}, ">")
SOME_CALLS: Format = {"type": "triggered_tags", "triggers": ["<a", "<b"], "tags": [tag("<a", ONE, ">"), NO_TAG]}
WITH_IMPOSSIBLE_BRANCHES: dict[str, Format] = {
    "optional": {"type": "sequence", "elements": [{"type": "optional", "content": NEVER}, const("<")]},
    "star": {"type": "sequence", "elements": [{"type": "star", "content": NO_TAG}, const("<")]},
    "repeat": {"type": "sequence", "elements": [{"type": "repeat", "min": 0, "max": 3, "content": NEVER}, ONE]},
    "one of the triggers": SOME_CALLS,
    "one of the triggers, at least one": {**SOME_CALLS, "at_least_one": True},
    "one of the tags of a trigger": {**SOME_CALLS, "triggers": ["<"]},
    "all tags": {**SOME_CALLS, "triggers": ["<b"], "tags": [NO_TAG]},
    "separated": {"type": "tags_with_separator", "tags": [tag("<", ONE, ">"), NO_TAG], "separator": "b"},
    "separated, all": {"type": "tags_with_separator", "tags": [NO_TAG], "separator": "b"},
    "dispatch": {"type": "dispatch", "rules": [["<a", ONE], ["b", NEVER]]},
    "dispatch, all": {"type": "dispatch", "rules": [["b", NEVER]], "loop": False},
}


@pytest.mark.parametrize("name", WITH_IMPOSSIBLE_BRANCHES)
def test_branches_that_no_text_takes(name: str) -> None:
    """What remains is the same as if they were not there, and free text stops where they begin."""
    with pytest.warns(GrammarWarning, match="no text is matched by .*; so this alternative is left out"):
        assert_same(WITH_IMPOSSIBLE_BRANCHES[name], 5)


@pytest.mark.parametrize(
    "one",
    [
        {"type": "plus", "content": NEVER},
        {"type": "repeat", "min": 1, "max": 3, "content": NEVER},
        {"type": "triggered_tags", "triggers": ["<b"], "tags": [NO_TAG], "at_least_one": True},
        {"type": "tags_with_separator", "tags": [NO_TAG], "separator": "b", "at_least_one": True},
    ],
)
def test_no_text_where_one_has_to_be(one: Format) -> None:
    with pytest.raises(EmptyLanguageError, match="no text is matched by"):
        Grammar.from_structural_tag(one)


def test_special_tokens_of_branches_that_no_text_takes() -> None:
    opening = {"type": "token", "token": "<a>"}
    tags = [{"type": "tag", "begin": opening, "content": one, "end": "."} for one in (ONE, NEVER)]
    vocabulary = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None])
    vocabulary = vocabulary.with_special_tokens({"<a>": 256})

    def allowed(*given: Format, **flags: bool) -> bool:
        calls = {"type": "token_triggered_tags", "trigger_tokens": ["<a>"], "tags": list(given), **flags}
        with pytest.warns(GrammarWarning, match="so this alternative is left out"):
            grammar = Grammar.from_structural_tag(calls)
        return pdacon.compile(grammar, vocabulary).matcher().is_allowed(256)

    assert allowed(*tags)
    assert allowed(*tags, at_least_one=True)
    assert not allowed(tags[1])
    with pytest.raises(EmptyLanguageError):
        Grammar.from_structural_tag(
            {"type": "token_triggered_tags", "trigger_tokens": ["<a>"], "tags": [tags[1]], "at_least_one": True}
        )
    with pytest.warns(GrammarWarning, match="so this alternative is left out"):
        grammar = Grammar.from_structural_tag({"type": "token_dispatch", "rules": [["<a>", NEVER]]})
    assert not pdacon.compile(grammar, vocabulary).matcher().is_allowed(256)


@pytest.mark.parametrize(
    ("kind", "triggers"), [("triggered_tags", "triggers"), ("token_triggered_tags", "trigger_tokens")]
)
def test_at_least_one_of_no_tags(kind: str, triggers: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match="#/tags must be a list of tags that is not empty"):
        Grammar.from_structural_tag({"type": kind, triggers: [], "tags": [], "at_least_one": True})


@pytest.mark.parametrize("name", FORMATS)
def test_all_short_texts(name: str) -> None:
    assert_same(FORMATS[name], 6 if name in ("calls in free text", "a thought, then calls") else 5)


@pytest.mark.parametrize("seed", range(scaled(30)))
def test_random_formats(seed: int) -> None:
    """Whatever is not refused has the texts that the documentation says."""
    random = Random(seed)
    for _ in range(10):
        one = random_format(random, 3)
        try:
            assert_same(one, 4)
        except PdaconError:
            continue


WEATHER: Format = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}},
    "required": ["city"],
    "additionalProperties": False,
}
TIME: Format = {"type": "object", "properties": {"zone": {"enum": ["UTC", "CET"]}}, "required": ["zone"]}


def schema(one: Format) -> Format:
    return {"type": "json_schema", "json_schema": one}


AGENT: Format = {
    "type": "sequence",
    "elements": [
        tag("<think>", any_text(), "</think>"),
        {
            "type": "triggered_tags",
            "triggers": ["<function="],
            "tags": [
                tag("<function=weather>", schema(WEATHER), "</function>"),
                tag("<function=time>", schema(TIME), "</function>"),
            ],
        },
    ],
}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("<think>a < b</think>Nothing to call.", True),
        ('<think></think>I look. <function=weather>{"city": "Bern", "days": 3}</function> Done', True),
        ('<think>x</think><function=time>{"zone": "CET"}</function><function=weather>{"city": ""}</function>', True),
        ('<think></think>I look. <function=weather>{"city": "Bern", "days": 8}</function>', False),
        ('<think></think><function=time>{"zone": "CET"}', False),
        ("<think></think><function=sleep>", False),
        ("<think></think><functions>", True),
        ("no thought", False),
    ],
)
def test_calls_of_tools_in_free_text(text: str, fits: bool) -> None:
    assert Grammar.from_structural_tag(AGENT).accepts(text) == fits
    assert Grammar.from_structural_tag(json.dumps({"type": "structural_tag", "format": AGENT})).accepts(text) == fits


def test_samples_are_read_by_the_reader() -> None:
    """Free text and calls as the sampler writes them, arguments read by json and jsonschema."""
    for text in Grammar.from_structural_tag(AGENT).sample(40, seed=1):
        assert text.startswith("<think>")
        free = text.split("</think>", 1)[1]
        for name, arguments in re.findall(r"<function=(\w+)>(.*?)</function>", free, re.DOTALL):
            jsonschema.validate(json.loads(arguments), {"weather": WEATHER, "time": TIME}[name])


def test_tokens_reach_over_every_border() -> None:
    """Tokens that end one part and begin the next are allowed exactly where their bytes are."""
    tokens = [
        "</think>",
        "k></",
        "> <function=",
        "<fun",
        "=weather>{",
        "=weather>[",
        '"}</',
        "</function>",
        "e>x",
        "time",
        '{"city": "',
    ]
    vocabulary = pdacon.Vocabulary.from_tokens(
        [bytes([byte]) for byte in range(256)] + [one.encode() for one in tokens]
    )
    constraint = pdacon.compile(Grammar.from_structural_tag(AGENT), vocabulary)
    text = '<think>a</think> <function=weather>{"city": "B"}</function>x'
    matcher = constraint.matcher()
    for place, letter in enumerate(text):
        allowed = set(matcher.allowed_tokens())
        for number, one in enumerate(tokens, start=256):
            other = matcher.fork()
            assert (number in allowed) == other.accept_bytes(one.encode()), (text[:place], one)
        assert matcher.accept_bytes(letter.encode())


def test_what_vllm_writes() -> None:
    """The older form, with structures and triggers."""
    structures = [
        {"begin": "<function=weather>", "schema": WEATHER, "end": "</function>"},
        {"begin": "<function=time>", "schema": TIME, "end": "</function>"},
    ]
    old = {"type": "structural_tag", "structures": structures, "triggers": ["<function="]}
    grammar = Grammar.from_structural_tag(old)
    assert Grammar.from_structural_tag({key: old[key] for key in ("structures", "triggers")}).accepts("Hm.")
    for needed in (False, True):  # as SGLang writes it
        assert Grammar.from_structural_tag({**old, "at_least_one": needed}).accepts("Hm.") is not needed
    assert grammar.accepts('Hm. <function=time>{"zone": "UTC"}</function>')
    assert not grammar.accepts('Hm. <function=time>{"zone": "utc"}</function>')

    class Item(pydantic.BaseModel):
        """As XGrammar's StructuralTagItem."""

        begin: str
        schema_: Any = pydantic.Field(alias="schema")
        end: str

    of_objects = {"structures": [Item(**one) for one in structures], "triggers": ["<function="]}
    assert Grammar.from_structural_tag(of_objects).accepts('Hm. <function=time>{"zone": "UTC"}</function>')


def test_special_tokens_are_tokens_and_never_their_text() -> None:
    begin, end = ({"type": "token", "token": name} for name in ("<|call|>", "<|end|>"))
    one = {
        "type": "token_triggered_tags",
        "trigger_tokens": ["<|call|>"],
        "tags": [{"type": "tag", "begin": begin, "content": schema(TIME), "end": end}],
        "exclude_tokens": ["<|image|>"],
    }
    texts = [bytes([byte]) for byte in range(256)] + [None] * 4
    vocabulary = pdacon.Vocabulary.from_tokens(texts, eos_ids=[259]).with_special_tokens(
        {"<|call|>": 256, "<|end|>": 257, "<|image|>": 258}
    )
    matcher = pdacon.compile(Grammar.from_structural_tag(one), vocabulary).matcher()
    assert matcher.accept("Well, ")
    assert {256, 257, 258, 259} & set(matcher.allowed_tokens()) == {256, 259}
    assert matcher.accept_token(256)
    assert not matcher.accept("<|end|>")
    assert matcher.accept('{"zone": "UTC"}')
    assert matcher.allowed_tokens() == [257]
    assert matcher.accept_token(257)
    assert matcher.accept("<|call|> as text")
    assert matcher.is_accepting()


def test_any_order_is_any_order_of_what_the_schema_takes() -> None:
    """Members in each order; none missing that is required, none twice. Other schemas of the tag keep theirs."""
    both = {"type": "sequence", "elements": [tag("<a>", {**schema(WEATHER), "any_order": True}, "</a>"),
                                             tag("<b>", schema(WEATHER), "</b>")]}  # fmt: skip
    agent = Grammar.from_structural_tag(both)
    texts = ['{"city": "x"}', '{"city": "x", "days": 1}', '{"days": 1, "city": "x"}', '{"days": 1}', "{}",
             '{"city": "x", "city": "y"}', '{"days": 1, "days": 2, "city": "x"}']  # fmt: skip
    accepted = [(a, b) for a in texts for b in texts if agent.accepts(f"<a>{a}</a><b>{b}</b>")]
    assert accepted == [(a, b) for a in texts[:3] for b in texts[:2]]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        ({"type": "any_txt"}, "there is no format of the type 'any_txt'"),
        ({"type": "any_text", "exclude": ["a"]}, "#: there is no 'exclude' here"),
        ({"type": "sequence", "elements": [any_text(), {"type": "regex", "pattern": "(a"}]}, "#/elements/1/pattern: "),
        ({"type": "sequence", "elements": [{}]}, "#/elements/0 must be a format"),
        (tag("<a>", {"type": "json_schema", "json_schema": {"uniqueItems": True}}, "</a>"), "#/content/json_schema"),
        (tag("<a>", {**schema(TIME), "style": "xml"}, "</a>"), "#/content/style must be one of"),
        (tag("<a>", {**schema(TIME), "excludes": [""]}, "</a>"), "#/content/excludes/0 must be a text"),
        (any_text(max_tokens=3, excludes=["a"]), "max_chars"),
        (any_text(max_tokens=3, max_chars=3), "leave out one"),
        (any_text(max_tokens=100_000), "up to 32,768"),
        (tag("<a>", any_text(max_tokens=3), "</a>"), "let a special token end the tag"),
        ({"type": "sequence", "elements": [any_text(max_tokens=3), ONE]}, "which tokens are counted"),
        ({"type": "sequence", "elements": [any_text(max_tokens=3), any_text(max_tokens=1)]}, "which tokens are count"),
        ({"type": "or", "elements": [{"type": "exclude_token"}, ONE]}, "which tokens are counted"),
        (any_text(max_chars=1_000_000), "max_chars"),
        ({**CALLS, "triggers": ["<", "b"]}, "no tag begins with the trigger 'b'"),
        ({**CALLS, "triggers": ["<", "<a"]}, "2 triggers"),
        ({**CALLS, "triggers": ["<a"]}, "0 triggers"),
        ({**CALLS, "excludes": ["<a"]}, "has the other in it"),
        ({**CALLS, "excludes": ["<"]}, "is excluded"),
        ({**CALLS, "tags": [tag("<a", ONE, ">"), tag("<a", ONE, "b")]}, "make them one"),
        (tag("<", CALLS, "<"), "ends the tag"),
        ({"type": "sequence", "elements": [any_text(), schema(TIME)]}, "#/elements/0"),
        ({"type": "star", "content": {"type": "or", "elements": [grammar(NESTED), const("11")]}}, "may come both"),
        ({"type": "token", "token": -1}, "name or the id of a special token"),
        ({"type": "token", "token": True}, "name or the id of a special token"),
        ({"type": "any_tokens", "exclude_tokens": [True]}, "name or the id of a token"),
        ({"type": "repeat", "min": 3, "max": 2, "content": ONE}, "min and max"),
        ({"type": "or", "elements": []}, "not empty"),
        ({"type": "sequence"}, "#/elements is missing"),
        ({"type": "triggered_tags", "triggers": []}, "#/tags is missing"),
        ({"type": "triggered_tags", "tags": []}, "#/triggers is missing"),
        ({"type": "token_triggered_tags", "trigger_tokens": []}, "#/tags is missing"),
        ({"type": "token_triggered_tags", "tags": []}, "#/trigger_tokens is missing"),
        ({"type": "tags_with_separator", "separator": ","}, "#/tags is missing"),
        ({"type": "repeat", "min": 0, "max": 10**9, "content": const("a")}, "at most 1,000"),
        (const("\udfff"), "#/value must be a text without lone surrogates"),
        (any_text("\ud800"), "#/excludes/0 must be a text without lone surrogates"),
        ({**grammar(NESTED), "syntax": ["gbnf"]}, "#/syntax"),
        ({"type": "sequence", "elements": [LIST_OR_INTEGER, LIST_OR_INTEGER]}, "its end is not known"),
        ({"type": "repeat", "min": 2, "max": 2, "content": LIST_OR_INTEGER}, "its end is not known"),
        ({"type": "sequence", "elements": [LIST_OR_INTEGER, grammar(NESTED)]}, "its end is not known"),
        ({"type": "sequence", "elements": [grammar(LETTERS), grammar(LETTERS)]}, "its end is not known"),
        ({"type": "sequence", "elements": [IGNORING, const(" ")]}, "nobody knows where it ends"),
        ({"type": "sequence", "elements": [IGNORING, const(" (")]}, "what is ignored there might be the end"),
        ({"type": "or", "elements": [grammar(BALANCED), grammar(NESTED)]}, "have a text in common"),
        (
            {"type": "sequence", "elements": [NESTED_CALLS, {**NESTED_CALLS, "triggers": ["a"], "tags": AFTER_A}]},
            "alike",
        ),
    ],
)
def test_what_cannot_be_enforced_is_refused_with_its_place(one: Format, said: str) -> None:
    with pytest.raises((UnsupportedGrammarError, UnsupportedSchemaError)) as raised:
        Grammar.from_structural_tag(one)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (
            {**grammar('start: "a__b" "x"'), "syntax": "lark"},
            {**grammar('start: C "x"\nC: /a__[a-c]/'), "syntax": "lark"},
            '"a__b" of #/elements/0/grammar',
        ),
        (
            {**grammar('start: A__C "x"\nA__C: /a+/'), "syntax": "lark"},
            {**grammar("start: B__C\nB__C: /aa*/"), "syntax": "lark"},
            "B__C of #/elements/1/grammar and A__C of #/elements/0/grammar have a text",
        ),
    ],
)
def test_names_with_underscores_are_shown_whole(first: Format, second: Format, said: str) -> None:
    with pytest.raises(UnsupportedGrammarError) as raised:
        Grammar.from_structural_tag({"type": "or", "elements": [first, second]})
    assert said in str(raised.value)


def test_two_formats_that_the_next_text_keeps_apart() -> None:
    between = {"type": "sequence", "elements": [LIST_OR_INTEGER, const(";"), LIST_OR_INTEGER]}
    assert Grammar.from_structural_tag(between).accepts("[1, 2];11")
    ignoring = Grammar.from_structural_tag(tag("<", IGNORING, ">"))
    assert [ignoring.accepts(text) for text in ("<x 1 >", "<x (1)  >", "<x1>", "<x 1 x>")] == [True] * 3 + [False]


@pytest.mark.parametrize(
    "content",
    [
        {"type": "object", "properties": {}},
        {"type": "object"},
        {"type": "object", "properties": {"inner": {"$ref": "#"}}, "additionalProperties": False},
        {"anyOf": [{"type": "object"}, {"type": "integer"}]},
        True,
    ],
)
@pytest.mark.parametrize("end", ["}", "}}", "}]}", "} "])
def test_an_object_may_be_followed_by_what_it_ends_with(content: Any, end: str) -> None:
    """Of a recursive schema the outermost object ends elsewhere than the ones in it."""
    calls = {"type": "triggered_tags", "triggers": ["{"], "tags": [tag('{"arguments": ', schema(content), end)]}
    grammar = Grammar.from_structural_tag(calls)
    for inner in ("{}", '{"inner": {}}', '{"inner": {"inner": {}}}'):
        assert grammar.accepts(f'Well. {{"arguments": {inner}{end} So.')
        assert not grammar.accepts(f'{{"arguments": {inner}')
        assert not grammar.accepts(f'{{"arguments": {inner[:-1]}{end}')
        assert not grammar.accepts(f'{{"arguments": {inner[:-1]} {end}')


def test_texts_that_meet_are_named_by_examples() -> None:
    grammar = Grammar.from_structural_tag({"type": "sequence", "elements": [NESTED_CALL, NESTED_CALL]})
    assert grammar.explain("<1q").reason.endswith('expected (text such as "><") or (text such as ">")')


def test_what_is_no_structural_tag() -> None:
    with pytest.raises(UnsupportedGrammarError, match="# must be an object"):
        Grammar.from_structural_tag("[]")
    with pytest.raises(TypeError, match="dict or its JSON, not a list"):
        Grammar.from_structural_tag([])
    with pytest.raises(UnsupportedGrammarError, match="no JSON"):
        Grammar.from_structural_tag("<tool>")


def test_formats_that_lie_deep_in_one_another() -> None:
    one = ONE
    for _ in range(2_000):
        one = {"type": "optional", "content": one}
    with pytest.raises(UnsupportedGrammarError, match="more than 100 formats"):
        Grammar.from_structural_tag(one)


def test_an_artifact_is_the_same_constraint() -> None:
    constraint = pdacon.compile(Grammar.from_structural_tag(AGENT), pdacon.Vocabulary.bytes())
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes())
    assert loaded.accepts("<think></think>x")
    assert repr(loaded.grammar) == repr(constraint.grammar)


def test_an_alternative_that_no_text_matches_is_left_out() -> None:
    one = {"type": "const_string", "value": "1"}
    nothing = {"type": "regex", "pattern": "(?!)a"}
    never = {"type": "tag", "begin": "<", "content": {"type": "json_schema", "json_schema": False}, "end": ">"}
    tag = {"type": "structural_tag", "format": {"type": "or", "elements": [one, nothing, never]}}
    with pytest.warns(
        GrammarWarning, match=r"#/format/elements/\d.*: no .*; so this alternative is left out"
    ) as caught:
        grammar = Grammar.from_structural_tag(tag)
    assert len(caught) == 2
    assert [text for text in ("1", "a", "<", "<>") if grammar.accepts(text)] == ["1"]
    tag["format"] = {"type": "or", "elements": [nothing, never]}
    with pytest.raises(EmptyLanguageError, match="#/format/elements/0/pattern: no text is matched"):
        Grammar.from_structural_tag(tag)


def test_tags_in_lists_may_leave_out_their_type() -> None:
    """As XGrammar takes them: in a list of tags nothing else can be."""
    content = {"type": "json_schema", "json_schema": {"type": "integer"}}
    tag = {"begin": "<a>", "content": content, "end": "</a>"}
    texts = ["<a>1</a>", "", "x<a>1</a>y", "<a>1</a>,<a>2</a>", "<a>x</a>"]
    formats: list[dict[str, Any]] = [
        {"type": "triggered_tags", "triggers": ["<a"]},
        {"type": "tags_with_separator", "separator": ","},
    ]
    for outer in formats:
        short, whole = ({**outer, "tags": [one]} for one in (tag, {"type": "tag", **tag}))
        both = [pdacon.Grammar.from_structural_tag(given) for given in (short, whole)]
        assert len({str([grammar.accepts(text) for text in texts]) for grammar in both}) == 1
        assert both[0].accepts(texts[0])
    with pytest.raises(UnsupportedGrammarError, match=r"#/elements/0 must be a format"):
        pdacon.Grammar.from_structural_tag({"type": "sequence", "elements": [tag]})
