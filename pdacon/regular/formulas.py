"""Boolean functions as reduced ordered decision diagrams: equal functions are one number.

In: variables, which are small numbers, and the usual connectives. Out: nodes, which are numbers too. A node asks one
variable and goes on with one of two nodes; two formulas say the same exactly if they are the same node.

Source: R. Bryant, "Graph-Based Algorithms for Boolean Function Manipulation", IEEE Transactions on Computers C-35(8),
1986, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pdacon._native import _core

FALSE, TRUE = 0, 1
"""The nodes of the two constants."""

_MOST_NODES = 500_000  # some 50 MB


class Formulas(_core.Formulas):
    """The nodes made so far; a node means something only together with the `Formulas` that made it.

    The core has ``variable``, ``choice``, ``node``, ``support``, ``alternatives``
    and ``replaced``. Cost: an operation on two
    formulas takes at most the product of their nodes, and is remembered. Whatever makes a node can raise
    LimitExceededError.
    """

    def __init__(self) -> None:
        super().__init__(_MOST_NODES)

    def negation(self, formula: int) -> int:
        """The formula that is true exactly if this one is not."""
        return self.choice(formula, FALSE, TRUE)

    def conjunction(self, *formulas: int) -> int:
        """All of them; true if there are none."""
        result = TRUE
        for formula in reversed(formulas):  # variables come in order, and a node is made in front of those after it
            result = self.choice(formula, result, FALSE)
        return result

    def disjunction(self, *formulas: int) -> int:
        """Any of them; false if there are none."""
        result = FALSE
        for formula in reversed(formulas):
            result = self.choice(formula, TRUE, result)
        return result

    def exactly_one(self, formulas: Sequence[int]) -> int:
        """One of them, and no other."""
        none, one = TRUE, FALSE
        for formula in reversed(formulas):
            one = self.choice(formula, none, one)
            none = self.choice(formula, FALSE, none)
        return one

    def implies(self, formula: int, other: int) -> bool:
        """Whether the other one holds wherever this one does."""
        return self.choice(formula, other, TRUE) == TRUE

    def restricted(self, formula: int, variable: int, value: bool) -> int:
        """The formula where a variable has a value."""
        return self.replaced([formula], [variable], TRUE if value else FALSE)[0]

    def evaluated(self, formula: int, value: Callable[[int], bool]) -> bool:
        """Whether the formula holds, given the values of its variables; each is asked at most once."""
        while formula > TRUE:
            variable, then, otherwise = self.node(formula)
            formula = then if value(variable) else otherwise
        return formula == TRUE


class Substitution:
    """A formula in place of each variable.

    Parameters
    ----------
    formulas : Formulas
    meaning : callable
        The formula of a variable; called once for each.
    """

    __slots__ = ("_meaning", "_native")

    def __init__(self, formulas: Formulas, meaning: Callable[[int], int]) -> None:
        self._native = _core.Substitution(formulas)
        self._meaning = meaning

    def meaning(self, variable: int) -> int:
        """The formula in place of a variable, where it is not known yet."""
        return self._meaning(variable)

    def __call__(self, formula: int) -> int:
        """The formula with that in place of its variables."""
        return formula if formula <= TRUE else self.all([formula])[0]

    def all(self, formulas: Sequence[int]) -> list[int]:
        """The same for several."""
        native = self._native
        for variable in native.missing(formulas):
            native.give(variable, self.meaning(variable))
        return [native.apply(formula) for formula in formulas]
