"""Explain what a matcher allows, by the executable meaning of its grammar.

The answer itself comes from the native matcher; the reasons come from `pdacon.pda.Configuration`, which reads the text
so far again, byte by byte.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import SupportsIndex

from pdacon._native import _core
from pdacon.determinism import quote
from pdacon.detokenizer import Vocabulary
from pdacon.grammar import Grammar
from pdacon.lalr import Tables, build_tables
from pdacon.matching.explanation import Cut, Explanation, first_character, listing, tail
from pdacon.matching.following import expect_viable
from pdacon.matching.listed import ListedTexts, find_unlisted, word_of
from pdacon.pda import (
    Configuration,
    Expectation,
    Machine,
    MisplacedLine,
    Refusal,
    Stack,
    expect,
    misplaced_line,
    refuse,
)

_BYTES = tuple(bytes([byte]) for byte in range(256))
_MOST_ENCLOSING = 8
_GIVEN_UP = 'lookahead="commit" gives such texts up'


class Explainer:
    """What the matchers of one start symbol share to explain themselves; all of it is made at the first question."""

    def __init__(
        self,
        grammar: Callable[[], Grammar],
        vocabulary: Callable[[], Vocabulary],
        start: int,
        recompile: Callable[[Vocabulary], _core.TokenPda],
    ) -> None:
        self._load_grammar = grammar
        self._load_vocabulary = vocabulary
        self._start = start
        self._recompile = recompile

    @cached_property
    def _grammar(self) -> Grammar:
        return self._load_grammar()

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return self._load_vocabulary()

    @cached_property
    def _tables(self) -> Tables:
        return build_tables(self._grammar)

    @cached_property
    def _machine(self) -> Machine:
        return Machine(self._grammar, self._tables)

    @cached_property
    def _listed(self) -> ListedTexts:
        return ListedTexts(self._grammar)

    @cached_property
    def _bytewise(self) -> _core.TokenPda | None:
        """The constraint for single bytes, which tells the grammar from the vocabulary; None if tokens spell all."""
        if set(_BYTES).issubset(self._vocabulary.tokens):
            return None
        return self._recompile(Vocabulary.from_tokens(_BYTES))

    def explain(self, matcher: _core.Matcher, asked: SupportsIndex | bytes) -> Explanation:
        """See `Matcher.explain`."""
        token, text, allowed = self._answer(matcher, asked)
        before = matcher._text()
        probe = _core.Matcher(matcher) if self._bytewise is None else _core.Matcher(self._bytewise, 0)
        if self._bytewise is not None and not (matcher.is_terminated() or probe.accept_bytes(before)):
            raise AssertionError(f"the matcher accepts {before!r}, but the grammar does not")
        viable = 0
        if not matcher.is_terminated():
            viable = next((i for i, byte in enumerate(text) if not probe.accept_bytes(_BYTES[byte])), len(text))
        read = before + text[:viable]
        start = Configuration.initial(self._machine, self._start).read(before)
        place = start and start.read(text[:viable])
        if start is None or place is None:
            raise AssertionError(f"the matcher accepts {read!r}, but it has no configuration")
        expected = expect(place) if matcher.is_terminated() else expect_viable(place, lambda byte: _takes(probe, byte))
        cuts = self._cuts(start, place, read)
        unlisted = None
        if matcher.is_terminated():
            reason = "an end token was accepted; only end tokens may follow"
        elif token is not None and not self._vocabulary.tokens[token]:
            reason = self._reason_without_text(token, allowed, place, read, expected)
        elif not text:
            space = "" if token is None else "its space is not part of the text; "
            reason = f"{space}expected {self._listing(expected)}"
        elif allowed:
            reason = "it is a whole text" if probe.is_accepting() else "some sentence goes on with it"
        elif viable == len(text):
            reason = "the grammar allows it, but no tokens of this vocabulary spell anything that can follow"
        elif (misplaced := misplaced_line(place, read, text[viable:])) is not None:
            reason = f"{self._indented(misplaced)}; {self._placed(misplaced)}"
        elif self._first_line_is_indented(read, text[viable:]):
            reason = "the first line is indented; it has to begin in its first column"
        else:
            reason, refused = self._reason(place, read, text[viable:], expected)
            cuts += refused
            unlisted = find_unlisted(self._listed, place, read, text[viable:])
            if unlisted is not None:
                reason = str(unlisted) if unlisted.listed else f"{reason}; {unlisted.question}"
        line, column = _place(read)
        return Explanation(
            allowed=allowed,
            reason=reason,
            token=token,
            text=text,
            viable=viable,
            before=before,
            line=line,
            column=column,
            lexeme=read[len(read) - place.length :],
            unfinished=self._names(expected.unfinished),
            expected=self._names(expected.next),
            blocks=place.margin.columns,
            may_end=matcher.is_terminated() or probe.is_accepting(),
            unlisted=unlisted,
            cuts=tuple(cuts),
            stack=self._names(int(self._tables.accessing[state]) for state in list(place.stack)[1:]),
            rules=tuple(self._item(*item) for item in self._kernel(place.stack.state)),
            within=tuple(self._enclosing(place.stack)),
        )

    def _answer(self, matcher: _core.Matcher, asked: SupportsIndex | bytes) -> tuple[int | None, bytes, bool]:
        """The token, if one was asked about, its text, and whether it is allowed."""
        if isinstance(asked, bytes):
            return None, asked, _core.Matcher(matcher).accept_bytes(asked)
        if isinstance(asked, (bool, str)) or not hasattr(asked, "__index__"):
            advice = "; encode it" if isinstance(asked, str) else ""
            raise TypeError(f"explain takes a token id or bytes, not {type(asked).__name__}{advice}")
        token = operator.index(asked)
        allowed = matcher.is_allowed(token)
        text = self._vocabulary.tokens[token] or b""
        return token, text.removeprefix(b" ") if matcher._leading_space() else text, allowed

    def _cuts(self, start: Configuration, place: Configuration, read: bytes) -> list[Cut]:
        """The lexemes that have become certain between two configurations, in the order of the text."""
        cuts: list[Cut] = []
        end = len(read) - place.length
        lexeme = place.last
        while lexeme is not None and lexeme is not start.last:
            begin = end - lexeme.length
            cuts.append(Cut(self._name(lexeme.terminal), read[begin:end], "ignored" if lexeme.ignored else "shifted"))
            end, lexeme = begin, lexeme.previous
        return cuts[::-1]

    # Reasons

    def _reason_without_text(
        self, token: int, allowed: bool, place: Configuration, read: bytes, expected: Expectation
    ) -> str:
        if allowed:
            return "the text may end here"
        if token not in self._vocabulary.eos_ids:
            return "it stands for no text; such a token is never allowed"
        if expected.end:
            return f"the text could end here, but {_GIVEN_UP}"
        if (line := misplaced_line(place, read, b"")) is not None:
            return f"the text cannot end here: {self._placed(line)}"
        if expected.next or place.fresh:
            return f"the text cannot end here; expected {self._listing(expected)}"
        lexeme = read[len(read) - place.length :]
        return f"the text cannot end here: {self._begun(expected.unfinished, lexeme)} is not finished"

    def _reason(self, place: Configuration, read: bytes, rest: bytes, expected: Expectation) -> tuple[str, list[Cut]]:
        refusal = refuse(place, read, rest[0])
        character = quote(first_character(rest))
        if refusal.reads_on:
            return self._doomed(place, read, rest, expected, refusal), []
        if refusal.matched is not None:
            cut = Cut(self._name(refusal.matched), refusal.lexeme, "refused")
            what = f"the lexer takes {tail(refusal.lexeme)} for {cut.terminal}, which the parser does not take here"
            if cut.terminal == quote(refusal.lexeme):
                what = f"the parser does not take {cut.terminal} here"
            return f"{what}; expected {self._listing(expected)}", [cut]
        if refusal.guarded is not None:
            return self._guarded(place, refusal.guarded, refusal.lexeme, rest), []
        if place.fresh:
            return f"{character} begins nothing that can come here; expected {self._listing(expected)}", []
        reason = f"{character} cannot continue {self._begun(refusal.unfinished, refusal.lexeme)}"
        if expected.next or expected.end:
            reason += f", nor begin what can follow it; expected {self._listing(expected)}"
        elif rest[:1] in b"\r\n":
            line, column = _place(read[: len(read) - len(refusal.lexeme)])
            reason += f", which began at line {line}, column {column}, and is not finished"
        return reason, []

    def _guarded(self, place: Configuration, terminal: int, lexeme: bytes, rest: bytes) -> str:
        """Why a terminal that has matched does not end where it does."""
        word = word_of(lexeme, rest)
        if names := self._names(self._listed.naming(word)):
            what = f"{tail(word)} is {listing(names)}, which the parser does not take here"
            return f"{what}; expected {self._listing_taken(expect(place.restart()))}"
        word = max(word, lexeme + rest[:1], key=len)
        behind = f"it would end behind {tail(lexeme)}, where {quote(first_character(rest))} must not follow"
        return f"{tail(word)} is no {self._name(terminal)}: {behind}"

    def _doomed(self, place: Configuration, read: bytes, rest: bytes, expected: Expectation, refusal: Refusal) -> str:
        """Why no sentence goes on with a byte that the lexer can read."""
        character = quote(first_character(rest))
        if self._grammar.options.lookahead == "commit" and place.read(rest) is not None:
            return f"{character} could come here, but {_GIVEN_UP}"
        after = place.step(rest[0])
        if after is None or after.fresh:
            return f"{character} can be read, but no sentence goes on like that"
        lexeme = (read + rest[:1])[-after.length :]
        taken = expect(after).unfinished
        if taken and rest[:1] in b"\r\n" and self._machine.ignore.issuperset(taken):
            return f"the line cannot end here; expected {self._listing_taken(expected)}"
        if taken:
            return f"{tail(lexeme)} can be read as {listing(self._names(taken))}, but no sentence goes on like that"
        word = word_of(lexeme, rest[1:])
        whole = after.read(word[len(lexeme) :])
        if whole is None or whole.length != len(word):
            if refusal.guarded is not None:
                return self._guarded(place, refusal.guarded, refusal.lexeme, rest)
            return f"{tail(word)} is nothing that can come here; expected {self._listing_taken(expected)}"
        after, lexeme = whole, word
        names = listing(dict.fromkeys(self._names(terminal for terminal, _ in after.reading)))
        what = f"the lexer reads {tail(lexeme)} as {names}, which the parser does not take here"
        return f"{what}; expected {self._listing(expected)}"

    def _first_line_is_indented(self, read: bytes, rest: bytes) -> bool:
        """Whether a text of lines begins with blanks that are refused, and would be read on without them."""
        line = (read + rest).lstrip(b" \t")
        if self._grammar.layout is None or read.strip(b" \t") or len(line) in (0, len(read + rest)):
            return False
        return Configuration.initial(self._machine, self._start).step(line[0]) is not None

    def _indented(self, line: MisplacedLine) -> str:
        """How a misplaced line is indented."""
        if line.column is None and self._grammar.layout is not None:
            newline = self._name(self._grammar.layout.newline)
            return f"{newline} does not take {quote(line.blanks)} at the beginning of this line"
        columns = f"{line.column} column{'' if line.column == 1 else 's'}{'' if line.begun else ' or more'}"
        return f"this line is indented by {columns}"

    def _placed(self, line: MisplacedLine) -> str:
        """How a line can be indented where one is misplaced."""
        could = list(map(str, line.columns))
        layout = self._grammar.layout
        if line.deeper is not None:
            fixed = layout is not None and layout.indent_len is not None
            could.append(str(line.deeper) if fixed else f"more than {line.deeper - 1}")
        if not line.columns:
            return f"a block has to begin here, indented by {listing(could)}"
        return f"here a line {'can' if len(could) > 1 else 'has to'} be indented by {listing(could)}"

    # Names

    def _name(self, symbol: int) -> str:
        return self._grammar.describe_symbol(symbol)

    def _names(self, symbols: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self._name, symbols))

    def _begun(self, terminals: Iterable[int], lexeme: bytes) -> str:
        """``STRING '"abc'``; several terminals joined by "or"."""
        return " ".join(filter(None, [listing(self._names(terminals)), tail(lexeme)]))

    def _listing(self, expected: Expectation) -> str:
        following = [*self._names(expected.next), *(["the end"] if expected.end else [])]
        return listing(following or self._names(expected.unfinished) or ["nothing"])

    def _listing_taken(self, expected: Expectation) -> str:
        """The same without what is ignored, which is not what is missing."""
        ignored = self._machine.ignore
        return self._listing(replace(expected, next=tuple(t for t in expected.next if t not in ignored)))

    def _item(self, production: int, dot: int) -> str:
        """``expr: expr "+" • expr``"""
        if production >= len(self._grammar.productions):
            start = self._grammar.starts[self._start]
            return " ".join(["•", self._name(start)][:: 1 if dot == 0 else -1])
        record = self._grammar.productions[production]
        rhs = self._names(record.rhs)
        return f"{self._name(record.lhs)}: {' '.join([*rhs[:dot], '•', *rhs[dot:]])}"

    # The parser

    def _kernel(self, state: int) -> list[tuple[int, int]]:
        """The items that say how a state was reached."""
        count = len(self._grammar.productions)
        return [item for item in self._tables.items(state) if item[1] > 0 or item[0] >= count]

    def _enclosing(self, stack: Stack) -> Iterator[str]:
        """The rules around the one on top of a stack, by their names, as far as they are certain."""
        count = len(self._grammar.productions)
        items = {item for item in self._kernel(stack.state) if item[0] < count}
        previous = self._rule(stack.state)
        for _ in range(_MOST_ENCLOSING):
            origins = {(dot, self._grammar.productions[production].lhs) for production, dot in items}
            if len(origins) != 1:
                return
            dot, symbol = origins.pop()
            stack = stack.pop(dot)
            rule = self._rule_of(symbol)
            if rule != previous:
                yield rule
            previous = rule
            items = {item for item in self._users(stack.state, symbol) if item[0] < count}

    def _users(self, state: int, symbol: int) -> set[tuple[int, int]]:
        """The kernel items of a state that wait for a symbol, at once or through rules that begin with it."""
        items = self._tables.items(state)
        count = len(self._grammar.productions)
        found: set[tuple[int, int]] = set()
        seen = {symbol}
        pending = [symbol]
        for wanted in pending:
            for production, dot in items:
                if production >= count:
                    continue
                record = self._grammar.productions[production]
                if dot == len(record.rhs) or record.rhs[dot] != wanted:
                    continue
                if dot > 0:
                    found.add((production, dot))
                elif record.lhs not in seen:
                    seen.add(record.lhs)
                    pending.append(record.lhs)
        return found

    def _rule(self, state: int) -> str | None:
        """The rule that the items of a state are shown to be of: not that of a repetition, which has no name there."""
        shown = {self._grammar.productions[k].lhs for k, _ in self._kernel(state) if k < len(self._grammar.productions)}
        named = [lhs for lhs in shown if not self._grammar.nonterminals[lhs - self._grammar.end - 1].repeats]
        return self._rule_of(named[0]) if len(named) == len(shown) == 1 else None

    def _rule_of(self, symbol: int) -> str:
        return next(p.rule for p in self._grammar.productions if p.lhs == symbol)


def _takes(matcher: _core.Matcher, byte: int) -> bool:
    """Whether a matcher accepts a byte, which it is spared."""
    return _core.Matcher(matcher).accept_bytes(_BYTES[byte])


def _place(before: bytes) -> tuple[int, int]:
    """Line and column, in characters from 1, of what comes after ``before``."""
    lines = before.decode("utf-8", "replace").split("\n")
    return len(lines), len(lines[-1]) + 1
