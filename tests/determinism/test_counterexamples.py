"""Every counterexample is one: Earley and canonical LR(1) are asked, over one distinct letter for each symbol.

A nonterminal that is left as it stands in an example has a letter of its own, as a further alternative of its rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice, product
from pathlib import Path

import lark
import pytest
from conftest import Tally
from lalr.bare_grammars import BareGrammar, all_small_grammars, load, random_grammar
from lalr.reference import canonical_states, kernels
from lark.exceptions import UnexpectedInput

from pdacon.determinism.conflicts.derivations import DerivationNode
from pdacon.determinism.conflicts.explanations import Explanation, explain_conflicts
from pdacon.determinism.conflicts.items import Items
from pdacon.determinism.conflicts.settling import is_still_read
from pdacon.lalr import Conflict, Tables, build_tables

GRAMMARS = {
    "dangling else": 'start: s\ns: "i" s | "i" s "e" s | "x"',
    "dangling else by way of another rule": 'start: s\ns: i | "x"\ni: "i" s ["e" s]',
    "operators": 'start: e\ne: e "+" e | e "*" e | "-" e | e "!" | "(" e ")" | "n"',
    "operators in rules of their own": 'start: e\ne: sum | neg | "n"\nsum: e op e\nneg: "-" e\nop: "+" | "*"',
    "application by juxtaposition": 'start: e\ne: e e | "n"',
    "ternary": 'start: e\ne: e "?" e ":" e | "n"',
    "list of optional things": 'start: item*\nitem: "x"?',
    "elements with an optional end": 'start: pair*\npair: "x" "y"? "x"?',
    "list of lists": 'start: ("x"+)*',
    "two lists side by side": 'start: a b "."\na: "x"*\nb: "x"*',
    "two names": 'start: a | b\na: "x"\nb: "x"',
    "two names before more": 'start: a "." | b "."\na: "x" "y"\nb: "x" "y"',
    "LR(1) but not LALR(1)": 'start: "a" e "d" | "b" f "d" | "a" f "e" | "b" e "e"\ne: "c"\nf: "c"',
    "LR(1) but not LALR(1), further out": 'start: "1" p | "2" q\np: a "d" | b "e"\nq: a "e" | b "d"\na: "c"\nb: "c"',
    "LR(2)": 'start: a "x" "y" | b "x" "z"\na: "t"\nb: "t"',
    "LR(2) by a shift": 'start: (rule)*\nrule: "n" ":" "n"*',
    "not LR(k)": 'start: a "y" | b "z"\na: c a | c\nb: d b | d\nc: "x"\nd: "x"',
    "palindromes": 'start: p\np: "a" p "a" | "b" p "b" | ',
    "empty rules side by side": 'start: a b "."\na: "x"?\nb: "x"?',
    "a rule that is itself": 'start: a\na: a | "x"',
    "an empty rule before a shift": 'start: a "x" | "x" "y"\na:',
    "a trailing comma": 'start: "(" args [","] ")"\nargs: "n" ("," "n")*',
    "keywords that are names": 'start: (s ";")*\ns: "match" e | e\ne: "n" | "match" | e "(" e ")" | "(" e ")"',
    "a way round by an empty symbol": 'start: | r+\nr: | e start "x"\ne: | r?',
    "figure 1": 's: "if" e "then" s "else" s | "if" e "then" s | e "?" s s | "arr" "[" e "]" ":=" e\n'
    'e: num | e "+" e\nnum: "digit" | num "digit"\nstart: s',
}

INSTALLED = [
    (Path(lark.__file__).parent / "grammars" / "python.lark", ["file_input", "single_input", "eval_input"]),
    (Path(lark.__file__).parent / "grammars" / "lark.lark", ["start"]),
]


@pytest.mark.parametrize("name", GRAMMARS)
def test_hand_written_grammars(name: str) -> None:
    grammar = load(GRAMMARS[name])
    explained = require_explained(grammar, seconds=5)
    assert explained
    assert all(explanation.example is not None for explanation in explained.values())


@pytest.mark.parametrize(
    ("name", "unifying"),
    [
        ("dangling else", True),
        ("dangling else by way of another rule", True),
        ("operators", True),
        ("operators in rules of their own", True),
        ("list of optional things", True),
        ("list of lists", True),
        ("figure 1", True),
        ("LR(1) but not LALR(1)", False),
        ("LR(1) but not LALR(1), further out", False),
        ("LR(2)", False),
        ("LR(2) by a shift", False),
        ("a trailing comma", False),
    ],
)
def test_what_is_decided(name: str, unifying: bool) -> None:
    """These searches come to their end: a sentence with two derivations, or the certainty that there is none."""
    explained = explain(load(GRAMMARS[name]), seconds=5)
    for explanation in explained.values():
        assert explanation.complete
        assert explanation.example is not None
        assert explanation.example.unifying == unifying
        assert explanation.merged == ("LR(1) but" in name)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "starts"), INSTALLED, ids=lambda value: getattr(value, "stem", ""))
def test_installed_grammars(path: Path, starts: list[str]) -> None:
    grammar = load(path.read_text(encoding="utf-8"), starts, source_path=str(path))
    require_explained(grammar, seconds=20)


@pytest.mark.slow
def test_random_grammars(scaled: Callable[[int], int], tally: Tally) -> None:
    for seed in range(scaled(100)):
        explained = require_explained(random_grammar(seed), seconds=0.1)
        found = [explanation for explanation in explained.values() if explanation.example is not None]
        tally(
            conflicts=len(explained),
            unifying=sum(explanation.example.unifying for explanation in found),
            merged=sum(explanation.merged for explanation in found),
        )


@pytest.mark.slow
def test_where_all_conflicts_are_decided_ambiguity_is(scaled: Callable[[int], int], tally: Tally) -> None:
    """A grammar of whose conflicts none has a unifying example, for certain, is not ambiguous."""
    decided = 0
    for grammar in islice(all_small_grammars(), 0, None, max(1, 8281 // scaled(150))):
        tables = build_tables(grammar)
        explained = explain(grammar, seconds=0.1)
        if any(c not in explained for c in tables.conflicts) or not all(e.complete for e in explained.values()):
            continue
        if not any(e.example is not None and e.example.unifying for e in explained.values()):
            decided += 1
            parser = earley(grammar)
            for word in words(grammar, 4):
                assert derivations(parser, grammar, word, grammar.starts[0]) < 2, (grammar, word)
    tally(unambiguous=decided)


@pytest.mark.slow
def test_merged_conflicts_are_those_that_canonical_lr1_lacks(scaled: Callable[[int], int], tally: Tally) -> None:
    for seed in range(1000, 1000 + scaled(100)):
        grammar = random_grammar(seed)
        explained = explain(grammar, seconds=0.1)
        canonical = canonical_states(grammar)
        if canonical is None:
            continue
        core = kernels(build_tables(grammar), len(grammar.productions))
        for conflict, explanation in explained.items():
            if conflict.kind == "reduce/reduce" and explanation.example is not None:
                torn = any(
                    sum(conflict.terminal in reduces.get(k, ()) for k in conflict.productions) > 1
                    for kernel, reduces in canonical
                    if kernel == core[conflict.state]
                )
                assert explanation.merged == (not torn), (seed, conflict)
                tally(merged=explanation.merged, not_merged=not explanation.merged)


def explain(grammar: BareGrammar, seconds: float) -> dict[Conflict, Explanation]:
    tables = build_tables(grammar)
    return explain_conflicts(Items(grammar, tables), tables.conflicts, seconds)  # type: ignore[arg-type]


def require_explained(grammar: BareGrammar, seconds: float) -> dict[Conflict, Explanation]:
    tables = build_tables(grammar)
    items = Items(grammar, tables)  # type: ignore[arg-type]
    explained = explain_conflicts(items, tables.conflicts, seconds)
    parser = earley(grammar)
    for conflict, explanation in explained.items():
        if explanation.example is not None:
            require_readings(items, conflict, explanation)
            require_earley(parser, grammar, explanation)
    return explained


def require_readings(items: Items, conflict: Conflict, explanation: Explanation) -> None:
    """Both are derivations, in which the two actions of the conflict are right where it is decided."""
    example = explanation.example
    assert example is not None
    assert conflict in items.tables.conflicts
    one, other = symbols(example.first), symbols(example.second)
    for tree, position in ((example.first, example.position), (example.second, example.second_position)):
        for node in tree.preorder():
            if node.production >= 0:
                assert items.sides[node.production] == (node.symbol, tuple(child.symbol for child in node.children))
        left = symbols(tree)[:position]
        assert any(
            state_after(items.tables, state, left) == conflict.state
            and (tree.production, 0) in items.tables.items(state)
            for state in range(items.tables.num_states)
        )
    if example.unifying:
        assert one == other
        assert example.first.symbol == example.second.symbol
        assert not example.first.equals(example.second)
    if not explanation.merged:
        assert one[: example.position] == other[: example.second_position]
    for sentence, position in ((one, example.position), (other, example.second_position)):
        at_end = conflict.terminal == items.nonterminal - 1 or (example.unifying and conflict.kind == "reduce/reduce")
        assert sentence[position] == conflict.terminal if position < len(sentence) else at_end
    reduced = {tree.production for tree in example.second.preorder()}
    assert reduced.intersection(conflict.productions)


def state_after(tables: Tables, state: int, path: tuple[int, ...]) -> int:
    end = tables.action.shape[1] - 1
    for symbol in path:
        state = int(tables.action[state, symbol]) - 1 if symbol < end else tables.goto[state, symbol - end - 1]
        if state < 0:
            return -1
    return int(tables.origin[state])


def require_earley(parser: lark.Lark, grammar: BareGrammar, explanation: Explanation) -> None:
    example = explanation.example
    assert example is not None
    if example.unifying and not any(map(leads_back, (example.first, example.second))):
        assert derivations(parser, grammar, symbols(example.first), example.first.symbol) > 1
    for tree in (example.first, example.second):
        assert derivations(parser, grammar, symbols(tree), tree.symbol)


def leads_back(tree: DerivationNode) -> bool:
    """Whether a nonterminal derives itself in it; of such derivations, infinitely many, Lark's Earley shows one."""
    return any(
        inner.symbol == node.symbol and symbols(inner) == symbols(node)
        for node in tree.preorder()
        for inner in islice(node.preorder(), 1, None)
    )


