"""A text -> Grammar, by way of a text in Lark's language."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from pdacon.base.cautions import caution
from pdacon.errors import EmptyLanguageError
from pdacon.frontends.dialects.cursor import Cursor
from pdacon.frontends.dialects.llguidance.lazy import without_lazy
from pdacon.frontends.dialects.llguidance.loaded import Loaded
from pdacon.frontends.dialects.llguidance.ordering import ordered
from pdacon.frontends.dialects.llguidance.reading import read
from pdacon.frontends.dialects.llguidance.splitting import split
from pdacon.frontends.dialects.llguidance.terminals import Terminals
from pdacon.frontends.dialects.llguidance.tree import Source
from pdacon.frontends.dialects.llguidance.writing import NOTHING, Written, group_behind, group_of, write
from pdacon.frontends.insertion import with_inline_schemas
from pdacon.frontends.pattern_sets import pattern_sets
from pdacon.grammar import GrammarData
from pdacon.grammar.model import GrammarOptions, Terminal
from pdacon.regular.regular_set import RegularSet

_NOTHING: Mapping[str, RegularSet] = {}


def llguidance_grammar(text: str, path: str | None) -> GrammarData:
    """See `Grammar.from_llguidance`."""
    source = read(text, path)
    terminals = Terminals(source)
    written = write(source, terminals, {})
    loaded = _loaded(written, written.sets, source)
    if smaller := without_lazy(loaded, written.lazy):
        loaded = _loaded(written, {**loaded.sets, **smaller}, source)
    parts = split(loaded, written.words)
    if parts.parts:
        written = write(source, terminals, parts.parts)
        for name, owners in parts.owners.items():
            written.shown[name] = " and ".join(written.shown[owner] for owner in owners)
            written.places[name] = written.places[owners[0]]
        loaded = _loaded(written, {**loaded.sets, **parts.sets}, source)
    order = ordered(loaded)
    if order.never:
        loaded = _loaded(written, loaded.sets, source, order.never)
    grammar = order.given(loaded.grammar)
    _tell_of_nothing(grammar, written)
    own = tuple(_in_own_words(one, loaded, written.named) for one in grammar.terminals)
    return replace(grammar, terminals=own, source=text, source_path=path, language="llguidance")


def _tell_of_nothing(grammar: GrammarData, written: Written) -> None:
    """Say which terminals have no text, so that what needs them cannot be; raise if nothing is left."""
    if not written.impossible:
        return
    never = {k for k, one in enumerate(grammar.terminals) if one.pattern and f"/{one.pattern.value}/" == NOTHING}
    possible = set(range(grammar.end)) - never
    sides = [(p.lhs, p.rhs) for p in grammar.productions]
    while more := {lhs for lhs, side in sides if possible.issuperset(side)} - possible:
        possible |= more
    if possible.isdisjoint(grammar.starts):
        raise EmptyLanguageError(*written.impossible[0])
    for message, span in written.impossible:
        caution(f"{span}: {message}; so no text has what needs it")


def _loaded(
    written: Written, sets: Mapping[str, RegularSet], source: Source, never: Mapping[str, RegularSet] = _NOTHING
) -> Loaded:
    """What Lark makes of a text; ``never`` is what must not follow some of the sets."""
    groups = {group_of(name): one for name, one in sets.items()}
    groups |= {group_behind(name): one for name, one in never.items()}
    options = GrammarOptions(extensions=True, import_base=source.path)
    cursor = Cursor(source.text, source.path)
    spans = {name: cursor.span(*place) for name, place in written.places.items()}
    return Loaded(
        with_inline_schemas(written.text(sets, never), options, pattern_sets(groups)), sets, written.shown, spans
    )


def _in_own_words(terminal: Terminal, loaded: Loaded, named: AbstractSet[str]) -> Terminal:
    """A terminal with the author's words and place; ``named`` are those with names of the author's."""
    name = terminal.name
    if name not in loaded.spans:
        return terminal
    return replace(terminal, span=loaded.spans[name], literal=None if name in named else loaded.shown[name])
