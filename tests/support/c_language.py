"""pycparser as a verdict on a text of C, and in which known way it differs from the grammar `c`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# What the grammar says of names: these are types, all others are not.
_TYPE = re.compile(r"([A-Za-z_]\w*)?_t|[A-Z][0-9A-Z_]*[a-z]\w*|FILE|DIR|bool|va_list", re.ASCII)
_WORDS = re.compile(
    r"""(?P<kept> L?"(?:\\.|[^"\\\n])*" | L?'(?:\\.|[^'\\\n])*' | [0-9A-Za-z_.]+ )
      | (?P<dropped> //[^\n]* | /\*.*?\*/
          | (?<![^\n])\#(?: include[ \t]* (?:<[^>\n]+>|"[^"\n]+")
                          | (?:undef|ifn?def)[ \t]+ [A-Za-z_]\w* | else | endif
                          | define[ \t]+ [A-Za-z_]\w* (?:[ \t]+ [^\n]*)? )[ \t]*(?![^\n]) )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_STRING = r""" "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' """.replace(" ", "")
# What may stand in a character, and at the end of a number.
_CONSTANT = re.compile(
    r"""L?'([ -&(-\[\]-~]|\\(['"?\\abfnrtv]|[0-3]?[0-7]{1,2}|x[0-9A-Fa-f]{1,2}))'
      | (0[0-7]*|[1-9][0-9]*|0[Xx][0-9A-Fa-f]+)([Uu](l|L|ll|LL)?|(l|L|ll|LL)[Uu]?)?
      | (([0-9]+\.[0-9]*|\.[0-9]+)([Ee][+-]?[0-9]+)?|[0-9]+[Ee][+-]?[0-9]+)[FLfl]?
      | (L?"([^"\\\x00-\x1f\x7f]|\\(['"?\\abfnrtv]|[0-3]?[0-7]{1,2}|x[0-9A-Fa-f]{1,2}(?![0-9A-Fa-f])))*")+""",
    re.VERBOSE,
)
_ARITHMETIC = re.compile(
    "void|_Bool|(float|(long )?double)( _Complex)?|((un)?signed )?(char|int|(short|long( long)?)( int)?)|(un)?signed"
)


def is_c(text: str) -> bool:
    return _conditionals_close(text) and _parsed(_preprocessed(text)) is not None


def _lines_dropped(text: str) -> list[re.Match[str]]:
    return [match for match in _WORDS.finditer(text) if (match["dropped"] or "").startswith("#")]


def _conditionals_close(text: str) -> bool:
    """Whether each #else and #endif belongs to an #ifdef or #ifndef, and each of those has its #endif."""
    open_: list[str] = []
    for line in _lines_dropped(text):
        directive = line["dropped"].split()[0]
        if directive in ("#ifdef", "#ifndef"):
            open_.append(directive)
        elif directive == "#else":
            if not open_ or open_.pop() == "#else":
                return False
            open_.append("#else")
        elif directive == "#endif":
            if not open_:
                return False
            open_.pop()
    return not open_


def _between_directives(text: str) -> Iterator[str]:
    """The text before, between and after the lines that a preprocessor takes."""
    begin = 0
    for line in _lines_dropped(text):
        yield text[begin : line.start()]
        begin = line.end()
    yield text[begin:]


def _preprocessed(text: str) -> str:
    """What a preprocessor leaves, with a declaration of each type that is named in the line before it."""
    types: list[str] = []

    def word(match: re.Match[str]) -> str:
        if match["kept"] and _TYPE.fullmatch(match["kept"]):
            types.append(match["kept"])
        return match["kept"] or " "

    kept = _WORDS.sub(word, text)
    return "".join(f"typedef int {name};" for name in dict.fromkeys(types)) + "\n" + kept


def _parsed(preprocessed: str) -> Any:
    from pycparser.c_parser import CParser, ParseError

    try:
        return CParser().parse(preprocessed)
    except ParseError:
        return None


