"""The command as a process: without its extra, with a reader that goes away, with a locale that cannot show

everything.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import pdacon
from pdacon.grammar.builtin import builtin_names

COMMAND = Path(sysconfig.get_path("scripts")) / "pdacon"


def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120, **options)


@pytest.mark.slow
def test_the_installed_command_runs() -> None:
    done = run("check", "json_compact")
    assert done.returncode == 0
    assert "no findings" in done.stdout


@pytest.mark.slow
def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pdacon", "--version"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == run("--version").stdout == f"pdacon {pdacon.__version__}\n"


def test_without_the_extra_one_line_says_what_to_install() -> None:
    program = (
        "import sys\nsys.modules['typer'] = None\nfrom pdacon.cli import main\nsys.exit(main(['check', 'json']))\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pdacon[cli]" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--help"], {"lark", "numpy", "tokenizers"}),
        (["--version"], {"lark", "numpy", "rich.console"}),
        (["generate", "--help"], {"lark", "numpy", "tokenizers"}),
        (["check", "json"], {"tokenizers", "huggingface_hub"}),
        (["mask", "json", "["], {"huggingface_hub"}),
        (["tokens"], {"lark", "huggingface_hub"}),
    ],
)
def test_a_command_loads_what_it_needs_and_no_more(arguments: list[str], unwanted: set[str]) -> None:
    program = (
        "import sys\nfrom pdacon.cli import main\n"
        f"status = main({arguments!r})\nprint(status, *sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=120)
    status, *modules = done.stderr.split()
    assert status == "0"
    assert {"torch", "transformers", *unwanted}.isdisjoint(modules)


@pytest.mark.parametrize("module", ["typer", "rich.console", "lark", "numpy", "pdacon._native._core"])
def test_control_c_is_quiet_whatever_is_being_loaded(module: str) -> None:
    program = f"""
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from pdacon.cli import main
sys.exit(main(["check", "json"]))
"""
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.slow
def test_completion_knows_commands_and_grammars(tmp_path: Path) -> None:
    (tmp_path / "mine.lark").write_text("")
    (tmp_path / "other.txt").write_text("")

    def complete(*words: str) -> list[str]:
        environment = {
            **os.environ,
            "_PDACON_COMPLETE": "complete_bash",
            "COMP_WORDS": "\n".join(["pdacon", *words]),
            "COMP_CWORD": str(len(words)),
        }
        return run(env=environment, cwd=tmp_path).stdout.split()

    assert complete("che") == ["check"]
    assert complete("check", "") == [*builtin_names(), "mine.lark"]
    assert complete("check", "mi") == ["mine.lark"]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.skipif(sys.platform == "win32", reason="closes a stream with a POSIX shell")
@pytest.mark.parametrize(
    ("closed", "status", "err"),
    [(">&-", 2, "pdacon: standard output is closed\n"), ("2>&-", 0, ""), ("<&-", 0, "")],
)
def test_streams_that_are_closed(closed: str, status: int, err: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", COMMAND, "check", "json"], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (status, err)
