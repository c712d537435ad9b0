"""The styles of arguments that structural tags know -> pieces.

In: a style and a JSON Schema. Out: a piece of a structural tag. A style is the part of a tool format that
writes arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pdacon.errors import EmptyLanguageError
from pdacon.frontends.json_schema import draft_of
from pdacon.frontends.structural_tags.pieces import Piece, TextPiece
from pdacon.frontends.structural_tags.styles import StyledArguments
from pdacon.frontends.tool_arguments import arguments_schema
from pdacon.frontends.tool_formats.argument_schema import ArgumentSchema, ToolSchema
from pdacon.frontends.tool_formats.building import styled_arguments
from pdacon.frontends.tool_formats.formats import FORMATS
from pdacon.frontends.tool_formats.ordered_pieces import in_order

_FORMATS = {
    "qwen_xml": "mimo",
    "minimax_xml": "minimax_m2",
    "minimax_m3_xml": "minimax_m3",
    "deepseek_xml": "deepseek_v3_2",
    "deepseek_v4_1_xml": "deepseek_v4_1",
    "glm_xml": "glm4_7",
    "cohere_xml": "cohere",
    "kimi_k3_xml": "kimi_k3",
    "gemma": "gemma4",
}
"""The format whose arguments are in a style."""
_IDENTIFIER = "pdacon:arguments"


def styled(asked: StyledArguments) -> Piece:
    """The piece of arguments in a style other than JSON.

    Raises
    ------
    UnsupportedTypeError, UnsupportedSchemaError
        The schema says what cannot be said of arguments in this style.
    EmptyLanguageError
        None satisfy it.
    """
    if asked.schema is False:
        raise EmptyLanguageError("no value satisfies the schema")
    node = {} if asked.schema is True else asked.schema
    schema = {"$ref": "#/$defs/arguments", "$defs": {"arguments": arguments_schema(node, _identifier(node))}}
    origin = FORMATS[_FORMATS[asked.style]]
    format = replace(origin, name=asked.style, tokens=asked.tokens, argument=origin.argument.rstrip("\n"))
    blanks = TextPiece(asked.blanks, asked.place)
    parts = ArgumentSchema("arguments", schema, asked.spelling, asked.closed)
    tool = ToolSchema("arguments", schema, asked.closed, parts)
    piece = styled_arguments(format, tool, asked.spelling, blanks)
    before, after = format.around_arguments
    return in_order([TextPiece((before,), asked.place), piece, TextPiece((after,), asked.place)])


def _identifier(node: Any) -> str:
    """The URI that references within a schema lead from: its own, if it has one."""
    if not isinstance(node, Mapping):
        return _IDENTIFIER
    own = node.get("$id" if draft_of(node) > 4 else "id")
    return own if isinstance(own, str) and not own.startswith("#") else _IDENTIFIER
