"""``pdacon explain``: why may something, or may not, come at a place?"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

from rich.text import Text

from pdacon import Constraint, Matcher
from pdacon.cli.display import show, width
from pdacon.cli.failures import FINDINGS
from pdacon.cli.inventory import find_tokens, is_id, token_text
from pdacon.cli.vocabularies import Tokens
from pdacon.matching import Explanation


def explain(constraint: Constraint, text: bytes, token: str | None) -> Explanation:
    """Why ``token`` may or may not come after ``text``; without one, or where the text itself goes wrong: the text."""
    strip = constraint.vocabulary.strip_leading_space  # as when a model generates
    matcher: Matcher = constraint.matcher(strip_leading_space=strip)
    if token is None:
        return matcher.explain(text)
    asked = find_tokens(constraint.vocabulary, token)[0] if is_id(token) else token_text(token)
    return matcher.explain(asked) if matcher.accept_bytes(text) else matcher.explain(text)


def show_explanation(
    constraint: Constraint,
    text: bytes,
    token: str | None,
    tokens: Tokens | None,
    *,
    whole: bool,
    full: bool,
    json_format: bool,
) -> int:
    """Print the explanation; 1 if what was asked about is not allowed, or with ``whole`` is no sentence."""
    explanation = explain(constraint, text, token)
    if token is not None and text and not explanation.before and not explanation.allowed:
        sys.stderr.write("pdacon: the text itself is not allowed, so this is about the text\n")
    if json_format:
        print(json.dumps(_as_dict(explanation), ensure_ascii=False))  # noqa: T201
    else:
        rendered = explanation.render(width(), full=full)
        if explanation.token is not None and tokens is not None and not explanation.text:
            which = f"token {explanation.token}"
            rendered = rendered.replace(which, f"{which} {tokens.name(explanation.token)}", 1)
        shown = Text(rendered)
        shown.highlight_regex(r"^.*?\bis not allowed:", "bold red")
        shown.highlight_regex(r"^.*?\bis allowed:", "bold green")
        shown.highlight_regex(r"(?m)^  [a-z]+:", "bold")
        show(shown)
    if whole and explanation.allowed and not explanation.may_end:
        sys.stderr.write("pdacon: it is the beginning of a text, and not a whole one\n")
    return 0 if explanation.allowed and (explanation.may_end or not whole) else FINDINGS


def _as_dict(explanation: Explanation) -> dict[str, Any]:
    return {name: _plain(value) for name, value in dataclasses.asdict(explanation).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
