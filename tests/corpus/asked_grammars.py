"""Lists the grammars that `answers.py` asks about: each by a name, with what makes it and with its vocabulary.

In: how many of each kind. Out: `Asked` by name. Whatever is chosen at random is chosen by a seed, so that two versions
of pdacon are asked about the same grammars. Only public names of pdacon are used.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from corpus.reading import read
from corpus.registry import ENTRIES, Entry
from fuzz.making import Shares, make_case
from support import gbnf_grammars, json_schemas, llguidance_grammars, random_types, structural_tags
from support.real_vocabularies import coded

from pdacon import Grammar, Spelling, Vocabulary
from pdacon.grammar.builtin import builtin_names

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Real JSON Schemas, where a checkout has them beside it."""
DUMPS = Path(__file__).resolve().parents[1] / "frontends" / "structural_tag_dumps" / "dumps.json"
"""The tags that XGrammar makes for models."""
OPTIONS = {"conflicts": "shift", "lookahead": "commit"}


@dataclass(frozen=True)
class Asked:
    """A grammar to ask about.

    Attributes
    ----------
    load
        Makes it.
    source
        What it is made from, as text: if that differs, answers cannot be compared.
    load_instead
        Makes the grammar that is asked about where `load` refuses.
    starts
        Its start rules; None: those that its options name.
    limits
        Keyword arguments of ``pdacon.Limits``.
    has_values
        Whether the texts stand for values that pdacon reads.
    """

    load: Callable[[], Grammar]
    source: str
    vocabulary: Callable[[], Vocabulary] = lambda: coded("SentencePiece").vocabulary
    load_instead: Callable[[], Grammar] | None = None
    starts: list[str] | None = None
    limits: dict[str, Any] = field(default_factory=dict)
    has_values: bool = False


AskedByName: TypeAlias = Iterator[tuple[str, Callable[[], Asked]]]


def corpus(count: int) -> AskedByName:
    """The built-in grammars, and grammars that other packages install."""
    return islice(_corpus(), count)


def _corpus() -> AskedByName:
    for name in builtin_names():
        yield name, partial(_builtin, name)
    for entry in ENTRIES:
        if entry.stock_loads:
            yield entry.name, partial(_of_corpus, entry)


def _builtin(name: str) -> Asked:
    return Asked(lambda: Grammar.builtin(name), name)


def _of_corpus(entry: Entry) -> Asked:
    source = read(entry)
    needs = {need: OPTIONS[need] for need in entry.needs}
    return Asked(lambda: Grammar.from_lark(source.text, **source.options, **needs), source.text)


def random_grammars(count: int) -> AskedByName:
    """Random grammars in Lark's language, as the fuzzer makes them, each with a small vocabulary."""
    for number in range(count):
        name = f"random {number}"
        yield name, partial(_at_random, name)


def _at_random(name: str) -> Asked:
    case = make_case(f"answers:{name}", Shares())
    if "seconds" in case.limits:
        case = case.but(limits={})
    return Asked(case.load, case.to_json(), case.vocabulary, starts=case.starts, limits=case.limits)


SPELLINGS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"spelling": {"whitespace": "any"}},
    {"closed": True},
    {"spelling": {"whitespace": "indent", "escapes": "ascii"}},
    {"spelling": {"whitespace": "compact", "order": "any", "numbers": "canonical"}},
    {"formats": False, "spelling": {"escapes": "any"}},
)
"""Options of ``Grammar.from_json_schema``; schemas take them in turn."""


def schemas(count: int) -> AskedByName:
    """Real JSON Schemas: as many of each collection, as far as it has them. What is refused is asked about as lax."""
    for number, (name, text) in enumerate(islice(_real_schemas(), count)):
        given = dict(SPELLINGS[number % len(SPELLINGS)])
        yield f"schema {name}", partial(_of_schema, text, given)


def _of_schema(text: str, given: dict[str, Any]) -> Asked:
    schema = json.loads(text)
    options = {**given, "spelling": Spelling(**given["spelling"])} if "spelling" in given else given
    return Asked(
        lambda: Grammar.from_json_schema(schema, **options),
        json.dumps([text, given], sort_keys=True),
        load_instead=lambda: Grammar.from_json_schema(schema, lax=True, **options),
        has_values=True,
    )


