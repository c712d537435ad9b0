"""JSON Schema -> expressions, as those of rules: what the schema says, keyword by keyword, not what it is lowered to.

In: the document of a schema. Out: a `SchemaPart` for the schema itself, for each schema that a ``$ref`` leads to, and
for each nested one that is too large to stand within the diagram of another one. Several demands on one value stand in
a frame that says so: what they come to is the grammar's business.

No schema is followed deeper than ``_DEEPEST`` levels in one diagram; what lies below has a diagram of its own. So the
recursion is bounded, whatever the schema. Cost: linear in what is drawn.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdacon.base.graphs import reachable
from pdacon.drawing.captions import shortened
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import MANY, NAMED, ONE, REFERENCES, Documents, Place
from pdacon.frontends.json_schema.value_words import heading, number_words, remark, string_words, value_text
from pdacon.grammar.definitions import Expression, Name
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, leaves_of

_INLINE, _WIDEST = 12, 640  # boxes and pixels of a nested schema, before it has a diagram of its own
_DEEPEST = 6
_MOST_BOXES = 3000
_MOST_VALUES, _MOST_BRANCHES, _MOST_MEMBERS, _MOST_PREFIX = 12, 40, 150, 12

_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_OF_TYPE: Mapping[str, frozenset[str]] = {
    "object": frozenset({
        "additionalProperties", "dependencies", "dependentRequired", "maxProperties", "minProperties",
        "patternProperties", "properties", "propertyNames", "required", "unevaluatedProperties",
    }),
    "array": frozenset({
        "additionalItems", "contains", "items", "maxContains", "maxItems", "minContains", "minItems", "prefixItems",
        "unevaluatedItems", "uniqueItems",
    }),
    "string": frozenset({"format", "maxLength", "minLength", "pattern"}),
    "number": frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"}),
}  # fmt: skip
_OBJECT_REMARKS = (
    "unevaluatedProperties", "minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependencies",
)  # fmt: skip
_ARRAY_REMARKS = ("unevaluatedItems", "uniqueItems", "contains", "minContains", "maxContains")
_COMBINATORS = {"anyOf": "any of", "oneOf": "exactly one of"}
ALL_OF = "all of these at once"


@dataclass(frozen=True, slots=True)
class Box(Name):
    """A name with what it says when it is pointed at."""

    title: str = ""


@dataclass(frozen=True, slots=True)
class Framed(InOrder[Name]):
    """Items in a frame with a label."""

    label: str = ""


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """A schema that has a diagram of its own."""

    pointer: str  # Where it stands
    remark: str  # Its title, or the beginning of its description
    expression: Expression


ANY = Box("any JSON", "parameter")


class Outline:
    """The parts of a document. ``first`` is the schema to begin with."""

    def __init__(self, documents: Documents, first: Place) -> None:
        self._documents = documents
        self._made: dict[str, SchemaPart] = {}
        self._pending: deque[Place] = deque([first])
        self._room = _MOST_BOXES
        skipped: dict[str, None] = {}
        while self._pending:
            place = self._pending.popleft()
            if place.pointer in self._made:
                continue
            if self._room <= 0:
                skipped[place.pointer] = None
                continue
            self._add(place, self._value(place, None, 0))

        def linked(pointer: str) -> Iterator[str]:
            return (link for link in _links(self._made[pointer].expression) if link in self._made)

        # The first one and those that links lead to from it, as they are met, as long as there is room.
        self.parts = tuple(self._made[pointer] for pointer in reachable([first.pointer], linked))
        # The pointers of schemas for which there was none.
        self.left_out = tuple(one for one in skipped if one not in self._made)

    def _add(self, place: Place, expression: Expression) -> None:
        self._made[place.pointer] = SchemaPart(place.pointer, heading(place.node), expression)
        self._room -= _boxes(expression)

    def _nested(self, place: Place, types: Sequence[str] | None, depth: int) -> Expression:
        """A schema within another one's diagram, or the link to its own."""
        link = Box(_short(place.pointer), "rule", place.pointer, place.pointer)
        if place.pointer in self._made:
            return link
        if (depth > _DEEPEST or self._room <= 0) and not _is_leaf(place.node):
            self._pending.append(place)
            return link
        expression = self._value(place, types, depth)
        if _boxes(expression) <= _INLINE and _width(expression) <= _WIDEST:
            return expression
        self._add(place, expression)
        return link

    def _value(self, place: Place, types: Sequence[str] | None, depth: int) -> Expression:
        """A schema; ``types`` are those that are asked for where it is applied, if they are known."""
        node = place.node
        if not isinstance(node, dict):
            return ANY if node is not False else Box("no value", "parameter", None, place.pointer)
        found = [self._reference(place, keyword) for keyword in REFERENCES if keyword in node]
        if found and place.draft <= 7:
            return found[0]
        own = _types_of(node)
        types = own if own is not None else types
        values = node.get("enum") if "const" not in node else [node["const"]]
        if isinstance(values, list):
            found.append(_values(place, values))
        said = [kind for kind, keywords in _OF_TYPE.items() if keywords & node.keys()]
        if said or (own is not None and not isinstance(values, list)):
            found.append(self._of_types(place, types, said, depth))
        found += self._combined(place, types, depth)
        if len(found) == 1:
            return found[0]
        return Framed((OneOf(tuple(found)),), ALL_OF) if found else ANY

    def _reference(self, place: Place, keyword: str) -> Expression:
        said = f"{place.pointer}: {keyword} {value_text(place.node[keyword])}"
        try:
            target = self._documents.referred(place, keyword)
        except UnsupportedSchemaError:  # in another document, which is not at hand any more
            return Box(value_text(place.node[keyword]), "parameter", None, said)
        if target.pointer not in self._made:
            self._pending.append(target)
        return Box(_short(target.pointer), "rule", target.pointer, said)

    def _of_types(self, place: Place, types: Sequence[str] | None, said: Sequence[str], depth: int) -> Expression:
        """What keywords that speak of one type say; of values of other types they say nothing."""
        kinds = list(types) if types is not None else list(said)
        if types is not None and "number" in kinds and "integer" in kinds:
            kinds.remove("integer")
        made = [self._of_type(place, kind, depth) for kind in kinds]
        if types is None:
            others = " or ".join(f"no {kind}" for kind in said) if len(said) < 2 else "any other type"
            made.append(Box(others, "parameter", None, f"{place.pointer}: no type is asked for"))
        return made[0] if len(made) == 1 else OneOf(tuple(made))

    def _of_type(self, place: Place, kind: str, depth: int) -> Expression:
        node = place.node
        if kind == "object":
            return self._object(place, depth)
        if kind == "array":
            return self._array(place, depth)
        if kind == "string":
            return Box(string_words(node), "rule", None, _tip(place, _OF_TYPE["string"]))
        if kind in ("number", "integer"):
            return Box(number_words(kind, node), "rule", None, _tip(place, _OF_TYPE["number"]))
        return Box(kind, "literal" if kind == "null" else "rule", None, place.pointer)

    def _object(self, place: Place, depth: int) -> Expression:
        node = place.node
        listed = _mapping(node, "properties")
        required = node["required"] if isinstance(node.get("required"), list) else []
        items: list[Expression] = []
        for name in list(listed)[:_MOST_MEMBERS]:
            below = place.child("properties", name)
            if below.node is False:
                items.append(Box(f"no {value_text(name)}", "parameter", None, below.pointer))
                continue
            member = InOrder((_name_of(name, below.pointer), self._nested(below, None, depth + 1)))
            items.append(member if name in required else Repeated(member, 0, 1))
        if len(listed) > _MOST_MEMBERS:
            items.append(_more(len(listed) - _MOST_MEMBERS, "members"))
        others = self._others(place, depth)
        unlisted = [name for name in required[:_MOST_MEMBERS] if isinstance(name, str) and name not in listed]
        items += (InOrder((_name_of(name, f"{place.pointer}/required"), others or ANY)) for name in unlisted)
        for pattern in list(_mapping(node, "patternProperties"))[:_MOST_BRANCHES]:
            below = place.child("patternProperties", pattern)
            text = Box(f"/{pattern}/:", "rule", None, below.pointer)
            items.append(Repeated(InOrder((text, self._nested(below, None, depth + 1))), 0, None))
        if others is not None:
            other = Box('"...":', "parameter", None, f"{place.pointer}: other names")
            items.append(Repeated(InOrder((other, others)), 0, None))
        return _remarked(_enclosed("{", items, "}", place), remark(node, _OBJECT_REMARKS))

    def _others(self, place: Place, depth: int) -> Expression | None:
        """The value of a member that is not listed; None where there is none."""
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if keyword in place.node:
                below = place.child(keyword)
                return None if below.node is False else self._nested(below, None, depth + 1)
        return ANY

    def _array(self, place: Place, depth: int) -> Expression:
        node = place.node
        keyword = "prefixItems" if isinstance(node.get("prefixItems"), list) else "items"
        count = len(node[keyword]) if isinstance(node.get(keyword), list) else 0
        least, most = _count(node.get("minItems")) or 0, _count(node.get("maxItems"))
        rest = "additionalItems" if count and keyword == "items" else "items"
        other: Expression | None = ANY
        if rest in node:
            other = None if node[rest] is False else self._nested(place.child(rest), None, depth + 1)
        elif node.get("unevaluatedItems") is False:
            other = None
        shown = min(count, _MOST_PREFIX if most is None else min(most, _MOST_PREFIX))
        tail: Expression | None = None
        if shown < count and (most is None or most > shown):
            tail = _more(count - shown, "items")
        elif other is not None and (most is None or most > count):
            tail = Repeated(other, max(least - count, 0), None if most is None else most - count)
        items: list[Expression] = [] if tail is None else [tail]
        for k in reversed(range(shown)):
            item = self._nested(place.child(keyword, k), None, depth + 1)
            # An item can only be left out with all that come after it.
            items = [item, *items] if k < least else [Repeated(InOrder((item, *items)), 0, 1)]
        return _remarked(_enclosed("[", items, "]", place), remark(node, _ARRAY_REMARKS))

    def _combined(self, place: Place, types: Sequence[str] | None, depth: int) -> Iterator[Expression]:
        """The demands of keywords that apply other schemas to the same value, one by one."""
        node = place.node
        for keyword, label in _COMBINATORS.items():
            if isinstance(node.get(keyword), list):
                branches = self._branches(place, keyword, types, depth)
                yield branches[0] if len(branches) == 1 else Framed((OneOf(tuple(branches)),), label)
        if isinstance(node.get("allOf"), list):
            yield from self._branches(place, "allOf", types, depth)
        if "not" in node:
            yield Framed((self._nested(place.child("not"), types, depth + 1),), "not")
        if "if" in node and ("then" in node or "else" in node):
            yield self._conditional(place, types, depth)
        for keyword in ("dependentSchemas", "dependencies"):
            for name, value in list(_mapping(node, keyword).items())[:_MOST_BRANCHES]:
                if isinstance(value, (dict, bool)):
                    below = self._nested(place.child(keyword, name), ["object"], depth + 1)
                    yield Framed((below,), f"if there is {value_text(name)}")

    def _branches(self, place: Place, keyword: str, types: Sequence[str] | None, depth: int) -> list[Expression]:
        count = len(place.node[keyword])
        shown = [self._nested(place.child(keyword, k), types, depth + 1) for k in range(min(count, _MOST_BRANCHES))]
        return [*shown, _more(count - len(shown), "branches")] if count > len(shown) else shown

    def _conditional(self, place: Place, types: Sequence[str] | None, depth: int) -> Expression:
        made = {
            keyword: Framed((self._nested(place.child(keyword), types, depth + 1),), keyword)
            for keyword in ("if", "then", "else")
            if keyword in place.node
        }
        yes: Expression = InOrder((made["if"], *([made["then"]] if "then" in made else [])))
        return OneOf((yes, made.get("else", Box("else any JSON", "parameter"))))


