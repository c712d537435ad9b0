"""What an answer must be, as requests to servers and engines say it: a kind and a text, with the key of a cache.

Requests come from strangers, so a grammar among them reads no file of this machine.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from pdacon.base.languages import is_llguidance
from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.errors import GrammarSyntaxError, PdaconError, UnsupportedGrammarError
from pdacon.front.grammar import Grammar
from pdacon.frontends.json_schema import PlainSchema, Spelling, canonical, plain, read_canonical
from pdacon.frontends.on_demand import OnDemand, schema_on_demand
from pdacon.frontends.structural_tags import structural_tag_on_demand
from pdacon.frontends.tool_formats import (
    FORMATS,
    AnswerValues,
    Messages,
    Reasoning,
    Thought,
    ToolFormat,
    ValueMarks,
    answer_values,
    tool_answers,
)
from pdacon.integrations.json_reading import JsonReading

Kind = Literal[
    "json_object", "schema", "lark", "gbnf", "bnf", "regex", "choice", "structural_tag", "answer", "llguidance"
]
"""What the text of a format is: nothing; a schema, list of choices or structural tag as JSON; a grammar; a pattern; an
`AnswerFormat` as JSON.

``bnf`` is a grammar whose rules have ``::=``: XGrammar's EBNF or, where it is none, llama.cpp's GBNF.
"""

MAX_BYTES = 512 << 10
"""Of the schema or grammar of a request to an engine; a longer schema is only read where it is compiled."""

# A backslash continues a line in Lark's notation.
_RELATIVE_IMPORT = re.compile(r"%import[\s\\]*\.")
_BEGINS_AS_BNF = re.compile(r"(?:\s|(?:#|//)[^\n]*\n)*[\w.-]+\s*::=")


@dataclass(frozen=True, slots=True)
class Format:
    """What an answer must be."""

    kind: Kind  # what `text` is
    text: str  # a schema as JSON is the same in whatever order its keywords are and wherever it has blanks
    key: tuple[str, ...]  # tells formats apart, without their texts; for `CompileCache.compile_keyed`
    reading: JsonReading = field(default_factory=JsonReading)  # of a schema, but for what that says of itself
    _read: PlainSchema | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, kind: Kind, text: str, reading: JsonReading | None = None) -> Format:
        """The format of a text. A schema is read, once; what is wrong with it is said where it is compiled."""
        read = read_canonical(text) if kind == "schema" and len(text) <= MAX_BYTES else None
        reading = JsonReading() if reading is None else reading
        return cls(kind, text, _key(kind, text if read is None else read.text, reading), reading, read)

    @classmethod
    def of_schema(cls, schema: Any, reading: JsonReading | None = None) -> Format:
        """The format of a JSON Schema that was read from JSON; it is written, once.

        Raises ValueError: it is no JSON.
        """
        text = canonical(schema)
        if text is None:
            raise ValueError("the schema is no JSON")
        reading = JsonReading() if reading is None else reading
        return cls("schema", text, _key("schema", text, reading), reading, PlainSchema(schema, text))

    def by_default(self, reading: JsonReading) -> Format:
        """The same, with its schemas read so unless they say something else."""
        if not reading.key:
            return self
        return replace(self, key=(*self.key, reading.key), reading=reading)

    def grammar(self, limits: Limits, special_tokens: Collection[str] = ()) -> Grammar:
        """Its grammar.

        ``special_tokens``: the names that are tokens where a structural tag has them in its texts, as XGrammar has it;
        within an answer of a tool format they are letters.
        Raises PdaconError: the message has the place and the reason.
        """
        if self.kind == "answer":
            return AnswerFormat.read(self.text, self.reading).grammar(limits)
        if self.kind in ("schema", "json_object"):
            read = self._plain_schema()
            reading = self.reading.of_schema(read.value)
            return Grammar.from_json_schema(read, reading.spelling, **reading.options)
        if self.kind == "structural_tag":
            return Grammar.from_structural_tag(
                self.text,
                spelling=self._spelling_of_tags(),
                closed=self.reading.closed,
                tokens=self._named(special_tokens),
            )
        return _grammar(self.kind, self.text, limits)

    def _named(self, special_tokens: Collection[str]) -> Collection[str]:
        """Those of special tokens that a structural tag may name: vocabularies have up to thousands."""
        if "\\" in self.text or "exclude_tokens" in self.text:  # which may have ids, and texts that are no such name
            return special_tokens
        return [name for name in special_tokens if name in self.text]

    def _plain_schema(self) -> PlainSchema:
        if self.kind == "json_object":
            return PlainSchema({"type": "object"}, '{"type": "object"}')
        return PlainSchema(*plain(self.text)) if self._read is None else self._read

    def _spelling_of_tags(self) -> Spelling | None:
        """That of the schemas in a structural tag; None: what the tag says counts."""
        return None if self.reading.spelling == Spelling() else self.reading.spelling

    def on_demand(self, special_tokens: Collection[str] = ()) -> OnDemand | None:
        """Its grammar if that can be read on demand; None: it has to be made as a whole.

        ``special_tokens``: as for `grammar`.
        Raises PdaconError: the message has the place and the reason.
        """
        if self.kind == "structural_tag":
            return structural_tag_on_demand(
                self.text,
                spelling=self._spelling_of_tags(),
                closed=self.reading.closed,
                tokens=self._named(special_tokens),
            )
        if self.kind == "answer":
            return AnswerFormat.read(self.text, self.reading).on_demand()
        if self.kind != "json_object" and self._read is None:
            return None
        read = self._plain_schema()
        return schema_on_demand(self.reading.of_schema(read.value).schema(read))


def _key(kind: Kind, text: str, reading: JsonReading) -> tuple[str, ...]:
    return (kind, digest_of(text), *([reading.key] if reading.key else []))


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """A whole answer of a model, with its thought, text and calls of tools; see `Grammar.from_tools`.

    ``tools``: descriptions, as `Grammar.from_tools` takes them, read from JSON. ``content``: what the text has to be.
    ``inputs``: by the names of tools whose only argument is a text, what that has to be. Objects of arguments have the
    properties that are listed, and others only where a schema says so.
    """

    tools: tuple[Mapping[str, Any], ...]
    format: ToolFormat
    choice: str = "auto"
    parallel: bool = True
    reasoning: Reasoning = False
    content: Format | None = None
    inputs: Mapping[str, Format] = field(default_factory=dict)
    spelling: Spelling | None = None  # of calls

    def said(self) -> Format:
        """The same as a kind and a text."""
        name = self.format.name
        said = {
            "tools": self.tools,
            "format": name if FORMATS.get(name) == self.format else asdict(self.format),
            "choice": self.choice,
            "parallel": self.parallel,
            "reasoning": self.reasoning,
            "content": self.content and [self.content.kind, self.content.text],
            "inputs": {name: [one.kind, one.text] for name, one in self.inputs.items()},
        }
        return Format.of("answer", json.dumps(said))

    @classmethod
    def read(cls, text: str, reading: JsonReading | None = None) -> AnswerFormat:
        """What `said` has written. ``reading``: of the JSON Schemas in it."""
        said = json.loads(text)
        format, content = said["format"], said["content"]
        return cls(
            tuple(said["tools"]),
            FORMATS[format] if isinstance(format, str) else _record_of(format),
            said["choice"],
            said["parallel"],
            said["reasoning"],
            content and Format.of(content[0], content[1], reading),
            {name: Format.of(one[0], one[1], reading) for name, one in said["inputs"].items()},
            None if reading is None else reading.spelling,
        )

    def grammar(self, limits: Limits) -> Grammar:
        """Its grammar. Raises PdaconError: the message has the place and the reason."""
        content = None if self.content is None else self.content.grammar(limits)
        inputs = {name: one.grammar(limits).data for name, one in self.inputs.items()}
        texts = content if content is None else content._on_demand or content.data
        with _refused():
            asked = self.tools, self.format, self.choice, self.parallel, self.reasoning
            return Grammar._of(
                tool_answers(*asked, self.spelling, False, closed=True, content=texts, inputs=inputs).grammar()
            )

    def on_demand(self) -> OnDemand | None:
        """Its grammar if that can be read on demand; None: it has to be made as a whole. Raises as `grammar`."""
        content = None if self.content is None else self.content.on_demand()
        if (content is None and self.content is not None) or self.inputs:
            return None
        with _refused():
            asked = self.tools, self.format, self.choice, self.parallel, self.reasoning
            return tool_answers(*asked, self.spelling, False, closed=True, content=content).on_demand()

    def values(self) -> AnswerValues:
        """What reads its answers. Raises as `grammar`."""
        with _refused():
            asked = self.tools, self.format, self.choice, self.parallel, self.reasoning
            return answer_values(*asked, closed=True, has_content=self.content is not None)


@contextmanager
def _refused() -> Iterator[None]:
    """What is wrong with tools is an error of pdacon's: they come from a request."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if isinstance(error, PdaconError):
            raise
        raise UnsupportedGrammarError(str(error), feature="tools") from None


