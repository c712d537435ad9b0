"""Search for crashes, hangs and wrong masks with random grammars, against stock Lark.

    python tests/fuzz/run.py --grammars 100000 --jobs 2 --seed 0 --out DIR      # goes on where it stopped
    python tests/fuzz/run.py --replay DIR/finds/crash-12.json                    # one case again
    python tests/fuzz/run.py --shrink DIR/finds/crash-12.json                    # the same in small

Exit status: 0 if nothing was found, 1 if something was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.case import Case
from fuzz.isolation import Caps, prepare, run
from fuzz.making import Shares, make_case
from fuzz.shrinking import show, shrink, signature, with_texts
from fuzz.table import Table


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--grammars", type=int, default=1000, help="how many cases")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--indenter-share", type=float, default=0.25)
    parser.add_argument("--lookaround-share", type=float, default=0.25)
    parser.add_argument("--stress-share", type=float, default=0.05)
    parser.add_argument("--effort", type=float, default=1.0, help="more texts and walks for each grammar")
    parser.add_argument("--seconds", type=int, default=20, help="CPU time of a case beyond which it is a find")
    parser.add_argument("--megabytes", type=int, default=1024, help="memory likewise; 0: no cap, for a sanitized core")
    parser.add_argument("--stack", type=int, default=512, help="KB of stack of the thread that pdacon runs in")
    parser.add_argument("--out", type=Path, help="results and finds go there")
    parser.add_argument("--known", type=re.compile, help="pattern of finds that are known: listed apart, not printed")
    parser.add_argument("--quiet", action="store_true", help="print the table only")
    parser.add_argument("--replay", type=Path, nargs="+", help="files of finds to try again")
    parser.add_argument("--shrink", type=Path, nargs="+", help="files of finds to make small")
    parser.add_argument("--tries", type=int, default=600, help="most cases that shrinking tries")
    return parser.parse_args(arguments)


def caps_of(options: argparse.Namespace) -> Caps:
    return Caps(options.seconds, options.megabytes, options.stack * 1024, options.effort)


def work(options: argparse.Namespace, job: int) -> None:
    """One job's share of the cases; a line of results for each."""
    shares = Shares(options.indenter_share, options.lookaround_share, options.stress_share)
    caps = caps_of(options)
    path = options.out / f"results-{job}.jsonl"
    done = {result["index"] for result in results(options.out)}
    with path.open("a", encoding="utf-8") as file:
        for index in range(options.first, options.first + options.grammars):
            if index % options.jobs != job or index in done:
                continue
            seed = f"{options.seed}:{index}"
            result = run(lambda seed=seed: make_case(seed, shares), caps)  # type: ignore[misc]
            data = {"index": index, "features": list(result.case.features) if result.case else [], **result.to_dict()}
            file.write(json.dumps(data) + "\n")
            file.flush()
            if result.find is not None and result.case is not None:
                name = f"{result.find['kind'].replace(' ', '-')}-{index}"
                find = options.out / "finds" / f"{name}.json"
                case = with_texts(result.case, result.find)
                find.write_text(
                    json.dumps({**json.loads(case.to_json()), "find": result.find}, indent=1), encoding="utf-8"
                )
                known = options.known is not None and options.known.search(
                    "{} in {}: {}".format(*signature(result.find))
                )
                if not options.quiet and not known:
                    print(f"[{index}] {find}\n{show(case, result)}\n", flush=True)


def results(out: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(out.glob("results-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.endswith("}"):
                yield json.loads(line)


def search(options: argparse.Namespace) -> int:
    (options.out / "finds").mkdir(parents=True, exist_ok=True)
    prepare()
    began = time.monotonic()
    children = []
    for job in range(options.jobs):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                work(options, job)
                status = 0
            finally:
                sys.stdout.flush()
                os._exit(status)
        children.append(child)
    failed = any(os.waitpid(child, 0)[1] for child in children)
    table = Table(options.known)
    for result in results(options.out):
        table.add(result)
    text = table.render()
    (options.out / "table.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"\n{time.monotonic() - began:,.0f} s")
    return 1 if failed or table.finds else 0


def replay(options: argparse.Namespace) -> int:
    prepare()
    found = 0
    for path in options.replay:
        case = Case.from_file(path)
        result = run(lambda case=case: case, caps_of(options))  # type: ignore[misc]
        print(f"{path}: {result.outcome} {result.detail} {result.seconds} s, {result.megabytes} MB")
        if result.find is not None:
            found += 1
            print(show(case, result))
            print(result.find["details"].get("traceback", ""))
    return 1 if found else 0


def make_small(options: argparse.Namespace) -> int:
    prepare()
    for path in options.shrink:
        case = Case.from_file(path)
        caps = caps_of(options)
        result = run(lambda case=case: case, caps)  # type: ignore[misc]
        if result.find is None:
            print(f"{path}: nothing is found any more ({result.outcome})")
            continue
        if result.find["kind"] == "hang":
            caps = replace(caps, seconds=max(2, caps.seconds // 6))
        small, tried = shrink(case, result.find, caps, options.tries)
        result = run(lambda small=small: small, caps_of(options))  # type: ignore[misc]
        target = path.with_suffix(".small.json")
        target.write_text(json.dumps({**json.loads(small.to_json()), "find": result.find}, indent=1), encoding="utf-8")
        print(f"{target}, after {tried} tries")
        if result.find is not None:
            print(show(small, result) + "\n", flush=True)
    return 0


def main() -> int:
    options = parsed()
    if os.environ.get("PYTHONHASHSEED") is None:
        # Where Lark's tables depend on the order of a hash, a case has to be the same again.
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})
    if options.replay:
        return replay(options)
    if options.shrink:
        return make_small(options)
    if options.out is None:
        print("--out says where results and finds go", file=sys.stderr)
        return 2
    return search(options)


if __name__ == "__main__":
    sys.exit(main())