def c_aside(text: str) -> str | None:
    preprocessed = _preprocessed(text)
    tree = _parsed(preprocessed)
    if tree is None:
        # pycparser takes the asterisk for that of an array of any length, [*].
        return "a[*b]" if is_c(re.sub(r"\[(\s|/\*.*?\*/|//[^\n]*\n)*\*", "[-*", text)) else None
    for wider, pattern in _WIDER:
        if re.search(pattern, preprocessed.partition("\n")[2]):
            return wider
    if any(_parsed(_preprocessed(piece)) is None for piece in _between_directives(text)):
        return "directives within a declaration or a function"
    if "\\\n" in text:
        return "a backslash at the end of a line"
    numbers = re.findall(r"(?<![\w.])\.?[0-9](?:[EePp][+-]|[\w.])*", re.sub(_STRING, "0", preprocessed))
    if not all(map(_CONSTANT.fullmatch, numbers)):
        return "characters, escapes and numbers"
    lines = preprocessed.split("\n")
    return next((name for node in _nodes(tree) if (name := _beyond(node, lines))), None)


# What pycparser reads and the grammar leaves out, where the text shows it.
_WIDER = (
    ("the preprocessor", r"(?<![^\n])[ \t]*#"),
    ("declarations of nothing", r"(?:\A|[;}])\s*;|\A\s*\Z"),
    ("restrict without a pointer", r"(?<!\*)(?<!\bconst)(?<!volatile)(?<!restrict)\s*\brestrict\b"),
    ("orders of specifiers", r"\btypedef\s+typedef\b"),
    ("characters, escapes and numbers", r"\bu8?[\"']"),
)


def _nodes(node: Any) -> Iterator[Any]:
    waiting = [each for each in node.ext if each.coord and each.coord.line > 1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for _, child in node.children()]


def _beyond(node: Any, lines: list[str]) -> str | None:
    """What the grammar leaves out and a node of pycparser's tree is."""
    from pycparser import c_ast

    match node:
        case c_ast.Assignment(lvalue=place) | c_ast.UnaryOp(op="&" | "++" | "--" | "p++" | "p--", expr=place):
            places = (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef, c_ast.CompoundLiteral)
            if not isinstance(place, places) and getattr(place, "op", "") != "*":
                return "assignments to what is no place"
        case c_ast.FuncDef(param_decls=[_, *_]) | c_ast.ParamList(params=[c_ast.ID(), *_]):
            return "functions in the style before 1989"
        case c_ast.FuncDef(decl=declared) if not isinstance(declared.type, c_ast.FuncDecl):
            return "functions in the style before 1989"
        case c_ast.FuncDecl(type=c_ast.FuncDecl() | c_ast.ArrayDecl()):
            return "results that are functions"
        case c_ast.Typedef(name=str(name)) if not _TYPE.fullmatch(name):
            return "names of types"
        case (
            c_ast.Decl(name=str(name))
            | c_ast.Label(name=name)
            | c_ast.Enumerator(name=name)
            | c_ast.StructRef(field=c_ast.ID(name=name))
            | c_ast.ID(name=name)
        ) if _TYPE.fullmatch(name):
            return "names of types"
        case c_ast.Decl(name=None, type=c_ast.Struct() | c_ast.Union() | c_ast.Enum()) if (
            node.storage or node.funcspec or node.quals
        ):
            return "declarations of nothing"
        case c_ast.ArrayDecl(dim_quals=[_, *_]):
            return "qualifiers between brackets"
        case c_ast.IdentifierType(names=["int"], coord=at) if at:
            if not re.match(
                r"((const|volatile|static|extern|register|auto|inline)\s+)*int\b", lines[at.line - 1][at.column - 1 :]
            ):
                return "results and declarations without a type"
        case c_ast.IdentifierType(names=names):
            return None if _ARITHMETIC.fullmatch(" ".join(names)) or len(names) == 1 else "orders of specifiers"
        case c_ast.Constant(value=value):
            return None if _CONSTANT.fullmatch(value) else "characters, escapes and numbers"
    return None
