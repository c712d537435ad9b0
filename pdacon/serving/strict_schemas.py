"""What ``strict: true`` beside a schema says: it is true or false, and the schema has no keyword that is misspelled.

JSON Schema takes such a keyword for a remark. A client that asks for strictness hears of it, as with OpenAI.
"""

from __future__ import annotations

from typing import Any

from pdacon.frontends.json_schema import misspelled_keywords
from pdacon.serving.failures import RequestError, malformed


def is_strict(strict: Any, param: str) -> bool:
    """Whether a request says so; null is no. Raises RequestError: it is something else."""
    if strict is not None and not isinstance(strict, bool):
        raise malformed(param, "true or false")
    return bool(strict)


def require_known_keywords(schema: Any, param: str) -> None:
    """Refuse a schema with a misspelled keyword. Raises RequestError with its place; ``param``: that of the schema."""
    for pointer, keyword, why in misspelled_keywords(schema):
        advice = "mend it, or leave strict out"
        raise RequestError(
            400, f"{param}{pointer}: {keyword}: {why} {advice}", param=f"{param}{pointer}", code="bad_schema"
        )
