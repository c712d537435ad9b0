"""The advice on lexemes, each claim beside stock Lark, `re` or brute force."""

from __future__ import annotations

import re
import time
from itertools import product
from pathlib import Path
from random import Random
from types import SimpleNamespace

import lark
import numpy as np
import pytest
from conftest import Tally
from lark.lexer import LexerThread
from lexer.regexes import conditional_regex

import pdacon
from pdacon._native import _core
from pdacon.determinism import Finding
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.lexical.measuring import count_distinguishable
from pdacon.determinism.lexical.repair.reordering import with_longest_first
from pdacon.determinism.report.sizes import Sizes
from pdacon.errors import GrammarError
from pdacon.front.checking import check
from pdacon.front.grammar import Grammar
from pdacon.lalr import build_tables
from tests.support.languages import sentences_of_lark
from tests.support.witnesses import short_texts, texts_of

NL = "\n"  # which no f-string's braces may have
KEYWORDS = """
start: statement+
statement: "print" NAME ";" | NAME "=" NAME ";" | "if" NAME "then" statement
NAME: /[a-z]+/
%ignore " "
"""


def of(id: str, text: str, vocab: pdacon.Vocabulary | None = None, **options: object) -> list[Finding]:
    report = check(Grammar.from_lark(text, **options), vocab)
    return [finding for finding in report.findings if finding.id == id]


# PDA005: a string beside a regex that does not absorb it


@pytest.mark.parametrize(
    ("terminals", "collide"),
    [
        ('A: "if"\nB: /[a-z]+/', False),  # absorbed, and renamed
        ('A: "if"i\nB: /[A-Z]+/i', False),
        ('A: "if"\nB: /if(?=x)|y/\nC: "x"', True),  # re.match of B on "if" alone finds nothing, so it is not absorbed
        ('A: "ab"\nB: /a(b(?=c))?/', True),
        ('A: "ab"\nB.1: /[a-z]+/', False),  # settled by priority
    ],
)
def test_strings_collide_with_the_regexes_that_do_not_absorb_them(terminals: str, collide: bool) -> None:
    found = of("PDA005", f'start: (A | B | "x" | "c")+\n{terminals}\n')
    assert any(set(finding.symbols) == {"A", "B"} for finding in found) == collide


@pytest.mark.parametrize(
    ("terminals", "condition"),
    [
        ('A: "lambda"\nB: /(?!lambda\\b)[a-z]+/\nC: /[0-9]/', ' where "0" follows'),
        ('A: "if"\nB: /if(?=x)|y/\nC: "x"', ' where "x" follows'),
        ("A: /[ab]+/\nB: /[bc]+/\nC: /d/", ""),
    ],
)
def test_a_collision_names_what_has_to_follow(terminals: str, condition: str) -> None:
    (finding,) = of("PDA005", f"start: (A | B) C?\n{terminals}\n")
    assert finding.witness is not None
    assert finding.witness.text is not None
    assert finding.message.startswith(f'Both match "{finding.witness.text.decode()}"{condition}, at')


def test_witnesses_are_legible_where_there_is_a_choice() -> None:
    (finding,) = of(
        "PDA005",
        r"""start: A | B
A: /[^\n]+;/
B: /[^\r]+;/
""",
    )
    assert finding.witness is not None
    assert finding.witness.text == b"a;"
    assert texts_of("start: A\nA: /[^\\n]/\n").shortest(0) == b"a"


# PDA011


@pytest.mark.slow
def test_a_keyword_that_is_not_reserved_is_read_as_a_name_by_lark() -> None:
    (finding,) = of("PDA011", KEYWORDS)
    assert finding.symbols == ("NAME", "IF", "PRINT", "THEN")
    parser = lark.Lark(KEYWORDS, parser="lalr")
    names = {terminal.pattern.value: terminal.name for terminal in parser.terminals}
    for keyword in ("print", "if"):
        tokens = list(parser.parse_interactive(f"print {keyword};").iter_parse())
        assert [token.type for token in tokens][1] == "NAME"
    assert finding.witness is not None
    assert finding.witness.text is not None
    interactive = parser.parse_interactive("")
    for symbol in finding.witness.symbols[: finding.witness.position]:
        name = symbol if symbol.isupper() else names[symbol.strip('"')]
        interactive.feed_token(lark.Token(name, ""))
    interactive.lexer_thread = LexerThread.from_text(parser.parser.lexer, finding.witness.text.decode())
    token = next(interactive.lexer_thread.lex(interactive.parser_state))
    assert (token.type, token.value.encode()) == ("NAME", finding.witness.text)


