"""Where names are defined and used, in texts that are grammars and in texts that are none yet."""

from __future__ import annotations

import pytest

from pdacon import Grammar
from pdacon.editor.outline import LONGEST, name_at, occurrences, undefined_names
from pdacon.grammar.builtin import builtin_names

TEXT = """\
// no_name: here
start: item+ -> label
?item.2: NAME "item" /NAME/ | other{NAME}
other{x}: x
      | _blank
NAME: "a".."z" | OTHER
_blank: " "
%import common.WS
%import common (INT, LETTER)
%import common.ESCAPED_STRING -> TEXT
%ignore WS
%declare _INDENT
%override LETTER: "b"
"""


def test_definitions_imports_and_uses() -> None:
    names = occurrences(TEXT)

    def of(role: str) -> list[tuple[str, int]]:
        return [(name.name, name.line + 1) for name in names if name.role == role]

    assert of("definition") == [
        *(("start", 2), ("item", 3), ("other", 4), ("NAME", 6), ("_blank", 7), ("_INDENT", 12), ("LETTER", 13))
    ]
    assert of("import") == [("WS", 8), ("INT", 9), ("LETTER", 9), ("TEXT", 10)]
    used = [name for name, _ in of("use")]
    assert used == ["item", "NAME", "other", "NAME", "x", "x", "_blank", "OTHER", "WS"]


def test_places_are_those_of_the_text() -> None:
    lines = TEXT.split("\n")
    for name in occurrences(TEXT):
        assert lines[name.line][name.column : name.end] == name.name
        assert name_at(occurrences(TEXT), name.line, name.column) == name
    assert name_at(occurrences(TEXT), 0, 5) is None


@pytest.mark.parametrize("name", ["json", "sql", "python", "c", "lark", "graphql"])
def test_the_rules_of_built_in_grammars_are_found(name: str) -> None:
    data = Grammar.builtin(name).data
    defined = {one.name for one in occurrences(data.source) if one.role == "definition"}
    spans = [rule.span for rule in data.nonterminals if rule.span is not None and not rule.repeats]
    rules = {
        rule.name
        for rule in data.nonterminals
        if rule.span is not None and not rule.repeats and "{" not in rule.name and "__" not in rule.name
    }
    assert spans
    assert rules <= defined, rules - defined


@pytest.mark.parametrize(
    "text", ["", ":", "start", "%import", "%import common.", "a: (", '"', "/", "?", "\\", "a:\r\nb"]
)
def test_any_text_has_an_outline(text: str) -> None:
    occurrences(text)


LONG = """\
start: NAME VERBOSE list{NAME, NAME} \\
    | first second
list{item, sep}.2: item (sep item)*
VERBOSE: /
  [a-z] | # what nothing \\/ defines
  other/ix
NAME: "n"
%import .others ( \\
    first, \\
    second \\
)
"""


def test_lines_that_go_on_and_verbose_patterns() -> None:
    names = occurrences(LONG)
    lines = LONG.split("\n")
    assert all(lines[name.line][name.column : name.end] == name.name for name in names)
    assert {name.name: name.line for name in names if name.role != "use"} == {
        **{"start": 0, "list": 2, "VERBOSE": 3, "NAME": 6, "first": 8},
        "second": 9,
    }
    assert [name.name for name in names if name.line == 1] == ["first", "second"]


def test_undefined_names() -> None:
    assert undefined_names(LONG) == []
    assert [(name.name, name.line, name.column) for name in undefined_names('a: b "c" // d\nb: C\n  | e -> f\n')] == [
        ("C", 1, 3),
        ("e", 2, 4),
    ]


@pytest.mark.parametrize("name", [name for name in builtin_names() if name != "lark"])
def test_built_in_grammars_lack_no_name(name: str) -> None:
    assert undefined_names(Grammar.builtin(name).data.source) == []


RULES = """# root ::= no
root ::= num (" num" num){1,3} <think> "\\"# x" minus-one
num ::= [0-9"] | [a-z] lost
minus-one
  ::= "-1
"""


def test_names_of_gbnf() -> None:
    names = occurrences(RULES, "gbnf")
    lines = RULES.split("\n")
    assert all(lines[name.line][name.column : name.end] == name.name for name in names)
    assert [(name.name, name.line, name.role == "definition") for name in names] == [
        ("root", 1, True),
        ("num", 1, False),
        ("num", 1, False),
        ("minus-one", 1, False),
        ("num", 2, True),
        ("lost", 2, False),
        ("minus-one", 3, True),
    ]
    assert [name.name for name in undefined_names(RULES, "gbnf")] == ["lost"]
    assert undefined_names('root ::= TagDispatch(("a", b))', "ebnf") == []


def test_what_takes_long_ends_at_once() -> None:
    """Blanks behind a name, one line of many names, and what is too long for an editor."""
    assert len(occurrences("a" + " \n" * 20_000)) == 1
    assert len(occurrences("a: " + "b " * 20_000)) == 20_001
    assert occurrences("a" * LONGEST + "\nb") == []
