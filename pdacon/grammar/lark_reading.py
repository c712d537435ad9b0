"""The pass as a whole: text -> Lark's loader -> checks -> a grammar."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

import lark

from pdacon.base.cautions import caution, held
from pdacon.errors import CancelledError, GrammarSyntaxError, LimitExceededError, Span, UnsupportedGrammarError
from pdacon.grammar.builtin import imports_files, is_packaged
from pdacon.grammar.circles import find_circle
from pdacon.grammar.diagnosis import explain, explain_circle
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.importing import path_of
from pdacon.grammar.labels import LabelError
from pdacon.grammar.lark_rules import lower
from pdacon.grammar.loading import RecordingBuilder, SourceText, base_of, load
from pdacon.grammar.model import GrammarOptions
from pdacon.grammar.nesting import check_nesting
from pdacon.grammar.patterns import PatternSets
from pdacon.grammar.settings import make_options, schema_advice
from pdacon.grammar.sizes import held_bytes
from pdacon.regular.groups import RegularGroupError

_MOST_TEXTS, _MOST_BYTES = 16, 1 << 26  # that are kept, with what else is kept as long as their grammars are
_recent: OrderedDict[tuple[str, GrammarOptions], tuple[GrammarData, tuple[tuple[str, type[UserWarning]], ...], int]] = (
    OrderedDict()
)
_lock = Lock()
_SAVED_CONSTRAINT = b"\x89PDA"  # what every file of `Constraint.save` begins with


def read_text(
    text: str, options: GrammarOptions, sets: PatternSets | None = None, shown: Mapping[str, str] = MappingProxyType({})
) -> GrammarData:
    """Load and lower a text. After this every name is defined and every pattern compiles.

    With ``extensions`` patterns may have sets of texts in them: ``sets``. ``shown`` is what messages call names that
    are not the author's.
    """
    path = None if options.import_base is None else path_of(options.import_base)
    source = SourceText(text, path, shown)
    if options.use_bytes and not text.isascii():
        at = next(place for place, character in enumerate(text) if not character.isascii())
        raise GrammarSyntaxError(
            rf"{text[at]!r}: with use_bytes=True Lark takes grammars in ASCII only; write bytes as \x80 to \xff",
            source.span(at, at + 1),
        )
    builder = RecordingBuilder(source, options, None if sets is None else sets.by_name)
    check_nesting(source)
    circle = find_circle(builder, base_of(options))
    if circle is not None:
        raise explain_circle(circle.paths, circle.site)
    try:
        loaded = load(builder, options)
    except (CancelledError, LimitExceededError, LabelError, RegularGroupError):
        raise
    except Exception as error:
        # Whatever Lark raises while it loads is its way to refuse the text: GrammarError mostly, but also
        # AssertionError, KeyError, OSError or RecursionError, so no narrower net would keep them all in.
        raise explain(error, builder) from error
    return lower(loaded, options, text, path, sets)


def read_once(text: str, options: GrammarOptions) -> GrammarData:
    """As `read_text`, of a text that was read before with the same options what was made of it then, warnings too.

    The last ones are kept. A text that may depend on files that can change is read again: others than those of Lark
    and of pdacon.
    """
    if options.import_paths or (imports_files(text) and not is_packaged(options.import_base)):
        return read_text(text, options)
    data, cautions = _read_before(text, options)
    for message, kind in cautions:
        caution(message, kind)
    return data


def _read_before(text: str, options: GrammarOptions) -> tuple[GrammarData, tuple[tuple[str, type[UserWarning]], ...]]:
    key = text, options
    with _lock:
        if key in _recent:
            _recent.move_to_end(key)
            return _recent[key][:2]
    with held() as cautions:
        data = read_text(text, options)
    made = data, tuple(cautions)
    with _lock:
        _recent[key] = (*made, held_bytes(data))
        while len(_recent) > _MOST_TEXTS or sum(size for *_, size in _recent.values()) > _MOST_BYTES:
            _recent.popitem(last=False)
    return made


def read_source(path: str | os.PathLike[str]) -> str:
    """A grammar file's text, read as ``Lark.open`` reads it (UTF-8, universal newlines)."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        span = Span(os.fspath(path), line, column, line, column + 1)
        if error.object.startswith(_SAVED_CONSTRAINT):
            way_out = f"pdacon.Constraint.load({os.fspath(path)!r})"
            message = f"this is a constraint that was saved, not a grammar; load it with {way_out}"
            raise GrammarSyntaxError(message, span) from error
        raise GrammarSyntaxError(f"not UTF-8 at byte {error.start}; save the grammar as UTF-8", span) from error
    if text.startswith("\ufeff"):
        span = Span(os.fspath(path), 1, 1, 1, 2)
        raise GrammarSyntaxError("begins with a byte order mark, which Lark rejects; save as UTF-8 without it", span)
    return text


