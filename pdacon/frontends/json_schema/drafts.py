"""Which draft of JSON Schema a schema is written in, as its ``$schema`` says.

In: a schema, and other documents by URI. Out: a draft's number. A meta-schema that was given is of the draft that its
own ``$schema`` names, if it has the vocabularies of that draft.

Source: JSON Schema Core, draft 2020-12, section 8.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urldefrag

from pdacon.errors import UnsupportedSchemaError

_DRAFTS = {
    "json-schema.org/draft/2020-12/schema": 2020,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-04/schema": 4,
    "json-schema.org/schema": 2020,
}
LATEST = 2020
_VOCABULARIES = {
    2019: ("core", "applicator", "validation"),
    2020: ("core", "applicator", "unevaluated", "validation"),
}
"""What a meta-schema has to have, for the keywords to mean what they mean in its draft."""
_SILENT = ("meta-data", "format", "format-annotation", "format-assertion", "content")


class Drafts:
    """The drafts of schemas.

    Parameters
    ----------
    document : callable, optional
        A document that was given, by its URI; None: there is none.
    lenient : bool
        Whether what is not known is taken for the latest draft, as for explanations of a schema that was read before.
    """

    def __init__(self, document: Callable[[str], Any] = lambda uri: None, *, lenient: bool = False) -> None:
        self._document, self._lenient = document, lenient

    def of(self, node: Mapping[str, Any], otherwise: int, pointer: str) -> int:
        """Which draft a schema says that it is written in.

        Raises
        ------
        UnsupportedSchemaError
            It is none of those known.
        """
        if "$schema" not in node:
            return otherwise
        uri = node["$schema"]
        if not isinstance(uri, str):
            raise UnsupportedSchemaError(pointer, "$schema", "it must be a URI")
        draft = _standard(uri)
        if draft is None:
            draft = LATEST if self._lenient else self._of_meta_schema(uri, pointer)
        return draft

    def _of_meta_schema(self, uri: str, pointer: str) -> int:
        seen: list[str] = []
        named = uri
        while (draft := _standard(named)) is None:
            meta_schema = None if named in seen else self._document(urldefrag(named).url)
            seen.append(named)
            if not isinstance(meta_schema, Mapping) or not isinstance(meta_schema.get("$schema"), str):
                uris = ", ".join(f"https://{draft}" for draft in _DRAFTS)
                why = (
                    f"{named!r} is no draft of JSON Schema that pdacon knows ({uris}), and no meta-schema of such a "
                    "draft was given; leave it out to have draft 2020-12"
                )
                raise UnsupportedSchemaError(pointer, "$schema", why)
            named = meta_schema["$schema"]
            _check_vocabularies(meta_schema, _standard(named), pointer)
        return draft


STANDARD = Drafts()


def draft_of(schema: Mapping[str, Any]) -> int:
    """The draft that a schema names; the latest one if it names none, or none that is known."""
    return _standard(uri) or LATEST if isinstance(uri := schema.get("$schema"), str) else LATEST


def _standard(uri: str) -> int | None:
    return _DRAFTS.get(uri.partition("://")[2].rstrip("#"))


def _check_vocabularies(meta_schema: Mapping[str, Any], draft: int | None, pointer: str) -> None:
    vocabularies = meta_schema.get("$vocabulary")
    if draft not in _VOCABULARIES or not isinstance(vocabularies, Mapping):
        return
    base = f"https://json-schema.org/draft/{'2020-12' if draft == 2020 else '2019-09'}/vocab/"
    for name in _VOCABULARIES[draft]:
        if base + name not in vocabularies:
            why = f"its meta-schema leaves out the vocabulary {base + name}, without which keywords mean nothing"
            raise UnsupportedSchemaError(pointer, "$schema", why)
    supported = {base + name for name in (*_VOCABULARIES[draft], *_SILENT)}
    for uri, required in vocabularies.items():
        if required is True and uri not in supported:
            why = f"its meta-schema requires the vocabulary {uri!r:.80}, which is not known"
            raise UnsupportedSchemaError(pointer, "$schema", why)