@pytest.mark.slow
def test_the_repair_reserves_them() -> None:
    repaired = with_repair(KEYWORDS)
    assert not of("PDA011", repaired)
    assert not pdacon.check(Grammar.from_lark(repaired)).at_least("warning")


def with_repair(text: str) -> str:
    """The grammar with the line that the only PDA011 suggests in place of that of the terminal."""
    (finding,) = of("PDA011", text)
    assert finding.repair is not None
    line, *_ = finding.repair.partition("to reserve them, write:\n  ")[2].split("\n")
    name = finding.symbols[0]
    assert line.startswith(name)
    return re.sub(rf"^{name}\b.*$", lambda _: line, text, flags=re.MULTILINE)


NAMES = r"""
start: ("print" NAME ";")+
NAME: %s
%%ignore "\n"
"""


@pytest.mark.parametrize(
    ("pattern", "keyword"),
    [
        ("/[a-z]+/", "print"),
        ("/[a-z]+[0-9]*/", "print"),
        ("/[a-z]+|[A-Z]+/", "print"),
        ("/[a-z]+'?/", "print"),
        ("/[a-z]+(-[a-z]+)*/", "print"),
        ("/[a-z]+/i", "print"),
        (r"/[a-z]+(\/[a-z]+)?/", "print"),
        (r"/[^\W\d]\w*/", "print"),
        ("/[a-z]/", "a"),
    ],
)
def test_the_repair_takes_away_the_keyword_alone(pattern: str, keyword: str) -> None:
    before = (NAMES % pattern).replace("print", keyword)
    after = with_repair(before)
    assert not pdacon.check(Grammar.from_lark(after)).at_least("warning")
    old, new = (
        re.compile(next(t for t in Grammar.from_lark(text).data.terminals if t.name == "NAME").pattern.regexp)
        for text in (before, after)
    )
    pieces = [keyword, keyword.upper(), keyword[:-1], "x", "9", "'", "-", "/", "_", "É", " "]
    for text in map("".join, (way for n in range(1, 5) for way in product(pieces, repeat=n))):
        was, now = old.match(text), new.match(text)
        expected = None if was is None or was.group() == keyword else was.group()
        assert (now and now.group()) == expected, text


def test_words_stand_in_for_a_pattern_that_is_not_known_to_be_right() -> None:
    # It shows only after some characters whether the name goes on.
    (finding,) = of("PDA011", NAMES % "/[a-z]+(?:[-+]{3}[a-z]+)*/")
    assert finding.repair is not None
    assert "(?!" not in finding.repair


def test_all_words_are_reserved_at_once() -> None:
    words = [f"word{letter}" for letter in "abcdefghijkl"]
    rules = "".join(f' | "{word}" NAME ";"' for word in words)
    repaired = with_repair(f'start: ("print" NAME ";"{rules})+\nNAME: /[a-z]+/\n')
    assert all(word in repaired.splitlines()[1] for word in words)
    assert not of("PDA011", repaired)


def test_punctuation_is_no_keyword() -> None:
    assert not of(
        "PDA011",
        r"""start: "+" TEXT ";" | "(" ")" TEXT
TEXT: /[^;]/
""",
    )


@pytest.mark.parametrize(
    ("grammar", "said"),
    [
        (r"start: A | B\nA: /[\ud800-\udfff]+/\nB: /b/".replace(r"\n", "\n"), "Surrogates"),
        ("start: A | B\nA: /(?!a)a/\nB: /b/", "No text has anything that A matches."),
        ("start: (A | B)*\nA: /a(?=b)/\nB: /c/", "no text can be read on after what it matches"),
        ('start: A | B\nA.1: /[ab]/\nB: "b"', "takes what it matches for something else"),
    ],
)
def test_why_a_terminal_is_never_matched(grammar: str, said: str) -> None:
    (finding,) = of("PDA010", grammar + "\n")
    assert said in finding.message
    assert ("Surrogates" in finding.message) == (said == "Surrogates")


