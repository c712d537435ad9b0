"""Advice on conflicts of operators: which binds first, and to which side does a chain of them group?

A ladder of rules, one for each level of binding, answers both (Aho, Sethi and Ullman 1986, section 2.2).
"""

from __future__ import annotations

from pdacon.determinism.conflicts.repair.case import Advice, Case
from pdacon.determinism.conflicts.repair.rewrites import SAME_TEXTS, make_ladder
from pdacon.determinism.conflicts.repair.rule_texts import ladder_lines, together


def operators(case: Case) -> Advice:
    """Several operators of one operand, or one that does not group to either side."""
    operand = case.name(case.cause.symbol)
    made = make_ladder(case.items, case.cause.symbol, case.conflict, operand)
    ladder = [] if made is None else ladder_lines(case.items, made, case.grammar)
    order = "as is usual in arithmetic and logic" if made and made.usual else "in the order in which they stand now"
    if made and not made.usual and sum(rhs[0] == rhs[-1] for rhs in _operators(case)) > 1:
        order += " (those that bind alike belong together in one rule)"
    if _has_unary(case):
        order = f"infix operators {order}, and then those with one operand, so that all can stand on their right"
    if len(ladder) == 2:
        return _chain(case, ladder)
    return Advice(
        f"Nothing says which of the operators of {operand} binds first.",
        "give each level of binding a rule of its own, "
        + (
            f"from the loosest to the tightest; {order}:\n" + _pasted(ladder)
            if ladder
            else f"so that {operand} does not stand on both sides of an operator. What stands in front of its "
            "operand has to be allowed on the right of each operator, and what stands after it on the left."
        ),
        "all operators bind alike and group to the right",
    )


def _chain(case: Case, ladder: list[str]) -> Advice:
    operand, operators = case.name(case.cause.symbol), _operators(case)
    chain = (
        together(list(map(case.words, operators)), [operand])[0] if len(operators) > 1 else case.sequence(operators[0])
    )
    return Advice(
        f"Nothing says whether a chain of {chain} groups to the left or to the right.",
        f"let {operand} stand at one end only; at the left end, it groups to the left:\n" + _pasted(ladder),
        "it groups to the right",
    )


def _pasted(ladder: list[str]) -> str:
    return "\n".join([*ladder, f"{SAME_TEXTS}."])


def juxtaposed(case: Case) -> Advice:
    """An operand that stands side by side with itself."""
    rule = case.name(case.cause.symbol)
    made = make_ladder(case.items, case.cause.symbol, case.conflict, rule)
    ladder = [] if made is None else ladder_lines(case.items, made, case.grammar)
    if len(_operators(case)) == 1 and ladder:
        return _chain(case, ladder)
    pair = case.sequence(case.items.sides[case.reduced][1])
    return Advice(
        f"Of three {rule} side by side nothing says which two are one {rule}.",
        f"drop the alternative {pair} where another one repeats {rule} already; else let {rule} stand at one of "
        "its ends only.",
        "the last two are one, and so on to the left",
    )


def _has_unary(case: Case) -> bool:
    """Whether an operator of the operand stands only before it or only after it."""
    operand = case.cause.symbol
    return any((rhs[0] == operand) != (rhs[-1] == operand) for rhs in _operators(case))


def _operators(case: Case) -> list[tuple[int, ...]]:
    """The alternatives of the operand that begin or end with it."""
    operand = case.cause.symbol
    return [rhs for rhs in case.bodies(operand) if operand in (*rhs[:1], *rhs[-1:])]
