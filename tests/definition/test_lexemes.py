"""The sequence of lexemes is that of stock Lark's lexer: terminal by terminal, byte by byte.

Lark is asked for what its lexer gives before any postlexer. On a text that is no sentence it may read some lexemes more
than the automaton, which stops where it knows that nothing can come of it.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random

import lark
import pytest
from support.indented_grammars import INDENTED_GRAMMARS
from support.lark_oracle import lark_parser
from support.lexemes import Lexeme, NativeLexer, lexemes_of_configuration, lexemes_of_lark
from support.lowering import is_exact as nothing_is_given_up
from support.lowering import load
from support.random_grammars import loadable_grammars, random_indented_grammar
from support.sampler import Sampler, damaged
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar
from support.stock_lark import StockLark, affordable_length, shared_lark, texts

import pdacon
from pdacon import Grammar
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

BYTES = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])

LARKS_GRAMMARS = Path(lark.__file__).parent / "grammars"
OWN = Path(__file__).parents[1] / "support" / "grammars"
MODULES = ("bisect.py", "textwrap.py", "json/decoder.py", "dis.py")
SMALL = [
    grammar
    for grammar in (*SMALL_GRAMMARS, *INDENTED_GRAMMARS)
    if grammar.refused is None and grammar.lookahead == "reject"
]

BASIC = [grammar for grammar in SMALL if grammar.options.get("lexer") == "basic" and "postlex" not in grammar.options]


def compare(native: NativeLexer, text: bytes, start: int, theirs: list[Lexeme], sentence: bool, about: object) -> None:
    ours, accepted = native.lexemes(text, start)
    told = [lexeme for lexeme in ours if lexeme[0]]
    assert told == theirs[: len(told)], (about, text, ours)
    assert accepted == sentence, (about, text, ours)
    assert not sentence or len(told) == len(theirs), (about, text, ours)


def check_small(grammar: SmallGrammar, oracle: StockLark, number: int, tally: Callable[..., None]) -> None:
    """Sentences of a small grammar and as many other texts; the definition, too, is compared on all of them."""
    loaded = load(grammar)
    native, machine = NativeLexer(loaded), Machine(loaded.data, build_tables(loaded.data))
    length = grammar.length or affordable_length(grammar.alphabet, 3 * number)
    for index, start in enumerate(grammar.starts):
        sentences = list(islice(oracle.sentences(length, start), number))
        others = [text for text in islice(texts(grammar.alphabet, length), 3 * number) if text not in sentences]
        for text in (*sentences, *Random(grammar.name).sample(others, min(number, len(others)))):
            encoded = grammar.encode(text)
            theirs, sentence = oracle.lexemes(text, start)
            compare(native, encoded, index, theirs, sentence, grammar)
            certain = Configuration.initial(machine, index).read(encoded)
            defined = [] if certain is None else lexemes_of_configuration(certain)
            told = [lexeme for lexeme in defined if lexeme[0]]
            assert told == theirs[: len(told)], (str(grammar), text)
            tally(texts=1, lexemes=len(theirs), sentences=sentence)
    tally(grammars=1)


@pytest.mark.parametrize("grammar", SMALL, ids=lambda grammar: grammar.name)
def test_small_grammars(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    check_small(grammar, shared_lark(grammar), scaled(30), tally)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_random_grammars(chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """A third of them with an Indenter."""
    first = 1_000_000 * (chunk + 500)
    plain = loadable_grammars(scaled(10), first)
    indented = loadable_grammars(scaled(5), first, random_indented_grammar)
    for grammar, oracle in (*plain, *indented):
        if is_exact(grammar):
            check_small(grammar, oracle, scaled(25), tally)
        else:
            tally(grammars_that_are_not_exact=1)


def is_exact(grammar: SmallGrammar) -> bool:
    """Whether the language is all of Lark's."""
    try:
        pdacon.compile(load(grammar), BYTES)
    except pdacon.EmptyLanguageError:
        return True
    except (pdacon.UnsupportedGrammarError, pdacon.NondeterministicGrammarError, pdacon.LimitExceededError):
        return False
    return nothing_is_given_up(load(grammar))


