"""A grammar -> the grammar of its texts as they stand within a string of JSON.

Rules stay as they are. Each terminal reads the escaped texts of what it has read (`pdacon.regular.ordered.escaping`),
and keeps its place in Lark's order of terminals, and its keywords (`Pattern.meant`): so the lexer cuts an escaped text
where it would cut the text that is meant.
"""

from __future__ import annotations

from dataclasses import replace

from pdacon.errors import UnsupportedGrammarError
from pdacon.frontends.insertion.parts import Escaped
from pdacon.frontends.insertion.templates import composed
from pdacon.grammar import GrammarData, GrammarOptions, Pattern, Terminal
from pdacon.lexer import compile_terminal
from pdacon.regular.ordered.escaping import Escapes, check_escapes, escaped_program, whole_characters
from pdacon.regular.ordered.program import to_automaton

_STATES = 1_000_000
_QUOTED = r'start: "\"" text "\""'


def escaped(grammar: GrammarData, notation: str, escapes: Escapes, quotes: bool) -> GrammarData:
    """See `Grammar.escaped`."""
    check_escapes(notation, escapes, quotes)
    _check(grammar)
    terminals = tuple(_escaped(grammar, terminal, escapes) for terminal in grammar.terminals)
    inner = replace(
        grammar,
        terminals=terminals,
        layout=None if grammar.layout is None else replace(grammar.layout, escaped=True),
        language="several grammars",
        values=None,
        parts=Escaped(grammar, quotes=False),
    )
    if not quotes:
        return inner
    options = GrammarOptions(conflicts=grammar.options.conflicts, lookahead=grammar.options.lookahead)
    return replace(composed(_QUOTED, {"text": lambda: inner}, options), parts=Escaped(grammar, quotes=True))


def _escaped(grammar: GrammarData, terminal: Terminal, escapes: Escapes) -> Terminal:
    own = terminal.pattern
    if own is None:
        return terminal
    looking = compile_terminal(grammar, terminal, _STATES)
    program = whole_characters(looking)
    if program is None and grammar.layout is None:
        raise UnsupportedGrammarError(
            f"terminal {terminal.name} looks at the text before it, which is escaped within a string; write it without "
            r"\b, ^ and look-behind at its beginning",
            terminal.span,
            "escaped",
        )
    program = program or looking
    automaton = to_automaton(escaped_program(program, escapes, _STATES))
    pattern = Pattern("automaton", "", frozenset(), "", own.min_width, own.max_width, automaton, own)
    ignored = terminal.in_place_of and _escaped(grammar, terminal.in_place_of, escapes)
    return replace(terminal, pattern=pattern, in_place_of=ignored)


def _check(grammar: GrammarData) -> None:
    """Refuse what no string can have, by name."""
    for is_there, feature, why in (
        (
            grammar.layout is not None and grammar.layout.escaped,
            "escaped indentation",
            "columns of what is escaped twice are not known; use one without indentation",
        ),
        (bool(grammar.labels), "token labels", "labels stand for tokens, which are no characters; write them outside"),
        (bool(grammar.within), "regular-set", "`& regular_set` says something of the text itself; escape the set, too"),
        (grammar.options.use_bytes, "use_bytes", "a string of JSON has characters, not bytes; load it without"),
        (bool(grammar.options.g_regex_flags), "g_regex_flags", "write the flags into its terminals"),
    ):
        if is_there:
            raise UnsupportedGrammarError(
                f"escaped: a grammar with {feature} cannot be escaped: {why}", feature=feature
            )
