"""What a grammar or a report can be asked without a vocabulary: `Grammar.accepts` and its like call these functions.

A grammar that is asked is compiled for the 256 bytes, once; the constraint is kept as long as the grammar is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import islice
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from pdacon.base.arguments import require
from pdacon.base.cancelling import CancelEvent, Watch
from pdacon.base.limits import Limits
from pdacon.base.picture import Picture
from pdacon.compiling import compile
from pdacon.constraint import Constraint
from pdacon.determinism import DeterminismReport
from pdacon.detokenizer import Vocabulary
from pdacon.errors import DrawingError, UnsupportedGrammarError
from pdacon.frontends import insertion, printing, types
from pdacon.frontends.dialects import ebnf_grammar, gbnf_grammar, llguidance_grammar
from pdacon.frontends.json_schema import Spelling, json_schema, schema_grammar
from pdacon.frontends.outlines_terms import is_term, outlines_grammar
from pdacon.frontends.regular_sets import RegularSet
from pdacon.frontends.structural_tags import structural_tag_grammar
from pdacon.frontends.texts import checked_strings, choices_grammar
from pdacon.frontends.types import FormName, function_grammar, tools_grammar, type_grammar
from pdacon.grammar import Grammar, GrammarOptions, GrammarSource
from pdacon.grammar.model import Automaton
from pdacon.grammar.regular_groups import Substrings
from pdacon.lexer import compile_with_sets
from pdacon.lexer.escaping import Escapes
from pdacon.lexer.program import nothing, to_automaton
from pdacon.matching.explanation import Explanation
from pdacon.matching.sampling import sample_different

_compiled: WeakKeyDictionary[Grammar, Constraint] = WeakKeyDictionary()
_lock = Lock()


def accepts(grammar: Grammar, text: str | bytes, start: str | None) -> bool:
    """See `Grammar.accepts`."""
    return _constraint(grammar).accepts(text, start)


def explain(grammar: Grammar, text: str | bytes, start: str | None, lexemes: int | None) -> Explanation:
    """See `Grammar.explain`."""
    return _constraint(grammar).matcher(start).explain(text, lexemes=lexemes)


def value_of_part(grammar: Grammar, text: str) -> Any:
    """What a sentence of an inner grammar stands for: its value, or Lark's tree of it, or else the text itself."""
    from pdacon.grammar.trees import tree_of_text  # brings lark along

    constraint = _constraint(grammar)
    if constraint._reader() is not None:
        return constraint.parse(text)
    plain = grammar.language == "Lark" and not (grammar.options.extensions or grammar.within)
    return tree_of_text(grammar, text) if plain else text


def samples(grammar: Grammar, count: int, seed: int | None, size: int, start: str | None) -> list[str]:
    """See `Grammar.sample`."""
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"sample: count is a number of texts, not {count!r:.40}")
    if count < 0:
        raise ValueError(f"count must not be negative, got {count}")
    return list(islice(sample_different(_constraint(grammar), seed, size=size, start=start), count))


def from_json_schema(
    schema: Any,
    spelling: Spelling | None,
    lax: bool,
    registry: Any,
    formats: bool,
    closed: bool,
    seconds: float,
    cancel: CancelEvent | None,
) -> Grammar:
    """See `Grammar.from_json_schema`."""
    with Watch(seconds, cancel) as watch:
        return schema_grammar(
            schema, spelling=spelling, lax=lax, registry=registry, formats=formats, watch=watch, closed=closed
        )


def json(
    max_depth: int | None, max_items: int | None, max_properties: int | None, top: str, spelling: Spelling | None
) -> Grammar:
    """See `Grammar.json`."""
    return schema_grammar(json_schema(max_depth, max_items, max_properties, top), spelling=spelling)


def from_regex(pattern: str, limits: Limits | None) -> Grammar:
    """See `Grammar.from_regex`."""
    regular_set = RegularSet.from_regex(pattern, limits=limits)
    return regular_set.to_grammar("regular expression")


def from_choices(strings: Iterable[str], limits: Limits | None) -> Grammar:
    """See `Grammar.from_choices`."""
    own = Limits(states=1_000_000) if limits is None else limits
    return choices_grammar(checked_strings("from_choices", strings), own.states, own.bytes)


def require_set(name: str, given: object) -> None:
    """See the ``sets`` of `Grammar.from_lark`."""
    require("from_lark", f"sets[{name!r}]", given, RegularSet)


def automaton_of_pattern(regexp: str, flags: int, sets: Sequence[RegularSet | Substrings]) -> Automaton:
    """The automaton of a pattern of a grammar that has sets of texts in it."""
    programs = []
    for one in sets:
        regular_set = RegularSet.substring_of(one.text) if isinstance(one, Substrings) else one
        program = regular_set.program()  # what is beside the empty text, which the pattern adds
        programs.append(nothing() if program is None else program)
    return to_automaton(compile_with_sets(regexp, flags, programs))


def from_set(regular_set: RegularSet) -> Grammar:
    """See `Grammar.from_set`."""
    require("from_set", "regular_set", regular_set, RegularSet)
    return regular_set.to_grammar()


def from_type(
    type: Any,
    form: FormName,
    spelling: Spelling | None,
    lax: bool,
    seconds: float = 0.0,
    cancel: CancelEvent | None = None,
) -> Grammar:
    """See `Grammar.from_type`."""
    with Watch(seconds, cancel) as watch:
        return type_grammar(type, form, spelling, lax, watch)


