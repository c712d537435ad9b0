"""Checks of what callers give: errors that say which argument of which function is at fault."""

from __future__ import annotations

import operator

_MADE_BY = {"Grammar": "; make one with Grammar.from_lark"}


def require(caller: str, name: str, value: object, kind: type) -> None:
    """Raise TypeError unless it is an instance of one of pdacon's public classes."""
    if not isinstance(value, kind):
        advice = _MADE_BY.get(kind.__name__, "")
        raise TypeError(f"{caller}: {name} must be a pdacon.{kind.__name__}, not {type(value).__name__}{advice}")


def require_bool(caller: str, name: str, value: object) -> None:
    """Raise TypeError unless it is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{caller}: {name} must be True or False, not {type(value).__name__}")


def require_count(caller: str, name: str, value: object) -> int:
    """The value as an int; TypeError if it is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{caller}: {name} must be a whole number, not {type(value).__name__}")
    return operator.index(value)
