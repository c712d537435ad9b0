"""Warnings of Python's, at the line of the caller's code and not of pdacon's own."""

from __future__ import annotations

import sys
import warnings

from pdacon.errors import GrammarWarning


def caution(message: str, kind: type[UserWarning] = GrammarWarning) -> None:
    """Warn the code that has called pdacon. Python shows the same words of the same line once."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("pdacon."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)
