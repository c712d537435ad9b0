"""Explaining a long text costs what accepting it costs, and what is shown: no more of it is read in plain Python."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator

import lark
import pytest

import pdacon
from pdacon.drawing import stack_after
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, LexemeReader, Machine

VOCABULARY = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])
RECORDS = [{"id": n, "name": "é" * (n % 20), "tags": ["a", "b"], "nothing": None} for n in range(2_000)]
LONG = json.dumps(RECORDS, ensure_ascii=False).encode()
MIDDLE = LONG.index(b'{"id": 1000')
FEW_STEPS = 1_000


@pytest.fixture(scope="module")
def constraint() -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("json"), VOCABULARY)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Counts the bytes that configurations read."""
    counts: Counter[str] = Counter()
    step = Configuration.step

    def counted(self: Configuration, byte: int) -> Configuration | None:
        counts["steps"] += 1
        return step(self, byte)

    monkeypatch.setattr(Configuration, "step", counted)
    yield counts
    assert counts["steps"] < FEW_STEPS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LONG, "it is a whole text"),
        (LONG[:-1], "some sentence goes on with it"),
        (LONG[: MIDDLE - 2] + b"}" + LONG[MIDDLE:], 'the parser does not take "}" here; expected "," or "]"'),
        (LONG[:MIDDLE] + b"?" + LONG[MIDDLE:], '"?" begins nothing that can come here; expected '),
        (LONG[:-1] + b"}", 'the parser does not take "}" here; expected "," or "]"'),
        (b'["' + "é\\n a".encode() * 20_000, "some sentence goes on with it"),
        (b'["' + "é\\n a".encode() * 20_000 + b"\x01", '"\\x01" cannot continue STRING '),
        (b" " * 100_000 + b"1" * 100_000, "it is a whole text"),
        (b"1" * 100_000 + b"x", '"x" cannot continue NUMBER '),
        (b"[" * 100_000, "some sentence goes on with it"),
        (b"[" * 100_000 + b"}", '"}" begins nothing that can come here; expected '),
        (b"[" * 100_000 + b"1" + b"]" * 99_000 + b"}", 'the parser does not take "}" here; expected '),
        (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, "it is a whole text"),
    ],
)
def test_reasons(constraint: pdacon.Constraint, steps: Counter[str], text: bytes, reason: str) -> None:
    explanation = constraint.matcher().explain(text)
    assert explanation.reason.startswith(reason)
    assert len(explanation.cuts) <= 11
    assert len(explanation.render()) < 5_000


@pytest.mark.slow
def test_lexemes_are_counted_and_shown_on_demand(constraint: pdacon.Constraint) -> None:
    parser = lark.Lark(constraint.grammar.data.source, parser="lalr", keep_all_tokens=True)
    tokens = [str(token) for token in parser.lex(LONG.decode())]
    matcher = constraint.matcher()
    last, every = matcher.explain(LONG), matcher.explain(LONG, lexemes=None)
    assert [cut.text.decode() for cut in every.cuts if cut.fate == "shifted"] == tokens
    assert b"".join(cut.text for cut in every.cuts) == LONG
    assert (every.earlier_cuts, last.earlier_cuts) == (0, len(every.cuts) - 10)
    assert last.cuts == every.cuts[-10:]
    assert f"({last.earlier_cuts:,} more)" in last.render()
    assert matcher.explain(LONG, lexemes=0).cuts == ()
    assert LONG.decode().replace('"', "") in every.render(uncut=True).replace("\\", "").replace('"', "")
    assert len(last.render()) < 3_000
    with pytest.raises(ValueError, match="at least 0"):
        matcher.explain(LONG, lexemes=-1)


def test_only_what_the_question_makes_certain_is_shown(constraint: pdacon.Constraint, steps: Counter[str]) -> None:
    matcher = constraint.matcher()
    assert matcher.accept_bytes(LONG[: MIDDLE - 1])
    explanation = matcher.explain(b" {")
    assert [str(cut) for cut in explanation.cuts] == ['WS " " (ignored)', '"{"']
    assert explanation.earlier_cuts == 0
    assert (explanation.line, explanation.column) == (1, len(LONG[: MIDDLE + 1].decode()) + 1)