def symbols(tree: DerivationNode) -> tuple[int, ...]:
    return tuple(node.symbol for node in tree.leaves())


def earley(grammar: BareGrammar) -> lark.Lark:
    """Lark's Earley parser of the grammar with a letter for each symbol."""
    count = len(grammar.terminals) + 1 + len(grammar.nonterminals)
    by_lhs: dict[int, list[str]] = {lhs: [f"T{lhs}"] for lhs in range(grammar.end + 1, count)}
    for production in grammar.productions:
        names = [f"t{symbol}".upper() if symbol < grammar.end else f"r{symbol}" for symbol in production.rhs]
        by_lhs[production.lhs].append(" ".join(names))
    lines = [f"r{lhs}: {' | '.join(bodies)}" for lhs, bodies in by_lhs.items()]
    lines += [f'T{symbol}: "{letter(symbol)}"' for symbol in range(count) if symbol != grammar.end]
    starts = [f"r{lhs}" for lhs in by_lhs]
    return lark.Lark("\n".join(lines), parser="earley", lexer="basic", ambiguity="explicit", start=starts)


def letter(symbol: int) -> str:
    return chr(0x4E00 + symbol)


def derivations(parser: lark.Lark, grammar: BareGrammar, sentence: tuple[int, ...], root: int) -> int:
    """0: no derivation, 1: one, 2: more."""
    try:
        tree = parser.parse("".join(map(letter, sentence)), start=f"r{root}")
    except UnexpectedInput:
        return 0
    return 1 + any(subtree.data == "_ambig" for subtree in tree.iter_subtrees())


