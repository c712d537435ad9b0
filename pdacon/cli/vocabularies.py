"""Vocabularies by name, without torch and transformers wherever the files at hand allow it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pdacon
from pdacon.cli.failures import BadInput
from pdacon.cli.grammars import is_artifact
from pdacon.cli.models import TINY, be_quiet, be_quiet_about_downloads, is_local, load, require
from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError

BYTES = "bytes"
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "config.json")
_OTHERS = ("tekken.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model")
_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@dataclass(frozen=True)
class Tokens:
    """A vocabulary, and what a person wants to know about it beside its texts."""

    vocabulary: Vocabulary
    source: str  # what it was read from
    # How ids that stand for no text are written, where that is known.
    names: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    encode: Callable[[str], Sequence[int]] | None = None  # how the tokenizer itself cuts a text, where it can be asked
    tokenizer: Any = None  # what ``compile(..., canonical=)`` takes, where it is known

    def name(self, token: int) -> str:
        """How an id without text is written."""
        return self.names.get(token, f"<{token}>")

    def split(self, text: str) -> tuple[int, ...]:
        """The tokens that the tokenizer makes of a text; none if it cannot be asked."""
        return () if self.encode is None else tuple(self.encode(text))


def asked_tokenizer(tokens: Tokens) -> Any:
    """The tokenizer itself, for ``--canonical``.

    Raises BadInput: it cannot be asked.
    """
    if tokens.tokenizer is None:
        raise BadInput(
            f"--canonical asks the tokenizer, and {tokens.source} is none that can be asked; give --tokenizer a "
            "tokenizer.json, or a folder or a name that has one"
        )
    return tokens.tokenizer


def load_vocabulary(name: str | None) -> Tokens:
    """The vocabulary of a tokenizer; None or ``tiny``: the embedded model's; ``bytes``: one token for each byte.

    Raises BadInput: if it cannot be loaded. VocabularyError: if it is of a family that pdacon cannot read.
    """
    if name == BYTES:
        vocabulary = Vocabulary.bytes()
        names = dict.fromkeys(vocabulary.eos_ids, "<end>")
        return Tokens(vocabulary, "one token for each byte", names, lambda text: list(text.encode()))
    path = Path(name or TINY).expanduser()
    if name is None or (name == TINY and not path.exists()):
        return _from_folder(tiny_folder(), "the tokenizer of the tiny model")
    if is_artifact(path):
        return Tokens(pdacon.Constraint.load(path).vocabulary, f"the vocabulary in {name}")
    if path.is_file():
        return _from_file(path)
    if path.is_dir():
        return _from_folder(path, name)
    if name.startswith((".", "/", "~")) or path.suffix in (".json", ".model", ".tiktoken"):
        raise BadInput(f"{name}: no such file or folder; --tokenizer takes one, or a name on the Hugging Face hub")
    return _from_hub(name)


def tiny_folder() -> Path:
    """Where the embedded model is. (Its module imports torch.)"""
    return Path(pdacon.__file__).parent / "models" / "tiny"


def _from_folder(folder: Path, source: str) -> Tokens:
    backend = folder / "tokenizer.json"
    if backend.exists():
        settings = {name: _read_json(folder / name) for name in _SETTINGS if (folder / name).exists()}
        return _from_backend(backend, settings, source)
    other = next((folder / name for name in _OTHERS if (folder / name).exists()), None)
    return _from_transformers(str(folder), source) if other is None else _from_file(other)


def _from_file(path: Path) -> Tokens:
    """What a file is, is in it: its name may be anything, and Llama 3's tokenizer.model is a tiktoken file."""
    source = str(path)
    with path.open("rb") as file:
        beginning = file.read(1 << 16)
    if beginning.lstrip()[:1] == b"{":
        content = _read_json(path)
        if isinstance(content, dict) and isinstance(content.get("vocab"), list):
            return Tokens(_with_ends_or_without(Vocabulary.from_tekken, path), source, _tekken_names(content))
        return _from_backend(path, {}, source)
    if re.match(rb"[A-Za-z0-9+/]+={0,2} \d+\r?\n", beginning):
        return Tokens(Vocabulary.from_tiktoken(path, eos_ids=()), source)
    return Tokens(_with_ends_or_without(Vocabulary.from_sentencepiece, path), source, _sentencepiece_names(path))


def _with_ends_or_without(read: Callable[..., Vocabulary], source: Any) -> Vocabulary:
    try:
        return read(source)
    except VocabularyError:  # perhaps it names no end token, which is no reason not to show the others
        return read(source, eos_ids=())


def _tekken_names(content: Mapping[str, Any]) -> Mapping[int, str]:
    listed = content.get("special_tokens") or ()
    named = (token for token in listed if token.get("token_str") and isinstance(token.get("rank"), int))
    return MappingProxyType({token["rank"]: token["token_str"] for token in named})


