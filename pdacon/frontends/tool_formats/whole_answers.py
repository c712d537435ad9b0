"""`Answer`: what a whole answer stands for, or as much of it as has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pdacon.frontends.types.tools import Call


class ReadCall(NamedTuple):
    """A call as it was read: its arguments as JSON."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """An answer of a model.

    Attributes
    ----------
    reasoning : str
        What it thought, without what the format puts around it.
    text : str
        What it said beside its calls, before and after them.
    calls : tuple of Call
        The calls of which all is there.
    missing : str or None
        What an answer that was cut lacks; None: nothing.
    """

    reasoning: str
    text: str
    calls: tuple[Call, ...]
    missing: str | None = None
