"""A text -> its rules, terminals and statements."""

from __future__ import annotations

import json
import re
from typing import Any

from pdacon.base.quoting import did_you_mean, quoted
from pdacon.errors import GrammarSyntaxError, Span
from pdacon.frontends.dialects.cursor import Cursor
from pdacon.frontends.dialects.llguidance import tree as nodes
from pdacon.frontends.dialects.llguidance.tree import Body, Leaf, Name, Placed, Rule, Source, Tree, Value
from pdacon.frontends.names_once import NamesOnce
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.grammar.labels import ids_of_name

_BLANKS = re.compile(r"(?:[ \t\r]|(?:#|//)[^\n]*)*")
_BLANKS_AND_LINES = re.compile(r"(?:[ \t\r\n]|(?:#|//)[^\n]*)*")
_RULE = re.compile(r"[a-z_][a-z0-9_-]*")
_TERMINAL = re.compile(r"_?[A-Z][A-Z0-9_-]*")
_STRING = re.compile(r'"(?:\\(?:["\\/bfnrt]|u[a-fA-F0-9]{4}|x[a-fA-F0-9]{2})|[^"\\\x00-\x1f\x7f])*"')
_REGEX = re.compile(r"/((?:\\.|[^/\\\n])+)/([imslux]*)")
_SPECIAL = re.compile(r"<[^<>\s]+>")
_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(r"[\w]+")
_DEEPEST = 60
MOST_REPEATS = 10_000
_STATEMENTS = ("%ignore", "%import", "%llguidance", "%json", "%regex", "%lark", "%override", "%declare", "%if")
_WITHOUT_MEANING = ("no_forcing", "allow_initial_skip")


def read(text: str, path: str | None) -> Source:
    """Read a grammar.

    Raises
    ------
    GrammarSyntaxError
        It is none; the message says what was expected, and the span where.
    UnsupportedGrammarError
        It has something that cannot be had.
    """
    return _GrammarParser(text, path).whole()


