"""Shortest completions beside a search over bytes that knows nothing of costs.

`Configuration` reads byte by byte, breadth first, the least byte first, each configuration once: the first one that may
end is behind the shortest completion, and of those the least.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from random import Random

import pytest
from support.lowering import is_exact, load
from support.random_grammars import loadable_grammars
from support.small_grammars import SmallGrammar

import pdacon
from pdacon import EmptyLanguageError, Grammar, LimitExceededError, NondeterministicGrammarError
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

SEARCHED = 600
"""Configurations that a search may look at."""

TEXTS = 12
"""Texts of each grammar, each a random walk."""


def searched(start: Configuration, letters: list[bytes]) -> bytes | None:
    """The completion; None if it is far away."""
    seen = {start}
    pending = deque([(b"", start)])
    while pending:
        text, at = pending.popleft()
        if at.ends():
            return text
        for letter in letters:
            after = at.read(letter)
            if after is not None and after not in seen and len(seen) < SEARCHED:
                seen.add(after)
                pending.append((text + letter, after))
    return None


def compare(grammar: Grammar, letters: list[bytes], random: Random) -> Counter[str]:
    """Completions of texts that are found by chance."""
    vocabulary = pdacon.Vocabulary.from_tokens(letters)
    try:
        constraint = pdacon.compile(grammar, vocabulary, limits=pdacon.Limits(states=20_000))
    except (EmptyLanguageError, LimitExceededError, NondeterministicGrammarError) as error:
        return Counter({f"refused_with_{type(error).__name__}": 1})
    if not is_exact(grammar):
        return Counter(grammars_with_sound_masks_only=1)
    initial = Configuration.initial(Machine(grammar.data, build_tables(grammar.data)), 0)
    counts: Counter[str] = Counter()
    for _ in range(TEXTS):
        matcher, text = constraint.matcher(), b""
        while True:
            at = initial.read(text)
            assert at is not None
            expected = searched(at, letters)
            if expected is None:
                counts["too_far_to_search"] += 1
            else:
                counts["completions"] += 1
                assert (matcher.shortest_completion(), matcher._completion_length()) == (expected, len(expected)), text
            following = [letter for letter in letters if matcher.fork().accept_bytes(letter)]
            if not following or len(text) == 8 or random.random() < 0.2:
                break
            letter = random.choice(following)
            assert matcher.accept_bytes(letter)
            text += letter
    return counts


def bytes_of(grammar: SmallGrammar) -> list[bytes]:
    return sorted({bytes([byte]) for letter in grammar.letters for byte in letter})


@pytest.mark.slow
def test_completions_of_random_grammars(scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    counts: Counter[str] = Counter()
    for grammar, _ in loadable_grammars(scaled(30), 7_000_000):
        counts += compare(load(grammar), bytes_of(grammar), Random(grammar.name))
    tally(**counts)
    assert counts["completions"] > counts["too_far_to_search"]


GRAMMARS = {
    "words need blanks between them": """
        start: "if" name ("else" name)? "fi"
        name: /[ab]+/ | "if" start "fi"
        %ignore " "
    """,
    "what comes first may be empty": """
        start: r "a" start "b" | r
        r: "(" start ")" |
    """,
    "rules that begin with themselves": """
        start: start "+" term | term
        term: term "*" atom | atom
        atom: "a" | "(" start ")" | "-" atom
    """,
    "a lexeme swallows what has to follow": """
        start: A "b" | A "a" "a" "b" | "(" start ")"
        A: /a+/
    """,
    "the shift of a conflict": """
        start: "if" "a" start | "if" "a" start "else" start | "b"
    """,
    "the least number of words is not the shortest text": """
        start: "begin" (long | short) "end"
        long: "aaaaaaaa"
        short: "a" " " "b" " " "a"
    """,
    "matches that wait for more": """
        start: (NUMBER | DOTS | "(" start ")")+
        NUMBER: /a+(\\.a+)?/
        DOTS: ".."
    """,
}


@pytest.mark.parametrize("text", GRAMMARS.values(), ids=GRAMMARS.keys())
def test_completions_of_grammars_of_their_own_kind(text: str, tally: Callable[..., None]) -> None:
    grammar = Grammar.from_lark(text, conflicts="shift")
    letters = sorted({bytes([byte]) for byte in b"abdefginls ()+-*." if bytes([byte]).decode() in text})
    tally(**compare(grammar, letters, Random(text)))


@pytest.mark.parametrize("depth", [1, 2, 100, 2000])
def test_what_each_block_needs_adds_up(depth: int) -> None:
    """Each level costs a blank that the grammar does not ask for, so the least yields are far too low."""
    grammar = Grammar.from_lark('start: "do" (NAME | start) "od"\nNAME: /[a-z]+/\n%ignore " "', lexer="basic")
    letters = [bytes([byte]) for byte in b" abdo"]
    matcher = pdacon.compile(grammar, pdacon.Vocabulary.from_tokens(letters)).matcher()
    assert matcher.accept_bytes(b"do " * depth)
    assert matcher._completion_length() == len(b"a" + b" od" * depth)
    assert matcher.shortest_completion() == b"a" + b" od" * depth


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start", "level"),
    [("sql", b"SELECT ", b"CASE WHEN "), ("python_expression", b"", b"(a if "), ("sql_select", b"SELECT ", b"(")],
)
def test_levels_of_a_large_grammar_add_up(name: str, start: bytes, level: bytes) -> None:
    """As above, where all that can be pending on a level is far too much to be looked into."""
    constraint = pdacon.compile(Grammar.builtin(name), pdacon.Vocabulary.from_tokens([bytes([b]) for b in range(256)]))

    def completed(depth: int) -> bytes:
        matcher = constraint.matcher()
        assert matcher.accept_bytes(start + level * depth)
        completion = matcher.shortest_completion()
        assert len(completion) == matcher._completion_length()
        assert matcher.accept_bytes(completion)
        assert matcher.is_accepting()
        return completion

    few, more = completed(2), completed(3)
    assert len(completed(400)) == len(few) + 398 * (len(more) - len(few))


@pytest.mark.slow
def test_a_detour_looks_no_further_than_it_has_to() -> None:
    """Every byte of a detour more makes a summary of Python several times as large; here four more were too many."""
    constraint = pdacon.compile(Grammar.builtin("python"), pdacon.Vocabulary.bytes())
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b"[x for f'{a if")
    completion = matcher.shortest_completion()
    assert len(completion) == len('""else\t0}\'.A\tin\t0]')
    assert matcher.accept_bytes(completion)
    assert matcher.is_accepting()
