"""What Lark's loader raised -> one clear line with a place and a way out. Runs only when a load has failed.

In: the exception and the builder that was loading. Out: a `GrammarSyntaxError`. Lark's own message is kept where
nothing better is known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import Any, NamedTuple

import lark
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError
from lark.lexer import Token
from lark.load_grammar import EXT, _literal_to_pattern, _parse_grammar

from pdacon.base.quoting import did_you_mean
from pdacon.errors import GrammarSyntaxError, Span
from pdacon.grammar.habits import advice_at, is_json, one_case
from pdacon.grammar.importing import find_file, grammar_name, import_of, missing_import, path_of, similar_file
from pdacon.grammar.loading import ImportFailedError, RecordingBuilder, SourceText, literals
from pdacon.grammar.model import GrammarOptions
from pdacon.grammar.places import shorten


class _Label(NamedTuple):
    """One of Lark's guesses at a syntax error. It goes by the parser's state, so that ``token`` may prove it wrong."""

    piece: str
    token: str
    advice: str


_LABELS = (
    _Label("missing colon", "", "write name: before what the rule or terminal consists of"),
    _Label("Expecting rule or terminal definition", "", "write name: before what the rule or terminal consists of"),
    _Label("Incorrect type of value", "", "write a rule, a terminal or a literal here"),
    _Label("Unclosed parenthesis", r"\n", "close it before the line ends"),
    _Label("Unmatched closing parenthesis", r"[])}]", "remove it or open one before"),
    _Label("Illegal name", r"\w", "write rules in lower case and terminals in upper case"),
    _Label("Alias expects lowercase", "", "write the alias after the alternative, in lower case"),
    _Label("Unexpected colon", ":", 'write one definition per line, and quote a colon that is meant as text: ":"'),
    _Label("Misplaced operator", "[?*+]", "put ?, * or + directly after what it applies to, and only one"),
    _Label('Expecting option ("|")', "", "begin a continued line with |"),
    _Label("cannot contain dots", r"\w", "only %import takes a dotted name"),
    _Label("%import expects", "", "write %import common.NAME or %import .file.name"),
    _Label("%ignore expects", "", "give it a terminal or a pattern"),
    _Label("Expecting a value", "", "write a rule, a terminal or a literal here"),
)

# A piece of the message of a Lark GrammarError -> what to do about it.
_ADVICE = {
    "Recursion in terminal": "make it a rule",
    "defined more than once": "keep one definition, or write %override or %extend",
    "Cannot override": "define it without %override",
    "double-underscore are reserved": "rename it",
    "as it wasn't defined before": "define or %import it first",
    "one is a terminal": "rename one of them",
    "it is abstract": "define it instead of declaring it",
    "Symbol already defined": "rename it: %import file.name -> other_name",
    "ignored but not defined": "define or %import it",
    "Terminals cannot be empty": "give it at least one character",
    "Empty terminals are not allowed": "leave the empty literal out",
    "bad escaping": "double the last backslash",
    "newlines in string literals": r"write \n",
    "newlines in regular expressions": r"write \n, or add the flag x",
    "Aliasing not allowed in terminals": "-> belongs to the alternatives of rules",
    "Conflicting flags": "use the same flags wherever the pattern appears",
    "marked for expansion": "drop the alias, or the underscore",
    "Rules defined twice": "remove one of the equal alternatives; an optional part may make two equal",
    "Inlined rules": "drop the ? or the underscore",
    "Template Parameter conflicts": "rename the parameter",
    "Duplicate Template Parameter": "rename one of them",
    "Wrong number of template arguments": "give as many as the template has parameters",
}
# Lark's names for the lexemes of its language, where they do not speak for themselves.
_LEXEMES = {
    "_NL": "the end of the line",
    "_OR": "'|'",
    "_NL_OR": "'|'",
    "_COLON": "':'",
    "_COMMA": "','",
    "_DOT": "'.'",
    "_DOTDOT": "'..'",
    "_TO": "'->'",
    "TILDE": "'~'",
    "OP": "an operator",
    "_LPAR": "'('",
    "_RPAR": "')'",
    "_LBRA": "'['",
    "_RBRA": "']'",
    "_LBRACE": "'{'",
    "_RBRACE": "'}'",
    "NUMBER": "a number",
    "RULE": "a rule's name",
    "TERMINAL": "a terminal's name",
    "STRING": "a string",
    "REGEXP": "a regular expression",
}
_NAME = re.compile(r"[^\W\d]\w*")
_FILE = re.compile(r"[^\r\n:]+\.lark")
_WHERE = re.compile(r"\(in (?:rule|terminal|template) (\w+)\)")
_UNDEFINED = re.compile(
    r"(?:Rule|Terminal|Template) '?(\w+)'? used but not defined|Terminal used but not defined: (\w+)"
)
_TWICE = re.compile(r"Rules defined twice: \* <(\w+) :")
_RANGE = re.compile(r"Bad Range for .*\((-?\d+)\.\.(-?\d+) isn't allowed\)")
_NOTHING_IMPORTED = re.compile(r"Nothing was imported from grammar `(\w+)`")
_RULE_WITHIN = re.compile(r"Rules aren't allowed inside terminals \(NonTerminal\('(\w+)'\) in (\w+)\)")
_ALIAS = re.compile(r"->\s*$")
_IGNORED = re.compile(r"Terminals \{'(\w+)'.*marked to ignore")


def explain_circle(paths: Collection[str], site: Span | None) -> GrammarSyntaxError:
    """The error for files that import each other; ``paths`` ends with the first of them."""
    what = "this file imports itself" if len(paths) == 2 else "these files import each other in a circle"
    way_out = "define what is shared in one file, and import that"
    return GrammarSyntaxError(f"{what}: {' -> '.join(map(grammar_name, paths))}; {way_out}", site)


def explain(error: Exception, builder: RecordingBuilder, trail: tuple[str, ...] = ()) -> GrammarSyntaxError:
    """The error to raise instead of ``error``, which Lark raised while ``builder`` loaded a text.

    ``trail`` are the paths of the imported files that were opened to find it.
    """
    if isinstance(error, VisitError) and error.rule == "range":
        message = 'the ends of a range are single characters, as in "a".."z"'
        return GrammarSyntaxError(message, _token_place(error.obj, builder))
    if isinstance(error, VisitError) and isinstance(error.orig_exc, Exception):
        error = error.orig_exc
    if isinstance(error, ImportFailedError):
        return _explain_import(error, builder, trail)
    if isinstance(error, RecursionError):
        place = builder.source.span(0, 0) if builder.source.path else None
        return GrammarSyntaxError("nested too deeply for Lark's loader; split it into more rules or terminals", place)
    if "null bytes" in str(error) and (at := builder.source.text.find("\0")) >= 0:
        place = _blame(builder) or builder.source.span(at, at + 1)
        return GrammarSyntaxError(r"a NUL character, which Lark cannot read in a literal; write \x00", place)
    unexpected = error if isinstance(error, UnexpectedInput) else error.__context__
    if isinstance(unexpected, UnexpectedInput):
        return _explain_syntax(error, unexpected, builder.source)
    if not isinstance(error, lark.exceptions.GrammarError):
        return _explain_accident(error, builder)
    message = _one_line(error)
    if nothing := _NOTHING_IMPORTED.search(message):
        message = f"nothing is imported from {nothing.group(1)}: name a file and what is in it"
        advice = import_of(nothing.group(1)) or "%import file.name"
        return GrammarSyntaxError(f"{message}; {advice}", _named_place(_one_line(error), builder) or _blame(builder))
    undefined, ignored = _UNDEFINED.search(message), _IGNORED.search(message)
    if within := _RULE_WITHIN.search(message):
        return _explain_rule_within(within.group(1), within.group(2), builder)
    if bad_range := _RANGE.search(message):
        low, high = bad_range.groups()
        message = f"~{low}..{high} asks for {low} at least and {high} at most; write the smaller number first"
        return GrammarSyntaxError(message, _range_place(low, high, builder) or _blame(builder))
    if undefined:
        return _explain_undefined(undefined.group(1) or undefined.group(2), message, builder)
    if ignored:
        name = ignored.group(1)
        span = builder.source.statement_span("ignore", name)
        message = f"terminal {name} is ignored but not defined"
        importing = import_of(name)
        return GrammarSyntaxError(f"{message}; {importing}" if importing else _with_advice(message), span)
    shown = builder.source.shown
    own_words = _NAME.sub(lambda name: shown.get(name[0], name[0]), message) if shown else message
    return GrammarSyntaxError(_with_advice(own_words), _named_place(message, builder) or _blame(builder))


def require_syntax(text: str, path: str | None) -> None:
    """Raise GrammarSyntaxError, with the place, if a text is not even in Lark's language, whatever its names mean."""
    try:
        reader: Any = _parse_grammar
        reader(text, path or "")
    except (lark.exceptions.GrammarError, UnexpectedInput) as error:
        unexpected = error if isinstance(error, UnexpectedInput) else error.__context__
        if not isinstance(unexpected, UnexpectedInput):
            raise GrammarSyntaxError(_one_line(error), None) from error
        raise _explain_syntax(error, unexpected, SourceText(text, path, {})) from error


