"""The checker: runs each kind of check, in order, and sorts what they find.

In: a grammar, perhaps a vocabulary. Out: a `Report`. First comes what decides whether `compile` takes the
grammar (`check_stages`), then advice (`advise`). This module composes; each check has a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from pdacon.base.cancelling import look
from pdacon.base.limits import Limits
from pdacon.composition import compose
from pdacon.determinism.advice import advise
from pdacon.determinism.conflicts.conflicts import SECONDS, conflict_findings
from pdacon.determinism.conflicts.sentences import Sentences
from pdacon.determinism.deadline import Deadline, work_watch
from pdacon.determinism.examples import Examples
from pdacon.determinism.language.declared import declared_findings, unused_findings
from pdacon.determinism.language.emptiness import emptiness_findings, empty_findings, unproductive_findings
from pdacon.determinism.language.hidden_labels import label_findings, with_labels
from pdacon.determinism.language.lost_indentation import balance_findings, borrowed_block_finding, newline_findings
from pdacon.determinism.lexical.lexemes import group_name_findings, lexeme_findings, pattern_findings
from pdacon.determinism.lexical.repair.lexical_repairs import Repairs
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import LEVELS, Finding
from pdacon.determinism.report.notations import in_notation_of
from pdacon.determinism.report.report import Report
from pdacon.determinism.report.sizes import Sizes
from pdacon.determinism.report.spelling import spell
from pdacon.detokenizer import Vocabulary
from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.grammar import GrammarData
from pdacon.grammar.sizes import automaton_states
from pdacon.lalr import Tables, build_tables, split_parentheses
from pdacon.lexer import Collision, Lexer, build_lexer, find_collisions

# Of the time: for sentences that explain conflicts, for repairs of terminals, and for all that explains findings. The
# rest is for advice.
_EXPLAINING, _REPAIRING, _MOST = 0.5, 0.2, 0.7


def check_within(
    grammar: GrammarData,
    vocabulary: Vocabulary | None = None,
    *,
    seconds: float = SECONDS,
    limits: Limits | None = None,
) -> Report:
    """Whether a grammar is deterministic, within limits for the tables and the automata; see `pdacon.check`."""
    if limits is None:
        limits = Limits().beside(automaton_states(grammar))
    watch = work_watch(seconds)
    with watch:
        tables = build_tables(grammar, limits)
        unsupported = pattern_findings(grammar)
        unsupported += [*balance_findings(grammar), *([] if unsupported else newline_findings(grammar))]
        if not unsupported:
            tables = split_parentheses(grammar, tables, limits)
            unsupported = group_name_findings(grammar, tables)
        lexer = None if unsupported else build_lexer(grammar, tables, limits)
        examples, texts = Examples(grammar, tables), None if lexer is None else WitnessTexts(grammar, lexer)
        collisions = None if lexer is None else find_collisions(lexer, limits)
    findings = partial(_findings, grammar, tables, examples, texts, unsupported, vocabulary, collisions)
    report = _explained(findings, watch.rest())
    if lexer is None or texts is None:
        return report
    with watch:
        if report.ok:
            try:
                starts = empty_findings(grammar, tables, lexer, limits, vocabulary)
                report = _make_report(grammar, [*(f for f in report.findings if f.id != "PDA007"), *starts])
            except UnsupportedGrammarError as error:
                report = _make_report(grammar, [*report.findings, borrowed_block_finding(grammar, error)])
        if report.ok and vocabulary is not None and grammar.labels:
            pda = compose(lexer, tables, vocabulary, limits).pda(0)
            more = label_findings(grammar, pda, vocabulary, limits)
            report = _make_report(grammar, [*report.findings, *more])
    advice = advise(tables, texts, examples, vocabulary, report.findings, deadline=Deadline(watch.rest()))
    further = [finding for finding in advice.findings if report.ok or finding.level != "note"]
    spelt = further if vocabulary is None else [spell(finding, vocabulary) for finding in further]
    return _make_report(grammar, [*report.findings, *spelt], advice.sizes, advice.unfinished)


def check_stages(
    grammar: GrammarData,
    tables: Tables,
    lexer: Lexer,
    collisions: Sequence[Collision] | None = None,
    *,
    seconds: float = SECONDS,
) -> Report:
    """What decides whether ``compile`` takes a grammar, for one who has built tables and lexer already.

    ``collisions`` are those of the lexer, where they have been looked for already.
    """
    examples, texts = Examples(grammar, tables), WitnessTexts(grammar, lexer)
    return _explained(partial(_findings, grammar, tables, examples, texts, collisions=collisions), seconds)


def rule_findings(grammar: GrammarData) -> tuple[Finding, ...]:
    """What the rules alone tell: PDA007, PDA009, PDA013 and PDA014, worst first.

    Notes
    -----
    Cost: linear in the grammar, up to a logarithm: 1 to 4 % of what it takes to compile it.
    """
    found = (*emptiness_findings(grammar), *declared_findings(grammar))
    return _make_report(grammar, (*found, *unused_findings(grammar), *unproductive_findings(grammar))).findings


def _explained(findings: Callable[..., Report], seconds: float) -> Report:
    """A report. Most of the time is for what explains the findings; where that is over, there are findings without."""
    if seconds:
        try:
            with work_watch(_MOST * seconds):
                return findings(seconds=seconds)
        except LimitExceededError as error:
            if error.what != "seconds":
                raise
            look()  # whether it is the time of a caller that is over
    return findings(seconds=0)


def _findings(
    grammar: GrammarData,
    tables: Tables,
    examples: Examples,
    texts: WitnessTexts | None,
    unsupported: Iterable[Finding] = (),
    vocabulary: Vocabulary | None = None,
    collisions: Sequence[Collision] | None = None,
    *,
    seconds: float,
) -> Report:
    """What decides, and for so many seconds what explains it; without ``texts`` where patterns are ``unsupported``."""
    findings = [
        *unsupported,
        *emptiness_findings(grammar),
        *declared_findings(grammar),
        *conflict_findings(grammar, tables, examples, _EXPLAINING * seconds),
    ]
    if texts is not None:
        repairs = Repairs(grammar, tables, texts, Deadline(_REPAIRING * seconds))
        findings += lexeme_findings(texts, examples, repairs, collisions)
        sentences = Sentences(tables, texts)
        findings = [sentences.with_texts(finding) for finding in findings]
    if vocabulary is not None:
        findings = [spell(finding, vocabulary) for finding in findings]
    return _make_report(grammar, findings)


def _make_report(
    grammar: GrammarData, findings: Iterable[Finding], sizes: Sizes | None = None, unfinished: tuple[str, ...] = ()
) -> Report:
    """The report with findings in order: worst first, then by id (PDA004 before all others) and place."""
    options = grammar.options
    return Report(
        subject=grammar.source_path or "<grammar>",
        findings=tuple(sorted((_finished(grammar, finding) for finding in findings), key=_rank)),
        conflicts=options.conflicts,
        lookahead=options.lookahead,
        source=grammar.source,
        imported_files=grammar.imported_files,
        sizes=sizes,
        unfinished=unfinished,
    )


def _finished(grammar: GrammarData, finding: Finding) -> Finding:
    """The finding in the words of the author's file."""
    return in_notation_of(grammar, with_labels(_with_imports(grammar, finding), grammar.labels))


def _with_imports(grammar: GrammarData, finding: Finding) -> Finding:
    """The finding with the ``%import`` of what another file defines; where its place is that, with the definition."""
    there = [one for one in grammar.imports if finding.span in (one.definition, one.site)]
    # One definition may be imported twice, and one site may bring much.
    one = next((one for one in there if one.name in finding.symbols), next(iter(there), None))
    if one is None or finding.span is None:
        return finding
    if finding.span == one.definition:
        further = "imported here", one.site
    elif one.packaged and one.name in finding.symbols and finding.id != "PDA013":  # else it does not matter what it is
        further = f"{grammar.describe_name(one.name)} is defined here", one.definition
    else:
        return finding
    return finding if further in finding.related else replace(finding, related=(*finding.related, further))


def _rank(finding: Finding) -> tuple[object, ...]:
    span = finding.span
    place = (span.path or "", span.line, span.column) if span is not None else ("", 0, 0)
    # Without an order of the rules' own there are conflicts that come of it only.
    return LEVELS.index(finding.level), finding.id != "PDA004", finding.id, place, finding.title
