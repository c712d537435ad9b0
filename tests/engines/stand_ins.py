"""What SGLang imports for images and for GPUs, and asks nothing of here: modules in which every name is an empty class.

`run.sh` puts this file into SGLang's environment as ``sitecustomize.py``, which Python imports at its start.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NAMES = ("sgl_kernel", "torchvision")


class _Empty(type):
    def __getattr__(cls, name: str) -> type:
        return _anything(name)


class Anything(metaclass=_Empty):
    """Whatever was asked for."""

    def __init__(self, *arguments: Any, **options: Any) -> None: ...


def _anything(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything


class _Module(ModuleType):
    def __getattr__(self, name: str) -> type:
        return _anything(name)


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        return ModuleSpec(fullname, self, is_package=True) if fullname.partition(".")[0] in NAMES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


sys.meta_path.append(_Finder())
