"""Boolean functions as reduced ordered decision diagrams: equal functions are one number.

In: variables, which are small numbers, and the usual connectives. Out: nodes, which are numbers too. A node asks one
variable and goes on with one of two nodes; the variables on a path ascend, no node has two equal successors, and no two
nodes are alike, so that two formulas say the same exactly if they are the same node.

Source: R. Bryant, "Graph-Based Algorithms for Boolean Function Manipulation", IEEE Transactions on Computers C-35(8),
1986, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

FALSE, TRUE = 0, 1
"""The nodes of the two constants."""

_MOST_NODES = 500_000  # some 100 MB

_LAST = 1 << 60  # the variable of the constants: behind all others


class TooManyStates(Exception):
    """A formula would have more nodes, or an automaton more states, than allowed."""


class Formulas:
    """The nodes made so far; a node means something only together with the `Formulas` that made it.

    Cost: an operation on two formulas takes at most the product of their nodes, and is remembered. Whatever makes a
    node can raise `TooManyStates`.
    """

    def __init__(self) -> None:
        self._nodes: list[tuple[int, int, int]] = [(_LAST, FALSE, FALSE), (_LAST, TRUE, TRUE)]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._known: dict[tuple[int, int, int], int] = {}

    def variable(self, variable: int) -> int:
        """The formula that is true exactly if a variable is."""
        return self._node(variable, TRUE, FALSE)

    def negation(self, formula: int) -> int:
        """The formula that is true exactly if this one is not."""
        return self.choice(formula, FALSE, TRUE)

    def conjunction(self, *formulas: int) -> int:
        """All of them; true if there are none."""
        result = TRUE
        for formula in formulas:
            result = self.choice(formula, result, FALSE)
        return result

    def disjunction(self, *formulas: int) -> int:
        """Any of them; false if there are none."""
        result = FALSE
        for formula in formulas:
            result = self.choice(formula, TRUE, result)
        return result

    def exactly_one(self, formulas: Iterable[int]) -> int:
        """One of them, and no other."""
        none, one = TRUE, FALSE
        for formula in formulas:
            one = self.choice(formula, none, one)
            none = self.choice(formula, FALSE, none)
        return one

    def choice(self, condition: int, then: int, otherwise: int) -> int:
        """``then`` where the condition holds, else ``otherwise``."""
        if condition == TRUE or then == otherwise:
            return then
        if condition == FALSE:
            return otherwise
        if then == TRUE and otherwise == FALSE:
            return condition
        key = condition, then, otherwise
        result = self._known.get(key)
        if result is None:
            nodes = self._nodes
            a, b, c = nodes[condition], nodes[then], nodes[otherwise]
            top = min(a[0], b[0], c[0])
            result = self._node(
                top,
                self.choice(
                    a[1] if a[0] == top else condition,
                    b[1] if b[0] == top else then,
                    c[1] if c[0] == top else otherwise,
                ),
                self.choice(
                    a[2] if a[0] == top else condition,
                    b[2] if b[0] == top else then,
                    c[2] if c[0] == top else otherwise,
                ),
            )
            self._known[key] = result
        return result

    def substituted(self, formula: int, meaning: Callable[[int], int], done: dict[int, int] | None = None) -> int:
        """The formula with a formula in place of each variable.

        Parameters
        ----------
        meaning : callable
            The formula of a variable; called once for each.
        done : dict, optional
            What was substituted before, with the same meaning; it grows.
        """
        done = {} if done is None else done
        if formula <= TRUE:
            return formula
        result = done.get(formula)
        if result is None:
            variable, then, otherwise = self._nodes[formula]
            result = self.choice(
                meaning(variable), self.substituted(then, meaning, done), self.substituted(otherwise, meaning, done)
            )
            done[formula] = result
        return result

    def restricted(self, formula: int, variable: int, value: bool) -> int:
        """The formula where a variable has a value."""
        constant = TRUE if value else FALSE
        return self.substituted(formula, lambda one: constant if one == variable else self.variable(one))

    def evaluated(self, formula: int, value: Callable[[int], bool]) -> bool:
        """Whether the formula holds, given the values of its variables; each is asked at most once."""
        while formula > TRUE:
            variable, then, otherwise = self._nodes[formula]
            formula = then if value(variable) else otherwise
        return formula == TRUE

    def support(self, *formulas: int) -> list[int]:
        """The variables that the formulas depend on, ascending."""
        seen: set[int] = set()
        variables: set[int] = set()
        pending = list(formulas)
        while pending:
            formula = pending.pop()
            if formula > TRUE and formula not in seen:
                seen.add(formula)
                variable, then, otherwise = self._nodes[formula]
                variables.add(variable)
                pending += (then, otherwise)
        return sorted(variables)

    def alternatives(self, formula: int) -> list[int] | None:
        """The variables of which the formula says that one holds, -1 for what always does; None if it says more."""
        found: list[int] = []
        while formula != FALSE:
            variable, then, formula = (-1, TRUE, FALSE) if formula == TRUE else self._nodes[formula]
            if then != TRUE:
                return None
            found.append(variable)
        return found

    def implies(self, formula: int, other: int) -> bool:
        """Whether the other one holds wherever this one does."""
        return self.choice(formula, other, TRUE) == TRUE

    def _node(self, variable: int, then: int, otherwise: int) -> int:
        if then == otherwise:
            return then
        key = variable, then, otherwise
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._nodes)
            if number > _MOST_NODES:
                raise TooManyStates
            self._nodes.append(key)
        return number
