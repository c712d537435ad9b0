"""Parsers of the gallery's languages that others wrote, each as a verdict on one text.

`aside` names the known difference between the parser and the grammar that a text falls under, in the words of
docs/gallery.md; it is asked where the verdicts differ.
"""

from __future__ import annotations

import configparser
import csv
import io
import re
import tempfile
import warnings
from collections.abc import Callable
from configparser import ConfigParser
from contextlib import suppress
from dataclasses import dataclass
from xml.parsers import expat

from support.c_language import c_aside, is_c


def _nothing(text: str) -> str | None:
    return None


@dataclass(frozen=True)
class Reference:
    """A parser of the same language.

    `module` has to be there; `size` is how long the random sentences may grow; `least` is the share of texts on
    which it agrees or differs for a known reason.
    """

    module: str
    accepts: Callable[[str], bool]
    aside: Callable[[str], str | None] = _nothing
    size: int = 60
    least: float = 1.0


def _reads(read: Callable[[str], object], *errors: type[Exception]) -> Callable[[str], bool]:
    """Whether a function returns, rather than raises one of its own errors."""

    def accepts(text: str) -> bool:
        try:
            read(text)
        except errors:
            return False
        return True

    return accepts


# ==== csv ====


def _is_csv(text: str) -> bool:
    """The text is one of the ways to write what Python's csv reads in it, and has no blank line.

    Alone csv.reader takes nearly anything: a quotation mark within a field that has none around it, for example.
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    at = 0
    for index, row in enumerate(rows):
        if not row or (row == [""] and text[at : at + 1] != '"'):
            return False
        for column, field in enumerate(row):
            quoted = '"' + field.replace('"', '""') + '"'
            written = quoted if text.startswith(quoted, at) else field
            if not text.startswith(written, at) or (written == field and set(field) & set('",\r\n')):
                return False
            at += len(written)
            if column < len(row) - 1:
                if text[at : at + 1] != ",":
                    return False
                at += 1
        if text[at : at + 1] == "\r":
            at += 1
            if text[at : at + 1] != "\n":
                return False
        if text[at : at + 1] == "\n":
            at += 1
        elif index < len(rows) - 1:
            return False
    return bool(rows) and at == len(text)


def _csv_aside(text: str) -> str | None:
    return "control characters" if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text) else None


# ==== datalog ====


def _for_clingo(text: str) -> str:
    """With another character that is right in strings and comments alone for each of those that clingo cannot quote."""
    return re.sub(r"[^\x01-\x7f]", "$", text)


def _is_datalog(text: str) -> bool:
    from clingo.ast import parse_string

    return _reads(
        lambda program: parse_string(program, lambda node: None, logger=lambda code, said: None), RuntimeError
    )(_for_clingo(text))


def _datalog_aside(text: str) -> str | None:
    return "answer set programs beyond Datalog" if _is_datalog(text) and _beyond_datalog(text) else None


def _beyond_datalog(text: str) -> bool:
    """Whether clingo reads something in a program that Datalog does not have."""
    from clingo.ast import AST, ASTType, BinaryOperator, Sign, UnaryOperator, parse_string

    plain = {
        "Program",
        "Rule",
        "Literal",
        "SymbolicAtom",
        "Function",
        "SymbolicTerm",
        "Variable",
        "Comparison",
        "Guard",
    }
    beyond = False

    def look(node: AST, inside: bool = False) -> None:
        nonlocal beyond
        kind = node.ast_type
        if kind == ASTType.BinaryOperation:
            allowed = {
                BinaryOperator.Plus,
                BinaryOperator.Minus,
                BinaryOperator.Multiplication,
                BinaryOperator.Division,
            }
            beyond |= node.operator_type not in allowed
        elif kind == ASTType.UnaryOperation:
            beyond |= node.operator_type != UnaryOperator.Minus or not inside
        elif kind == ASTType.Function:
            beyond |= bool(node.external) or (inside and bool(node.arguments)) or not node.name
        elif kind == ASTType.Literal:
            beyond |= node.sign == Sign.DoubleNegation
            beyond |= node.sign == Sign.Negation and node.atom.ast_type != ASTType.SymbolicAtom
        elif kind == ASTType.Comparison:
            beyond |= len(node.guards) > 1
        elif kind == ASTType.Rule:
            beyond |= getattr(node.head, "atom", node).ast_type != ASTType.SymbolicAtom
            beyond |= getattr(node.head, "sign", Sign.NoSign) != Sign.NoSign
        else:
            beyond |= kind.name not in plain
        for key in node.child_keys:
            child = getattr(node, key)
            for each in child if hasattr(child, "__len__") else [child]:
                if each is not None:
                    look(each, inside or kind in (ASTType.Function, ASTType.Comparison))

    parse_string(_for_clingo(text), look, logger=lambda code, said: None)
    return beyond or bool(re.search(r"\(\s*\)|:-\s*\.|==|<>|%\*|#|;|(?<![\w'])_*'|\x00", text))


# ==== dot ====


def _is_dot(text: str) -> bool:
    """Graphviz itself reads a graph at the beginning of the text."""
    from pygraphviz import graphviz

    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        try:
            graph = graphviz.agread(file, None)
        except ValueError:
            return False
        graphviz.agclose(graph)
    return True


def _dot_aside(text: str) -> str | None:
    if not _is_dot(text):
        return None
    if "\x00" in text:
        return "the zero character"
    if re.search(r"<[^>]*<[^>]*<", text):
        return "angle brackets inside of tags"
    ends = (brace.end() for brace in re.finditer("}", text))
    behind = next((text[end:] for end in ends if _is_dot(text[:end])), "")
    if behind.strip():
        return "what is behind the graph"
    return "commas between nodes" if "," in re.sub(r"\[[^]]*]", "", text) else None


# ==== iso8601 ====


def _is_iso8601(text: str) -> bool:
    from isodate import parse_duration
    from rfc3339_validator import validate_rfc3339

    if "\n" in text:
        return False
    if text.startswith("P"):
        with suppress(OverflowError):  # of a timedelta, once the text has been read
            return _reads(parse_duration, ValueError)(text)
        return True
    written_in_full = [text, f"{text}Z", f"{text}T00:00:00Z", f"2000-01-01T{text}", f"2000-01-01T{text}Z"]
    return any(map(validate_rfc3339, written_in_full))


def _iso8601_aside(text: str) -> str | None:
    if text.startswith("P"):
        if set(text) & set("-:,") or not set(text) & set("YMDHSW"):
            return "durations in isodate's wider sense"
        if not re.fullmatch(r"P(\d+W|(\d+[YMD])*(T(\d+[HM])*([\d.]+S)?)?)(?<!T)", text, re.ASCII):
            return "durations in isodate's wider sense"
    return "the year 0000" if text.startswith("0000") else None


# ==== semver and url ====


def _is_semver(text: str) -> bool:
    from semver import Version

    return not text.endswith("\n") and Version.is_valid(text)


def _is_rfc3986(rule: str) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        from rfc3986_validator import validate_rfc3986

        return not text.endswith("\n") and validate_rfc3986(text, rule=rule) is not None

    return accepts


def _url_aside(text: str) -> str | None:
    return "zeros before the numbers of an IPv4 address" if re.search(r"\[[^\]]*[:.]0\d+[.\]]", text) else None


# ==== toml ====


def _is_toml(text: str) -> bool:
    import tomllib

    return _reads(tomllib.loads, tomllib.TOMLDecodeError)(text)


def _toml_aside(text: str) -> str | None:
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return "defined twice" if re.match("Cannot|Duplicate", str(error)) else None
    return None


# ==== ini ====


def _is_ini(text: str) -> bool:
    return _reads(ConfigParser().read_string, configparser.Error)(text)


def _ini_aside(text: str) -> str | None:
    try:
        ConfigParser(strict=False).read_string(text)
    except configparser.Error:
        return None
    if not _is_ini(text):
        return "defined twice"
    if re.search(r"^\[[^\]\n]*[=:]", text, re.MULTILINE):
        return "keys that begin with a bracket"
    if re.search(r"^\s+[^\s#;]", text, re.MULTILINE):
        return "indented sections and options"
    if re.search(r"^\[.*[\]\[].*\]|^\[.*\].*[^\s]", text, re.MULTILINE):
        return "brackets in the name of a section, text behind it"
    return "control characters" if re.search(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]|\r(?!\n)", text) else None


# ==== xml ====


def _xml_error(text: str) -> int:
    """What expat finds wrong once each end tag has been given the name of its start tag; 0: nothing."""
    data = text.encode()
    while True:
        parser = expat.ParserCreate()
        names: list[str] = []
        parser.StartElementHandler = lambda name, attributes, names=names: names.append(name)
        parser.EndElementHandler = lambda name, names=names: names.pop()
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            if error.code != _MISMATCHED_TAG:
                return error.code
            at = data.index(b"/", parser.ErrorByteIndex - 1) + 1
            end = re.compile(rb"[\s>]").search(data, at)
            assert end is not None
            data = data[:at] + names[-1].encode() + data[end.start() :]
        else:
            return 0


_MISMATCHED_TAG = expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]
_DUPLICATE_ATTRIBUTE = expat.errors.codes[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]


def _is_xml(text: str) -> bool:
    return _xml_error(text) == 0


def _xml_aside(text: str) -> str | None:
    if _xml_error(text) == _DUPLICATE_ATTRIBUTE:
        return "an attribute twice"
    if re.match(r"""<\?xml\s+version\s*=\s*["'](?!1\.0["'])""", text):
        return "versions but 1.0"
    if not _xml_error(re.sub(r"[^\x00-\x7f]", "a", text)) and _xml_error(text):
        return "letters that are new in the fifth edition"
    return None


# ==== lark ====


def _is_lark(text: str) -> bool:
    """Lark's loader can parse it; what it says of names and patterns is said of a grammar that it has parsed."""
    from lark.exceptions import LarkError
    from lark.load_grammar import _get_parser

    return _reads(lambda grammar: _get_parser().parse(grammar + "\n", "start"), LarkError)(text)


def _lark_aside(text: str) -> str | None:
    if re.search(r'\\[/"]|\\ *\Z', text):
        return "a backslash before the end of a string, a regular expression or the text"
    if re.search(r"\r(?!\n)", text):
        return "carriage returns alone"
    return "line breaks within regular expressions" if re.search(r"/[^/\n]*\n[^/]*/", text) else None


# ==== regex ====

_NOT_IN_REGEX = re.compile(
    r"""\(\?(P|\#|<|\(|>|[ims-]*[aLux])  # names, comments, look-behind, conditions, atomic groups, flags
      | \\[0-9N\x00-\x1f]                 # references, octal numbers, names of characters, control characters
      | \{                                # braces
      | [*+?]\+                            # possessive quantifiers
      | \[.*[-[&~|].*\]                    # ranges, what sets may mean one day
      | [\x00-\x08\x0b-\x1f]
    """,
    re.VERBOSE | re.DOTALL,
)


def _is_regex(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _reads(re.compile, re.error, ValueError, OverflowError)(text)


def _regex_aside(text: str) -> str | None:
    return "what is left out" if _is_regex(text) and _NOT_IN_REGEX.search(text) else None


# ==== graphql ====


def _is_graphql(text: str) -> bool:
    from graphql import GraphQLSyntaxError, parse

    return _reads(parse, GraphQLSyntaxError)(text)


def _graphql_aside(text: str) -> str | None:
    from graphql import parse

    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text):
        return "control characters"
    if re.search(r"\\u\{|directive[\s,]*@[\s,]*\w+[\s,]*(\([^)]*\))?[\s,]*@", text):
        return "later drafts"
    if re.search(r"\{([\s,\ufeff]|#.*)*\}", text):
        return "empty selections"
    if _is_graphql(text) and any(text[definition.loc.start] == "{" for definition in parse(text).definitions[1:]):
        return "a query without its word later in the document"
    return None


# ==== sparql ====


def _is_sparql(text: str) -> bool:
    """One of two reads it: pyoxigraph also asks what the notes to the grammar ask, rdflib fails on some literals."""
    return _oxigraph_says(text) is None or _rdflib_reads(text)


def _oxigraph_says(text: str) -> str | None:
    """What pyoxigraph finds wrong, once each prefix is declared."""
    import pyoxigraph

    runs = re.findall(r"[\w\xb7-\uffff.-]+(?=:)", text)
    prefixes = {run[begin:] for run in runs for begin in range(len(run)) if run[begin] > "@"} | {""}
    try:
        with suppress(RuntimeError):  # of functions that are not known, once the text has been read
            pyoxigraph.Store().query(
                text, base_iri="http://example.org/", prefixes=dict.fromkeys(prefixes, "http://example.org/")
            )
    except SyntaxError as error:
        return str(error)
    return None


def _rdflib_reads(text: str) -> bool:
    from pyparsing import ParseBaseException
    from rdflib.plugins.sparql.parser import parseQuery

    return _reads(parseQuery, ParseBaseException, SyntaxError, TypeError, ValueError)(text)


_KEYWORDS = (
    "a|as|asc|ask|base|bind|by|construct|desc|describe|distinct|exists|false|filter|from|graph|group|having|in|limit|"
    "minus|named|not|offset|optional|order|prefix|reduced|select|true|undef|union|values|where"
)
_FUNCTIONS = (
    "abs|avg|bnode|bound|ceil|coalesce|concat|contains|count|datatype|day|encode_for_uri|floor|group_concat|hours|if|"
    "iri|isblank|isiri|isliteral|isnumeric|isuri|lang|langmatches|lcase|max|md5|min|minutes|month|now|rand|regex|"
    "replace|round|sameterm|sample|seconds|sha1|sha256|sha384|sha512|str|strafter|strbefore|strdt|strends|strlang|"
    "strlen|strstarts|struuid|substr|sum|timezone|tz|ucase|uri|uuid|year"
)
_BLANK = r"(?:\s|#[^\n]*\n)*"

# What the parsers read that the grammar leaves out.
_SPARQL_WIDER = (
    ("IRIs", r"<[^<>\s]*(?:%(?![0-9A-F]{2})|[\[\]]|#[^<>\s]*#)[^<>\s]*>"),
    ("tags of languages", r"[\"']@[A-Z]+(?:-[0-9A-Z]+)*"),
    ("keywords without a blank between them", rf"\b(?:{_KEYWORDS})(?=(?:{_KEYWORDS}|{_FUNCTIONS}|[0-9.]+)\b)"),
    ("prefixes that begin with a keyword", rf"\b(?:{_KEYWORDS}|{_FUNCTIONS})[\w-]*:"),
    ("dots in two places", r":[\w:%-]*\.[\w:%-]+\.\w"),
    ("dots in prefixes", r"[A-Z][\w-]*\.[\w.-]*:"),
    ("empty strings with others right behind them", r"\"\"\"|'''"),
    ("two signs", rf"[!+-]{_BLANK}[!+-]"),
    ("a dot that follows nothing", r"[{.]\s*\."),
    ("letters that are ASCII in another case", "[\u017f\u212a]"),
)

# On these the parsers stumble; each is replaced by what says nothing else.
_SPARQL_STUMBLES = (
    ("long strings", r"(\"\"\"|''')(?:\\.|(?!\1).)*\1", " ''"),
    ("prefixes that begin with a keyword", rf"(?<![\w?$.-])(?:{_KEYWORDS}|{_FUNCTIONS})[\w-]*:", "p:"),
    ("dots in two places", r"(?<=:)[\w:%-]*\.[\w:%.-]*(?<!\.)", "n"),
    ("blanks within numbers", r"([+-])\s+(?=[\d.])", r"\1"),
    ("negated sets that are empty", rf"!{_BLANK}\({_BLANK}\)", ":"),
    ("blanks before ? and parentheses", rf"{_BLANK}\?(?=[\s#\])/|<\[])", "?"),
    ("blanks before ? and parentheses", rf"\b({_FUNCTIONS}){_BLANK}\(", r"\1("),
    ("variables right behind a word", r"(?<=\w)(?=[?$]\w)", " "),
)
_SPARQL_NOTES = "unbound|not authorized|Unexpected aggregate|VALUES clause|already (?:bound|in)|blank node"


def _sparql_aside(text: str) -> str | None:
    if _is_sparql(text):
        return next((name for name, wider in _SPARQL_WIDER if re.search(wider, text, re.IGNORECASE)), None)
    said = _oxigraph_says(text) or ""
    for name, stumble, instead in _SPARQL_STUMBLES:
        text = re.sub(stumble, instead, text, flags=re.IGNORECASE | re.DOTALL)
        if _is_sparql(text):
            return name
    said += _oxigraph_says(text) or ""
    if "IRI parsing" in said:
        return "IRIs"
    return "notes" if re.search(_SPARQL_NOTES, said) else None


REFERENCES = {
    "c": Reference("pycparser", is_c, c_aside, size=80),
    "csv": Reference("csv", _is_csv, _csv_aside),
    "datalog": Reference("clingo", _is_datalog, _datalog_aside),
    "dot": Reference("pygraphviz", _is_dot, _dot_aside),
    "graphql": Reference("graphql", _is_graphql, _graphql_aside),
    "ini": Reference("configparser", _is_ini, _ini_aside, size=80),
    "iso8601": Reference("rfc3339_validator", _is_iso8601, _iso8601_aside),
    "lark": Reference("lark", _is_lark, _lark_aside),
    "regex": Reference("re", _is_regex, _regex_aside),
    "semver": Reference("semver", _is_semver),
    "sparql": Reference("pyoxigraph", _is_sparql, _sparql_aside),
    "toml": Reference("tomllib", _is_toml, _toml_aside),
    "url": Reference("rfc3986_validator", _is_rfc3986("URI"), _url_aside),
    "url_reference": Reference("rfc3986_validator", _is_rfc3986("URI_reference"), _url_aside),
    "xml": Reference("xml", _is_xml, _xml_aside),
}
