"""`Matcher`: the native matcher, and what needs more than it: explanations, tokens for forced bytes."""

from __future__ import annotations

import codecs
import operator
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.arguments import require, require_count
from pdacon.base.html import preformatted
from pdacon.base.quoting import quote, tail
from pdacon.errors import LimitExceededError, MatcherError
from pdacon.grammar.labels import written_out
from pdacon.matching.budgets import Budget, left_at_start
from pdacon.matching.explaining import Explainer
from pdacon.matching.explanation import Explanation
from pdacon.matching.labelled import with_tokens
from pdacon.matching.spelled import is_spelled
from pdacon.regular.ordered.labels import FIRST_BYTE

_SHOWN_TOKENS = 16  # in a notebook


class Matcher(_core.Matcher):
    __doc__ = _core.Matcher.__doc__
    __slots__ = ("__weakref__", "_explainer")

    def __init__(
        self,
        pda: _core.TokenPda,
        max_rollback: int,
        leading_space: bool,
        keep_text: bool,
        explainer: Explainer,
        budget: Budget | None = None,
    ) -> None:
        """Use `Constraint.matcher`."""
        super().__init__(pda, max_rollback, leading_space, keep_text, *left_at_start(budget))
        self._explainer = explainer

    @classmethod
    def _on_demand(
        cls,
        nested: _core.NestedPda,
        whole: Callable[[], _core.TokenPda],
        max_rollback: int,
        leading_space: bool,
        keep_text: bool,
        explainer: Explainer,
    ) -> Matcher:
        """A matcher over an automaton that is made as texts are read; ``whole`` makes the one of all texts."""
        matcher = cls.__new__(cls)
        _core.Matcher.__init__(matcher, nested, whole, max_rollback, leading_space, keep_text)
        matcher._explainer = explainer
        return matcher

    def fork(self) -> Matcher:
        """An independent matcher at the same position, with the same history: these are shared, the text is copied."""
        twin = Matcher.__new__(Matcher)
        _core.Matcher.__init__(twin, self)
        twin._explainer = self._explainer
        return twin

    def forced_tokens(
        self, tokenize: Callable[[str], Iterable[SupportsIndex]] | None = None, limit: int = 1 << 16
    ) -> list[int]:
        """Tokens that spell what every continuation starts with, as far as they are settled. Changes nothing.

        The forced bytes are tokenized as a whole. Of the tokens those are left out, from the end, whose place a longer
        token could still take: one that goes on in a way that the grammar allows. What is returned can be accepted
        token by token.

        With ``canonical`` they are those of the tokenizer, and exact: each is the only token that is allowed in its
        place, until there are two.

        Parameters
        ----------
        tokenize : callable, optional
            Not used with ``canonical``. The model's own tokenizer, from text to ids without special tokens: for
            transformers ``lambda text: tokenizer.encode(text, add_special_tokens=False)``, for tiktoken
            ``encoding.encode_ordinary``. If it is not given, pairs are merged in the order of the tokens' ids, as in a
            BPE tokenizer. That is near to what most models have learned, but no more (see Notes).
        limit : int
            As for `forced_bytes`.

        Returns
        -------
        list of int
            Ids, never an end token; [] where nothing is forced or nothing is settled.

        Notes
        -----
        Cost, with ``canonical``: a mask for each token. Without: that of `forced_bytes` and of `tokenize`, and a mask
        for each place near the end where a longer token
        might fit.

        A tokenizer that reads the finished text mostly finds the same tokens there, but what follows may move cuts that
        lie further back. At 5,256 random places in JSON and Python, the tekken tokenizer cut the text up to there as
        it cut the whole text in 35 % of the cases; less the tokens whose place a longer one took, in 97 %.

        Merging by ids does not know where a tokenizer splits a text beforehand. Of 2,584 pieces of JSON, Python and
        prose in several scripts it cut 98 % as the tekken tokenizer does and 91 % as Mistral's SentencePiece one;
        longest token first, 65 % and 63 %.

        Source: token healing as in guidance (microsoft/guidance); docs/decisions/0006-forced-tokens.md.
        """
        if self._is_filtered():
            return self._only_tokens(operator.index(limit))
        forced = self.forced_bytes(limit)
        if not forced:
            return []
        if tokenize is None:
            tokens = self._merged(forced)
        else:
            tokens = [operator.index(token) for token in tokenize(forced.decode("utf-8", "ignore"))]
        count: int = self._settled(tokens, forced)
        return tokens[:count]

    def _only_tokens(self, limit: int, most: int | None = None) -> list[int]:
        """Of at most so many bytes and tokens, those each of which is the only one that its mask allows."""
        twin, tokens = self.fork(), list[int]()
        length = twin._length()
        words = np.zeros(-(-self._explainer.vocabulary_size // 32), dtype=np.int32)
        while most is None or len(tokens) < most:
            twin.fill_bitmask(words)
            token = _only_bit(words)
            if token is None or not twin.accept_token(token):
                break
            if twin.is_terminated() or twin._length() - length > limit:
                break
            tokens.append(token)
        return tokens

    def accept(self, text: str | bytes) -> bool:
        """Accept a text, as `accept_bytes` does its bytes. False, and nothing changes, if the grammar forbids it.

        A text that is cut within a character goes on with the rest of it. `rollback` takes it back as one accept.

        Raises
        ------
        LimitExceededError
            "depth": more symbols would be open than ``Limits.depth`` allows.
        MatcherError
            Another thread uses the matcher.

        Notes
        -----
        Cost: O(bytes of the text), some 10 to 60 ns each; under canonical, that of a mask too.
        """
        data = self._encoded("accept", text)
        return data is not None and self.accept_bytes(data)

    def least_tokens(self) -> int:
        """The fewest tokens after which the text is a sentence, end tokens not counted; 0 if it is one now.

        Exact unless `has_exact_budgets` is False. With ``canonical`` they are the tokenizer's own.

        Raises
        ------
        ValueError
            The grammar has a postlex, and the constraint is canonical or lines are within strings of JSON.
        MatcherError
            No tokens of the vocabulary complete the text, or another thread uses the matcher.

        Notes
        -----
        A shortest path in the pushdown automaton over tokens (Reps, Schwoon, Jha and Melski 2005); see
        `has_exact_budgets`. Cost: O(1) for each LR state that was pushed since the last call; the first call of a
        constraint prepares what all share.
        """
        return self._least_of("tokens")

    def least_bytes(self) -> int:
        """The fewest bytes after which the text is a sentence, of texts that tokens can spell; 0 if it is one now.

        Exact, in grammars of any size; with a postlex, or with ``canonical``, an upper bound (`has_exact_budgets`).

        Raises
        ------
        ValueError
            The grammar has a postlex, and the constraint is canonical or lines are within strings of JSON.
        MatcherError
            No tokens of the vocabulary complete the text, or another thread uses the matcher.

        Notes
        -----
        Cost: as of `least_tokens`.
        """
        return self._least_of("bytes")

    def _least_of(self, unit: str) -> int:
        least: int = self._least(unit == "bytes")
        if least < 0 and self._is_filtered():
            raise MatcherError(
                "no way to complete this text in the tokenizer's own tokens is known: only ways near to the shortest "
                "text are looked for; leave the budget out, or canonical"
            )
        if least < 0 and not self.has_exact_budgets:
            raise MatcherError(
                "no way to complete this text within a budget is known: no tokens of the vocabulary do, or its lines "
                "would begin more than 2,048 columns in"
            )
        if least < 0:
            raise MatcherError("no tokens of the vocabulary complete this text")
        return least

    def keep_within(self, budget: Budget) -> None:
        """From here on the text is to be a sentence within a budget, as with ``budget`` of `Constraint.matcher`.

        It replaces any other budget, and counts from here. What was accepted before keeps the budget that it had:
        after a `rollback` to there, that one holds again.

        Raises
        ------
        ValueError
            No sentence is so near: the message says how much the nearest takes.
        MatcherError
            See `least_tokens`.
        """
        require("keep_within", "budget", budget, Budget)
        least = self._least_of(budget.unit)
        if budget.most < least:
            raise ValueError(f"a budget of {budget} is too small: the nearest sentence takes {least}")
        self._limit(*left_at_start(budget))

    @property
    def has_exact_budgets(self) -> bool:
        """Whether `least_tokens` is exact, and masks under a budget with it; False: it is an upper bound.

        It is a bound in large grammars, where states of the lexer times states of the parser are more than 400,000:
        the fewest tokens of those completions that are as short in bytes as can be. In a grammar with a postlex
        `least_bytes` is a bound, too: of those completions that are as short as can be without the blanks that lines
        begin with, and these blanks are counted as for the furthest column that a line may need. With ``canonical``
        both are bounds: only ways near to the shortest text are looked for (docs/decisions/0038-canonical-budgets.md).
        Texts end within their budgets all the same, and none has to stop where nothing is allowed; but some tokens are
        not allowed that another way would still lead on from.
        """
        return self._distances_are_exact() and not self._is_filtered()

    @property
    def tokens_left(self) -> int | None:
        """How many tokens may follow of a budget in tokens; None: any number."""
        left: int = self._left()[0]
        return None if left < 0 else left

    @property
    def bytes_left(self) -> int | None:
        """How many bytes may follow of a budget in bytes; None: any number."""
        left: int = self._left()[1]
        return None if left < 0 else left

    def shortest_completion(self) -> bytes:
        """The text that completes the sentence with the fewest bytes; of those the least, byte by byte.

        In a grammar with indentation the blanks that begin a line are not counted. With ``canonical`` the tokens so
        far go on with those that spell it.

        Raises
        ------
        MatcherError
            It has a label of a grammar with ``extensions=True``, which is a token and no text. Or, with ``canonical``,
            the tokenizer cuts the text with this completion in another way than the tokens so far, or it has more than
            4,096 bytes: another one would have to be searched for. Or it has more than 16,777,216 bytes.
        LimitExceededError, CancelledError
            A `time_limit` around the call ends while a long one is written, in a grammar without indentation.

        Notes
        -----
        Cost: O(depth of the stack + length of the answer), some 0.2 µs a byte; the first call prepares what all others
        share.
        """
        text = super().shortest_completion()
        if max(text, default=0) >= FIRST_BYTE and (labels := self._explainer.labels):
            shown = written_out(text, labels).decode("utf-8", "backslashreplace")
            raise MatcherError(
                f"the shortest completion is {shown:.200}, which is no text; go on with allowed_tokens()"
            )
        if self._is_filtered() and not self.is_terminated() and not is_spelled(self, text, self._explainer.ids):
            raise MatcherError(
                f"canonical: the grammar's shortest completion is {quote(text[:200])}, and with it the tokenizer cuts "
                "the text in another way than the tokens so far; go on with allowed_tokens()"
            )
        return text

    def completion(self) -> str:
        """The shortest text that makes a sentence of what was accepted: `shortest_completion` as a str.

        Bytes at its beginning that end a character which was begun are escaped, as in ``\\xa9``. Cost: that of
        `shortest_completion`.
        """
        return self.shortest_completion().decode(self._explainer.encoding, "backslashreplace")

    @property
    def text(self) -> str:
        """The text so far, without the character that its last bytes only begin.

        Raises
        ------
        MatcherError
            The matcher keeps no text, or another thread uses it.
        """
        if not self._keeps_text():
            raise MatcherError("this matcher keeps no text; make it with keep_text=True")
        text = self._text()
        if labelled := self._labelled():
            text = with_tokens(text, labelled, self._explainer.tokens)
        return codecs.getincrementaldecoder(self._explainer.encoding)("backslashreplace").decode(text)

    def _mask_key(self) -> Hashable:
        """What is equal for matchers of one constraint and start if and only if their masks are."""
        if not self._is_filtered():
            return self.mask_id()
        words = np.zeros(-(-self._explainer.vocabulary_size // 32), dtype=np.int32)
        self.fill_bitmask(words)
        return words.tobytes()

    def allowed_tokens(self) -> list[int]:
        """The ids of the tokens that may come next, ascending.

        Cost: some milliseconds where 100,000 tokens may; a host that generates uses `fill_bitmask`.
        """
        return np.flatnonzero(self.allowed_mask()).tolist()  # type: ignore[no-any-return]

    def allowed_mask(self) -> NDArray[np.bool_]:
        """Which tokens may come next: bool[V], a new array. `fill_bitmask` has the same as bits, and faster."""
        size = self._explainer.vocabulary_size
        words = np.zeros(-(-size // 32), dtype=np.int32)
        self.fill_bitmask(words)
        return np.unpackbits(words.view(np.uint8), bitorder="little", count=size).view(np.bool_)

    def explain(self, token: SupportsIndex | str | bytes, *, lexemes: int | None = 10) -> Explanation:
        """Why a token, or some bytes, may or may not come next. Changes nothing.

        Parameters
        ----------
        token : int, str or bytes
            The id of a token, or text. ``""`` asks for no more than what is expected here.
        lexemes : int or None
            The most lexemes to tell of, the last ones; None: all.

        Returns
        -------
        Explanation
            ``.allowed`` is what `is_allowed` says; ``.reason`` is one sentence; ``.render()``, or ``str()``, is some
            lines for people.

        Raises
        ------
        IndexError
            The id is outside the vocabulary.
        MatcherError
            Another thread uses this matcher, or it keeps no text.
        ValueError
            ``lexemes`` is negative, or the grammar has ``use_bytes`` and the text a character that is no byte.

        Notes
        -----
        For people, not for the step of a model: the text so far is read again, which costs some times what accepting it
        does; the lexeme that it ends in is read in plain Python; and the first question to a constraint builds its
        parse tables once more.
        """
        if lexemes is not None and require_count("explain", "lexemes", lexemes) < 0:
            raise ValueError(f"lexemes is {lexemes}; it must be at least 0, or None for all of them")
        asked = self._asked(token) if isinstance(token, str) else token
        return self._explainer.explain(self, asked, lexemes)

    def _asked(self, text: str) -> bytes:
        """The bytes of a text that is asked about; of half a surrogate pair three, which are together in no UTF-8."""
        encoding = self._explainer.encoding
        try:
            return text.encode(encoding, "surrogatepass")
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise ValueError(
                f"explain: character {error.start} is U+{ord(character):04X}, and the texts of a grammar with "
                f"use_bytes are bytes, U+0000 to U+00FF ({encoding}); leave it out, or give bytes"
            ) from None

    def _encoded(self, caller: str, text: str | bytes) -> bytes | None:
        """The bytes of a text; None if it has none, so that no sentence has it."""
        if not isinstance(text, str | bytes):
            advice = "; a token's id goes to accept_token" if hasattr(text, "__index__") else ""
            raise TypeError(f"{caller} takes a str or bytes, not {type(text).__name__}{advice}")
        try:
            return text.encode(self._explainer.encoding) if isinstance(text, str) else text
        except UnicodeEncodeError:
            return None

    def __repr__(self) -> str:
        try:
            text = f" ({tail(self._text())})" if self._keeps_text() else ""
            inside = (self._explainer.value_name(self._text()) if self._keeps_text() else "") or "the text"
            state = "terminated" if self.is_terminated() else "accepting" if self.is_accepting() else f"in {inside}"
        except MatcherError:  # whoever prints a matcher, a debugger say, does not ask it for anything
            return "<Matcher in use by another thread>"
        except LimitExceededError:
            state = "at a limit of its constraint"
        return f"<Matcher after {self._length()} bytes{text}, {state}>"

    def _repr_html_(self) -> str:
        """Where it stands, and the first of the tokens that may come next."""
        lines = [repr(self)]
        with suppress(MatcherError, LimitExceededError):  # the first line says so
            allowed = self.allowed_tokens()
            texts = (self._explainer.tokens[token] for token in allowed[:_SHOWN_TOKENS])
            shown = "  ".join(quote(text) if text else "(an end token)" for text in texts)
            more = "  ..." if len(allowed) > _SHOWN_TOKENS else ""
            lines.append(f"{len(allowed):,} of {self._explainer.vocabulary_size:,} tokens may come next: {shown}{more}")
        return preformatted("\n".join(lines))


def _only_bit(words: NDArray[np.int32]) -> int | None:
    """The number of the only bit that is set; None if there is none, or another one."""
    places = np.flatnonzero(words)
    if len(places) != 1:
        return None
    word = int(words[places[0]]) & 0xFFFFFFFF
    return None if word & (word - 1) else 32 * int(places[0]) + word.bit_length() - 1
