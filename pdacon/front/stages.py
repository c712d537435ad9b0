"""A grammar's data and a vocabulary -> `Compiled`: the rooms in order.

The front end makes tables and lexer, the checker refuses what is not deterministic enough for the grammar's options,
and the composition with the vocabulary gives a pushdown automaton for each start symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.artifact import LoweredBuiltin
from pdacon.base.cancelling import CancelEvent, Watch
from pdacon.base.cautions import caution, held
from pdacon.base.limits import Limits
from pdacon.base.once import Kept, KeptWith, Once
from pdacon.composition import compose, lower, native_trie
from pdacon.determinism import (
    WitnessTexts,
    check_stages,
    check_within,
    emptiness_findings,
    label_findings,
    unmatched_terminals,
)
from pdacon.detokenizer import Vocabulary
from pdacon.errors import (
    EmptyLanguageError,
    LimitExceededError,
    NondeterministicGrammarError,
    UnsupportedGrammarError,
    UnsupportedSchemaError,
)
from pdacon.filters import Filter, InTerminals, TokenFilter, canonical_of, texts_of
from pdacon.filters.canonical import Canonical
from pdacon.front.compiled import Compiled, called, no_sentence
from pdacon.front.report import with_pictures
from pdacon.frontends.json_schema import Schema
from pdacon.frontends.narrowing import with_terminals_within, with_texts_within
from pdacon.frontends.on_demand import OnDemand, schema_on_demand
from pdacon.grammar import GrammarData
from pdacon.grammar.sizes import automaton_states
from pdacon.lalr import Tables
from pdacon.lexer import Lexer, find_collisions

_MOST_KEPT = 1 << 25
"""Bytes of the automata of a grammar that are kept for as long as it is."""
_SECONDS_FOR_EXAMPLES = 1.0
"""How long a compilation that is refused searches for sentences that explain why."""


_LETTERS = {
    "tool calls": "; or give from_tools tokens=(), so that all marks are text",
    "structural tag": "; or leave out the tokens that it names, so that they are text",
}
"""By languages whose labels are marks of a model, how these are letters."""


def compiled_for_bytes(grammar: GrammarData) -> Compiled:
    """A grammar compiled for the 256 bytes: what a grammar is asked is asked of it. Kept as long as the grammar is.

    Raises
    ------
    UnsupportedGrammarError
        The grammar has labels, which are no texts. Else as `compiled`.
    """
    if grammar.labels:
        raise UnsupportedGrammarError(
            f"{shown_label(grammar)} is a token and no text, so there are no texts to ask about; compile the grammar "
            f"for a vocabulary and ask a matcher, which takes tokens{_LETTERS.get(grammar.language, '')}",
            feature="token labels",
        )
    return _for_bytes(grammar)


def shown_label(grammar: GrammarData) -> str:
    """The first label of a grammar: as its author wrote it in a pattern, or by its name where nobody did."""
    label = grammar.labels[0]
    return label.name if grammar.language in _LETTERS else str(label)


def compiled(
    grammar: GrammarData,
    vocabulary: Vocabulary,
    limits: Limits | None = None,
    *,
    eager: bool = False,
    cancel: CancelEvent | None = None,
    filters: Sequence[Filter] = (),
    first_masks: NDArray[np.int32] | None = None,
) -> Compiled:
    """What `pdacon.compile` makes of a grammar's data, of checked arguments; errors and cost are its own.

    ``first_masks``: int32[n * words], masks that have the first ids; of a grammar with one start.
    """
    limits = Limits() if limits is None else limits
    require_texts(filters, grammar)
    tokenizers = _tokenizers_of(filters)
    grammar = within_filters(grammar, filters, limits)
    filter = canonical_of(tokenizers[0], vocabulary, native_trie(vocabulary)) if tokenizers else None
    with Watch(limits.seconds, cancel) as watch:
        takes_known = first_masks is None and limits.are_no_lower_than(Limits())
        known = _automata.known(grammar) if takes_known else None
        pdas = () if known is None else _for_vocabulary(known.pdas, vocabulary, limits)
        if known is None or not pdas:
            limits = limits.beside(automaton_states(grammar))
            with held() as cautions:
                pdas = composed(grammar, vocabulary, limits, watch, first_masks)
            known = _KnownAutomata(pdas, tuple(cautions))
            if first_masks is None:
                _keep(grammar, known, limits)
        empty = frozenset(start for start, pda in enumerate(pdas) if pda.empty_language())
        # Those of which no sentence can be spelled after a prompt may have some at the start of all.
        hopeless = {start for start in empty if pdas[start].empty_language(vocabulary.strip_leading_space)}
        if len(hopeless) == len(pdas):
            names = [texts.name for texts in grammar.within]
            raise EmptyLanguageError(no_sentence(grammar.options.start, names))
        _require_readable_labels(grammar, vocabulary, pdas, limits)
        for message, kind in known.cautions:
            caution(message, kind)
        if filter is not None:
            for pda in pdas:
                pda.set_filter(filter.native)
        watch.look()  # the native core does so some fifty times a second
    if eager:
        with Watch(0, cancel):  # out of time, it keeps the masks that it has
            for start in set(range(len(pdas))) - empty:
                pdas[start].mask_all(limits.columns, limits.states, limits.bytes, watch.rest())
    made = Compiled(
        lambda: grammar,
        lambda: vocabulary,
        lambda: with_pictures(check_within(grammar, vocabulary, limits=limits)),
        lambda: pdas,
        starts=grammar.options.start,
        empty=empty,
        name=called(grammar),
        size=vocabulary.size,
        filter=filter,
    )
    if filter is not None:
        _require_texts_given_back(made, grammar, hopeless, filter)
    return made


def composed(
    grammar: GrammarData,
    vocabulary: Vocabulary,
    limits: Limits,
    watch: Watch,
    first_masks: NDArray[np.int32] | None = None,
) -> tuple[_core.TokenPda, ...]:
    """The automaton of each start symbol, made of the grammar: as `compiled`, whatever is known of it already."""
    tables, lexer = lower(grammar, limits)
    _require_determinism(grammar, tables, lexer, limits, watch)
    composition = compose(lexer, tables, vocabulary, limits)
    pdas = tuple(composition.pda(start, first_masks) for start in range(len(grammar.starts)))
    if not grammar.within:  # what filters and sets of texts forbid is meant
        _caution_about(grammar, lexer)
    return pdas


def compiled_on_demand(
    on_demand: OnDemand,
    vocabulary: Vocabulary,
    limits: Limits | None = None,
    *,
    cancel: CancelEvent | None = None,
) -> Compiled | None:
    """The same of a grammar whose automaton is made as texts are read; None: the grammar has to be compiled.

    Its data is asked for when something is that the automaton does not answer, and compiled then.
    """
    limits = Limits() if limits is None else limits
    trie = native_trie(vocabulary)
    if not _core.NestedPda.can_read(trie):
        return None
    with Watch(limits.seconds, cancel), suppress(_core.NeedsWhole, UnsupportedSchemaError):
        explorer = on_demand.explorer()
        nested = _core.NestedPda(explorer, explorer.root, trie, limits.states, limits.bytes, limits.depth)
        return None if nested.is_empty() else _demanded(nested, on_demand, vocabulary, limits)
    return None


def has_text(schema: Schema, text: str) -> bool:
    """Whether a text is of a JSON Schema. Of one that may be read on demand no more is made than the text asks for."""
    with held():  # of what it warns it did when it was given
        on_demand = schema_on_demand(schema)
        made = None if on_demand is None else compiled_on_demand(on_demand, Vocabulary.bytes())
        return (made or compiled_for_bytes(schema.grammar())).accepts(text)


def _demanded(nested: _core.NestedPda, on_demand: OnDemand, vocabulary: Vocabulary, limits: Limits) -> Compiled:
    refusal: list[UnsupportedSchemaError] = []

    def make() -> Compiled:
        """The whole, with the masks so far; if there is none, matchers go on as before.

        A schema that is refused as a whole stays so, and is asked once: others' steps wait while it is.
        """
        if refusal:
            raise copy(refusal[0])
        masks = nested.close()
        try:
            return compiled(on_demand.data(), vocabulary, limits, first_masks=masks)
        except BaseException as error:
            if isinstance(error, UnsupportedSchemaError):
                refusal.append(copy(error))  # without its traceback, which would hold what it was raised in
            nested.reopen()
            raise

    whole = Once(make)
    return Compiled(
        on_demand.data,
        lambda: vocabulary,
        lambda: whole()._report(),
        lambda: whole()._pdas,
        starts=("start",),
        empty=frozenset(),
        name=called(on_demand),
        size=vocabulary.size,
        nested=nested,
        on_demand=on_demand,
    )


# Of a copy: what is compiled refers to its grammar, and must not keep the one that it is kept with.
_for_bytes: KeptWith[GrammarData, Compiled] = KeptWith(lambda grammar: compiled(copy(grammar), Vocabulary.bytes()))


@dataclass(frozen=True, slots=True)
class _KnownAutomata:
    """The automata of a grammar's start symbols, and what `compiled` warns of."""

    pdas: tuple[_core.TokenPda, ...]
    cautions: tuple[tuple[str, type[UserWarning]], ...] = ()