def _explain_syntax(error: Exception, unexpected: UnexpectedInput, source: SourceText) -> GrammarSyntaxError:
    start = min(unexpected.pos_in_stream or 0, len(source.text))
    if _FILE.fullmatch(source.text):
        message = f"{source.text!r} is no grammar; Grammar.from_file reads one from a file"
        return GrammarSyntaxError(message, source.span(0, len(source.text)))
    if is_json(source.text):
        message = "this is JSON, not a grammar; of a JSON Schema pdacon.Grammar.from_json_schema makes one"
        return GrammarSyntaxError(message, source.span(start, start + 1))
    habit = advice_at(source.text, start)
    if not isinstance(unexpected, UnexpectedToken):
        advice = habit or "no lexeme of Lark's language begins with it"
        message = f"unexpected character {source.text[start : start + 1]!r}; {advice}"
        return GrammarSyntaxError(message, source.span(start, min(start + 1, len(source.text))))
    token = str(unexpected.token)
    shown = repr(shorten(token)) if token.strip() else "end of the line"
    span = source.span(start, min(start + len(token.rstrip()), len(source.text)))
    wanted = unexpected.accepts or unexpected.expected
    found, is_label, _ = str(error).partition(", at line ")
    if error is unexpected or not is_label:
        found = _own_label(token, wanted)
    if habit:
        return GrammarSyntaxError(f"unexpected {shown}; {habit}", span)
    label = next((label for label in _LABELS if label.piece in found), None)
    if label and re.match(label.token, token):
        return GrammarSyntaxError(f"{found}, at {shown}; {label.advice}", span)
    listed = ", ".join(sorted({_LEXEMES.get(name, name) for name in wanted}))
    return GrammarSyntaxError(f"unexpected {shown}; what may stand here: {listed}", span)


