"""`Explanation`: why a token may, or may not, come next, as data and as text.

In: what `explaining` or `explaining_on_demand` found out. Out: the answer, the reason, and the place in the author's
words; rendered in lines that a terminal shows.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pdacon.base.html import preformatted
from pdacon.base.quoting import NEAR, head, is_literal, line_and_column, listing, quote, quoted, tail
from pdacon.base.snippets import line_around

_WIDTH = 100
_SHOWN_SYMBOLS = 40  # of a stack
_SHOWN_TEXT = 200  # Characters of what was asked about.
_LISTED_TEXTS = 8  # of what one terminal lists
_RULES = 3  # that are shown if it is to be short
_LONG = 10_000  # characters of a paragraph that is not wrapped any more


@dataclass(frozen=True, slots=True)
class Cut:
    """A lexeme whose end is certain once the text that was asked about is read.

    Attributes
    ----------
    terminal : str
        As the author writes it: a name, or a literal such as ``"{"``.
    text : bytes
        The whole lexeme; it may have begun before.
    fate : {"shifted", "ignored", "refused"}
        What became of it: the parser took it, it is of no account, or the parser does not take it and all ends here.
    """

    terminal: str
    text: bytes
    fate: Literal["shifted", "ignored", "refused"]

    def render(self, *, uncut: bool = False) -> str:
        """The terminal, the lexeme, and its fate if it is not shifted; of a long lexeme, unless ``uncut``, the head."""
        text = [] if is_literal(self.terminal, self.text) else [quote(self.text) if uncut else head(self.text)]
        return " ".join([self.terminal, *text, *([] if self.fate == "shifted" else [f"({self.fate})"])])

    def __str__(self) -> str:
        return self.render()


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A word that is none of those which the grammar lists where it stands.

    Attributes
    ----------
    word : str
        As far as a reader takes it for one.
    listed : tuple of (tuple of str, tuple of str)
        Terminals that can stand there, and the texts that they list. Of many texts with dots only what comes before
        the first dot that the word has not.
    unmatched : tuple of str
        Terminals that list nothing, but match other texts that begin like the word.
    meant : str or None
        The listed text, or the keyword, that comes near.
    """

    word: str
    listed: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    unmatched: tuple[str, ...]
    meant: str | None

    @property
    def question(self) -> str:
        """``did you mean "name"?``; empty if nothing comes near."""
        return "" if self.meant is None else f"did you mean {quoted(self.meant)}?"

    def __str__(self) -> str:
        lists = [
            f"{listing(terminals)} is {listing(map(quoted, texts), most=_LISTED_TEXTS)}"
            for terminals, texts in self.listed
        ]
        if self.unmatched:
            lists.append(f"nor does {listing(self.unmatched)} match it")
        return f"{quoted(self.word)} is not listed here{self.question and f' ({self.question})'}: {'; '.join(lists)}"


