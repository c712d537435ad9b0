"""What ``Annotated`` says beside a type: bounds, lengths, patterns, words.

In: metadata of annotated-types, Pydantic or msgspec, known by their attributes so that none has to be installed. Out:
`Said`: what a schema can say, and the names of what it cannot.

Source: https://github.com/annotated-types/annotated-types for the names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_BOUNDS = ("gt", "ge", "lt", "le", "multiple_of")
_SILENT = frozenset({"Unit", "Strict", "FailFast", "Discriminator", "Tag", "Doc", "DocInfo", "AliasChoices"})
_TRANSFORMS = ("strip_whitespace", "to_lower", "to_upper")
_VALIDATORS = frozenset({"AfterValidator", "BeforeValidator", "PlainValidator", "WrapValidator", "InstanceOf"})


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of values. ``unenforced`` has the names of what no schema can say; ``aware`` is of datetimes."""

    gt: Any = None
    ge: Any = None
    lt: Any = None
    le: Any = None
    multiple_of: Any = None
    least: int | None = None
    most: int | None = None
    patterns: tuple[str, ...] = ()
    aware: bool | None = None
    words: str = ""
    unenforced: tuple[str, ...] = ()

    @property
    def numeric(self) -> dict[str, Any]:
        """The keywords of JSON Schema for the bounds."""
        named = {
            "exclusiveMinimum": self.gt,
            "minimum": self.ge,
            "exclusiveMaximum": self.lt,
            "maximum": self.le,
            "multipleOf": self.multiple_of,
        }
        return {keyword: bound for keyword, bound in named.items() if bound is not None}

    @property
    def lengths(self) -> tuple[int, int | None]:
        return self.least or 0, self.most


NOTHING = Said()


def said_by(metadata: Iterable[Any]) -> Said:
    """What all of them say together."""
    said = Said()
    for one in metadata:
        said = both(said, _said(one))
    return said


def both(first: Said, second: Said) -> Said:
    """What two say together: of two bounds the narrower one."""
    return Said(
        gt=_chosen(max, first.gt, second.gt),
        ge=_chosen(max, first.ge, second.ge),
        lt=_chosen(min, first.lt, second.lt),
        le=_chosen(min, first.le, second.le),
        multiple_of=second.multiple_of if first.multiple_of is None else first.multiple_of,
        least=_chosen(max, first.least, second.least),
        most=_chosen(min, first.most, second.most),
        patterns=(*first.patterns, *second.patterns),
        aware=first.aware if second.aware is None else second.aware,
        words=second.words or first.words,
        unenforced=(
            *first.unenforced,
            *second.unenforced,
            *(("a second multiple_of",) if None not in (first.multiple_of, second.multiple_of) else ()),
        ),
    )


def _chosen(choose: Any, first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else choose(first, second)


def _said(one: Any) -> Said:
    if isinstance(one, str):
        return Said(words=one)
    kind = type(one).__name__
    if isinstance(one, slice):  # Len was once written so
        return Said(least=one.start, most=one.stop)
    if kind == "FieldInfo":
        return both(said_by(one.metadata), Said(words=one.description or ""))
    if kind in ("Doc", "DocInfo"):
        return Said(words=one.documentation)
    if kind == "Timezone":
        return Said(aware=one.tz is not None, unenforced=("Timezone",) if one.tz not in (None, ...) else ())
    if kind in ("Predicate", "Not"):
        return Said(unenforced=(f"{kind} {getattr(one.func, '__qualname__', one.func)}",))
    if kind in _VALIDATORS:
        name = getattr(getattr(one, "func", None), "__name__", "")
        return Said(unenforced=(f"{kind} {name}".strip(),))
    if kind in _SILENT:
        return Said()
    return both(_bounds(one), _grouped(one, kind))


def _grouped(one: Any, kind: str) -> Said:
    if hasattr(one, "__is_annotated_types_grouped_metadata__") or kind == "StringConstraints":
        return both(said_by(iter(one)), _transforms(one))
    if hasattr(one, "__get_pydantic_core_schema__") and kind not in ("_fields", "PydanticGeneralMetadata"):
        return Said(unenforced=(kind,))
    return _transforms(one)


def _bounds(one: Any) -> Said:
    """What attributes say, as annotated-types, msgspec's ``Meta`` and Pydantic's general metadata have them."""
    values: dict[str, Any] = {name: getattr(one, name, None) for name in _BOUNDS}
    pattern = getattr(one, "pattern", None)
    pattern = getattr(pattern, "pattern", pattern)
    aware = getattr(one, "tz", None)
    said = Said(
        **values,
        least=getattr(one, "min_length", None),
        most=getattr(one, "max_length", None),
        patterns=(pattern,) if isinstance(pattern, str) else (),
        aware=aware if isinstance(aware, bool) else None,
        words=getattr(one, "description", None) or "",
    )
    places, digits = getattr(one, "decimal_places", None), getattr(one, "max_digits", None)
    if places is not None:
        said = both(said, Said(multiple_of=Decimal(1).scaleb(-places)))
    if digits is not None:
        if places is None:
            return both(said, Said(unenforced=("max_digits without decimal_places",)))
        bound = Decimal(10) ** (digits - places)
        said = both(said, Said(gt=-bound, lt=bound))
    return said


def _transforms(one: Any) -> Said:
    return Said(unenforced=tuple(name for name in _TRANSFORMS if getattr(one, name, None)))