def _real_schemas() -> Iterator[tuple[str, str]]:
    """A schema of each collection in turn, none twice."""
    taken: set[str] = set()
    paths = [*sorted((DATA / "maskbench").glob("*.gz")), *sorted((DATA / "json_schema_test_suite").glob("*.gz"))]
    collections = []
    for path in paths:
        rows = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
        texts = [(f"{path.name.partition('.jsonl')[0]} {number}", row) for number, row in enumerate(rows)]
        Random(path.name).shuffle(texts)
        collections.append(iter(texts))
    while collections:
        for collection in list(collections):
            for name, row in collection:
                text = json.dumps(json.loads(row)["schema"])
                if text not in taken:
                    taken.add(text)
                    yield name, text
                    break
            else:
                collections.remove(collection)


def notations(count: int) -> AskedByName:
    """Texts in GBNF, XGrammar's EBNF and llguidance's language: those that tests have, then random ones in turn."""
    for name, (make, text) in islice(_texts(), count):
        yield name, partial(_of_text, make, text)


def _of_text(make: Callable[[str], Grammar], text: str) -> Asked:
    return Asked(lambda: make(text), text)


def _texts() -> Iterator[tuple[str, tuple[Callable[[str], Grammar], str]]]:
    written = {**gbnf_grammars.DETERMINISTIC, **gbnf_grammars.NOT_DETERMINISTIC}
    for name, text in written.items():
        yield f"GBNF {name}", (Grammar.from_gbnf, text)
        yield f"EBNF {name}", (Grammar.from_ebnf, text)
    for number, text in enumerate(gbnf_grammars.REFUSED):
        yield f"GBNF refused {number}", (Grammar.from_gbnf, text)
    for name, (text, _) in llguidance_grammars.WRITTEN.items():
        yield f"llguidance {name}", (Grammar.from_llguidance, text)
    number = 0
    while True:
        rng = Random(f"notations {number}")
        yield f"GBNF random {number}", (Grammar.from_gbnf, gbnf_grammars.random_grammar(rng))
        yield f"EBNF random {number}", (_from_ebnf, gbnf_grammars.random_grammar(rng))
        yield f"llguidance random {number}", (Grammar.from_llguidance, llguidance_grammars.random_grammar(rng))
        if number % 4 == 0:
            schema = json.dumps(json_schemas.random_document(rng, 2))
            text = llguidance_grammars.random_grammar(rng).replace("start:", "start: value |", 1)
            yield f"llguidance with JSON {number}", (Grammar.from_llguidance, f"{text}value: %json {schema}\n")
        number += 1


def _from_ebnf(text: str) -> Grammar:
    return Grammar.from_ebnf(text, root_rule_name="x")


def tags(count: int) -> AskedByName:
    """Structural tags: those of models, then written and random ones.

    A style of arguments that is refused is asked about as JSON.
    """
    for name, tag in islice(_tags(), count):
        yield f"tag {name}", partial(_of_tag, json.dumps(tag))


def _of_tag(text: str) -> Asked:
    in_json = re.sub(r'"style": "\w+"', '"style": "json"', text)
    return Asked(
        lambda: Grammar.from_structural_tag(json.loads(text)),
        text,
        load_instead=lambda: Grammar.from_structural_tag(json.loads(in_json)),
    )


def _tags() -> Iterator[tuple[str, Any]]:
    for number, dump in enumerate(json.loads(DUMPS.read_text(encoding="utf-8"))["models"]):
        yield f"{dump['model']} {number}", dump["tag"]
    number = 0
    forms = iter(structural_tags.FORMATS.items())
    while True:
        yield f"random {number}", structural_tags.random_format(Random(f"tags {number}"), 3)
        yield from islice(forms, 2)
        number += 1


def types(count: int) -> AskedByName:
    """Random Python types, as JSON and as Python writes values in turn."""
    for number in range(count):
        name = f"type {number}"
        yield name, partial(_of_type, name, ("json", "python")[number % 2])


def _of_type(name: str, form: Any) -> Asked:
    kind = random_types.random_type(Random(name), 2)
    maker = Path(str(random_types.__file__)).read_text(encoding="utf-8")
    return Asked(lambda: Grammar.from_type(kind, form=form), f"{name} {form} {maker}", has_values=True)
