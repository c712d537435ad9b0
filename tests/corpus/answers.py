"""Write down what pdacon answers, so that two versions of it can be compared where nothing was to change.

    python -P tests/corpus/answers.py --out before.jsonl   # of all kinds of grammars
    python -P tests/corpus/answers.py --out after.jsonl    # the same with another version installed
    python -P tests/corpus/answers.py --compare before.jsonl after.jsonl

Asked about are the built-in grammars, the corpus, and as many real JSON Schemas, texts in other notations, structural
tags, Python types and random grammars in Lark's language as the options say; `asked_grammars.py` lists them. For each
grammar: its fingerprint, what `to_lark` prints, its names as `describe_production` writes them, the report of `check`
as text and as data, and what the constraint says: along random walks every mask, `is_accepting`, `forced_bytes` and the
shortest completion, and apart from these an explanation, once from the constraint and once from its artifact read
back, and the values of the texts that were walked. Each is filed as a digest, but errors and warnings as texts; a line
of the file is a grammar. The walks choose by the masks, so that one bit that differs changes all that follows. What a
clock decides is left out: witnesses are not searched for (`seconds=0`). Answers that the file has already are not asked
for again.

Exit status of ``--compare``: 0 if both files say the same, 1 if they do not.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import chain, islice
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus import asked_grammars
from corpus.asked_grammars import Asked
from corpus.asking import Answers, ask
from corpus.comparing_answers import compare, read

FORK = multiprocessing.get_context("fork")
KINDS = {
    "corpus": (asked_grammars.corpus, 1000),
    "schemas": (asked_grammars.schemas, 400),
    "notations": (asked_grammars.notations, 200),
    "tags": (asked_grammars.tags, 150),
    "types": (asked_grammars.types, 200),
    "random": (asked_grammars.random_grammars, 1000),
}
"""By option what lists the grammars, and how many there are if the option is not given."""


def limited(make: Callable[[], Asked], seconds: int) -> Answers:
    """All that is asked about one grammar, in a process of its own."""
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=send, args=(make, seconds, sender))
    process.start()
    sender.close()
    try:
        answers: Answers = receiver.recv()
    except EOFError:
        process.join()
        answers = {"ended": f"with status {process.exitcode}"}
    process.join()
    return answers


def send(make: Callable[[], Asked], seconds: int, sender: Connection) -> None:
    # Stock Lark and `re`, which make the random grammars, can take for ever.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    sender.send(ask(make))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    for kind, (_, count) in KINDS.items():
        parser.add_argument(f"--{kind}", type=int, default=count, metavar="N", help=f"at most; {count:,} by default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=12, help="of CPU for one grammar; 12 by default")
    parser.add_argument("--compare", type=Path, nargs=2)
    options = parser.parse_args()
    if options.compare:
        return compare(*options.compare)
    if os.environ.get("PYTHONHASHSEED") is None:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})
    if options.schemas and not asked_grammars.DATA.exists():
        print(f"no JSON Schemas are asked about: there is no {asked_grammars.DATA}", file=sys.stderr)
    listed = [dict(list_kind(getattr(options, kind))) for kind, (list_kind, _) in KINDS.items()]
    for make in chain.from_iterable(islice(grammars.values(), 1) for grammars in listed):
        ask(make)  # loads what the processes below share
    left = dict(chain.from_iterable(grammars.items() for grammars in listed))
    for name in read(options.out) if options.out.exists() else ():
        left.pop(name, None)
    with ThreadPoolExecutor(options.jobs) as pool, options.out.open("a", encoding="utf-8") as file:
        pending = {pool.submit(limited, make, options.seconds): name for name, make in left.items()}
        for future in as_completed(pending):
            file.write(json.dumps({"name": pending[future], "answers": future.result()}) + "\n")
            file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
