"""What pdacon needs of transformers beyond its promises is there, and stands in one module."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
import transformers
from transformers.generation import GenerationMixin

import pdacon
from pdacon.integrations.huggingface import internals

PACKAGE = Path(pdacon.__file__).parent
ROOMS = ("integrations", "decoding", "serving", "cli")


def test_assisted_decoding_asks_the_model_for_its_candidates() -> None:
    parameters = inspect.signature(GenerationMixin._assisted_decoding).parameters
    assert list(parameters)[:2] == ["self", "input_ids"]
    assert {"generation_config", "streamer"} <= set(parameters)
    assert "self._get_candidate_generator(" in inspect.getsource(GenerationMixin._assisted_decoding)
    assert "use_cache" in internals.OF_FORWARD or "output_attentions" in internals.OF_FORWARD


def test_continuous_batching() -> None:
    api = pytest.importorskip("transformers.generation.continuous_batching.continuous_api", reason="transformers 5.23")
    requests = pytest.importorskip("transformers.generation.continuous_batching.requests", reason="transformers 5.23")
    router = api.OutputRouter()
    router.result_handlers["a"] = None, None
    router.output_queue.put(1)
    manager = type("Manager", (), {"output_router": router, "batch_processor": None})()
    internals.forget_handler(manager, "a")
    internals.forget_handler(manager, "b")
    internals.forget_outputs(manager)
    assert (router.result_handlers, router.output_queue.empty()) == ({}, True)
    assert not internals.is_scheduled(manager, "a")
    state = requests.RequestState("a", [1, 2, 3], eos_token_id=[7, 8])
    assert (sorted(internals.ends_of(state)), internals.written_before(state)) == ([7, 8], [])
    state._true_initial_tokens = 1
    assert internals.written_before(state) == [2, 3]


def private_names(tree: ast.AST) -> Iterator[str]:
    """Attributes with a leading underscore that are read, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            yield node.attr


def test_no_other_module_leans_on_private_members_of_transformers() -> None:
    root = Path(transformers.__file__).parent
    theirs = "".join(path.read_text() for path in (root / "generation").rglob("*.py"))
    ours = "".join(path.read_text() for path in PACKAGE.rglob("*.py*") if path.suffix in (".py", ".pyi"))
    found = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for room in ROOMS
        for path in sorted((PACKAGE / room).rglob("*.py"))
        if path.name != "internals.py"
        for name in private_names(ast.parse(path.read_text()))
        if f".{name}" in theirs and f"def {name}(" not in ours and f"self.{name}" not in ours
    ]
    assert found == []
