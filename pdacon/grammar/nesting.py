"""How deep a grammar nests: asked before Lark begins, because its loader recurses on brackets and on terminals.

Python raises `RecursionError` only where its own stack ends; that of a thread can be full before. And terminals that
name others twice, each of which names others twice, are written out to exponentially many parts. Nor is Lark given what
its lexer would not come back from: its own patterns of literals take exponentially long for backslashes in a literal
that is not closed, and quadratically long for blank lines, and no clock stops Python's ``re``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pdacon.base.cancelling import every
from pdacon.errors import GrammarSyntaxError, LimitExceededError, Span
from pdacon.grammar.loading import SourceText
from pdacon.grammar.open_literals import OPEN_REGEXP, OPEN_STRING

MOST_LEVELS = 100
"""Lark's loader fills a stack of 256 KB with about twice as many."""
MOST_PARTS = 50_000
"""Lark takes some seconds to write so many out."""
LONGEST_NAME = 10_000
"""Messages and pictures are full of names."""
MOST_BLANK_LINES = 10_000
"""In a row. Lark's lexer takes half a second for so many, and four times as long for twice as many."""
MOST_STEPS = 1e7
"""What Lark's lexer may try before it refuses a literal that is not closed: about a second."""

# What Lark's own language consists of, as far as it matters here: there are no brackets in literals and comments.
_TOKEN = re.compile(
    rf"""
      (?P<long> (?<!\w) \w{{{LONGEST_NAME + 1},}} )
    | (?P<string> {OPEN_STRING} (?P<end>"?) )
    | (?P<regexp> {OPEN_REGEXP} (?P<slash>/?) )
    """
    r"""
    | (?P<definition> ^[ \t]* (?: %(?:override|extend)[ \t]+ )? [?!]{0,2} (?P<name> [^\W\d]\w* )
                      (?: \{ [^}\n]* \} )? (?: [ \t]*\.[ \t]*-?\d+ )? [ \t]* : )
    | (?P<statement> ^[ \t]* %[a-z]+ )
    | (?P<comment> //[^\n]* | \#[^\n]* )
    | (?P<blank> \n (?:\r?\n)+ )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<terminal> \b_?[A-Z][_A-Z0-9]*\b )
    """,
    re.VERBOSE | re.MULTILINE,
)
_IN_PATTERN = re.compile(
    r"(?s) \\. | \[ \^? \]? (?: \\. | [^\\\]] )* \] | (?P<open> \( ) | (?P<close> \) )", re.VERBOSE
)

_WAYS_FOR_A_BACKSLASH = 1.7  # Two are read as one pair or one by one: a Fibonacci number of ways for a row of them.


class _Terminal:
    """A definition: its own levels and parts, and the terminals that it names, each with how often."""

    def __init__(self, span: Span) -> None:
        self.span, self.levels, self.parts = span, 1, 0
        self.names: Counter[str] = Counter()


def check_nesting(source: SourceText) -> None:
    """Raise `LimitExceededError` if brackets, the groups of a pattern or terminals nest too deeply.

    Also if terminals that name each other have too many parts in all when they are written out, and if Lark's lexer
    would take very long. Linear in the text.

    Raises GrammarSyntaxError: a literal with many backslashes is not closed.
    """
    level, subject = 0, "the text"
    terminals: dict[str, _Terminal] = {}
    current: _Terminal | None = None
    for token in every(_TOKEN.finditer(source.text)):
        kind = token.lastgroup
        if kind == "long":
            raise _refusal("letters in a name", len(token.group()), LONGEST_NAME, source.span(*token.span()), "a name")
        if kind in ("definition", "statement"):
            name = token["name"]
            level, subject, current = 0, name or token.group().strip(), None
            if name is not None and name.isupper():
                current = terminals.setdefault(name, _Terminal(source.span(*token.span("name"))))
        elif kind == "open":
            level += 1
            if level > MOST_LEVELS:
                raise _refusal("levels of brackets", level, MOST_LEVELS, source.span(*token.span()), subject)
        elif kind == "close":
            level = max(level - 1, 0)
        elif kind == "blank":
            lines = token.group().count("\n") - 1
            if lines > MOST_BLANK_LINES:
                raise _refusal("blank lines in a row", lines, MOST_BLANK_LINES, source.span(*token.span()), subject)
        elif kind in ("string", "regexp") and not (token["end"] or token["slash"]):
            _check_open_literal(source, token)
        elif kind == "regexp":
            groups = _levels_of_groups(token.group())
            if groups > MOST_LEVELS:
                raise _refusal("levels of groups", groups, MOST_LEVELS, source.span(*token.span()), subject)
        if current is not None:
            current.levels = max(current.levels, level)
            current.parts += 1
            if kind == "terminal":
                current.names[token.group()] += 1
    _check_terminals(terminals)


