"""Annotations -> shapes.

In: a type as Python's annotations write it. Out: its shape; what a schema cannot say is named, and what has no shape is
refused with its place, such as ``Order.items[].price``.
"""

from __future__ import annotations

import collections
import collections.abc as abc
import datetime as dt
import enum
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Annotated, Any, ForwardRef, Literal, NoReturn, TypeVar, Union, get_args, get_origin

from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.types import dates
from pdacon.frontends.types.adapted import Adapted, annotated, decided_by_pydantic, pydantic_schema
from pdacon.frontends.types.constraints import ASCII, NOTHING, Metadata, both, metadata_of
from pdacon.frontends.types.containers import FixedTuple, Flags, Items, Table
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.json_texts import json_text_schema
from pdacon.frontends.types.pydantic_strings import beside_schema, narrowed, string_schema
from pdacon.frontends.types.scalars import (
    Anything,
    LiteralValues,
    Members,
    Nothing,
    Number,
    Spelled,
    Text,
    Truth,
    Whole,
    string_keywords,
)
from pdacon.frontends.types.shapes import Later, Real, Shape, resolved
from pdacon.frontends.types.unions import Either

_LISTS: dict[Any, tuple[type, Callable[[Iterable[Any]], Any], str]] = {
    list: (list, list, ""),
    abc.Sequence: (list, list, ""),
    abc.MutableSequence: (list, list, ""),
    abc.Iterable: (list, list, ""),
    abc.Collection: (list, list, ""),
    set: (set, set, "set"),
    abc.Set: (set, set, "set"),
    abc.MutableSet: (set, set, "set"),
    frozenset: (frozenset, frozenset, "frozenset"),
    collections.deque: (collections.deque, collections.deque, "deque"),
}
_DICTS: dict[Any, tuple[type, Callable[[dict[Any, Any]], Any]]] = {
    dict: (dict, dict),
    abc.Mapping: (dict, dict),
    abc.MutableMapping: (dict, dict),
    collections.OrderedDict: (collections.OrderedDict, collections.OrderedDict),
}
_CONSTANT: dict[Any, Callable[[], Shape]] = {None: Nothing, type(None): Nothing, bool: Truth}
_NEVER = {"ImportString": "what a text names would be imported, which runs code; make it a Literal of the names"}
_SHOWN_PATH = 80
_WRAPPERS = ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar")


@dataclass(frozen=True)
class Scope:
    """Where names in annotations are looked up, and what type variables stand for.

    Of a class of Pydantic's also what its configuration says of bytes and strings; ``owned``: it validates its parts.
    """

    names: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[Any, Any] = field(default_factory=dict)
    bytes_as: str = "base64"
    strings: Metadata = NOTHING
    owned: bool = False