def spoken(expression: Expression) -> Expression:
    """The same with the label of each frame as its first item, for the picture in words."""
    if isinstance(expression, Framed):
        return InOrder((Name(f"{expression.label}:", "parameter"), *map(spoken, expression.items)))
    if isinstance(expression, Repeated):
        return Repeated(spoken(expression.item), expression.least, expression.most)
    if isinstance(expression, (InOrder, OneOf)):
        return type(expression)(tuple(map(spoken, expression.items)))
    return expression


def _types_of(node: Mapping[str, Any]) -> list[str] | None:
    said = node.get("type")
    types = [said] if isinstance(said, str) else said
    return [one for one in types if one in _TYPES] if isinstance(types, list) else None


def _values(place: Place, values: Sequence[Any]) -> Expression:
    made: list[Expression] = [Box(value_text(value), "literal", None, place.pointer) for value in values[:_MOST_VALUES]]
    if len(values) > _MOST_VALUES:
        made.append(_more(len(values) - _MOST_VALUES, "values"))
    return made[0] if len(made) == 1 else OneOf(tuple(made))


def _remarked(expression: Expression, label: str) -> Expression:
    return Framed((expression,), label) if label else expression


def _enclosed(opening: str, items: Sequence[Expression], closing: str, place: Place) -> Expression:
    ends = [Box(bracket, "literal", None, place.pointer) for bracket in (opening, closing)]
    return InOrder((ends[0], *items, ends[1]))


