"""Finds where a text in Lark's language, GBNF or EBNF defines and uses names, be the text a grammar yet or not.

In: the text. Out: occurrences with their places, lines and columns in characters from 0. Strings, patterns and comments
have no names in them; what ``->`` names is a label of trees, but in an import, where it is the name that counts here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_LEXEME = re.compile(
    r"""
    (?P<lines> \\[ ]*\n | /(?!/)(?:\\.|[^/\\])+/[imslu]*x[imslux]* )  # a line that goes on; a verbose pattern
    # What is not closed goes on to the end of its line, as while it is typed.
    | (?P<skip> (?://|\#)[^\n]*
        | "(?:\\.|[^"\\\n])*(?:"i?|(?=\n|\Z))
        | /(?!/)(?:\\.|[^/\\\n])+(?:/[imslux]*|(?=\n|\Z)) )
    | (?P<directive> %\w+ )
    | (?P<name> [?!]*[A-Za-z_]\w* )
    | (?P<arrow> -> )
    | (?P<newline> \n )
    | (?P<other> [^\s] )
    """,
    re.VERBOSE,
)
_PARAMETERS = re.compile(r"\{([^{}\n]*)\}\s*(?:\.\s*-?\d+)?\s*:")
_HEAD = re.compile(r"[?!]*[A-Za-z_]\w*\s*(?:\{[^}\n]*\}\s*)?(?:\.\s*-?\d+\s*)?:")

LONGEST = 1 << 20
"""Characters of a text whose names are looked for: half a second."""
_RULE_LEXEME = re.compile(  # of GBNF and EBNF
    r"""
    (?P<skip> \#[^\n]*
        | "(?:\\.|[^"\\\n])*(?:"|(?=\n|\Z))
        | \[(?:\\.|[^\]\\\n])*(?:\]|(?=\n|\Z))
        | \{[^}\n]*\} | !?<[^>\n]*> )
    | (?P<name> [A-Za-z0-9_][\w.-]* ) (?P<head> \s*::= )?
    | (?P<newline> \n )
    """,
    re.VERBOSE,
)
Dialect = Literal["", "gbnf", "ebnf"]
"""What a text is written in; "": Lark's language."""
_LONGEST_START = 1000  # of blanks and a statement's word, before what it defines


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place. ``role`` is "import" where another grammar defines it."""

    name: str
    role: Literal["definition", "import", "use"]
    line: int
    column: int

    @property
    def end(self) -> int:
        """The column after it."""
        return self.column + len(self.name)

    @property
    def is_terminal(self) -> bool:
        """Whether it names a terminal: Lark tells by the case."""
        return self.name.isupper()


def occurrences(text: str, dialect: Dialect = "") -> list[Occurrence]:
    """All names that a text defines and uses, in its order; none of a text that is too long for an editor to wait.

    Linear in the text.
    """
    if len(text) > LONGEST:
        return []
    return list(_of_rules(text) if dialect else _occurrences(text))


def _of_rules(text: str) -> Iterator[Occurrence]:
    """The names in GBNF or EBNF: of rules, each defined by ``::=``."""
    line, begin = 0, 0
    for lexeme in _RULE_LEXEME.finditer(text):
        if lexeme["name"]:
            role: Literal["definition", "use"] = "definition" if lexeme["head"] else "use"
            yield Occurrence(lexeme["name"], role, line, lexeme.start() - begin)
        if lines := lexeme[0].count("\n"):
            line, begin = line + lines, lexeme.start() + lexeme[0].rindex("\n") + 1


def _occurrences(text: str) -> Iterator[Occurrence]:
    line, begin = 0, 0
    directive, after_arrow = "", False
    pending: Occurrence | None = None  # of an import: the last name so far, which an arrow may rename
    for lexeme in _LEXEME.finditer(text):
        if lexeme["newline"]:
            if pending is not None:
                yield pending
            line, begin = line + 1, lexeme.end()
            directive, after_arrow, pending = "", False, None
        elif lexeme["lines"] and "\n" in lexeme[0]:
            line, begin = line + lexeme[0].count("\n"), lexeme.start() + lexeme[0].rindex("\n") + 1
        elif lexeme["directive"]:
            directive = lexeme["directive"]
        elif lexeme["arrow"]:
            after_arrow = True
        elif lexeme["name"]:
            bare = lexeme["name"].lstrip("?!")
            column = lexeme.end() - len(bare) - begin
            if directive == "%import":
                if pending is not None and text[lexeme.start() - 1] in " ,(" and not after_arrow:
                    listed = text[max(0, lexeme.start() - 100) : lexeme.start()].rstrip(" \t\\\n").endswith("(")
                    yield from () if listed else (pending,)
                pending = Occurrence(bare, "import", line, column)
            elif directive == "%declare" or _is_head(text, lexeme.start(), begin, directive):
                yield Occurrence(bare, "definition", line, column)
            elif not after_arrow:
                yield Occurrence(bare, "use", line, column)
            after_arrow = False
    if pending is not None:
        yield pending


def _is_head(text: str, at: int, begin: int, directive: str) -> bool:
    """Whether a definition begins here: at the start of a line, or after ``%override`` and ``%extend``."""
    return (
        directive in ("", "%override", "%extend")
        and at - begin <= _LONGEST_START
        and text[begin:at].strip() in ("", directive)
        and _HEAD.match(text, at) is not None
    )


def undefined_names(text: str, dialect: Dialect = "") -> list[Occurrence]:
    """Uses of names that the text neither defines nor imports, in its order; no parameter of a template is one.

    Of EBNF none: it has names of its own, such as ``TagDispatch``.

    Linear in the text, and so at once there; Lark, which reads the text too, names one of them only.
    """
    names = [] if dialect == "ebnf" else occurrences(text, dialect)
    defined = {name.name for name in names if name.role != "use"}
    defined.update(name.strip() for match in _PARAMETERS.finditer(text) for name in match[1].split(","))
    return [name for name in names if name.name not in defined]


def name_at(names: list[Occurrence], line: int, column: int) -> Occurrence | None:
    """The name at a place, or the one that ends there."""
    return next((name for name in names if name.line == line and name.column <= column <= name.end), None)
