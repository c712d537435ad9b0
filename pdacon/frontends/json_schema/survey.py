"""A look at each place of a schema that is read, before any text: what is to be told of it, and what may be refused.

In: documents, and how a schema is read. Out: notes, of keywords that say nothing though they may be meant; and whether
the schema is plain: nothing of it is refused, no member is one that never comes, and some value satisfies it. What a
look does not tell is a doubt, which a search settles (``doubts``), or else the whole.

Places are looked at for the types of values that they are asked about, as far as these are plain: for no fewer than a
reading of the whole asks about, and hardly more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from pdacon.base.cancelling import look
from pdacon.base.quoting import did_you_mean
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.counting_apart import CountingApart
from pdacon.frontends.json_schema.discriminators import why_nothing_is_told
from pdacon.frontends.json_schema.documents import REFERENCES, Closed, Documents, Place, is_like_others
from pdacon.frontends.json_schema.doubts import Doubts
from pdacon.frontends.json_schema.keywords import remarks
from pdacon.frontends.json_schema.looks import Look, counts_few, is_leaf, is_small, is_small_pattern, look_for
from pdacon.frontends.json_schema.plainness import Plainness
from pdacon.frontends.json_schema.schema_formulas import plain_types
from pdacon.frontends.json_schema.spelling import Spelling
from pdacon.frontends.json_schema.string_formats import NARROWER, NOT_REGULAR, PATTERNS, SINCE
from pdacon.frontends.json_schema.type_bits import ALL, ARRAY, BITS, NUMBER, OBJECT, STRING, types_in, types_of_values
from pdacon.frontends.json_schema.wrong_values import wrong_value

_CONTAINED = ARRAY | OBJECT
_MOST_UNITS = 1_000  # conjunctions of schemas of one member that are looked at
_MOST_LIMITS = 8  # of a string or a number, by several schemas
_NO_VALUES: tuple[dict[str, Any], ...] = ({"not": {}}, {"not": True})


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How a schema is read.

    Attributes
    ----------
    spelling : Spelling
    formats : bool
        Whether ``format`` is enforced.
    lax : bool
        Whether what cannot be enforced is left out.
    closed : bool or tuple of str
        Whether objects have only the properties listed, if any are.
    plain_integers : bool
        Whether an integer has neither a fraction nor an exponent in every draft.
    marked : tuple of str
        The types of a notation.
    """

    spelling: Spelling = field(default_factory=Spelling)
    formats: bool = True
    lax: bool = False
    closed: Closed = False
    plain_integers: bool = False
    marked: tuple[str, ...] = ()


class Findings(NamedTuple):
    """What a survey finds.

    Attributes
    ----------
    notes : dict
        By pointer, keyword and why: whether the caller is to be warned.
    is_plain : bool
        Whether a reading of the whole would raise nothing and note nothing else, unless one of the doubts is right.
    doubts : Doubts
    counts_members_apart : bool
        Whether members are counted within values that alternatives part, so that what is refused may be met in some
        orders only.
    """

    notes: dict[tuple[str, str, str], bool]
    is_plain: bool
    doubts: Doubts
    counts_members_apart: bool


