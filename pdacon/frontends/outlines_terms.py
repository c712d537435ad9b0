"""Terms of Outlines, which say what a text must be -> a `Grammar`.

In: what ``outlines.types`` has: ``Regex``, ``Choice``, ``JsonSchema``, ``CFG``, names such as ``email``, and what
``+``, ``|`` and ``at_least(...)`` make of them. Out: one regular set where all is regular; else the grammars of the
schemas and context-free parts, put together. Outlines itself is not imported: terms are known by their classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pdacon.errors import Span, UnsupportedTypeError
from pdacon.frontends.builder import Alternative, Builder, Expression, written
from pdacon.frontends.dialects import llguidance_grammar
from pdacon.frontends.insertion import MADE_UP, composed
from pdacon.frontends.json_schema import schema_grammar
from pdacon.frontends.string_sets import set_grammar
from pdacon.grammar import GrammarData, GrammarOptions, Terminal
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.grammar.lark_reading import read_text
from pdacon.regular import RegularSet

_MODULE = "outlines.types.dsl"
_COUNTS: Mapping[str, Callable[[Any], tuple[int, int | None]]] = {
    "KleeneStar": lambda term: (0, None),
    "KleenePlus": lambda term: (1, None),
    "Optional": lambda term: (0, 1),
    "QuantifyExact": lambda term: (term.count, term.count),
    "QuantifyMinimum": lambda term: (term.min_count, None),
    "QuantifyMaximum": lambda term: (0, term.max_count),
    "QuantifyBetween": lambda term: (term.min_count, term.max_count),
}
_HOLES = ("JsonSchema", "CFG")


def is_term(given: object) -> bool:
    """Whether it is a term of Outlines."""
    return any(base.__module__ == _MODULE and base.__name__ == "Term" for base in type(given).__mro__)


def outlines_grammar(term: Any) -> GrammarData:
    """The grammar of a term, of which `is_term` is true; see `Grammar.from_type`."""
    kind = type(term).__name__
    if kind in _HOLES:
        return _of_hole(term)
    if _is_regular(term):
        return set_grammar(_set_of(term))
    parts: list[Callable[[], GrammarData]] = []
    return _put_together(_tree(term, parts), parts)


def _put_together(start: Expression, parts: Sequence[Callable[[], GrammarData]]) -> GrammarData:
    """The grammar of an expression over the names of parts; each part has a line of its source."""
    builder, lines = Builder(), [f"start: {written(start)}"]
    builder.rule("start", [Alternative((start,))])
    names = [_name(number) for number in range(len(parts))]
    holes = [name.upper() + MADE_UP for name in names]
    for line, (name, hole) in enumerate(zip(names, holes, strict=True), 2):
        span = Span(None, line, 2, line, 2 + len(name))
        builder.rule(name, [Alternative((hole,))], span)
        builder.terminal(Terminal(hole, None, 0, span))
        lines.append(f"?{name}: {hole}")
    source = "\n".join([*lines, f"%declare {' '.join(holes)}", ""])
    return composed(builder.built(source, options=GrammarOptions()), dict(zip(names, parts, strict=True)))


def _name(number: int) -> str:
    return f"part_{number + 1}"


def _of_hole(term: Any) -> GrammarData:
    if type(term).__name__ == "CFG":
        text: str = term.definition
        is_llguidance = text.lstrip().startswith("%llguidance")
        return llguidance_grammar(text, None) if is_llguidance else read_text(text, GrammarOptions())
    if term.whitespace_pattern is not None:
        raise UnsupportedTypeError(
            "JsonSchema",
            f"whitespace_pattern={term.whitespace_pattern!r} cannot be had; "
            "Grammar.from_json_schema(schema, spelling=pdacon.Spelling(whitespace=...)) has other ways to write JSON",
        )
    return schema_grammar(term.schema)


def _is_regular(term: Any) -> bool:
    return _is_nothing(term) or (type(term).__name__ not in _HOLES and all(map(_is_regular, _parts(term))))


def _is_nothing(term: Any) -> bool:
    """Whether it is something no times."""
    kind = type(term).__name__
    return kind in _COUNTS and _COUNTS[kind](term)[1] == 0


def _parts(term: Any) -> Sequence[Any]:
    """The terms that a term consists of."""
    kind = type(term).__name__
    if kind in _COUNTS:
        return [term.term]
    if kind in ("Alternatives", "Sequence"):
        return list(term.terms)
    return [item for item in term.items if is_term(item)] if kind == "Choice" else []


def _set_of(term: Any) -> RegularSet:
    kind = type(term).__name__
    if _is_nothing(term):
        return RegularSet.from_choices([""])
    if kind == "String":
        return RegularSet.from_choices([term.value])
    if kind == "Regex":
        return RegularSet.from_regex(term.pattern)
    if kind == "Choice":
        return _words(term).union(*map(_set_of, _parts(term)))
    if kind in _COUNTS:
        return _set_of(term.term).repeat(*_COUNTS[kind](term))
    if kind in ("Alternatives", "Sequence") and term.terms:
        first, *others = map(_set_of, term.terms)
        return first.union(*others) if kind == "Alternatives" else first.concatenation(*others)
    raise UnsupportedTypeError(kind, "this term of Outlines is not known here; write it with Regex or CFG")


def _words(choice: Any) -> RegularSet:
    """The texts that a choice has beside terms."""
    return RegularSet.from_choices([str(item) for item in choice.items if not is_term(item)])


def _tree(term: Any, parts: list[Callable[[], GrammarData]]) -> Expression:
    """A term over names of parts that are regular, or grammars; these are added to ``parts``."""

    def part(make: Callable[[], GrammarData]) -> str:
        parts.append(make)
        return _name(len(parts) - 1)

    kind = type(term).__name__
    if kind in _HOLES:
        return part(partial(_of_hole, term))
    if _is_regular(term):
        return part(partial(set_grammar, _set_of(term)))
    trees = [_tree(inner, parts) for inner in _parts(term)]
    if kind in _COUNTS:
        least, most = _COUNTS[kind](term)
        if most is not None:
            return Repeated(trees[0], least, most)
        return InOrder((*trees * least, Repeated(trees[0], 0, None)))
    if kind == "Choice" and (words := _words(term)):
        trees.append(part(partial(set_grammar, words)))
    return InOrder(tuple(trees)) if kind == "Sequence" else OneOf(tuple(trees))
