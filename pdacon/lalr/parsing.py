"""Texts that have been cut into lexemes, parsed: which production is reduced over which of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pdacon.grammar.grammar_data import GrammarData
from pdacon.lalr.tables import Tables


def reductions_of(
    grammar: GrammarData, tables: Tables, start: int, terminals: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """The reductions of a sentence in their order: a production, and the lexemes from one to before another one.

    Parameters
    ----------
    grammar : GrammarData
    tables : Tables
        Of the grammar.
    start : int
        Index of the start.
    terminals : sequence of int
        The sentence.

    Raises
    ------
    ValueError
        It is none.
    """
    action, goto = tables.action, tables.goto.rows()
    end_state = dict(zip(tables.start_states, tables.end_states, strict=True))[tables.start_states[start]]
    states, begins = [tables.start_states[start]], [0]
    for at, terminal in enumerate([*terminals, grammar.end]):
        while (step := int(action[states[-1], terminal])) < 0:
            production = grammar.productions[-step - 1]
            count = len(production.rhs)
            begin = begins[len(begins) - count] if count else at
            del states[len(states) - count :], begins[len(begins) - count :]
            yield -step - 1, begin, at
            states.append(goto[states[-1]][production.lhs - grammar.end - 1])
            begins.append(begin)
            if terminal == grammar.end and states[-1] == end_state:
                return
        if not step:
            break
        states.append(step - 1)
        begins.append(at)
    raise ValueError("the terminals are no sentence")
