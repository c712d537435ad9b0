"""Shapes of values without parts: constants, numbers, strings, and choices among few values."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from pdacon.base.cancelling import every
from pdacon.frontends.json_schema import Marks, digits_title, has_few_digits
from pdacon.frontends.long_integers import text_of
from pdacon.frontends.types.checks import check_bounds, check_characters, check_text, exact, fits
from pdacon.frontends.types.constraints import Metadata
from pdacon.frontends.types.dates import Spelling
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.shapes import Marked, Mismatch, Named, Real, Schemas, Shape, shown

_PLAIN = ["null", "boolean", "number", "string", "array", "object"]

_LONG = 300  # digits of a decimal beyond which it is written with an exponent


class Anything(Named):
    """Any value of JSON."""

    name = "any value"

    def __init__(self, form: Form) -> None:
        self._form = form

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return super().schema(schemas) if self._form.python else {}

    def own_schema(self, schemas: Schemas) -> dict[str, Any]:
        below = schemas.reference(self)
        return {"type": _PLAIN, "items": below, "additionalProperties": below}

    def read(self, raw: Any, path: str) -> Any:
        if isinstance(raw, Real):
            return float(raw.text)
        if isinstance(raw, Marked):
            raise Mismatch(path, f"{raw.head} is no value of JSON")
        if isinstance(raw, list):
            return [self.read(item, f"{path}[{k}]") for k, item in every(enumerate(raw))]
        if isinstance(raw, dict):
            return {name: self.read(value, f"{path}.{name}") for name, value in every(raw.items())}
        return raw

    def write(self, value: Any, path: str) -> Any:
        value = _base(value)
        if isinstance(value, float) and not math.isfinite(value):
            return _infinite(value, path)
        if isinstance(value, str):
            check_characters(value, path)
        if isinstance(value, int) and not isinstance(value, bool):
            _check_digits(text_of(value), self._form.digits, path)
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, list | tuple):
            return [self.write(item, f"{path}[{k}]") for k, item in every(enumerate(value))]
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            return {
                self.write(name, path): self.write(member, f"{path}.{name}") for name, member in every(value.items())
            }
        raise Mismatch(path, f"{shown(value)} is no value of JSON")


class Nothing(Shape):
    """None."""

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return {"type": "null"}

    def read(self, raw: Any, path: str) -> Any:
        if raw is not None:
            raise Mismatch(path, f"{shown(raw)} is not None")
        return None

    def write(self, value: Any, path: str) -> Any:
        return self.read(value, path)

    def words(self) -> str:
        return "null"


class Truth(Shape):
    """True or False."""

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return {"type": "boolean"}

    def read(self, raw: Any, path: str) -> Any:
        if not isinstance(raw, bool):
            raise Mismatch(path, f"{shown(raw)} is no bool")
        return raw

    def write(self, value: Any, path: str) -> Any:
        return self.read(value, path)

    def words(self) -> str:
        return "true or false"


@dataclass(frozen=True, eq=False)
class Whole(Shape):
    """Integers, of at most so many digits unless a bound has more."""

    metadata: Metadata
    digits: int | None = None

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return {"type": "integer", **self.metadata.numeric}

    def read(self, raw: Any, path: str) -> Any:
        if isinstance(raw, bool) or not isinstance(raw, int):
            raise Mismatch(path, f"{shown(raw)} is no integer")
        check_bounds(self.metadata, raw, path)
        return raw

    def write(self, value: Any, path: str) -> Any:
        raw = self.read(_base(value), path)
        bounds = [len(text_of(int(bound))) for bound in self.metadata.numeric.values()]
        _check_digits(text_of(raw), None if self.digits is None else max([self.digits, *bounds]), path)
        return raw

    def words(self) -> str:
        return f"integer{_bounds_words(self.metadata)}"


@dataclass(frozen=True, eq=False)
class Number(Shape):
    """Numbers, as floats or as Decimals."""

    metadata: Metadata
    kind: type
    form: Form

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        kind = "number"
        if self.kind is Decimal:
            kind = self.form.kind("number", "Decimal", Marks('Decimal("', '")', bare=True))
        own = {"type": kind, **self.metadata.numeric}
        total = self.metadata.total
        if total is None:
            return own
        # So many digits in all: with each number of places as many fewer before the point.
        options = [
            {
                "type": kind,
                "exclusiveMinimum": -bound,
                "exclusiveMaximum": bound,
                "multipleOf": Decimal(1).scaleb(-places),
            }
            for places in range(total + 1)
            for bound in (Decimal(10) ** (total - places),)
        ]
        return {**own, "title": digits_title(total), "anyOf": options}

    def read(self, raw: Any, path: str) -> Any:
        if self.kind is Decimal:
            raw = self.form.unmarked("Decimal", raw, path)
            raw = raw if not isinstance(raw, str) else Real(raw)
        if isinstance(raw, bool) or not isinstance(raw, int | Real):
            raise Mismatch(path, f"{shown(raw)} is no number")
        number = raw.text if isinstance(raw, Real) else text_of(raw)
        try:
            value = self.kind(number)
            exact = Decimal(number) if self.metadata.numeric else Decimal()
        except (ArithmeticError, ValueError) as error:
            raise Mismatch(path, f"{shown(raw)} is too large for {self.kind.__name__}") from error
        if self.metadata.numeric:
            if not _is_finite(value):
                raise Mismatch(path, f"{shown(raw)} is too large for {self.kind.__name__}")
            check_bounds(self.metadata, exact, path)
            check_bounds(self.metadata, value, path)  # a float may be rounded to a bound
        return value

    def write(self, value: Any, path: str) -> Any:
        value, decimal = _base(value), self.kind is Decimal
        expected = Decimal if decimal else (float, int)
        if isinstance(value, bool) or not isinstance(value, expected):
            raise Mismatch(path, f"{shown(value)} is no {self.kind.__name__}")
        if not _is_finite(value):
            if decimal or self.metadata.numeric:
                raise Mismatch(path, f"{shown(value)} is no finite {self.kind.__name__}")
            return _infinite(float(value), path)
        check_bounds(self.metadata, value, path)
        if isinstance(value, Decimal):
            # Thousands of digits would be more than Python reads as an integer.
            text = self._without_zeros(f"{value:f}")
            digits = self.form.digits
            long = abs(value.adjusted()) > _LONG or not has_few_digits(text, digits)
            takes_exponents = self.metadata.multiple_of is None or (digits is not None and value.adjusted() >= digits)
            if long and not self.metadata.numeric:
                text = str(value)
            elif long and takes_exponents and has_few_digits(f"{value:e}", digits):
                text = f"{value:e}"  # where there are bounds, exponents are those of floats
            _check_digits(text, None if self.metadata.numeric else self.form.digits, path)
            return self.form.marked("Decimal", Real(text))
        return Real(repr(float(value)))

    def _without_zeros(self, text: str) -> str:
        """A number without the zeros at its end for which the grammar has no place: see decision 51."""
        places = self.metadata.total
        if self.metadata.multiple_of is not None:
            step = exact(self.metadata.multiple_of).normalize().as_tuple().exponent
            places = max(1, -step) if isinstance(step, int) else None
        whole, point, fraction = text.partition(".")
        if self.form.digits is None or places is None or len(fraction) <= places:
            return text
        return whole + point + fraction[:places] + fraction[places:].rstrip("0")

    def words(self) -> str:
        return f"number{_bounds_words(self.metadata)}"


@dataclass(frozen=True, eq=False)
class Text(Shape):
    """Strings."""

    metadata: Metadata

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return {"type": "string", **string_keywords(self.metadata)}

    def read(self, raw: Any, path: str) -> Any:
        if not isinstance(raw, str):
            raise Mismatch(path, f"{shown(raw)} is no string")
        check_text(self.metadata, raw, path)
        return getattr(raw, self.metadata.case)() if self.metadata.case else raw

    def write(self, value: Any, path: str) -> Any:
        return self.read(_base(value), path)

    def words(self) -> str:
        least, most = self.metadata.lengths
        return f"string{lengths_words(least, most, 'characters')}{_patterns_words(self.metadata)}"


@dataclass(frozen=True, eq=False)
class Spelled(Shape):
    """Values that are written as strings, such as dates."""

    spelling: Spelling
    metadata: Metadata
    form: Form

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        head = self.spelling.head
        kind = self.form.kind("string", head, Marks(f"{head}(", ")"))
        patterns = [{"type": kind, "pattern": pattern} for pattern in self.metadata.patterns]
        least, most = self.metadata.lengths
        counts = {"minLength": least, **({} if most is None else {"maxLength": most})} if least or most else {}
        own = {"type": kind, "pattern": self.spelling.whole, "title": self.spelling.words, **counts}
        return {**own, "allOf": patterns} if patterns else own

    def read(self, raw: Any, path: str) -> Any:
        raw = self.form.unmarked(self.spelling.head, raw, path)
        # What reads it may take more, such as a UUID without hyphens.
        if not isinstance(raw, str) or not fits(self.spelling.whole, raw):
            raise Mismatch(path, f"{shown(raw)} is no {self.spelling.kind.__name__}")
        check_text(self.metadata, raw, path)
        try:
            return self.spelling.read(raw)
        except (ValueError, OverflowError) as error:
            raise Mismatch(path, f"{shown(raw)} is no {self.spelling.kind.__name__}: {error}") from error

    def write(self, value: Any, path: str) -> Any:
        if not isinstance(value, self.spelling.kind):
            raise Mismatch(path, f"{shown(value)} is no {self.spelling.kind.__name__}")
        try:
            text = self.spelling.write(value)
        except ValueError as error:
            raise Mismatch(path, f"{shown(value)}: {error}") from error
        check_characters(text, path)
        if not fits(self.spelling.whole, text):
            raise Mismatch(path, f"{shown(value)} is written as {shown(text)}, which is not taken here")
        check_text(self.metadata, text, path)
        return self.form.marked(self.spelling.head, text)

    def words(self) -> str:
        return f"{self.spelling.kind.__name__}{_patterns_words(self.metadata)}"


@dataclass(frozen=True, eq=False)
class LiteralValues(Shape):
    """A few values, each with its raw one: of ``Literal``, or an Enum in JSON."""

    pairs: Sequence[tuple[Any, Any]]
    name: str = ""

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        raws = [Decimal(raw.text) if isinstance(raw, Real) else raw for raw, _ in self.pairs]
        return {"const": raws[0]} if len(raws) == 1 else {"enum": raws}

    def read(self, raw: Any, path: str) -> Any:
        key = _key(raw)
        if key not in self._by_raw:
            raise Mismatch(path, f"{shown(raw)} is none of {self.words()}")
        return self._by_raw[key]

    @cached_property
    def _by_raw(self) -> dict[tuple[str, Any], Any]:
        """The values by what raw ones are equal by, of equal ones the first."""
        return {_key(raw): value for raw, value in every(self.pairs[::-1])}

    @cached_property
    def _by_value(self) -> dict[tuple[type, Any], Any]:
        return {_value_key(value): raw for raw, value in every(self.pairs[::-1])}

    def write(self, value: Any, path: str) -> Any:
        try:
            return self._by_value[_value_key(value)]
        except (KeyError, TypeError) as error:  # what has no hash is none of them
            raise Mismatch(path, f"{shown(value)} is none of {self.words()}") from error

    def words(self) -> str:
        return " or ".join([*(shown(raw) for raw, _ in self.pairs[:8]), *(["..."] if len(self.pairs) > 8 else [])])


class Members(Shape):
    """The members of an Enum as Python writes them: ``Color.RED``."""

    def __init__(self, kind: type[enum.Enum], form: Form) -> None:
        self._kind, self._form = kind, form

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        name = self._kind.__name__
        kind = self._form.kind("string", name, Marks(f"{name}.", "", bare=True))
        return {"type": kind, "enum": list(self._kind.__members__)}

    def read(self, raw: Any, path: str) -> Any:
        name = self._form.unmarked(self._kind.__name__, raw, path)
        if name not in self._kind.__members__:
            raise Mismatch(path, f"{name} is no member of {self._kind.__name__}")
        return self._kind[name]

    def write(self, value: Any, path: str) -> Any:
        if not isinstance(value, self._kind):
            raise Mismatch(path, f"{shown(value)} is no {self._kind.__name__}")
        return self._form.marked(self._kind.__name__, value.name)

    def words(self) -> str:
        listed = [f"{self._kind.__name__}.{name}" for name in self._kind.__members__]
        return " or ".join(listed if len(listed) <= 8 else [*listed[:8], "..."])


def _base(value: Any) -> Any:
    """What JSON writes of a value of a class that extends a type of its own, such as a member of a ``StrEnum``.

    It is the value itself, and not what the class makes of it in ``str`` or ``format``.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    return Decimal(value) if isinstance(value, Decimal) else value


