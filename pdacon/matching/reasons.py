"""Why a text is refused where it is, in a sentence.

In: the place in the text, what comes there, and what could come. Out: a reason in the author's names, with the lexeme
that the parser refuses, or the word that no terminal lists. The reasons come from `pdacon.pda`, the executable meaning
of the grammar; whether a text is refused is the native core's to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pdacon.base.quoting import first_character, is_literal, line_and_column, listing, quote, tail
from pdacon.matching.enclosing import Enclosing
from pdacon.matching.explanation import Cut, Unlisted
from pdacon.matching.listed import ListedTexts, find_unlisted, word_of
from pdacon.matching.naming import Names
from pdacon.pda import (
    Configuration,
    Expectation,
    LexemeReader,
    Machine,
    MisplacedLine,
    Refusal,
    expect,
    misplaced_line,
    refuse,
)

_MOST_READ = 200  # bytes of a text after the place where it is refused
_GIVEN_UP = 'lookahead="commit" gives such texts up'


@dataclass(frozen=True, slots=True)
class Refused:
    """Where a text is refused."""

    place: Configuration  # What the longest viable beginning of the text leads to
    # That beginning, and what comes after it, at least a byte.
    read: bytes
    rest: bytes
    reader: LexemeReader
    # What may come before the lexeme that has been begun in ``place``, or in an alternative of it.
    expect_before: Callable[[Configuration], Expectation]


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason, the lexemes that are refused, and the word that is not listed, if it is because of one."""

    text: str
    cuts: tuple[Cut, ...] = ()
    unlisted: Unlisted | None = None


