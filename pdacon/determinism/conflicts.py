"""LALR conflicts -> findings: one for each state, kind and set of productions, its lookahead terminals gathered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pdacon.determinism.findings import TITLES, Finding, Level, Witness

if TYPE_CHECKING:
    from pdacon.determinism.examples import Examples
    from pdacon.grammar import Grammar, Span
    from pdacon.lalr import Conflict, Tables

_LARK_ONLY = "It exists in Lark's tables only: Lark's `includes` relation has edges that LALR(1) lacks."


def conflict_findings(grammar: Grammar, tables: Tables, examples: Examples) -> list[Finding]:
    """One finding for each group of conflicts. Cost: linear in the items of the states that have one, and ``examples``.

    Shift/reduce is an error, or with ``conflicts="shift"`` a note. Reduce/reduce is an error unless rule priority
    settles it: Lark refuses it too. A reads cycle is an error in every mode: Lark's table would depend on hash order.
    """
    explain = _Explanation(grammar, tables, examples)
    return _merged(explain.finding(group) for group in _groups(tables.conflicts))


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that differ in their witness only (one conflict, several LR states) become one, with the shortest."""
    alike: dict[Finding, list[Finding]] = {}
    for finding in findings:
        alike.setdefault(replace(finding, witness=None), []).append(finding)
    merged = []
    for same in alike.values():
        shortest = min(same, key=lambda f: (f.witness is None, len(f.witness.symbols) if f.witness is not None else 0))
        count = len(same)
        suffix = f"\nThe same in {count - 1} more LR state{'s' if count > 2 else ''}." if count > 1 else ""
        merged.append(replace(shortest, message=shortest.message + suffix))
    return merged


def _groups(conflicts: Iterable[Conflict]) -> list[list[Conflict]]:
    groups: dict[tuple[object, ...], list[Conflict]] = {}
    for c in conflicts:
        key = (c.kind, c.state, c.productions, c.settled, c.chosen, c.lark_only)
        groups.setdefault(key, []).append(c)
    return list(groups.values())


