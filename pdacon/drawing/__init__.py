"""The drawing room: a grammar and what is made of it -> pictures, as SVG text.

In: a Grammar, its tables, its lexer. Out: one SVG a picture, complete in itself: the automaton of a terminal. What is
in a picture is a `Graph` first (`terminal_graph`), which knows nothing of places and pixels.

It does not know tokens, constraints or files. It needs ``pip install 'pdacon[draw]'``: graphlay places the nodes,
no other program is run. The same grammar gives the same bytes.
"""

from pdacon.drawing.graph import Edge, Graph, Node, Row
from pdacon.drawing.terminals import draw_terminal, terminal_graph

__all__ = ["Edge", "Graph", "Node", "Row", "draw_terminal", "terminal_graph"]
