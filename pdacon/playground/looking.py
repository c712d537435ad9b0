"""Says how a text is read, and what may come after it, as the page shows it.

In: a constraint and a text. Out: JSON-ready records: lexemes, the place, the stack, and the next tokens.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import numpy as np

from pdacon import Constraint, Matcher, Vocabulary
from pdacon.base.quoting import quote
from pdacon.matching import Explanation

LONGEST = 100_000
"""Characters of a text."""
_CHIPS = 120  # tokens that are listed
_LEXEMES = 2000  # that are told apart
_DEEPEST = 60  # symbols of a stack
_FORCED = 400  # bytes
_COMPLETION = 400
_WIDTH = 66


def read_tokens(constraint: Constraint, text: str, wanted: str, most: int = _CHIPS) -> dict[str, Any]:
    """Whether a text is the beginning of a sentence, and then what may come after it; as `read_text` has them.

    That takes some milliseconds of a new constraint, and to tell which terminals may come up to some hundred.
    """
    matcher = constraint.matcher()
    if not matcher.accept_bytes(text.encode("utf-8", "surrogatepass")):
        return {"viable": False}
    return {"viable": True, "tokens": next_tokens(constraint.vocabulary, matcher, wanted, most)}


def read_text(constraint: Constraint, text: str, wanted: str, most: int = _CHIPS) -> dict[str, Any]:
    """How a text is read as far as it is the beginning of a sentence, why not further, and what may come there.

    ``wanted``: only tokens that have it are listed. ``most``: so many of the allowed and of the refused ones.
    """
    given = text.encode("utf-8", "surrogatepass")
    whole = constraint.matcher().explain(given, lexemes=None)
    viable = given[: whole.viable]
    matcher = constraint.matcher()
    matcher.accept_bytes(viable)
    here = whole if whole.allowed else constraint.matcher().explain(viable, lexemes=None)
    forced = matcher.forced_bytes(_FORCED)
    return {
        "viable": whole.allowed,
        "whole": here.may_end,
        "line": whole.line,
        "column": whole.column,
        "reason": whole.reason,
        "meant": None if whole.unlisted is None else whole.unlisted.meant,
        "why": whole.render(_WIDTH) if not whole.allowed else "",
        "lexemes": _lexemes(here),
        "lexeme": shown(here.lexeme),
        "unfinished": list(here.unfinished),
        "expected": [name for name in here.expected if name not in here.ignored],
        "ignored": list(here.ignored),
        "rules": list(here.written_rules or here.rules),
        "within": list(here.within),
        "schema": list(here.schema),
        "stack": list(here.stack[-_DEEPEST:]),
        "deeper": max(0, len(here.stack) - _DEEPEST),
        "forced": forced.decode("utf-8", "ignore"),
        "completion": _completion(matcher),
        "tokens": next_tokens(constraint.vocabulary, matcher, wanted, most),
    }


def _lexemes(here: Explanation) -> list[dict[str, str]]:
    """The pieces of what was read, one after the other; the last may be unfinished.

    Where they are many, the earlier ones come as one piece, which keeps the page quick.
    """
    read = here.before + here.text
    shown_cuts = here.cuts[-_LEXEMES:]
    pieces = [{"text": _text(cut.text), "terminal": cut.terminal, "fate": cut.fate} for cut in shown_cuts]
    if earlier := b"".join(cut.text for cut in here.cuts[:-_LEXEMES]):
        pieces.insert(0, {"text": _text(earlier), "terminal": "", "fate": "earlier"})
    rest = read[sum(len(cut.text) for cut in here.cuts) :]
    if rest:
        pieces.append({"text": _text(rest), "terminal": " or ".join(here.unfinished[:4]), "fate": "unfinished"})
    return pieces


def _completion(matcher: Matcher) -> str | None:
    """The shortest text that ends the sentence; None where it is long."""
    if matcher.is_accepting() or matcher.least_bytes() > _COMPLETION:
        return "" if matcher.is_accepting() else None
    return _text(matcher.shortest_completion())


def next_tokens(vocabulary: Vocabulary, matcher: Matcher, wanted: str, most: int) -> dict[str, Any]:
    """The next tokens: how many, the mask as bits, and some of the allowed and of the refused ones."""
    mask = matcher.allowed_mask()
    fitting = _fitting(vocabulary, wanted)
    allowed = [token for token in np.flatnonzero(mask).tolist() if fitting is None or token in fitting]
    refused = [token for token in np.flatnonzero(~mask).tolist() if fitting is None or token in fitting]
    return {
        "allowed": int(mask.sum()),
        "size": vocabulary.size,
        "bits": base64.b64encode(np.packbits(mask, bitorder="little").tobytes()).decode("ascii"),
        "chips": _chips(vocabulary, allowed, most),
        "fitting": len(allowed),
        "refused": _chips(vocabulary, refused, most),
        "unfitting": len(refused),
    }


def _fitting(vocabulary: Vocabulary, wanted: str) -> set[int] | None:
    """The tokens that have a text in theirs, or the number after ``#``; None: all of them."""
    if not wanted:
        return None
    if wanted.startswith("#") and wanted[1:].isdecimal():
        return {int(wanted[1:])}
    sought = wanted.encode("utf-8", "surrogatepass")
    return {i for i, text in enumerate(vocabulary.tokens) if text is not None and sought in text}


