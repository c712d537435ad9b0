"""The room `drawing`, which is there if what draws is installed."""

from __future__ import annotations

from types import ModuleType


def drawing() -> ModuleType:
    """The room.

    Raises
    ------
    ModuleNotFoundError
        What draws is not installed; the message says what to install.
    """
    try:
        from pdacon import drawing
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"pictures need {error.name}: pip install 'pdacon[draw]'", name=error.name, path=error.path
        ) from error
    return drawing
