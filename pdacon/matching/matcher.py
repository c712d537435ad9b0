"""`Matcher`: the native one, and what it needs its grammar for."""

from __future__ import annotations

from typing import SupportsIndex

from pdacon._native import _core
from pdacon.matching.explaining import Explainer
from pdacon.matching.explanation import Explanation, tail


class Matcher(_core.Matcher):
    __doc__ = _core.Matcher.__doc__
    __slots__ = ("_explainer",)

    def __init__(self, pda: _core.TokenPda, max_rollback: int, explainer: Explainer) -> None:
        super().__init__(pda, max_rollback)
        self._explainer = explainer

    def fork(self) -> Matcher:
        """An independent matcher at the same position, with the same history. The stack is shared, not copied."""
        twin = Matcher.__new__(Matcher)
        _core.Matcher.__init__(twin, self)
        twin._explainer = self._explainer
        return twin

    def explain(self, token: SupportsIndex | bytes) -> Explanation:
        """Why a token, or some bytes, may or may not come next. Changes nothing.

        Parameters
        ----------
        token : int or bytes
            The id of a token, or text. ``b""`` asks for no more than what is expected here.

        Returns
        -------
        Explanation
            ``.allowed`` is what `is_allowed` says; ``.reason`` is one sentence; ``.render()``, or ``str()``, is some
            lines for people.

        Raises
        ------
        IndexError
            The id is outside the vocabulary.
        MatcherError
            Another thread uses this matcher.

        Notes
        -----
        For people, not for the step of a model: the text so far is read again in plain Python, some microseconds a
        byte, and the first question to a constraint builds its parse tables once more.
        """
        return self._explainer.explain(self, token)

    def __repr__(self) -> str:
        text = self._text()
        state = "terminated" if self.is_terminated() else "accepting" if self.is_accepting() else "in the text"
        return f"<Matcher after {len(text)} bytes ({tail(text)}), {state}>"
