"""A file that is checked in answers as what is compiled now, and its layout cannot change unnoticed."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from composition.artifacts import layout, sample

import pdacon
from pdacon._native import _core

FILE, LAYOUT = sample.HERE / "sample.pda", sample.HERE / "layout.txt"
WRITE = "run `python tests/composition/artifacts/sample.py`, which writes the file and its layout, and commit them"


def walked(constraint: pdacon.Constraint, start: str, most: int) -> list[bytes]:
    """The masks of so many texts, breadth first, and what else depends on what is stored."""
    row = np.zeros((1, (constraint.vocabulary.size + 31) // 32), np.int32)
    said: list[bytes] = []
    text = constraint.matcher(start)
    pending = [text.fork()]
    for byte in sample.TEXTS[start]:  # the places whose masks are in the file
        assert text.accept_token(byte)
        pending.append(text.fork())
    for matcher in pending:
        matcher.fill_bitmask(row)
        said += [row.tobytes(), matcher.shortest_completion(), matcher.forced_bytes(), b"%d" % matcher.is_accepting()]
        for token in np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist():
            if len(pending) < most:
                pending.append(matcher.fork())
                assert pending[-1].accept_token(token)
    return said


@pytest.mark.parametrize("verify", [False, True])
def test_the_file_answers_as_what_is_compiled_now(verify: bool, tally) -> None:
    fresh = sample.compiled()
    loaded = pdacon.Constraint.load(FILE, fresh.vocabulary, verify=verify)
    for start in sample.STARTS:
        expected = walked(fresh, start, 150)
        assert walked(loaded, start, 150) == expected
        tally(answers=len(expected))
    assert loaded.grammar == fresh.grammar
    assert FILE.stat().st_size < 100_000


def test_the_layout_is_that_of_the_file() -> None:
    layout_of_file = LAYOUT.read_text(encoding="utf-8")
    assert layout.layout(FILE.read_bytes()) == layout_of_file, WRITE
    assert layout.layout(sample.written()) == layout_of_file, (
        "files that were written before would be read wrongly. Raise kArtifactVersion in "
        f"pdacon/_native/src/artifact/artifact.hpp if a release has written such files, install, then {WRITE}"
    )


def test_the_version_stands_in_one_place() -> None:
    sources = layout.SOURCES.glob("**/*.[ch]pp")
    given = [path.name for path in sources if "kArtifactVersion =" in path.read_text(encoding="utf-8")]
    assert given == ["artifact.hpp"]
    assert struct.unpack_from("<I", sample.compiled().to_bytes(), 8)[0] == _core.ARTIFACT_VERSION
