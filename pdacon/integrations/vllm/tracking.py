"""One answer, as vLLM's scheduler asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.integrations.held import HeldAnswer


class TrackedAnswer(HeldAnswer):
    """What vLLM's ``StructuredOutputGrammar`` does, for one request."""

    def accept_tokens(self, request_id: str, tokens: Sequence[int]) -> bool:
        """Go on with tokens that were chosen; False: not all of them are allowed, and the request has to end."""
        return self.accept(tokens)

    def validate_tokens(self, tokens: Sequence[int]) -> list[int]:
        """The first tokens of a draft that are allowed in turn; nothing changes."""
        return list(tokens[: self.count_valid(_without_padding(tokens))])

    def is_terminated(self) -> bool:
        """Always False: after a True vLLM allows every token, and after an end only an end may follow."""
        return False


def _without_padding(tokens: Sequence[int]) -> Sequence[int]:
    """Tokens before the first -1, with which vLLM fills drafts up."""
    return tokens[: next((place for place, token in enumerate(tokens) if token < 0), len(tokens))]
