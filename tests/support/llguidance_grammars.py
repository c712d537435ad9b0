"""Grammars in llguidance's variant of Lark's language: written for tests, and random ones."""

from __future__ import annotations

import random

CALC = r"""%llguidance {}
start: expr
expr: expr "+" term | term
term: term "*" factor | factor
factor: "(" expr ")" | NUMBER
NUMBER: /[0-9]+/
%ignore /[ \t]+/
"""
JSON = r"""
start: value
value: obj | arr | STRING | NUMBER | "true" | "false" | "null"
obj: "{" [pair ("," pair)*] "}"
pair: STRING ":" value
arr: "[" [value ("," value)*] "]"
CHAR: /(\\([\"\\\/bfnrt]|u[a-fA-F0-9]{4})|[^\"\\\x00-\x1F\x7F])/
STRING: "\"" CHAR* "\""
NUMBER: "-"? INT ("." /[0-9]+/)? (/[eE][+-]?/ /[0-9]+/)?
INT: "0" | /[1-9][0-9]*/
%ignore /[ \t\n\r]/{1,}
"""
WITHOUT = r"""
start: LINES
LINES: /[a-zA-Z \n]*/ & ~/(?s:.*)\n\n(?s:.*)/
"""
COUNTS = r"""
start: item{2,3} "-" other{,2} "-" third{1,}   # counts
item: "a" | "b"
other: /[xyz]/   // one of three
third: "q"{2}
"""
TOOLS = r"""
start: ( f_foo | f_bar )* f_end
f_end: TEXT
TEXT: /(.|\n)*/

f_foo_hd[lazy]: TEXT "<function"
f_foo: f_foo_hd "=foo>" /[a-z]+/ "</function>"

f_bar_hd[lazy]: TEXT "<function"
f_bar: f_bar_hd "=bar>" /[0-9]+/ "</function>"
"""
SUFFIX = r"""
start: thought /[0-9]+/
thought[capture, suffix="<end>"]: /.*/
"""
PIECES = r"""
start: "x" SOME "y" | WORDS
SOME: %regex { "substring_chunks": ["abc", "de", "fg"] }
WORDS: %regex { "substring_words":
   "foo bar. baz" }
"""
HYPHENS = r"""
start: my-rule -> the-alias
my-rule: MY-TOK "a".."f" INT
MY-TOK: "z"i | /K+/i
%import common (INT, WS)
%ignore WS
"""
KEYWORDS = r"""
start: stmt+
stmt: "if"i NAME "then" NAME ";" | NAME "=" NUM ";" | "call" NAME ";"
NAME: /[a-z_]\w*/
NUM: INT | FLOAT
%import common (INT, FLOAT, WS)
%ignore WS
"""
OVERLAPS = r"""
start: HEX "!" | INT "?" | WORD "."
HEX: /[0-9a-f]+/
INT: /[0-9]+/
WORD: /[a-z]+/
"""
WRITTEN = {
    "calc": (CALC, ["1+2*(3)", "1 + 2", "1+", "1 ", ""]),
    "json": (JSON, ['{"a": [1,2.5e3]}', '"\\u00e9"', "01", "[1 ,-0]", '{"a":1,}']),
    "without": (WITHOUT, ["a b\nc", "a\n\nb", "", "a1"]),
    "counts": (COUNTS, ["ab--qqqq", "aba-xy-qq", "a--qq", "ab-xyz-qq", "ab-x-qqq", "abab--qq"]),
    "tools": (
        TOOLS,
        [
            "hi",
            "",
            "a<function=foo>abc</function>b",
            "a<function",
            "a<functio",
            "<function=bar>12</function><function=foo>a</function>",
            "<function=bar>1</function>x<function=x",
            "<function=bar>abc</function>",
        ],
    ),
    "suffix": (SUFFIX, ["foo<end>12", "<end>1", "foo1", "a<end>b<end>1", "a\n<end>1"]),
    "pieces": (PIECES, ["xcy", "xabcdey", "xdey", "xy", "foo bar", "bar. ", "foo b", ""]),
    "hyphens": (HYPHENS, ["za1", "Z a 12", "kKf1", "kg1", "K\u212aa0"]),
    "keywords": (
        KEYWORDS,
        [
            "if x then y;",
            "IF x THEN y;",
            "iffy = 1;",
            "If x then yif;call z;",
            "callx = .5e-3;",
            "thenx=1.;",
            "x = 1",
            "IFx then y;",
        ],
    ),
    "overlaps": (OVERLAPS, ["12!", "12?", "ab!", "ab.", "ab?", "1a!", "1a.", "xy.", "xy!"]),
}
"""Each with texts; none in which a keyword stands for a name, or what is ignored stands before or after the rest."""


