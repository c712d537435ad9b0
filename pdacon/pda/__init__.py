"""Defines what the pushdown automaton of a grammar means, in plain Python.

In: `GrammarData` and its LALR tables. Out: `Machine` and `Configuration`, the meaning of a text byte by byte. Tests,
explanations, pictures and searches of the checker use them; the engine that computes masks is native and is compared
with them.

It does not know tokens, and it decides nothing about liveness: see the native core for coaccessibility.
"""

from pdacon.pda.configuration import Configuration
from pdacon.pda.expectation import Expectation, expect
from pdacon.pda.indentation import Margin
from pdacon.pda.lexeme_reader import LexemeReader
from pdacon.pda.machine import Machine
from pdacon.pda.misplacement import MisplacedLine, misplaced_line
from pdacon.pda.reduces import Reduces
from pdacon.pda.refusal import Refusal, refuse
from pdacon.pda.stack import Stack

__all__ = [
    "Configuration",
    "Expectation",
    "LexemeReader",
    "Machine",
    "Margin",
    "MisplacedLine",
    "Reduces",
    "Refusal",
    "Stack",
    "expect",
    "misplaced_line",
    "refuse",
]
