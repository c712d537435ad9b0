"""What a page can begin with: grammars with texts that show something at once."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pdacon.playground.sources import Notation


@dataclass(frozen=True, slots=True)
class Example:
    """A grammar, and a text under it; ``builtin`` names a grammar that comes with pdacon, whose text is not here."""

    name: str
    about: str
    text: str
    grammar: str = ""
    notation: Notation = "lark"
    builtin: str = ""


_ORDERS = """\
start: order ("," order)* "."
order: COUNT SIZE? DRINK
COUNT: /[1-9][0-9]?/
SIZE: "small" | "large"
DRINK: "tea" | "coffee" | "water"
%ignore /(?<! ) /
"""

_SUMS = """\
start: sum
sum: sum "+" sum | NUMBER
NUMBER: /[0-9]+/
"""

_BRANCHES = """\
start: stmt
stmt: "if" NAME "then" stmt
    | "if" NAME "then" stmt "else" stmt
    | NAME "=" NUMBER
NAME: /(?!(if|then|else)\\b)[a-z]+/
NUMBER: /[0-9]+/
%ignore /(?<! ) /
"""

_PATCH = """\
start: BEGIN hunk+ END
hunk: add | delete | update
add: ADD PATH NEWLINE ADDED+
delete: DELETE PATH NEWLINE
update: UPDATE PATH NEWLINE move? change+
move: MOVE PATH NEWLINE
change: CONTEXT (ADDED | REMOVED | KEPT)+

BEGIN: "*** Begin Patch\\n"
END: /\\*\\*\\* End Patch\\n?/
ADD: "*** Add File: "
DELETE: "*** Delete File: "
UPDATE: "*** Update File: "
MOVE: "*** Move to: "
CONTEXT: /@@( [^\\n]+)?\\n/
ADDED: /\\+[^\\n]*\\n/
REMOVED: /-[^\\n]*\\n/
KEPT: / [^\\n]*\\n/
PATH: /[^\\n]+/
NEWLINE: "\\n"
"""

_TOOLS = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "name": {"const": "get_weather"},
                "arguments": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string", "maxLength": 40},
                        "unit": {"enum": ["celsius", "fahrenheit"]},
                    },
                    "required": ["city"],
                    "additionalProperties": False,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "name": {"const": "book_table"},
                "arguments": {
                    "type": "object",
                    "properties": {
                        "day": {"type": "string", "format": "date"},
                        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
                    },
                    "required": ["day", "guests"],
                    "additionalProperties": False,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        },
    ]
}

_CHESS = """\
root   ::= (number ". " move " " move "\\n")+
number ::= [1-9] [0-9]?
move   ::= (pawn | piece | castle) [+#]?
piece  ::= [NBKQR] [a-h]? [1-8]? "x"? square
pawn   ::= ([a-h] "x")? square ("=" [NBQR])?
castle ::= "O-O" "-O"?
square ::= [a-h] [1-8]
"""

EXAMPLES = (
    Example("Orders", "a first grammar; the text has a misspelled word", "2 large tee", _ORDERS),
    Example("Sums", "a conflict, with a repair to take", "1+2", _SUMS),
    Example("Branches", "the dangling else: two readings of one sentence", "if a then b=1", _BRANCHES),
    Example("JSON", "the grammar that comes with pdacon", '{"name": "Ada", "born": 1815, "tags": [', builtin="json"),
    Example("SQL", "SQLite's language", "SELECT name, count(*) FROM people\nWHERE born > 1800 ", builtin="sql"),
    Example(
        "Python",
        "blocks by indentation",
        "def area(width, height=1):\n    if width > 0:\n        return width * ",
        builtin="python",
    ),
    Example(
        "Tools",
        "calls of two tools, as a JSON Schema",
        '{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "',
        json.dumps(_TOOLS, indent=2),
        "json-schema",
    ),
    Example(
        "Patch",
        "patches as coding agents write them",
        "*** Begin Patch\n*** Update File: src/app.py\n@@ def main():\n-    print(1)\n+    print(2)\n",
        _PATCH,
    ),
    Example("Chess", "GBNF, the notation of llama.cpp", "1. e4 e5\n2. Nf3 ", _CHESS, "gbnf"),
    Example("Dates", "a regular expression", "2031-02-", r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "regex"),
)
