"""A terminal, or several that compete -> the graph of their automaton.

In: a grammar and the names of terminals. Out: a `Graph` of the automaton that `automaton` makes of their programs: a
state is between two characters, an edge is a set of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import numpy
from numpy.typing import NDArray

from pdacon.base.graphs import reachable
from pdacon.drawing.automaton import ALL_BYTES, CharacterAutomaton, CharacterState, character_automaton
from pdacon.drawing.captions import WIDEST, is_made, suggestion, whole_pattern, wrapped
from pdacon.drawing.character_words import describe_set
from pdacon.drawing.contexts import compete, keyword_lines
from pdacon.drawing.graph import Edge, Graph, Node, Row
from pdacon.drawing.rendering import render
from pdacon.errors import DrawingError
from pdacon.grammar import GrammarData
from pdacon.lexer import compile_terminal
from pdacon.regular.characters import ANY
from pdacon.regular.ordered.unicode_sets import runs
from pdacon.regular.ordered.utf8 import Ranges

MOST_STATES = 40
_EDGES = 2.5  # a state, on the average; in a picture with more they cannot be followed
_WIDEST_LEGEND = 110  # characters of a line above the picture


def draw_terminal(grammar: GrammarData, *names: str, most: int = MOST_STATES) -> str:
    """The automaton of a terminal as SVG: which texts it matches, and where it stops. Of several: which of them wins.

    Several terminals are read as Lark's lexer does where each of them may come, and nothing else: the first in its
    order that matches, and a keyword where it is the whole lexeme of a regex.

    Parameters
    ----------
    grammar : GrammarData
        The grammar that has the terminals.
    *names : str
        The terminals' names, or the literals that stand for them in the rules.
    most : int
        Most states that are drawn; of a larger automaton those next to the start are. There are fewer where more than
        two and a half edges a state would be drawn.

    Raises
    ------
    DrawingError
        There is no such terminal, or it has no pattern.
    UnsupportedGrammarError
        Its pattern has something that pdacon does not support.

    Notes
    -----
    Cost: see `character_automaton`; the layout of 40 states takes some 10 ms.
    """
    return render(terminal_graph(grammar, *names, most=most))


def terminal_graph(grammar: GrammarData, *names: str, most: int = MOST_STATES) -> Graph:
    """What `draw_terminal` draws."""
    chosen = list(dict.fromkeys(find_terminal(grammar, name) for name in names))
    if not chosen:
        raise DrawingError("which terminal is to be drawn? give its name")
    order, keywords = compete(grammar, chosen)
    automaton = character_automaton(
        [compile_terminal(grammar, grammar.terminals[k]) for k in chosen],
        order,
        keywords,
        use_bytes=grammar.options.use_bytes,
    )
    shown = _nearest(automaton, most)
    label = partial(describe_set, whole=ALL_BYTES if grammar.options.use_bytes else ANY)
    titles = [grammar.describe_symbol(k) for k in chosen]
    entries = list(_entries(automaton, shown))
    title, legend = ", ".join(titles), list(_legend(automaton, shown))
    if len(chosen) > 1:
        legend += wrapped("Tried in this order:", [titles[k] for k in order])
        legend += keyword_lines(grammar, {chosen[k]: tuple(chosen[i] for i in names) for k, names in keywords.items()})
    elif not grammar.terminals[chosen[0]].literal:
        written = whole_pattern(grammar, grammar.terminals[chosen[0]])
        if len(written) <= WIDEST:
            title = f"{title}: {written}"
        else:
            legend[:0] = [written[k : k + _WIDEST_LEGEND] for k in range(0, len(written), _WIDEST_LEGEND)]
    return Graph(
        title=title,
        description=f"The automaton of {', '.join(titles)}: {_count(automaton)}.",
        nodes=(*(node for node, _ in entries), *_nodes(automaton, shown, titles if len(chosen) > 1 else None)),
        edges=(*(edge for _, edge in entries), *_edges(automaton, shown, label)),
        legend=tuple(legend),
    )


def find_terminal(grammar: GrammarData, name: str) -> int:
    """The id of the terminal of that name, or of that literal in the rules; it has a pattern."""
    found = [
        k for k, one in enumerate(grammar.terminals) if name in (one.name, one.literal) or f"({name})" == one.literal
    ]
    # A literal without its quotation marks, which a shell takes away.
    found += [
        k
        for k, terminal in enumerate(grammar.terminals)
        if terminal.pattern is not None and terminal.pattern.kind == "str" and name == terminal.pattern.value
    ]
    if not found:
        known = [text for t in grammar.terminals for text in (t.name, t.literal) if text]
        raise DrawingError(f"no terminal {name}; {suggestion(name, known)}")
    if grammar.terminals[found[0]].pattern is None:
        why = "a postlexer makes it" if is_made(grammar, found[0]) else "no text is in it"
        raise DrawingError(f"terminal {name} has no pattern: {why}")
    return found[0]


def _count(automaton: CharacterAutomaton) -> str:
    if not automaton.complete:
        return f"more states than the {sum(state.explored for state in automaton.states):,} that were looked at"
    count = len(automaton.states)
    return f"{count:,} state{'s' if count > 1 else ''}"


def _nearest(automaton: CharacterAutomaton, most: int) -> list[int]:
    """The states that are next to an entry, breadth first."""
    following = [[target for _, target in state.edges] for state in automaton.states]
    shown = list(islice(reachable(automaton.entries, following.__getitem__), most))
    while len(shown) > 1 and _drawn_edges(automaton, set(shown)) > _EDGES * most:
        shown.pop()
    return sorted(shown)


def _drawn_edges(automaton: CharacterAutomaton, shown: set[int]) -> int:
    """How many edges a picture of these states has: what leads out of them is one for each."""
    targets = ([target for _, target in automaton.states[k].edges] for k in shown)
    return sum(sum(t in shown for t in each) + any(t not in shown for t in each) for each in targets)


def _nodes(automaton: CharacterAutomaton, shown: list[int], titles: list[str] | None) -> Iterator[Node]:
    for k in shown:
        state = automaton.states[k]
        signs = _signs(state, titles)
        yield Node(
            id=str(k),
            rows=(Row(str(k), "head"), *(Row(sign, "faint") for sign in signs)),
            shape="box" if signs else "circle",
            accepting=state.accepts is not None or state.accepts_at_end is not None,
            start=k in automaton.entries,
            description=_describe(k, state, k in automaton.entries),
        )
    missing = len(automaton.states) - len(shown)
    if missing:
        text = f"{missing:,} more states" if automaton.complete else "many more states"
        yield Node("more", (Row(text, "faint"),), "more", description=text)


def _signs(state: CharacterState, titles: list[str] | None = None) -> list[str]:
    """What is to be said of a match in the box; with several terminals, whose it is."""
    signs = []
    if state.accepts is not None:
        which, back = state.accepts
        words = [titles[which]] if titles else []
        signs.append(" ".join([*words, *([f"ends {back} before"] if back else [])]))
    if state.accepts_at_end is not None:
        which, back = state.accepts_at_end
        words = [titles[which]] if titles else []
        signs.append(" ".join([*words, f"at the end{f', {back} before' if back else ''}"]))
    return [sign for sign in signs if sign]


def _describe(number: int, state: CharacterState, start: bool) -> str:
    accepts = ", accepting" if state.accepts else ", accepting at the end" if state.accepts_at_end else ""
    return f"state {number}{', start' if start else ''}{accepts}"


def _edges(automaton: CharacterAutomaton, shown: list[int], label: Callable[[Ranges], str]) -> Iterator[Edge]:
    visible = set(shown)
    for k in shown:
        beyond = False
        for characters, target in automaton.states[k].edges:
            if target in visible:
                yield Edge(str(k), str(target), tuple(_lines(label(characters))))
            beyond = beyond or target not in visible
        if beyond or not automaton.states[k].explored:
            yield Edge(str(k), "more")


def _lines(label: str, widest: int = 26) -> Iterator[str]:
    """The label in lines, broken between its items."""
    line = ""
    for word in label.split(" "):
        if line and len(line) + len(word) >= widest:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _entries(automaton: CharacterAutomaton, shown: list[int]) -> Iterator[tuple[Node, Edge]]:
    """Arrows from nowhere; where the text before the lexeme matters, with what it is."""
    behind: dict[int, list[int]] = {}
    for k, entry in enumerate(automaton.entries):
        behind.setdefault(entry, []).append(k)
    for entry, places in behind.items():
        if entry in shown:
            label = () if len(behind) == 1 else tuple(_lines(_what_is_behind(automaton.behind, places)))
            yield Node(f"entry-{entry}", (), "entry"), Edge(f"entry-{entry}", str(entry), label)


def _what_is_behind(behind: NDArray[numpy.int32], places: list[int]) -> str:
    """Which characters, read last, can leave the look-behind automaton in one of these states."""
    into = [{int(target) for target in behind[:, byte]} for byte in range(128)]
    last = [byte for byte, targets in enumerate(into) if targets.intersection(places)]
    words = ["the start"] if 0 in places else []
    if last:
        words.append(describe_set(runs(last)))
    other = {int(target) for target in behind[:, 128:].reshape(-1)}
    if other.intersection(places):
        words.append("beyond ASCII")
    return "after " + " or ".join(words or ["nothing that can be"])


def _legend(automaton: CharacterAutomaton, shown: list[int]) -> Iterator[str]:
    states = [automaton.states[k] for k in shown]
    yield "The match ends at the last double border on the way."
    if any(state.accepts is not None and state.accepts[1] for state in states):
        yield '"ends N before": the last N characters were looked at only, and belong to what follows.'
    if any(state.accepts_at_end is not None for state in states):
        yield '"at the end": a match if the whole text ends there.'
    if len(shown) < len(automaton.states):
        yield f"Shown are the {len(shown)} states next to the start; it has {_count(automaton)}."
