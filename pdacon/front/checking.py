"""`check`: a grammar in any form -> the report that says whether it is deterministic, and if not, why."""

from __future__ import annotations

from pdacon.base.arguments import helps_with_names
from pdacon.determinism import SECONDS, check_within
from pdacon.detokenizer import Vocabulary
from pdacon.errors import LimitExceededError
from pdacon.front.grammar import GrammarSource, grammar_of
from pdacon.front.report import DeterminismReport, with_pictures


@helps_with_names
def check(grammar: GrammarSource, vocab: Vocabulary | None = None, *, seconds: float = SECONDS) -> DeterminismReport:
    """Is the grammar deterministic, as pdacon needs it? Findings are returned, never raised.

    Parameters
    ----------
    grammar : Grammar, str or pathlib.Path
        As in `compile`: a `Grammar`, a built-in one's name, a text or a path. Its options ``conflicts`` and
        ``lookahead`` decide which findings are errors.
    vocab : Vocabulary, optional
        If given, witnesses that are texts come as tokens of it too.
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
        If the tables or the automata are larger than ``build_tables``, ``build_lexer`` and ``Limits()`` allow, or what
        decides takes more than ``seconds``.
    VocabularyError
        If the grammar has layout, and the vocabulary no tokens for a space and a newline.

    Notes
    -----
    Cost: one build of the LALR tables and of the lexing automaton, one composition with the vocabulary (the 256 bytes
    if none is given), and a walk over all that texts lead to: some milliseconds for JSON, some seconds for Python.
    """
    grammar = grammar_of("check", grammar)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"check: seconds must be a number, not {type(seconds).__name__}")
    if not seconds >= 0:
        raise ValueError(f"check: seconds must be at least 0, got {seconds}")
    try:
        return with_pictures(check_within(grammar, vocab, seconds=seconds))
    except LimitExceededError as error:
        if error.what == "seconds":
            raise
        raise LimitExceededError(error.what, error.given, error.limit, error.detail, fixed=True) from None