class Reasons:
    """Says why texts are refused, for one start symbol of a grammar."""

    def __init__(self, machine: Machine, start: int, names: Names, enclosing: Enclosing) -> None:
        self._grammar = machine.grammar
        self._machine = machine
        self._start = start
        self._names = names
        self._enclosing = enclosing
        self._listed = ListedTexts(machine.grammar)

    def without_text(
        self, place: Configuration, read: bytes, expected: Expectation, *, allowed: bool, is_end: bool
    ) -> str:
        """Why a token that stands for no text is allowed, or is not."""
        if allowed:
            return "the text may end here"
        if not is_end:
            return "it stands for no text; such a token is never allowed"
        if expected.end:
            return f"the text could end here, but {_GIVEN_UP}"
        if (line := misplaced_line(place, read, b"")) is not None:
            return f"the text cannot end here: {self._placed(line)}"
        if expected.next or place.fresh:
            return f"the text cannot end here; expected {self._names.expected(expected)}"
        lexeme = read[len(read) - place.length :]
        return f"the text cannot end here: {self._names.begun(expected.unfinished, lexeme)} is not finished"

    def why(self, here: Refused, expected: Expectation) -> Reason:
        """Why no sentence goes on with what comes next, where another text could."""
        misplaced = misplaced_line(here.place, here.read, here.rest, here.reader)
        if misplaced is not None:
            return Reason(f"{self._indented(misplaced)}; {self._placed(misplaced)}")
        if self._first_line_is_indented(here.read, here.rest):
            return Reason("the first line is indented; it has to begin in its first column")
        reason, cuts = self._lexical(here, expected)
        unlisted = find_unlisted(self._listed, here.place, here.read, here.rest, here.expect_before)
        if unlisted is not None:
            reason = str(unlisted) if unlisted.listed else f"{reason}; {unlisted.question}"
        return Reason(reason, cuts, unlisted)

    def _lexical(self, here: Refused, expected: Expectation) -> tuple[str, tuple[Cut, ...]]:
        """What the lexer makes of the next character, and the lexeme that the parser refuses, if it is one."""
        place, rest = here.place, here.rest
        refusal = refuse(place, here.read, rest[0], here.reader)
        character = quote(first_character(rest))
        if refusal.reads_on:
            return self._doomed(here, expected, refusal), ()
        if refusal.matched is not None:
            cut = Cut(self._names.name(refusal.matched), refusal.lexeme, "refused")
            what = f"the lexer takes {tail(refusal.lexeme)} for {cut.terminal}, which the parser does not take here"
            if is_literal(cut.terminal, refusal.lexeme):
                what = f"the parser does not take {cut.terminal} here"
            return f"{what}; expected {self._names.expected(expected)}", (cut,)
        if refusal.guarded is not None:
            return self._guarded(here, refusal.guarded, refusal.lexeme), ()
        # Blanks that are ignored end where something else begins, so it is not them that it does not continue.
        if place.fresh or (refusal.unfinished and self._machine.ignore.issuperset(refusal.unfinished)):
            word = word_of(b"", rest)
            what = "is nothing" if len(word) > len(first_character(rest)) else "begins nothing"
            shown = tail(word) if word else character
            return f"{shown} {what} that can come here; {self._awaited(place, expected)}", ()
        ends = expected.next or expected.end
        if not ends and (keyword := self._keyword(here, refusal)) is not None:
            return keyword, ()
        reason = f"{character} cannot continue {self._names.begun(refusal.unfinished, refusal.lexeme)}"
        if ends:
            reason += f", nor begin what can follow it; expected {self._names.expected(expected)}"
        elif rest[:1] in b"\r\n":
            line, column = line_and_column(here.read[: len(here.read) - len(refusal.lexeme)])
            reason += f", which began at line {line}, column {column}, and is not finished"
        return reason, ()

    def _keyword(self, here: Refused, refusal: Refusal) -> str | None:
        """Of a word that other words may begin with, but that a keyword has for itself, that it is one."""
        word = word_of(refusal.lexeme, here.rest)
        listing_it = self._listed.naming(word)
        if word != refusal.lexeme or not listing_it or set(listing_it).intersection(refusal.unfinished):
            return None
        before = self._awaited(here.place, here.expect_before(here.place))
        others = listing(self._names.names(refusal.unfinished))
        return f"{tail(word)} is a keyword here, not {others}, and cannot come; {before}"

    def _awaited(self, place: Configuration, expected: Expectation) -> str:
        """What the rules at a place wait for; ``expected`` is what may begin there."""
        return self._names.awaited(self._enclosing.kernel(place.stack.state), expected)

    def _guarded(self, here: Refused, terminal: int, lexeme: bytes) -> str:
        """Why a terminal that has matched does not end where it does."""
        word = word_of(lexeme, here.rest)
        if names := self._names.names(self._listed.naming(word)):
            what = f"{tail(word)} is {listing(names)}, which the parser does not take here"
            return f"{what}; {self._awaited(here.place, here.expect_before(here.place))}"
        word = max(word, lexeme + here.rest[:1], key=len)
        behind = f"it would end after {tail(lexeme)}, where {quote(first_character(here.rest))} must not follow"
        return f"{tail(word)} is no {self._names.name(terminal)}: {behind}"

    def _doomed(self, here: Refused, expected: Expectation, refusal: Refusal) -> str:
        """Why no sentence goes on with a byte that the lexer can read."""
        place, rest, read_on = here.place, here.rest, here.reader.read
        character = quote(first_character(rest))
        if self._grammar.options.lookahead == "commit" and read_on(place, rest[:_MOST_READ]) is not None:
            return f"{character} could come here, but {_GIVEN_UP}"
        after = read_on(place, rest[:1])
        if after is None or after.fresh:
            return f"{character} can be read, but no sentence goes on like that"
        lexeme = (here.read[len(here.read) + 1 - after.length :] if after.length > 1 else b"") + rest[:1]
        taken = expect(after).unfinished
        if taken and rest[:1] in b"\r\n" and self._machine.ignore.issuperset(taken):
            return f"the line cannot end here; expected {self._names.expected(expected)}"
        if taken:
            return (
                f"{tail(lexeme)} can be read as {listing(self._names.names(taken))}, but no sentence goes on like that"
            )
        word = word_of(lexeme, rest[1:])
        whole = read_on(after, word[len(lexeme) :])
        if whole is None or whole.length != len(word):
            if refusal.guarded is not None:
                return self._guarded(here, refusal.guarded, refusal.lexeme)
            return f"{tail(word)} is nothing that can come here; expected {self._names.expected(expected)}"
        after, lexeme = whole, word
        names = listing(dict.fromkeys(self._names.names(terminal for terminal, _ in after.reading)))
        what = f"the lexer reads {tail(lexeme)} as {names}, which the parser does not take here"
        return f"{what}; expected {self._names.expected(expected)}"

    def _first_line_is_indented(self, read: bytes, rest: bytes) -> bool:
        """Whether a text of lines begins with blanks that are refused, and would be read on without them."""
        layout = self._grammar.layout
        if layout is None or layout.closers or layout.escaped or read.strip(b" \t"):
            return False
        line = (read + rest).lstrip(b" \t")
        if len(line) in (0, len(read + rest)):
            return False
        return Configuration.initial(self._machine, self._start).step(line[0]) is not None

    def _indented(self, line: MisplacedLine) -> str:
        """How a misplaced line is indented."""
        if line.column is None and self._grammar.layout is not None:
            newline = self._names.name(self._grammar.layout.newline)
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