def _own_label(token: str, wanted: Collection[str]) -> str:
    """The same labels for parser states that Lark has no example of."""
    if token in (")", "]", "}"):
        return "Unmatched closing parenthesis"
    if token.startswith("\n") and not {"_RPAR", "_RBRA", "_RBRACE"}.isdisjoint(wanted):
        return "Unclosed parenthesis"
    return "Expecting rule or terminal definition (missing colon)" if "_COLON" in wanted else ""


def _explain_undefined(name: str, message: str, builder: RecordingBuilder) -> GrammarSyntaxError:
    """Lark names the rule in which the use is; the place of the use itself is more help."""
    kind = "template" if message.startswith("Template") else "terminal" if name.isupper() else "rule"
    where = _WHERE.search(message)
    user = builder.name_tokens.get(where.group(1)) if where else None
    text = builder.source.text
    # Strings, regular expressions and comments are skipped: a name in there is text.
    use = re.compile(
        rf'"(?:\\.|[^"\\\n])*"|/(?!/)(?:\\.|[^/\\\n])+/|(?://|\#)[^\n]*|(?<![\w{{])(?P<name>{re.escape(name)})(?!\w)'
    )
    start = 0 if user is None else (user.start_pos or 0) + len(user)
    found = next((match for match in use.finditer(text, start) if match.lastgroup), None)
    # Lark reads Name as the terminal N and the rule ame.
    part = rf"(?<!\w)(?=\w*[A-Z])(?=\w*[a-z])(?:\w+{re.escape(name)}|{re.escape(name)}\w+)(?!\w)"
    if found is None and (mixed := re.compile(part).search(text, start)):
        place = builder.source.span(*mixed.span())
        return GrammarSyntaxError(f"unexpected {mixed.group()!r}; {one_case(mixed.group())}", place)
    span = builder.source.span(*found.span("name")) if found else _named_place(message, builder)
    if found and _ALIAS.search(text, 0, found.start("name")):
        why = "an alias names a whole alternative of a rule, so it stands at its end and not within parentheses"
        return GrammarSyntaxError(f"unexpected '-> {name}'; {why}", span)
    within = f" (in {where.group(1)})" if where else ""
    if misnamed := _explain_misnamed_import(name, kind, builder):
        return misnamed
    others = [str(one) for one in builder._definitions if one != name]
    meant = did_you_mean(name, others)
    advice = import_of(name) if kind == "terminal" and not meant else ""
    if not advice:
        advice = f"{meant}define or %import it"
        advice += f', or, if it is meant as text, write it in quotes: "{name}"' if kind == "rule" and not meant else ""
    return GrammarSyntaxError(f"{kind} {name!r} is used but not defined{within}; {advice}", span)


