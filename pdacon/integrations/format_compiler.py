"""`FormatCompiler`: what requests ask for -> constraints, each compiled once; the server and the engines have one each.

In: formats, from any number of threads. Out: constraints, or errors. They are compiled in the thread that asks, or in
processes, so that nothing else waits for Python's lock meanwhile; what is read on demand is always made in the thread,
since that takes less than to send it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from pdacon.base.cancelling import CancelEvent
from pdacon.base.cautions import held
from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.errors import CancelledError, UnsupportedGrammarError
from pdacon.front.caching import CompileCache
from pdacon.front.constraint import Constraint
from pdacon.integrations.answer_formats import MAX_BYTES, Format, Kind, digest_of, tokens_in_tags
from pdacon.integrations.json_reading import JsonReading
from pdacon.integrations.workers import Workers

logger = logging.getLogger(__name__)

_MOST_TEXTS = 4096  # of schemas, of which it is remembered what they say


class FormatCompiler:
    """Makes the constraints of the requests to a model; safe to use from any number of threads.

    ``vocabulary``: of the model. ``limits``: of each. ``cache``: where they are kept. ``workers``: processes that
    compile, with the same vocabulary and limits. Default: the thread that asks does. ``reading``: of the JSON Schemas
    of an engine's requests.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        limits: Limits,
        cache: CompileCache | None = None,
        workers: Workers | None = None,
        reading: JsonReading | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.cache = CompileCache() if cache is None else cache
        self._limits = limits
        self._workers = workers
        self._reading = JsonReading() if reading is None else reading
        self._special_tokens = tokens_in_tags(vocabulary)
        self._keys: dict[str, tuple[str, ...]] = {}  # of schemas, by the digests of their texts

    def constraint(self, kind: Kind, text: str) -> Constraint:
        """The constraint of a format, for an engine. What it warns of is logged.

        Cost: some 40 µs for 25 kB that were asked for before.

        Raises PdaconError: it cannot be compiled, or is too long; the message has the place and the reason.
        """
        if len(text) > MAX_BYTES:
            raise UnsupportedGrammarError(
                f"it has {len(text):,} characters; at most {MAX_BYTES:,} are taken", feature="size"
            )
        return self.compiled(self._format(kind, text), lambda *said: logger.warning("%s: %s: %s", kind, *said))

    def compiled(
        self, format: Format, warn: Callable[[str, str], None], cancel: CancelEvent | None = None
    ) -> Constraint:
        """The constraint of a format; `warn` is given what there is to warn of: a category, and a message.

        Raises PdaconError: it cannot be compiled; the message has the place and the reason. WorkerError: the process
        that compiled it has ended.
        """
        with held() as cautions:
            constraint = self._compiled(format, cancel)
        for message, category in cautions:
            warn(category.__name__, message)
        return constraint

    def kept(self, format: Format) -> Constraint | None:
        """The constraint of a format if it is in memory; some 10 µs. Raises PdaconError: it cannot be compiled."""
        return self.cache.kept(format.key, self.vocabulary, self._limits)

    def _format(self, kind: Kind, text: str) -> Format:
        """The format of a text; a schema that was read lately is not read again."""
        if kind != "schema":
            return Format.of(kind, text, self._reading)
        digest = digest_of(text)
        key = self._keys.get(digest)
        if key is not None:
            return Format(kind, text, key, self._reading)
        format = Format.of(kind, text, self._reading)
        if len(self._keys) >= _MOST_TEXTS:
            self._keys.clear()
        self._keys[digest] = format.key
        return format

    def _compiled(self, format: Format, cancel: CancelEvent | None) -> Constraint:
        if cancel is not None and cancel.is_set():
            raise CancelledError("the compilation was cancelled")
        if self._workers is None:
            return self._compiled_here(self.cache, format, cancel)
        make = partial(self._compiled_elsewhere, self._workers, format, cancel)
        on_demand = partial(format.on_demand, self._special_tokens)
        return self.cache.compile_elsewhere(format.key, self.vocabulary, self._limits, make, cancel, on_demand)

    def _compiled_here(self, cache: CompileCache, format: Format, cancel: CancelEvent | None) -> Constraint:
        make = partial(format.grammar, self._limits, self._special_tokens)
        on_demand = partial(format.on_demand, self._special_tokens)
        return cache.compile_keyed(
            format.key, make, self.vocabulary, on_demand=on_demand, limits=self._limits, cancel=cancel
        )

    def _compiled_elsewhere(self, workers: Workers, format: Format, cancel: CancelEvent | None) -> Constraint | bytes:
        written = workers.compile(format.kind, format.text, cancel, format.reading, is_whole=self.cache.has_folder)
        if not written.content:  # no file can hold it
            return self._compiled_here(CompileCache(0), format, cancel)
        if written.is_whole:
            return written.content
        return Constraint.from_bytes(written.content, self.vocabulary, with_vocabulary=False)