class _Explanation:
    """What is shared by the findings of one grammar."""

    def __init__(self, grammar: Grammar, tables: Tables, examples: Examples) -> None:
        self._grammar = grammar
        self._tables = tables
        self._examples = examples

    def finding(self, group: Sequence[Conflict]) -> Finding:
        kind = group[0].kind
        if kind == "reads-cycle":
            return self._reads_cycle(group[0])
        return self._shift_reduce(group) if kind == "shift/reduce" else self._reduce_reduce(group)

    def _shift_reduce(self, group: Sequence[Conflict]) -> Finding:
        settled = self._grammar.options.conflicts == "shift"
        first = group[0]
        lines = [
            f"After the same input the parser can shift {self._lookaheads(group)} or first reduce what is complete:"
        ]
        lines += [f"  shift   {item}" for item in self._shift_items(first.state, [c.terminal for c in group])]
        lines += [f"  reduce  {self._complete(k)}" for k in first.productions]
        lines += [_LARK_ONLY] if first.lark_only else []
        lines.append("Resolved as Lark does: shift." if settled else "Lark shifts without a word.")
        repair = None if settled else self._shift_reduce_repair(first)
        return self._finished("PDA001", "note" if settled else "error", group, lines, repair)

    def _reduce_reduce(self, group: Sequence[Conflict]) -> Finding:
        first = group[0]
        by_priority = first.settled == "priority"
        lines = [f"Before {self._lookaheads(group)} the parser can reduce what is complete in more than one way:"]
        for k in first.productions:
            priority = f"  (priority {self._grammar.productions[k].priority})" if by_priority else ""
            lines.append(f"  reduce  {self._complete(k)}{priority}")
        lines += [_LARK_ONLY] if first.lark_only else []
        if by_priority:
            lines.append(f"The rule's priority decides: {self._grammar.describe_production(first.chosen)}")
            return self._finished("PDA003", "note", group, lines, None)
        lines.append("Lark refuses this too.")
        rules = sorted({self._grammar.productions[k].rule for k in first.productions})
        repair = (
            f"make the alternatives of {' and '.join(rules)} differ before this point, merge them into one rule, "
            f"or give one rule a higher priority ({rules[0]}.1: ...)."
        )
        return self._finished("PDA002", "error", group, lines, repair)

    def _reads_cycle(self, conflict: Conflict) -> Finding:
        lines = ["Rules that can be empty follow each other in a circle, so the grammar is not LR(k) for any k:"]
        lines += [f"  {self._grammar.describe_production(k)}" for k in conflict.productions]
        lines.append("Lark's table for it depends on hash order, so it is refused with every option.")
        repair = (
            "remove the empty alternative of one of these rules and write `[rule]` or `rule?` where the rule is used."
        )
        return self._finished("PDA004", "error", [conflict], lines, repair)

    def _finished(
        self, id: str, level: Level, group: Sequence[Conflict], lines: Sequence[str], repair: str | None
    ) -> Finding:
        first = group[0]
        prefix = self._examples.prefix(first.state)
        lookahead = self._grammar.describe_symbol(first.terminal)
        rules = dict.fromkeys(self._grammar.productions[k].rule for k in first.productions)
        names = [self._grammar.symbol_name(c.terminal) for c in group]
        title = TITLES[id] if first.kind == "reads-cycle" else f"{TITLES[id]} on {self._lookaheads(group)}"
        return Finding(
            id=id,
            level=level,
            title=title,
            message="\n".join(lines),
            span=self._span(first.productions),
            symbols=tuple(dict.fromkeys([*names, *rules])),
            # A state that no string of terminals leads to still shapes the table, but there is nothing to show.
            witness=None if prefix is None else Witness((*prefix, lookahead), len(prefix)),
            repair=repair,
        )

    def _lookaheads(self, group: Sequence[Conflict]) -> str:
        shown = [self._grammar.describe_symbol(c.terminal) for c in group]
        return ", ".join(shown) if len(shown) <= 6 else f"{', '.join(shown[:5])} and {len(shown) - 5} more"

    def _span(self, productions: Sequence[int]) -> Span | None:
        return next((span for k in productions if (span := self._grammar.productions[k].span) is not None), None)

    def _shift_items(self, state: int, terminals: Sequence[int]) -> list[str]:
        count = len(self._grammar.productions)
        shown = []
        for production, dot in self._tables.items(state):
            if production < count:
                rhs = self._grammar.productions[production].rhs
                if dot < len(rhs) and rhs[dot] in terminals:
                    shown.append(self._item(production, dot))
        return shown

    def _complete(self, production: int) -> str:
        return self._item(production, len(self._grammar.productions[production].rhs))

    def _item(self, production: int, dot: int) -> str:
        """``expr: expr "+" • expr``"""
        record = self._grammar.productions[production]
        rhs = [self._grammar.describe_symbol(symbol) for symbol in record.rhs]
        return f"{self._grammar.describe_symbol(record.lhs)}: {' '.join([*rhs[:dot], '•', *rhs[dot:]])}"

    def _shift_reduce_repair(self, conflict: Conflict) -> str:
        production = self._grammar.productions[conflict.productions[0]]
        accept = 'or accept Lark\'s choice with conflicts="shift".'
        if len(production.rhs) >= 2 and production.rhs[-1] == production.lhs:
            rule = production.rule
            if production.rhs[0] == production.lhs:
                return (
                    f"give each level of binding its own rule, so that {rule} does not stand on both sides "
                    f"({rule}: operand | {rule} OPERATOR operand), {accept}"
                )
            return (
                f"{rule} ends in {rule}, so where it ends is open when it is nested: close it with a keyword, "
                f"or split the rule into one that is complete and one that is not, {accept}"
            )
        return f"write the rules so that both ways share one rule up to this point and part only after it, {accept}"
