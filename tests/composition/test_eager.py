"""`compile(eager=True)`: the masks that are computed before any text asks for them are those of a lazy constraint, and
of one that was saved and loaded.

Random walks under every grammar of tests/support meet the same masks, bit for bit, and where no situation was left out
they compute none of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from random import Random

import numpy as np
import pytest
from support.indented_grammars import INDENTED_GRAMMARS, TreeIndenter
from support.lowering import load
from support.random_grammars import loadable_grammars, random_grammar
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar

import pdacon
from pdacon import Constraint, Grammar, Limits, Vocabulary
from pdacon._native import _core
from pdacon.composition.token_pda import TRIES
from pdacon.filters import FILTERS
from pdacon.grammar.builtin import builtin_names

VARIANTS = ("python_", "sql_")  # of large grammars, so that the test is cheap
GRAMMARS = [*SMALL_GRAMMARS, *INDENTED_GRAMMARS]
COMPILED = [grammar for grammar in GRAMMARS if grammar.refused is None]


def vocabulary_of(grammar: SmallGrammar, random: Random) -> Vocabulary:
    """Each byte of the grammar's alphabet, and some texts of two to four of them; the last token ends the text."""
    letters = [*grammar.letters, *({b" ", b"\n"} - set(grammar.letters) if "postlex" in grammar.options else ())]
    pairs = [first + second for first, second in product(letters, repeat=2)]
    longer = {b"".join(random.choices(letters, k=random.randint(3, 4))) for _ in range(20)}
    texts = sorted({*letters, *random.sample(pairs, min(len(pairs), 12)), *longer})
    return Vocabulary.from_tokens([*texts, None], [len(texts)])


def row_of(matcher: pdacon.Matcher, words: int) -> np.ndarray:
    row = np.zeros(words, np.int32)
    matcher.fill_bitmask(row)
    return row


def walk(
    constraints: list[Constraint], starts: list[str], random: Random, walks: int, most_columns: int = 10**9
) -> Counter[str]:
    """Random tokens in all constraints at once; counts the masks that were equal."""
    vocabulary = constraints[0].vocabulary
    words = -(-vocabulary.size // 32)
    counts: Counter[str] = Counter()
    for _ in range(walks):
        start = random.choice(starts)
        matchers = [constraint.matcher(start) for constraint in constraints]
        for _ in range(random.randint(1, 16)):
            rows = [row_of(matcher, words) for matcher in matchers]
            assert all((row == rows[0]).all() for row in rows), matchers[0]._text()
            counts["masks"] += 1
            allowed = np.flatnonzero(np.unpackbits(rows[0].view(np.uint8), bitorder="little")).tolist()
            token = random.choice(allowed)
            if deepest_column(matchers[0]._text() + (vocabulary.tokens[token] or b"")) > most_columns:
                break
            assert all(matcher.accept_token(token) for matcher in matchers)
            if matchers[0].is_terminated():
                break
    return counts


def deepest_column(text: bytes) -> int:
    """A column beyond which no line of the text begins, whatever the newline's pattern takes; tabs have eight."""
    return max(line.count(b" ") + 8 * line.count(b"\t") for line in text.split(b"\n"))


def is_empty(constraint: Constraint, start: str) -> bool:
    try:
        constraint.matcher(start)
    except pdacon.EmptyLanguageError:
        return True
    return False


def compare(grammar: SmallGrammar, walks: int) -> Counter[str]:
    random = Random(grammar.name)
    loaded, vocabulary = load(grammar), vocabulary_of(grammar, random)
    limits = Limits(columns=3, states=100_000)
    try:
        lazy = pdacon.compile(loaded, vocabulary, limits=limits)
    except pdacon.EmptyLanguageError:
        with pytest.raises(pdacon.EmptyLanguageError):
            pdacon.compile(loaded, vocabulary, limits=limits, eager=True)
        return Counter(empty=1)
    eager = pdacon.compile(loaded, vocabulary, limits=limits, eager=True)
    starts = [start for start in grammar.starts if not is_empty(lazy, start)]
    before = [eager.statistics(start) for start in starts]
    columns = limits.columns if loaded.data.layout is not None else 10**9
    stored = Constraint.from_bytes(eager.to_bytes(), vocabulary, grammar=loaded)
    counts = walk([eager, lazy, stored], starts, random, walks, columns)
    for start, known in zip(starts, before, strict=True):
        assert stored.statistics(start)["situations_left"] == known["situations_left"]
        if known["situations_left"] == 0:
            assert eager.statistics(start)["masks_computed"] == known["masks_computed"]
            assert stored.statistics(start)["masks_computed"] == 0
            counts["complete"] += 1
        counts["starts"] += 1
        assert lazy.statistics(start)["situations_left"] == -1
        wanted = {row.tobytes() for row in lazy.mask_table(start=start)}
        if known["situations_left"] == 0:
            assert wanted <= {row.tobytes() for row in eager.mask_table(start=start)}
    return counts


@pytest.mark.parametrize("grammar", COMPILED, ids=lambda grammar: grammar.name)
def test_eager_masks_are_the_lazy_ones(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable) -> None:
    tally(**compare(grammar, scaled(8)))


def test_random_grammars(scaled: Callable[[int], int], tally: Callable) -> None:
    counts: Counter[str] = Counter()
    for grammar, _ in loadable_grammars(scaled(12), 5_000_000, random_grammar):
        counts += compare(grammar, 3)
    tally(**counts)


JSON_TOKENS = [*(bytes([byte]) for byte in range(256)), *b']] ]]]] }} }]} ": ], true'.split(), b'", "', None]
JSON = Vocabulary.from_tokens(JSON_TOKENS, [len(JSON_TOKENS) - 1])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in builtin_names() if not name.startswith(VARIANTS)])
def test_built_in_grammars(name: str, scaled: Callable[[int], int], tally: Callable) -> None:
    """As they lie in the package, read lazily, beside all masks of what is compiled from their text."""
    lazy = pdacon.compile(name, JSON)
    limits = Limits(columns=2, bytes=192 << 20)  # less than usual: from the text
    eager = pdacon.compile(name, JSON, limits=limits, eager=True)
    assert eager.statistics()["masks_computed"] > 20
    columns = 2 if Grammar.builtin(name).data.layout is not None else 10**9
    tally(**walk([eager, lazy], [*lazy._starts], Random(name), scaled(8), columns))


