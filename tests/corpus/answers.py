"""Write down what pdacon answers, so that two versions of it can be compared where nothing was to change.

    python -P tests/corpus/answers.py --out before.jsonl   # built-in grammars, the corpus, 1,000 random grammars
    python -P tests/corpus/answers.py --out after.jsonl    # the same with another version installed
    python -P tests/corpus/answers.py --compare before.jsonl after.jsonl

For each grammar: the report of `check` as text and as data, and the error or what the constraint says: along random
walks every mask, `is_accepting`, `forced_bytes` and the shortest completion, and apart from these an explanation, once
from the constraint and once from its artifact read back. Each is filed as a digest; a line of the file is a grammar.
The walks choose by the masks, so that one bit that differs changes all that follows. What a clock decides is left out:
witnesses are not searched for (`seconds=0`).

Exit status of ``--compare``: 0 if both files say the same, 1 if they do not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import resource
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from corpus.reading import NotInstalledError, read
from corpus.registry import ENTRIES
from fuzz.case import Case
from fuzz.making import Shares, make_case
from support.real_vocabularies import coded

import pdacon
from pdacon import Constraint, Grammar, Vocabulary
from pdacon.grammar.builtin import builtin_names

OPTIONS = {"conflicts": "shift", "lookahead": "commit"}
INSTALLED = str(Path(pdacon.__file__).parent)  # reports name the files of built-in grammars by where they are
WALKS, STEPS = 6, 40
SECONDS = 40  # of CPU for one grammar: stock Lark and `re`, which make the random ones, can take for ever
FORK = multiprocessing.get_context("fork")
Answers = dict[str, str]


def digest(*parts: bytes | str) -> str:
    sums = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sums.update(len(data).to_bytes(8, "little") + data)
    return sums.hexdigest()[:24]


def names(random: int) -> list[str]:
    corpus = [entry.name for entry in ENTRIES if entry.stock_loads]
    return [*builtin_names(), *corpus, *(f"random {number}" for number in range(random))]


def limited(name: str) -> Answers:
    """All that is asked about one grammar, in a process of its own."""
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=send, args=(name, sender))
    process.start()
    sender.close()
    try:
        said: Answers = receiver.recv()
    except EOFError:
        process.join()
        said = {"ended": f"with status {process.exitcode}"}
    process.join()
    return said


def send(name: str, sender: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    sender.send(answers(name))


def answers(name: str) -> Answers:
    try:
        if name.startswith("random "):
            case = make_case(f"answers:{name}", Shares())
            if "seconds" in case.limits:
                case = case.but(limits={})
            return asked(case.load, case.vocabulary(), case.starts, case)
        if name in builtin_names():
            return asked(lambda: Grammar.builtin(name), coded("SentencePiece").vocabulary, None)
        entry = next(entry for entry in ENTRIES if entry.name == name)
        source = read(entry)
        needs = {need: OPTIONS[need] for need in entry.needs}
        load = lambda: Grammar.from_lark(source.text, **source.options, **needs)  # noqa: E731
        return asked(load, coded("SentencePiece").vocabulary, None)
    except NotInstalledError:
        return {"not": "installed"}


def asked(
    load: Callable[[], Grammar], vocabulary: Vocabulary, starts: list[str] | None, case: Case | None = None
) -> Answers:
    said: Answers = {}
    try:
        grammar = load()
        report = pdacon.check(grammar, vocabulary, seconds=0)
        texts = (report.render(), json.dumps(report.to_dict(), sort_keys=True))
        said["report"] = digest(*(text.replace(INSTALLED, "") for text in texts))
        limits = pdacon.Limits(**case.limits) if case else pdacon.Limits()
        constraint = pdacon.compile(grammar, vocabulary, limits=limits)
        again = Constraint.from_bytes(constraint.to_bytes())
        for start in starts or grammar.options.start:
            for what, made in (("", constraint), (", stored", again)):
                masks, explanations = walked(made, vocabulary, start)
                said[f"masks of {start}{what}"], said[f"explanations of {start}{what}"] = masks, explanations
    except pdacon.PdaconError as error:
        said["error"], said["its words"] = type(error).__name__, digest(str(error))
    return said


def walked(constraint: Constraint, vocabulary: Vocabulary, start: str) -> tuple[str, str]:
    """The digests of what is said along random walks: by masks and completions, and in words."""
    row = np.zeros((len(vocabulary.tokens) + 31) // 32, dtype=np.int32)
    parts: list[bytes | str] = []
    words: list[str] = []
    for walk in range(WALKS):
        rng = Random(f"{start} {walk}")
        try:
            matcher = constraint.matcher(start)
            for _ in range(STEPS):
                matcher.fill_bitmask(row)
                parts += [row.tobytes(), str(matcher.is_accepting()), matcher.forced_bytes(limit=200)]
                allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
                inner = [int(token) for token in allowed if vocabulary.tokens[token]]
                if not inner:
                    break
                matcher.accept_token(rng.choice(inner))
            parts.append(matcher.shortest_completion())
            words.append(matcher.explain(rng.choice(vocabulary.tokens) or b"a").render())
        except pdacon.PdaconError as error:
            parts.append(type(error).__name__)
            words.append(str(error))
    return digest(*parts), digest(*words)


def lines(path: Path) -> Iterator[tuple[str, Answers]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        yield data["name"], data["answers"]


def compare(before: Path, after: Path) -> int:
    first, second = dict(lines(before)), dict(lines(after))
    different = 0
    for name in sorted({*first, *second}):
        one, other = first.get(name), second.get(name)
        if one is None or other is None:
            print(f"{name}: only in {before if other is None else after}")
        elif one != other:
            print(f"{name}: " + ", ".join(sorted(key for key in {*one, *other} if one.get(key) != other.get(key))))
        different += one != other
    print(f"{len({*first, *second}):,} grammars, {sum(map(len, first.values())):,} digests, {different} different")
    return 1 if different else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--random", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--compare", type=Path, nargs=2)
    options = parser.parse_args()
    if options.compare:
        return compare(*options.compare)
    if os.environ.get("PYTHONHASHSEED") is None:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})
    every = names(options.random)
    with ThreadPoolExecutor(options.jobs) as pool, options.out.open("w", encoding="utf-8") as file:
        for name, said in zip(every, pool.map(limited, every), strict=True):
            file.write(json.dumps({"name": name, "answers": said}) + "\n")
            file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
