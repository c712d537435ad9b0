"""`GrammarData`: a grammar as frozen records, with what follows from them alone.

Every room below the front takes and gives it; :class:`~pdacon.Grammar` has it, with the ways in and the questions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from pdacon.base.languages import SourceLanguage, has_bnf_rules
from pdacon.grammar.flat import FlatProductions
from pdacon.grammar.labels import Label
from pdacon.grammar.model import (
    Definition,
    GrammarOptions,
    Import,
    Island,
    Layout,
    Nonterminal,
    Pattern,
    Production,
    Terminal,
    Values,
)
from pdacon.regular.records import Automaton, TextSet

_LONGEST = 80  # Repetitions nest; longer ones are shown as (...), so that a description stays one readable line.
_DEEPEST = 4
_NAME = re.compile(r"\w+")  # in the name of a template's use there are several

AnyGrammar = TypeVar("AnyGrammar", bound="GrammarData")


@dataclass(frozen=True)
class GrammarData:
    """A grammar as data: checked records, and what follows from them alone.

    Symbol ids: with T terminals, 0..T-1 are :attr:`terminals`, T is ``$END`` and T+1+k is ``nonterminals[k]``.

    Raises
    ------
    ValueError
        If a symbol id is out of range or names the wrong kind of symbol.
    """

    # In Lark's order; ``%declare``'d terminals come last.
    terminals: tuple[Terminal, ...]
    nonterminals: tuple[Nonterminal, ...]
    productions: tuple[Production, ...]
    ignore: frozenset[int]  # Ids of the ``%ignore``'d terminals
    starts: tuple[int, ...]  # Symbol ids of the start rules, in the order of ``options.start``
    options: GrammarOptions
    source: str  # The text that it was made from, in ``language``
    source_path: str | None = None  # Where the text comes from
    # Indentation, if ``options.postlex`` says that newlines make any. By a factory, like the next: a default would be
    # an attribute of the class, and hide what is yet to be read.
    layout: Layout | None = field(default_factory=lambda: None)
    # Rules, templates and terminals that nothing leads to: no start, nothing ignored, no other of these. Lark drops
    # them, and what only they need.
    unused: tuple[Definition, ...] = field(default_factory=tuple)
    # What other files define, as far as it was found there. Spans of it are in those files, unless they are packaged:
    # then it is the place of the ``%import``.
    imports: tuple[Import, ...] = field(default_factory=tuple)
    # Path and text of each file with a definition in ``imports``
    imported_files: tuple[tuple[str, str], ...] = field(default_factory=tuple)
    # What a JSON Schema asks for that this grammar, made with ``lax=True``, does not enforce, what it says that has no
    # meaning in JSON Schema, and what is narrower than it may be meant, such as a member that never comes: the JSON
    # pointer of the schema, the keyword, and why. Of a type the path, such as ``Order.items[].price``, what is not
    # enforced, such as a validator, and why.
    unenforced: tuple[tuple[str, str, str], ...] = ()
    language: SourceLanguage = "Lark"  # "EBNF", "llguidance", "several grammars", "structural tag"}
    labels: tuple[Label, ...] = ()  # The sets of tokens that patterns ask for, with ``extensions=True``
    within: tuple[TextSet, ...] = ()  # Sets that every sentence is in, beside what the rules say: see ``&``
    # Grammars that `compose` put into this one, where other text is ignored in them than outside.
    islands: tuple[Island, ...] = ()
    # What makes instances of texts and texts of instances, of a type, of functions or tools. No file has it.
    values: Values | None = field(default=None, metadata={"stored": False})
    # The grammars that this one was made of, of `compose` and `escaped`. No file has it.
    parts: Any = field(default=None, metadata={"stored": False})

    def __post_init__(self) -> None:
        end, count = self.end, self.end + 1 + len(self.nonterminals)
        for k, production in enumerate(self.productions):
            if not end < production.lhs < count:
                raise ValueError(f"production {k}: lhs {production.lhs} is not a nonterminal ({end + 1}..{count - 1})")
            for symbol in production.rhs:
                if not 0 <= symbol < count or symbol == end:
                    raise ValueError(f"production {k}: {symbol} is not a terminal or nonterminal (0..{count - 1})")
        if not self.starts or any(not end < start < count for start in self.starts):
            raise ValueError(f"starts {self.starts}: at least one, each a nonterminal ({end + 1}..{count - 1})")
        if any(not 0 <= terminal < end for terminal in self.ignore):
            raise ValueError(f"ignore {sorted(self.ignore)}: not terminals (0..{end - 1})")
        if not self.ignore.issuperset(self.border_pieces.values()):
            raise ValueError("a terminal stands in the place of one that is not ignored")
        for island in self.islands:
            if not 0 <= island.first <= island.last <= len(self.productions) or not island.ignore <= self.ignore:
                raise ValueError(f"{island}: productions or ignored terminals that the grammar does not have")
        if self.layout is not None:
            layout = self.layout
            ids = {layout.newline, layout.indent, layout.dedent, *layout.opens, *layout.closes, *layout.closers}
            if min(ids) < 0 or max(ids) >= end:
                raise ValueError(f"layout: not terminals (0..{end - 1}): {sorted(ids - set(range(end)))}")

    @classmethod
    def of_flat(cls: type[AnyGrammar], flat: FlatProductions, **fields: Any) -> AnyGrammar:
        """A grammar whose productions, all of rules called as their nonterminals, become records when asked for.

        The arrays are not checked here; who builds tables of them does.
        """
        grammar = cls(productions=(), **fields)
        del vars(grammar)["productions"]
        vars(grammar)["flat_productions"] = flat
        return grammar

    @classmethod
    def deferred(cls: type[AnyGrammar], load: Callable[[], GrammarData], **given: Any) -> AnyGrammar:
        """A grammar whose fields but those that are given are read when the first of them is asked for.

        Parameters
        ----------
        load : callable
            Without arguments: returns the whole grammar. It may be called from several threads at once.
        **given
            Fields, and perhaps the ``fingerprint``. All that have a default and are not made by a factory.
        """
        grammar = cls.__new__(cls)
        vars(grammar).update(given, _load=load)
        return grammar

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            known = vars(self)
            if name == "productions" and "flat_productions" in known:
                return known.setdefault("productions", self._records())
            if name in _FIELDS and "_load" in known:
                self._fill()
                return known[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fill(self) -> None:
        """Read what is deferred, if anything is."""
        known = vars(self)
        if (load := known.get("_load")) is not None:
            for name, value in vars(load()).items():
                known.setdefault(name, value)
            known.pop("_load", None)

    def __getstate__(self) -> dict[str, Any]:
        self._fill()
        return vars(self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    def _records(self) -> tuple[Production, ...]:
        flat, base = self.flat_productions, self.end + 1
        symbols = flat.rhs.tolist()
        orders: Counter[int] = Counter()
        records = []
        for lhs, (begin, end) in zip(flat.lhs.tolist(), pairwise(flat.offset.tolist()), strict=True):
            rule = self.nonterminals[lhs - base].name
            records.append(Production(lhs, tuple(symbols[begin:end]), 0, rule, None, orders[lhs], None))
            orders[lhs] += 1
        return tuple(records)

    @cached_property
    def flat_productions(self) -> FlatProductions:
        """The productions as arrays."""
        return FlatProductions.of(self.productions)

    def __hash__(self) -> int:
        return hash(self.source)  # Options may hold what has no hash, and the text tells grammars apart.

    def __repr__(self) -> str:
        made_of = {
            "Lark": "text",
            "JSON Schema": "a JSON Schema",
            "YAML": "a JSON Schema, for YAML",
            "Python values": "a Python type",
            "GBNF": "GBNF",
            "EBNF": "EBNF",
            "llguidance": "a grammar of llguidance",
            "several grammars": "several grammars",
            "structural tag": "a structural tag",
            "SQL schema": "tables of SQL",
        }
        if self.values is not None and self.source_path is None:
            return f"<Grammar of {self.values.name}{''.join(f' & {texts.name}' for texts in self.within)}>"
        origin = self.source_path or f"from {made_of.get(self.language, self.source)}"
        origin += "".join(f" & {texts.name}" for texts in self.within)
        return (
            f"<Grammar {origin}: {len(self.terminals)} terminals, "
            f"{len(self.nonterminals)} nonterminals, {len(self.productions)} productions>"
        )

    @cached_property
    def ignored_outside(self) -> frozenset[int]:
        """The terminals that are ignored outside of all islands."""
        return self.ignore.difference(*(island.ignore for island in self.islands))

    @cached_property
    def border_pieces(self) -> Mapping[int, int]:
        """The terminals that stand for pieces of ignored ones, with these; -1: the grammar does not have it."""
        number = {terminal.name: k for k, terminal in enumerate(self.terminals)}
        return {k: number.get(t.in_place_of.name, -1) for k, t in enumerate(self.terminals) if t.in_place_of}

    @property
    def end(self) -> int:
        """Symbol id of ``$END``, which is the number of terminals."""
        return len(self.terminals)

    def symbol_name(self, symbol: int) -> str:
        """Lark's name of a symbol: a terminal's, ``$END`` or a nonterminal's."""
        if symbol < 0:
            raise IndexError(f"symbol {symbol} is negative")
        if symbol < self.end:
            return self.terminals[symbol].name
        return "$END" if symbol == self.end else self.nonterminals[symbol - self.end - 1].name

    @cached_property
    def names_in_imported_files(self) -> Mapping[str, str]:
        """For each name that Lark has made up for what an import brings along, the name that is shown instead.

        It is the name in the imported file, with the path before it where it stands for something else too. A rule of
        GBNF or EBNF has a name there that Lark need not take.
        """
        if has_bnf_rules(self.language):
            rules = {production.lhs: production.rule for production in self.productions}
            named = ((one.name, rules.get(self.end + 1 + k, one.name)) for k, one in enumerate(self.nonterminals))
            return {name: rule for name, rule in named if rule != name == lark_name(rule)}
        made_up = {one.name: one.original for one in self.imports if one.original is not None}
        others = {one.name for one in self.terminals} | {one.name for one in self.nonterminals}
        taken = Counter([*made_up.values(), *(others - made_up.keys())])
        return {
            name: original if taken[original] == 1 else f"{_folder(name, original)}{original}"
            for name, original in made_up.items()
        }

    def describe_symbol(self, symbol: int) -> str:
        """A symbol as its author writes it: a name, a literal such as ``"{"``, or a repetition such as ``(pair)+``."""
        return _symbol(self, symbol, 0)

    def describe_name(self, name: str) -> str:
        """A name as its author writes it; of what an import brings along, the name that it has in its file.

        With the path before it, as in ``%import``, where that name stands for something else too.
        """
        names = self.names_in_imported_files
        if has_bnf_rules(self.language):
            return names.get(name, name)
        return _NAME.sub(lambda match: names.get(match.group(), match.group()), name) if names else name

    def describe_production(self, production: int) -> str:
        """A production in the author's words: ``object: "{" pair "}"``; an empty right side shows as nothing."""
        p = self.productions[production]
        body = _sequence(self, p.rhs, 0)
        alias = f" -> {p.alias}" if p.alias else ""
        return f"{self.describe_symbol(p.lhs)}:{' ' if body else ''}{body}{alias}"

    def describe_item(self, production: int, dot: int) -> str:
        """A production with a dot in its right side: ``expr: expr "+" • expr``."""
        p = self.productions[production]
        words = [self.describe_symbol(symbol) for symbol in p.rhs]
        return f"{self.describe_symbol(p.lhs)}: {' '.join([*words[:dot], '•', *words[dot:]])}"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the meaning: all but places, texts and what only shapes Lark's trees."""
        options = self.options
        meaning: Mapping[str, Any] = {
            "terminals": [[t.name, t.priority, t.pattern and _meaning_of(t.pattern)] for t in self.terminals],
            "nonterminals": [n.name for n in self.nonterminals],
            "productions": [[p.lhs, p.rhs, p.priority] for p in self.productions],
            "ignore": sorted(self.ignore),
            "starts": self.starts,
            "options": [
                options.lexer,
                options.conflicts,
                options.lookahead,
                repr(options.postlex),
                int(options.g_regex_flags),
                options.use_bytes,
            ],
            **({"labels": [[label.name, label.is_token] for label in self.labels]} if options.extensions else {}),
        }
        if self.islands:
            meaning = {**meaning, "islands": [[one.first, one.last, sorted(one.ignore)] for one in self.islands]}
        if self.border_pieces:
            meaning = {**meaning, "border pieces": sorted(self.border_pieces.items())}
        if self.layout is not None and (self.layout.closers or self.layout.escaped):
            meaning = {**meaning, "layout": _meaning_of_layout(self.layout)}
        if self.within:
            meaning = {**meaning, "within": [_meaning_of_set(one) for one in self.within]}
        return hashlib.sha256(json.dumps(meaning, separators=(",", ":")).encode()).hexdigest()