def _record_of(said: Mapping[str, Any]) -> ToolFormat:
    """A record of a tool format, of its members as JSON has them."""
    members = _tuples(said)
    inner = {"thought": Thought, "messages": Messages, "value_marks": ValueMarks}
    records = {name: members[name] and kind(**members[name]) for name, kind in inner.items()}
    return ToolFormat(**{**members, **records})


def _tuples(said: Any) -> Any:
    """A value in which what JSON has as arrays are tuples."""
    if isinstance(said, Mapping):
        return {name: _tuples(member) for name, member in said.items()}
    return tuple(map(_tuples, said)) if isinstance(said, list) else said


def tokens_in_tags(vocabulary: Vocabulary) -> dict[str, int]:
    """The names that are tokens in the texts of structural tags: those of special ones that do not end a text."""
    return {name: token for name, token in vocabulary.special_tokens.items() if token not in vocabulary.eos_ids}


def digest_of(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal; some 20 µs for 25 kB."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def grammar_kind(text: str) -> Kind:
    """Which notation a grammar is in whose author does not say so: its first rule has ``::=``, or it is Lark's."""
    return "bnf" if _BEGINS_AS_BNF.match(text) else "lark"


def _grammar(kind: Kind, text: str, limits: Limits) -> Grammar:
    """The grammar of a format that is no schema."""
    if kind == "regex":
        return Grammar.from_regex(text, limits=limits)
    if kind == "choice":
        return _choices(text, limits)
    if kind == "gbnf":
        return Grammar.from_gbnf(text)
    if kind == "bnf":
        return _bnf(text)
    if _RELATIVE_IMPORT.search(text):
        raise UnsupportedGrammarError(
            "%import of a file beside the grammar: a request has no files; write its rules into the grammar",
            feature="import",
        )
    is_dialect = kind == "llguidance" or is_llguidance(text)
    return Grammar.from_llguidance(text) if is_dialect else Grammar.from_lark(text)


def _choices(text: str, limits: Limits) -> Grammar:
    try:
        return Grammar.from_choices(json.loads(text), limits=limits)
    except (TypeError, ValueError) as error:
        raise UnsupportedGrammarError(str(error), feature="choice") from None


def _bnf(text: str) -> Grammar:
    try:
        return Grammar.from_ebnf(text)
    except GrammarSyntaxError as error:
        try:
            return Grammar.from_gbnf(text)
        except GrammarSyntaxError:
            raise error from None
