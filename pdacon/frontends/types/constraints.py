"""What ``Annotated`` says beside a type: bounds, lengths, patterns, words.

In: metadata of annotated-types, Pydantic or msgspec, known by their attributes so that none has to be installed. Out:
`Metadata`: what a schema can say, and the names of what it cannot.

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
class Metadata:
    """What an annotation asks of values; ``unenforced`` names what no schema can say, and ``aware`` is of datetimes."""

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


NOTHING = Metadata()


def metadata_of(items: Iterable[Any]) -> Metadata:
    """What all items ask for."""
    metadata = Metadata()
    for item in items:
        metadata = both(metadata, _of_item(item))
    return metadata


def both(first: Metadata, second: Metadata) -> Metadata:
    """What two ask for together: of two bounds the narrower one."""
    return Metadata(
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


def _of_item(item: Any) -> Metadata:
    if isinstance(item, str):
        return Metadata(words=item)
    kind = type(item).__name__
    if isinstance(item, slice):  # Len was once written so
        return Metadata(least=item.start, most=item.stop)
    if kind == "FieldInfo":
        return both(metadata_of(item.metadata), Metadata(words=item.description or ""))
    if kind in ("Doc", "DocInfo"):
        return Metadata(words=item.documentation)
    if kind == "Timezone":
        return Metadata(aware=item.tz is not None, unenforced=("Timezone",) if item.tz not in (None, ...) else ())
    if kind in ("Predicate", "Not"):
        return Metadata(unenforced=(f"{kind} {getattr(item.func, '__qualname__', item.func)}",))
    if kind in _VALIDATORS:
        name = getattr(getattr(item, "func", None), "__name__", "")
        return Metadata(unenforced=(f"{kind} {name}".strip(),))
    if kind in _SILENT:
        return Metadata()
    return both(_bounds(item), _grouped(item, kind))


def _grouped(item: Any, kind: str) -> Metadata:
    if hasattr(item, "__is_annotated_types_grouped_metadata__") or kind == "StringConstraints":
        return both(metadata_of(iter(item)), _transforms(item))
    if hasattr(item, "__get_pydantic_core_schema__") and kind not in ("_fields", "PydanticGeneralMetadata"):
        return Metadata(unenforced=(kind,))
    return _transforms(item)


def _bounds(item: Any) -> Metadata:
    """What attributes say, as annotated-types, msgspec's ``Meta`` and Pydantic's general metadata have them."""
    values: dict[str, Any] = {name: getattr(item, name, None) for name in _BOUNDS}
    pattern = getattr(item, "pattern", None)
    pattern = getattr(pattern, "pattern", pattern)
    aware = getattr(item, "tz", None)
    metadata = Metadata(
        **values,
        least=getattr(item, "min_length", None),
        most=getattr(item, "max_length", None),
        patterns=(pattern,) if isinstance(pattern, str) else (),
        aware=aware if isinstance(aware, bool) else None,
        words=getattr(item, "description", None) or "",
    )
    places, digits = getattr(item, "decimal_places", None), getattr(item, "max_digits", None)
    if places is not None:
        metadata = both(metadata, Metadata(multiple_of=Decimal(1).scaleb(-places)))
    if digits is not None:
        if places is None:
            return both(metadata, Metadata(unenforced=("max_digits without decimal_places",)))
        bound = Decimal(10) ** (digits - places)
        metadata = both(metadata, Metadata(gt=-bound, lt=bound))
    return metadata


def _transforms(item: Any) -> Metadata:
    return Metadata(unenforced=tuple(name for name in _TRANSFORMS if getattr(item, name, None)))