_automata: Kept[GrammarData, _KnownAutomata] = Kept()
"""Those of grammars in Lark's language, for the 256 bytes: what other vocabularies need is made of them."""


def keep_lowered(lowered: LoweredBuiltin) -> GrammarData:
    """A built-in grammar, of which `compiled` has the automata from now on."""
    _automata.keep(lowered.grammar, _KnownAutomata(lowered.pdas))
    return lowered.grammar


def _keep(grammar: GrammarData, made: _KnownAutomata, limits: Limits) -> None:
    """Keep what was made of a grammar for a vocabulary, if it is of use for others."""
    if grammar.language != "Lark" or grammar.within or not limits.are_no_lower_than(Limits()):
        return
    if made.pdas[0].lexer_held + sum(pda.held for pda in made.pdas) > _MOST_KEPT:
        return
    if pdas := _for_vocabulary(made.pdas, Vocabulary.bytes(), limits):
        _automata.keep(grammar, replace(made, pdas=pdas))


def _for_vocabulary(
    known: Sequence[_core.TokenPda], vocabulary: Vocabulary, limits: Limits
) -> tuple[_core.TokenPda, ...]:
    """The same automata for another vocabulary; none if it does not spell the same texts."""
    trie = native_trie(vocabulary)
    made = []
    for pda in known:
        other = pda.for_vocabulary(trie, limits.states, limits.depth, limits.bytes)
        if other is None:
            return ()
        made.append(other)
    return tuple(made)


