"""Regular languages: sets of strings as values, and what the patterns of ``re`` match.

In: patterns as ECMA-262 or Python write them, sets of characters, words. Out: deterministic automata over code points,
made from any Boolean combination of them (`RegularSet`); and ordered automata over bytes, with the match that a
backtracking matcher finds (``ordered``). It knows nothing of tokens, grammars or lexers.

Source: for automata whose transitions are Boolean formulas, A. Chandra, D. Kozen and L. Stockmeyer, "Alternation",
Journal of the ACM 28(1), 1981; for decision diagrams, R. Bryant, "Graph-Based Algorithms for Boolean Function
Manipulation", IEEE Transactions on Computers C-35(8), 1986.
"""

from pdacon.regular.automata import Dfa, combined, longer_than
from pdacon.regular.characters import ANY, Ranges, character_class
from pdacon.regular.ecma import PatternError, parse_pattern
from pdacon.regular.formulas import FALSE, TRUE, Formulas, Substitution
from pdacon.regular.languages import Languages
from pdacon.regular.regular_set import RegularSet

__all__ = [
    "ANY",
    "FALSE",
    "TRUE",
    "Dfa",
    "Formulas",
    "Languages",
    "PatternError",
    "Ranges",
    "RegularSet",
    "Substitution",
    "character_class",
    "combined",
    "longer_than",
    "parse_pattern",
]