def read_lark(parser: Any, given: GrammarOptions) -> GrammarData:
    """Load the text of a ready ``lark.Lark`` with its options, and make sure that the same grammar comes out."""
    if not isinstance(parser, lark.Lark):
        raise TypeError(f"expected a grammar's text or a lark.Lark, got {type(parser).__name__}{schema_advice(parser)}")
    if given != replace(GrammarOptions(), conflicts=given.conflicts, lookahead=given.lookahead):
        raise ValueError("a ready lark.Lark brings its options: beside it only conflicts= and lookahead= are accepted")
    text = _text_of(parser)
    options = parser.options
    base = options.source_path
    if base is None and parser.source_path not in ("<string>", "<deserialized>"):
        base = parser.source_path
    grammar = read_text(
        text,
        make_options(
            start=options.start,
            lexer=options.lexer,
            conflicts=given.conflicts,
            lookahead=given.lookahead,
            postlex=options.postlex,
            g_regex_flags=options.g_regex_flags,
            use_bytes=bool(options.use_bytes),
            priority=options.priority,
            maybe_placeholders=options.maybe_placeholders,
            import_paths=options.import_paths,
            source_path=base,
            extensions=False,
        ),
    )
    _check_same(parser, grammar)
    return grammar


def _text_of(parser: lark.Lark) -> str:
    options = parser.options
    if options.parser != "lalr":
        raise UnsupportedGrammarError(
            f"parser={options.parser!r} gives the grammar another language; "
            "build it with lark.Lark(..., parser='lalr')",
            feature="parser",
        )
    refused = {
        "regex": (options.regex, "write the patterns for Python's re"),
        "lexer_callbacks": (options.lexer_callbacks, "express what they change in the terminals"),
        "edit_terminals": (options.edit_terminals, "write the edited terminals into the grammar"),
        "lexer": (isinstance(options.lexer, type), 'use lexer="contextual" or lexer="basic"'),
        "_plugins": (options._plugins, "build it with stock Lark"),
    }
    for feature, (present, advice) in refused.items():
        if present:
            raise UnsupportedGrammarError(f"a lark.Lark with {feature}= is not supported; {advice}", feature=feature)
    text = getattr(parser, "source_grammar", None)
    if not isinstance(text, str):
        raise UnsupportedGrammarError(
            "this lark.Lark has no grammar text (restored by Lark.load, or made from a compiled grammar); "
            "pass the text itself",
            feature="source_grammar",
        )
    return text


def _check_same(parser: lark.Lark, grammar: GrammarData) -> None:
    name = grammar.symbol_name
    ours = [(name(p.lhs), [name(symbol) for symbol in p.rhs], p.priority) for p in grammar.productions]
    theirs = [(r.origin.name, [s.name for s in r.expansion], r.options.priority or 0) for r in parser.rules]
    patterns = {t.name: (t.pattern.regexp, t.priority) for t in grammar.terminals if t.pattern is not None}
    if ours != theirs or patterns != {t.name: (t.pattern.to_regexp(), t.priority) for t in parser.terminals}:
        raise UnsupportedGrammarError(
            "this lark.Lark is not what its text gives now (an imported file changed, or the object was modified); "
            "build it again or pass the text",
            feature="source_grammar",
        )
