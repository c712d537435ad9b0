"""Collisions: pairs of terminals between which nothing but Lark's order chooses.

In: a `Lexer`. Out: the pairs that match the same text, each with a shortest one. Candidates are all pairs of equal
priority in one context, of which neither names lexemes of the other. The native core compares their automata by a
product, with what has to follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from pdacon._native import _core
from pdacon.base.cancelling import every, look
from pdacon.base.limits import LARGE, Limits
from pdacon.grammar import GrammarData
from pdacon.lexer.contexts import flags_of, kind_of, lexing_order
from pdacon.lexer.ignoring import are_companions, companions
from pdacon.lexer.lowering import Lexer


@dataclass(frozen=True, slots=True)
class Collision:
    """Two terminals of one context that match the same text at the same priority, neither a keyword of the other."""

    first: int
    """The terminal that Lark's order prefers."""
    second: int
    witness: bytes
    """A shortest text that both match."""
    following: bytes = b""
    """A shortest text that has to follow it for that; look-ahead may ask for one."""


def find_collisions(lexer: Lexer, limits: Limits = LARGE) -> list[Collision]:
    """Every pair of terminals between which only Lark's order chooses.

    Keywords that a regex absorbs are no collision: renaming settles them. Nor is it one if both match a text only where
    something follows that no terminal begins with there.
    """
    look()
    pairs = _candidate_pairs(lexer)
    if not pairs:
        return []
    flat = np.array(pairs, np.int32).reshape(-1)
    found = _core.find_collisions(lexer.nfa, flat, _terminals_after(lexer), limits.states, limits.bytes)
    return [Collision(*collision) for collision in found]


def _terminals_after(lexer: Lexer) -> list[list[int]]:
    """For each terminal those that are looked for after a lexeme of it, whatever it is then called."""
    after = [set(contexts) for contexts in lexer.contexts_after]
    terminals_in: dict[frozenset[int], list[int]] = {}
    for number, context in enumerate(lexer.contexts):
        for regex, keywords in context.renames:
            after[regex].update(*(lexer.contexts_after[keyword] for keyword in keywords))
        for terminal in lexer.grammar.ignore.intersection(context.alternation):
            after[terminal].add(number)
    for some in map(frozenset, after):
        if some not in terminals_in:
            terminals_in[some] = sorted({k for context in some for k in lexer.contexts[context].alternation})
    return [terminals_in[frozenset(some)] for some in after]


def _candidate_pairs(lexer: Lexer) -> list[tuple[int, int]]:
    """Pairs of equal priority in one alternation, of which neither names lexemes of the other."""
    grammar, contexts = lexer.grammar, lexer.contexts
    terminals = {k for context in contexts for k in context.alternation}
    priority = {k: grammar.terminals[k].priority for k in terminals}
    patterns = {k for k in terminals if not _is_one_text(grammar, k)}  # two texts are not the same one
    if len({*priority.values()}) <= 1:
        together = {frozenset(context.alternation) for context in contexts}
    else:
        together = {
            frozenset(equals)
            for context in contexts
            for _, equals in groupby(sorted(context.alternation, key=priority.__getitem__), priority.__getitem__)
        }
    order = {k: at for at, k in enumerate(sorted(terminals, key=lambda k: lexing_order(grammar.terminals[k])))}
    beside: dict[int, set[int]] = {}
    for equals in together:
        for pattern in patterns & equals:
            beside.setdefault(pattern, set()).update(equals)
    found = {
        (pattern, k) if order[pattern] < order[k] else (k, pattern)
        for pattern, others in every(beside.items(), 1)
        for k in others
    }
    pieces, sides = grammar.border_pieces, companions(grammar)
    for regex, keywords in {rename for context in contexts for rename in context.renames}:
        named = [p for p, ignored in pieces.items() if ignored in keywords and are_companions(sides, regex, p)]
        found.difference_update(pair for k in (*keywords, *named) for pair in ((regex, k), (k, regex)))
    return sorted(pair for pair in every(found) if pair[0] != pair[1])


def _is_one_text(grammar: GrammarData, terminal: int) -> bool:
    """Whether a terminal is a string, without flags that make it match others; Lark has each string once."""
    return kind_of(grammar, terminal) == "str" and not flags_of(grammar, terminal) and not grammar.options.g_regex_flags
