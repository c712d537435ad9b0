"""What goes wrong between lexemes: colliding terminals, lookahead without a bound, patterns that are not supported."""

from __future__ import annotations

import re
from itertools import product

import pytest

import pdacon
from pdacon.determinism import Finding
from pdacon.determinism.report.spelling import fewest_tokens
from pdacon.front.checking import check
from pdacon.front.grammar import Grammar
from pdacon.front.report import DeterminismReport

COLLISION = """
start: "(" (WORD | FRUIT)
WORD: /[a-z]+/
FRUIT: /apple|pear/
"""

COLLISION_SETTLED_BY_PRIORITY = COLLISION.replace("FRUIT:", "FRUIT.1:")

# Never looked for in one place by the contextual lexer; always by the basic one.
COLLISION_BETWEEN_CONTEXTS = """
start: "(" WORD | ")" FRUIT
WORD: /[a-z]+/
FRUIT: /apple|pear/
"""

KEYWORD = """
start: "if" NAME | NAME "=" NAME
NAME: /[a-z]+/
%ignore " "
"""

# "aaa...": as many X, or one LONG? Only the "!" tells.
UNBOUNDED = """
start: (X | LONG)+
X: "a"
LONG: /a+!/
"""

UNBOUNDED_IGNORED = """
start: A+
A: /;/
%ignore /#(;*#)?/
"""

# `/*` cannot begin anything else here, so nothing is open after it.
COMMENT_WITHOUT_STAR = """
start: ("/" | COMMENT | "a")+
COMMENT: "/*" /(.|\\n)*?/ "*/"
"""

COMMENT_BESIDE_STAR = COMMENT_WITHOUT_STAR.replace('"a"', '"a" | "*"')

# After "1." three bytes can follow before it is known whether the number goes on.
NUMBER = """
start: NUMBER (NAME NUMBER)*
NUMBER: /[0-9]+([.][0-9]+)?(e[+-]?[0-9]+)?/
NAME: /[a-z]/
"""

# No text is a whole lexeme of both: what looks at the next letter sees to that.
RESERVED = """
start: "print" NAME | NAME "=" NAME
NAME: /(?!print(?![a-z]))[a-z]+/
%ignore " "
"""
NEVER_AT_ONCE = """
start: (A | B | "b")+
A: /a(?=b)/
B: /a(?!b)/
"""
AT_ONCE_BEFORE_C = """
start: (A | B | "b" | "c")+
A: /a(?=b|c)/
B: /a(?!b)/
"""

NOT_REGULAR = """
start: A B C
A: /(a|b)\\1/
B: /b/
C: /(c)?(?(1)d|e)/
"""


def deciding(report: DeterminismReport) -> list[Finding]:
    """The findings of the kinds that can be errors; what advice there is besides has tests of its own."""
    return [finding for finding in report.findings if finding.id < "PDA010"]


def classes(report: DeterminismReport) -> list[tuple[str, str]]:
    return [(finding.id, finding.level) for finding in deciding(report)]


def only(report: DeterminismReport) -> Finding:
    (finding,) = deciding(report)
    return finding


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (COLLISION, {}, [("PDA005", "error")]),
        (COLLISION, {"conflicts": "shift"}, [("PDA005", "note")]),
        (COLLISION_SETTLED_BY_PRIORITY, {}, []),
        (COLLISION_BETWEEN_CONTEXTS, {}, []),
        (COLLISION_BETWEEN_CONTEXTS, {"lexer": "basic"}, [("PDA005", "error")]),
        (KEYWORD, {}, []),
        (UNBOUNDED, {}, [("PDA006", "error")]),
        (UNBOUNDED, {"lookahead": "commit"}, [("PDA006", "warning")]),
        (UNBOUNDED_IGNORED, {}, [("PDA006", "error")]),
        (COMMENT_WITHOUT_STAR, {}, []),
        (COMMENT_BESIDE_STAR, {}, [("PDA006", "error")]),
        (NUMBER, {}, []),
        (RESERVED, {}, []),
        (NEVER_AT_ONCE, {}, []),
        (AT_ONCE_BEFORE_C, {}, [("PDA005", "error")]),
        (NOT_REGULAR, {}, [("PDA008", "error"), ("PDA008", "error")]),
        (NOT_REGULAR, {"conflicts": "shift", "lookahead": "commit"}, [("PDA008", "error"), ("PDA008", "error")]),
    ],
)
def test_class_of_each_finding(text: str, options: dict[str, str], expected: list[tuple[str, str]]) -> None:
    report = check(Grammar.from_lark(text, **options))
    assert classes(report) == expected
    assert report.ok == all(level != "error" for _, level in expected)


def test_a_collision_names_both_terminals_and_a_text_that_both_match() -> None:
    grammar = Grammar.from_lark(COLLISION)
    finding = only(check(grammar))
    assert set(finding.symbols) == {"WORD", "FRUIT"}
    assert finding.witness is not None
    assert finding.witness.symbols == ('"("',)
    assert finding.witness.text is not None
    patterns = [t.pattern.regexp for t in grammar.data.terminals if t.name in finding.symbols and t.pattern]
    assert all(re.fullmatch(pattern, finding.witness.text.decode()) for pattern in patterns)
    assert finding.span is not None


