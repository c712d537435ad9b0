"""What pdacon's tables are held against: stock Lark's analysis, and canonical LR(1) states merged by core."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import NamedTuple

from lalr.bare_grammars import BareGrammar
from lark.common import ParserConf
from lark.exceptions import GrammarError
from lark.grammar import Symbol
from lark.parsers.grammar_analysis import LR0ItemSet
from lark.parsers.lalr_analysis import LALR_Analyzer, Shift

from pdacon.lalr import Tables


class Expected(NamedTuple):
    """A conflict, without lark_only."""

    kind: str
    state: int
    terminal: int
    productions: tuple[int, ...]
    shift_to: int
    settled: str | None
    chosen: int


class LarkAnalysis:
    """Stock Lark's analysis of a grammar, with its states and rules in pdacon's numbers."""

    def __init__(self, grammar: BareGrammar, tables: Tables, transition_order: int = 0) -> None:
        """``transition_order`` 1 or -1 sorts what Lark visits in the order of its hashes, up or down."""
        self.grammar = grammar
        self.starts = [grammar.symbol(s).name for s in grammar.starts]
        self.rules = grammar.rules()
        self.production = {rule: k for k, rule in enumerate(self.rules)}
        names = (*grammar.terminals, "$END", *grammar.nonterminals)
        self.number = {name: k for k, name in enumerate(names)}
        self.analyzer = self._analyzer()
        self.analyzer.compute_lr0_states()
        self.analyzer.compute_reads_relations()
        self.analyzer.compute_includes_lookback()
        self.state = self._match(tables)
        if transition_order:
            self._visit_in_order(transition_order)
        self.analyzer.compute_lookaheads()

    def _analyzer(self, strict: bool = False) -> LALR_Analyzer:
        return LALR_Analyzer(ParserConf(self.rules, {}, self.starts), debug=True, strict=strict)

    def _visit_in_order(self, direction: int) -> None:
        def key(x: tuple[LR0ItemSet, Symbol]) -> tuple[int, int]:
            return direction * self.state[x[0]], direction * self.number[x[1].name]

        self.analyzer.nonterminal_transitions.sort(key=key)
        for relation in (self.analyzer.reads, self.analyzer.includes):
            for x in relation:
                relation[x] = sorted(relation[x], key=key)

    def _match(self, tables: Tables) -> dict[LR0ItemSet, int]:
        """Walk both automata in parallel. Asserts that they are isomorphic."""
        state = {self.analyzer.lr0_start_states[s]: tables.start_states[k] for k, s in enumerate(self.starts)}
        queue = deque(state)
        while queue:
            theirs = queue.popleft()
            ours = state[theirs]
            shifts = {t: int(a) - 1 for t, a in enumerate(tables.action[ours]) if a > 0}
            gotos = {len(self.grammar.terminals) + 1 + n: g for n, g in tables.goto.row(ours).items()}
            assert {self.number[s.name] for s in theirs.transitions} == {*shifts, *gotos}
            for symbol, target in theirs.transitions.items():
                number = self.number[symbol.name]
                next_state = (shifts | gotos)[number]
                assert tables.accessing[next_state] == number
                if target not in state:
                    state[target] = next_state
                    queue.append(target)
                assert state[target] == next_state
        assert len(state) == len(self.analyzer.lr0_itemsets) == tables.num_states
        assert sorted(state.values()) == list(range(tables.num_states))
        return state

    def items(self) -> dict[int, set[tuple[int, int]]]:
        roots = {f"$root_{s}": len(self.rules) + k for k, s in enumerate(self.starts)}
        return {
            ours: {(roots.get(i.rule.origin.name, self.production.get(i.rule)), i.index) for i in theirs.closure}
            for theirs, ours in self.state.items()
        }

    def rows(self) -> dict[int, dict[int, int]] | None:
        """Every row of Lark's finished table with pdacon's encoding; None if Lark raises GrammarError."""
        try:
            self.analyzer.compute_lalr1_states()
        except GrammarError:
            return None
        table = self.analyzer.parse_table
        by_closure = {theirs.closure: ours for theirs, ours in self.state.items()}
        self.end_states = tuple(by_closure[table.end_states[s]] for s in self.starts)

        def encode(name: str, action: tuple[object, object]) -> int:
            if action[0] is not Shift:
                return -self.production[action[1]] - 1
            return by_closure[action[1]] + (self.number[name] < len(self.grammar.terminals))

        return {
            by_closure[closure]: {self.number[name]: encode(name, action) for name, action in row.items()}
            for closure, row in table.states.items()
        }

    def lookaheads(self) -> dict[tuple[int, int], set[int]]:
        """Lark's LA(state, production)."""
        found = defaultdict(set)
        for theirs, ours in self.state.items():
            for terminal, rules in theirs.lookaheads.items():
                for rule in rules:
                    found[ours, self.production[rule]].add(self.number[terminal.name])
        return found

    def conflicts(self) -> list[Expected]:
        """Lark's conflicts, from its lookaheads and transitions, ordered by state and terminal."""
        found = []
        for theirs, ours in self.state.items():
            for terminal, rules in theirs.lookaheads.items():
                candidates = tuple(sorted(self.production[r] for r in rules))
                symbol = self.number[terminal.name]
                target = theirs.transitions.get(terminal)
                shift_to = -1 if target is None else self.state[target]
                winner = candidates[0]
                if len(candidates) > 1:
                    ranked = sorted(candidates, key=lambda p: -self.grammar.productions[p].priority)
                    best, second = (self.grammar.productions[p].priority for p in ranked[:2])
                    winner = ranked[0] if best > second else -1
                    settled = "priority" if best > second else None
                    found.append(Expected("reduce/reduce", ours, symbol, candidates, shift_to, settled, winner))
                if shift_to >= 0 and winner >= 0:
                    found.append(Expected("shift/reduce", ours, symbol, (winner,), shift_to, "shift", -1))
        return sorted(found, key=lambda c: (c.state, c.terminal, c.kind))

    def strict_mode_error(self) -> str | None:
        """The first line of what Lark(strict=True) raises, or None."""
        try:
            self._analyzer(strict=True).compute_lalr()
        except GrammarError as error:
            return str(error).splitlines()[0]
        return None

    def read_cycles(self) -> set[tuple[int, int]]:
        """The nonterminal transitions (state, symbol) on a cycle of `reads` of length two or more."""
        reads = self.analyzer.reads
        reachable = {}
        for x in reads:
            seen, queue = set(), [x]
            while queue:
                for y in reads[queue.pop()]:
                    if y not in seen:
                        seen.add(y)
                        queue.append(y)
            reachable[x] = seen
        return {
            (self.state[x[0]], self.number[x[1].name])
            for x, seen in reachable.items()
            if any(y != x and x in reachable[y] for y in seen)
        }

    def reads_itself(self) -> bool:
        """Whether some transition reads itself, which Lark handles without sharing sets."""
        return any(x in ys for x, ys in self.analyzer.reads.items())


