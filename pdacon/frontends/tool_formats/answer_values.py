"""Tools and a format -> the grammar of answers, and what its texts stand for.

In: tools as users give them. Out: a `GrammarData` whose ``values`` reads answers, writes them, and makes readers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal, get_args

from pdacon.base.once import Once
from pdacon.base.quoting import quoted
from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.json_schema import Schema, Spelling, require_json
from pdacon.frontends.json_schema.calling import CallingExplorer
from pdacon.frontends.on_demand import OnDemand
from pdacon.frontends.partial_values import PartialValue
from pdacon.frontends.structural_tags.on_demand import OuterPlaces
from pdacon.frontends.structural_tags.tag_formats import special_names
from pdacon.frontends.tool_arguments import closed_documents, tool_identifier
from pdacon.frontends.tool_formats.argument_schema import ArgumentSchema, ToolSchema
from pdacon.frontends.tool_formats.building import AnyGrammar, answer_grammar, answer_places
from pdacon.frontends.tool_formats.formats import format_of
from pdacon.frontends.tool_formats.layouts import Choice, Layout, Reasoning, layout, stops_of
from pdacon.frontends.tool_formats.marked_shapes import Shapes
from pdacon.frontends.tool_formats.parameters import FORBIDDEN, ListedNames
from pdacon.frontends.tool_formats.reading import AnswerPlan, AnswerReader
from pdacon.frontends.tool_formats.recognizing import with_tokens
from pdacon.frontends.tool_formats.records import ToolFormat
from pdacon.frontends.tool_formats.scalars import ALL_KINDS, OPENINGS, reads_as
from pdacon.frontends.tool_formats.whole_answers import Answer, ReadCall
from pdacon.frontends.tool_formats.writing import written_answer
from pdacon.frontends.types.grammars import DescribedTools, described_tools
from pdacon.frontends.types.partials import typed_part
from pdacon.frontends.types.shapes import Mismatch
from pdacon.frontends.types.tools import Call, Tool
from pdacon.grammar import GrammarData


@dataclass(frozen=True)
class _Asked:
    """What a request asks of an answer; see `Grammar.from_tools`."""

    tools: tuple[Any, ...]
    format: ToolFormat
    choice: str
    parallel: bool
    reasoning: Reasoning
    spelling: Spelling
    lax: bool
    strict: bool
    closed: bool
    has_content: bool  # whether a grammar says what the text is

    @property
    def closed_documents(self) -> bool | tuple[str, ...]:
        """Whether all tools have only the properties listed, or the documents of those that have."""
        return self.closed or closed_documents(self.tools)

    def is_closed(self, tool: str) -> bool:
        """Whether a tool, by its name, has only the properties listed."""
        closed = self.closed_documents
        return closed if isinstance(closed, bool) else tool_identifier(tool) in closed

    @property
    def layout(self) -> Layout:
        for choice in get_args(Choice):
            if choice == self.choice:
                return layout(self.format, choice, self.parallel, self.reasoning, self.has_content)
        return layout(self.format, "required", False, self.reasoning)


@dataclass(frozen=True)
class AnswerValues:
    """Values of texts, and texts of values, for the grammar of answers; equal if of the same tools and options."""

    asked: _Asked
    _described: DescribedTools = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """What messages call the grammar."""
        return f"answers in the format {self.asked.format.name}"

    def read(self, text: str) -> Answer:
        """See `Constraint.parse`."""
        reader = self.reader()
        reader.feed(text)
        reader.close()
        return reader.answer

    def reader(self, token: Callable[[int], bytes | str | None] | None = None) -> AnswerReader:
        """See `Constraint.reader`."""
        plan = AnswerPlan(self.asked.format, self.asked.layout, self._kinds, self._answer, self._partial, self._shapes)
        return AnswerReader(plan, token)

    def write(self, value: Any) -> str:
        """See `Grammar.write`.

        Without quotes and with marks in letters, not every answer can be written: the text is read back.
        """
        if not isinstance(value, Answer):
            raise Mismatch("answer", f"{value!r:.60} is no Answer")
        if self.asked.format.messages is not None and len(value.calls) > 1:
            raise Mismatch("answer", f"there is one call at most in the format {self.asked.format.name}")
        calls = [(call.name, self._arguments(call)) for call in value.calls]
        meant = {
            "reasoning": value.reasoning,
            "text": value.text,
            "calls": [(name, {key: _as_read(text) for key, text in arguments.items()}) for name, arguments in calls],
        }
        refusal = self._stop_within(value) or self._misread(calls)
        for all_blanks in (False, True) if refusal is None else ():
            try:
                text = written_answer(
                    self.asked.format, self.asked.reasoning, value.reasoning, value.text,
                    self._written_calls(value, calls), all_blanks=all_blanks,
                )  # fmt: skip
                read = self._read_back(text)
            except ValueError as error:
                refusal = refusal or str(error)
                continue
            if read == meant:
                return text
            other = next(name for name in meant if meant[name] != read[name])
            refusal = refusal or f"its {other} would be read as {read[other]!r:.60}"
        raise Mismatch("answer", f"it cannot be written in the format {self.asked.format.name}: {refusal}")

    def _written_calls(self, value: Answer, calls: Sequence[tuple[str, dict[str, str]]]) -> list[str]:
        """The texts of calls. Raises ValueError: a name in their arguments cannot be written."""
        format = self.asked.format
        return [
            format.write_call(k, call.name, inner if format.tagged else self._object(call))
            for k, (call, (_, inner)) in enumerate(zip(value.calls, calls, strict=True))
        ]

    def _stop_within(self, value: Answer) -> str | None:
        """That a thought or a text has what none may have, if it does."""
        parts: tuple[tuple[Literal["reasoning", "text"], str], ...] = (
            ("reasoning", value.reasoning), ("text", value.text)
        )  # fmt: skip
        for role, text in parts:
            for stop in stops_of(self.asked.layout, role):
                if stop in text:
                    return f"its {role} has {quoted(stop)} in it, which is a mark of the format there"
        return None

    def _misread(self, calls: Sequence[tuple[str, dict[str, str]]]) -> str | None:
        """That a string begins as an object or an array that may stand there, which the grammar takes it for."""
        format = self.asked.format
        if not format.argument or format.tells_strings:
            return None
        for name, arguments in calls:
            for key, text in arguments.items():
                plain = json.loads(text) if text.startswith('"') else ""
                kind = reads_as(plain, self._kinds(name, key), format.python_constants)
                if kind in OPENINGS.values():
                    return f"{name}.{key} is a string that begins as an {kind}, which may stand there, too"
        return None

    def _read_back(self, text: str) -> dict[str, Any]:
        """What a text is read as, by the names of an answer's parts; arguments as they stand in JSON."""
        parts: dict[str, Any] = {}

        def taken(reasoning: str, said: str, calls: Sequence[ReadCall], missing: str | None) -> Answer:
            if missing is not None:
                raise ValueError(missing)
            read = [(call.name, _as_read(call.arguments)) for call in calls]
            parts.update({"reasoning": reasoning, "text": said, "calls": read})
            return Answer(reasoning, said, ())

        reader = AnswerReader(AnswerPlan(self.asked.format, self.asked.layout, self._kinds, taken, shapes=self._shapes))
        reader.feed(text)
        reader.close()
        _ = reader.answer
        return parts

    def describe(self) -> str:
        """See `Grammar.describe`."""
        names = " or ".join(tool.name for tool in self._described.tools)
        calls = f" and calls of {names}" if names else ""
        return f"an answer of text{calls}, in the format {self.asked.format.name}"

    def claims(self, value: Any) -> Iterator[tuple[str, Schema, str]]:
        """The arguments of calls that a JSON Schema alone describes: the tool, its schema, and they as JSON.

        Their shape takes any values, so that who writes them has to look.
        """
        schemas = dict(zip((tool.name for tool in self._described.tools), self._described.schemas, strict=True))
        for call in value.calls:
            if self._tool(call.name).is_of_schema:
                spelling, closed = self._described.form.spelling, self.asked.closed
                schema = Schema(schemas[call.name], spelling=spelling, closed=closed, plain_integers=True)
                yield call.name, schema, self._object(call)

    def _tool(self, name: str) -> Tool:
        tool = next((tool for tool in self._described.tools if tool.name == name), None)
        if tool is None:
            raise Mismatch("answer", f"there is no tool {name!r:.60}")
        return tool

    def _raw(self, call: Call) -> dict[str, Any]:
        """The raw arguments of a call, those that the schema lists first and in its order."""
        tool = self._tool(call.name)
        if self.asked.choice not in (*get_args(Choice), call.name):
            raise Mismatch("answer", f"it calls {call.name!r:.60}, and choice is {self.asked.choice!r:.60}")
        if not isinstance(call.arguments, Mapping):
            advice = "json.loads reads a text of JSON" if isinstance(call.arguments, str) else "{} has none"
            raise TypeError(f"{call.name}: the arguments of a call are a dict, not {call.arguments!r:.60}; {advice}")
        raw = self._written(tool, call)
        names = self._names[call.name]
        for name in raw if self.asked.format.tagged else ():
            if name not in names.names and (why := self._keeps_out(name, names)) is not None:
                raise Mismatch(call.name, f"it lists no argument {name!r:.60}, and {why}")
        return {name: raw[name] for name in (*names.names, *raw) if name in raw}

    def _written(self, tool: Tool, call: Call) -> dict[str, Any]:
        """The raw arguments of a call, of values of their types or, as a model has written them, of JSON."""
        form = self._described.form
        try:
            raw: dict[str, Any] = tool.arguments.write(call.arguments, call.name)
        except Mismatch:
            try:
                given = json.dumps(call.arguments)
                values = tool.arguments.read(form.loads(given), call.name)
                values = {name: value for name, value in values.items() if name in call.arguments}
                raw = tool.arguments.write(values, call.name)
                is_same = _has(json.loads(form.dumps(raw)), json.loads(given))
            except (TypeError, ValueError, RecursionError):
                is_same = False
            if not is_same:  # a value of another type is not turned into what there has to be
                raise
        return raw

    def _keeps_out(self, name: str, names: ListedNames) -> str | None:
        """Why an argument that is not listed cannot have a name; None: it can, or its writer says why not."""
        marks = self.asked.format.value_marks
        if marks is None:
            writable = names.writable(self.asked.format.escapes)
            return (
                None
                if self.asked.format.escaped(name) in writable
                else f"names of others have no {FORBIDDEN[:4]} in them and no blanks at their ends"
            )
        return "only listed ones have their names at both ends" if "$key" in marks.member[1] else None

    def _object(self, call: Call) -> str:
        """The arguments of a call as an object of JSON."""
        return self._described.form.dumps(self._raw(call))

    def _arguments(self, call: Call) -> dict[str, str]:
        """The arguments of a call, each as JSON."""
        return {name: self._described.form.dumps(value) for name, value in self._raw(call).items()}

    @cached_property
    def _names(self) -> Mapping[str, ListedNames]:
        """By the name of a tool, what its schema says of arguments by their names."""
        described = zip(self._described.tools, self._described.schemas, strict=True)
        return {
            tool.name: ListedNames(ArgumentSchema(tool.name, schema, Spelling(), self.asked.is_closed(tool.name)))
            for tool, schema in described
        }

    def _kinds(self, tool: str, argument: str) -> frozenset[str]:
        """The kinds of values of an argument; all if nothing is known of it."""
        values = self._names[tool].values(argument) if tool in self._names else None
        return ALL_KINDS if values is None else values.kinds

    @cached_property
    def _shapes(self) -> Mapping[str, Shapes]:
        if self.asked.format.value_marks is None:
            return {}
        described = zip(self._described.tools, self._described.schemas, strict=True)
        spelling = self._described.form.spelling
        return {tool.name: Shapes(ArgumentSchema(tool.name, schema, spelling)) for tool, schema in described}

    def _answer(self, reasoning: str, text: str, calls: Sequence[ReadCall], missing: str | None) -> Answer:
        tools = {tool.name: tool for tool in self._described.tools}
        read = []
        for call in calls:
            raw, tool = self._described.form.loads(call.arguments), tools.get(call.name)
            if tool is None:
                read.append(Call(call.name, json.loads(call.arguments)))
            else:
                read.append(Call(call.name, tool.arguments.read(raw, call.name), tool.function))
        return Answer(reasoning, text, tuple(read), missing)

    def _partial(self, name: str) -> PartialValue:
        """The arguments of a call of a tool, as far as they come."""
        tool = next((tool for tool in self._described.tools if tool.name == name), None)
        if tool is None:
            return PartialValue()
        return PartialValue(lambda part: typed_part(tool.arguments, part, self._described.form, name))

    def __reduce__(self) -> tuple[Any, ...]:
        return _values_of, (self.asked,)


