"""Files of constraints that somebody has changed, with checksums that fit: what is asked of whoever reads them."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pdacon

_FACTOR = 0x9FB21C651E98DF25
_MASK = (1 << 64) - 1


def _mix(lane: int, word: int) -> int:
    product = (lane ^ word) * _FACTOR & _MASK
    return (product << 31 | product >> 33) & _MASK


def checksum(data: bytes) -> int:
    """What checksum.hpp says."""
    lanes = [_FACTOR * (lane + 1) & _MASK for lane in range(8)]
    words = struct.unpack_from(f"<{len(data) // 8}Q", data)
    full = len(data) // 64 * 8
    for at, word in enumerate(words[:full]):
        lanes[at % 8] = _mix(lanes[at % 8], word)
    total = len(data)
    for word in (*lanes, *words[full:], int.from_bytes(data[len(words) * 8 :], "little")):
        total = _mix(total, word)
    return total ^ total >> 32


def sections(data: bytes | bytearray) -> list[tuple[int, int]]:
    """Offset and size of each section."""
    count = struct.unpack_from("<I", data, 12)[0]
    return [struct.unpack_from("<QQ", data, 32 + 32 * at + 8) for at in range(count)]


def sign(file: bytearray, number: int) -> None:
    """Make the checksums of a section and of the head right."""
    found = sections(file)
    offset, size = found[number]
    struct.pack_into("<Q", file, 32 + 32 * number + 24, checksum(bytes(file[offset : offset + size])))
    head = bytearray(file[: 32 + 32 * len(found)])
    head[24:32] = bytes(8)
    struct.pack_into("<Q", file, 24, checksum(bytes(head)))


def require_no_harm(file: bytearray, use: Callable[[pdacon.Constraint], object], tally: Callable[..., None]) -> None:
    """The file is refused, when it is loaded or used, or it answers as if it were another one: nothing else happens."""
    try:
        use(pdacon.Constraint.from_bytes(bytes(file)))
        tally(wrong_or_harmless=1)
    except pdacon.PdaconError:
        tally(refused=1)
