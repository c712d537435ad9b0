"""A grammar as plain data, and back: what a file can hold of it. Nothing in such a file is executed.

Records become lists of their fields, in order. Whatever is read is held against the types of the records, so that a
file of any content gives a `Grammar` or an error.
"""

from __future__ import annotations

import json
import re
import types
from base64 import b64decode, b64encode
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from pdacon.errors import ArtifactError
from pdacon.grammar.grammar_data import GrammarData


@dataclass(frozen=True)
class LostLoader:
    """Stands where ``import_paths`` had a function: a file cannot hold one."""

    name: str

    def __call__(self, *_: Any) -> NoReturn:
        raise ArtifactError(
            f"import_paths had the function {self.name}, which a file cannot hold: give Lark the grammar as it was "
            "given when it was compiled"
        )


def to_json(grammar: GrammarData) -> bytes:
    """The grammar as JSON. Functions in ``options.import_paths`` are replaced by a `LostLoader`."""
    options = grammar.options
    paths = [path if isinstance(path, str) else _name_of(path) for path in options.import_paths]
    kept = replace(grammar, options=replace(options, import_paths=(), import_base=None))
    base = options.import_base
    *plain, within, islands = _plain(kept)
    record = {
        "grammar": plain,
        "import_paths": [[isinstance(path, str), name] for path, name in zip(options.import_paths, paths, strict=True)],
        "import_base": list(base) if isinstance(base, tuple) else base,
    }
    if within:
        record["within"] = within
    if islands:
        record["islands"] = islands
    return json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode()


def from_json(text: bytes) -> GrammarData:
    """What `to_json` made a text of.

    Raises ArtifactError: it did not.
    """
    try:
        record = json.loads(text)
        grammar: GrammarData = _typed(
            GrammarData, [*record["grammar"], record.get("within", []), record.get("islands", [])]
        )
        paths = [path if _typed(bool, is_path) else LostLoader(path) for is_path, path in record["import_paths"]]
        base = record["import_base"]
        if isinstance(base, list):
            from lark.load_grammar import PackageResource  # brings lark along, which built-in grammars do without

            base = PackageResource(*[_typed(str, part) for part in base])
        elif base is not None:
            _typed(str, base)
        _check_patterns(grammar)
        return replace(grammar, options=replace(grammar.options, import_paths=tuple(paths), import_base=base))
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError, re.error) as error:
        raise ArtifactError(f"the artifact is damaged: its grammar cannot be read ({error})") from error


def _check_patterns(grammar: GrammarData) -> None:
    """Raises what ``re`` raises. Whoever asks for the grammar takes its patterns for such as ``re`` compiles."""
    for terminal in grammar.terminals:
        pattern = terminal.pattern and terminal.pattern.unescaped
        if pattern is not None and pattern.automaton is None:
            re.compile(pattern.regexp, grammar.options.g_regex_flags)


def _name_of(path: Any) -> str:
    return path.name if isinstance(path, LostLoader) else getattr(path, "__qualname__", type(path).__qualname__)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        record: Any = type(value)
        kept = [_plain(getattr(value, field.name)) for field in _stored(record)]
        least = _required_fields(record)
        while len(kept) > least and kept[-1] is None:
            kept.pop()
        return kept
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


@cache
def _fields_of(record: type) -> tuple[Any, ...]:
    hints = get_type_hints(record)
    return tuple(hints[field.name] for field in _stored(record))


def _stored(record: Any) -> list[Field[Any]]:
    """The fields that a file holds: not those that are no plain data."""
    return [field for field in fields(record) if field.metadata.get("stored", True)]


@cache
def _required_fields(record: type) -> int:
    """How many fields are in a file always; the last ones may be there only if there is something in them."""
    stored = _stored(record)
    while stored and stored[-1].metadata.get("optional", False):
        stored.pop()
    return len(stored)


def _typed(kind: Any, value: Any) -> Any:
    """The value as a type, which has to be one of those that the records' fields have."""
    if is_dataclass(kind):
        assert isinstance(kind, type)
        kinds = _fields_of(kind)
        if isinstance(value, list) and len(value) >= _required_fields(kind):
            value = [*value, *[None] * (len(kinds) - len(value))]
        if not isinstance(value, list) or len(value) != len(kinds):
            raise ValueError(f"not a {kind.__name__}")
        return kind(*map(_typed, kinds, value))
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return _typed(next(argument for argument in arguments if argument is not type(None)), value)
    if origin is Literal:
        if value not in arguments:
            raise ValueError(f"{value!r:.40} is none of {arguments}")
        return value
    if origin in (tuple, frozenset):
        if not isinstance(value, list):
            raise ValueError("not a list")
        if origin is frozenset or arguments[1:] == (...,):
            return origin(_typed(arguments[0], item) for item in value)
        if len(value) != len(arguments):
            raise ValueError(f"not {len(arguments)} values")
        return tuple(map(_typed, arguments, value))
    if kind is Any:
        if value is not None:
            raise ValueError("not empty")
        return None
    if kind is bytes and isinstance(value, str):
        return b64decode(value, validate=True)
    if type(value) is not kind:
        raise ValueError(f"{value!r:.40} is no {kind.__name__}")
    return value
