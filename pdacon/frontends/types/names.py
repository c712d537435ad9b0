"""What a type is called in messages: as its author writes it, without the modules that it is from."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

_LEVELS = 8  # tell types apart


def type_name(hint: Any, levels: int = _LEVELS) -> str:
    """The name: ``Invoice``, ``Invoice | None``, ``dict[str, int]`` or ``Literal['a', 'b']``; its outer levels."""
    if levels == 0:
        return "..."
    if hint is None or hint is type(None):
        return "None"
    if hint is ...:
        return "..."
    if isinstance(hint, list):  # the arguments of a Callable
        return f"[{', '.join(type_name(part, levels - 1) for part in hint)}]"
    origin, parts = get_origin(hint), get_args(hint)
    if origin is None:
        name = getattr(hint, "__name__", None)
        return name if isinstance(name, str) else str(hint).replace("typing.", "")
    if origin in (Union, types.UnionType):
        return " | ".join(type_name(part, levels - 1) for part in parts)
    if origin is Annotated:
        return type_name(parts[0], levels)
    own = getattr(origin, "__name__", None) or str(origin).replace("typing.", "")
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, parts))}]"
    return f"{own}[{', '.join(type_name(part, levels - 1) for part in parts)}]" if parts else str(own)
