"""One case: a grammar, its options and a vocabulary, as plain data: a file of it shows the same thing again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import lark
from fuzz.finds import Progress
from lark.indenter import Indenter
from support.collisions import look_for_none

import pdacon

look_for_none()  # the search runs beside the tests as well, in processes of its own

EVERY_BYTE = tuple(bytes([byte]) for byte in range(256))


@dataclass(frozen=True)
class Case:
    """What is tried.

    Attributes
    ----------
    options
        Of ``Grammar.from_lark``, but for the postlexer.
    indenter
        The attributes of an Indenter, or None.
    tokens, eos
        The vocabulary.
    seed
        Of every random choice that the checks make.
    texts
        Texts to try beside those that are made from the grammar.
    limits
        Keyword arguments of ``pdacon.Limits``; none: the default ones.
    features
        What is in the grammar, for the table.
    effort
        How many texts and walks, as a factor: less where stock Lark takes long for each text.
    """

    grammar: str
    options: dict[str, Any]
    tokens: tuple[bytes | None, ...]
    eos: tuple[int, ...]
    seed: str = "0"
    indenter: dict[str, Any] | None = None
    texts: tuple[bytes, ...] = ()
    limits: dict[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    effort: float = 1.0

    @property
    def starts(self) -> list[str]:
        start = self.options.get("start", "start")
        return [start] if isinstance(start, str) else list(start)

    @property
    def every_byte(self) -> bool:
        """Whether the vocabulary spells all texts."""
        return set(EVERY_BYTE) <= {
            token for id, token in enumerate(self.tokens) if token is not None and id not in self.eos
        }

    def to_json(self) -> str:
        data = asdict(self)
        data["tokens"] = [None if token is None else token.decode("latin-1") for token in self.tokens]
        data["texts"] = [text.decode("latin-1") for text in self.texts]
        return json.dumps(data, indent=1, ensure_ascii=True)

    @classmethod
    def from_json(cls, text: str) -> Case:
        data = json.loads(text)
        data["tokens"] = tuple(None if token is None else token.encode("latin-1") for token in data["tokens"])
        data["texts"] = tuple(text.encode("latin-1") for text in data.get("texts", ()))
        data["eos"] = tuple(data["eos"])
        data["features"] = tuple(data.get("features", ()))
        known = {name: value for name, value in data.items() if name in cls.__dataclass_fields__}
        return cls(**known)

    @classmethod
    def from_file(cls, path: Path) -> Case:
        return cls.from_json(path.read_text(encoding="utf-8"))

    def but(self, **changes: Any) -> Case:
        return replace(self, **changes)

    def encode(self, text: str) -> bytes:
        """The bytes of a text: of characters, or with ``use_bytes`` of bytes."""
        return text.encode("latin-1" if self.options.get("use_bytes") else "utf-8", "replace")

    def postlex(self) -> Indenter | None:
        """The Indenter, as a user would write it: a subclass with attributes."""
        if self.indenter is None:
            return None
        base = pdacon.FixedWidthIndenter if "indent_len" in self.indenter else Indenter
        return type("CaseIndenter", (base,), dict(self.indenter))()

    def lark(self, **more: Any) -> lark.Lark:
        """Stock Lark for it, with a postlexer of its own."""
        options = {name: value for name, value in self.options.items() if name not in ("conflicts", "lookahead")}
        options.setdefault("lexer", "contextual")
        return lark.Lark(self.grammar, parser="lalr", postlex=self.postlex(), **options, **more)

    def load(self) -> pdacon.Grammar:
        return pdacon.Grammar.from_lark(self.grammar, postlex=self.postlex(), **self.options)

    def vocabulary(self) -> pdacon.Vocabulary:
        return pdacon.Vocabulary.from_tokens(self.tokens, eos_ids=self.eos)


class Oracle:
    """Stock Lark, which says what the language is. Each text is parsed once."""

    def __init__(self, case: Case, progress: Progress) -> None:
        self.parser = case.lark()
        self.progress = progress
        self.use_bytes: bool = case.options.get("use_bytes", False)
        self.parsed = 0
        self._known: dict[tuple[str, bytes], bool] = {}

    def accepts(self, text: bytes, start: str) -> bool:
        """Whether Lark parses the text: whatever it raises is a no."""
        key = start, text
        known = self._known.get(key)
        if known is None:
            self.parsed += 1
            # If it takes too long, it is Lark that does.
            phase = self.progress.name
            self.progress.say("stock Lark parses")
            known = self._known[key] = self._parses(text, start)
            self.progress.say(phase)
        return known

    def _parses(self, text: bytes, start: str) -> bool:
        try:
            self.parser.parse(text if self.use_bytes else text.decode("utf-8"), start=start)  # type: ignore[arg-type]
        except (MemoryError, RecursionError):
            raise
        except Exception:
            return False
        return True
