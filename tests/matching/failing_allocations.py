"""Each allocation of a first answer fails once; then the constraint answers as before. For test_threads_and_failures.

Prints how many have failed.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

import numpy as np

import pdacon

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


def failures(library: ctypes.PyDLL, make: Callable[[], pdacon.Constraint], texts: list[bytes]) -> int:
    def answers(constraint: pdacon.Constraint) -> list[list[bytes]]:
        return [[ask(after(constraint, text)) for ask in QUESTIONS] for text in texts]

    expected, failed = answers(make()), 0
    for ask in QUESTIONS:
        for text in texts:
            matcher = after(make(), text)
            library.fail_at(-1)
            ask(matcher)
            total = library.allocations()
            for number in [*range(min(total, 40)), *range(40, total, max(1, total // 60))]:
                constraint = make()
                matcher = after(constraint, text)
                library.fail_at(number)
                try:
                    ask(matcher)
                except MemoryError:
                    failed += 1
                finally:
                    library.fail_at(-1)
                assert answers(constraint) == expected, (ask, text, number)
    return failed


def main() -> None:
    library = ctypes.PyDLL(sys.argv[1])
    library.fail_at.argtypes = [ctypes.c_long]
    library.allocations.restype = ctypes.c_long
    vocabulary = pdacon.Vocabulary.from_tokens(TOKENS, eos_ids=[len(TOKENS) - 1])
    nested = pdacon.Grammar.from_lark(NESTED)
    saved = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary).to_bytes()
    count = failures(library, lambda: pdacon.compile(nested, vocabulary), [b"", b"((a", b"(("])
    count += failures(library, lambda: pdacon.Constraint.from_bytes(saved), [b"", b'{"a": [1, 2', b'{"a', b"[[["])
    print(count)


if __name__ == "__main__":
    main()
