"""Functions and descriptions of tools -> the shape of a call of one of them.

In: functions, classes, and dicts as MCP, OpenAI and others describe tools. Out: the shape of calls: in JSON
``{"name": "f", "arguments": {"x": 1}}``, where the name decides what the arguments are, in Python ``f(x=1)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import lru_cache
from typing import Any

from pdacon.base.quoting import did_you_mean
from pdacon.errors import UnsupportedSchemaError, UnsupportedTypeError
from pdacon.frontends.tool_arguments import arguments_schema, call_schema, tool_identifier
from pdacon.frontends.types.checks import check_characters
from pdacon.frontends.types.classes import type_hints
from pdacon.frontends.types.constraints import metadata_of
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.hints import Hints, Scope
from pdacon.frontends.types.records import Field, Record, docstring_of
from pdacon.frontends.types.scalars import Anything
from pdacon.frontends.types.shapes import Mismatch, Named, Schemas, Shape, resolved, shown

_SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters", "parametersJsonSchema")
# Members that are spelled like these and describe what a tool returns: they are no misspelling.
_KEYS = (*_SCHEMA_KEYS, "outputSchema", "output_schema", "response", "responseJsonSchema")


@dataclass(frozen=True)
class Call:
    """A call that was read from a text.

    Attributes
    ----------
    name : str
        Of the function or the tool.
    arguments : dict
        The arguments that the text has, by name, as values of their types.
    function : callable or None
        What `call` calls: the function, or the class; None for a tool that only a dict describes.
    """

    name: str
    arguments: dict[str, Any]
    function: Callable[..., Any] | None = dataclass_field(default=None, compare=False)

    @property
    def bound(self) -> inspect.BoundArguments:
        """The arguments bound to the function's parameters, defaults included.

        Raises
        ------
        TypeError
            There is no function.
        """
        signature = inspect.signature(self._callable())
        bound = inspect.BoundArguments(signature, {})
        left = dict(self.arguments)
        for name, parameter in signature.parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                bound.arguments[name] = left
            elif name in left:
                bound.arguments[name] = left.pop(name)
        bound.apply_defaults()
        return bound

    def call(self) -> Any:
        """Call the function with the arguments.

        Raises
        ------
        TypeError
            There is no function; look for it by ``name`` then.
        """
        function = self._callable()
        if isinstance(function, type):
            return function(**self.arguments)
        bound = self.bound
        return function(*bound.args, **bound.kwargs)

    def _callable(self) -> Callable[..., Any]:
        if self.function is None:
            raise TypeError(
                f"{self.name} was described by a dict, so that there is nothing to call; call it by its name"
            )
        return self.function


@dataclass(frozen=True, eq=False)
class Tool:
    """One of the tools: its name, what its arguments are, and what it is for."""

    name: str
    arguments: Shape
    function: Callable[..., Any] | None
    doc: str

    @property
    def is_of_schema(self) -> bool:
        """Whether a JSON Schema is all that says what its arguments are, so that their shape takes any."""
        return isinstance(self.arguments, Described)


class Calls(Shape):
    """A call of one of some tools. ``key`` is the name of the member with the arguments."""

    def __init__(self, tools: Sequence[Tool], key: str, form: Form) -> None:
        self.tools, self.key, self._form = {tool.name: tool for tool in tools}, key, form

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        parts = [tool.arguments.schema(schemas) for tool in self.tools.values()]
        if not self._form.python:
            parts = [call_schema(name, part, self.key) for name, part in zip(self.tools, parts, strict=True)]
        return parts[0] if len(parts) == 1 else {"anyOf": parts}

    def read(self, raw: Any, path: str) -> Call:
        if self._form.python:
            name, arguments = getattr(raw, "head", None), raw
        elif isinstance(raw, dict):
            name, arguments = raw.get("name"), raw.get(self.key)
        else:
            raise Mismatch(path, f"{shown(raw)} is no call")
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise Mismatch(path, f"there is no tool {shown(name)}")
        return Call(tool.name, tool.arguments.read(arguments, tool.name), tool.function)

    def write(self, value: Any, path: str) -> Any:
        if not isinstance(value, Call) or value.name not in self.tools:
            raise Mismatch(path, f"{shown(value)} is no call of {' or '.join(self.tools)}")
        if not isinstance(value.arguments, Mapping):
            raise Mismatch(path, f"the arguments of {value.name} are no dict")
        arguments = self.tools[value.name].arguments.write(value.arguments, value.name)
        return arguments if self._form.python else {"name": value.name, self.key: arguments}

    def words(self) -> str:
        return " or ".join(f"call of {name}" for name in self.tools)

    def parts(self) -> list[Shape]:
        return [tool.arguments for tool in self.tools.values()]


class _Arguments(Record):
    """The arguments of a function: a dict, written as a call in Python's form."""

    def __init__(self, name: str, form: Form, doc: str) -> None:
        super().__init__(name, dict, dict, form, doc=doc)

    def write(self, value: Any, path: str) -> Any:
        raw = self.write_arguments(value, path)
        arguments = {field.argument for field in self.fields}
        others = {key: argument for key, argument in value.items() if key not in arguments}
        if others and self.extra is None:
            raise Mismatch(path, f"it has no {next(iter(others))}")
        self.write_extra(others, raw, path)
        return self._form.marked(self.name, raw)