def lark_name(rule: str) -> str:
    """The name of a rule of another language with a sign that Lark takes in the place of each one that it does not."""
    plain = re.sub(r"\W", "_", rule.lower(), flags=re.ASCII)
    return plain if plain[0].isalpha() else f"rule_{plain}"


_FIRST = ("source", "options", "source_path")  # the fields that tell most grammars apart
_FIELDS = (*_FIRST, *(one.name for one in fields(GrammarData) if one.name not in _FIRST))


def _meaning_of_set(texts: TextSet) -> str:
    return hashlib.sha256(texts.offset + texts.lo + texts.hi + texts.target + texts.accepting).hexdigest()


def _meaning_of_layout(layout: Layout) -> list[Any]:
    """Of one that is no whole grammar's: its options say nothing of it."""
    sets = [sorted(one) for one in (layout.opens, layout.closes, layout.closers)]
    return [layout.newline, layout.indent, layout.dedent, *sets, layout.tab_len, layout.indent_len, layout.escaped]


def _meaning_of(pattern: Pattern) -> list[Any]:
    own = pattern.automaton
    arrays = [] if own is None else [hashlib.sha256(_bytes_of(own)).hexdigest()]
    meant = [] if pattern.meant is None else [_meaning_of(pattern.meant)]
    return [pattern.kind, pattern.value, sorted(pattern.flags), *arrays, *meant]