@dataclass
class Hints:
    """Makes shapes of annotations, each class once.

    Attributes
    ----------
    classes : callable
        The shape of a class with fields, of itself, the class with its arguments, the path and the scope; None if it is
        no such class.
    unions : list of (Either, str)
        All unions, with their paths.
    hashed : list of (Shape, str)
        What sets have as items and dicts as keys, with their paths; looked at when all classes have their fields.
    """

    form: Form
    lax: bool
    strict: bool
    classes: Callable[[Hints, Any, str, Scope], Shape | None]
    unenforced: list[tuple[str, str, str]] = field(default_factory=list)
    unions: list[tuple[Either, str]] = field(default_factory=list)
    hashed: list[tuple[Shape, str]] = field(default_factory=list)
    _known: dict[Any, Later] = field(default_factory=dict)

    def shape(self, hint: Any, path: str, scope: Scope, metadata: Metadata = NOTHING) -> Shape:
        """The shape of an annotation.

        Raises
        ------
        UnsupportedTypeError
            It has none, or says what cannot be enforced, and ``lax`` is false; or it is nested too deeply.
        """
        try:
            if metadata.unenforced:
                for what in metadata.unenforced:
                    self.advised(path, what, "no schema can say it")
                metadata = replace(metadata, unenforced=())
            hint = self._resolved(hint, path, scope)
            origin, arguments = get_origin(hint), get_args(hint)
            if origin is Annotated:
                return self.shape(arguments[0], path, scope, both(metadata_of(hint.__metadata__), metadata))
            if origin is not None and origin in special(*_WRAPPERS):
                return self.shape(arguments[0], path, scope, metadata)
            if metadata.adapted:
                return self._adapted(hint, path, scope, metadata)
            if origin in (Union, types.UnionType):
                return self._union(arguments, path, scope, metadata)
            if origin is Literal or origin in special("Literal"):
                return self._literal(arguments, path, metadata)
            return self._plain(hint, origin or hint, arguments, path, scope, metadata)
        except RecursionError:
            raise too_deep(path) from None

    def advised(self, path: str, what: str, why: str) -> None:
        """Record what only the class itself can see to when an instance is made, such as a validator.

        Raises
        ------
        UnsupportedTypeError
            Nothing of that kind is allowed.
        """
        if self.strict:
            raise UnsupportedTypeError(path, f"{what}: {why}; without strict=True it is named in unenforced")
        self.unenforced.append((path, what, why))

    def left_out(self, path: str, what: str, why: str) -> None:
        """Record that something is not enforced.

        Raises
        ------
        UnsupportedTypeError
            That is not allowed.
        """
        if not self.lax:
            raise UnsupportedTypeError(path, f"{what}: {why}; lax=True leaves it out and names it in unenforced")
        self.unenforced.append((path, what, why))

    def once(self, key: Any, name: str, make: Callable[[Later], Shape]) -> Shape:
        """The shape of what may contain itself: made once; ``make`` is given what stands for it until then."""
        try:
            later = self._known.get(key)
        except TypeError:
            return make(Later(name))
        if later is None:
            later = self._known[key] = Later(name)
            later.target = make(later)
        return later if later.target is None else later.target

    def _resolved(self, hint: Any, path: str, scope: Scope) -> Any:
        while True:
            if isinstance(hint, str | ForwardRef):
                hint = self._looked_up(hint if isinstance(hint, str) else hint.__forward_arg__, path, scope)
            elif isinstance(hint, TypeVar):
                hint = _variable(hint, scope)
            elif hasattr(hint, "__supertype__"):
                hint = hint.__supertype__
            else:
                return hint

    def _looked_up(self, text: str, path: str, scope: Scope) -> Any:
        try:
            return typing._eval_type(ForwardRef(text), dict(scope.names), {})  # type: ignore[attr-defined]
        except RecursionError:
            raise
        except Exception as error:  # an annotation is any expression
            raise UnsupportedTypeError(
                path, f"the name {text!r} is not known here ({error}); define it at the top of its module"
            ) from error

    def _plain(
        self, hint: Any, kind: Any, arguments: tuple[Any, ...], path: str, scope: Scope, metadata: Metadata
    ) -> Shape:
        if (of_python := narrowed(kind)) is not None:
            return self.shape(of_python[0], path, scope, both(of_python[1], metadata))
        if kind in (Any, object):
            self._only(path, metadata)
            return Anything(self.form)
        if kind in _CONSTANT:
            self._only(path, metadata)
            return _CONSTANT[kind]()
        if kind is int:
            return self._number(Whole(metadata, self.form.digits), path, metadata)
        if kind in (float, Decimal):
            return self._number(Number(metadata, kind, self.form), path, metadata)
        if kind is str:
            self._only(path, metadata, lengths=True, patterns=True)
            return Text(_of_string(metadata, scope))
        if alias := getattr(kind, "__value__", None):  # type X = ...
            return self._alias(hint, kind, alias, arguments, path, scope, metadata)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            self._only(path, metadata)
            return self._enum(kind, path)
        if kind in _LISTS:
            item = self.shape(arguments[0] if arguments else Any, f"{path}[]", scope)
            return self._items(kind, item, path, metadata)
        if kind is tuple:
            return self._tuple(arguments, path, scope, metadata)
        if kind in _DICTS:
            return self._table(kind, arguments or (str, Any), path, scope, metadata)
        spelled = self._spelled(kind, path, scope, metadata)
        if spelled is not None:
            return spelled
        own = self.classes(self, hint, path, scope)
        if own is None and hasattr(kind, "__get_pydantic_core_schema__"):
            return self._adapted(hint, path, scope, metadata)
        if own is None:
            self._refuse(kind, path)
        self._only(path, metadata)
        return own

    def _adapted(self, hint: Any, path: str, scope: Scope, metadata: Metadata) -> Shape:
        """The shape of what Pydantic makes, of texts that it is known to take, or that its JSON Schema has."""
        name = getattr(hint, "__name__", None) or str(hint)
        if name == "Json" and not metadata.adapted:
            return self._adapted(Any, path, scope, both(Metadata(beside=(hint,), adapted=True), metadata))
        if self.form.python:
            raise UnsupportedTypeError(path, f'{name} is taken with form="json" only')
        if name in _NEVER:
            raise UnsupportedTypeError(path, f"{name}: {_NEVER[name]}")
        schema, whole = self._adapted_schema(hint, path, scope, metadata)
        if not whole:
            self.advised(path, name, "Pydantic may refuse more than its JSON Schema says")
        keywords = {**metadata.numeric, **string_keywords(metadata)}
        if keywords:
            schema = {**schema, "allOf": [*schema.get("allOf", ()), keywords]}
        return Adapted(name, annotated(hint, metadata.beside), schema, self.form, owned=scope.owned)

    def _adapted_schema(self, hint: Any, path: str, scope: Scope, metadata: Metadata) -> tuple[dict[str, Any], bool]:
        """The schema, and whether each value of it is taken but for validators, which are named elsewhere."""
        for item in reversed(metadata.beside):
            schema = beside_schema(hint, item)
            if schema is not None:
                return schema, True
            if "Json" in (type(item).__name__, getattr(item, "__name__", "")):
                return json_text_schema(self.shape(hint, path, replace(scope, owned=False)), path), True
        schema = string_schema(hint)
        if schema is not None and not metadata.adapted:
            return schema, True
        try:
            return pydantic_schema(annotated(hint, metadata.beside)), metadata.adapted
        except RecursionError:
            raise
        except Exception as error:  # a schema is made by what the author wrote
            raise UnsupportedTypeError(path, f"Pydantic makes no JSON Schema of it: {error}") from error

    def _spelled(self, kind: Any, path: str, scope: Scope, metadata: Metadata) -> Shape | None:
        if self.form.python and getattr(kind, "__name__", "") == "timedelta":
            return None
        if kind in (bytes, bytearray) and scope.bytes_as == "utf8" and not self.form.python:
            self._only(path, metadata, lengths=True, patterns=False)
            if metadata.lengths != (0, None):  # they count bytes, which are the characters of ASCII
                metadata = replace(metadata, patterns=(ASCII,))
            spelling = dates.Spelling(kind, r"[^]*", "", lambda text: kind(text.encode()), lambda value: value.decode())
            return Spelled(spelling, metadata, self.form)
        if kind is dt.date:
            metadata = _of_days(metadata)
        if kind in (bytes, bytearray) and metadata.lengths != (0, None) and not self.form.python:
            counted = dates.counted_base64(*metadata.lengths)
            metadata = replace(metadata, least=None, most=None, patterns=(*metadata.patterns, counted))
        spelling_ = dates.spelling_of(kind, self.form.python, metadata.aware)
        if spelling_ is None:
            return None
        self._only(path, metadata, lengths=False, patterns=True)
        return Spelled(spelling_, metadata, self.form)

    def _number(self, shape: Shape, path: str, metadata: Metadata) -> Shape:
        self._only(path, metadata, numbers=True)
        return shape

    def _only(
        self, path: str, metadata: Metadata, *, numbers: bool = False, lengths: bool = False, patterns: bool = False
    ) -> None:
        """See to it that nothing else is said."""
        named = [] if numbers else [f"{name} {bound}" for name, bound in metadata.numeric.items()]
        if not lengths and metadata.lengths != (0, None):
            named.append("a length")
        if not patterns and metadata.patterns:
            named.append("a pattern")
        for what in named:
            self.left_out(path, what, "it is not enforced for this type")

    def _union(self, members: tuple[Any, ...], path: str, scope: Scope, metadata: Metadata) -> Shape:
        shapes = [
            self.shape(member, path, scope, metadata if member not in _CONSTANT else NOTHING) for member in members
        ]
        strings = [shape for shape in shapes if isinstance(resolved(shape), Text | Spelled | Adapted)]
        decide = None
        if scope.owned and not self.form.python and len(strings) > 1:
            decide = decided_by_pydantic(reduce(or_, (substituted(member, scope.variables) for member in members)))
        either = Either(shapes, decide)
        self.unions.append((either, path))
        return either

    def _literal(self, values: tuple[Any, ...], path: str, metadata: Metadata) -> Shape:
        self._only(path, metadata)
        plain = [value for value in values if not isinstance(value, enum.Enum | bytes)]
        members: list[Shape] = [LiteralValues([(value, value) for value in plain])] if plain else []
        for value in values:
            if isinstance(value, bytes):
                raise UnsupportedTypeError(path, "a Literal of bytes has no text; use bytes or a Literal of str")
            if isinstance(value, enum.Enum) and self.form.python:
                raise UnsupportedTypeError(path, 'a Literal of Enum members is taken with form="json" only')
        enums = [(_raw_member(value), value) for value in values if isinstance(value, enum.Enum)]
        members += [LiteralValues(enums)] if enums else []
        return members[0] if len(members) == 1 else Either(members)

    def _enum(self, kind: type[enum.Enum], path: str) -> Shape:
        if not len(kind):
            raise UnsupportedTypeError(path, f"{kind.__name__} has no members")
        if issubclass(kind, enum.Flag):
            if self.form.python:
                raise UnsupportedTypeError(path, f'{kind.__name__} is a Flag; form="json" takes it, as a list of names')
            return _flag(kind, self.form)
        if self.form.python:
            return Members(kind, self.form)
        return LiteralValues([(_raw_member(member), member) for member in kind], kind.__name__)

    def _items(self, kind: Any, item: Shape, path: str, metadata: Metadata) -> Shape:
        self._only(path, metadata, lengths=True)
        own, make, head = _LISTS[kind]
        least, most = metadata.lengths
        shape = Items(item, own, make, least, most, head, self.form)
        if shape.is_set and not shape.few and least > 1:
            self.left_out(path, f"at least {least} different items", "items that are equal are one in a set")
        if shape.is_set:
            self.hashed.append((item, f"{path}[]"))
        return shape

    def _tuple(self, arguments: tuple[Any, ...], path: str, scope: Scope, metadata: Metadata) -> Shape:
        if not arguments and metadata.lengths == (0, None):
            arguments = (Any, ...)
        if len(arguments) == 2 and arguments[1] is ...:
            self._only(path, metadata, lengths=True)
            least, most = metadata.lengths
            item = self.shape(arguments[0], f"{path}[]", scope)
            return Items(item, tuple, tuple, least, most, "tuple of any length", self.form)
        self._only(path, metadata)
        arguments = () if arguments == ((),) else arguments
        return FixedTuple(
            [self.shape(argument, f"{path}[{k}]", scope) for k, argument in enumerate(arguments)], self.form
        )

    def _table(self, kind: Any, arguments: tuple[Any, ...], path: str, scope: Scope, metadata: Metadata) -> Shape:
        self._only(path, metadata, lengths=True)
        keys = self.shape(arguments[0], f"{path} key", scope)
        value = self.shape(arguments[1], f"{path}[]", scope)
        own = resolved(keys)
        numbered = isinstance(own, Whole)
        choice = isinstance(own, LiteralValues) and all(isinstance(raw, str) for raw, _ in own.pairs)
        if isinstance(own, Anything):
            keys = own = Text(Metadata())
        plain = isinstance(own, Text) or choice or (isinstance(own, Spelled) and not self.form.python)
        plain = plain or (isinstance(own, Adapted) and own.is_text)
        if numbered and self.form.python:
            raise UnsupportedTypeError(f"{path} key", 'integers as keys are taken with form="json" only')
        if not plain and not (numbered and isinstance(own, Whole) and not own.metadata.numeric):
            raise UnsupportedTypeError(
                f"{path} key", "keys are strings or integers without bounds here; use a list of pairs"
            )
        least, most = metadata.lengths
        self.hashed.append((keys, f"{path} key"))
        own_kind, make = _DICTS[kind]
        return Table(keys, value, own_kind, make, least, most, numbered, self.form.digits)

    def _alias(
        self, hint: Any, kind: Any, value: Any, arguments: tuple[Any, ...], path: str, scope: Scope, metadata: Metadata
    ) -> Shape:
        variables = dict(zip(getattr(kind, "__type_params__", ()), arguments, strict=False))
        inner = replace(scope, variables={**scope.variables, **variables})
        key = "alias", hint, repr(metadata)
        return self.once(key, getattr(kind, "__name__", "value"), lambda _: self.shape(value, path, inner, metadata))

    def _refuse(self, kind: Any, path: str) -> NoReturn:
        name = getattr(kind, "__qualname__", None) or repr(kind)
        if callable(getattr(kind, "model_json_schema", None)):
            way = f"give pdacon.Grammar.from_json_schema({name}.model_json_schema())"
        elif kind is complex or kind in (abc.Callable, abc.Generator):
            way = "its values have no text"
        else:
            way = "make it a dataclass, or give the field another type"
        raise UnsupportedTypeError(path, f"{name} is no type whose values can be written; {way}")


