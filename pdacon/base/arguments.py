"""Checks of what callers give: errors that say which argument of which function is at fault."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from pdacon.base.quoting import did_you_mean

_P = ParamSpec("_P")
_R = TypeVar("_R")

_MADE_BY = {"Budget": "; give pdacon.Budget(tokens=...), or bytes="}

_SCHEMA = "; a JSON Schema is a grammar: give pdacon.Grammar.from_json_schema(...) in its place"
_OF_GRAMMARS = "; the grammar has it: give pdacon.Grammar.from_lark(text, {0}=...), or Grammar.builtin(name, {0}=...)"
_ELSEWHERE = dict.fromkeys(("json_schema", "schema", "response_format", "output_type", "guided_json"), _SCHEMA)
_ELSEWHERE |= dict.fromkeys(("lax", "strict"), "; the grammar has it: give pdacon.Grammar.from_type(a_type, {0}=True)")
_ELSEWHERE |= dict.fromkeys(
    ("start", "conflicts", "lookahead", "lexer", "postlex", "use_bytes", "import_paths", "source_path"), _OF_GRAMMARS
)


def belongs_elsewhere(name: str) -> str:
    """Where an option belongs that functions which take a grammar have not; empty if that is not known."""
    return _ELSEWHERE.get(name, "").format(name)


def helps_with_names(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a function that takes a grammar say where options belong that it has not."""

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name in kwargs:
            if name not in known and (advice := belongs_elsewhere(name)):
                raise TypeError(f"{function.__name__} has no option {name}{advice}")
        return function(*args, **kwargs)

    code = function.__code__
    known = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return checked


def require_options(caller: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for an option that is none of those that are known."""
    known = list(known)
    for name in options:
        if name not in known:
            near = did_you_mean(name, known) or f"there are: {', '.join(known)}"
            raise TypeError(f"{caller} has no option {name}; {near.strip()}")


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


def require_cancel(caller: str, cancel: object) -> None:
    """Raise TypeError unless it is None or something like a ``threading.Event``."""
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise TypeError(f"{caller}: cancel must have is_set(), as a threading.Event has, not {type(cancel).__name__}")
