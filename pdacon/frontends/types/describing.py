"""What a type is, in words for the prompt of a model: docstrings, descriptions of fields, bounds.

In: a shape. Out: lines of text: what it is, then each record with its fields.
"""

from __future__ import annotations

from pdacon.base.graphs import reachable
from pdacon.frontends.types.records import Record
from pdacon.frontends.types.shapes import Shape, resolved
from pdacon.frontends.types.tools import Calls


def described(shape: Shape) -> str:
    """The description of a shape and of all records in it."""
    shape = resolved(shape)
    blocks = [] if isinstance(shape, Record | Calls) else [shape.words()]
    for part in reachable([shape], lambda shape: map(resolved, shape.parts())):
        if isinstance(part, Record):
            blocks.append(_record(part))
        elif isinstance(part, Calls):
            tools = part.tools.values()
            blocks += [
                f"{tool.name}: {_line(tool.doc)}" for tool in tools if tool.doc and not _has_record(tool.arguments)
            ]
    return "\n\n".join(blocks)


def _has_record(shape: Shape) -> bool:
    return isinstance(shape, Record) or any(isinstance(resolved(part), Record) for part in shape.parts())


def _record(record: Record) -> str:
    lines = [f"{record.name}: {_line(record.doc)}" if record.doc else f"{record.name}:"]
    if record.tag is not None:
        lines.append(f"- {record.tag[0]} ({record.tag[1]!r})")
    for field in record.fields:
        optional = "" if record.always(field) else ", may be left out"
        words = f": {_line(field.words)}" if field.words else ""
        lines.append(f"- {record.key(field)} ({field.shape.words()}{optional}){words}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())
