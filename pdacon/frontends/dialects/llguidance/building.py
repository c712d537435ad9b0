"""A text that has been read -> rules over symbols and sets of texts that some of these are -> the grammar of both."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pdacon.errors import GrammarSyntaxError, Span
from pdacon.frontends.builder import (
    Alternative,
    Builder,
    Expression,
    Unnamed,
    set_pattern,
    token,
    written,
)
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
)
from pdacon.frontends.insertion import MADE_UP, Schemas
from pdacon.grammar import GrammarData, Pattern, Terminal
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.regular.regular_set import RegularSet

_PLAIN = re.compile(r'"(?:[^"\\]|\\["\\nrtf]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2})*"')
_NOTHING: InOrder[str] = InOrder(())

NOTHING = Pattern("re", "(?!)x", frozenset(), "(?!)x", 1, 1)
"""What no text matches: Lark refuses a pattern that is as wide as the empty text."""


@dataclass(slots=True)
class Built:
    """Rules in which names stand for sets of texts, and what these are.

    Attributes
    ----------
    parts : mapping of str to tuple of str
        Sets that are several terminals, and the names of these.
    rules : dict of str to (str, list of Alternative, Span)
        By their names, with the signs before the name and the place of the name.
    words : dict of str to str
        The texts of terminals that are string literals.
    ignored : set of str
        The names of terminals.
    sets : dict of str to RegularSet
        What each name stands for, without the empty text.
    shown : dict of str to str
        What the author calls it: the name of a terminal, or the pattern.
    spans : dict of str to Span
        Where that stands: the definition, or the first use.
    named : set of str
        Those that are the author's names.
    lazy : set of str
        Those that end as soon as they can.
    any_case : set of str
        Case-insensitive string literals.
    impossible : dict of Span to str
        Where something has no text, and what that is: `NOTHING` is there in the rules.
    """

    source: Source
    schemas: Schemas
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rules: dict[str, tuple[str, list[Alternative], Span]] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)
    sets: dict[str, RegularSet] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    lazy: set[str] = field(default_factory=set)
    any_case: set[str] = field(default_factory=set)
    impossible: dict[Span, str] = field(default_factory=dict)

    def grammar(self, sets: Mapping[str, RegularSet], never: Mapping[str, RegularSet]) -> GrammarData:
        """The grammar.

        Parameters
        ----------
        sets : mapping of str to RegularSet
            Those of the rules, and their parts.
        never : mapping of str to RegularSet
            For some of them what must not follow.
        """
        builder = Builder()
        for name, (_, alternatives, span) in self.rules.items():
            builder.rule(name, alternatives, span)
        for name, word in self.words.items():
            builder.terminal(Terminal(name, Pattern.of_text(word), 0, self.spans[name]))
        for name, texts in sets.items():
            if name not in self.parts:
                shown = None if name in self.named else self.shown[name]
                builder.terminal(Terminal(name, set_pattern(texts, never.get(name)), 0, self.spans[name], shown))
        for name in self.schemas.grammars:
            builder.terminal(Terminal(name.upper() + MADE_UP, None, 0, self.spans[name]))
        outer = builder.built(self.source.text, self.source.path, self.ignored)
        return self.schemas.inserted(outer, self._text()) if self.schemas.grammars else outer

    def _text(self) -> str:
        """The rules in Lark's language, over terminals that are only declared."""
        rules = [
            f"{signs}{name}: {' | '.join(map(written, alternatives))}"
            for name, (signs, alternatives, _) in self.rules.items()
        ]
        words = [f"{name}: {_quoted(word)}" for name, word in self.words.items()]
        declared = [*self.sets, *(part for parts in self.parts.values() for part in parts)]
        declared += [name.upper() + MADE_UP for name in self.schemas.grammars]
        return "\n".join([*rules, *words, f"%declare {' '.join(declared)}", ""])


def build(source: Source, terminals: Terminals, schemas: Schemas, parts: Mapping[str, tuple[str, ...]]) -> Built:
    """The rules; ``parts`` are the names of several terminals for some sets.

    Raises
    ------
    GrammarSyntaxError
        A name is not defined, or stands where it cannot.
    UnsupportedGrammarError, LimitExceededError
        A terminal has what cannot be had.
    """
    return _Building(source, terminals, schemas, parts).whole()