@pytest.mark.parametrize("name", ["json", "arithmetic", "query", "settings", "statements", "table"])
def test_whole_grammars(name: str, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    file = OWN / f"{name}.lark"
    grammar = Grammar.from_file(file) if file.exists() else Grammar.builtin(name)
    parser, random = lark_parser(grammar), Random(name)
    sampler, native = Sampler(parser, random, 4), NativeLexer(grammar)
    sentences = [sampler.sentence() for _ in range(scaled(30))]
    for text in (*sentences, *(damaged(random.choice(sentences), random) for _ in range(scaled(30)))):
        theirs, sentence = lexemes_of_lark(parser, text)
        compare(native, text.encode(), 0, theirs, sentence, name)
        tally(texts=1, lexemes=len(theirs), sentences=sentence)
    tally(grammars=1)


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_python(module: str, python: tuple[lark.Lark, NativeLexer], tally: Callable[..., None]) -> None:
    """Lark's own python.lark on modules of the standard library, comments and newlines included."""
    parser, native = python
    text = (Path(sysconfig.get_path("stdlib")) / module).read_text(encoding="utf-8")
    theirs, sentence = lexemes_of_lark(parser, text)
    assert sentence
    compare(native, text.encode(), 0, theirs, sentence, module)
    tally(modules=1, lexemes=len(theirs))


@pytest.fixture(scope="module")
def python() -> tuple[lark.Lark, NativeLexer]:
    grammar = Grammar.from_file(
        LARKS_GRAMMARS / "python.lark",
        start="file_input",
        postlex="python",
        conflicts="shift",
        lookahead="commit",
    )
    return lark_parser(grammar), NativeLexer(grammar)


@pytest.mark.slow
def test_larks_own_language_on_the_grammars_that_there_are(tally: Callable[..., None]) -> None:
    """Its regular expressions need unbounded lookahead: the definition has all lexemes, the automaton gives some up."""
    grammar = Grammar.from_file(LARKS_GRAMMARS / "lark.lark", conflicts="shift", lookahead="commit")
    parser, native = lark_parser(grammar), NativeLexer(grammar)
    machine = Machine(grammar.data, build_tables(grammar.data))
    for path in (*sorted(LARKS_GRAMMARS.glob("*.lark")), *sorted(OWN.glob("*.lark"))):
        text = path.read_text(encoding="utf-8")
        theirs, sentence = lexemes_of_lark(parser, text)
        certain = Configuration.initial(machine).read(text.encode())
        assert (certain is not None and certain.ends()) == sentence, path
        assert sentence, path
        assert certain is not None
        told = [lexeme for lexeme in lexemes_of_configuration(certain) if lexeme[0]]
        assert told == theirs[: len(told)], path
        ours, accepted = native.lexemes(text.encode())
        told = [lexeme for lexeme in ours if lexeme[0]]
        assert told == theirs[: len(told)], path
        tally(files=1, lexemes=len(theirs), files_that_the_automaton_reads_whole=accepted)


@pytest.mark.parametrize("small", BASIC, ids=lambda small: small.name)
def test_the_basic_lexer_alone(small: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """Ignored text is seen as well, where Lark's lexer is asked for all of it."""
    grammar, oracle = load(small), StockLark(small)
    native = NativeLexer(grammar)
    length = small.length or affordable_length(small.alphabet, 1000)
    for text in islice(oracle.sentences(length), scaled(100)):
        encoded = small.encode(text)
        asked = encoded if grammar.data.options.use_bytes else text
        tokens = list(lark_parser(grammar).lex(asked, dont_ignore=True))
        values = [small.encode(token.value) if isinstance(token.value, str) else token.value for token in tokens]
        assert values == [encoded[begin:end] for _, begin, end in native.lexemes(encoded)[0]]
        tally(texts=1, lexemes=len(tokens))
