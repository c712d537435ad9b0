"""A text -> its rules and terminals -> terminals that a lexer can tell apart -> Grammar."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pdacon.base.cautions import caution
from pdacon.errors import EmptyLanguageError
from pdacon.frontends.dialects.llguidance.building import NOTHING, Built, build
from pdacon.frontends.dialects.llguidance.lazy import without_lazy
from pdacon.frontends.dialects.llguidance.loaded import Loaded
from pdacon.frontends.dialects.llguidance.ordering import ordered
from pdacon.frontends.dialects.llguidance.parsing import read
from pdacon.frontends.dialects.llguidance.splitting import split
from pdacon.frontends.dialects.llguidance.terminal_sets import Terminals
from pdacon.frontends.insertion import Schemas
from pdacon.grammar import GrammarData
from pdacon.regular import RegularSet

_NO_SETS: Mapping[str, RegularSet] = {}


def llguidance_grammar(text: str, path: str | None) -> GrammarData:
    """See `Grammar.from_llguidance`."""
    source = read(text, path)
    terminals, schemas = Terminals(source), Schemas(re.findall(r"\w+", text))
    built = build(source, terminals, schemas, {})
    loaded = _loaded(built, built.sets)
    if smaller := without_lazy(loaded, built.lazy):
        loaded = _loaded(built, {**loaded.sets, **smaller})
    parts = split(loaded, built.any_case)
    if parts.parts:
        built = build(source, terminals, schemas, parts.parts)
        for name, owners in parts.owners.items():
            built.shown[name] = " and ".join(built.shown[owner] for owner in owners)
            built.spans[name] = built.spans[owners[0]]
        loaded = _loaded(built, {**loaded.sets, **parts.sets})
    order = ordered(loaded)
    if order.never:
        loaded = _loaded(built, loaded.sets, order.never)
    grammar = order.given(loaded.grammar)
    _tell_of_nothing(grammar, built)
    return replace(grammar, language="llguidance")


def _tell_of_nothing(grammar: GrammarData, built: Built) -> None:
    """Say which terminals have no text, so that what needs them cannot be; raise if nothing is left."""
    if not built.impossible:
        return
    never = {k for k, terminal in enumerate(grammar.terminals) if terminal.pattern == NOTHING}
    possible = set(range(grammar.end)) - never
    sides = [(p.lhs, p.rhs) for p in grammar.productions]
    while more := {lhs for lhs, side in sides if possible.issuperset(side)} - possible:
        possible |= more
    if possible.isdisjoint(grammar.starts):
        span, message = next(iter(built.impossible.items()))
        raise EmptyLanguageError(message, span)
    for span, message in built.impossible.items():
        caution(f"{span}: {message}; so no text has what needs it")


def _loaded(built: Built, sets: Mapping[str, RegularSet], never: Mapping[str, RegularSet] = _NO_SETS) -> Loaded:
    """The grammar with some sets; ``never`` is what must not follow some of these."""
    return Loaded(built, built.grammar(sets, never), sets)
