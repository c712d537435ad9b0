"""The one home of Hypothesis strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

from hypothesis import strategies as st

import pdacon
from pdacon import Constraint
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine
from support.lowering import load
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar
from support.vocabularies import TinyVocabulary, tiny_vocabularies

EXACT = [grammar for grammar in SMALL_GRAMMARS if grammar.refused is None and grammar.lookahead == "reject"]


@dataclass(frozen=True)
class SmallWorld:
    """A compiled small grammar, its vocabulary and its meaning."""

    grammar: SmallGrammar
    tiny: TinyVocabulary
    constraint: Constraint
    meaning: Configuration


@cache
def small_world(name: str, kind: int) -> SmallWorld | None:
    """A small grammar with its vocabulary of a kind, None if that cannot spell a sentence of the first start."""
    grammar = next(grammar for grammar in EXACT if grammar.name == name)
    noise = Random(name)
    texts = [b"".join(noise.choices(grammar.letters, k=6)) for _ in range(20)]
    tiny = tiny_vocabularies(grammar.letters, texts, noise)[kind]
    loaded = load(grammar)
    try:
        constraint = pdacon.compile(loaded, tiny.vocabulary())
        constraint.matcher()
    except pdacon.EmptyLanguageError:
        return None
    return SmallWorld(grammar, tiny, constraint, Configuration.initial(Machine(loaded.data, build_tables(loaded.data))))


def small_worlds() -> st.SearchStrategy[SmallWorld]:
    """Small grammars whose masks are exact, each with its vocabularies."""
    names = st.sampled_from([grammar.name for grammar in EXACT])
    return st.builds(small_world, names, st.integers(0, 4)).filter(lambda world: world is not None)
