"""Every public entry on grammars at limits of size: an answer, or an error of pdacon's own; never one from within.

An entry that is new has to be listed here, with what it is given.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import lark
import numpy as np
import pytest

import pdacon
from pdacon.grammar import GrammarData

BYTES = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
DOUBLING = "start: r0\n" + "".join(f"r{i}: r{i + 1} r{i + 1}\n" for i in range(40)) + 'r40: "a"\n'
NESTED = 'start: "(" start ")" | "a"'


def words(count: int) -> list[str]:
    choose = random.Random(1)
    return ["".join(choose.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(12)) for _ in range(count)]


def literals(count: int) -> str:
    return (
        "start: ("
        + " | ".join(f'"{word[:3]}"' for word in sorted(set(words(count))))
        + ' | NAME)+\nNAME: /[a-z]+/\n%ignore " "\n'
    )


GRAMMARS: dict[str, Callable[[], pdacon.Grammar]] = {
    "more than 2**20 transitions of 2**15 lexer states": lambda: pdacon.Grammar.from_choices(words(4500)),
    "more lexer states than the limit": lambda: pdacon.Grammar.from_lark("start: /(a|b)*a(a|b){40}/"),
    "more than 2**8 terminals": lambda: pdacon.Grammar.from_lark(literals(260)),
    "a sentence of 2**40 bytes": lambda: pdacon.Grammar.from_lark(DOUBLING),
    "no sentence": lambda: pdacon.Grammar.from_lark('start: "a" start'),
}
LIMITS = {
    "states": pdacon.Limits(states=20),
    "seconds": pdacon.Limits(seconds=1e-9),
    "bytes": pdacon.Limits(bytes=2000),
    "depth": pdacon.Limits(depth=2),
    "columns": pdacon.Limits(columns=1),
}

OF_A_GRAMMAR: dict[str, Callable[[pdacon.Grammar], Any]] = {
    "accepts": lambda g: (g.accepts("aaa"), g.accepts(b"\xff")),
    "data": lambda g: g.data.fingerprint,
    "compose": lambda g: pdacon.Grammar.compose('start: "<" inner ">"', inner=g),
    "describe": lambda g: g.describe(),
    "draw": lambda g: g.draw(),
    "escaped": lambda g: g.escaped("json").accepts("a"),
    "explain": lambda g: (g.explain("aaa"), g.explain("!")),
    "fingerprint": lambda g: g.fingerprint,
    "lark_options": lambda g: g.lark_options,
    "sample": lambda g: g.sample(2),
    "to_lark": lambda g: g.to_lark(),
    "unenforced": lambda g: g.unenforced,
    "unreachable": lambda g: g.unreachable(lower_case()),
    "write": lambda g: g.write("aaa"),
}
"""Methods and properties; the rest of a Grammar is its data and its ways in."""
OF_ITS_DATA: dict[str, Callable[[GrammarData], Any]] = {
    "border_pieces": lambda data: data.border_pieces,
    "describe_item": lambda data: data.describe_item(0, 0),
    "describe_name": lambda data: data.describe_name("start"),
    "describe_production": lambda data: data.describe_production(0),
    "describe_symbol": lambda data: data.describe_symbol(0),
    "end": lambda data: data.end,
    "fingerprint": lambda data: data.fingerprint,
    "flat_productions": lambda data: data.flat_productions,
    "ignored_outside": lambda data: data.ignored_outside,
    "names_in_imported_files": lambda data: data.names_in_imported_files,
    "symbol_name": lambda data: data.symbol_name(0),
}


def lower_case() -> Any:
    """A tokenizer that changes texts."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    return tokenizer


