"""What findings say of the texts that their repairs cost, as data."""

from __future__ import annotations

import re

from pdacon.determinism import Finding

_TOLD = re.compile(r"Lost with it is such a text as (\"(?:\\.|[^\"\\])*\"|'[^']*')")


def lost_texts(finding: Finding) -> list[str]:
    """The texts that a finding says are lost with its repair."""
    return [_unquoted(text) for text in _TOLD.findall(finding.repair or "")]


def _unquoted(text: str) -> str:
    """The text that `pdacon.base.quoting.quote` shows so."""
    return re.sub(r"\\(x..|.)", lambda m: _ESCAPED.get(m[1]) or _character(m[1]), text[1:-1])


_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) == 3 else escape