def within_filters(grammar: GrammarData, filters: Sequence[Filter], limits: Limits) -> GrammarData:
    """A grammar of the texts that all filters allow, in their terminals and as a whole.

    Raises
    ------
    PdaconError, ValueError
        See `InTerminals`.
    """
    for one in filters:
        if isinstance(one, InTerminals) and (inside := texts_of([one.filter])) is not None:
            grammar = with_terminals_within(grammar, one.terminals, inside, limits.states)
    texts = texts_of(filters)
    return grammar if texts is None else with_texts_within(grammar, texts)


def _require_texts_given_back(
    compiled: Compiled, grammar: GrammarData, hopeless: AbstractSet[int], filter: TokenFilter
) -> None:
    """Raises if the tokenizer changes each text of the grammar, or none is found within the limits.

    Cost: that of the first mask.
    """
    left = [name for start, name in enumerate(grammar.options.start) if start not in hopeless]
    strips = (False, True) if filter.prefix == "always" else (False,)
    begins = [_may_begin(compiled, name, strip_leading_space=strip) for name in left for strip in strips]
    if filter.native.changes_texts and not any(begins):
        raise EmptyLanguageError(no_sentence(left, [filter.texts]))


def _may_begin(compiled: Compiled, start: str, *, strip_leading_space: bool) -> bool:
    try:
        return bool(compiled.matcher(start, strip_leading_space=strip_leading_space).allowed_tokens())
    except EmptyLanguageError:  # no token may begin a text
        return False