def _check_digits(text: str, digits: int | None, path: str) -> None:
    """See to it that a number is not longer than the grammar has it."""
    if not has_few_digits(text, digits):
        why = f"{text:.40} has more than {digits} digits before or after its point"
        raise Mismatch(path, f"{why}; a pdacon.Spelling with a larger max_digits, or with 'any', has it")


def _is_finite(value: float | Decimal) -> bool:
    """Whether it is a number; a decimal may be one beyond all floats."""
    return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)


def _infinite(value: float, path: str) -> Real:
    """A number that no float is as large as, which is read as infinity, as ``json.loads`` does."""
    if math.isnan(value):
        raise Mismatch(path, "nan is no number of JSON")
    return Real("1e999" if value > 0 else "-1e999")


def _value_key(value: Any) -> tuple[type, Any]:
    """What values are equal by: those of different types are not. A class may have no hash for members of an Enum."""
    return type(value), value.name if isinstance(value, enum.Enum) else value


def _key(raw: Any) -> tuple[str, Any]:
    """What raw values are equal by, as JSON has it: True is not 1, and 1.0 is."""
    if isinstance(raw, bool) or raw is None or isinstance(raw, str):
        return type(raw).__name__, raw
    if isinstance(raw, float):
        raw = Real(repr(raw))
    if isinstance(raw, int | Real):
        try:
            return "number", Decimal(raw.text if isinstance(raw, Real) else raw)
        except ArithmeticError:  # an exponent beyond those of decimals
            return "number", raw
    return "other", repr(raw)