def test_what_is_meant_to_match_nothing_is_no_finding() -> None:
    assert not of("PDA010", 'start: "b" | "a" NEVER\nNEVER: /(?!)x/\n')
    assert [f.symbols for f in of("PDA010", 'start: "b" | "a" NEVER\nNEVER: /((?!)|x)a(?<!a)/\n')] == []
    assert [f.symbols for f in of("PDA010", 'start: "b" | C\nC: /b(?!)|b/\n')] == [("C", "B")]


# PDA012


def random_regex(random: Random, depth: int) -> str:
    kind = random.random()
    if depth == 0 or kind < 0.25:
        return random.choice(["a", "b", "[ab]", "."])
    if kind < 0.55:
        return "".join(random_regex(random, depth - 1) for _ in range(random.randint(2, 3)))
    if kind < 0.8:
        return "(" + "|".join(random_regex(random, depth - 1) for _ in range(random.randint(2, 3))) + ")"
    return f"(?:{random_regex(random, depth - 1)})" + random.choice(["*", "+", "?", "*?", "+?", "??", "{1,2}"])


def ends_early(pattern: re.Pattern[str], text: str) -> bool:
    match = pattern.match(text)
    return pattern.fullmatch(text) is not None and match is not None and match.end() < len(text)


@pytest.mark.parametrize("first", range(0, 160, 40))
def test_early_ends_are_those_of_re(first: int) -> None:
    candidates = short_texts("ab", 6)
    for seed in range(first, first + 40):
        regex = random_regex(Random(seed), 3)
        pattern = re.compile(regex)
        if pattern.match(""):
            continue
        texts = texts_of(f"start: T\nT: /{regex}/\n")
        found = _core.find_early_end(texts.lexer.nfa, 0, 100_000)
        shortest = next((text for text in candidates if ends_early(pattern, text)), None)
        if found is None:
            assert shortest is None, regex
            continue
        text, length = found
        assert ends_early(pattern, text.decode()), regex
        match = pattern.match(text.decode())
        assert match is not None
        assert match.end() == length, regex
        assert shortest is None or len(shortest) == len(text), regex


@pytest.mark.slow
def test_early_ends_under_conditions_are_some_of_re(tally: Tally) -> None:
    """With look-ahead not all are found; those that are are right."""
    for seed in range(80):
        regex = conditional_regex(Random(seed))
        try:
            nfa = texts_of(f"start: T\nT: /{regex}/\n").lexer.nfa
        except GrammarError:
            continue
        pattern = re.compile(regex)
        found = _core.find_early_end(nfa, 0, 100_000)
        tally(patterns=1, found=found is not None)
        if found is not None:
            text, length = found
            match = pattern.match(text.decode())
            assert pattern.fullmatch(text.decode()), regex
            assert match is not None
            assert match.end() == length < len(text), regex


@pytest.mark.parametrize(
    ("terminals", "repaired"),
    [
        ("T: /int|integer/", "T: /integer|int/"),
        ("T: /x(a|b|ab)/", "T: /x(ab|a|b)/"),
        # 14 alternatives have more orders than can be tried.
        ("T: /a|b|c|d|e|f|g|h|i|j|k|l|m|ab/", "T: /ab|a|b|c|d|e|f|g|h|i|j|k|l|m/"),
        (r'T: /"(\\.|[^"])*"/', None),  # no order of the alternatives helps
        ("T: /ba?(ab)?/", None),  # greed
    ],
)
def test_another_order_is_suggested_only_where_it_helps(terminals: str, repaired: str | None) -> None:
    (finding,) = of("PDA012", f"start: T\n{terminals}\n")
    assert finding.repair is not None
    line, *_ = finding.repair.partition("first:\n  ")[2].split("\n")
    if repaired is None:
        assert not line
    else:
        assert line == repaired
        assert not of("PDA012", f"start: T\n{line}\n")


