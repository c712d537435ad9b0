"""LALR conflicts -> findings: one for each cause, with an example, advice, and what Lark's choice means.

The conflicts themselves are found while the tables are made (`pdacon.lalr`).

In: a grammar, its tables and shortest examples. Out: findings PDA001 to PDA004. Each conflict is explained
(`explanations`), its cause is named (`causes`), and conflicts of one cause become one finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pdacon.base.languages import has_bnf_rules
from pdacon.determinism.conflicts import causes
from pdacon.determinism.conflicts.causes import Cause, find_cause
from pdacon.determinism.conflicts.derivations import DerivationNode
from pdacon.determinism.conflicts.explanations import Explanation, explain_conflicts
from pdacon.determinism.conflicts.items import Items
from pdacon.determinism.conflicts.repair.case import Advice
from pdacon.determinism.conflicts.repair.repairs import give_advice
from pdacon.determinism.examples import Examples
from pdacon.determinism.report.accepting import accepting_choice, is_larks
from pdacon.determinism.report.findings import TITLES, Counterexample, Derivation, Finding, Level, Witness
from pdacon.determinism.report.listing import listed, lookahead_name
from pdacon.grammar import GrammarData, Span
from pdacon.grammar.grammar_data import as_written_in
from pdacon.lalr import Conflict, Tables

SECONDS = 10.0
"""How long to search for sentences that explain the conflicts, where nothing else is asked for."""

_FEW = 6

_OF_WHAT_IS_AROUND = (causes.OPTIONAL, causes.AMBIGUOUS)
"""Causes that mostly lie in the rule around those that conflict."""


def conflict_findings(
    grammar: GrammarData, tables: Tables, examples: Examples, seconds: float = SECONDS
) -> list[Finding]:
    """One finding for each cause. Cost: at most ``seconds`` for the search of examples, a few ms for most grammars.

    Shift/reduce is an error, or with ``conflicts="shift"`` a note. Reduce/reduce is an error unless rule priority
    settles it: Lark refuses it too. A reads cycle is an error in every mode: Lark's table would depend on hash order.
    """
    if not tables.conflicts:
        return []
    report = _Report(grammar, tables, examples)
    return [
        *(report.reads_cycle(conflict) for conflict in tables.conflicts if conflict.kind == "reads-cycle"),
        *(report.finding(*group) for group in report.groups(seconds)),
    ]


_Group = tuple[Cause | None, "list[Conflict]", "Explanation | None"]


class _Report:
    """What is shared by the findings of one grammar."""

    def __init__(self, grammar: GrammarData, tables: Tables, examples: Examples) -> None:
        self._grammar = grammar
        self._tables = tables
        self._examples = examples
        self._items = Items(grammar, tables)

    def groups(self, seconds: float) -> list[_Group]:
        """Conflicts of one cause, and the explanation with the shortest example."""
        conflicts = [conflict for conflict in self._tables.conflicts if conflict.kind != "reads-cycle"]
        explained = explain_conflicts(self._items, conflicts, seconds)
        groups: dict[tuple[object, ...], list[tuple[Conflict, Cause | None]]] = {}
        for conflict in conflicts:
            cause = find_cause(self._items, conflict, explained.get(conflict))
            key = (conflict.kind, conflict.settled, conflict.chosen, cause and cause.slug, self._about(conflict, cause))
            groups.setdefault(key, []).append((conflict, cause))
        found: list[_Group] = []
        for group in groups.values():
            shown, cause = min(group, key=lambda pair: self._rank(pair[0], explained.get(pair[0])))
            found.append((cause, [conflict for conflict, _ in group], explained.get(shown)))
        return found

    def _about(self, conflict: Conflict, cause: Cause | None) -> object:
        """What has to be mended: operators are one matter, however many there are, and one optional end of many
        rules; else it is an alternative."""
        if cause is not None and cause.slug in (causes.OPERATORS, causes.JUXTAPOSED):
            return cause.symbol
        if cause is not None and cause.slug == causes.OPTIONAL:
            tail = causes.optional_end(self._items, conflict)
            if tail is not None:
                return tail
        productions = [self._grammar.productions[k] for k in conflict.productions]
        return tuple((production.rule, production.span) for production in productions)

    def _rank(self, conflict: Conflict, explanation: Explanation | None) -> tuple[bool, bool, int]:
        """The example to show of a group: between two operators if there is one, and the smallest."""
        example = None if explanation is None else explanation.example
        rhs = self._grammar.productions[conflict.productions[0]].rhs
        binary = len(rhs) > 2 and rhs[0] == rhs[-1]
        return example is None, not binary, 0 if example is None else sum(1 for _ in example.first.preorder())

    def finding(self, cause: Cause | None, group: list[Conflict], explanation: Explanation | None) -> Finding:
        shown = self._first(group, explanation)
        productions = list(dict.fromkeys(k for conflict in group for k in conflict.productions))
        path = getattr(self._grammar.productions[shown.productions[0]].span, "path", None)
        named = as_written_in(self._grammar, path)
        advice = give_advice(self._items, cause, shown, self._lookaheads([shown]), explanation, named)
        counterexample = None if explanation is None else self._counterexample(explanation, named)
        if shown.kind == "shift/reduce":
            id, level, lines, repair = self._shift_reduce(advice)
        else:
            id, level, lines, repair = self._reduce_reduce(advice, shown)
        if counterexample is None:
            lines[1:1] = self._torn(group, productions)
        prefix = self._examples.prefix(shown.state)
        terminals = list(dict.fromkeys(conflict.terminal for conflict in group))
        rules = dict.fromkeys(self._grammar.productions[k].rule for k in productions)
        lookahead = lookahead_name(self._grammar, shown.terminal)
        # What the example shows comes first.
        to_blame = causes.cyclic_productions(self._items) if cause is not None and cause.slug == causes.CYCLE else []
        first = [k for k in productions if k in to_blame] or to_blame[:1]
        span, related = self._spans(list(dict.fromkeys([*first, *shown.productions, *productions])))
        if cause is not None and cause.slug in _OF_WHAT_IS_AROUND and explanation is not None:
            related += self._around(explanation, [span, *(place for _, place in related)])
        return Finding(
            id=id,
            level=level,
            title=f"{TITLES[id]} on {self._lookaheads(group)}",
            message="\n".join(lines),
            span=span,
            symbols=tuple(dict.fromkeys([*map(self._grammar.symbol_name, terminals), *rules])),
            # A state that no string of terminals leads to still shapes the table, but there is nothing to show.
            witness=None if prefix is None else Witness((*prefix, lookahead), len(prefix)),
            repair=repair,
            cause=None if cause is None else cause.slug,
            counterexample=counterexample,
            related=related,
        )

    def reads_cycle(self, conflict: Conflict) -> Finding:
        lines = ["Rules that can be empty follow each other in a circle, so the grammar is not LR(k) for any k:"]
        lines += [f"  {self._grammar.describe_production(k)}" for k in conflict.productions]
        lines.append("Lark's table for it depends on hash order, so it is refused with every option.")
        prefix = self._examples.prefix(conflict.state)
        lookahead = lookahead_name(self._grammar, conflict.terminal)
        span, related = self._spans(conflict.productions)
        rules = dict.fromkeys(self._grammar.productions[k].rule for k in conflict.productions)
        written = "`rule?`" if has_bnf_rules(self._grammar.language) else "`[rule]` or `rule?`"
        return Finding(
            id="PDA004",
            level="error",
            title=TITLES["PDA004"],
            message="\n".join(lines),
            span=span,
            symbols=tuple(dict.fromkeys([self._grammar.symbol_name(conflict.terminal), *rules])),
            witness=None if prefix is None else Witness((*prefix, lookahead), len(prefix)),
            repair=f"remove the empty alternative of one of these rules and write {written} where it is used.",
            related=related,
        )

    def _shift_reduce(self, advice: Advice) -> tuple[str, Level, list[str], str | None]:
        if self._grammar.options.conflicts == "shift":
            how = "as Lark does, by a shift" if is_larks(self._grammar) else "by a shift"
            return "PDA001", "note", [advice.message, f"Resolved {how}: {advice.settled}."], None
        if any(conflict.kind == "reads-cycle" for conflict in self._tables.conflicts):
            # Which are conflicts depends on Lark's table, which has no fixed meaning then, and no option accepts it.
            return "PDA001", "error", [advice.message], f"mend PDA004 first; if it is still here then, {advice.repair}"
        accepting = accepting_choice(self._grammar)
        repair = f"{advice.repair}\nOr {accepting}: {advice.settled}." if accepting else advice.repair
        return "PDA001", "error", [advice.message], repair

    def _reduce_reduce(self, advice: Advice, shown: Conflict) -> tuple[str, Level, list[str], str | None]:
        if shown.settled == "priority":
            chosen = self._grammar.describe_production(shown.chosen)
            return "PDA003", "note", [advice.message, f"The rule's priority decides: {chosen}"], None
        refused = "Lark refuses this too, whatever its options." if is_larks(self._grammar) else "No option settles it."
        return "PDA002", "error", [advice.message, refused], advice.repair

    def _first(self, group: Sequence[Conflict], explanation: Explanation | None) -> Conflict:
        """The conflict that is shown: the one that the explanation is of."""
        return next((c for c in group if explanation is not None and explanation.conflict == c), group[0])

    def _counterexample(self, explanation: Explanation, named: GrammarData) -> Counterexample | None:
        example = explanation.example
        if example is None:
            return None
        return Counterexample(
            unifying=example.unifying,
            first=self._derivation(example.first, named),
            second=self._derivation(example.second, named),
            position=example.position,
            complete=explanation.complete,
        )

    def _derivation(self, root: DerivationNode, named: GrammarData) -> Derivation:
        made: dict[int, Derivation] = {}
        for node in reversed(list(root.preorder())):
            children = None if node.production < 0 else tuple(made[id(child)] for child in node.children)
            made[id(node)] = Derivation(named.describe_symbol(node.symbol), children)
        return made[id(root)]

    def _torn(self, group: Sequence[Conflict], productions: Sequence[int]) -> list[str]:
        """The items, where no example shows them."""
        lines = []
        if group[0].kind == "shift/reduce":
            terminals = {conflict.terminal for conflict in group}
            lines += [f"  shift   {item}" for item in self._shift_items(group[0].state, terminals)]
        for k in productions:
            by_priority = group[0].settled == "priority"
            priority = f"  (priority {self._grammar.productions[k].priority})" if by_priority else ""
            lines.append(f"  reduce  {self._grammar.describe_item(k, len(self._grammar.productions[k].rhs))}{priority}")
        return lines

    def _lookaheads(self, group: Sequence[Conflict]) -> str:
        return listed(dict.fromkeys(lookahead_name(self._grammar, c.terminal) for c in group), _FEW)

    def _spans(self, productions: Sequence[int]) -> tuple[Span | None, tuple[tuple[str, Span], ...]]:
        """The first place, and the others."""
        spans: dict[Span, str] = {}
        for k in productions:
            production = self._grammar.productions[k]
            if production.span is not None:
                rule = self._grammar.describe_name(production.rule)
                spans.setdefault(production.span, f"{rule} is complete here too")
        first = next(iter(spans), None)
        return first, tuple((label, span) for span, label in spans.items() if span != first)

    def _around(self, explanation: Explanation, known: Sequence[Span | None]) -> tuple[tuple[str, Span], ...]:
        """The alternative that has both readings, if it is another one."""
        example = explanation.example
        if (
            example is None
            or not example.unifying
            or not 0 <= example.first.production < len(self._grammar.productions)
        ):
            return ()
        production = self._grammar.productions[example.first.production]
        if production.span is None or production.span in known:
            return ()
        return ((f"{self._grammar.describe_name(production.rule)} has both readings", production.span),)

    def _shift_items(self, state: int, terminals: Iterable[int]) -> list[str]:
        count = len(self._grammar.productions)
        shown = []
        for production, dot in self._tables.items(state):
            if production < count:
                rhs = self._grammar.productions[production].rhs
                if dot < len(rhs) and rhs[dot] in terminals:
                    shown.append(self._grammar.describe_item(production, dot))
        return shown
