"""What decides whether terminals can be lexed: collisions, unbounded lookahead, unsupported patterns.

In: a grammar, and its lexer where there is one. Out: the findings that decide whether `compile` takes the grammar:
PDA005, PDA006, PDA008. The pairs of terminals that collide come from the lexer room, which compares their automata.
"""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.base.quoting import quote
from pdacon.determinism.examples import Examples
from pdacon.determinism.lexical.matching_texts import Run
from pdacon.determinism.lexical.repair.lexical_repairs import Repairs
from pdacon.determinism.lexical.repair.suggested import definition
from pdacon.determinism.lexical.truncations import run_of, shared_texts, truncated_texts
from pdacon.determinism.lexical.witness_texts import WitnessTexts, turned
from pdacon.determinism.report.accepting import accepting_choice, accepting_loss
from pdacon.determinism.report.findings import TITLES, Finding, Level, Witness
from pdacon.determinism.report.listing import listed
from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import GrammarData, Terminal
from pdacon.lalr import Tables
from pdacon.lexer import (
    Collision,
    Lexer,
    UnboundedLookahead,
    compile_terminal,
    find_collisions,
    find_group_name_clashes,
    find_unbounded_lookahead,
)
from pdacon.regular.ordered import Runner

_FEW = 4
_MOST_STEPS = 500  # of the search for a text that a priority would truncate; an error of `compile` waits for it
_CONTROLS = {code: chr(code).encode("unicode_escape").decode("ascii") for code in (*range(0x20), 0x7F)}
_NOT_LOOKED_AT = (
    "There is no lexer with it. Not looked at, therefore: collisions, lookahead and all advice (PDA005, PDA006, and "
    "from PDA010 on)."
)


def pattern_findings(grammar: GrammarData) -> list[Finding]:
    """An error for each terminal whose pattern cannot be lowered; without them there is no lexer to look at."""
    found: list[Finding] = []
    for index, terminal in enumerate(grammar.terminals):
        if terminal.pattern is None:
            continue
        try:
            compile_terminal(grammar, terminal)
        except UnsupportedGrammarError as error:
            subject = f"{error.feature or 'pattern'} in {grammar.describe_symbol(index)}"
            found.append(_unsupported(subject, error.reason, error.advice, (terminal,), first=not found))
    return found


def group_name_findings(grammar: GrammarData, tables: Tables) -> list[Finding]:
    """An error for each group name that two terminals of one context have. For patterns that can be lowered."""
    return [
        _unsupported(
            f"group name {clash.group}", clash.reason, clash.advice, (clash.terminal, clash.other), first=number == 0
        )
        for number, clash in enumerate(find_group_name_clashes(grammar, tables))
    ]


def _unsupported(subject: str, reason: str, advice: str, terminals: tuple[Terminal, ...], *, first: bool) -> Finding:
    """``terminals``: the first is where it has to change."""
    lines = [reason.translate(_CONTROLS)]
    if first:
        lines.append(_NOT_LOOKED_AT)
    return Finding(
        id="PDA008",
        level="error",
        title=f"{TITLES['PDA008']}: {subject}",
        message="\n".join(lines),
        repair=advice.translate(_CONTROLS) or None,
        span=terminals[0].span,
        symbols=tuple(terminal.name for terminal in terminals),
    )


def lexeme_findings(
    texts: WitnessTexts, examples: Examples, repairs: Repairs, collisions: Sequence[Collision] | None = None
) -> list[Finding]:
    """Collisions and unbounded lookahead. Cost: products of the automata of terminals that share a context and a
    priority.

    Colliding terminals are an error, or with ``conflicts="shift"`` a note; those that one edit parts are one finding.
    Unbounded lookahead is an error, or with ``lookahead="commit"`` a warning that says which texts are lost.
    ``collisions`` are looked for if not given.
    """
    grammar, lexer = texts.grammar, texts.lexer
    if collisions is None:
        collisions = find_collisions(lexer)
    groups: dict[object, tuple[str | None, list[Collision]]] = {}
    for connected in _connected(collisions):
        repair, edits = (None, ()) if grammar.options.conflicts == "shift" else repairs.of_collisions(connected)
        for collision in connected:
            key = (collision.first, edits) if edits else collision
            groups.setdefault(key, (repair, []))[1].append(collision)
    return [
        *(_collision(texts, examples, group, repair) for repair, group in groups.values()),
        *(_unbounded(grammar, lookahead) for lookahead in find_unbounded_lookahead(lexer)),
    ]