@dataclass(frozen=True)
class ToolAnswers:
    """Answers with calls of tools: what reads them, and their grammar, each form made when it is asked for.

    Attributes
    ----------
    values : AnswerValues
    whole : callable
        Makes the grammar as a whole.
    on_demand : callable
        Makes what may be read on demand of it, or None: nothing.
    """

    values: AnswerValues
    whole: Callable[[], GrammarData]
    on_demand: Callable[[], OnDemand | None]

    def grammar(self) -> AnyGrammar:
        """What may be read on demand, or else the whole."""
        return self.on_demand() or self.whole()


def tool_answers(
    tools: Sequence[Any],
    format: Any,
    choice: str,
    parallel: bool,
    reasoning: Reasoning,
    spelling: Spelling | None,
    lax: bool,
    strict: bool = False,
    closed: bool = False,
    content: AnyGrammar | None = None,
    inputs: Mapping[str, GrammarData] = MappingProxyType({}),
    tokens: Collection[str] | None = None,
) -> ToolAnswers:
    """Answers with calls of tools; see `Grammar.from_tools`.

    ``inputs``: by the names of tools whose only argument is a text, the grammar of that.
    """
    has_content = content is not None
    if tokens is not None:
        format = with_tokens(special_names("from_tools", tokens), format_of(format))
    values = answer_values(tools, format, choice, parallel, reasoning, spelling, lax, strict, closed, has_content)
    return _grammars(values, content, inputs)


