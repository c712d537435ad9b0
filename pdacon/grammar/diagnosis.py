"""What Lark's loader raised -> one clear line with a place and a way out. Runs only when a load has failed."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError
from lark.load_grammar import EXT, stdlib_loader

from pdacon.errors import GrammarSyntaxError
from pdacon.grammar.loading import ImportFailedError, RecordingBuilder, SourceText
from pdacon.grammar.model import GrammarOptions, Span

# A piece of Lark's message -> what to do about it.
_ADVICE = {
    "missing colon": "write name: before what the rule or terminal consists of",
    "Incorrect type of value": "write a rule, a terminal or a literal here",
    "Unclosed parenthesis": "close it before the line ends",
    "Unmatched closing parenthesis": "remove it or open one before",
    "Illegal name": "write rules in lower case and terminals in upper case",
    "Alias expects lowercase": "write the alias after the alternative, in lower case",
    "Unexpected colon": 'write one definition per line, and quote a colon that is meant as text: ":"',
    "Misplaced operator": "put ?, * or + directly after what it applies to, and only one",
    'Expecting option ("|")': "begin a continued line with |",
    "cannot contain dots": "only %import takes a dotted name",
    "%import expects": "write %import common.NAME or %import .file.name",
    "%ignore expects": "give it a terminal or a pattern",
    "Expecting a value": "write a rule, a terminal or a literal here",
    "used but not defined": "define or %import it",
    "Rules aren't allowed inside terminals": "a terminal consists of terminals and literals only; make it a rule",
    "Recursion in terminal": "make it a rule",
    "defined more than once": "keep one definition, or write %override or %extend",
    "Cannot override": "define it without %override",
    "double-underscore are reserved": "rename it",
    "as it wasn't defined before": "define or %import it first",
    "one is a terminal": "rename one of them",
    "it is abstract": "define it instead of declaring it",
    "Nothing was imported": "name what to import: %import file.name",
    "Symbol already defined": "rename it: %import file.name -> other_name",
    "marked to ignore": "define them",
    "Terminals cannot be empty": "give it at least one character",
    "Empty terminals are not allowed": "leave the empty literal out",
    "bad escaping": "double the last backslash",
    "newlines in string literals": r"write \n",
    "newlines in regular expressions": r"write \n, or add the flag x",
    "Bad Range": "write the smaller number first",
    "Aliasing not allowed in terminals": "-> belongs to the alternatives of rules",
    "Conflicting flags": "use the same flags wherever the pattern appears",
    "marked for expansion": "drop the alias, or the underscore",
    "Rules defined twice": "remove one of the equal alternatives; an optional part may make two equal",
    "Inlined rules": "drop the ? or the underscore",
    "Template Parameter conflicts": "rename the parameter",
    "Duplicate Template Parameter": "rename one of them",
    "Wrong number of template arguments": "give as many as the template has parameters",
}
_NAME = re.compile(r"[^\W\d]\w*")
_WHERE = re.compile(r"\(in (?:rule|terminal|template) (\w+)\)")


def explain(error: Exception, builder: RecordingBuilder) -> GrammarSyntaxError:
    """The error to raise instead of ``error``, which Lark raised while ``builder`` loaded a text."""
    if isinstance(error, VisitError):
        original = error.orig_exc
        error = original if isinstance(original, Exception) else error
    if isinstance(error, ImportFailedError):
        return _explain_import(error, builder)
    if isinstance(error, RecursionError):
        return GrammarSyntaxError("nested too deeply for Lark's loader; split it into more rules or terminals")
    unexpected = error if isinstance(error, UnexpectedInput) else error.__context__
    if isinstance(unexpected, UnexpectedInput):
        return _explain_syntax(error, unexpected, builder.source)
    message = _one_line(error)
    return GrammarSyntaxError(_with_advice(message), _place_of(message, builder))


def _explain_syntax(error: Exception, unexpected: UnexpectedInput, source: SourceText) -> GrammarSyntaxError:
    if isinstance(unexpected, UnexpectedCharacters):
        start = unexpected.pos_in_stream or 0
        message = f"unexpected character {source.text[start : start + 1]!r}; see the syntax of Lark grammars"
        return GrammarSyntaxError(message, source.span(start, start + 1))
    span = None
    shown = "the end of the text"
    if isinstance(unexpected, UnexpectedToken):
        start = min(unexpected.token.start_pos or 0, len(source.text))
        shown = repr(str(unexpected.token))[:40]
        span = source.span(start, min(start + len(unexpected.token), len(source.text)))
    label, found, _ = str(error).partition(", at line ")
    if error is unexpected or not found:
        return GrammarSyntaxError(f"unexpected {shown}; see the syntax of Lark grammars", span)
    return GrammarSyntaxError(_with_advice(f"{label}, at {shown}"), span)


def _explain_import(error: ImportFailedError, builder: RecordingBuilder) -> GrammarSyntaxError:
    """Name what is wrong in the imported file, at its own place; Lark does not say which file it was reading."""
    wanted = os.path.join(*error.dotted_path) + EXT  # noqa: PTH118 (Lark's import paths are strings)
    cause = error.__cause__
    found = _find(wanted, error.base_path, builder)
    if found is None:
        searched = [path for path in builder.import_paths if isinstance(path, str)]
        searched += [] if error.base_path is None else [str(error.base_path)]
        return GrammarSyntaxError(
            f"%import: there is no {wanted} in {', '.join(searched) or 'the search paths'} or Lark's own grammars; "
            "give its folder with import_paths=, or the grammar's own path with source_path= for a relative import",
            error.site,
        )
    base, text = found
    path = base if isinstance(base, str) else "/".join(map(str, base))
    options = GrammarOptions(import_paths=tuple(builder.import_paths))
    inner = RecordingBuilder(SourceText(text, path), options)
    try:
        inner.load_grammar(text, base)
    except Exception as failure:
        return explain(failure, inner)
    message = _one_line(cause) if cause is not None else "cannot be imported"
    return GrammarSyntaxError(_with_advice(f"%import of {wanted}: {message}"), error.site)


def _find(wanted: str, base_path: Any, builder: RecordingBuilder) -> tuple[Any, str] | None:
    """Lark's search: import_paths, then the folder of the importing file, then Lark's own grammars."""
    sources: list[Any] = [*builder.import_paths, *([] if base_path is None else [base_path]), stdlib_loader]
    for source in sources:
        with suppress(OSError):
            if callable(source):
                path, text = source(base_path, wanted)
                return path, text
            joined = os.path.join(source, wanted)  # noqa: PTH118
            return joined, Path(joined).read_text(encoding="utf-8")
    return None


def _one_line(error: BaseException) -> str:
    # eval_escaping raises GrammarError(literal, SyntaxError): the last argument is the reason.
    text = " ".join(str(error.args[-1] if len(error.args) > 1 else error).split())
    return text.rstrip(".!") or type(error).__name__


def _with_advice(message: str) -> str:
    advice = next((advice for piece, advice in _ADVICE.items() if piece in message), None)
    return f"{message}; {advice}" if advice else message


def _place_of(message: str, builder: RecordingBuilder) -> Span | None:
    """The definition that the message is about: "(in rule x)", else the last name in it that is defined."""
    where = _WHERE.search(message)
    names = [where.group(1)] if where else list(reversed(_NAME.findall(message)))
    return next((builder.spans[name] for name in names if name in builder.spans), None)
