"""Configuration with an Indenter accepts a text if and only if stock Lark, with the same Indenter, parses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import lark
import pytest
from lark.indenter import PythonIndenter
from support.indented_grammars import INDENTED_GRAMMARS
from support.lowering import load, machine_of
from support.random_grammars import loadable_grammars, random_indented_grammar
from support.sampler import IndentedSampler, damaged
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark, affordable_length, shared_lark

from pdacon.lalr import build_tables, find_imbalances, split_parentheses
from pdacon.pda import Configuration, Machine, Margin

Layer = list[tuple[str, Configuration | None]]


def accepted(configuration: Configuration | None) -> bool:
    return configuration is not None and configuration.ends()


def longer(layer: Layer, alphabet: str) -> Layer:
    return [
        (text + character, configuration and configuration.read(character.encode()))
        for text, configuration in layer
        for character in alphabet
    ]


@pytest.mark.parametrize("grammar", INDENTED_GRAMMARS, ids=lambda grammar: grammar.name)
def test_all_short_texts(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """Texts, and the beginnings of sentences: none of them is given up."""
    oracle = shared_lark(grammar)
    length = grammar.length or affordable_length(grammar.alphabet, scaled(10_000))
    layer: Layer = [("", Configuration.initial(machine_of(grammar)))]
    texts = dict(layer)
    for _ in range(length):
        layer = longer(layer, grammar.alphabet)
        texts |= dict(layer)
    sentences = {text for text in texts if oracle.accepts(text)}
    assert sentences == {text for text, configuration in texts.items() if accepted(configuration)}
    assert all(texts[text[:cut]] is not None for text in sentences for cut in range(len(text)))
    assert sentences
    tally(texts=len(texts), sentences=len(sentences))


def layers_of_living(grammar: SmallGrammar, machine: Machine, length: int, kept: int) -> Iterator[Layer]:
    """Texts that Configuration has not given up, each with every character more; about so many of each length."""
    random = Random(grammar.name)
    layer: Layer = [("", Configuration.initial(machine))]
    for _ in range(length):
        layer = longer(layer, grammar.alphabet)
        yield layer
        alive = [(text, configuration) for text, configuration in layer if configuration is not None]
        # A newline is what it is about: half of those that are kept have read one not long ago.
        recent = [(text, configuration) for text, configuration in alive if "\n" in text[-4:]]
        layer = random.sample(recent, min(kept, len(recent))) + random.sample(alive, min(kept, len(alive)))


@pytest.mark.slow
@pytest.mark.parametrize("grammar", INDENTED_GRAMMARS, ids=lambda grammar: grammar.name)
def test_long_texts(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    oracle = StockLark(grammar)
    for layer in layers_of_living(grammar, machine_of(grammar), 16, scaled(80)):
        verdicts = {text: accepted(configuration) for text, configuration in layer}
        assert verdicts == {text: oracle.accepts(text) for text in verdicts}
        tally(texts=len(verdicts), sentences=sum(verdicts.values()))


@pytest.mark.parametrize("grammar", INDENTED_GRAMMARS, ids=lambda grammar: grammar.name)
def test_the_top_of_the_stack_knows_the_parentheses(grammar: SmallGrammar, tally: Callable[..., None]) -> None:
    """With split tables the verdicts are the same, and the state on top says whether a newline counts."""
    loaded = load(grammar)
    tables = build_tables(loaded.data)
    split = split_parentheses(loaded.data, tables)
    plain: Layer = [("", Configuration.initial(Machine(loaded.data, tables)))]
    other: Layer = [("", Configuration.initial(Machine(loaded.data, split)))]
    tried = 0
    for _ in range(affordable_length(grammar.alphabet, 4000)):
        plain, other = longer(plain, grammar.alphabet), longer(other, grammar.alphabet)
        for (text, first), (_, second) in zip(plain, other, strict=True):
            tried += 1
            assert (first is None) == (second is None), text
            assert accepted(first) == accepted(second), text
            if first is not None and second is not None:
                assert split.origin[list(second.stack)].tolist() == list(first.stack), text
                assert split.in_parens[second.stack.state] == (second.margin.parens > 0), text
    tally(texts=tried)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_random_grammars(chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """Verdicts of Configuration, with plain and with split tables, are stock Lark's."""
    for grammar, oracle in loadable_grammars(scaled(20), 1_000_000 * chunk, random_indented_grammar):
        loaded = load(grammar)
        tables = build_tables(loaded.data)
        if any(conflict.kind == "reads-cycle" for conflict in tables.conflicts):
            tally(grammars_whose_table_is_undefined=1)
            continue
        balanced = not find_imbalances(loaded.data)
        split = split_parentheses(loaded.data, tables) if balanced else tables
        tally(grammars=1, balanced=balanced)
        for layer in layers_of_living(grammar, Machine(loaded.data, split), 14, 20):
            verdicts = {text: accepted(configuration) for text, configuration in layer}
            assert verdicts == {text: oracle.accepts(text) for text in verdicts}, str(grammar)
            tally(texts=len(verdicts), sentences=sum(verdicts.values()))
            for text, configuration in layer:
                if balanced and configuration is not None:
                    inside = split.in_parens[configuration.stack.state]
                    assert inside == (configuration.margin.parens > 0), f"{grammar}{text!r}"


