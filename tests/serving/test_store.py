"""A store that servers share: what is wrong with it is said before the model is loaded."""

from __future__ import annotations

import pytest

from pdacon.cli import main

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.mark.parametrize(("url", "why"), [("nonsense://x", "nonsense"), ("file:///dev/null/x", "Not a directory")])
def test_a_store_that_cannot_be_asked(url: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--model", "/no/such/model", "--store", url]) == 2
    said = capsys.readouterr().err
    assert f"--store {url}: " in said
    assert why in said
