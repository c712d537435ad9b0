"""Patterns of Python's ``re`` -> automata over bytes whose threads are in the order in which backtracking tries them.

In: patterns and flags. Out: a `Program`, which matches what ``re`` matches. It knows no terminals and no lexer.

Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009); CPython's ``_sre``.
"""

from pdacon.regular.ordered.patterns import ANY_SIZE, compile_pattern, compile_whole, compile_with_sets
from pdacon.regular.ordered.program import Program
from pdacon.regular.ordered.running import Runner
from pdacon.regular.ordered.sre import is_lazy

__all__ = ["ANY_SIZE", "Program", "Runner", "compile_pattern", "compile_whole", "compile_with_sets", "is_lazy"]