def _sentencepiece_names(path: Path) -> Mapping[int, str]:
    if find_spec("sentencepiece") is None:
        return MappingProxyType({})
    from sentencepiece import SentencePieceProcessor

    try:
        model = SentencePieceProcessor(model_file=str(path))
    except RuntimeError:  # it wants more of a model than is needed to read it, such as an unknown piece
        return MappingProxyType({})
    control = (i for i in range(model.vocab_size()) if model.is_control(i) or model.is_unknown(i))
    return MappingProxyType({i: model.id_to_piece(i) for i in control})


def _from_hub(name: str) -> Tokens:
    require("tokenizers", "huggingface_hub")
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    from pdacon.integrations.hub import cached_folder, load_named

    be_quiet_about_downloads()

    def files(name: str, local_files_only: bool = False) -> tuple[Path, Mapping[str, Any]] | None:
        """The tokenizer's file, and what others say of it, each of which is optional; None: there is no such file."""
        try:
            backend = Path(hf_hub_download(name, "tokenizer.json", local_files_only=local_files_only))
        except EntryNotFoundError:
            if local_files_only and cached_folder(name) is None:
                raise
            return None
        settings = {}
        for file in _SETTINGS:
            with suppress(EntryNotFoundError, OSError):
                settings[file] = _read_json(Path(hf_hub_download(name, file, local_files_only=local_files_only)))
        return backend, settings

    found = load("tokenizer", name, partial(load_named, "tokenizer", load=files))
    if found is None:
        return _from_transformers(name, name)
    backend, settings = found
    return _from_backend(backend, settings, name)


def _from_backend(path: Path, settings: Mapping[str, Any], source: str) -> Tokens:
    require("tokenizers")
    from tokenizers import Tokenizer

    tokenizer = load("tokenizer", str(path), Tokenizer.from_file)
    specials = _special_tokens(settings)
    tokenizer.add_special_tokens([token for token in specials.values() if tokenizer.token_to_id(token) is not None])
    width = max(_logits_width(settings), tokenizer.get_vocab_size(with_added_tokens=True))
    ends = _end_ids(settings)
    if not ends and "eos_token" in specials:
        ends = [i for i in [tokenizer.token_to_id(specials["eos_token"])] if i is not None]
    vocabulary = Vocabulary.from_huggingface(tokenizer, size=width, eos_ids=ends)
    return Tokens(
        vocabulary,
        source,
        _names(tokenizer, vocabulary),
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        tokenizer,
    )


def _from_transformers(name: str, source: str) -> Tokens:
    """The slow way: with what transformers makes of files that are no ``tokenizer.json``."""
    require("torch", "transformers")
    from transformers import AutoTokenizer

    from pdacon.integrations.hub import load_named

    be_quiet(bars=not is_local(name))
    tokenizer = load("tokenizer", name, partial(load_named, "tokenizer", load=AutoTokenizer.from_pretrained))
    vocabulary = _with_ends_or_without(Vocabulary.from_huggingface, tokenizer)
    names = _names(tokenizer.backend_tokenizer, vocabulary)
    return Tokens(vocabulary, source, names, lambda text: tokenizer.encode(text, add_special_tokens=False), tokenizer)


def _names(backend: Any, vocabulary: Vocabulary) -> Mapping[int, str]:
    silent = (i for i, text in enumerate(vocabulary.tokens) if text is None)
    written = ((i, backend.id_to_token(i)) for i in silent)
    return MappingProxyType({i: name for i, name in written if name is not None})


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error


def _special_tokens(settings: Mapping[str, Any]) -> dict[str, str]:
    """Special tokens by what they are for. Those that are only listed are added to the tokenizer as such anyway."""
    found: dict[str, str] = {}
    for file in ("special_tokens_map.json", "tokenizer_config.json"):
        for use in _NAMED:
            token = settings.get(file, {}).get(use)
            if isinstance(token, dict):  # an AddedToken with its flags
                token = token.get("content")
            if isinstance(token, str):
                found[use] = token
    return found


def _end_ids(settings: Mapping[str, Any]) -> list[int]:
    """What ``generate`` ends with: its settings, else the model's."""
    for file in ("generation_config.json", "config.json"):
        ends = settings.get(file, {}).get("eos_token_id")
        if ends is not None:
            return list(ends) if isinstance(ends, list) else [ends]
    return []


def _logits_width(settings: Mapping[str, Any]) -> int:
    config = settings.get("config.json", {})
    width = config.get("text_config", {}).get("vocab_size", config.get("vocab_size", 0))
    return width if isinstance(width, int) else 0