def too_deep(path: str) -> UnsupportedTypeError:
    """The refusal of a type that Python's stack has no room for."""
    shown = path if len(path) <= _SHOWN_PATH else f"{path[:_SHOWN_PATH]}..."
    why = "types are nested in each other too deeply for Python's stack"
    return UnsupportedTypeError(shown, f"{why}; write a class that has itself as a field, which nests to any depth")


def _of_string(metadata: Metadata, scope: Scope) -> Metadata:
    """What is asked of a string: of lengths what the model says holds where the field says nothing."""
    if (model := scope.strings) is NOTHING and not metadata.case:
        return metadata
    least = model.least if metadata.least is None else metadata.least
    most = model.most if metadata.most is None else metadata.most
    metadata = replace(both(model, metadata), least=least, most=most)
    return replace(metadata, case="") if scope.owned else metadata


def _of_days(metadata: Metadata) -> Metadata:
    """Bounds of days as patterns of their texts."""
    day = dt.timedelta(1)
    patterns = [
        make(bound + beyond)
        for make, bound, beyond in (
            (dates.days_from, metadata.ge, 0 * day),
            (dates.days_from, metadata.gt, day),
            (dates.days_until, metadata.le, 0 * day),
            (dates.days_until, metadata.lt, -day),
        )
        if isinstance(bound, dt.date)
    ]
    if not patterns:
        return metadata
    return replace(metadata, gt=None, ge=None, lt=None, le=None, patterns=(*metadata.patterns, *patterns))


