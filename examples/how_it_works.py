"""Follow one token through pdacon: what the lexer, the trie, the token classes, the parser and the mask have of it.

docs/how_it_works.md explains each part of what this prints. Constraints do all of this in the native core; here the
same tables and automata are read step by step.

pip install . mistral-common && python examples/how_it_works.py
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import NamedTuple

import numpy as np

import pdacon
from pdacon.composition.token_pda import native_trie
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer

TEXT = b'[{"a": "b'
TOKEN = b'"},'

JSON = pdacon.Grammar.builtin("json")
GRAMMAR = JSON.data
VOCABULARY = pdacon.Vocabulary.from_tekken(files("mistral_common") / "data" / "tekken_240911.json")
TOKENS = [text for text in VOCABULARY.tokens if text]
TABLES = build_tables(GRAMMAR)
LEXER = build_lexer(GRAMMAR, TABLES)
AUTOMATON = LEXER.automaton
TRANSITIONS = AUTOMATON.transitions.tolist()
BYTE_CLASS = [AUTOMATON.byte_class(byte) for byte in range(256)]
DEAD = -1  # among the TRANSITIONS; a smaller number stands for a commit


# The pushdown automaton: a lexer state, and a stack of LR states.


class Commit(NamedTuple):
    """A lexeme has ended. The rest is still to be read; it begins with the pushback, which has been read once."""

    label: int
    pushback: bytes
    rest: bytes


def read(lexer_state: int, text: bytes) -> int | Commit | None:
    """Read up to the first commit. An int is the lexer state after the whole text, None that no lexeme goes on."""
    for position, byte in enumerate(text, 1):
        step = TRANSITIONS[lexer_state][BYTE_CLASS[byte]]
        if step == DEAD:
            return None
        if step < DEAD:
            label, _, pushback = AUTOMATON.commit(step)
            begin = position - len(pushback)
            return Commit(label, text[begin:position], text[begin:])
        lexer_state = step
    return lexer_state


def context(stack: list[int]) -> int:
    """The context in which the next lexeme is read: the LR state on top decides."""
    return int(LEXER.context_of_state[stack[-1]])


def feed(stack: list[int], label: int) -> Iterator[str]:
    """Run the reduce chain of a terminal on the stack and shift it; say what is done, and "error" if it ends there."""
    if is_ignored(label):
        return
    while (action := int(TABLES.action[stack[-1], label])) < 0:
        production = GRAMMAR.productions[-action - 1]
        del stack[len(stack) - len(production.rhs) :]
        stack.append(int(TABLES.goto[stack[-1], production.lhs - GRAMMAR.end - 1]))
        yield f"reduce {GRAMMAR.describe_production(-action - 1)}"
    if action:
        stack.append(action - 1)
    yield "shift" if action else "error"


def is_ignored(label: int) -> bool:
    return label >= len(GRAMMAR.terminals)


def commits_of(text: bytes, stack: list[int]) -> Iterator[tuple[int, bytes, Commit]]:
    """The commits in a text, each with its context and its lexeme. The stack changes between them."""
    while text and isinstance(commit := read(AUTOMATON.entry(context(stack), 0), text), Commit):
        yield context(stack), text[: len(text) - len(commit.rest)], commit
        list(feed(stack, commit.label))
        text = commit.rest


def configuration(text: bytes) -> tuple[int, list[int]]:
    """The lexer state and the stack after the beginning of a sentence."""
    stack = [TABLES.start_states[0]]
    rest = text
    for _, _, commit in commits_of(text, stack):
        rest = commit.rest
    lexer_state = read(AUTOMATON.entry(context(stack), 0), rest)
    assert isinstance(lexer_state, int)
    return lexer_state, stack


def futures() -> list[frozenset[int]]:
    """For each lexer state the terminals that some text commits first from there: a least fixpoint."""
    found: list[frozenset[int]] = [frozenset()] * AUTOMATON.num_states
    while True:
        larger = [
            frozenset(AUTOMATON.commit(step)[0] for step in row if step < DEAD).union(
                *(found[step] for step in row if step > DEAD)
            )
            for row in TRANSITIONS
        ]
        if larger == found:
            return found
        found = larger


# What is printed.


def names(labels: Iterable[int]) -> str:
    return "  ".join("ignored" if is_ignored(label) else GRAMMAR.describe_symbol(label) for label in sorted(labels))


def shown(stack: list[int]) -> str:
    """A stack as LR states, each after the symbol by which it was entered."""
    return " ".join(f"{GRAMMAR.describe_symbol(TABLES.accessing[state])} {state}" for state in stack[1:])


def show_configuration() -> None:
    print(f"{AUTOMATON.num_states} lexer states, {len(LEXER.contexts)} contexts, {TABLES.num_states} LR states")
    lexer_state, stack = configuration(TEXT)
    print(f"after {TEXT.decode()}  lexer state {lexer_state}, stack 0 {shown(stack)}")


def show_trie() -> None:
    print(f"{VOCABULARY.size:,} tokens, {native_trie(VOCABULARY).num_nodes:,} nodes")
    for end in range(1, len(TOKEN) + 1):
        prefix = TOKEN[:end]
        below = sum(text.startswith(prefix) for text in TOKENS)
        print(f"{prefix.decode():3} is token {VOCABULARY.tokens.index(prefix):5}; {below} tokens begin with it")


def show_commits() -> None:
    for text in (TEXT + TOKEN, b"[12.5,"):
        print(f"{text.decode()}")
        for at, lexeme, commit in commits_of(text, [TABLES.start_states[0]]):
            pushback = f", pushback {commit.pushback.decode()}" if commit.pushback else ""
            print(f"  context {at}  {lexeme.decode().replace(' ', '␣'):4}  commits {names([commit.label])}{pushback}")


def show_token_classes() -> None:
    future_of = futures()
    print(f"{len(future_of)} lexer states, {len(set(future_of))} futures")
    lexer_state, stack = configuration(TEXT)
    remainders, own = TOKENS, TOKEN
    while own:
        steps = [read(lexer_state, remainder) for remainder in remainders]
        inner = Counter(future_of[step] for step in steps if isinstance(step, int))
        emitting = Counter(step.label for step in steps if isinstance(step, Commit))
        what = "all" if remainders is TOKENS else "what is left of"
        print(f"from lexer state {lexer_state}, {what} {len(remainders):,} tokens")
        for future, count in sorted(inner.items(), key=lambda item: sorted(item[0])):
            print(f"  {count:7,}  inner, future: {names(future)}")
        for label, count in sorted(emitting.items()):
            print(f"  {count:7,}  emitting {names([label])}")
        print(f"  {steps.count(None):7,}  in no class: no lexeme goes on")
        taken = read(lexer_state, own)
        assert isinstance(taken, Commit)
        list(feed(stack, taken.label))
        print(f"{names([taken.label])}, then context {context(stack)}")
        remainders = [step.rest for step in steps if isinstance(step, Commit) and step.label == taken.label]
        lexer_state, own = AUTOMATON.entry(context(stack), 0), taken.rest


def show_reduce_chains() -> None:
    for token in (TOKEN, b'"],'):
        lexer_state, stack = configuration(TEXT)
        print(f"{token.decode():37}  0 {shown(stack)}")
        action = ""
        while token and action != "error":
            commit = read(lexer_state, token)
            assert isinstance(commit, Commit)
            print(f"  {names([commit.label])}")
            for action in feed(stack, commit.label):
                print(f"    {action:33}  0 {shown(stack)}")
            lexer_state, token = AUTOMATON.entry(context(stack), 0), commit.rest


def show_liveness() -> None:
    for text in (TEXT + b'"', TEXT + TOKEN):
        lexer_state, stack = configuration(text)
        print(f"{text.decode()}  lexer state {lexer_state}, stack 0 {shown(stack)}")
        future = futures()[lexer_state]
        taken = {label for label in future if list(feed(list(stack), label))[-1:] != ["error"]}
        print(f"  the stack takes   {names(taken)}")
        print(f"  and does not take {names(future - taken) or 'nothing'}")
        matcher = CONSTRAINT.matcher()
        matcher.accept_bytes(text)
        print(f"  a shortest way to the end: {matcher.shortest_completion().decode()}")
    without_u = pdacon.Vocabulary.from_tokens(
        [None if text and b"u" in text else text for text in VOCABULARY.tokens], VOCABULARY.eos_ids
    )
    for name, vocabulary in (("all tokens", VOCABULARY), ("without u", without_u)):
        matcher = pdacon.compile(JSON, vocabulary).matcher()
        matcher.accept_bytes(TEXT + TOKEN)
        allowed = [text for text in (b"f", b"t", b"n") if matcher.is_allowed(vocabulary.tokens.index(text))]
        print(f"{name}: allowed of f, t, n: {b', '.join(allowed).decode()}")


def show_mask() -> None:
    token = VOCABULARY.tokens.index(TOKEN)
    mask = np.zeros((1, -(-VOCABULARY.size // 32)), np.int32)
    for text in (TEXT, b'[{"key": "other', b'[[[[[[[[{"a": "b', b'{"a": "b', b'[{"a": [1], "c": "b'):
        computed = CONSTRAINT.statistics()["masks_computed"]
        matcher = CONSTRAINT.matcher()
        matcher.accept_bytes(text)
        matcher.fill_bitmask(mask)
        bit = mask[0, token // 32] >> token % 32 & 1
        allowed = int(np.unpackbits(mask.view(np.uint8)).sum())
        how = "computed" if CONSTRAINT.statistics()["masks_computed"] > computed else "looked up"
        print(f"{text.decode():20} mask {matcher.mask_id()}, {how:9}  {allowed:,} tokens, bit {token} is {bit}")


CONSTRAINT = pdacon.compile(JSON, VOCABULARY)


def main() -> None:
    show_configuration()
    for show in (show_trie, show_commits, show_token_classes, show_reduce_chains, show_liveness, show_mask):
        print()
        show()


if __name__ == "__main__":
    main()
