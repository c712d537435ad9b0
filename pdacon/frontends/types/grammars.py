"""Types, functions and tools -> grammars, with what makes values of their texts.

In: what the user gives. Out: the data of a grammar whose ``values`` reads and writes, or what reads it on demand.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, get_origin

from pdacon.base.languages import SourceLanguage
from pdacon.base.once import Once
from pdacon.base.quoting import listing
from pdacon.errors import UnsupportedSchemaError, UnsupportedTypeError
from pdacon.frontends.json_schema import Schema, Spelling, require_json
from pdacon.frontends.on_demand import OnDemand
from pdacon.frontends.partial_values import PartialValue
from pdacon.frontends.tool_arguments import closed_documents
from pdacon.frontends.types.classes import class_shape
from pdacon.frontends.types.containers import Items
from pdacon.frontends.types.describing import described
from pdacon.frontends.types.forms import Form, FormName
from pdacon.frontends.types.hashing import refuse_unhashable
from pdacon.frontends.types.hints import Hints, Scope, special
from pdacon.frontends.types.names import type_name
from pdacon.frontends.types.partials import typed_part
from pdacon.frontends.types.shapes import Schemas, Shape
from pdacon.frontends.types.tools import Call, Calls, Tool, tool_of
from pdacon.frontends.types.unions import overlap
from pdacon.grammar import GrammarData

_DIGITS = 20
"""Digits before and after a point, if nothing is said of them (decision 51)."""


@dataclass(frozen=True)
class TypeValues:
    """Values of texts and texts of values, for the grammar of a type. Equal are those of the same type and options."""

    given: Any
    options: tuple[Any, ...]
    _shape: Shape = field(compare=False, repr=False)
    _form: Form = field(compare=False, repr=False)
    _name: str = field(compare=False)

    @property
    def name(self) -> str:
        """What messages call the grammar."""
        return (
            self._name
            if self.given[0] == "type"
            else f"calls of {listing([tool.name for tool in self._tools()], 'and')}"
        )

    def _tools(self) -> Sequence[Tool]:
        shape = self._shape.item if isinstance(self._shape, Items) else self._shape
        return list(shape.tools.values()) if isinstance(shape, Calls) else []

    def read(self, text: str) -> Any:
        """See `Constraint.parse`."""
        return self._shape.read(self._form.loads(text), self._name)

    def write(self, value: Any) -> str:
        """See `Grammar.write`."""
        return self._form.dumps(self._shape.write(value, self._name))

    def claims(self, value: Any) -> Iterator[tuple[str, Schema, str]]:
        """The arguments of calls that a JSON Schema alone describes: the tool, its schema, and they as JSON."""
        shape = self._shape.item if isinstance(self._shape, Items) else self._shape
        if not isinstance(shape, Calls) or self._form.python:
            return
        for call in [value] if isinstance(value, Call) else value:
            tool = shape.tools[call.name]
            if tool.is_of_schema:
                own = Schemas()
                schema = {**tool.arguments.schema(own), "$defs": own.definitions}
                spelling, closed = self._form.spelling, any(self.options[6:])
                described = Schema(schema, spelling=spelling, closed=closed, plain_integers=True)
                yield call.name, described, self._form.dumps(tool.arguments.write(call.arguments, call.name))

    def partial(self) -> PartialValue:
        """See `Constraint.partial`."""
        if self._form.python:
            raise TypeError(f"{self._name}: values that are written in Python's form are read when they are whole")
        return PartialValue(lambda part: typed_part(self._shape, part, self._form, self._name))

    def describe(self) -> str:
        """See `Grammar.describe`."""
        return described(self._shape)

    def __reduce__(self) -> tuple[Any, ...]:
        return _values_again, (self.given, self.options)


def is_type(given: Any) -> bool:
    """Whether it is a type as annotations write it: a class, ``list[int]``, a union, an alias."""
    return (
        isinstance(given, type | types.UnionType | types.GenericAlias)
        or get_origin(given) is not None
        or hasattr(given, "__supertype__")
        or isinstance(given, special("TypeAliasType"))
    )


def type_grammar(
    given: Any, form: FormName, spelling: Spelling | None, lax: bool, strict: bool
) -> GrammarData | OnDemand:
    """See `Grammar.from_type`."""
    if not isinstance(given, Hashable):
        raise TypeError(f"Grammar.from_type takes a class or another type, not the value {given!r:.60}{_advice(given)}")
    return _grammar(("type", given), (form, spelling, lax, strict))


def _advice(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; of a JSON Schema, make a grammar with pdacon.Grammar.from_json_schema"
    return "" if type(value).__module__ == "builtins" else f"; give its class, {type(value).__name__}"


def tools_grammar(
    tools: Sequence[Any],
    form: FormName,
    spelling: Spelling | None,
    lax: bool,
    strict: bool,
    key: str,
    several: bool,
    closed: bool = False,
) -> GrammarData | OnDemand:
    """See `Grammar.from_tools`."""
    if isinstance(tools, str | dict) or not isinstance(tools, Sequence) or not tools:
        raise TypeError(f"from_tools takes a list of at least one function, class or dict, not {tools!r:.60}")
    return _grammar(("tools", tuple(tools)), (form, spelling, lax, strict, key, several, closed))


@dataclass(frozen=True)
class DescribedTools:
    """Tools, and the JSON Schemas of their arguments.

    Attributes
    ----------
    schemas : tuple of dict
        Of each tool's arguments, with all that they refer to.
    unenforced : tuple
        As of a `GrammarData`.
    """

    tools: tuple[Tool, ...]
    form: Form
    schemas: tuple[dict[str, Any], ...]
    unenforced: tuple[tuple[str, str, str], ...]


def described_tools(given: Sequence[Any], spelling: Spelling, lax: bool, strict: bool) -> DescribedTools:
    """Tools whose arguments are JSON, for front ends that write calls in other ways than `tools_grammar`.

    Raises
    ------
    UnsupportedTypeError, TypeError, ValueError
        As `Grammar.from_tools`.
    """
    form = Form("json", _with_digits(spelling))
    hints = Hints(form, lax, strict, class_shape)
    tools, schemas = _tools(hints, given), []
    for tool in tools:
        own = Schemas()
        schemas.append({**tool.arguments.schema(own), "$defs": own.definitions})
    _check(hints)
    return DescribedTools(tuple(tools), form, tuple(schemas), tuple(dict.fromkeys(hints.unenforced)))


def _tools(hints: Hints, given: Sequence[Any]) -> list[Tool]:
    tools = [tool_of(hints, tool) for tool in given]
    names = set[str]()
    for tool in tools:
        if tool.name in names:
            raise ValueError(f"two tools are called {tool.name}; give each a name of its own")
        names.add(tool.name)
    return tools


def _check(hints: Hints) -> None:
    """Refuse or name what cannot be read back."""
    for item, path in hints.hashed:
        refuse_unhashable(item, path)
    for union, path in hints.unions:
        pair = overlap(union, hints.form)
        if pair is not None:
            what = f"nothing tells {pair[0].words()} from {pair[1].words()}"
            hints.left_out(path, what, "a text of one is a text of the other and is read as the first; give each a "
                           "member of its own, such as kind: Literal[...]")  # fmt: skip


def _grammar(given: tuple[str, Any], options: tuple[Any, ...]) -> GrammarData | OnDemand:
    form, hints, shape, name = _shaped(given, options)
    schemas = Schemas()
    schema = {**shape.schema(schemas), "$defs": schemas.definitions}
    _check(hints)
    values = TypeValues(given, options, shape, form, name)
    language: SourceLanguage = "Python values" if form.python else "JSON Schema"
    with told_of_types(name, schemas.definitions):
        closed = any(options[6:]) or _strict(given)
        described = Schema(
            schema, spelling=form.spelling, lax=options[2], notation=form.notation(), closed=closed,
            plain_integers=True,
        )  # fmt: skip

    def unenforced(given: tuple[tuple[str, str, str], ...]) -> tuple[tuple[str, str, str], ...]:
        named = [(path_of(at, name, schemas.definitions), what, why) for at, what, why in given]
        return (*dict.fromkeys((*hints.unenforced, *named)),)

    def whole() -> GrammarData:
        with told_of_types(name, schemas.definitions):
            grammar = described.grammar()
        return replace(grammar, unenforced=unenforced(grammar.unenforced), values=values, language=language)

    if not described.may_be_read_on_demand():
        return whole()
    described.warn()
    known = described.unenforced
    return OnDemand(
        ("type on demand", *described.key), described.explorer, Once(whole), language, values,
        None if known is None else unenforced(known),
    )  # fmt: skip


def _strict(given: tuple[str, Any]) -> tuple[str, ...]:
    """The documents of tools that say that they are strict."""
    what, subject = given
    return closed_documents(subject) if what == "tools" else ()


@contextmanager
def told_of_types(name: str, definitions: Any) -> Iterator[None]:
    """What is said of a schema is said of the place in the type."""
    try:
        yield
    except UnsupportedSchemaError as error:
        place = path_of(error.pointer, name, definitions)
        why = f"{error.keyword}: {error.why}" if error.keyword else error.why
        raise UnsupportedTypeError(place, why, error.pointer) from error


def _shaped(given: tuple[str, Any], options: tuple[Any, ...]) -> tuple[Form, Hints, Shape, str]:
    what, subject = given
    name_of_form, spelling, lax, strict = options[:4]
    if name_of_form not in ("json", "python"):
        raise ValueError(f'form is "json" or "python", not {name_of_form!r}')
    if spelling is not None and not isinstance(spelling, Spelling):
        raise TypeError(f"spelling is a pdacon.Spelling(...), not {spelling!r:.40}")
    require_json("from_type" if what == "type" else "from_tools", spelling)
    if spelling is not None and name_of_form == "python" and replace(spelling, max_digits=None) != Spelling():
        raise ValueError('a Spelling says how JSON is written; leave out all but max_digits with form="python"')
    if lax and strict:
        raise ValueError("lax leaves out what cannot be enforced, strict refuses it; give one of them")
    form = Form(name_of_form, _with_digits(Spelling() if spelling is None else spelling))
    hints = Hints(form, lax, strict, class_shape)
    if what == "type":
        name = type_name(subject)
        return form, hints, hints.shape(subject, name, Scope()), name
    key, several, _ = options[4:]
    if not isinstance(key, str) or key == "name":
        raise ValueError(f"arguments is the name of the member with the arguments, not {key!r}")
    tools = _tools(hints, subject)
    calls: Shape = Calls(tools, key, form)
    calls = Items(calls, list, list, 1, None, "", form) if several else calls
    return form, hints, calls, tools[0].name if len(tools) == 1 else "calls"


def _with_digits(spelling: Spelling) -> Spelling:
    return replace(spelling, max_digits=_DIGITS) if spelling.max_digits is None else spelling


def _values_again(given: tuple[str, Any], options: tuple[Any, ...]) -> TypeValues:
    form, _, shape, name = _shaped(given, options)
    shape.schema(Schemas())  # so that the form knows its marks
    return TypeValues(given, options, shape, form, name)


def path_of(pointer: str, name: str, definitions: Any) -> str:
    """A pointer into the schema as a path through the type: ``Order.items[]``."""
    path, parts = name, pointer.lstrip("#").strip("/").split("/")
    k = 0
    while k < len(parts):
        step, following = parts[k], parts[k + 1] if k + 1 < len(parts) else ""
        if step == "$defs" and k == 0:
            path = following
            k += 1
        elif step == "properties":
            path += f".{following}"
            k += 1
        elif step in ("items", "additionalProperties"):
            path += "[]"
        elif step == "prefixItems":
            path += f"[{following}]"
            k += 1
        k += 1
    return path
