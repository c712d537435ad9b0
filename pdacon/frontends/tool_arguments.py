"""What the description of a tool says of the arguments of a call: one meaning for all who take tools.

In: the JSON Schema that describes the parameters, as MCP and OpenAI have it, or none. Out: the schema of the arguments,
for use within another one. Arguments are an object whether the schema says so or not; without parameters it is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema import draft_of, is_assertion

_NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def arguments_schema(parameters: Any, identifier: str) -> dict[str, Any]:
    """The schema of the arguments of a call.

    Parameters
    ----------
    parameters : Any
        The schema of the parameters; None: there are none. An empty schema is that of any object.
    identifier : str
        A URI that no other schema beside it has: references within the schema lead from it.

    Raises
    ------
    UnsupportedSchemaError
        It is no schema, or none of objects.
    """
    if parameters is None:
        return dict(_NOTHING)
    if not isinstance(parameters, Mapping):
        raise UnsupportedSchemaError("#", "", "parameters are described by a JSON Schema of an object")
    draft = draft_of(parameters)
    schema = {**parameters, "$id" if draft > 4 else "id": identifier}
    if "$ref" in schema and draft <= 7:  # what is beside it means nothing, an identifier included
        asserted = {keyword: value for keyword, value in schema.items() if is_assertion(keyword)}
        others = {keyword: value for keyword, value in schema.items() if keyword not in asserted}
        return {**others, "allOf": [{"type": "object"}, asserted]}
    kind = schema.get("type", "object")
    if kind == "object" or (isinstance(kind, list | tuple) and "object" in kind):
        return {**schema, "type": "object"}
    raise UnsupportedSchemaError("#", "type", f"the arguments of a call are an object, and this is {kind!r:.40}")


def tool_identifier(name: str) -> str:
    """The URI of the schema of a tool's arguments."""
    return f"pdacon:tool/{quote(name, safe='')}"


def closed_documents(tools: Iterable[Any]) -> tuple[str, ...]:
    """The URIs of the schemas of tools that are described as strict, as OpenAI does: their objects are closed."""
    described = [one.get("function", one) for one in tools if isinstance(one, Mapping)]
    return tuple(
        tool_identifier(one["name"])
        for one in described
        if isinstance(one, Mapping) and one.get("strict") is True and isinstance(one.get("name"), str)
    )


def call_schema(name: str, arguments: Any, key: str = "arguments") -> dict[str, Any]:
    """The schema of a call in JSON: the name of the tool, and its arguments in the member `key`."""
    return {
        "type": "object",
        "properties": {"name": {"const": name}, key: arguments},
        "required": ["name", key],
        "additionalProperties": False,
    }
