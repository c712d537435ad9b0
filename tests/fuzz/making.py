"""From a seed to a case: grammar, options, vocabulary, limits."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from fuzz.case import Case
from fuzz.grammars import GrammarMaker, ShapedMaker
from fuzz.indented import IndentedMaker
from fuzz.stress import stress
from fuzz.texts import Derivations, enumerated
from fuzz.vocabularies import vocabulary


@dataclass(frozen=True)
class Shares:
    """Which part of all grammars has an Indenter, and which has patterns that look around."""

    indenter: float = 0.25
    looking: float = 0.25
    stress: float = 0.05


def make_case(seed: str, shares: Shares) -> Case:
    """The case of a seed: the first of some grammars that stock Lark loads, or the last of them."""
    rng = Random(seed)
    kind = rng.random()
    looking = rng.random() < shares.looking
    for attempt in range(8):
        case = _attempt(Random(f"{seed}/{attempt}"), kind, looking, shares, f"{seed}/{attempt}")
        try:
            parser = case.lark()
            return _with_vocabulary(case, Derivations(parser, case, Random(f"vocabulary {seed}")))
        except (MemoryError, RecursionError):
            raise
        except Exception:
            # Lark refuses most random grammars for reduce/reduce conflicts; a few go on, to see that pdacon does too.
            if rng.random() < 0.03:
                break
    return case


def _attempt(rng: Random, kind: float, looking: bool, shares: Shares, seed: str) -> Case:
    indenter: dict[str, Any] | None = None
    if kind < shares.indenter:
        indented = IndentedMaker(rng, looking)
        grammar, options, indenter = indented.make_indented()
        features = indented.features
    elif kind < shares.indenter + shares.stress:
        features = set()
        grammar = stress(rng, features)
        options = {"conflicts": rng.choice(["shift", "shift", "error"])}
    else:
        maker = (ShapedMaker if rng.random() < 0.4 else GrammarMaker)(rng, looking)
        grammar, options = maker.make()
        features = maker.features
    effort = 0.04 if "stress: empty_chain" in features else 1.0
    limits: dict[str, Any] = {}
    if rng.random() < 0.05:
        features.add("limits")
        name = rng.choice(["states", "bytes", "seconds", "depth"])
        limits[name] = {
            "states": rng.choice([1, 10, 30, 100, 1000]),
            "bytes": rng.choice([1, 1000, 10_000, 100_000]),
            "seconds": rng.choice([1e-6, 1e-3]),
            "depth": rng.choice([1, 2, 4, 9]),
        }[name]
    elif rng.random() < 0.02:
        features.add("eager")
    return Case(
        grammar=grammar,
        options=options,
        tokens=(b"a", None),
        eos=(1,),
        seed=seed,
        indenter=indenter,
        limits=limits,
        features=tuple(sorted(features)),
        effort=effort,
    )


def _with_vocabulary(case: Case, derivations: Derivations) -> Case:
    rng = derivations.rng
    texts = [derivations.sentence(case.starts[0], 4) or b"" for _ in range(8)]
    texts += [case.encode(text) for text in enumerated(rng, derivations.letters, 12)]
    letters = case.encode(derivations.letters) + (b" \n" if case.indenter is not None else b"")
    features = set(case.features)
    tokens, ends = vocabulary(rng, texts, letters, features)
    if case.indenter is not None and rng.random() < 0.97:
        # An Indenter asks for a token of a space and one of a newline.
        tokens = [*tokens, b" ", b"\n"]
    return case.but(tokens=tuple(tokens), eos=tuple(ends), features=tuple(sorted(features)))
