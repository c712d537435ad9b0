"""A constraint as a potential of GenLM Control, by that package's contract and samplers; skips where it is absent."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from support.chi_square import is_far

import pdacon
from pdacon.errors import VocabularyError

control = pytest.importorskip("genlm.control", reason="genlm-control is not installed: pip install genlm-control")
if True:  # after the skip
    from genlm.backend.tokenization import Token

    from pdacon.integrations.genlm import ConstraintPotential

TOKENS = [b"a", b"b", b"ab", b"ba", b"c"]
TEXTS = ["ab", "aba", "b", "cab", "bb"]


@pytest.fixture(scope="module")
def constraint() -> pdacon.Constraint:
    vocabulary = pdacon.Vocabulary.from_tokens([*TOKENS, None, b"a"], eos_ids=[5])
    return pdacon.compile(pdacon.Grammar.from_choices(TEXTS), vocabulary)


class Model(control.Potential):  # type: ignore[misc, name-defined]
    """A language model that looks at the last token, and whose texts end with probability 0.3."""

    def __init__(self) -> None:
        super().__init__(vocabulary=TOKENS)
        rng = np.random.default_rng(0)
        self.rows = {last: np.log(rng.dirichlet(np.ones(len(TOKENS))) * 0.7) for last in [None, *TOKENS]}

    async def prefix(self, context: Any) -> float:
        places = zip([None, *context], context, strict=False)
        return math.fsum(self.rows[last][TOKENS.index(token)] for last, token in places)

    async def complete(self, context: Any) -> float:
        return await self.prefix(context) + math.log(0.3)

    async def logw_next(self, context: Any) -> Any:
        row = self.rows[context[-1] if context else None]
        return self.make_lazy_weights(np.append(row, math.log(0.3)))


def test_it_keeps_the_contract(constraint: pdacon.Constraint) -> None:
    potential = ConstraintPotential(constraint)
    contexts: list[list[bytes]] = [[], [b"a"], [b"ab"], [b"b"], [b"c", b"a"], [b"ab", b"a"]]
    asyncio.run(potential.assert_contract(contexts))
    asyncio.run(potential.spawn().assert_contract(contexts[::-1]))


def test_weights_are_those_of_the_language(constraint: pdacon.Constraint) -> None:
    potential = ConstraintPotential(constraint)
    for length in range(4):
        for context in itertools.product(TOKENS, repeat=length):
            text = b"".join(context).decode()
            begins = any(whole.startswith(text) for whole in TEXTS)
            assert asyncio.run(potential.prefix(list(context))) == (0 if begins else -math.inf)
            assert asyncio.run(potential.complete(list(context))) == (0 if text in TEXTS else -math.inf)
    with pytest.raises(ValueError, match="weight zero"):
        asyncio.run(potential.logw_next([b"c", b"c"]))


def test_sampled_texts_are_of_the_posterior(constraint: pdacon.Constraint) -> None:
    model, potential = Model(), ConstraintPotential(constraint)
    posterior = dict.fromkeys(TEXTS, 0.0)
    for length in range(1, 4):
        for context in itertools.product(TOKENS, repeat=length):
            text = b"".join(context).decode()
            if text in posterior:
                posterior[text] += math.exp(asyncio.run(model.complete(list(context))))
    total = math.fsum(posterior.values())

    async def draw() -> Counter[str]:
        counts: Counter[str] = Counter()
        sampler = control.AWRS(model, potential)
        for _ in range(120):
            found = await sampler.smc(n_particles=20, ess_threshold=0.5, max_tokens=5)
            texts = {b"".join(one[:-1]).decode(): weight for one, weight in found.posterior.items() if one[-1:]}
            names = list(texts)
            counts[names[rng.choice(len(names), p=np.array(list(texts.values())) / math.fsum(texts.values()))]] += 1
        return counts

    rng = np.random.default_rng(1)
    np.random.seed(1)  # what the package draws from
    counts = asyncio.run(draw())
    assert is_far(counts, {text: mass / total for text, mass in posterior.items()}) < 4, counts


def test_tokens_by_their_ids(constraint: pdacon.Constraint) -> None:
    tokens = [Token(number, text) for number, text in [(0, b"a"), (1, b"b"), (6, b"a"), (5, b"</s>")]]
    potential = ConstraintPotential(constraint, tokens)
    weights = asyncio.run(potential.logw_next([tokens[2]])).weights
    assert weights.tolist() == [-math.inf, 0, -math.inf, -math.inf, -math.inf]
    assert asyncio.run(potential.prefix([tokens[0], tokens[1], tokens[3]])) == -math.inf  # an end is no text
    for wrong in (Token(1, b"a"), Token(99, b"a"), b"zz"):
        with pytest.raises(VocabularyError, match="compile it for the model's"):
            ConstraintPotential(constraint, [wrong])
