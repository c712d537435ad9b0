"""Further advice: findings that do not decide whether a grammar is taken, and that its author wants to know.

In: a grammar with its tables and lexer, and what was found before. Out: findings PDA010 and up, the sizes of the
automata, and the ids that were not looked for to the end. Each search has what is left of the time, in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pdacon.base.cancelling import look
from pdacon.determinism.deadline import Deadline, OutOfTimeError
from pdacon.determinism.examples import Examples
from pdacon.determinism.language.adjoining import adjoining_findings
from pdacon.determinism.language.dead_ends import DeadEnds
from pdacon.determinism.language.declared import unused_findings
from pdacon.determinism.language.emptiness import unproductive_findings
from pdacon.determinism.language.lost_indentation import unindented_findings
from pdacon.determinism.language.reachability import Follower
from pdacon.determinism.language.successions import Successions
from pdacon.determinism.language.swallowed import swallowed_findings
from pdacon.determinism.language.unspellable import unspellable_findings
from pdacon.determinism.lexical.early_ends import early_end_findings
from pdacon.determinism.lexical.endless import endless_findings
from pdacon.determinism.lexical.hidden_words import hidden_word_findings
from pdacon.determinism.lexical.lookahead import lookahead_findings
from pdacon.determinism.lexical.measuring import measure
from pdacon.determinism.lexical.repair.lexical_repairs import Repairs
from pdacon.determinism.lexical.truncations import truncation_findings
from pdacon.determinism.lexical.unmatched import reserved_findings, unmatched_findings
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import Finding
from pdacon.determinism.report.sizes import Sizes
from pdacon.detokenizer import Vocabulary
from pdacon.errors import LimitExceededError
from pdacon.lalr import Tables


@dataclass(frozen=True, slots=True)
class Advice:
    """What is worth knowing of a grammar besides."""

    findings: tuple[Finding, ...]  # PDA010 and up
    unfinished: tuple[str, ...]  # The ids that were not looked for to the end, because time, states or memory ran out
    sizes: Sizes


def advise(
    tables: Tables,
    texts: WitnessTexts,
    examples: Examples,
    vocabulary: Vocabulary | None = None,
    known: Iterable[Finding] = (),
    *,
    deadline: Deadline,
) -> Advice:
    """Look at everything, but for what is ``known`` already, and only until the deadline.

    Cost: about 2 s for Python's grammar, most of it for following its texts.
    """
    grammar, lexer = texts.grammar, texts.lexer
    collisions = {
        (finding.symbols[0], second)
        for finding in known
        if finding.id == "PDA005" and finding.level == "error"
        for second in finding.symbols[1:]
    }
    repairs = Repairs(grammar, tables, texts, deadline)
    searches: list[tuple[Iterable[str], Callable[[], Iterable[Finding]]]] = [
        (["PDA010"], lambda: unmatched_findings(texts, examples, repairs, deadline, collisions)),
        (["PDA010"], lambda: hidden_word_findings(texts, examples, deadline, collisions)),
        (["PDA019"], lambda: truncation_findings(texts, examples, repairs.of_truncations, deadline)),
        (["PDA011"], lambda: reserved_findings(texts, examples, repairs, deadline)),
        (["PDA012"], lambda: early_end_findings(grammar, lexer, repairs, deadline)),
        (["PDA013"], lambda: unused_findings(grammar)),
        (["PDA014"], lambda: unproductive_findings(grammar)),
        (["PDA010"], lambda: unindented_findings(grammar)),
        (["PDA016"], lambda: endless_findings(texts, repairs, deadline)),
        (["PDA020"], lambda: adjoining_findings(tables, texts, repairs, deadline)),
        (["PDA023"], lambda: swallowed_findings(tables, texts, examples, deadline)),
        (["PDA018"], lambda: lookahead_findings(texts, examples, deadline)),
        (
            ["PDA013", "PDA015", *([] if vocabulary is None else ["PDA017"])],
            lambda: _followed(tables, texts, examples, vocabulary, deadline),
        ),
    ]
    unfinished: set[str] = set()
    found = [finding for ids, search in searches for finding in _in_time(search, ids, unfinished, deadline)]
    return Advice(tuple(found), tuple(sorted(unfinished)), measure(tables, texts))


def _in_time(
    search: Callable[[], Iterable[Finding]], ids: Iterable[str], unfinished: set[str], deadline: Deadline
) -> list[Finding]:
    """What a search finds; out of time, states or memory, what it found before, and its ids become ``unfinished``."""
    found: list[Finding] = []
    try:
        with deadline.watch():
            found.extend(search())
    except (OutOfTimeError, LimitExceededError):
        look()  # whether it is the time of a caller that is over
        unfinished.update(ids)
    return found


def _followed(
    tables: Tables, texts: WitnessTexts, examples: Examples, vocabulary: Vocabulary | None, deadline: Deadline
) -> Iterator[Finding]:
    """What following texts lexeme by lexeme brings to light."""
    grammar, lexer = texts.grammar, texts.lexer
    reach = None
    if not lexer.automaton.unbounded:  # else the automaton has not all texts, and what it lacks proves nothing
        declared = {k for k in range(grammar.end) if grammar.terminals[k].pattern is None}
        if grammar.layout is not None:
            declared -= {grammar.layout.indent, grammar.layout.dedent}
        follower = Follower(grammar, tables, lexer, None, deadline)
        reach = follower.find()
        never = declared.union(texts.never_matched)
        dead_ends: list[Finding] = []
        in_time = True
        try:
            reaches = list(dict.fromkeys([follower.with_stacks(reach), reach]))
        except OutOfTimeError:  # the tops of stacks alone show most of it
            reaches, in_time = [reach], False
        for each in reaches:
            known = {(finding.id, finding.title) for finding in dead_ends}
            more = DeadEnds(tables, texts, examples, follower, each, never, deadline).findings()
            dead_ends += [finding for finding in more if (finding.id, finding.title) not in known]
        yield from dead_ends
        yield from Successions(tables, texts, examples, reaches[0], never, deadline).findings(dead_ends)
        if not in_time:
            raise OutOfTimeError
    if vocabulary is not None:
        yield from unspellable_findings(tables, texts, reach, vocabulary, deadline)
