"""Texts in Lark's language with holes, and with JSON Schemas in them -> the grammar that is meant.

Lark does not load a text in which a rule is not defined. So each hole gets a definition after the text, by a terminal
that is only declared; a schema in the text gives way to a name, with blanks and line continuations in place of the
rest, so that all places stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pdacon.base.cautions import caution
from pdacon.errors import EmptyLanguageError, GrammarError, GrammarSyntaxError
from pdacon.frontends.insertion.inserting import MADE_UP, inserted
from pdacon.frontends.json_schema import schema_grammar
from pdacon.frontends.names_once import NamesOnce
from pdacon.frontends.pattern_sets import pattern_sets
from pdacon.grammar import GrammarData, GrammarOptions, Import, Span
from pdacon.grammar.lark_reading import read_text
from pdacon.grammar.patterns import PatternSets

_PIECE = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\\n])*"|/(?!/)(?:\\.|[^/\\\n])+/|(?P<json>%json\b[ \t]*)|(?P<name>\w+)""")
_DEFINED = re.compile(
    r"^[ \t]*(?:%(?:override|extend)[ \t]+)?[?!]*(\w+)\s*(?:\.\s*-?\d+\s*)?(?:\{[^}\n]*\}\s*)?:", re.MULTILINE
)
_NO_VALUE = re.compile(r"(?:^[ \t]*%(?:ignore|declare|import)\b.*|->\s*|\.\s*|~\s*)\Z", re.MULTILINE)
_COLON = re.compile(r"\s*(?:\.\s*-?\d+\s*)?:")
_SHOWN = 40


def composed(
    template: str | GrammarData,
    holes: Mapping[str, Callable[[], GrammarData]],
    options: GrammarOptions | None = None,
) -> GrammarData:
    """See `Grammar.compose`; ``holes`` make the inner grammars. The options are those of a template that is a text."""
    if not holes:
        raise TypeError("compose: give a grammar for each name that is open, such as code=...")
    inner = _not_empty(holes)
    if isinstance(template, GrammarData):
        return inserted(template, template.source, inner)
    if not isinstance(template, str):
        raise TypeError(f"compose: the template is a text, a path or a Grammar, not {type(template).__name__}")
    return inserted(*_with_holes(template, options or GrammarOptions(), list(holes)), inner)


def _not_empty(holes: Mapping[str, Callable[[], GrammarData]]) -> dict[str, GrammarData]:
    """The grammars for the holes but those that have no sentence: what needs one of these is a branch that cannot be.

    Their holes stay terminals that are only declared.
    """
    grammars = {name: _unless_empty(name, make) for name, make in holes.items()}
    return {name: grammar for name, grammar in grammars.items() if grammar is not None}


def _unless_empty(name: str, make: Callable[[], GrammarData]) -> GrammarData | None:
    try:
        return make()
    except EmptyLanguageError as error:
        caution(f"compose: {name}: {error}; so no text has what needs {name}")
        return None