class Described(Named):
    """The arguments of a tool that a dict describes: what its JSON Schema says, as plain values."""

    def __init__(self, name: str, schema: dict[str, Any], form: Form) -> None:
        self.name = name
        self._schema = schema
        self._values = Anything(form)

    def own_schema(self, schemas: Schemas) -> dict[str, Any]:
        return self._schema

    def read(self, raw: Any, path: str) -> Any:
        return self._values.read(raw, path)

    def write(self, value: Any, path: str) -> Any:
        return self._values.write(value, path)

    def words(self) -> str:
        return "object"


def tool_of(hints: Hints, given: Any) -> Tool:
    """The tool that a function, a class or a dict is.

    Raises
    ------
    UnsupportedTypeError
        A parameter has no annotation, or one without a shape.
    TypeError
        It is none of these.
    """
    if isinstance(given, Mapping):
        return _described(given, hints.form)
    if isinstance(given, type):
        shape = resolved(hints.shape(given, given.__name__, Scope()))
        _refuse_no_object(shape, given, hints.form)
        return Tool(given.__name__, OfInstance(shape, hints.form), given, docstring_of(given))
    if not callable(given) or not hasattr(given, "__name__"):
        raise TypeError(f"a tool is a function, a class or a dict that describes one, not {shown(given)}")
    return _function(hints, given)


def _refuse_no_object(shape: Shape, kind: type, form: Form) -> None:
    """A call has its arguments by name, which a class has as fields."""
    name = kind.__name__
    if not isinstance(shape, Record):
        raise UnsupportedTypeError(
            name, "it has no fields, so that its arguments are no object; give a function, or a class with fields"
        )
    if shape.root:
        raise UnsupportedTypeError(name, "it is a root model, so that its arguments are no object; give it fields")
    if shape.plain and form.python:
        raise UnsupportedTypeError(name, 'a TypedDict as a tool is taken with form="json" only; or make it a dataclass')
    if shape.as_list:
        raise UnsupportedTypeError(name, "JSON has a list of its fields and no object; make it a dataclass")


class OfInstance(Shape):
    """A class as a tool: its fields are the arguments."""

    def __init__(self, shape: Shape, form: Form) -> None:
        self.shape, self._form = shape, form

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return self.shape.schema(schemas)

    def read(self, raw: Any, path: str) -> Any:
        value = self.shape.read(raw, path)
        if isinstance(value, dict):
            return value
        fields = self.shape.fields if isinstance(self.shape, Record) else ()
        return {field.argument: getattr(value, field.name) for field in fields}

    def write(self, value: Any, path: str) -> Any:
        assert isinstance(self.shape, Record)
        return self._form.marked(self.shape.name, self.shape.write_arguments(value, path))

    def words(self) -> str:
        return self.shape.words()

    def parts(self) -> list[Shape]:
        return [self.shape]


def _described(given: Mapping[str, Any], form: Form) -> Tool:
    inner = given.get("function")
    described = inner if isinstance(inner, Mapping) else given
    name = described.get("name")
    if not isinstance(name, str) or not name:
        raise TypeError(
            f"a dict that describes a tool has its name, as those of MCP and OpenAI do, not {shown(dict(given))}"
        )
    try:
        check_characters(name, "its name")
    except Mismatch as error:
        raise UnsupportedTypeError(shown(name), str(error)) from None
    for key in described:
        if key not in _KEYS and (near := _meant(str(key)[:60])):
            raise UnsupportedTypeError(name, f"a dict that describes a tool has no {key!r:.60}; {near.strip()}")
    if form.python:
        raise UnsupportedTypeError(name, 'a tool that a dict describes is taken with form="json" only')
    key = next(
        (key_of_schema for key_of_schema in _SCHEMA_KEYS if described.get(key_of_schema) is not None), "parameters"
    )
    try:
        schema = arguments_schema(described.get(key), tool_identifier(name))
    except UnsupportedSchemaError as error:
        raise UnsupportedTypeError(name, f"{key}: {error.why}") from error
    return Tool(name, Described(name, schema, form), None, str(described.get("description") or ""))


@lru_cache(maxsize=256)
def _meant(key: str) -> str:
    """Which member of a dict a misspelled one means; the same keys are in all tools of a list."""
    return did_you_mean(key, _SCHEMA_KEYS)


def _function(hints: Hints, function: Any) -> Tool:
    name = function.__name__
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise UnsupportedTypeError(name, f"its signature is not known ({error}); describe it with a dict") from error
    own = type_hints(inspect.unwrap(getattr(function, "__func__", function)), name)
    record = _Arguments(name, hints.form, docstring_of(function))
    fields = []
    for parameter in signature.parameters.values():
        path = f"{name}.{parameter.name}"
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise UnsupportedTypeError(
                path, f"*{parameter.name} has no name in a call; make it a parameter with a list"
            )
        if parameter.name not in own:
            raise UnsupportedTypeError(path, "it has no annotation, so that nothing says what it takes")
        shape = hints.shape(own[parameter.name], path, Scope(getattr(function, "__globals__", {})))
        if parameter.kind is parameter.VAR_KEYWORD:
            if hints.form.python:
                raise UnsupportedTypeError(path, f'**{parameter.name} may have any name; use form="json"')
            record.extra = shape
            continue
        required = parameter.default is parameter.empty
        words = metadata_of(getattr(own[parameter.name], "__metadata__", ())).words
        fields.append(Field(parameter.name, parameter.name, parameter.name, shape, required, words))
    record.fields = fields
    return Tool(name, record, function, record.doc)
