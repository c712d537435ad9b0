"""`CompileCache`: constraints that were compiled before, for servers that get a grammar with each request.

In: grammars or schemas, and vocabularies. Out: constraints, and the errors of grammars that cannot be compiled, each
made once, whoever asks for it and from however many threads. In memory those that were used last stay, up to so many
bytes; in a folder, if one is given, they outlive the process and are shared with others.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, overload

from pdacon.artifact import own_version, write
from pdacon.base.arguments import require, require_options
from pdacon.base.cancelling import CancelEvent, Watch
from pdacon.base.limits import Limits
from pdacon.base.type_variables import OfForm
from pdacon.composition import native_trie
from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.errors import ArtifactError, CancelledError, PdaconError
from pdacon.filters import Filter, InTerminals, canonical_of
from pdacon.filters.canonical import Canonical
from pdacon.front.compiled import sense_of
from pdacon.front.compiling import compile_grammar, filters_of
from pdacon.front.constraint import Constraint, constraint_of
from pdacon.front.given import is_builtin_name
from pdacon.front.grammar import Grammar, GrammarSource, Untyped, grammar_of
from pdacon.front.kept_constraints import KeptConstraints, given_again, made_or_refused, needed_by
from pdacon.front.spelled_tokens import warn_of_spelled_tokens
from pdacon.front.stages import compiled_on_demand, within_filters
from pdacon.front.stores import ObjectStore
from pdacon.frontends.json_schema import Schema, Spelling, read_canonical
from pdacon.frontends.json_schema import canonical as canonical_schema
from pdacon.frontends.on_demand import OnDemand, schema_on_demand
from pdacon.grammar.builtin import imports_files

if TYPE_CHECKING:
    from typing_extensions import TypeForm, Unpack

    from pdacon.frontends.types import Call

logger = logging.getLogger(__name__)

CACHE_ANSWERS = ("hits", "misses", "waits", "loads", "fetches", "refusals")
"""How constraints are come by, which a cache counts."""

_POLL = 0.05  # seconds between two looks at whether a caller who waits for another's compilation has cancelled
_SUFFIX = ".constraint"
_Type = TypeVar("_Type")
_UNLOOKED = 1 / 16  # of `max_bytes`: how much is written before the folder is looked through, which reads all of it


class CompileOptions(TypedDict, total=False):
    """What a cache takes beside a grammar and a vocabulary; `pdacon.compile` says what each is."""

    tokenizer: Any
    model: Any
    limits: Limits | None
    cancel: CancelEvent | None
    canonical: Any
    filters: Iterable[Filter]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a constraint is to be, beside its grammar."""

    vocabulary: Vocabulary
    limits: Limits
    cancel: CancelEvent | None = None
    filters: Sequence[Filter] = ()

    def compiled(self, make: Callable[[], Grammar]) -> Constraint:
        """The constraint of a grammar that is made first, both within the limits' time."""
        with Watch(self.limits.seconds, self.cancel) as watch:
            grammar = make()
            left = replace(self.limits, seconds=watch.left())
            return compile_grammar(grammar, self.vocabulary, left, cancel=self.cancel, filters=self.filters)

    def on_demand(self, make: Callable[[], OnDemand | None]) -> Constraint | None:
        """The same if it can be read on demand."""
        if self.filters:
            return None
        with Watch(self.limits.seconds, self.cancel) as watch:
            given = make()
            if given is not None and self.vocabulary.special_tokens:
                warn_of_spelled_tokens(given, self.vocabulary)
            left = replace(self.limits, seconds=watch.left())
            made = given and compiled_on_demand(given, self.vocabulary, left, cancel=self.cancel)
            return constraint_of(made) if made else None

    def filters_said(self) -> Iterator[str]:
        """What tells filters apart."""
        for one in self.filters:
            if isinstance(one, Canonical):
                yield canonical_of(one.tokenizer, self.vocabulary, native_trie(self.vocabulary)).fingerprint
                continue
            yield repr(one.terminals) if isinstance(one, InTerminals) else ""
            texts = one.filter.texts() if isinstance(one, InTerminals) else one.texts()
            yield from () if texts is None else (texts.fingerprint, texts.name)


def _asked(door: str, vocabulary: Vocabulary | None, options: CompileOptions) -> _Asked:
    caller = f"CompileCache.{door}"
    require_options(caller, options, CompileOptions.__annotations__)
    tokenizer, limits = options.get("tokenizer"), options.get("limits")
    words = vocabulary_of(caller, vocabulary, tokenizer, options.get("model"))
    limits = Limits() if limits is None else limits
    require(caller, "limits", limits, Limits)
    filters = filters_of(options.get("filters", ()), options.get("canonical"), tokenizer)
    return _Asked(words, limits, options.get("cancel"), filters)


