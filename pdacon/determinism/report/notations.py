"""Writes the lines of a repair in the notation of the file that they are for: GBNF and EBNF, ``name ::= ...``.

In: a finding whose repair has lines in Lark's language, and its grammar. Out: the finding with these lines as its
author writes rules; where one has a part that no rule of the file stands for, they stay, and the repair says so. Then
also the text of the file with such lines in it.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Collection, Sequence
from dataclasses import replace

from pdacon.base.languages import has_bnf_rules
from pdacon.determinism.report.findings import Finding
from pdacon.grammar import GrammarData

LARKS_NOTATION = "in Lark's notation"
_DEFINITION = re.compile(r"(?P<indent>  )(?P<name>[\w.-]+): (?P<body>.*?)(?P<behind> or)?")
_RULE = re.compile(r"(?m)^  [\w.-]+ ::= ")
_PART_OF_RULE = r"\([^() ]+ (?:(?:after|before) [^() ]+ ?|end)+\)"  # as terminals of dialects are called
_WORD = re.compile(
    rf"""\s*(?:(?P<part>{_PART_OF_RULE})|(?P<literal>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')(?![\w])"""
    r"""|(?P<name>[A-Za-z0-9_](?:[\w.-]*\w)?)|(?P<sign>[|()?*+]))"""
)
_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|(?P<comment>#[^\n]*)|(?P<blanks>\s+)|.')


def in_notation_of(grammar: GrammarData, finding: Finding) -> Finding:
    """The finding with what its repair suggests to write in the notation of the grammar's file."""
    repair = finding.repair or ""
    is_done = LARKS_NOTATION in repair or _RULE.search(repair)
    if not has_bnf_rules(grammar.language) or "\n  " not in f"\n{repair}" or is_done:
        return finding
    lines = repair.split("\n")
    suggested = [match for line in lines if (match := _DEFINITION.fullmatch(line))]
    rules = {production.rule for production in grammar.productions} | {match["name"] for match in suggested}
    written = [_rule_of(line, rules) for line in lines]
    if None in written:
        last = max(k for k, line in enumerate(lines) if line.startswith("  "))
        why = f"These lines are {LARKS_NOTATION}: {grammar.language} has no rule for a part of them."
        written = [*lines[: last + 1], why, *lines[last + 1 :]]
    return replace(finding, repair="\n".join(line for line in written if line is not None))


def _rule_of(line: str, rules: Collection[str]) -> str | None:
    """A line of a repair with its definition as a rule of the file; None: it has a part that cannot be written so."""
    if not line.startswith("  "):
        return line
    match = _DEFINITION.fullmatch(line)
    body = None if match is None else _body(match["body"], rules)
    return None if match is None or body is None else f"  {match['name']} ::= {body}{match['behind'] or ''}"


def _body(text: str, rules: Collection[str]) -> str | None:
    words: list[str] = []
    joined = ""  # the literals that end here, which have a character each
    at = 0
    for match in _WORD.finditer(text):
        if match.start() != at or match["part"] or (match["name"] and match["name"] not in rules):
            return None
        at = match.end()
        if match["literal"] and text[at : at + 1] not in tuple("?*+"):
            joined += literal_eval(match["literal"])
            continue
        if joined:
            words.append(_quoted(joined))
            joined = ""
        words.append(_quoted(literal_eval(match["literal"])) if match["literal"] else match[0].strip())
    if text[at:].strip():
        return None
    if joined:
        words.append(_quoted(joined))
    shown = " ".join(words)
    return re.sub(r" (?=[?*+)](?: |$))|(?<=\() ", "", shown)


def _quoted(text: str) -> str:
    return f'"{"".join(_CONTROLS.get(sign) or (sign if sign.isprintable() else _escaped(sign)) for sign in text)}"'


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 1 << 16 else f"\\U{ord(sign):08x}"


def with_rules(text: str, lines: Sequence[str]) -> str:
    """A file with rules in the place of those of the same names; others come behind the one before them.

    Comments within a rule come to stand above it.
    """
    after = len(text)
    for line in lines:
        name = line.partition(" ::= ")[0]
        head = re.search(rf"(?m)^[ \t]*{re.escape(name)}[ \t]*::=", text)
        if head is None:
            at = text.find("\n", after)
            before, behind = (text.rstrip(), "") if at < 0 else (text[:at], text[at + 1 :])
            text, after = f"{before}\n{line}\n{behind}", len(before) + 1 + len(line)
            continue
        following = re.compile(r"(?m)^[ \t]*[\w.-]+[ \t]*::=").search(text, head.end())
        end, within = _end_of_rule(text, head.end(), following.start() if following else len(text))
        new = "\n".join([*within, line])
        text = text[: head.start()] + new + text[end:]
        after = head.start() + len(new)
    return text


def _end_of_rule(text: str, begin: int, most: int) -> tuple[int, list[str]]:
    """Where the last part of a rule ends that is no comment, and the comments before that."""
    end, within, behind = begin, [], []
    for piece in _PIECE.finditer(text, begin, most):
        if piece["comment"]:
            behind.append(piece["comment"])
        elif not piece["blanks"]:
            end = piece.end()
            within += behind
            behind = []
    return end, within
