"""How much of a text may come next: the longest beginning of it that a matcher accepts."""

from __future__ import annotations

from collections.abc import Callable


def accept_most(accept: Callable[[bytes], bool], text: bytes) -> int:
    """Accept the longest beginning of a text that can be; how many bytes it has. Cost: twice that of the text.

    ``accept`` goes on with some bytes, or refuses them and stays where it is: a matcher's ``accept_bytes``, or its
    ``_accept_spelled`` where a text may have the spellings of labels.
    """
    if accept(text):
        return len(text)
    accepted, refused = 0, len(text)
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        if accept(text[accepted:middle]):
            accepted = middle
        else:
            refused = middle
    return accepted