def in_a_small_stack(work: Callable[[], None]) -> None:
    failed: list[BaseException] = []

    def caught() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    before = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=caught)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if failed:
        raise failed[0]


def test_deep_texts_are_no_deep_recursion(constraint: pdacon.Constraint) -> None:
    def work() -> None:
        for text in (b"[" * 100_000, b'[{"a": ' * 50_000 + b"?"):
            explanation = constraint.matcher().explain(text)
            assert len(explanation.stack) >= 100_000
            assert len(explanation.within) <= 8

    in_a_small_stack(work)


DOUBTS = "start: x+\nx: A | B\nA: /a/\nB: /a{400}b/\n"


@pytest.mark.slow
def test_many_open_matches_are_no_deep_recursion() -> None:
    """Behind each A that may be one there is another one; what is listed has all of them."""
    constraint = pdacon.compile(pdacon.Grammar.from_lark(DOUBTS), VOCABULARY)
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b"a" * 399)

    def work() -> None:
        explanation = matcher.explain(b"a")
        assert explanation.allowed
        assert explanation.expected == ("B", "A")
        assert "B" in explanation.unfinished
        assert not matcher.explain(b"c").allowed

    in_a_small_stack(work)


@pytest.mark.slow
def test_python(steps: Counter[str]) -> None:
    constraint = pdacon.compile(pdacon.Grammar.builtin("python"), VOCABULARY)
    blocks = b"".join(b" " * depth + b"if x:\n" for depth in range(300))
    many = b"def f(x):\n    return [x, (x,\n  1)]\n\n" * 2_000
    for text, place, reason in (
        (many + b"x = " + b"(" * 2_000, (8_001, 2_005), "some sentence goes on with it"),
        (many + b"x\nelse\n", (8_002, 1), '"else" is ELSE, which the parser does not take here'),
        (many[:-1] + b"   y", (8_000, 1), "this line is indented by 3 columns"),
        (blocks + b"x\n", (301, 1), "this line is indented by 0 columns; a block has to begin here"),
    ):
        explanation = constraint.matcher().explain(text)
        assert explanation.reason.startswith(reason), explanation
        assert explanation.line == place[0]


@pytest.mark.parametrize("text", [LONG, LONG[:MIDDLE], b'["' + b"a" * 100_000])
def test_the_stack_that_is_drawn(text: bytes, steps: Counter[str]) -> None:
    grammar = pdacon.Grammar.builtin("json")
    stack = stack_after(grammar.data, build_tables(grammar.data), text)
    assert 1 <= len(stack) < 10


@pytest.mark.slow
def test_a_reader_is_a_configuration_that_remembers() -> None:
    grammar = pdacon.Grammar.builtin("json")
    initial = Configuration.initial(Machine(grammar.data, build_tables(grammar.data)))
    text = LONG[:3_000]
    reader = LexemeReader()
    for _ in range(2):
        for cut in (0, 1, 17, 1_000):
            whole, before = initial.read(text), reader.read(initial, text[:cut])
            assert whole is not None
            assert before is not None
            read = reader.read(before, text[cut:])
            assert read is not None
            assert (read, read.length) == (whole, whole.length)
    assert reader.read(initial, text + b"?") is None
    assert not reader.forgot


@pytest.mark.slow
def test_explaining_where_much_may_have_to_be_lexed_again() -> None:
    """Each of 6,000 bytes that go on can be followed by one that sends all of them back: that is not copied each time.

    With copies the time grows with the third power of the number, and this would take a minute.
    """
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: A+ | B\nA: "a"\nB: /a{6000}b/'), VOCABULARY)
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b"a")
    explanation = matcher.explain(b"b")
    assert (explanation.allowed, explanation.may_end) == (False, True)
    assert explanation.expected == ("A",)
    assert explanation.unfinished == ("B",)
    assert matcher.shortest_completion() == b""
