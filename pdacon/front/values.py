"""Texts as values, where a grammar knows what its sentences stand for.

Types, JSON Schemas, choices and some built-in grammars do; and grammars that were made of others, of which there are
Lark's trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from pdacon.base.once import KeptWith
from pdacon.front.compiled import Compiled, lexemes_of, name_of, refusal_of, sense_of
from pdacon.front.stages import compiled_for_bytes
from pdacon.frontends.insertion import Composition, Escaped, Hole
from pdacon.frontends.json_schema import yaml_value
from pdacon.frontends.long_integers import json_value
from pdacon.frontends.on_demand import OnDemand
from pdacon.frontends.partial_values import PartialValue
from pdacon.grammar import GrammarData
from pdacon.grammar.builtin import builtin_name
from pdacon.lalr import Tables, build_tables, reductions_of
from pdacon.pda.indentation import parser_terminals

if TYPE_CHECKING:
    from pdacon.grammar.trees import Piece

UNKNOWN = (
    "knows no values; types, JSON Schemas, choices, regular expressions, grammars that were composed and the built-in "
    "grammars that are JSON do. For a tree, parse the text with lark.Lark(grammar.to_lark(), **grammar.lark_options), "
    "and if the constraint is from a file, load it with `grammar=` to have the values of its grammar"
)
_TEXTS = ("choices", "regular expression", "regular set")  # whose sentences stand for themselves

_tables_of: KeptWith[GrammarData, Tables] = KeptWith(lambda grammar: build_tables(copy(grammar)))

Lexemes = Callable[[bytes], list[tuple[int, int, int]]]
"""The terminals of a sentence, with where in its bytes each of them begins and ends."""


def parse(compiled: Compiled, text: str | bytes, start: str | None) -> Any:
    """The value of a sentence; see `Constraint.parse`."""
    read = reader_of(compiled, start)
    if read is None:
        raise TypeError(f"{name_of(compiled)} {UNKNOWN}")
    if not compiled.accepts(text, start):
        raise ValueError(f"{name_of(compiled)}: this text is not a sentence: {refusal_of(compiled, text, start)}")
    return read(text if isinstance(text, str) else text.decode("utf-8"))


def reader_of(compiled: Compiled, start: str | None = None) -> Callable[[str], Any] | None:
    """What makes a value of a sentence; None: its grammar knows none."""
    grammar = sense_of(compiled)
    if grammar.values is not None:
        return grammar.values.read
    if isinstance(grammar, OnDemand):
        return json_value if grammar.language == "JSON Schema" else None
    if isinstance(grammar.parts, Escaped):
        return partial(_of_escaped, grammar.parts)
    if isinstance(grammar.parts, Composition):
        return partial(_of_composed, grammar, grammar.parts, partial(lexemes_of, compiled, start=start), start)
    if grammar.language in _TEXTS:
        return str
    if grammar.language == "YAML":
        return yaml_value
    return json_value if grammar.language == "JSON Schema" else reader_of_builtin(builtin_name(grammar))


def partial_of(compiled: Compiled) -> PartialValue:
    """See `Constraint.partial`."""
    grammar = sense_of(compiled)
    begin = getattr(grammar.values, "partial", None)
    if begin is not None:
        begun: PartialValue = begin()
        return begun
    builtin = None if isinstance(grammar, OnDemand) else builtin_name(grammar)
    if grammar.values is None and (grammar.language == "JSON Schema" or _READERS.get(builtin or "") is json_value):
        return PartialValue()
    raise TypeError(
        f"{name_of(compiled)} has no values that are known in part; those of types, JSON Schemas and the built-in json "
        "are, and the arguments of calls: see Constraint.reader"
    )


def reader_of_builtin(name: str | None) -> Callable[[str], Any] | None:
    """What makes a value of a sentence of the built-in grammar of a name; None: it knows none, or there is none."""
    return _READERS.get(name or "")


def _of_part(grammar: GrammarData, text: str) -> Any:
    """What a sentence of an inner grammar stands for: its value, or Lark's tree of it, or else the text itself."""
    from pdacon.grammar.trees import tree_of_text  # brings lark along

    compiled = compiled_for_bytes(grammar)
    if reader_of(compiled) is not None:
        return parse(compiled, text, None)
    plain = grammar.language == "Lark" and not (grammar.options.extensions or grammar.within)
    return tree_of_text(grammar, text) if plain else text


def _of_escaped(parts: Escaped, text: str) -> Any:
    return _of_part(parts.grammar, json_value(text if parts.quotes else f'"{text}"'))


def _of_composed(grammar: GrammarData, parts: Composition, lexemes: Lexemes, start: str | None, text: str) -> Any:
    from pdacon.grammar.trees import tree_of_pieces  # brings lark along

    data = text.encode()
    pieces = list(_outer_pieces(grammar, parts, lexemes(data), data, start))
    values = {hole.terminal: partial(_of_part, hole.grammar) for hole in parts.holes}
    return tree_of_pieces(parts.outer, parts.text, pieces, values, start)


def _outer_pieces(
    grammar: GrammarData, parts: Composition, lexemes: Sequence[tuple[int, int, int]], data: bytes, start: str | None
) -> Iterator[Piece]:
    """The lexemes of the outer grammar, with one for each hole."""
    holes = {hole.symbol: hole for hole in parts.holes}
    number = 0 if start is None else grammar.options.start.index(start)
    told = [(terminal, at) for at, (terminal, _, _) in enumerate(lexemes)]
    if grammar.layout is not None:
        told = parser_terminals(grammar.layout, lexemes, data)
    places = [*(at for _, at in told), len(lexemes)]
    begun: dict[int, list[tuple[int, Hole]]] = {}  # by the first of its lexemes: where each hole ends
    for production, first, last in reductions_of(grammar, _tables_of(grammar), number, [one for one, _ in told]):
        hole = holes.get(grammar.productions[production].lhs)
        if hole is not None:
            begun.setdefault(places[first], []).append((places[last], hole))
    place = characters = 0

    def piece(name: str, begin: int, end: int) -> Piece:
        nonlocal place, characters
        characters += len(data[place:begin].decode())
        place = begin
        return name, data[begin:end].decode(), characters

    at = 0
    while at <= len(lexemes):
        after = at
        for last, hole in begun.get(at, []):
            begin = lexemes[at][1] if at < len(lexemes) else len(data)
            yield piece(hole.terminal, begin, lexemes[last - 1][2] if at < last else begin)
            after = max(after, last)
        if after > at:
            at = after
            continue
        if at < len(lexemes):
            terminal, begin, end = lexemes[at]
            joined = parts.joined.get(terminal)
            if joined is not None:
                cut = begin + len((whole := data[begin:end].decode())[: joined.cut(whole)].encode())
                if joined.hole is not None:
                    yield piece(joined.hole.terminal, begin, cut)
                yield piece(joined.closer, cut, end)
            elif terminal in parts.outside:
                yield piece(parts.outside[terminal], begin, end)
        at += 1


def _lines(text: str) -> list[Any]:
    return [json_value(line) for line in text.split("\n") if line]


_READERS: dict[str, Callable[[str], Any]] = {
    "json": json_value,
    "json_compact": json_value,
    "json_dumps": json_value,
    "json_pretty": json_value,
    "json_pretty4": json_value,
    "jsonl": _lines,
}
