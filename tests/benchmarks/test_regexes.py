"""Grammars of one regex, beside engines for regexes.

    pip install '.[test,bench]' xgrammar outlines-core && pytest tests/benchmarks/test_regexes.py --benchmark-enable

prints a table. *Cold* is a text read the first time with what was compiled, *warm* the second time; *accept* is of the
second time. outlines-core computes all masks when it compiles; xgrammar is given the regex by itself, the others a
grammar with it. On a machine that does other work add ``--benchmark-timer=time.thread_time``.

Without ``--benchmark-enable`` the first is tried. Nothing here asserts a time.
"""

from __future__ import annotations

import re
from typing import Any

from support.engines import REGEX_ENGINES, Work, installed
from support.real_vocabularies import coded
from support.replaying import COLUMNS, Clock, figures

REGEXES = {
    "date and time": (
        r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?Z",
        "2026-11-22T15:04:05.123456Z",
    ),
    "UUID": ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "123e4567-e89b-12d3-a456-426614174000"),
    "address of mail": (
        r"[a-zA-Z0-9._%+-]{1,64}@([a-zA-Z0-9-]{1,63}\.){1,8}[a-zA-Z]{2,63}",
        "first.last+tag@mail.department.example.org",
    ),
    "words": ("([A-Z][a-z]+ ){0,30}[a-z]+[.]", "The Quick Brown Fox Jumps Over The Lazy dog."),
    "up to 200 characters": (
        r'[^"\\]{1,200}',
        "Forty-two lines, none of them short; and some numbers: 17, 4.5 and 1e9.",
    ),
    "text": (r'([^"\\]|\\["\\bfnrt])+', r"A line\nand the next, with \"quotes\" and a backslash \\."),
}


def test_regexes(measured: bool, clock: Clock, show: Any) -> None:
    known = coded("tekken" if measured else "SentencePiece")
    engines = installed(known, REGEX_ENGINES)
    for engine in engines:  # what a vocabulary needs once is not the regex's
        engine.compile(Work.of_regex("warm-up", "[a-z]+")).session().fill()
    rows: list[list[str]] = []
    for name, (regex, text) in list(REGEXES.items())[: None if measured else 1]:
        assert re.fullmatch(regex, text)
        work, tokens = Work.of_regex(name, regex), known.encode_inside(text)
        rows += [[name, engine.name, *figures(engine, work, tokens, clock)[1]] for engine in engines]
    show(["regex", "engine", *COLUMNS], rows)
