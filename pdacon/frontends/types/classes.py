"""Classes with fields -> records: dataclasses, TypedDicts, named tuples, attrs, msgspec.

In: a class, perhaps with arguments for its type variables. Out: its record. attrs and msgspec are known by what their
classes have, and imported only then.
"""

from __future__ import annotations

import dataclasses
import datetime
import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin

from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.types.constraints import NOTHING, Metadata, both, metadata_of
from pdacon.frontends.types.hints import Hints, Scope, special, substituted, too_deep
from pdacon.frontends.types.pydantic_models import is_pydantic, model_fields
from pdacon.frontends.types.records import Field, Record, docstring_of
from pdacon.frontends.types.scalars import Whole
from pdacon.frontends.types.shapes import Later, Shape

_DAYS = 999_999_999


def class_shape(hints: Hints, hint: Any, path: str, scope: Scope) -> Shape | None:
    """The shape of a class with fields; None if it is none.

    Raises
    ------
    UnsupportedTypeError
        A field has no shape, or the class does what no schema can say.
    """
    kind = get_origin(hint) or hint
    if not isinstance(kind, type):
        return None
    arguments = tuple(substituted(argument, scope.variables) for argument in get_args(hint))
    key = kind, arguments
    if kind is datetime.timedelta:
        return hints.once(key, "timedelta", lambda _: _timedelta(hints))
    reader = _reader_of(kind)
    if reader is None:
        return None
    put_fields, options = reader
    words = ", ".join(getattr(argument, "__name__", str(argument)) for argument in arguments)
    name = f"{kind.__name__}[{words}]" if words and not hints.form.python else kind.__name__

    def make(later: Later) -> Shape:
        is_dict = put_fields is _typed_dict_fields
        make_instance = dict if is_dict else lambda values: kind(**values)
        of = None if is_dict else kind
        later.target = record = Record(name, make_instance, of, hints.form, doc=docstring_of(kind), **options)
        put_fields(hints, record, kind, path, _scope(kind, arguments))
        return record

    return hints.once(key, name, make)


def _reader_of(kind: type) -> tuple[Callable[[Hints, Record, Any, str, Scope], None], dict[str, Any]] | None:
    """What puts the fields of a class into its record, and what else the record is; None: it has no fields."""
    if is_pydantic(kind):
        return model_fields, {}
    if dataclasses.is_dataclass(kind):
        return _dataclass_fields, {}
    if typing.is_typeddict(kind) or any(is_typed(kind) for is_typed in special("is_typeddict")):
        return _typed_dict_fields, {}
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _named_tuple_fields, {"as_list": True}
    if hasattr(kind, "__attrs_attrs__"):
        return _attrs_fields, {}
    config: Any = getattr(kind, "__struct_config__", None)
    if config is None:
        return None
    tag = None if config.tag is None else (config.tag_field, config.tag)
    return _struct_fields, {"as_list": config.array_like, "tag": tag}


def _scope(kind: type, arguments: tuple[Any, ...]) -> Scope:
    variables: dict[Any, Any] = dict(zip(getattr(kind, "__parameters__", ()), arguments, strict=False))
    pending = [kind]
    while pending:
        for base in getattr(pending.pop(), "__orig_bases__", ()):
            origin = get_origin(base)
            if origin is None or not hasattr(origin, "__parameters__"):
                continue
            pending.append(origin)
            for own, given in zip(origin.__parameters__, get_args(base), strict=False):
                variables.setdefault(own, substituted(given, variables))
    variables = {own: given for own, given in variables.items() if own is not given}
    names = {**vars(sys.modules[kind.__module__]), kind.__name__: kind} if kind.__module__ in sys.modules else {}
    return Scope(names, variables)


