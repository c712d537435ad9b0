"""GBNF, as llama.cpp reads it, and the EBNF of XGrammar, which is much the same -> rules over characters.

Sources: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md and
https://xgrammar.mlc.ai/docs/defining_structures/ebnf_grammar.html, each with its engine beside it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from pdacon.base.cancelling import every, look
from pdacon.base.languages import SourceLanguage
from pdacon.base.quoting import did_you_mean, quoted
from pdacon.errors import GrammarSyntaxError
from pdacon.frontends.dialects.cursor import Cursor
from pdacon.frontends.dialects.tree import Placed, Reference, Rule, Rules, Text, Tree, WrittenCharacters, references
from pdacon.grammar.expressions import OneOf, Repeated
from pdacon.regular import ANY
from pdacon.regular.characters import complement, union

_BLANKS = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_BLANKS_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_NUMBER = re.compile(r"[0-9]+")
_HEX = re.compile(r"[0-9a-fA-F]+")
_DEEPEST = 100
MOST_REPEATS = 100_000


@dataclass(frozen=True, slots=True)
class Notation:
    """What one dialect writes otherwise than the other.

    Attributes
    ----------
    language : SourceLanguage
    name : re.Pattern
        The name of a rule.
    escapes : dict of str to str
        The character that stands for each letter after a backslash.
    open_ended_hex : bool
        ``\\x`` takes as many digits as there are, else two.
    lines_end_rules : bool
        A line's end ends a rule outside of parentheses, unless a bar stands before it; else a name with ``::=`` does.
    dot : bool
        A dot is any character.
    """

    language: SourceLanguage
    name: re.Pattern[str]
    escapes: dict[str, str]
    open_ended_hex: bool
    lines_end_rules: bool
    dot: bool


_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
GBNF = Notation(
    "GBNF",
    re.compile(r"[a-zA-Z0-9_-]+"),
    {**_CONTROLS, **{sign: sign for sign in '\\"[]'}},
    open_ended_hex=False,
    lines_end_rules=True,
    dot=True,
)
EBNF = Notation(
    "EBNF",
    re.compile(r"[a-zA-Z_.-][a-zA-Z0-9_.-]*"),
    {
        **_CONTROLS,
        **{"b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0", "e": "\x1b"},
        **{sign: sign for sign in "\"\\/'?^$.*+()[]{}|-"},
    },
    open_ended_hex=True,
    lines_end_rules=False,
    dot=False,
)


def read_rules(text: str, notation: Notation, start: str, path: str | None) -> Rules:
    """Read a grammar.

    Raises
    ------
    GrammarSyntaxError
        It is none; the message says what was expected, and the span where.
    UnsupportedGrammarError
        It has something that cannot be had.
    """
    return _RuleReader(text, notation, path).whole(start)


class _RuleReader:
    def __init__(self, text: str, notation: Notation, path: str | None) -> None:
        self._cursor, self._notation, self._depth = Cursor(text, path), notation, 0

    def whole(self, start: str) -> Rules:
        cursor = self._cursor
        rules: dict[str, Rule] = {}
        self._skip(lines=True)
        while cursor.peek():
            rule = self._rule()
            if rule.name in rules:
                line = rules[rule.name].span.line
                message = f"the rule {rule.name} is defined already, in line {line}; join the two with |"
                raise GrammarSyntaxError(message, rule.span)
            rules[rule.name] = rule
        if start not in rules:
            names = did_you_mean(start, list(rules))
            cursor.fail(f"no rule is called {start}, where every text begins; {names}add `{start} ::= ...`", 0)
        for rule in every(rules.values()):
            self._all_defined(rule, rules)
        return Rules(rules, start, self._notation.language, cursor.text, cursor.path)

    @staticmethod
    def _all_defined(rule: Rule, rules: dict[str, Rule]) -> None:
        for reference in references(rule.body):
            if reference.name not in rules:
                raise GrammarSyntaxError(
                    f"no rule is called {reference.name}; {did_you_mean(reference.name, list(rules))}"
                    f"define it with `{reference.name} ::= ...`, or write a text as {quoted(reference.name)}",
                    reference.span,
                )

    def _skip(self, *, lines: bool) -> None:
        lines = lines or self._depth > 0 or not self._notation.lines_end_rules
        self._cursor.match(_BLANKS_AND_LINES if lines else _BLANKS)

    def _rule(self) -> Rule:
        cursor = self._cursor
        start = cursor.at
        name = cursor.match(self._notation.name)
        if name is None:
            cursor.fail(f"expected the name of a rule, as in `name ::= ...`, not {cursor.here()}")
        span = cursor.span(start)
        self._skip(lines=False)
        if not self._notation.lines_end_rules and cursor.peek() == "[":
            self._refuse_options(name)
        if not cursor.take("::="):
            cursor.fail(f"expected ::= behind the name of the rule {name}, not {cursor.here()}")
        self._skip(lines=True)
        body = self._choice()
        if cursor.peek():
            if self._notation.lines_end_rules:
                if not cursor.match(_LINE_END):
                    self._unexpected("the end of the line")
            elif not self._at_rule():
                self._unexpected("a part of the rule, | or the next rule")
            self._skip(lines=True)
        return Rule(name, body, span)

    def _unexpected(self, expected: str) -> None:
        cursor = self._cursor
        if cursor.peek() == ")":
            cursor.fail("there is no parenthesis to close; leave it out, or open one")
        if cursor.peek() in ("*", "+", "?", "{"):
            cursor.fail("there is nothing to repeat; put what is repeated before it, in parentheses if it is repeated")
        if cursor.text.startswith("::=", cursor.at):
            cursor.fail('another rule begins where a part of this one is expected; write "" for the empty text')
        way_out = {"'": '; a text stands in double quotes: "..."', ";": "; a rule ends with its line"}
        cursor.fail(f"expected {expected}, not {cursor.here()}{way_out.get(cursor.peek(), '')}")

    def _refuse_options(self, name: str) -> None:
        cursor = self._cursor
        start = cursor.at
        end = cursor.text.find("]", start)
        written = cursor.text[start + 1 : end if end >= 0 else None]
        option = re.match(r"\s*(\w*)", written)
        assert option is not None
        feature = option[1] or "options"
        cursor.refuse(
            feature,
            f"the rule {name} has the option {feature}, which is not supported: a grammar says which texts there are, "
            "and nothing of how they are sampled or cut; leave it out",
            start,
            end + 1 if end >= 0 else start + 1,
        )

    def _at_rule(self) -> bool:
        """Whether the next rule begins here: its name is the first thing in its line."""
        cursor = self._cursor
        before = cursor.text[cursor.text.rfind("\n", 0, cursor.at) + 1 : cursor.at]
        if before.strip():
            return False
        match = self._notation.name.match(cursor.text, cursor.at)
        return bool(match and re.compile(r"[ \t]*(?:\[[^\]\n]*\])?[ \t\r\n]*::=").match(cursor.text, match.end()))

    def _choice(self) -> Tree:
        cursor = self._cursor
        options = [self._sequence()]
        while cursor.take("|"):
            self._skip(lines=True)
            options.append(self._sequence())
        return OneOf(tuple(options))

    def _sequence(self) -> Placed:
        start = end = self._cursor.at
        parts: list[Tree] = []
        while (part := self._repeated()) is not None:
            parts.append(part)
            end = self._cursor.at
            self._skip(lines=False)
        return Placed(tuple(parts), self._cursor.span(start, end))

    def _repeated(self) -> Tree | None:
        cursor = self._cursor
        if not self._notation.lines_end_rules and self._depth == 0 and self._at_rule():
            return None
        look()
        atom = self._atom()
        if atom is None:
            return None
        repeated = False
        while True:
            at = cursor.at
            self._skip(lines=False)
            begin = cursor.at
            counts = self._counts()
            if counts is None:
                cursor.at = at
                return atom
            if repeated and not self._notation.lines_end_rules:
                cursor.fail("what is repeated stands in parentheses if it is repeated again, as in (x+)?", begin)
            repeated = True
            atom = Repeated(atom, *counts)

    def _counts(self) -> tuple[int, int | None] | None:
        cursor = self._cursor
        for sign, counts in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if cursor.take(sign):
                return counts
        start = cursor.at
        if not cursor.take("{"):
            return None
        self._skip(lines=False)
        least = cursor.match(_NUMBER)
        if least is None:
            cursor.fail(f"expected how often at least, as in {{0,4}}, not {cursor.here()}")
        self._skip(lines=False)
        most: str | None = least
        if cursor.take(","):
            self._skip(lines=False)
            most = cursor.match(_NUMBER)
            self._skip(lines=False)
        if not cursor.take("}"):
            cursor.fail(f"expected }} after how often something is repeated, not {cursor.here()}")
        if most is not None and int(most) < int(least):
            cursor.fail(f"at least {least} and at most {most} times is never; the smaller number comes first", start)
        if max(int(least), int(most or 0)) > MOST_REPEATS:
            cursor.fail(f"repeated more than {MOST_REPEATS:,} times; leave the bound out, as in {{1,}}", start)
        return int(least), None if most is None else int(most)

    def _atom(self) -> Tree | None:
        cursor, start = self._cursor, self._cursor.at
        sign = cursor.peek()
        if sign == '"':
            return self._text()
        if sign == "[":
            return self._class()
        if sign == "(":
            return self._group(start)
        if self._notation.dot and cursor.take("."):
            return WrittenCharacters(ANY, ".")
        if self._notation.lines_end_rules and (sign == "<" or cursor.peek(2) == "!<"):
            match = cursor.match(re.compile(r"!?<[^>\n]*>?")) or sign
            cursor.refuse(
                "tokens",
                f"{match} is a token of a vocabulary, and a grammar speaks of characters here; write its text in "
                "quotes if it has one",
                start,
            )
        if not self._notation.lines_end_rules and sign == "/":
            cursor.refuse("regex", "a pattern between slashes is not supported; write it with [ ], ( ) and *", start)
        name = cursor.match(self._notation.name)
        if name is None:
            return None
        if not self._notation.lines_end_rules and cursor.peek() == "(":
            cursor.refuse(name, f"{name}(...) is not supported; write what it stands for as rules", start)
        return Reference(name, cursor.span(start))

    def _group(self, start: int) -> Tree:
        cursor = self._cursor
        if not self._notation.lines_end_rules and cursor.peek(2) == "(=":
            cursor.refuse("lookahead", "a look-ahead (= ...) is not supported; what follows is known anyway", start)
        cursor.take("(")
        self._depth += 1
        if self._depth > _DEEPEST:
            cursor.fail(f"more than {_DEEPEST} parentheses lie in each other; give the inner ones rules", start)
        self._skip(lines=True)
        body = self._choice()
        if not cursor.take(")"):
            if cursor.peek():
                self._unexpected("a part of the rule, | or )")
            cursor.fail("the parenthesis is not closed", start, start + 1)
        self._depth -= 1
        return body

    def _text(self) -> Text:
        cursor, start = self._cursor, self._cursor.at
        cursor.take('"')
        value: list[str] = []
        while not cursor.take('"'):
            if cursor.peek() in ("", "\n"):
                cursor.fail('the text is not closed; end it with ", and write \\n for a new line', start, cursor.at)
            value.append(self._character())
        return Text("".join(value))

    def _character(self) -> str:
        cursor, start = self._cursor, self._cursor.at
        sign = cursor.peek()
        cursor.at += 1
        if sign != "\\":
            return sign
        letter = cursor.peek()
        cursor.at += 1
        digits = {"x": 0 if self._notation.open_ended_hex else 2, "u": 4, "U": 8}.get(letter)
        if digits is not None:
            written = cursor.match(_HEX) or ""
            if digits and len(written) >= digits:
                cursor.at -= len(written) - digits
                written = written[:digits]
            if len(written) < max(digits, 1):
                cursor.fail(f"\\{letter} is followed by {digits or 'some'} hexadecimal digits", start)
            point = int(written, 16)
            if point > sys.maxunicode or 0xD800 <= point < 0xE000:
                cursor.fail(f"there is no character with the number {written}", start)
            return chr(point)
        if letter not in self._notation.escapes or not letter:
            escapes = " ".join(f"\\{escape}" for escape in self._notation.escapes)
            cursor.fail(f"\\{letter} means nothing here; there are {escapes} and \\x, \\u and \\U", start)
        return self._notation.escapes[letter]

    def _class(self) -> WrittenCharacters:
        cursor, start = self._cursor, self._cursor.at
        cursor.take("[")
        negative = cursor.take("^")
        pieces: list[tuple[int, int]] = []
        while not cursor.take("]"):
            if not cursor.peek() or (cursor.peek() == "\n" and not self._notation.lines_end_rules):
                cursor.fail("the set of characters is not closed; end it with ]", start, start + 1)
            at = cursor.at
            first = last = self._character()
            if cursor.peek() == "-" and cursor.peek(2) != "-]":
                cursor.take("-")
                if not cursor.peek():
                    cursor.fail("the set of characters is not closed; end it with ]", start, start + 1)
                last = self._character()
                if last < first:
                    cursor.fail(f"the range {quoted(first)} to {quoted(last)} is out of order", at)
            pieces.append((ord(first), ord(last)))
        ranges = union(pieces)
        return WrittenCharacters(complement(ranges) if negative else ranges, cursor.text[start : cursor.at])
