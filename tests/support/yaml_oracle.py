"""YAML of random schemas against PyYAML, ruamel.yaml, jsonschema, and JSON's grammar of the same schema.

    python -W ignore tests/support/yaml_oracle.py [SCHEMAS] [VALUES]

prints what was compared, and every difference. `test_yaml_oracle.py` takes a part of it.
"""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import jsonschema
import ruamel.yaml
import yaml

from pdacon import EmptyLanguageError, Grammar, Spelling, UnsupportedSchemaError
from support.json_schemas import random_document, random_value
from support.yaml_texts import has_a_name_twice, json_texts, same, values_read, written

YAML = Spelling(language="yaml")
_PIECES = [
    "  ", " ", "\n", "- ", ":", ": ", "#", "'", '"', "a", "1", "0", ".", "e", "|", "-", "\\", "[]", "{}", "a: ", "\t",
    "\n  ", "null", "~", "yes",
]  # fmt: skip
_STRINGS = [
    "a", "b", "Ann Lee", "no", "12", "1e3", "1.5", "2026-01-01", "", "x: y", "#a", "a #b", "- a", "it's", 'say "hi"',
    "_", "a\nb", "a\nb\n", "\n", " a", "a ", "é", "日本", "a\tb", "~", "null", "<<", "=", "http://x.org/a?b=c#d",
    "C:\\x", "@a", "%a", "100%", "a:b", "0x1f", "1_0", "a,b", "[a]", "{a}", "&a", "*a", "!a", "|", "?", "? a", "?a",
    "-", "-a", ":a", "a:",
    "...", "---a", "\x00", "\u2028", "\x85", "😀", "line\n\n  indented\nlast", "tab\there\nb", "x" * 100, "0o17",
    "word " * 30 + "end", "017", "1:30", ".5", "+1", "1.", "nan", ".nan", "true", "tRuE",
]  # fmt: skip
_NUMBERS = [0, 1, -1, 1.5, -2.5, 1e22, 1e-7, 123456789012345678901, 3.0, 1.5e300, 5e-324, 0.1]


def mutant(text: str, random: Random) -> str:
    """A text with a piece more, less, or other, or with lines that are moved or missing."""
    for _ in range(random.choice([1, 1, 2])):
        at, lines = random.randrange(len(text) + 1), text.splitlines(keepends=True)
        kind = random.randrange(5 if lines else 3)
        if kind < 3:
            piece = "" if kind == 0 else random.choice(_PIECES)
            text = text[:at] + piece + text[at + (kind != 1) :]
            continue
        line = random.randrange(len(lines))
        if kind == 3:
            del lines[line]
        else:
            shorter = random.random() < 0.4
            lines[line] = lines[line][2:] if shorter else random.choice(["  ", "- ", " "]) + lines[line]
        text = "".join(lines)
    return text


def differences_of_schema(seed: int, counts: Counter[str]) -> Iterator[str]:
    """What samples, values and mutants of a random schema show."""
    random = Random(seed)
    document = random_document(random)
    try:
        Grammar.from_json_schema(document, Spelling(whitespace="indent"))  # made as a whole, too
        of_json = Grammar.from_json_schema(document)
    except (EmptyLanguageError, UnsupportedSchemaError):
        counts["schemas without a grammar"] += 1
        return
    grammar, validator = Grammar.from_json_schema(document, YAML), jsonschema.Draft202012Validator(document)
    counts["schemas"] += 1
    texts = []
    for text in grammar.sample(4, seed=seed):
        if has_a_name_twice(text):
            counts["texts with a name twice"] += 1
            continue
        counts["samples"] += 1
        one, other = values_read(text)
        others = json_texts(text)[0] or []
        # jsonschema rounds large numbers, of which pdacon asks the exact decimal.
        is_valid = validator.is_valid(one) or ("e+" in text and any(map(of_json.accepts, others)))
        if not same(one, other) or not is_valid or not others:
            yield f"schema {seed}: sample {text!r} is read as {one!r} and {other!r}"
        texts.append(text)
    for _ in range(3):
        value = random_value(random, 3)
        text = written(value, random)
        counts["values"] += 1
        if grammar.accepts(text) != of_json.accepts(json.dumps(value, ensure_ascii=False)):
            yield f"schema {seed}: value {text!r} is not taken as in JSON"
        texts.append(text)
    for _ in range(3):
        text = mutant(random.choice(texts), random)
        if not has_a_name_twice(text):
            yield from _differences_of_mutant(seed, text, grammar, of_json, validator, counts)


