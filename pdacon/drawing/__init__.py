"""Draws a grammar and what is made of it as SVG.

In: `GrammarData`, its tables and lexer, findings of a report, or a JSON Schema. Out: one SVG a picture, complete in
itself: railroad diagrams of the rules, or of the JSON Schema that a grammar was made of, the automaton of a terminal,
the parser, a state and what is around it, a lexical context, the two readings behind a conflict. What is in the picture
of an automaton is a `Graph` first (`terminal_graph` and its like), which knows nothing of places and pixels.

It does not know tokens, constraints or files. It needs ``pip install 'pdacon[draw]'``: graphlay places nodes,
railroad-diagrams draws rules, no other program is run. The same grammar gives the same bytes.
"""

from pdacon.drawing.contexts import context_graph, draw_context
from pdacon.drawing.graph import Edge, Graph, Node, Row
from pdacon.drawing.parser import draw_pda, draw_state, pda_graph, stack_after, state_graph
from pdacon.drawing.readings import draw_conflict, draw_readings
from pdacon.drawing.rules import draw_rules
from pdacon.drawing.schema import draw_schema
from pdacon.drawing.source import draw_source
from pdacon.drawing.terminal_graphs import draw_terminal, terminal_graph

__all__ = [
    "Edge",
    "Graph",
    "Node",
    "Row",
    "context_graph",
    "draw_conflict",
    "draw_context",
    "draw_pda",
    "draw_readings",
    "draw_rules",
    "draw_schema",
    "draw_source",
    "draw_state",
    "draw_terminal",
    "pda_graph",
    "stack_after",
    "state_graph",
    "terminal_graph",
]
