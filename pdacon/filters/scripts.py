"""The property Script of Unicode, which Python's `unicodedata` does not have.

``scripts.txt`` has a line for each script: its names, joined by ``=``, and then the first and the last code point of
each range, in hexadecimal. It is of Unicode 17.0; a test holds it against the package ``regex``.

Source: K. Whistler, "Unicode Script Property", Unicode Standard Annex 24; names are matched as UAX44-LM3 says.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pdacon.base.quoting import near_names
from pdacon.regular import Ranges

_SUCH_AS = "; there are Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Han, Hiragana, Hangul and others"


@cache
def _scripts() -> dict[str, Ranges]:
    """By name, long and short."""
    found: dict[str, Ranges] = {}
    for line in Path(__file__).with_name("scripts.txt").read_text("ascii").splitlines():
        names, *codes = line.split()
        numbers = [int(code, 16) for code in codes]
        ranges = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        found.update(dict.fromkeys(names.split("="), ranges))
    return found


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).upper()


def ranges_of(name: str) -> Ranges:
    return _scripts()[_plain(name)]


def require_scripts(names: Iterable[str]) -> tuple[str, ...]:
    """The names, if all of them are scripts'; case, spaces and underscores do not matter.

    Raises TypeError, ValueError.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f'Scripts takes a list of scripts: write Scripts(["Latin"]), not {names!r:.60}')
    listed = tuple(names)
    if not listed:
        raise ValueError('Scripts: no script is given; write Scripts(["Latin"])')
    for name in listed:
        if not isinstance(name, str) or _plain(name) not in _scripts():
            alike = near_names(_plain(str(name)[:60]), [one for one in _scripts() if len(one) > 4])
            hint = f"; there is {', '.join(one.capitalize() for one in alike)}" if alike else _SUCH_AS
            raise ValueError(f"Unicode has no script {name!r:.60}{hint}")
    return listed
