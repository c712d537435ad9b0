"""The package as a whole: what an import brings in, and that the tests see what users get."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import pdacon

HEAVY = ("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub", "typer", "rich", "click")


@pytest.mark.parametrize(
    "module", ["pdacon", "pdacon.errors", "pdacon.grammar", "pdacon.determinism", "pdacon.detokenizer"]
)
def test_import_leaves_hosts_and_the_command_line_alone(module: str) -> None:
    program = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == []


def test_tests_import_the_installed_package() -> None:
    repository = Path(__file__).resolve().parents[1]
    assert Path(pdacon.__file__).resolve().parent != repository / "pdacon", "run pytest, not python -m pytest"
    assert version("pdacon")
