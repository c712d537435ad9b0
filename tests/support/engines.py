"""The engines that the benchmarks compare, behind one protocol, so that each replays the same work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from typing import Any

import numpy as np
import pytest

import pdacon
from pdacon.grammar.builtin import builtin_options, builtin_source
from support.real_vocabularies import Coded

_numbers = count()


class RefusedError(Exception):
    """An engine does not take a grammar."""


@dataclass(frozen=True)
class Work:
    """A grammar as text, with the options of `Grammar.from_lark` that it needs, and the one regex that it is, if so."""

    name: str
    text: str
    options: dict[str, Any] = field(default_factory=dict)
    regex: str | None = None

    @classmethod
    def of_regex(cls, name: str, regex: str) -> Work:
        """A regex without slashes."""
        return cls(name, f"start: TEXT\nTEXT: /{regex}/\n", regex=regex)

    @classmethod
    def builtin(cls, name: str) -> Work:
        text, path = builtin_source(name)
        return cls(name, text, {"source_path": path, **builtin_options(name)})


@dataclass(frozen=True)
class Session:
    """One text: `fill` has its mask, `accept` goes on. Both are the engine's own calls."""

    fill: Callable[[], Any]
    accept: Callable[[int], bool]


@dataclass(frozen=True)
class Compiled:
    """A grammar for a vocabulary. `computed` counts the masks that were computed, where the engine knows."""

    session: Callable[[], Session]
    bytes: Callable[[], int] | None = None
    computed: Callable[[], int] | None = None
    saved: Callable[[], bytes] | None = None


@dataclass(frozen=True)
class Engine:
    """`load` takes what `Compiled.saved` gives, `named` a built-in grammar's name. `compile` raises RefusedError."""

    name: str
    compile: Callable[[Work], Compiled]
    load: Callable[[bytes], Compiled] | None = None
    named: Callable[[str], Compiled] | None = None


def with_pdacon(coded: Coded) -> Engine:
    words = (coded.vocabulary.size + 31) // 32

    def compiled(constraint: pdacon.Constraint) -> Compiled:
        def session() -> Session:
            matcher = constraint.matcher()
            bitmask = np.zeros((1, words), np.int32)
            return Session(lambda: matcher.fill_bitmask(bitmask, 0), matcher.accept_token)

        return Compiled(
            session,
            lambda: constraint.statistics()["bytes"],
            lambda: constraint.statistics()["masks_computed"],
            constraint.to_bytes,
        )

    def compile(work: Work) -> Compiled:
        unread = f"{work.text}\n// {next(_numbers)}"  # of a text that was read before more is known
        return compiled(pdacon.compile(pdacon.Grammar.from_lark(unread, **work.options), coded.vocabulary))

    return Engine(
        "pdacon",
        compile,
        lambda data: compiled(pdacon.Constraint.from_bytes(data, coded.vocabulary)),
        lambda name: compiled(pdacon.compile(name, coded.vocabulary)),
    )


def llguidance_tokenizer(coded: Coded) -> Any:
    """The vocabulary, as llguidance knows it."""
    import llguidance

    vocabulary = coded.vocabulary

    class Tokenizer:
        eos_token_id, bos_token_id = vocabulary.eos_ids[0], None
        special_token_ids = [i for i, text in enumerate(vocabulary.tokens) if text is None]  # noqa: RUF012
        tokens = [b"\xff<control>" if text is None else text for text in vocabulary.tokens]  # noqa: RUF012

        def __call__(self, text: str | bytes) -> list[int]:
            return coded.encode_inside(text if isinstance(text, str) else text.decode("utf-8", "ignore"))

    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer()))


