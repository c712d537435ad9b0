"""Terms of Outlines, which say what a text must be -> a `Grammar`.

In: what ``outlines.types`` has: ``Regex``, ``Choice``, ``JsonSchema``, ``CFG``, names such as ``email``, and what
``+``, ``|`` and ``at_least(...)`` make of them. Out: one regular set where all is regular; else the grammars of the
schemas and context-free parts, put together. Outlines itself is not imported: terms are known by their classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.dialects import llguidance_grammar
from pdacon.frontends.insertion import composed
from pdacon.frontends.json_schema import schema_grammar
from pdacon.frontends.string_sets import set_grammar
from pdacon.grammar import GrammarData, GrammarOptions
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
    holes: dict[str, Callable[[], GrammarData]] = {}
    return composed(f"start: {_written(term, holes)}", holes)


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
    return type(term).__name__ not in _HOLES and all(map(_is_regular, _parts(term)))


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
    if kind == "String":
        return RegularSet.from_choices([term.value])
    if kind == "Regex":
        return RegularSet.from_regex(term.pattern)
    if kind == "Choice":
        words = RegularSet.from_choices([str(item) for item in term.items if not is_term(item)])
        return words.union(*(_set_of(item) for item in term.items if is_term(item)))
    if kind in _COUNTS:
        return _set_of(term.term).repeat(*_COUNTS[kind](term))
    if kind in ("Alternatives", "Sequence") and term.terms:
        first, *others = map(_set_of, term.terms)
        return first.union(*others) if kind == "Alternatives" else first.concatenation(*others)
    raise UnsupportedTypeError(kind, "this term of Outlines is not known here; write it with Regex or CFG")


def _written(term: Any, holes: dict[str, Callable[[], GrammarData]]) -> str:
    """An expression of Lark's with a name for each part that is regular, or a hole; they are added to ``holes``."""
    kind = type(term).__name__
    if _is_regular(term) or kind in _HOLES:
        name = f"part_{len(holes) + 1}"
        holes[name] = partial(replace, _of_hole(term)) if kind in _HOLES else partial(set_grammar, _set_of(term))
        return name
    parts = [_written(part, holes) for part in _parts(term)]
    if kind not in _COUNTS:
        return f"({(' ' if kind == 'Sequence' else ' | ').join(parts)})"
    least, most = _COUNTS[kind](term)
    if most is None:
        return f"({' '.join(parts * least)} {parts[0]}*)"
    return f"({parts[0]})~{least}..{most}"
