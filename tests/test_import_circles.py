"""No modules import each other in a circle: imports for types, within functions and by name included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pdacon"


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


BY_NAME = ("import_module", "__import__")


def _named_by(call: ast.Call) -> Iterator[str]:
    """What a call imports by name; a name that is put together has to begin with another package, or with its own."""
    (name, *_) = call.args
    if isinstance(name, ast.Constant):
        yield name.value
    elif isinstance(name, ast.JoinedStr):
        assert ast.unparse(name.values[0]) == "{__name__}" or "__name__" in ast.unparse(name.values[0]), ast.unparse(
            call
        )


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else node.module
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in BY_NAME:
            yield from _named_by(node)


@pytest.mark.slow
def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: {other for other in imported(path) if other in MODULES} for name, path in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(f"a circle of imports: {' <- '.join(error.args[1])}") from None
