"""Structural tags for tests: what writes formats, formats of each type over a few letters, and random ones."""

from __future__ import annotations

from random import Random
from typing import Any

Format = dict[str, Any]
ALPHABET = "ab<>1"
NESTED = 'root ::= "a" root "b" | "1"'
BALANCED = 'root ::= "a" root ">" | "a>"'


def any_text(*excludes: str, **more: int) -> Format:
    return {"type": "any_text", "excludes": list(excludes), **more}


def tag(begin: str, content: Format, end: str | list[str]) -> Format:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def const(value: str) -> Format:
    return {"type": "const_string", "value": value}


def regex(pattern: str) -> Format:
    return {"type": "regex", "pattern": pattern}


def grammar(text: str) -> Format:
    return {"type": "grammar", "grammar": text}


ONE: Format = {"type": "json_schema", "json_schema": {"enum": [1, 11]}}
CALLS: Format = {"type": "triggered_tags", "triggers": ["<"], "tags": [tag("<a", ONE, ">"), tag("<b", any_text(), ">")]}

INTEGER: Format = {"type": "json_schema", "json_schema": {"type": "integer"}}
LIST_OR_INTEGER: Format = {"type": "json_schema", "json_schema": {"type": ["array", "integer"]}}
LETTERS = 'root ::= "(" root ")" | [ab]+'
IGNORING: Format = {
    "type": "grammar",
    "syntax": "lark",
    "grammar": 'start: "x" y*\ny: "(" y ")" | "1"\n%ignore " "\n',
}
NESTED_CALLS: Format = {
    "type": "triggered_tags",
    "triggers": ["<"],
    "tags": [tag("<", grammar(NESTED), ">"), tag("<b", grammar(BALANCED), "b")],
}

NESTED_CALL: Format = {"type": "triggered_tags", "triggers": ["<"], "tags": [tag("<", grammar(NESTED), ">")]}
AFTER_A = [tag("a", grammar(NESTED), ">")]

FORMATS: dict[str, Format] = {
    "calls that meet calls": {"type": "sequence", "elements": [NESTED_CALL, NESTED_CALL]},
    "calls again and again": {"type": "star", "content": NESTED_CALLS},
    "one call after another": {
        "type": "sequence",
        "elements": [{**NESTED_CALL, "stop_after_first": True}, {**NESTED_CALLS, "stop_after_first": True}],
    },
    "calls or calls": {"type": "or", "elements": [NESTED_CALL, NESTED_CALLS]},
    "a grammar twice, both optional": {
        "type": "repeat",
        "min": 0,
        "max": 2,
        "content": {"type": "optional", "content": grammar(NESTED)},
    },
    "grammars in two stars": {
        "type": "repeat",
        "min": 2,
        "max": 2,
        "content": {"type": "star", "content": grammar(NESTED)},
    },
    "thoughts, then a call": {
        "type": "sequence",
        "elements": [
            {"type": "star", "content": tag("<a", any_text(), ">")},
            tag("<b", grammar(NESTED), ">"),
        ],
    },
    "calls with grammars": NESTED_CALLS,
    "at least one with a grammar": {**NESTED_CALLS, "at_least_one": True},
    "one with a grammar": {**NESTED_CALLS, "stop_after_first": True},
    "calls with grammars in a tag": tag("1", NESTED_CALLS, "a"),
    "grammars in a row": {"type": "tags_with_separator", "tags": [tag("<", grammar(NESTED), "")], "separator": ">"},
    "a grammar behind free text": {"type": "sequence", "elements": [any_text("<"), const("<"), grammar(NESTED)]},
    "a grammar or a text": {"type": "or", "elements": [grammar(NESTED), const("b"), regex("<+")]},
    "a grammar repeated": {"type": "star", "content": grammar(NESTED)},
    "text in a tag": tag("<a>", any_text(), "<>"),
    "text in a tag that may end in two ways": tag("a", any_text(), ["b>", "1"]),
    "short text": tag("<", any_text(max_chars=2), "<b"),
    "calls in free text": CALLS,
    "at least one": {**CALLS, "at_least_one": True},
    "one at most": {**CALLS, "stop_after_first": True},
    "just one": {**CALLS, "at_least_one": True, "stop_after_first": True},
    "what must not be in the free text": {**CALLS, "excludes": ["a1"]},
    "a thought, then calls": {"type": "sequence", "elements": [tag("<", any_text(), ">"), CALLS]},
    "calls in a tag": tag("1", CALLS, "a"),
    "separated": {"type": "tags_with_separator", "tags": [tag("<", ONE, ">"), tag("a", ONE, "a")], "separator": "b"},
    "separated, one": {
        "type": "tags_with_separator",
        "tags": [tag("<", ONE, ">")],
        "separator": "",
        "at_least_one": True,
    },
    "dispatch": {"type": "dispatch", "rules": [["<a", ONE], ["1>", regex("a+b")]], "excludes": ["<<"]},
    "dispatch once": {"type": "dispatch", "rules": [["<a", ONE], ["b", const("1")]], "loop": False},
    "text up to what follows": {"type": "sequence", "elements": [any_text("<"), const("<"), ONE]},
    "text and something at its end": {"type": "sequence", "elements": [any_text(), const("<a")]},
    "a pattern that goes on, and an end": tag("<", regex("[a1]+"), "1>"),
    "or": {"type": "or", "elements": [const("a"), regex("a+<"), tag("b", ONE, "b")]},
    "optional": {"type": "sequence", "elements": [{"type": "optional", "content": ONE}, const("<")]},
    "plus": {"type": "plus", "content": tag("<", ONE, ">")},
    "star of what may be empty": {"type": "star", "content": {"type": "optional", "content": tag("<", ONE, ">")}},
    "repeat": {"type": "repeat", "min": 1, "max": 2, "content": tag("<", ONE, "")},
    "repeat without a bound": {"type": "repeat", "min": 2, "max": -1, "content": tag("<", ONE, "")},
    "an empty text": const(""),
    "a grammar before a text of its own": tag("<", grammar(NESTED), "b"),
    "a grammar before what it ends with": tag("<", grammar(BALANCED), ">"),
    "a grammar before its end twice": tag("<", grammar(BALANCED), ">>"),
    "one begin goes on to another": {**CALLS, "tags": [tag("<a", ONE, ">"), tag("<ab", ONE, ">")]},
}


