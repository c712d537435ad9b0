"""The LALR automaton -> graphs: all of it, what is near a state, and what a state does.

In: a grammar, its tables, perhaps a stack. Out: `Graph`, and the SVG of it. Numbers of states are those of the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from pdacon.base.quoting import head
from pdacon.drawing.captions import grammar_name
from pdacon.drawing.graph import Edge, Graph
from pdacon.drawing.rendering import render
from pdacon.drawing.states import States
from pdacon.errors import DrawingError
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables
from pdacon.pda import Configuration, LexemeReader, Machine

MOST_BOXES = 150
MOST_NEAR = 16


def draw_pda(grammar: GrammarData, tables: Tables, *, stack: Sequence[int] = (), most: int = MOST_BOXES) -> str:
    """The parser as SVG: its LR states with their kernel items, and where each symbol leads.

    A state that only reduces is a line in the boxes of the states that lead to it, not a box of its own.

    Parameters
    ----------
    tables : Tables
        Of the grammar.
    stack : sequence of int, optional
        A parser stack, such as `stack_after` gives: its states and the way through them are marked.
    most : int
        Most boxes.

    Raises
    ------
    DrawingError
        There are more; the message says how to draw a part.
    """
    return render(pda_graph(grammar, tables, stack=stack, most=most))


def draw_state(
    grammar: GrammarData,
    tables: Tables,
    state: int,
    *,
    stack: Sequence[int] = (),
    around: int = 1,
    most: int = MOST_NEAR,
) -> str:
    """An LR state as SVG: its items, what it does on each terminal, and the states around it.

    Parameters
    ----------
    tables : Tables
        Of the grammar.
    state : int
        Its number in the tables.
    stack : sequence of int, optional
        A parser stack with the state on top, such as `stack_after` gives; it is shown.
    around : int
        How many steps away from it the states are that are drawn, forwards and backwards; 0: the state alone.
    most : int
        Most boxes; those further away are left out, and the picture says so.

    Raises
    ------
    DrawingError
        There is no such state.
    """
    return render(state_graph(grammar, tables, state, stack=stack, around=around, most=most))


def pda_graph(grammar: GrammarData, tables: Tables, *, stack: Sequence[int] = (), most: int = MOST_BOXES) -> Graph:
    """What `draw_pda` draws."""
    states = States(grammar, tables)
    boxes = states.boxes
    if len(boxes) > most:
        raise DrawingError(
            f"the {tables.num_states:,} LR states need {len(boxes):,} boxes, and more than {most} are not drawn; draw "
            f"what is near one (--state N --around 2), or all of them (--most {len(boxes)})"
            f"{states.say_where_conflicts_are()}"
        )
    jumps = states.jumps()
    legend = [*(states.stack(stack) if stack else []), *_LEGEND]
    legend += ["Conflicts are red."] if tables.conflicts else []
    if jumps:
        legend.append("A symbol and a number in blue: on to that state, to which many lead, without an edge.")
    return Graph(
        title=f"{grammar_name(grammar)}: the parser's {tables.num_states} LR states",
        description=f"The LALR automaton: {tables.num_states} states, {len(boxes)} of them as boxes.",
        nodes=tuple(replace(states.box(state, jumps), marked=state in stack) for state in boxes),
        edges=tuple(
            replace(edge, marked=_ends(edge) in set(pairwise(stack)))
            for edge in states.edges(dict.fromkeys(boxes, 0), 1)
            if _ends(edge) not in jumps
        ),
        legend=tuple(legend),
        direction="down",
    )


def _ends(edge: Edge) -> tuple[int, int]:
    return int(edge.source), int(edge.target)


def state_graph(
    grammar: GrammarData,
    tables: Tables,
    state: int,
    *,
    stack: Sequence[int] = (),
    around: int = 1,
    most: int = MOST_NEAR,
) -> Graph:
    """What `draw_state` draws."""
    states = States(grammar, tables)
    if not 0 <= state < tables.num_states:
        raise DrawingError(
            f"no state {state}; there are 0 to {tables.num_states - 1}{states.say_where_conflicts_are()}"
        )
    near = states.near(state, around)
    shown = dict(list(near.items())[:most])
    legend = [*(states.stack(stack) if stack else states.way_to(state)), *(_LEGEND[:1] if around else ())]
    if left_out := len(near) - len(shown):
        legend.append(f"Left out: {left_out} more of the states that are so near (--most {len(near)} shows all).")
    return Graph(
        title=f"{grammar_name(grammar)}: LR state {state}",
        description=f"LR state {state}, its actions, and the states up to {around} steps away.",
        nodes=(states.full_box(state), *(states.small_box(other) for other in shown if other != state)),
        edges=tuple(states.edges(shown, max(around, 1))),
        legend=tuple(legend),
        direction="right",
    )


def stack_after(grammar: GrammarData, tables: Tables, text: bytes) -> tuple[int, ...]:
    """The LR states on the parser's stack after a text, the start state first, as far as its lexemes are certain.

    Raises
    ------
    DrawingError
        No text of the grammar begins like that; or one has too many lexemes in a row whose ends are open.
    """
    reader = LexemeReader()
    configuration = reader.read(Configuration.initial(Machine(grammar, tables)), text)
    if configuration is not None:
        return tuple(configuration.stack)
    if reader.forgot:
        raise DrawingError(f"too many lexemes are open at once in {head(text)}; take a shorter text")
    raise DrawingError(f"no text of the grammar begins with {head(text)}; `pdacon explain` says why")


_LEGEND = (
    "Blue: a terminal is shifted. Violet, dashed: a rule has been reduced to this name.",
    "Green: one symbol more, the state after it, and the rule that is complete there.",
)
