"""python.lark beside CPython: on programs that others wrote, on broken ones, and on its own."""

from __future__ import annotations

import ast
import gzip
import json
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

import pdacon
from pdacon import Constraint, Grammar, Vocabulary

TEXTS = Path(__file__).parents[3] / "shared" / "data" / "python"
LIBRARY = Path(sysconfig.get_path("stdlib"))


@pytest.fixture(scope="module")
def constraint() -> Constraint:
    every_byte = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
    return pdacon.compile(Grammar.builtin("python"), every_byte)


def is_sentence(constraint: Constraint, text: str) -> bool:
    matcher = constraint.matcher(max_rollback=0)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


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


def test_the_standard_library(constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """A sample of its files, the tests among them; ``--oracle-scale=20`` takes all."""
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for path, text in library_files()[: scaled(100)]:
        verdict = parses(text)
        verdicts[verdict, is_sentence(constraint, text)] += 1
        assert verdict or not verdicts[False, True], path
    tally(accepted=verdicts[True, True], missed=verdicts[True, False], rejected=verdicts[False, False])
    assert verdicts[True, True] >= 0.99 * (verdicts[True, True] + verdicts[True, False])


def test_damaged_programs(constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """Lines of the standard library, of which one character or word is gone, doubled or exchanged."""
    random = Random(2)
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for _, text in library_files()[: scaled(40)]:
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