def random_format(random: Random, depth: int) -> Format:
    """A format of any type, with short strings of the alphabet."""

    def word(least: int = 1) -> str:
        return "".join(random.choices(ALPHABET, k=random.randint(least, 2)))

    def inner() -> Format:
        return random_format(random, depth - 1)

    def some_tag() -> Format:
        return tag(word(), inner(), word() if random.random() < 0.8 else [word(), word()])

    kinds = ["const_string", "regex", "json_schema", "any_text", "grammar", "grammar"]
    if depth > 0:
        kinds += ["sequence", "or", "optional", "star", "plus", "repeat", "tag", "tag", "tag"]
        kinds += ["triggered_tags", "triggered_tags", "tags_with_separator", "dispatch"]
    kind = random.choice(kinds)
    flags = {key: True for key in ("at_least_one", "stop_after_first") if random.random() < 0.3}
    excludes = {"excludes": [word()]} if random.random() < 0.3 else {}
    if kind == "const_string":
        return const(word(0))
    if kind == "regex":
        return regex(random.choice(["[ab]+", "1?a", "<*", "a|ab", "[^<]+", "(?:ab)*1"]))
    if kind == "json_schema":
        return ONE
    if kind == "grammar":
        return grammar(random.choice([NESTED, BALANCED]))
    if kind == "any_text":
        return {"type": kind, **excludes, **({"max_chars": random.randint(0, 3)} if random.random() < 0.2 else {})}
    if kind in ("sequence", "or"):
        return {"type": kind, "elements": [inner() for _ in range(random.randint(1, 3))]}
    if kind in ("optional", "star", "plus"):
        return {"type": kind, "content": inner()}
    if kind == "repeat":
        least = random.randint(0, 2)
        return {"type": kind, "min": least, "max": random.choice([-1, least, least + 1]), "content": inner()}
    if kind == "tag":
        return some_tag()
    if kind == "tags_with_separator":
        return {"type": kind, "tags": [some_tag()], "separator": word(0), **flags}
    if kind == "dispatch":
        return {"type": kind, "rules": [[word(), inner()]], "loop": random.random() < 0.7, **excludes}
    tags = [some_tag() for _ in range(random.randint(1, 2))]
    triggers = list(dict.fromkeys(one["begin"][: random.randint(1, 2)] for one in tags))
    return {"type": kind, "triggers": triggers, "tags": tags, **flags, **excludes}
