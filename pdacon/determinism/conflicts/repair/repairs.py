"""What to say of a conflict, and what to write instead, by its cause.

In: a conflict, its cause and the example that is shown. Out: an `Advice`, in the author's names. Each cause has a
function that words it, in `ambiguities`, `operators` or `undecided`.
"""

from __future__ import annotations

from pdacon.determinism.conflicts import causes
from pdacon.determinism.conflicts.causes import Cause
from pdacon.determinism.conflicts.explanations import Explanation
from pdacon.determinism.conflicts.items import Items
from pdacon.determinism.conflicts.repair import ambiguities, operators, undecided
from pdacon.determinism.conflicts.repair.case import SHARE_A_RULE, Advice, Case
from pdacon.grammar import GrammarData
from pdacon.lalr import Conflict

_ADVISERS = {
    causes.DANGLING: ambiguities.dangling,
    causes.OPERATORS: operators.operators,
    causes.JUXTAPOSED: operators.juxtaposed,
    causes.OPTIONAL: ambiguities.optional,
    causes.NESTED: ambiguities.nested,
    causes.DUPLICATE: ambiguities.duplicate,
    causes.CYCLE: ambiguities.cycle,
    causes.AMBIGUOUS: ambiguities.ambiguous,
    causes.MERGE: undecided.merge,
    causes.LOOKAHEAD: undecided.lookahead,
    causes.LARK_ONLY: undecided.lark_only,
    causes.UNREACHABLE: undecided.unreachable,
}


def give_advice(
    items: Items,
    cause: Cause | None,
    conflict: Conflict,
    lookaheads: str,
    explanation: Explanation | None,
    named: GrammarData,
) -> Advice:
    """Advice on a conflict; ``explanation`` has the example that is shown, ``named`` the names to use."""
    if cause is None:
        return Advice("The next symbol does not tell what to do here:", SHARE_A_RULE, "the first")
    case = Case(items, cause, conflict, lookaheads, explanation, named)
    return _ADVISERS[cause.slug](case)
