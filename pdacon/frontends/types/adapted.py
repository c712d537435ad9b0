"""`Adapted`: types of which Pydantic makes the values, and what JSON is known of them.

In: what Pydantic's ``TypeAdapter`` takes, a JSON Schema, and whether the values go on to a Pydantic class, which makes
instances of them itself. Out: a shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, cached_property
from typing import Annotated, Any

from pdacon.frontends.types.checks import fits
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.scalars import Anything
from pdacon.frontends.types.shapes import Mismatch, Refused, Schemas, Shape, shown

_MOVED = ("title", "description", "writeOnly", "examples", "default", "deprecated")


class Adapted(Shape):
    """A type of which Pydantic knows more than its JSON Schema says.

    Parameters
    ----------
    name : str
    hint : type
        What Pydantic takes: a class, or ``Annotated`` with what says how it is written.
    schema : dict
        Of the JSON that is taken.
    owned : bool
        Whether values are validated by the Pydantic class that they are a part of: then what was read is left as it is,
        so that nothing is decoded twice.
    """

    def __init__(self, name: str, hint: Any, schema: dict[str, Any], form: Form, *, owned: bool) -> None:
        self._name, self._hint, self._schema, self.owned = name, hint, schema, owned
        self._plain = Anything(form)

    @property
    def is_text(self) -> bool:
        """Whether JSON has a string."""
        return self._schema.get("type") == "string"

    @cached_property
    def _adapter(self) -> Any:
        import pydantic

        return pydantic.TypeAdapter(self._hint)

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        if "$defs" not in self._schema:
            return {**self._schema, "title": self._name} if "pattern" in self._schema else self._schema
        return {"$id": f"pdacon:type/{schemas.number(self)}", **self._schema}

    def read(self, raw: Any, path: str) -> Any:
        self._require(raw, path)
        value = self._plain.read(raw, path)
        return value if self.owned else self._validated(value, path)

    def read_alone(self, raw: Any, path: str) -> Any:
        """As `read`, where the class that it is a part of does not see to it, because that has not come as a whole."""
        self._require(raw, path)
        return self._validated(self._plain.read(raw, path), path)

    def _validated(self, value: Any, path: str) -> Any:
        try:
            return self._adapter.validate_python(value)
        except ValueError as error:
            raise Refused(path, f"{self._name} refuses it: {error}") from error

    def write(self, value: Any, path: str) -> Any:
        secret = getattr(value, "get_secret_value", None)
        if secret:
            from pydantic_core import to_jsonable_python

            value = to_jsonable_python(secret())
        else:
            try:
                value = self._adapter.dump_python(value, mode="json", round_trip=True, warnings="error")
            except ValueError as error:
                raise Mismatch(path, f"{shown(value)} is no {self._name}") from error
        raw = self._plain.write(value, path)
        self._require(raw, path)
        return raw

    def _require(self, raw: Any, path: str) -> None:
        """See to it that a string is one of those that are taken; of other values the class decides."""
        if not self.is_text:
            return
        most = self._schema.get("maxLength")
        patterns = [part["pattern"] for part in (self._schema, *self._schema.get("allOf", ())) if "pattern" in part]
        long = most is not None and isinstance(raw, str) and len(raw) > most
        if not isinstance(raw, str) or long or not all(fits(pattern, raw) for pattern in patterns):
            raise Mismatch(path, f"{shown(raw)} is no text of {self._name} that is taken here")

    def words(self) -> str:
        return self._name


def pydantic_schema(hint: Any) -> dict[str, Any]:
    """The JSON Schema that Pydantic makes of a type, without what says nothing of values."""
    import pydantic

    schema: dict[str, Any] = pydantic.TypeAdapter(hint).json_schema()
    schema = {key: value for key, value in schema.items() if key not in _MOVED}
    if schema.get("format") == "password":
        del schema["format"]
    return schema


def decided_by_pydantic(hint: Any) -> Callable[[Any, str], Any]:
    """What reads a string as the member of a union that Pydantic takes JSON's string for."""

    @cache
    def adapter() -> Any:
        import pydantic

        return pydantic.TypeAdapter(hint)

    def decide(raw: Any, path: str) -> Any:
        try:
            return adapter().validate_json(json.dumps(raw))
        except ValueError as error:
            raise Refused(path, f"{shown(raw)} is refused: {error}") from error

    return decide


def annotated(hint: Any, items: tuple[Any, ...]) -> Any:
    """A type with what stands beside it."""
    for item in items:
        hint = Annotated[hint, item]
    return hint