@dataclass(slots=True)
class _Flight:
    """A compilation under way, for those who wait for it."""

    landed: Event = field(default_factory=Event)
    result: Constraint | PdaconError | None = None


class CompileCache:
    """Compiled constraints by what they were made from; safe to use from any number of threads and processes.

    Parameters
    ----------
    max_bytes : int
        How much the constraints in memory may need together (`Constraint.nbytes`), and the files of the folder too, to
        within a sixteenth. Those that were not used for longest go first. What is in use elsewhere stays alive there.
    directory : path, optional
        A folder in which constraints are kept as files, as `Constraint.save` writes them, but for those that are read
        on demand, which are made as fast as a file is read. It is made if need be. Only
        those whom you trust may write to it: a file that somebody means to be wrong can have masks that are wrong.
    store : str, optional
        A URL of fsspec's, such as ``s3://bucket/constraints``, through which machines share what one of them has
        compiled (``pip install 'pdacon[store]'``, and what fsspec needs for the URL, such as s3fs). What is found
        there is brought into the folder, checked as a whole, and mapped from there; without a folder into one that
        lasts as long as the cache. Nothing is ever removed from it. As for the folder, only those whom you trust may
        write to it.

    Raises
    ------
    ImportError, ValueError, Exception
        The store cannot be asked; see `pdacon.front.stores.ObjectStore`. Later failures of it are logged, and the
        constraint is compiled.

    Examples
    --------
    >>> import pdacon
    >>> cache, words = pdacon.CompileCache(), pdacon.Vocabulary.bytes()
    >>> first = cache.compile_schema({"type": "integer", "minimum": 3}, words)
    >>> cache.compile_schema('{"minimum": 3, "type": "integer"}', words) is first
    True
    >>> cache.statistics()["hits"]
    1

    Notes
    -----
    An answer that is there costs some microseconds beside the writing out of the schema. Several threads that ask for
    the same at the same time wait for one compilation; others are not held up by it. A refusal is kept too, and raised
    again as a copy; but not one that depends on time, nor `CancelledError`.
    """

    def __init__(
        self,
        max_bytes: int = 1 << 30,
        directory: str | os.PathLike[str] | None = None,
        store: str | None = None,
    ) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 0:
            raise ValueError(f"CompileCache: max_bytes is a number of bytes, 0 or more, not {max_bytes!r}")
        self._max_bytes = max_bytes
        self._shared = None if store is None else ObjectStore(store)
        if self._shared is not None and directory is None:
            self._temporary = TemporaryDirectory(prefix="pdacon-", ignore_cleanup_errors=True)
            directory = self._temporary.name
        self._directory = None if directory is None else Path(os.fsdecode(directory))
        if self._directory is not None:
            self._directory.mkdir(parents=True, exist_ok=True)
        self._version = own_version()
        self._lock = Lock()
        self._kept = KeptConstraints(max_bytes)
        self._unlooked = math.inf  # bytes of files since the folder was looked through
        self._flights: dict[str, _Flight] = {}
        self._counts = dict.fromkeys(CACHE_ANSWERS, 0)

    @overload
    def compile(  # type: ignore[overload-overlap]  # a class can be called, too: what a function gives comes last
        self,
        grammar: Grammar[_Type] | type[_Type],
        vocabulary: Vocabulary | None = None,
        **options: Unpack[CompileOptions],
    ) -> Constraint[_Type]: ...
    @overload
    def compile(
        self, grammar: Untyped, vocabulary: Vocabulary | None = None, **options: Unpack[CompileOptions]
    ) -> Constraint[Any]: ...
    @overload
    def compile(  # type: ignore[overload-overlap]
        self, grammar: TypeForm[OfForm], vocabulary: Vocabulary | None = None, **options: Unpack[CompileOptions]
    ) -> Constraint[OfForm]: ...
    @overload
    def compile(
        self, grammar: Callable[..., Any], vocabulary: Vocabulary | None = None, **options: Unpack[CompileOptions]
    ) -> Constraint[Call]: ...
    @overload
    def compile(
        self, grammar: GrammarSource, vocabulary: Vocabulary | None = None, **options: Unpack[CompileOptions]
    ) -> Constraint: ...

    def compile(
        self, grammar: GrammarSource, vocabulary: Vocabulary | None = None, **options: Unpack[CompileOptions]
    ) -> Constraint:
        """As `pdacon.compile`, which is called only if the constraint is not there.

        Give a `Vocabulary` where many calls are to be fast: to read a tokenizer takes longer than to find a constraint.

        Raises
        ------
        PdaconError, TypeError, ValueError
            As `pdacon.compile`.

        Notes
        -----
        Cost: some 60 µs for a `Grammar`, or a text, and a `Vocabulary` whose constraint is in memory, reading the file
        if it is in the folder, else that of `pdacon.compile`. A text is not read to find its constraint, unless it
        imports from other files than Lark's own. With filters their sets are made in each call: to be faster, keep
        ``grammar & filter.texts()``, which is a grammar. ``canonical`` makes the automaton over tokens once for a
        tokenizer; that of a file is not made again if it is the same.
        """
        read = partial(grammar_of, "CompileCache.compile", grammar)
        asked = _asked("compile", vocabulary, options)
        others = [one for one in asked.filters if not isinstance(one, Canonical)]
        if isinstance(grammar, str) and not others and _stands_alone(grammar):
            text_key = ("text", version("lark"), grammar)
            return self._constraint(text_key, asked, lambda: asked.compiled(read))
        given = read()
        if (own := given._on_demand) is not None and not asked.filters:
            found = self._constraint(
                own.key, asked, lambda: asked.compiled(lambda: given), lambda: asked.on_demand(lambda: own)
            )
            return found if own.values in (None, sense_of(found).values) else constraint_of(found, given)
        made = given.data
        if others:  # what they say of texts becomes a part of the grammar, and so of its fingerprint
            made = within_filters(made, others, asked.limits)
            asked = replace(asked, filters=[one for one in asked.filters if isinstance(one, Canonical)])
        key = ("grammar", made.fingerprint, made.source, repr(made.source_path))
        found = self._constraint(key, asked, lambda: asked.compiled(lambda: Grammar(made)))
        # Two types can have the same texts, and no file has the type, nor what a grammar was composed of.
        if made.values is None and made.parts is None:
            return found
        known = found.grammar.data
        same = (made.values is None or known.values == made.values) and (
            made.parts is None or known.parts is made.parts
        )
        return found if same else constraint_of(found, Grammar(made))

    def compile_keyed(
        self,
        key: Sequence[str],
        make: Callable[[], Grammar[_Type]],
        vocabulary: Vocabulary | None = None,
        *,
        on_demand: Callable[[], OnDemand | None] | None = None,
        **options: Unpack[CompileOptions],
    ) -> Constraint[_Type]:
        """The constraint of the grammar that ``make`` returns, which is called only if there is none for the key.

        Parameters
        ----------
        key : sequence of str
            Says all that the grammar depends on, such as ``("regex", pattern)``. With a folder, keys are shared with
            every process that uses the folder.
        make : callable
            Without arguments. What it raises is kept as what `pdacon.compile` raises is, if it is a `PdaconError`.
        on_demand : callable, optional
            Without arguments; called before ``make``, and before files are looked at. It makes what can be read on
            demand of the grammar; None: it cannot be.
        vocabulary, **options
            As for `compile`.

        Raises
        ------
        PdaconError, TypeError, ValueError
            As ``make`` and `pdacon.compile`.

        Examples
        --------
        >>> import pdacon
        >>> cache, words, pattern = pdacon.CompileCache(), pdacon.Vocabulary.bytes(), "[ab]+c"
        >>> keyed = cache.compile_keyed(("regex", pattern), lambda: pdacon.Grammar.from_regex(pattern), words)
        >>> keyed.accepts("abc")
        True
        """
        if isinstance(key, str) or not all(isinstance(part, str) for part in key):
            raise TypeError(f"CompileCache.compile_keyed: key is a sequence of str, not {key!r}")
        asked = _asked("compile_keyed", vocabulary, options)
        return self._constraint(
            ("keyed", *key), asked, lambda: asked.compiled(make), on_demand and (lambda: asked.on_demand(on_demand))
        )

    def compile_schema(
        self,
        schema: Any,
        vocabulary: Vocabulary | None = None,
        *,
        spelling: Spelling | None = None,
        lax: bool = False,
        registry: Any = None,
        formats: bool = True,
        closed: bool = False,
        asserted: Collection[str] = (),
        profile: Literal["openai"] | None = None,
        **options: Unpack[CompileOptions],
    ) -> Constraint:
        """The constraint of a JSON Schema; see `Grammar.from_json_schema` and `pdacon.compile` for what can be said.

        Schemas are the same if only the order of their keywords differs, or blanks in their text. Nothing is kept of a
        schema that is no JSON, nor with a ``registry`` that is no mapping from URIs to schemas.
        """
        asked = _asked("compile_schema", vocabulary, options)
        spelling = Spelling() if spelling is None else spelling
        read = read_canonical(schema) if isinstance(schema, str) else None
        reading: dict[str, Any] = {"spelling": spelling, "lax": lax, "registry": registry, "formats": formats}
        reading |= {"closed": closed, "asserted": tuple(asserted), "profile": profile}

        source = schema if read is None else read

        def make() -> Constraint:
            return asked.compiled(lambda: Grammar.from_json_schema(source, **reading))

        def on_demand() -> Constraint | None:
            return asked.on_demand(lambda: schema_on_demand(Schema(source, **reading)))

        own = read.text if read is not None else schema if isinstance(schema, str) else canonical_schema(schema)
        others = {uri: canonical_schema(one) for uri, one in registry.items()} if isinstance(registry, Mapping) else {}
        told_apart = registry is None or isinstance(registry, Mapping)
        if own is None or None in others.values() or not told_apart:
            return make()  # what cannot be written as JSON cannot be told from others
        key = (
            "schema",
            own,
            json.dumps(others, sort_keys=True),
            repr(spelling),
            repr((lax, formats, closed, tuple(asserted), profile)),
        )
        return self._constraint(key, asked, make, on_demand)

    def compile_elsewhere(
        self,
        key: Sequence[str],
        vocabulary: Vocabulary,
        limits: Limits,
        make: Callable[[], Constraint | bytes],
        cancel: CancelEvent | None,
        on_demand: Callable[[], OnDemand | None] | None = None,
    ) -> Constraint:
        """As `compile_keyed` without filters, of which it shares the keys, but ``make`` compiles, too.

        Parameters
        ----------
        key, vocabulary, limits, cancel, on_demand
            As for `compile_keyed`; what is read on demand is made here.
        make : callable
            Without arguments: makes the constraint, or has another process make it, as `Constraint.to_bytes` writes it.

        Raises
        ------
        Exception
            As ``make``; what is a `PdaconError` is kept, as that of `compile_keyed` is.
        """
        asked = _Asked(vocabulary, limits, cancel)
        return self._constraint(("keyed", *key), asked, make, on_demand and (lambda: asked.on_demand(on_demand)))

    def kept(self, key: Sequence[str], vocabulary: Vocabulary, limits: Limits) -> Constraint | None:
        """The constraint of a key of `compile_keyed` that is in memory, without compiling or waiting; None: none is.

        Raises
        ------
        PdaconError
            What is in memory is a refusal.
        """
        name = self._name(("keyed", *key), _Asked(vocabulary, limits))
        with self._lock:
            return self._answer(name) if name in self._kept else None

    @property
    def has_folder(self) -> bool:
        """Whether constraints are kept as files, too."""
        return self._directory is not None

    def statistics(self) -> dict[str, int]:
        """Counts since the cache was made, and what it has now.

        Returns
        -------
        dict
            ``hits``: answers that were there; ``misses``: compilations; ``waits``: answers that another thread's
            compilation gave; ``loads``: answers that a file gave; ``fetches``: those of them whose file came from the
            store; ``refusals``: hits that were errors; ``evictions``; ``entries`` and ``bytes`` now.
        """
        with self._lock:
            kept = self._kept
            return {**self._counts, "evictions": kept.evictions, "entries": len(kept), "bytes": kept.total}

    def clear(self) -> None:
        """Forget what is in memory; files stay."""
        with self._lock:
            self._kept.clear()

    def _constraint(
        self,
        parts: tuple[str, ...],
        asked: _Asked,
        make: Callable[[], Constraint | bytes],
        on_demand: Callable[[], Constraint | None] | None = None,
    ) -> Constraint:
        key = self._name(parts, asked)
        while True:
            with self._lock:
                if key in self._kept:
                    return self._answer(key)
                flight = self._flights.get(key)
                own = flight is None
                if flight is None:
                    flight = self._flights[key] = _Flight()
            if own:
                return self._fly(key, flight, asked.vocabulary, make, on_demand)
            while not flight.landed.wait(_POLL):
                if asked.cancel is not None and asked.cancel.is_set():
                    raise CancelledError("the compilation was cancelled")
            if flight.result is not None:
                with self._lock:
                    self._counts["waits"] += 1
                return given_again(flight.result)

    def _name(self, parts: tuple[str, ...], asked: _Asked) -> str:
        digest = hashlib.sha256()
        own = (self._version, asked.vocabulary.full_fingerprint, repr(asked.limits))
        for part in (*own, *parts, *asked.filters_said()):
            content = part.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "big"))
            digest.update(content)
        return digest.hexdigest()

    def _answer(self, key: str) -> Constraint:
        """What is known, to whom holds the lock."""
        found = self._kept[key]
        self._counts["hits"] += 1
        self._counts["refusals"] += isinstance(found, PdaconError)
        return given_again(found)

    def _fly(
        self,
        key: str,
        flight: _Flight,
        vocabulary: Vocabulary,
        make: Callable[[], Constraint | bytes],
        on_demand: Callable[[], Constraint | None] | None,
    ) -> Constraint:
        """Load or compile what no one has, and keep it; those who wait are told, whatever happens."""
        try:
            what, result = "misses", None if on_demand is None else made_or_refused(on_demand)
            if result is None and (loaded := self._loaded(key, vocabulary)) is not None:
                what, result = "loads", loaded
            if result is None:
                result = self._compiled(key, vocabulary, make)
            flight.result, needed = result, needed_by(result)
            with self._lock:
                self._counts[what] += 1
                self._kept.keep(key, result, needed)
            return given_again(result)
        finally:
            with self._lock:
                del self._flights[key]
            flight.landed.set()

    def _compiled(
        self, key: str, vocabulary: Vocabulary, make: Callable[[], Constraint | bytes]
    ) -> Constraint | PdaconError:
        """Compile as a whole what is in no file, and write one."""
        made = made_or_refused(make)
        if not isinstance(made, PdaconError):
            self._store(key, made)
        if isinstance(made, bytes):  # mapped, if there is a folder: its vocabulary need not be in memory
            made = self._mapped(key, vocabulary) or Constraint.from_bytes(made, vocabulary)
        return made

    # The folder and the store. What goes wrong there is no error: the constraint is compiled, or not kept.

    def _loaded(self, key: str, vocabulary: Vocabulary) -> Constraint | None:
        if self._directory is None:
            return None
        path = self._directory / f"{key}{_SUFFIX}"
        if (constraint := self._mapped(key, vocabulary)) is None:
            return self._fetched(path, vocabulary)
        with suppress(OSError):
            os.utime(path)
        return constraint

    def _mapped(self, key: str, vocabulary: Vocabulary) -> Constraint | None:
        """What the folder has, if there is one."""
        if self._directory is None:
            return None
        try:
            return Constraint.load(self._directory / f"{key}{_SUFFIX}", vocabulary)
        except (OSError, ArtifactError):
            return None

    def _fetched(self, path: Path, vocabulary: Vocabulary) -> Constraint | None:
        """What the store has, as a file of the folder; all of it is checked, since it has come from far away."""
        if self._shared is None:
            return None
        try:
            content = self._shared.read(path.name)
        except Exception as error:  # each backend has its own
            logger.warning("the store could not be asked for %s: %s", path.name, error)
            return None
        if content is None:
            return None
        try:
            write(path, content)
            constraint = Constraint.load(path, vocabulary, verify=True)
        except (OSError, ArtifactError) as error:
            logger.warning("%s of the store is compiled again: %s", path.name, error)
            return None
        with self._lock:
            self._counts["fetches"] += 1
        self._wrote(path)
        return constraint

    def _store(self, key: str, made: Constraint | bytes) -> None:
        if self._directory is None:
            return
        path = self._directory / f"{key}{_SUFFIX}"
        with suppress(OSError, ArtifactError):
            write(path, made if isinstance(made, bytes) else made.to_bytes())
            self._publish(path)
            self._wrote(path)

    def _publish(self, path: Path) -> None:
        if self._shared is None:
            return
        try:
            self._shared.publish(path.name, path.read_bytes())
        except Exception as error:  # each backend has its own
            logger.warning("%s could not be put into the store: %s", path.name, error)

    def _wrote(self, path: Path) -> None:
        """Look after the room of the folder, in which there is another file."""
        with suppress(OSError):
            size = path.stat().st_size
            with self._lock:
                self._unlooked += size
                if is_due := self._unlooked >= self._max_bytes * _UNLOOKED:
                    self._unlooked = 0
            if is_due:
                self._tidy(path.parent)

    def _tidy(self, directory: Path) -> None:
        """Remove the files that were not used for longest, while all need too much."""
        with os.scandir(directory) as entries:
            files = [(entry.stat(), entry.path) for entry in entries if entry.name.endswith(_SUFFIX)]
        total = sum(status.st_size for status, _ in files)
        for status, path in sorted(files, key=lambda file: file[0].st_mtime):
            if total <= self._max_bytes:
                return
            total -= status.st_size
            with suppress(OSError):
                Path(path).unlink()


def _stands_alone(text: str) -> bool:
    """Whether a str is a grammar's text that depends on no files but Lark's own."""
    return not is_builtin_name("CompileCache.compile", text) and not imports_files(text)
