"""Terminals, and what may stand in one -> sets of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pdacon.base.quoting import did_you_mean, quoted
from pdacon.errors import GrammarSyntaxError, UnsupportedGrammarError
from pdacon.frontends.dialects.llguidance import tree as nodes
from pdacon.frontends.dialects.llguidance.rust_patterns import RustPatternError, in_any_case, python_pattern
from pdacon.frontends.dialects.llguidance.tree import Name, Rule, Source, Tree, Written
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.regular import RegularSet
from pdacon.regular.characters import character_class

EMPTY = RegularSet.from_choices([""])
EVERYTHING = RegularSet.from_regex(r"[\s\S]*")
ANYTHING = RegularSet.from_regex(r"[\s\S]+")

_INT = "[0-9]+"
_EXPONENT = r"[eE][+-]?[0-9]+"
_DECIMAL = r"(?:[0-9]+\.[0-9]*|\.[0-9]+)"
_FLOAT = rf"(?:{_DECIMAL}(?:{_EXPONENT})?|{_INT}{_EXPONENT})"
COMMON = {
    "DIGIT": "[0-9]",
    "HEXDIGIT": "[a-fA-F0-9]",
    "INT": _INT,
    "SIGNED_INT": f"[+-]?{_INT}",
    "DECIMAL": _DECIMAL,
    "_EXP": _EXPONENT,
    "FLOAT": _FLOAT,
    "SIGNED_FLOAT": f"[+-]?{_FLOAT}",
    "NUMBER": f"{_INT}|{_FLOAT}",
    "SIGNED_NUMBER": f"[+-]?(?:{_INT}|{_FLOAT})",
    "ESCAPED_STRING": r'"(?:[^"\\]|\\.)*"',
    "LCASE_LETTER": "[a-z]",
    "UCASE_LETTER": "[A-Z]",
    "LETTER": "[A-Za-z]",
    "WORD": "[A-Za-z]+",
    "CNAME": "[_A-Za-z][_A-Za-z0-9]*",
    "WS_INLINE": r"[ \t]+",
    "WS": r"[ \t\f\r\n]+",
    "CR": r"\r",
    "LF": r"\n",
    "NEWLINE": r"(?:\r?\n)+",
    "SH_COMMENT": r"#[^\n]*",
    "CPP_COMMENT": r"//[^\n]*",
    "C_COMMENT": r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/",
    "SQL_COMMENT": r"--[^\n]*",
}
"""What llguidance has under ``common``, which is Lark's but for strings over several lines."""


class Terminals:
    """What each terminal of a text is, found when it is asked for."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: dict[str, RegularSet] = {}
        self._open: list[str] = []

    def named(self, name: Name) -> RegularSet:
        """The texts of a terminal.

        Raises
        ------
        GrammarSyntaxError
            There is none of this name, or it contains itself.
        """
        own = name.text
        if own not in self._known:
            if own in self._open:
                raise self._error(f"the terminal {own} contains itself; only rules can", name)
            self._open.append(own)
            self._known[own] = self._defined(name).named(own)
            self._open.pop()
        return self._known[own]

    def _defined(self, name: Name) -> RegularSet:
        source, own = self._source, name.text
        if own in source.terminals:
            return self.any_of(source.terminals[own].body.alternatives)
        if own in source.imports:
            place, there = source.imports[own]
            if there not in COMMON:
                raise self._error(
                    f"there is no common.{there}; {did_you_mean(there, list(COMMON))}".rstrip("; "), place
                )
            return RegularSet.from_regex(COMMON[there])
        if own in source.rules:
            raise self._error(
                f"a terminal cannot use the rule {own}; write {own} in capitals where it is defined", name
            )
        meant = did_you_mean(own, [*source.rules, *source.terminals, *source.imports])
        raise self._error(f"{own} is not defined; {meant}".rstrip("; "), name)

    def of(self, tree: Tree) -> RegularSet:
        """The texts of what stands in a terminal, or is one by itself."""
        if isinstance(tree, Name):
            return self.named(tree)
        if isinstance(tree, nodes.Literal):
            return RegularSet.from_regex(in_any_case(tree.value)) if tree.any_case else _exactly(tree.value)
        if isinstance(tree, nodes.Regex):
            return self._regex(tree)
        if isinstance(tree, nodes.Range):
            return RegularSet.from_regex(character_class([(ord(tree.first), ord(tree.last))]))
        if isinstance(tree, nodes.Chunks):
            return _some_in_a_row(tree.pieces)
        if isinstance(tree, nodes.Not):
            return ~self.of(tree.body)
        if isinstance(tree, nodes.Both):
            return EVERYTHING.intersection(*map(self.of, tree.parts))
        if isinstance(tree, Repeated):
            return self.of(tree.item).repeat(tree.least, tree.most)
        if isinstance(tree, OneOf):
            return self.any_of(tree.items)
        if isinstance(tree, InOrder):
            return self.of(tree.items[0]) if len(tree.items) == 1 else EMPTY.concatenation(*map(self.of, tree.items))
        assert isinstance(tree, nodes.Special | nodes.Schema)
        what = f"the special token {tree.text}" if isinstance(tree, nodes.Special) else "a JSON Schema"
        raise self._error(f"{what} cannot stand in a terminal; write it into a rule", tree)

    def any_of(self, trees: Sequence[Tree]) -> RegularSet:
        """The texts of alternatives."""
        first, *others = map(self.of, trees)
        return first.union(*others) if others else first

    def of_lazy(self, rule: Rule) -> RegularSet:
        """The texts of a rule that ends as soon as it can, once it has begun: nothing, too, if that is one of them."""
        whole = self.any_of(rule.body.alternatives)
        if rule.suffix is not None:
            whole = whole + self.of(rule.suffix)
        begun = whole - EMPTY
        shortest = begun - (begun + ANYTHING)
        return shortest | EMPTY if "" in whole else shortest

    def _regex(self, tree: nodes.Regex) -> RegularSet:
        try:
            pattern = python_pattern(tree.pattern.replace("\\/", "/"), tree.flags)
        except RustPatternError as error:
            shown = f"{error}, at column {error.at + 1} of the pattern {quoted(tree.pattern)}"
            raise UnsupportedGrammarError(shown, tree.span, "patterns") from None
        return RegularSet.from_regex(pattern).named(f"/{tree.pattern}/")

    @staticmethod
    def _error(message: str, place: Written) -> GrammarSyntaxError:
        return GrammarSyntaxError(message, place.span)


def _exactly(text: str) -> RegularSet:
    return RegularSet.from_choices([text])


def _some_in_a_row(pieces: Iterable[str]) -> RegularSet:
    """All pieces between any two places, put together."""
    pieces = [piece for piece in pieces if piece]
    if all(len(piece) == 1 for piece in pieces):
        return RegularSet.substring_of("".join(pieces)) | EMPTY if pieces else EMPTY
    tail = ""
    whole = [""]
    for piece in reversed(pieces):
        tail = f"(?:{re.escape(piece)}{tail})?"
        whole.append(tail)
    return RegularSet.from_regex("|".join(whole))