def _bytes_of(automaton: Automaton) -> bytes:
    looks = automaton.entries + automaton.look_behind if automaton.look_behind else b""
    return automaton.kind + automaton.offset + automaton.lo + automaton.hi + automaton.target + looks


def _folder(name: str, original: str) -> str:
    """The path that is in a made-up name: ``lib.amb.`` of ``lib__amb__N``; a part of an inner grammar has none."""
    path, own = name.lstrip("_"), original.lstrip("_")
    return path.removesuffix(own).replace("__", ".") if path.endswith(own) else ""


def _symbol(grammar: GrammarData, symbol: int, depth: int) -> str:
    """A name, a literal such as ``"{"``, or what a helper repeats, such as ``("," pair)+``."""
    if symbol < grammar.end:
        terminal = grammar.terminals[symbol]
        return terminal.literal or grammar.describe_name(terminal.name)
    name = grammar.describe_name(grammar.symbol_name(symbol))
    if symbol == grammar.end or not grammar.nonterminals[symbol - grammar.end - 1].repeats:
        return name
    if depth == _DEEPEST:
        return "(...)"
    # x+ is x | helper x: what is repeated are the alternatives that do not begin with the helper itself.
    right_sides = [production.rhs for production in grammar.productions if production.lhs == symbol]
    bodies = [rhs for rhs in right_sides if symbol not in rhs]
    shown = " | ".join(_sequence(grammar, body, depth + 1) for body in bodies)
    if len(bodies) != 1 or len(bodies[0]) != 1:
        shown = f"({shown})"
    if len(shown) > _LONGEST:
        shown = "(...)"
    return shown if len(bodies) == len(right_sides) else f"{shown}+"


def _sequence(grammar: GrammarData, symbols: Iterable[int], depth: int) -> str:
    words = []
    for symbol, run in groupby(symbols):
        word, count = _symbol(grammar, symbol, depth), len(list(run))
        words.extend([f"{word}~{count}"] if count > 2 else [word] * count)
    return " ".join(words)


def as_written_in(grammar: AnyGrammar, path: str | None) -> AnyGrammar:
    """The same grammar, described in the names that an imported file has for what it defines itself.

    ``%import .lib.expr -> e`` gives ``expr`` another name here; what is to be written in the file has to use its own.
    """
    text = dict(grammar.imported_files).get(path or "")
    if text is None:
        return grammar
    lines = text.split("\n")
    own = {
        one.name: lines[one.definition.line - 1][one.definition.column - 1 : one.definition.end_column - 1]
        for one in grammar.imports
        if one.definition.path == path
    }
    view = replace(grammar)
    view.__dict__["names_in_imported_files"] = {**grammar.names_in_imported_files, **own}
    return view
