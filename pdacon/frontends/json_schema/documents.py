"""Where the schemas of a document are: JSON pointers, ``$id``, ``$anchor`` and ``$ref``.

In: a schema as Python objects, and a registry of other documents. Out: a `Place` for each reference. It knows what a
keyword holds (a schema, several, or none), and nothing of what keywords mean. Nothing is fetched over a network.

Source: JSON Schema Core, draft 2020-12, sections 8 and 9; RFC 3986 for references and RFC 6901 for pointers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from pdacon.base.cancelling import look
from pdacon.base.json_pointers import pointer_names, pointer_token
from pdacon.base.quoting import did_you_mean
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.drafts import LATEST, STANDARD, Drafts
from pdacon.frontends.json_schema.plain import PlainSchema, plain, read_usual

ONE = frozenset({
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
"""Keywords that hold a schema."""
MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
"""Keywords that hold a list of schemas."""
NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "dependencies", "patternProperties", "properties"})
"""Keywords that hold schemas by name."""
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""Keywords that refer to a schema: they mean another one in another place."""
_DEFINING = ("$defs", "definitions")
_DEPENDENT = frozenset(REFERENCES)
_NAMING = frozenset({"$id", "$schema", "id"})  # which say what a schema's base or draft is
_IDENTIFYING = _NAMING | {"$anchor", "$dynamicAnchor", "$recursiveAnchor"}
_SMALL = 4
_TOLD = ONE | MANY | NAMED | _IDENTIFYING
_OF_SMALL = frozenset({str, int, bool})


Closed: TypeAlias = bool | tuple[str, ...]
"""Whether objects have only the properties listed, if any are: all objects, or those of the documents of some URIs."""


@dataclass(slots=True, unsafe_hash=True)
class Place:
    """A schema in its document. Nothing changes it; a frozen class would take three times as long to make.

    The core reads usual schemas without places (``bindings/usual_schemas.cpp``). An attribute on which the meaning of a
    schema depends has to be told to it, or keep the place from it: see `Reader.context_of`.

    Attributes
    ----------
    base : str
        The URI that references in it start from.
    pointer : str
        The JSON pointer from the root of the document, which is what is shown, or from that of another one.
    node : Any
        The schema itself.
    draft : int
        4, 6, 7, 2019 or 2020.
    scope : tuple of str
        The bases of the resources that references have led through, where ``$dynamicRef`` could depend on them.
    stays_open : bool
        Whether it stands beneath ``not`` or its like, where a schema that takes less would let more through: objects
        are not closed there, and neither is what lies within.
    """

    base: str
    pointer: str
    node: Any = field(compare=False, hash=False)
    draft: int
    scope: tuple[str, ...] = ()
    drafts: Drafts = field(default=STANDARD, repr=False)  # of its documents, and of no others
    stays_open: bool = False

    def is_closed(self, closed: Closed) -> bool:
        """Whether its objects have only the properties that are listed, if any are."""
        return closed if isinstance(closed, bool) else self.base in closed

    def lists_all(self, closed: Closed) -> bool:
        """Whether it lists properties, and its objects have no others."""
        return "properties" in self.node and self.is_closed(closed)

    def child(self, *tokens: str | int) -> Place:
        """The schema at some tokens of a pointer below this one; what they lead through is no schema."""
        node, pointer = self.node, self.pointer
        for token in tokens:
            node = node[token]
            pointer += f"/{pointer_token(token)}"
        base, draft, scope = self.base, self.draft, self.scope
        if isinstance(node, dict) and not _NAMING.isdisjoint(node):
            draft = self.drafts.of(node, draft, pointer)
            base = _base_of(node, base, draft)
            if scope and base != self.base:
                scope = (*scope, base)
        return Place(base, pointer, node, draft, scope, self.drafts, self.stays_open)

    def opened(self) -> Place:
        """The same schema where objects stay open."""
        return replace(self, stays_open=True)

    def below(self, names: Sequence[str]) -> Place | None:
        """The schema that the tokens of a pointer lead to; None: there is nothing.

        Only what a keyword holds as a schema is one on the way, so that names of members are not read as keywords.
        """
        place, tokens = self, list[str | int]()
        node = self.node
        for name in names:
            if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
                tokens.append(int(name))
            elif isinstance(node, dict) and name in node:
                tokens.append(name)
            else:
                return None
            node = node[tokens[-1]]
            if _holds_schema(tokens, node):
                place, tokens = place.child(*tokens), []
        return place.child(*tokens) if tokens else place


