"""`compile`: a grammar in any form and a vocabulary -> a `Constraint`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, overload

from pdacon.base.arguments import helps_with_names, require, require_bool, require_cancel
from pdacon.base.cancelling import CancelEvent
from pdacon.base.limits import Limits
from pdacon.base.snippets import shown_in
from pdacon.base.type_variables import OfForm
from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.filters import Filter, require_filters
from pdacon.filters.canonical import Canonical
from pdacon.front.constraint import Constraint, constraint_of
from pdacon.front.grammar import Grammar, GrammarSource, Untyped, grammar_of
from pdacon.front.spelled_tokens import warn_of_spelled_tokens
from pdacon.front.stages import compiled, compiled_on_demand

if TYPE_CHECKING:
    from typing_extensions import TypeForm, Unpack

    from pdacon.frontends.types import Call


_Type = TypeVar("_Type")


class _Options(TypedDict, total=False):
    """The options of `compile`, for type checkers."""

    tokenizer: Any
    model: Any
    limits: Limits | None
    eager: bool
    cancel: CancelEvent | None
    canonical: Any
    filters: Iterable[Filter]


@overload
def compile(  # type: ignore[overload-overlap]  # a class can be called, too: what a function gives comes last
    grammar: Grammar[_Type] | type[_Type], vocabulary: Vocabulary | None = None, **options: Unpack[_Options]
) -> Constraint[_Type]: ...
@overload
def compile(grammar: Untyped, vocabulary: Vocabulary | None = None, **options: Unpack[_Options]) -> Constraint[Any]: ...
@overload
def compile(  # type: ignore[overload-overlap]
    grammar: TypeForm[OfForm], vocabulary: Vocabulary | None = None, **options: Unpack[_Options]
) -> Constraint[OfForm]: ...
@overload
def compile(
    grammar: Callable[..., Any], vocabulary: Vocabulary | None = None, **options: Unpack[_Options]
) -> Constraint[Call]: ...
@overload
def compile(
    grammar: GrammarSource, vocabulary: Vocabulary | None = None, **options: Unpack[_Options]
) -> Constraint: ...


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
        It knows the mask of the empty text, but where texts are read on demand. Its other masks are computed when
        they are first needed, if not before; they are the same, bit for bit.

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
        A terminal that rules use is never matched (PDA010); or a special token of the vocabulary is written as text in
        a mark: of a structural tag, of a format of tool calls, or in a string of a Lark grammar.

    Notes
    -----
    Cost: some milliseconds for a grammar like JSON. A vocabulary's trie is built once, at its first use. Several
    threads can compile at once; most of the work is done without the GIL. ``eager``: 0.1 s for JSON and 131,072
    tokens, 5 s for Python; docs/masks.md says more.

    Patterns that match less than they denote, lexical dead ends (PDA012, PDA015) and the like are no errors here, and
    to find them can cost many times what compiling does: ``constraint.report``, or `check` beforehand, names them.
    """
    given = grammar_of("compile", grammar)
    vocabulary = vocabulary_of("compile", vocabulary, tokenizer, model)
    require_bool("compile", "eager", eager)
    require_cancel("compile", cancel)
    limits = Limits() if limits is None else limits
    require("compile", "limits", limits, Limits)
    asked = filters_of(filters, canonical, tokenizer)
    return compile_grammar(given, vocabulary, limits, eager=eager, cancel=cancel, filters=asked)


def compile_grammar(
    grammar: Grammar,
    vocabulary: Vocabulary,
    limits: Limits,
    *,
    eager: bool = False,
    cancel: CancelEvent | None = None,
    filters: Sequence[Filter] = (),
) -> Constraint:
    """What `compile` makes of checked arguments."""
    if vocabulary.special_tokens:
        warn_of_spelled_tokens(grammar._on_demand or grammar.data, vocabulary)
    if grammar._on_demand is not None and not eager and not filters:
        made = compiled_on_demand(grammar._on_demand, vocabulary, limits, cancel=cancel)
        if made is not None:
            return constraint_of(made)
    data = grammar.data
    with shown_in(data.source or "", data.source_path):
        return constraint_of(compiled(data, vocabulary, limits, eager=eager, cancel=cancel, filters=filters))


def filters_of(filters: Iterable[Filter], canonical: Any, tokenizer: Any) -> list[Filter]:
    """The filters that are asked for, ``canonical`` as the last one. Raises TypeError."""
    asked = require_filters("compile", filters)
    if canonical is None or canonical is False:
        return asked
    if canonical is True:
        if tokenizer is None:
            raise TypeError("compile: canonical=True needs tokenizer=; beside vocabulary=, give canonical=tokenizer")
        canonical = tokenizer
    return [*asked, Canonical(canonical)]
