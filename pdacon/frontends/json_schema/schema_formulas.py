"""Schemas -> formulas over facts: what a schema says of a value of each type.

In: places in documents. Out: for a schema and a type, the formula that holds for exactly those values of the type that
the schema takes, and which members or items it evaluates. ``allOf``, ``anyOf``, ``oneOf``, ``not``, ``if`` and ``$ref``
are connectives here; what a schema says of members and items stays a question, which is asked where they are read.

Source: JSON Schema Core, sections 10 and 11, and Validation, section 6, draft 2020-12; the drafts before where they
differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from pdacon.base.cancelling import every, look
from pdacon.base.quoting import did_you_mean
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema import string_formats
from pdacon.frontends.json_schema.closing import Closing
from pdacon.frontends.json_schema.documents import Closed, Documents, Place, is_like_others
from pdacon.frontends.json_schema.evaluation import Cover, items_beside, items_fact, member_fact, members_beside
from pdacon.frontends.json_schema.facts import (
    TYPES,
    Above,
    Among,
    Fact,
    Facts,
    Has,
    Integral,
    Listed,
    LongerThan,
    Matches,
    Members,
    MoreItemsThan,
    MoreMembersThan,
    Multiple,
    Names,
    Repeats,
    Satisfies,
    Type,
)
from pdacon.frontends.json_schema.json_values import NAMES, are_plain_integers, fraction_of, kind_of, number_of
from pdacon.frontends.json_schema.listed_values import listed_values, types_at, value_key
from pdacon.frontends.json_schema.pattern_words import pattern_words
from pdacon.frontends.json_schema.plain import WrittenDecimal
from pdacon.frontends.json_schema.ranks import Ranks, ranks_of
from pdacon.frontends.json_schema.wrong_values import wrong_value
from pdacon.regular import FALSE, TRUE, PatternError, parse_pattern

_LISTING = frozenset({"properties", "allOf", "anyOf", "oneOf", "if", "$ref"})
"""Keywords whose schemas list members of the same object."""
_FORMATS = frozenset(string_formats.PATTERNS) | frozenset(string_formats.NOT_REGULAR)
_LONGEST = 10_000_000  # characters of a string that are counted


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a schema says of the values of one type, and what it evaluates of those that it takes."""

    formula: int
    covers: tuple[Cover, ...] = ()


_NOTHING, _ANYTHING = Meaning(FALSE), Meaning(TRUE)


Note: TypeAlias = Callable[[str, str, str], None]