def _chips(vocabulary: Vocabulary, ids: Iterable[int], most: int) -> list[dict[str, Any]]:
    """Tokens as the page shows them, readable and short ones first."""
    kept = sorted(ids, key=lambda token: (_readability(vocabulary.tokens[token]), token))[:most]
    return [{"id": token, "text": name_of(vocabulary, token), "adds": _adds(vocabulary, token)} for token in kept]


def _readability(text: bytes | None) -> tuple[bool, int]:
    if text is None:
        return False, 0  # an end token, say, is what people look for
    return not text.decode("utf-8", "replace").replace("\ufffd", "\0").isprintable(), len(text)


def name_of(vocabulary: Vocabulary, token: int) -> str:
    """What a token is called: its text, or what it stands for."""
    text = vocabulary.tokens[token]
    if text is None:
        return "<end>" if token in vocabulary.eos_ids else f"<{token}>"
    return shown(text)


def _adds(vocabulary: Vocabulary, token: int) -> str | None:
    """What it adds to a text in the page; None: nothing that can be typed."""
    try:
        return (vocabulary.tokens[token] or b"").decode("utf-8") or None
    except UnicodeDecodeError:
        return None


def shown(text: bytes) -> str:
    """Bytes on one line, with escapes where they are not printable; without quotes, spaces made visible."""
    quoted = quote(text)
    inner = quoted[1:-1]
    return (inner.replace('\\"', '"') if quoted[0] == '"' else inner).replace(" ", "␣")


def _text(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def explain_token(constraint: Constraint, text: str, token: int | None, typed: str) -> dict[str, Any]:
    """Why a token, or a text that was typed, may or may not come after a text."""
    matcher = constraint.matcher()
    given = text.encode("utf-8", "surrogatepass")
    if not matcher.accept_bytes(given):
        whole = matcher.explain(given)
        matcher = constraint.matcher()
        matcher.accept_bytes(given[: whole.viable])
    asked: int | bytes = typed.encode("utf-8", "surrogatepass") if token is None else token
    explanation = matcher.explain(asked)
    name = shown(asked) if isinstance(asked, bytes) else name_of(constraint.vocabulary, asked)
    return {
        "name": name,
        "token": token,
        "allowed": explanation.allowed,
        "reason": explanation.reason,
        "text": explanation.render(_WIDTH, full=True),
        "meant": None if explanation.unlisted is None else explanation.unlisted.meant,
    }