class _Building:
    def __init__(
        self, source: Source, terminals: Terminals, schemas: Schemas, parts: Mapping[str, tuple[str, ...]]
    ) -> None:
        self._source, self._terminals, self._cursor = source, terminals, Cursor(source.text, source.path)
        self._built = Built(source, schemas, parts)
        self._of_set: dict[RegularSet, str] = {}
        self._rule_of: dict[str, str] = {}  # for each set with parts the rule that stands for it
        self._names = _lark_names(source)
        self._imported = source.imports
        self._used: set[str] = set()  # the names in rules

    def whole(self) -> Built:
        source, built = self._source, self._built
        for rule in source.rules.values():
            signs = source.text[rule.at : rule.name.at].strip()
            built.rules[self._own(rule.name.name)] = signs, self._rule(rule), self._span(rule.name)
        for name, rule in source.terminals.items():
            word = _word(rule)
            if word is not None and name in self._used:
                built.words[self._own(name)], built.spans[self._own(name)] = word, self._span(rule.name)
        for ignored in source.ignored:
            texts = self._terminals.of(ignored) - EMPTY
            if texts:
                built.ignored.add(self._symbol(texts, ignored))
        for own, rule_name in self._rule_of.items():
            span = built.spans[own]
            built.rules[rule_name] = "", [Alternative((part,), None, span) for part in built.parts[own]], span
        for name in built.schemas.grammars:
            span = built.spans[name]
            built.rules[name] = "?", [Alternative((name.upper() + MADE_UP,), None, span)], span
        return built

    def _span(self, tree: Tree) -> Span:
        return self._cursor.span(tree.at, tree.end)

    def _own(self, name: str) -> str:
        return self._names.get(name, name)

    def _rule(self, rule: Rule) -> list[Alternative]:
        body = rule.body
        if not _is_lexeme(rule):
            return [self._alternative(one, rule) for one in (body.options if isinstance(body, Choice) else (body,))]
        texts = self._terminals.of_lazy(rule)
        rest = texts - EMPTY
        if not rest:
            return [Alternative((), None, self._span(body))]
        symbol = self._symbol(rest, rule.name)
        self._built.lazy.add(self._of_set[rest])
        left_out = [] if rest == texts else [Alternative((), None, self._span(body))]
        return [Alternative((symbol,), None, self._span(body)), *left_out]

    def _alternative(self, tree: Tree, rule: Rule) -> Alternative:
        alias = tree.alias if isinstance(tree, Sequence) and not rule.name.name.startswith("_") else None
        items = tuple(map(self._expression, tree.parts)) if isinstance(tree, Sequence) else (self._expression(tree),)
        return Alternative(items, None if alias is None else alias.name.replace("-", "_"), self._span(tree))

    def _choice(self, tree: Tree) -> Expression:
        options = tree.options if isinstance(tree, Choice) else (tree,)
        return OneOf(tuple(InOrder(tuple(map(self._expression, self._parts(one)))) for one in options))

    def _parts(self, tree: Tree) -> tuple[Tree, ...]:
        """What an option in parentheses consists of."""
        if not isinstance(tree, Sequence):
            return (tree,)
        if tree.alias is not None:
            message = "an alias names a whole alternative of a rule, so it stands at its end and not within parentheses"
            raise GrammarSyntaxError(f"-> {tree.alias.name}: {message}", self._span(tree.alias))
        return tree.parts

    def _expression(self, tree: Tree) -> Expression:
        if isinstance(tree, Schema):
            return self._schema(tree)
        if isinstance(tree, Both):
            message = "& joins terminals only; define one in capitals, and use it here"
            raise GrammarSyntaxError(message, self._span(tree))
        if isinstance(tree, Group):
            choice = self._choice(tree.body)
            return OneOf((InOrder((OneOf((choice, _NOTHING)),)),)) if tree.optional else choice
        if isinstance(tree, Repeat):
            return self._repeated(tree)
        leaf, may_be_empty = self._leaf(tree)
        if leaf is None:
            return OneOf((_NOTHING,))
        return OneOf((OneOf((InOrder((leaf,)),)), _NOTHING)) if may_be_empty else leaf

    def _schema(self, tree: Schema) -> str:
        written = self._source.text[tree.at : tree.end]
        span = self._cursor.span(tree.at, tree.at + len("%json"))
        if not isinstance(tree.value, dict | bool):
            shown = written.removeprefix("%json").strip()
            raise GrammarSyntaxError(f"what follows %json is no JSON Schema: {shown:.40}; write an object", span)
        name = self._built.schemas.name(tree.value, written, span)
        self._built.spans.setdefault(name, span)
        return name

    def _repeated(self, tree: Repeat) -> Expression:
        least, most = tree.least, tree.most
        if isinstance(tree.body, Group | Schema | Special):
            item = self._expression(tree.body)
        else:
            leaf, may_be_empty = self._leaf(tree.body)
            if leaf is None:
                return OneOf((_NOTHING,))
            item, least = leaf, 0 if may_be_empty else least
        if (least, most) == (0, 1):
            return OneOf((item, _NOTHING))
        if most is None and least > 1:
            return OneOf((InOrder((Repeated(item, least, least), Repeated(item, 0, None))),))
        return Repeated(item, least, most)

    def _leaf(self, tree: Tree) -> tuple[str | Unnamed | None, bool]:
        """What stands for one symbol, None if it has no text but the empty one; and whether it has that, too."""
        if isinstance(tree, Special):
            return token(tree.name, self._span(tree)), False
        if isinstance(tree, Name):
            self._used.add(tree.name)
            rule = self._source.terminals.get(tree.name)
            if tree.name in self._source.rules or (rule is not None and _word(rule) is not None):
                return self._own(tree.name), False
            texts = self._terminals.named(tree)
        elif isinstance(tree, Literal) and not (tree.any_case and tree.value):
            if not tree.value:
                return None, True
            return Unnamed(Pattern.of_text(tree.value), _literal(tree, self._source.text), self._span(tree)), False
        else:
            assert isinstance(tree, Literal | Regex | Range | Chunks | Not)
            texts = self._terminals.of(tree)
        if not texts:
            written, span = self._source.text[tree.at : tree.end], self._span(tree)
            self._built.impossible[span] = f"no text is in {written}"
            return Unnamed(NOTHING, f"/{NOTHING.value}/", span), False
        rest = texts - EMPTY
        if not rest:
            return None, True
        return (self._named(rest, tree) if isinstance(tree, Name) else self._symbol(rest, tree)), rest != texts

    def _named(self, texts: RegularSet, name: Name) -> str:
        """What stands for a terminal."""
        own = self._own(name.name)
        imported = self._imported.get(name.name)
        place = self._source.terminals[name.name].name if imported is None else imported[0]
        self._built.named.add(own)
        return self._noted(own, texts, name.name, place)

    def _symbol(self, texts: RegularSet, written: Tree) -> str:
        """What stands for texts that have no name: the same for the same texts."""
        if texts not in self._of_set:
            self._of_set[texts] = self._new_name("T")
            if isinstance(written, Literal):
                self._built.any_case.add(self._of_set[texts])
        shown = " ".join(self._source.text[written.at : written.end].split())
        return self._noted(self._of_set[texts], texts, shown, written)

    def _noted(self, own: str, texts: RegularSet, shown: str, place: Tree) -> str:
        built = self._built
        if own not in built.sets:
            built.sets[own], built.shown[own], built.spans[own] = texts, shown, self._span(place)
            if own in built.parts:
                self._rule_of[own] = self._new_name("p")
        return self._rule_of.get(own, own)

    def _new_name(self, letter: str) -> str:
        source, built = self._source, self._built
        taken = {*source.terminals, *source.rules, *self._imported, *built.sets, *self._names.values()}
        taken |= {*self._rule_of.values(), *(part for parts in built.parts.values() for part in parts)}
        return new_name(letter, taken)


def new_name(letter: str, taken: Collection[str]) -> str:
    """A letter and the first number with which it is no name yet."""
    return next(name for k in range(len(taken) + 1) if (name := f"{letter}{k + 1}") not in taken)


def _word(rule: Rule) -> str | None:
    """The text that a terminal is, if it is a string literal."""
    body = rule.body
    return body.value or None if isinstance(body, Literal) and not body.any_case else None


def _is_lexeme(rule: Rule) -> bool:
    """Whether a rule is one lexeme, because of its options."""
    return rule.lazy or rule.suffix is not None


def _lark_names(source: Source) -> Mapping[str, str]:
    """Names for those that have a hyphen, each given once."""
    names = [*source.rules, *source.terminals, *source.imports]
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
    return written if _PLAIN.fullmatch(written) else _quoted(tree.value)


def _quoted(text: str) -> str:
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text)
    return f'"{escaped}"'
