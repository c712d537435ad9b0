"""Files that import each other in a circle: Lark's loader would go round until Python's stack is full."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lark.load_grammar import EXT, GrammarBuilder, _parse_grammar

from pdacon.base.cancelling import within_other_code
from pdacon.errors import CancelledError, LimitExceededError, Span
from pdacon.grammar.importing import find_file, grammar_name, path_of, statements_in
from pdacon.grammar.loading import ImportStatement, RecordingBuilder, SourceText
from pdacon.grammar.nesting import MOST_LEVELS, check_nesting

_Statements = Callable[[str, Any], Iterator[ImportStatement]]


@dataclass(frozen=True, slots=True)
class Circle:
    """The paths of the files, the first of them again at the end, and the place of the first one's ``%import``."""

    paths: tuple[str, ...]
    site: Span | None


@dataclass(frozen=True, slots=True)
class _File:
    path: Any
    text: str
    pending: Iterator[ImportStatement]


def find_circle(builder: RecordingBuilder, base: Any) -> Circle | None:
    """A circle of imports that begins in the main text, if there is one.

    Lark imports a file anew wherever it is named, so a circle never ends, whichever names are asked for.

    Raises LimitExceededError: files import each other too deeply, or one of them nests too deeply.
    Cost: each imported file is read and searched once; where that finds a circle, Lark's parser reads them too.
    """
    return _walk(builder, base, statements_in) and _walk(builder, base, _parsed_statements)


def _walk(builder: RecordingBuilder, base: Any, statements: _Statements) -> Circle | None:
    """Depth first; ``done`` are the files below which there is no circle."""
    text = builder.source.text
    trail, done = [_File(base, text, _of_main_text(text, base, statements))], set[Any]()
    while trail:
        statement = next(trail[-1].pending, None)
        if statement is None:
            done.add(trail.pop().path)
            continue
        wanted = os.path.join(*statement.dotted_path) + EXT  # noqa: PTH118 (Lark's import paths are strings)
        found = None
        with suppress(UnicodeDecodeError):  # Lark's to report
            found = find_file(wanted, statement.base_path, builder.import_paths)
        if found is None or found[0] in done:
            continue
        # The main text need not be what its file has now.
        begin = next((at for at, file in enumerate(trail) if (file.path, file.text) == found), None)
        if begin is not None:
            return _circle(trail[begin:])
        _check_depth(builder, trail, *found)
        trail.append(_File(*found, statements(found[1], found[0])))
    return None


def _check_depth(builder: RecordingBuilder, trail: list[_File], path: Any, text: str) -> None:
    """Lark's loader recurses on files as on brackets."""
    if len(trail) > MOST_LEVELS:
        site = builder.source.statement_span("import", grammar_name(path_of(trail[1].path)))
        place = "" if site is None else f"{site}: "
        detail = f"{place}{path_of(trail[1].path)} imports a file that imports a file, and so on; import from one file"
        raise LimitExceededError("levels of imports", len(trail), MOST_LEVELS, detail, fixed=True)
    check_nesting(SourceText(text, path_of(path)))


def _of_main_text(text: str, base: Any, statements: _Statements) -> Iterator[ImportStatement]:
    """Without a path of its own its relative imports start where Lark finds the main script."""
    hasty = list(statements(text, base))
    if base == "<string>" and any(statement.base_path is not None for statement in hasty):
        return _parsed_statements(text, base)
    return iter(hasty)


def _circle(files: list[_File]) -> Circle:
    paths = tuple(path_of(file.path) for file in (*files, files[0]))
    source = SourceText(files[0].text, paths[0])
    return Circle(paths, source.statement_span("import", grammar_name(paths[1])))


def _parsed_statements(text: str, base: Any) -> Iterator[ImportStatement]:
    """What Lark itself reads as ``%import``; nothing of a text that it refuses."""
    try:
        with within_other_code(len(text)):
            tree = _parse_grammar(text, base)  # type: ignore[no-untyped-call]
        for statement in tree.find_data("import"):
            path, folder, aliases = GrammarBuilder()._unpack_import(statement, base)  # type: ignore[no-untyped-call]
            yield ImportStatement(tuple(map(str, path)), folder, aliases)
    except (CancelledError, LimitExceededError):
        raise
    except Exception:  # whatever Lark raises of a text that it refuses
        return
