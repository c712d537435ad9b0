"""What is said of repairs of terminals holds of every text: they are compared with stock Lark on all short texts."""

from __future__ import annotations

import itertools
import re

import lark
import pytest

from pdacon import Grammar, check
from pdacon.determinism import Finding, repair_choices, with_repair
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.lexical.repair.continuations import Continuations
from pdacon.determinism.lexical.repair.lockstep import kept, stands_for
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.front.report import DeterminismReport
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer

NUMBERS = 'start: (INT | FLOAT) ";"\nINT: /\\d+/\nFLOAT: /\\d*\\.?\\d+/\n'
VERSIONS = 'start: (HEX | VER) ";"\nHEX: /[0-9a-f]+/\nVER: /[0-9]+(\\.[0-9]+)+|[0-9]+/\n'
DOTS = 'start: (HEX | DOT)+ ";"\nHEX: /[0-9a-f]+/\nDOT: /[0-9]+(\\.[0-9]+)*/\n%ignore " "\n'
THREE = 'start: (A | B | C) ";"\nA: /[a-z]+/\nB: /[a-z0-9]+/\nC: /[a-m_]+/\n'
HYPHENS = 'start: (KW | NAME) ";"\nKW.2: "if" | "in"\nNAME: /[a-z]+(-[a-z]+)*/\n'
MARKDOWN = 'start: (HEADER? TEXT "\\n")*\nHEADER: /#+ /\nTEXT: /[^\\n]+/\n'
CUT_ALREADY = 'start: (INT | FLOAT) ";"\nINT.1: /\\d+(?!\\d)/\nFLOAT: /\\d*\\.?\\d+/\n'
UNITS = 'start: NUM PREFIX? BASE\nNUM: /[0-9]+/\nPREFIX: "k" | "m"\nBASE.1: "m" | "s" | "mol"\n'
PRIORITIES = 'start: "a" "b"\nW.1: / +/\nN: /\\n+/\n%ignore W\n%ignore N\n'
GRAMMARS = {
    "numbers": (NUMBERS, "0.;"),
    "versions": (VERSIONS, "0.a;"),
    "dots": (DOTS, "0.a ;"),
    "three": (THREE, "an0_;"),
    "hyphens": (HYPHENS, "ifn-;"),
    "markdown": (MARKDOWN, "# a\n"),
    "cut already": (CUT_ALREADY, "0.;"),
}


def report_of(text: str) -> DeterminismReport:
    return check(Grammar.from_lark(text))


def parses(parser: lark.Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except lark.exceptions.LarkError:
        return False
    return True


def short_texts(alphabet: str, length: int = 6) -> list[str]:
    return ["".join(text) for size in range(length + 1) for text in itertools.product(alphabet, repeat=size)]


def offered(text: str, id: str) -> list[tuple[Finding, list[str]]]:
    return [
        (finding, choice)
        for finding in report_of(text).findings
        if finding.id == id
        for choice in repair_choices(finding)
    ]


@pytest.mark.parametrize(("text", "alphabet"), GRAMMARS.values(), ids=list(GRAMMARS))
def test_no_short_text_is_lost_without_a_word(text: str, alphabet: str) -> None:
    before = lark.Lark(text, parser="lalr")
    for finding, choice in [*offered(text, "PDA005"), *offered(text, "PDA019")]:
        after = lark.Lark(with_repair(text, finding, choice), parser="lalr")
        texts = short_texts(alphabet)
        lost = [one for one in texts if parses(before, one) and not parses(after, one)]
        gained = [one for one in texts if parses(after, one) and not parses(before, one)]
        assert finding.repair is not None
        assert not lost or "Lost with it" in finding.repair, (lost[0], choice)
        assert not gained or "ained is such a" in finding.repair, (gained[0], choice)


@pytest.mark.parametrize("text", [NUMBERS, VERSIONS, DOTS, THREE])
def test_terminals_that_collide_are_parted_without_loss(text: str) -> None:
    """The look-ahead has every continuation of the other pattern, not only its next character."""
    found = offered(text, "PDA005")
    assert found
    assert all("Lost with it" not in (finding.repair or "") for finding, _ in found)


def test_words_where_each_pattern_loses_texts() -> None:
    finding = next(finding for finding in report_of(MARKDOWN).findings if finding.id == "PDA005")
    assert not repair_choices(finding)


def test_terminals_that_collide_are_parted_together() -> None:
    """Each finding of three that collide has the same lines, and with them all are gone."""
    found = offered(THREE, "PDA005")
    assert len({tuple(choice) for _, choice in found}) == 1
    repaired = with_repair(THREE, *found[0])
    assert not [finding for finding in report_of(repaired).findings if finding.level == "error"]


@pytest.mark.parametrize("text", [HYPHENS, CUT_ALREADY])
def test_a_repair_cures_its_own_witness(text: str) -> None:
    ((finding, choice),) = offered(text, "PDA019")
    assert finding.witness is not None
    assert finding.witness.text is not None
    witness = finding.witness.text.decode()
    lower = finding.symbols[0]
    assert next(iter(lark.Lark(text, parser="lalr").parse_interactive(witness).iter_parse())).type != lower
    token = next(
        iter(lark.Lark(with_repair(text, finding, choice), parser="lalr").parse_interactive(witness).iter_parse())
    )
    assert (token.type, str(token)) == (lower, witness)


def test_what_is_cut_behind_a_look_ahead_is_found() -> None:
    assert "PDA019" in [finding.id for finding in report_of(CUT_ALREADY).findings]


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ('start: (A | B | C) ";"\nA: /[a-z]+/\nB: /[a-c]+/\nC.1: /a+/\n', "A"),
        ('start: (A | B | C) ";"\nA: /[a-z]+/\nB: /[a-c]+/\nC.1: /[a-c]+/\n', "C"),
    ],
)
def test_who_takes_the_text_is_who_lark_takes(text: str, taken: str) -> None:
    finding = next(finding for finding in report_of(text).findings if finding.symbols == ("A", "B"))
    assert finding.witness is not None
    assert finding.witness.text is not None
    token = next(iter(lark.Lark(text, parser="lalr").parse_interactive(finding.witness.text.decode()).iter_parse()))
    assert token.type == taken
    assert f"Lark silently takes {taken}" in finding.message


