"""Writes what a finding suggests into the text of its grammar, as an editor does when its user takes a repair.

In: a finding and a grammar's text, in Lark's language, GBNF or EBNF. Out: the text with the repair in it. What is
suggested in words alone gives nothing, and so does what is meant for another file. The result is no more than text:
whoever shows it reads it first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from pdacon.determinism.report.findings import Finding
from pdacon.determinism.report.notations import with_rules
from pdacon.errors import CancelledError, GrammarSyntaxError, PdaconError
from pdacon.grammar.formatting import split_alternatives, split_comment

_MOST = 3  # repairs of one finding
_BODY = r".*(?:\n(?:[ \t]*\||[ \t]+[^\s%]).*)*"
"""The rest of a definition: its line, and those that begin with a bar or that are indented."""


def repaired_texts(text: str, finding: Finding, read: Callable[[str], object]) -> list[tuple[str, str]]:
    """What can be taken of a finding's repairs: the lines to write, and the whole text with them in it.

    ``read`` makes a grammar of a text. A repair whose text it refuses is not among them: it is left to the reader.

    Raises CancelledError.
    """
    repaired = ((lines, with_repair(text, finding, lines)) for lines in repair_choices(finding)[:_MOST])
    return [("\n".join(lines), new) for lines, new in repaired if new and new != text and _loads(new, read)]


def _loads(text: str, read: Callable[[str], object]) -> bool:
    try:
        read(text)
    except CancelledError:
        raise
    except (PdaconError, ValueError, TypeError):
        return False
    return True


def repair_choices(finding: Finding) -> list[list[str]]:
    """The lines that a finding suggests to write, choice by choice; an alternative on a line of its own is no line."""
    choices: list[list[str]] = [[]]
    for line in (finding.repair or "").split("\n"):
        if line.startswith("  "):
            choices[-1].append(line.strip().removesuffix(" or"))
            if line.endswith(" or"):
                choices.append([])
        elif line == "instead of" and choices[-1]:
            choices[-1].append(line)
    return [choice for choice in choices if choice]


def with_repair(text: str, finding: Finding, lines: list[str]) -> str:
    """A grammar with the lines of a choice in the place of what they are to replace; empty where that is not there.

    What they replace keeps its place, its comments and where its colon and its bars stand.
    """
    if "\r\n" in text:
        plain = text.replace("\r\n", "\n")
        is_mixed = text.count("\n") != text.count("\r\n")  # whose line ends could not be kept
        return "" if is_mixed else with_repair(plain, finding, lines).replace("\n", "\r\n")
    if " ::= " in "".join(lines[:1]):
        return with_rules(text, lines) if "instead of" not in lines else ""
    if "instead of" in lines:
        return _with_rules(text, lines[: lines.index("instead of")], lines[lines.index("instead of") + 1])
    if finding.id == "PDA016" and len(lines) == 1 and lines[0].startswith(("%ignore", "IGNORED")):
        return _ignoring(text, lines[0].split(" with "))
    after = len(text)
    for line in lines:
        text, after = _with_line(text, line, after)
    return text


def unused_names(text: str, names: Iterable[str]) -> list[str]:
    """Those of the terminals that nothing but their own definition and ``%ignore`` names, comments left out."""
    lines = (line for line in text.split("\n") if not line.startswith("%ignore "))
    rest = "\n".join(line.removesuffix(_comment(line)) for line in lines)
    once = (name for name in names if len(re.findall(rf"(?<!\w){name}(?!\w)", rest)) == 1)
    return [name for name in once if _place(rest, name) and _place(text, name)]


def _place(text: str, name: str) -> re.Match[str] | None:
    """Where a terminal is defined or imported, in lines or in a place of a list of its own."""
    defined = rf"^{name}(?:\s*\.\s*-?\d+)?\s*:{_BODY}\n?"
    imported = rf"^%import [ \t]*[\w.]+(?:\.|[ \t]*->[ \t]*){name}[ \t]*(?://.*)?(?:\n|\Z)"
    alone = rf"^%import [ \t]*[\w.]+[ \t]*\([ \t]*{name}[ \t]*\).*\n?"
    listed = rf"(?<=\()[ \t]*{name}[ \t]*,[ \t]*|,[ \t]*{name}[ \t]*(?=[,)])"
    found = (re.search(pattern, text, flags=re.M) for pattern in (defined, imported, alone, listed))
    return next((match for match in found if match is not None), None)


def _ignoring(text: str, lines: list[str]) -> str:
    """A grammar that ignores something else: where its first ``%ignore`` was, and without what was for these alone."""
    old = re.findall(r"(?m)^%ignore .*\n?", text)
    if not old:
        return ""
    at = text.index(old[0])
    new = "\n".join([*lines[:-1], _beside(lines[-1], map(_comment, old))]) + "\n"
    before, behind = text[:at], re.sub(r"(?m)^%ignore .*\n?", "", text[at:])
    names = [name for line in old for name in re.findall(r"\w+", line)[1:]]
    while unused := unused_names(before + behind, dict.fromkeys(names)):
        for name in unused:
            before, behind, removed = _without(before, behind, name)
            names += re.findall(r"\b[A-Z_][A-Z0-9_]*\b", removed)
    return before + new + behind


def _without(before: str, behind: str, name: str) -> tuple[str, str, str]:
    """Two parts of a grammar without the definition of a terminal, and that."""
    if match := _place(before, name):
        return before[: match.start()] + before[match.end() :], behind, match[0]
    match = _place(behind, name)
    assert match is not None
    return before, behind[: match.start()] + behind[match.end() :], match[0]


def _comment(line: str) -> str:
    """The comment at the end of a line."""
    try:
        return split_comment(line)[1]
    except GrammarSyntaxError:  # where a literal goes on, for one
        return ""


def _beside(line: str, comments: Iterable[str]) -> str:
    return "  ".join([line, *filter(None, comments)])


def _with_line(text: str, line: str, after: int) -> tuple[str, int]:
    """The text with a line, and where the next one goes if it defines what is not there yet."""
    definition, _, instead = line.partition(" with ")
    if " instead of " in line and not instead:
        new, old = line.split(" instead of ")
        return text.replace(old.removesuffix(" in the rules"), new), after
    if line.startswith("%ignore"):
        changed = re.sub(r"^%ignore [/\"].*$", lambda old: _beside(line, [_comment(old[0])]), text, flags=re.M)
        return changed, after
    if line.startswith("%override"):
        return f"{text}\n{line}\n", after
    name = re.split(r"[.:{ ]", definition)[0].lstrip("?!")
    if " instead of " in instead:
        text = text.replace(instead.split(" instead of ")[1].removesuffix(" in the rules"), name)
    elif instead:
        text = re.sub(r"%ignore (?=[/\"]).*", lambda _: instead, text)
    rule = rf"^[?!]*{re.escape(name)}(\{{[^}}\n]*\}})?(\s*\.\s*-?\d+)?[ \t]*:{_BODY}"
    place = re.search(rule, text, flags=re.M)
    if place is not None:
        laid_out = _laid_out(place[0], definition)
        return text[: place.start()] + laid_out + text[place.end() :], place.start() + len(laid_out)
    if after < len(text):
        return f"{text[:after]}\n{definition}{text[after:]}", after + 1 + len(definition)
    return f"{text.rstrip()}\n{definition}\n", after


def _laid_out(old: str, definition: str) -> str:
    """A definition as the one was laid out that it replaces."""
    try:
        return _as_it_was(old, definition)
    except GrammarSyntaxError:
        return definition


def _as_it_was(old: str, definition: str) -> str:
    first, *others = old.split("\n")
    head, _, begun = first.partition(":")
    new_head, _, body = definition.partition(":")
    blanks = len(head) - len(new_head) if head[-1:].isspace() else 0
    before = f"{new_head}{' ' * blanks}:{re.match(r'[ ]*', begun)[0] or ' '}"  # type: ignore[index]
    comment = _comment(first)
    bars = [line for line in others if line.lstrip().startswith("|")]
    if not bars:
        return "\n".join([_beside(before + body.strip(), [comment]), *others])
    alternatives = split_alternatives(body)
    bar = re.match(r"\s*\|\s*", bars[0])[0]  # type: ignore[index]
    there = [(" ".join(split_comment(line)[0].strip("| ").split()), _comment(line)) for line in bars]
    if begun.strip().removeprefix(comment):
        there.insert(0, (" ".join(split_comment(begun)[0].split()), comment))
        heads, lines = [before, *[bar] * (len(alternatives) - 1)], []
    else:
        heads, lines = [bar] * len(alternatives), [_beside(before.rstrip(), [comment])]
    if len(there) == len(alternatives):  # each in the place of one
        kept = [comment for _, comment in there]
    else:
        kept = [dict(there).get(alternative, "") for alternative in alternatives]
    lost = [comment for _, comment in there if comment not in kept]
    own = [line.strip() for line in others if not line.lstrip().startswith("|") and line.strip()]
    shown = zip(heads, alternatives, kept, strict=True)
    return "\n".join([*own, *lost, *lines, *(_beside(head + each, [comment]) for head, each, comment in shown)])


def _with_rules(text: str, alternatives: list[str], old: str) -> str:
    """A grammar with several productions of a rule in the place of one of its alternatives, as it is written there."""
    name, _, body = old.partition(": ")
    rule = re.compile(rf"(?m)^(?P<head>[?!]*{re.escape(name)}\s*:)(?P<all>{_BODY})")
    match = rule.search(text)
    if match is None:
        return ""
    written = [alternative.strip() for alternative in match["all"].split("|")]
    if body not in written:
        return ""
    new = [line.partition(": ")[2] for line in alternatives]
    written[written.index(body) : written.index(body) + 1] = new
    return text[: match.start()] + match["head"] + " " + " | ".join(written) + text[match.end() :]
