"""The matching room: a position in a text, moved token by token.

In: a token-level PDA (composition). Out: `Matcher`: mask, accept, rollback, fork. The only mutable thing in pdacon.

It is native from end to end, because it is what runs between two steps of a model. It knows no grammar, no
tokenizer and no framework.
"""

from pdacon._native import _core

Matcher = _core.Matcher

__all__ = ["Matcher"]