class Schemas:
    """The JSON Schemas in a text, and the names that stand for them; ``taken`` are names that the text has.

    Attributes
    ----------
    grammars : dict of str to Grammar
        By these names: equal schemas have the same.
    shown : dict of str to str
        What messages call each: the schema as it is written, cut short.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self.grammars: dict[str, GrammarData] = {}
        self.shown: dict[str, str] = {}
        self._taken = set(taken)
        self._names: dict[str, str] = {}

    def name(self, schema: Any, written: str, span: Span) -> str:
        """The name for a schema.

        Raises
        ------
        GrammarError
            It is no schema, or one that cannot be had.
        """
        key = json.dumps(schema, sort_keys=False)
        name = self._names.get(key)
        if name is None:
            grammar = _of_schema(schema, span)
            name = next(name for k in range(len(self._taken) + 1) if (name := f"j{k:03}") not in self._taken)
            self._taken.add(name)
            self._names[key], self.grammars[name], self.shown[name] = name, grammar, _cut(" ".join(written.split()))
        return name

    def inserted(self, outer: GrammarData, text: str) -> GrammarData:
        """The grammar in which each name stands for its schema; ``text`` is what stock Lark loads of the outer one."""
        places = {nonterminal.name: nonterminal.span for nonterminal in outer.nonterminals}
        used = {name: grammar for name, grammar in self.grammars.items() if name in places}
        shown = tuple(
            Import(name, place, False, place, self.shown[name]) for name in used if (place := places[name]) is not None
        )
        outer = replace(outer, imports=(*outer.imports, *shown))
        return inserted(outer, text, used, self.shown) if used else outer


def with_inline_schemas(text: str, options: GrammarOptions, sets: PatternSets) -> GrammarData:
    """The grammar of a text that has ``%json {...}`` where names of rules may stand."""
    plain = text
    schemas = Schemas(re.findall(r"\w+", text))
    for begin, at in _schemas(text):
        span = _span(text, begin, at, options)
        schema, end = _decoded(text, at, span)
        _check_place(plain[:begin], text[end:], span)
        name = schemas.name(schema, text[begin:end], span)
        plain = plain[:begin] + _blanked(name, text[begin:end], span) + plain[end:]
    if not schemas.grammars:
        return read_text(text, options, sets)
    outer, loaded = _with_holes(plain, options, list(schemas.grammars), sets, schemas.shown)
    return schemas.inserted(replace(outer, source=text), loaded)


def _check_place(before: str, behind: str, span: Span) -> None:
    """Refuse a schema where the name of a rule would be no value of one."""
    defined = _DEFINED.findall(before)
    if not defined or defined[-1].isupper() or _NO_VALUE.search(before) or _COLON.match(behind):
        message = "%json has the values of a schema, which only a rule can have; write %json {...} after its colon"
        raise GrammarSyntaxError(message, span)


def _with_holes(
    text: str,
    options: GrammarOptions,
    names: list[str],
    sets: PatternSets | None = None,
    shown: Mapping[str, str] = MappingProxyType({}),
) -> tuple[GrammarData, str]:
    """The grammar of a text in which some names are holes, and the text that stock Lark loads.

    ``shown`` is what messages call names that are not the author's.
    """
    uses = {match["name"]: match.start() for match in reversed(list(_PIECE.finditer(text))) if match["name"]}
    further = []
    for name in names:
        if not re.fullmatch(r"_?[a-z][a-z0-9_]*|_?[A-Z][A-Z0-9_]*", name, re.ASCII):
            raise ValueError(f"compose: {name!r} is no name of a rule or a terminal in Lark's language")
        if name in _DEFINED.findall(text):
            raise ValueError(
                f"compose: the grammar defines {name} itself; leave its definition out, or take a new name"
            )
        if name not in uses:
            raise ValueError(f"compose: no rule uses {name}; write it where the grammar is to stand")
        if name.isupper():
            if not re.search(rf"^[ \t]*%declare\b.*\b{name}\b", text, re.MULTILINE):
                further.append(f"%declare {name}")
        else:
            inline = "" if name.startswith("_") else "?"
            further += [f"%declare {name.upper()}{MADE_UP}", f"{inline}{name}: {name.upper()}{MADE_UP}"]
    loaded = "\n".join([text, *further, ""])
    grammar = read_text(loaded, options, sets or (pattern_sets() if options.extensions else None), shown)
    spans = {name: _span(text, uses[name], uses[name] + len(name), options) for name in names}
    outer = replace(
        grammar,
        source=text,
        nonterminals=tuple(
            replace(nonterminal, span=spans.get(nonterminal.name, nonterminal.span))
            for nonterminal in grammar.nonterminals
        ),
        terminals=tuple(
            replace(terminal, span=spans.get(terminal.name, terminal.span)) for terminal in grammar.terminals
        ),
    )
    return outer, loaded


def _schemas(text: str) -> Iterator[tuple[int, int]]:
    """Where each ``%json`` begins, and the schema after it."""
    place = 0
    while (match := _PIECE.search(text, place)) is not None:
        place = match.end()
        if match["json"]:
            yield match.start(), place
            place = _end_of_schema(text, place)


def _end_of_schema(text: str, at: int) -> int:
    try:
        return json.JSONDecoder().raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return at


def _decoded(text: str, at: int, span: Span) -> tuple[Any, int]:
    names = NamesOnce()
    try:
        schema, end = json.JSONDecoder(object_pairs_hook=names).raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        message = f"what follows %json is no JSON: {error}; write a JSON Schema there"
        raise GrammarSyntaxError(message, span) from error
    if not isinstance(schema, dict | bool):
        raise GrammarSyntaxError(f"what follows %json is no JSON Schema: {text[at:end]:.40}; write an object", span)
    if twice := names.complaint(schema):
        raise GrammarSyntaxError(f"in the schema after %json, {twice}", span)
    return schema, end


def _of_schema(schema: Any, span: Span) -> GrammarData:
    try:
        return schema_grammar(schema)
    except GrammarError as error:
        error.span = span
        raise


def _blanked(name: str, written: str, span: Span) -> str:
    """A name in the place of a schema: as many lines, and as many characters in each."""
    first, *others = written.replace("\r", " ").split("\n")
    if "" in others[:-1]:
        raise GrammarSyntaxError("there is an empty line in the schema after %json; take it out", span)
    lines = [name.ljust(len(first)), *(" " * len(line) for line in others)]
    return "\\\n".join(line[:-1] if k < len(lines) - 1 else line for k, line in enumerate(lines))


def _span(text: str, begin: int, end: int, options: GrammarOptions) -> Span:
    line = text.count("\n", 0, begin) + 1
    column = begin - (text.rfind("\n", 0, begin) + 1) + 1
    end_line = text.count("\n", 0, end) + 1
    end_column = end - (text.rfind("\n", 0, end) + 1) + 1
    base = options.import_base
    return Span(None if base is None else str(base), line, column, end_line, end_column)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
