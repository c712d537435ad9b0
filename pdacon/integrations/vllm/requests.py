"""What a request of vLLM asks for, checked and compiled.

The front end does this before a request reaches the engine, so that its client is told what is wrong, and the engine
finds the constraint in the folder that both have. Where they are one process they have one cache.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.errors import PdaconError, UnsupportedGrammarError
from pdacon.front.caching import CompileCache
from pdacon.front.constraint import Constraint
from pdacon.integrations.answer_formats import Kind, grammar_kind
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.json_reading import OPTIONS, said_options, with_reading
from pdacon.integrations.vllm.environment_settings import WANTED, VllmSettings, read_settings

# vLLM's names of its formats.
_KINDS: dict[str, Kind] = {
    "JSON": "schema",
    "JSON_OBJECT": "json_object",
    "REGEX": "regex",
    "CHOICE": "choice",
    "STRUCTURAL_TAG": "structural_tag",
}


class RefusedRequest(Exception):
    """A request that cannot be held to its format, and why."""


def constraint(compiler: FormatCompiler, format_name: str, text: str) -> Constraint:
    """The constraint of a format of vLLM, by its name; a grammar is EBNF or GBNF, if its rules have ``::=``.

    Raises PdaconError.
    """
    kind = grammar_kind(text) if format_name == "GRAMMAR" else _KINDS.get(format_name)
    if kind is None:
        raise UnsupportedGrammarError(f"there is no format {format_name}", feature="format")
    return compiler.constraint(kind, text)


@cache
def settings() -> VllmSettings:
    """The settings of this process."""
    return read_settings()


@dataclass(slots=True)
class _Known:
    """The compilers of a tokenizer, by size and ends, and by the identity of a model's configuration.

    To ask a configuration for its ends takes milliseconds, since vLLM reads a file each time; so each is asked once. It
    is kept, so that no other one gets its identity.
    """

    compilers: dict[tuple[int, tuple[int, ...]], FormatCompiler] = field(default_factory=dict)
    asked: dict[int, tuple[Any, FormatCompiler]] = field(default_factory=dict)


_known: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


def compiler_for(tokenizer: Any, model_config: Any) -> FormatCompiler:
    """The compiler of a model, made once in a process: its tokenizer is read then.

    Raises VocabularyError: the tokenizer is none that can be read, or names no end.
    """
    known = _known.setdefault(tokenizer, _Known())
    found = known.asked.get(id(model_config))
    if found is not None:
        return found[1]
    key = size, ends = max(model_config.get_vocab_size(), len(tokenizer)), ends_of(tokenizer, model_config)
    if key not in known.compilers:
        vocabulary = vocabulary_of("vLLM", tokenizer=tokenizer, eos_ids=ends or None, size=size)
        said = settings()
        cache = CompileCache(directory=said.cache_directory, store=said.cache_store)
        known.compilers.setdefault(key, FormatCompiler(vocabulary, said.limits, cache, reading=said.reading))
    known.asked[id(model_config)] = model_config, known.compilers[key]
    return known.compilers[key]


def ends_of(tokenizer: Any, model_config: Any) -> tuple[int, ...]:
    """The ids with which vLLM ends a text: the tokenizer's end, and those of the model's generation config."""
    said = model_config.try_get_generation_config().get("eos_token_id")
    ends = {tokenizer.eos_token_id, *(said if isinstance(said, list | tuple) else (said,))} - {None}
    return tuple(sorted(ends))


def check(params: Any, format_name: str, text: str, compiler: FormatCompiler) -> None:
    """Refuse a request whose answers would not be what it asks for.

    ``params``: with ``structured_outputs``. ``format_name``, ``text``: the name of the format, and what it is about.
    Raises RefusedRequest.
    """
    asked = params.structured_outputs
    format_name, text = _with_options(asked, format_name, text)
    if asked.json_object is False:
        raise RefusedRequest("structured_outputs.json_object is False; leave structured_outputs out")
    if params.ignore_eos:
        raise RefusedRequest("ignore_eos: an answer in a format ends where its format does; leave it out")
    try:
        constraint(compiler, format_name, text)
    except PdaconError as error:
        raise RefusedRequest(f"structured_outputs.{format_name.lower()}: {error}") from error


def _with_options(asked: Any, format_name: str, text: str) -> tuple[str, str]:
    """A request's format with what is said beside it, which the engine does not hand on; it is left in the request."""
    said = {name: value for name in OPTIONS if (value := getattr(asked, name, None)) not in (None, False)}
    if not said:
        return format_name, text
    first = next(iter(said))
    if format_name not in ("JSON", "JSON_OBJECT"):
        raise RefusedRequest(f"structured_outputs.{first} is about JSON, and the format is another one; leave it out")
    try:
        schema = {"type": "object"} if format_name == "JSON_OBJECT" else json.loads(text)
        written = json.dumps(with_reading(schema, said_options(said)))
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(f"structured_outputs.{first}: {error}") from None
    asked.json, asked.json_object = written, None
    for name in said:  # or they would be said twice where parameters are used for another request
        setattr(asked, name, None if name == "whitespace_pattern" else False)
    return "JSON", written


def require_own_backend(configured: str) -> None:
    """Refuse an engine that is told to have another back end.

    Raises RefusedRequest.
    """
    if configured != "auto":
        raise RefusedRequest(
            f"{WANTED}=1 asks for pdacon, and --structured-outputs-config for {configured}; leave one of them out"
        )


def require_ends(vocabulary: Vocabulary, stops: Collection[int] | None) -> None:
    """Refuse a request that goes on after an end of the text.

    Raises RefusedRequest.
    """
    missed = [token for token in vocabulary.eos_ids if stops is not None and token not in stops]
    if missed:
        raise RefusedRequest(f"the request does not stop at {missed}, with which a text of this model ends")
