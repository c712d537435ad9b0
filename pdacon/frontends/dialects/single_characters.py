"""Rules -> a `Grammar` whose terminals are single characters, so that a lexer decides nothing.

The sets of characters that rules name are parted into *atoms*, each a terminal, which no two sets part further. The
productions are the author's alternatives; what repeats is left-recursive. This is what is left where no larger
terminals can be had: its language is the author's whatever the rules are, and its conflicts are the author's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pdacon._native import _core
from pdacon.base.cancelling import every, look
from pdacon.base.quoting import quoted
from pdacon.errors import LimitExceededError, Span
from pdacon.frontends.dialects.making import as_rule, as_terminal, made
from pdacon.frontends.dialects.rule_graph import Graph
from pdacon.frontends.dialects.tree import Leaf, Placed, Reference, Rules, Text, Tree, WrittenCharacters
from pdacon.frontends.machines import merged
from pdacon.grammar import GrammarData
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, leaves_of
from pdacon.grammar.model import Nonterminal, Pattern, Production, Terminal
from pdacon.regular import Ranges, character_class
from pdacon.regular.automata import as_set
from pdacon.regular.characters import intersection, union

_MOST_PRODUCTIONS = 20_000


def by_characters(rules: Rules, graph: Graph) -> GrammarData:
    """The grammar of single characters.

    Raises
    ------
    LimitExceededError
        Repetitions are counted, and so written out, to too many productions.
    """
    return _Writer(rules, graph).grammar()


class _Writer:
    def __init__(self, rules: Rules, graph: Graph) -> None:
        self._rules = rules
        self._used: Counter[str] = Counter()
        self._order = [rules.start, *(name for name in graph if name != rules.start)]
        self._number = {name: k for k, name in enumerate(self._order)}
        self._nonterminals = [Nonterminal(as_rule(name, self._used), rules.rules[name].span) for name in self._order]
        self._productions: dict[tuple[int, tuple[int, ...]], tuple[str, Span]] = {}
        self._helpers: dict[object, int] = {}
        self._atoms = _atoms(rules, graph)
        self._rule = rules.rules[rules.start]

    def grammar(self) -> GrammarData:
        for name in every(self._order):
            self._rule = self._rules.rules[name]
            self._alternatives(self._number[name], self._rule.body)
        terminals = tuple(self._terminal(ranges) for ranges in self._atoms)
        base = len(terminals) + 1
        order: Counter[int] = Counter()
        productions = []
        for (lhs, rhs), (rule, span) in every(self._productions.items()):
            own = tuple(~symbol if symbol < 0 else base + symbol for symbol in rhs)
            productions.append(Production(base + lhs, own, 0, rule, None, order[lhs], span))
            order[lhs] += 1
        return made(self._rules, terminals, tuple(self._nonterminals), tuple(productions))

    def _alternatives(self, lhs: int, tree: Tree) -> None:
        for option in tree.items if isinstance(tree, OneOf) else (tree,):
            span = option.span if isinstance(option, Placed) else None
            self._add(lhs, self._side(option), span)

    def _add(self, lhs: int, rhs: tuple[int, ...], span: Span | None = None) -> None:
        look()
        self._productions.setdefault((lhs, rhs), (self._rule.name, span or self._rule.span))
        if len(self._productions) > _MOST_PRODUCTIONS:
            raise LimitExceededError("productions", len(self._productions), _MOST_PRODUCTIONS, fixed=True)

    def _side(self, tree: Tree) -> tuple[int, ...]:
        """The symbols that a tree stands for."""
        if isinstance(tree, WrittenCharacters):
            return (self._set(tree),)
        if isinstance(tree, Text):
            return tuple(self._atom(ord(character)) for character in tree.value)
        if isinstance(tree, Reference):
            return (self._number[tree.name],)
        if isinstance(tree, InOrder):
            return tuple(symbol for part in tree.items for symbol in self._side(part))
        if isinstance(tree, OneOf):
            if len(tree.items) == 1:
                return self._side(tree.items[0])
            helper, new = self._helper((self._rule.name, tree), "choice")
            if new:
                self._alternatives(helper, tree)
            return (helper,)
        return self._repeated(merged(tree))

    def _repeated(self, tree: Repeated[Leaf]) -> tuple[int, ...]:
        body = self._side(tree.item)
        least = body * tree.least
        if tree.most is None:
            many, new = self._helper((self._rule.name, "many", tree.item), "many", repeats=True)
            if new:
                self._add(many, (many, *body))
                self._add(many, body)
            maybe, new = self._helper((self._rule.name, "any", tree.item), "any")
            if new:
                self._add(maybe, ())
                self._add(maybe, (many,))
            return (*body * (tree.least - 1), many) if tree.least else (maybe,)
        if tree.most == tree.least:
            return least
        up_to = 0
        for count in range(1, tree.most - tree.least + 1):
            shorter = (up_to,) if count > 1 else ()
            up_to, new = self._helper((self._rule.name, count, tree.item), f"up_to_{count}")
            if new:
                self._add(up_to, ())
                self._add(up_to, (*body, *shorter))
        return (*least, up_to)

    def _helper(self, key: object, what: str, *, repeats: bool = False) -> tuple[int, bool]:
        number = self._helpers.get(key)
        if number is not None:
            return number, False
        number = self._helpers[key] = len(self._nonterminals)
        name = as_rule(f"{self._rule.name}_{what}", self._used)
        self._nonterminals.append(Nonterminal(name, self._rule.span, repeats))
        return number, True

    def _set(self, tree: WrittenCharacters) -> int:
        atoms = [~k for k, ranges in enumerate(self._atoms) if intersection(ranges, tree.ranges)]
        if len(atoms) == 1:
            return atoms[0]
        helper, new = self._helper(tree.ranges, "characters")
        if new:
            for atom in atoms:
                self._add(helper, (atom,))
        return helper

    def _atom(self, point: int) -> int:
        return next(~k for k, ranges in enumerate(self._atoms) if intersection(ranges, ((point, point),)))

    def _terminal(self, ranges: Ranges) -> Terminal:
        (first, last), *others = ranges
        if first == last and not others:
            word = chr(first)
            pattern = Pattern.of_text(word)
            return Terminal(as_terminal(f"CHARACTER_{first:04X}", self._used), pattern, 0, None, quoted(word))
        value = character_class(ranges)
        return Terminal(as_terminal("CHARACTERS", self._used), Pattern("re", value, frozenset(), value, 1, 1), 0, None)


def _atoms(rules: Rules, graph: Graph) -> list[Ranges]:
    """The coarsest parts of the characters that every set of the rules consists of."""
    sets = dict.fromkeys(ranges for name in graph for ranges in _sets(rules.rules[name].body))
    if not sets:
        return []
    firsts, numbers, _ = _core.character_classes([as_set(texts) for texts in sets])
    lasts = [*(int(first) - 1 for first in firsts[1:]), 0x10FFFF]
    atoms: dict[int, list[tuple[int, int]]] = {}
    for first, last, number in zip(firsts.tolist(), lasts, numbers.tolist(), strict=True):
        if number >= 0:
            atoms.setdefault(number, []).append((first, last))
    return [union(atom) for atom in atoms.values()]


def _sets(tree: Tree) -> Iterator[Ranges]:
    for leaf in leaves_of(tree):
        if isinstance(leaf, WrittenCharacters) and leaf.ranges:
            yield leaf.ranges
        elif isinstance(leaf, Text):
            yield from (((ord(character), ord(character)),) for character in leaf.value)