def _explain_misnamed_import(name: str, kind: str, builder: RecordingBuilder) -> GrammarSyntaxError | None:
    """A name that is not defined because the ``%import`` that was to bring it names something that is not there."""
    missing = missing_import(name, builder)
    if missing is None:
        return None
    own, file, known = missing
    meant = did_you_mean(own, known).strip()
    message = f"%import: there is no {kind} {own} in {file}"
    return GrammarSyntaxError(
        f"{message}; {meant or 'import what it defines'}", builder.source.statement_span("import", own)
    )


def _explain_rule_within(rule: str, user: str, builder: RecordingBuilder) -> GrammarSyntaxError:
    """A terminal, or what is ignored, that uses a rule: Lark names the user by a name that it has made up."""
    source = builder.source
    upper = rule.upper()
    if user.startswith("__IGNORE"):
        span = source.statement_span("ignore", rule)
        message = f"%ignore takes a terminal, and {rule} is a rule; write its name in upper case: {upper}"
    else:
        token = builder.name_tokens.get(user)
        start = 0 if token is None else (token.start_pos or 0) + len(token)
        found = re.compile(rf"(?<!\w){re.escape(rule)}(?!\w)").search(source.text, start)
        span = builder.spans.get(user) if token is None or found is None else source.span(*found.span())
        message = (
            f"terminal {user} uses the rule {rule}, and a terminal consists of terminals and literals only; "
            f"make {user} a rule, {user.lower()}, or {rule} a terminal, {upper}"
        )
    return GrammarSyntaxError(message, span)


def _explain_accident(error: Exception, builder: RecordingBuilder) -> GrammarSyntaxError:
    """Where Lark has no message of its own but trips: an assertion, a KeyError, an attribute of None."""
    message = f"Lark's loader fails with {type(error).__name__}: {shorten(_one_line(error), 120)}"
    declared = sorted(str(name) for name, d in builder._definitions.items() if d.tree is None)
    span = _blame(builder)
    if "template_usage" in message:
        message += "; a template can be used in rules only, and its arguments are rules, terminals and literals"
    elif declared:
        message += (
            f"; what is only declared ({', '.join(declared)}) can be used as a terminal in rules, and nowhere else"
        )
        span = span or builder.source.statement_span("declare", declared[0])
    return GrammarSyntaxError(message, span)