class Survey:
    """A look at all places of a schema that are read. Cost: some microseconds for each of them."""

    def __init__(self, documents: Documents, reading: ReadingOptions) -> None:
        self.notes: dict[tuple[str, str, str], bool] = {}
        self.is_plain = True
        self.doubts = Doubts()
        self._documents, self._reading = documents, reading
        self._counts_digits = reading.spelling.digits is not None
        self._plainness = Plainness(documents, reading.closed, counts_digits=self._counts_digits)
        self._pending: list[tuple[Place, int]] = []
        self._children: list[tuple[Place, int]] = []
        self._done: dict[Any, int] = {}  # by place: for which types it was looked at
        self._same: dict[int, list[int]] = {}  # by schema: those that are applied to the same value
        self._noted: set[Any] = set()  # small schemas, which are alike wherever they stand
        self._combined: list[tuple[Place, ...]] = []  # schemas of one value, of which some apply others
        self._limiting: set[int] = set()  # schemas that need an automaton of strings or numbers
        self._members_asked: list[Place] = []
        self._counting: set[int] = set()  # schemas that count members
        self._parting: set[int] = set()  # those by which some values satisfy other schemas than others
        self._may_circle = False
        self._look_at_all()

    def findings(self) -> Findings:
        """What is kept of it: places and what else was noted on the way would be hundreds of objects."""
        return Findings(self.notes, self.is_plain, self.doubts, self.counts_members_apart)

    def _look_at_all(self) -> None:
        root = self._documents.root
        self._add(root, ALL)
        self._pending = self._children[::-1]
        while self._pending:
            look()
            place, types = self._pending.pop()
            self._children = []
            try:
                self._look_at(place, types)
            except (UnsupportedSchemaError, RecursionError):
                self.is_plain = False
            self._pending += reversed(self._children)
        self.counts_members_apart = not self._may_count_members()
        if self.counts_members_apart:
            self.is_plain = False
        if self._may_circle and self.is_plain:
            try:
                TopologicalSorter(self._same).prepare()
            except CycleError:
                self.is_plain = False
        if self.is_plain:
            for place in reversed(self._members_asked):  # those within others before these
                self._require_values(place)
            self._require_values(root)
            self._look_at_combinations()
        reading = self._reading
        self.doubts.members_may_be_left_out = not (
            self._same or reading.lax or reading.closed or reading.marked or reading.spelling.whitespace == "indent"
        )

    def _add(self, place: Place, types: int) -> None:
        """A schema is to be looked at for values of some types."""
        if isinstance(place.node, dict):
            self._children.append((place, types))
        elif not isinstance(place.node, bool):
            self.is_plain = False

    def _look_at(self, place: Place, types: int) -> None:
        node = place.node
        key = place if place.scope else id(node)
        known = self._done.get(key, 0)
        if known & types == types:
            return
        sight = look_for(node, place.draft)
        own = ALL if "type" not in node else self._types_in(node["type"])
        if key not in self._done:
            self._remark(place, sight, own)
        self._done[key] = known | types
        if "$ref" in node and place.draft <= 7:
            self._apply(place, self._documents.referred(place, "$ref"), types)
            return
        self.is_plain &= own != 0
        types &= ~known & own
        for keyword in ("enum", "const") if sight.lists_values else ():
            if keyword in node and (keyword == "enum" or place.draft > 4):
                types &= self._types_listed(keyword, node[keyword])
        if not types:
            return
        for keyword, about in sight.checked:
            if (
                about & types
                and wrong_value(keyword, node[keyword], place.draft)
                and not self._leaves_out(place, keyword)
            ):
                self.is_plain = False
                return
        if types & STRING and "format" in node and self._reading.formats:
            self._look_at_format(place)
        if types & sight.measured and not is_small(node, types):
            self.doubts.built.append((place,))
        if sight.counts:
            self.is_plain &= counts_few(node, types)
        for keyword, about in sight.steps:
            if about & types:
                _STEPS[keyword](self, place, types & about, keyword)
        if sight.limits & types:
            self._limiting.add(id(node))
        if sight.applies_others and types & (STRING | NUMBER | OBJECT):
            self._combined.append((place,))
        if types & OBJECT:
            self._look_at_object(place, sight)

    def _types_in(self, said: Any) -> int:
        if isinstance(said, str) and said in self._reading.marked:
            return BITS[said.partition(":")[0]]
        return types_in(said)

    def _types_listed(self, keyword: str, given: Any) -> int:
        values = [given] if keyword == "const" else given
        self.is_plain &= isinstance(values, list)
        return types_of_values(values) if isinstance(values, list) else 0

    def _leaves_out(self, place: Place, keyword: str) -> bool:
        """Whether a wrong value of a keyword is passed over."""
        value = place.node[keyword]
        if keyword == "required":
            return place.draft <= 4 and isinstance(value, bool)
        return keyword == "pattern" and isinstance(value, str) and self._reading.lax

    # What is told.

    def _remark(self, place: Place, sight: Look, own: int) -> None:
        node = place.node
        nothing_read = "$ref" in node and place.draft <= 7
        if not (
            sight.is_remarkable
            or (sight.about & ~own and not nothing_read)
            or (place.draft <= 4 and isinstance(node.get("required"), bool))
            or (sight.of_places and any(wrong_value(one, node[one], place.draft) for one in sight.of_places))
        ):
            return
        said = [(keyword, why, True) for keyword, why in remarks(node, place.draft, plain_types(place))]
        if "discriminator" in node and (why := why_nothing_is_told(self._documents, place)):
            said.append(("discriminator", why, True))
        self._note(place, said)

    def _note(self, place: Place, said: list[tuple[str, str, bool]]) -> None:
        alike = is_like_others(place)
        for keyword, why, warn in said:
            if alike is None or (keyword, alike) not in self._noted:
                self._noted.add((keyword, alike))
                self.notes.setdefault((place.pointer, keyword, why), warn)

    def _look_at_format(self, place: Place) -> None:
        name = place.node["format"]
        if not isinstance(name, str):
            return
        if name in NOT_REGULAR:
            self.is_plain &= self._reading.lax
        elif name not in PATTERNS:
            near = _near_formats(name)
            why = f"{name!r:.40} is no format of JSON Schema, an annotation"
            self._note(place, [("format", f"{why}; {near}" if near else why, bool(near))])
        elif (since := SINCE.get(name, 0)) > place.draft:
            why = f"draft {place.draft} has no such format; strings have it as draft {since} means it"
            self._note(place, [("format", f"{why}, unless formats=False makes it an annotation", True)])
        elif name in NARROWER:
            self._note(place, [("format", NARROWER[name], False)])

    # Schemas that are applied to the same value.

    def _apply(self, place: Place, other: Place, types: int) -> None:
        self._may_circle |= (other if other.scope else id(other.node)) in self._done
        self._same.setdefault(id(place.node), []).append(id(other.node))
        self._add(other, types)

    def _refer(self, place: Place, types: int, keyword: str) -> None:
        self._apply(place, self._documents.referred(place, keyword), types)

    def _apply_listed(self, place: Place, types: int, keyword: str) -> None:
        listed = place.node[keyword]
        if not isinstance(listed, list) or not listed:
            raise UnsupportedSchemaError(place.pointer, keyword, "it must be a list of schemas")
        children = [place.child(keyword, k) for k in range(len(listed))]
        if keyword != "allOf" and sum(1 for one in children if self._plainness.types(one) & types & _CONTAINED) > 1:
            self._parting.add(id(place.node))
        for child in children:
            self._apply(place, child, types)

    def _negate(self, place: Place, types: int, keyword: str) -> None:
        self._parting.add(id(place.node))
        self._apply(place, place.child("not"), types)

    def _choose(self, place: Place, types: int, keyword: str) -> None:
        self._parting.add(id(place.node))
        for keyword in ("if", "then", "else"):
            if keyword in place.node:
                self._apply(place, place.child(keyword), types)

    # Schemas of parts of a value.

    def _ask(self, place: Place, types: int, keyword: str) -> None:
        if not self._is_leaf(place.node[keyword], place.draft):
            self._add(place.child(keyword), ALL)

    def _ask_about_others(self, place: Place, types: int, keyword: str) -> None:
        """What is asked of parts that no schema evaluates; which do may be more than can be told."""
        self._parting.add(id(place.node))
        self.doubts.built.append((place,))
        self._ask(place, types, keyword)

    def _items(self, place: Place, types: int, keyword: str) -> None:
        items = place.node["items"]
        if isinstance(items, list):
            for k in range(len(items)):
                self._add(place.child("items", k), ALL)
        else:
            self._ask(place, types, "items")

    def _first_items(self, place: Place, types: int, keyword: str) -> None:
        if not isinstance(place.node.get("items"), list):
            for k in range(len(place.node["prefixItems"])):
                self._add(place.child("prefixItems", k), ALL)

    def _other_items(self, place: Place, types: int, keyword: str) -> None:
        if isinstance(place.node.get("items"), list):
            self._ask(place, types, "additionalItems")

    def _contained(self, place: Place, types: int, keyword: str) -> None:
        self._parting.add(id(place.node))
        self._ask(place, types, "contains")

    def _unique(self, place: Place, types: int, keyword: str) -> None:
        if place.node["uniqueItems"] is True:
            self._parting.add(id(place.node))
            self.doubts.built.append((place,))

    def _members(self, place: Place, types: int, keyword: str) -> None:
        for name, node in place.node["properties"].items():
            look()
            if self._is_leaf(node, place.draft):
                continue
            child = place.child("properties", name)
            self._add(child, ALL)
            if not isinstance(node, bool) and not self._forbids(child):
                self._members_asked.append(child)

    def _is_leaf(self, node: Any, draft: int) -> bool:
        if not isinstance(node, dict) or self._reading.marked or not is_leaf(node, draft, self._counts_digits):
            return False
        if look_for(node, draft).limits:
            self._limiting.add(id(node))
        if isinstance(items := node.get("items"), dict) and look_for(items, draft).limits:
            self._limiting.add(id(items))
        return True

    def _matching_members(self, place: Place, types: int, keyword: str) -> None:
        for pattern in place.node["patternProperties"]:
            if wrong_value("pattern", pattern, place.draft):
                self.is_plain &= self._reading.lax
            elif not is_small_pattern(pattern):
                self.doubts.built.append((place,))
            self._add(place.child("patternProperties", pattern), ALL)

    def _names(self, place: Place, types: int, keyword: str) -> None:
        child = place.child("propertyNames")
        self._add(child, STRING)
        self.doubts.built.append((place,))

    def _dependent(self, place: Place, types: int, keyword: str) -> None:
        for name, given in place.node[keyword].items():
            if isinstance(given, list) or keyword == "dependentRequired":
                if wrong_value("required", given, 2020):
                    self.is_plain = False
            else:
                self._parting.add(id(place.node))
                self._apply(place, place.child(keyword, name), OBJECT)

    def _look_at_object(self, place: Place, sight: Look) -> None:
        node = place.node
        if "minProperties" in node or "maxProperties" in node:
            self._look_at_counts(node)
        if place.is_closed(self._reading.closed) and sight.applies_others:
            self.doubts.built.append((place,))

    def _look_at_counts(self, node: dict[str, Any]) -> None:
        """Whether members are counted where one name may come twice: what is listed and what is required are not."""
        if node.get("additionalProperties") is False and "patternProperties" not in node:
            return
        least = node.get("minProperties", 0)
        if not isinstance(least, int) or least > 1 + len(set(node["required"] if _has_names(node) else ())):
            self.is_plain &= self._reading.lax
        if least > 1 or node.get("maxProperties", 0) > 0:
            self._counting.add(id(node))

    def _may_count_members(self) -> bool:
        """Whether it can be tried for each value apart whether its members can be counted; then that is a doubt."""
        if not (self._counting and self._parting):
            return True
        try:
            search = CountingApart(self._documents, self._plainness, may_close=self._reading.closed is not False)
            values = search.values(self._counting, self._parting)
        except (UnsupportedSchemaError, RecursionError):
            return False
        if values is None or (values and self._reading.lax):
            return False
        self.doubts.built += [(place,) for place in values]
        return True

    # Members that never come, and schemas that no value satisfies.

    def _forbids(self, place: Place) -> bool:
        """Whether a schema says plainly that no value satisfies it, so that nobody is surprised."""
        return place.node is False or place.node in _NO_VALUES

    def _require_values(self, *places: Place) -> None:
        if self._plainness.have_a_value(*places):
            return
        self.doubts.values.append(places)
        self._plainness.assume(*places)
        if len(places) == 1 and isinstance(node := places[0].node, dict) and "$ref" in node:
            self._plainness.assume(self._documents.referred(places[0], "$ref"))

    def _look_at_combinations(self) -> None:
        """Whether members that several schemas of an object list can satisfy all of them."""
        seen: set[frozenset[int]] = set()
        while self._combined and self.is_plain:
            look()
            places = self._combined.pop()
            self._look_at_limits(places)
            named: dict[str, dict[int, Place]] = {}
            for place in self._certain(places):
                listed = place.node.get("properties")
                for name in listed if isinstance(listed, dict) else ():
                    child = place.child("properties", name)
                    if child.node is not True:
                        named.setdefault(name, {})[id(child.node)] = child
            for children in named.values():
                both = frozenset(children)
                if len(both) < 2 or both in seen:
                    continue
                seen.add(both)
                if len(seen) > _MOST_UNITS:
                    self.is_plain = False
                parts = tuple(children.values())
                if not any(map(self._forbids, parts)):
                    self._require_values(*parts)
                    self._combined.append(parts)

    def _look_at_limits(self, places: tuple[Place, ...]) -> None:
        """Whether the automata are small that what several schemas say of a string or a number needs."""
        pending, seen = [id(place.node) for place in places], set[int]()
        while pending:
            look()
            one = pending.pop()
            if one not in seen:
                seen.add(one)
                pending += self._same.get(one, ())
        limits = len(seen & self._limiting)
        if limits > _MOST_LIMITS:
            self.is_plain = False
        elif limits > 1:
            self.doubts.built.append(places)

    def _certain(self, places: tuple[Place, ...]) -> Iterator[Place]:
        """Schemas that an object has to satisfy, if it satisfies some, and that may list members."""
        pending, seen = list(places), set[int]()
        while pending:
            look()
            place = pending.pop()
            node = place.node
            if not isinstance(node, dict) or id(node) in seen:
                continue
            seen.add(id(node))
            sight = look_for(node, place.draft)
            for keyword, _ in sight.steps:
                if keyword in REFERENCES:
                    pending.append(self._documents.referred(place, keyword))
                elif keyword in ("allOf", "anyOf", "oneOf"):
                    children = [place.child(keyword, k) for k in range(len(node[keyword]))]
                    if keyword != "allOf":
                        children = [one for one in children if self._plainness.types(one) & OBJECT]
                    if keyword == "allOf" or len(children) == 1:
                        pending += children
            if not ("$ref" in node and place.draft <= 7):
                yield place


def _has_names(node: dict[str, Any]) -> bool:
    required = node.get("required")
    return isinstance(required, list) and all(isinstance(name, str) for name in required)


@lru_cache(maxsize=1024)
def _near_formats(name: str) -> str:
    return did_you_mean(name, sorted(PATTERNS), 0.8).strip()


_STEPS = {
    **dict.fromkeys(REFERENCES, Survey._refer),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), Survey._apply_listed),
    "not": Survey._negate,
    "if": Survey._choose,
    "items": Survey._items,
    "prefixItems": Survey._first_items,
    "additionalItems": Survey._other_items,
    "contains": Survey._contained,
    "uniqueItems": Survey._unique,
    "properties": Survey._members,
    "patternProperties": Survey._matching_members,
    "additionalProperties": Survey._ask,
    "propertyNames": Survey._names,
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "dependencies"), Survey._dependent),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), Survey._ask_about_others),
}
