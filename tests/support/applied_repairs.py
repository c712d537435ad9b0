"""What findings advise to write, as data, and grammars with it written into them."""

from __future__ import annotations

import re

from pdacon.determinism import Finding

_TOLD = re.compile(r"Lost with it is such a text as (\"(?:\\.|[^\"\\])*\"|'[^']*')")


def choices(finding: Finding) -> list[list[str]]:
    """The lines that a finding suggests to write, choice by choice; an alternative on a line of its own is no line."""
    found: list[list[str]] = [[]]
    for line in (finding.repair or "").split("\n"):
        if line.startswith("  "):
            found[-1].append(line.strip().removesuffix(" or"))
            if line.endswith(" or"):
                found.append([])
        elif line == "instead of" and found[-1]:
            found[-1].append(line)
    return [choice for choice in found if choice]


def lost_texts(finding: Finding) -> list[str]:
    """The texts that a finding says are lost with its repair."""
    return [_unquoted(text) for text in _TOLD.findall(finding.repair or "")]


def _unquoted(text: str) -> str:
    """The text that `pdacon.base.quoting.quote` shows so."""
    return re.sub(r"\\(x..|.)", lambda m: _ESCAPED.get(m[1]) or _character(m[1]), text[1:-1])


_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) == 3 else escape


def applied(text: str, finding: Finding, lines: list[str]) -> str:
    """A grammar with the lines of a choice, in the place of what they are to replace."""
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
    rule = rf"^[?!]*{re.escape(name)}(\{{[^}}\n]*\}})?(\s*\.\s*-?\d+)?\s*:.*(?:\n(?:[ \t]*\||[ \t]+[^\s%]).*)*"
    text, known = re.subn(rule, lambda _: definition, text, flags=re.M)
    return text if known else f"{text.rstrip()}\n{definition}\n"


def _with_rules(text: str, alternatives: list[str], old: str) -> str:
    """A grammar with several productions of a rule in the place of one of its alternatives, as it is written there."""
    name, _, body = old.partition(": ")
    rule = re.compile(rf"(?m)^(?P<head>[?!]*{re.escape(name)}\s*:)(?P<all>.*(?:\n(?:[ \t]*\||[ \t]+[^\s%]).*)*)")
    found = rule.search(text)
    assert found is not None
    written = [one.strip() for one in found["all"].split("|")]
    if body not in written:
        return ""
    new = [line.partition(": ")[2] for line in alternatives]
    written[written.index(body) : written.index(body) + 1] = new
    return text[: found.start()] + found["head"] + " " + " | ".join(written) + text[found.end() :]
