"""A schema and how it is written -> its grammar."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from pdacon.base.cancelling import raise_if_out_of_time
from pdacon.base.cautions import caution
from pdacon.base.once import Once
from pdacon.errors import EmptyLanguageError, LimitExceededError, PdaconError, UnsupportedSchemaError
from pdacon.frontends.json_schema.asserting import with_asserted
from pdacon.frontends.json_schema.documents import Closed, Documents
from pdacon.frontends.json_schema.doubts import finds_a_value, notes_of_doubts
from pdacon.frontends.json_schema.exploring import Explorer
from pdacon.frontends.json_schema.large_counts import refused_count
from pdacon.frontends.json_schema.never_coming import never_comes
from pdacon.frontends.json_schema.notation import Notation
from pdacon.frontends.json_schema.numbering import Lowered, lower
from pdacon.frontends.json_schema.places import all_asked_of, places_at
from pdacon.frontends.json_schema.plain import PlainSchema, plain
from pdacon.frontends.json_schema.productions import MOST_PRODUCTIONS, Productions
from pdacon.frontends.json_schema.profiles import require_profile
from pdacon.frontends.json_schema.questions import Questions
from pdacon.frontends.json_schema.schema_formulas import Note, Reader
from pdacon.frontends.json_schema.spelling import Spelling
from pdacon.frontends.json_schema.strings import shape_of, string_automaton
from pdacon.frontends.json_schema.survey import ReadingOptions, Survey
from pdacon.frontends.json_schema.writing import Writer
from pdacon.frontends.json_schema.yaml_writing import YamlWriter
from pdacon.grammar import GrammarData
from pdacon.grammar.model import GrammarOptions
from pdacon.regular import RegularSet

_Written: TypeAlias = tuple[Lowered, dict[tuple[str, str, str], None], dict[tuple[str, str, str], bool]]
"""Productions, what is left out, and what is noted: whether the caller is to be warned."""
_USUAL = Spelling()
_DEEPEST = 50  # names of members that a message follows


class Schema:
    """A schema and how its values are written.

    Parameters
    ----------
    schema, spelling, lax, registry, formats, closed, asserted, profile
        As `Grammar.from_json_schema` takes them.
    notation : Notation, optional
        The marks of types that are not JSON's.
    plain_integers : bool
        Whether ``1.0`` is none in any draft, so that an integer is told from a float by its text.

    Attributes
    ----------
    source : str
        A text of JSON that says the same.
    spelling : Spelling
    documents : Documents
    """

    def __init__(
        self,
        schema: Any,
        *,
        spelling: Spelling | None = None,
        lax: bool = False,
        registry: Any = None,
        formats: bool = True,
        notation: Notation | None = None,
        closed: Closed = False,
        asserted: Collection[str] = (),
        profile: str | None = None,
        plain_integers: bool = False,
    ) -> None:
        read = schema if isinstance(schema, PlainSchema) else None
        self._schema, self.source = plain(schema) if read is None else (read.value, read.text)
        if asserted:
            self._schema = with_asserted(self._schema, asserted)
            self.source = json.dumps(self._schema, default=float)
        self.spelling = _USUAL if spelling is None else spelling
        if not isinstance(self.spelling, Spelling):
            raise TypeError(f"spelling is a pdacon.Spelling(...), not {spelling!r:.40}")
        self.documents = Documents(self._schema, registry, self.source)
        _refuse_envelope(self._schema)
        require_profile(profile, self.documents)
        self._notation = notation
        marked = () if notation is None else tuple(notation.marks)
        self._reading = ReadingOptions(self.spelling, formats, lax, closed, plain_integers, marked)
        self._survey = Once(lambda: Survey(self.documents, self._reading).findings())
        self._is_settled = Once(self._settled)
        self._explorers: list[Explorer] = []  # of the search that has settled doubts
        self._ready: _Written | None = None  # the whole, where it had to be made to know what is refused
        self._is_refused_in_a_row = False
        self._counts_by_order = False  # whether members are counted where that may depend on the order of others
        self._has_too_many_sets = False  # of names that have come, to make the whole
        self._told: dict[tuple[str, str, str], bool] = {}  # beside what the survey tells
        self._has_warned = False

    @property
    def key(self) -> tuple[str, ...]:
        """Says all that the texts of values depend on, of a schema that may be read on demand."""
        return self.source, *self.documents.others(), repr(self._reading)

    @property
    def notes(self) -> tuple[tuple[str, str, str], ...]:
        """The places, keywords and reasons of what says nothing though it may be meant."""
        return tuple(self._survey().notes | self._told)

    @property
    def unenforced(self) -> tuple[tuple[str, str, str], ...] | None:
        """What the data of the grammar names as not enforced; None: it is known when the grammar has been made."""
        return None if self._reading.lax else self.notes

    def may_be_read_on_demand(self) -> bool:
        """Whether its automaton can be made as texts are read, and no error or note of it is known only then."""
        has_language = self.spelling.language == "json" and not self.spelling.excludes
        return self._notation is None and has_language and self._is_settled()

    def _settled(self) -> bool:
        survey = self._survey()
        if survey.is_plain and not survey.doubts:
            return True
        if survey.is_plain:
            explorer = self._new_explorer()
            told = notes_of_doubts(survey.doubts, explorer)
            if told is not None:
                self._told = told
                self._explorers.append(explorer)
                return True
        return not self._reading.lax and self._is_refused_nowhere()

    def _is_refused_nowhere(self) -> bool:
        """Whether the whole is refused for nothing but the sets of names that have come, or not at all.

        What is to be told of the schema tells a whole in which names come in one order, which is small.
        """
        is_any, has_value = self.spelling.order == "any", finds_a_value(self._new_explorer())
        counts_apart = self._survey().counts_members_apart
        if has_value and (is_any or not counts_apart) and self._is_right_in_a_row():
            return True
        if not is_any:
            with suppress(PdaconError):
                self._ready = self._written()
                self._told = self._ready[-1]
                return True
            if not self._has_too_many_sets:
                return False
        return has_value and self._is_right_in_a_row()

    def _is_right_in_a_row(self) -> bool:
        """Whether a whole in which names come in one order can be made, and refusals do not depend on the order."""
        self._is_refused_in_a_row = True
        with suppress(PdaconError):
            self._told = self._written(in_a_row=True)[-1]
            self._is_refused_in_a_row = False
        may_depend_on_order = self._survey().counts_members_apart and self._counts_by_order
        return not self._is_refused_in_a_row and not may_depend_on_order

    def explorer(self) -> Explorer:
        """What the core asks of a schema that may be read on demand; each call gives another one."""
        try:
            return self._explorers.pop()
        except IndexError:
            return self._new_explorer()

    def _new_explorer(self) -> Explorer:
        reader = self._reader(_forget if self._reading.lax else _raise)
        return Explorer(reader, self.spelling, reader.question(self.documents.root), is_lax=self._reading.lax)

    def _reader(self, drop: Callable[[UnsupportedSchemaError], None], note: Note | None = None) -> Reader:
        reading = self._reading
        return Reader(
            self.documents, reading.formats, drop, _pass_over if note is None else note, reading.marked,
            reading.closed, reading.plain_integers,
        )  # fmt: skip

    def kinds_and_strings(self) -> tuple[frozenset[str], RegularSet]:
        """The kinds of values that satisfy the schema, and those of them that are strings, as values and not as JSON.

        Of objects and arrays it is known only as far as it is plain whether any satisfies it.

        Raises
        ------
        UnsupportedSchemaError, LimitExceededError
        """
        reader = self._reader(_raise)
        questions, question = Questions(reader), reader.question(self.documents.root)
        meanings = {kind: questions.meanings((question,), kind).get(question) for kind in questions.kinds(question)}
        formula = meanings.get("string")
        strings = RegularSet.from_choices([])
        if formula is not None:
            strings = RegularSet(string_automaton(shape_of(reader.facts, formula)), "the strings of a schema")
        kinds = {str(kind) for kind, meaning in meanings.items() if meaning is not None and kind != "string"}
        return frozenset({*kinds, "string"} if strings else kinds), strings

    def warn(self) -> None:
        """Warn the caller of keywords that say nothing though they may be meant, once."""
        self._warn_of(self._survey().notes | self._told)

    def _warn_of(self, notes: dict[tuple[str, str, str], bool]) -> None:
        if not self._has_warned:
            self._has_warned = True
            for (pointer, keyword, why), is_warning in notes.items():
                if is_warning:
                    caution(f"{pointer}: {keyword}: {why}")

    def grammar(self) -> GrammarData:
        """The grammar of the values that satisfy the schema; see `Grammar.from_json_schema` for errors and warnings."""
        if self._is_refused_in_a_row:
            self._written(in_a_row=True)  # for the reason, which the whole may not come to
        lowered, dropped, noted = self._ready or self._written()
        self._ready = None
        notes = self._survey().notes | noted
        self._warn_of(notes)
        base = len(lowered.terminals) + 1
        return GrammarData.of_flat(
            lowered.productions,
            terminals=lowered.terminals,
            nonterminals=lowered.nonterminals,
            ignore=frozenset(),
            starts=(base,),
            options=GrammarOptions(),
            source=self.source,
            unenforced=(*dropped, *notes),
            language="YAML" if self.spelling.language == "yaml" else "JSON Schema",
        )

    def _written(self, *, in_a_row: bool = False) -> _Written:
        """The productions of the whole, what is left out of it, and what is noted; see `Writer` for ``in_a_row``."""
        spelling, notation, documents = self.spelling, self._notation, self.documents
        dropped: dict[tuple[str, str, str], None] = {}
        noted: dict[tuple[str, str, str], bool] = {}

        def drop(error: UnsupportedSchemaError) -> None:
            dropped.setdefault((error.pointer, error.keyword, error.why))

        def note(pointer: str, keyword: str, why: str) -> None:
            noted.setdefault((pointer, keyword, why), True)

        reader = self._reader(drop if self._reading.lax else _raise, note)
        writer = _writer(reader, spelling, notation, in_a_row=in_a_row)
        try:
            start = writer.write(reader.question(documents.root))
            self._counts_by_order |= in_a_row and writer.counts_by_order
        except LimitExceededError as error:
            raise_if_out_of_time(error)
            if error.what == "bytes":
                why = "its objects and arrays take too much memory"
                raise UnsupportedSchemaError(*refused_count(documents.root.node, why)) from None
            if error.what == "productions":
                self._has_too_many_sets = writer.has_free_names
                raise UnsupportedSchemaError(*_too_many_productions(writer, documents.root.node)) from None
            why = "the automaton for it gets too large, or those of names and strings beside it; make it smaller"
            raise UnsupportedSchemaError(*writer.place(), why) from None
        except RecursionError:
            raise UnsupportedSchemaError("#", "", "it is nested too deeply") from None
        lowered = lower(writer.out, start)
        if lowered is None:
            left_out = ", ".join(f"{pointer}: {keyword}" for pointer, keyword, _ in dropped)
            under = (
                f", where what is left out counts as satisfied, also under not and if: {left_out}" if dropped else ""
            )
            place = ""
            with suppress(UnsupportedSchemaError, LimitExceededError, RecursionError):
                place = _unsatisfiable(
                    documents, reader, lambda one: lower(*_values_written(reader, spelling, notation, one)) is None
                )
            raise EmptyLanguageError(f"no value satisfies the schema{place}{under}")
        for pointer, name in writer.impossible_members(lowered.symbols):
            note(pointer, "properties", never_comes(name))
        return lowered, dropped, noted


def schema_grammar(schema: Any, **options: Any) -> GrammarData:
    """The grammar of the values that satisfy a schema; options as of `Schema`."""
    return Schema(schema, **options).grammar()


def _raise(error: UnsupportedSchemaError) -> None:
    try:
        raise error
    finally:
        del error  # or the frame and the error would hold each other


def _forget(error: UnsupportedSchemaError) -> None:
    """What is left out is named when the schema's grammar is made."""


