"""How tokenizers of SentencePiece's kind write spaces: as ▁, and with one more before a text.

In: what `tokenizers` says of a normalizer and a pre-tokenizer, or a SentencePiece model. Out: where a space is put, and
whether texts are split before each. What else happens to texts, before spaces are written, is for `normalizers`.

Source: Cognetta et al. 2025, section 3.1 and figure 2 (preprocessing as a transducer).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pdacon.detokenizer.decoders import flattened
from pdacon.detokenizer.sentencepiece_model import SPACE, Model, model_bytes, parse

Prefix = Literal["never", "always", "unless blank"]


class Spaces(NamedTuple):
    """How spaces are written."""

    prefix: Prefix  # When a space is put before a text
    everywhere: bool  # Whether it is put after added tokens as well, so that a text with one is not given back
    split: bool  # Whether no token has a space after something else
    # Whether what stands between words becomes one space, and what stands at the ends of a text is dropped.
    single: bool = False


def spaces_of(normalizer: dict[str, Any] | None, pre_tokenizer: dict[str, Any] | None) -> Spaces | None:
    """How a `tokenizers.Tokenizer` writes spaces; None: as they are.

    Raises ValueError: something else is done to texts that have ▁ for the space already; the message says which step
    does it.
    """
    before = list(flattened(normalizer, "normalizers"))
    splits = list(flattened(pre_tokenizer, "pretokenizers"))
    marks = any(map(_is_mark, before))
    if not marks and not any(step["type"] == "Metaspace" for step in splits):
        return None
    prefix: Prefix = "never"
    everywhere = split = written = False
    for step in before:
        if _is_prepended(step):
            prefix, everywhere, written = "always", True, True
        elif _is_mark(step):
            written = True
        elif written:  # what changes texts does so before
            raise ValueError(_name(step))
    single = False
    for step in splits:
        if step["type"] == "WhitespaceSplit" and not (marks or single):
            single = True
        elif step["type"] == "Metaspace" and step["replacement"] == SPACE:
            # tokenizer.json of old has add_prefix_space instead.
            scheme = step.get("prepend_scheme") or ("always" if step.get("add_prefix_space", True) else "never")
            if single and scheme != "always":
                raise ValueError(f"WhitespaceSplit, and Metaspace with the prepend_scheme {scheme}")
            if single:
                prefix, everywhere = "always", True
            elif scheme != "never" and prefix == "never":
                prefix, everywhere = "unless blank", scheme == "always"
            split = split or step.get("split", True)
        elif not (marks and step["type"] == "Split" and step["pattern"].get("String") == " "):
            raise ValueError(_name(step))
    return Spaces(prefix, everywhere, split, single)


def without_marks(normalizer: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of a normalizer that do something else than to write spaces."""
    return [step for step in flattened(normalizer, "normalizers") if not (_is_mark(step) or _is_prepended(step))]


@lru_cache(maxsize=4)
def _parsed(data: bytes, name: str) -> Model:
    return parse(data, name)


def sentencepiece_of(tokenizer: Any) -> Model | None:
    """The SentencePiece model that a tokenizer is or wraps; None if there is none."""
    inside = getattr(getattr(tokenizer, "tokenizer", tokenizer), "instruct_tokenizer", None)
    inside = getattr(inside, "tokenizer", tokenizer)  # of a MistralTokenizer, or of transformers' wrapper of it
    if hasattr(inside, "id_to_byte_piece") or hasattr(inside, "to_str"):
        return None  # tekken, tokenizers
    if not hasattr(inside, "serialized_model_proto"):
        inside = getattr(inside, "_model", None)  # of mistral-common's own class
    return _parsed(*model_bytes(inside)) if hasattr(inside, "serialized_model_proto") else None


def _is_mark(step: dict[str, Any]) -> bool:
    return bool(step["type"] == "Replace" and step["pattern"] == {"String": " "} and step["content"] == SPACE)


def _is_prepended(step: dict[str, Any]) -> bool:
    return bool(step["type"] == "Prepend" and step["prepend"] == SPACE)


def _name(step: dict[str, Any]) -> str:
    return str(step["type"])
