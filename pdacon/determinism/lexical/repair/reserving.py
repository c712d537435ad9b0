"""Patterns that do not match some words: written down, and compared with what they should be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pdacon.determinism.lexical.matching_texts import Run, difference
from pdacon.determinism.lexical.repair.suggested import read, written
from pdacon.errors import LimitExceededError, PdaconError
from pdacon.grammar import GrammarData, Terminal
from pdacon.lexer import compile_terminal
from pdacon.regular.ordered import compile_pattern

_REPEATED_AT_END = re.compile(r"(\[(?:\\.|[^\]\\])+\]|\\w)[*+]$")


def without_words(grammar: GrammarData, terminal: Terminal, words: list[Terminal]) -> str | None:
    """The pattern of a terminal as a grammar's author may write it to keep just these words from it.

    Returns: with its slashes and flags. None where no such pattern is known to be right: as Lark reads it, it has to
    match what the old one matches, on every text, except where that is one of the words; there it matches nothing.
    """
    assert terminal.pattern is not None
    value, flags = terminal.pattern.value, "".join(sorted(terminal.pattern.flags))
    spelt = "|".join(_spelt(word, flags) for word in words)
    old = compile_terminal(grammar, terminal)
    rest = f"(?:{value})" if "|" in value else value
    try:
        taken = compile_pattern(
            "|".join(f"(?:{word.pattern.regexp})" for word in words if word.pattern),
            use_bytes=grammar.options.use_bytes,
        )
        for border in dict.fromkeys(borders(grammar, terminal, words)):
            ahead = f"(?!(?:{spelt}){border})" if border else f"(?!{spelt})"
            pattern = written(ahead + rest, flags)
            try:
                repaired = read(grammar, pattern)
                new = compile_terminal(repaired, repaired.terminals[0])
                if difference(old, new, taken, use_bytes=grammar.options.use_bytes) is None:
                    return pattern
            except PdaconError:
                continue
    except (LimitExceededError, OverflowError):
        return None
    return None


def _spelt(word: Terminal, flags: str) -> str:
    assert word.pattern is not None
    text = re.escape(word.pattern.value)
    if ("i" in word.pattern.flags) == ("i" in flags):
        return text
    return f"(?i:{text})" if "i" in word.pattern.flags else f"(?-i:{text})"


def borders(grammar: GrammarData, terminal: Terminal, words: list[Terminal]) -> Iterator[str]:
    """Look-aheads to put after a word, which hold where the pattern does not go on with it."""
    assert terminal.pattern is not None
    end = _REPEATED_AT_END.search(terminal.pattern.value)
    if end is not None:
        yield f"(?!{end.group(1)})"
    run = Run(compile_terminal(grammar, terminal))
    for word in words:
        assert word.pattern is not None
        threads = run.start()
        for byte in word.pattern.value.encode(grammar.options.encoding):
            threads, _ = run.step(threads, byte)
        ways: dict[str, list[int]] = {}
        for byte in range(128):
            after, ends = run.step(threads, byte)
            further = [] if ends else [k for k in range(128) if run.step(after, k)[1]]
            if ends or further:
                ways.setdefault(_character_class(further) if further else "", []).append(byte)
        goes_on = [_character_class(firsts) + then for then, firsts in sorted(ways.items())]
        yield f"(?!{'|'.join(goes_on)})" if goes_on else ""


def _character_class(codes: list[int]) -> str:
    """A character class of ASCII characters, in ascending order."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    inside = "".join(_in_class(a) + (("-" if b > a + 1 else "") + _in_class(b) if b > a else "") for a, b in runs)
    return inside if len(codes) == 1 else f"[{inside}]"


def _in_class(code: int) -> str:
    character = chr(code)
    return re.escape(character) if character.isprintable() else f"\\x{code:02x}"
