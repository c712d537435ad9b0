"""Each allocation of a first answer fails once; the answer is right or a MemoryError, and all later ones are right.

For test_threads_and_failures. Prints how many allocations have failed.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress

import numpy as np

import pdacon
from pdacon._native import _core

TOKENS = [*[bytes([byte]) for byte in range(256)], b'":', b"ab", b"\n  ", None]
NESTED = 'start: "(" start ")" | A\nA: /[a-z]+/\n%ignore " "'
Answer = tuple[bytes, bytes, bytes]


def mask(matcher: pdacon.Matcher) -> bytes:
    row = np.zeros((len(TOKENS) + 31) // 32, np.int32)
    matcher.fill_bitmask(row)
    return row.tobytes()


QUESTIONS: list[Callable[[pdacon.Matcher], bytes]] = [
    mask,
    pdacon.Matcher.forced_bytes,
    pdacon.Matcher.shortest_completion,
]


def after(constraint: pdacon.Constraint, text: bytes) -> pdacon.Matcher:
    matcher = constraint.matcher()
    assert matcher.accept_bytes(text)
    return matcher


def fail_each(library: ctypes.PyDLL, make: Callable[[], pdacon.Constraint], texts: list[bytes]) -> None:
    core = ctypes.cast(ctypes.PyDLL(_core.__file__).PyInit__core, ctypes.c_void_p)

    def answers(constraint: pdacon.Constraint) -> list[list[bytes]]:
        return [[ask(after(constraint, text)) for ask in QUESTIONS] for text in texts]

    expected = answers(make())
    for index, ask in enumerate(QUESTIONS):
        for place, text in enumerate(texts):
            matcher = after(make(), text)
            library.fail_at(-1, core)
            ask(matcher)
            total = library.allocations()
            for number in [*range(min(total, 40)), *range(40, total, max(1, total // 60))]:
                constraint = make()
                matcher = after(constraint, text)
                library.fail_at(number, core)
                with suppress(MemoryError):
                    assert ask(matcher) == expected[place][index], (ask, text, number)
                library.fail_at(-1, None)
                assert answers(constraint) == expected, (ask, text, number)


def main() -> None:
    library = ctypes.PyDLL(sys.argv[1])
    library.fail_at.argtypes = [ctypes.c_long, ctypes.c_void_p]
    library.allocations.restype = library.failures.restype = ctypes.c_long
    vocabulary = pdacon.Vocabulary.from_tokens(TOKENS, eos_ids=[len(TOKENS) - 1])
    nested = pdacon.Grammar.from_lark(NESTED)
    saved = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary).to_bytes()
    fail_each(library, lambda: pdacon.compile(nested, vocabulary), [b"", b"((a", b"(("])
    fail_each(library, lambda: pdacon.Constraint.from_bytes(saved), [b"", b'{"a": [1, 2', b'{"a', b"[[["])
    print(library.failures())


if __name__ == "__main__":
    main()
