"""How the JSON Schemas of requests are read: what the server or the engine says, and what a schema says of itself.

A schema says it in the member ``x-pdacon`` at its top, an annotation to everybody else, since engines hand nothing but
the schema on: ``{"type": "object", ..., "x-pdacon": {"whitespace": "usual", "closed": true}}``. In it are the fields of
a `Spelling`, ``closed``, ``formats``, ``asserted`` and ``profile``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal

from pdacon.base.quoting import did_you_mean
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema import ASSERTED, PROFILES, Schema, Spelling

KEYWORD = "x-pdacon"
_SPELLING = tuple(each.name for each in fields(Spelling))
_NAMES = (*_SPELLING, "closed", "formats", "asserted", "profile")
_BLANKS = frozenset({"whitespace", "max_blanks", "whitespace_pattern", "separators"})
_OF_LANGUAGE = _BLANKS | {"escapes", "indent"}


@dataclass(frozen=True, slots=True)
class JsonReading:
    """How the JSON Schemas of requests are read.

    Attributes
    ----------
    spelling : Spelling
    closed : bool
        Whether objects have only the properties listed, if any are.
    formats : bool
        Whether ``format`` is enforced.
    asserted : tuple of str
        Keywords that are enforced though their draft does not.
    profile : str, optional
        The service that would have to take them, too.
    """

    spelling: Spelling = field(default_factory=Spelling)
    closed: bool = False
    formats: bool = True
    asserted: tuple[str, ...] = ()
    profile: Literal["openai"] | None = None

    @classmethod
    def of_json(cls, text: str) -> JsonReading:
        """What a JSON object says, of a setting. Raises ValueError."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"it is no JSON: {error}") from None
        return cls().with_options(given)

    def with_options(self, given: Any) -> JsonReading:
        """The same but for what an object says; blanks are said anew as a whole, and so is all that a language has.

        Raises ValueError.
        """
        if not isinstance(given, Mapping):
            raise ValueError('it is an object, such as {"whitespace": "usual", "closed": true}')
        for name in given:
            if name not in _NAMES:
                near = did_you_mean(str(name)[:60], _NAMES)
                raise ValueError(f"there is no {str(name)[:60]!r}; {near}there are {', '.join(_NAMES)}")
        for name in ("closed", "formats"):
            if not isinstance(given.get(name, True), bool):
                raise ValueError(f"{name} is true or false, not {given[name]!r:.40}")
        asserted = given.get("asserted", self.asserted)
        if not isinstance(asserted, list | tuple) or not all(keyword in ASSERTED for keyword in asserted):
            raise ValueError(f"asserted is a list of keywords of {', '.join(ASSERTED)}, not {asserted!r:.60}")
        profile = given.get("profile", self.profile)
        if profile is not None and profile not in PROFILES:
            raise ValueError(f"profile is null or one of {', '.join(PROFILES)}, not {profile!r:.60}")
        said = {name: given[name] for name in _SPELLING if name in given}
        anew = _OF_LANGUAGE if "language" in said else _BLANKS if _BLANKS & said.keys() else frozenset()
        before = {name: getattr(Spelling(), name) for name in anew}
        try:
            return JsonReading(
                replace(self.spelling, **(before | said)),
                given.get("closed", self.closed),
                given.get("formats", self.formats),
                tuple(asserted),
                profile,
            )
        except TypeError as error:  # a list where a text belongs
            raise ValueError(str(error)) from None

    def of_schema(self, schema: Any) -> JsonReading:
        """What a schema says of itself, and else the same.

        Raises UnsupportedSchemaError: it is no such thing.
        """
        if not isinstance(schema, Mapping) or KEYWORD not in schema:
            return self
        try:
            return self.with_options(schema[KEYWORD])
        except ValueError as error:
            raise UnsupportedSchemaError("#", KEYWORD, str(error)) from None

    def schema(self, given: Any) -> Schema:
        """A schema, read so. Raises UnsupportedSchemaError."""
        return Schema(given, spelling=self.spelling, **self.options)

    @property
    def options(self) -> dict[str, Any]:
        """What `Grammar.from_json_schema` takes beside the spelling."""
        return {
            "formats": self.formats, "closed": self.closed, "asserted": self.asserted, "profile": self.profile,
        }  # fmt: skip

    @property
    def key(self) -> str:
        """Tells readings apart; empty for the usual one."""
        return "" if self == _USUAL else repr(self)


_USUAL = JsonReading()


def reading_of(variable: str) -> JsonReading:
    """What a variable of the environment says, as JSON; the usual reading if it is not set. Raises ValueError."""
    said = os.environ.get(variable, "").strip()
    try:
        return JsonReading.of_json(said) if said else JsonReading()
    except ValueError as error:
        raise ValueError(f"{variable}: {error}") from None


OPTIONS: Mapping[str, Callable[[Any], dict[str, Any]]] = MappingProxyType({
    "whitespace_pattern": lambda pattern: {"whitespace": "any", "whitespace_pattern": pattern},
    "disable_any_whitespace": lambda _: {"whitespace": "json.dumps"},  # as vLLM's own back ends write then
    "disable_additional_properties": lambda _: {"closed": True},
})  # fmt: skip
"""What vLLM's ``structured_outputs`` may say beside a schema, and what it is called here."""


def said_options(said: Mapping[str, Any]) -> dict[str, Any]:
    """What names of `OPTIONS` come to, with their values.

    Raises ValueError: one cannot be honoured, or two say the same.
    """
    if len({"whitespace_pattern", "disable_any_whitespace"} & said.keys()) == 2:
        raise ValueError("whitespace_pattern and disable_any_whitespace say the same; give one")
    options: dict[str, Any] = {}
    for name, value in said.items():
        options |= OPTIONS[name](value)
    JsonReading().with_options(options)
    return options


def with_reading(schema: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that says of itself how it is read, in place of what an engine's request says beside it.

    Raises ValueError: it says something else of itself, or is none that can.
    """
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    if not isinstance(schema, Mapping):
        raise ValueError("the schema is no object")
    own = schema.get(KEYWORD, {})
    if not isinstance(own, Mapping) or options.keys() & own.keys():
        raise ValueError(f"{KEYWORD} of the schema and the request both say how JSON is written; leave one out")
    return {**schema, KEYWORD: {**own, **options}}
