"""How values are written that JSON has not: a notation beside JSON's, with types of values of its own.

In: nothing. Out: the marks of such types. A schema of another front end may ask for the type ``object:Point``: an
object that is written ``Point(x=1)``. It is no value of the type ``object``, and all keywords for objects apply to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands around the parts of a value.

    Attributes
    ----------
    opening, closing : str
    empty : str
        An object or an array without parts.
    name_opening, name_closing : str
        Around the name of a member.
    bare : bool
        Whether a string is written without its quotes; then it has only letters, digits and underscores.
    """

    opening: str
    closing: str
    empty: str = ""
    name_opening: str = '"'
    name_closing: str = '": '
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Notation:
    """The texts of ``null``, ``true`` and ``false``, and the marks of types such as ``object:Point``."""

    constants: Mapping[str, str]
    marks: Mapping[str, Marks]
