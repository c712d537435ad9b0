"""Files of earlier days: each loads and answers as a constraint that is compiled now, or is refused by its version.

And the layout cannot change unnoticed: what it is now is held against what it was when its version was given.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from composition.artifacts import layout, sample

import pdacon
from pdacon._native import _core

OLD = sorted(sample.HERE.glob("version-*.pda"))
PRESENT = sample.HERE / f"version-{_core.ARTIFACT_VERSION}.pda"
WRITE = (
    "run `python tests/composition/artifacts/sample.py`, which writes the files of the present version, and commit them"
)


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


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
@pytest.mark.parametrize("verify", [False, True])
def test_an_old_file_answers_as_it_should_or_is_refused_by_its_version(path: Path, verify: bool, tally) -> None:
    version = struct.unpack_from("<I", path.read_bytes(), 8)[0]
    if version != _core.ARTIFACT_VERSION:
        says = f"its format has version {version}, and this pdacon reads version {_core.ARTIFACT_VERSION}; compile"
        with pytest.raises(pdacon.ArtifactError, match=says):
            pdacon.Constraint.load(path, verify=verify)
        return
    fresh = sample.compiled()
    loaded = pdacon.Constraint.load(path, fresh.vocabulary, verify=verify)
    for start in sample.STARTS:
        expected = walked(fresh, start, 150)
        assert walked(loaded, start, 150) == expected
        tally(answers=len(expected))
    assert loaded.grammar == fresh.grammar


def test_the_present_version_has_a_file_and_a_layout() -> None:
    assert PRESENT.exists(), (
        f"no file of version {_core.ARTIFACT_VERSION} of the artifact format is checked in: {WRITE}"
    )
    assert PRESENT.stat().st_size < 100_000


def test_the_layout_is_that_of_its_version() -> None:
    known = PRESENT.with_name(f"layout-{_core.ARTIFACT_VERSION}.txt").read_text(encoding="utf-8")
    assert layout.layout(sample.written()) == known, (
        f"the layout of artifacts is no longer that of version {_core.ARTIFACT_VERSION}: files written before "
        "this would be read wrongly. Raise kArtifactVersion in pdacon/_native/src/artifact/artifact.hpp, install, then "
        + WRITE
    )


def test_the_checked_in_file_has_the_layout_of_its_version() -> None:
    known = PRESENT.with_name(f"layout-{_core.ARTIFACT_VERSION}.txt").read_text(encoding="utf-8")
    assert layout.layout(PRESENT.read_bytes()) == known, WRITE


def test_the_version_stands_in_one_place() -> None:
    sources = layout.SOURCES.glob("**/*.[ch]pp")
    given = [path.name for path in sources if "kArtifactVersion =" in path.read_text(encoding="utf-8")]
    assert given == ["artifact.hpp"]
    assert struct.unpack_from("<I", sample.compiled().to_bytes(), 8)[0] == _core.ARTIFACT_VERSION
