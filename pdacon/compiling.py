"""`compile`: the rooms in order, from a grammar and a vocabulary to a `Constraint`.

The front end makes tables and lexer, the checker refuses what is not deterministic enough for the grammar's options,
and the composition with the vocabulary gives a pushdown automaton for each start symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

from pdacon._native import _core
from pdacon.base.arguments import helps_with_names, require, require_bool
from pdacon.base.cancelling import CancelEvent, Watch
from pdacon.base.cautions import caution
from pdacon.base.limits import Limits
from pdacon.composition import compose, lower, native_trie
from pdacon.constraint import Constraint, no_sentence
from pdacon.determinism import (
    Texts,
    check_stages,
    check_within,
    emptiness_findings,
    label_findings,
    unmatched_terminals,
)
from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.errors import (
    EmptyLanguageError,
    LimitExceededError,
    NondeterministicGrammarError,
    UnsupportedGrammarError,
)
from pdacon.filters import Canonical, Filter, InTerminals, TokenFilter, canonical_of, require_filters, texts_of
from pdacon.frontends.narrowing import with_terminals_within
from pdacon.grammar import Grammar, GrammarSource, grammar_of
from pdacon.lalr import Tables
from pdacon.lexer import Lexer, find_collisions

_SECONDS_FOR_EXAMPLES = 1.0
"""How long a compilation that is refused searches for sentences that explain why."""


@helps_with_names
def compile(
    grammar: GrammarSource,
    vocabulary: Vocabulary | None = None,
    *,
    tokenizer: Any = None,
    model: Any = None,
    limits: Limits | None = None,
    eager: bool = False,
    cancel: CancelEvent | None = None,
    canonical: Any = None,
    filters: Iterable[Filter] = (),
) -> Constraint:
    """Compile a grammar for a vocabulary.

    Parameters
    ----------
    grammar : Grammar, str, pathlib.Path, type or function
        A `Grammar`, the name of a built-in one (``"json"``), the text of one in Lark's language, or the path of a file;
        a type, as `Grammar.from_type` takes it, or a function, of whose calls a grammar is made. Its options
        ``conflicts`` and ``lookahead`` decide what is refused.
    vocabulary : Vocabulary, optional
        The tokens of the model to constrain, if they are not given as what follows.
    tokenizer : optional
        The model's tokenizer, of transformers, tokenizers, tiktoken, sentencepiece or mistral-common.
    model : transformers.PreTrainedModel, optional
        The model itself, which knows how wide its scores are and with which ids a text ends. Without it both are as the
        tokenizer says, which need not be what the model does.
    limits : Limits, optional
        How much work the grammar may cause.
    eager : bool
        Compute every mask now, not each when it is first needed. Every mask of a finite grammar and of many others:
        all that depend on at most 64 LR states of a stack and, with a postlex, on columns up to ``limits.columns``,
        those that look at the fewest states first, until there is no room for more answers (half a million steps of
        looking them up) or no more time (``limits.seconds``; give it, since small grammars can have many masks).
        ``statistics()["situations_left"]`` is 0 if nothing was left out; what was is computed when it is first
        needed.
    cancel : threading.Event, optional
        Set it from another thread, and the compilation stops within some 50 ms; the first of a vocabulary, while its
        trie is built, within 0.1 s. Ctrl-C stops it as well.
    canonical : bool or tokenizer, optional
        Allow only the tokens that the tokenizer itself makes of a text: sequences of tokens that are
        ``encode(decode(sequence))``. True: of the tokenizer that is given above. BPE, WordPiece and Unigram; of some
        unigram models a little more is allowed. The text begins at a border of tokens, whatever stands before it. See
        docs/tokenization.md.
    filters : iterable of Filter
        What else texts must be, such as ``pdacon.filters.Scripts(["Latin"])``: any of `pdacon.filters`, in any order.

    Returns
    -------
    Constraint
        It knows the mask of the empty text. Its other masks are computed when they are first needed, if not before;
        they are the same, bit for bit.

    Raises
    ------
    NondeterministicGrammarError
        ``report`` has every finding; no choice is ever made in silence.
    UnsupportedGrammarError
        A terminal uses what pdacon does not support.
    EmptyLanguageError
        No text at all is a sentence of any start, or none that the vocabulary can spell.
    LimitExceededError, CancelledError
    VocabularyError
        The tokenizer is none that can be read, or names no end, or none that ``canonical`` is for.
    TypeError, ValueError
        An argument is not what it should be; see `Grammar.builtin` for names.

    Examples
    --------
    >>> import pdacon
    >>> constraint = pdacon.compile("json", pdacon.Vocabulary.bytes())
    >>> constraint.accepts('{"a": [1, 2]}')
    True

    Warns
    -----
    GrammarWarning
        A terminal that rules use is never matched (PDA010).

    Notes
    -----
    Cost: some milliseconds for a grammar like JSON. A vocabulary's trie is built once, at its first use. Several
    threads can compile at once; most of the work is done without the GIL. ``eager``: 0.1 s for JSON and 131,072
    tokens, 5 s for Python; docs/masks.md says more.

    Patterns that match less than they denote, lexical dead ends (PDA012, PDA015) and the like are no errors here, and
    to find them can cost many times what compiling does: ``constraint.report``, or `check` beforehand, names them.
    """
    grammar = grammar_of("compile", grammar)
    vocabulary = vocabulary_of("compile", vocabulary, tokenizer, model)
    require_bool("compile", "eager", eager)
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise TypeError(f"compile: cancel must have is_set(), as a threading.Event has, not {type(cancel).__name__}")
    limits = Limits() if limits is None else limits
    require("compile", "limits", limits, Limits)
    limits = limits.beside(grammar.num_automaton_states)
    asked = filters_of(filters, canonical, tokenizer)
    _require_texts(asked, grammar)
    tokenizers = _tokenizers_of(asked)
    grammar = within_filters(grammar, asked, limits)
    filter = canonical_of(tokenizers[0], vocabulary, native_trie(vocabulary)) if tokenizers else None
    with Watch(limits.seconds, cancel) as watch:
        tables, lexer = lower(grammar, limits, watch)
        _require_determinism(grammar, tables, lexer, limits, watch)
        pdas = tuple(
            compose(lexer, tables, start, vocabulary, limits, watch.left(), cancel)
            for start in range(len(grammar.starts))
        )
        empty = frozenset(start for start, pda in enumerate(pdas) if pda.empty_language())
        # Those of which no sentence can be spelled after a prompt may have some at the start of all.
        hopeless = {start for start in empty if pdas[start].empty_language(vocabulary.strip_leading_space)}
        if len(hopeless) == len(pdas):
            names = [texts.name for texts in grammar.within]
            raise EmptyLanguageError(no_sentence(grammar.options.start, names))
        _require_readable_labels(grammar, vocabulary, pdas, limits, watch)
        if not grammar.within:  # what filters and sets of texts forbid is meant
            _caution_about(grammar, lexer)
        if filter is not None:
            for pda in pdas:
                pda.set_filter(filter.native)
    if eager:  # not within the watch: out of time, it keeps the masks that it has
        for start in set(range(len(pdas))) - empty:
            pdas[start].mask_all(limits.columns, limits.states, watch.rest(), cancel, limits.bytes)
    made = Constraint(
        lambda: grammar,
        lambda: vocabulary,
        partial(check_within, grammar, vocabulary, max_states=limits.states, max_bytes=limits.bytes),
        pdas,
        starts=grammar.options.start,
        empty=empty,
        name=grammar.source_path or "a grammar",
        size=vocabulary.size,
        filter=filter,
    )
    if filter is not None:
        _require_texts_given_back(made, grammar, hopeless, filter)
    return made


def within_filters(grammar: Grammar, filters: Sequence[Filter], limits: Limits) -> Grammar:
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
    return grammar if texts is None else grammar & texts


def _require_texts_given_back(
    constraint: Constraint, grammar: Grammar, hopeless: AbstractSet[int], filter: TokenFilter
) -> None:
    """Raises if the tokenizer changes each text of the grammar, or none is found within the limits.

    Cost: that of the first mask.
    """
    left = [name for start, name in enumerate(grammar.options.start) if start not in hopeless]
    strips = (False, True) if filter.prefix == "always" else (False,)
    begins = [_may_begin(constraint, name, strip_leading_space=strip) for name in left for strip in strips]
    if filter.native.changes_texts and not any(begins):
        raise EmptyLanguageError(no_sentence(left, [filter.texts]))


def _may_begin(constraint: Constraint, start: str, *, strip_leading_space: bool) -> bool:
    try:
        return bool(constraint.matcher(start, strip_leading_space=strip_leading_space).allowed_tokens())
    except EmptyLanguageError:  # no token may begin a text
        return False


def filters_of(filters: Iterable[Filter], canonical: Any, tokenizer: Any) -> list[Filter]:
    """The filters that are asked for, ``canonical`` as the last one. Raises TypeError."""
    asked = require_filters(filters)
    if canonical is None or canonical is False:
        return asked
    if canonical is True:
        if tokenizer is None:
            raise TypeError("compile: canonical=True needs tokenizer=; beside vocabulary=, give canonical=tokenizer")
        canonical = tokenizer
    return [*asked, Canonical(canonical)]


def _tokenizers_of(filters: Iterable[Filter]) -> list[Any]:
    """The tokenizer whose tokens are asked for, or none. Raises ValueError."""
    found = [one.tokenizer for one in filters if isinstance(one, Canonical)]
    if len(found) > 1:
        raise ValueError("compile: a model has one tokenizer, and canonical is asked of more than one")
    return found


def _require_texts(filters: Sequence[Any], grammar: Grammar) -> None:
    """Raises where a filter is asked of what is no text; within a terminal, what is none is left out."""
    if grammar.labels and not all(isinstance(one, InTerminals) for one in filters):
        which = "canonical is" if isinstance(filters[-1], Canonical) else "filters are"
        raise UnsupportedGrammarError(
            f"{which} not for a grammar that has {grammar.labels[0]}, a token and no text; leave it out",
            feature="token labels",
        )


def _require_readable_labels(
    grammar: Grammar, vocabulary: Vocabulary, pdas: Sequence[_core.TokenPda], limits: Limits, watch: Watch
) -> None:
    """Raises where text, or another label, is in the way of a label; see docs/decisions/0021-labels.md."""
    found = label_findings(
        grammar, pdas, vocabulary, max_states=limits.states, max_seconds=watch.left(), cancel=watch.cancel
    )
    if any(finding.level == "error" for finding in found):
        report = check_within(grammar, vocabulary, seconds=0, max_states=limits.states, max_bytes=limits.bytes)
        raise NondeterministicGrammarError(report)


def _caution_about(grammar: Grammar, lexer: Lexer) -> None:
    """Warns of what is found at next to no cost, in grammars that somebody has written."""
    if grammar.language not in ("Lark", "several grammars"):
        return
    for terminal in unmatched_terminals(Texts(grammar, lexer)):
        span = grammar.terminals[terminal].span
        place = "" if span is None else f"{span}: "
        caution(
            f"{place}{grammar.describe_symbol(terminal)} is never matched, so no text has what needs it (PDA010); "
            "pdacon.check says what is read in its place, and what to write"
        )


def _require_determinism(grammar: Grammar, tables: Tables, lexer: Lexer, limits: Limits, watch: Watch) -> None:
    """Raises for a grammar that is not deterministic enough for its options."""
    collisions = find_collisions(
        lexer, max_states=limits.states, max_bytes=limits.bytes, max_seconds=watch.left(), cancel=watch.cancel
    )
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
        raise NondeterministicGrammarError(report)
