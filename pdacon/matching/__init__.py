"""Moves a position in a text token by token, and says what may come next and why.

In: token-level PDAs (composition). Out: `Matcher`: mask, accept, rollback, fork, explain, the only mutable thing in
pdacon.

What runs between two steps of a model is native from end to end and knows no grammar, no tokenizer and no framework.
`Explanation` is for people: it asks the executable meaning of the grammar (pda) for reasons, and the native matcher for
the answer.
"""

from pdacon._native import _core
from pdacon.matching.budgets import Budget
from pdacon.matching.drafted_trees import fill_tree_bitmask
from pdacon.matching.explanation import Cut, Explanation
from pdacon.matching.matcher import Matcher

fill_bitmasks = _core.fill_bitmasks
mask_ids = _core.mask_ids

__all__ = ["Budget", "Cut", "Explanation", "Matcher", "fill_bitmasks", "fill_tree_bitmask", "mask_ids"]
