"""Keywords that say nothing where they stand: misspelled ones, those of other drafts or types, what is beside ``$ref``.

JSON Schema takes keywords that it does not know as annotations, and so does this front end. A keyword that is near to
one that asserts something was most likely meant to be that one.

Source: JSON Schema Core, section 6.5, and the lists of keywords of the drafts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from pdacon.base.json_pointers import pointer_token
from pdacon.base.quoting import did_you_mean
from pdacon.frontends.json_schema.documents import MANY, NAMED, ONE
from pdacon.frontends.json_schema.facts import Type
from pdacon.frontends.json_schema.wrong_values import OF_PLACES, types_of, wrong_value

_SINCE = {
    "const": 6, "contains": 6, "propertyNames": 6, "if": 7, "then": 7, "else": 7, "dependentRequired": 2019,
    "dependentSchemas": 2019, "maxContains": 2019, "minContains": 2019, "unevaluatedItems": 2019,
    "unevaluatedProperties": 2019, "prefixItems": 2020, "$dynamicRef": 2020,
}  # fmt: skip
"""The first draft that has a keyword, where it is not the fourth."""
ASSERTIONS = frozenset({
    *_SINCE, "$recursiveRef", "$ref", "additionalItems", "additionalProperties", "allOf", "anyOf", "dependencies",
    "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties",
    "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
    "patternProperties", "properties", "required", "type", "uniqueItems",
})  # fmt: skip
"""The keywords that say something of values."""
_ANNOTATE = frozenset({
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary",
    "contentEncoding", "contentMediaType", "contentSchema", "default", "definitions", "deprecated", "description",
    "discriminator", "enumNames", "example", "examples", "externalDocs", "id", "note", "readOnly", "title", "writeOnly",
    "xml",
})  # fmt: skip
_KNOWN = ASSERTIONS | _ANNOTATE
_LIKELY = sorted(ASSERTIONS - {"if", "then", "else", "not"})  # too short to be near to anything
_FOREIGN = {
    "nullable": 'it is no keyword of JSON Schema; write "null" as one of the types',
    "propertyOrdering": "it is no keyword of JSON Schema; members come in the order of properties",
    "extends": 'it is of draft 3 and says nothing; write "allOf"',
    "disallow": 'it is of draft 3 and says nothing; write "not"',
    "divisibleBy": 'it is of draft 3 and says nothing; write "multipleOf"',
}
_NEAR = 0.82
_SHORTENED = {"thn": "then", "els": "else"}
_OLD_REQUIRED = "required", bool  # which is passed over up to draft 4


def is_assertion(keyword: str) -> bool:
    """Whether a keyword says something of values."""
    return keyword in ASSERTIONS


def is_known(keyword: str) -> bool:
    """Whether a keyword is one of JSON Schema, or a usual annotation."""
    return keyword in _KNOWN


def exists_in(keyword: str, draft: int) -> bool:
    """Whether a draft has a keyword, if any has it."""
    return _SINCE.get(keyword, 0) <= draft


def remarks(node: Mapping[str, Any], draft: int, types: Collection[Type]) -> Iterator[tuple[str, str]]:
    """The keywords of a schema that say nothing though they may be meant, and why; ``types`` are what it may take."""
    for keyword in node:
        if keyword in _KNOWN:
            continue
        if why := remark(keyword):
            yield keyword, why
    if "$ref" in node and draft <= 7:
        for keyword in sorted(node.keys() & ASSERTIONS - {"$ref"}):
            yield keyword, f'beside "$ref" it means nothing in draft {draft}; put both into "allOf"'
        return
    for keyword in node:
        if _SINCE.get(keyword, 0) > draft:
            yield keyword, f'draft {draft} has no such keyword; "$schema" says which draft is meant'
    for keyword, value in node.items():
        if _is_read(keyword, node, draft, types):
            continue
        if why := wrong_value(keyword, value, draft):
            yield keyword, f"{why}; it says nothing here"
    if draft >= 2019 and "dependencies" in node:
        yield "dependencies", 'it is of draft 7; write "dependentRequired" or "dependentSchemas"'
    yield from _of_other_drafts(node, draft)


def misspelled_keywords(schema: Any) -> Iterator[tuple[str, str, str]]:
    """The keywords of a schema that are near to ones that assert something, wherever a schema is in it.

    Yields
    ------
    tuple of (str, str, str)
        The JSON pointer of the schema that has it, the keyword, and which was meant.
    """
    pending = [("", schema)]
    while pending:
        pointer, node = pending.pop()
        if not isinstance(node, dict):
            continue
        for keyword, value in node.items():
            if keyword in NAMED and isinstance(value, dict):
                pending += [(f"{pointer}/{keyword}/{pointer_token(name)}", one) for name, one in value.items()]
            elif keyword in MANY and isinstance(value, list):
                pending += [(f"{pointer}/{keyword}/{k}", one) for k, one in enumerate(value)]
            elif keyword in ONE:
                pending.append((f"{pointer}/{keyword}", value))
            elif keyword not in _KNOWN and (why := misspelled(keyword)):
                yield pointer, keyword, why


def remark(keyword: str) -> str:
    """Why a keyword that there is not may have been meant; empty if none was."""
    return _FOREIGN.get(keyword) or misspelled(keyword)


def _of_other_drafts(node: Mapping[str, Any], draft: int) -> Iterator[tuple[str, str]]:
    """Keywords of a draft that later ones do not have any more, or in another way."""
    if draft != 2019:
        for keyword, instead in (("$recursiveRef", "$ref"), ("$recursiveAnchor", "$dynamicAnchor")):
            if keyword in node:
                yield keyword, f'only draft 2019-09 has it, and it says nothing here; write "{instead}"'
    if draft >= 2020 and isinstance(node.get("items"), list):
        if "prefixItems" in node:
            yield (
                "prefixItems",
                'beside a list of "items", of draft 2019-09, it says nothing; write one of them',
            )
    elif draft >= 2020 and "additionalItems" in node:
        yield "additionalItems", 'it is of draft 2019-09 and says nothing here; write "items"'


def _is_read(keyword: str, node: Mapping[str, Any], draft: int, types: Collection[Type]) -> bool:
    """Whether a keyword is looked at, so that what is wrong with its value is an error."""
    if draft <= 4 and (
        keyword in ("exclusiveMinimum", "exclusiveMaximum") or (keyword, type(node[keyword])) == _OLD_REQUIRED
    ):
        return False
    if keyword in OF_PLACES or (keyword in ("then", "else") and "if" not in node):
        return False
    own = types_of(keyword)
    return not own or any(kind in types for kind in own)


def _without_a_slip(keyword: str) -> Iterator[str]:
    """What a keyword is without the commonest slips: two letters that changed places, or one that came twice."""
    for at in range(len(keyword) - 1):
        first, second = keyword[at], keyword[at + 1]
        if first == second:
            yield keyword[:at] + keyword[at + 1 :]
        yield f"{keyword[:at]}{second}{first}{keyword[at + 2 :]}"


@lru_cache(maxsize=1024)
def misspelled(keyword: str) -> str:
    """Which keyword was meant by one that there is not; empty if none is near."""
    slip = next((meant for meant in _without_a_slip(keyword) if meant in ASSERTIONS), _SHORTENED.get(keyword))
    if slip is not None:
        return f"it is no keyword of JSON Schema and says nothing; did you mean {slip}?"
    if keyword.startswith(("x-", "$")) and keyword[1:] not in _KNOWN:
        return ""
    plain = keyword.replace("_", "").replace("-", "").lower()
    same = [known for known in _LIKELY if known.lower() == plain]
    near = f'did you mean "{same[0]}"?' if same else did_you_mean(keyword, _LIKELY, _NEAR, slips=1).strip()
    return f"it is no keyword of JSON Schema and says nothing; {near}" if near else ""
