"""Addresses, interfaces and networks of IP as patterns.

In: nothing. Out: patterns of strings that ``ipaddress`` takes. Of networks of IPv6 those that are written as some
groups, ``::`` and a prefix, as nearly all are, and single addresses; elsewhere all of them.

Source: RFC 4632 for prefixes of IPv4, RFC 4291 for IPv6.
"""

from __future__ import annotations

from functools import cache

from pdacon.frontends.json_schema import PATTERNS

_PREFIX_4 = r"(?:[12]?\d|3[0-2])"
_PREFIX_6 = r"(?:[1-9]?\d|1[01]\d|12[0-8])"
_MULTIPLES = {1: "[02468aceACE]", 2: "[048cC]", 3: "[08]"}
"""Digits of which so many low bits are zero."""
INTERFACE_4 = rf"{PATTERNS['ipv4']}(?:/{_PREFIX_4})?"
INTERFACE_6 = rf"{PATTERNS['ipv6']}(?:/{_PREFIX_6})?"


@cache
def network_4() -> str:
    """Networks of IPv4: what is behind the prefix is zero."""
    networks = []
    for length in range(33):
        whole, bits = divmod(length, 8)
        octets = [r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"] * whole
        if bits:
            step = 1 << (8 - bits)
            octets.append(f"(?:{'|'.join(str(value) for value in range(0, 256, step))})")
        octets += ["0"] * (4 - len(octets))
        networks.append(r"\.".join(octets) + f"/{length}")
    return f"(?:{'|'.join(networks)})"


@cache
def network_6() -> str:
    """Networks of IPv6: some groups, then ``::`` and a prefix that covers them; or all groups, and a prefix of 128."""
    group = "[0-9A-Fa-f]{1,4}"
    networks = [rf"::/{_PREFIX_6}", rf"(?:{group}:){{7}}{group}/128"]
    for count in range(1, 8):
        groups = rf"(?:{group}:){{{count - 1}}}"
        covered = "|".join(map(str, range(16 * count, 129)))
        networks.append(rf"{groups}{group}::/(?:{covered})")
        for hidden in range(1, 16):  # bits of the last group that are zero
            zeros, bits = divmod(hidden, 4)
            before = f"[0-9A-Fa-f]{{0,{3 - zeros}}}{_MULTIPLES[bits]}" if bits else f"[0-9A-Fa-f]{{1,{4 - zeros}}}"
            networks.append(rf"{groups}{before}{'0' * zeros}::/{16 * count - hidden}")
    return f"(?:{'|'.join(networks)})"
