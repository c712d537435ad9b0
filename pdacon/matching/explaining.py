"""Explain what a matcher allows, by the executable meaning of its grammar.

The answer itself comes from the native matcher, and so do the lexemes and what can come next; the reasons come from
`pdacon.pda.Configuration`, which reads no more of the text than the lexeme that it ends in.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import SupportsIndex

from pdacon._native import _core
from pdacon.cancelling import Watch
from pdacon.composition import Limits, compose, lower
from pdacon.determinism import quote
from pdacon.detokenizer import Vocabulary
from pdacon.grammar import Grammar
from pdacon.lalr import Tables, build_tables
from pdacon.matching.explanation import (
    Cut,
    Explanation,
    first_character,
    is_literal,
    line_and_column,
    listing,
    tail,
)
from pdacon.matching.following import Following
from pdacon.matching.listed import ListedTexts, find_unlisted, word_of
from pdacon.matching.located import locate
from pdacon.pda import (
    Configuration,
    Expectation,
    LexemeReader,
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
_MOST_REST = 200  # bytes of a text behind the place where it is refused
_GIVEN_UP = 'lookahead="commit" gives such texts up'


class Explainer:
    """What the matchers of one start symbol share to explain themselves; all of it is made at the first question."""

    def __init__(
        self,
        grammar: Callable[[], Grammar],
        vocabulary: Callable[[], Vocabulary],
        start: int,
        pda: _core.TokenPda,
    ) -> None:
        self._load_grammar = grammar
        self._load_vocabulary = vocabulary
        self._start = start
        self._pda = pda

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
    def _following(self) -> Following:
        return Following(self._grammar)

    @cached_property
    def _bytewise(self) -> _core.TokenPda:
        """The constraint for single bytes, which tells the grammar from the vocabulary."""
        if set(_BYTES).issubset(self._vocabulary.tokens):
            return self._pda
        limits = Limits()
        with Watch(limits.seconds, None) as watch:
            tables, lexer = lower(self._grammar, limits, watch)
            return compose(lexer, tables, self._start, Vocabulary.from_tokens(_BYTES), limits, watch.left())

    def explain(self, matcher: _core.Matcher, asked: SupportsIndex | bytes, lexemes: int | None) -> Explanation:
        """See `Matcher.explain`."""
        token, text, allowed = self._answer(matcher, asked)
        before = matcher._text()
        probe = self._behind(before)
        viable = 0 if matcher.is_terminated() else accept_most(probe, text)
        read = before + text[:viable]
        reader = LexemeReader()
        located = locate(self._machine, self._start, probe, read, reader, since=len(before), most=lexemes)
        place = located.place
        here = _Here(place, read, text[viable:], probe, reader)
        expected = self._following.expect(place, read, matcher if matcher.is_terminated() else probe, reader)
        cuts = located.cuts
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
        elif (misplaced := misplaced_line(place, read, here.rest, reader)) is not None:
            reason = f"{self._indented(misplaced)}; {self._placed(misplaced)}"
        elif self._first_line_is_indented(read, here.rest):
            reason = "the first line is indented; it has to begin in its first column"
        else:
            reason, refused = self._reason(here, expected)
            cuts += refused
            unlisted = find_unlisted(self._listed, here.place, read, here.rest, partial(self._expect_before, here))
            if unlisted is not None:
                reason = str(unlisted) if unlisted.listed else f"{reason}; {unlisted.question}"
        line, column = line_and_column(read)
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
            cuts=cuts,
            earlier_cuts=located.earlier,
            stack=self._names(located.symbols),
            rules=tuple(self._item(*item) for item in self._kernel(place.stack.state)),
            within=tuple(self._enclosing(place.stack)),
        )

    def look(self, matcher: _core.Matcher) -> tuple[bytes, Expectation]:
        """What has been read of a lexeme where a matcher stands, and what may come there, as its mask says."""
        text = matcher._text()
        reader = LexemeReader()
        place = locate(self._machine, self._start, matcher, text, reader).place
        lexeme = text[len(text) - place.length :]
        if matcher.is_terminated():
            return lexeme, self._following.expect(place, text, matcher)
        probe = _core.Matcher(self._pda, 1, matcher._leading_space(), False)
        if not probe.accept_bytes(text):
            raise AssertionError(f"the matcher has accepted {text[-80:]!r}, but another one does not")
        return lexeme, self._following.expect(place, text, probe, reader)

    def _behind(self, text: bytes) -> _core.Matcher:
        """A matcher for single bytes behind a text; it keeps no text, and can take back one accept."""
        probe = _core.Matcher(self._bytewise, 1, False, False)
        if not probe.accept_bytes(text):
            raise AssertionError(f"the matcher accepts {text[-80:]!r}, but the grammar does not")
        return probe

    def _expect_before(self, here: _Here, place: Configuration) -> Expectation:
        """What may come before the lexeme that has been begun in a place, or in an alternative of it."""
        before = here.read[: len(here.read) - place.length]
        probe = here.probe if place.fresh else self._behind(before)
        return self._following.expect(place.restart(), before, probe, here.reader)

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

    def _reason(self, here: _Here, expected: Expectation) -> tuple[str, tuple[Cut, ...]]:
        place, rest = here.place, here.rest
        refusal = refuse(place, here.read, rest[0], here.reader)
        character = quote(first_character(rest))
        if refusal.reads_on:
            return self._doomed(here, expected, refusal), ()
        if refusal.matched is not None:
            cut = Cut(self._name(refusal.matched), refusal.lexeme, "refused")
            what = f"the lexer takes {tail(refusal.lexeme)} for {cut.terminal}, which the parser does not take here"
            if is_literal(cut.terminal, refusal.lexeme):
                what = f"the parser does not take {cut.terminal} here"
            return f"{what}; expected {self._listing(expected)}", (cut,)
        if refusal.guarded is not None:
            return self._guarded(here, refusal.guarded, refusal.lexeme), ()
        if place.fresh:
            return f"{character} begins nothing that can come here; expected {self._listing(expected)}", ()
        reason = f"{character} cannot continue {self._begun(refusal.unfinished, refusal.lexeme)}"
        if expected.next or expected.end:
            reason += f", nor begin what can follow it; expected {self._listing(expected)}"
        elif rest[:1] in b"\r\n":
            line, column = line_and_column(here.read[: len(here.read) - len(refusal.lexeme)])
            reason += f", which began at line {line}, column {column}, and is not finished"
        return reason, ()

    def _guarded(self, here: _Here, terminal: int, lexeme: bytes) -> str:
        """Why a terminal that has matched does not end where it does."""
        word = word_of(lexeme, here.rest)
        if names := self._names(self._listed.naming(word)):
            what = f"{tail(word)} is {listing(names)}, which the parser does not take here"
            return f"{what}; expected {self._listing_taken(self._expect_before(here, here.place))}"
        word = max(word, lexeme + here.rest[:1], key=len)
        behind = f"it would end behind {tail(lexeme)}, where {quote(first_character(here.rest))} must not follow"
        return f"{tail(word)} is no {self._name(terminal)}: {behind}"

    def _doomed(self, here: _Here, expected: Expectation, refusal: Refusal) -> str:
        """Why no sentence goes on with a byte that the lexer can read."""
        place, rest, read_on = here.place, here.rest, here.reader.read
        character = quote(first_character(rest))
        if self._grammar.options.lookahead == "commit" and read_on(place, rest[:_MOST_REST]) is not None:
            return f"{character} could come here, but {_GIVEN_UP}"
        after = read_on(place, rest[:1])
        if after is None or after.fresh:
            return f"{character} can be read, but no sentence goes on like that"
        lexeme = (here.read[len(here.read) + 1 - after.length :] if after.length > 1 else b"") + rest[:1]
        taken = expect(after).unfinished
        if taken and rest[:1] in b"\r\n" and self._machine.ignore.issuperset(taken):
            return f"the line cannot end here; expected {self._listing_taken(expected)}"
        if taken:
            return f"{tail(lexeme)} can be read as {listing(self._names(taken))}, but no sentence goes on like that"
        word = word_of(lexeme, rest[1:])
        whole = read_on(after, word[len(lexeme) :])
        if whole is None or whole.length != len(word):
            if refusal.guarded is not None:
                return self._guarded(here, refusal.guarded, refusal.lexeme)
            return f"{tail(word)} is nothing that can come here; expected {self._listing_taken(expected)}"
        after, lexeme = whole, word
        names = listing(dict.fromkeys(self._names(terminal for terminal, _ in after.reading)))
        what = f"the lexer reads {tail(lexeme)} as {names}, which the parser does not take here"
        return f"{what}; expected {self._listing(expected)}"

    def _first_line_is_indented(self, read: bytes, rest: bytes) -> bool:
        """Whether a text of lines begins with blanks that are refused, and would be read on without them."""
        if self._grammar.layout is None or read.strip(b" \t"):
            return False
        line = (read + rest).lstrip(b" \t")
        if len(line) in (0, len(read + rest)):
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

    @cached_property
    def _described(self) -> dict[int, str]:
        return {}

    def _name(self, symbol: int) -> str:
        if symbol not in self._described:
            self._described[symbol] = self._grammar.describe_symbol(symbol)
        return self._described[symbol]

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


@dataclass(frozen=True, slots=True)
class _Here:
    """Where a text is refused: what was read, what comes next, and a matcher and a reader for further questions."""

    place: Configuration
    read: bytes
    rest: bytes
    probe: _core.Matcher
    reader: LexemeReader


def accept_most(matcher: _core.Matcher, text: bytes) -> int:
    """Accept the longest beginning of a text that can be; how many bytes it has. Cost: twice that of the text."""
    if matcher.accept_bytes(text):
        return len(text)
    accepted, refused = 0, len(text)
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        if matcher.accept_bytes(text[accepted:middle]):
            accepted = middle
        else:
            refused = middle
    return accepted
