"""What ``Annotated`` says beside a type: bounds, lengths, patterns, words.

In: metadata of annotated-types, Pydantic or msgspec, known by their attributes so that none has to be installed. Out:
`Metadata`: what a schema can say, the names of what it cannot, and what Pydantic is to be asked for.

Source: https://github.com/annotated-types/annotated-types for the names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import Any

_BOUNDS = ("gt", "ge", "lt", "le", "multiple_of")
_KEYWORDS = {
    "exclusiveMinimum": "gt",
    "minimum": "ge",
    "exclusiveMaximum": "lt",
    "maximum": "le",
    "multipleOf": "multiple_of",
    "minLength": "least",
    "maxLength": "most",
}
_SILENT = frozenset({"Unit", "Strict", "FailFast", "Discriminator", "Tag", "Doc", "DocInfo", "AliasChoices"})
_SILENT_CLASSES = frozenset({"_OnErrorOmit", "_AllowAnyJson"})
ASCII = r"^[\u0000-\u007f]*$"
_BLANK = r"\t-\r\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_STRIPPED = rf"^(?:[^{_BLANK}](?:[^]*[^{_BLANK}])?)?$"
"""Strings without white space, as Unicode has it, at their ends."""
_LARGEST = Decimal(sys.float_info.max)
_SERIALIZERS = frozenset({"PlainSerializer", "WrapSerializer", "SerializeAsAny"})
_VALIDATORS = frozenset({"AfterValidator", "BeforeValidator", "PlainValidator", "WrapValidator", "InstanceOf"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """What an annotation asks of values.

    ``aware`` is of datetimes, ``total`` of decimals: how many digits they have at most. ``unenforced`` names what no
    schema can say. ``case`` is how Pydantic changes the letters of what was read; ``beside`` has what only Pydantic
    reads, and ``adapted`` says whether some of that tells which JSON is taken, as ``WithJsonSchema`` does.
    """

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
    total: int | None = None
    case: str = ""
    beside: tuple[Any, ...] = ()
    adapted: bool = False

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
    metadata = NOTHING
    for item in items:
        metadata = both(metadata, _of_item(item))
    return metadata


def both(first: Metadata, second: Metadata) -> Metadata:
    """What two ask for together: of two bounds the narrower one."""
    if first is NOTHING or second is NOTHING:
        return second if first is NOTHING else first
    return Metadata(
        gt=_chosen(max, first.gt, second.gt),
        ge=_chosen(max, first.ge, second.ge),
        lt=_chosen(min, first.lt, second.lt),
        le=_chosen(min, first.le, second.le),
        multiple_of=_chosen(_common_multiple, first.multiple_of, second.multiple_of),
        least=_chosen(max, first.least, second.least),
        most=_chosen(min, first.most, second.most),
        patterns=(*first.patterns, *second.patterns),
        aware=first.aware if second.aware is None else second.aware,
        words=second.words or first.words,
        unenforced=(*first.unenforced, *second.unenforced),
        total=_chosen(min, first.total, second.total),
        case=second.case or first.case,
        beside=(*first.beside, *second.beside),
        adapted=first.adapted or second.adapted,
    )


def _chosen(choose: Any, first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else choose(first, second)


def _common_multiple(first: Any, second: Any) -> Any:
    """The least number that is a multiple of both: of fractions in lowest terms."""
    one, other = Fraction(str(first)), Fraction(str(second))
    common = Fraction(lcm(one.numerator, other.numerator), gcd(one.denominator, other.denominator))
    return Decimal(common.numerator) / Decimal(common.denominator)


def _of_item(item: Any) -> Metadata:
    if isinstance(item, str):
        return Metadata(words=item)
    if isinstance(item, type):
        return _of_class(item)
    kind = type(item).__name__
    if isinstance(item, slice):  # Len was once written so
        return Metadata(least=item.start, most=item.stop)
    if kind == "FieldInfo":
        own = both(metadata_of(item.metadata), of_keywords(item.json_schema_extra))
        return both(own, Metadata(words=item.description or ""))
    if kind in ("Doc", "DocInfo"):
        return Metadata(words=item.documentation)
    if kind == "Timezone":
        return Metadata(aware=item.tz is not None, unenforced=("Timezone",) if item.tz not in (None, ...) else ())
    if kind in ("Predicate", "Not"):
        return Metadata(unenforced=(f"{kind} {getattr(item.func, '__qualname__', item.func)}",))
    if kind in _VALIDATORS:
        name = getattr(getattr(item, "func", None), "__name__", "")
        return Metadata(unenforced=(f"{kind} {name}".strip(),), beside=(item,))
    if kind in _SILENT:
        return Metadata()
    if kind in _SERIALIZERS:
        return Metadata(beside=(item,))
    return both(_bounds(item), _grouped(item, kind))


def _of_class(item: type) -> Metadata:
    if item.__name__ == "Json":
        return Metadata(beside=(item,), adapted=True)
    return Metadata() if item.__name__ in _SILENT_CLASSES else _hooked(item, item.__name__)


def _grouped(item: Any, kind: str) -> Metadata:
    if hasattr(item, "__is_annotated_types_grouped_metadata__") or kind == "StringConstraints":
        return metadata_of(iter(item))
    if kind == "UuidVersion":
        return Metadata(patterns=(f"^.{{14}}{item.uuid_version}.{{4}}[89abAB]",))
    if kind == "AllowInfNan":
        return Metadata() if item.allow_inf_nan else FINITE
    if kind == "PathType":
        return Metadata(unenforced=(f"PathType {item.path_type!r}",))
    if kind in ("_fields", "PydanticGeneralMetadata", "_PydanticGeneralMetadata"):
        return both(_of_strings(item), FINITE if getattr(item, "allow_inf_nan", None) is False else NOTHING)
    return both(_of_strings(item), _hooked(item, kind))


def _hooked(item: Any, kind: str) -> Metadata:
    """What tells Pydantic what it is: by a JSON Schema, or only by what it refuses."""
    if kind == "WithJsonSchema":
        return Metadata() if item.mode == "serialization" else Metadata(beside=(item,), adapted=True)
    if kind in ("Json", "EncodedStr", "EncodedBytes", "UrlConstraints"):
        return Metadata(beside=(item,), adapted=True)
    refuses = (kind,) if hasattr(item, "__get_pydantic_core_schema__") else ()
    if hasattr(item, "__get_pydantic_json_schema__"):
        return Metadata(unenforced=refuses, beside=(item,), adapted=True)
    return Metadata(unenforced=refuses, beside=(item,)) if refuses else Metadata()


def of_keywords(extra: Any) -> Metadata:
    """What a field's ``json_schema_extra`` asks for, if it is a dict."""
    if not isinstance(extra, Mapping):
        return NOTHING
    given = {name: extra[keyword] for keyword, name in _KEYWORDS.items() if keyword in extra}
    pattern = extra.get("pattern")
    return Metadata(**given, patterns=(pattern,) if isinstance(pattern, str) else ())


def of_model(config: Mapping[str, Any]) -> Metadata:
    """What a model's configuration asks of its strings."""
    patterns = (_STRIPPED,) if config.get("str_strip_whitespace") else ()
    case = next((name for name in ("upper", "lower") if config.get(f"str_to_{name}")), "")
    least = config.get("str_min_length") or None
    return Metadata(least=least, most=config.get("str_max_length"), patterns=patterns, case=case)


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
    if digits is not None and places is None:
        return both(metadata, Metadata(total=digits))
    if digits is not None:
        bound = Decimal(10) ** (digits - places)
        metadata = both(metadata, Metadata(gt=-bound, lt=bound))
    return metadata


def _of_strings(item: Any) -> Metadata:
    """How Pydantic changes strings before it looks at them: what it would strip does not come; letters are free."""
    patterns = ((_STRIPPED,) if getattr(item, "strip_whitespace", None) else ()) + (
        (ASCII,) if getattr(item, "ascii_only", None) else ()
    )
    case = next((name for name in ("to_upper", "to_lower") if getattr(item, name, None)), "")
    return Metadata(patterns=patterns, case=case.removeprefix("to_"))


FINITE = Metadata(ge=-_LARGEST, le=_LARGEST)
"""Floats but the infinite ones."""
