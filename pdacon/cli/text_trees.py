"""``pdacon parse``: the tree that Lark makes of a text."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from pdacon import Constraint
from pdacon.cli.display import printable
from pdacon.cli.explaining import show_explanation
from pdacon.cli.failures import BadInput
from pdacon.grammar.tree_records import tree_reader

if TYPE_CHECKING:
    from pdacon.grammar.tree_records import Tree


def show_tree(constraint: Constraint, text: bytes, source: str, *, all_tokens: bool, json_format: bool) -> int:
    """Print the tree; of what is no sentence why it is none, with status 1."""
    if not constraint.accepts(text):
        return show_explanation(
            constraint, text, None, None, whole=True, full=False, uncut=False, json_format=False, source=source
        )
    tree = tree_of(constraint, text, all_tokens=all_tokens)
    shown = json.dumps(tree.to_dict(), ensure_ascii=False) if json_format else printable(tree.render())
    sys.stdout.write(f"{shown}\n")
    return 0


def tree_of(constraint: Constraint, text: bytes, *, all_tokens: bool = False) -> Tree:
    """The tree of a sentence."""
    try:
        return tree_reader(constraint.grammar.data, all_tokens=all_tokens)(text.decode(), None)
    except RecursionError as error:
        raise BadInput("the text is nested too deeply for Lark") from error
