"""The sentences that are known of a grammar, and what they say of masks."""

from __future__ import annotations

from random import Random

from fuzz.case import Case
from fuzz.finds import Found


class World:
    """Some sentences of a start, and what a vocabulary can spell of them.

    ``viable`` has every prefix of a sentence after which tokens can spell the rest, with that sentence.
    """

    def __init__(self, case: Case, sentences: list[bytes]) -> None:
        ends = set(case.eos)
        self.case = case
        self.sentences = sentences
        self.tokens = [(id, token) for id, token in enumerate(case.tokens) if token and id not in ends]
        self.texts = {token for _, token in self.tokens}
        self.lengths = sorted({len(token) for token in self.texts})
        self.viable: dict[bytes, bytes] = {}
        for sentence in sentences:
            good = self.good(sentence)
            for place in range(len(sentence) + 1):
                if good[place]:
                    self.viable.setdefault(sentence[:place], sentence)

    def good(self, text: bytes) -> list[bool]:
        """From which places the rest of a text can be spelt."""
        good = [False] * len(text) + [True]
        for place in range(len(text) - 1, -1, -1):
            good[place] = any(
                place + length <= len(text) and good[place + length] and text[place : place + length] in self.texts
                for length in self.lengths
            )
        return good

    def reachable(self, text: bytes, place: int) -> bool:
        return self.good(text)[place]

    def spelling(self, rng: Random, text: bytes) -> list[int] | None:
        """Random tokens that spell a text, None if none do."""
        good = self.good(text)
        if not good[0]:
            return None
        place, ids = 0, []
        while place < len(text):
            steps = [
                (id, len(token))
                for id, token in self.tokens
                if text.startswith(token, place) and good[place + len(token)]
            ]
            id, length = rng.choice(steps)
            ids.append(id)
            place += length
        return ids

    def sentences_from(self, text: bytes) -> list[bytes]:
        """The sentences that go on from a text, and whose rest can be spelt."""
        return [sentence for sentence in self.sentences if sentence.startswith(text) and self.good(sentence)[len(text)]]

    def check_shortest(self, text: bytes, completion: bytes, where: dict[str, object]) -> None:
        """No sentence that is known is shorter, or as short and less."""
        if self.case.indenter is not None or self.case.options.get("lookahead") == "commit":
            return
        sentence = self.viable.get(text)
        if sentence is None:
            return
        for sentence in self.sentences_from(text):
            rest = sentence[len(text) :]
            if (len(rest), rest) < (len(completion), completion):
                raise Found(
                    "completion", "not the shortest, or not the least", **where, completion=completion, shorter=rest
                )
