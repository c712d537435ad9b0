"""The facts that decide what a text means, one probe each: stock Lark says so, and pdacon says what stock Lark says.

The first ones are those on which other engines that read Lark grammars were seen to differ from Lark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import lark
import pytest
from lark.indenter import PythonIndenter
from support.indented_grammars import TreeIndenter
from support.languages import sentences_of_lark, sentences_of_pdacon

import pdacon
from pdacon import Grammar


@dataclass(frozen=True)
class Probe:
    """A grammar, texts that Lark parses and texts that it does not."""

    text: str
    accepted: list[str]
    rejected: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    conflicts: str = "error"


LAZY_COMMENT = 'start: C "x"\nC: /\\/\\*(.|\\n)*?\\*\\//'
MERGED = 'start: "x" a B B | "y" a BB\na: "k"\nB: "b"\nBB: "bb"'
LINES = 'start: line+\nline: "a" _NL [_INDENT line+ _DEDENT]\n_NL: {}\n%declare _INDENT _DEDENT'
CALLS = (
    'start: (call _NEWLINE)+\ncall: "f" "(" ("a" ("," "a")*)? ")"\n'
    "_NEWLINE: /(\\r?\\n[\\t ]*|#[^\\n]*)+/\n%declare _INDENT _DEDENT"
)


PROBES = {
    # Where engines differ
    "a lazy quantifier stops at the first chance": Probe(LAZY_COMMENT, ["/*a*/x", "/**/x"], ["/*a*/b*/x", "/*a*/"]),
    "ESCAPED_STRING has no line break": Probe(
        "%import common.ESCAPED_STRING\nstart: ESCAPED_STRING", ['"a"', '"\\"a"', '"\\n"'], ['"\n"', '"a\nb"', '"a"b"']
    ),
    "a keyword is not a name where it may come": Probe(
        'start: ID | KW ID\nID: /[a-z]+/\nKW: "if"\n%ignore " "', ["i", "ifx", "if x", "if if", "x"], ["if", "x if"]
    ),
    "a terminal gives nothing back to what follows": Probe(
        'start: A "a" | A "b"\nA: /a+/', ["ab", "aab"], ["aa", "aaa", "a"]
    ),
    "what is ignored comes at both ends and between": Probe(
        'start: "a" "b"\n%ignore " "', ["ab", " ab", "ab ", "  a  b  "], ["a", " ", "a bb"]
    ),
    "look-ahead in a terminal": Probe('start: A B?\nA: /a(?!b)/ | /ab/\nB: "b"', ["a", "ab", "abb"], ["aa", "b"]),
    "priorities of terminals": Probe(
        'start: A B | N\nA.2: "a"\nB: /b+/\nN: /[a-z]+/', ["ab", "ba"], ["a", "ac", "aab"]
    ),
    "templates": Probe('start: list{"a"}\nlist{x}: x ("," x)*', ["a", "a,a"], ["", "a,", ",a"]),
    "declared terminals have no text": Probe('start: "a" | "b" X\n%declare X', ["a"], ["b", "bX"]),
    # The order in which terminals are tried, and their meaning
    "priority comes first": Probe('start: (A | B "!")+\nA.1: "a"\nB: /aa+/', ["a", "aa"], ["aa!"]),
    "then the greatest width": Probe('start: (A | B "!")+\nA: /a/\nB: /aa?/', ["aa!", "a!"], ["a", "aa"], {}, "shift"),
    "then the length of the pattern": Probe('start: A "!" | B\nA: /[a]/\nB: /a/', ["a!"], ["a"], {}, "shift"),
    "then the name": Probe('start: B "!" | A\nB: /[ab]/\nA: /[ba]/', ["a", "b"], ["a!"], {}, "shift"),
    "the width is in characters": Probe(
        'start: A "!" | E\nA: /aa?/\nE: /[aé]/', ["a!", "aa!", "é"], ["a"], {}, "shift"
    ),
    "the first terminal wins, not the longest match": Probe(
        "start: S L?\nS.1: /ab/\nL: /ab*c*/", ["ab", "abac"], ["abc", "abbc"]
    ),
    "alternation is ordered": Probe("start: D\nD: /[1-9]|1[0-2]/", ["1", "9"], ["10", "12"]),
    "alternatives come back when what follows fails": Probe(
        "start: X\nX: /(a|ab)(c|bcd)/", ["ac", "abc", "abcd"], ["ab", "abcc"]
    ),
    "greedy gives back": Probe("start: X\nX: /a*ab/", ["ab", "aab"], ["b", "aaa"]),
    "lazy strings of three quotes": Probe(
        'start: S\nS: /"""(.|\\n)*?"""/', ['"""a"b"""'], ['"""a"""b"""', '""""""a"""']
    ),
    "possessive by an atomic look-ahead": Probe("start: X\nX: /a(?=b)b|a(?!b)/", ["a", "ab"], ["b", "abb"]),
    # Contexts
    "only what the parser can take is looked for": Probe(
        'start: "x" A "1" | "y" B B\nA: /a+/\nB: /a/', ["xaa1", "yaa"], ["ya1"]
    ),
    "the basic lexer looks for everything": Probe(
        'start: "x" A "1" | "y" B B\nA: /a+/\nB: /a/', ["xaa1"], ["yaa"], {"lexer": "basic"}, "shift"
    ),
    "a row has what another stack would allow": Probe(MERGED, ["ykbb"], ["xkbb", "xkb"]),
    "without that other stack": Probe(MERGED.replace(' | "y" a BB', "").replace('BB: "bb"', ""), ["xkbb"], ["xkb"]),
    "start symbols share a table": Probe(
        'one: a B B\ntwo: a BB\na: "k"\nB: "b"\nBB: "bb"', [], ["kbb", "kb"], {"start": ["one", "two"]}
    ),
    "a start symbol alone": Probe('one: a B B\ntwo: a BB\na: "k"\nB: "b"\nBB: "bb"', ["kbb"], ["kb"], {"start": "one"}),
    "ignored terminals are in every context": Probe(
        'start: "a" X\nX: /bc/\nI: /b/\n%ignore I', ["abc", "abbc", "babc"], ["ab", "ac"]
    ),
    "ignored terminals compete": Probe('start: "a" X\nX: /bc/\nI.2: /b/\n%ignore I', [], ["abc", "abbc"]),
    "ignored text leaves the context": Probe(
        "start: A A\nA: /ab?/\n%ignore /c/", ["aa", "aca", "abcab"], ["abb", "acb"]
    ),
    # Keywords
    "a keyword is one where the parser takes it": Probe(
        'start: ("print" NAME ";")+\nNAME: /[a-z]+/\n%ignore " "',
        ["print print;", "print x;", "printx;"],
        ["print;", "x;"],
    ),
    "a longer name is no keyword": Probe(
        'start: "if" N | N "!"\nN: /[a-z]+/\n%ignore " "', ["if x", "ifx!"], ["ifx", "if!"]
    ),
    "no renaming across priorities": Probe('start: KW "1" | N "2"\nKW.-1: "if"\nN: /[a-z]+/', ["if2"], ["if1"]),
    "a string that is not matched whole competes": Probe(
        'start: (N | "a-b" "!")*\nN: /[ab]/', ["ab", "a-b!"], ["a-b", "a-"]
    ),
    "a flag keeps a string in the alternation": Probe(
        'start: "if"i N | N\nN: /[a-z]+/\n%ignore " "', ["IF x", "if x", "x"], ["iF x", "IF", "if"]
    ),
    "equal flags take it out": Probe(
        'start: "if"i N | N\nN: /[a-z]+/i\n%ignore " "', ["IF x", "iF x", "ifx", "iFx"], ["IF", "if"]
    ),
    "the string's own flags rename": Probe('start: "if" "!" | N\nN: /[a-z]+/i', ["if!", "IF", "iF"], ["if", "IF!"]),
    "strings rename in the order of terminals": Probe(
        'start: Z "1" | Y "2" | N\nZ: "a"\nY: "a"i\nN: /[a-z]/i', ["a2", "A2", "b"], ["a1", "a", "A1"]
    ),
    "an ignored regex swallows its keywords": Probe('start: "a"? "c"\n%ignore /[ab]+/', ["c", "ac", "abc"], ["a", "b"]),
    "what a pattern looks at is not there when a string is absorbed": Probe(
        'start: "if" "x" | N ";"\nN: /[a-z]+(?=;)/', ["ifx", "x;", "if;"], ["if", "ifx;x"], {}, "shift"
    ),
    # Where a lexeme ends
    "residual bytes are lexed again": Probe(
        'start: (NUM | DOTS)+\nNUM: /1+(\\.1+)?/\nDOTS: ".."', ["1..1", "1.1", "1.11..1"], ["1.", "1...1"]
    ),
    "the end of the text commits": Probe(
        'start: (A | B | C)+\nA: "a"\nB: "b"\nC: "abbc"', ["abb", "abbc", "abbabbc"], ["c", "abbcc"]
    ),
    "negative look-ahead holds at the end": Probe("start: X Y?\nX: /a(?!b)/\nY: /[ac]/", ["a", "aa", "ac"], ["ab"]),
    "the dollar holds before a last newline": Probe(
        "start: (X | N)+\nX: /a$/\nN: /\\n/", ["a", "a\n", "\na"], ["a\n\n", "aa"]
    ),
    "only the end is the end": Probe("start: (X | N)+\nX: /a\\Z/\nN: /\\n/", ["a", "\na"], ["a\n", "aa"]),
    "look-behind sees what was ignored": Probe(
        'start: "a" B\nB: /(?<= )b/\n%ignore " "', ["a b", " a  b"], ["ab", "a"]
    ),
    "the caret is the start of the text": Probe(
        'start: (X | Y)+\nX.2: /^a/\nY: /b/\n%ignore " "', ["a", "ab", "b"], ["ba", " a"]
    ),
    "word boundaries look across lexemes": Probe(
        'start: ("a" | B)+\nB: /\\bb/\n%ignore " "', ["b", "a b", "aa"], ["ab", "bb"]
    ),
    # Unicode
    "letters and digits are Unicode's": Probe(
        "start: W D\nW: /[^\\W\\d]+/\nD: /\\d/", ["é1", "日\u0663", "_1"], ["1", "é", "é-"]
    ),
    "so are spaces": Probe('start: "a" "b"\n%ignore /\\s/', ["a\u2003b", "a\x1cb", "a\x85b"], ["a\u200bb"]),
    "case is that of re": Probe('start: "k"i "s"i "µ"i', ["ksµ", "\u212a\u017f\u03bc", "KS\u039c"], ["ks", "xsµ"]),
    "the dotted i": Probe('start: "i"i', ["i", "I", "\u0130", "\u0131"], ["j", "i\u0307"]),
    "no folding to several letters": Probe('start: "ß"i | "ﬁ"i', ["ß", "ẞ", "ﬁ"], ["ss", "SS", "fi"]),
    "flags of all terminals": Probe('start: "a" /b./', ["AB\n", "ab\n"], ["ab"], {"g_regex_flags": re.I | re.S}),
    "bytes": Probe("start: /\\w/ /[\\x80-\\xff]/", ["a\xe9"], ["\xe9\xe9", "aa"], {"use_bytes": True}),
    # Conflicts that Lark settles
    "shift goes before reduce": Probe(
        'start: s\ns: "i" s "e" s | "i" s | "x"', ["ix", "iixex", "iixexex"], ["xe", "ixexex"], {}, "shift"
    ),
    "rules' priorities settle reduce/reduce": Probe(
        'start: a "1" | b "2"\na.2: "x"\nb.1: "x" | "y"', ["x1", "y2"], ["y1"]
    ),
    "a settled conflict may lose sentences": Probe('start: x "b"\nx: "a" "b"?', ["abb"], ["ab", "a"], {}, "shift"),
    # Indentation
    "columns count": Probe(
        LINES.format(r"/(\n[\t ]*)+/"),
        ["a\n", "a\n a\n", "a\n  a\n  a\na\n", "a\n a\n  a\n", "a\n  a\n\ta\n"],
        ["a", "a\n  a\n a\n", "a\n a\n\ta\n a\n  a\n a"],
        {"postlex": TreeIndenter()},
    ),
    "the first line's indentation does not count": Probe(
        LINES.format(r"/(\n[\t ]*)+/") + '\n%ignore " "',
        ["a\n", " a\na\n", "  a\n a\n"],
        ["a\n\n "],
        {"postlex": TreeIndenter()},
    ),
    "newlines between parentheses are dropped": Probe(
        CALLS, ["f()\n", "f(\n)\n", "f(a\n  ,a\n )\n"], ["f()", "f(\n)", "f\n()\n"], {"postlex": PythonIndenter()}
    ),
    "a comment's text is part of the column": Probe(
        CALLS, ["f()\n#\n"], ["f()\n# a", "f()#"], {"postlex": PythonIndenter()}
    ),
}


@pytest.mark.parametrize("name", PROBES)
def test_probe(name: str) -> None:
    probe = PROBES[name]
    parser = lark.Lark(probe.text, parser="lalr", **probe.options)
    texts = [*probe.accepted, *probe.rejected]
    start = parser.options.start[0]
    assert sentences_of_lark(parser, texts, start) == set(probe.accepted)
    grammar = Grammar.from_lark(probe.text, conflicts=probe.conflicts, **probe.options)  # type: ignore[arg-type]
    assert sentences_of_pdacon(grammar, texts, start) == set(probe.accepted)


UNSETTLED = {
    "a cyclic reads relation depends on hash order": ('start: a\na: c d a "x" | "y"\nc:\nd:', "PDA004"),
    "unbounded lookahead": ('start: ("/" | "*" | "a" | C)*\nC: /\\/\\*[^*]*\\*\\//', "PDA006"),
}


@pytest.mark.parametrize("name", UNSETTLED)
def test_what_is_refused_in_every_mode_but_one(name: str) -> None:
    text, finding = UNSETTLED[name]
    report = pdacon.check(Grammar.from_lark(text, conflicts="shift"))
    assert finding in {found.id for found in report.findings if found.level == "error"}
