"""Values whose JSON is itself the text of a string, as Pydantic's ``Json[T]`` has them: the pattern of these texts.

In: the shape of the values. Out: the JSON Schema of the strings. Such texts are a regular language only where nothing
contains itself, so that ``Any`` has here what is no deeper than a list or an object of scalars; strings have no
characters that JSON escapes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.types.containers import FixedTuple, Items, Table
from pdacon.frontends.types.records import Record
from pdacon.frontends.types.scalars import (
    Anything,
    LiteralValues,
    Nothing,
    Number,
    Spelled,
    Text,
    Truth,
    Whole,
)
from pdacon.frontends.types.shapes import Real, Shape, resolved
from pdacon.frontends.types.unions import Either

_CHARACTER = r'[^"\\\u0000-\u001f]'
_INTEGER = r"(?:0|-?[1-9]\d{0,18})"
_NUMBER = r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,17})?"
_LONGEST = 1 << 16  # characters of a pattern
_SPECIAL = set("\\^$.|?*+()[]{}/")


def json_text_schema(shape: Shape, path: str) -> dict[str, Any]:
    """The schema of strings that are JSON texts of a shape's values, with a space after ``,`` and ``:`` or without.

    Raises
    ------
    UnsupportedTypeError
        The type is recursive, too large for one pattern, or has bounds or patterns.
    """
    return {"type": "string", "pattern": f"^(?:{_Texts(path).of(shape, ())})$"}


class _Texts:
    def __init__(self, path: str) -> None:
        self._path = path

    def of(self, shape: Shape, above: tuple[Shape, ...]) -> str:
        """The pattern of a shape's texts; ``above`` is what it is within."""
        shape = resolved(shape)
        if shape in above:
            self._refuse("it contains itself, so that no pattern has its texts")
        pattern = self._scalar(shape)
        if pattern is None:
            pattern = self._parts(shape, (*above, shape))
        if len(pattern) > _LONGEST:
            self._refuse("the pattern of its texts gets too large")
        return pattern

    def _refuse(self, why: str) -> NoReturn:
        raise UnsupportedTypeError(self._path, f"Json: {why}; give the field the type itself, without Json")

    def _scalar(self, shape: Shape) -> str | None:
        if isinstance(shape, Text | Whole | Number | Spelled):
            metadata = shape.metadata
            if metadata.patterns or metadata.numeric or metadata.total is not None:
                self._refuse("bounds and patterns within it are not enforced")
            least, most = metadata.lengths
            if isinstance(shape, Text):
                return f'"{_CHARACTER}{{{least},{"" if most is None else most}}}"'
            if isinstance(shape, Spelled):
                return f'"(?![^"]*\\\\){shape.spelling.pattern}"'
            return _INTEGER if isinstance(shape, Whole) else _NUMBER
        if isinstance(shape, LiteralValues):
            return f"(?:{'|'.join(_literal(raw) for raw, _ in shape.pairs)})"
        if isinstance(shape, Anything):
            scalar = rf'(?:null|true|false|{_NUMBER}|"{_CHARACTER}*")'
            member = f'"{_CHARACTER}*": ?{scalar}'
            return rf"(?:{scalar}|\[{_many(scalar, 0, None)}\]|\{{{_many(member, 0, None)}\}})"
        constants: dict[type, str] = {Nothing: "null", Truth: "(?:true|false)"}
        return constants.get(type(shape))

    def _parts(self, shape: Shape, above: tuple[Shape, ...]) -> str:
        if isinstance(shape, Either):
            return f"(?:{'|'.join(self.of(member, above) for member in shape.members)})"
        if isinstance(shape, FixedTuple):
            return rf"\[{', ?'.join(self.of(item, above) for item in shape.items)}\]"
        if isinstance(shape, Items) and not shape.is_set:
            return rf"\[{_many(self.of(shape.item, above), shape.least, shape.most)}\]"
        if isinstance(shape, Table) and isinstance(resolved(shape.keys), Text):
            member = f"{self.of(shape.keys, above)}: ?{self.of(shape.value, above)}"
            return rf"\{{{_many(member, shape.least, shape.most)}\}}"
        if isinstance(shape, Record) and not (shape.root or shape.as_list or shape.extra):
            members = [] if shape.tag is None else [(_member(shape.tag[0], _literal(shape.tag[1])), True)]
            members += [
                (_member(shape.key(field), self.of(field.shape, above)), shape.always(field)) for field in shape.fields
            ]
            return rf"\{{{_members(members)}\}}"
        self._refuse(f"of {shape.words()} no pattern is made")
        return None


def _member(name: str, value: str) -> str:
    return f"{_literal(name)}: ?{value}"


def _members(members: Sequence[tuple[str, bool]]) -> str:
    """Members in their order, of which those that need not be there may be missing."""
    beginnings, tail = [""], ""
    for member, always in reversed(members):
        beginnings = ([] if always else beginnings) + [member + tail]
        tail = (f", ?{member}" if always else f"(?:, ?{member})?") + tail
    return f"(?:{'|'.join(beginnings)})"


def _many(item: str, least: int, most: int | None) -> str:
    """So many items, with commas between them."""
    if most == 0:
        return ""
    more = f"{{{max(least - 1, 0)},{'' if most is None else most - 1}}}"
    some = f"{item}(?:, ?{item}){more}"
    return some if least else f"(?:{some})?"


def _literal(raw: Any) -> str:
    """The text of a value, as a pattern."""
    text = raw.text if isinstance(raw, Real) else json.dumps(raw, ensure_ascii=False)
    return "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in text)
