"""``Limits(bytes=)`` is held at the allocator of the native core: no structure can take more, whichever it is."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from itertools import pairwise

import pytest

import pdacon
from pdacon import Grammar, LimitExceededError, Limits, Vocabulary

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
MIB = 1 << 20

# Each is large in a stage of its own.
LARGE = {
    "parse tables": "start: " + " | ".join(f'"{number:05}"' for number in range(12_000)),
    "relations of the parse tables": "start: "
    + " | ".join(f"a{k}" for k in range(14))
    + "".join(
        f'\na{k}: b{k} "x{k}"\nb{k}: ' + " | ".join(f'"t{j}" b{k}' for j in range(14)) + ' | "q"' for k in range(14)
    )
    + "\n",
    "sets of positions": "start: A\nA: /[ab]*?a[ab]{20}c/",
    "positions in one state": "start: A\nA: /(?:a?){5000}a{5000}/",
    "pushback": 'start: A rest | B\nrest: C+\nA: "a"\nB: /a{12000}b/\nC: /[a]/',
    "look-ahead": 'start: "b"+\n%ignore /(?:ab?){1,200}(?=c)/\n%ignore "a"',
    "look-behind": "start: A+\nA: /(?<=a[ab]{20})c|[ab]/",
}

COMPILE = """
import resource, sys
import pdacon
vocabulary = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
grammar = pdacon.Grammar.from_lark(sys.stdin.read())
loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for work in (lambda: pdacon.compile(grammar, vocabulary), lambda: pdacon.check(grammar)):
    try:
        work()
    except pdacon.LimitExceededError as error:
        print(error.what)
print(loaded - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - loaded)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit elsewhere")
@pytest.mark.parametrize("name", LARGE)
def test_default_limits_bound_the_memory_of_a_process(name: str) -> None:
    """Each of these would take gigabytes. With a sanitizer allocations take more, and RSS says nothing."""
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the address sanitizer has memory of its own")
    run = subprocess.run(
        [sys.executable, "-P", "-c", COMPILE],
        input=LARGE[name],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    *limits, sizes = run.stdout.splitlines()
    assert set(limits) <= {"bytes", "states"}
    assert int(sizes.split()[1]) < 800 * 1024  # of 1024 bytes each


@pytest.mark.parametrize(
    ("rules", "most"),
    [
        (LARGE["relations of the parse tables"], 64),
        ("start: A\nA: /(?:a|b)*a(?:a|b){12}/", 16),
        ('start: A rest | B\nrest: C+\nA: "a"\nB: /a{1500}b/\nC: /[a]/', 64),
        ('start: item*\nitem: "a" item "b" | "(" item ")" | "c"\n%ignore " "', 1),
    ],
)
def test_what_compiles_within_a_limit_compiles_within_a_larger_one(rules: str, most: int) -> None:
    """From too little on: an error by name each time, and then a constraint that works."""
    grammar = Grammar.from_lark(rules)
    sizes = [1 << power for power in range(8, 31, 2)]
    done = [compiles(grammar, size) for size in sizes]
    assert all(first <= second for first, second in pairwise(done))
    assert not done[0]
    assert done[sizes.index(next(size for size in sizes if size >= most * MIB))]


def compiles(grammar: Grammar, size: int) -> bool:
    """Whether it does so within a limit; if not, the error is right."""
    try:
        constraint = pdacon.compile(grammar, BYTES, limits=Limits(bytes=size))
    except LimitExceededError as error:
        return (error.what, error.limit, error.given > size) != ("bytes", size, True)
    matcher = constraint.matcher()
    return matcher.accept_bytes(matcher.shortest_completion()) and matcher.is_accepting()


@pytest.mark.slow
def test_a_limit_in_one_thread_is_none_in_another() -> None:
    """The allocator counts for the thread at work."""
    rules = Grammar.from_lark('start: A rest | B\nrest: C+\nA: "a"\nB: /a{1500}b/\nC: /[a]/')
    outcomes: list[tuple[int, bool]] = []

    def work(size: int) -> None:
        outcomes.extend((size, compiles(rules, size)) for _ in range(5))

    threads = [threading.Thread(target=work, args=(size,)) for size in (MIB, 1 << 29, 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(outcomes) == {(MIB, False), (1 << 29, True), (0, True)}


@pytest.mark.slow
def test_what_callers_get_does_not_count_for_ever() -> None:
    """A constraint can be saved and asked as often as one likes: what it hands out is not its own any more."""
    letters = " | ".join(f'"{letter}"' for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    grammar = pdacon.Grammar.from_lark(f"start: ({letters})+")
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes(), limits=pdacon.Limits(bytes=1 << 20))
    assert 200 * len(constraint.to_bytes()) > 1 << 20
    for _ in range(200):
        constraint.to_bytes()
    matcher = constraint.matcher()
    for _ in range(800):
        matcher.explain("a")
    assert matcher.accept("abc")
    assert len(matcher.allowed_tokens()) == 53
