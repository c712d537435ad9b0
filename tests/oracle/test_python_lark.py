"""python.lark as Lark ships it, with its Indenter and a real vocabulary, beside stock Lark on real programs."""

from __future__ import annotations

import gzip
import json
import sysconfig
from collections.abc import Callable
from pathlib import Path
from random import Random

import lark
import numpy as np
import pytest
from support.lark_oracle import accepts

import pdacon
from pdacon import Constraint, Grammar, Vocabulary

TEXTS = Path(__file__).parents[3] / "shared" / "data" / "python"
MODULES = ("bisect.py", "heapq.py", "textwrap.py", "json/decoder.py", "json/encoder.py", "colorsys.py")


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.from_file(
        Path(lark.__file__).parent / "grammars" / "python.lark",
        start="file_input",
        postlex="python",
        conflicts="shift",
        lookahead="commit",
    )


@pytest.fixture(scope="module")
def constraint(grammar: Grammar, tekken: Vocabulary) -> Constraint:
    return pdacon.compile(grammar, tekken)


def test_nothing_is_lost_but_what_the_report_says(constraint: Constraint) -> None:
    assert {finding.level for finding in constraint.report.findings} == {"note"}


@pytest.mark.parametrize("module", MODULES)
def test_every_token_of_a_module_is_in_its_mask(
    module: str, grammar: Grammar, constraint: Constraint, tally: Callable[..., None]
) -> None:
    text = (Path(sysconfig.get_path("stdlib")) / module).read_bytes()
    assert accepts(grammar, text)
    tokenizer = greedy(constraint.vocabulary)
    mask = np.zeros((1, (constraint.vocabulary.size + 31) // 32), np.int32)
    matcher = constraint.matcher(max_rollback=0)
    tokens = tokenizer(text)
    for token in tokens:
        matcher.fill_bitmask(mask)
        assert mask[0, token // 32] >> token % 32 & 1, matcher.explain(token).render()
        assert matcher.accept_token(token)
    assert matcher.is_accepting()
    tally(modules=1, tokens=len(tokens))


def greedy(vocabulary: Vocabulary) -> Callable[[bytes], list[int]]:
    """Cuts a text into its longest tokens."""
    ids = {text: id for id, text in enumerate(vocabulary.tokens) if text}
    longest = max(map(len, ids))

    def tokenize(text: bytes) -> list[int]:
        tokens = []
        at = 0
        while at < len(text):
            size = next(size for size in range(longest, 0, -1) if text[at : at + size] in ids)
            tokens.append(ids[text[at : at + size]])
            at += size
        return tokens

    return tokenize


@pytest.mark.skipif(not TEXTS.exists(), reason="the Python texts lie beside the checkout")
def test_real_and_broken_texts(
    grammar: Grammar, constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    texts = []
    for path in sorted(TEXTS.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in lines]
    chosen = Random(1).sample(texts, min(len(texts), scaled(250)))
    sentences = 0
    for text in chosen:
        matcher = constraint.matcher()
        verdict = matcher.accept_bytes(text.encode()) and matcher.is_accepting()
        assert verdict == accepts(grammar, text), text
        sentences += verdict
    tally(texts=len(chosen), sentences=sentences)


def test_walks_never_get_stuck(
    grammar: Grammar, constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """Random allowed tokens, words and line breaks more often than not, then a completion that Lark parses."""
    size = constraint.vocabulary.size
    mask = np.zeros((1, (size + 31) // 32), np.int32)
    plain = [id for id, text in enumerate(constraint.vocabulary.tokens) if text and text.isascii()]
    steps = 0
    for seed in range(scaled(12)):
        random = Random(seed)
        matcher = constraint.matcher()
        for _ in range(40):
            matcher.fill_bitmask(mask)
            bits = np.unpackbits(mask[0].view(np.uint8), bitorder="little")
            assert bits.any()
            liked = [token for token in random.sample(plain, 400) if bits[token]]
            token = random.choice(liked) if liked else int(random.choice(np.flatnonzero(bits)))
            if token in constraint.vocabulary.eos_ids:
                break
            assert matcher.accept_token(token)
            steps += 1
        rest = matcher.shortest_completion()
        assert matcher.accept_bytes(rest)
        assert matcher.is_accepting()
        text = matcher._text()
        assert accepts(grammar, text), text
    tally(walks=scaled(12), tokens=steps)
