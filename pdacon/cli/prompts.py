"""What is to be answered: the prompts of ``pdacon generate``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdacon.cli.failures import BadInput


@dataclass(frozen=True)
class Request:
    """One prompt: a text or chat messages; ``row`` is what its line said, to be repeated in the answer."""

    prompt: str | list[dict[str, str]]
    row: Mapping[str, Any] = field(default_factory=dict)


def requests_of(prompts: Sequence[str], source: str | None, *, chat: bool) -> list[Request]:
    """Those given one by one, then those of ``--input``.

    Raises BadInput: a line of the input is not a prompt, or there is none at all in it. OSError: the input cannot be
    read.
    """
    for prompt in prompts:
        require_unicode(prompt, "--prompt")
    requests = [Request(prompt) for prompt in prompts]
    if source is not None:
        text = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        name = "standard input" if source == "-" else source
        found = [_parse(line, f"{name}, line {i}") for i, line in enumerate(text.splitlines(), 1) if line.strip()]
        if not found:
            raise BadInput(f"{name}: no prompts; give one JSON object a line, such as {_EXAMPLE}")
        requests += found
    return [_as_chat(request) for request in requests] if chat else requests


def require_unicode(text: str, place: str) -> None:
    """Refuse what no tokenizer takes: halves of characters, as which bytes of arguments come that are not UTF-8.

    Raises BadInput: there is such a half.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = ord(text[error.start])
        what = f"byte {half - 0xDC00:#04x}" if 0xDC80 <= half <= 0xDCFF else f"the lone surrogate U+{half:04X}"
        raise BadInput(f"{place} is not Unicode text: there is {what} in it") from error


_EXAMPLE = '{"prompt": "Describe a person:"}'


def _parse(line: bytes, place: str) -> Request:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadInput(f"{place}: not JSON ({error}); give one JSON object a line, such as {_EXAMPLE}") from error
    wanted = row.get("prompt", row.get("messages")) if isinstance(row, dict) else row
    require_unicode(json.dumps(wanted, ensure_ascii=False), place)
    if isinstance(row, str):
        return Request(row, {"prompt": row})
    if isinstance(row, dict) and isinstance(row.get("prompt"), str):
        return Request(row["prompt"], row)
    if isinstance(row, dict) and _are_messages(row.get("messages")):
        return Request(row["messages"], row)
    raise BadInput(f'{place}: neither {_EXAMPLE} nor {{"messages": [{{"role": "user", "content": "..."}}]}}')


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(message, dict) for message in value)


def _as_chat(request: Request) -> Request:
    if isinstance(request.prompt, str):
        return Request([{"role": "user", "content": request.prompt}], request.row)
    return request
