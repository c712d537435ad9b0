"""JSON pointers (RFC 6901): a name as a token of one, and the tokens of one as names."""

from __future__ import annotations


def pointer_token(name: str | int) -> str:
    """How a name, or an index, stands in a pointer."""
    token = str(name)
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def pointer_names(pointer: str) -> list[str]:
    """The names and indices that a pointer leads through."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
