"""Newlines after which every column can follow, and those that are refused because not every one can."""

from __future__ import annotations

import re

import pytest
from support.indented_grammars import INDENTED_GRAMMARS, TreeIndenter
from support.lowering import machine_of
from support.small_grammars import SmallGrammar

import pdacon
from pdacon import Vocabulary
from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import Grammar
from pdacon.lexer import check_newline
from pdacon.pda import Configuration

REST = "%declare _INDENT _DEDENT\n"


def load(newline: str, rest: str = "") -> Grammar:
    text = f'start: ("a" _NL{" | X" if rest.startswith("X") else ""})+\n_NL: {newline}\n{rest}{REST}'
    return Grammar.from_lark(text, postlex=TreeIndenter())


@pytest.mark.parametrize(
    "newline",
    [
        r"/(\r?\n[\t ]*)+/",
        r"/\n */",
        r"/\n+ */",
        r"/\n\s*/",
        r"/\s*\n\s*/",
        r"/[\r\n]+[ \t]*/",
        r"( /\r?\n[\t ]*/ | /#[^\n]*/ )+",
        r"/\n *(;\n *)?/",
        r"/\n(é| )*/",
        r"/\n *(#[^\n]*\n *)*/",
        r"/;|\n */",
        r"/;/",
    ],
)
def test_every_column_can_follow(newline: str) -> None:
    """Within a character of a comment, or before a line break that has to come, nothing is asked."""
    check_newline(load(newline))


@pytest.mark.parametrize(
    ("newline", "shortest"),
    [
        (r"/\n/", r"\n"),
        (r'"\n"', r"\n"),
        (r"/\n *?/", r"\n"),
        (r"/\n(  )*/", r"\n"),
        (r"/\n[ ]?/", r"\n"),
        (r"/\n {0,8}/", r"\n"),
        (r"/\n[\t ]+/", r"\n"),
        (r"/\n *;/", r"\n"),
        (r"/\n *(#é*)?/", r"\n#"),
        (r"/\n *(\/\*.*?\*\/)?/", r"\n/"),
        (r"/\n(\t| *)/", r"\n\t"),
        (r"/\n *(x\n?)*/", r"\nx"),
    ],
)
def test_not_every_column_can_follow(newline: str, shortest: str) -> None:
    reason = re.escape(f"after '{shortest}' it cannot take any number of spaces") + ".*; let the pattern end in"
    with pytest.raises(UnsupportedGrammarError, match=reason) as caught:
        check_newline(load(newline))
    assert caught.value.feature == "postlex"
    assert caught.value.span is not None
    assert caught.value.span.line == 2


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("X.1: /\\n x/\n", r"X, .* may begin with '\\n' as well .*_NL.2: "),
        ("X.1: /\\n *(  )x/\n", "X, which Lark tries before it"),
        ("X.1: /\\n(  )+x?/\n", "X, which Lark tries before it"),
        ("X: /x/\n%ignore /\\n *    #/\n", "which Lark tries before it"),
        ('X: "\\n  "\n', r"Lark makes X of it where it reads '\\n  ', .*_NL.1: "),
    ],
)
def test_other_terminals_take_columns_away(rest: str, reason: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match=reason):
        check_newline(load(r"/\n */", rest))


@pytest.mark.parametrize(
    "rest",
    [
        "X.1: /x\\n/\n",
        'X.1: "\\r\\n"\n',
        "X.-1: /\\n */\n",
        "X: /\\n?x/\n",
        "X.1: /\\n/\n",
        "X.1: /\\n *x/\n",
        "%ignore /\\s/\n",
        "COMMENT: /#[^\\n]*/\n%ignore _NL* COMMENT\n",
    ],
)
def test_other_terminals_that_leave_columns_alone(rest: str) -> None:
    """Lark tries them after the newline, or they begin otherwise, or what is indented makes no difference to them."""
    check_newline(load(r"/\n */", rest))


@pytest.mark.parametrize(
    ("newline", "reason"),
    [
        (r"/\n *(?!x)/", "what follows decides whether it matches.*; leave the look-ahead"),
        (r"/(?<!;)\n */", "what comes before decides whether it matches.*; leave the look-behind"),
    ],
)
def test_a_newline_without_look_around(newline: str, reason: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match=reason):
        check_newline(load(newline))


@pytest.mark.parametrize(
    ("rest", "refused"),
    [
        ("X.1: /0+(?![1-9])/\n", False),
        ("X.1: /\\n *x(?!y)/\n", False),
        ("X.1: /(?<!;)\\n *x/\n", False),
        ("X.1: /\\n *(?!y)/\n", True),
        ("X.1: /(?<!;)\\n  x/\n", True),
        ("X.1: /\\n(?!    x)/\n", True),
    ],
)
def test_other_terminals_with_look_around(rest: str, refused: bool) -> None:
    if refused:
        with pytest.raises(UnsupportedGrammarError, match="X, which Lark tries before it"):
            check_newline(load(r"/\n */", rest))
    else:
        check_newline(load(r"/\n */", rest))


def test_a_grammar_without_layout_has_nothing_to_check() -> None:
    check_newline(Grammar.from_lark('start: "a"\n'))


def test_the_checker_says_it_too() -> None:
    report = pdacon.check(load(r"/\n/"))
    (finding,) = report.findings
    assert (finding.id, finding.symbols) == ("PDA008", ("_NL",))
    assert finding.repair is not None
    with pytest.raises(UnsupportedGrammarError, match="cannot take any number of spaces"):
        pdacon.compile(load(r"/\n/"), Vocabulary.from_tokens([b"a", None], eos_ids=[1]))


@pytest.mark.parametrize("small", INDENTED_GRAMMARS, ids=lambda small: small.name)
def test_which_small_grammars_will_compile(small: SmallGrammar) -> None:
    grammar = Grammar.from_lark(small.text, conflicts=small.conflicts, lookahead=small.lookahead, **small.options)
    report = pdacon.check(grammar)
    assert report.ok == (small.refused is None), report.render()


COMPILED = [small for small in INDENTED_GRAMMARS if small.refused is None]


@pytest.mark.parametrize("small", COMPILED, ids=lambda small: small.name)
def test_what_has_passed_is_so(small: SmallGrammar) -> None:
    """By the meaning: after a line break a newline goes on to match, one column further with each space.

    Or it is on the way, by something that is no blank; the grammars here have only line breaks for that.
    """
    machine = machine_of(small)
    layout = machine.grammar.layout
    assert layout is not None
    pending = [Configuration.initial(machine)]
    seen = {pending[0]}
    checked = 0
    for configuration in pending:
        for character in small.alphabet:
            following = configuration.step(ord(character))
            if following is None or following in seen or len(pending) == 400:
                continue
            seen.add(following)
            pending.append(following)
            if following.column is None:
                continue
            threads = tuple(thread for thread in following.reading if thread[0] == layout.newline)
            if not machine.move(threads, ord(" ")):
                assert not any(machine.move(threads, byte) for byte in range(128) if byte != ord("\n"))
                continue
            spaced = following
            for more in range(1, 4):
                assert spaced.match(ord(" ")) == layout.newline
                after = spaced.step(ord(" "))
                assert after is not None
                assert after.column == following.column + more
                assert more == 1 or after.threads == spaced.threads
                spaced = after
                checked += 1
    assert checked or small.name == "a keyword for the newline"
