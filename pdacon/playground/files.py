"""Reads the files of the page, which come with the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def content(name: str) -> bytes:
    """A file of the folder ``static``."""
    return files("pdacon.playground").joinpath("static", name).read_bytes()
