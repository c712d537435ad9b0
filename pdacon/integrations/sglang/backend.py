"""What SGLang's scheduler asks of a grammar back end."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
import torch
from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, BaseGrammarObject, InvalidGrammarObject

from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.errors import PdaconError
from pdacon.front.constraint import Constraint
from pdacon.frontends.json_schema import Spelling
from pdacon.integrations.answer_formats import Kind, grammar_kind
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.held import HeldAnswer
from pdacon.integrations.json_reading import JsonReading, reading_of
from pdacon.integrations.torch import apply_bitmask

JSON = "PDACON_SGLANG_JSON"
"""The variable that says how JSON is written."""

Key: TypeAlias = tuple[str, str]  # a format of SGLang, and its text
Asked: TypeAlias = tuple[Kind, str]  # a format of pdacon, and its text

_SECONDS = 10.0  # that a grammar of a request may take
_MAX_ROLLBACK = 512  # tokens: more than a draft has
_ANY_JSON = "$$ANY$$"  # a schema that SGLang writes for response_format: {"type": "json_object"}


class _Masks:
    """Masks as SGLang keeps them: of answers, and without one, while the model thinks."""

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """int32[batch_size, ceil(V / 32)] on the CPU, in which everything is allowed."""
        return torch.full((batch_size, -(-vocab_size // 32)), -1, dtype=torch.int32)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """The mask on the device of the logits."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Set to -inf, in place, what the mask does not allow."""
        apply_bitmask(logits, vocab_mask)


class SglangAnswer(_Masks, BaseGrammarObject):  # type: ignore[misc]
    """One answer, at its beginning or under way. Nothing is raised but what ends that request alone.

    ``asked``: what it has to be.
    """

    def __init__(self, constraint: Constraint, vocabulary: Vocabulary, asked: Asked) -> None:
        super().__init__()
        self.constraint, self.asked, self._vocabulary = constraint, asked, vocabulary
        self._held = HeldAnswer(constraint, _MAX_ROLLBACK, vocabulary.eos_ids)

    def copy(self) -> SglangAnswer:
        """Another one of the same constraint, at its beginning."""
        return SglangAnswer(self.constraint, self._vocabulary, self.asked)

    def accept_token(self, token: int) -> None:
        """Go on with a token that was chosen. ValueError: it is not allowed, and SGLang ends the request."""
        self.current_token = token  # by this SGLang knows that an answer has begun, when another process takes it over
        if not self._held.accept([token]):
            raise ValueError(str(self._held.failure or f"token {token} is not allowed here"))

    def rollback(self, k: int) -> None:
        """Take back the last k tokens."""
        self._held.rollback(k)

    def is_terminated(self) -> bool:
        """Whether an end token was accepted: SGLang ends the request then."""
        return self._held.has_ended()

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write which tokens may come next into a row."""
        self._held.fill_bitmask(vocab_mask, idx)

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: torch.Tensor) -> None:
        """Write the rows of a batch: answers in one call, and each that SGLang has wrapped by what it wraps it in."""
        answers = [entry for entry in entries if isinstance(entry.grammar, SglangAnswer)]
        held = [entry.grammar._held for entry in answers]
        HeldAnswer.fill_bitmasks(held, vocab_mask, [entry.row for entry in answers])
        for entry in entries:
            if not isinstance(entry.grammar, SglangAnswer):
                entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Allow everything again."""
        vocab_mask.fill_(-1)