class Reader:
    """Reads schemas when they are asked about.

    Parameters
    ----------
    documents : Documents
    formats_asserted : bool
        Whether ``format`` is enforced.
    drop : callable
        Told of what cannot be enforced; it raises, or the keyword is left out.
    note : callable
        Told of what is narrowed, so that the caller is warned of it: a place, a keyword and why.
    marked : iterable of str
        The types of a `Notation`, which are beside those of JSON.
    closed : bool or tuple of str
        Whether an object whose schemas list properties has no others, unless one says what others it has: any object,
        or those of the documents of some URIs.
    plain_integers : bool
        Whether an integer has neither a fraction nor an exponent in every draft.
    """

    def __init__(
        self,
        documents: Documents,
        formats_asserted: bool,
        drop: Callable[[UnsupportedSchemaError], None],
        note: Note,
        marked: Iterable[str] = (),
        closed: Closed = False,
        plain_integers: bool = False,
    ) -> None:
        self.note = note
        self._marked = tuple(marked)
        self.types: tuple[Any, ...] = (*TYPES, *self._marked)
        self.facts = Facts()
        self.places: list[Place] = []
        self.origins: dict[Fact, tuple[str, str]] = {}
        self.listed: dict[Hashable, Any] = {}
        self.are_listed: set[Members] = set()  # those whose names are in an order, that of a schema's `properties`
        self.documents, self._formats_asserted, self.drop = documents, formats_asserted, drop
        self._numbers: dict[Any, int] = {}
        self._questions: dict[int, int] = {}  # by number
        self._asked: dict[int, int] = {}  # by question: the number
        self._known: dict[tuple[int, Type], Meaning | None] = {}
        self.closed, self._plain_integers = closed, plain_integers
        self._closing = Closing(documents, closed)

    @cached_property
    def ranks(self) -> Ranks:
        """Where what the documents name first stands in them: of all that have been read when it is first asked."""
        return ranks_of(self.documents.nodes())

    def question(self, place: Place) -> int:
        """The formula that a value satisfies the schema at a place."""
        takes = _all_or_nothing(place)
        if takes is not None:
            return TRUE if takes else FALSE
        number = self._number(place)
        question = self._questions.get(number)
        if question is None:
            question = self._questions[number] = self.facts.holds(Satisfies(number))
            self._asked[question] = number
        return question

    def place_of(self, question: int) -> Place | None:
        """The place of the schema that a question is about, if it asks for nothing else."""
        number = self._asked.get(question)
        return None if number is None else self.places[number]

    @property
    def asserted_formats(self) -> frozenset[str]:
        """The names of the formats that are enforced, or refused."""
        return _FORMATS if self._formats_asserted else frozenset()

    def context_of(self, place: Place) -> tuple[Any, Any, int, bool, bool] | None:
        """What the core has to be told of a place to read its schema, and those below it, by itself; None: it must not.

        The core reads dictionaries and makes no `Place` (``bindings/usual_schemas.cpp``, ``Context``). So it has to be
        told all that the meaning of a schema depends on besides its dictionary: the schema that references start from,
        the draft, whether objects are closed, and whether integers are plain. It is not told of ``scope`` and
        ``stays_open``, and gets no places that have them.
        """
        resource = self.documents.resource_of(place)
        if place.scope or place.stays_open or resource is None or resource.draft != place.draft:
            return None
        plain_integers = self._plain_integers or place.draft <= 4
        return place.node, resource.node, place.draft, place.is_closed(self.closed), plain_integers

    def plain_types(self, schema: int) -> Iterable[Type]:
        """The types that the schema of a number allows, as far as that is plain."""
        return self.types if self._marked else types_at(self.documents, self.places[schema])

    def listed_values(self, schema: int) -> list[Hashable] | None:
        """Keys of the values that the schema of a number takes, if it lists them and says nothing else."""
        return None if self._marked else listed_values(self.documents, self.places[schema])

    def formula(self, schema: int, kind: Type) -> int:
        """What the schema of a number says of the values of one type."""
        meaning = self._of(schema, kind)
        place = self.places[schema]
        is_closed = base_of(kind) == "object" and any(cover.closed for cover in meaning.covers)
        if is_closed and not place.stays_open:
            beside = members_beside(self.facts, place, FALSE, meaning.covers)
            return self.facts.formulas.conjunction(meaning.formula, beside)
        return meaning.formula

    def _number(self, place: Place) -> int:
        if place.stays_open and not self._closing.closes(place):
            place = replace(place, stays_open=False)  # it says the same
        number = self._numbers.setdefault(is_like_others(place) or place, len(self.places))
        if number == len(self.places):
            self.places.append(place)
        return number

    def _of(self, schema: int, kind: Type) -> Meaning:
        key = schema, kind
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._read(self.places[schema], kind)
        known = self._known[key]
        if known is None:
            place = self.places[schema]
            raise UnsupportedSchemaError(place.pointer, "", "it refers to itself without a value in between")
        return known

    def _at(self, place: Place, kind: Type) -> Meaning:
        """The meaning of a schema that is applied to the same value."""
        takes = _all_or_nothing(place)
        if takes is not None:
            return _ANYTHING if takes else _NOTHING
        return self._of(self._number(place), kind)

    def _read(self, place: Place, kind: Type) -> Meaning:
        look()
        node = place.node
        formulas = self.facts.formulas
        if "$ref" in node and place.draft <= 7:  # nothing else beside it counts
            return self._at(self.documents.referred(place, "$ref"), kind)
        parts = [self._typed_or_marked(place, kind)]
        if parts[0] == FALSE:
            return _NOTHING
        marked, kind = kind, base_of(kind)
        for keyword in ("const", "enum"):
            if keyword in node and (keyword == "enum" or place.draft > 4):
                values = node["enum"] if keyword == "enum" else [node["const"]]
                if not isinstance(values, list):
                    raise UnsupportedSchemaError(place.pointer, keyword, "it must be a list")
                parts.append(self._one_of(values, kind))
                if parts[-1] == FALSE:
                    return _NOTHING
                if kind == "number" and parts[0] == self.facts.holds(Integral()) and are_plain_integers(values):
                    parts[0] = TRUE
        covers: list[Cover] = []
        own_first = kind == "object" and next((key for key in node if key in _LISTING), None) == "properties"
        if own_first:  # members come in the order in which schemas that apply to the same object stand in the text
            parts += self._own(place, kind, covers)
        self._connectives(place, marked, parts, covers)
        if FALSE in parts:
            return _NOTHING
        if not own_first:
            parts += self._own(place, kind, covers)
        if kind == "object" and "unevaluatedProperties" in node and place.draft >= 2019:
            question = self.question(place.child("unevaluatedProperties"))
            parts.append(members_beside(self.facts, place, question, covers))
            covers.append(Cover(TRUE, all=True))
        if kind == "array" and "unevaluatedItems" in node and place.draft >= 2019:
            question = self.question(place.child("unevaluatedItems"))
            parts.append(items_beside(self.facts, place, question, covers))
            covers.append(Cover(TRUE, all=True))
        return Meaning(formulas.conjunction(*parts), tuple(dict.fromkeys(covers)))

    def _typed_or_marked(self, place: Place, kind: Type) -> int:
        """What ``type`` says. A type of a notation has to be asked for, where other schemas are not applied."""
        node = place.node
        if node.get("type") in self._marked:
            return TRUE if kind == node["type"] else FALSE
        if kind in self._marked:
            return TRUE if "type" not in node and node.keys() & {"$ref", "anyOf", "allOf"} else FALSE
        return self._typed(place, kind)

    def _typed(self, place: Place, kind: Type) -> int:
        said = place.node.get("type")
        if said is None and "type" not in place.node:
            return TRUE
        names = [said] if isinstance(said, str) else said
        if not isinstance(names, list) or not all(isinstance(name, str) and name in NAMES for name in names):
            near = said.lower() if isinstance(said, str) and said.lower() in NAMES else ""
            meant = did_you_mean(said, list(NAMES)).strip() if isinstance(said, str) else ""
            others = meant or f"there are {', '.join(NAMES)}"
            advice = f'; write "{near}"' if near else f"; {others}"
            raise UnsupportedSchemaError(place.pointer, "type", f"{said!r:.60} is no type or list of types{advice}")
        if kind == "number" and "number" not in names:
            written = self._plain_integers or place.draft <= 4
            return self.facts.holds(Integral(written)) if "integer" in names else FALSE
        return TRUE if any(kind in NAMES[name] for name in names) else FALSE

    def _one_of(self, values: Sequence[Any], kind: Type) -> int:
        facts = self.facts
        of_kind = [value for value in every(values) if kind_of(value) == kind]
        if not of_kind:
            return FALSE
        if kind == "string":
            return facts.holds(Among(frozenset(of_kind)))
        if kind == "number":
            shown = (text for value in every(of_kind) for text in _texts_of(value))
            return facts.holds(Among(frozenset(map(number_of, every(of_kind))), frozenset(shown)))
        if kind in ("array", "object"):
            keys = [value_key(value) for value in every(of_kind)]
            for key, value in zip(keys, of_kind, strict=True):
                self.listed.setdefault(key, value)
            return facts.holds(Listed(frozenset(keys)))
        return TRUE

    def exactly(self, value: Any) -> int:
        """The formula that an array or an object is equal to this one, in facts about its items or members."""
        facts, conjunction = self.facts, self.facts.formulas.conjunction
        if isinstance(value, list):
            first = tuple(self.equal(item) for item in value)
            return conjunction(
                items_fact(facts, first, FALSE), TRUE if not value else facts.holds(MoreItemsThan(len(value) - 1, TRUE))
            )
        named = tuple((name, self.equal(item)) for name, item in value.items())
        members = Members(named, (), FALSE)
        self.are_listed.add(members)
        return conjunction(
            facts.holds(members),
            self._has(Place("const", "const", value, 2020), "const", list(value)),
        )

    def forbids(self, question: int) -> bool:
        """Whether a question is that of a schema which says plainly that no value satisfies it."""
        if question == FALSE:
            return True
        nodes = [self.places[fact.schema].node for _, fact in self.facts.among(question) if isinstance(fact, Satisfies)]
        return any(node in ({"not": {}}, {"not": True}) for node in nodes)

    def equal(self, value: Any) -> int:
        """The formula that a value is equal to this one."""
        return self.question(Place("const", f"={value!r}", {"const": value}, 2020))

    # Keywords that apply other schemas to the same value.

    def _connectives(self, place: Place, kind: Type, parts: list[int], covers: list[Cover]) -> None:
        node, formulas = place.node, self.facts.formulas
        for keyword, since in (("$ref", 2019), ("$dynamicRef", 2020), ("$recursiveRef", 2019)):
            if keyword in node and place.draft >= since and not (keyword == "$recursiveRef" and place.draft > 2019):
                meaning = self._at(self.documents.referred(place, keyword), kind)
                parts.append(meaning.formula)
                covers += meaning.covers
        if "allOf" in node:
            for meaning in self._listed(place, "allOf", kind):
                parts.append(meaning.formula)
                covers += meaning.covers
        if FALSE in parts:
            return
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                options = self._listed(place, keyword, kind)
                parts.append(formulas.disjunction(*[meaning.formula for meaning in options]))
                if keyword == "oneOf":
                    opened = self._listed(place, "oneOf", kind, stay_open=True) if self.closed else options
                    parts.append(formulas.exactly_one([meaning.formula for meaning in opened]))
                for meaning in options:
                    covers += self._under(meaning.formula, meaning.covers)
        if "not" in node:
            parts.append(formulas.negation(self._at(self._opened(place.child("not")), kind).formula))
        if "if" in node and place.draft >= 7:
            condition = self._at(self._opened(place.child("if")), kind)
            then = self._at(place.child("then"), kind) if "then" in node else _ANYTHING
            otherwise = self._at(place.child("else"), kind) if "else" in node else _ANYTHING
            parts.append(formulas.choice(condition.formula, then.formula, otherwise.formula))
            covers += self._under(condition.formula, (*condition.covers, *then.covers))
            covers += self._under(formulas.negation(condition.formula), otherwise.covers)

    def _listed(self, place: Place, keyword: str, kind: Type, *, stay_open: bool = False) -> list[Meaning]:
        node = place.node[keyword]
        if not isinstance(node, list) or not node:
            raise UnsupportedSchemaError(place.pointer, keyword, "it must be a list of schemas")
        children = [place.child(keyword, k) for k in range(len(node))]
        return [self._at(child.opened() if stay_open else child, kind) for child in children]

    def _opened(self, place: Place) -> Place:
        """A schema that says as much as it does where no objects are closed."""
        return place.opened() if self.closed else place

    def _under(self, condition: int, covers: Iterable[Cover]) -> list[Cover]:
        conjunction = self.facts.formulas.conjunction
        return [replace(cover, condition=conjunction(condition, cover.condition)) for cover in covers]

    # Keywords about values of one type.

    def _own(self, place: Place, kind: Type, covers: list[Cover]) -> list[int]:
        if kind == "string":
            return self._of_string(place)
        if kind == "number":
            return self._of_number(place)
        if kind == "array":
            return self._of_array(place, covers)
        return self._of_object(place, covers) if kind == "object" else []

    def _of_string(self, place: Place) -> list[int]:
        node, facts = place.node, self.facts
        parts = []
        if (least := self._count(place, "minLength")) is not None and least > 0:
            parts.append(self._length(place, "minLength", least - 1))
        if (most := self._count(place, "maxLength")) is not None:
            parts.append(facts.formulas.negation(self._length(place, "maxLength", most)))
        if "pattern" in node:
            words = pattern_words(node["pattern"])
            asked = self._pattern(place, "pattern", node["pattern"]) if words is None else self._one_of(words, "string")
            parts.append(asked)
        if not isinstance(node.get("format", ""), str):
            raise UnsupportedSchemaError(place.pointer, "format", "it must be the name of a format")
        if "format" in node and self._formats_asserted:
            pattern = string_formats.PATTERNS.get(node["format"])
            if pattern is not None:
                parts.append(self._stated(place, "format", Matches(pattern, whole=True)))
            elif node["format"] in string_formats.NOT_REGULAR:
                self.drop(UnsupportedSchemaError(place.pointer, "format", string_formats.NOT_REGULAR[node["format"]]))
        return parts

    def _length(self, place: Place, keyword: str, length: int) -> int:
        if length > _LONGEST:
            why = f"characters are counted up to {_LONGEST:,}; leave it out"
            self.drop(UnsupportedSchemaError(place.pointer, keyword, why))
            return TRUE if keyword == "minLength" else FALSE
        return self._stated(place, keyword, LongerThan(length))

    def _stated(self, place: Place, keyword: str, fact: Fact) -> int:
        """A fact of which the place is to be known, should it be one that cannot be enforced."""
        self.origins.setdefault(fact, (place.pointer, keyword))
        return self.facts.holds(fact)

    def _pattern(self, place: Place, keyword: str, pattern: Any) -> int:
        if not isinstance(pattern, str):
            raise UnsupportedSchemaError(place.pointer, keyword, f"a pattern is a string, not {_named(pattern)}")
        try:
            parse_pattern(pattern)
        except PatternError as error:
            self.drop(UnsupportedSchemaError(place.pointer, keyword, str(error)))
            return TRUE
        return self._stated(place, keyword, Matches(pattern))

    def _of_number(self, place: Place) -> list[int]:
        node, negation = place.node, self.facts.formulas.negation
        parts = []
        old = place.draft <= 4
        if (bound := self._number_at(place, "minimum")) is not None:
            parts.append(
                self._stated(place, "minimum", Above(bound, not (old and node.get("exclusiveMinimum") is True)))
            )
        if (bound := self._number_at(place, "maximum")) is not None:
            parts.append(
                negation(self._stated(place, "maximum", Above(bound, old and node.get("exclusiveMaximum") is True)))
            )
        if not old and (bound := self._number_at(place, "exclusiveMinimum")) is not None:
            parts.append(self._stated(place, "exclusiveMinimum", Above(bound, False)))
        if not old and (bound := self._number_at(place, "exclusiveMaximum")) is not None:
            parts.append(negation(self._stated(place, "exclusiveMaximum", Above(bound, True))))
        if (bound := self._number_at(place, "multipleOf")) is not None:
            parts.append(self._stated(place, "multipleOf", Multiple(bound)))
        return parts

    def _of_array(self, place: Place, covers: list[Cover]) -> list[int]:
        node, facts, draft = place.node, self.facts, place.draft
        parts = []
        keyword = "prefixItems" if draft >= 2020 and not isinstance(node.get("items"), list) else "items"
        first: tuple[int, ...] = ()
        rest = TRUE
        if keyword == "prefixItems" and not isinstance(node.get(keyword, []), list):
            raise UnsupportedSchemaError(place.pointer, keyword, "it must be a list of schemas")
        if isinstance(node.get(keyword), list):
            first = tuple(self.question(place.child(keyword, k)) for k in range(len(node[keyword])))
            covers.append(Cover(TRUE, count=len(first)))
        behind = "items" if keyword == "prefixItems" or not isinstance(node.get("items"), list) else "additionalItems"
        if behind in node:
            rest = self.question(place.child(behind))
            covers.append(Cover(TRUE, all=True))
        parts.append(items_fact(facts, first, rest))
        if (least := self._count(place, "minItems")) is not None and least > 0:
            parts.append(facts.holds(MoreItemsThan(least - 1, TRUE)))
        if (most := self._count(place, "maxItems")) is not None:
            parts.append(facts.formulas.negation(facts.holds(MoreItemsThan(most, TRUE))))
        if "contains" in node and draft >= 6:
            question = self.question(place.child("contains"))
            low, high = 1, None
            if draft >= 2019:
                low = 1 if (found := self._count(place, "minContains")) is None else found
                high = self._count(place, "maxContains")
            if low > 0:
                parts.append(FALSE if question == FALSE else facts.holds(MoreItemsThan(low - 1, question)))
            if high is not None and question != FALSE:
                opened = self.question(self._opened(place.child("contains")))
                parts.append(facts.formulas.negation(facts.holds(MoreItemsThan(high, opened))))
            if draft >= 2020:
                covers.append(Cover(TRUE, items=question))
        if not isinstance(node.get("uniqueItems", False), bool):
            raise UnsupportedSchemaError(place.pointer, "uniqueItems", "it must be true or false")
        if node.get("uniqueItems") is True and (most is None or most > 1):
            parts.append(facts.formulas.negation(self._stated(place, "uniqueItems", Repeats(first, rest))))
        return parts

    def _of_object(self, place: Place, covers: list[Cover]) -> list[int]:
        node, facts = place.node, self.facts
        formulas = facts.formulas
        parts = []
        named = tuple((name, self.question(one)) for name, one in self._by_name(place, "properties"))
        matching = tuple(
            (pattern, self.question(one))
            for pattern, one in self._by_name(place, "patternProperties")
            if self._pattern(place, "patternProperties", pattern) != TRUE
        )
        others = self.question(place.child("additionalProperties")) if "additionalProperties" in node else TRUE
        everything = "additionalProperties" in node
        if named or matching or others != TRUE:
            members = Members(named, matching, others)
            self.are_listed.add(members)
            parts.append(self._stated(place, "properties", members))
        is_closed = place.lists_all(self.closed)
        if is_closed and others == TRUE:
            # What `members_beside` may ask of each has its variable here, beside those of the condition: then the
            # diagram of a closed union is as long as the union.
            for name, _ in named:
                facts.holds(member_fact(name, FALSE))
        if named or matching or everything or is_closed:
            covers.append(
                Cover(TRUE, tuple(dict(named)), tuple(name for name, _ in matching), all=everything, closed=is_closed)
            )
        if "required" in node and not (place.draft <= 4 and isinstance(node["required"], bool)):
            parts.append(self._has(place, "required", node["required"]))
        if "propertyNames" in node and place.draft >= 6:
            formula = self._at(place.child("propertyNames"), "string").formula
            if formula != TRUE:
                parts.append(facts.holds(Names(formula)))
        if (least := self._count(place, "minProperties")) is not None and least > 0:
            parts.append(self._stated(place, "minProperties", MoreMembersThan(least - 1)))
        if (most := self._count(place, "maxProperties")) is not None:
            parts.append(formulas.negation(self._stated(place, "maxProperties", MoreMembersThan(most))))
        for keyword in ("dependentRequired", "dependencies"):
            if keyword in node and (place.draft >= 2019) == (keyword == "dependentRequired"):
                for name, names in self._mapping(place, keyword):
                    if isinstance(names, list) or keyword == "dependentRequired":
                        there = self._has(place, keyword, [name])
                        parts.append(formulas.choice(there, self._has(place, keyword, names), TRUE))
        for keyword in ("dependentSchemas", "dependencies"):
            if keyword in node and (place.draft >= 2019) == (keyword == "dependentSchemas"):
                for name, schema in self._mapping(place, keyword):
                    if not isinstance(schema, list):
                        there = self._has(place, keyword, [name])
                        meaning = self._at(place.child(keyword, name), "object")
                        parts.append(formulas.choice(there, meaning.formula, TRUE))
                        covers += self._under(there, meaning.covers)
        return parts

    def _by_name(self, place: Place, keyword: str) -> list[tuple[str, Place]]:
        return [(name, place.child(keyword, name)) for name, _ in self._mapping(place, keyword)]

    def _mapping(self, place: Place, keyword: str) -> list[tuple[str, Any]]:
        node = place.node.get(keyword, {})
        if not isinstance(node, dict):
            raise UnsupportedSchemaError(place.pointer, keyword, f"it must be an object, not {_named(node)}")
        return list(node.items())

    def _has(self, place: Place, keyword: str, names: Any) -> int:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UnsupportedSchemaError(place.pointer, keyword, "it must be a list of names")
        holds = self.facts.holds
        return self.facts.formulas.conjunction(*[holds(Has(frozenset((name,)))) for name in dict.fromkeys(names)])

    def _count(self, place: Place, keyword: str) -> int | None:
        value = place.node.get(keyword)
        if keyword not in place.node:
            return None
        if why := wrong_value(keyword, value, place.draft):
            raise UnsupportedSchemaError(place.pointer, keyword, why)
        return int(value)

    def _number_at(self, place: Place, keyword: str) -> Fraction | None:
        if keyword not in place.node:
            return None
        value = place.node[keyword]
        if why := wrong_value(keyword, value, place.draft):
            raise UnsupportedSchemaError(place.pointer, keyword, why)
        return fraction_of(value)