def merged_lookaheads(grammar: BareGrammar, limit: int = 1000) -> dict[tuple[frozenset, int], set[int]] | None:
    """The lookaheads of LALR(1) by definition: canonical LR(1) states merged by their LR(0) kernels.

    Keys are (kernel, production). None if there are more than ``limit`` canonical states.
    """
    states = canonical_states(grammar, limit)
    if states is None:
        return None
    found = defaultdict(set)
    for core, reduces in states:
        for rule, lookaheads in reduces.items():
            found[core, rule] |= lookaheads
    return found


def canonical_states(grammar: BareGrammar, limit: int = 1000) -> list[tuple[frozenset, dict[int, set[int]]]] | None:
    """For each canonical LR(1) state its LR(0) kernel, and the lookaheads of each production it can reduce.

    A kernel is a set of (production, dot) with the augmented starts after the productions. None if there are more than
    ``limit`` states.
    """
    end = len(grammar.terminals)
    rules = [(p.lhs, p.rhs) for p in grammar.productions] + [(-1, (s,)) for s in grammar.starts]
    by_lhs = defaultdict(list)
    for index, (lhs, _) in enumerate(rules):
        by_lhs[lhs].append(index)
    first, nullable = _first_sets(grammar)

    def closure(kernel: frozenset) -> set:
        items, queue = set(kernel), list(kernel)
        while queue:
            rule, dot, lookahead = queue.pop()
            rhs = rules[rule][1]
            if dot == len(rhs) or rhs[dot] <= end:
                continue
            follow = set()
            for symbol in rhs[dot + 1 :]:
                follow |= first[symbol]
                if symbol not in nullable:
                    break
            else:
                follow.add(lookahead)
            # What is followed by an unproductive symbol has no lookahead, but is in the state all the same.
            new = {(r, 0, t) for r in by_lhs[rhs[dot]] for t in follow or {None}} - items
            items |= new
            queue += new
        return items

    found = []
    queue = [frozenset([(len(grammar.productions) + k, 0, end)]) for k in range(len(grammar.starts))]
    seen = set(queue)
    while queue:
        kernel = queue.pop()
        core = frozenset((r, d) for r, d, _ in kernel)
        successors = defaultdict(set)
        reduces = defaultdict(set)
        for rule, dot, lookahead in closure(kernel):
            if dot < len(rules[rule][1]):
                successors[rules[rule][1][dot]].add((rule, dot + 1, lookahead))
            elif rule < len(grammar.productions):
                reduces[rule] |= {lookahead} - {None}
        found.append((core, reduces))
        for successor in map(frozenset, successors.values()):
            if successor not in seen:
                seen.add(successor)
                queue.append(successor)
        if len(seen) > limit:
            return None
    return found


def _first_sets(grammar: BareGrammar) -> tuple[dict[int, set[int]], set[int]]:
    first = {t: {t} for t in range(len(grammar.terminals))}
    first |= {len(grammar.terminals) + 1 + n: set() for n in range(len(grammar.nonterminals))}
    nullable: set[int] = set()
    before = None
    while before != (before := (sum(map(len, first.values())), len(nullable))):
        for p in grammar.productions:
            for symbol in p.rhs:
                first[p.lhs] |= first[symbol]
                if symbol not in nullable:
                    break
            else:
                nullable.add(p.lhs)
    return first, nullable


def kernels(tables: Tables, num_productions: int) -> dict[int, frozenset]:
    """The LR(0) kernel of each state, the key of merged_lookaheads."""
    return {
        state: frozenset(i for i in tables.items(state) if i[1] > 0 or i[0] >= num_productions)
        for state in range(tables.num_states)
    }
