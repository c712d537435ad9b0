"""Lexical contexts as graphs: which terminals Lark's lexer looks for in which LR states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pdacon.drawing.captions import grammar_name, numbers, pattern, shortened, wrapped
from pdacon.drawing.graph import Graph, Node, Row
from pdacon.drawing.rendering import render
from pdacon.errors import DrawingError
from pdacon.grammar import GrammarData, Nonterminal, Production
from pdacon.lalr import Tables, build_tables
from pdacon.pda import Machine

_WAYS = 6  # states to which a way is shown


@dataclass(frozen=True, slots=True)
class Contexts:
    """The distinct contexts of a grammar, in the order of the first states that have them."""

    terminals: tuple[tuple[int, ...], ...]  # For each context its terminals, in the order in which they are tried
    keywords: tuple[dict[int, tuple[int, ...]], ...]  # For each context the strings that a regex renames itself to
    of_state: tuple[int, ...]  # The context of each LR state


def find_contexts(grammar: GrammarData, tables: Tables) -> Contexts:
    """The contexts of a grammar.

    Raises UnsupportedGrammarError: a terminal's pattern is not supported.
    """
    machine = Machine(grammar, tables)
    ids: dict[tuple[int, ...], int] = {}
    of_state = tuple(
        ids.setdefault(context.terminals, len(ids)) for context in map(machine.context, range(len(tables.action)))
    )
    first = {number: machine.context(state) for state, number in reversed(list(enumerate(of_state)))}
    found = [first[number] for number in range(len(ids))]
    return Contexts(tuple(c.terminals for c in found), tuple(c.keywords for c in found), of_state)


def compete(grammar: GrammarData, terminals: Sequence[int]) -> tuple[tuple[int, ...], dict[int, tuple[int, ...]]]:
    """How Lark's lexer decides between terminals where all of them, and no others, may come.

    Returns: indices into ``terminals``, in the order in which they are tried. By a regex's index those of its keywords.
    """
    chosen = len(terminals)
    # A piece at the border of an embedded grammar has the place of an ignored terminal, which has to be there.
    whole = [grammar.border_pieces[k] for k in terminals if k in grammar.border_pieces]
    there = list(dict.fromkeys((*terminals, *whole)))
    end = len(there)
    alone = replace(
        grammar,
        terminals=tuple(grammar.terminals[k] for k in there),
        nonterminals=(Nonterminal("start", None),),
        productions=tuple(Production(end + 1, (k,), 0, "start", None, k, None) for k in range(chosen)),
        ignore=frozenset(map(there.index, whole)),
        islands=(),
        starts=(end + 1,),
        options=replace(grammar.options, start=("start",), lexer="contextual", postlex=None),
        layout=None,
    )
    tables = build_tables(alone)
    context = Machine(alone, tables).context(tables.start_states[0])
    order = tuple(k for k in context.terminals if k < chosen)
    return order, {k: names for k, names in context.keywords.items() if k < chosen}


def draw_context(grammar: GrammarData, tables: Tables, number: int) -> str:
    """A lexical context as SVG: its terminals in the order in which Lark tries them, and where it applies.

    Raises
    ------
    DrawingError
        There is no such context.
    UnsupportedGrammarError
        A terminal's pattern is not supported.
    """
    return render(context_graph(grammar, tables, number))


def context_graph(grammar: GrammarData, tables: Tables, number: int) -> Graph:
    """What `draw_context` draws."""
    contexts = find_contexts(grammar, tables)
    if not 0 <= number < len(contexts.terminals):
        raise DrawingError(f"no context {number}; there are 0 to {len(contexts.terminals) - 1}")
    states = [state for state, context in enumerate(contexts.of_state) if context == number]
    rows = [Row(f"context {number}", "head"), *_order(grammar, contexts.terminals[number])]
    renames = list(keyword_lines(grammar, contexts.keywords[number]))
    rows += [Row("", "line"), *(Row(line, "item") for line in renames)] if renames else []
    rows += [Row("", "line"), *_places(grammar, tables, states)]
    rows = [Row(shortened(row.text), row.style) for row in rows]
    text = f"Lexical context {number}: {len(contexts.terminals[number])} terminals, in {len(states)} LR states."
    return Graph(
        title=f"{grammar_name(grammar)}: lexical context {number} of {len(contexts.terminals)}",
        description=text,
        nodes=(
            Node(f"context-{number}", tuple(Row(shortened(row.text), row.style) for row in rows), description=text),
        ),
        edges=(),
        legend=("The lexer takes the first terminal that matches, in this order.",),
    )


def context_lines(grammar: GrammarData, contexts: Contexts, state: int) -> Iterator[str]:
    number = contexts.of_state[state]
    names = [_named(grammar, terminal) for terminal in contexts.terminals[number]]
    yield from wrapped(f"lexical context {number}: the first that matches of", names)
    yield from keyword_lines(grammar, contexts.keywords[number])


def keyword_lines(grammar: GrammarData, keywords: dict[int, tuple[int, ...]]) -> Iterator[str]:
    """Which lexemes of a regex get the name of a keyword."""
    for regex, strings in keywords.items():
        names = [grammar.describe_symbol(string) for string in strings]
        yield from wrapped(f"A lexeme of {grammar.describe_symbol(regex)} that is a keyword becomes", names)


def _order(grammar: GrammarData, terminals: Sequence[int]) -> list[Row]:
    names = [_named(grammar, terminal) for terminal in terminals]
    width = max(map(len, names), default=0)
    rows = []
    for rank, (terminal, name) in enumerate(zip(terminals, names, strict=True), 1):
        record = grammar.terminals[terminal]
        priority = f"  priority {record.priority}" if record.priority else ""
        written = "" if record.literal else pattern(grammar, record)
        rows.append(Row(f"{rank:>3}  {name:<{width}}  {written}{priority}".rstrip()))
    return rows


def _named(grammar: GrammarData, terminal: int) -> str:
    return grammar.describe_symbol(terminal) + (" (ignored)" if terminal in grammar.ignore else "")


def _places(grammar: GrammarData, tables: Tables, states: Sequence[int]) -> list[Row]:
    from pdacon.determinism.examples import Examples

    examples = Examples(grammar, tables)
    rows = [Row(f"in state{'s' if len(states) > 1 else ''} {numbers(states)}", "faint")]
    for state in states[:_WAYS]:
        prefix = examples.prefix(state)
        if prefix is not None:
            rows.append(Row(f"  {state}: after {' '.join(prefix) or 'nothing'}", "faint"))
    return rows
