"""Checks of what callers give: errors that say which argument of which function is at fault."""

from __future__ import annotations

import math
import operator
import reprlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, SupportsFloat, SupportsIndex, TypeVar

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


def what_was_given(value: object) -> str:
    """What a message says of an argument that is wrong: ``None``, ``the str 'abc'``, ``the float 2.5``, ``a list``."""
    if value is None:
        return "None"
    kind = type(value).__name__
    if isinstance(value, (str, bytes, bool, int, float)):
        return f"the {kind} {reprlib.repr(value)}"
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


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
    if not isinstance(value, bool) and isinstance(value, SupportsIndex):
        with suppress(TypeError):  # of a tensor with several numbers, or with others
            return operator.index(value)
    raise TypeError(f"{caller}: {name} must be a whole number, not {type(value).__name__}")


def require_number(caller: str, name: str, value: object, what: str = "a number") -> float:
    """The value as a float; TypeError if it is no number, ValueError if it is not finite."""
    number: float | None = None
    if isinstance(value, SupportsFloat) and not isinstance(value, bool):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if number is None:
        raise TypeError(f"{caller}: {name} must be {what}, not {what_was_given(value)}")
    if not math.isfinite(number):
        raise ValueError(f"{caller}: {name} is {number}; it must be {what}")
    return number


def require_seed(caller: str, value: object) -> int:
    """A seed as torch takes it. TypeError if it is no whole number, ValueError if it does not fit."""
    seed = require_count(caller, "seed", value)
    if not -(2**63) <= seed < 2**64:
        raise ValueError(f"{caller}: seed is {reprlib.repr(seed)}; it must be from -2**63 to 2**64 - 1")
    return seed


def require_seeds(caller: str, value: object) -> None:
    """Raise unless it is a seed, or a list of them; see `require_seed`."""
    several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    for one in value if several else [value]:  # type: ignore[attr-defined]
        require_seed(caller, one)


def require_instance(caller: str, name: str, value: object, kinds: type | tuple[type, ...], what: str) -> None:
    """Raise TypeError unless it is an instance of some classes, which ``what`` names: ``name must be a str``."""
    if not isinstance(value, kinds):
        raise TypeError(f"{caller}: {name} must be {what}, not {what_was_given(value)}")


def require_cancel(caller: str, cancel: object) -> None:
    """Raise TypeError unless it is None or something like a ``threading.Event``; an empty ``caller`` is not named."""
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        place = f"{caller}: " if caller else ""
        raise TypeError(f"{place}cancel must have is_set(), as a threading.Event has, not {type(cancel).__name__}")


def require_seconds(caller: str, seconds: object) -> None:
    """Raise TypeError unless it is an int or a float, ValueError if it is negative or no number at all."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{caller}: seconds must be a number, not {type(seconds).__name__}")
    if not seconds >= 0:
        raise ValueError(f"{caller}: seconds must be at least 0, got {seconds}")
