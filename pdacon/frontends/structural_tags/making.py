"""Pieces -> one grammar: texts as terminals of an outer grammar, grammars in its holes."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from pdacon.base.quoting import quoted
from pdacon.errors import (
    EmptyLanguageError,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    UnsupportedGrammarError,
)
from pdacon.frontends.insertion import inserted
from pdacon.frontends.pattern_sets import pattern_sets
from pdacon.frontends.regular_sets import RegularSet
from pdacon.frontends.structural_tags.borders import check_borders, precedence
from pdacon.frontends.structural_tags.final_rules import with_final_rules
from pdacon.frontends.structural_tags.free_text import SUCH_AS, UP_TO
from pdacon.frontends.structural_tags.normal_form import NormalForm, Step, normal_form
from pdacon.frontends.structural_tags.pieces import (
    Either,
    InOrder,
    Part,
    Piece,
    Repeated,
    Texts,
    Token,
    without_empty,
)
from pdacon.grammar import GrammarData, GrammarOptions, Terminal
from pdacon.grammar.reading import read_text


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
    if isinstance(piece, Texts):
        return replace(piece.set.grammar_data(), source=source, language="structural tag")
    writing = _Writing()
    try:
        whole = _put_together(writing, writing.expression(piece))
    except (UnsupportedGrammarError, GrammarSyntaxError) as error:
        try:
            writing = _Writing()
            whole = _put_together(writing, writing.steps(normal_form(piece, place)))
        except (GrammarError, LimitExceededError) as other:
            if isinstance(other, LimitExceededError) and other.what == "seconds":
                raise
            if isinstance(error, UnsupportedGrammarError):
                raise error from None
            message = f"{place}: a text can be read in two ways where formats meet; write texts between them"
            raise UnsupportedGrammarError(message, feature="structural tag") from error
    return replace(whole, source=source, language="structural tag", imports=(), imported_files=(), parts=None)


def _put_together(writing: _Writing, start: str) -> GrammarData:
    """The grammar of what was written, which begins with ``start``.

    Raises
    ------
    UnsupportedGrammarError
        Nobody could tell where a piece ends.
    GrammarSyntaxError
        Two alternatives are the same.
    """
    lines = [f"start: {start}", *writing.rules]
    for rank, name in enumerate(precedence(writing.sets, writing.words)):
        word = writing.words.get(name)
        written = f"/(?P<{name}>)/" if word is None else json.dumps(word, ensure_ascii=False)
        lines.append(f"{name}.{len(writing.sets) - rank}: {written}")
    lines += [f"%declare {name}" for name in writing.parts]
    outer = read_text("\n".join([*lines, ""]), GrammarOptions(extensions=True), pattern_sets(writing.unwritten()))
    outer = replace(
        outer,
        terminals=tuple(replace(one, span=None, literal=writing.shown(one)) for one in outer.terminals),
        nonterminals=tuple(replace(one, span=None) for one in outer.nonterminals),
        productions=tuple(replace(one, span=None) for one in outer.productions),
    )
    inner = {name: with_final_rules(part.grammar) for name, part in writing.parts.items()}
    try:
        whole = inserted(outer, outer.source, inner) if inner else outer
    except UnsupportedGrammarError as error:
        message = re.sub(r"\b\w+_\d+\b", lambda found: writing.places.get(found[0], found[0]), str(error))
        raise UnsupportedGrammarError(message, feature="structural tag") from error
    check_borders(whole, writing.sets, writing.places)
    return whole


class _Writing:
    """Pieces in Lark's language.

    Attributes
    ----------
    sets : dict of str to RegularSet
        Of each terminal that is a set of texts.
    words : dict of str to str
        The text of those that have only one.
    parts : dict of str to Part
        The grammar of each hole.
    places : dict of str to str
        Of each of both, the JSON pointer of the format that it comes from.
    rules : list of str
    """

    def __init__(self) -> None:
        self.sets: dict[str, RegularSet] = {}
        self.words: dict[str, str] = {}
        self.parts: dict[str, Part] = {}
        self.places: dict[str, str] = {}
        self.rules: list[str] = []
        self._names: dict[int, str] = {}
        self._set_names: dict[RegularSet, str] = {}
        self._known: list[Piece] = []  # so that no other piece gets an identity that has been used

    def expression(self, piece: Piece) -> str:
        """What stands for a piece on the right side of a rule. A piece that comes twice is written once."""
        if id(piece) not in self._names:
            self._known.append(piece)
            self._names[id(piece)] = self._written(piece)
        return self._names[id(piece)]

    def _written(self, piece: Piece) -> str:
        if isinstance(piece, Texts):
            return self._texts(piece)
        if isinstance(piece, Part | Token):
            return self._symbol(piece)
        if isinstance(piece, InOrder):
            return " ".join(map(self.expression, piece.pieces))
        if isinstance(piece, Either):
            solid, has_empty = without_empty(piece)
            assert solid is not None
            if has_empty:
                return f"[{self.expression(solid)}]"
            return self._rule(" | ".join(map(self.expression, piece.pieces)))
        return self._repeated(piece)

    def _symbol(self, piece: Part | Token) -> str:
        if isinstance(piece, Token):
            escaped = "".join(f"\\{c}" if c in "/)\\" else c for c in piece.name)
            return f"/(?P<TOKEN>{escaped})/"
        name = f"PART_{len(self.parts)}"
        self.parts[name], self.places[name] = piece, piece.place
        return name

    def steps(self, form: NormalForm) -> str:
        """What stands for a normal form: of each state that a symbol leads to a rule that begins with that symbol.

        A grammar that leads to two states is written twice, since what may come after it is not the same.
        """
        rules: dict[tuple[int, int], str] = {}
        pending: list[tuple[str, str, int]] = []

        def side(step: Step) -> str:
            symbols = [] if step.texts is None else [self._texts(Texts(step.texts, form.place))]
            if step.then is not None:
                piece, state = step.then
                key = id(piece), state
                if key not in rules:
                    rules[key] = f"r{len(rules)}"
                    pending.append((rules[key], self._symbol(piece), state))
                symbols.append(rules[key])
            return " ".join(symbols)

        start = " | ".join(map(side, form.steps[0]))
        while pending:
            rule, symbol, state = pending.pop()
            sides = [f"{symbol} {side(step)}".rstrip() for step in form.steps[state]]
            self.rules.append(f"{rule}: {' | '.join(sides)}")
        return start

    def _texts(self, piece: Texts) -> str:
        texts = piece.set
        if not texts:
            raise EmptyLanguageError(f"{piece.place}: no text is possible there")
        if "" in texts:
            solid, _ = without_empty(piece)
            assert solid is not None
            return f"[{self.expression(solid)}]"
        name = self._set_names.get(texts)
        if name is None:
            name = self._set_names[texts] = f"TEXT_{len(self.sets)}"
            self.sets[name], self.places[name] = texts, piece.place
            if texts.count() == 1:
                self.words[name] = texts.strings(1)[0]
        return name

    def shown(self, terminal: Terminal) -> str | None:
        """How explanations call a terminal, if not by its name."""
        word, texts = self.words.get(terminal.name), self.sets.get(terminal.name)
        if word is not None:
            return quoted(word)
        return f"({texts.name})" if texts is not None and texts.name.startswith((UP_TO, SUCH_AS)) else terminal.literal

    def unwritten(self) -> dict[str, RegularSet]:
        """The sets that are no single word."""
        return {name: texts for name, texts in self.sets.items() if name not in self.words}

    def _repeated(self, piece: Repeated) -> str:
        inner = self._rule(self.expression(piece.piece))
        if piece.most is None:
            least = "" if piece.least <= 1 else " ".join([inner] * (piece.least - 1)) + " "
            return f"{least}{inner}{'*' if piece.least == 0 else '+'}"
        return f"{inner}~{piece.least}..{piece.most}"

    def _rule(self, side: str) -> str:
        if side.isidentifier():
            return side
        name = f"r{len(self.rules)}"
        self.rules.append(f"{name}: {side}")
        return name
