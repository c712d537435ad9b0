"""Random sentences: each is one, a seed repeats them, the size is a bound on the walk, and they are not all alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from random import Random

import pytest
from support.lark_oracle import accepts
from support.lowering import load
from support.random_grammars import loadable_grammars
from support.small_tokenizers import train_byte_level

import pdacon
from pdacon import Grammar
from pdacon.front.sampling import sample, sample_tokens

BYTES = pdacon.Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), None], [256])
GRAMMARS = {
    "json": pdacon.Grammar.builtin("json"),
    "arithmetic": pdacon.Grammar.builtin("arithmetic"),
    "keywords, comments, flags": pdacon.Grammar.from_lark(r"""
start: (query ";")+
query: "select"i ("*" | NAME ("," NAME)*) "from"i NAME ("where"i NAME "=" (STRING | INT))?
NAME: /[^\W\d]\w*/
STRING: /'[^']*'/
INT: /\d+/
%ignore /\s+/
%ignore /--[^\n]*/
"""),
    "nothing ignored, newlines": pdacon.Grammar.from_lark('start: line+\nline: /[a-z]+/ ":" /[^\\n]+/ "\\n"\n'),
    "every text is long": pdacon.Grammar.from_lark("start: /x{70}/ /é/*"),
    "one text": pdacon.Grammar.from_lark('start: "one" "text"'),
    "the empty text": pdacon.Grammar.from_lark('start: "a"*'),
    "look-around": pdacon.Grammar.from_lark(r"""
start: (WORD | NUMBER)+
WORD: /\b[a-z]+(?=[ .])/
NUMBER: /(?<![0-9])[0-9]{1,4}(?!,)/
%ignore /[ .]/
"""),
    "basic lexer": pdacon.Grammar.from_lark('start: ("a" B)+\nB: /[bc]+/\n%ignore " "', lexer="basic"),
}


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
@pytest.mark.parametrize("size", [1, 60, 200])
def test_every_text_is_a_sentence(grammar: pdacon.Grammar, size: int) -> None:
    texts = list(islice(sample(pdacon.compile(grammar, BYTES), 7, size=size), 30))
    assert [text for text in texts if not accepts(grammar, text)] == []


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_tokens_are_what_a_model_could_generate(grammar: pdacon.Grammar) -> None:
    trained = train_byte_level("llama3", ["</s>"], 500)
    vocabulary = pdacon.Vocabulary.from_huggingface(trained, eos_ids=[0])
    constraint = pdacon.compile(grammar, vocabulary)
    for ids in islice(sample_tokens(constraint, 7), 20):
        matcher = constraint.matcher()
        assert all(map(matcher.accept_token, ids))
        assert matcher.is_terminated()
        assert accepts(grammar, vocabulary.decode(ids))


@pytest.mark.slow
def test_random_grammars(scaled: Callable[[int], int]) -> None:
    vocabulary = pdacon.Vocabulary.from_tokens([*BYTES.tokens[:-1], b"ab", b"ba", b"aab", None], [259])
    for small, oracle in loadable_grammars(scaled(20), 5000):
        try:
            constraint = pdacon.compile(load(small), vocabulary)
        except pdacon.PdaconError:
            continue  # that a refusal is right is asked elsewhere
        for start in constraint.grammar.data.options.start:
            texts = [*islice(sample(constraint, 1, size=12, start=start), 5)]
            spelled = map(vocabulary.decode, islice(sample_tokens(constraint, 1, start=start), 3))
            texts += map(small.decode, spelled)
            assert [text for text in texts if not oracle.accepts(text, start)] == [], small.text


def test_a_seed_repeats_and_another_does_not() -> None:
    constraint = pdacon.compile(GRAMMARS["json"], BYTES)
    first = list(islice(sample(constraint, 1), 10))
    assert list(islice(sample(constraint, Random(1)), 10)) == first
    assert list(islice(sample(constraint, 2), 10)) != first


@pytest.mark.slow
def test_size_is_where_a_walk_ends() -> None:
    constraint = pdacon.compile(GRAMMARS["json"], BYTES)
    lengths = {size: [len(text) for text in islice(sample(constraint, 3, size=size), 20)] for size in (10, 80, 300)}
    assert sum(lengths[10]) < sum(lengths[80]) < sum(lengths[300])
    assert max(lengths[10]) < 60


@pytest.mark.slow
def test_there_is_something_of_everything() -> None:
    texts = list(islice(sample(pdacon.compile(GRAMMARS["json"], BYTES), 5), 60))
    assert len(set(texts)) > 50
    for part in '{["-.,:':
        assert sum(part in text for text in texts) >= 3, part
    for word in ("true", "false", "null"):
        assert any(word in text for text in texts), word
    assert sum(text.count(" ") for text in texts) < sum(map(len, texts)) / 3


def test_keywords_are_not_only_names() -> None:
    texts = list(islice(sample(pdacon.compile(GRAMMARS["keywords, comments, flags"], BYTES), 5, size=120), 20))
    assert sum("where" in text for text in texts) >= 3


def test_another_start() -> None:
    grammar = pdacon.Grammar.builtin("json", start=["start", "array"])
    constraint = pdacon.compile(grammar, BYTES)
    assert all(text.strip().startswith("[") for text in islice(sample(constraint, 1, start="array"), 10))
    assert not all(text.strip().startswith("[") for text in islice(sample(constraint, 1), 10))


def test_what_cannot_be_done() -> None:
    constraint = pdacon.compile(GRAMMARS["json"], pdacon.Vocabulary.from_tokens([bytes([b]) for b in range(256)]))
    assert next(sample(constraint, 1))
    with pytest.raises(ValueError, match="end token"):
        sample_tokens(constraint)
    with pytest.raises(ValueError, match="size"):
        sample(constraint, size=0)


def test_a_leading_space_that_does_not_count_is_walked_over() -> None:
    vocab = pdacon.Vocabulary.from_tokens([b"The", b" The", b" ", b"fox", None], eos_ids=[4])
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: "The" " " "fox"'), vocab)
    for strip, texts in ((False, {b"The fox"}), (True, {b"The fox", b" The fox"})):
        walks = islice(sample_tokens(constraint, 1, strip_leading_space=strip), 40)
        assert {vocab.decode(ids) for ids in walks} == texts


@pytest.mark.slow
def test_what_is_listed_is_shown() -> None:
    """Of samples of a schema most name a table or a column of it."""
    grammar = Grammar.from_sql_schema({"singer": ["singer_id", "name"], "concert": ["concert_id", "year"]})
    texts = list(islice(sample(pdacon.compile(grammar, BYTES), 1), 30))
    named = [text for text in texts if re.search("singer|concert|name|year", text, re.IGNORECASE)]
    assert len(named) > len(texts) / 2


@pytest.mark.slow
def test_keywords_are_seldom_names_and_comments_are_closed() -> None:
    grammar = pdacon.Grammar.from_lark(r"""