def special(*names: str) -> tuple[Any, ...]:
    """What ``typing`` and, if it is loaded, ``typing_extensions`` have under these names."""
    modules = (typing, sys.modules.get("typing_extensions"))
    return tuple(getattr(module, name) for module in modules for name in names if hasattr(module, name))


def substituted(hint: Any, variables: Mapping[Any, Any]) -> Any:
    """An annotation with type variables replaced by what they stand for."""
    if isinstance(hint, TypeVar):
        return variables.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ())
    if not parameters or isinstance(hint, type) or not variables:
        return hint
    return hint[tuple(variables.get(parameter, parameter) for parameter in parameters)]


def _variable(variable: Any, scope: Scope) -> Any:
    if variable in scope.variables:
        return scope.variables[variable]
    if variable.__constraints__:
        return reduce(or_, variable.__constraints__)
    return Any if variable.__bound__ is None else variable.__bound__


def _raw_member(member: enum.Enum) -> Any:
    """The value of a member where JSON has it, else its name."""
    value = member.value
    if isinstance(value, float):
        return Real(repr(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return str.__str__(value)
    return value if value is None or isinstance(value, bool) else member.name


def _flag(kind: type[enum.Flag], form: Form) -> Shape:
    names = [
        (member.name, member)
        for member in kind.__members__.values()
        if member.value and member.value & (member.value - 1) == 0
    ]

    def make(some: Iterable[Any]) -> Any:
        return reduce(or_, some, kind(0))

    return Flags(LiteralValues(names, kind.__name__), frozenset, make, 0, None, "", form, kind)
