"""Pieces -> one grammar: texts as terminals of an outer grammar, grammars in its holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from pdacon.base.cancelling import raise_if_out_of_time
from pdacon.base.quoting import quoted
from pdacon.errors import (
    EmptyLanguageError,
    GrammarError,
    LimitExceededError,
    UnsupportedGrammarError,
)
from pdacon.frontends.builder import (
    Alternative,
    Builder,
    Expression,
    Unnamed,
    optional,
    set_pattern,
    token,
    tokens,
)
from pdacon.frontends.insertion import inserted
from pdacon.frontends.string_sets import set_grammar
from pdacon.frontends.structural_tags.final_rules import with_final_rules
from pdacon.frontends.structural_tags.free_text import SUCH_AS, UP_TO
from pdacon.frontends.structural_tags.piece_ends import check_borders, precedence
from pdacon.frontends.structural_tags.pieces import (
    GrammarPiece,
    LoopPiece,
    Piece,
    TextPiece,
    TextTokens,
    Token,
    without_empty,
)
from pdacon.frontends.structural_tags.right_linear import RightLinearForm, Transition, right_linear_form
from pdacon.grammar import GrammarData, Pattern, Terminal
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.regular import RegularSet


def made(piece: Piece, source: str, place: str) -> GrammarData:
    """The grammar of the texts of a piece.

    Where the lexer or the parser could not tell where pieces end as they are written, the normal form is tried: there
    all that can be told is told from the characters. It is the second choice, since its sets are larger.

    Parameters
    ----------
    source : str
        The structural tag as JSON.
    place : str
        The JSON pointer of the outermost format.

    Raises
    ------
    EmptyLanguageError
        There is no text.
    UnsupportedGrammarError
        Nobody could tell where a piece ends.
    """
    if isinstance(piece, TextPiece):
        return replace(set_grammar(piece.set), source=source, language="structural tag")
    building = _Building()
    try:
        whole = _put_together(building, [building.items(piece)])
    except UnsupportedGrammarError as error:
        try:
            building = _Building()
            whole = _put_together(building, building.steps(right_linear_form(piece, place)))
        except (GrammarError, LimitExceededError) as other:
            raise_if_out_of_time(other)
            raise error from None
    return replace(whole, source=source, language="structural tag", imports=(), imported_files=(), parts=None)


def _put_together(building: _Building, start: _Sides) -> GrammarData:
    """The grammar of what was built, which begins with ``start``.

    Raises
    ------
    UnsupportedGrammarError
        Nobody could tell where a piece ends.
    """
    outer = building.grammar(start)
    inner = {name: with_final_rules(part.grammar) for name, part in building.parts.items()}
    try:
        whole = inserted(outer, outer.source, inner, building.places) if inner else outer
    except UnsupportedGrammarError as error:
        raise UnsupportedGrammarError(error.reason, error.span, "structural tag", error.advice) from error
    check_borders(whole, building.sets, building.places)
    return whole


_Items: TypeAlias = tuple[Expression, ...]
_Sides: TypeAlias = Sequence[_Items]


class _Building:
    """Pieces as rules.

    Attributes
    ----------
    sets : dict of str to RegularSet
        Of each terminal that is a set of texts.
    words : dict of str to str
        The text of those that have only one.
    closers : dict of str to str
        Of some sets, what ends each of their texts and is nowhere else in them.
    parts : dict of str to GrammarPiece
        The grammar of each hole.
    places : dict of str to str
        Of each of both, the JSON pointer of the format that it comes from.
    """

    def __init__(self) -> None:
        self.sets: dict[str, RegularSet] = {}
        self.words: dict[str, str] = {}
        self.closers: dict[str, str] = {}
        self.parts: dict[str, GrammarPiece] = {}
        self.places: dict[str, str] = {}
        self._rules: dict[str, _Sides] = {}
        self._items: dict[int, _Items] = {}
        self._set_names: dict[tuple[str, RegularSet], str] = {}  # with the first text, which tells most sets apart
        self._known: list[Piece] = []  # so that no other piece gets an identity that has been used

    def grammar(self, start: _Sides) -> GrammarData:
        """The grammar that begins with ``start``, with a declared terminal for each hole."""
        builder = Builder()
        for name, sides in {"start": start, **self._rules}.items():
            builder.rule(name, [Alternative(items) for items in sides])
        for rank, name in enumerate(precedence(self.sets, self.words, self.closers)):
            word, texts = self.words.get(name), self.sets[name]
            pattern = set_pattern(texts) if word is None else Pattern.of_text(word)
            builder.terminal(Terminal(name, pattern, len(self.sets) - rank, None, _shown(texts, word)))
        for name in self.parts:
            builder.terminal(Terminal(name, None, 0, None))
        return builder.built("")

    def items(self, piece: Piece) -> _Items:
        """What stands for a piece in an alternative. A piece that comes twice is built once."""
        if id(piece) not in self._items:
            self._known.append(piece)
            self._items[id(piece)] = self._built(piece)
        return self._items[id(piece)]

    def _built(self, piece: Piece) -> _Items:
        if isinstance(piece, TextPiece):
            return self._texts(piece)
        if isinstance(piece, GrammarPiece | Token):
            return (self._symbol(piece),)
        if isinstance(piece, LoopPiece):
            return (self._loop(piece),)
        if isinstance(piece, InOrder):
            return tuple(item for part in piece.items for item in self.items(part))
        if isinstance(piece, OneOf):
            solid, has_empty = without_empty(piece)
            assert solid is not None
            return self._optional(solid) if has_empty else (self._rule(list(map(self.items, piece.items))),)
        return self._repeated(piece)

    def _loop(self, piece: LoopPiece) -> str:
        """A rule that may have itself within it: so it gets its name before its items are built."""
        assert piece.piece is not None
        name = f"r{len(self._rules)}"
        self._items[id(piece)] = (name,)
        self._rules[name] = ()  # takes the name, as names are counted
        self._rules[name] = [self.items(piece.piece)]
        return name

    def _optional(self, piece: Piece) -> _Items:
        return (optional(OneOf((InOrder(self.items(piece)),))),)

    def _symbol(self, piece: GrammarPiece | Token) -> str | Unnamed:
        if isinstance(piece, TextTokens):
            return tokens(piece.label, piece.most)
        if isinstance(piece, Token):
            return token(piece.name)
        name = f"PART_{len(self.parts)}"
        self.parts[name], self.places[name] = piece, piece.place
        return name

    def steps(self, form: RightLinearForm) -> _Sides:
        """What stands for a normal form: of each state that a symbol leads to a rule that begins with that symbol.

        A grammar that leads to two states is there twice, since what may come after it is not the same.
        """
        rules: dict[tuple[int, int], str] = {}
        pending: list[tuple[str, str | Unnamed, int]] = []

        def side(step: Transition) -> _Items:
            items = () if step.texts is None else self._texts(TextPiece(step.texts, form.place))
            if step.then is None:
                return items
            piece, state = step.then
            key = id(piece), state
            if key not in rules:
                rules[key] = f"r{len(rules)}"
                pending.append((rules[key], self._symbol(piece), state))
            return (*items, rules[key])

        start = list(map(side, form.steps[0]))
        while pending:
            rule, symbol, state = pending.pop()
            self._rules[rule] = [(symbol, *side(step)) for step in form.steps[state]]
        return start

    def _texts(self, piece: TextPiece) -> _Items:
        texts = piece.set
        if not texts:
            raise EmptyLanguageError(f"{piece.place}: no text is possible there")
        if "" in texts:
            solid, _ = without_empty(piece)
            assert solid is not None
            return self._optional(solid)
        first = texts.strings(1)[0]
        name = self._set_names.setdefault((first, texts), f"TEXT_{len(self.sets)}")
        if name not in self.sets:
            self.sets[name], self.places[name] = texts, piece.place
            if texts.count() == 1:
                self.words[name] = first
            elif piece.closer is not None:
                self.closers[name] = piece.closer
        return (name,)

    def _repeated(self, piece: Repeated[TextPiece | GrammarPiece | Token | LoopPiece]) -> _Items:
        inner = self._rule([self.items(piece.item)])
        if piece.most is None:
            return (*[inner] * (piece.least - 1), Repeated(inner, min(piece.least, 1), None))
        return (Repeated(inner, piece.least, piece.most),)

    def _rule(self, sides: _Sides) -> str:
        """The name of a rule with some alternatives; of one that is a symbol, this."""
        ((first, *others), *_) = sides
        if len(sides) == 1 and not others and isinstance(first, str):
            return first
        name = f"r{len(self._rules)}"
        self._rules[name] = sides
        return name


def _shown(texts: RegularSet, word: str | None) -> str | None:
    """How explanations call a terminal, if not by its name."""
    if word is not None:
        return quoted(word)
    return f"({texts.name})" if texts.name.startswith((UP_TO, SUCH_AS)) else None
