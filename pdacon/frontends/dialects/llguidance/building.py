"""A text that has been read -> rules over symbols and sets of texts that some of these are -> the grammar of both."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from pdacon.errors import GrammarSyntaxError, Span
from pdacon.frontends.builder import Alternative, Builder, Expression, Unnamed, optional, set_pattern, token, written
from pdacon.frontends.dialects.llguidance import tree as nodes
from pdacon.frontends.dialects.llguidance.terminal_sets import EMPTY, Terminals
from pdacon.frontends.dialects.llguidance.tree import Body, Leaf, Name, Placed, Rule, Source, Tree, Written
from pdacon.frontends.insertion import MADE_UP, Schemas
from pdacon.grammar import GrammarData, Pattern, Terminal
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.regular import RegularSet

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
        self._source, self._terminals = source, terminals
        self._built = Built(source, schemas, parts)
        self._of_set: dict[RegularSet, str] = {}
        self._rule_of: dict[str, str] = {}  # for each set with parts the rule that stands for it
        self._names = _lark_names(source)
        self._used: set[str] = set()  # the names in rules

    def whole(self) -> Built:
        source, built = self._source, self._built
        for rule in source.rules.values():
            built.rules[self._own(rule.name.text)] = rule.signs, self._rule(rule), rule.name.span
        for name, rule in source.terminals.items():
            if rule.word is not None and name in self._used:
                built.words[self._own(name)], built.spans[self._own(name)] = rule.word, rule.name.span
        for ignored in source.ignored:
            texts = self._terminals.any_of(ignored.alternatives) - EMPTY
            if texts:
                built.ignored.add(self._symbol(texts, ignored))
        for own, rule_name in self._rule_of.items():
            span = built.spans[own]
            built.rules[rule_name] = "", [Alternative((part,), None, span) for part in built.parts[own]], span
        for name in built.schemas.grammars:
            span = built.spans[name]
            built.rules[name] = "?", [Alternative((name.upper() + MADE_UP,), None, span)], span
        return built

    def _own(self, name: str) -> str:
        return self._names.get(name, name)

    def _rule(self, rule: Rule) -> list[Alternative]:
        if not rule.is_lexeme:
            return [self._alternative(alternative, rule) for alternative in rule.body.alternatives]
        span = rule.body.span
        texts = self._terminals.of_lazy(rule)
        rest = texts - EMPTY
        if not rest:
            return [Alternative((), None, span)]
        symbol = self._symbol(rest, rule.name)
        self._built.lazy.add(self._of_set[rest])
        left_out = [] if rest == texts else [Alternative((), None, span)]
        return [Alternative((symbol,), None, span), *left_out]

    def _alternative(self, tree: Placed, rule: Rule) -> Alternative:
        alias = None if tree.alias is None or rule.name.text.startswith("_") else tree.alias.text.replace("-", "_")
        return Alternative(tuple(map(self._expression, tree.items)), alias, tree.span)

    def _expression(self, tree: Tree) -> Expression:
        if isinstance(tree, OneOf):
            return OneOf(tuple(map(self._expression, tree.items)))
        if isinstance(tree, InOrder):
            return InOrder(tuple(map(self._expression, tree.items)))
        if isinstance(tree, Repeated):
            return self._repeated(tree)
        if isinstance(tree, nodes.Schema):
            return self._schema(tree)
        leaf, may_be_empty = self._leaf(tree)
        if leaf is None:
            return OneOf((_NOTHING,))
        return optional(OneOf((InOrder((leaf,)),))) if may_be_empty else leaf

    def _schema(self, tree: nodes.Schema) -> str:
        span = replace(tree.span, end_line=tree.span.line, end_column=tree.span.column + len("%json"))
        if not isinstance(tree.value, dict | bool):
            shown = tree.text.removeprefix("%json").strip()
            raise GrammarSyntaxError(f"what follows %json is no JSON nodes.Schema: {shown:.40}; write an object", span)
        name = self._built.schemas.name(tree.value, tree.text, span)
        self._built.spans.setdefault(name, span)
        return name

    def _repeated(self, tree: Repeated[Leaf]) -> Expression:
        least, most = tree.least, tree.most
        if isinstance(tree.item, OneOf | InOrder | Repeated | nodes.Schema | nodes.Special):
            item = self._expression(tree.item)
        else:
            leaf, may_be_empty = self._leaf(tree.item)
            if leaf is None:
                return OneOf((_NOTHING,))
            item, least = leaf, 0 if may_be_empty else least
        if (least, most) == (0, 1):
            return optional(item)
        if most is None and least > 1:
            return OneOf((InOrder((Repeated(item, least, least), Repeated(item, 0, None))),))
        return Repeated(item, least, most)

    def _leaf(self, tree: Leaf) -> tuple[str | Unnamed | None, bool]:
        """What stands for one symbol, None if it has no text but the empty one; and whether it has that, too."""
        if isinstance(tree, nodes.Both):
            raise GrammarSyntaxError("& joins terminals only; define one in capitals, and use it here", tree.span)
        if isinstance(tree, nodes.Special):
            return replace(token(tree.text, tree.span), written=tree.text), False
        if isinstance(tree, Name):
            self._used.add(tree.text)
            rule = self._source.terminals.get(tree.text)
            if tree.text in self._source.rules or (rule is not None and rule.word is not None):
                return self._own(tree.text), False
        elif isinstance(tree, nodes.Literal) and not (tree.any_case and tree.value):
            if not tree.value:
                return None, True
            return Unnamed(Pattern.of_text(tree.value), _literal(tree), tree.span), False
        texts = self._terminals.of(tree)
        if not texts:
            self._built.impossible[tree.span] = f"no text is in {tree.text}"
            return Unnamed(NOTHING, f"/{NOTHING.value}/", tree.span), False
        rest = texts - EMPTY
        if not rest:
            return None, True
        return (self._named(rest, tree) if isinstance(tree, Name) else self._symbol(rest, tree)), rest != texts

    def _named(self, texts: RegularSet, name: Name) -> str:
        """What stands for a terminal."""
        own = self._own(name.text)
        imported = self._source.imports.get(name.text)
        place = self._source.terminals[name.text].name if imported is None else imported[0]
        self._built.named.add(own)
        return self._noted(own, texts, name.text, place.span)

    def _symbol(self, texts: RegularSet, place: Written) -> str:
        """What stands for texts that have no name: the same for the same texts."""
        if texts not in self._of_set:
            self._of_set[texts] = self._new_name("T")
            if isinstance(place.only if isinstance(place, Body) else place, nodes.Literal):
                self._built.any_case.add(self._of_set[texts])
        return self._noted(self._of_set[texts], texts, " ".join(place.text.split()), place.span)

    def _noted(self, own: str, texts: RegularSet, shown: str, span: Span) -> str:
        built = self._built
        if own not in built.sets:
            built.sets[own], built.shown[own], built.spans[own] = texts, shown, span
            if own in built.parts:
                self._rule_of[own] = self._new_name("p")
        return self._rule_of.get(own, own)

    def _new_name(self, letter: str) -> str:
        source, built = self._source, self._built
        taken = {*source.terminals, *source.rules, *source.imports, *built.sets, *self._names.values()}
        taken |= {*self._rule_of.values(), *(part for parts in built.parts.values() for part in parts)}
        return new_name(letter, taken)


def new_name(letter: str, taken: Collection[str]) -> str:
    """A letter and the first number with which it is no name yet."""
    return next(name for k in range(len(taken) + 1) if (name := f"{letter}{k + 1}") not in taken)


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


def _literal(tree: nodes.Literal) -> str:
    """A string literal as Lark reads it: as the author wrote it, if that is the same."""
    return tree.text if _PLAIN.fullmatch(tree.text) else _quoted(tree.value)


def _quoted(text: str) -> str:
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text)
    return f'"{escaped}"'