def _name_of(name: str, pointer: str) -> Box:
    return Box(f"{value_text(name)}:", "terminal", None, pointer)


def _more(count: int, what: str) -> Box:
    return Box(f"... {count:,} more {what}", "parameter")


def _tip(place: Place, keywords: frozenset[str]) -> str:
    said = ", ".join(f"{one} {value_text(place.node[one])}" for one in place.node if one in keywords)
    return f"{place.pointer}: {said}" if said else place.pointer


def _short(pointer: str) -> str:
    """What a link to a schema is called: its name under ``$defs``, or its pointer."""
    for home in ("#/$defs/", "#/definitions/"):
        if pointer.startswith(home):
            return pointer.removeprefix(home)
    return pointer


def _mapping(node: Mapping[str, Any], keyword: str) -> Mapping[str, Any]:
    found = node.get(keyword)
    return found if isinstance(found, dict) else {}


def _count(value: Any) -> int | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return int(value) if known else None


def _is_leaf(node: Any) -> bool:
    return not isinstance(node, dict) or not node.keys() & (ONE | MANY | NAMED)


def _boxes(expression: Expression) -> int:
    return sum(1 for _ in leaves_of(expression))


def _width(expression: Expression) -> int:
    """About how many pixels its boxes take side by side."""
    if isinstance(expression, Name):
        return 8 * len(shortened(expression.text)) + 40
    if isinstance(expression, Repeated):
        return _width(expression.item) + 40
    widths = map(_width, expression.items)
    return max(widths, default=0) + 40 if isinstance(expression, OneOf) else sum(widths)


def _links(expression: Expression) -> Iterator[str]:
    return (name.rule for name in leaves_of(expression) if name.rule is not None)