@pytest.mark.parametrize("text", [UNBOUNDED, UNBOUNDED_IGNORED, COMMENT_BESIDE_STAR])
def test_unbounded_lookahead_is_shown_by_a_loop(text: str) -> None:
    witness = only(check(Grammar.from_lark(text))).witness
    assert witness is not None
    assert witness.text
    assert witness.loop


def test_every_unsupported_pattern_is_named_with_its_place() -> None:
    report = check(Grammar.from_lark(NOT_REGULAR, source_path="not_regular.lark"))
    assert [finding.symbols for finding in report.findings] == [("A",), ("C",)]
    assert [finding.span.line for finding in report.findings if finding.span] == [3, 5]


def test_a_pattern_with_a_semicolon_is_no_part_of_the_advice() -> None:
    (finding,) = check(Grammar.from_lark("start: A\nA: /x; (?P<q>a+)(?P=q)/")).findings
    first, *_ = finding.message.split("\n")
    assert first.endswith("of the pattern /x; (?P<q>a+)(?P=q)/ is not supported")
    assert finding.repair is not None
    assert "x;" not in finding.repair


def test_a_vocabulary_spells_the_witness() -> None:
    vocab = pdacon.Vocabulary.from_tokens([b"a", b"aa", b"p", b"pear", b"apple", None], [5])
    finding = only(check(Grammar.from_lark(COLLISION), vocab))
    assert finding.witness is not None
    assert finding.witness.text is not None
    assert finding.witness.tokens is not None
    assert vocab.decode(finding.witness.tokens) == finding.witness.text


def test_fewest_tokens() -> None:
    vocab = pdacon.Vocabulary.from_tokens([b"a", b"ab", b"b", b"ba", b"ab", None], [5])
    assert fewest_tokens(b"", vocab) == ()
    assert fewest_tokens(b"abab", vocab) == (1, 1)
    assert fewest_tokens(b"aba", vocab) in [(0, 3), (1, 0)]
    assert fewest_tokens(b"abc", vocab) is None


def test_fewest_tokens_are_fewest() -> None:
    """All texts of up to seven letters against all sequences of tokens; the same ids for the same bytes."""
    vocab = pdacon.Vocabulary.from_tokens([b"a", b"ab", b"bba", b"aab", b"ab", b"", None], [6])
    spelled: dict[bytes, int] = {}
    for count in range(8):
        for tokens in product(vocab.tokens[:5], repeat=count):
            spelled.setdefault(b"".join(token or b"" for token in tokens), count)
    for length in range(8):
        for text in map(bytes, product(b"ab", repeat=length)):
            found = fewest_tokens(text, vocab)
            assert (None if found is None else len(found)) == spelled.get(text)
            assert found is None or vocab.decode(found) == text


def test_the_tokens_of_a_long_text() -> None:
    """All beginnings and ends of this text would be 4.5 GB."""
    vocab = pdacon.Vocabulary.from_tokens([b"a", b"aaaa", b"b", None], [3])
    assert fewest_tokens(b"a" * 3001 + b"b", vocab) == (0, *[1] * 750, 2)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (COLLISION, {"conflicts": "shift"}),
        (KEYWORD, {}),
        (UNBOUNDED, {"lookahead": "commit"}),
        (NUMBER, {}),
        (COLLISION, {}),
        (UNBOUNDED, {}),
    ],
)
def test_compile_takes_what_the_report_calls_ok(text: str, options: dict[str, str]) -> None:
    vocab = pdacon.Vocabulary.from_tokens([bytes([b]) for b in range(256)] + [None], [256])
    grammar = Grammar.from_lark(text, **options)
    report = check(grammar)
    if report.ok:
        assert pdacon.compile(grammar, vocab).report == check(grammar, vocab)
    else:
        with pytest.raises(pdacon.NondeterministicGrammarError) as caught:
            pdacon.compile(grammar, vocab)
        assert list(caught.value.report.findings) == deciding(report)


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("start: A B\nA: /(?P<q>a)/\nB: /b/\n%ignore /(?P<q> )/", {}, {"A", "__IGNORE_0"}),
        ("start: A | B\nA: /(?P<q>a)x/\nB: /(?P<q>b)y/", {"conflicts": "shift"}, {"A", "B"}),
        ("start: A+ B+\nA: /(?P<B>a)x/\nB: /b/", {}, {"A", "B"}),
    ],
)
def test_groups_of_one_name_in_one_context(text: str, options: dict[str, str], names: set[str]) -> None:
    """A finding, once for however many contexts, where `compile` raises."""
    grammar = Grammar.from_lark(text, **options)
    (finding,) = check(grammar).findings
    assert (finding.id, finding.level, set(finding.symbols)) == ("PDA008", "error", names)
    assert finding.repair is not None
    assert finding.span is not None
    with pytest.raises(pdacon.UnsupportedGrammarError, match=re.escape(finding.repair)) as caught:
        pdacon.compile(grammar, pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256]))
    assert caught.value.span == finding.span
