"""Grammars in the holes of a grammar -> one grammar.

A hole is a terminal that was only declared, or a rule that stands for one. Symbols of an inner grammar get its name
before their own, so that their order, which Lark's lexer goes by, stays as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType

from pdacon.base.bit_sets import members
from pdacon.base.cancelling import every
from pdacon.errors import UnsupportedGrammarError
from pdacon.frontends.insertion.borders import End, closing, end_of, first_piece, may_end_in_backslash
from pdacon.frontends.insertion.checks import check_fits, check_outer
from pdacon.frontends.insertion.parts import Composition, Hole, Joined
from pdacon.grammar import GrammarData, Layout, Nonterminal, Pattern, Production, Span, Terminal
from pdacon.grammar.first_follow import Side, following
from pdacon.grammar.model import Import, Island
from pdacon.regular import RegularSet

MADE_UP = "_HOLE"
"""What the terminal of a hole that is a rule is called, after the rule's name in capitals."""


def inserted(
    outer: GrammarData, text: str, inner: Mapping[str, GrammarData], shown: Mapping[str, str] = MappingProxyType({})
) -> GrammarData:
    """The grammar in which each name stands for the grammar that it is given.

    ``text`` is what stock Lark loads of the outer one: with declared terminals for its holes. ``shown`` says what
    messages call those names of the outer grammar that are not its author's.

    Raises
    ------
    ValueError
        A name is none of the outer grammar's, or no hole.
    UnsupportedGrammarError
        One of them uses what cannot be put together; ``feature`` names it.
    """
    check_outer(outer)
    composition = _Composition(outer, text, shown)
    for name, grammar in inner.items():
        check_fits(outer, shown.get(name, name), grammar)
        composition.insert(name, grammar)
    return composition.result()


class _Hole:
    """An inner grammar where it is put in: what stands for it, and what is at its end.

    `nonterminal`, `bare` and `trailed` are numbers of nonterminals of the whole grammar. Where the outer grammar
    ignores text that the inner one does not, `nonterminal` is either of two: `bare`, which ends with the inner grammar,
    or `trailed`, which ends with a piece of that text. Elsewhere it is `bare`, and `trailed` is None.
    """

    def __init__(
        self, name: str, shown: str, nonterminal: int, grammar: GrammarData, span: Span | None, terminal: str
    ) -> None:
        self.name, self.nonterminal, self.grammar, self.span = name, nonterminal, grammar, span
        self.shown = shown  # in messages
        self.terminal = terminal  # that the outer grammar declares in its place
        self.end: End = end_of(grammar)
        self.bare = nonterminal
        self.trailed: int | None = None
        self.terminals: dict[int, int] = {}  # of the inner grammar, by their numbers here
        self.island: int | None = None  # its place among the islands; None: it ignores what the outer grammar does

    def placed(self, symbol: int, number: Mapping[int, int]) -> Hole:
        """The hole in the whole grammar, by the numbers of the terminals there."""
        terminals = {number[k]: own for k, own in self.terminals.items()}
        return Hole(symbol, self.terminal, self.grammar, terminals)

    @property
    def is_indented(self) -> bool:
        """Whether lines of its own begin and end blocks, as far as it goes."""
        return self.grammar.layout is not None and not self.grammar.layout.closers


