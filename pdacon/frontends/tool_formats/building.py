"""The tree of an answer and the tools -> the grammar of answers.

In: a layout, and of each tool its name and the JSON Schema of its arguments. Out: a `GrammarData`. Free text and all
that is regular become sets, so that it is known at each character where they end; the JSON of arguments is put between
them as the structural tags do it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import quote

from pdacon.base.cautions import caution
from pdacon.errors import EmptyLanguageError, UnsupportedGrammarError, UnsupportedSchemaError, UnsupportedTypeError
from pdacon.frontends.insertion import escaped
from pdacon.frontends.json_schema import Schema, Spelling, schema_grammar
from pdacon.frontends.json_schema.spelling import spelled
from pdacon.frontends.on_demand import OnDemand
from pdacon.frontends.structural_tags.free_text import FreeText
from pdacon.frontends.structural_tags.making import made
from pdacon.frontends.structural_tags.on_demand import OuterPlaces, UndecidedError, outer_places, schema_piece
from pdacon.frontends.structural_tags.pieces import (
    EMPTY,
    GrammarPiece,
    LatePiece,
    Piece,
    SchemaPiece,
    TextPiece,
    either,
    grammar_piece,
    repeated,
    sequence,
)
from pdacon.frontends.tool_arguments import call_schema, tool_identifier
from pdacon.frontends.tool_formats.argument_schema import ArgumentSchema, ArgumentValues, ToolSchema
from pdacon.frontends.tool_formats.layouts import Blanks, CallParts, Content, Fixed, Free, Layout
from pdacon.frontends.tool_formats.leading_blanks import by_blanks
from pdacon.frontends.tool_formats.marked_building import MarkedArguments
from pdacon.frontends.tool_formats.marked_shapes import Shapes
from pdacon.frontends.tool_formats.ordered_pieces import after, at_least_one, in_order, some_members, with_name
from pdacon.frontends.tool_formats.parameters import (
    OtherParameters,
    Parameter,
    have_a_text,
    parameters_of,
    tell_of_unlisted,
    texts_as_they_are,
)
from pdacon.frontends.tool_formats.records import INDEX, Open, Part, ToolFormat, joined_parts, parts_of_template
from pdacon.frontends.tool_formats.scalars import CONSTANTS, OPENINGS
from pdacon.frontends.tool_formats.tokens_in_marks import LedText, lead_of, led_text, mark_piece
from pdacon.frontends.types.grammars import told_of_types
from pdacon.grammar import GrammarData
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.regular import RegularSet

_MOST_NESTED = 50  # arguments that may all be left out where the format then writes something in their place
_MOST_IN_ANY_ORDER = 6  # arguments that are tagged; each more doubles what they take
AnyGrammar: TypeAlias = "GrammarData | OnDemand"
INPUT = "input"
"""The name of the only argument of a tool that takes a text."""
_INDEX = RegularSet.from_regex(INDEX)


def answer_grammar(
    format: ToolFormat,
    tree: Layout,
    tools: Sequence[ToolSchema],
    spelling: Spelling,
    source: str,
    content: AnyGrammar | None = None,
    inputs: Mapping[str, GrammarData] = MappingProxyType({}),
) -> GrammarData:
    """The grammar of the answers that a layout describes.

    Parameters
    ----------
    source : str
        What the grammar was made of, as a text.
    content : GrammarData or OnDemand, optional
        The texts that stand in the place of free text.
    inputs : mapping
        By the names of tools whose only argument is a text, the grammar of that.

    Raises
    ------
    UnsupportedTypeError
        The arguments of a tool cannot be enforced in this format.
    UnsupportedGrammarError
        Nobody could tell where a part of an answer ends.
    EmptyLanguageError
        A tool that has to be called has no arguments that satisfy its schema.
    """
    piece = _Builder(format, tools, spelling, content, inputs).piece(tree)
    try:
        return replace(made(piece, source, format.name), language="tool calls")
    except RecursionError:
        why = "a tool has too many arguments for a format that tags each of them and lets some of them be left out"
        advice = "make more of them required, or choose a format with JSON arguments"
        raise UnsupportedTypeError(format.name, f"{why}; {advice}") from None
    except UnsupportedGrammarError as error:
        advice = "rename the tools or arguments that this is about, or choose a format with other marks"
        raise UnsupportedGrammarError(error.reason, error.span, f"tool format {format.name}", advice) from error


def styled_arguments(format: ToolFormat, tool: ToolSchema, spelling: Spelling, blanks: TextPiece) -> Piece:
    """All arguments of a tool alone, as a format writes them, with blanks around each of them.

    Raises as `answer_grammar`, but for what only the whole comes to.
    """
    builder = _Builder(format, (tool,), spelling)
    with told_of_types(tool.name, tool.arguments.get("$defs")):
        return builder.styled(tool, blanks)


def answer_places(
    format: ToolFormat,
    tree: Layout,
    tools: Sequence[ToolSchema],
    spelling: Spelling,
    content: AnyGrammar | None = None,
) -> tuple[list[Schema], OuterPlaces] | None:
    """The schemas of values in answers, and the places around them, for a grammar that is read on demand.

    None: the answers have to be read as a whole. Raises as `answer_grammar`, but for what only the whole comes to.
    """
    return outer_places(lambda: _Builder(format, tools, spelling, content, on_demand=True).piece(tree))


@dataclass
class _Builder:
    """Layouts as pieces. ``on_demand``: schemas are symbols; what cannot be read so raises UndecidedError."""

    format: ToolFormat
    tools: Sequence[ToolSchema]
    spelling: Spelling
    content: AnyGrammar | None = None
    inputs: Mapping[str, GrammarData] = field(default_factory=dict)
    on_demand: bool = False
    _calls: dict[CallParts, Piece] = field(default_factory=dict)
    _arguments: dict[str, Piece | None] = field(default_factory=dict)
    _led_texts: dict[Free, LedText] = field(default_factory=dict)

    def piece(self, tree: Layout) -> Piece:
        if isinstance(tree, Fixed):
            blanks = [] if tree.in_text else tree.blanks
            before = TextPiece(("", *blanks), self.format.name)
            return sequence([before, self._fixed(tree.text, self.format.name)])
        if isinstance(tree, Blanks):
            texts = ["", *([] if tree.in_text else tree.texts)]
            return TextPiece(tuple(texts), self.format.name)
        if isinstance(tree, Free):
            return self._free_text(tree)
        if isinstance(tree, Content):
            return self._content()
        if isinstance(tree, CallParts):
            if tree not in self._calls:
                self._calls[tree] = self._call(tree)
            return self._calls[tree]
        if isinstance(tree, OneOf):
            return either([self.piece(item) for item in tree.items])
        if isinstance(tree, Repeated):
            return repeated(self.piece(tree.item), tree.least, tree.most)
        assert isinstance(tree, InOrder)
        return sequence(self._in_order(tree.items))

    def _in_order(self, items: Sequence[Layout]) -> Iterator[Piece]:
        """Parts one after the other; free text has the beginning of the mark behind it that is no token yet."""
        lead = lead_of(self.format.trigger, self.format.tokens)
        for item, before, behind in zip(items, (None, *items), (*items[1:], None), strict=False):
            is_mark, is_before_mark = (
                lead and getattr(part, "text", "") == self.format.trigger for part in (item, behind)
            )
            if isinstance(item, Free) and is_before_mark:
                yield self._led(item, lead).up_to
            elif isinstance(before, Free) and is_mark:
                yield self._fixed(self.format.trigger[len(lead) :], self.format.name)
            else:
                yield self.piece(item)

    def _free_text(self, tree: Free) -> Piece:
        lead = lead_of(self.format.trigger, self.format.tokens)
        if lead and tree.role == "text":
            return self._led(tree, lead).whole
        free = FreeText(self._texts(tree.stops)).texts
        return TextPiece(free - _beginning(tree.not_first) if tree.not_first else free, tree.role)

    def _led(self, tree: Free, lead: str) -> LedText:
        """Free text in which the beginning of a mark with a special token may come, once for each layout."""
        if self.on_demand:
            raise UndecidedError
        if tree not in self._led_texts:
            self._led_texts[tree] = led_text(lead, self._texts(tree.stops), tree.role)
        return self._led_texts[tree]

    def _content(self) -> Piece:
        """The texts in the place of free text."""
        assert self.content is not None
        if not self.on_demand:
            data = self.content.data() if isinstance(self.content, OnDemand) else self.content
            return grammar_piece(data, "text")
        if not isinstance(self.content, OnDemand) or self.content.schema is None:
            raise UndecidedError
        return schema_piece(self.content.schema, "text")

    def _texts(self, stops: Sequence[str]) -> tuple[str, ...]:
        """Those of some texts that have no special token in them: such a one never is in free text."""
        return tuple(dict.fromkeys(stop for stop in stops if not any(token in stop for token in self.format.tokens)))

    def _fixed(self, text: str, place: str) -> Piece:
        """A text that may have special tokens in it."""
        if self.on_demand and any(token in text for token in self.format.tokens):
            raise UndecidedError
        return mark_piece(text, self.format.tokens, place)

    def _call(self, call: CallParts) -> Piece:
        envelope = _envelope(call.parts) if self._writes_marks_as_json() else None
        if envelope is not None and len(self.tools) > 1 and not (self.on_demand or self.inputs):
            before, key, after = envelope
            return in_order([self._fixed(before, ""), self._envelopes(key), self._fixed(after, "")])
        pieces = []
        for tool in self.tools:
            arguments = self._arguments_of(tool, call.parts)
            if arguments is not None:
                parts = call.parts
                if isinstance(arguments, LatePiece):  # it has all that comes after them, too
                    parts = parts[: parts.index(Open("arguments")) + 1]
                pieces.append(in_order(self._template(parts, self._slots(tool, arguments), tool.name)))
        if not pieces:
            raise EmptyLanguageError("none of the tools can be called: no arguments satisfy their schemas")
        return either(pieces)

    def _writes_marks_as_json(self) -> bool:
        """Whether names have one text in JSON, that between the marks of a format with such objects."""
        return self.spelling.writes_like_dumps and all(
            spelled(tool.name, self.spelling.escapes) == f'"{tool.name}"' for tool in self.tools
        )

    def _slots(self, tool: ToolSchema, arguments: Piece) -> dict[str, Piece]:
        """What stands in the open parts of a call."""
        name = self._fixed(self.format.escaped(tool.name), tool.name)
        return {"name": name, "arguments": arguments, "index": TextPiece(_INDEX, tool.name)}

    def _template(self, parts: Sequence[Part], slots: Mapping[str, Piece], place: str) -> Iterator[Piece]:
        """What is left open filled in; texts side by side are one."""
        text = TextPiece(EMPTY, place)
        pieces: Piece = text
        for k, part in enumerate(parts):
            if part == Open("arguments") and parts[k - 1 : k] == (Open("name"),) and not _is_fixed(slots["arguments"]):
                rest = in_order(self._template(parts[k + 1 :], slots, place))
                yield with_name(pieces, slots["arguments"], rest)
                return
            piece = self._fixed(part, place) if isinstance(part, str) else slots.get(part.slot) or self._one_of(part)
            if _is_fixed(piece) or (isinstance(part, Open) and part.slot != "arguments"):
                pieces = sequence([pieces, piece])
                continue
            yield pieces
            yield piece
            pieces = text
        yield pieces

    def _one_of(self, part: Open) -> Piece:
        """One of the texts that a format of messages has for a part."""
        texts = None if self.format.messages is None else self.format.messages.texts(part.slot)
        assert texts is not None
        return either([self._fixed(text, self.format.name) for text in texts])

    def _arguments_of(self, tool: ToolSchema, parts: Sequence[Part]) -> Piece | None:
        """All arguments of a tool; None if there are none that it takes, of which it is said.

        Tagged ones that are read on demand are all of a call from there on.
        """
        if tool.name not in self._arguments:
            try:
                with told_of_types(tool.name, tool.arguments.get("$defs")):
                    if tool.name in self.inputs:
                        self._arguments[tool.name] = self._input(tool)
                    elif self.format.value_marks is not None:
                        self._arguments[tool.name] = self._marked(tool)
                    elif self.format.tagged:
                        self._arguments[tool.name] = self._tagged(tool, parts)
                    else:
                        self._arguments[tool.name] = self._json(tool)
            except EmptyLanguageError as error:
                caution(f"{tool.name}: {error}; so this tool is left out")
                self._arguments[tool.name] = None
        return self._arguments[tool.name]

    def _input(self, tool: ToolSchema) -> Piece:
        """The only argument of a tool, a text of a grammar."""
        grammar, place = self.inputs[tool.name], f"{tool.name}.{INPUT}"
        if not self.format.tagged:
            string = grammar_piece(escaped(grammar, "json", self.spelling.escapes, True), place)
            return in_order([TextPiece((f'{{"{INPUT}": ',), place), string, TextPiece(("}",), place)])
        slots = {"key": INPUT, "type": "string", "is_string": "true"}
        before, _, after = self.format.argument.partition("$value")
        head = "".join(part if isinstance(part, str) else slots[part.slot] for part in parts_of_template(before))
        return in_order([self._fixed(head, place), grammar_piece(grammar, place), self._fixed(after, place)])

    def _envelopes(self, key: str) -> Piece:
        """Objects of JSON with a name and arguments, of all tools at once: one schema, which is quicker than many."""
        schemas = []
        for tool in self.tools:
            arguments = {"$id": f"pdacon:arguments/{quote(tool.name, safe='')}", **tool.arguments}
            schemas.append(call_schema(tool.name, arguments, key))
        closed = tuple(tool_identifier(tool.name) for tool in self.tools if tool.closed)
        try:
            grammar = schema_grammar({"anyOf": schemas}, spelling=self.spelling, closed=closed, plain_integers=True)
        except UnsupportedSchemaError:
            for tool in self.tools:  # the one that it is about has a name
                with told_of_types(tool.name, tool.arguments.get("$defs")):
                    self._json(tool)
            raise
        return GrammarPiece(grammar, self.format.name)

    def _json(self, tool: ToolSchema) -> Piece:
        return self._value(
            Schema(tool.arguments, spelling=self.spelling, closed=tool.closed, plain_integers=True), tool.name
        )

    def _value(self, schema: Schema, place: str) -> Piece:
        """The values of a schema."""
        return schema_piece(schema, place) if self.on_demand else grammar_piece(schema.grammar(), place)

    def _marked(self, tool: ToolSchema) -> Piece:
        """Arguments in a notation of the format's own."""
        if self.on_demand:
            raise UndecidedError
        schema = self._schema_of(tool)
        schema.refuse_nothing()
        shapes = Shapes(schema)
        assert self.format.value_marks is not None
        if "$key" in self.format.value_marks.member[1]:
            tell_of_unlisted(schema)
        is_any_order = self._is_any_order(tool.name, len(shapes.arguments().listed))
        return MarkedArguments(self.format, tool.name, shapes, self._fixed, is_any_order).piece()

    def _schema_of(self, tool: ToolSchema) -> ArgumentSchema:
        """The schema of arguments that are not written as JSON."""
        assert tool.parts is not None
        tool.parts.whole.warn()
        return tool.parts

    # Arguments that are tagged one by one

    def _tagged(self, tool: ToolSchema, parts: Sequence[Part]) -> Piece:
        parameters, others = self._checked_parameters(tool)
        is_any_order = self._is_any_order(tool.name, len(parameters))
        if not ((parameters or others) and self.on_demand):
            return self._tagged_arguments(tool.name, parameters, others, is_any_order)
        behind = parts[parts.index(Open("arguments")) + 1 :]
        values = [parameter.values for parameter in parameters] + [other.values for other in others]
        first, schemas = self._beginnings(tool.name, parameters, behind), self._schemas(tool.name, values)

        def make() -> Piece:
            arguments = self._tagged_arguments(tool.name, parameters, others, is_any_order)
            return in_order([arguments, *self._template(behind, self._slots(tool, arguments), tool.name)])

        return LatePiece("arguments", tool.name, first, schemas, make)

    def _checked_parameters(self, tool: ToolSchema) -> tuple[list[Parameter], list[OtherParameters]]:
        """The parameters of a tool, each of which has a text in this format; those that it lists, and others."""
        parameters, others = parameters_of(self._schema_of(tool), self.format.escapes)
        stops = self._texts(self.format.value_end[:1])
        for parameter in parameters:
            place = f"{tool.name}.{parameter.name}"
            end = self.format.ends_within("key", parameter.name)
            if end is not None:
                why = f"an argument's name has no {end!r} in the format {self.format.name}"
                raise UnsupportedTypeError(place, f"{why}; rename it, or choose a format with JSON arguments")
            if not have_a_text(parameter.values, stops):
                raise EmptyLanguageError(f"{place}: no text of it is possible in the format {self.format.name}")
        return parameters, [other for other in others if have_a_text(other.values, stops)]

    def _beginnings(self, tool: str, parameters: Sequence[Parameter], behind: Sequence[Part]) -> frozenset[int]:
        """The bytes that arguments begin with, and what is after them where all may be left out.

        UndecidedError if it is not plain that arguments end where what is after them begins, or a mark is a token.
        """
        for part in (self.format.argument, self.format.no_arguments, *behind):
            self._fixed(part if isinstance(part, str) else "", tool)
        head, _, _ = self.format.argument.partition("$")
        end = behind[0] if behind and isinstance(behind[0], str) else ""
        stop = self.format.value_end[0]
        overlaps = any(stop.startswith(stop[k:]) for k in range(1, len(stop)))
        if not (head and end and stop) or overlaps or head.startswith(end) or end.startswith(head):
            raise UndecidedError
        may_lack_all = not any(parameter.required for parameter in parameters)
        if may_lack_all and self.format.no_arguments and len(parameters) > _MOST_NESTED:
            raise UndecidedError
        texts = [head, *([self.format.no_arguments or end] if may_lack_all else [])]
        return frozenset(text.encode()[0] for text in texts)

    def _schemas(self, tool: str, values: Sequence[ArgumentValues]) -> tuple[Schema, ...]:
        """Those of values that are symbols; UndecidedError if one cannot be."""
        pieces = [self._value(schema, tool) for each in values for schema in self._containers_of(each).values()]
        return tuple(piece.schema for piece in pieces if isinstance(piece, SchemaPiece))

    def _tagged_arguments(
        self, tool: str, parameters: Sequence[Parameter], others: Sequence[OtherParameters], is_any_order: bool
    ) -> Piece:
        """All arguments: those listed, and any number of others behind them, or anywhere in any order."""
        pieces = [self._argument(tool, parameter.name, parameter.values) for parameter in parameters]
        other = self._others(tool, others)
        nothing = self._fixed(self.format.no_arguments, tool)
        if not pieces and other is None:
            return nothing
        required = frozenset(k for k, parameter in enumerate(parameters) if parameter.required)
        if self.on_demand and not is_any_order:
            more: list[Piece] = [] if other is None else [Repeated(other, 0, None)]
            if required or not self.format.no_arguments:
                options: list[Piece] = [
                    piece if k in required else Repeated(piece, 0, 1) for k, piece in enumerate(pieces)
                ]
                return InOrder((*options, *more))
            first = [] if other is None else [in_order([other, *more])]
            arguments = either([*([in_order([at_least_one(pieces), *more])] if pieces else []), *first])
        else:
            arguments = some_members(pieces, required, is_any_order, other)
        if required:
            return arguments
        return either([arguments, nothing]) if self.format.no_arguments else Repeated(arguments, 0, 1)

    def _others(self, tool: str, others: Sequence[OtherParameters], blanks: TextPiece | None = None) -> Piece | None:
        """One argument that is not listed; None: there is none. Those of other kinds stay apart."""
        pieces = [self._argument(tool, other.names, other.values, blanks) for other in others]
        if not pieces:
            return None
        return pieces[0] if len(pieces) == 1 else OneOf(tuple(pieces))

    def _is_any_order(self, tool: str, count: int) -> bool:
        """Whether arguments come in any order, and not in their own."""
        if self.spelling.order != "any":
            return False
        if count > _MOST_IN_ANY_ORDER:
            caution(f"{tool}: it has more than {_MOST_IN_ANY_ORDER} arguments; so they come in their order")
        return count <= _MOST_IN_ANY_ORDER

    def styled(self, tool: ToolSchema, blanks: TextPiece) -> Piece:
        """All arguments, each as the format writes it, with blanks before them, between them and after them."""
        if self.format.value_marks is not None:
            return self._marked(tool)
        parameters, others = self._checked_parameters(tool)
        is_any_order = self._is_any_order(tool.name, len(parameters))
        pieces = [after(blanks, self._argument(tool.name, each.name, each.values, blanks)) for each in parameters]
        required = frozenset(k for k, parameter in enumerate(parameters) if parameter.required)
        other = self._others(tool.name, others, blanks)
        other = None if other is None else after(blanks, other)
        if not pieces and other is None:
            return blanks
        arguments = some_members(pieces, required, is_any_order, other)
        return sequence([arguments if required else Repeated(arguments, 0, 1), blanks])

    def _head(self, parts: Sequence[Part], name: str | RegularSet, blanks: TextPiece | None, place: str) -> Piece:
        """What stands before a value; ``blanks`` may stand between two marks in it."""
        pieces: list[Piece] = []
        for part in parts:
            if isinstance(part, Open):
                if isinstance(name, str):
                    pieces.append(self._fixed(self.format.escaped(name), place))
                else:
                    pieces.append(TextPiece(name, place))
                continue
            first, *others = [part] if blanks is None else part.split("><")
            pieces.append(self._fixed(f"{first}>" if others else first, place))
            for other in others:
                assert blanks is not None
                pieces += [blanks, self._fixed(f"<{other}", place)]
        return sequence(pieces)

    def _within_blanks(self, strings: RegularSet, blanks: RegularSet, values: ArgumentValues) -> RegularSet:
        """Strings with blanks around them, but for those that begin as JSON with blanks before it may."""
        texts = blanks + strings + blanks if strings else strings
        for opening, kind in OPENINGS.items():
            if kind in values.others and texts:
                texts = texts - (blanks + _beginning(opening))
        return texts

    def _argument(
        self, tool: str, name: str | RegularSet, values: ArgumentValues, blanks: TextPiece | None = None
    ) -> Piece:
        """One argument, or one of any of some names: its strings as they are, other values in JSON.

        ``blanks`` may stand around its value.
        """
        place = f"{tool}.{name}" if isinstance(name, str) else tool
        parts = parts_of_template(self.format.argument.partition("$value")[0])
        stop, tail = self.format.value_end[0], "".join(self.format.value_end)
        typed = self.format.tells_strings
        heads: dict[tuple[Part, ...], list[Piece]] = {}
        for (kind, is_string), pieces in self._texts_of(values, typed, blanks, stop, place):
            slots = {"type": kind, "is_string": is_string}
            head = joined_parts([slots.get(part.slot, part) if isinstance(part, Open) else part for part in parts])
            around = [] if blanks is None or is_string == "true" else [blanks]
            heads.setdefault(head, []).extend(sequence([*around, piece, *around]) for piece in pieces)
        if not heads:
            raise EmptyLanguageError(f"{place}: no text of it is possible in the format {self.format.name}")
        end = self._fixed(tail, place)
        whole = either([
            sequence([self._head(head, name, blanks, place), value])
            for head, parts in heads.items()
            for value in _with_end(either(parts), end, blanks)
        ])  # fmt: skip
        return TextPiece(whole.set, place, tail) if isinstance(whole, TextPiece) else whole

    def _containers_of(self, values: ArgumentValues) -> dict[str, Schema]:
        """The schemas of the objects and arrays among values: one of both, unless the type stands before a value."""
        listed = {kind: each for kind, each in values.others.items() if isinstance(each, Schema)}
        return listed if values.containers is None or self.format.tells_types else {"object": values.containers}

    def _texts_of(
        self, values: ArgumentValues, typed: bool, blanks: TextPiece | None, stop: str, place: str
    ) -> Iterator[tuple[tuple[str, str], list[Piece]]]:
        """The texts of an argument's values, by their type and whether they are strings."""
        python_constants, stops = self.format.python_constants, (*self._texts((stop,)), *self.spelling.excludes)
        raw = texts_as_they_are(values, typed=typed, python_constants=python_constants, stops=stops)
        if blanks is not None and not typed:
            raw = self._within_blanks(raw, blanks.set, values)
        if raw:
            yield ("string", "true"), [TextPiece(raw, place)]
        others = values.others
        if self.on_demand:
            others = {
                **{kind: each for kind, each in others.items() if isinstance(each, RegularSet)},
                **self._containers_of(values),
            }
        for kind, other in others.items():
            yield (
                (kind, "false"),
                [TextPiece(other, place) if isinstance(other, RegularSet) else self._value(other, place)],
            )
        if self.format.python_constants:
            constants = [text for text, kind in CONSTANTS.items() if kind in values.kinds and text != kind]
            if constants:
                yield ("boolean", "false"), [TextPiece(RegularSet.from_choices(constants), place)]


