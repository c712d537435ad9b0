"""How long the generation may get that a logits processor serves, which ``generate`` tells its processors nowhere."""

from __future__ import annotations

import inspect

from pdacon.errors import MatcherError

_GENERATE = "transformers.generation.utils"


def last_column() -> int:
    """The column before which the ``model.generate`` that is under way stops, as its prepared configuration says.

    It is a variable of the calls that are under way. Of several, as in assisted generation, the outermost counts: the
    assistant's own ends with each draft.

    Raises
    ------
    MatcherError
        None is under way, or it says nothing.
    """
    frame, found = inspect.currentframe(), None
    while frame is not None:
        if frame.f_globals.get("__name__") == _GENERATE:
            config = frame.f_locals.get("generation_config")
            found = getattr(config, "max_length", None) or found
        frame = frame.f_back
    if found is None:
        raise MatcherError("max_tokens='generation' asks model.generate for its length, and none calls: give a number")
    return int(found)
