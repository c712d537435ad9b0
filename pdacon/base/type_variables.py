"""`Value`: what the texts of a grammar stand for, as a type checker knows it; ``Any`` where nothing says.

In: nothing. Out: the type variable of `Grammar`, `Constraint`, `Generator` and `Generation`. Its default needs
typing_extensions, which type checkers bring along; without one it is a plain variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Value = TypeVar("Value", covariant=True, default=Any)
else:
    from typing import TypeVar

    Value = TypeVar("Value", covariant=True)