def test_no_order_is_tried_when_time_is_over() -> None:
    grammar = Grammar.from_lark("start: T\nT: /int|integer/\n")
    assert with_longest_first(grammar.data, grammar.data.terminals[0], Deadline(60)) == "/integer|int/"
    assert with_longest_first(grammar.data, grammar.data.terminals[0], Deadline(0)) is None


# PDA015


def test_the_repair_of_a_dead_end_speaks_of_a_pattern() -> None:
    (finding,) = of("PDA015", 'start: "x" | "#" TEXT\nTEXT: /[a-z]+/\n%ignore /#[a-z]+/\n')
    assert finding.repair is not None
    assert finding.repair.startswith('change /#[a-z]+/ so that it does not match "#a"')


def test_a_dead_end_of_two_terminals_is_one_finding() -> None:
    text = 'start: path | "go" SEG "html"\npath: "/" SEG ("/" SEG)* "html"?\nSEG: /[a-z]+/\n'
    (finding,) = of("PDA015", text)
    assert {"SEG", "HTML", "path", "start"} == set(finding.symbols)
    assert finding.message.count("\n  ") == 3
    assert not of("PDA015", text.replace('"html"', '".html"'))


def test_reserving_keywords_raises_the_terminals_that_the_longer_pattern_would_overtake() -> None:
    """Lark tries the longer pattern first: 5 in 5.0 would be a WORD, and .0 nothing."""
    text = 'start: (NUMBER | WORD) ("and" (NUMBER | WORD))*\nNUMBER: /[0-9]+(\\.[0-9]+)/\n'
    (finding,) = of("PDA011", text + "WORD: /[A-Za-z0-9_]+/\n")
    assert finding.repair is not None
    assert "\n  NUMBER.1: /[0-9]+(\\.[0-9]+)/\n" in finding.repair
    (finding,) = of("PDA011", text.replace("NUMBER:", "NUMBER.1:") + "WORD: /[A-Za-z0-9_]+/\n")
    assert finding.repair is not None
    assert "NUMBER" not in finding.repair


def test_the_repair_names_the_terminal_that_matches_both() -> None:
    (finding, *_) = of("PDA015", 'start: N "." NAME | F\nN: /[0-9]+/\nF: /[0-9]+\\.[0-9]*/\nNAME: /[a-z]+/\n')
    assert finding.repair is not None
    assert finding.repair.startswith("change F so that it does not match ")


# PDA016

ASCII = r"[\x20\t\n\r\f\v]"


