"""The grammars of small_grammars.txt as data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class SmallGrammar:
    """A grammar, the characters its texts are made of, and the options with which Lark and pdacon load it.

    Attributes
    ----------
    why
        The fact that the grammar exercises.
    alphabet
        Two to five characters. With ``use_bytes`` each of them, up to U+00FF, stands for the byte of that number.
    options
        Keyword arguments for stock Lark and for ``Grammar.from_lark`` alike.
    conflicts, lookahead
        pdacon's own options: what it takes to make it accept the grammar.
    refused
        Class name of the error with which ``pdacon.compile`` must refuse the grammar under those options; None if it
        compiles.
    length
        How long the texts are that are tried; None: as long as some thousand of them allow.
    """

    name: str
    why: str
    text: str
    alphabet: str
    options: dict[str, Any] = field(default_factory=dict)
    conflicts: str = "error"
    lookahead: str = "reject"
    refused: str | None = None
    length: int | None = None

    @property
    def starts(self) -> tuple[str, ...]:
        start = self.options.get("start", "start")
        return (start,) if isinstance(start, str) else tuple(start)

    def encode(self, text: str) -> bytes:
        """A text over the alphabet as bytes."""
        return text.encode("latin-1" if self.options.get("use_bytes") else "utf-8")

    def decode(self, text: bytes) -> str | None:
        """The text that bytes spell, or None."""
        try:
            return text.decode("latin-1" if self.options.get("use_bytes") else "utf-8")
        except UnicodeDecodeError:
            return None

    @property
    def letters(self) -> list[bytes]:
        """The bytes that spell the alphabet's characters."""
        return [bytes([byte]) for byte in sorted(set(self.encode(self.alphabet)))]

    def __str__(self) -> str:
        options = f"  ({self.options})" if self.options else ""
        return f"{self.name}: {self.why}{options}\n{self.text}"


def _read(path: Path) -> tuple[SmallGrammar, ...]:
    text = re.sub(r"^## .*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return tuple(_parse(block) for block in text.split("\n=== ")[1:])


def _parse(block: str) -> SmallGrammar:
    head, why, text = block.split("\n", 2)
    name, head = head.split(" ", 1)
    alphabet, end = json.JSONDecoder().raw_decode(head)
    return SmallGrammar(name, why, text.rstrip("\n") + "\n", alphabet, **json.loads(head[end:] or "{}"))


SMALL_GRAMMARS = _read(Path(__file__).with_suffix(".txt"))


def small_grammar(name: str) -> SmallGrammar:
    """The small grammar of a name."""
    return next(grammar for grammar in SMALL_GRAMMARS if grammar.name == name)