def with_llguidance(coded: Coded) -> Engine:
    llguidance = pytest.importorskip("llguidance", reason="the bench extra is not installed")
    masks = pytest.importorskip("llguidance.numpy")
    vocabulary = coded.vocabulary
    tokenizer = llguidance_tokenizer(coded)

    def compile(work: Work) -> Compiled:
        if "postlex" in work.options:
            raise RefusedError("knows no indentation")
        first = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(work.text), log_level=0)
        if first.is_error():
            raise RefusedError(first.get_error())

        def session() -> Session:
            matcher = first.deep_copy()
            row = masks.allocate_token_bitmask(1, vocabulary.size)
            return Session(lambda: masks.fill_next_token_bitmask(matcher, row, 0), matcher.consume_token)

        return Compiled(session)

    return Engine("llguidance", compile)


def xgrammar_tokenizer(coded: Coded) -> Any:
    """The vocabulary, as XGrammar knows it."""
    import xgrammar

    vocabulary = coded.vocabulary
    return xgrammar.TokenizerInfo(
        [b"<control_%d>" % i if text is None else text for i, text in enumerate(vocabulary.tokens)],
        vocab_type=xgrammar.VocabType.RAW,
        vocab_size=vocabulary.size,
        stop_token_ids=list(vocabulary.eos_ids),
        add_prefix_space=False,
    )


def with_xgrammar(coded: Coded) -> Engine:
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    vocabulary = coded.vocabulary
    known = xgrammar_tokenizer(coded)
    compiler = xgrammar.GrammarCompiler(known, max_threads=1, cache_enabled=False)

    def compiled(grammar: Any) -> Compiled:
        def session() -> Session:
            matcher = xgrammar.GrammarMatcher(grammar)
            bitmask = xgrammar.allocate_token_bitmask(1, vocabulary.size)
            return Session(lambda: matcher.fill_next_token_bitmask(bitmask), matcher.accept_token)

        return Compiled(session, lambda: grammar.memory_size_bytes, saved=lambda: grammar.serialize_json().encode())

    def compile(work: Work) -> Compiled:
        if "postlex" in work.options:
            raise RefusedError("knows no indentation")
        if work.name == "json":
            return compiled(compiler.compile_builtin_json_grammar())
        try:
            if work.regex is not None:
                return compiled(compiler.compile_regex(work.regex))
            return compiled(compiler.compile_grammar(xgrammar.Grammar.from_lark(work.text)))
        except (AttributeError, RuntimeError, ValueError) as error:
            raise RefusedError(str(error)) from error

    def load(data: bytes) -> Compiled:
        return compiled(xgrammar.CompiledGrammar.deserialize_json(data.decode(), known))

    return Engine("xgrammar", compile, load)


def with_outlines(coded: Coded) -> Engine:
    """Of regexes alone. Its masks are lists of tokens, which `fill` writes as bits, as its own kernels do."""
    outlines = pytest.importorskip("outlines_core", reason="outlines-core is not installed")
    vocabulary = coded.vocabulary
    ids: dict[bytes, list[int]] = {}
    for token, text in enumerate(vocabulary.tokens):
        if text:
            ids.setdefault(text, []).append(token)
    known, words = outlines.Vocabulary(vocabulary.eos_ids[0], ids), (vocabulary.size + 31) // 32

    def compile(work: Work) -> Compiled:
        if work.regex is None:
            raise RefusedError("takes regexes only")
        index = outlines.Index(work.regex, known)

        def session() -> Session:
            guide, row = outlines.Guide(index), np.zeros(words, np.int32)

            def fill(row: Any = row, address: int = row.ctypes.data) -> None:  # the row lives as long as this
                guide.write_mask_into(address, words, 4)

            def accept(token: int) -> bool:
                guide.advance(token, return_tokens=False)
                return True

            return Session(fill, accept)

        return Compiled(session)

    return Engine("outlines-core", compile)


ENGINES = {"pdacon": with_pdacon, "llguidance": with_llguidance, "xgrammar": with_xgrammar}


REGEX_ENGINES = ENGINES | {"outlines_core": with_outlines}


def installed(coded: Coded, engines: Mapping[str, Callable[[Coded], Engine]] = ENGINES) -> list[Engine]:
    """The engines that are there, pdacon first."""
    return [make(coded) for name, make in engines.items() if find_spec(name)]
