"""Each repair that is advised, written into the grammar: it loads, ends what it is for, brings no new error, and texts
that stock Lark parses before are parsed after, but for those that the advice says are lost.

Grammars: the fixtures, and random ones of patterns that collide, cut each other short and can stand side by side.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import lark
import pytest
from support.finding_fixtures import FIXTURES
from support.told_losses import lost_texts

from pdacon import Grammar, PdaconError, check
from pdacon.determinism import Finding, repair_choices, repaired_texts, with_repair
from pdacon.determinism.lexical.repair.trials import NOT_TRIED
from pdacon.errors import CancelledError, GrammarError, LimitExceededError
from pdacon.front.report import DeterminismReport

SUMS = 'start: sum\nsum: sum "+" sum | NUMBER\nNUMBER: /[0-9]+/\n'

ATOMS = [
    *('"a"', '"ab"', '"if"', '"."', '"-"', "/[a-z]+/", "/[0-9]+/", r"/\d+/", "/a*b/", '/"[^"]*"/', r"/[a-z]+\.?/"),
    *(r"/\w+/", "/a|ab/", "/-?[0-9]+/", r"/#[^\n]*/", r"/[0-9]+(\.[0-9]+)?/", "/(a|b)+/", "/.+/", "/[^;]+/", r"/\s+/"),
    *("/(ab)*c/", r'/"(?:[^"\\]|\\.)*"/', '" "'),
]
IGNORED = [
    *(
        '%ignore " "',
        r"%ignore /\s+/",
        r"%ignore /[ \t]+/",
        "WS: /[ \\n]+/\n%ignore WS",
        "%import common.WS\n%ignore WS",
    ),
    'COMMENT: /#[^\\n]*/\n%ignore COMMENT\n%ignore " "',
    "%import common.WS_INLINE\n%import common.NEWLINE\n%ignore WS_INLINE\n%ignore NEWLINE",
    *("", ""),
]
LITERAL_BLANKS = {
    "ignored alike": 'start: "let" " " NAME "=" NAME\nNAME: /[a-z]+/\n%ignore /\\s+/\n',
    "in a choice": 'start: (NAME | " ")+ ";"\nNAME: /[a-z]+/\n%ignore " "\n%ignore "\\n"\n',
    "beside an ignored one": 'start: (x ";")+\nx: D | A\nA: " "\nD.1: /[^;]+/\n%ignore " "\n',
    "as a pattern": 'start: NAME / / NAME\nNAME: /[a-z]+/\n%ignore " "\n',
}
MEANT = "Texts without that word are refused then."
"""What the advice to close a rule says: that it is another language is what it is for."""


def random_text(seed: int) -> str:
    random = Random(seed)
    names = ["A", "B", "C", "D"][: random.randint(2, 4)]
    terminals = [f"{name}{random.choice(['', '', '', '.1'])}: {random.choice(ATOMS)}" for name in names]
    symbols = [*names, "x", "x", "y", random.choice(ATOMS), random.choice(ATOMS)]

    def alternative(x: str, y: str) -> str:
        words = [
            random.choice(symbols) + random.choice(["", "", "", "?", "*", "+"]) for _ in range(random.randint(1, 3))
        ]
        return " ".join(words).replace("x", x).replace("y", y)

    some = [alternative(*random.choice([("B", "A"), ("B", "A"), ("x", "y")])) for _ in range(random.randint(1, 3))]
    start = random.choice(['(x ";")+', "x+", "x", "x y"])
    rules = [f"start: {start}", f"x: {' | '.join(some)}", f"y: {alternative('A', 'y')} | {alternative('A', 'y')}"]
    return "\n".join([*rules, *terminals, random.choice(IGNORED), ""])


def stock(text: str) -> lark.Lark | None:
    try:
        return lark.Lark(text, parser="lalr")
    except (lark.exceptions.LarkError, re.error):
        return None


def parses(parser: lark.Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except lark.exceptions.LarkError:
        return False
    return True


def sentences(text: str, parser: lark.Lark) -> list[str]:
    """Random ones, and others that come of them by a blank more or less, or a piece twice."""
    try:
        grammar = Grammar.from_lark(text, conflicts="shift", lookahead="commit")
        drawn = [*grammar.sample(12, seed=1, size=8), *grammar.sample(8, seed=2, size=25)]
    except PdaconError:
        return []
    random = Random(0)
    mutated = []
    for one in drawn:
        at = random.randint(0, len(one))
        mutated += [one.replace(" ", ""), f"{one[:at]} {one[at:]}", one[:at] + one[max(0, at - 2) :]]
    return [one for one in dict.fromkeys([*drawn, *mutated]) if parses(parser, one)]


def errors(report: DeterminismReport) -> Counter[str]:
    """How many of each kind: a terminal without a name has another one in another grammar."""
    return Counter(finding.id for finding in report.findings if finding.level == "error")


def alike(report: DeterminismReport, finding: Finding) -> int:
    return sum(one.id == finding.id for one in report.findings)


def examine(text: str) -> Iterator[str]:
    """What is wrong with the repairs of a grammar."""
    try:
        report = check(Grammar.from_lark(text))
    except PdaconError:
        return
    before = stock(text)
    texts = None
    for finding in report.findings:
        for lines in repair_choices(finding):
            where = f"{finding.id} {lines} of\n{text}"
            repaired = with_repair(text, finding, lines)
            after = stock(repaired)
            if before is None or not repaired:
                continue  # Lark refuses the grammar for another conflict, too, or a rule is written in another way
            if after is None:
                yield f"does not load: {where}"
                continue
            then = check(Grammar.from_lark(repaired))
            if errors(then) - errors(report):
                yield f"new errors {errors(then) - errors(report)}: {where}"
            if alike(then, finding) >= alike(report, finding) and not is_part_of_the_way(finding):
                yield f"not ended: {where}"
            texts = sentences(text, before) if texts is None else texts
            told = lost_texts(finding)
            if len(repair_choices(finding)) == 1 and any(not parses(before, one) or parses(after, one) for one in told):
                yield f"not lost: {told} {where}"
            missing = [one for one in texts if not parses(after, one)]
            if missing and not told and not any(said in (finding.repair or "") for said in (MEANT, NOT_TRIED)):
                yield f"lost {min(missing, key=len)!r}: {where}"


def is_part_of_the_way(finding: Finding) -> bool:
    """Whether the advice says that others like this are left."""
    return "and so for each" in (finding.repair or "") or "and so on" in (finding.repair or "")


@pytest.mark.parametrize("folder", [f for f in FIXTURES if not (f / "options.json").exists()], ids=lambda f: f.name)
def test_repairs_of_fixtures(folder: Path) -> None:
    assert not list(examine((folder / "grammar.lark").read_text(encoding="utf-8")))


@pytest.mark.parametrize("text", LITERAL_BLANKS.values(), ids=list(LITERAL_BLANKS))
def test_repairs_beside_a_literal_blank(text: str) -> None:
    assert not list(examine(text))


@pytest.mark.slow
def test_repairs_of_random_grammars(scaled: Callable[[int], int]) -> None:
    assert not [wrong for seed in range(scaled(12)) for wrong in examine(random_text(seed))]


@pytest.mark.parametrize(
    "error", [GrammarError("a"), LimitExceededError("states", 2, 1), ValueError("b"), TypeError("c")]
)
def test_a_repair_that_cannot_be_read_is_left_out(error: Exception) -> None:
    finding, read = _unreadable(error)
    assert repaired_texts(SUMS, finding, lambda text: text) != []
    assert repaired_texts(SUMS, finding, read) == []


def test_reading_repairs_can_be_cancelled() -> None:
    finding, read = _unreadable(CancelledError("stopped"))
    with pytest.raises(CancelledError):
        repaired_texts(SUMS, finding, read)


def _unreadable(error: Exception) -> tuple[Finding, Callable[[str], object]]:
    """A finding with a repair, and a reader that raises an error for each text."""

    def read(text: str) -> object:
        raise error

    return check(Grammar.from_lark(SUMS)).findings[0], read