def _differences_of_mutant(
    seed: int, text: str, grammar: Grammar, of_json: Grammar, validator: Any, counts: Counter[str]
) -> Iterator[str]:
    taken, (others, may_be_refused) = grammar.accepts(text), json_texts(text)
    counts["mutants"] += 1
    counts["mutants that are taken"] += taken
    counts["mutants in the style"] += others is not None
    if taken or others is not None:
        one, other = values_read(text)
        if not same(one, other) or (others and not same(one, json.loads(others[0]))):
            yield f"schema {seed}: mutant {text!r} is read as {one!r} and {other!r}"
        if taken and not validator.is_valid(one):
            yield f"schema {seed}: mutant {text!r} is taken, and no value of the schema"
    wanted = others is not None and any(map(of_json.accepts, others[:64]))
    if taken != wanted and not (may_be_refused and not taken):
        yield f"schema {seed}: mutant {text!r} is {'taken' if taken else 'refused'}"


class _Indented(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)


class _InLines(yaml.SafeDumper):
    pass


_InLines.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else '"')
)


def _dumped(dumper: Any) -> Callable[[Any], str]:
    options: dict[str, Any] = {
        "default_flow_style": False, "sort_keys": False, "allow_unicode": True, "width": 10**9
    }  # fmt: skip
    return lambda value: yaml.dump(value, Dumper=dumper, **options)


def _by_ruamel(value: Any) -> str:
    writer, out = ruamel.yaml.YAML(), io.StringIO()
    writer.width = 10**9
    writer.representer.add_representer(
        type(None), lambda own, _: own.represent_scalar("tag:yaml.org,2002:null", "null")
    )
    writer.dump(value, out)
    return out.getvalue()


STYLES = {
    "PyYAML": _dumped(yaml.SafeDumper), "PyYAML, indented": _dumped(_Indented),
    "PyYAML, in lines and quotes": _dumped(_InLines), "ruamel.yaml": _by_ruamel,
}  # fmt: skip


def _value(random: Random, depth: int) -> Any:
    kind = random.randrange(9 if depth > 0 else 6)
    if kind < 2:
        return random.choice([None, True, False] if kind == 0 else _NUMBERS)
    if kind < 6:
        return random.choice(_STRINGS)
    if kind < 7:
        return [_value(random, depth - 1) for _ in range(random.randrange(4))]
    return {random.choice(_STRINGS): _value(random, depth - 1) for _ in range(random.randrange(4))}


def differences_of_dumps(values: int, counts: Counter[str]) -> Iterator[str]:
    """What dumpers write is taken exactly if the style has it, and is read as the value."""
    grammar, random = Grammar.yaml(), Random(1)
    for _ in range(values):
        value = _value(random, 3)
        for style, dump in STYLES.items():
            text = dump(value).removesuffix("...\n")
            text += "" if text.endswith("\n") else "\n"
            taken = grammar.accepts(text)
            counts[f"{style}: texts"] += 1
            counts[f"{style}: taken"] += taken
            if taken != (json_texts(text)[0] is not None):
                yield f"{style}: {text!r} is {'taken' if taken else 'refused'}"
            if taken and not all(same(read, value) for read in values_read(text)):
                yield f"{style}: {text!r} is not read as {value!r}"


def main(schemas: int, values: int) -> int:
    counts: Counter[str] = Counter()
    found = 0
    for seed in range(schemas):
        for difference in differences_of_schema(seed, counts):
            print(difference)
            found += 1
    for difference in differences_of_dumps(values, counts):
        print(difference)
        found += 1
    print("\n".join(f"{name}: {count:,}" for name, count in counts.items()))
    print(f"{found} differences")
    return found


if __name__ == "__main__":
    sys.exit(main(*map(int, [*sys.argv[1:], "5000", "2000"][:2])) > 0)