def is_like_others(place: Place) -> tuple[Any, ...] | None:
    """What a small schema says, if it is the same wherever it stands; else None."""
    node = place.node
    if len(node) > _SMALL:
        return None
    kinds = tuple(map(type, node.values()))
    if not _OF_SMALL.issuperset(kinds) or not _DEPENDENT.isdisjoint(node):
        return None
    return place.draft, kinds, *node.items()


class Documents:
    """A document and what it refers to.

    Parameters
    ----------
    root : Any
        The schema: a dict or a bool.
    registry : optional
        Other documents: a mapping from URIs to schemas, or a ``referencing.Registry``.
    text : str, optional
        What ``json.dumps`` writes for the schema, where that is known.
    lenient : bool
        Whether a ``$schema`` may be any.
    """

    def __init__(self, root: Any, registry: Any = None, text: str | None = None, *, lenient: bool = False) -> None:
        self._registry = _Registry(registry)
        self._drafts = Drafts(self._registry, lenient=lenient)
        self._resources: dict[str, Place] = {}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._referred: dict[tuple[str, str], Place] = {}  # by the base and the reference
        self._dynamic: set[tuple[str, str]] = set()
        draft = self._drafts.of(root, LATEST, "#") if isinstance(root, dict) else LATEST
        base = _base_of(root, "", draft) if isinstance(root, dict) else ""
        self.root = Place(base, "#", root, draft, drafts=self._drafts)
        self._resources[""] = self.root
        self._add(self.root, "", _text(root) if text is None else text)
        if self._dynamic:
            self.root = Place(base, "#", root, draft, (base,), self._drafts)

    def _add(self, place: Place, own: str, text: str) -> None:
        self._resources.setdefault(place.base, place)
        self._resources.setdefault(own, place)
        if not any(word in text for word in ('"$id": "', '"id": "', "nchor")):  # a member may have such a name
            return
        pending: list[tuple[Place, tuple[str | int, ...], Any]] = [(place, (), place.node)]
        while pending:
            look()
            above, tokens, node = pending.pop()
            if not isinstance(node, dict):
                continue
            if not _IDENTIFYING.isdisjoint(node):
                above, tokens = above.child(*tokens) if tokens else above, ()
                self._name(above)
            pending += [(above, (*tokens, *more), value) for more, value in _held(node)]

    def _name(self, place: Place) -> None:
        """Note what a schema calls itself."""
        node = place.node
        identifier = node.get("$id" if place.draft > 4 else "id")
        if isinstance(identifier, str):
            if identifier.startswith("#"):  # a name for the place, up to draft 7
                self._anchors.setdefault((place.base, identifier[1:]), place)
            else:
                self._resources.setdefault(place.base, place)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := node.get(keyword), str):
                self._anchors.setdefault((place.base, name), place)
                if keyword == "$dynamicAnchor":
                    self._dynamic.add((place.base, name))
        if node.get("$recursiveAnchor") is True:
            self._dynamic.add((place.base, ""))

    def nodes(self) -> list[Any]:
        """The schemas of all documents that were read so far, from the root on."""
        return [place.node for place in (self.root, *self._resources.values())]

    def resource_of(self, place: Place) -> Place | None:
        """The schema that the pointers of a place's references start from."""
        return self._resources.get(place.base)

    def referred(self, place: Place, keyword: str) -> Place:
        """The schema that ``$ref``, ``$dynamicRef`` or ``$recursiveRef`` of a place means.

        Raises
        ------
        UnsupportedSchemaError
            There is no such schema, or it is in a document that was not given.
        """
        reference = place.node[keyword]
        if not isinstance(reference, str):
            raise UnsupportedSchemaError(place.pointer, keyword, "it must be a string")
        key = place.base, reference
        target = self._referred.get(key)
        if target is None:
            target = self._referred[key] = self._resolved(place, keyword, reference)
        if keyword == "$recursiveRef":
            if (target.base, "") in self._dynamic:
                target = next((self._resources[base] for base in place.scope if (base, "") in self._dynamic), target)
        elif keyword == "$dynamicRef":
            name = unquote(urldefrag(reference).fragment)
            if (target.base, name) in self._dynamic:
                bases = (base for base in place.scope if (base, name) in self._dynamic)
                target = next((self._anchors[base, name] for base in bases), target)
        if not place.scope:
            return target.opened() if place.stays_open else target
        scope = place.scope if target.base in place.scope else (*place.scope, target.base)
        return Place(target.base, target.pointer, target.node, target.draft, scope, self._drafts, place.stays_open)

    def _resolved(self, place: Place, keyword: str, reference: str) -> Place:
        if reference.startswith("#"):
            uri, fragment = place.base, reference[1:]
        else:
            uri, fragment = urldefrag(urljoin(place.base, reference))
        resource = self._resource(uri, place, keyword, reference)
        fragment = unquote(fragment)
        if not fragment:
            return resource
        if not fragment.startswith("/"):
            inner = self._anchors.get((resource.base, fragment))
            if inner is None:
                why = f"{reference!r} names no place{self._meant(place, reference)}"
                raise UnsupportedSchemaError(place.pointer, keyword, why)
            return inner
        inner = resource.below(pointer_names(fragment))
        if inner is None:
            why = f"there is nothing at {reference!r}{self._meant(place, reference)}"
            raise UnsupportedSchemaError(place.pointer, keyword, why)
        return inner

    def _resource(self, uri: str, place: Place, keyword: str, reference: str) -> Place:
        resource = self._resources.get(uri)
        if resource is not None:
            return resource
        node = self._registry(uri)
        if node is None:
            advice = self._meant(place, reference) or self._registry.advice(uri)
            why = f"{reference!r} is in another document{advice}"
            raise UnsupportedSchemaError(place.pointer, keyword, why)
        node, text = plain(node, f"{uri}#")
        draft = self._drafts.of(node, LATEST, f"{uri}#") if isinstance(node, dict) else LATEST
        base = _base_of(node, uri, draft) if isinstance(node, dict) else uri
        added = Place(base, f"{uri}#", node, draft, drafts=self._drafts)
        self._add(added, uri, text)
        return added

    def others(self) -> Iterator[str]:
        """The URI and the text of each other document that has been asked for and was given."""
        for uri, document in sorted(self._registry.given.items()):
            yield uri
            yield json.dumps(document, default=repr)

    def _meant(self, place: Place, reference: str) -> str:
        """Which place of the same document a reference that leads nowhere may mean."""
        resource = self._resources.get(place.base, self.root)
        definitions = {
            f"#/{keyword}/{pointer_token(name)}": name
            for keyword in _DEFINING
            if isinstance(resource.node, dict) and isinstance(named := resource.node.get(keyword), dict)
            for name in named
        }
        if "://" in reference:
            return ""
        tokens = pointer_names("/" + unquote(reference).lstrip("#/"))
        there = resource.node
        for token in tokens:
            there = there.get(token) if isinstance(there, dict) else None
        if there is not None:
            return f'; did you mean "#/{"/".join(map(pointer_token, tokens))}"?'
        meant = [pointer for pointer, name in definitions.items() if name == tokens[-1]]
        if meant:
            return f'; did you mean "{meant[0]}"?'
        near = did_you_mean(reference, list(definitions), 0.8).strip()
        return f"; {near}" if near else ""