def _with_end(value: Piece, end: Piece, blanks: TextPiece | None) -> list[Piece]:
    """A value with an end behind it, in each of its alternatives.

    Blanks that may stand before texts and before objects alike are before all of them: a lexer could not tell which
    ones it reads.
    """
    if not isinstance(value, OneOf):
        return [sequence([value, end])]
    texts = [item for item in value.items if isinstance(item, TextPiece)]
    others = [item.items for item in value.items if isinstance(item, InOrder)]
    if (
        blanks is None
        or len(texts) != 1
        or len(texts) + len(others) < len(value.items)
        or not all(isinstance(items[0], TextPiece) and items[0].set == blanks.set for items in others)
    ):
        return [either([sequence([item, end]) for item in value.items])]
    behind = [in_order(items[1:]) for items in others]
    return [
        sequence([
            TextPiece(before, blanks.place),
            either([sequence([item, end]) for item in ([] if rest is None else [rest]) + behind]),
        ])
        for before, rest in by_blanks(texts[0], blanks.set)
    ]  # fmt: skip


def _envelope(parts: Sequence[Part]) -> tuple[str, str, str] | None:
    """What stands before an object of JSON with a name and arguments, the name of the member with these, and what is
    after the object; None if a call's template is another one.
    """
    if len(parts) != 5 or [part.slot for part in parts if isinstance(part, Open)] != ["name", "arguments"]:
        return None
    before, _, between, _, after = parts
    opening, name_end, key_end = '{"name": "', '", "', '": '
    assert isinstance(before, str)
    assert isinstance(between, str)
    assert isinstance(after, str)
    if not (
        before.endswith(opening) and between.startswith(name_end) and between.endswith(key_end) and after[0] == "}"
    ):
        return None
    return before[: -len(opening)], between[len(name_end) : -len(key_end)], after[1:]


def _beginning(text: str) -> RegularSet:
    """The texts that begin with one."""
    return RegularSet.from_choices([text]) + RegularSet.from_regex("(?s).*")


def _is_fixed(piece: Piece) -> bool:
    return isinstance(piece, TextPiece) and piece.words is not None and len(piece.words) == 1