def _explain_import(error: ImportFailedError, builder: RecordingBuilder, trail: tuple[str, ...]) -> GrammarSyntaxError:
    """Name what is wrong in the imported file, at its own place; Lark does not say which file it was reading."""
    wanted = os.path.join(*error.dotted_path) + EXT  # noqa: PTH118 (Lark's import paths are strings)
    cause = error.__cause__
    found = find_file(wanted, error.base_path, builder.import_paths)
    if found is None:
        searched = [path for path in builder.import_paths if isinstance(path, str)]
        searched += [] if error.base_path is None else [str(error.base_path) or "."]
        return GrammarSyntaxError(
            f"%import: there is no {wanted} in {', '.join(searched) or 'the search paths'} or Lark's own grammars; "
            f"{similar_file(wanted, builder.import_paths, error.base_path)}"
            "give its folder with import_paths=, or the grammar's own path with source_path= for a relative import",
            error.site,
        )
    base, text = found
    path = path_of(base)
    if path in trail:
        return explain_circle((*trail[trail.index(path) :], path), error.site)
    options = GrammarOptions(import_paths=tuple(builder.import_paths))
    inner = RecordingBuilder(SourceText(text, path), options)
    try:
        inner.load_grammar(text, base)
    except Exception as failure:
        return explain(failure, inner, (*trail, path))
    message = _one_line(cause) if cause is not None else "cannot be imported"
    return GrammarSyntaxError(_with_advice(f"%import of {wanted}: {message}"), error.site)


def _one_line(error: BaseException) -> str:
    # A bad escape is GrammarError(literal, SyntaxError): the last argument is the reason.
    text = " ".join(str(error.args[-1] if len(error.args) > 1 else error).split())
    return text.rstrip(".!") or type(error).__name__


def _with_advice(message: str) -> str:
    advice = next((advice for piece, advice in _ADVICE.items() if piece in message), None)
    return f"{message}; {advice}" if advice else message


def _named_place(message: str, builder: RecordingBuilder) -> Span | None:
    """The definition that a message names: "(in rule x)", else the last name in it that is defined or imported."""
    where = _WHERE.search(message) or _TWICE.search(message)
    names = [where.group(1)] if where else list(reversed(_NAME.findall(message)))
    known = next((builder.spans[name] for name in names if name in builder.spans), None)
    return known or (builder.source.statement_span("import", names[0]) if names and "mport" in message else None)


def _range_place(low: str, high: str, builder: RecordingBuilder) -> Span | None:
    found = re.search(rf"~\s*{re.escape(low)}\s*\.\.\s*{re.escape(high)}(?!\d)", builder.source.text)
    return None if found is None else builder.source.span(*found.span())


def _blame(builder: RecordingBuilder) -> Span | None:
    """The place that a message does not name: what Lark was reading, else the first piece that fails on its own."""
    if builder.current is not None:
        return builder.source.token_span(builder.current)
    for name, definition in builder._definitions.items():
        if str(name) not in builder.name_tokens or definition.tree is None:
            continue
        bad = next((token for _, token in literals(definition.tree) if _is_bad_literal(token)), None)
        if bad is not None:
            return builder.source.token_span(bad)
        for node in definition.tree.iter_subtrees():
            if _is_bad_range(node) or (definition.is_term and node.data in ("alias", "template_usage")):
                return builder.spans[str(name)]
    return None


def _token_place(tree: Any, builder: RecordingBuilder) -> Span | None:
    """The place of a tree's first token, unless it comes from an imported file."""
    source, token = builder.source, next(tree.scan_values(lambda child: isinstance(child, Token)), None)
    if token is None or source.text[token.start_pos : token.start_pos + len(token)] != token:
        return None
    return source.token_span(token)


def _is_bad_literal(token: Token) -> bool:
    try:
        re.compile(_literal_to_pattern(token).to_regexp())  # type: ignore[no-untyped-call]
    except Exception:
        return True
    return False


def _is_bad_range(node: Any) -> bool:
    if node.data != "expr" or node.children[1] != "~":
        return False
    low, *high = map(int, node.children[2:])
    return low < 0 or any(bound < low for bound in high)