WAYS_IN = {"of_flat", "deferred", "builtin", "builtins", "yaml"}
OF_A_CONSTRAINT: dict[str, Callable[[pdacon.Constraint], Any]] = {
    "accepts": lambda c: c.accepts("aaa"),
    "builtin_name": lambda c: c.builtin_name,
    "from_bytes": lambda c: pdacon.Constraint.from_bytes(c.to_bytes()).matcher().allowed_mask(),
    "grammar": lambda c: c.grammar,
    "is_canonical": lambda c: c.is_canonical,
    "mask_table": lambda c: c.mask_table(),
    "matcher": lambda c: c.matcher(budget=pdacon.Budget(tokens=100)),
    "may_strip_leading_space": lambda c: c.may_strip_leading_space,
    "nbytes": lambda c: c.nbytes,
    "new_bitmask": lambda c: c.new_bitmask(2),
    "parse": lambda c: c.parse("aaa"),
    "partial": lambda c: c.partial(),
    "reader": lambda c: c.reader(),
    "report": lambda c: OF_A_REPORT["render"](c.report),
    "statistics": lambda c: c.statistics(),
    "to_bytes": lambda c: c.to_bytes(),
    "vocabulary": lambda c: c.vocabulary,
}
FILES = {"load", "save"}  # from_bytes and to_bytes with a file
OF_A_MATCHER: dict[str, Callable[[pdacon.Matcher], Any]] = {
    "accept": lambda m: m.accept("a"),
    "accept_bytes": lambda m: m.accept_bytes(b"aa"),
    "accept_token": lambda m: m.accept_token(ord("a")),
    "allowed_mask": lambda m: m.allowed_mask(),
    "allowed_tokens": lambda m: m.allowed_tokens(),
    "bytes_left": lambda m: m.bytes_left,
    "completion": lambda m: m.completion(),
    "explain": lambda m: (m.explain(ord("a")), m.explain(256), m.explain("!")),
    "fill_bitmask": lambda m: m.fill_bitmask(np.zeros((1, 9), np.int32)),
    "fill_bitmasks": lambda m: pdacon.fill_bitmasks([m, m.fork()], np.zeros((2, 9), np.int32)),
    "forced_bytes": lambda m: m.forced_bytes(),
    "forced_tokens": lambda m: m.forced_tokens(),
    "fork": lambda m: m.fork(),
    "has_exact_budgets": lambda m: m.has_exact_budgets,
    "is_accepting": lambda m: m.is_accepting(),
    "is_allowed": lambda m: m.is_allowed(ord("a")),
    "is_terminated": lambda m: m.is_terminated(),
    "keep_within": lambda m: [m.keep_within(pdacon.Budget(**{unit: 1 << 40})) for unit in ("bytes", "tokens")],
    "least_bytes": lambda m: m.least_bytes(),
    "least_tokens": lambda m: m.least_tokens(),
    "mask_id": lambda m: m.mask_id(),
    "mask_ids": lambda m: pdacon.matching.mask_ids([m]),
    "reset": lambda m: m.reset(),
    "rollback": lambda m: m.rollback(1),
    "shortest_completion": lambda m: m.shortest_completion(),
    "text": lambda m: m.text,
    "tokens_left": lambda m: m.tokens_left,
    "validate_tokens": lambda m: m.validate_tokens([97, 97, 256]),
}
OF_A_REPORT: dict[str, Callable[[pdacon.DeterminismReport], Any]] = {
    "at_least": lambda r: r.at_least("note"),
    "draw": lambda r: r.draw(1),
    "excerpt": lambda r: r.excerpt(),
    "ok": lambda r: r.ok,
    "render": lambda r: r.render(sizes=True),
    "summary": lambda r: r.summary(),
    "to_dict": lambda r: r.to_dict(),
}
OTHERS: dict[str, type[Exception] | tuple[type[Exception], ...]] = {
    "describe": TypeError,
    "write": (TypeError, ValueError),  # the grammar knows no values, or not this one
    "parse": (TypeError, ValueError),
    "partial": TypeError,  # the grammar has no values
    "reader": TypeError,  # the grammar has no answers
    "matcher": ValueError,  # the budget is less than the shortest sentence
    "keep_within": ValueError,
    "draw": (ValueError, LookupError),  # there is no such finding
    "compose": ValueError,
}
"""What else is documented to be raised."""


def public(kind: type) -> set[str]:
    fields = set(getattr(kind, "__dataclass_fields__", ()))
    return {name for name in dir(kind) if not name.startswith(("_", "from_"))} - fields


def test_every_entry_is_asked() -> None:
    assert public(pdacon.Grammar) - WAYS_IN == set(OF_A_GRAMMAR)
    assert public(GrammarData) - WAYS_IN == set(OF_ITS_DATA)
    assert public(pdacon.Constraint) - FILES == set(OF_A_CONSTRAINT) - {"from_bytes"}
    assert public(pdacon.Matcher) == set(OF_A_MATCHER) - {"fill_bitmasks", "mask_ids"}
    assert public(pdacon.DeterminismReport) == set(OF_A_REPORT)


def ask(entries: dict[str, Callable[[Any], Any]], make: Callable[[], Any], tally: Callable[..., None]) -> None:
    """Ask a new object each time, since what one entry has made another may only look up."""
    for name, entry in entries.items():
        given = make()
        documented = OTHERS.get(name, ())
        try:
            entry(given)
            tally(answered=1)
        except pdacon.PdaconError:
            tally(refused=1)
        except documented:
            tally(other=1)


@cache
def grammar(name: str) -> pdacon.Grammar:
    return GRAMMARS[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAMMARS)
def test_questions_to_a_grammar(name: str, tally) -> None:
    ask(OF_A_GRAMMAR, lambda: grammar(name), tally)
    ask(OF_ITS_DATA, lambda: grammar(name).data, tally)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAMMARS)
def test_constraints_and_matchers(name: str, tally) -> None:
    try:
        constraint = pdacon.compile(grammar(name), BYTES)
    except pdacon.PdaconError as error:
        report = getattr(error, "report", None)
        assert report is None or report.render()
        return
    ask(OF_A_CONSTRAINT, lambda: constraint, tally)
    ask(OF_A_MATCHER, constraint.matcher, tally)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAMMARS)
def test_reports(name: str, tally) -> None:
    try:
        report = pdacon.check(grammar(name))
    except pdacon.LimitExceededError:  # the lexer has more states than are allowed
        tally(not_checked=1)
        return
    ask(OF_A_REPORT, lambda: report, tally)


@pytest.mark.parametrize("what", LIMITS)
def test_limits_that_are_met(what: str, tally) -> None:
    for source in (NESTED, DOUBLING):
        try:
            constraint = pdacon.compile(source, BYTES, limits=LIMITS[what])
        except pdacon.LimitExceededError:
            tally(not_compiled=1)
            continue
        ask(OF_A_CONSTRAINT, lambda: constraint, tally)  # noqa: B023
        ask(OF_A_MATCHER, constraint.matcher, tally)
        matcher = constraint.matcher()
        try:
            matcher.accept_bytes(b"(" * 50)
        except pdacon.LimitExceededError:
            tally(too_deep=1)


@pytest.mark.slow
def test_a_grammar_of_many_contexts_is_checked() -> None:
    """Lark's own grammar of Python, without what makes its indentation: its lexer's table is large, too."""
    source = (Path(lark.__file__).parent / "grammars" / "python.lark").read_text(encoding="utf-8")
    report = pdacon.check(pdacon.Grammar.from_lark(source, start="file_input"))
    assert not report.ok
    assert report.render()