def _check_open_literal(source: SourceText, token: re.Match[str]) -> None:
    """Refuse what is not closed where Lark would try all ways to read its backslashes before it does so.

    Also where it has many brackets, which are none of a literal if Lark takes an escaped quote for the end.
    """
    text = token.group()
    ways = _WAYS_FOR_A_BACKSLASH ** min(text.count("\\"), 100)
    brackets = sum(map(text.count, "([{"))
    if ways * len(text) > MOST_STEPS or (ways > 1 and brackets > MOST_LEVELS):
        what = "string is not closed on its line" if text[0] == '"' else "regular expression is not closed"
        span = source.span(token.start(), token.start() + 1)
        raise GrammarSyntaxError(f"this {what}; write {text[0]} at its end, and no backslash before that", span)


def _levels_of_groups(regexp: str) -> int:
    level = deepest = 0
    for token in _IN_PATTERN.finditer(regexp):
        level += (token.lastgroup == "open") - (token.lastgroup == "close")
        deepest = max(deepest, level)
    return deepest


def _check_terminals(terminals: dict[str, _Terminal]) -> None:
    """Levels and parts of each with all that it names put in its place."""
    levels: dict[str, int] = {}
    parts: dict[str, int] = {}
    written_out = 0
    for name in _inner_first(terminals):
        terminal = terminals[name]
        named = [(levels[other], parts[other] * times) for other, times in terminal.names.items() if other in parts]
        levels[name] = terminal.levels + max((inner for inner, _ in named), default=0)
        if levels[name] > MOST_LEVELS:
            raise _refusal("levels of terminals", levels[name], MOST_LEVELS, terminal.span, name)
        brought = sum(inner for _, inner in named)
        parts[name] = terminal.parts + brought
        written_out += brought
        if written_out > MOST_PARTS:
            raise _refusal("parts of terminals", written_out, MOST_PARTS, terminal.span, name)


def _inner_first(terminals: dict[str, _Terminal]) -> Iterator[str]:
    """Each after those that it names; in a circle, which is Lark's to refuse, from anywhere."""
    begun: set[str] = set()
    for first in terminals:
        pending = [] if first in begun else [(first, iter(terminals[first].names))]
        begun.add(first)
        while pending:
            name, others = pending[-1]
            other = next((other for other in others if other in terminals and other not in begun), None)
            if other is None:
                yield name
                pending.pop()
            else:
                begun.add(other)
                pending.append((other, iter(terminals[other].names)))


def _refusal(what: str, given: int, limit: int, span: Span, subject: str) -> LimitExceededError:
    return LimitExceededError(what, given, limit, f"{subject} at {span}: {_ADVICE[what]}", fixed=True)


_ADVICE = {
    "letters in a name": "call it by a shorter one",
    "levels of brackets": "give what is within a rule or a terminal of its own",
    "levels of groups": "leave out groups that group nothing, or write a rule that names itself",
    "levels of terminals": "Lark puts the terminals that it names into it; use rules",
    "blank lines in a row": "leave some out, which Lark's lexer takes too long for",
    "parts of terminals": "Lark writes out each terminal that another one names, each time; use rules",
}
