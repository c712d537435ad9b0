"""python.lark as Lark ships it, with its Indenter and a real vocabulary, beside stock Lark on real programs."""

from __future__ import annotations

import gzip
import json
import sysconfig
import tokenize
from collections.abc import Callable
from importlib.resources import files
from io import BytesIO
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


@pytest.mark.slow
def test_nothing_is_lost_but_what_the_report_says(constraint: Constraint) -> None:
    others = {finding.id for finding in constraint.report.findings if finding.level != "note"}
    assert others == {"PDA013"}  # rules that nothing leads to, and alternatives that Lark's own choices leave out
    assert constraint.report.ok


@pytest.fixture(scope="module", params=["tekken", "SentencePiece"])
def coded(
    request: pytest.FixtureRequest, grammar: Grammar, constraint: Constraint
) -> tuple[Constraint, Callable[[str], list[int]]]:
    """The grammar for a real vocabulary, and that vocabulary's own tokenizer."""
    data = files("mistral_common") / "data"
    if request.param == "tekken":
        tekkenizer = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
        encode = tekkenizer.from_file(str(data / "tekken_240911.json")).encode
        return constraint, lambda text: list(encode(text, bos=False, eos=False))
    sentencepiece = pytest.importorskip("sentencepiece")
    model = str(data / "mistral_instruct_tokenizer_240323.model.v3")
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    return pdacon.compile(grammar, Vocabulary.from_sentencepiece(processor)), processor.encode


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_every_token_of_a_module_is_in_its_mask(
    module: str, grammar: Grammar, coded: tuple[Constraint, Callable[[str], list[int]]], tally: Callable[..., None]
) -> None:
    text = (Path(sysconfig.get_path("stdlib")) / module).read_text()
    assert accepts(grammar, text)
    tally(modules=1, tokens=replayed(*coded, text))


def replayed(constraint: Constraint, encode: Callable[[str], list[int]], text: str) -> int:
    """How many tokens a program has, all of them in their masks, and the end of the text in the last one."""
    strips = constraint.vocabulary.strip_leading_space
    tokens = encode(text)
    assert constraint.vocabulary.decode(tokens).removeprefix(b" " if strips else b"") == text.encode()
    mask = np.zeros((1, (constraint.vocabulary.size + 31) // 32), np.int32)
    matcher = constraint.matcher(max_rollback=0, strip_leading_space=strips)
    for token in [*tokens, constraint.vocabulary.eos_ids[0]]:
        matcher.fill_bitmask(mask)
        assert mask[0, token // 32] >> token % 32 & 1, matcher.explain(token).render()
        assert matcher.accept_token(token)
    return len(tokens)


@pytest.mark.slow
def test_the_standard_library(
    grammar: Grammar,
    coded: tuple[Constraint, Callable[[str], list[int]]],
    scaled: Callable[[int], int],
    tally: Callable[..., None],
) -> None:
    """Files of Python's own, tests and broken programs included; ``--oracle-scale=2000`` takes all of them."""
    library = Path(sysconfig.get_path("stdlib"))
    paths = [path for path in library.rglob("*.py") if "site-packages" not in path.parts]
    chosen = Random(1).sample(sorted(paths), len(paths))[: scaled(40)]
    longest = scaled(12_000)
    for path in chosen:
        source = path.read_bytes()
        if len(source) > longest:
            continue
        try:
            text = source.decode(tokenize.detect_encoding(BytesIO(source).readline)[0])
        except (SyntaxError, UnicodeDecodeError):
            continue  # not text at all: the library has some such to test its tokenizer
        matcher = coded[0].matcher(max_rollback=0)
        verdict = matcher.accept_bytes(text.encode()) and matcher.is_accepting()
        assert verdict == accepts(grammar, text), path
        tally(files=1, bytes=len(source), sentences=verdict, tokens=replayed(*coded, text) if verdict else 0)


@pytest.mark.slow
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


@pytest.mark.slow
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