def _pass_over(pointer: str, keyword: str, why: str) -> None:
    """What is narrowed is told when the schema's grammar is made."""


def _too_many_productions(writer: Writer, root: Any) -> tuple[str, str, str]:
    """The place, the keyword and the words of a refusal."""
    many = f"as a whole it takes more than {MOST_PRODUCTIONS:,} productions"
    if writer.spelling.order == "any":
        why = f'{many}, since members come in any order; ask for what needs no whole, or give order="schema"'
        return "#", "", why
    alternatives = writer.open_alternatives()
    if alternatives:
        why = (
            f"{many}, since each of {len(alternatives)} alternatives, such as {alternatives[0]}, takes the members of "
            'all others; close them with "additionalProperties": false (closed=True, or extra="forbid" of a class), or '
            "put a member with a const first that tells them apart"
        )
        return "#", "", why
    if writer.has_free_names:
        why = (
            f"{many}, since members that no one list of properties has come in any order beside one another; ask for "
            "what needs no whole, or list the members of an object in one schema"
        )
        return "#", "", why
    return refused_count(root, many)


def _writer(reader: Reader, spelling: Spelling, notation: Notation | None, *, in_a_row: bool = False) -> Writer:
    if spelling.language == "yaml":
        return YamlWriter(reader, spelling)
    return Writer(reader, spelling, notation, in_a_row=in_a_row)