@cache
def _all_words(letters: int, length: int) -> tuple[tuple[int, ...], ...]:
    return tuple(word for n in range(length + 1) for word in product(range(letters), repeat=n))


def words(grammar: BareGrammar, length: int) -> Iterator[tuple[int, ...]]:
    return iter(_all_words(len(grammar.terminals), length))


@pytest.mark.parametrize(
    "text",
    [
        'start: rule | start rule\nrule: "n" ":" | "n" ":" "n"',
        'start: "(" args ")" | "(" args "," ")"\nargs: "n" | args "," "n"',
        'start: s\ns: "m" e "!" | e "."\ne: "n" | "m" | e "(" e ")" | "(" e ")"',
        'start: a | b\na: "x" "y"\nb: c "y" "z"\nc: "x"',
        'start: a "."\na: | "x" a',
    ],
)
def test_what_is_lost_by_a_shift_is_what_lark_refuses(text: str) -> None:
    grammar = load(text)
    items = Items(grammar, build_tables(grammar))  # type: ignore[arg-type]
    explained = explain_conflicts(items, items.tables.conflicts, 5)
    parser = lark.Lark(text, parser="lalr", start=list(map(str, grammar.nonterminals)))
    spelling = [terminal.pattern.value for terminal in sorted(parser.terminals, key=lambda terminal: terminal.name)]
    for explanation in explained.values():
        example = explanation.example
        assert example is not None
        sentence = symbols(example.second)
        if all(symbol < grammar.end for symbol in sentence):
            root = str(grammar.nonterminals[example.second.symbol - grammar.end - 1])
            accepted = True
            try:
                parser.parse("".join(spelling[symbol] for symbol in sentence), start=root)
            except UnexpectedInput:
                accepted = False
            assert is_still_read(items, example.second) == accepted
