"""``pdacon explain``: why may something, or may not, come at a place?"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import replace
from typing import Any

from rich.text import Text

from pdacon import Constraint, Matcher
from pdacon.cli.display import GREEN, RED, show, width
from pdacon.cli.failures import FINDINGS
from pdacon.cli.inventory import find_tokens, is_id, token_text
from pdacon.cli.vocabularies import Tokens
from pdacon.matching import Cut, Explanation
from pdacon.matching.explanation import Unlisted

_LEXEMES = 10
_SHOWN = 200  # characters of a text
_DEEPEST = 40  # symbols of a stack


def explain(constraint: Constraint, text: bytes, token: str | None, *, uncut: bool = False) -> Explanation:
    """Why ``token`` may or may not come after ``text``; without one, or where the text itself goes wrong: the text.

    ``uncut``: with all lexemes.
    """
    lexemes = None if uncut else _LEXEMES
    strip = constraint.vocabulary.strip_leading_space  # as when a model generates
    matcher: Matcher = constraint.matcher(strip_leading_space=strip)
    if token is None:
        return matcher.explain(text, lexemes=lexemes)
    asked = find_tokens(constraint.vocabulary, token)[0] if is_id(token) else token_text(token)
    return matcher.explain(asked if matcher.accept_bytes(text) else text, lexemes=lexemes)


def show_explanation(
    constraint: Constraint,
    text: bytes,
    token: str | None,
    tokens: Tokens | None,
    *,
    whole: bool,
    full: bool,
    uncut: bool,
    json_format: bool,
    source: str = "<text>",
) -> int:
    """Print the explanation; 1 if what was asked about is not allowed, or with ``whole`` is no sentence."""
    explanation = explain(constraint, text, token, uncut=uncut)
    if token is not None and text and not explanation.before and not explanation.allowed:
        sys.stderr.write("pdacon: the text itself is not allowed, so this is about the text\n")
    if json_format:
        print(json.dumps(_as_dict(explanation, uncut=uncut), ensure_ascii=False))  # noqa: T201
    else:
        rendered = explanation.render(width(), full=full, uncut=uncut, source=source)
        if explanation.token is not None and tokens is not None and not explanation.text:
            which = f"token {explanation.token}"
            rendered = rendered.replace(which, f"{which} {tokens.name(explanation.token)}", 1)
        shown = Text(rendered)
        shown.highlight_regex(r"^.*?(?:\bis not allowed|:\d+: error):", f"bold {RED}")
        shown.highlight_regex(r"(?m)^ +\| +\^", f"bold {RED}")
        shown.highlight_regex(r"^.*?\bis allowed:", f"bold {GREEN}")
        shown.highlight_regex(r"(?m)^  [a-z]+:", "bold")
        show(shown)
    if whole and explanation.allowed and not explanation.may_end:
        sys.stderr.write("pdacon: it is the beginning of a text, and not a whole one\n")
    return 0 if explanation.allowed and (explanation.may_end or not whole) else FINDINGS


def _as_dict(explanation: Explanation, *, uncut: bool) -> dict[str, Any]:
    deeper = 0 if uncut else max(0, len(explanation.stack) - _DEEPEST)
    shown = replace(explanation, stack=explanation.stack[deeper:])
    return {**_plain(shown, uncut), "deeper": deeper}


def _plain(value: Any, uncut: bool) -> Any:
    if isinstance(value, bytes):
        return _text(value, uncut)
    if isinstance(value, tuple):
        return [_plain(item, uncut) for item in value]
    if isinstance(value, (Explanation, Cut, Unlisted)):
        return {field.name: _plain(getattr(value, field.name), uncut) for field in dataclasses.fields(value)}
    return value


def _text(text: bytes, uncut: bool) -> str:
    """A text; unless ``uncut`` the middle of a long one is left out, and said how much that is."""
    half = 2 * _SHOWN  # bytes, which have at least half as many characters as are shown
    if uncut or len(text) <= 2 * half:
        return text.decode("utf-8", "backslashreplace")
    first, last = text[:half].decode("utf-8", "ignore"), text[-half:].decode("utf-8", "ignore")
    left_out = len(text) - 2 * half
    return f"{first}... ({left_out:,} bytes) ...{last}"
