"""Small grammars with indentation, each with the Indenter that gives it its meaning."""

from __future__ import annotations

from typing import Any

from lark.indenter import Indenter, PythonIndenter

from pdacon import FixedWidthIndenter
from support.small_grammars import SmallGrammar


class TreeIndenter(Indenter):
    """No parentheses, tabs of two columns."""

    NL_type = "_NL"
    OPEN_PAREN_types: list[str] = []  # noqa: RUF012 (as in Lark's documentation)
    CLOSE_PAREN_types: list[str] = []  # noqa: RUF012
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 2


class PropertyIndenter(Indenter):
    """The attributes are properties, as in Lark's base class."""

    @property
    def NL_type(self) -> str:
        return "NEWLINE"

    @property
    def OPEN_PAREN_types(self) -> list[str]:
        return ["LPAR", "OPEN", "NO_SUCH_TERMINAL"]

    @property
    def CLOSE_PAREN_types(self) -> list[str]:
        return ["RPAR", "CLOSE", "LPAR"]

    @property
    def INDENT_type(self) -> str:
        return "INDENT"

    @property
    def DEDENT_type(self) -> str:
        return "DEDENT"

    @property
    def tab_len(self) -> int:
        return 1


class BraceIndenter(TreeIndenter):
    """One kind opens, another closes."""

    OPEN_PAREN_types = ["LPAR", "LBRACE"]  # noqa: RUF012
    CLOSE_PAREN_types = ["RPAR", "RBRACE"]  # noqa: RUF012
    tab_len = 4


def fixed(indenter: Indenter, columns: int) -> Indenter:
    """An Indenter that is told the same, with blocks of so many columns."""
    made: Indenter = type("Fixed", (FixedWidthIndenter, type(indenter)), {"indent_len": columns})()
    return made


_TREE = r"""
start: tree+
tree: "a" _NL [_INDENT tree+ _DEDENT]
_NL: {newline}
%declare _INDENT _DEDENT
"""

_BLOCKS = r"""
start: (NEWLINE | stmt)*
stmt: simple NEWLINE | "a" ":" block
block: simple NEWLINE | NEWLINE INDENT stmt+ DEDENT
simple: "a" value?
value: "(" item* ")"
item: "a" | value
NEWLINE: /(\r?\n[\t ]*)+/
%ignore " "
%declare INDENT DEDENT
"""

_PYTHON = r"""
start: (_NEWLINE | stmt)*
stmt: "a" call? (";" "a")* _NEWLINE | "a" ":" suite
suite: _NEWLINE _INDENT stmt+ _DEDENT
call: "(" ("a" call?)* ")"
_NEWLINE: ( /\r?\n[\t ]*/ | COMMENT )+
COMMENT: /#[^\n]*/
%ignore /[\t \f]+/
%ignore /\\[\t \f]*\r?\n/
%ignore COMMENT
%declare _INDENT _DEDENT
"""


def _grammar(name: str, why: str, text: str, alphabet: str, indenter: Indenter, **options: Any) -> SmallGrammar:
    loading = {"postlex": indenter, **options.pop("loading", {})}
    return SmallGrammar(name, why, text.lstrip("\n"), alphabet, loading, **options)


