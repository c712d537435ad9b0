"""The package as a whole: what an import brings in, and that the tests see what users get."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import distribution, version
from pathlib import Path

import pytest

import pdacon
import pdacon.errors

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


def test_a_tag_without_styles_loads_no_tool_formats() -> None:
    program = (
        "import sys, pdacon\n"
        "tag = {'type': 'tag', 'begin': '<a>', 'content': {'type': 'json_schema', 'json_schema': {}}, 'end': '</a>'}\n"
        "pdacon.Grammar.from_structural_tag(tag)\n"
        "some = ('pdacon.frontends.tool_', 'pdacon.frontends.types')\n"
        "print(*[name for name in sys.modules if name.startswith(some)])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() in ([], ["pdacon.frontends.tool_arguments"])


def test_names_are_loaded_when_they_are_used() -> None:
    program = (
        "import sys, pdacon\n"
        "print('numpy' in sys.modules, 'lark' in sys.modules, set(pdacon.__all__) <= set(dir(pdacon)))\n"
        "print(pdacon.errors.GrammarError is pdacon.GrammarError, hasattr(pdacon, 'nosuch'))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["False", "False", "True", "True", "False"]


def test_tests_import_the_installed_package() -> None:
    repository = Path(__file__).resolve().parents[1]
    installed = json.loads(distribution("pdacon").read_text("direct_url.json") or "{}")
    if installed.get("dir_info", {}).get("editable"):
        pytest.skip("pdacon is installed editable: what is tested is the source")
    assert Path(pdacon.__file__).resolve().parent != repository / "pdacon", "run pytest, not python -m pytest"
    assert version("pdacon")


def test_what_tests_share_has_an_index() -> None:
    folder = Path(__file__).parent / "support"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert set(re.findall(r"^\| `(\w+)` \|", (folder / "README.md").read_text("utf-8"), re.MULTILINE)) == modules


def test_public_names() -> None:
    """Each name is a promise: whoever adds one takes it here, and thinks of what it costs to keep."""
    errors = {name for name in vars(pdacon.errors) if name.endswith(("Error", "Warning")) and name != "UserWarning"}
    assert sorted(set(pdacon.__all__) - errors) == [
        *("Answer", "AnswerReader", "Budget", "Call", "CompileCache", "Constraint", "DeterminismReport"),
        *("FixedWidthIndenter", "Generation", "Generator"),
        *("Grammar", "Limits", "Matcher", "PartialInstance", "Pipeline", "RegularSet", "Spelling", "Vocabulary"),
        *("check", "compile", "fill_bitmasks", "generate", "time_limit"),
    ]
    assert errors <= set(pdacon.__all__)
    assert sorted(pdacon.__all__) == sorted(set(pdacon.__all__))
    for name in pdacon.__all__:
        assert getattr(pdacon, name).__doc__, f"pdacon.{name} has no docstring"


def test_public_members() -> None:
    """The same of the classes that users hold. What is about the inside of a grammar is asked of its data."""
    assert members(pdacon.Grammar) == [
        *("accepts", "builtin", "builtins", "compose", "data", "describe", "draw", "escaped", "explain", "fingerprint"),
        *("from_choices", "from_ebnf", "from_file", "from_gbnf", "from_json_schema", "from_lark", "from_llguidance"),
        *("from_regex", "from_response_template", "from_sql_schema", "from_structural_tag", "from_tools", "from_type"),
        *("lark_options", "sample"),
        *("to_lark", "unenforced", "unreachable", "write", "yaml"),
    ]
    assert members(pdacon.Constraint) == [
        *("accepts", "builtin_name", "from_bytes", "grammar", "is_canonical", "load", "mask_table", "matcher"),
        *(
            "may_strip_leading_space",
            "nbytes",
            "new_bitmask",
            "parse",
            "partial",
            "reader",
            "report",
            "save",
            "statistics",
        ),
        *("to_bytes", "vocabulary"),
    ]
    assert members(pdacon.Matcher) == [
        *("accept", "accept_bytes", "accept_token", "allowed_mask", "allowed_tokens", "bytes_left", "completion"),
        *("explain", "fill_bitmask", "forced_bytes", "forced_tokens", "fork", "has_exact_budgets", "is_accepting"),
        *("is_allowed", "is_terminated", "keep_within", "least_bytes", "least_tokens", "mask_id", "reset", "rollback"),
        *("shortest_completion", "text", "tokens_left", "validate_tokens"),
    ]


def members(kind: type) -> list[str]:
    fields = getattr(kind, "__dataclass_fields__", {})
    return sorted(name for name in {*dir(kind), *fields} if not name.startswith("_"))


def test_no_name_stands_in_three_rooms() -> None:
    """Who reads a name of a file or a class in one room is not to think of another one."""
    package = Path(pdacon.__file__).parent
    rooms: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0]
        names = [f"{path.stem}.py", *re.findall(r"(?m)^class (\w+)", path.read_text("utf-8"))]
        for name in names:
            rooms.setdefault(name, set()).add(room)
    assert {name: sorted(where) for name, where in rooms.items() if len(where) > 2 and name != "__init__.py"} == {}


@pytest.mark.slow
def test_a_name_that_there_is_not_is_an_error_for_a_type_checker(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is part of the extra lint")
    program = tmp_path / "mistaken_names.py"
    program.write_text(
        "import pdacon\n"
        "from pdacon import Gramar\n"
        "pdacon.compil\n"
        "pdacon.Grammar.builtin('json', conflicts='never')\n"
        "pdacon.Grammar.builtin('json', strt='object')\n"
        "constraint: pdacon.Constraint = pdacon.compile('json', pdacon.Vocabulary.bytes())\n"
        "text: str = constraint.matcher().completion() + pdacon.__version__\n"
        "from pdacon.integrations.huggingface import Generation\n"
        "one: Generation = pdacon.generate(None, None, 'prompt', grammar='json')\n"
        "several: list[Generation] = pdacon.generate(None, None, ['prompt'], grammar='json')\n"
    )
    settings = tmp_path / "mypy.ini"  # what is slow to read says nothing about these names
    settings.write_text(
        "[mypy]\nstrict = true\n"
        + "follow_imports_for_stubs = true\n"  # numpy's are
        + "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in ("torch", "transformers", "numpy", "lark"))
    )
    cache = str(tmp_path / "cache")
    files = ["--config-file", str(settings), "--cache-dir", cache, "--python-executable", sys.executable]
    out, _, status = api.run([*files, str(program)])
    found = [line for line in out.splitlines() if "mistaken_names.py" in line]
    assert status == 1
    assert [line.split(":")[1] for line in found if ": error:" in line] == ["2", "3", "4", "5"], out


def test_errors_form_the_tree_that_is_drawn() -> None:
    for name in pdacon.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(pdacon, name), pdacon.PdaconError)
            assert name in (pdacon.errors.__doc__ or "")
