"""python.lark beside CPython: on programs that others wrote, on broken ones, and on its own."""

from __future__ import annotations

import ast
import gzip
import json
import re
import sys
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from io import BytesIO
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from support.builtin import over_bytes, over_tokens
from support.python_blocks import widths_of_blocks
from support.real_vocabularies import coded, replay
from support.token_walks import walked_texts

from pdacon import Constraint

TEXTS = Path(__file__).parents[3] / "shared" / "data" / "python"
GRAMMARS = Path(__file__).parents[2] / "grammars"
# What Python before 3.13 may not read: formatted strings as they are nested now, type parameters, except*.
NEW = re.compile(r"""[fF][rR]?["']|[rR][fF]["']|\btype\b|\b(def|class)\b[^(:]*\[|\bexcept\b[^\w]*\*""")
LIBRARY = Path(sysconfig.get_path("stdlib"))


@pytest.fixture(scope="module")
def constraint() -> Constraint:
    return over_bytes("python")


def is_sentence(constraint: Constraint, text: str) -> bool:
    matcher = constraint.matcher(max_rollback=0)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


def error_of(text: str) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return error
    return None


def parses(text: str) -> bool:
    return error_of(text) is None


@cache
def library_files() -> list[tuple[Path, str]]:
    """The standard library with its tests, in a random order that is always the same."""
    paths = sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    files = []
    for path in Random(1).sample(paths, len(paths)):
        source = path.read_bytes()
        try:
            files.append((path, source.decode(tokenize.detect_encoding(BytesIO(source).readline)[0])))
        except (SyntaxError, UnicodeDecodeError):
            continue  # no text at all: the library has some such to test its tokenizer
    return files


@pytest.mark.slow
@pytest.mark.skipif(not TEXTS.exists(), reason="the Python texts lie beside the checkout")
@pytest.mark.parametrize(("collection", "least_accepted"), [("humaneval_mbpp", 1), ("snippets", 0.99)])
def test_programs_that_others_wrote(
    collection: str, least_accepted: float, constraint: Constraint, tally: Callable[..., None]
) -> None:
    verdicts: Counter[tuple[bool, bool]] = Counter()
    with gzip.open(TEXTS / f"{collection}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            verdicts[case["ast"]["3.13"], is_sentence(constraint, case["text"])] += 1
    accepted, missed = verdicts[True, True], verdicts[True, False]
    rejected, let_through = verdicts[False, False], verdicts[False, True]
    tally(accepted=accepted, missed=missed, rejected=rejected, let_through=let_through)
    assert accepted >= least_accepted * (accepted + missed)
    assert not let_through


@pytest.mark.slow
def test_the_standard_library(constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """A sample of its files, the tests among them; ``--oracle-scale=30`` takes all."""
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for path, text in library_files()[: scaled(60)]:
        verdict = parses(text)
        verdicts[verdict, is_sentence(constraint, text)] += 1
        assert verdict or not verdicts[False, True], path
    tally(accepted=verdicts[True, True], missed=verdicts[True, False], rejected=verdicts[False, False])
    assert verdicts[True, True] >= 0.99 * (verdicts[True, True] + verdicts[True, False])


@pytest.mark.slow
def test_damaged_programs(constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """Lines of the standard library, of which one character or word is gone, doubled or exchanged."""
    random = Random(2)
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for _, text in library_files()[: scaled(30)]:
        lines = [line for line in text.splitlines() if line.strip()]
        for line in random.sample(lines, min(8, len(lines))):
            text = damaged(line.strip(), random)
            verdicts[parses(text), is_sentence(constraint, text)] += 1
    tally(accepted=verdicts[True, True], missed=verdicts[True, False], rejected=verdicts[False, False])
    assert verdicts[False, True] <= 0.002 * verdicts.total()
    assert verdicts[True, True] >= 0.97 * (verdicts[True, True] + verdicts[True, False])


def damaged(line: str, random: Random) -> str:
    parts = line.split(" ") if random.random() < 0.5 else list(line)
    joint = " " if len(parts) != len(line) else ""
    at = random.randrange(len(parts))
    replacement = random.choice([[], [parts[at]] * 2, [random.choice(parts)]])
    return joint.join([*parts[:at], *replacement, *parts[at + 1 :]])


@pytest.mark.slow
@pytest.mark.parametrize(("grammar", "name"), [("python_spaces", "tekken"), ("python", "SentencePiece")])
def test_every_token_of_a_module_is_in_its_mask(
    grammar: str, name: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    constraint, tokenizer = over_tokens(grammar, name), coded(name)
    short = [text for _, text in library_files() if len(text) < 3_000 and "\t" not in text]
    if grammar == "python_spaces":
        short = [text for text in short if widths_of_blocks(text) in (set(), {4})]
    for text in short[: scaled(3)]:
        if is_sentence(constraint, text) and tokenizer.spells(text):
            tokens = tokenizer.encode(text)
            replay(constraint, tokens)
            tally(modules=1, tokens=len(tokens))
        else:
            assert not parses(text) or not tokenizer.spells(text), text


def beginnings(constraint: Constraint, spaced: bool) -> list[bytes]:
    """Samples, and, where blocks are four spaces wide, modules whose blocks are."""
    if not spaced:
        return [path.read_bytes() for path in sorted((GRAMMARS / "python" / "accept").iterdir())]
    short = (text for _, text in library_files() if len(text) < 3_000 and "\t" not in text)
    blocks = (text for text in short if widths_of_blocks(text) == {4} and is_sentence(constraint, text))
    return [text.encode() for text in islice(blocks, 20)]


@pytest.mark.slow
@pytest.mark.parametrize(("grammar", "name"), [("python", "SentencePiece"), ("python_spaces", "tekken")])
def test_walks_over_tokens_end_in_python(
    grammar: str, name: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """From a place within a sample, some allowed tokens, mostly short ones, and the shortest way to the end."""
    constraint = over_tokens(grammar, name)
    spaced = grammar == "python_spaces"
    wrong = 0
    for text, tokens in walked_texts(constraint, scaled(30), 20, beginnings(constraint, spaced)):
        error = error_of(text)
        is_new = error is not None and sys.version_info < (3, 13) and NEW.search(text) is not None
        # Lark's own Indenter does not mind tabs and spaces that contradict each other.
        wrong += error is not None and not is_new
        in_tabs = isinstance(error, IndentationError) and "\t" in text and not spaced
        assert error is None or is_new or in_tabs, text
        if spaced and error is None:
            assert widths_of_blocks(text) in (set(), {4}), text
        tally(walks=1, tokens=tokens, not_judged=int(is_new))
    assert wrong <= 0.02 * scaled(30)
