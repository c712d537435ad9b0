"""`ConstrainedModel`: a model with its tokenizer, and the constraints that are compiled for them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from pdacon.base.arguments import require_instance
from pdacon.base.html import preformatted
from pdacon.decoding.border_tokens import Border, border_tokens
from pdacon.decoding.ways_on import Borders
from pdacon.detokenizer import logits_width
from pdacon.filters import Characters, Filter, texts_of
from pdacon.front.caching import CompileCache
from pdacon.front.compiling import compile
from pdacon.front.constraint import Constraint
from pdacon.front.grammar import grammar_of
from pdacon.integrations.hub import load_named
from pdacon.integrations.huggingface.arguments import Given, pad_id, require_same_texts, vocabulary
from pdacon.integrations.huggingface.beginnings import Begun
from pdacon.integrations.huggingface.padded_prompts import Inputs, Prompt, encode, is_one, split
from pdacon.integrations.huggingface.tiny import load_tiny
from pdacon.regular import RegularSet

if TYPE_CHECKING:
    from typing_extensions import Self

_TINY = "tiny"


class ConstrainedModel:
    """What all calls of a `Pipeline` share; see there."""

    def __init__(self, model: Any, tokenizer: Any = None) -> None:
        if isinstance(model, str | os.PathLike):
            model, own = _loaded(os.fspath(model), tokenizer)
            tokenizer = own if tokenizer is None else tokenizer
        elif tokenizer is None:
            tokenizer = _tokenizer_of(model)
        self.model, self.tokenizer = model, tokenizer
        self._vocabulary = vocabulary(model, tokenizer)
        self._cache = CompileCache()
        self._filters: tuple[Filter, ...] = ()
        self._characters: RegularSet | None = None

    def restrict_characters_to(self, characters: str | Iterable[str] | Filter) -> Self:
        """The same pipeline for texts of some characters only: a new one; this one stays as it is.

        All its constraints, and texts without one, consist of these characters.

        Parameters
        ----------
        characters : "ascii", iterable of str, or Filter
            All of ASCII, or the characters that are listed, as `pdacon.filters.Characters` takes them; or another of
            `pdacon.filters`, such as ``pdacon.filters.Scripts(["Latin"])``.

        Raises
        ------
        TypeError, ValueError
            See `pdacon.filters.Characters`.

        Examples
        --------
        ::

            pipeline = pdacon.Pipeline("tiny").restrict_characters_to("ascii")
        """
        narrower = characters if isinstance(characters, Filter) else Characters(characters)
        twin = object.__new__(type(self))
        twin.model, twin.tokenizer = self.model, self.tokenizer
        twin._vocabulary, twin._cache = self._vocabulary, self._cache
        twin._filters = (*self._filters, narrower)
        twin._characters = texts_of(twin._filters)
        return twin

    def compile(self, grammar: Given, *, canonical: bool = False) -> Constraint:
        """Compile a grammar for this model, its characters included; what was compiled before is found again.

        Parameters
        ----------
        grammar : Grammar, str, pathlib.Path, type, function or Constraint
        canonical : bool
            Allow only the tokens that the tokenizer itself makes of a text; see `pdacon.compile`.

        Raises
        ------
        PdaconError, TypeError, ValueError
            See `pdacon.compile`.
        """
        if isinstance(grammar, Constraint):
            if self._characters is None and not canonical:
                return require_same_texts(self.model, self.tokenizer, grammar)
            grammar = grammar.grammar
        asked = grammar_of("Pipeline", grammar)
        if self._characters is not None:
            asked = asked & self._characters
        if canonical:
            return compile(asked, self._vocabulary, canonical=self.tokenizer)
        return self._cache.compile(asked, self._vocabulary)

    def _constraint(self, given: Given | None) -> Constraint | None:
        if given is not None:
            return self.compile(given)
        return None if self._characters is None else self._cache.compile(self._characters, self._vocabulary)

    def _inputs(self, prompt: Prompt, before: Begun, chat_options: Mapping[str, Any] | None) -> Inputs:
        """One prompt and what comes after it, as the model wants them."""
        if not is_one(prompt):
            raise TypeError("give one prompt, a text or a list of messages; for several, call it for each")
        if chat_options is not None:
            require_instance("Pipeline", "chat_options", chat_options, Mapping, "a dict")
        pad = pad_id(self.model, self.tokenizer, list(self._vocabulary.eos_ids))
        return encode(self.model, self.tokenizer, split(prompt), [before], pad, chat_options or {}, {})

    def _borders(self, caller: str, border: Border, constraint: Constraint | None) -> Borders:
        words = self._vocabulary if constraint is None else constraint.vocabulary
        return Borders(border_tokens(caller, border, words, logits_width(self.model)), words.size, self.model.device)

    def __repr__(self) -> str:
        only = "" if self._characters is None else f", texts of {self._characters.name}"
        return f"<{type(self).__name__} of {type(self.model).__name__}{only}>"

    def _repr_html_(self) -> str:
        return preformatted(repr(self)) + self._vocabulary._repr_html_()


def _loaded(name: str, tokenizer: Any) -> tuple[Any, Any]:
    if name == _TINY and not Path(name).exists():
        return load_tiny()

    def load(name: str, **options: bool) -> Any:
        config: Any = AutoConfig.from_pretrained(name, **options)
        kind: Any = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        return kind.from_pretrained(name, dtype="auto", **options)

    model = load_named("model", name, load)
    model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    return model, _tokenizer_at(name) if tokenizer is None else tokenizer


def _tokenizer_of(model: Any) -> Any:
    name = getattr(model, "name_or_path", "")
    if not name:
        raise TypeError("Pipeline: this model does not say where it is from, so give its tokenizer as well")
    return _tokenizer_at(name)


def _tokenizer_at(name: str) -> Any:
    return load_named("tokenizer", name, AutoTokenizer.from_pretrained)