def _connected(collisions: Sequence[Collision]) -> list[list[Collision]]:
    """The collisions in groups that have no terminal in common."""
    groups: list[tuple[set[int], list[Collision]]] = []
    for collision in collisions:
        pair = {collision.first, collision.second}
        met = [group for group in groups if not pair.isdisjoint(group[0])]
        groups = [group for group in groups if group not in met]
        groups.append(
            (pair.union(*(terminals for terminals, _ in met)), [c for _, some in met for c in some] + [collision])
        )
    return [sorted(some, key=collisions.index) for _, some in groups]


def _collision(texts: WitnessTexts, examples: Examples, group: Sequence[Collision], repair: str | None) -> Finding:
    grammar, collision = texts.grammar, group[0]
    first, second = grammar.terminals[collision.first], grammar.terminals[collision.second]
    name = grammar.describe_symbol(collision.first)
    settled = grammar.options.conflicts == "shift"
    prefix = _shortest_prefix(texts.lexer, examples, collision)
    text, following, taken = _shown_text(texts, collision)
    verdict = "Resolved as Lark does:" if settled else "Lark silently takes"
    condition = f" where {quote(following)} follows" if following else ""
    lines = [
        f"Both match {quote(text)}{condition}, at the same priority ({first.priority}), where either may come.",
        f"{verdict} {name}, because {_why(grammar, first, second)}."
        if taken is None
        else f"{verdict} {_described(grammar, taken, first)}. Of the two {name} is tried first, because "
        f"{_why(grammar, first, second)}.",
    ]
    others = [grammar.describe_symbol(other.second) for other in group]
    if len(group) > 1:
        lines.append(f"So it is with {listed(others[1:], 2 * _FEW)}.")
    return Finding(
        id="PDA005",
        level="note" if settled else "error",
        title=f"{TITLES['PDA005']} {name} and {listed(others, _FEW)}",
        message="\n".join(lines),
        span=first.span or second.span,
        symbols=(first.name, *(grammar.terminals[other.second].name for other in group)),
        witness=Witness(prefix, len(prefix), text),
        repair=None if settled else _parted(grammar, collision, repair),
        related=tuple(
            (f"{shown} matches it too", span)
            for shown, other in zip(others, group, strict=True)
            if first.span is not None and (span := grammar.terminals[other.second].span) is not None
        ),
    )


def _shown_text(texts: WitnessTexts, collision: Collision) -> tuple[bytes, bytes, int | None]:
    """A text that both terminals match, what has to follow it, and which third one Lark takes it for; None if none.

    Where a third one takes the shortest text, another one is looked for that the first of the two is taken for.
    """
    contexts = _contexts_of(texts.lexer, collision)

    def takers(text: bytes) -> list[int]:
        lexemes = [texts.taken(context, text) for context in contexts]
        return [collision.first if lexeme is None else lexeme.label for lexeme in lexemes]

    found = takers(collision.witness + collision.following)
    if not found or collision.first in found:
        return collision.witness, collision.following, None
    others = sorted(texts.grammar.ignore) if found[0] > texts.grammar.end else found[:1]
    another = shared_texts(texts.grammar, collision.first, collision.second, others, _MOST_STEPS)
    better = next((text for text in another if collision.first in takers(text)), None)
    return (collision.witness, collision.following, found[0]) if better is None else (better, b"", None)


def _described(grammar: GrammarData, taken: int, first: Terminal) -> str:
    """A terminal that takes the text of two others, and why."""
    if taken >= grammar.end:
        return "it for ignored text"
    terminal = grammar.terminals[taken]
    if terminal.priority > first.priority:
        return f"{grammar.describe_symbol(taken)}, which has a higher priority ({terminal.priority})"
    return f"{grammar.describe_symbol(taken)}, a third one that matches it"


