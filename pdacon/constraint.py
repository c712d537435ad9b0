"""`Constraint`: a grammar compiled for a vocabulary, in memory or in a file.

In: what `compile` has made, or a file or bytes that hold such. Out: matchers, masks by number, the report, and the
bytes of a file. What a loaded constraint does not need for its masks is read when it is first asked for.
"""

from __future__ import annotations

import mmap
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.arguments import require, require_bool, require_count
from pdacon.base.html import preformatted
from pdacon.composition import StoredConstraint, encode, map_file, native_trie, write
from pdacon.determinism import DeterminismReport, check_within
from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.errors import ArtifactError, EmptyLanguageError, UnsupportedGrammarError, VocabularyError
from pdacon.filters import TokenFilter, canonical_of
from pdacon.grammar import Grammar, GrammarSource, grammar_of, held_bytes
from pdacon.matching import Matcher
from pdacon.matching.budgets import Budget
from pdacon.matching.explaining import Explainer
from pdacon.values import UNKNOWN, reader_of

T = TypeVar("T")


class _Once(Generic[T]):
    """What is made when it is first asked for, by whichever thread that is."""

    __slots__ = ("_lock", "_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make: Callable[[], T] | None = make
        self._made: T | None = None
        self._lock = threading.Lock()

    def __call__(self) -> T:
        if self._make is not None:
            with self._lock:
                if self._make is not None:
                    self._made = self._make()
                    self._make = None
        return cast(T, self._made)

    @property
    def is_made(self) -> bool:
        return self._make is None


class Constraint:
    """A grammar compiled for a vocabulary; `compile` makes it, `load` reads one that was saved.

    Logically frozen, and safe from any thread: what it computes on demand it keeps. It pickles as the bytes of
    `to_bytes`, with the masks that are known by then.

    Attributes
    ----------
    grammar : Grammar
    vocabulary : Vocabulary
    report : DeterminismReport
    """

    __slots__ = (
        "__weakref__",
        "_empty",
        "_explainers",
        "_filter",
        "_grammar",
        "_grammar_bytes",
        "_name",
        "_pdas",
        "_report",
        "_size",
        "_starts",
        "_vocabulary",
    )

    def __init__(
        self,
        grammar: Callable[[], Grammar],
        vocabulary: Callable[[], Vocabulary],
        report: Callable[[], DeterminismReport],
        pdas: tuple[_core.TokenPda, ...],
        *,
        starts: tuple[str, ...],
        empty: frozenset[int],
        name: str,
        size: int,
        filter: TokenFilter | None = None,
    ) -> None:
        """Use `compile` or `load`."""
        self._grammar = grammar
        self._grammar_bytes: int | None = None
        self._vocabulary = vocabulary
        self._report = _Once(report)
        self._pdas = pdas
        self._starts = starts
        self._empty = empty
        self._name = name
        self._size = size
        self._filter = filter
        native = None if filter is None else filter.native
        self._explainers = tuple(Explainer(grammar, vocabulary, start, pda, native) for start, pda in enumerate(pdas))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        vocabulary: Vocabulary | None = None,
        *,
        tokenizer: Any = None,
        model: Any = None,
        grammar: GrammarSource | None = None,
        verify: bool = False,
    ) -> Constraint:
        """Load what `save` has written: a file that is mapped into memory, and shared by all processes that do so.

        Parameters
        ----------
        path : path
            Never change the file while it is mapped; `save` puts another one in its place.
        vocabulary : Vocabulary, optional
            What the constraint has to be for. Without it the vocabulary comes from the file, once it is asked for.
        tokenizer, model : optional
            In place of the vocabulary, as in `compile`. A canonical constraint has to be of this tokenizer, too: the
            tokens alone do not say what it merges. Without it the file's own definition of its tokenizer is used.
            A `tokenizers.Tokenizer` names no end tokens: it is compared if the vocabulary is given beside it.
        grammar : Grammar, str or pathlib.Path, optional
            What the constraint has to be of, as in `compile`.
        verify : bool
            Check all of the file now. By default what is read at once is checked at once, each mask when it is first
            used, and the grammar, its names and the order of the tokens when they are.

        Returns
        -------
        Constraint
            It has the masks that were known when it was saved; others are computed when they are first needed, as
            after `compile`. The first of those is preceded by some of the work of a compilation.

        Raises
        ------
        ArtifactError
            The file is none of pdacon's, damaged, of another version of the format, of another grammar, vocabulary or
            (if it is canonical) tokenizer.
            It can also be raised later, by what finds damage in what is then first used.
        OSError
            The file cannot be read.

        Notes
        -----
        Nothing in a file is ever executed, and no content of a file makes the process crash. But checksums are no
        signatures: a file that somebody means to be wrong can have masks that are wrong.

        Cost: for 131,072 tokens a third of a millisecond for JSON, about one for SQL and Python (decision 14). The
        first canonical one of a tokenizer in a process takes as long as its automaton over tokens: some tenths of a
        second (decision 40).
        """
        name = os.fsdecode(path)
        beside = vocabulary is not None and tokenizer is not None and model is None
        if beside:
            vocabulary_of("load", vocabulary)
        elif tokenizer is not None or model is not None:
            vocabulary = vocabulary_of("load", vocabulary, tokenizer, model)
        if grammar is not None:
            grammar = grammar_of("load", grammar)
        loaded = cls._stored(map_file(name), name, vocabulary, grammar, verify)
        if loaded._filter is not None and tokenizer is not None:
            _require_tokenizer(name, loaded._filter, tokenizer, loaded.vocabulary)
        elif beside:
            raise TypeError("load: give vocabulary or tokenizer; both are for what was compiled with canonical")
        return loaded

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview,
        vocabulary: Vocabulary | None = None,
        *,
        grammar: Grammar | None = None,
        verify: bool = False,
    ) -> Constraint:
        """Load what `to_bytes` has made. As `load`; the bytes are used where they are and kept alive.

        Of a bytearray, or of another memory that can change, a copy is used.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"from_bytes takes bytes, a bytearray or a memoryview, not {type(data).__name__}")
        view = memoryview(data)
        # A view of memory that its owner can change may be read-only itself.
        fixed = isinstance(view.obj, bytes) or (isinstance(view.obj, mmap.mmap) and memoryview(view.obj).readonly)
        in_place = fixed and view.c_contiguous
        return cls._stored(view if in_place else view.tobytes(), "these bytes", vocabulary, grammar, verify)

    @classmethod
    def _stored(
        cls,
        memory: bytes | memoryview | mmap.mmap,
        name: str,
        vocabulary: Vocabulary | None,
        grammar: Grammar | None,
        verify: bool,
    ) -> Constraint:
        for what, given, kind in (("vocabulary", vocabulary, Vocabulary), ("grammar", grammar, Grammar)):
            if given is not None:
                require("load", what, given, kind)
        require_bool("load", "verify", verify)
        stored = StoredConstraint(memory, name, verify)
        settings = stored.settings
        if vocabulary is not None and not (
            vocabulary.size == settings.size and vocabulary.fingerprint == settings.vocabulary
        ):
            raise ArtifactError(
                f"{name}: compiled for another vocabulary (of {settings.size} tokens, fingerprint "
                f"{settings.vocabulary[:12]}) than the one given (of {vocabulary.size} tokens, fingerprint "
                f"{vocabulary.fingerprint[:12]}); compile the grammar for this one and save that"
            )
        if grammar is not None and grammar.fingerprint != settings.grammar:
            raise ArtifactError(
                f"{name}: compiled from another grammar ({settings.name}, fingerprint {settings.grammar[:12]}) than "
                f"the one given (fingerprint {grammar.fingerprint[:12]}); compile this one and save that"
            )
        load_grammar = _Once(stored.grammar) if grammar is None else (lambda: grammar)
        load_vocabulary = _Once(stored.vocabulary) if vocabulary is None else (lambda: vocabulary)
        return cls(
            load_grammar,
            load_vocabulary,
            partial(_report_again, load_grammar, load_vocabulary),
            stored.pdas,
            starts=settings.starts,
            empty=settings.empty,
            name=settings.name,
            size=settings.size,
            filter=stored.filter,
        )

    def _of(self, grammar: Grammar) -> Constraint:
        """The same for a grammar with the same texts that stand for other values."""
        return Constraint(
            lambda: grammar,
            self._vocabulary,
            self._report,
            self._pdas,
            starts=self._starts,
            empty=self._empty,
            name=self._name,
            size=self._size,
            filter=self._filter,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the constraint to a file, for `load`: all of it, with the masks that are known by now.

        It is written beside the old file, if there is one, and put in its place then: who has that mapped keeps it.
        A link is followed, and an old file's permissions stay.

        Raises
        ------
        ArtifactError
            What a file cannot hold: a terminal with a lookahead of more than 4,096 bytes.
        OSError
            The file cannot be written, or what is there is a folder, a device or a pipe.
        """
        write(Path(os.fsdecode(path)), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The bytes that `save` would write."""
        return encode(self.grammar, self.vocabulary, self._pdas, self._empty, self._filter)

    @property
    def grammar(self) -> Grammar:
        """The grammar; of a loaded constraint, read from the file when it is first asked for."""
        return self._grammar()

    @property
    def builtin_name(self) -> str | None:
        """The name of the built-in grammar that this is a constraint of; None if it is of none of them."""
        return self.grammar.builtin_name

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary; of a loaded constraint, read from the file when it is first asked for, if none was given."""
        return self._vocabulary()

    @property
    def may_strip_leading_space(self) -> bool:
        """Whether `matcher` takes ``strip_leading_space``.

        Always, unless the constraint is canonical and its tokenizer does not put a space before every text.
        """
        return self._filter is None or self._filter.prefix == "always"

    @property
    def is_canonical(self) -> bool:
        """Whether only those tokens are allowed that the tokenizer itself makes of a text."""
        return self._filter is not None

    @property
    def report(self) -> DeterminismReport:
        """What ``check(grammar, vocabulary)`` finds, such as conflicts that ``conflicts="shift"`` settles.

        Made when it is first asked for, which costs what `check` does: some milliseconds to some seconds.
        """
        return self._report()

    def matcher(
        self,
        start: str | None = None,
        max_rollback: int | None = None,
        strip_leading_space: bool = False,
        keep_text: bool = True,
        max_tokens: int | None = None,
        max_bytes: int | None = None,
        soft: int | None = None,
    ) -> Matcher:
        """A matcher at the start of a text.

        Parameters
        ----------
        start : str, optional
            Which of the grammar's start rules; the first if it is not given.
        max_rollback : int, optional
            How many accepts the matcher can take back; all of them if it is not given. Each one kept costs 56
            bytes, and keeps the stack of its place alive.
        strip_leading_space : bool
            Whether one leading space of the first token with text is not part of the text, as in what SentencePiece
            tokenizers decode at the start of a text (`Vocabulary.strip_leading_space`). Masks count it exactly.
            What ``accept_bytes`` is given is the text itself; a token after that keeps its space.
        keep_text : bool
            Whether to keep the text, a byte for each of its bytes, for `Matcher.explain`. Without it and with
            ``max_rollback`` a matcher stays below 4 KiB, beside the parser's stack, however long the text gets.
        max_tokens : int, optional
            A budget: the text is a sentence within so many tokens, always. What would overrun is not allowed, and
            nothing else is forbidden (but see `Matcher.has_exact_budgets`): a token is allowed if and only if some
            sentence goes on from it within what is left. An end token is not counted, so a host whose own count
            includes it has one token more.
            ``accept_bytes`` counts as one token, however many bytes it is given. See docs/matcher.md.
        max_bytes : int, optional
            A budget in bytes of text, in place of one in tokens: exact, in grammars of any size without a postlex.
        soft : int, optional
            From when on an end is preferred: after so many tokens, or bytes, of the budget nothing is begun any more.
            A token is allowed then only if the end after it is no further than it is now: a string may go on, or be
            closed; a list may not get another element.

        Raises
        ------
        ValueError
            The grammar was not compiled for `start`, or a number is negative, or no sentence has so few tokens, or
            bytes: the message says how many the shortest has. Or there is a budget, and a grammar with a postlex has a
            constraint that is canonical, or lines within strings of JSON. Or both budgets are given, or `soft` without
            one. Or `strip_leading_space` is, and the constraint is canonical with a tokenizer that does not put a space
            before every text.
        EmptyLanguageError
            No text is a sentence of `start`, though there are some of another start (PDA007 in `report`). Or a
            vocabulary has no token for each byte, and none may begin a text with `strip_leading_space`, or without.
        """
        kept = -1 if max_rollback is None else require_count("matcher", "max_rollback", max_rollback)
        if max_rollback is not None and kept < 0:
            raise ValueError(f"max_rollback must not be negative, got {max_rollback}")
        budget = Budget.of("matcher", max_tokens, max_bytes, soft)
        require_bool("matcher", "strip_leading_space", strip_leading_space)
        require_bool("matcher", "keep_text", keep_text)
        if self._filter is not None and strip_leading_space and not self.may_strip_leading_space:
            raise ValueError(
                "strip_leading_space is for canonical where the tokenizer puts a space before every text, and this one "
                f"does so {self._filter.prefix}; leave one of them out"
            )
        index = self._index(start)
        if index in self._empty:
            self._require_beginning(index, strip_leading_space)
        kept = min(kept, sys.maxsize)  # more accepts than there can be
        matcher = Matcher(self._pdas[index], kept, strip_leading_space, keep_text, self._explainers[index], budget)
        if strip_leading_space or self._filter is not None:
            free = matcher if budget is None else self._reading(start, 0, False, strip_leading_space)
            if free._is_stuck() and not free.is_accepting():  # a vocabulary may have no token that ends a text
                raise self._no_beginning(index, strip_leading_space)
        if budget is not None and (labels := self.grammar.labels):
            raise UnsupportedGrammarError(
                f"{budget.name} is not for a grammar that has {labels[0]}, a token and no text; leave it out",
                feature="token labels",
            )
        if budget is not None and budget.most < (least := matcher._least_of(budget.what)):
            raise ValueError(f"{budget.name} is {budget.most}, and the shortest sentence has {least} {budget.what}")
        return matcher

    def accepts(self, text: str | bytes, start: str | None = None) -> bool:
        """Whether a text is a sentence of the grammar, be there tokens that spell it or not.

        Raises
        ------
        ValueError
            The grammar was not compiled for `start`.
        """
        matcher = self._reading(start, 0, keep_text=False)
        return matcher.accept(text) and matcher.is_accepting()

    def new_bitmask(self, batch: int = 1) -> NDArray[np.int32]:
        """A bitmask for `Matcher.fill_bitmask` and `fill_bitmasks`: int32[batch, ceil(V / 32)] of zeros.

        ``torch.from_numpy`` makes a tensor of it that shares its memory.
        """
        rows = require_count("new_bitmask", "batch", batch)
        if rows < 0:
            raise ValueError(f"batch must not be negative, got {batch}")
        return np.zeros((rows, -(-self._size // 32)), dtype=np.int32)

    def parse(self, text: str | bytes, start: str | None = None) -> Any:
        """The value that a sentence stands for, where the grammar knows one.

        Returns
        -------
        value
            Of `Grammar.from_type` an instance of the type, of `Grammar.from_function` and `Grammar.from_tools` a
            `Call`; nothing is evaluated, and no class is called that the type does not name. Else what ``json.loads``
            makes of it; of the built-in ``jsonl`` a list with the value of each line. Of `Grammar.compose` the
            ``lark.Tree`` of the outer grammar, with values, trees or else texts in the place of the inner ones; of
            `Grammar.escaped` what the text that is meant stands for, or is. A constraint that was loaded from a file
            knows types, and what it was composed of, only if the grammar was given to `load`.

        Raises
        ------
        ValueError
            The text is no sentence of the grammar, or a class refuses it, of which the message has the path and the
            reason.
        TypeError
            The grammar knows no values.
        RecursionError
            It is nested too deeply for ``json.loads``.
        """
        read = self._reader(start)
        if read is None:
            raise TypeError(f"{self._name} {UNKNOWN}")
        if not self.accepts(text, start):
            explanation = self._reading(start).explain(text)
            cut = "it is only the beginning of a text" if explanation.allowed else explanation.reason
            raise ValueError(f"{self._name}: this text is not a sentence: {cut}")
        return read(text if isinstance(text, str) else text.decode("utf-8"))

    def _reader(self, start: str | None = None) -> Callable[[str], Any] | None:
        """What makes a value of a sentence; None if the grammar knows none."""

        def lexemes(text: bytes) -> list[tuple[int, int, int]]:
            return self._explainers[self._index(start)].lexemes(self._reading(start), text)

        return reader_of(self.grammar, self.builtin_name, lexemes, start)

    def statistics(self, start: str | None = None) -> dict[str, int]:
        """Sizes and counts.

        Returns
        -------
        dict
            ``lexer_states``, ``byte_classes``, ``parser_states``, ``contexts``, ``lookahead`` (most bytes that are
            read again), ``masks_computed``, ``distinct_masks``, ``bytes`` (of memory: tables, masks and caches),
            ``situations_left`` (that ``eager=True`` left out; -1 if it was not asked for). With ``canonical``, also
            ``canonical_sets`` (of tokens, for all configurations and last tokens so far) and
            ``canonical_searches_cut`` (searches that met their bound: tokens may be missing from their masks).
        """
        return self._pda(start).statistics()

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the constraint holds by now: its tables, masks and caches, and its grammar.

        As they were allocated, which the process grows by, but for what the allocator itself needs. What belongs to
        the vocabulary is not among them, nor what reports and explanations have made, nor a file that is mapped, whose
        pages the system shares and can take back.

        Cost: some microseconds; it waits for no other thread.
        """
        if self._grammar_bytes is None and not (isinstance(self._grammar, _Once) and not self._grammar.is_made):
            self._grammar_bytes = held_bytes(self._grammar())
        native = self._pdas[0].lexer_held + sum(pda.held for pda in self._pdas)
        return native + (self._grammar_bytes or 0)

    def mask_table(self, since: int = 0, start: str | None = None) -> NDArray[np.int32]:
        """The masks seen so far, by id: int32[n, words], a copy. Ids are stable; the table only grows.

        ``since`` is the first id wanted; IndexError if it was not given out yet and is not the next one.
        """
        first = require_count("mask_table", "since", since)
        return self._pda(start).mask_table(max(-1, min(first, sys.maxsize)))

    def _pda(self, start: str | None) -> _core.TokenPda:
        return self._pdas[self._index(start)]

    def _reading(
        self, start: str | None, kept: int = -1, keep_text: bool = True, strip_leading_space: bool = False
    ) -> Matcher:
        """A matcher that reads texts, whether or not tokens spell them."""
        index = self._index(start)
        if index in self._empty:
            self._require_beginning(index, strip_leading_space)
        return Matcher(self._pdas[index], kept, strip_leading_space, keep_text, self._explainers[index])

    def _no_beginning(self, index: int, strip_leading_space: bool) -> EmptyLanguageError:
        """What is wrong where no token may begin a text."""
        if strip_leading_space:
            return EmptyLanguageError("no token may begin a text, because one leading space of it does not count")
        name = self._starts[index]
        if self.may_strip_leading_space and not self._reading(name, 0, False, True)._is_stuck():
            return EmptyLanguageError(
                f"no token of the tokenizer's own begins a sentence of {name!r}, because each that could has a space "
                "before it; at the start of all, where the tokenizer decodes it without, say "
                "matcher(strip_leading_space=True)"
            )
        return EmptyLanguageError(
            f"the tokenizer itself makes no tokens of any sentence of {name!r}; compile without canonical, or take "
            "another start rule"
        )

    def _require_beginning(self, index: int, strip_leading_space: bool) -> None:
        """Raises EmptyLanguageError unless a space that does not count is before each sentence that can be spelled."""
        name, pda = self._starts[index], self._pdas[index]
        if not self.vocabulary.strip_leading_space or pda.empty_language(leading_space=True):
            raise EmptyLanguageError(no_sentence([name]))
        if not strip_leading_space:
            raise EmptyLanguageError(
                f"no token begins a sentence of {name!r}, because each that could has a space before it; at the "
                "start of all, where the tokenizer decodes it without, say matcher(strip_leading_space=True)"
            )

    def _index(self, start: str | None) -> int:
        names = self._starts
        if start is None:
            return 0
        if start not in names:
            raise ValueError(f"{start!r} is not a start of this grammar; it was compiled for {', '.join(names)}")
        return names.index(start)

    def __repr__(self) -> str:
        return f"<Constraint of {self._name} for {self._size} tokens>"

    def _repr_html_(self) -> str:
        lines = [f"constraint of {self._name} for {self._size:,} tokens, {self.nbytes:,} bytes"]
        for start, pda in zip(self._starts, self._pdas, strict=True):
            counts = pda.statistics()
            lines.append(
                f"  {start}: {counts['lexer_states']:,} lexer states, {counts['parser_states']:,} LR states, "
                f"{counts['distinct_masks']:,} masks so far"
            )
        return preformatted("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        return Constraint.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Constraint:
        return self

    def __deepcopy__(self, memo: Any) -> Constraint:
        return self


def no_sentence(starts: Sequence[str], sets: Sequence[str] = ()) -> str:
    """What is said where no text is a sentence of any of these starts, or none is in all of these sets."""
    if sets:
        return (
            f"no sentence of {' or '.join(map(repr, starts))} is in {' and in '.join(sets)}, or the rules have none: "
            "compile the grammar without `& regular_set` or filters to see which, and look at (~regular_set).shortest()"
        )
    return (
        f"no text is a sentence of {' or '.join(map(repr, starts))}: the rules need themselves without an end, no "
        "text is cut into the terminals that they ask for, or the vocabulary lacks bytes that every sentence needs; "
        "`pdacon check --tokenizer` says more"
    )


def _require_tokenizer(name: str, stored: TokenFilter, tokenizer: Any, vocabulary: Vocabulary) -> None:
    """Raises ArtifactError if a filter from a file is not that of a tokenizer."""
    try:
        own = canonical_of(tokenizer, vocabulary, native_trie(vocabulary))
    except VocabularyError as error:
        raise ArtifactError(f"{name}: compiled with canonical, and this tokenizer is none for it: {error}") from error
    if own.fingerprint != stored.fingerprint:
        raise ArtifactError(
            f"{name}: compiled with canonical for another tokenizer (definition {stored.fingerprint[:12]}) than the "
            f"one given (definition {own.fingerprint[:12]}): with the same tokens, but it merges, splits or normalizes "
            "texts in another way, or has other scores: those of a Unigram can differ in their last digits once a "
            "tokenizer was written to a file and read again; compile the grammar for this one and save that"
        )


def _report_again(grammar: Callable[[], Grammar], vocabulary: Callable[[], Vocabulary]) -> DeterminismReport:
    """The report of a grammar that was compiled before, within whatever limits."""
    return check_within(grammar(), vocabulary(), max_states=1 << 60, max_bytes=1 << 60)
