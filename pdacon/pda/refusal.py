"""Why a configuration does not take a byte, for people to read.

In: a `Configuration` and the byte. Out: a `Refusal`: what the lexeme could have become, and the terminal that the lexer
commits and the parser does not take, if it is because of one. All alternatives of the configuration are asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from pdacon.pda.configuration import Configuration
from pdacon.pda.lexeme_reader import LexemeReader


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no sentence goes on with a byte, as far as one configuration tells."""

    # Terminals that the lexeme so far could still become, none of which goes on with the byte.
    unfinished: tuple[int, ...]
    # A terminal that the lexer cuts off with this byte, or has cut off within the lexeme, but that the parser does not
    # take.
    matched: int | None
    lexeme: bytes  # What ``matched`` matched, or else what has been read of a lexeme
    reads_on: bool  # Whether the byte can be read all the same: what follows could not save the text
    guarded: int | None  # A terminal that has matched, and whose match is none if the byte comes after it


@dataclass(frozen=True, slots=True)
class _Cut:
    terminal: int
    lexeme: bytes


def refuse(configuration: Configuration, read: bytes, byte: int, reader: LexemeReader | None = None) -> Refusal:
    """Why a byte cannot follow.

    Parameters
    ----------
    configuration : Configuration
        Where the text stands.
    read : bytes
        What was read last: at least ``configuration.length`` bytes.
    byte : int
        The byte that no sentence goes on with.
    reader : LexemeReader, optional
        One that may have read the lexeme.
    """
    reader = LexemeReader() if reader is None else reader
    unfinished: dict[int, None] = {}
    cut: _Cut | None = None
    guarded: int | None = None
    for alternative in configuration.alternatives():
        if not alternative.fresh:
            threads = (*alternative.reading, *alternative.keyword_threads)
            unfinished |= dict.fromkeys(terminal for terminal, _ in threads if alternative.takes(terminal))
        if guarded is None:
            guarded = _guarded(alternative, byte)
        cut = cut or _cut(reader, alternative, read[len(read) - alternative.length :], byte)
    reads_on = configuration.step(byte) is not None
    if cut is None or reads_on:
        begun = read[len(read) - configuration.length :]
        return Refusal(tuple(unfinished), None, begun, reads_on, guarded)
    return Refusal(tuple(unfinished), cut.terminal, cut.lexeme, False, None)


def _guarded(configuration: Configuration, byte: int) -> int | None:
    """A terminal that the parser takes, and that a thread has matched unless the byte follows."""
    machine = configuration.machine
    alive = {index for index, _ in machine.move(configuration.reading, byte)}
    waiting = (
        thread[0]
        for index, (thread, ended) in enumerate(configuration.threads)
        if ended is not None and machine.pending(thread) and index not in alive
    )
    return next(waiting, None)


def _cut(reader: LexemeReader, configuration: Configuration, lexeme: bytes, byte: int) -> _Cut | None:
    """The last terminal that matches within a lexeme or with the byte after it, if the parser does not take it."""
    whole = lexeme + bytes([byte])
    last = reader.last_match(configuration.restart(), whole)
    if last is None:
        return None
    terminal, end, at = last
    return None if at.takes(terminal) else _Cut(terminal, whole[:end])
