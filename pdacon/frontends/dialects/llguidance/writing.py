"""A text that has been read -> a text in Lark's language, with each line where it was, and the sets that it names.

A place is kept wherever what is written is no longer than what stood there; the rest of a line moves on else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pdacon.errors import GrammarSyntaxError, Span
from pdacon.frontends.dialects.cursor import Cursor
from pdacon.frontends.dialects.llguidance.terminals import EMPTY, Terminals
from pdacon.frontends.dialects.llguidance.tree import (
    Both,
    Choice,
    Chunks,
    Group,
    Literal,
    Name,
    Not,
    Range,
    Regex,
    Repeat,
    Rule,
    Schema,
    Sequence,
    Source,
    Special,
    Tree,
    walk,
)
from pdacon.regular.regular_set import RegularSet

_PLAIN = re.compile(r'"(?:[^"\\]|\\["\\nrtf]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2})*"')


@dataclass(slots=True)
class Written:
    """A text for Lark, in which names stand for sets of texts, and what these are.

    Attributes
    ----------
    lines : str
        The author's text with names in it.
    sets : dict of str to RegularSet
        What each name stands for, without the empty text.
    shown : dict of str to str
        What the author calls it: the name of a terminal, or the pattern.
    places : dict of str to (int, int)
        Where that stands: the definition, or the first use.
    named : set of str
        Those that are the author's names.
    lazy : set of str
        Those that end as soon as they can.
    words : set of str
        Case-insensitive string literals.
    parts : mapping of str to tuple of str
        Sets that are several terminals, and the names of these.
    rules : dict of str to str
        For each set with parts the rule that stands for it in the lines.
    impossible : list of (str, Span)
        What has no text, and where it stands: `NOTHING` is there in the lines.
    """

    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lines: str = ""
    sets: dict[str, RegularSet] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    lazy: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    rules: dict[str, str] = field(default_factory=dict)
    impossible: list[tuple[str, Span]] = field(default_factory=list)

    def text(self, sets: Mapping[str, RegularSet], never: Collection[str]) -> str:
        """The whole text, with a definition of each name after the author's lines.

        Parameters
        ----------
        sets : mapping of str to RegularSet
            Those of the text, and their parts.
        never : collection of str
            Those for which something must not follow, which is `group_behind`.
        """
        rules = [f"{self.rules[name]}: {' | '.join(parts)}" for name, parts in self.parts.items()]
        patterns = [
            f"{name}: /(?P<{group_of(name)}>){f'(?!(?P<{group_behind(name)}>))' if name in never else ''}/"
            for name in sets
            if name not in self.parts
        ]
        return "\n".join([self.lines, *rules, *patterns, ""])


NOTHING = "/(?!)x/"
"""What stands for no text: Lark refuses a pattern that is as wide as the empty text."""


def new_name(letter: str, taken: Collection[str]) -> str:
    """A letter and the first number with which it is no name yet."""
    return next(name for k in range(len(taken) + 1) if (name := f"{letter}{k + 1}") not in taken)


def group_of(name: str) -> str:
    """The group that stands for a set in a pattern: a name that has no other meaning there."""
    return f"{name}_"


def group_behind(name: str) -> str:
    """The group that stands for what must not follow a set."""
    return f"{name}_N"


def write(source: Source, terminals: Terminals, parts: Mapping[str, tuple[str, ...]]) -> Written:
    """The text for Lark; ``parts`` are the names of several terminals for some sets.

    Raises
    ------
    GrammarSyntaxError
        A name is not defined, or stands where it cannot.
    UnsupportedGrammarError, LimitExceededError
        A terminal has what cannot be had.
    """
    return _Writer(source, terminals, parts).whole()


class _Writer:
    def __init__(self, source: Source, terminals: Terminals, parts: Mapping[str, tuple[str, ...]]) -> None:
        self._source, self._terminals, self._cursor = source, terminals, Cursor(source.text, source.path)
        self._written = Written(parts)
        self._of_set: dict[RegularSet, str] = {}
        self._names = _lark_names(source)
        self._imported = source.imported()

    def whole(self) -> Written:
        """The whole text; of terminals, the string literals keep their definitions."""
        source, written = self._source, self._written
        edits: list[tuple[int, int, str]] = [(at, end, "") for at, end in source.blanks]
        edits += [(common.at, common.end, "") for common in source.imports]
        used: set[str] = set()
        for rule in source.rules.values():
            edits += self._rule(rule)
            if not _is_lexeme(rule):
                used |= {one.name for one in walk(rule.body) if isinstance(one, Name)}
        for name, rule in source.terminals.items():
            text = _word(rule, source.text) if name in used else ""
            edits.append((rule.at, rule.end, f"{self._names.get(name, name)}: {text}" if text else ""))
        for ignored in source.ignored:
            texts = self._terminals.of(ignored.body) - EMPTY
            symbol = self._symbol(texts, ignored.body) if texts else ""
            edits.append((ignored.at, ignored.end, f"%ignore {symbol}" if symbol else ""))
        written.lines = _edited(source.text, 0, len(source.text), edits)
        return written

    def _rule(self, rule: Rule) -> Iterator[tuple[int, int, str]]:
        own = self._names.get(rule.name.name)
        if own is not None:
            yield rule.name.at, rule.name.end, own
        if rule.options is not None:
            yield *rule.options, ""
        if _is_lexeme(rule):
            texts = self._terminals.of_lazy(rule)
            rest = texts - EMPTY
            symbol = self._symbol(rest, rule.name) if rest else ""
            if rest:
                self._written.lazy.add(self._of_set[rest])
            yield rule.body.at, rule.body.end, f"[{symbol}]" if symbol and rest != texts else symbol
        else:
            yield from self._edits(rule.body)

    def _edits(self, tree: Tree) -> Iterator[tuple[int, int, str]]:
        """What is written in place of parts of a rule, from left to right."""
        if isinstance(tree, Schema):
            return
        if isinstance(tree, Both):
            message = "& joins terminals only; define one in capitals, and use it here"
            raise GrammarSyntaxError(message, self._cursor.span(tree.at, tree.end))
        if isinstance(tree, Sequence):
            for part in tree.parts:
                yield from self._edits(part)
            if tree.alias is not None and "-" in tree.alias.name:
                yield tree.alias.at, tree.alias.end, tree.alias.name.replace("-", "_")
        elif isinstance(tree, Choice):
            yield from self._distinct(tree)
        elif isinstance(tree, Group):
            if tree.optional:  # Lark keeps places for what is in brackets, and then refuses what could be in either
                yield tree.at, tree.at + 1, "(("
            yield from self._edits(tree.body)
            if tree.optional:
                yield tree.end - 1, tree.end, ")?)"
        elif isinstance(tree, Repeat):
            yield from self._repeated(tree)
        else:
            leaf, may_be_empty = self._leaf(tree)
            written = self._source.text[tree.at : tree.end]
            if may_be_empty:
                leaf = f"({leaf})?" if leaf else "()"
            if leaf != written:
                yield tree.at, tree.end, leaf

    def _distinct(self, tree: Choice) -> Iterator[tuple[int, int, str]]:
        """The options, each way to read one once: Lark refuses equal ones, for llguidance they mean nothing."""
        seen: set[Way] = set()
        end = tree.at
        for option in tree.options:
            ways = self._ways(option)
            new = [way for way in ways if way not in seen]
            if len(new) == len(ways):
                yield from self._edits(option)
            elif new:
                yield option.at, option.end, " | ".join(" ".join(way) or "()" for way in new)
            else:
                yield end, option.end, ""
            seen.update(ways)
            end = option.end

    def _ways(self, tree: Tree) -> list[Way]:
        """The alternatives that Lark makes of an option, as far as parentheses and an optional part hide them."""
        if isinstance(tree, Choice):
            return list(dict.fromkeys(way for option in tree.options for way in self._ways(option)))
        if isinstance(tree, Group):
            return list(dict.fromkeys([*self._ways(tree.body), *([()] if tree.optional else [])]))
        if isinstance(tree, Repeat) and (tree.least, tree.most) == (0, 1):
            return list(dict.fromkeys([*self._ways(tree.body), ()]))
        if isinstance(tree, Sequence) and len(tree.parts) == 1:
            return self._ways(tree.parts[0])
        parts = tree.parts if isinstance(tree, Sequence) else (tree,)
        return [tuple(_edited(self._source.text, one.at, one.end, list(self._edits(one))).strip() for one in parts)]

    def _repeated(self, tree: Repeat) -> Iterator[tuple[int, int, str]]:
        body, text = tree.body, self._source.text
        least, most = tree.least, tree.most
        inner = list(self._edits(body))
        if not isinstance(body, Group | Schema | Special):
            leaf, may_be_empty = self._leaf(body)
            if may_be_empty:
                if not leaf:
                    yield tree.at, tree.end, "()"
                    return
                least, inner = 0, [(body.at, body.end, leaf)]
        written = _edited(text, body.at, body.end, inner).rstrip()
        if (least, most) in _SIGNS:
            sign = _SIGNS[least, most]
        elif most is None:
            yield tree.at, tree.end, f"({written}~{least} {written}*)"
            return
        else:
            sign = f"~{least}" if least == most else f"~{least}..{most}"
        yield from inner
        if sign != text[tree.sign : tree.end]:
            yield tree.sign, tree.end, sign

    def _leaf(self, tree: Tree) -> tuple[str, bool]:
        """What Lark reads for one symbol, empty if it has no text but the empty one; and whether it has that, too."""
        if isinstance(tree, Special):
            return f"/(?P<TOKEN>{_in_pattern(tree.name)})/", False
        if isinstance(tree, Name):
            if tree.name in self._source.rules:
                return self._names.get(tree.name, tree.name), False
            rule = self._source.terminals.get(tree.name)
            if rule is not None and _word(rule, self._source.text):
                return self._names.get(tree.name, tree.name), False
            texts = self._terminals.named(tree)
        elif isinstance(tree, Literal) and not (tree.any_case and tree.value):
            return (_literal(tree, self._source.text) if tree.value else ""), not tree.value
        else:
            assert isinstance(tree, Literal | Regex | Range | Chunks | Not)
            texts = self._terminals.of(tree)
        if not texts:
            written, span = self._source.text[tree.at : tree.end], self._cursor.span(tree.at, tree.end)
            self._written.impossible.append((f"no text is in {written}", span))
            return NOTHING, False
        rest = texts - EMPTY
        if not rest:
            return "", True
        return (self._named(rest, tree) if isinstance(tree, Name) else self._symbol(rest, tree)), rest != texts

    def _named(self, texts: RegularSet, name: Name) -> str:
        """What stands for a terminal."""
        own = self._names.get(name.name, name.name)
        imported = self._imported.get(name.name)
        place = self._source.terminals[name.name].name if imported is None else imported[0]
        self._written.named.add(own)
        return self._noted(own, texts, name.name, place)

    def _symbol(self, texts: RegularSet, written: Tree) -> str:
        """What stands for texts that have no name: the same for the same texts."""
        if texts not in self._of_set:
            self._of_set[texts] = self._new_name("T")
            if isinstance(written, Literal):
                self._written.words.add(self._of_set[texts])
        shown = " ".join(self._source.text[written.at : written.end].split())
        return self._noted(self._of_set[texts], texts, shown, written)

    def _noted(self, own: str, texts: RegularSet, shown: str, place: Tree) -> str:
        written = self._written
        if own not in written.sets:
            written.sets[own], written.shown[own], written.places[own] = texts, shown, (place.at, place.end)
            if own in written.parts:
                written.rules[own] = self._new_name("p")
        return written.rules.get(own, own)

    def _new_name(self, letter: str) -> str:
        source, written = self._source, self._written
        taken = {*source.terminals, *source.rules, *self._imported, *written.sets, *self._names.values()}
        taken |= {*written.rules.values(), *(part for parts in written.parts.values() for part in parts)}
        return new_name(letter, taken)


Way: TypeAlias = tuple[str, ...]
"""What is written for the parts of an alternative."""
_SIGNS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def _word(rule: Rule, text: str) -> str:
    """The string literal that a terminal is, as Lark reads it; empty if it is something else."""
    body = rule.body
    return _literal(body, text) if isinstance(body, Literal) and body.value and not body.any_case else ""


def _is_lexeme(rule: Rule) -> bool:
    """Whether a rule is one lexeme, because of its options."""
    return rule.lazy or rule.suffix is not None


def _edited(text: str, begin: int, end: int, edits: list[tuple[int, int, str]]) -> str:
    """A part of a text with others in place of some of its parts; lines stay lines."""
    pieces = []
    at = begin
    for first, last, new in sorted(edits):
        old = text[first:last]
        lines = old.count("\n")
        blanks = " " * max(0, len(old.rpartition("\n")[2]) - (0 if lines else len(new)))
        # A line's end would end the rule that goes on behind: it is continued. A definition's own end may stand.
        pieces += [text[at:first], new, ("\\\n" if new and _goes_on(text, last) else "\n") * lines, blanks]
        at = last
    return "".join([*pieces, text[at:end]])


def _goes_on(text: str, at: int) -> bool:
    """Whether something stands after a place in its line."""
    return re.match(r"[ \t]*(?:\r?\n|#|//|$)", text[at:]) is None


def _lark_names(source: Source) -> Mapping[str, str]:
    """Names for those that have a hyphen, each given once."""
    names = [*source.rules, *source.terminals, *source.imported()]
    taken = {name for name in names if "-" not in name}
    changed = {}
    for name in names:
        if "-" in name:
            plain = name.replace("-", "_")
            while plain in taken:
                plain += "_"
            taken.add(plain)
            changed[name] = plain
    return changed


def _literal(tree: Literal, text: str) -> str:
    """A string literal as Lark reads it: as the author wrote it, if that is the same."""
    written = text[tree.at : tree.end]
    if _PLAIN.fullmatch(written):
        return written
    escaped = "".join(
        character if character.isprintable() and character not in '"\\' else f"\\U{ord(character):08x}"
        for character in tree.value
    )
    return f'"{escaped}"'


def _in_pattern(name: str) -> str:
    """The name of a special token within a group."""
    return re.sub(r"[/)\\]", lambda found: "\\" + found[0], name)