def random_pattern(rng: random.Random, depth: int = 0) -> str:
    """A pattern over a, b and c."""
    kind = rng.random()
    if depth > 2 or kind < 0.4:
        return rng.choice("abc")
    if kind < 0.5:
        return f"[{''.join(sorted({*rng.choices('abc', k=2)}))}]"
    if kind < 0.7:
        return random_pattern(rng, depth + 1) + random_pattern(rng, depth + 1)
    if kind < 0.85:
        return f"({random_pattern(rng, depth + 1)}|{random_pattern(rng, depth + 1)})"
    return f"({random_pattern(rng, depth + 1)}){rng.choice(['*', '+', '?', '{1,2}', '{2}'])}"


def random_grammar(rng: random.Random) -> str:
    """A grammar whose patterns are over a, b and c, and its string literals over x and y."""
    terminals = [f"T{letter}" for letter in "ABC"[: rng.randint(1, 3)]]
    rules = ["start", *(f"r{k}" for k in range(rng.randint(0, 2)))]
    lines = []
    for place, name in enumerate(rules):
        if place and rng.random() < 0.35:
            option = "lazy" if rng.random() < 0.5 else f'suffix="{rng.choice(["a", "bc", "x"])}"'
            lines.append(f"{name}[{option}]: {_terminal(rng, terminals)}")
        else:
            options = (_sequence(rng, terminals, rules[place + 1 :]) for _ in range(rng.randint(1, 2)))
            lines.append(f"{name}: {' | '.join(options)}")
    lines += [f"{name}: {_terminal(rng, terminals[k + 1 :])}" for k, name in enumerate(terminals)]
    if rng.random() < 0.3:
        lines.append("%ignore / +/")
    return "\n".join([*lines, ""])


def _quoted(rng: random.Random) -> str:
    return f'"{"".join(rng.choices("xy", k=rng.randint(1, 2)))}"{"i" if rng.random() < 0.1 else ""}'


def _terminal(rng: random.Random, names: list[str], depth: int = 0) -> str:
    kind = rng.random()
    if kind < 0.35:
        return _quoted(rng)
    if kind < 0.7 or depth > 1:
        return f"/{random_pattern(rng)}/"
    if kind < 0.78 and names:
        return rng.choice(names)
    one, other = _terminal(rng, names, depth + 1), _terminal(rng, names, depth + 1)
    if kind < 0.84:
        return f"({one} | {other})"
    if kind < 0.9:
        return f"({one}){rng.choice(['*', '+', '?', '{1,2}'])}"
    return f"({one} & ~({other}))" if kind < 0.95 else f"{one} {other}"


def _sequence(rng: random.Random, terminals: list[str], rules: list[str]) -> str:
    parts = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if kind < 0.45:
            part = rng.choice(terminals)
        elif kind < 0.6:
            part = _quoted(rng)
        elif kind < 0.75:
            part = f"/{random_pattern(rng)}/"
        else:
            part = rng.choice(rules or terminals)
        if rng.random() < 0.3:
            part += rng.choice(["*", "+", "?", "{1,2}", "{2}", "{,2}", "{1,}"])
        parts.append(part)
    return " ".join(parts)
