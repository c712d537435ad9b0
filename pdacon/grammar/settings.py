"""Options as the caller gives them -> GrammarOptions. A wrong value is a ValueError that lists the right ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar.indentation import read_postlex
from pdacon.grammar.labels import RESERVED
from pdacon.grammar.model import ConflictPolicy, GrammarOptions, LexerKind, LookaheadPolicy, PriorityPolicy
from pdacon.regular.groups import REGULAR_GROUPS

_ACCEPTED: dict[str, tuple[object, ...]] = {
    "lexer": get_args(LexerKind),
    "conflicts": get_args(ConflictPolicy),
    "lookahead": get_args(LookaheadPolicy),
    "priority": (*get_args(PriorityPolicy), None),
    "use_bytes": (False, True),
    "maybe_placeholders": (False, True),
    "extensions": (False, True),
}
_MEANINGS = frozenset({*REGULAR_GROUPS, *RESERVED, "TEXT_TOKEN", "PARAGRAPH_TOKEN"})
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII | re.UNICODE


def make_options(
    *, start: Any, import_paths: Any, source_path: Any, g_regex_flags: Any, postlex: Any, **given: Any
) -> GrammarOptions:
    """Check every option; what comes back needs no further check.

    Raises ValueError, TypeError: if a value is not accepted. UnsupportedGrammarError: for a ``postlex`` that is more
    than an Indenter, and for what Lark loads with ``use_bytes`` but cannot run.
    """
    require_accepted({name: given[name] for name in _ACCEPTED})
    options = GrammarOptions(
        start=_start(start),
        g_regex_flags=_flags(g_regex_flags),
        postlex=read_postlex(postlex),
        import_paths=_import_paths(import_paths),
        import_base=None if source_path is None else _path(source_path),
        **given,
    )
    if options.use_bytes:
        _check_bytes(options)
        if options.extensions:
            raise UnsupportedGrammarError(
                "extensions=True is for texts, and with use_bytes=True there are none; leave one of them out",
                feature="extensions",
            )
    return options


def require_accepted(given: Mapping[str, Any]) -> None:
    """Raise ValueError if an option has a value that is not one of those that it can have."""
    for name, value in given.items():
        accepted = _ACCEPTED[name]
        if not any(value is one or (isinstance(value, str) and value == one) for one in accepted):
            raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(repr, accepted))}")


def checked_sets(sets: Any, extensions: bool) -> Mapping[str, Any]:
    """What groups with names of the caller's stand for, whatever the sets are.

    Raises ValueError, TypeError: a name is none that a group can have, or has a meaning; or patterns have no such
    groups.
    """
    if sets is None:
        return {}
    if not isinstance(sets, Mapping):
        raise TypeError(f"sets must be a mapping of names to RegularSets, not a {type(sets).__name__}")
    if sets and not extensions:
        raise ValueError("sets= is for groups such as (?P<NAME>), which patterns have with extensions=True; give both")
    for name in sets:
        if not isinstance(name, str) or not re.fullmatch(r"\w+", name) or not name.isidentifier():
            raise ValueError(f"sets: {name!r:.40} cannot be the name of a group")
        if name in _MEANINGS:
            raise ValueError(f"sets: (?P<{name}>) has a meaning already; give the set another name")
    return dict(sets)


def schema_advice(given: Any) -> str:
    """What to do with a JSON Schema, a regular expression and the like in place of a grammar; empty for others."""
    if callable(getattr(given, "model_json_schema", None)):
        name = given.__name__ if isinstance(given, type) else type(given).__name__
        return f"; of the class, make one with pdacon.Grammar.from_type({name}), or give the class itself"
    if isinstance(given, Mapping):
        return "; of a JSON Schema, make one with pdacon.Grammar.from_json_schema"
    if isinstance(given, re.Pattern):
        return f"; of a regular expression, make one with pdacon.Grammar.from_regex({given.pattern!r:.60})"
    if isinstance(given, list | tuple | set | frozenset):
        return "; of a list of texts, make one with pdacon.Grammar.from_choices"
    return ""


def _check_bytes(options: GrammarOptions) -> None:
    if options.g_regex_flags & re.UNICODE:
        raise UnsupportedGrammarError(
            "g_regex_flags: with use_bytes=True Lark can match nothing, because re.UNICODE is not for bytes; leave "
            "it out",
            feature="g_regex_flags",
        )
    if options.postlex is not None:
        raise UnsupportedGrammarError(
            "postlex: with use_bytes=True Lark's Indenter fails on every line, because it looks for newlines in text; "
            "leave use_bytes out and write the grammar over text (pdacon reads and writes its UTF-8)",
            feature="postlex",
        )


def _start(start: Any) -> tuple[str, ...]:
    names = (start,) if isinstance(start, str) else tuple(start) if isinstance(start, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"start={start!r}: expected a rule's name, or a sequence of at least one")
    if len(set(names)) != len(names):
        raise ValueError(f"start={start!r}: a name is given twice")
    return names


def _flags(flags: Any) -> int:
    if isinstance(flags, bool) or not isinstance(flags, int):
        raise TypeError(f"g_regex_flags={flags!r}: expected an int such as re.IGNORECASE")
    if int(flags) & ~int(_FLAGS):
        raise ValueError(f"g_regex_flags={flags!r}: expected only I, M, S, X, A and U of re")
    if flags & re.ASCII and flags & re.UNICODE:
        raise ValueError(f"g_regex_flags={flags!r}: ASCII and UNICODE exclude each other")
    return int(flags)


def _import_paths(paths: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(paths, (str, os.PathLike)):
        raise TypeError(f"import_paths={paths!r}: expected a sequence of folders, such as [{os.fspath(paths)!r}]")
    return tuple(path if callable(path) else _path(path) for path in paths)


def _path(path: Any) -> Any:
    # Lark's own PackageResource (from Lark.open_from_package) is a named pair and goes through as it is.
    return path if isinstance(path, tuple) else os.fspath(path)
