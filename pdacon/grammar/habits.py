"""What is written out of habit from other notations (BNF, ANTLR, ISO EBNF, regular expressions), and what Lark writes.

In: a text and the place where Lark's loader stopped. Out: the advice for what stands there, if it is one of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from pdacon.base.quoting import near_names

_WORD = r"[A-Za-z_]\w*"
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|/(?![/*])(?:\\.|[^/\\])+/|//.*')
_STATEMENTS = ("ignore", "import", "declare", "override", "extend")


class _Habit(NamedTuple):
    """Something that stands on one line, and what to write in its place, from the groups of the pattern."""

    pattern: re.Pattern[str]
    advice: Callable[[dict[str, str]], str]


def _habit(pattern: str, advice: str) -> _Habit:
    return _Habit(re.compile(pattern), lambda groups: re.sub(r"<(\w+)>", lambda use: groups[use[1]], advice))


def _in_double_quotes(groups: dict[str, str]) -> str:
    inside = groups["text"].replace("\\'", "'").replace('"', '\\"')
    return f'texts stand in double quotes: "{inside}"'


def _statement(groups: dict[str, str]) -> str:
    near = near_names(groups["word"], _STATEMENTS, 1)
    return f"did you mean %{near[0]}?" if near else f"after % stands one of {', '.join(_STATEMENTS)}"


def one_case(name: str) -> str:
    """What to call something whose name is of neither case."""
    return f"names of rules are in lower case, those of terminals in upper case: {name.lower()} or {name.upper()}"


# The first one that covers the place counts.
_HABITS = (
    _habit(
        rf"^\s*(?P<name>{_WORD})\s*::=",
        r"a definition has one colon after its name: <name>: ...; where ::= stands is GBNF (pdacon.Grammar.from_gbnf) "
        r"or EBNF (pdacon.Grammar.from_ebnf)",
    ),
    _habit(rf"^\s*(?P<name>{_WORD})\s*(?::=|=|->|→)", r"a definition has one colon after its name: <name>: ..."),
    _habit(r"%llguidance\b.*", r"a grammar that begins with %llguidance is for pdacon.Grammar.from_llguidance"),
    _Habit(re.compile(rf"%(?!(?:{'|'.join(_STATEMENTS)})\b)(?P<word>\w*)"), _statement),
    _habit(r"!\s*(?=[^\s=])", r"an ! stands before the name of a rule that keeps all tokens: !rule: ..."),
    _habit(rf"^\s*<(?P<name>{_WORD})>\s*(?:::?=|=|:)", r"names stand without < and >: <name>: ..."),
    _habit(
        rf"^\s*from\s+(?P<file>{_WORD})\s+import\s+(?P<what>{_WORD}).*",
        r"an import begins with %, and names the file first: %import <file>.<what>",
    ),
    _habit(r"^\s*import\b.*", r"an import begins with %: %import common.NAME"),
    _habit(
        r"^\s*%import\s+(?P<file>\.?[\w.]*?)\.(?P<names>\([^)]*\)?)",
        r"no dot before the parenthesis: %import <file> <names>",
    ),
    _habit(
        rf"^\s*%import\s+(?P<file>\.?[\w.]+)\s+(?P<what>{_WORD})",
        r"a dot stands between the file and what is in it: %import <file>.<what>",
    ),
    _habit(r"""^\s*%import\s+(?:\0+|'[^']*'?)""", r"an import names a file and what is in it: %import .file.name"),
    _habit(r"--.*", r"a comment begins with // and ends with its line"),
    _habit(r"/\*", r"a comment begins with // and ends with its line"),
    _Habit(re.compile(r"'(?P<text>(?:\\.|[^'\\\n])*)'"), _in_double_quotes),
    _habit(r"[“”„«](?P<text>[^“”„»]*)[“”»]", 'texts stand in straight double quotes: "<text>"'),
    _habit(r"`(?P<text>[^`]*)`", 'texts stand in double quotes: "<text>"'),
    _habit(r"""'[^'"]*$""", 'texts stand in double quotes: "..."'),
    _habit(r'"(?:\\.|[^"\\])*$', r'the text that begins here has no closing " on its line'),
    _habit(
        r"(?P<pattern>(?:\\[A-Za-z.]|\^|\.[*+?])(?:\\.|[^\s()|/])*)", r"a pattern stands between slashes: /<pattern>/"
    ),
    _habit(rf"<(?P<name>{_WORD})>", r"names stand without < and >: <name>"),
    _habit(r"(?P<set>\[[^\]\s]*\w-\w[^\]\s]*\][*+?]?)", r"a set of characters is a regular expression: /<set>/"),
    _habit(r";\s*$", r"a definition ends with its line: leave the ; out"),
    _habit(rf"(?P<first>{_WORD})-(?P<rest>{_WORD})", r"names have no hyphens: <first>_<rest>"),
    _habit(r"\{\s*(?P<least>\d+)\s*\}", r"so many are written with ~: x~<least>"),
    _habit(r"\{\s*(?P<least>\d+)\s*,\s*(?P<most>\d+)\s*\}", r"so many are written with ~: x~<least>..<most>"),
    _habit(r"\{\s*(?P<what>[^{}]+?)\s*\}", r"what may be repeated stands in parentheses, with * after them: (<what>)*"),
    _habit(r"~\s*(?P<least>\d+)\s*(?:-|,|\.)\s*(?P<most>\d+)", r"from so many to so many is written ~<least>..<most>"),
    _habit(
        rf"(?P<mark>[?*+])(?P<what>{_WORD})",
        r"<mark> stands after what it is for: <what><mark>, or before the name of a rule that is defined",
    ),
    _habit(r"(?<=\s)\.(?=\s)", r"what follows each other stands side by side, without dots"),
    _habit(r"^\s*(?P<name>\d+[A-Za-z_]\w*)", r"a name begins with a letter: _<name>"),
    _habit(r"\w*[^\W\d_a-zA-Z]\w*", r"names have letters from a to z only, without accents"),
    _habit(r",", r"what follows each other stands side by side, without commas"),
    _Habit(re.compile(r"\b_?(?P<name>(?=\w*[A-Z])(?=\w*[a-z])[A-Za-z]\w*)"), lambda groups: one_case(groups["name"])),
    _habit(r"/(?!/)(?:\\.|[^/\\])*$", r"the regular expression that begins here has no closing / on its line"),
    _habit(r"(?P<number>\b\d+\b)", r'a text stands in double quotes: "<number>"'),
)
_LONGEST_LINE = 2000  # Longer ones are hardly a person's, and the patterns look at all there is from each place.
_JSON = re.compile(r"\s*\{\s*(?:\"|\}\s*$)")


def is_json(text: str) -> bool:
    """Whether a text looks like a JSON object, such as a JSON Schema: no grammar begins like one."""
    return _JSON.match(text) is not None


def advice_at(text: str, start: int) -> str | None:
    """What to write in place of what stands at an offset of the text, if it is a habit."""
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].partition("\n")[0]
    if len(line) > _LONGEST_LINE:
        return None
    place = start - begin
    bare = _LITERAL.sub(lambda match: "\0" * len(match.group()), line)  # what stands in literals is text
    for habit in _HABITS:
        for match in habit.pattern.finditer(bare):
            if match.start() <= place <= max(match.start(), match.end() - 1):
                return habit.advice({name: line[slice(*match.span(name))] for name in match.re.groupindex})
    return None
