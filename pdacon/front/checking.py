"""`check`: a grammar in any form -> the report that says whether it is deterministic, and if not, why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pdacon.base.arguments import helps_with_names, require, require_cancel, require_seconds
from pdacon.base.cancelling import CancelEvent, Watch
from pdacon.base.limits import Limits
from pdacon.determinism import SECONDS, check_within
from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.filters import Filter, require_filters
from pdacon.front.grammar import GrammarSource, data_of
from pdacon.front.report import DeterminismReport, with_pictures
from pdacon.front.stages import require_texts, within_filters
from pdacon.grammar.sizes import automaton_states


@helps_with_names
def check(
    grammar: GrammarSource,
    vocabulary: Vocabulary | None = None,
    *,
    tokenizer: Any = None,
    model: Any = None,
    limits: Limits | None = None,
    cancel: CancelEvent | None = None,
    filters: Iterable[Filter] = (),
    seconds: float = SECONDS,
) -> DeterminismReport:
    """Is the grammar deterministic, as pdacon needs it? Findings are returned, never raised.

    Parameters
    ----------
    grammar : Grammar, str or pathlib.Path
        As in `compile`: a `Grammar`, a built-in one's name, a text or a path. Its options ``conflicts`` and
        ``lookahead`` decide which findings are errors.
    vocabulary, tokenizer, model : optional
        As in `compile`. If one is given, witnesses that are texts come as tokens of it too.
    limits : Limits, optional
        As in `compile`; its ``seconds`` are those of the clock.
    cancel : threading.Event, optional
        Stops the work, from another thread, when it is set.
    filters : iterable of Filter
        As in `compile`: what else texts must be.
    seconds : float
        How much work it may be, in seconds of processor time, so that the outcome does not depend on what else the
        machine does; 0: what decides is looked for without a limit, and nothing else. What explains conflicts, and
        advice, that has not been found then is left out, and ``unfinished`` says what was being looked for.

    Returns
    -------
    DeterminismReport
        ``ok`` if ``compile`` takes the grammar, for the vocabulary if one is given. What is mere advice (PDA010 and
        up) comes on top of what ``compile`` reports; notes of it only when there are no errors left.

    Raises
    ------
    GrammarError
        If it is the text or the path of what is no grammar.
    TypeError
        If it is none of these, or ``seconds`` no number.
    ValueError
        If no built-in grammar has the name, or ``seconds`` is less than 0.
    LimitExceededError
        If the tables or the automata are larger than the limits allow, or what decides takes more than ``seconds``.
    CancelledError
    VocabularyError
        If the grammar has layout, and the vocabulary no tokens for a space and a newline.

    Notes
    -----
    Cost: one build of the LALR tables and of the lexing automaton, one composition with the vocabulary (the 256 bytes
    if none is given), and a walk over all that texts lead to: some milliseconds for JSON, some seconds for Python.
    """
    require_seconds("check", seconds)
    require_cancel("check", cancel)
    if not (vocabulary is None and tokenizer is None and model is None):
        vocabulary = vocabulary_of("check", vocabulary, tokenizer, model)
    own = Limits() if limits is None else limits
    require("check", "limits", own, Limits)
    asked = require_filters("check", filters)
    with Watch(own.seconds, cancel):
        data = data_of("check", grammar)
        require_texts(asked, data)
        narrowed, room = within_filters(data, asked, own), own.beside(automaton_states(data))
        return with_pictures(check_within(narrowed, vocabulary, seconds=seconds, limits=room))
