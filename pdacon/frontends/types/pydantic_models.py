"""Pydantic's models -> records.

In: a class of Pydantic 2. Out: a record of its fields. Validators are named, since no schema has them.
"""

from __future__ import annotations

from typing import Any

from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.types.adapted import pydantic_schema
from pdacon.frontends.types.constraints import Metadata, both, metadata_of, of_keywords, of_model
from pdacon.frontends.types.hints import Hints, Scope
from pdacon.frontends.types.records import Field, Record
from pdacon.frontends.types.scalars import Anything
from pdacon.frontends.types.shapes import Mismatch, Refused, Schemas


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
    bytes_as = config.get("val_json_bytes", "utf8")
    scope = Scope(scope.names, scope.variables, bytes_as, of_model(config), owned=True)
    keys: dict[str, str] = {}
    fields = []
    for name, info in kind.__pydantic_fields__.items():
        if getattr(info, "init", None) is False:
            continue
        keys[name] = _key(info, name, f"{path}.{name}")
        fields.append(_field(hints, record, name, info, keys[name], path, scope))
    record.fields = fields
    if is_model and not hints.form.python:
        _add_own_schema(record, kind, path)
    is_root = is_model and getattr(kind, "__pydantic_root_model__", False)
    if config.get("extra") == "allow" and hints.form.python:
        raise UnsupportedTypeError(path, 'it may have members of any name; use form="json"')
    if config.get("extra") == "allow":
        record.extra = Anything(hints.form)
        record.extra_of = lambda value: value.__pydantic_extra__ or {}
    if is_root:
        _make_root(record, kind, fields[0])
    elif is_model:
        # A member that is no field may have the name of a field that has another one in texts.
        record.make_with = lambda values, others: kind.model_validate(
            {keys[name]: value for name, value in values.items()} | others
        )
        record._make = lambda values: record.make_with(values, {})


def _add_own_schema(record: Record, kind: Any, path: str) -> None:
    """Let a model's ``__get_pydantic_json_schema__`` say what else it asks for."""
    import pydantic

    hook = kind.__get_pydantic_json_schema__.__func__
    usual = pydantic.BaseModel.__get_pydantic_json_schema__.__func__  # type: ignore[attr-defined]
    if hook is usual:
        return
    members = {"__get_pydantic_json_schema__": classmethod(usual), "__module__": kind.__module__}
    try:
        asked, plain = pydantic_schema(kind), pydantic_schema(type(kind.__name__, (kind,), members))
    except Exception as error:  # it is the author's code
        raise UnsupportedTypeError(path, f"Pydantic makes no JSON Schema of it: {error}") from error
    more = {keyword: value for keyword, value in asked.items() if plain.get(keyword) != value}
    if "properties" in more:
        before = plain.get("properties", {})
        more["properties"] = {name: part for name, part in more["properties"].items() if before.get(name) != part}
    own = record.own_schema

    def schema(schemas: Schemas) -> dict[str, Any]:
        base = {"$id": f"pdacon:model/{schemas.number(record)}"} if "$defs" in asked else {}
        return {"allOf": [own(schemas), {**base, **{"$defs": asked.get("$defs", {})}, **more}]}

    if more:
        record.own_schema = schema  # type: ignore[method-assign]


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
    metadata = both(metadata, of_keywords(info.json_schema_extra))
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
            hints.advised(path, f"validator {name}", "no schema can say it")
    if "__post_init__" in dir(kind):
        hints.advised(path, "__post_init__", "it may refuse values")
    own_init = next((base.__module__ for base in kind.__mro__ if "__init__" in vars(base)), "")
    post = next((base.__module__ for base in kind.__mro__ if "model_post_init" in vars(base)), "pydantic.main")
    if hasattr(kind, "model_validate") and not own_init.startswith("pydantic"):
        hints.advised(path, "__init__", "it may refuse values")
    if not post.startswith("pydantic") and not getattr(kind, "__private_attributes__", None):
        hints.advised(path, "model_post_init", "it may refuse values")