class _Registry:
    """Other documents by URI, as they are given; ``given`` are those that have been asked for."""

    def __init__(self, registry: Any) -> None:
        self._registry = registry
        self.given: dict[str, Any] = {}

    def __call__(self, uri: str) -> Any:
        document = self._looked_up(uri)
        if document is not None:
            self.given[uri] = document
        return document

    def advice(self, uri: str) -> str:
        """What to write so that a document is there; nothing is fetched."""
        listed = self._registry if isinstance(self._registry, Mapping) else {}
        near = did_you_mean(uri, [str(one) for one in listed], 0.8).strip()
        if near:
            return f", which the registry does not have; {near}"
        name = uri.rstrip("/").rpartition("/")[2].rpartition(":")[2] or "schema.json"
        file = name if name.endswith(".json") else f"{name}.json"
        beside = "..., " if listed else ""
        return f"; nothing is fetched: give it with registry={{{beside}{uri!r}: pathlib.Path({file!r})}}"

    def _looked_up(self, uri: str) -> Any:
        registry = self._registry
        if registry is None:
            return None
        if hasattr(registry, "get_or_retrieve"):
            try:
                return registry.get_or_retrieve(uri).value.contents
            except Exception:
                return None
        return registry.get(uri) if isinstance(registry, Mapping) else None