class Asked(NamedTuple):
    """What was asked about: a token or, if that is None, a text; its bytes; and whether it may come next."""

    token: int | None
    text: bytes
    allowed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a token, or some bytes, may or may not come next. `Matcher.explain` makes it.

    Symbols are written as in the grammar: a name, a literal such as ``"{"``, a repetition such as ``("," pair)+``.

    Attributes
    ----------
    allowed : bool
        What ``is_allowed`` says of the token, and ``accept_bytes`` of bytes. Of no bytes, True: there is nothing to
        refuse; ``may_end`` says whether the text so far is whole.
    reason : str
        Why, in one sentence.
    token : int or None
        The id that was asked about; None: bytes were.
    text : bytes
        Its text, without a leading space that is not part of the text; empty for an end token.
    viable : int
        How many bytes of ``text``, from its first, some sentence goes on with.
    before : bytes
        The text so far.
    line, column : int
        Where the first byte that is not viable is, or where ``text`` ends: from 1, in characters.
    lexeme : bytes
        What has been read there of a lexeme; empty between two lexemes.
    unfinished : tuple of str
        Terminals that ``lexeme`` may become, or become more of.
    expected : tuple of str
        Terminals that may begin there, in the order in which the lexer tries them. Empty within a lexeme that has to go
        on first, such as a string that is open: `wanted` is what a reader would say.
    blocks : tuple of int
        The columns in which the blocks begin that are open there; ``(0,)`` where the grammar has no indentation.
    may_end : bool
        Whether the text may end there.
    unlisted : Unlisted or None
        The word that is refused, if that is because the grammar lists others, or one that comes near.
    cuts : tuple of Cut
        The lexemes whose ends ``text`` makes certain, or the last ones of these; the first ones may have ended before
        it.
    earlier_cuts : int
        How many more there are before these.
    stack : tuple of str
        The parser's stack there: what has been read of the sentence, in grammar symbols.
    rules : tuple of str
        What is being parsed there: productions with a dot at the place.
    within : tuple of str
        Rules that these are part of, the innermost first, as far as only one can be meant.
    ignored : tuple of str
        Which of ``expected`` are ignored, such as blanks.
    schema : tuple of str
        Of a grammar that a JSON Schema made: the places in it that speak of the value there, and what they say.
    written_rules : tuple of str
        Of a grammar in another dialect: the rule of its author that is being read there and those that it is part of,
        ``digit in number in root``; one for each way to read the text.
    written_next : tuple of str
        Of such a grammar: what may come there, as its author wrote it, such as ``[0-9]``.
    """

    allowed: bool
    reason: str
    token: int | None
    text: bytes
    viable: int
    before: bytes
    line: int
    column: int
    lexeme: bytes = b""
    unfinished: tuple[str, ...] = ()
    expected: tuple[str, ...]
    blocks: tuple[int, ...] = (0,)
    may_end: bool
    unlisted: Unlisted | None = None
    cuts: tuple[Cut, ...] = ()
    earlier_cuts: int = 0
    stack: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    written_rules: tuple[str, ...] = ()
    written_next: tuple[str, ...] = ()

    @classmethod
    def without_grammar(
        cls, asked: Asked, reason: str, before: bytes, viable: int, expected: tuple[str, ...], *, may_end: bool
    ) -> Explanation:
        """What is explained without the lexemes, rules and stack of a grammar; the place is counted here."""
        line, column = line_and_column(before + asked.text[:viable])
        return cls(
            allowed=asked.allowed,
            reason=reason,
            token=asked.token,
            text=asked.text,
            viable=viable,
            before=before,
            line=line,
            column=column,
            expected=expected,
            may_end=may_end,
        )

    @property
    def wanted(self) -> tuple[str, ...]:
        """Terminals that bring the text on: those that may begin there, without ignored ones, or else `unfinished`.

        Ignored ones count where there are no others, and nothing does where the text has to end.
        """
        begin = tuple(terminal for terminal in self.expected if terminal not in self.ignored)
        return begin or self.expected or (() if self.may_end else self.unfinished)

    def render(self, width: int = _WIDTH, *, full: bool = False, uncut: bool = False, source: str = "<text>") -> str:
        """As text for people, some lines of up to about ``width`` characters.

        What is not allowed is shown as compilers do: the place in ``source``, which is what the text is called, and
        the line of it, with the place underlined.

        With ``full`` every rule, blanks between lexemes, what is expected, be it said before, and of a JSON Schema or
        another dialect the parser's rules and stack too. With ``uncut`` texts and the stack are not shortened.
        """
        said = f"{self._verdict(uncut)}{self.reason}"
        place = "" if self.allowed else f"{source}:{self.line}:{self.column}: "
        lines = [said]
        if len(said) < _LONG:  # a path stays in one piece, however long
            first = " " * min(len(place), width // 2)
            lines = textwrap.wrap(said, width, initial_indent=first, subsequent_indent="    ")
            lines[0] = lines[0].removeprefix(first)
        lines[0] = place + lines[0]
        if self.allowed:
            lines.append(f"  at:       line {self.line}, column {self.column}, after {self._tail}")
        else:
            lines += line_around(self.before + self.text, len(self.before) + self.viable, self.line, width)
        if self.written_rules or self.written_next:
            lines += self._as_written(width)
            if not full:
                return "\n".join(lines)
        if self.lexeme:
            unfinished = listing(self.unfinished) or "(nothing that the parser takes)"
            lines += _listed(width, "reading", [tail(self.lexeme), "as", unfinished])
        wanted = [terminal for terminal in self.expected if full or terminal not in self.ignored]
        following = [*wanted, *(["the end"] if self.may_end else [])] or self.expected
        if full or not (following and self.reason.endswith(listing(following))):
            lines += _listed(width, "expected", following or ["(only the rest of it)" if self.lexeme else "(nothing)"])
        cuts = [cut for cut in self.cuts if full or cut.fate != "ignored" or not cut.text.isspace()]
        earlier = [f"({self.earlier_cuts:,} more)"] if self.earlier_cuts else []
        if cuts or earlier:
            lines += _listed(width, "lexemes", [*earlier, *(cut.render(uncut=uncut) for cut in cuts)])
        if len(self.blocks) > 1:
            lines += _listed(width, "blocks", [f"in columns {listing(map(str, self.blocks), 'and')}"])
        for k, line in enumerate(self.schema):
            lines.append(f"  schema:   {line}" if k == 0 else " " * 12 + line)
        if self.schema and not full:
            return "\n".join(lines)
        for rule in self.rules if full else self.rules[:_RULES]:
            lines += _listed(width, "parsing", rule.split(" "), gap=" ")
        if len(self.rules) > _RULES and not full:
            lines += _listed(width, "parsing", [f"({len(self.rules) - _RULES} more)"])
        if self.within:
            lines += _listed(width, "within", re.split(r"(?<= >) ", " > ".join(reversed(self.within))), gap=" ")
        left_out = 0 if uncut else max(0, len(self.stack) - _SHOWN_SYMBOLS)
        deeper = [f"({left_out:,} more)"] if left_out else []
        lines += _listed(width, "stack", [*deeper, *self.stack[left_out:]] or ["(empty)"])
        return "\n".join(lines)

    def _as_written(self, width: int) -> list[str]:
        """Where the text stands in the rules of another dialect."""
        lines: list[str] = []
        for chain in self.written_rules:
            lines += _listed(width, "rules", re.split(r"(?<= in) ", chain), gap=" ")
        following = [*self.written_next, *(["the end"] if self.may_end else [])]
        if not self.reason.endswith(listing(following)):
            lines += _listed(width, "expected", following)
        return lines

    def _verdict(self, uncut: bool) -> str:
        if self.token is None and not self.allowed:
            return "error: "
        token = [] if self.token is None else [f"token {self.token}"]
        text = [quote(self.text) if uncut else head(self.text, _SHOWN_TEXT)] if self.text else []
        if token or text:
            return f"{' '.join([*token, *text])} is {'' if self.allowed else 'not '}allowed: "
        what = "the text so far" if self.before else "the empty text"
        return f"{what} is {'a whole text' if self.may_end else 'the beginning of a text'}: "

    @property
    def _tail(self) -> str:
        """What comes before the place."""
        near = self.text[max(0, self.viable - NEAR) : self.viable]
        return tail(self.before[-NEAR:] + near)

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return preformatted(self.render())


def _listed(width: int, head: str, items: Iterable[str], gap: str = "  ") -> list[str]:
    """Lines with a list in them, wrapped between the items: those may contain spaces of their own."""
    lines = [f"  {head + ':':<10}"]
    between = ""
    for item in items:
        if between and len(lines[-1] + between + item) > width:
            lines.append(" " * 12 + item)
        else:
            lines[-1] += between + item
        between = gap
    return lines
