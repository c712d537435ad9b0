"""The types of the native core, which mypy reads, are those of the core that was built: names, parameters, defaults.

What a parameter or an answer is is not compared: the core's own signatures know no more of most answers than that they
are a tuple, a list or an object.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pdacon
from pdacon._native import _core

TYPES = Path(pdacon.__file__).parent / "_native" / "_core.pyi"
UNNAMED = re.compile(r"arg\d*")  # nanobind's names of parameters without one, which are by place

NOT_COMPARED = {"__new__", "__init__", "__reduce__", "__reduce_ex__"}  # `__init__` is, where it is declared

Parameters = list[tuple[str, bool]]
"""Each one's name, and whether it has a default; with the marks / and *."""
Members = dict[str, list[Parameters]]
"""By name, those of classes included: the overloads, none for what is no function."""


def declared(body: list[ast.stmt], owner: str = "") -> Members:
    """What the types name."""
    members: Members = {}
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):  # a protocol
            members |= {node.name: []} | declared(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            overloads = members.setdefault(owner + node.name, [])
            if not any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list):
                overloads.append(parameters_of(node.args))
    return members


def parameters_of(given: ast.arguments) -> Parameters:
    by_place = [*given.posonlyargs, *given.args]
    first = len(by_place) - len(given.defaults)
    names = [(parameter.arg, at >= first) for at, parameter in enumerate(by_place)]
    if given.posonlyargs:
        names.insert(len(given.posonlyargs), ("/", False))
    if given.kwonlyargs:
        names.append(("*", False))
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return names + [(parameter.arg, default is not None) for parameter, default in named]


def built(of: ModuleType | type, owner: str = "") -> Members:
    """What the core has."""
    members: Members = {}
    for name, member in vars(of).items():
        if isinstance(member, type) and not owner:
            members |= {name: []} | built(member, f"{name}.")
        elif isinstance(member, property) or hasattr(member, "__nb_signature__"):
            signatures = getattr(member, "__nb_signature__", ())
            members[owner + name] = [read(signature) for signature, _doc, _defaults in signatures]
    return members


def read(signature: str) -> Parameters:
    """The parameters of a signature as nanobind writes it, whose types are not Python's."""
    inside = signature[signature.index("(") + 1 : signature.rindex(" -> ") - 1]
    depth, parts = 0, [""]
    for letter in inside:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    texts = [part.strip() for part in parts if part.strip()]
    return [(re.split("[:=]", text)[0].strip(), re.search(r"[^=]= [^=]*$", text) is not None) for text in texts]


def alike(types: Parameters, core: Parameters) -> bool:
    """Whether they are the same; what has no name in the core may be declared as if it had one."""
    if all(UNNAMED.fullmatch(name) for name, _ in core if name not in ("self", "/")):
        return len([name for name, _ in types if name != "/"]) == len([name for name, _ in core if name != "/"])
    return types == core


def test_the_types_name_what_the_core_has() -> None:
    types, core = declared(ast.parse(TYPES.read_text("utf-8")).body), built(_core)
    compared = {name for name in core if name.rpartition(".")[2] not in NOT_COMPARED}
    assert compared - types.keys() == set()
    assert types.keys() - core.keys() == set()
    for name in compared | {name for name in types if name.endswith("__init__")}:
        assert len(types[name]) == len(core[name]), name
        assert all(map(alike, types[name], core[name])), (name, types[name], core[name])
