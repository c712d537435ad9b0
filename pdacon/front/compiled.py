"""`Compiled`: what a compilation has made of the data of a grammar, for a vocabulary.

In: the token-level automaton of each start symbol, with what explains and names it. Out: matchers at the start of a
text, masks by number, sizes, and the bytes of a file. `pdacon.Constraint` is this with a `pdacon.Grammar`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.artifact import encode, write
from pdacon.base.arguments import require, require_bool, require_count
from pdacon.base.html import preformatted
from pdacon.base.once import Once
from pdacon.determinism import Report
from pdacon.detokenizer import Vocabulary
from pdacon.errors import EmptyLanguageError, UnsupportedGrammarError
from pdacon.filters import TokenFilter
from pdacon.frontends.on_demand import OnDemand
from pdacon.grammar import GrammarData, held_bytes
from pdacon.matching.budgets import Budget
from pdacon.matching.explaining import Explainer
from pdacon.matching.matcher import Matcher

_BYTES_OF_SCHEMA, _BYTES_OF_TEXT = 15_500, 5
"""What Python's objects of a schema take, at least and for each character of its text: over 300 of MaskBench's."""


class Compiled:
    """A grammar's data compiled for a vocabulary. Logically frozen, and safe from any thread."""

    __slots__ = (
        "__weakref__",
        "_empty",
        "_explainers",
        "_filter",
        "_grammar",
        "_grammar_bytes",
        "_load_pdas",
        "_loaded_bytes",
        "_name",
        "_nested",
        "_on_demand",
        "_report",
        "_schema_bytes",
        "_size",
        "_starts",
        "_vocabulary",
    )

    def __init__(
        self,
        grammar: Callable[[], GrammarData],
        vocabulary: Callable[[], Vocabulary],
        report: Callable[[], Report],
        pdas: Callable[[], tuple[_core.TokenPda, ...]],
        *,
        starts: tuple[str, ...],
        empty: frozenset[int],
        name: str,
        size: int,
        filter: TokenFilter | None = None,
        loaded_bytes: int = 0,
        nested: _core.NestedPda | None = None,
        on_demand: OnDemand | None = None,
    ) -> None:
        """What is a callable here is called when it is first needed.

        ``nested`` is an automaton for the only start that is made as texts are read: ``pdas`` is called for what it
        does not answer, and is then in its place. ``on_demand`` is what it is of.
        """
        self._nested, self._on_demand = nested, on_demand
        self._loaded_bytes = loaded_bytes
        self._grammar = grammar
        self._grammar_bytes: int | None = None
        self._vocabulary = vocabulary
        self._report = Once(report)
        self._load_pdas = Once(pdas)
        if nested is None:
            self._load_pdas()
        self._starts = starts
        self._empty = empty
        self._name = name
        self._size = size
        self._filter = filter
        native = None if filter is None else filter.native
        encoding = "" if nested is None else "utf-8"
        schema = "" if on_demand is None or on_demand.schema is None else on_demand.schema.source
        self._schema_bytes = 0 if on_demand is None else _BYTES_OF_SCHEMA + _BYTES_OF_TEXT * len(schema)
        self._explainers = tuple(
            Explainer(grammar, vocabulary, start, partial(_pda_at, self._load_pdas, start), native, encoding, schema)
            for start in range(len(starts))
        )

    @property
    def _pdas(self) -> tuple[_core.TokenPda, ...]:
        return self._load_pdas()

    @property
    def _is_read_on_demand(self) -> bool:
        """Whether matchers read an automaton that is made as they read: there is one, and no other in its place."""
        return self._nested is not None and not self._load_pdas.is_made

    def _matcher_on_demand(self, kept: int, leading_space: bool, keep_text: bool) -> Matcher:
        assert self._nested is not None
        load = partial(_pda_at, self._load_pdas, 0)
        try:
            return Matcher._on_demand(self._nested, load, kept, leading_space, keep_text, self._explainers[0])
        except _core.NeedsWhole:
            return Matcher(load(), kept, leading_space, keep_text, self._explainers[0])

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

    def matcher(
        self,
        start: str | None = None,
        max_rollback: int | None = None,
        strip_leading_space: bool = False,
        keep_text: bool = True,
        budget: Budget | None = None,
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
        budget : Budget, optional
            Within how many tokens, or bytes, the text is to be a sentence. ``accept_bytes`` counts as one token,
            however many bytes it is given. See docs/matcher.md.

        Raises
        ------
        ValueError
            The grammar was not compiled for `start`, or a number is negative, or no sentence is within `budget`: the
            message says how much the shortest takes. Or there is a budget, and a grammar with a postlex has a
            constraint that is canonical, or lines within strings of JSON. Or `strip_leading_space` is given, and the
            constraint is canonical with a tokenizer that does not put a space before every text.
        EmptyLanguageError
            No text is a sentence of `start`, though there are some of another start (PDA007 in `report`). Or a
            vocabulary has no token for each byte, and none may begin a text with `strip_leading_space`, or without.
        LimitExceededError
            What texts begin with, or a budget, does not fit into the limits that the grammar was compiled with. Of
            what is read on demand the first matcher makes the beginning.
        """
        kept = -1 if max_rollback is None else require_count("matcher", "max_rollback", max_rollback)
        if max_rollback is not None and kept < 0:
            raise ValueError(f"max_rollback must not be negative, got {max_rollback}")
        if budget is not None:
            require("matcher", "budget", budget, Budget)
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
        if budget is None and self._is_read_on_demand:  # every text can be spelled, and so can some beginning
            return self._matcher_on_demand(kept, strip_leading_space, keep_text)
        matcher = Matcher(self._pdas[index], kept, strip_leading_space, keep_text, self._explainers[index], budget)
        if strip_leading_space or self._filter is not None:
            free = matcher if budget is None else self._reading(start, 0, False, strip_leading_space)
            if free._is_stuck() and not free.is_accepting():  # a vocabulary may have no token that ends a text
                raise self._no_beginning(index, strip_leading_space)
        if budget is not None and (labels := self._grammar().labels):
            raise UnsupportedGrammarError(
                f"a budget is not for a grammar that has {labels[0]}, a token and no text; leave it out",
                feature="token labels",
            )
        if budget is not None and budget.most < (least := matcher._least_of(budget.unit)):
            raise ValueError(f"a budget of {budget} is too small: the shortest sentence has {least}")
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

            As long as texts are read on demand there are neither tables nor a lexer: in the place of their sizes are
            ``places`` and ``nodes``, which is how much of the automaton texts have come to.
        """
        return self._reader(start).statistics()

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the constraint holds by now: its tables, masks and caches, and its grammar.

        With them the bytes that `from_bytes` was given. As they were allocated, which the process grows by, with what
        glibc keeps beside each block. What belongs to the vocabulary is not among them, nor what reports and
        explanations have made, nor a file that is mapped, whose pages the system shares and can take back. What was
        made of the text of a schema that is read on demand is estimated from its length.

        Cost: some microseconds; it waits for no other thread.
        """
        if self._grammar_bytes is None and not (isinstance(self._grammar, Once) and not self._grammar.is_made):
            self._grammar_bytes = held_bytes(self._grammar())
        native = 0 if self._nested is None else self._nested.held() + self._schema_bytes
        if self._load_pdas.is_made:
            native += self._pdas[0].lexer_held + sum(pda.held for pda in self._pdas)
        return native + (self._grammar_bytes or 0) + self._loaded_bytes

    def mask_table(self, since: int = 0, start: str | None = None) -> NDArray[np.int32]:
        """The masks seen so far, by id: int32[n, words], a copy. Ids are stable; the table only grows.

        ``since`` is the first id wanted; IndexError if it was not given out yet and is not the next one.
        """
        first = require_count("mask_table", "since", since)
        return self._reader(start).mask_table(max(-1, min(first, sys.maxsize)))

    def _reader(self, start: str | None) -> _core.TokenPda | _core.NestedPda:
        """What matchers of a start symbol read now."""
        index = self._index(start)
        if self._nested is not None and self._is_read_on_demand:
            return self._nested
        return self._pdas[index]

    def _reading(
        self, start: str | None, kept: int = -1, keep_text: bool = True, strip_leading_space: bool = False
    ) -> Matcher:
        """A matcher that reads texts, whether or not tokens spell them."""
        index = self._index(start)
        if index in self._empty:
            self._require_beginning(index, strip_leading_space)
        if self._is_read_on_demand:
            return self._matcher_on_demand(kept, strip_leading_space, keep_text)
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

    def to_bytes(self, with_vocabulary: bool = True) -> bytes:
        """The bytes that `save` would write.

        ``with_vocabulary=False``: without the tokens, nearly all of the bytes of a small constraint, for a process that
        has the vocabulary and gives it to `from_bytes`. ArtifactError if the grammar has labels.
        """
        require_bool("to_bytes", "with_vocabulary", with_vocabulary)
        return encode(self._grammar(), self.vocabulary, self._pdas, self._empty, self._filter, with_vocabulary)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._name} for {self._size} tokens>"

    def _repr_html_(self) -> str:
        lines = [f"constraint of {self._name} for {self._size:,} tokens, {self.nbytes:,} bytes"]
        for start in self._starts:
            counts = self.statistics(start)
            made = (
                f"read on demand, {counts['places']:,} places"
                if "places" in counts
                else f"{counts['lexer_states']:,} lexer states, {counts['parser_states']:,} LR states"
            )
            lines.append(f"  {start}: {made}, {counts['distinct_masks']:,} masks so far")
        return preformatted("\n".join(lines))


def _pda_at(load: Callable[[], tuple[_core.TokenPda, ...]], start: int) -> _core.TokenPda:
    """Without the object, which would refer to itself through its explainers."""
    return load()[start]


def data_of(compiled: Compiled) -> GrammarData:
    """The data of the grammar; of a loaded constraint, read from the file when it is first asked for."""
    return compiled._grammar()


def called(grammar: GrammarData | OnDemand) -> str:
    """What messages call a grammar: by its path, or the type that it is of."""
    path = grammar.source_path if isinstance(grammar, GrammarData) else None
    return path or ("a grammar" if grammar.values is None else grammar.values.name)


def sense_of(compiled: Compiled) -> GrammarData | OnDemand:
    """What says what the texts stand for: the data of the grammar, or what need not be made for that."""
    return data_of(compiled) if compiled._on_demand is None else compiled._on_demand


def name_of(compiled: Compiled) -> str:
    """How messages call it: the path or the name of its grammar."""
    return compiled._name


def lexemes_of(compiled: Compiled, text: bytes, start: str | None = None) -> list[tuple[int, int, int]]:
    """The terminals of a sentence, with where in its bytes each of them begins and ends."""
    return compiled._explainers[compiled._index(start)].lexemes(compiled._reading(start), text)


def refusal_of(compiled: Compiled, text: str | bytes, start: str | None = None) -> str:
    """Why a text that is not accepted is no sentence, in a clause."""
    explanation = compiled._reading(start).explain(text)
    return "it is only the beginning of a text" if explanation.allowed else explanation.reason


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