INDENTED_GRAMMARS = (
    _grammar(
        "tree",
        "the example of Lark's documentation: blank lines go into the newline",
        _TREE.format(newline=r"/(\r?\n[\t ]*)+/"),
        "a\n \t",
        TreeIndenter(),
    ),
    _grammar(
        "spaces only",
        "every line break is a newline of its own, and a tab is no part of it",
        _TREE.format(newline=r"/\n */"),
        "a\n ",
        TreeIndenter(),
    ),
    _grammar(
        "carriage returns",
        "a newline that may have to give a carriage return back",
        _TREE.format(newline=r"/(\r?\n[\t ]*)+/"),
        "a\n\r ",
        TreeIndenter(),
    ),
    _grammar("blocks", "parentheses, empty lines, attributes as properties", _BLOCKS, "a:\n ()", PropertyIndenter()),
    _grammar("tabs", "a tab of one column", _BLOCKS, "a:\n \t", PropertyIndenter()),
    _grammar(
        "basic lexer",
        "every terminal everywhere",
        _BLOCKS,
        "a:\n ()",
        PropertyIndenter(),
        loading={"lexer": "basic"},
    ),
    _grammar(
        "comments",
        "as in python.lark: columns count in the text of a comment, a comment without a line break is an error",
        _PYTHON,
        "a:\n #",
        PythonIndenter(),
        conflicts="shift",
    ),
    _grammar(
        "comments in parentheses",
        "as in python.lark: newlines and comments are dropped in parentheses",
        _PYTHON,
        "a\n(#) ",
        PythonIndenter(),
        conflicts="shift",
    ),
    _grammar(
        "continued lines",
        "as in python.lark: a backslash hides a line break, also from the first column",
        _PYTHON,
        "a:\n \\",
        PythonIndenter(),
        conflicts="shift",
    ),
    _grammar(
        "newlines in parentheses only",
        "no rule has the newline: outside of parentheses it is an error",
        'start: "a" value?\nvalue: "(" ("a" | value)* ")"\n_NL: /\\n[ ]*/\n%declare _INDENT _DEDENT\n',
        "a\n ()",
        BraceIndenter(),
    ),
    _grammar(
        "two kinds of parentheses",
        "a rule that opens two before it closes one; one kind may close the other",
        'start: ("a" value? _NL)+\nvalue: "(" "{" "a"* ")" "a" ("}" | ")") | "{" value? "}"\n'
        "_NL: /\\n[ ]*/\n%declare _INDENT _DEDENT\n",
        "a\n(){}",
        BraceIndenter(),
    ),
    _grammar(
        "newlines that the parser takes in parentheses",
        "they are dropped before the parser sees them, so that nothing is in them",
        'start: ("a" value? _NL)+\nvalue: "(" "a" [_NL "a"] ")"\n_NL: /\\n[ ]*/\n%declare _INDENT _DEDENT\n',
        "a\n ()",
        BraceIndenter(),
    ),
    _grammar(
        "blocks that are not wanted",
        "declared, but in no rule: every line begins at the first column",
        'start: ("a" _NL)+\n_NL: /\\n[ ]*/\n%declare _INDENT _DEDENT\n',
        "a\n ",
        TreeIndenter(),
    ),
    _grammar(
        "dedent in the middle",
        "what follows a block belongs to the rule that has it",
        'start: line+\nline: x _NL\nx: ":" _NL _INDENT line+ _DEDENT "a" | "a"\n'
        "_NL: /(\\n *)+/\n%declare _INDENT _DEDENT\n",
        "a:\n ",
        TreeIndenter(),
        length=7,
    ),
    _grammar(
        "blocks within a rule",
        "two blocks open at once in one rule, closed by one line or by two",
        'start: "a" _NL _INDENT "a" _NL _INDENT "a" _NL _DEDENT ("a" _NL)* _DEDENT ("a" _NL)*\n'
        "_NL: /(\\n *)+/\n%declare _INDENT _DEDENT\n",
        "a\n ",
        TreeIndenter(),
        length=10,
    ),
    _grammar(
        "a keyword for the newline",
        "a string that a regex absorbs ends a line; it has no line break, so that it is an error, but in parentheses",
        'start: ("a" | "(" W ")" | _NL)*\nW: /[b\\n]+/\n_NL: "b"\n%declare _INDENT _DEDENT\n',
        "ab\n()",
        BraceIndenter(),
    ),
    _grammar(
        "a newline that is renamed",
        "a regex ends lines, but not where a string in it has its name",
        'start: ("a" | "(" "a"? ")" | _NL | "\\n\\n")*\n_NL: /\\n+ */\n%declare _INDENT _DEDENT\n',
        "a\n ()",
        BraceIndenter(),
    ),
    _grammar(
        "blocks across parentheses",
        "a block that begins before a parenthesis and ends within it",
        'start: "a" _NL _INDENT "(" "a" _NL? _DEDENT ")" | "a"\n_NL: /\\n */\n%declare _INDENT _DEDENT\n',
        "a\n ()",
        BraceIndenter(),
    ),
    _grammar(
        "rules for what opens and closes",
        "a nonterminal that stands for an INDENT or a parenthesis; one that closes and opens again; one left open",
        'start: x+ "{" "a"\nx: "a" value? _NL [indent x+ dedent]\nindent: _INDENT -> begin\ndedent: _DEDENT\n'
        'value: open "a"? (again "a"?)* ")"\nopen: "("\nagain: "}" "{"\n_NL: /(\\n *)+/\n%declare _INDENT _DEDENT\n',
        "a\n (){}",
        BraceIndenter(),
    ),
    _grammar(
        "text that ends in the newline",
        "a pattern with more than blanks behind its line break",
        'start: x+\nx: "a" _NL [_INDENT x+ _DEDENT]\n_NL: /\\n( *:)?/\n%declare _INDENT _DEDENT\n%ignore " "\n',
        "a\n :",
        TreeIndenter(),
        lookahead="commit",
    ),
    _grammar(
        "lines that are never indented",
        "a newline without blanks: each line begins at the first column, and what needs a block is in no text",
        _TREE.format(newline=r"/\n/") + '%ignore " "\n',
        "a\n ",
        TreeIndenter(),
    ),
    _grammar(
        "a rule for INDENT where columns matter",
        "which column the block has that the rule leaves open does not follow from the stack",
        'start: "a" _NL [indent start+ dedent]\nindent: _INDENT\ndedent: _DEDENT\n'
        "_NL: /\\n(  )*/\n%declare _INDENT _DEDENT\n",
        "a\n ",
        TreeIndenter(),
        refused="UnsupportedGrammarError",
    ),
    _grammar(
        "a newline that waits for what follows",
        "the column at a look-ahead is not known",
        _TREE.format(newline=r"/\n *(?!;)/"),
        "a\n ;",
        TreeIndenter(),
        refused="UnsupportedGrammarError",
    ),
    _grammar(
        "blocks of two columns",
        "a block one column or three further in is none",
        _TREE.format(newline=r"/(\r?\n[\t ]*)+/"),
        "a\n ",
        fixed(TreeIndenter(), 2),
    ),
    _grammar(
        "blocks of one column",
        "a line that is two columns further in opens no two blocks",
        _TREE.format(newline=r"/\n */"),
        "a\n ",
        fixed(TreeIndenter(), 1),
    ),
    _grammar(
        "blocks of a tab and a space",
        "in any order",
        _TREE.format(newline=r"/(\r?\n[\t ]*)+/"),
        "a\n \t",
        fixed(TreeIndenter(), 3),
    ),
    _grammar(
        "parentheses and blocks of two columns",
        "lines in parentheses begin where they like",
        _BLOCKS,
        "a:\n (",
        fixed(PropertyIndenter(), 2),
    ),
    _grammar(
        "blocks of two columns where the column tells",
        "what may follow a newline depends on whether its line is indented",
        'start: x+\nx: "a" _NL [_INDENT x+ _DEDENT] _NL?\n_NL: /\\n+ */\n%declare _INDENT _DEDENT\n',
        "a\n ",
        fixed(TreeIndenter(), 2),
    ),
    _grammar(
        "brackets that lay their items out",
        "as json.dumps does: brackets are no parentheses here, so that what is in them is a block",
        'start: "a" | "[" _NL _INDENT start ("," _NL start)* _NL _DEDENT "]"\n_NL: /\\n */\n%declare _INDENT _DEDENT\n',
        "a[\n ]",
        fixed(TreeIndenter(), 1),
        length=6,
    ),
)
"""What `Configuration` follows. Not all of them can be compiled."""