def _patterns_words(metadata: Metadata) -> str:
    """What patterns ask for; they are JSON Schema's, found anywhere in a string unless they have anchors."""
    return f" that matches {' and '.join(metadata.patterns)}" if metadata.patterns else ""


def string_keywords(metadata: Metadata) -> dict[str, Any]:
    least, most = metadata.lengths
    keywords: dict[str, Any] = {"minLength": least} if least else {}
    if most is not None:
        keywords["maxLength"] = most
    if len(metadata.patterns) == 1:
        keywords["pattern"] = metadata.patterns[0]
    elif metadata.patterns:
        keywords["allOf"] = [{"pattern": pattern} for pattern in metadata.patterns]
    return keywords


def _bounds_words(metadata: Metadata) -> str:
    named = (("above", metadata.gt), ("at least", metadata.ge), ("below", metadata.lt), ("at most", metadata.le))
    parts = [f"{word} {bound}" for word, bound in named if bound is not None]
    parts += [] if metadata.multiple_of is None else [f"a multiple of {metadata.multiple_of}"]
    return f" {' and '.join(parts)}" if parts else ""


def lengths_words(least: int, most: int | None, unit: str) -> str:
    if most is None:
        return f" of at least {least} {unit}" if least else ""
    return f" of {least} to {most} {unit}" if least else f" of at most {most} {unit}"