class Backend(_Masks, BaseGrammarBackend):  # type: ignore[misc]
    """Makes answers for requests; SGLang compiles in threads of its own.

    ``vocabulary``: of the model. ``reading``: of the JSON Schemas of requests.
    """

    is_support_token_filter = True  # of `set_token_filter`, which SGLang calls while the model thinks

    def __init__(self, vocabulary: Vocabulary, reading: JsonReading | None = None) -> None:
        super().__init__()
        self._vocabulary, self._reading = vocabulary, reading
        self._compiler = self._framing = self._compiler_for(vocabulary)
        # What is in use, or in the compiler's cache, which alone decides how much that may be.
        self._known: WeakValueDictionary[Key, Constraint] = WeakValueDictionary()

    def _compiler_for(self, vocabulary: Vocabulary) -> FormatCompiler:
        return FormatCompiler(vocabulary, Limits(seconds=_SECONDS), reading=self._reading)

    def reserve_framing_tokens(self, token_ids: Sequence[int]) -> None:
        """Let some tokens stand for themselves alone where an answer is framed, and never for their text."""
        tokens = list(self._vocabulary.tokens)
        for token in token_ids:
            tokens[token] = None
        self._framing = self._compiler_for(replace(self._vocabulary, tokens=tuple(tokens)))

    def compile_framed_grammar(
        self, grammar: BaseGrammarObject, frame: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> BaseGrammarObject | None:
        """An answer within the marks of a model's messages, its thought included, which are a structural tag."""
        if not isinstance(grammar, SglangAnswer):
            return None
        tag = json.dumps(frame(_as_content(*grammar.asked)))
        return self._answer("structural_tag", tag, self._framing)

    @staticmethod
    def set_token_filter(
        vocab_mask: torch.Tensor,
        token_ids: Sequence[int],
        batch_idx: int,
        is_allowed: bool = True,
        reset_vocab_mask: bool = True,
    ) -> None:
        """Allow or forbid tokens in a row; ``reset_vocab_mask``: and the opposite of all others."""
        row = vocab_mask[batch_idx].numpy().view(np.uint32)
        if reset_vocab_mask:
            row[:] = 0 if is_allowed else 0xFFFFFFFF
        for token in token_ids:
            bit = np.uint32(1 << (token % 32))
            row[token // 32] = row[token // 32] | bit if is_allowed else row[token // 32] & ~bit

    def get_cached_or_future_value(
        self, key: Key, require_reasoning: bool
    ) -> tuple[BaseGrammarObject | Future[BaseGrammarObject], bool]:
        """An answer, if its constraint is known; else what a thread is making."""
        constraint = self._known.get(key)
        if constraint is not None:
            return SglangAnswer(constraint, self._vocabulary, _asked(*key)), True
        return self.executor.submit(self._make, key, require_reasoning), False

    def set_cache(self, key: Key, value: BaseGrammarObject) -> None:
        """Nothing: what is compiled is known already, and what cannot be compiled is refused again at once."""

    def reset(self) -> None:
        """Nothing either: a constraint does not depend on the state of the engine."""

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """The answer that is a value of a JSON Schema, or any JSON object."""
        return self._answer(*_asked("json", key_string))

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """The answer that a regular expression matches as a whole."""
        return self._answer(*_asked("regex", key_string))

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """The answer that is a sentence: of EBNF or GBNF, if the first rule has ``::=``, else of Lark's notation."""
        return self._answer(*_asked("ebnf", key_string))

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """The answer with calls of tools in it, as a structural tag says."""
        return self._answer(*_asked("structural_tag", key_string))

    def _answer(self, kind: Kind, text: str, compiler: FormatCompiler | None = None) -> BaseGrammarObject:
        compiler = self._compiler if compiler is None else compiler
        try:
            return SglangAnswer(compiler.constraint(kind, text), compiler.vocabulary, (kind, text))
        except PdaconError as error:
            return InvalidGrammarObject(str(error))

    def _make(self, key: Key, require_reasoning: bool) -> BaseGrammarObject:
        answer = self._init_value_dispatch(key, require_reasoning)
        if isinstance(answer, SglangAnswer):
            self._known[key] = answer.constraint
        return answer


def _asked(format: str, text: str) -> Asked:
    """A format of SGLang as one of pdacon."""
    if format == "json":
        return "json_object" if text == _ANY_JSON else "schema", text
    if format in ("ebnf", "full_assistant_ebnf"):
        return grammar_kind(text), text
    return ("regex" if format == "regex" else "structural_tag"), text


def _as_content(kind: Kind, text: str) -> dict[str, Any]:
    """A format as the content of a structural tag."""
    if kind == "json_object":
        return {"type": "json_schema", "json_schema": {"type": "object"}}
    if kind == "schema":
        return {"type": "json_schema", "json_schema": json.loads(text)}
    if kind == "regex":
        return {"type": "regex", "pattern": text}
    if kind == "structural_tag":
        tag: dict[str, Any] = json.loads(text)
        content: dict[str, Any] = tag.get("format", tag)
        return content
    return {"type": "grammar", "grammar": text, "syntax": "lark" if kind == "lark" else "ebnf"}


def create(
    server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Collection[int] | None
) -> BaseGrammarBackend:
    """The back end of an engine, whose tokenizer is read now; with a reasoning parser it begins behind the thought.

    Raises VocabularyError: the tokenizer is none that can be read, or names no end. ValueError: what is said of JSON
    cannot be honoured. The engine does not start then.
    """
    reading = _reading(server_args)
    ends = set(eos_token_ids or ())
    if tokenizer.eos_token_id is not None:
        ends.add(tokenizer.eos_token_id)
    vocabulary = vocabulary_of("SGLang", tokenizer=tokenizer, eos_ids=sorted(ends) or None, size=vocab_size)
    return _behind_thoughts(Backend(vocabulary, reading), server_args, tokenizer)


def _behind_thoughts(backend: Backend, server_args: Any, tokenizer: Any) -> BaseGrammarBackend:
    """What SGLang does for its own back ends and for no other: a constraint waits until the thought has ended."""
    name = getattr(server_args, "reasoning_parser", None)
    if not name:
        return backend
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    parser = ReasoningParser(model_type=name, stream_reasoning=False, tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    is_strict = bool(getattr(server_args, "enable_strict_thinking", False))
    return ReasonerGrammarBackend(backend, parser, tokenizer, enable_strict_thinking=is_strict)


def _reading(server_args: Any) -> JsonReading:
    """How JSON is written: as the environment says, or SGLang's own options."""
    pattern = getattr(server_args, "constrained_json_whitespace_pattern", None)
    is_fixed = getattr(server_args, "constrained_json_disable_any_whitespace", False)
    reading = reading_of(JSON)
    if pattern is not None and is_fixed:
        raise ValueError(
            "--constrained-json-whitespace-pattern and --constrained-json-disable-any-whitespace say the same; give one"
        )
    if (pattern is not None or is_fixed) and reading != JsonReading():
        raise ValueError(f"{JSON} and SGLang's --constrained-json options both say how JSON is written; give one")
    try:
        if pattern is not None:
            return JsonReading(Spelling(whitespace="any", whitespace_pattern=pattern))
    except ValueError as error:
        raise ValueError(f"--constrained-json-whitespace-pattern: {error}") from None
    return reading
