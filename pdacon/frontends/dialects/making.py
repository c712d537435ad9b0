"""Terminals and productions -> a `Grammar`, in the author's names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pdacon.base.cancelling import every
from pdacon.base.quoting import quoted
from pdacon.errors import EmptyLanguageError
from pdacon.frontends.dialects.cutting import Cut
from pdacon.frontends.dialects.network import Network
from pdacon.frontends.dialects.programs import program_of
from pdacon.frontends.dialects.segments import OR_NOTHING, WHOLE, Segment, Symbols
from pdacon.frontends.dialects.tree import Rules
from pdacon.frontends.machines import Machine
from pdacon.grammar import GrammarData
from pdacon.grammar.grammar_data import lark_name
from pdacon.grammar.model import GrammarOptions, Nonterminal, Pattern, Production, Terminal
from pdacon.regular import Ranges
from pdacon.regular.ordered.program import to_automaton


@dataclass(frozen=True, slots=True)
class Numbered:
    """Symbols and productions as a `Grammar` numbers them, for the tables."""

    terminals: tuple[None, ...]
    nonterminals: tuple[None, ...]
    productions: tuple[Production, ...]
    starts: tuple[int, ...]


def numbered(symbols: Symbols, network: Network, rules: Rules) -> Numbered:
    """The productions, each with the place of the rule that it comes from.

    Raises
    ------
    EmptyLanguageError
    """
    start = rules.rules[rules.start]
    if not symbols.productions:
        raise EmptyLanguageError(f"{start.name} derives no text: every way through it leads back to itself", start.span)
    base = len(symbols.terminals) + 1
    order: Counter[int] = Counter()
    productions = []
    for lhs, rhs in every(symbols.productions):
        rule = rules.rules[network.names[symbols.nonterminals[lhs][0]]]
        own = tuple(~symbol if symbol < 0 else base + symbol for symbol in rhs)
        productions.append(Production(base + lhs, own, 0, rule.name, None, order[lhs], rule.span))
        order[lhs] += 1
    return Numbered((None,) * len(symbols.terminals), (None,) * len(symbols.nonterminals), tuple(productions), (base,))


def grammar_of(symbols: Symbols, network: Network, rules: Rules, plain: Numbered, cut: Cut) -> GrammarData:
    """The grammar of terminals that are automata."""
    names = _Names(symbols, network, rules)
    return made(
        rules,
        tuple(map(names.terminal, range(len(symbols.terminals)), cut.guards, cut.priorities)),
        tuple(names.nonterminal(*nonterminal) for nonterminal in symbols.nonterminals),
        plain.productions,
    )


def made(
    rules: Rules,
    terminals: tuple[Terminal, ...],
    nonterminals: tuple[Nonterminal, ...],
    productions: tuple[Production, ...],
) -> GrammarData:
    """The grammar whose first nonterminal is the start."""
    return GrammarData(
        terminals=terminals,
        nonterminals=nonterminals,
        productions=productions,
        ignore=frozenset(),
        starts=(len(terminals) + 1,),
        options=GrammarOptions(start=(nonterminals[0].name,)),
        source=rules.source,
        source_path=rules.path,
        language=rules.language,
    )


class _Names:
    """Names that say where a symbol comes from, each given once."""

    def __init__(self, symbols: Symbols, network: Network, rules: Rules) -> None:
        self._symbols, self._network, self._rules = symbols, network, rules
        self._used: Counter[str] = Counter()
        self._behind = {  # for each key a rule that was called there
            (rule, target): called
            for rule, machine in enumerate(network.machines)
            for row in machine.calls
            for called, target in row.items()
        }

    def nonterminal(self, rule: int, key: int) -> Nonterminal:
        name = self._network.names[rule]
        span = self._rules.rules[name].span
        if key >= 0:
            name = f"{name}_up_to_{self._network.names[self._behind[rule, key]]}"
        elif key == WHOLE and (rule, OR_NOTHING) in self._symbols.nonterminals:
            name = f"{name}_but_nothing"
        return Nonterminal(as_rule(name, self._used), span)

    def terminal(self, number: int, guards: Mapping[int, Ranges], priority: int) -> Terminal:
        machine = self._symbols.terminals[number]
        segment = self._symbols.segments[number][0]
        word = None if guards else only_word(machine)
        if word is None:
            pattern = Pattern.of_automaton(to_automaton(program_of(machine, guards)))
        else:
            pattern = Pattern.of_text(word)
        span = self._rules.rules[self._network.names[segment.rule]].span
        words = self._words(segment)
        name = as_terminal("_".join(words), self._used)
        return Terminal(name, pattern, priority, span, f"({' '.join(words)})" if word is None else quoted(word))

    def _words(self, segment: Segment) -> list[str]:
        """Which part of which of the author's rules it is."""
        names, (_ends, calls) = self._network.names, segment.stop
        parts = [names[segment.rule]]
        if segment.key:
            parts += ["after", names[self._behind[segment.rule, segment.key]]]
        if calls:
            parts += ["before", names[calls[0][0]]]
        elif segment.key:
            parts.append("end")
        return parts


def as_rule(name: str, used: Counter[str]) -> str:
    """A name for a rule that Lark takes, given once."""
    return _once(lark_name(name), used)


def as_terminal(name: str, used: Counter[str]) -> str:
    """A name for a terminal that Lark takes, given once."""
    plain = re.sub(r"\W", "_", name.upper(), flags=re.ASCII)[:60]
    return _once(plain if plain[0].isalpha() else f"T_{plain}", used)


def _once(name: str, used: Counter[str]) -> str:
    used[name] += 1
    while used[name] > 1:
        another = f"{name}_{used[name]}"
        if another not in used:
            used[another] = 1
            return another
        used[name] += 1
    return name


def only_word(machine: Machine) -> str | None:
    """The text that a machine accepts, if it is one."""
    word = ""
    state = 0
    while not machine.accepting[state]:
        if len(machine.reads[state]) != 1:
            return None
        ((target, ranges),) = machine.reads[state].items()
        if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
            return None
        word += chr(ranges[0][0])
        state = target
    return None if machine.reads[state] else word