def answer_values(
    tools: Sequence[Any],
    format: str | ToolFormat,
    choice: str,
    parallel: bool,
    reasoning: Reasoning,
    spelling: Spelling | None = None,
    lax: bool = False,
    strict: bool = False,
    closed: bool = False,
    has_content: bool = False,
) -> AnswerValues:
    """What reads answers with calls of tools, without their grammar; see `tool_answers`."""
    if isinstance(tools, str | dict) or not isinstance(tools, Sequence) or not (tools or choice == "none"):
        raise TypeError(f"from_tools takes a list of at least one function, class or dict, not {tools!r:.60}")
    if spelling is not None and not isinstance(spelling, Spelling):
        raise TypeError(f"spelling is a pdacon.Spelling(...), not {spelling!r:.40}")
    require_json("from_tools", spelling)
    if reasoning not in (True, False, "begun"):
        raise ValueError(f'reasoning is True, False or "begun", not {reasoning!r:.40}')
    asked = _Asked(
        tuple(tools), format_of(format), choice, bool(parallel), reasoning, spelling or Spelling(), lax, strict,
        closed, has_content,
    )  # fmt: skip
    return _values_of(asked)


def _grammars(values: AnswerValues, content: AnyGrammar | None, inputs: Mapping[str, GrammarData]) -> ToolAnswers:
    asked, described = values.asked, values._described
    choice = asked.choice
    spelling, takes_parts = described.form.spelling, asked.format.tagged
    schemas = []
    for tool, arguments in zip(described.tools, described.schemas, strict=True):
        closed = asked.is_closed(tool.name)
        parts = ArgumentSchema(tool.name, arguments, spelling, closed) if takes_parts else None
        schemas.append(ToolSchema(tool.name, arguments, closed, parts))
    if choice not in get_args(Choice):
        schemas = [schema for schema in schemas if schema.name == choice]
        if not schemas:
            listed = ", ".join(tool.name for tool in described.tools)
            raise ValueError(f'choice is "auto", "required", "none" or a tool of {listed}, not {choice!r:.60}')
    for schema in schemas:
        refuse_name(asked.format, schema.name)
    calls = f"calls of {', '.join(schema.name for schema in schemas)}" if schemas else "answers"
    source = f"{calls} in the format {asked.format.name}"
    unenforced = (*described.unenforced, *_unenforced(content))

    def whole() -> GrammarData:
        grammar = answer_grammar(asked.format, asked.layout, schemas, spelling, source, content, inputs)
        return replace(grammar, values=values, unenforced=unenforced)

    made, told = Once(whole), partial(answer_places, asked.format, asked.layout, schemas, spelling, content)
    return ToolAnswers(
        values, made, lambda: None if unenforced or inputs else _on_demand(values, schemas, told(), made, content)
    )


