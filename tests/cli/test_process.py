"""The command as a process: without its extra, with a reader that goes away, with a locale that cannot show

everything.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

COMMAND = Path(sysconfig.get_path("scripts")) / "pdacon"


def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120, **options)


def test_the_installed_command_runs() -> None:
    done = run("check", "json")
    assert done.returncode == 0
    assert "no findings" in done.stdout


def test_without_the_extra_one_line_says_what_to_install() -> None:
    program = (
        "import sys\nsys.modules['typer'] = None\nfrom pdacon.cli import main\nsys.exit(main(['check', 'json']))\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pdacon[cli]" in done.stderr


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    rules = "".join(f'r{i}: r{i} "{i}" r{i} | "x"\n' for i in range(300))
    grammar = tmp_path / "many.lark"
    grammar.write_text(f"start: {' | '.join(f'r{i}' for i in range(300))}\n{rules}")
    with subprocess.Popen([COMMAND, "check", grammar], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(100)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


def test_output_does_not_depend_on_the_locale(tmp_path: Path) -> None:
    grammar = tmp_path / "g.lark"
    grammar.write_text('start: expr\nexpr: expr "é" expr | "1"\n', encoding="utf-8")
    done = subprocess.run(
        [COMMAND, "check", grammar],
        capture_output=True,
        timeout=120,
        env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 1
    assert "•" in done.stdout.decode("utf-8")
    assert done.stderr == b""