def _values_written(
    reader: Reader, spelling: Spelling, notation: Notation | None, question: int
) -> tuple[Productions, int]:
    writer = _writer(reader, spelling, notation)
    start = writer.write(question)
    return writer.out, start


def _unsatisfiable(documents: Documents, reader: Reader, is_empty: Callable[[int], bool]) -> str:
    """Where a schema that no value satisfies asks for too much: the innermost required member that cannot be."""
    path: tuple[str, ...] = ()
    while len(path) < _DEEPEST:
        required = dict.fromkeys(
            name
            for place in places_at(documents, path, certain=True)
            if isinstance(place.node, dict) and isinstance(place.node.get("required"), list)
            for name in place.node["required"]
        )
        for name in required:
            questions = [reader.question(place) for place in places_at(documents, (*path, name), certain=True)]
            if is_empty(reader.facts.formulas.conjunction(*questions)):
                path = *path, name
                break
        else:
            break
    if not path:
        asked = all_asked_of(documents.root)
        return ": # is false" if asked == "false" else f": # asks for {asked}" if asked else ""
    pointers = [place.pointer for place in places_at(documents, path, certain=True)]
    return f": the member {json.dumps(path[-1], ensure_ascii=False)} is required, and no value satisfies {pointers[0]}"


def _refuse_envelope(schema: Any) -> None:
    """Raise if what is given holds a schema, as requests to servers do, and says nothing itself."""
    if isinstance(schema, dict) and "name" in schema and not schema.keys() & {"type", "properties", "$ref", "anyOf"}:
        for keyword in ("schema", "parameters", "inputSchema", "input_schema"):
            if isinstance(schema.get(keyword), dict):
                why = "the schema is within it, as in a request to a server; give that alone"
                raise UnsupportedSchemaError("#", keyword, why)