start: "get" _name ("," _name)*
_name: NAME | ON | OFF | LEFT | RIGHT | FULL | CROSS
NAME: /(?!(on|off|left|right|full|cross)\b)[a-z]+/
ON: /on\b/
OFF: /off\b/
LEFT: /left\b/
RIGHT: /right\b/
FULL: /full\b/
CROSS: /cross\b/
%ignore /\s+/
%ignore /\/\*([^*]|\*(?!\/))*(\*\/)?/
""")
    texts = list(islice(sample(pdacon.compile(grammar, BYTES), 7), 100))
    names = [name for text in texts for name in re.findall(r"[a-z]+", re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL))]
    assert sum(name in ("on", "off", "left", "right", "full", "cross") for name in names) < 0.1 * len(names)
    assert any("/*" in text for text in texts)
    assert [text for text in texts if text.count("/*") > text.count("*/")] == []


def test_a_rare_letter_is_the_way_out_of_a_loop() -> None:
    """In a deterministic automaton the loop and the way out of it are edges of one state."""
    grammar = pdacon.Grammar.from_json_schema({"type": "string", "pattern": "^[0-9]+M$"})
    texts = grammar.sample(8, seed=1)
    assert len(texts) == 8
    assert all(text[1:-2].isdigit() and len(text) < 40 for text in texts)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("start: /[α-ω]/", 25),
        ("start: /[0-9]/", 10),
        ('start: a b\na: "x" | "y" | "z"\nb: "1" | "2" | "3"', 9),
        ('start: "a" | "ab" | "abc" | "' + "x" * 200 + '" | "' + "x" * 199 + 'y"', 5),
    ],
)
def test_a_grammar_of_few_sentences_shows_all_of_them(source: str, count: int) -> None:
    grammar = pdacon.Grammar.from_lark(source)
    for seed in range(3):
        texts = grammar.sample(count + 1, seed=seed)
        assert len(set(texts)) == len(texts) == count
        assert all(map(grammar.accepts, texts))
        assert texts == grammar.sample(count + 1, seed=seed)


def test_what_is_looked_for_differs_not_in_blanks_alone() -> None:
    """There are ever more texts with ever more spaces."""
    texts = pdacon.Grammar.from_lark('start: "a" "b"\n%ignore " "').sample(50, seed=1)
    assert {text.replace(" ", "") for text in texts} == {"ab"}
    assert max(map(len, texts)) < 6