def type_hints(given: Any, path: str, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The annotations of a class or a function, with names looked up.

    Raises
    ------
    UnsupportedTypeError
        A name is not known.
    """
    try:
        return typing.get_type_hints(given, localns={given.__name__: given, **(names or {})}, include_extras=True)
    except RecursionError:
        raise too_deep(path) from None
    except Exception as error:  # an annotation is any expression
        why = f"its annotations cannot be looked up ({error}); define what they name at the top of its module"
        raise UnsupportedTypeError(path, why) from error


def _owned(hints: Hints, record: Record, name: str, hint: Any, path: str, scope: Scope, **more: Any) -> Field:
    """A field of a record: its words are those of ``Annotated``."""
    metadata: Metadata = more.pop("metadata", NOTHING)
    words = metadata.words or metadata_of(getattr(hint, "__metadata__", ())).words
    key = more.pop("key", name)
    argument = more.pop("argument", name)
    if hints.form.python and not record.plain and not str(argument).isidentifier():
        raise UnsupportedTypeError(f"{path}.{name}", f'{argument!r} is no name of Python\'s; use form="json"')
    shape = hints.shape(hint, f"{path}.{name}", scope, metadata)
    return Field(name, key, argument, shape, more["required"], more.get("words") or words)


def _dataclass_fields(hints: Hints, record: Record, kind: Any, path: str, scope: Scope) -> None:
    own = type_hints(kind, path)
    fields = []
    if "__post_init__" in dir(kind):
        hints.advised(path, "__post_init__", "it may refuse values")
    for name, attribute in kind.__dataclass_fields__.items():
        if attribute._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
            raise UnsupportedTypeError(f"{path}.{name}", "it is an InitVar, which no instance keeps; make it a field")
        if attribute._field_type is not dataclasses._FIELD or not attribute.init:  # type: ignore[attr-defined]
            continue
        missing = dataclasses.MISSING
        required = attribute.default is missing and attribute.default_factory is missing
        words = (
            attribute.metadata.get("description")
            or attribute.metadata.get("doc")
            or getattr(attribute, "doc", None)
            or ""
        )
        fields.append(_owned(hints, record, name, own[name], path, scope, required=required, words=words))
    record.fields = fields


def _typed_dict_fields(hints: Hints, record: Record, kind: Any, path: str, scope: Scope) -> None:
    own = type_hints(kind, path)
    required: frozenset[str] = kind.__required_keys__
    record.fields = [
        _owned(hints, record, name, hint, path, scope, required=_is_required(hint, name in required))
        for name, hint in own.items()
    ]
    extra = getattr(kind, "__extra_items__", None)
    if extra is not None and extra not in special("NoExtraItems", "Never", "NoReturn"):
        record.extra = hints.shape(extra, f"{path}.*", scope)


def _is_required(hint: Any, otherwise: bool) -> bool:
    """What ``Required`` or ``NotRequired`` says, also where annotations are texts and the class did not see it."""
    origin = get_origin(hint)
    if origin in special("Required"):
        return True
    return False if origin in special("NotRequired") else otherwise


def _named_tuple_fields(hints: Hints, record: Record, kind: Any, path: str, scope: Scope) -> None:
    own = type_hints(kind, path)
    for name in kind._fields:
        if name not in own:
            raise UnsupportedTypeError(f"{path}.{name}", "it has no annotation; use typing.NamedTuple")
    record.fields = [
        _owned(hints, record, name, own[name], path, scope, required=name not in kind._field_defaults)
        for name in kind._fields
    ]


def _attrs_fields(hints: Hints, record: Record, kind: Any, path: str, scope: Scope) -> None:
    own = type_hints(kind, path)
    fields = []
    if "__attrs_post_init__" in dir(kind):
        hints.advised(path, "__attrs_post_init__", "it may refuse values")
    for attribute in kind.__attrs_attrs__:
        place = f"{path}.{attribute.name}"
        if not attribute.init:
            continue
        if attribute.name not in own:
            raise UnsupportedTypeError(place, "it has no annotation")
        if attribute.converter is not None:
            hints.advised(place, "converter", "it makes other values")
        metadata = _validators(attribute.validator)
        more = {"required": repr(attribute.default) == "NOTHING", "words": attribute.metadata.get("description", "")}
        alias = getattr(attribute, "alias", None) or attribute.name.lstrip("_")
        names = {"key": alias, "argument": alias}
        fields.append(
            _owned(hints, record, attribute.name, own[attribute.name], path, scope, metadata=metadata, **names, **more)
        )
    record.fields = fields


def _validators(validator: Any) -> Metadata:
    """What attrs' own validators say."""
    if validator is None:
        return Metadata()
    kind = type(validator).__name__
    if kind == "_AndValidator":
        metadata = Metadata()
        for part in validator._validators:
            metadata = both(metadata, _validators(part))
        return metadata
    if kind == "_NumberValidator":
        name = {">=": "ge", ">": "gt", "<=": "le", "<": "lt"}.get(validator.compare_op, "")
        return Metadata(**{name: validator.bound}) if name else Metadata(unenforced=(kind,))
    if kind in ("_MinLengthValidator", "_MaxLengthValidator"):
        least = getattr(validator, "min_length", None)
        return Metadata(least=least, most=getattr(validator, "max_length", None))
    if kind == "_OptionalValidator":
        return _validators(validator.validator)
    if kind == "_InstanceOfValidator":
        return Metadata()
    return Metadata(unenforced=(f"validator {getattr(validator, '__name__', kind)}",))


def _struct_fields(hints: Hints, record: Record, kind: Any, path: str, scope: Scope) -> None:
    import msgspec

    own = type_hints(kind, path)
    if "__post_init__" in dir(kind):
        hints.advised(path, "__post_init__", "it may refuse values")
    nothing = msgspec.NODEFAULT
    record.fields = []
    for field in msgspec.structs.fields(kind):
        more = {"key": field.encode_name, "required": field.default is nothing and field.default_factory is nothing}
        record.fields.append(_owned(hints, record, field.name, own[field.name], path, scope, **more))


def _timedelta(hints: Hints) -> Record:
    kind = datetime.timedelta
    record = Record("timedelta", lambda values: kind(**values), kind, hints.form)
    record.fields = [
        Field("days", "days", "days", Whole(Metadata(ge=-_DAYS, le=_DAYS)), False),
        Field("seconds", "seconds", "seconds", Whole(Metadata(ge=0, lt=86_400)), False),
        Field("microseconds", "microseconds", "microseconds", Whole(Metadata(ge=0, lt=1_000_000)), False),
    ]
    return record