@pytest.mark.parametrize(
    ("ignored", "repaired"),
    [
        (['" "'], r"%ignore /(?<!\x20)\x20/"),
        ([r"/[ \t]+/"], r"%ignore /(?<![\x20\t])[\x20\t]/"),
        ([r"/\s+/"], r"%ignore /(?<![\x20\t\n\r\f\v])[\x20\t\n\r\f\v]/"),
        ([r"/\s/", r"/#[^\n]*/"], rf"%ignore /(?<!{ASCII})(?:{ASCII}|#[^\n]{{0,80}}(?:\n|\Z)){{1,4}}/"),
        (["WS"], r"%override WS: /(?<![\x20\t\n\r\f])[\x20\t\n\r\f]/"),
        (["WS_INLINE", "NEWLINE"], r"%ignore /(?<![\x20\t\n\r])[\x20\t\n\r]/"),
        (["WS_INLINE", r"/#[^\n]*/"], r"%ignore /(?<![\x20\t])[\x20\t]|#[^\n]{0,80}(?=\n|\Z)/"),
        (
            ["WS", "SH_COMMENT", "CPP_COMMENT"],
            r"%ignore /(?<![\x20\t\n\r\f])(?:[\x20\t\n\r\f]|(?:#|\/\/)[^\n]{0,80}(?:\n|\Z)){1,4}/",
        ),
        ([r"/#[^\n]*\n/"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_repair_bounds_what_is_ignored_and_can_be_pasted(ignored: list[str], repaired: str | None) -> None:
    """Lark reads the texts as before, but for those with more blanks than one in a place."""
    rules = f'start: "x" "y"\n{"".join(f"%import common.{name}{NL}" for name in ignored if name.isupper())}'
    before = rules + "".join(f"%ignore {one}\n" for one in ignored)
    (finding,) = of("PDA016", before)
    assert finding.repair is not None
    suggested = re.search(r"^  (%.*)$", finding.repair, re.MULTILINE)
    assert (suggested and suggested.group(1)) == repaired
    if repaired is None:
        return
    kept = "".join(f"%ignore {one}\n" for one in ignored) if repaired.startswith("%override") else ""
    after = f"{rules}{kept}{repaired}\n"
    assert not of("PDA016", after)
    parsers = [lark.Lark(text, parser="lalr") for text in (before, after)]
    texts = ["xy", "x y", "x\ty ", "x\ny", "x#a\n y", "x#a", "xy // a", "xy\n#a\n", "x-y"]
    assert sentences_of_lark(parsers[0], texts) == sentences_of_lark(parsers[1], texts)
    assert not sentences_of_lark(parsers[1], [f"x{' ' * 100}y"])


@pytest.mark.slow
@pytest.mark.parametrize("blank", [r"/\s+/", '" "'])
@pytest.mark.parametrize("sign", ["/", "+"])
def test_the_bounded_pattern_can_be_compiled_where_comments_begin_like_operators(sign: str, blank: str) -> None:
    rules = f'start: e\ne: e "{sign}" N | N\nN: /[0-9]+/\n'
    (finding,) = of("PDA016", rf"{rules}%ignore /\/\/[^\n]*/{NL}%ignore {blank}{NL}")
    assert finding.repair is not None
    suggested = re.search(r"^  (%.*)$", finding.repair, re.MULTILINE)
    if suggested is None:
        assert sign == "/"
        return
    assert not of("PDA016", f"{rules}{suggested.group(1)}\n")  # and it is within the limits


@pytest.mark.parametrize(
    ("ignored", "endless"),
    [
        ('" "', True),
        ("/[ \\t]+/", True),
        ("/(?<! ) {1,8}/", False),
        ("/(?<![ \\t])[ \\t]{1,3}/", False),
        ("/#[^\\n]*/", False),  # before y it never ends
        ("/#[^\\ny]*/", True),
        ("/#a*\\n(?!#)/", True),  # not another one, but an endless one
        ("/#\\n(?!#)/", False),
    ],
)
def test_endless_ignored_text_can_be_repeated(ignored: str, endless: bool) -> None:
    grammar = f'start: "x" "y"\n%ignore {ignored}\n'
    found = of("PDA016", grammar)
    assert bool(found) == endless
    for finding in found:
        assert finding.witness is not None
        text, loop = finding.witness.text, finding.witness.loop
        assert text is not None
        assert loop is not None
        constraint = pdacon.compile(
            Grammar.from_lark(grammar),
            pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256]),
        )
        matcher = constraint.matcher()
        assert matcher.accept_bytes(b"x" + text + loop * 50)


@pytest.mark.parametrize(
    ("id", "grammar"),
    [
        ("PDA006", "start: (A | B | C)*\nA: /é/\nB: /é[àü]+€/\nC: /[àü]/\n"),
        ("PDA006", "start: (A | B | C)*\nA: /é/\nB: /é(à|ü€)+!/\nC: /[àü€]/\n"),
        ("PDA016", 'start: "a"*\n%ignore /[àü]+/\n'),
        ("PDA016", 'start: "a"*\n%ignore /é[àü]+/\n'),
        ("PDA018", "start: (A | B | C)*\nA: /é/\nB: /éàü€/\nC: /[àü]/\n"),
        ("PDA018", "start: (A | B | C)*\nA: /a/\nB: /abb€/\nC: /[b€]/\n"),
    ],
)
def test_witnesses_are_whole_characters(id: str, grammar: str) -> None:
    (finding,) = of(id, grammar)
    assert finding.witness is not None
    assert finding.witness.text
    for part in (finding.witness.text, finding.witness.loop or b""):
        assert part.decode("utf-8", "replace").isprintable()
    assert "\\x" not in finding.message


def test_a_witness_of_bytes_may_be_any() -> None:
    (finding,) = of("PDA006", "start: (A | B | C)*\nA: /\\xe9/\nB: /\\xe9\\xc3+!/\nC: /\\xc3/\n", use_bytes=True)
    assert finding.witness is not None
    assert finding.witness.text is not None
    assert finding.witness.text.startswith(b"\xe9")
    assert finding.witness.loop == b"\xc3"


# PDA017


def test_terminals_that_tokens_cannot_spell_are_lost() -> None:
    vocab = pdacon.Vocabulary.from_tokens([b"a", b"bc", None], [2])
    (finding,) = of("PDA017", 'start: A | B | C\nA: "a"\nB: "b"\nC: "bc"\n', vocab)
    assert (finding.level, finding.symbols) == ("warning", ("B",))  # b has a token only with a c after it
    assert not of("PDA017", 'start: A | C\nA: "a"\nC: "bc"\n', vocab)


# Sizes


def test_sizes_count_what_there_is() -> None:
    grammar = Grammar.builtin("json")
    sizes = check(grammar).sizes
    assert isinstance(sizes, Sizes)
    assert sizes.lr_states == build_tables(grammar.data).num_states
    assert sizes.lexer_states_minimal is not None
    assert sizes.lexer_states >= sizes.lexer_states_minimal > 0
    assert dict(sizes.rules_by_states)["object"] > 0
    assert dict(sizes.terminals_by_states)["STRING"] > 0
    assert "lexer:" in sizes.render()


def test_states_that_no_text_tells_apart_are_counted_once() -> None:
    texts = texts_of("start: (A | B)*\nA: /x(a|b)c/\nB: /y(a|b)c/\n")
    count = count_distinguishable(texts)
    after, ends = texts.next, texts.automaton.ends
    blocks = ends.copy()  # the definition, slowly
    while True:
        keys = [(blocks[s], *(blocks[t] if t >= 0 else t - 1_000_000 for t in row)) for s, row in enumerate(after)]
        named = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        refined = np.array([named[key] for key in keys])
        if len(named) == len(set(blocks.tolist())):
            break
        blocks = refined
    assert count == len(named)


def test_endless_lookahead_of_what_is_ignored_has_a_place() -> None:
    """In Lark's grammar of its own language blanks are ignored, and comments with the blanks before them."""
    path = Path(lark.__file__).parent / "grammars" / "lark.lark"
    found = [f for f in check(Grammar.from_file(path)).findings if f.id == "PDA006" and f.symbols == ("WS_INLINE",)]
    assert [finding.span and finding.span.path for finding in found] == [str(path)]
    assert "(COMMENT)" in found[0].message


def test_alternatives_of_several_lines_are_told_as_a_whole() -> None:
    text = 'start: "1" x | "2" y\nx: A B\ny: A B /q\nz/x\nA: /[a-z]+/\nB: "b"\n'
    (finding,) = (finding for finding in check(Grammar.from_lark(text)).findings if finding.id == "PDA015")
    assert finding.message.endswith("\n  x: A • B\n  y: A • B /q\nz/x")


@pytest.mark.slow
def test_what_is_advised_does_not_depend_on_what_else_the_machine_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that runs a hundred times as fast as the work, as on a machine with as much to do."""
    text = (
        'start: e\ne: e "+" N | N | INT "." INT\nINT: /[0-9]+/\nN: /[0-9]+?/\n%ignore /\\/\\/[^\\n]*/\n%ignore /\\s+/\n'
    )
    before = [finding.to_dict() for finding in check(Grammar.from_lark(text), seconds=10).findings]
    clock = SimpleNamespace(monotonic=lambda: 100 * time.monotonic(), thread_time=time.thread_time)
    monkeypatch.setattr("pdacon.determinism.deadline.time", clock)
    assert [finding.to_dict() for finding in check(Grammar.from_lark(text), seconds=1000).findings] == before