def subschemas(place: Place) -> Iterator[Place]:
    """The schemas right below one."""
    for keyword in place.node:
        yield from schemas_of(place, keyword)


def schemas_of(place: Place, keyword: str) -> Iterator[Place]:
    """The schemas that a keyword of a schema holds, if it is there and holds any."""
    for tokens, _ in _held_by(place.node, keyword):
        yield place.child(*tokens)


def _held(node: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The schemas right below one that may hold more than words, by the tokens that lead to them."""
    for keyword in node:
        for tokens, value in _held_by(node, keyword):
            if isinstance(value, dict) and not _TOLD.isdisjoint(value):
                yield tokens, value


def _held_by(node: Mapping[str, Any], keyword: str) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    value = node.get(keyword)
    if keyword in NAMED and isinstance(value, dict):
        for name, member in value.items():
            if isinstance(member, (dict, bool)):
                yield (keyword, name), member
    elif keyword in MANY and isinstance(value, list):
        for index, item in enumerate(value):
            yield (keyword, index), item
    elif keyword in ONE and isinstance(value, dict):
        yield (keyword,), value


def canonical(schema: Any) -> str | None:
    """A schema, as Python objects, as JSON in which keywords are in order; None if it is no JSON.

    The order of the names under ``properties`` and its like stays: it is the order in which members are written.
    """
    try:
        return json.dumps(_sorted(schema))
    except (TypeError, ValueError, RecursionError):
        return None


def read_canonical(text: str) -> PlainSchema | None:
    """A schema of a text, read, with its canonical text; None: the text says more than that could, or is no JSON.

    Numbers that it shows in another way than Python does are more: these spellings are taken.
    """
    with suppress(ValueError, RecursionError):
        value = read_usual(text)
        return PlainSchema(value, json.dumps(_sorted(value)))
    return None


def _sorted(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    ordered: dict[str, Any] = {}
    for keyword in sorted(node):
        value = node[keyword]
        if keyword in NAMED and isinstance(value, dict):
            ordered[keyword] = {name: _sorted(member) for name, member in value.items()}
        elif keyword in MANY and isinstance(value, list):
            ordered[keyword] = [_sorted(item) for item in value]
        else:
            ordered[keyword] = _sorted(value) if keyword in ONE else value
    return ordered


def _base_of(node: Mapping[str, Any], base: str, draft: int) -> str:
    identifier = node.get("$id" if draft > 4 else "id")
    if not isinstance(identifier, str) or identifier.startswith("#") or ("$ref" in node and draft <= 7):
        return base
    return urldefrag(urljoin(base, identifier)).url


def _holds_schema(tokens: Sequence[str | int], node: Any) -> bool:
    """Whether tokens that begin at a schema lead to one below it."""
    keyword = tokens[0]
    if len(tokens) == 1:
        return keyword in ONE and not isinstance(node, list)
    return len(tokens) == 2 and (keyword in MANY if isinstance(tokens[1], int) else keyword in NAMED)


def _text(node: Any) -> str:
    try:
        return json.dumps(node)
    except (TypeError, ValueError, RecursionError):
        return '"$id": "'  # look at every schema in it
