"""Whether members may be counted within an object in some orders of its own members, and not in others.

In: formulas about an object whose members come in several orders. Out: whether what is asked of a member may depend on
those that have come before it, and may lead to a schema that counts members: then something may be refused for it in
some orders only.
"""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.frontends.json_schema.closing import leads_to
from pdacon.frontends.json_schema.documents import Place
from pdacon.frontends.json_schema.facts import Members, Satisfies
from pdacon.frontends.json_schema.schema_formulas import Reader


def may_count_in_some_orders(reader: Reader, machine: Sequence[int]) -> bool:
    """Whether that may be, as far as it is plain; ``machine``: formulas of which one at most holds."""
    return not _asks_the_same_in_any_order(reader, machine) and _count_members_within(reader, machine)


def _asks_the_same_in_any_order(reader: Reader, machine: Sequence[int]) -> bool:
    """Where facts only have to hold all at once, each asks the same of a member until the end."""
    facts, formulas = reader.facts, reader.facts.formulas
    if len(machine) > 1:
        return False
    (whole,) = machine
    signs = [formulas.variable(variable) for variable, _ in facts.among(whole)]
    return all(formulas.implies(whole, one) or formulas.implies(whole, formulas.negation(one)) for one in signs)


def _count_members_within(reader: Reader, machine: Sequence[int]) -> bool:
    """Whether schemas of members lead to one that counts members."""
    facts = reader.facts
    listed = [fact for _, fact in facts.among(*machine) if isinstance(fact, Members)]
    asked = [fact.others for fact in listed]
    asked += [question for fact in listed for _, question in (*fact.named, *fact.matching)]
    places = [reader.places[one.schema] for _, one in facts.among(*asked) if isinstance(one, Satisfies)]
    return leads_to(reader.documents, places, _counts_members)


def _counts_members(place: Place) -> bool:
    return "minProperties" in place.node or "maxProperties" in place.node