def _parted(grammar: GrammarData, collision: Collision, repair: str | None) -> str:
    """How to part two terminals, or else how to say which of them is meant; and what a priority costs."""
    both = collision.second, collision.first
    accepting = accepting_choice(grammar)
    if repair is not None:
        lines = [f"write\n{repair}", *([f"Or {accepting}."] if accepting else [])]
    else:
        above = grammar.terminals[collision.first].priority + 1
        raised = [definition(grammar, k, grammar.terminals[k].literal or "...", above) for k in both]
        lines = [
            f"say by priority which is meant ({' or '.join(raised)}), or change the patterns so that no text matches "
            + (f"both, or {accepting}." if accepting else "both.")
        ]
    for higher, lower in (both, both[::-1]):
        truncated = next(truncated_texts(run_of(grammar, higher), run_of(grammar, lower), _MOST_STEPS), None)
        if truncated is not None:
            text, length = truncated
            lines.append(
                f"With a higher priority alone {grammar.describe_symbol(higher)} would take {quote(text[:length])} of "
                f"{quote(text)} too, which {grammar.describe_symbol(lower)} matches as a whole."
            )
    return "\n".join(lines)


def _shortest_prefix(lexer: Lexer, examples: Examples, collision: Collision) -> tuple[str, ...]:
    """What leads to a place where both terminals are looked for."""
    contexts = _contexts_of(lexer, collision)
    states = [state for state, context in enumerate(lexer.context_of_state.tolist()) if context in contexts]
    prefixes = [prefix for state in states if (prefix := examples.prefix(state)) is not None]
    return min(prefixes, key=len, default=())


def _contexts_of(lexer: Lexer, collision: Collision) -> list[int]:
    pair = {collision.first, collision.second}
    return [k for k, context in enumerate(lexer.contexts) if pair.issubset(context.alternation)]


def _why(grammar: GrammarData, first: Terminal, second: Terminal) -> str:
    """Which of Lark's criteria puts ``first`` in front: width, then length of the pattern, then name."""
    assert first.pattern is not None
    assert second.pattern is not None
    if first.pattern.max_width != second.pattern.max_width:
        return "it can match longer texts"
    if len(first.pattern.value) != len(second.pattern.value):
        return "its pattern is written with more characters"
    if first.literal is not None or second.literal is not None:
        return "its name comes first, and Lark makes up the names of what has none"
    return f"its name comes first ({grammar.describe_name(first.name)}, {grammar.describe_name(second.name)})"


def _unbounded(grammar: GrammarData, lookahead: UnboundedLookahead) -> Finding:
    commit = grammar.options.lookahead == "commit"
    level: Level = "warning" if commit else "error"
    repair = "change the terminals so that the longer one cannot begin like this one"
    if accepting := accepting_loss(grammar):
        repair += f", or {accepting}"
    prefix, loop = lookahead.prefix, lookahead.loop
    if not grammar.options.use_bytes:
        prefix, loop = turned(prefix, loop)
    index = _ignored(grammar, prefix) if lookahead.terminal is None else lookahead.terminal
    terminal, name = grammar.terminals[index], grammar.describe_symbol(index)
    others = _read_on(grammar, prefix + 2 * loop, lookahead.terminal)
    longer = f"lexeme ({listed(others, _FEW)})" if others else "lexeme"
    lines = [
        f"In {quote(prefix)} {name} has matched, but a longer {longer} may still come of it.",
        f"However often {quote(loop)} follows, it stays open which of the two it is.",
    ]
    if commit:
        lines.append(
            f"The longer one is taken to be meant. Lost are the texts in which {name} ends there and what "
            "follows reads like more of the longer lexeme, which never ends."
        )
    return Finding(
        id="PDA006",
        level=level,
        title=f"{TITLES['PDA006']} after {name}",
        message="\n".join(lines),
        span=terminal.span,
        symbols=(terminal.name,),
        witness=Witness(text=prefix, loop=loop),
        repair=None if commit else f"{repair}.",
    )


def _read_on(grammar: GrammarData, text: bytes, but: int | None) -> list[str]:
    """The terminals that a text can be the beginning of, unless it is the one that has matched."""
    found = []
    for index, terminal in enumerate(grammar.terminals):
        if terminal.pattern is None or index == but:
            continue
        program = compile_terminal(grammar, terminal)
        run = Run(program)
        if any(run.reads_on(text, entry) for entry in range(len(program.entries))):
            found.append(grammar.describe_symbol(index))
    return found


def _ignored(grammar: GrammarData, text: bytes) -> int:
    """The ignored terminal that a text begins with: the one that matches most of it."""

    def matched(index: int) -> int:
        return Runner(compile_terminal(grammar, grammar.terminals[index])).match_end(text) or 0

    return max(sorted(grammar.ignore), key=matched)
