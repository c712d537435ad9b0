"""The matcher of each row of a batch, found by what the row contains and not by how often it was seen.

``generate`` calls a processor with the ids of every row so far. Sampling makes each row one id longer; beam search lets
rows change places and copies them; assisted decoding takes ids back. All of them come to the same: the new row shares
a prefix with a row of the call before, whose matcher is forked, rolled back to the prefix, and given the rest.

Knows nothing of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pdacon.detokenizer import Vocabulary
from pdacon.errors import MatcherError
from pdacon.matching import Matcher


class Row:
    """One row: the ids generated so far, and the matcher that has accepted them.

    Parameters
    ----------
    matcher : Matcher
        A matcher at the beginning of what is generated; the row owns it.
    vocabulary : Vocabulary
        What the ids mean.
    pad_id : int or None
        What is written into rows that have stopped.

    Attributes
    ----------
    ids : list of int
        The ids seen so far.
    opening : int
        How many of them, from the first, are not text and come before it, such as a forced begin token.
    accepted : int
        How many after the opening the matcher has accepted: all, unless the row stopped or went astray.
    stopped : bool
        Padding was seen, after an end token or (where something else than the constraint stopped the row) without
        one. What follows is padding too, and no longer the constraint's business.
    refusal : MatcherError or None
        The row went astray: an id was not allowed where it stands. What follows means nothing.
    """

    __slots__ = ("_known", "accepted", "ids", "matcher", "opening", "pad_id", "refusal", "stopped", "vocabulary")

    def __init__(self, matcher: Matcher, vocabulary: Vocabulary, pad_id: int | None) -> None:
        self.matcher = matcher
        self.vocabulary = vocabulary
        self._known = range(vocabulary.size)
        self.pad_id = pad_id
        self.ids: list[int] = []
        self.opening = 0
        self.accepted = 0
        self.stopped = False
        self.refusal: MatcherError | None = None

    @property
    def over(self) -> bool:
        """Whether nothing can come any more but end tokens and padding."""
        return self.stopped or self.matcher.is_terminated()

    @property
    def takes_tokens(self) -> bool:
        """Whether what comes is for the matcher."""
        return not self.stopped and self.refusal is None

    def opens_with(self, token: int) -> bool:
        """Whether a token may stand before the text that has not begun yet: it has no text and ends nothing."""
        return (
            not (self.accepted or self.over or self.refusal)
            and token in self._known
            and not self.vocabulary.tokens[token]
            and token not in self.vocabulary.eos_ids
        )

    def extend(self, ids: Iterable[int], index: int) -> None:
        """Follow the row, which is the one at `index` in the batch, over the given ids."""
        for token in ids:
            if not (self.stopped or self.refusal):
                if token in self._known and self.matcher.accept_token(token):
                    self.accepted += 1
                elif token == self.pad_id or self.matcher.is_terminated():
                    self.stopped = True
                elif self.opens_with(token):
                    self.opening += 1
                else:
                    self.refusal = self._refusal(token, index)
            self.ids.append(token)

    def follow(self, ids: list[int]) -> None:
        """Follow the row over ids that its matcher has taken already."""
        self.ids += ids
        self.accepted += len(ids)

    def _refusal(self, token: int, index: int) -> MatcherError:
        size = self.vocabulary.size
        if not 0 <= token < size:
            return MatcherError(
                f"row {index}: id {token} is not one of the {size} tokens of the constraint's vocabulary"
            )
        before = self.vocabulary.decode(self.ids)
        shown = before if len(before) <= 40 else b"..." + before[-40:]
        text = self.vocabulary.tokens[token]
        what = "an end token" if token in self.vocabulary.eos_ids else "no text" if text is None else f"{text!r}"
        generated = f"{len(self.ids)} generated token{'' if len(self.ids) == 1 else 's'}"
        advice = "in beam search, give num_beams to the PDALogitsProcessor"
        if self.pad_id is None and text is None and token not in self.vocabulary.eos_ids:
            advice = f"if it pads a row that stop_strings, say, has ended, give pad_token_id={token}; {advice}"
        return MatcherError(
            f"row {index}: token {token} ({what}) is not allowed after {generated}, which spell "
            f"{shown!r}; something else than this processor chose it; {advice}"
        )

    def fork(self, length: int) -> Row:
        """Return a copy of the row as it was after its first `length` ids."""
        copy = Row(self.matcher.fork(), self.vocabulary, self.pad_id)
        copy.ids = self.ids[:length]
        copy.opening = min(self.opening, length)
        copy.accepted = min(self.accepted, length - copy.opening)
        if length > self.opening + self.accepted:
            copy.stopped, copy.refusal = self.stopped, self.refusal
        if self.accepted > copy.accepted:
            copy.matcher.rollback(self.accepted - copy.accepted)
        return copy


class FreeRow(Row):
    """A row that nothing constrains: whatever comes is followed, and nothing is ever over."""

    __slots__ = ()

    def __init__(self) -> None:
        self.ids = []
        self.opening = self.accepted = 0
        self.stopped, self.refusal = False, None

    @property
    def over(self) -> bool:
        return False

    @property
    def takes_tokens(self) -> bool:
        return False

    def opens_with(self, token: int) -> bool:
        return False

    def extend(self, ids: Iterable[int], index: int) -> None:
        self.ids.extend(ids)

    def fork(self, length: int) -> FreeRow:
        copy = FreeRow()
        copy.ids = self.ids[:length]
        return copy


def follow(
    rows: Sequence[Row], contents: Sequence[list[int]], new_row: Callable[[int], Row], origins: int
) -> list[Row]:
    """Return one row for each content, made from the one of `rows` that shares most with it.

    ``rows``: the rows of the call before; they stay as they are. ``contents``: the generated ids of every row now.
    ``new_row``: makes a row that has seen nothing, for the row at an index. ``origins``: rows come in this many equal
    parts, one after the other, and are only made from rows of their own part.
    Cost: one look-up for each row that continues another; for one that was taken back, a comparison with each
    row of its part. One fork, and what had to be taken back or accepted.
    """
    followed = []
    before, now = len(rows) // origins, len(contents) // origins
    for origin in range(origins):
        part = rows[origin * before : (origin + 1) * before]
        by_ids = {tuple(row.ids): row for row in part}
        for index in range(origin * now, (origin + 1) * now):
            content = contents[index]
            shared, parent = _closest(part, by_ids, content)
            row = new_row(index) if parent is None else parent.fork(shared)
            row.extend(content[shared:], index)
            followed.append(row)
    return followed


def _closest(part: Sequence[Row], by_ids: dict[tuple[int, ...], Row], content: list[int]) -> tuple[int, Row | None]:
    """Return the row that shares the longest prefix with the content, and its length; None if none shares any."""
    parent = by_ids.get(tuple(content[:-1]))
    if parent is not None and parent.ids:
        return len(parent.ids), parent
    best: tuple[int, Row | None] = (0, None)
    for row in part:
        shared = common_prefix(row.ids, content)
        if shared > best[0]:
            best = shared, row
    return best


def common_prefix(a: list[int], b: list[int]) -> int:
    """Return the length of the longest common prefix: O(n) comparisons of slices, not a loop over ids."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:  # the prefixes of length `low` are equal, those of length `high` are not
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
