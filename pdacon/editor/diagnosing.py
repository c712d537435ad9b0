"""Says what is wrong with a grammar that is being typed: its syntax and names at once, its conflicts a moment later.

In: a text, where it lies, options, an event that cancels. Out: problems with places, worst first, and their repairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import Any

from pdacon import Grammar, Limits, check, time_limit
from pdacon.base.languages import is_llguidance
from pdacon.determinism import Finding, repaired_texts
from pdacon.editor.outline import Dialect, Occurrence, occurrences, undefined_names
from pdacon.errors import CancelledError, GrammarError, LimitExceededError, PdaconError, Span
from pdacon.front.lark_files import lark_file_grammar

_SECONDS = 20.0
_CHECK_SECONDS = 5.0
_LIMITS = Limits(bytes=1 << 28)
OPTIONS = ("start", "conflicts", "lookahead", "lexer", "postlex", "priority", "g_regex_flags", "import_paths")

_AT_HEAD = MappingProxyType(
    {
        'conflicts="shift"': "// pdacon: --conflicts shift",
        'lookahead="commit"': "// pdacon: --lookahead commit",
        'postlex="python"': "// pdacon: --postlex python",
    }
)
"""What stands at the head of a file in place of an argument."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What an editor underlines. ``repairs`` are what to write, each with the whole text after it."""

    level: str
    id: str
    message: str
    span: Span | None
    related: tuple[tuple[str, Span], ...] = ()
    repairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def read(text: str, path: str | None, options: dict[str, Any], dialect: Dialect = "") -> Grammar:
    """The grammar, under the options at its head; those of the editor hold where it has none.

    Its start rule is the one that either names, else ``start``, else the first rule. Of other languages than Lark's
    only ``conflicts`` holds.
    Raises PdaconError, ValueError, TypeError: it is none.
    """
    if dialect:
        read_dialect = Grammar.from_gbnf if dialect == "gbnf" else Grammar.from_ebnf
        return read_dialect(text, conflicts=options.get("conflicts", "error"), source_path=path)
    given = {name: value for name, value in options.items() if name in OPTIONS}
    if "start" not in given:
        rules = [name.name for name in occurrences(text) if name.role == "definition" and not name.is_terminal]
        given["start"] = "start" if "start" in rules or not rules else rules[0]
    return lark_file_grammar(Grammar, text, path, {}, otherwise={**given, "extensions": _is_extended(text)})


def tell_problems(
    text: str,
    path: str | None,
    options: dict[str, Any],
    cancel: Event,
    tell: Callable[[list[Problem] | None], None],
    dialect: Dialect = "",
) -> None:
    """Tell first which names nothing defines, if there are any, then what reading finds, None if that is nothing.

    Then come the errors of `check`, then all that it finds.

    Each list stands for those before.

    Raises CancelledError.
    """
    problems: list[Problem] = []
    lost = [] if not dialect and _is_extended(text) else undefined_names(text, dialect)
    undefined = [_of_name(name, path, dialect) for name in lost]
    if undefined:
        tell(undefined)
    with time_limit(_SECONDS, cancel):
        try:
            grammar = read(text, path, options, dialect)
            tell(None)
            for seconds in (0.0, _CHECK_SECONDS):
                report = check(grammar, limits=_LIMITS, cancel=cancel, seconds=seconds)
                problems = [
                    _of_finding(finding, text, path, options, dialect, offer=seconds > 0) for finding in report.findings
                ]
                tell(problems)
        except CancelledError:
            raise
        except LimitExceededError as error:
            tell([*problems, Problem("warning", "", f"not checked to the end: {error}", None)])
        except (PdaconError, ValueError, TypeError) as error:
            problem = _of_error(error)
            same = any(name.span is not None and _begin(name) == _begin(problem) for name in undefined)
            tell([problem, *(name for name in undefined if same and _begin(name) != _begin(problem))])


def _begin(problem: Problem) -> tuple[int, int] | None:
    return None if problem.span is None else (problem.span.line, problem.span.column)


def _is_extended(text: str) -> bool:
    """Whether it may be in more than Lark's own language, which no outline has."""
    return "%json" in text or "(?P<" in text or is_llguidance(text)


def _of_name(name: Occurrence, path: str | None, dialect: Dialect) -> Problem:
    kind = "terminal" if name.is_terminal and not dialect else "rule"
    span = Span(path, name.line + 1, name.column + 1, name.line + 1, name.end + 1)
    return Problem("error", "", f"{kind} {name.name!r} is used but not defined", span)


def _of_error(error: Exception) -> Problem:
    span = error.span if isinstance(error, GrammarError) else None
    return Problem("error", "", error.message if isinstance(error, GrammarError) else str(error), span)


def _of_finding(
    finding: Finding, text: str, path: str | None, options: dict[str, Any], dialect: Dialect, *, offer: bool
) -> Problem:
    lines = [finding.title, finding.message]
    if finding.counterexample is not None or finding.witness is not None:
        lines.append(f"for example: {finding.example}")
    if finding.repair:
        lines.append(f"repair: {finding.repair}")
    here = finding.span is None or is_here(finding.span, path)
    repairs = repaired_texts(text, finding, lambda new: read(new, path, options, dialect)) if offer and here else []
    if offer and not dialect:
        asked = [line for argument, line in _AT_HEAD.items() if argument in (finding.repair or "")]
        repairs += [(line, f"{line}\n{text}") for line in asked]
    said = "\n".join(lines) if dialect else _of_head("\n".join(lines))
    return Problem(finding.level, finding.id, said, finding.span, finding.related, tuple(repairs))


def _of_head(said: str) -> str:
    """What is said of arguments, said of the options at the head of a file."""
    for argument, line in _AT_HEAD.items():
        said = said.replace(argument, f"`{line}` at the head of the file")
    return said


def is_here(span: Span, path: str | None) -> bool:
    """Whether a place is in the file itself, and not in one that it imports."""
    return span.path is None or path is None or Path(span.path) == Path(path)
