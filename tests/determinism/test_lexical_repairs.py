"""What is suggested for terminals loads as it stands, ends the finding, and brings nothing new."""

from __future__ import annotations

import re
from pathlib import Path

import lark
import pytest
from support.finding_fixtures import FIXTURES

from pdacon import Grammar, check
from pdacon.determinism import Finding

KEYWORDS = """
start: ("if" value | "elif" value | NAME "=" value)+
value: NAME | INT
NAME: /(?!(if|elif)\\b)[a-z_]+/
INT: /[0-9]+/
%ignore " "
"""
GRAMMARS = {
    "types": 'start: (TYPE | NAME) ";"\nTYPE: "int" | "str"\nNAME: /[a-z]+/\n',
    "types first": 'start: (TYPE | NAME) ";"\nTYPE.1: "int" | "str"\nNAME: /[a-z]+/\n',
    "numbers": 'start: (INT | FLOAT) ";"\nINT: /[0-9]+/\nFLOAT: /[0-9]+(\\.[0-9]+)?/\n',
    "integers first": 'start: (INT | FLOAT) ";"\nINT.1: /[0-9]+/\nFLOAT: /[0-9]+(\\.[0-9]+)?/\n',
    "floats first": 'start: (INT | FLOAT) ";"\nINT: /[0-9]+/\nFLOAT.1: /[0-9]+(\\.[0-9]+)?/\n',
    "keywords": KEYWORDS,
    "keyword first": KEYWORDS + 'IF.1: "if"\n',
    "dates": "start: (DATE | HEX | WORD)+\nDATE: /\\d{4}-\\d\\d/\nHEX: /[0-9a-f]+/\nWORD: /[a-z_]+/\n%ignore /\\s+/\n",
    "imported": 'start: (CNAME | TYPE) ";"\nTYPE: /int|str/\n%import common.CNAME\n',
}
GRAMMARS |= {
    folder.name: (folder / "grammar.lark").read_text(encoding="utf-8")
    for folder in FIXTURES
    if not (folder / "options.json").exists()
}
LEXICAL = ("PDA005", "PDA010", "PDA019")


def repairs(finding: Finding) -> list[list[str]]:
    """What a finding suggests to write, choice by choice."""
    lines = [line.strip() for line in (finding.repair or "").split("\n") if line.startswith("  ")]
    choices: list[list[str]] = [[]]
    for line in lines:
        choices[-1].append(line.removesuffix(" or"))
        if line.endswith(" or"):
            choices.append([])
    return [choice for choice in choices if choice]


def applied(text: str, lines: list[str]) -> str:
    """A grammar with definitions as they were suggested, in the place of those that it has."""
    for line in lines:
        definition, _, instead = line.partition(" with ")
        name = re.split(r"[.:]", definition)[0]
        if " instead of " in instead:
            text = text.replace(instead.split(" instead of ")[1].removesuffix(" in the rules"), name)
        elif instead:
            text = re.sub(r"%ignore (?=[/\"]).*", lambda _, to=instead: to, text)  # type: ignore[misc]
        text, known = re.subn(rf"^{re.escape(name)}(\.\d+)?\s*:.*$", lambda _, to=definition: to, text, flags=re.M)  # type: ignore[misc]
        text = text if known else f"{text}\n{definition}\n"
    return text


def found(text: str) -> set[tuple[str, frozenset[str]]]:
    """What is wrong between lexemes, and every error."""
    findings = check(Grammar.from_lark(text)).findings
    return {(f.id, frozenset(f.symbols)) for f in findings if f.level == "error" or f.id in LEXICAL}


@pytest.mark.parametrize("text", GRAMMARS.values(), ids=list(GRAMMARS))
def test_each_repair_works_as_it_stands(text: str) -> None:
    before = found(text)
    for finding in check(Grammar.from_lark(text)).findings:
        for choice in repairs(finding) if finding.id in LEXICAL else []:
            repaired = applied(text, choice)
            lark.Lark(repaired, parser="lalr")
            after = found(repaired)
            assert (finding.id, frozenset(finding.symbols)) not in after, choice
            assert {id for id, _ in after} <= {id for id, _ in before}, choice


@pytest.mark.parametrize("name", ["types", "types first", "numbers", "keywords", "keyword first", "imported"])
def test_a_repair_is_found(name: str) -> None:
    findings = [finding for finding in check(Grammar.from_lark(GRAMMARS[name])).findings if finding.id in LEXICAL]
    assert findings
    assert all(map(repairs, findings))


@pytest.mark.slow
def test_one_edit_is_one_finding() -> None:
    """The look-ahead with ``\\b`` is to blame for each keyword: a letter that is not in the class may follow."""
    (finding,) = [f for f in check(Grammar.from_lark(KEYWORDS)).findings if f.id == "PDA005"]
    assert finding.symbols == ("NAME", "IF", "ELIF")
    assert repairs(finding) == [[r"NAME: /(?!(if|elif)(?![a-z_]))[a-z_]+/"]]


@pytest.mark.parametrize("name", ["types first", "keyword first", "cut_by_priority"])
def test_stock_lark_cuts_the_text(name: str) -> None:
    (finding,) = [f for f in check(Grammar.from_lark(GRAMMARS[name])).findings if f.id == "PDA019"]
    assert finding.level == "warning"
    assert finding.witness is not None
    assert finding.witness.text is not None
    text = finding.witness.text.decode()
    lower, higher = finding.symbols
    parser = lark.Lark(GRAMMARS[name], parser="lalr")
    pattern = next(t.pattern.to_regexp() for t in parser.terminals if t.name == lower)
    assert re.fullmatch(pattern, text)
    token = next(parser.parse_interactive(text).iter_parse())
    assert (token.type, len(token) < len(text)) == (higher, True)


def test_a_repair_in_an_imported_file_can_be_pasted_there(tmp_path: Path) -> None:
    """Where it belongs stands before it, and what the main text calls the terminal does not matter."""
    library = 'w: NAME | KW\nKW.2: "if" | "in"\nNAME: /[a-z]+/\n'
    (tmp_path / "kw.lark").write_text(library, encoding="utf-8")
    main = tmp_path / "main.lark"
    for imported in ("(w, KW)", "(w, NAME)", "w"):
        text = f"start: w+\n%import .kw{'' if imported.startswith('(') else '.'}{imported}\n%ignore /[ ]/\n"
        main.write_text(text, encoding="utf-8")
        report = check(Grammar.from_file(main))
        (finding,) = [finding for finding in report.findings if finding.id == "PDA019"]
        ((line,),) = repairs(finding)
        assert line.startswith("KW.2: /")
        assert line.endswith("/")
        assert f"repair, in {tmp_path / 'kw.lark'}: " in report.render()


def test_a_definition_is_not_wrapped() -> None:
    text = 'start: "print" CNAME | CNAME "=" CNAME\n%import common.CNAME\n%ignore " "\n'
    (finding,) = [f for f in check(Grammar.from_lark(text)).findings if f.id == "PDA011"]
    assert finding.repair is not None
    before, line, told = finding.repair.split("\n")
    assert told == 'Lost with it is such a text as "a=print".'
    assert before.endswith("write:")
    assert line.startswith("  %override CNAME: /(?!")
