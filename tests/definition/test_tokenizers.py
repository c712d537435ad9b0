"""Every family of tokenizers, trained on sentences of a grammar: Lark parses what the tokenizer itself prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import pytest
from support.definition import mask_of
from support.lark_oracle import accepts, lark_parser
from support.sampler import Sampler, damaged
from support.small_tokenizers import FAMILIES, SENTENCEPIECE, end_of, train_sentencepiece

import pdacon
from pdacon import Constraint, Grammar, Matcher, Vocabulary

WORDS = """
start: command (";" command)*
command: "set" NAME "to" value | "show" NAME
value: NUMBER | NAME | "not" value
NAME: /[a-z]+/
NUMBER: /[0-9]+/
%ignore " "
"""
"""With words between which spaces may come, as WordPiece puts them."""

GRAMMARS = {
    "json": Grammar.builtin("json"),
    "arithmetic": Grammar.builtin("arithmetic"),
    "words": Grammar.from_lark(WORDS),
}
ALL = [*FAMILIES, *(f"SentencePiece, {name}" for name in SENTENCEPIECE)]


@dataclass(frozen=True)
class Trained:
    """A tokenizer trained on sentences, compiled with their grammar."""

    constraint: Constraint
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    sampler: Sampler


@cache
def trained(family: str, name: str) -> Trained | None:
    """None if the tokenizer can spell no sentence."""
    grammar = GRAMMARS[name]
    sampler = Sampler(lark_parser(grammar), Random(family + name), 5)
    texts = [sampler.sentence() for _ in range(60)]
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    if family in FAMILIES:
        tokenizer: Any = FAMILIES[family](texts)
        encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids  # noqa: E731
        decode = lambda ids: tokenizer.decode(ids, skip_special_tokens=True)  # noqa: E731
        vocab = Vocabulary.from_huggingface(tokenizer, eos_ids=end_of(tokenizer))
    else:
        sentencepiece = pytest.importorskip("sentencepiece")
        data = train_sentencepiece(texts, **SENTENCEPIECE[family.removeprefix("SentencePiece, ")])
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        encode, decode = processor.encode, processor.decode
        vocab = Vocabulary.from_sentencepiece(data)
    try:
        return Trained(pdacon.compile(grammar, vocab), encode, decode, sampler)
    except pdacon.EmptyLanguageError:
        return None


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("family", ALL)
def test_what_is_accepted_is_what_lark_parses(
    family: str, name: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """Sentences and damaged ones, as the tokenizer encodes them; what counts is what it decodes them to."""
    it = trained(family, name)
    if it is None:
        tally(tokenizers_that_spell_nothing=1)
        return
    vocab = it.constraint.vocabulary
    random = Random(family)
    for round in range(scaled(40)):
        text = it.sampler.sentence()
        ids = it.encode(text if round % 2 else damaged(text, random))
        if not all(vocab.tokens[i] for i in ids):
            tally(texts_that_cannot_be_spelt=1)
            continue
        printed = it.decode(ids)
        spelt = vocab.decode(ids)
        if printed.encode() != (spelt.removeprefix(b" ") if vocab.strip_leading_space else spelt):
            assert vocab.notes, (text, printed)
            tally(texts_with_an_odd_first_token=1)
            continue
        matcher = it.constraint.matcher(strip_leading_space=vocab.strip_leading_space)
        ours = all(matcher.accept_token(i) for i in ids) and matcher.is_accepting()
        assert ours == accepts(it.constraint.grammar, printed), (text, printed)
        tally(texts=1, sentences=int(ours))


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("family", ALL)
def test_what_is_generated_is_what_lark_parses(
    family: str, name: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """Random allowed tokens, then the way to the end; the tokenizer prints them."""
    it = trained(family, name)
    if it is None:
        return
    vocab = it.constraint.vocabulary
    random = Random(name)
    for _ in range(scaled(8)):
        matcher = it.constraint.matcher(strip_leading_space=vocab.strip_leading_space)
        ids: list[int] = []
        for _ in range(random.randint(0, 12)):
            allowed = sorted(mask_of(matcher, vocab.size) - set(vocab.eos_ids))
            if not allowed:
                break
            ids.append(random.choice(allowed))
            assert matcher.accept_token(ids[-1])
        ids += to_the_end(matcher, vocab)
        assert matcher.accept_token(vocab.eos_ids[0])
        printed = it.decode(ids)
        spelt = vocab.decode(ids)
        if printed.encode() != (spelt.removeprefix(b" ") if vocab.strip_leading_space else spelt):
            assert vocab.notes, (ids, printed)
            tally(walks_with_an_odd_first_token=1)
            continue
        assert accepts(it.constraint.grammar, printed), (ids, printed)
        tally(walks=1, tokens=len(ids))


def to_the_end(matcher: Matcher, vocab: Vocabulary) -> Iterator[int]:
    """Tokens that spell the shortest completion, found by trying."""
    while rest := matcher.shortest_completion():
        for i, text in enumerate(vocab.tokens):
            if text and i not in vocab.eos_ids:
                following = matcher.fork()
                if following.accept_token(i) and len(following.shortest_completion()) < len(rest):
                    assert matcher.accept_token(i)
                    yield i
                    break
        else:
            raise AssertionError(f"no token leads towards {rest!r}")
