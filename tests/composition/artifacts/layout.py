"""The layout of an artifact as text: what its parts are called, what they are made of, and in which order they lie.

The native core's sources say what each section is read as and what is in each struct that is written; a real file says
which sections there are; the records of the grammar and the settings are Python's.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args

from pdacon.grammar import GrammarData, serialized

SOURCES = Path(__file__).resolve().parents[3] / "pdacon" / "_native" / "src"
_SETTINGS = 1


def _code(path: Path) -> str:
    """A source without its comments."""
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


def _source(name: str) -> Path:
    """The one file of the native core with a name."""
    (path,) = SOURCES.glob(f"**/{name}")
    return path


def _parts() -> list[str]:
    body = re.search(r"enum class Part [^{]*\{(.*?)\};", _code(_source("artifact.hpp")), re.DOTALL)
    assert body is not None
    first, *others = [name.strip() for name in body[1].split(",") if name.strip()]
    assert first.endswith(" = 1"), "the numbers of the parts no longer count from 1"
    assert not any("=" in name for name in others)
    return [first.removesuffix(" = 1"), *others]


def _readers() -> dict[str, tuple[str, Path]]:
    """Of each part as what it is read, and where."""
    found: dict[str, tuple[str, Path]] = {}
    for path in sorted(SOURCES.glob("**/*.[ch]pp")):
        for how, element, part in re.findall(r"(array|unchecked|packed)(?:<([^>]+)>)?\(Part::(\w+)", _code(path)):
            found[part] = ("int16 or int32" if how == "packed" else element.strip().removeprefix("std::"), path)
    return found


def _struct(name: str, near: Path) -> str:
    """The members of a struct that is written, from the file that reads it or a header."""
    for path in (near, near.with_suffix(".hpp"), *sorted(SOURCES.glob("**/*.hpp"))):
        if not path.exists():
            continue
        code = _code(path)
        if alias := re.search(rf"using {name} = ([^;]+);", code):
            of = re.search(r"<(.+)>$", alias[1])
            template = alias[1].partition("<")[0]
            if of is not None and not alias[1].startswith("std::"):
                return f"{alias[1]} {_struct(template, path)}"
            return " ".join(alias[1].split())
        if found := re.search(rf"struct {name}\s*\{{(.*?)\n?\s*\}};", code, re.DOTALL):
            members = [" ".join(member.split()) for member in found[1].split(";")]
            return "{" + "; ".join(member for member in members if member and "(" not in member) + "}"
    raise AssertionError(f"the struct {name} of an artifact is not found in the native core's sources")


def _structs(readers: dict[str, tuple[str, Path]]) -> Iterator[str]:
    """Each struct that is written, those within it included."""
    heads = _source("artifact.cpp")
    open_ = [("Header", heads), ("Entry", heads)]
    open_ += [(element, path) for element, path in readers.values() if element[0].isupper()]
    seen: set[tuple[str, str]] = set()
    for name, path in open_:
        text = _struct(name, path)
        if (name, text) in seen:
            continue
        seen.add((name, text))
        yield f"{name} {text}"
        open_ += [
            (inner, path)
            for inner in sorted(set(re.findall(r"\b[A-Z][A-Za-z]+\b", text)))
            if inner != name and _is_struct(inner)
        ]


def _is_struct(name: str) -> bool:
    return any(re.search(rf"(struct {name}\s*\{{|using {name} = )", _code(path)) for path in SOURCES.glob("**/*.hpp"))


def _constants() -> Iterator[str]:
    for name in ("artifact.cpp", "stored_masks.hpp", "liveness_table.hpp", "lexer/automaton.hpp"):
        for constant in re.findall(r"constexpr [\w:<>, ]*?\b(k\w+(?: = |\{)[^;]+);", _code(_source(name))):
            if constant.startswith(("kMagic", "kAlignment", "kBlock ", "kDead", "kBoundary")):
                yield f"{name}: {constant}"


def _records(record: Any, seen: set[type]) -> Iterator[str]:
    """A record of the grammar with its fields in order, and those within it."""
    if not is_dataclass(record):
        for inner in get_args(record):
            yield from _records(inner, seen)
        return
    assert isinstance(record, type)
    if record in seen:
        return
    seen.add(record)
    kinds = serialized._fields_of(record)
    shown = [f"{field.name}: {field.type}" for field in fields(record)]
    yield f"{record.__name__}({', '.join(shown)})"
    for kind in kinds:
        yield from _records(kind, seen)


def sections(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number of the part, start symbol and contents of each section of a file."""
    for at in range(struct.unpack_from("<I", data, 12)[0]):
        part, start, offset, size = struct.unpack_from("<IiQQ", data, 32 + 32 * at)
        yield part, start, data[offset : offset + size]


def layout(data: bytes) -> str:
    """The layout that the file and the sources have."""
    parts, readers = _parts(), _readers()
    lines = ["What is in an artifact, by artifacts/layout.py.", "", "[sections]"]
    for number, name in enumerate(parts, 1):
        element, path = readers.get(name, ("bytes", None))
        lines.append(f"{number} {name}: {element}" + (f" of {path.stem}" if path and element[0].isupper() else ""))
    lines += [
        "",
        "[constants]",
        *_constants(),
        "",
        "[structs]",
        *sorted(_structs(readers)),
        "",
        "[arrays of a tokenizer's definition, in order]",
        _struct("FilterDefinition", _source("filter_definition.hpp")),
        "",
        "[sections of the sample, in order]",
    ]
    for part, start, content in sections(data):
        element = readers.get(parts[part - 1], ("bytes", None))[0]
        size = f", {len(content)} bytes" if element == "Numbers" else ""
        lines.append(f"{parts[part - 1]} {'shared' if start < 0 else start}{size}")
    settings = next(content for part, _, content in sections(data) if part == _SETTINGS)
    lines += ["", "[settings]", *(f"{key}: {type(value).__name__}" for key, value in json.loads(settings).items())]
    lines += ["", "[records of the grammar]", *_records(GrammarData, set())]
    return "\n".join(lines) + "\n"