def from_function(
    function: Any,
    form: FormName,
    spelling: Spelling | None,
    lax: bool,
    arguments: str,
    seconds: float = 0.0,
    cancel: CancelEvent | None = None,
) -> Grammar:
    """See `Grammar.from_function`."""
    with Watch(seconds, cancel) as watch:
        return function_grammar(function, form, spelling, lax, arguments, watch)


def from_tools(
    tools: Sequence[Any],
    form: FormName,
    spelling: Spelling | None,
    lax: bool,
    arguments: str,
    several: bool,
    seconds: float = 0.0,
    cancel: CancelEvent | None = None,
) -> Grammar:
    """See `Grammar.from_tools`."""
    with Watch(seconds, cancel) as watch:
        return tools_grammar(tools, form, spelling, lax, arguments, several, watch)


def is_type(given: Any) -> bool:
    """Whether `Grammar.from_type` is what makes a grammar of it."""
    return types.is_type(given)


def from_gbnf(text: str, source_path: str | os.PathLike[str] | None) -> Grammar:
    """See `Grammar.from_gbnf`."""
    return gbnf_grammar(text, None if source_path is None else os.fspath(source_path))


def from_ebnf(text: str, start: str, source_path: str | os.PathLike[str] | None) -> Grammar:
    """See `Grammar.from_ebnf`."""
    return ebnf_grammar(text, start, None if source_path is None else os.fspath(source_path))


def from_llguidance(text: str, source_path: str | os.PathLike[str] | None) -> Grammar:
    """See `Grammar.from_llguidance`."""
    return llguidance_grammar(text, None if source_path is None else os.fspath(source_path))


def from_outlines(term: Any) -> Grammar:
    """See `Grammar.from_outlines`."""
    return outlines_grammar(term)


def is_outlines(given: object) -> bool:
    """Whether it is a term of Outlines."""
    return is_term(given)


def within(grammar: Grammar, regular_set: object) -> Grammar | None:
    """See `Grammar.__and__`; None: it is no set."""
    if grammar.labels:
        raise UnsupportedGrammarError(
            f"{grammar.labels[0]} is a token and no text, and a regular set has texts; leave one of them out",
            feature="token labels",
        )
    if not isinstance(regular_set, RegularSet):
        return None
    if grammar.options.use_bytes:
        raise UnsupportedGrammarError(
            "the texts of a grammar with use_bytes are bytes, and a regular set has strings; load the grammar without "
            "use_bytes",
            feature="regular-set",
        )
    return replace(grammar, within=(*grammar.within, regular_set.text_set()))


def from_structural_tag(
    tag: Any, spelling: Spelling | None, registry: Any, seconds: float, cancel: CancelEvent | None
) -> Grammar:
    """See `Grammar.from_structural_tag`."""
    with Watch(seconds, cancel) as watch:
        return structural_tag_grammar(tag, spelling=spelling, registry=registry, watch=watch)


def compose(template: str | os.PathLike[str] | Grammar, holes: Mapping[str, GrammarSource]) -> Grammar:
    """See `Grammar.compose`."""
    return insertion.composed(template, holes)


def escaped(grammar: Grammar, notation: str, escapes: Escapes, quotes: bool) -> Grammar:
    """See `Grammar.escaped`."""
    return insertion.escaped(grammar, notation, escapes, quotes)


def with_inline_schemas(text: str, options: GrammarOptions, sets: Mapping[str, RegularSet]) -> Grammar:
    """See `Grammar.from_lark`, with ``extensions=True``."""
    return insertion.with_inline_schemas(text, options, sets)


def to_lark(grammar: Grammar) -> str:
    """See `Grammar.to_lark`."""
    return printing.to_lark(grammar)


def draw(grammar: Grammar, names: tuple[str, ...]) -> Picture:
    """See `Grammar.draw`."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"draw takes names of rules or terminals, not {name!r:.40}")
    drawing = _drawing()
    terminals = {name for one in grammar.terminals for name in (one.name, one.literal) if name}
    if names and terminals.issuperset(names):
        return Picture(drawing.draw_terminal(grammar, *names))
    return Picture(drawing.draw_source(grammar, names))


def draw_finding(report: DeterminismReport, number: int) -> Picture:
    """See `DeterminismReport.draw`."""
    if not 1 <= number <= len(report.findings):
        raise DrawingError(f"no finding {number}; {report.summary()}")
    return Picture(_drawing().draw_readings(report.findings[number - 1], report.subject))


def _constraint(grammar: Grammar) -> Constraint:
    if grammar.labels:
        raise UnsupportedGrammarError(
            f"{grammar.labels[0]} is a token and no text, so there are no texts to ask about; compile the grammar for "
            "a vocabulary and ask a matcher, which takes tokens",
            feature="token labels",
        )
    with _lock:
        known = _compiled.get(grammar)
    if known is None:
        known = compile(grammar, Vocabulary.bytes())
        with _lock:
            _compiled[grammar] = known
    return known


def _drawing() -> Any:
    try:
        return import_module("pdacon.drawing")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"pictures need {error.name}: pip install 'pdacon[draw]'", name=error.name, path=error.path
        ) from error
