"""How large a grammar's automata are, and what makes them so.

In: tables and lexing automaton. Out: `Sizes`. The fewest lexer states that would do are counted by Moore's partition
refinement over the commits.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from pdacon.determinism.lexical.lookahead import neighbour_distances
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.sizes import Sizes
from pdacon.lalr import Tables

_FEW = 8
_MOST_TRANSITIONS = 2_000_000
_MOST_REFINED = 2_000_000
"""States times rounds of refinement: a chain of n states takes n rounds."""


def measure(tables: Tables, texts: WitnessTexts) -> Sizes:
    """Count. Cost: for the minimal number of states a partition refinement, some sweeps over the transitions."""
    grammar, automaton = texts.grammar, texts.automaton
    by_terminal = Counter(
        {texts.shown(k): count for k, count in enumerate(automaton.states_by_terminal.tolist()) if count}
    )
    by_rule: Counter[str] = Counter()
    for state in range(tables.num_states):
        rules = {grammar.productions[k].rule for k, _ in tables.kernel(state) if k < len(grammar.productions)}
        by_rule.update(rules)
    small = texts.next.size <= _MOST_TRANSITIONS
    return Sizes(
        lr_states=tables.num_states,
        table_bytes=tables.action.nbytes + tables.goto.nbytes,
        contexts=len(texts.lexer.contexts),
        lexer_states=automaton.num_states,
        lexer_states_minimal=count_distinguishable(texts) if small else None,
        lexer_bytes=texts.next.nbytes,
        byte_classes=automaton.num_classes,
        lookahead=automaton.lookahead,
        terminals_by_states=tuple(by_terminal.most_common(_FEW)),
        rules_by_states=tuple(by_rule.most_common(_FEW)),
        neighbour_distances=_shown_distances(texts) if small else None,
    )


def _shown_distances(texts: WitnessTexts) -> tuple[tuple[str, int | None], ...]:
    distances = neighbour_distances(texts).items()
    ordered = sorted(distances, key=lambda pair: (pair[1] is not None, -(pair[1] or 0), pair[0]))
    return tuple((texts.shown(label), distance) for label, distance in ordered)


def count_distinguishable(texts: WitnessTexts) -> int | None:
    """How many lexer states some text tells apart, by what is committed and when; columns are not looked at.

    Moore's partition refinement, with random 64-bit fingerprints of a state's block and those of its successors: that
    two different ones are equal is as good as impossible, and would make the count too small by one. None where it
    takes too many rounds.
    """
    after = texts.next
    if not len(after):
        return 0
    random = np.random.default_rng(0)
    weights = random.integers(1, 2**63, after.shape[1], np.uint64) | np.uint64(1)
    outputs = random.integers(1, 2**63, len(texts.automaton.commits) + 1, np.uint64)
    blocks = np.unique(texts.automaton.ends, return_inverse=True)[1]
    count = int(blocks.max()) + 1
    fixed = np.where(after >= 0, np.uint64(0), outputs[np.maximum(-1 - after, 0)]) @ weights
    targets = np.where(after >= 0, after, len(after))
    for _ in range(_MOST_REFINED // len(after)):
        names, own = random.integers(1, 2**63, (2, count), np.uint64)
        prints = np.append(names[blocks], np.uint64(0))[targets] @ weights + fixed + own[blocks]
        blocks = np.unique(prints, return_inverse=True)[1]
        if int(blocks.max()) + 1 == count:
            return count
        count = int(blocks.max()) + 1
    return None
