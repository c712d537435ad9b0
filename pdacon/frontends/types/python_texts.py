"""Raw values <-> Python's literals and calls of constructors, without evaluating anything.

In: a text such as ``Point(x=1, y=[None, 2.5])``, or a raw value. Out: the other one. Only the syntax tree is looked at.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from pdacon.base.cancelling import every
from pdacon.frontends.json_schema import Marks
from pdacon.frontends.long_integers import integer_of, text_of
from pdacon.frontends.types.shapes import Marked, Real, row_head

_LONG = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.])[1-9]\d{600,}(?![\w.])""", re.DOTALL | re.ASCII)
"""Strings, and integers of more digits than Python may read; they are written as hexadecimal ones for it."""
PYTHON_CONSTANTS = {"null": "None", "true": "True", "false": "False"}


def read_python(text: str) -> Any:
    """The raw value of an expression.

    Raises
    ------
    ValueError
        It is none, or has what stands for no value.
    """
    text = _LONG.sub(lambda match: hex(integer_of(match[0])) if match[0].isdecimal() else match[0], text)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"Python does not parse this text: {error}") from error
    return _raw(tree.body, text)


def _raw(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, float):
            return Real(ast.get_source_segment(text, node) or repr(node.value))
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _raw(node.operand, text)
        return Real(f"-{value.text}") if isinstance(value, Real) else -value
    if isinstance(node, ast.List):
        return [_raw(element, text) for element in every(node.elts)]
    if isinstance(node, ast.Tuple):
        return Marked(row_head(len(node.elts)), [_raw(element, text) for element in every(node.elts)])
    if isinstance(node, ast.Set):
        return Marked("set", [_raw(element, text) for element in every(node.elts)])
    if isinstance(node, ast.Dict):
        return _members(node, text)
    if isinstance(node, ast.Attribute):
        return Marked(ast.unparse(node.value), node.attr)
    if isinstance(node, ast.Call):
        return _call(node, text)
    return _unknown(node)


def _members(node: ast.Dict, text: str) -> Any:
    names = [None if key is None else _raw(key, text) for key in node.keys]
    values = [_raw(value, text) for value in every(node.values)]
    if not all(isinstance(name, str) for name in names):
        _unknown(node)
    return dict(zip(names, values, strict=True))


def _call(node: ast.Call, text: str) -> Any:
    head = ast.unparse(node.func)
    if node.keywords or not node.args:
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            _unknown(node)
        if head in ("set", "frozenset", "deque"):
            return Marked(head, [])
        return Marked(head, {str(keyword.arg): _raw(keyword.value, text) for keyword in node.keywords})
    if len(node.args) > 1:
        _unknown(node)
    value = _raw(node.args[0], text)
    if head == "tuple" and isinstance(value, list):
        return Marked("tuple of any length", value)
    if head == "frozenset" and isinstance(value, Marked) and value.head == "set":
        value = value.value
    return Marked(head, value)


def _unknown(node: ast.expr) -> NoReturn:
    raise ValueError(f"{ast.unparse(node)[:60]} stands for no value here")


def write_python(raw: Any, marks: Mapping[str, Marks]) -> str:
    """The text of a raw value."""
    if isinstance(raw, Marked):
        return _write_marked(raw, marks)
    if isinstance(raw, list):
        return f"[{', '.join(write_python(item, marks) for item in every(raw))}]"
    if isinstance(raw, dict):
        parts = [f"{write_python(name, marks)}: {write_python(value, marks)}" for name, value in every(raw.items())]
        return f"{{{', '.join(parts)}}}"
    if isinstance(raw, str):
        return json.dumps(raw, ensure_ascii=False)
    if isinstance(raw, int) and not isinstance(raw, bool):
        return text_of(raw)
    return raw.text if isinstance(raw, Real) else repr(raw)


def _write_marked(raw: Marked, marks: Mapping[str, Marks]) -> str:
    for base, kind in (("object", dict), ("array", list), ("string", str), ("number", Real)):
        own = marks.get(f"{base}:{raw.head}")
        if own is None or not isinstance(raw.value, kind):
            continue
        if isinstance(raw.value, (str, Real)):
            inner = raw.value if own.bare and isinstance(raw.value, str) else write_python(raw.value, marks)
            return f"{own.opening}{inner}{own.closing}"
        if not raw.value:
            return own.empty
        if isinstance(raw.value, list):
            parts = [write_python(item, marks) for item in every(raw.value)]
            return f"{own.opening}{', '.join(parts)}{own.closing}"
        parts = [
            f"{own.name_opening}{name}{own.name_closing}{write_python(value, marks)}"
            for name, value in every(raw.value.items())
        ]
        return f"{own.opening}{', '.join(parts)}{own.closing}"
    raise AssertionError(raw)