class _GrammarParser:
    def __init__(self, text: str, path: str | None) -> None:
        self._cursor, self._depth = Cursor(text, path), 0
        self._end = 0  # of the last alternative
        self._in_lexeme = False
        self._source = Source(text, path, {}, {}, [], {})

    def whole(self) -> Source:
        cursor = self._cursor
        self._skip(lines=True)
        while cursor.peek():
            if cursor.peek() == "%":
                self._statement()
            else:
                self._definition()
            self._skip()
            if cursor.peek() not in ("", "\n"):
                cursor.fail(f"the end of the line is expected here, not {cursor.here()}")
            self._skip(lines=True)
        source = self._source
        if "start" not in source.rules:
            meant = did_you_mean("start", list(source.rules))
            cursor.fail(f"a text is derived from the rule start, and there is none; {meant}write start: ...", 0, 1)
        return source

    def _skip(self, lines: bool = False) -> None:
        self._cursor.match(_BLANKS_AND_LINES if lines else _BLANKS)

    def _sign(self, sign: str) -> bool:
        self._skip()
        return self._cursor.take(sign)

    def _expect(self, sign: str, what: str) -> None:
        if not self._sign(sign):
            self._cursor.fail(f"{quoted(sign)} is expected {what}, not {self._cursor.here()}")

    # Statements

    def _statement(self) -> None:
        cursor, at = self._cursor, self._cursor.at
        if cursor.take("%ignore"):
            self._in_lexeme = True
            self._source.ignored.append(self._body())
        elif cursor.take("%import"):
            self._import()
        elif cursor.take("%llguidance"):
            self._options(at, self._json("%llguidance"))
        elif cursor.take("%override") or cursor.take("%declare"):
            word = cursor.text[at : cursor.at]
            cursor.fail(f"{word} is not there in llguidance's grammars; leave it out", at)
        else:
            cursor.at += 1
            word = "%" + (cursor.match(_WORD) or "")
            cursor.fail(f"{quoted(word)} begins no statement; {did_you_mean(word, _STATEMENTS)}".rstrip("; "), at)

    def _options(self, at: int, given: Any) -> None:
        cursor = self._cursor
        if not isinstance(given, dict):
            cursor.fail("%llguidance takes an object of options, such as {}", at)
        for name, value in given.items():
            if value is False or value is None or name in _WITHOUT_MEANING:
                continue
            cursor.refuse(
                "%llguidance", f"the option {quoted(str(name))} of %llguidance cannot be had; leave it out", at
            )

    def _import(self) -> None:
        cursor = self._cursor
        self._skip()
        if not cursor.take("common"):
            cursor.fail(f"only %import common is there in llguidance's grammars, not {cursor.here()}")
        names = self._source.imports
        if cursor.take("."):
            name = self._name("a terminal of common")
            own = self._name("a name") if self._sign("->") else name
            names[own.text] = own, name.text
        else:
            self._expect("(", "before the names")
            while not self._sign(")"):
                self._skip()
                name = self._name("a terminal of common")
                names[name.text] = name, name.text
                if not self._sign(","):
                    self._expect(")", "after the names")
                    break

    def _json(self, keyword: str) -> Any:
        cursor = self._cursor
        self._skip(lines=True)
        names, begin = NamesOnce(), cursor.at
        try:
            value, cursor.at = json.JSONDecoder(object_pairs_hook=names).raw_decode(cursor.text, cursor.at)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "it is nested too deeply")
            cursor.at = getattr(error, "pos", cursor.at)
            cursor.fail(f"JSON is expected after {keyword}: {reason}")
        if twice := names.complaint(value):
            cursor.fail(f"in the JSON after {keyword}, {twice}", begin)
        return value

    # Definitions

    def _definition(self) -> None:
        cursor, at = self._cursor, self._cursor.at
        cursor.take("!")
        cursor.take("?")
        signs = cursor.text[at : cursor.at]
        name = self._name("a rule or a terminal")
        end = cursor.at
        if cursor.peek(2) == "::":
            cursor.refuse("parametric rules", "rules with parameters (::) cannot be had; write the rules out", end)
        if cursor.peek() == "{":
            cursor.refuse("templates", "templates are not there in llguidance's grammars; write the rules out", end)
        if cursor.peek() == ".":
            cursor.refuse("priorities", "priorities are not there in llguidance's grammars; leave them out", end)
        lazy, suffix = self._rule_options(name)
        self._expect(":", f"after the name {name.text}")
        is_terminal = _TERMINAL.fullmatch(name.text) is not None
        self._in_lexeme = is_terminal or lazy or suffix is not None
        rule = Rule(signs, name, self._body(), lazy, suffix)
        others = self._source.terminals if is_terminal else self._source.rules
        if name.text in others:
            line = others[name.text].name.span.line
            message = f"{name.text} is defined already, in line {line}; join the two with |"
            raise GrammarSyntaxError(message, name.span)
        others[name.text] = rule

    def _body(self) -> Body:
        self._skip()
        at = self._cursor.at
        alternatives = self._choice()
        return Body(*self._written(at, self._end), alternatives)

    def _written(self, at: int, end: int | None = None) -> tuple[str, Span]:
        """The text from a place on, up to the cursor or another place, and where it stands."""
        cursor = self._cursor
        return cursor.text[at : cursor.at if end is None else end], cursor.span(at, end)

    def _name(self, what: str) -> Name:
        cursor = self._cursor
        self._skip()
        at = cursor.at
        name = cursor.match(_TERMINAL) or cursor.match(_RULE)
        if name is None:
            cursor.fail(f"the name of {what} is expected here, not {cursor.here()}")
        return Name(*self._written(at))

    def _rule_options(self, rule: Name) -> tuple[bool, Value | None]:
        cursor, lazy, suffix = self._cursor, False, None
        if not self._sign("["):
            return lazy, suffix
        while not self._sign("]"):
            self._skip()
            begin = cursor.at
            name = self._name("an option").text
            if name == "lazy":
                lazy = True
            elif name == "suffix":
                self._expect("=", "after suffix")
                self._skip()
                value = self._value()
                if not isinstance(value, Name | nodes.Literal | nodes.Regex | nodes.Range | nodes.Chunks):
                    cursor.fail("suffix= takes a text, a pattern or a terminal", begin)
                suffix = value
            elif name == "capture":
                if self._sign("="):
                    self._skip()
                    self._string()
            elif name == "stop":
                cursor.refuse(
                    "stop",
                    "stop= takes back what the model has written, which no grammar can; write suffix=, which keeps it",
                    begin,
                )
            elif name in ("max_tokens", "temperature", "stop_capture"):
                other = {"max_tokens": "; matcher(budget=...) bounds the whole text", "temperature": ""}
                cursor.refuse(
                    name,
                    f"{name}= of a rule cannot be had; leave it out{other.get(name, '')}",
                    begin,
                )
            else:
                options = ("lazy", "suffix", "capture", "stop", "max_tokens", "temperature", "stop_capture")
                cursor.fail(f"{name} is no option of a rule; {did_you_mean(name, options)}".rstrip("; "), begin)
            if not self._sign(","):
                self._expect("]", f"after the options of {rule.text}")
                break
        return lazy, suffix

    # Expressions

    def _choice(self) -> tuple[Placed, ...]:
        cursor = self._cursor
        if self._depth == _DEEPEST:
            cursor.fail(f"parentheses are nested more than {_DEEPEST} deep")
        self._depth += 1
        alternatives = [self._conjunction()]
        while self._bar():
            alternatives.append(self._conjunction())
        self._depth -= 1
        return tuple(alternatives)

    def _bar(self) -> bool:
        """Whether another option follows; a bar may begin a line."""
        cursor, at = self._cursor, self._cursor.at
        self._skip(lines=True)
        if cursor.take("|"):
            return True
        cursor.at = at
        return False

    def _conjunction(self) -> Placed:
        self._skip()
        at = self._cursor.at
        parts = [self._sequence()]
        while self._sign("&"):
            parts.append(self._sequence())
        if len(parts) == 1:
            return parts[0]
        both = nodes.Both(*self._written(at, self._end), tuple(parts))
        return Placed((both,), both.span, None)

    def _sequence(self) -> Placed:
        cursor = self._cursor
        self._skip()
        at = end = cursor.at
        parts: list[Tree] = []
        while cursor.peek() not in ("", "\n", "|", "&", ")", "]", "}") and cursor.peek(2) != "->":
            if cursor.peek(3) == "%if":
                cursor.refuse("parametric rules", "conditions (%if) cannot be had; write the rules out", cursor.at)
            parts.append(self._repeated())
            end = cursor.at
            self._skip()
        alias = None
        if cursor.take("->"):
            alias = self._name("an alias")
            end = cursor.at
            if self._depth > 1 and not self._in_lexeme:
                raise GrammarSyntaxError(
                    f"-> {alias.text}: an alias names a whole alternative of a rule, so it stands at its end and not "
                    "within parentheses",
                    alias.span,
                )
        self._end = end
        return Placed(tuple(parts), cursor.span(at, end), alias)

    def _repeated(self) -> Tree:
        cursor = self._cursor
        body = self._atom()
        end = cursor.at
        self._skip()
        sign = cursor.at
        bounds: tuple[int, int | None]
        if cursor.take("*"):
            bounds = 0, None
        elif cursor.take("+"):
            bounds = 1, None
        elif cursor.take("?"):
            bounds = 0, 1
        elif cursor.take("{"):
            bounds = self._braces(sign)
        elif cursor.peek() == "~" and re.match(r"~[ \t]*[0-9]", cursor.text[cursor.at : cursor.at + 80]):
            cursor.at += 1
            least = self._number()
            bounds = least, self._number() if self._sign("..") else least
        else:
            cursor.at = end
            return body
        least, most = bounds
        if most is not None and most < least:
            cursor.fail(f"at least {least:,} and at most {most:,} times is never; exchange the two", sign)
        if max(least, most or 0) > MOST_REPEATS:
            cursor.refuse("repetitions", f"at most {MOST_REPEATS:,} repetitions can be counted", sign)
        return Repeated(body, least, most)

    def _braces(self, begin: int) -> tuple[int, int | None]:
        cursor = self._cursor
        self._skip()
        least = 0 if cursor.peek() == "," else self._number()
        most: int | None = least
        if self._sign(","):
            self._skip()
            most = None if cursor.peek() == "}" else self._number()
        self._expect("}", "after a number of repetitions")
        if most == 0:
            cursor.fail("at most 0 times is nothing; leave it out", begin)
        return least, most

    def _number(self) -> int:
        self._skip()
        digits = self._cursor.match(_NUMBER)
        if digits is None:
            self._cursor.fail(f"a number is expected here, not {self._cursor.here()}")
        return min(int(digits[:9]), 10**9)

    def _atom(self) -> Tree:
        cursor, at = self._cursor, self._cursor.at
        negations = 0
        while cursor.take("~"):
            self._skip()
            negations += 1
        if negations:
            body = self._atom()
            for _ in range(2 - negations % 2):  # two of them say nothing, however many there are
                body = nodes.Not(*self._written(at), body)
            return body
        for opening, closing in (("(", ")"), ("[", "]")):
            if cursor.take(opening):
                choice: Tree = OneOf(self._choice())
                self._skip(lines=True)
                self._expect(closing, f"for the {quoted(opening)} in line {cursor.span(at).line}")
                return choice if opening == "(" else OneOf((InOrder((OneOf((choice, InOrder(()))),)),))
        return self._value()

    def _value(self) -> Leaf:
        cursor, at = self._cursor, self._cursor.at
        first = cursor.peek()
        if first == '"':
            return self._literal()
        if first == "/":
            match = _REGEX.match(cursor.text, at)
            if match is None:
                cursor.fail("this pattern has no end; a slash ends it, and one within is written \\/", at, at + 1)
            cursor.at = match.end()
            return nodes.Regex(*self._written(at), match[1], match[2])
        if first == "<":
            special = cursor.match(_SPECIAL)
            if special is None:
                cursor.fail("the name of a special token is expected here, such as <|end|>", at, at + 1)
            if special.startswith("<[") and ids_of_name(special) is None:
                cursor.refuse(
                    "token ids",
                    f"{special}: of tokens by number there are lists of ids and ranges, such as <[12-14,17]>; or name "
                    "a set of tokens (Vocabulary.with_labels, Grammar.from_lark with extensions=True)",
                    at,
                )
            return nodes.Special(*self._written(at))
        if first == "@":
            cursor.refuse("several grammars", "other grammars (@name) cannot be had; use pdacon.Grammar.compose", at)
        if first == "%":
            return self._inline(at)
        name = self._name("a rule or a terminal")
        if cursor.peek(2) == "::":
            cursor.refuse("parametric rules", "rules with parameters (::) cannot be had; write the rules out", at)
        return name

    def _literal(self) -> nodes.Literal | nodes.Range:
        cursor, at = self._cursor, self._cursor.at
        value = self._string()
        if self._cursor.take("i"):
            return nodes.Literal(*self._written(at), value, True)
        end = cursor.at
        if not self._sign(".."):
            cursor.at = end
            return nodes.Literal(*self._written(at), value, False)
        self._skip()
        last = self._string()
        if len(value) != 1 or len(last) != 1 or value > last:
            cursor.fail("a range is from one character up to a later one", at)
        return nodes.Range(*self._written(at), value, last)

    def _string(self) -> str:
        cursor, at = self._cursor, self._cursor.at
        written = cursor.match(_STRING)
        if written is None:
            cursor.fail(
                "a text is expected here, in double quotes on one line, with the escapes of JSON and \\x", at, at + 1
            )
        value: str = json.loads(re.sub(r"\\(x|.)", lambda match: r"\u00" if match[1] == "x" else match[0], written))
        if re.search("[\ud800-\udfff]", value):
            cursor.fail("a text cannot have a lone surrogate", at)
        return value

    def _inline(self, at: int) -> nodes.Schema | nodes.Chunks:
        cursor = self._cursor
        if cursor.take("%json"):
            return self._schema(at)
        if cursor.take("%lark"):
            cursor.refuse("%lark", "a grammar within a rule (%lark) cannot be had; use pdacon.Grammar.compose", at)
        if not cursor.take("%regex"):
            cursor.at += 1
            word = "%" + (cursor.match(_WORD) or "")
            cursor.fail(f"{quoted(word)} is no part of a rule; {did_you_mean(word, _STATEMENTS)}".rstrip("; "), at)
        given = self._json("%regex")
        pieces = self._pieces(given) if isinstance(given, dict) and len(given) == 1 else None
        if pieces is None:
            cursor.fail(
                "%regex takes substring_chars or substring_words with a text, or substring_chunks with some", at
            )
        return nodes.Chunks(*self._written(at), tuple(pieces))

    def _schema(self, at: int) -> nodes.Schema:
        value = self._json("%json")
        return nodes.Schema(*self._written(at), value)

    @staticmethod
    def _pieces(given: dict[str, Any]) -> list[str] | None:
        """What a substring is made of."""
        ((kind, value),) = given.items()
        if kind == "substring_chars" and isinstance(value, str):
            return list(value)
        if kind == "substring_words" and isinstance(value, str):
            return re.findall(r"\s+|\w+|[^\s\w]+", value)
        if kind == "substring_chunks" and isinstance(value, list) and all(isinstance(piece, str) for piece in value):
            return value
        return None
