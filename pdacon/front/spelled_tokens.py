"""Special tokens that a grammar spells in letters: the model writes one token there, so that it is told.

In: a grammar and a vocabulary. Out: a warning for each special token whose name stands in a text of the grammar that is
a mark: what a tag begins or ends with, what surrounds a call in a format of tool calls, a string of a Lark grammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pdacon.base.cautions import caution
from pdacon.detokenizer import Vocabulary
from pdacon.errors import GrammarWarning
from pdacon.frontends.on_demand import OnDemand
from pdacon.grammar import GrammarData

_MARKS = ("begin", "end", "triggers", "separator")
_FIRST = frozenset("<[")
"""What names of special tokens begin with; others are words that texts have, too."""


def warn_of_spelled_tokens(grammar: GrammarData | OnDemand, vocabulary: Vocabulary) -> None:
    """Warn of special tokens that are written as text, and say how to name them."""
    names = [name for name in vocabulary.special_tokens if name[:1] in _FIRST and len(name) > 1]
    if not names:
        return
    if isinstance(grammar, GrammarData):
        labels = {label.name for label in grammar.labels}
        names = [name for name in names if name not in labels]
    texts, way_out = _marks(grammar)
    texts = [text for text in texts if not _FIRST.isdisjoint(text)]
    joined = "\0".join(texts)
    for name in names if texts else ():
        if name in joined:
            caution(
                f"{name!r:.60} is a special token of this vocabulary, and is written as text: it will be spelled in "
                f"letters, where the model writes one token; {way_out(name)}",
                GrammarWarning,
            )


def _marks(grammar: GrammarData | OnDemand) -> tuple[Iterable[str], Any]:
    """The texts of a grammar that are marks, and how a special token is named in their place."""
    format = getattr(getattr(grammar.values, "asked", None), "format", None)
    if format is not None:
        texts = _without(format.fixed_texts, format.tokens)
        return texts, lambda name: "give from_tools format=tokenizer, or tokens=vocabulary.special_tokens"
    if grammar.language == "structural tag":
        source = grammar.key[1] if isinstance(grammar, OnDemand) else grammar.source
        advice = 'write {{"type": "token", "token": {}}}, or from_structural_tag(tag, tokens=vocabulary.special_tokens)'
        return _marks_of_tag(json.loads(source or "null")), lambda name: advice.format(json.dumps(name))
    if isinstance(grammar, GrammarData) and grammar.language == "Lark":
        texts = [each.pattern.value for each in grammar.terminals if each.pattern and each.pattern.kind == "str"]
        return texts, lambda name: f"with extensions=True name it, as in /(?P<TOKEN>{_escaped(name)})/"
    return (), str


def _without(texts: Iterable[str], tokens: Iterable[str]) -> list[str]:
    """Texts without the special tokens that a format has as such."""
    left = list(texts)
    for token in tokens:
        left = [text.replace(token, "\0") for text in left]
    return left


def _marks_of_tag(tag: Any) -> Iterator[str]:
    """What formats of a structural tag begin, end and go on with."""
    pending = [tag]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict):
            for key, value in node.items():
                if key in _MARKS:
                    yield from (
                        text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)
                    )
                elif key != "json_schema":
                    pending.append(value)
            rules = node.get("rules") if node.get("type") == "dispatch" else None
            yield from (rule[0] for rule in rules or () if isinstance(rule, list) and isinstance(rule[0], str))


def _escaped(name: str) -> str:
    return "".join(f"\\{character}" if character in r"|()[]/\\" else character for character in name)
