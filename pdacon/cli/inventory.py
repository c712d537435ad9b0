"""``pdacon tokens``: what a vocabulary looks like, and what one of its tokens is."""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from pdacon.base.quoting import quote
from pdacon.cli.display import head_of, listed, readable, show, width
from pdacon.cli.failures import FINDINGS, BadInput, enough_is_enough
from pdacon.cli.vocabularies import Tokens
from pdacon.detokenizer import Vocabulary

# C0, C1 and F5 to FF never occur in UTF-8: a vocabulary can lack them and still spell every text.
_NEVER = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
_LONGEST, _FEW = 5, 8


@dataclass(frozen=True)
class Inventory:
    """Counts of a vocabulary; ids ascending."""

    silent: tuple[int, ...]  # ids that stand for no text and have a name: special tokens, the end tokens included
    unused: tuple[int, ...]  # ids without text and name, such as the padding of the logits
    duplicates: tuple[tuple[int, ...], ...]  # ids that share their text
    missing_bytes: tuple[int, ...]  # bytes that occur in UTF-8 and have no token of their own
    longest: tuple[int, ...]  # the tokens with the most bytes


def take_inventory(tokens: Tokens) -> Inventory:
    """Look at every token once."""
    vocabulary = tokens.vocabulary
    by_text: dict[bytes, list[int]] = defaultdict(list)
    for i, text in enumerate(vocabulary.tokens):
        if text is not None:
            by_text[text].append(i)
    without = [i for i, text in enumerate(vocabulary.tokens) if text is None]
    return Inventory(
        silent=tuple(i for i in without if i in tokens.names or i in vocabulary.eos_ids),
        unused=tuple(i for i in without if i not in tokens.names and i not in vocabulary.eos_ids),
        duplicates=tuple(tuple(ids) for ids in by_text.values() if len(ids) > 1),
        missing_bytes=tuple(b for b in range(256) if b not in _NEVER and bytes([b]) not in by_text),
        longest=tuple(ids[0] for _, ids in sorted(by_text.items(), key=lambda found: (-len(found[0]), found[1])))[
            :_LONGEST
        ],
    )


@enough_is_enough
def show_tokens(tokens: Tokens, wanted: Sequence[str], *, json_format: bool) -> int:
    """Print the inventory, or what is known of each wanted token (its text, or #ID); 1 if one is not there."""
    if not wanted:
        inventory = take_inventory(tokens)
        if json_format:
            _print_json(_inventory_as_dict(tokens, inventory))
        else:
            show(_inventory_as_text(tokens, inventory))
        return 0
    found = [(text, find_tokens(tokens.vocabulary, text)) for text in wanted]
    for text, ids in found:
        if json_format:
            for i in ids:
                _print_json(_token_as_dict(tokens, i))
        elif ids:
            show(_token_as_text(tokens, ids))
        else:
            show(_absent(tokens, text))
    if json_format:
        for text, ids in found:
            if not ids and (split := tokens.split(token_text(text).decode("utf-8", "surrogateescape"))):
                _print_json({"text": text, "split": list(split)})
    return 0 if all(ids for _, ids in found) else FINDINGS


def find_tokens(vocabulary: Vocabulary, wanted: str) -> tuple[int, ...]:
    """The ids that a TOKEN argument means: ``#ID``, or a text that some tokens have (``##`` begins one with #).

    Raises BadInput: if ``#`` is followed by something that is not an id of this vocabulary.
    """
    if is_id(wanted):
        return (_parse_id(wanted, vocabulary),)
    text = token_text(wanted)
    return tuple(i for i, token in enumerate(vocabulary.tokens) if token == text)


def is_id(wanted: str) -> bool:
    """Whether a TOKEN argument is ``#ID``."""
    return wanted.startswith("#") and not wanted.startswith("##")


def _parse_id(wanted: str, vocabulary: Vocabulary) -> int:
    digits = wanted.removeprefix("#")
    if not (digits.isascii() and digits.isdigit()) or int(digits) >= vocabulary.size:
        raise BadInput(
            f"{wanted}: not an id from #0 to #{vocabulary.size - 1}; write ## for a token that begins with #"
        )
    return int(digits)


def token_text(wanted: str) -> bytes:
    """The bytes of a token given by its text."""
    return (wanted[1:] if wanted.startswith("##") else wanted).encode("utf-8", "surrogateescape")


def _inventory_as_text(tokens: Tokens, inventory: Inventory) -> Text:
    vocabulary = tokens.vocabulary
    with_text = vocabulary.size - len(inventory.silent) - len(inventory.unused)
    special = [i for i in inventory.silent if i not in vocabulary.eos_ids]
    longest = (_described(tokens, i) for i in inventory.longest)
    rows = [
        ("source", [tokens.source]),
        ("ids", [f"{vocabulary.size:,}, {with_text:,} of them with text"]),
        ("end tokens", [_described(tokens, i) for i in vocabulary.eos_ids] or ["(none known: a text cannot be ended)"]),
        ("special", _some((_described(tokens, i) for i in special), len(special))),
        ("unused ids", [_ranges(inventory.unused)]),
        ("same text", _some((_same(tokens, ids) for ids in inventory.duplicates), len(inventory.duplicates))),
        ("bytes", [_spelling(vocabulary, inventory)]),
        ("longest", list(longest)),
        ("fingerprint", [vocabulary.fingerprint[:16]]),
    ]
    if vocabulary.strip_leading_space:
        rows.append(("first space", ["the tokenizer takes one space off the beginning of a text"]))
    text = Text()
    for name, items in rows:
        lines = listed(f"{name:<12}", items or ["none"])
        text.append(lines[0][:12], "bold").append(lines[0][12:] + "\n")
        text.append("".join(" " * 9 + line + "\n" for line in lines[1:]))
    for note in vocabulary.notes:
        text.append(textwrap.fill(f"{'note':<13}{note}", width(), subsequent_indent=" " * 13) + "\n")
    text.rstrip()
    return text