class _Composition:
    """The whole grammar while grammars are put into its holes.

    A symbol here is k for the terminal k, or ~k for the nonterminal k, since there are more of both with each hole.
    Those of the outer grammar and of the inner ones are numbered as in a `Grammar`, where nonterminals come after the
    terminals and the end; `_symbol` and `_copied` translate them. What is dropped keeps its number until `result`.
    """

    def __init__(self, outer: GrammarData, text: str, shown: Mapping[str, str]) -> None:
        self._outer, self._text, self._shown = outer, text, shown
        # By a terminal that reads the end of a hole together with what follows: the hole, and the terminal after it.
        self._joined: dict[int, tuple[_Hole, int]] = {}
        self._terminals: list[Terminal] = list(outer.terminals)
        self._nonterminals: list[Nonterminal] = list(outer.nonterminals)
        self._taken: set[str] = set()  # names, of as many terminals and nonterminals:
        self._told = [0, 0]
        self._productions: list[tuple[int, Side, Production]] = []  # after those of the outer grammar
        self._islands: list[Island] = []
        self._imports: list[Import] = []
        self._files: dict[str, str] = {}
        self._ignore: set[int] = set(outer.ignore)
        self._holes: dict[int, _Hole] = {}  # by the outer grammar's symbol
        self._unenforced: list[tuple[str, str, str]] = []
        self._dropped: set[int] = set()  # declared terminals of holes
        self._layout: Layout | None = None
        # By a terminal and the number of the indented grammar's nonterminal after it: what stands for both.
        self._opened: dict[tuple[int, int], int] = {}
        self._closers: set[int] = set()  # terminals right after an indented grammar

    # The outer grammar

    def _symbol(self, symbol: int) -> int:
        """The symbol for one of the outer grammar: of a hole its nonterminal."""
        hole = self._holes.get(symbol)
        if hole is not None:
            return ~hole.nonterminal
        return symbol if symbol < self._outer.end else ~(symbol - self._outer.end - 1)

    def insert(self, name: str, grammar: GrammarData) -> None:
        """Put a grammar in the place of a name."""
        symbol = self._hole_of(name)
        outer = self._outer
        if symbol < outer.end:
            span = outer.terminals[symbol].span
            nonterminal = self._rule(self._free(name.lower()), span, name)
            self._dropped.add(symbol)
        else:
            span = outer.nonterminals[symbol - outer.end - 1].span
            nonterminal = symbol - outer.end - 1
        hole = self._holes[symbol] = _Hole(
            name,
            self._shown.get(name, name),
            nonterminal,
            grammar,
            span,
            name if symbol < outer.end else name.upper() + MADE_UP,
        )
        start = self._copied(hole)
        if hole.is_indented:
            self._produce(hole.bare, (start,))
        else:
            self._add_borders(hole, start)
        self._unenforced += [(f"{name}: {where}", what, why) for where, what, why in grammar.unenforced]

    def _hole_of(self, name: str) -> int:
        """The outer grammar's symbol that a name stands for; ValueError if that is no hole."""
        outer = self._outer
        for k, terminal in enumerate(outer.terminals):
            if terminal.name == name:
                if terminal.pattern is not None:
                    raise ValueError(f"compose: {name} is a terminal with a pattern; a hole is one that is %declare'd")
                return k
        number = next((k for k, nonterminal in enumerate(outer.nonterminals) if nonterminal.name == name), None)
        if number is None:
            raise ValueError(f"compose: no rule uses {name}; write it where the grammar is to stand")
        symbol = outer.end + 1 + number
        sides = [p.rhs for p in outer.productions if p.lhs == symbol]
        made_up = name.upper() + MADE_UP
        if len(sides) != 1 or len(sides[0]) != 1 or outer.symbol_name(sides[0][0]) != made_up:
            raise ValueError(
                f"compose: the grammar defines {name} itself; leave its definition out, or take a new name"
            )
        self._dropped.add(sides[0][0])
        return symbol

    # Inner grammars

    def _copied(self, hole: _Hole) -> int:
        """Add the symbols and productions of an inner grammar; returns the symbol of its start."""
        name, grammar, outer = hole.name, hole.grammar, self._outer
        same = _patterns(grammar, grammar.ignored_outside) == _patterns(outer, outer.ignored_outside)
        number: dict[int, int] = {}
        for k, terminal in enumerate(every(grammar.terminals)):
            shared = self._shared(grammar, k, same)
            if shared is None:
                shared = len(self._terminals)
                new = f"{name.upper()}__{terminal.name}"
                other = terminal.in_place_of
                if other is not None:
                    other = replace(other, name=f"{name.upper()}__{other.name}")
                self._terminals.append(
                    replace(terminal, name=new, span=self._place(hole, terminal.span), in_place_of=other)
                )
                if terminal.literal is None:
                    self._note(hole, new, terminal.name, terminal.span)
            number[k] = shared
            hole.terminals[shared] = k
        for k, nonterminal in enumerate(every(grammar.nonterminals)):
            new = f"{name.lower()}__{nonterminal.name}"
            number[grammar.end + 1 + k] = ~len(self._nonterminals)
            self._nonterminals.append(replace(nonterminal, name=new, span=self._place(hole, nonterminal.span)))
            if not nonterminal.repeats:
                self._note(hole, new, nonterminal.name, nonterminal.span)
        first = len(self._productions)
        for p in every(grammar.productions):
            own = replace(p, rule=f"{name.lower()}__{p.rule}", span=self._place(hole, p.span))
            self._productions.append((number[p.lhs], tuple(map(number.__getitem__, p.rhs)), own))
        ignored = frozenset(number[k] for k in grammar.ignored_outside)
        if hole.is_indented or not same:
            newline = number[grammar.layout.newline] if grammar.layout is not None and hole.is_indented else None
            hole.island = len(self._islands)
            self._islands.append(Island(name, first, len(self._productions), ignored, newline))
        self._islands += [_moved(island, first, number) for island in grammar.islands]
        if grammar.layout is not None:
            if self._layout is not None:
                raise _refused(
                    f"{hole.shown}: a grammar with indentation is in it already, by another name; there can be one, in "
                    "as many places as you like: write its name in each of them",
                    hole.span,
                )
            self._layout = _renumbered(grammar.layout, number)
        self._ignore.update(number[k] for k in grammar.ignore)
        self._files.update(grammar.imported_files)
        if grammar.language in ("Lark", "GBNF", "EBNF", "llguidance", "several grammars"):
            self._files[grammar.source_path or f"<{name}>"] = grammar.source
        return number[grammar.starts[0]]

    def _shared(self, grammar: GrammarData, terminal: int, same: bool) -> int | None:
        """The outer terminal that is the same as an inner one: a string of both, or ignored by both."""
        own, outer = grammar.terminals[terminal], self._outer
        if grammar.layout is not None:
            return None  # parentheses count in it, and what stands after it closes its blocks
        for k, other in enumerate(outer.terminals):
            if own.pattern is None or other.pattern != own.pattern or other.priority != own.priority:
                continue
            ignored = terminal in grammar.ignore, k in outer.ignore
            if ignored == (True, True) and same and terminal in grammar.ignored_outside:
                return k
            if ignored == (False, False) and own.pattern.kind == "str" and own.in_place_of is None:
                return k
        return None

    def _add_borders(self, hole: _Hole, start: int) -> None:
        """Add the hole's productions: the inner grammar, with pieces of ignored text at its borders; see `borders`."""
        outer = self._outer
        island = hole.island
        if island is None:
            self._produce(hole.bare, (start,))
            return
        own = [self._terminals[k] for k in sorted(self._islands[island].ignore)]
        around = [outer.terminals[k] for k in sorted(outer.ignored_outside)]
        leads = self._pieces(f"{hole.name.upper()}_LEAD", own, around)
        trails = self._pieces(f"{hole.name.upper()}_TRAIL", around, own)
        sides: list[Side] = [(start,)]
        if leads:
            led = self._rule(self._free(f"{hole.name.lower()}_led"), hole.span, hole.shown)
            # In the island, so that after the first piece more of it is ignored.
            for piece in leads:
                self._produce(led, (piece, start))
            self._islands[island] = replace(self._islands[island], last=len(self._productions))
            sides.append((~led,))
        if trails:
            hole.bare = self._rule(self._free(f"{hole.name.lower()}_bare"), hole.span, hole.shown)
            hole.trailed = self._rule(self._free(f"{hole.name.lower()}_trailed"), hole.span, hole.shown)
            for piece in trails:
                self._produce(hole.trailed, (~hole.bare, piece))
            self._produce(hole.nonterminal, (~hole.bare,))
            self._produce(hole.nonterminal, (~hole.trailed,))
        for side in sides:
            self._produce(hole.bare, side)

    def _pieces(self, name: str, own: Sequence[Terminal], others: Sequence[Terminal]) -> list[int]:
        """Terminals for pieces of what one grammar ignores, where the other one ignores nothing."""
        patterns = [(terminal, first_piece(terminal, others)) for terminal in own]
        return [
            self._made(name, pattern, terminal, terminal.span, terminal)
            for terminal, pattern in patterns
            if pattern is not None
        ]

    def _produce(self, lhs: int, side: Side) -> None:
        nonterminal = self._nonterminals[lhs]
        order = sum(symbol == ~lhs for symbol, _, _ in self._productions)
        self._productions.append((~lhs, side, Production(0, (), 0, nonterminal.name, None, order, nonterminal.span)))

    # The ends of inner grammars

    def _sides(self, production: Production, closed: Callable[[_Hole, int], list[Side]]) -> Iterator[Side]:
        """What a right side of the outer grammar becomes; `closed` says it of a hole with the terminal after it.

        These may become one of several things, so there are as many sides as ways to choose.
        """
        parts: list[list[Side]] = []
        symbols = list(production.rhs)
        place = 0
        while place < len(symbols):
            hole = self._holes.get(symbols[place])
            closer = symbols[place + 1] if place + 1 < len(symbols) else None
            behind = None if closer is None else self._holes.get(closer)
            if behind is not None and behind.is_indented:
                parts.append([(self._with_opener(behind, symbols, place),)])
                place += 2
                continue
            if hole is not None and hole.is_indented:
                raise self._not_between(hole)
            if hole is None or closer is None or closer >= self._outer.end or closer in self._holes:
                parts.append([(self._symbol(symbols[place]),)])
                place += 1
                continue
            parts.append(closed(hole, closer))
            place += 2
        for chosen in product(*parts):
            yield tuple(symbol for part in chosen for symbol in part)

    def _with_opener(self, hole: _Hole, symbols: Sequence[int], place: int) -> int:
        """What stands for the terminal before an indented grammar together with that. It is in the island, so that the
        text after it begins as the inner grammar's texts do.
        """
        ends = [symbols[k] for k in (place, place + 2) if k < len(symbols)]
        if len(ends) < 2 or not all(end < self._outer.end and end not in self._holes for end in ends):
            raise self._not_between(hole)
        opener, closer = ends
        inner = hole.grammar
        if any(terminal.pattern == self._terminals[closer].pattern for terminal in inner.terminals):
            raise self._no_end(hole, closer)
        self._closers.add(closer)
        key = opener, hole.nonterminal
        if key not in self._opened:
            self._opened[key] = self._rule(self._free(f"{hole.name.lower()}_led"), hole.span, hole.shown)
            assert hole.island is not None
            own = self._islands[hole.island]
            first = len(self._productions)
            self._produce(self._opened[key], (opener, ~hole.nonterminal))
            self._islands.append(replace(own, first=first, last=first + 1))
        return ~self._opened[key]

    def _not_between(self, hole: _Hole) -> UnsupportedGrammarError:
        return _refused(
            f"{hole.shown} is a grammar with indentation, so that it has to be known where its text begins and ends; "
            f'write a terminal right before {hole.shown} and one right after it, as in "<code>" {hole.shown} "</code>"',
            hole.span,
        )

    def _outside(self, closed: Callable[[_Hole, int], list[Side]]) -> list[tuple[int, Side, Production]]:
        """The productions of the outer grammar but those of holes."""
        productions = [
            (self._symbol(p.lhs), side, p)
            for p in self._outer.productions
            if p.lhs not in self._holes
            for side in self._sides(p, closed)
        ]
        orders: Counter[int] = Counter()
        for place, (lhs, side, p) in enumerate(productions):
            productions[place] = lhs, side, replace(p, order=orders[lhs])
            orders[lhs] += 1
        return productions

    def _closed(self, hole: _Hole, closer: int) -> list[Side]:
        """What an inner grammar and the terminal after it become, so that the terminal is found; see `borders`."""
        terminal = self._terminals[closer]
        plain: Side = (~hole.nonterminal, closer)
        if not hole.end.could_take(terminal):
            return [plain]
        if hole.end.texts is not None:
            automaton = hole.end.with_closer(terminal)
            if automaton is None:
                raise self._no_end(hole, closer)
            pattern = Pattern.of_automaton(automaton)
            whole = self._first_of_all(f"{hole.name.upper()}_AND_{terminal.name}", pattern, terminal)
            self._joined.setdefault(whole, (hole, closer))
            return [(whole,), plain] if self._outer.ignored_outside else [(whole,)]
        if hole.end.is_escaped or hole.end.ignores(terminal):
            raise self._no_end(hole, closer)
        whole = self._first_of_all(
            f"{terminal.name}_BEHIND_{hole.name.upper()}", closing(terminal, hole.end.runs), terminal
        )
        self._joined.setdefault(whole, (hole, closer))
        behind: list[Side] = [(~hole.bare, whole)]
        return behind if hole.trailed is None else [*behind, (~hole.trailed, closer)]

    def _first_of_all(self, name: str, pattern: Pattern, like: Terminal) -> int:
        """A terminal that the lexer looks for before all others, by its priority."""
        same = next((k for k, terminal in enumerate(self._terminals) if terminal.pattern == pattern), None)
        if same is not None:
            return same
        priority = 1 + max(terminal.priority for terminal in self._terminals)
        return self._made(name, pattern, replace(like, priority=priority), like.span)

    def _no_end(self, hole: _Hole, closer: int) -> UnsupportedGrammarError:
        called = self._outer.describe_symbol(closer)
        called = self._shown.get(called, called)
        return UnsupportedGrammarError(
            f"{hole.shown} may go on where {called} begins after it, so that nobody knows where it ends; write a "
            f"terminal with another first character right after {hole.shown}, or take the texts that have {called} out "
            "of it",
            hole.span,
            feature="compose",
        )

    def _check_followers(self) -> None:
        """What may come after an inner grammar, but not right after it in a rule, must not be taken by its end."""
        productions = [*self._outside(lambda _, closer: [(closer,)]), *self._productions]
        behind = following([(lhs, side) for lhs, side, _ in productions])
        for hole in self._holes.values():
            for terminal in members(behind[~hole.nonterminal]):
                if hole.end.could_take(self._terminals[terminal]):
                    raise self._no_end(hole, terminal) if terminal < self._outer.end else self._adjoins(hole, terminal)

    def _check_backslashes(self) -> None:
        """What looks behind itself in a string takes the quote before it for the string's beginning."""
        patterns = [(terminal, terminal.pattern) for terminal in self._terminals if terminal.pattern is not None]
        if not any(p.automaton is not None and p.automaton.look_behind for _, p in patterns):
            return
        for terminal, pattern in patterns:
            if pattern.meant is None and may_end_in_backslash(pattern):
                called = self._shown.get(terminal.name, terminal.name)
                raise UnsupportedGrammarError(
                    f"{called} may end in a backslash, and a quote after that does not begin a string for "
                    "terminals that look at the text before them; let it end in another character",
                    terminal.span,
                    feature="compose",
                )

    def _adjoins(self, hole: _Hole, terminal: int) -> UnsupportedGrammarError:
        return UnsupportedGrammarError(
            f"{hole.shown} may go on where {self._called(terminal)} begins after it; write a terminal between the two",
            hole.span,
            feature="compose",
        )

    def _called(self, terminal: int) -> str:
        """A terminal that the outer grammar does not have, as messages call it: by its name in the inner grammar."""
        numbers = {symbol.name: k for k, symbol in enumerate(self._terminals)}
        number = numbers.get(self._terminals[terminal].ranked.name, terminal)
        for hole in self._holes.values():
            if number in hole.terminals:
                return f"{hole.grammar.describe_symbol(hole.terminals[number])} of {hole.shown}"
        return self._terminals[number].name

    # Names and places

    def _rule(self, name: str, span: Span | None, shown: str) -> int:
        self._nonterminals.append(Nonterminal(name, span))
        if span is not None and name != shown:
            self._imports.append(Import(name, span, False, span, shown))
        return len(self._nonterminals) - 1

    def _made(
        self, name: str, pattern: Pattern, like: Terminal, span: Span | None, in_place_of: Terminal | None = None
    ) -> int:
        name = self._free(name)
        self._terminals.append(Terminal(name, pattern, like.priority, span, like.literal, None, in_place_of))
        if span is not None:
            self._imports.append(Import(name, span, False, span, like.name))
        return len(self._terminals) - 1

    def _free(self, name: str) -> str:
        kinds: tuple[Sequence[Terminal | Nonterminal], ...] = (self._terminals, self._nonterminals)
        for place, symbols in enumerate(kinds):
            self._taken.update(symbol.name for symbol in symbols[self._told[place] :])
            self._told[place] = len(symbols)
        while name in self._taken:
            name += "_"
        return name

    def _place(self, hole: _Hole, span: Span | None) -> Span | None:
        """A place in an inner grammar's text; of one without places that of the hole."""
        if span is None:
            return hole.span
        return span if span.path is not None else replace(span, path=f"<{hole.name}>")

    def _note(self, hole: _Hole, new: str, own: str, span: Span | None) -> None:
        definition = self._place(hole, span)
        if definition is not None:
            shown = hole.grammar.describe_name(own)
            self._imports.append(Import(new, definition, False, hole.span or definition, shown))

    def result(self) -> GrammarData:
        """The whole grammar."""
        outer = self._outer
        self._check_followers()
        self._check_backslashes()
        outside = self._outside(self._closed)
        shift = len(outside)
        productions = [*outside, *self._productions]
        kept = [k for k in range(len(self._terminals)) if k not in self._dropped]
        number = {k: place for place, k in enumerate(kept)}
        end = len(kept)

        def final(symbol: int) -> int:
            return number[symbol] if symbol >= 0 else end + 1 + ~symbol

        holes = {hole: hole.placed(final(~hole.bare), number) for hole in self._holes.values()}
        joined = {
            number[k]: self._joined_with(closer, None if hole.end.texts is None else holes[hole], hole.end.texts)
            for k, (hole, closer) in self._joined.items()
        }
        names = {number[k]: outer.terminals[k].name for k in kept if k < outer.end}
        layout = self._layout
        if layout is not None and self._closers:
            layout = replace(layout, closers=frozenset(self._closers))
        return GrammarData(
            terminals=tuple(self._terminals[k] for k in kept),
            nonterminals=tuple(self._nonterminals),
            productions=tuple(
                replace(p, lhs=final(lhs), rhs=tuple(map(final, side))) for lhs, side, p in every(productions)
            ),
            ignore=frozenset(number[k] for k in self._ignore),
            starts=tuple(final(self._symbol(start)) for start in outer.starts),
            options=outer.options,
            source=outer.source,
            source_path=outer.source_path,
            unused=outer.unused,
            imports=(*outer.imports, *self._imports),
            imported_files=(*outer.imported_files, *self._files.items()),
            unenforced=(*outer.unenforced, *self._unenforced),
            language="several grammars",
            labels=outer.labels,
            within=outer.within,
            parts=Composition(outer, self._text, tuple(holes.values()), names, joined),
            islands=tuple(_moved(island, shift, number) for island in self._islands),
            layout=None if layout is None else _renumbered(layout, number),
        )

    def _joined_with(self, closer: int, hole: Hole | None, texts: RegularSet | None) -> Joined:
        terminal = self._outer.terminals[closer]
        assert terminal.pattern is not None
        return Joined(terminal.name, terminal.pattern, hole, texts)


def _moved(island: Island, by: int, number: Mapping[int, int]) -> Island:
    """An island with its productions further on, and its terminals by new numbers."""
    return replace(
        island,
        first=island.first + by,
        last=island.last + by,
        ignore=frozenset(number[k] for k in island.ignore),
        newline=None if island.newline is None else number[island.newline],
    )


def _renumbered(layout: Layout, number: Mapping[int, int]) -> Layout:
    return replace(
        layout,
        newline=number[layout.newline],
        indent=number[layout.indent],
        dedent=number[layout.dedent],
        opens=frozenset(number[k] for k in layout.opens),
        closes=frozenset(number[k] for k in layout.closes),
        closers=frozenset(number[k] for k in layout.closers),
    )


def _refused(message: str, span: Span | None) -> UnsupportedGrammarError:
    return UnsupportedGrammarError(message, span, feature="postlex")


def _patterns(grammar: GrammarData, terminals: frozenset[int]) -> set[tuple[Pattern | None, int]]:
    """What terminals match, and with which priorities: equal of grammars that ignore the same."""
    return {(grammar.terminals[k].pattern, grammar.terminals[k].priority) for k in terminals}
