"""Where rules, alternatives and literals stand in the source.

Lark's trees keep the tokens of names and literals, not the extent of an alternative. Alternatives are found by reading
the rule's text again, lexeme by lexeme; which production comes from which alternative follows from how many
productions each one expands to. Where that does not add up (Lark drops duplicates), a production gets its rule's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from lark.grammar import Rule
from lark.lexer import Token
from lark.tree import Tree

from pdacon.base.cancelling import every
from pdacon.errors import Span
from pdacon.grammar.importing import find_imports
from pdacon.grammar.loading import Loaded

_HELPER = re.compile(r"__(.+)_(?:star|plus|repeat_a\d+_b\d+(?:_opt)?)_\d+")
_LEXEMES = re.compile(
    r"""
    (?P<skip> "(?:\\.|[^"\\\n])*" | /(?!/)(?:\\.|[^/\\])+/ | \\[ ]*\n )
    | (?P<blank> \s+ )
    | (?P<comment> (?://|\#)[^\n]* )
    | (?P<bar> \| )
    | (?P<open> [(\[{] ) | (?P<close> [)\]}] )
    """,
    re.VERBOSE,
)
_GOES_ON = re.compile(r"\||//|\#")  # after a newline: a rule has another alternative, or a comment before it
_UNROLLED = 50  # Lark writes x~n..m out as alternatives below this, and as helper rules from it on.


def owner(name: str) -> str:
    """The author's rule behind a nonterminal: behind a helper its rule, behind a template's use the template."""
    helper = _HELPER.fullmatch(name)
    return (helper.group(1) if helper else str(name)).partition("{")[0]


def shorten(text: str, most: int = 60) -> str:
    """Text for a message: on one line, cut in the middle where it is long."""
    half = most // 2 - 2
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return line if len(line) <= most else f"{line[:half]}...{line[-half:]}"


class Places:
    """The spans of one loaded grammar."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.imports = find_imports(loaded.builder)
        self._imported = {one.name: one.definition for one in self.imports.names if not one.packaged}
        self._builder = loaded.builder
        self._source = loaded.builder.source
        self._written: dict[int, list[Span]] = {}  # alternatives, by where they begin

    def beginning(self) -> Span:
        return self._source.span(0, 0)

    def rule_names(self) -> Iterable[str]:
        return (name for name in self._loaded.rule_trees if not name.startswith("__"))

    def rule(self, name: str) -> Span | None:
        """The place of the name in the definition; of a rule from a package, in its %import."""
        return self._named(owner(name))

    def terminal(self, name: str, literal: str | None) -> Span | None:
        """The place of the name in the definition, or of the first use of a literal that has none."""
        span = self._named(name) or self._loaded.written.get(literal or "")
        if span is None:
            users = (r.origin.name for r in self._loaded.rules if any(s.name == name for s in r.expansion))
            span = next(filter(None, map(self.rule, users)), None)
        return span

    def _named(self, name: str) -> Span | None:
        return self._imported.get(name) or self._builder.spans.get(name)

    def declaration(self, name: str) -> Span | None:
        return self._source.statement_span("declare", name) or self._builder.spans.get(name)

    def productions(self, rules: Sequence[Rule]) -> list[Span | None]:
        """One span per production: its alternative where that is known, else its rule's name."""
        counts: dict[str, int] = {}
        for rule in rules:
            counts[rule.origin.name] = max(counts.get(rule.origin.name, 0), rule.order + 1)
        by_origin = {name: self._alternatives(name, count) for name, count in every(counts.items())}
        spans: list[Span | None] = []
        for rule in rules:
            alternatives = by_origin[rule.origin.name]
            spans.append(alternatives[rule.order] if alternatives else self.rule(rule.origin.name))
        return spans

    def _alternatives(self, name: str, count: int) -> list[Span]:
        """The spans of the rule's productions by their order, or [] where they cannot be told apart."""
        author = owner(name)
        token, tree = self._builder.name_tokens.get(author), self._loaded.rule_trees.get(author)
        if token is None or tree is None or name.startswith("__"):
            return []
        # One alternative has them all, however many Lark found equal.
        sizes = [_expansions(child) for child in tree.children] if len(tree.children) > 1 else [count]
        if sum(sizes) != count:
            return []
        written = self._written_alternatives(token)
        if len(written) != len(sizes):
            return []
        return [span for span, size in zip(written, sizes, strict=True) for _ in range(size)]

    def _written_alternatives(self, name: Token) -> list[Span]:
        text = self._source.text
        # A name, a template's parameters and a priority stand before the colon, and none contains one. Rules that are
        # made for one place, such as those of a schema, have longer names than what is written there.
        begin = first = text.index(":", name.start_pos or 0) + 1
        known = self._written.get(first)
        if known is not None:
            return known
        spans, depth, end = [], 0, len(text)
        comments: dict[int, int] = {}  # where they begin, by where they end
        for lexeme in every(_LEXEMES.finditer(text, begin)):
            kind = lexeme.lastgroup
            if kind == "open":
                depth += 1
            elif kind == "close":
                depth -= 1
            elif kind == "comment":
                comments[lexeme.end()] = lexeme.start()
            elif kind == "bar" and depth == 0:
                spans.append(self._trimmed(begin, lexeme.start(), comments))
                begin = lexeme.end()
            elif kind == "blank" and depth == 0 and "\n" in lexeme[0] and not _GOES_ON.match(text, lexeme.end()):
                end = lexeme.start()
                break
        known = self._written[first] = [*spans, self._trimmed(begin, end, comments)]
        return known

    def _trimmed(self, start: int, end: int, comments: Mapping[int, int]) -> Span:
        """What is left without blanks at both ends, and without comments at the end; ``comments`` are by their ends."""
        text = self._source.text
        while True:
            end = start + len(text[start:end].rstrip())
            if comments.get(end, start) <= start:
                break
            end = comments[end]
        start = end - len(text[start:end].lstrip())
        return self._source.span(start, end)


def _expansions(node: Any) -> int:
    """How many productions Lark writes for one alternative, unless some are equal."""
    if not isinstance(node, Tree):
        return 1
    if node.data == "expansions":
        return sum(map(_expansions, node.children))
    if node.data == "expansion":
        return prod(map(_expansions, node.children))
    if node.data == "alias":
        return _expansions(node.children[0])
    if node.data == "maybe":
        return _expansions(node.children[0]) + 1
    if node.data == "expr":
        inner, operator, *bounds = node.children
        return _repetitions(inner, str(operator), *map(str, bounds))
    return 1


def _repetitions(inner: Any, operator: str, *bounds: str) -> int:
    if operator == "?":
        return _expansions(inner) + 1
    if operator == "*":
        return 2
    if operator == "+":
        return 1
    low, high = int(bounds[0]), int(bounds[-1])
    if high >= _UNROLLED:
        return 1 if low == high else 0
    return sum(_expansions(inner) ** n for n in range(low, high + 1))
