"""Whether stock Lark looks for terminals that collide.

Where interegular is installed, Lark looks with it for such terminals in order to warn of them: for seconds or hours
with some patterns, and it fails with an error of interegular's own at others. The language is the same without it, so
the tests do without; only Lark's strict mode needs it.
"""

from __future__ import annotations

from typing import Any
from unittest import mock

import lark
import lark.lexer
import pytest


def look_for_none() -> None:
    """From now on Lark looks for no collisions in this process."""
    lark.lexer.has_interegular = False


def strict_lark(text: str, **options: Any) -> lark.Lark:
    """Stock Lark in its strict mode; a test skips where interegular is not installed."""
    pytest.importorskip("interegular")
    with mock.patch("lark.lexer.has_interegular", new=True):
        return lark.Lark(text, strict=True, **options)