def _some(items: Iterable[str], count: int) -> list[str]:
    shown = [item for item, _ in zip(items, range(_FEW), strict=False)]
    return [*shown, f"... {count:,} in all"] if count > _FEW else shown


def _described(tokens: Tokens, i: int) -> str:
    text = tokens.vocabulary.tokens[i]
    return f"{i} {tokens.name(i) if text is None else head_of(text)}"


def _same(tokens: Tokens, ids: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, ids))} {quote(tokens.vocabulary.tokens[ids[0]] or b'')}"


def _ranges(ids: Sequence[int]) -> str:
    if not ids:
        return "none"
    first = f"{ids[0]}" if len(ids) == 1 else f"{ids[0]} to {ids[-1]}"
    gaps = "" if ids[-1] - ids[0] + 1 == len(ids) else ", with gaps"
    return f"{len(ids):,} ({first}{gaps})"


def _spelling(vocabulary: Vocabulary, inventory: Inventory) -> str:
    missing = inventory.missing_bytes
    if not missing:
        return "each byte has a token: every text can be spelled"
    ascii_missing = [bytes([b]) for b in missing if b < 0x80]
    lost = f", {' '.join(readable(ascii_missing)[:_FEW])} among them" if ascii_missing else ""
    lacking = "1 byte has" if len(missing) == 1 else f"{len(missing)} bytes have"
    return f"{lacking} no token{lost}: what no longer token covers cannot be spelled and is never allowed"


def _token_as_text(tokens: Tokens, ids: Sequence[int]) -> Text:
    text = Text()
    for i in ids:
        value = tokens.vocabulary.tokens[i]
        others = tuple(j for j in find_same(tokens.vocabulary, i) if j != i and j not in ids)
        text.append(f"{i}", "bold").append("  ")
        if value is None:
            end = ", an end token" if i in tokens.vocabulary.eos_ids else ", never allowed"
            text.append(f"{tokens.name(i)}  stands for no text{end}\n")
            continue
        text.append(f"{quote(value)}  {len(value)} byte{'s' * (len(value) > 1)}: {value.hex(' ')}")
        text.append(f"; the same text: {', '.join(map(str, others))}\n" if others else "\n")
    text.rstrip()
    return text


def find_same(vocabulary: Vocabulary, token: int) -> tuple[int, ...]:
    """The ids with the text of a token, itself included; none if it has no text."""
    text = vocabulary.tokens[token]
    return tuple(i for i, other in enumerate(vocabulary.tokens) if text is not None and other == text)


def _absent(tokens: Tokens, wanted: str) -> Text:
    text = token_text(wanted)
    nearby = {token for token in tokens.vocabulary.tokens if token is not None and token.startswith(text)}
    lines = [f"{quote(text)}  is not one token"]
    if split := tokens.split(wanted.removeprefix("#") if wanted.startswith("##") else wanted):
        lines += listed("    the tokenizer cuts it into:", (_described(tokens, i) for i in split))
    if nearby:
        count = f"{len(nearby):,} tokens begin with it:" if len(nearby) > 1 else "1 token begins with it:"
        shown = sorted(nearby, key=lambda token: (len(token), token))
        lines += [*listed(f"    {count}", _some(map(quote, shown), len(nearby)))]
    return Text("\n".join(lines))


def _inventory_as_dict(tokens: Tokens, inventory: Inventory) -> dict[str, Any]:
    vocabulary = tokens.vocabulary
    return {
        "source": tokens.source,
        "size": vocabulary.size,
        "eos_ids": list(vocabulary.eos_ids),
        "without_text": {i: tokens.name(i) for i in inventory.silent},
        "unused": list(inventory.unused),
        "duplicates": [list(ids) for ids in inventory.duplicates],
        "missing_bytes": list(inventory.missing_bytes),
        "longest": list(inventory.longest),
        "fingerprint": vocabulary.fingerprint,
        "strip_leading_space": vocabulary.strip_leading_space,
        "notes": list(vocabulary.notes),
    }


def _token_as_dict(tokens: Tokens, i: int) -> dict[str, Any]:
    text = tokens.vocabulary.tokens[i]
    return {
        "id": i,
        "text": None if text is None else text.decode("utf-8", "backslashreplace"),
        "bytes": None if text is None else text.hex(),
        "end": i in tokens.vocabulary.eos_ids,
        "same_text": [j for j in find_same(tokens.vocabulary, i) if j != i],
    }


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))  # noqa: T201
