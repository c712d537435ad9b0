"""The examples run as printed, and what the model writes in them is in the language."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import runpy
from pathlib import Path

import pytest
from support.lark_oracle import accepts

import pdacon

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_own_grammar(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    found = runpy.run_path(str(EXAMPLES / "own_grammar.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    grammar = pdacon.Grammar.from_lark(found["GRAMMAR"])
    written = [line.removeprefix("model:").strip() for line in lines if line.startswith("model:")]
    assert len(written) == 2
    assert all(accepts(grammar, text) for text in written), written
    assert "shortest way to the end: arge tea." in lines


@pytest.mark.slow
def test_constrain_json(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    found = runpy.run_path(str(EXAMPLES / "constrain_json.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(found["PROMPTS"])
    assert any("name" in line for line in lines)


def test_refused_token(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "refused_token.py"), run_name="__main__")
    first, second = capsys.readouterr().out.split("\n\n")
    assert ": error: " in first
    assert "is allowed" in second


@pytest.mark.slow
def test_canonical_records(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Appendix C of Cognetta et al. 2025: with canonical filtering most tokens are the only ones allowed."""
    pytest.importorskip("transformers")
    monkeypatch.setattr("sys.argv", ["canonical_records.py", "5"])
    runpy.run_path(str(EXAMPLES / "canonical_records.py"), run_name="__main__")
    plain, canonical = (float(share) for share in re.findall(r"([0-9.]+) % skipped", capsys.readouterr().out))
    assert plain < 45 < 75 < canonical


@pytest.mark.slow
def test_random_texts(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "random_texts.py"), run_name="__main__")
    assert "200 texts parsed" in capsys.readouterr().out


@pytest.mark.slow
def test_how_it_works(capsys: pytest.CaptureFixture[str]) -> None:
    """The page shows what the example prints, part by part."""
    pytest.importorskip("mistral_common")
    runpy.run_path(str(EXAMPLES / "how_it_works.py"), run_name="__main__")
    page = (EXAMPLES.parent / "docs" / "how_it_works.md").read_text(encoding="utf-8")
    assert "\n".join(re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)) == capsys.readouterr().out


@pytest.mark.slow
def test_the_notebook() -> None:
    """Its cells run in their order, and print as many lines as it shows; pictures only where matplotlib is there."""
    pytest.importorskip("transformers")
    pictures = importlib.util.find_spec("matplotlib") is not None
    notebook = json.loads((EXAMPLES / "what_a_constraint_does.ipynb").read_text(encoding="utf-8"))
    namespace: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code" or ("plot" in cell["metadata"].get("tags", ()) and not pictures):
            continue
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec("".join(cell["source"]), namespace)
        shown = "".join(line for output in cell["outputs"] for line in output["text"])
        assert printed.getvalue().count("\n") == shown.count("\n")


def test_every_example_is_tried() -> None:
    # Training takes a quarter of an hour; the corpus it needs is a module of its own. Ray is tried by tests/engines.
    tried = set(re.findall(r'EXAMPLES / "(\w+)\.py"', Path(__file__).read_text(encoding="utf-8")))
    assert {path.stem for path in EXAMPLES.glob("*.py")} - tried == {"ray_serve", "tiny_corpus", "train_tiny_model"}


@pytest.mark.slow
def test_beams(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    found = runpy.run_path(str(EXAMPLES / "beams.py"), run_name="__main__")
    grammar = pdacon.Grammar.from_lark(found["GRAMMAR"])
    lines = [line.split(":", 1) for line in capsys.readouterr().out.splitlines()]
    assert [kind for kind, _ in lines] == ["greedy", "beam", "beam", "beam", "sampled"]
    assert all(accepts(grammar, text.strip()) for _, text in lines), lines


@pytest.mark.slow
def test_continuous_batching(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    found = runpy.run_path(str(EXAMPLES / "continuous_batching.py"), run_name="__main__")
    written = capsys.readouterr().out
    for name, prompts in found["PROMPTS"].items():
        texts = re.findall(rf"^{name}: (.*?)(?=^(?:json|arithmetic|yes or no): |\Z)", written, re.DOTALL | re.MULTILINE)
        assert len(texts) == len(prompts)
        assert all(accepts(found["GRAMMARS"][name], text.strip()) for text in texts), texts