def test_json_is_finite() -> None:
    """No text meets a mask that is not known, however deep it nests."""
    constraint = pdacon.compile(Grammar.builtin("json"), JSON, eager=True)
    known = constraint.statistics()
    assert known["situations_left"] == 0
    matcher = constraint.matcher()
    row = np.zeros(-(-JSON.size // 32), np.int32)
    for piece in [
        b'{"a": [' * 30,
        *(b"[", b'{"', b"b\\u00", b'e9": [', b"-1.5e", b"3", b", null", b"]}], ") * 8,
        b"2",
        b"]}" * 30,
    ]:
        for byte in piece:
            matcher.fill_bitmask(row)
            assert matcher.accept_token(byte)
    assert matcher.is_accepting()
    assert constraint.statistics() == known


RIGHT_RECURSIVE = Grammar.from_lark('start: item\nitem: "x" item | "(" item ")" | "." | "[" item "]"')
TOKENS = [b"x", b"(", b")", b".", b"[", b"]", b"))", b")]", b"]]", None]
BRACKETS = Vocabulary.from_tokens(TOKENS, [len(TOKENS) - 1])


def test_what_never_ends_is_left() -> None:
    """A `)` ends any number of rules, each of which may be one of several: answers have no bound."""
    eager = pdacon.compile(RIGHT_RECURSIVE, BRACKETS, eager=True)
    lazy = pdacon.compile(RIGHT_RECURSIVE, BRACKETS)
    assert eager.statistics()["situations_left"] > 0
    random = Random(3)
    assert walk([eager, lazy], ["start"], random, 20)["masks"] > 50
    for depth in (10, 100):
        both = [constraint.matcher() for constraint in (eager, lazy)]
        text = b"".join(random.choices([b"x", b"(", b"["], k=depth)) + b"."
        assert all(matcher.accept_bytes(text) for matcher in both)
        first, second = (row_of(matcher, 1) for matcher in both)
        assert (first == second).all()


def test_what_is_alike_is_stored_once() -> None:
    """Many answers, few masks: the file has far fewer bytes than answers, and knows them all."""
    eager = pdacon.compile(RIGHT_RECURSIVE, BRACKETS, eager=True)
    data = eager.to_bytes()
    assert len(data) < eager.statistics()["masks_computed"]
    loaded = Constraint.from_bytes(data, BRACKETS)
    assert len(loaded.to_bytes()) == len(data)
    for opening in product([b"(", b"["], repeat=10):
        known, again = (constraint.matcher() for constraint in (eager, loaded))
        for byte in b"".join(opening):
            assert known.accept_token(TOKENS.index(bytes([byte])))
            assert again.accept_token(TOKENS.index(bytes([byte])))
        assert (row_of(known, 1) == row_of(again, 1)).all()
    assert loaded.statistics()["masks_computed"] == 0


OWN_RULE = SmallGrammar(
    "rules for INDENT and DEDENT",
    "a block is open where a nonterminal stands for its INDENT, and none where one stands for its DEDENT",
    'start: x+\nx: "a" _NL [indent x+ dedent] _NL?\nindent: _INDENT\ndedent: _DEDENT\n_NL: /\\n+ */\n'
    "%declare _INDENT _DEDENT\n",
    "a\n ",
    {"postlex": TreeIndenter()},
)


def test_blocks_of_a_rule_of_their_own(scaled: Callable[[int], int], tally: Callable) -> None:
    """What may follow a newline depends on columns here; no text within `Limits.columns` meets what is not known."""
    counts = compare(OWN_RULE, scaled(60))
    assert counts["complete"] == counts["starts"] == 1
    tally(**counts)


def test_all_masks_of_what_was_loaded_are_those_of_a_compilation() -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    vocabulary = pdacon.Vocabulary.from_tokens([*tokens, b'":', None], eos_ids=[257])
    grammar = pdacon.Grammar.builtin("json_compact")
    data = pdacon.compile(grammar, vocabulary).to_bytes()
    loaded = _core.load_artifact(data, True, TRIES, FILTERS, "json.pda", "compile it again").pdas()[0]
    loaded.mask_all(4, 250_000)
    eager = pdacon.compile(grammar, vocabulary, eager=True)
    assert loaded.statistics()["distinct_masks"] == eager.statistics()["distinct_masks"]
    known = {row.tobytes() for row in eager.mask_table()}
    assert {row.tobytes() for row in loaded.mask_table(0)} == known
