"""Masks are exact where the column of a line tells what may follow it.

Held against enumeration with stock Lark, as in the small world, with newlines such as ``/\\n+ */``: another one follows
it only where it ends in a blank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from support.indented_grammars import TreeIndenter
from support.lark_oracle import lark_parser
from support.lowering import load
from support.random_grammars import loadable_grammars, random_columns_grammar, random_fixed_width_grammar
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark, affordable_length
from support.vocabularies import TinyVocabulary, tiny_vocabularies
from support.world import explore

from pdacon import (
    Grammar,
    LimitExceededError,
    NondeterministicGrammarError,
    UnsupportedGrammarError,
    Vocabulary,
    compile,
)

EVERY_BYTE = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])


def masks_of(grammar: SmallGrammar, oracle: StockLark, texts: int, prefixes: int) -> Counter[str]:
    length = affordable_length(grammar.alphabet, texts)
    sentences = [text.encode() for text in oracle.sentences(length)]
    kinds: list[TinyVocabulary] = tiny_vocabularies(grammar.letters, sentences, Random(grammar.name))
    fit = [tiny for tiny in kinds if {b" ", b"\n"} <= set(tiny.texts())]
    tiny = Random(grammar.name).choice(fit)
    counts = Counter(grammars=1)
    try:
        counts += explore(oracle, load(grammar), tiny, length, prefixes)
    except (LimitExceededError, NondeterministicGrammarError, UnsupportedGrammarError) as error:
        counts[f"refused_with_{type(error).__name__}"] += 1
    return counts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "number"), [(random_columns_grammar, 24), (random_fixed_width_grammar, 12)], ids=["any width", "one width"]
)
def test_random_newlines(
    make: Callable[[int], SmallGrammar], number: int, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    counts: Counter[str] = Counter()
    for grammar, oracle in loadable_grammars(scaled(number), 5_000_000, make):
        counts += masks_of(grammar, oracle, 300, 12)
    tally(**counts)


BLOCKS = r"""
start: line+
line: "a" _NL [_INDENT line+ _DEDENT]{}
_NL: {}
%declare _INDENT _DEDENT
"""


@pytest.mark.parametrize(
    "newline",
    [r"/\n/", r"/\n ?/", r"/\n(  )?/", r"/\n(  )*/", r"/\n {0,3}/", r"/\n *?/", r"/\n\t*/", r"/\n(  )*\t*/", r"/\n +/"],
)
@pytest.mark.parametrize("ignored", ["", '%ignore " "\n'], ids=["blanks count", "blanks are ignored"])
def test_newlines_that_do_not_reach_every_column(newline: str, ignored: str, tally: Callable[..., None]) -> None:
    """Blocks may nest as deep as there are columns for them."""
    text = BLOCKS.format("", newline) + ignored
    alphabet = "a\n \t" if "t" in newline else "a\n "
    grammar = SmallGrammar(newline, "", text, alphabet, {"postlex": TreeIndenter()})
    tally(**masks_of(grammar, StockLark(grammar), 1200, 30))


@pytest.mark.parametrize(
    ("newline", "rest"),
    [
        (r"/\n */", "X.1: /\\n ;/"),
        (r"/\n */", "X.1: /\\n *(  );/"),
        (r"/\n */", "X.1: /\\n(  )+;?/"),
        (r"/\n */", 'X: "\\n  "'),
        (r"/\n+ */", 'X: "\\n\\n"'),
        (r"/\n */", "X.1: /\\n *(?!;)/"),
        (r"/\n */", "X.1: /\\n(?!  ;)/"),
        (r"/(?<!;)\n */", "X: /;/"),
        (r"/\n *(;\n)?/", "X: /;/"),
        (r"/\n *(;+ *)?/", "X: /;/"),
    ],
)
def test_terminals_that_begin_like_a_newline(newline: str, rest: str, tally: Callable[..., None]) -> None:
    """What Lark tries before it, or makes of it, may take some of its columns away."""
    text = BLOCKS.format(" | X", newline) + rest + "\n"
    grammar = SmallGrammar(rest, "", text, "a\n ;", {"postlex": TreeIndenter()}, conflicts="shift")
    tally(**masks_of(grammar, StockLark(grammar), 900, 25))


class Parenthesised(TreeIndenter):
    OPEN_PAREN_types = ["LPAR"]  # noqa: RUF012
    CLOSE_PAREN_types = ["RPAR"]  # noqa: RUF012


@pytest.mark.parametrize(
    ("rules", "alphabet"),
    [
        ('start: x\nx: A | LPAR x RPAR\nA: /b[^b]b[^b]/\n_NL: /\\n */\n%ignore "b"', "ab(\n)"),
        ('start: x\nx: A | LPAR x RPAR\nA: /b[^b]b[^b]/\n_NL: /\\n */\n%ignore "b"', "b \n()"),
        (
            "start: item+\nitem: (NAME | note | BOX)+ _NL [_INDENT item+ _DEDENT]\nnote: LPAR NAME* RPAR\n"
            'NAME: "a"\nBOX: /#[^#]{1,3}#/\n_NL: /(\\r?\\n[\\t ]*)+/\n%ignore " "',
            "a#(\n ",
        ),
        (
            'start: item+\nitem: (NAME | "#" | BOX)+ _NL [_INDENT item+ _DEDENT] | LPAR NAME* RPAR\n'
            'NAME: "a"\nBOX: /#[^#]{1,3}#/\n_NL: /(\\r?\\n[\\t ]*)+/\n%ignore " "',
            "a#(\n ",
        ),
    ],
)
def test_a_newline_that_must_be_lexed_again_and_leads_nowhere(
    rules: str, alphabet: str, tally: Callable[..., None]
) -> None:
    """What is left of a terminal after its last match begins with a line break and cannot be lexed."""
    text = f'{rules}\nLPAR: "("\nRPAR: ")"\n%declare _INDENT _DEDENT\n'
    grammar = SmallGrammar(rules, "", text, alphabet, {"postlex": Parenthesised()}, conflicts="shift")
    compile(load(grammar), EVERY_BYTE)
    tally(**masks_of(grammar, StockLark(grammar), 3_000, 60))


def test_a_block_of_its_own_class_is_searched_for() -> None:
    """There is no third column, so that no block stands in another one; what is believed to lead there does not."""
    rules = 'start: "a" _NL _INDENT "a" _NL _INDENT "a" _DEDENT _DEDENT | "b"\n'
    grammar = Grammar.from_lark(rules + "_NL: /\\n(  )?/\n%declare _INDENT _DEDENT\n", postlex=TreeIndenter())
    matcher = compile(grammar, EVERY_BYTE).matcher()
    assert not matcher.accept_bytes(b"a")
    assert matcher.shortest_completion() == b"b"


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ("start: _NL _INDENT start _NL? _NL _INDENT _NL* _NL _DEDENT _DEDENT | _NL", b"\n  "),
        ("start: _NL _INDENT start _NL? _NL _INDENT _NL* _NL _DEDENT _DEDENT | _NL", b"\n  \n"),
    ],
)
def test_a_completion_keeps_the_column_of_what_was_read(rules: str, text: bytes) -> None:
    grammar = Grammar.from_lark(f"{rules}\n_NL: /;*\\n\\t* */\n%declare _INDENT _DEDENT\n", postlex=TreeIndenter())
    matcher = compile(grammar, EVERY_BYTE).matcher()
    assert matcher.accept_bytes(text)
    lark_parser(grammar).parse((text + matcher.shortest_completion()).decode())


def test_tabs_that_begin_a_line_cost_nothing() -> None:
    """Two of them open a block in one that a single tab has opened: a line break more is no nearer to that."""
    rules = 'start: _NL _INDENT _NL? _DEDENT "a" | _NL _INDENT start? _DEDENT\n'
    text = f"{rules}_NL: /\\n+\\t*/\n%declare _INDENT _DEDENT\n"
    grammar = Grammar.from_lark(text, postlex=TreeIndenter(), conflicts="shift")
    matcher = compile(grammar, EVERY_BYTE).matcher()
    assert matcher.accept_bytes(b"\n\t\n")
    assert matcher.shortest_completion() == b"\t\t"
