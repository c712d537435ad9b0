"""Explain what a matcher allows, by the executable meaning of its grammar.

In: a matcher and what is asked about, a token or bytes. Out: an `Explanation`. The answer itself comes from the native
matcher, and so do the lexemes and what can come next; the reasons come from `pdacon.pda.Configuration`, which reads no
more of the text than the lexeme that it ends in. This module brings them together; `reasons` words them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import SupportsIndex

from pdacon._native import _core
from pdacon.base.cancelling import raise_if_out_of_time
from pdacon.base.limits import Limits
from pdacon.base.quoting import first_character, listing, quote
from pdacon.composition import byte_vocabulary, compose, lower
from pdacon.detokenizer import Vocabulary
from pdacon.errors import LimitExceededError, UnsupportedSchemaError
from pdacon.frontends.dialects import Standing
from pdacon.frontends.json_schema import is_in_value, value_at
from pdacon.grammar import GrammarData
from pdacon.grammar.labels import Label
from pdacon.grammar.sizes import automaton_states
from pdacon.lalr import build_tables
from pdacon.matching.enclosing import Enclosing
from pdacon.matching.explaining_on_demand import explained_on_demand, refused_by_schema, schema_at
from pdacon.matching.explanation import Asked, Cut, Explanation
from pdacon.matching.labelled import with_labels
from pdacon.matching.located import disagreement, locate
from pdacon.matching.naming import Names
from pdacon.matching.next_terminals import Following
from pdacon.matching.reasons import Reason, Reasons, Refused
from pdacon.matching.viable import accept_most
from pdacon.pda import Configuration, Expectation, LexemeReader, Machine

_OF_VALUES = re.compile(r"\b(STRING|NUMBER|INTEGER)_\w+")
_LONGEST_READ = 4096  # bytes that are read to name a value
_BYTES = tuple(bytes([byte]) for byte in range(256))


class Explainer:
    """What the matchers of one start symbol share to explain themselves; all of it is made at the first question."""

    def __init__(
        self,
        grammar: Callable[[], GrammarData],
        vocabulary: Callable[[], Vocabulary],
        start: int,
        pda: Callable[[], _core.TokenPda],
        filter: _core.CanonicalFilter | None = None,
        encoding: str = "",
        schema: str = "",
    ) -> None:
        """What may be known without the grammar: how texts become bytes (``encoding``), and a JSON Schema's text."""
        self._load_grammar = grammar
        self._load_vocabulary = vocabulary
        self._start = start
        self._load_pda = pda
        self._known_encoding, self._known_schema = encoding, schema
        self._has_no_whole = False
        self._filter = filter

    @property
    def encoding(self) -> str:
        return self._known_encoding or self._grammar.options.encoding

    @property
    def vocabulary_size(self) -> int:
        return self._vocabulary.size

    @property
    def labels(self) -> tuple[Label, ...]:
        return self._grammar.labels

    @property
    def tokens(self) -> tuple[bytes | None, ...]:
        return self._vocabulary.tokens

    @cached_property
    def ids(self) -> dict[bytes, list[int]]:
        found: dict[bytes, list[int]] = {}
        for i, text in enumerate(self._vocabulary.tokens):
            if text:
                found.setdefault(text, []).append(i)
        return found

    @cached_property
    def _grammar(self) -> GrammarData:
        return self._load_grammar()

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return self._load_vocabulary()

    @cached_property
    def _machine(self) -> Machine:
        return Machine(self._grammar, build_tables(self._grammar))

    @cached_property
    def _names(self) -> Names:
        return Names(self._grammar, self._start)

    @cached_property
    def _reasons(self) -> Reasons:
        return Reasons(self._machine, self._start, self._names, self._enclosing)

    @cached_property
    def _following(self) -> Following:
        return Following(self._grammar)

    @cached_property
    def _enclosing(self) -> Enclosing:
        return Enclosing(self._grammar, self._machine.tables)

    @cached_property
    def _bytewise(self) -> _core.TokenPda:
        """The constraint for single bytes, which tells the grammar from the vocabulary."""
        if set(_BYTES).issubset(self._vocabulary.tokens):
            return self._load_pda()
        return self._for_bytes(self._grammar)

    @cached_property
    def _without_sets(self) -> _core.TokenPda:
        """The same for what the rules allow, whatever sets the texts have to be in."""
        return self._for_bytes(replace(self._grammar, within=()))

    def _for_bytes(self, grammar: GrammarData) -> _core.TokenPda:
        limits = Limits().beside(automaton_states(grammar))
        tables, lexer = lower(grammar, limits)
        return compose(lexer, tables, byte_vocabulary(grammar), limits).pda(self._start)

    def lexemes(self, matcher: _core.Matcher, text: bytes) -> list[tuple[int, int, int]]:
        """What the parser is told of a sentence: the terminals, and where in the text each of them is.

        ``matcher``: any of the constraint's. ``text``: a sentence.
        """
        _, rows, begin, _, _ = matcher._trace(text, 0, -1)
        found = [(label, first, last) for label, first, last, dropped in rows.reshape(-1, 4).tolist() if not dropped]
        # The end of the text decides the last lexeme, and with it perhaps what is read again.
        place = locate(self._machine, self._start, matcher, text, LexemeReader()).place
        last = place.at_end()
        if last is not None and last.last is not None and last.last.previous is not None:
            last = locate(self._machine, self._start, matcher, text, None).place.at_end()
        assert last is not None
        end, lexeme = len(text), last.last
        rest: list[tuple[int, int, int]] = []
        while lexeme is not None:
            start = begin if lexeme.previous is None else end - lexeme.length
            rest += [] if lexeme.ignored else [(lexeme.terminal, start, end)]
            end, lexeme = start, lexeme.previous
        return [*found, *reversed(rest)]

    def explain(self, matcher: _core.Matcher, asked: SupportsIndex | bytes, lexemes: int | None) -> Explanation:
        if self._known_schema and matcher._is_nested() and self._cannot_be_whole():
            return explained_on_demand(matcher, self._answer(matcher, asked), self._known_schema)
        answer = token, text, allowed = self._answer(matcher, asked)
        before = matcher._text()
        probe = self._behind(before)
        terminated = matcher.is_terminated()
        viable = 0 if terminated else accept_most(probe._accept_spelled, text)
        read = before + text[:viable]
        reader = LexemeReader()
        located = locate(self._machine, self._start, probe, read, reader, since=len(before), most=lexemes)
        place = located.place
        expected = self._following.expect(place, read, matcher if terminated else probe, reader)
        written = None if self._grammar.within else written_standing(self._grammar, read)
        may_end = terminated or (
            probe.is_accepting() and self._ends(matcher, token if allowed else None, text[:viable])
        )
        if terminated:
            reason = Reason("an end token has ended it; only end tokens may follow")
        elif token is not None and not self._vocabulary.tokens[token] and not text:
            is_end = token in self._vocabulary.eos_ids
            why = self._why_no_end(matcher, probe) if is_end and not allowed else ""
            reason = Reason(why or self._reasons.without_text(place, read, expected, allowed=allowed, is_end=is_end))
        elif not text and not allowed and token is not None and self._filter is not None:
            reason = Reason(self._why_filter(self._filter, matcher._filter_state(), token))
        elif not text:
            space = "" if token is None else "its space is not part of the text; "
            following = self._names.expected(expected) if written is None else _next_of(written)
            reason = Reason(f"{space}expected {following}")
        elif allowed:
            reason = Reason("it is a whole text" if may_end else "some sentence goes on with it")
        elif token is not None and self._filter is not None and matcher._grammar_allows(token):
            reason = Reason(self._why_filter(self._filter, matcher._filter_state(), token))
        elif viable == len(text):
            reason = Reason("the grammar allows it, but no tokens of this vocabulary spell anything that can follow")
        else:
            before_lexeme = partial(self._expect_before, read, probe, reader)
            why = self._why_schema(read, text[viable:]) or self._why_set(read, text[viable:])
            if written is not None and not why:
                why = f"{quote(first_character(text[viable:]))} cannot come here; expected {_next_of(written)}"
            reason = (
                Reason(why)
                if why
                else self._reasons.why(Refused(place, read, text[viable:], reader, before_lexeme), expected)
            )
            if narrowed := self._names.narrowed((*expected.unfinished, *expected.next)):
                reason = replace(reason, text=f"{reason.text}; {narrowed}")
        expectation = self._names.names(expected.next)
        explanation = replace(
            Explanation.without_grammar(answer, reason.text, before, viable, expectation, may_end=may_end),
            lexeme=read[len(read) - place.length :],
            unfinished=self._names.names(expected.unfinished),
            blocks=place.margin.columns,
            unlisted=reason.unlisted,
            cuts=located.cuts + reason.cuts,
            earlier_cuts=located.earlier,
            stack=self._names.names(located.symbols),
            rules=tuple(self._names.item(*item) for item in self._enclosing.kernel(place.stack.state)),
            within=tuple(self._enclosing.rules(place.stack)),
            ignored=self._names.ignored(expected),
            schema=self._schema(read),
            written_rules=() if written is None else written.rules,
            written_next=() if written is None else written.expected,
        )
        return with_labels(self._in_words(explanation, read), self._grammar.labels)

    def _in_words(self, explanation: Explanation, read: bytes) -> Explanation:
        """What a schema's author calls a value, in place of a terminal whose name no author has given."""
        if not explanation.schema or not any(_OF_VALUES.search(terminal.name) for terminal in self._grammar.terminals):
            return explanation
        cuts = tuple(Cut(_OF_VALUES.sub(r"\1", cut.terminal), cut.text, cut.fate) for cut in explanation.cuts)
        explanation = replace(explanation, cuts=cuts)
        text = read.decode(errors="ignore")
        words = value_at(self._grammar.source, text)[1] if is_in_value(text) else ""

        def worded(text: str) -> str:
            return _OF_VALUES.sub(lambda found: words or found[1], text)  # words may have backslashes

        def all_worded(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(map(worded, names)))

        return replace(
            explanation,
            reason=worded(explanation.reason),
            expected=all_worded(explanation.expected),
            unfinished=all_worded(explanation.unfinished),
        )

    def value_name(self, read: bytes) -> str:
        """What a schema's author calls the value that a text ends in; empty of other grammars, and of long texts."""
        if len(read) > _LONGEST_READ or not (self._known_schema or self._grammar.language == "JSON Schema"):
            return ""
        return value_at(self._known_schema or self._grammar.source, read.decode(errors="ignore"))[0]

    def _cannot_be_whole(self) -> bool:
        """Whether the grammar of a schema that is read on demand is refused, because it would be too large."""
        if not self._has_no_whole:
            try:
                self._load_pda()
            except (UnsupportedSchemaError, LimitExceededError) as error:
                raise_if_out_of_time(error)
                self._has_no_whole = True
        return self._has_no_whole

    def _ends(self, matcher: _core.Matcher, token: int | None, text: bytes) -> bool:
        """Whether the filter lets the text end after a token, or after some bytes; without a filter: always."""
        if self._filter is None:
            return True
        twin = _core.Matcher(matcher)
        return (twin.accept_bytes(text) if token is None else twin.accept_token(token)) and twin.is_accepting()

    def _why_no_end(self, matcher: _core.Matcher, probe: _core.Matcher) -> str:
        """Why a text may not end where the rules let it; empty if they do not. ``probe`` stands after the text."""
        text = matcher._text()
        if self._filter is None or not probe.is_accepting():
            return self._why_set(text, b"")
        if not text:
            return "canonical: the tokenizer makes no tokens of the empty text, and there is one here"
        return "canonical: where the text ends here, the tokenizer cuts it in another way"

    def _why_filter(self, filter: _core.CanonicalFilter, state: int, token: int) -> str:
        """Why a token that the grammar allows is not what the tokenizer itself would produce."""
        text = quote(self._vocabulary.tokens[token] or b"")
        if not filter.keeps(state, token):
            return f"canonical: with {text} here, the tokenizer's normalizer changes the text"
        if filter.step(0, token) < 0 and filter.step(state, token) < 0:
            return f"canonical: the tokenizer never begins a text with token {token}, nor goes on with it here"
        if filter.step(state, token) < 0:
            return f"canonical: with {text} here, the tokenizer cuts the text in another way"
        return f"canonical: in no text that goes on from here as the grammar wants does the tokenizer cut off {text}"

    def _schema(self, read: bytes) -> tuple[str, ...]:
        if self._grammar.language != "JSON Schema":
            return ()
        return schema_at(self._grammar.source, read)

    def _why_schema(self, read: bytes, refused: bytes) -> str:
        """Why a JSON Schema does not take what comes after a text; empty where its grammar says it best."""
        if self._grammar.language != "JSON Schema":
            return ""
        return refused_by_schema(
            self._grammar.source, read, refused, lambda: _core.Matcher(self._bytewise, 1, False, False)
        )

    def _why_set(self, read: bytes, refused: bytes) -> str:
        """Which regular set does not have what comes after a text, or its end; empty if the rules refuse that, too."""
        if not self._grammar.within:
            return ""
        probe = _core.Matcher(self._without_sets, 1, False, False)
        next_one = first_character(refused) if refused else b""
        if not probe.accept_bytes(read) or not (probe.accept_bytes(next_one) if refused else probe.is_accepting()):
            return ""
        names = self._machine.sets_without(read + next_one, whole=not refused)
        what = f"{quote(next_one)} here" if refused else "the end of the text here"
        if names:
            return f"the rules allow {what}, but no text of {listing(names)} has it"
        both = listing(texts.name for texts in self._grammar.within)
        return f"the rules allow {what}, but then lead to no text of {both}"

    def look(self, matcher: _core.Matcher) -> tuple[bytes, Expectation]:
        """What has been read of a lexeme where a matcher stands, and what may come there, as its mask says."""
        text = matcher._text()
        reader = LexemeReader()
        place = locate(self._machine, self._start, matcher, text, reader).place
        lexeme = text[len(text) - place.length :]
        if matcher.is_terminated():
            return lexeme, self._following.expect(place, text, matcher)
        probe = _core.Matcher(self._load_pda(), 1, matcher._leading_space(), False)
        if not probe._accept_spelled(text):
            raise disagreement(f"a matcher has accepted {text[-80:]!r}, and another one does not")
        return lexeme, self._following.expect(place, text, probe, reader)

    def _behind(self, text: bytes) -> _core.Matcher:
        """A matcher for single bytes after a text; it keeps no text, and can take back one accept."""
        probe = _core.Matcher(self._bytewise, 1, False, False)
        if not probe._accept_spelled(text):
            raise disagreement(f"the ones accept {text[-80:]!r}, and the other does not")
        return probe

    def _expect_before(
        self, read: bytes, probe: _core.Matcher, reader: LexemeReader, place: Configuration
    ) -> Expectation:
        """What may come before the lexeme that has been begun in a place; ``probe`` stands after ``read``."""
        before = read[: len(read) - place.length]
        behind = probe if place.fresh else self._behind(before)
        return self._following.expect(place.restart(), before, behind, reader)

    def _answer(self, matcher: _core.Matcher, asked: SupportsIndex | bytes) -> Asked:
        """The token, if one was asked about, its text, and whether it is allowed."""
        if isinstance(asked, bytes):
            return Asked(None, asked, not asked or _core.Matcher(matcher).accept_bytes(asked))
        if isinstance(asked, bool) or not hasattr(asked, "__index__"):
            raise TypeError(f"explain takes a token id, a str or bytes, not {type(asked).__name__}")
        token = operator.index(asked)
        allowed = matcher.is_allowed(token)
        fork = _core.Matcher(matcher)
        if not self._has_no_whole and self._grammar.labels and fork.accept_token(token):  # as text or as a label
            return Asked(token, fork._text()[matcher._length() :], allowed)
        text = self._vocabulary.tokens[token] or b""
        return Asked(token, text.removeprefix(b" ") if matcher._leading_space() else text, allowed)


def written_standing(grammar: GrammarData, read: bytes) -> Standing | None:
    """Where a text stands in the rules of a dialect; None where there are none, or a character has been begun."""
    if grammar.language not in ("GBNF", "EBNF"):
        return None
    from pdacon.frontends.dialects import standing  # here, as other grammars need none of it

    try:
        return standing(grammar, read.decode())
    except UnicodeDecodeError:
        return None


def _next_of(written: Standing) -> str:
    return listing([*written.expected, *(["the end"] if written.may_end else [])])