def _on_demand(
    values: AnswerValues,
    schemas: Sequence[ToolSchema],
    places: tuple[list[Schema], OuterPlaces] | None,
    whole: Once[GrammarData],
    content: AnyGrammar | None,
) -> OnDemand | None:
    if places is None:
        return None
    asked, spelling = values.asked, values._described.form.spelling
    documents = [schema.documents for schema in places[0]]
    asked_of = json.dumps([[schema.name, schema.arguments] for schema in schemas], default=repr)
    outer, closed = places[1], asked.closed_documents
    of_content = () if content is None else content.key if isinstance(content, OnDemand) else (content.fingerprint,)
    key = ("tool calls on demand", repr((asked.format, asked.layout, spelling, closed)), asked_of, *of_content)

    def explorer() -> CallingExplorer:
        return CallingExplorer(documents, spelling, outer.copied(), plain_integers=True, closed=closed)

    return OnDemand(key, explorer, whole, "tool calls", values)


def _values_of(asked: _Asked) -> AnswerValues:
    return AnswerValues(asked, described_tools(asked.tools, asked.spelling, asked.lax, asked.strict))


def _unenforced(content: AnyGrammar | None) -> tuple[tuple[str, str, str], ...]:
    if content is None:
        return ()
    known = content.unenforced
    return content.data().unenforced if known is None and isinstance(content, OnDemand) else known or ()


def refuse_name(format: ToolFormat, name: str) -> None:
    """Refuse a name of a tool that has what ends it: it is written as it is.

    Raises UnsupportedTypeError.
    """
    ends = (format.ends_within("name", name), *(character for character in '"\\<>[]{}\n\t ' if character in name))
    for end in filter(None, ends):
        raise UnsupportedTypeError(name, f"a tool's name has no {end!r} in the format {format.name}; rename it")


def _has(value: Any, given: Any) -> bool:
    """Whether a value of JSON is the given one, perhaps with members that have their defaults."""
    if isinstance(value, dict) and isinstance(given, dict):
        return all(name in value and _has(value[name], member) for name, member in given.items())
    if isinstance(value, list) and isinstance(given, list):
        return len(value) == len(given) and all(map(_has, value, given))
    return type(value) is type(given) and bool(value == given)


def _as_read(text: str) -> Any:
    """A value of JSON to compare with another one: numbers by their texts, so that none is ``true``."""
    return json.loads(text, parse_int=_number, parse_float=_number)


def _number(text: str) -> tuple[str, str]:
    return "number", text
