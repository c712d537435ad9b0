"""``pdacon doctor``: what is installed here, and whether it fits: what a report of a bug needs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from pdacon.cli.display import RED, show
from pdacon.cli.failures import FINDINGS

_PEERS = ("torch", "transformers", "tokenizers", "tiktoken", "pydantic", "vllm", "sglang", "starlette", "xgrammar")


@dataclass(frozen=True, slots=True)
class Installed:
    """What was looked at, what it is, and what is wrong with it: nothing, if that is empty."""

    what: str
    value: str
    wrong: str = ""


def show_state() -> int:
    """Print what is found; 1 if something does not fit."""
    lines = [*_places(), *_packages(), *_core(), *_accelerators()]
    text = Text()
    for line in lines:
        text.append(f"{line.what + ':':<20}", "bold")
        text.append(line.value)
        text.append(f"  {line.wrong}" if line.wrong else "", f"bold {RED}")
        text.append("\n")
    text.rstrip()
    show(text)
    return FINDINGS if any(line.wrong for line in lines) else 0


def _places() -> Iterator[Installed]:
    import pdacon

    yield Installed("pdacon", f"{importlib.metadata.version('pdacon')} in {os.path.dirname(pdacon.__file__)}")  # noqa: PTH120
    yield Installed("Python", f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}")
    yield Installed("system", f"{platform.platform()}, {os.cpu_count()} processors")
    yield Installed("terminal", f"{shutil.get_terminal_size().columns} columns, {sys.stdout.encoding}")


def _packages() -> Iterator[Installed]:
    """What pdacon needs, whether its version will do; and what it works with, if that is here."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        yield Installed("packaging", "not installed, so that versions are not compared", "pip install packaging")
        return
    for one in map(Requirement, importlib.metadata.requires("pdacon") or ()):
        if one.marker is not None and not one.marker.evaluate({"extra": "cli"}):
            continue
        version = _version(one.name)
        fits = version is not None and one.specifier.contains(version, prereleases=True)
        yield Installed(one.name, version or "not installed", "" if fits else f"pip install '{one}'")
    for name in _PEERS:
        if (here := _version(name)) is not None:
            yield Installed(name, here)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _core() -> Iterator[Installed]:
    """Whether the native core works, and how long a mask takes."""
    import pdacon

    began = time.perf_counter()
    constraint = pdacon.compile("json", pdacon.Vocabulary.bytes())
    compiled = time.perf_counter() - began
    matcher = constraint.matcher()
    right = constraint.accepts('{"a": [1, 2]}') and not constraint.accepts('{"a": 1,}')
    began = time.perf_counter()
    for _ in range(1000):
        matcher.mask_id()
    spent = time.perf_counter() - began
    value = f"json compiled in {1000 * compiled:.1f} ms, a mask that is known in {1000 * spent:.2f} us"
    yield Installed("native core", value, "" if right else "it answers wrongly; install pdacon again")


def _accelerators() -> Iterator[Installed]:
    if "torch" not in sys.modules and _version("torch") is None:
        return
    import torch

    if torch.cuda.is_available():
        for number in range(torch.cuda.device_count()):
            yield Installed(f"GPU {number}", torch.cuda.get_device_name(number))
    else:
        yield Installed("GPU", "none that torch can use")