def test_a_word_that_is_never_read() -> None:
    (finding,) = [finding for finding in report_of(UNITS).findings if finding.cause == "hidden-words"]
    assert finding.symbols == ("PREFIX", "BASE")
    parser = lark.Lark(UNITS, parser="lalr")
    assert not parses(parser, "1ms")
    assert parses(parser, "1ks")


@pytest.mark.slow
def test_words_that_are_hidden_are_in_no_text() -> None:
    """Against stock Lark on all short texts: no token of that terminal is the word."""
    pieces = ['"a" | "b"', '"ab" | "b" | "a"', '"a" | "ba"', '"b" | "bb" | "a"']
    found = 0
    for one, other, rule in itertools.product(pieces, pieces, ("X? Y", "X Y | Y", "X (Y | X)", "(X | Y)+")):
        text = f"start: {rule}\nX: {one}\nY.1: {other}\n"
        hidden = [finding for finding in report_of(text).findings if finding.cause == "hidden-words"]
        parser = lark.Lark(text, parser="lalr")
        tokens = set()
        for each in short_texts("ab", 5) if hidden else ():
            state = parser.parse_interactive(each)
            try:
                tokens |= {(token.type, str(token)) for token in state.iter_parse()}
            except lark.exceptions.LarkError:
                continue
        for finding in hidden:
            found += 1
            words = re.findall(r'"(\w+)"', finding.title)
            assert not tokens.intersection((finding.symbols[0], word) for word in words), text
    assert found


def test_what_is_ignored_keeps_its_priority() -> None:
    ((_, (line,)),) = offered(PRIORITIES, "PDA016")
    assert line.startswith("IGNORED.1: /")
    assert line.endswith(" with %ignore IGNORED")


@pytest.mark.parametrize(
    ("terminal", "other", "expected"),
    [
        (r"/\d+/", r"/\d*\.?\d+/", r"\d|\.\d"),
        ("/if|in/", "/[a-z]+(-[a-z]+)*/", r"[a-z]|\-[a-z]"),
        ("/if/", r"/\w+/", r"\w"),
        ("/a/", "/b/", ""),
        ("/[a-z]+/", "/[^;]+/", "[^;]"),
        ("/ab?/", "/ac+d/", "b|cc*d"),
    ],
)
def test_what_a_text_goes_on_with(terminal: str, other: str, expected: str) -> None:
    grammar = Grammar.from_lark(f"start: A | B\nA: {terminal}\nB: {other}\n")
    a, b = (next(k for k, t in enumerate(grammar.data.terminals) if t.name == name) for name in "AB")
    assert Continuations(grammar.data).pattern(a, [b]) == expected


RULES = ["start: A B? A", "start: (A | B)+", 'start: A ";" B | B ";" A', "start: x+\nx: A | B", "start: A+ B*"]
PATTERNS = ["/a/", "/a+/", "/ab?/", "/[ab]+/", "/a(?!b)/", "/(ab)+/", "/b+a?/", "/a+?b?/"]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_texts_that_are_said_to_be_kept_are_kept(rule: str) -> None:
    """All short texts of one grammar against those of another one with the same rules, by stock Lark."""
    texts = short_texts("ab;", 6)
    certain = 0
    made = []
    for a, b, priority in itertools.product(PATTERNS[::2], PATTERNS[1::2], ("", ".1")):
        text = f"{rule}\nA{priority}: {a}\nB: {b}\n"
        grammar = Grammar.from_lark(text, conflicts="shift", lookahead="commit")
        tables = build_tables(grammar.data)
        sides = WitnessTexts(grammar.data, build_lexer(grammar.data, tables))
        if not tables.conflicts and not sides.automaton.unbounded:
            parser = lark.Lark(text, parser="lalr")
            made.append((tables, sides, {one for one in texts if parses(parser, one)}, text))
    for (tables, one, mine, text), (_, other, its, another) in itertools.islice(itertools.permutations(made, 2), 150):
        if kept(tables, one, other, Deadline(100)):
            certain += 1
            assert mine <= its, (text, another, min(mine - its, key=len))
    assert certain or not made


def test_terminals_that_stand_for_each_other() -> None:
    grammar = Grammar.from_lark('start: x (A | B)\nx: y | A\ny: B\nA: "a"\nB: "b"\nC: "c"\n')
    a, b = (next(k for k, t in enumerate(grammar.data.terminals) if t.name == name) for name in "AB")
    assert stands_for(grammar.data, a, b)
    assert not stands_for(grammar.data, b, a)