def test_a_margin_is_part_of_the_value() -> None:
    """Equal stacks in blocks of different columns are different; what was read to get there is not told apart."""
    grammar = next(grammar for grammar in INDENTED_GRAMMARS if grammar.name == "tree")
    machine = machine_of(grammar)
    one, two, tab = (Configuration.initial(machine).read(text) for text in (b"a\n a", b"a\n  a", b"a\n\ta"))
    assert one is not None
    assert two is not None
    assert one.stack == two.stack
    assert one.margin == Margin((0, 1))
    assert one != two
    assert two == tab
    assert len({one, two, tab}) == 2


def sampled_and_damaged(
    grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None], depth: int, start: str = "start"
) -> None:
    """Sentences of random derivations, and the same with one change: Configuration and Lark agree on each."""
    random = Random(grammar.name)
    parser = lark.Lark(grammar.text, parser="lalr", **grammar.options)
    sampler = IndentedSampler(parser, random, depth)
    sentences = [sampler.sentence(start)[:2000] for _ in range(scaled(30))]
    texts = [*sentences, *(damaged(random.choice(sentences), random) for _ in range(scaled(30)))]
    oracle = StockLark(grammar)
    initial = Configuration.initial(machine_of(grammar))
    verdicts = {text: accepted(initial.read(text.encode())) for text in texts}
    assert verdicts == {text: oracle.accepts(text) for text in verdicts}
    tally(
        sentences_sampled=len(sentences),
        of_these_parsed_by_Lark=sum(verdicts[text] for text in sentences),
        damaged_sentences=len(texts) - len(sentences),
        of_these_still_parsed=sum(verdicts[text] for text in texts[len(sentences) :]),
    )


@pytest.mark.parametrize("grammar", INDENTED_GRAMMARS, ids=lambda grammar: grammar.name)
def test_sampled_sentences(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    sampled_and_damaged(grammar, scaled, tally, 8)


@pytest.mark.slow
def test_sampled_python(scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    sampled_and_damaged(python_grammar(), scaled, tally, 10, "file_input")


TEXTS = r"""
x = 1\nif x:\n    y = (1,\n2)\n    z\nelse:\n\tpass\n
def f(a,\n  b):\n  # comment\n\n  return [a,\n# c\nb]\n\n\n# end\nf(1, 2)\n
class A:\n    def f(self): pass\n\n    x = {1: 2,\n  3: 4}\n
if a:\n  if b:\n    c\n d\n
if a:\n  b\n    c\n
x = (1\n
while 1:\n        a\n\tb\n
while 1:\n    a \\\n  + b\n    c\n
try:\n  x\nexcept E as e:\n  y\nfinally:\n  z # no line break
 x\n
\n  x\n
@a\ndef f(): return 1;\n\n\nfor x in (\n):\n\tif x: continue\n\telse:\n\t\tbreak\n\n
""".strip("\n").split("\n")


def python_texts() -> list[str]:
    """The lines above: each is a text, in which line breaks and tabs are escaped. With variations of their columns."""
    texts = [line.encode().decode("unicode_escape") for line in TEXTS]
    random = Random(5)
    for text in list(texts):
        for _ in range(20):
            place = random.randrange(len(text))
            change = random.choice(["", " ", "\t", "\n", "\n  ", "(", ")", "#", ":", "    "])
            texts.append(text[:place] + change + text[place + random.randrange(2) :])
    return texts


def python_grammar() -> SmallGrammar:
    """python.lark with its own Indenter, as Lark ships it."""
    text = (Path(lark.__file__).parent / "grammars" / "python.lark").read_text(encoding="utf-8")
    options = {"postlex": PythonIndenter(), "start": "file_input"}
    return SmallGrammar("python", "as it is shipped", text, "", options, conflicts="shift", lookahead="commit")


@pytest.mark.slow
def test_python_texts(tally: Callable[..., None]) -> None:
    grammar = python_grammar()
    oracle = StockLark(grammar)
    initial = Configuration.initial(machine_of(grammar))
    texts = python_texts()
    verdicts = {text: accepted(initial.read(text.encode())) for text in texts}
    assert verdicts == {text: oracle.accepts(text) for text in texts}
    assert 20 < sum(verdicts.values()) < len(verdicts) - 20
    tally(texts=len(verdicts), sentences=sum(verdicts.values()))