def _all_or_nothing(place: Place) -> bool | None:
    """Whether the schema of a place takes all values, or none; None if it says more. Raises if it is no schema."""
    node = place.node
    if node is True or node == {}:
        return True
    if node is False:
        return False
    if not isinstance(node, dict):
        raise UnsupportedSchemaError(place.pointer, "", f"a schema is an object or a Boolean, not {_named(node)}")
    return None


def plain_types(place: Place) -> tuple[Type, ...]:
    """The types that a schema's ``type`` allows, if it is right; else all of them."""
    said = place.node.get("type")
    names = [said] if isinstance(said, str) else said
    if not isinstance(names, list) or ("$ref" in place.node and place.draft <= 7):
        return TYPES
    if not all(isinstance(name, str) and name in NAMES for name in names):
        return TYPES
    return tuple(kind for kind in TYPES if any(kind in NAMES[name] for name in names))


def base_of(kind: Any) -> Type:
    """The type of JSON that a type of a notation is like: ``object`` of ``object:Point``."""
    base: Type = kind.partition(":")[0]
    return base


def _texts_of(value: Any) -> tuple[str, ...]:
    """How the schema shows a number, and how ``json.dumps`` writes it, where these are no integers."""
    if isinstance(value, float):
        return repr(value), float.__repr__(value)
    return (repr(value),) if isinstance(value, WrittenDecimal) else ()


def _named(value: Any) -> str:
    return {"array": "a list", "object": "an object"}.get(kind_of(value), f"{value!r:.40}")