def _tokenizers_of(filters: Iterable[Filter]) -> list[Any]:
    """The tokenizer whose tokens are asked for, or none. Raises ValueError."""
    found = [one.tokenizer for one in filters if isinstance(one, Canonical)]
    if len(found) > 1:
        raise ValueError("compile: a model has one tokenizer, and canonical is asked of more than one")
    return found


def require_texts(filters: Sequence[Any], grammar: GrammarData) -> None:
    """Raises where a filter is asked of what is no text; within a terminal, what is none is left out."""
    if grammar.labels and not all(isinstance(one, InTerminals) for one in filters):
        which = "canonical is" if isinstance(filters[-1], Canonical) else "filters are"
        raise UnsupportedGrammarError(
            f"{which} not for a grammar that has {grammar.labels[0]}, a token and no text; leave it out",
            feature="token labels",
        )


def _require_readable_labels(
    grammar: GrammarData, vocabulary: Vocabulary, pdas: Sequence[_core.TokenPda], limits: Limits
) -> None:
    """Raises where text, or another label, is in the way of a label; see docs/decisions/0021-labels.md."""
    found = label_findings(grammar, pdas[0], vocabulary, limits) if grammar.labels and pdas else []
    if any(finding.level == "error" for finding in found):
        report = check_within(grammar, vocabulary, seconds=0, limits=limits)
        raise NondeterministicGrammarError(with_pictures(report))


def _caution_about(grammar: GrammarData, lexer: Lexer) -> None:
    """Warns of what is found at next to no cost, in grammars that somebody has written."""
    if grammar.language not in ("Lark", "several grammars", "SQL schema"):
        return
    for terminal in unmatched_terminals(WitnessTexts(grammar, lexer)):
        span = grammar.terminals[terminal].span
        place = "" if span is None else f"{span}: "
        caution(
            f"{place}{grammar.describe_symbol(terminal)} is never matched, so no text has what needs it (PDA010); "
            "pdacon.check says what is read in its place, and what to write"
        )


def _require_determinism(grammar: GrammarData, tables: Tables, lexer: Lexer, limits: Limits, watch: Watch) -> None:
    """Raises for a grammar that is not deterministic enough for its options."""
    collisions = find_collisions(lexer, limits)
    if not (tables.conflicts or collisions or lexer.automaton.unbounded):
        return
    stages = partial(check_stages, grammar, tables, lexer, collisions=collisions)
    # Witnesses and words cost more than to know whether the options settle everything.
    shifts = grammar.options.conflicts == "shift"
    settled = (
        all(conflict.settled == "priority" or (conflict.settled and shifts) for conflict in tables.conflicts)
        and (shifts or not collisions)
        and (grammar.options.lookahead == "commit" or not lexer.automaton.unbounded)
    )
    report = None if settled else stages(seconds=0)
    for finding in emptiness_findings(grammar) if report is None else report.findings:
        if finding.id == "PDA007" and finding.level == "error":
            raise EmptyLanguageError(finding.message, finding.span)
    if report is not None and not report.ok:
        left = watch.rest()
        seconds = min(_SECONDS_FOR_EXAMPLES, left) if left else _SECONDS_FOR_EXAMPLES
        try:
            report = stages(seconds=seconds)
        except LimitExceededError as error:
            if error.what != "seconds":
                raise
        raise NondeterministicGrammarError(with_pictures(report))
