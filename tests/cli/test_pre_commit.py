"""The hook's manifest, and what the hook does with the files that it is given.

pre-commit builds pdacon anew for each repository that has the hook, which takes minutes; so its part is left out:
it looks at the manifest, and calls ``entry`` with ``args`` and with the changed files that match ``files``.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

MANIFEST = Path(__file__).resolve().parents[2] / ".pre-commit-hooks.yaml"


@pytest.fixture(scope="module")
def hook() -> dict[str, object]:
    (found,) = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    return found


def test_it_installs_what_the_command_line_needs(hook: dict[str, object]) -> None:
    extra = [line.partition(";") for line in requires("pdacon") or ()]
    wanted = {requirement.strip() for requirement, _, marker in extra if re.search(r"extra == ['\"]cli['\"]", marker)}
    given = hook["additional_dependencies"]
    assert isinstance(given, list)
    assert {requirement.replace(" ", "") for requirement in given} == wanted
    assert hook["language"] == "python"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "args", "status"),
    [
        (["good.lark", "lark.txt"], [], 0),
        (["good.lark", "bad.lark"], [], 1),
        (["good.lark"], ["--fail-on", "note"], 1),
    ],
)
def test_it_fails_where_a_changed_grammar_has_findings(
    hook: dict[str, object], tmp_path: Path, changed: list[str], args: list[str], status: int
) -> None:
    (tmp_path / "good.lark").write_text('start: "a"\n%ignore " "\n', encoding="utf-8")
    (tmp_path / "bad.lark").write_text('start: e\ne: e "+" e | "n"\n', encoding="utf-8")
    (tmp_path / "lark.txt").write_text("no grammar\n", encoding="utf-8")
    program, *given = shlex.split(str(hook["entry"]))
    files = [name for name in changed if re.search(str(hook["files"]), name)]
    command = [sys.executable, "-P", "-m", program, *given, *args, *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    assert ("error[PDA001]" in done.stdout) == ("bad.lark" in changed)
