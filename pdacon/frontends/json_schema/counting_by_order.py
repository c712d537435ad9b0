"""Whether the members of an inner object may be counted for some orders of the outer object's members only.

In: formulas about an object whose members come in several orders. Out: whether the schema of a member may depend on the
members before it, and may lead to one that counts members (``minProperties``, ``maxProperties``). Counting is refused
where two members may have one name; here it might be for some orders only, which a reading in one order does not tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.frontends.json_schema.closing import leads_to
from pdacon.frontends.json_schema.documents import Place
from pdacon.frontends.json_schema.facts import Members, Satisfies
from pdacon.frontends.json_schema.schema_formulas import Reader


def may_count_in_some_orders(reader: Reader, machine: Sequence[int]) -> bool:
    """Whether members may be counted in some orders only; True also where that is not plain.

    ``machine``: formulas of which one at most holds.
    """
    return not _asks_the_same_in_any_order(reader, machine) and _count_members_within(reader, machine)


def _asks_the_same_in_any_order(reader: Reader, machine: Sequence[int]) -> bool:
    """Whether the formula settles each of its facts: then none of them is dropped on the way, whatever has come."""
    facts, formulas = reader.facts, reader.facts.formulas
    if len(machine) > 1:
        return False
    (whole,) = machine
    variables = [formulas.variable(variable) for variable, _ in facts.among(whole)]
    return all(formulas.implies(whole, fact) or formulas.implies(whole, formulas.negation(fact)) for fact in variables)


def _count_members_within(reader: Reader, machine: Sequence[int]) -> bool:
    """Whether the schemas of members lead to one that counts members."""
    facts = reader.facts
    listed = [fact for _, fact in facts.among(*machine) if isinstance(fact, Members)]
    asked = [fact.others for fact in listed]
    asked += [question for fact in listed for _, question in (*fact.named, *fact.matching)]
    places = [reader.places[fact.schema] for _, fact in facts.among(*asked) if isinstance(fact, Satisfies)]
    return leads_to(reader.documents, places, _counts_members)


def _counts_members(place: Place) -> bool:
    return "minProperties" in place.node or "maxProperties" in place.node