def bounded_json(
    max_depth: int | None = None,
    max_items: int | None = None,
    max_properties: int | None = None,
    *,
    top: Literal["object", "array", "any"] = "object",
) -> Any:
    """The JSON Schema of JSON that is not nested deeply and has short lists.

    Parameters
    ----------
    max_depth : int, optional
        How many objects and arrays may lie in each other: at 1, only values without parts in one.
    max_items, max_properties : int, optional
        How many items an array, and how many members an object has at most.
    top : {"object", "array", "any"}
        What the text is.

    Raises
    ------
    ValueError
        A bound is negative, or leaves nothing; ``top`` is none of these.

    Notes
    -----
    Source: T. Koo, F. Liu and L. He, "Automata-based constraints for language model decoding" (2024), section 5.1,
    where such a truncated JSON is an automaton without a stack.
    """
    for name, bound in (("max_depth", max_depth), ("max_items", max_items), ("max_properties", max_properties)):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int) or bound < 0):
            raise ValueError(f"{name} is a number, 0 or more, not {bound!r}")
    if top not in ("object", "array", "any"):
        raise ValueError(f'top is "object", "array" or "any", not {top!r}')
    if max_depth == 0 and top != "any":
        raise ValueError(f'an {top} is nested once, so that max_depth=0 leaves nothing; give 1 or more, or top="any"')
    bounds = {"maxItems": max_items, "maxProperties": max_properties}
    bounds = {keyword: bound for keyword, bound in bounds.items() if bound is not None}
    kinds = {} if top == "any" else {"type": top}
    if max_depth is None:
        below = {"$ref": "#/$defs/value"}
        value = {**bounds, "items": below, "additionalProperties": below}
        return {**kinds, **value, "$defs": {"value": value}} if bounds else kinds
    values: dict[str, Any] = {"depth_0": {"not": {"type": ["array", "object"]}}}
    for depth in range(1, max_depth + 1):
        below = {"$ref": f"#/$defs/depth_{depth - 1}"}
        values[f"depth_{depth}"] = {**bounds, "items": below, "additionalProperties": below}
    return {**kinds, "$ref": f"#/$defs/depth_{max_depth}", "$defs": values}
