"""Pydantic's models and types -> records and shapes.

In: a class of Pydantic 2. Out: a record of its fields, or, of a type without fields, the values of its JSON Schema.
Validators are named, since no schema has them; so is whatever a type's JSON Schema leaves out.
"""

from __future__ import annotations

from typing import Any

from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.types.constraints import Metadata, both, metadata_of
from pdacon.frontends.types.hints import Hints, Scope
from pdacon.frontends.types.records import Field, Record
from pdacon.frontends.types.scalars import Anything
from pdacon.frontends.types.shapes import Mismatch, Refused, Schemas, Shape

_CHANGING = ("str_strip_whitespace", "str_to_lower", "str_to_upper", "str_min_length", "str_max_length")
_WHOLE = frozenset({"SecretStr"})
"""Types whose JSON Schema says all."""


def is_pydantic(kind: type) -> bool:
    """Whether it is a model, or a dataclass of Pydantic's."""
    return isinstance(getattr(kind, "__pydantic_fields__", None), dict)


def model_fields(hints: Hints, record: Record, kind: Any, path: str, scope: Scope) -> None:
    """Put the fields of a model in its record, and how instances are made.

    Raises
    ------
    UnsupportedTypeError
        A field has no shape, or the model says what cannot be enforced.
    """
    if not getattr(kind, "__pydantic_complete__", True) and hasattr(kind, "model_rebuild"):
        kind.model_rebuild(_types_namespace=dict(scope.names))
    is_model = hasattr(kind, "model_validate")
    config = (kind.model_config if is_model else getattr(kind, "__pydantic_config__", None)) or {}
    _name_validators(hints, kind, path)
    for name in _CHANGING:
        if config.get(name):
            hints.left_out(path, name, "it changes or refuses strings")
    scope = Scope(scope.names, scope.variables, config.get("val_json_bytes", "utf8"))
    keys: dict[str, str] = {}
    fields = []
    for name, info in kind.__pydantic_fields__.items():
        if getattr(info, "init", None) is False:
            continue
        keys[name] = _key(info, name, f"{path}.{name}")
        fields.append(_field(hints, record, name, info, keys[name], path, scope))
    record.fields = fields
    is_root = is_model and getattr(kind, "__pydantic_root_model__", False)
    if config.get("extra") == "allow" and hints.form.python:
        raise UnsupportedTypeError(path, 'it may have members of any name; use form="json"')
    if config.get("extra") == "allow":
        record.extra = Anything(hints.form)
        record.extra_of = lambda value: value.__pydantic_extra__ or {}
    if is_root:
        _make_root(record, kind, fields[0])
    elif is_model:
        record._make = lambda values: kind.model_validate(
            {keys.get(name, name): value for name, value in values.items()}
        )


def _make_root(record: Record, kind: Any, root: Field) -> None:
    """A root model is written as what is in it."""

    def read(raw: Any, path: str) -> Any:
        value = root.shape.read(raw, path)
        try:
            return kind.model_validate(value)
        except ValueError as error:
            raise Refused(path, f"{kind.__name__} refuses it: {error}") from error

    def write(value: Any, path: str) -> Any:
        if not isinstance(value, kind):
            raise Mismatch(path, f"{value!r:.60} is no {kind.__name__}")
        return root.shape.write(value.root, path)

    record.root = True
    record.own_schema = root.shape.schema  # type: ignore[method-assign]
    record.read, record.write = read, write  # type: ignore[method-assign]


def _field(hints: Hints, record: Record, name: str, info: Any, key: str, path: str, scope: Scope) -> Field:
    place = f"{path}.{name}"
    metadata = both(metadata_of(info.metadata), Metadata(words=info.description or ""))
    if hints.form.python and not name.isidentifier():
        raise UnsupportedTypeError(place, f'{name!r} is no name of Python\'s; use form="json"')
    shape = hints.shape(info.annotation, place, scope, metadata)
    return Field(name, key, name, shape, info.is_required(), metadata.words)


def _key(info: Any, name: str, place: str) -> str:
    alias = info.validation_alias if info.validation_alias is not None else info.alias
    choices = getattr(alias, "choices", None)
    alias = choices[0] if choices else alias
    if alias is not None and not isinstance(alias, str):
        raise UnsupportedTypeError(place, "its alias is a path; give it a name")
    return alias or name


def _name_validators(hints: Hints, kind: Any, path: str) -> None:
    decorators = getattr(kind, "__pydantic_decorators__", None)
    for group in ("validators", "field_validators", "root_validators", "model_validators"):
        for name in getattr(decorators, group, ()):
            hints.left_out(path, f"validator {name}", "no schema can say it")
    if "__post_init__" in dir(kind):
        hints.left_out(path, "__post_init__", "it may refuse values")
    own_init = next((base.__module__ for base in kind.__mro__ if "__init__" in vars(base)), "")
    post = next((base.__module__ for base in kind.__mro__ if "model_post_init" in vars(base)), "pydantic.main")
    if hasattr(kind, "model_validate") and not own_init.startswith("pydantic"):
        hints.left_out(path, "__init__", "it may refuse values")
    if not post.startswith("pydantic") and not getattr(kind, "__private_attributes__", None):
        hints.left_out(path, "model_post_init", "it may refuse values")


class _Foreign(Shape):
    """A type of which Pydantic knows the JSON Schema and no more is known here."""

    def __init__(self, kind: Any, adapter: Any, schema: dict[str, Any]) -> None:
        self._kind, self._adapter, self._schema = kind, adapter, schema

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return self._schema

    def read(self, raw: Any, path: str) -> Any:
        try:
            return self._adapter.validate_python(raw)
        except ValueError as error:
            raise Refused(path, f"{self._kind.__name__} refuses it: {error}") from error

    def write(self, value: Any, path: str) -> Any:
        try:
            value = self._adapter.validate_python(value)
        except ValueError as error:
            raise Mismatch(path, f"{value!r:.60} is no {self._kind.__name__}") from error
        secret = getattr(value, "get_secret_value", None)
        return secret() if secret else self._adapter.dump_python(value, mode="json")

    def words(self) -> str:
        return str(self._kind.__name__)


def foreign(hints: Hints, kind: Any, path: str) -> Shape | None:
    """The shape of a type that tells Pydantic what it is; None if it does not."""
    if not hasattr(kind, "__get_pydantic_core_schema__"):
        return None
    import pydantic

    adapter: Any = pydantic.TypeAdapter(kind)
    schema = adapter.json_schema()
    if hints.form.python or "$defs" in schema:
        raise UnsupportedTypeError(path, f'{kind.__name__} is taken with form="json" only, and without definitions')
    if kind.__name__ not in _WHOLE:
        hints.left_out(path, kind.__name__, "Pydantic asks for more than its JSON Schema says")
    schema = {key: value for key, value in schema.items() if key not in ("title", "writeOnly")}
    if schema.get("format") == "password":
        del schema["format"]
    return _Foreign(kind, adapter, schema)
