"""Writes what a finding suggests into the text of its grammar, as an editor does when its user takes a repair.

In: a finding and a grammar's text in Lark's language. Out: the text with the repair in it. What is suggested in words
alone gives nothing, and so does what is meant for another file. The result is no more than text: whoever shows it reads
it first.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pdacon.determinism.report.findings import Finding
from pdacon.errors import CancelledError, PdaconError

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
    """A grammar with the lines of a choice in the place of what they are to replace; empty where that is not there."""
    if "instead of" in lines:
        return _with_rules(text, lines[: lines.index("instead of")], lines[lines.index("instead of") + 1])
    if finding.id == "PDA016" and len(lines) == 1 and lines[0].startswith("%ignore"):
        return re.sub(r"^%ignore .*$", "", text, flags=re.M) + lines[0] + "\n"
    if finding.id == "PDA016" and len(lines) == 1 and lines[0].startswith("IGNORED"):
        return re.sub(r"^%ignore .*$", "", text, flags=re.M) + lines[0].replace(" with ", "\n") + "\n"
    for line in lines:
        text = _with_line(text, line)
    return text


def _with_line(text: str, line: str) -> str:
    definition, _, instead = line.partition(" with ")
    if " instead of " in line and not instead:
        new, old = line.split(" instead of ")
        return text.replace(old.removesuffix(" in the rules"), new)
    if line.startswith("%ignore"):
        return re.sub(r"^%ignore [/\"].*$", lambda _: line, text, flags=re.M)
    if line.startswith("%override"):
        return f"{text}\n{line}\n"
    name = re.split(r"[.:{ ]", definition)[0].lstrip("?!")
    if " instead of " in instead:
        text = text.replace(instead.split(" instead of ")[1].removesuffix(" in the rules"), name)
    elif instead:
        text = re.sub(r"%ignore (?=[/\"]).*", lambda _: instead, text)
    rule = rf"^[?!]*{re.escape(name)}(\{{[^}}\n]*\}})?(\s*\.\s*-?\d+)?\s*:{_BODY}"
    text, replaced = re.subn(rule, lambda _: definition, text, flags=re.M)
    return text if replaced else f"{text.rstrip()}\n{definition}\n"


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
