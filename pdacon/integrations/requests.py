"""What a request to an engine asks for, compiled once."""

from __future__ import annotations

import logging

from pdacon.base.cautions import held
from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.errors import UnsupportedGrammarError
from pdacon.front.caching import CompileCache
from pdacon.front.constraint import Constraint
from pdacon.integrations.formats import Kind, compile_format

logger = logging.getLogger(__name__)

MAX_BYTES = 512 << 10
"""Of the schema or grammar of a request."""


class Compiler:
    """Makes the constraints of the requests of a model; safe to use from any number of threads.

    Parameters
    ----------
    vocabulary : Vocabulary
        Of the model.
    limits : Limits
        Of each.
    directory : str, optional
        Where they are kept for other processes.
    store : str, optional
        Where they are kept for other machines; see `pdacon.CompileCache`.
    """

    def __init__(
        self, vocabulary: Vocabulary, limits: Limits, directory: str | None = None, store: str | None = None
    ) -> None:
        self.vocabulary = vocabulary
        self._limits = limits
        self._cache = CompileCache(directory=directory, store=store)

    def constraint(self, kind: Kind, text: str) -> Constraint:
        """The constraint of a format. What it warns of is logged.

        Raises
        ------
        PdaconError
        """
        if len(text) > MAX_BYTES:
            raise UnsupportedGrammarError(
                f"it has {len(text):,} characters; at most {MAX_BYTES:,} are taken", feature="size"
            )
        with held() as cautions:
            constraint = compile_format(self._cache, kind, text, self.vocabulary, self._limits)
        for message, category in cautions:
            logger.warning("%s: %s: %s", kind, category.__name__, message)
        return constraint
