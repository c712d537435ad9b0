"""The two forms in which values are written, JSON and Python: raw values <-> texts, and marks around them.

In: a text, or a raw value. Out: the other one. What Python writes with a name or a bracket of its own, such as
``Point(x=1)``, ``(1, 2)`` or ``date.fromisoformat("2024-01-01")``, is `Marked` there, and has a type of its own in
schemas: ``object:Point``. `Notation` says how each is written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from pdacon.base.cancelling import every
from pdacon.frontends.json_schema import Marks, Notation, Spelling
from pdacon.frontends.long_integers import json_value, text_of
from pdacon.frontends.types.python_texts import PYTHON_CONSTANTS, read_python, write_python
from pdacon.frontends.types.shapes import Marked, Mismatch, Real, shown

FormName: TypeAlias = Literal["json", "python"]


@dataclass(slots=True)
class Form:
    """A form, with the marks that the shapes made for it have asked for."""

    name: FormName
    spelling: Spelling
    marks: dict[str, Marks] = field(default_factory=dict)

    @property
    def digits(self) -> int | None:
        """How many digits a number has at most before its point and after it; None: any."""
        return self.spelling.digits

    @property
    def python(self) -> bool:
        return self.name == "python"

    def kind(self, base: str, head: str, marks: Marks) -> str:
        """The type that schemas have for values with a mark; the plain one in JSON."""
        if not self.python:
            return base
        kind = f"{base}:{head}"
        self.marks[kind] = marks
        return kind

    def marked(self, head: str, raw: Any) -> Any:
        return Marked(head, raw) if self.python else raw

    def unmarked(self, head: str, raw: Any, path: str) -> Any:
        """What a mark is around.

        Raises
        ------
        Mismatch
            The raw value has another mark or none.
        """
        if not self.python:
            return raw
        if not isinstance(raw, Marked) or raw.head != head:
            raise Mismatch(path, f"{shown(raw)} is no {head}")
        return raw.value

    def notation(self) -> Notation | None:
        """What schemas of this form are written in; None: as JSON."""
        return Notation(PYTHON_CONSTANTS, self.marks) if self.python else None

    def loads(self, text: str) -> Any:
        """The raw value of a text.

        Raises
        ------
        ValueError
            It has none.
        """
        if self.python:
            return read_python(text)
        return json_value(text, parse_float=Real)

    def dumps(self, raw: Any) -> str:
        """The text of a raw value, as the grammar's spelling has it."""
        return write_python(raw, self.marks) if self.python else _json(raw, self.spelling, 0)


def _json(raw: Any, spelling: Spelling, depth: int) -> str:
    if isinstance(raw, dict) and raw:
        name_end = spelling.colon
        parts = [
            f"{_json(name, spelling, depth)}{name_end}{_json(value, spelling, depth + 1)}"
            for name, value in every(raw.items())
        ]
        return _enclosed("{", parts, "}", spelling, depth)
    if isinstance(raw, dict | list) and not raw and spelling.least_blanks:
        return _enclosed(
            "{" if isinstance(raw, dict) else "[", [], "}" if isinstance(raw, dict) else "]", spelling, depth
        )
    if isinstance(raw, list) and raw:
        return _enclosed("[", [_json(item, spelling, depth + 1) for item in every(raw)], "]", spelling, depth)
    if isinstance(raw, Real):
        return _number(raw.text, spelling)
    if isinstance(raw, float):
        return _number(repr(raw), spelling)
    if isinstance(raw, int) and not isinstance(raw, bool):
        return text_of(raw)
    return json.dumps(raw, ensure_ascii=spelling.escapes == "ascii")


def _enclosed(opening: str, parts: list[str], closing: str, spelling: Spelling, depth: int) -> str:
    if spelling.whitespace != "indent":
        blanks = spelling.least_blanks
        return f"{opening}{blanks}{spelling.comma.join(parts)}{blanks if parts else ''}{closing}"
    line = "\n" + " " * (spelling.indent * (depth + 1))
    return f"{opening}{line}{f'{spelling.comma}{line}'.join(parts)}{line[: -spelling.indent or None]}{closing}"


def _number(text: str, spelling: Spelling) -> str:
    is_plain = spelling.exponents != "none" or "e" not in text.lower()
    return text if is_plain and spelling.numbers == "any" else _canonical(text)


def _canonical(text: str) -> str:
    plain = f"{Decimal(text):f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain == "-0" else plain
