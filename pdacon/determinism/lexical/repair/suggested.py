"""Patterns that a repair suggests: as a line that can be pasted, and read back as Lark reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pdacon.grammar import GrammarData, GrammarOptions, Import, Terminal
from pdacon.grammar.grammar_data import as_written_in
from pdacon.grammar.lark_reading import read_text

_BLANKS = {" ": r"\x20", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
_TO_ESCAPE = re.compile(r"(\\[^ \t\n\r\f\v])|\\?([ \t\n\r\f\v])|/")

_PATTERN = re.compile(r'(?:"(?P<str>(?:\\.|[^"\\])*)"|/(?!/)(?P<re>(?:\\.|[^/\\])+)/)(?P<flags>[imslux]*)')
"""A string or a pattern in Lark's language."""


def written(value: str, flags: Iterable[str]) -> str:
    """A pattern with its slashes and flags, without blanks: the line may be wrapped at them."""
    return f"/{_TO_ESCAPE.sub(_escaped, value)}/{''.join(sorted(flags))}"


def _escaped(match: re.Match[str]) -> str:
    return match.group(1) or _BLANKS.get(match.group(2), r"\/")


def definition(
    grammar: GrammarData, index: int, pattern: str, priority: int | None = None, home: str | None = None
) -> str:
    """What to write so that a terminal has another pattern, and another priority where one is given.

    ``home`` is the file that the repair is for; without it, that of the terminal.
    """
    terminal = grammar.terminals[index]
    above = terminal.priority if priority is None else priority
    level = f".{above}" if above else ""
    if terminal.literal is not None:
        return _of_literal(grammar, index, pattern, level)
    imported = _import_of(grammar, index)
    if imported is None:
        inline = _written_in_rules(grammar, terminal)
        instead = f" with {terminal.name} instead of {inline} in the rules" if inline not in (None, pattern) else ""
        return f"{terminal.name}{level}: {pattern}{instead}"
    if imported.original is None and imported.definition.path != (home or _home(grammar, index)):
        return f"%override {terminal.name}{level}: {pattern}"
    own = imported.original or as_written_in(grammar, imported.definition.path).describe_name(terminal.name)
    return f"{own}{level}: {pattern}"


def _written_in_rules(grammar: GrammarData, terminal: Terminal) -> str | None:
    """What a terminal matches as it stands in rules: Lark takes it for the terminal there, too."""
    assert terminal.pattern is not None
    own = None if terminal.span is None else terminal.span.line
    for number, line in enumerate(grammar.source.split("\n"), 1):
        # What stands behind %ignore is a terminal of its own.
        found = () if number == own or line.lstrip().startswith(("//", "%")) else _PATTERN.finditer(line)
        for each in found:
            if each["re"] is None:
                kind, value = "str", each["str"].replace('\\"', '"').replace("\\\\", "\\")
            else:
                kind, value = "re", each["re"].replace(r"\/", "/")
            if (kind, value, set(each["flags"])) == (
                terminal.pattern.kind,
                terminal.pattern.value,
                set(terminal.pattern.flags),
            ):
                return each[0]
    return None


def elsewhere(grammar: GrammarData, index: int, home: str | None = None) -> str:
    """``", in FILE"`` where a definition belongs into another file than the repair is for."""
    imported = _import_of(grammar, index)
    if imported is None or imported.original is None or imported.definition.path == (home or _home(grammar, index)):
        return ""
    return f", in {imported.definition.path}"


def suggestion(grammar: GrammarData, index: int, pattern: str) -> str:
    """A definition on a line of its own, which is not wrapped, and where it belongs."""
    return f"{elsewhere(grammar, index)}:\n  {definition(grammar, index, pattern)}"


def _import_of(grammar: GrammarData, index: int) -> Import | None:
    return next((one for one in grammar.imports if one.name == grammar.terminals[index].name), None)


def _home(grammar: GrammarData, index: int) -> str | None:
    span = grammar.terminals[index].span
    return None if span is None else span.path


def _of_literal(grammar: GrammarData, index: int, pattern: str, level: str) -> str:
    terminal = grammar.terminals[index]
    ignored = index in grammar.ignore
    if not level:
        return f"%ignore {pattern}" if ignored else f"{pattern} instead of {terminal.literal}"
    name = terminal.name
    if name.startswith("__"):  # Lark has no good one for it
        name = free_name(grammar, "IGNORED" if ignored else "NAME")
    if ignored:
        return f"{name}{level}: {pattern} with %ignore {name}"
    instead = f" with {name} instead of {terminal.literal} in the rules" if pattern != terminal.literal else ""
    return f"{name}{level}: {pattern}{instead}"


def free_name(grammar: GrammarData, name: str) -> str:
    taken = {terminal.name for terminal in grammar.terminals}
    return next(free for k in range(1, len(taken) + 2) if (free := name if k == 1 else f"{name}_{k}") not in taken)


def read(grammar: GrammarData, pattern: str) -> GrammarData:
    """A grammar of one terminal that a text may consist of, with the pattern and the options of another grammar.

    Raises GrammarError: Lark does not take the pattern.
    """
    options = GrammarOptions(g_regex_flags=grammar.options.g_regex_flags, use_bytes=grammar.options.use_bytes)
    return read_text(f"start: T\nT: {pattern}\n", options)
