"""`Value`: what the texts of a grammar stand for, as a type checker knows it; ``Any`` where nothing says.

In: nothing. Out: the type variable of `Grammar`, `Constraint`, `Generator` and `Generation`; and that of functions that
take a type form, such as ``Literal["a"]`` or ``Invoice | None`` (PEP 747), for which checkers that know none take the
default. Defaults need typing_extensions, which type checkers bring along; without one they are plain variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Value = TypeVar("Value", covariant=True, default=Any)
    OfForm = TypeVar("OfForm", default=Any)
else:
    from typing import TypeVar

    Value = TypeVar("Value", covariant=True)
    OfForm = TypeVar("OfForm")
