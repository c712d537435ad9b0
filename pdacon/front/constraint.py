"""`Constraint`: a grammar compiled for a vocabulary, in memory or in a file.

In: what `compile` has made, or a file or bytes that hold such. Out: matchers, masks by number, values of texts, the
report, and the bytes of a file. What a loaded constraint does not need for its masks is read when it is asked for.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic

from pdacon.artifact import StoredConstraint, map_file
from pdacon.base.arguments import require, require_bool
from pdacon.base.limits import Limits
from pdacon.base.once import Once
from pdacon.base.type_variables import Value
from pdacon.composition import native_trie
from pdacon.determinism import check_within
from pdacon.detokenizer import Vocabulary, vocabulary_of
from pdacon.errors import ArtifactError, VocabularyError
from pdacon.filters import TokenFilter, canonical_of
from pdacon.front import values
from pdacon.front.answer_readers import answer_reader
from pdacon.front.compiled import Compiled, called
from pdacon.front.grammar import Grammar, GrammarSource, data_of
from pdacon.front.report import DeterminismReport, with_pictures
from pdacon.grammar import GrammarData
from pdacon.grammar.builtin import builtin_name

if TYPE_CHECKING:
    from pdacon.frontends.partial_values import PartialValue
    from pdacon.frontends.tool_formats import AnswerReader


class Constraint(Compiled, Generic[Value]):
    """A grammar compiled for a vocabulary; `compile` makes it, `load` reads one that was saved.

    Of a type ``T`` it is a ``Constraint[T]`` to a type checker: `parse` gives a ``T``.

    Logically frozen, and safe from any thread: what it computes on demand it keeps. It pickles as the bytes of
    `to_bytes`, with the masks that are known by then.

    Attributes
    ----------
    grammar : Grammar
    vocabulary : Vocabulary
    report : DeterminismReport
    """

    __slots__ = ()

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        vocabulary: Vocabulary | None = None,
        *,
        tokenizer: Any = None,
        model: Any = None,
        grammar: GrammarSource | None = None,
        verify: bool = False,
    ) -> Constraint:
        """Load what `save` has written: a file that is mapped into memory, and shared by all processes that do so.

        Parameters
        ----------
        path : path
            Never change the file while it is mapped; `save` puts another one in its place.
        vocabulary : Vocabulary, optional
            What the constraint has to be for. Without it the vocabulary comes from the file, once it is asked for.
        tokenizer, model : optional
            In place of the vocabulary, as in `compile`. A canonical constraint has to be of this tokenizer, too: the
            tokens alone do not say what it merges. Without it the file's own definition of its tokenizer is used.
            A `tokenizers.Tokenizer` names no end tokens: it is compared if the vocabulary is given beside it.
        grammar : Grammar, str or pathlib.Path, optional
            What the constraint has to be of, as in `compile`.
        verify : bool
            Check all of the file now. By default what is read at once is checked at once, each mask when it is first
            used, and the grammar, its names and the order of the tokens when they are.

        Returns
        -------
        Constraint
            It has the masks that were known when it was saved; others are computed when they are first needed, as
            after `compile`. The first of those is preceded by some of the work of a compilation.

        Raises
        ------
        ArtifactError
            The file is none of pdacon's, damaged, of another version of the format, of another grammar, vocabulary or
            (if it is canonical) tokenizer.
            It can also be raised later, by what finds damage in what is then first used.
        OSError
            The file cannot be read.

        Notes
        -----
        Nothing in a file is ever executed, and no content of a file makes the process crash. But checksums are no
        signatures: a file that somebody means to be wrong can have masks that are wrong.

        Cost: for 131,072 tokens a third of a millisecond for JSON, about one for SQL and Python (decision 14). The
        first canonical one of a tokenizer in a process takes as long as its automaton over tokens: some tenths of a
        second (decision 40).
        """
        name = os.fsdecode(path)
        beside = vocabulary is not None and tokenizer is not None and model is None
        if beside:
            vocabulary_of("load", vocabulary)
        elif tokenizer is not None or model is not None:
            vocabulary = vocabulary_of("load", vocabulary, tokenizer, model)
        own = None if grammar is None else data_of("load", grammar)
        loaded = cls._stored(map_file(name), name, vocabulary, own, verify)
        if loaded._filter is not None and tokenizer is not None:
            _require_tokenizer(name, loaded._filter, tokenizer, loaded.vocabulary)
        elif beside:
            raise TypeError("load: give vocabulary or tokenizer; both are for what was compiled with canonical")
        return loaded

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview,
        vocabulary: Vocabulary | None = None,
        *,
        grammar: GrammarSource | None = None,
        verify: bool = False,
        with_vocabulary: bool = True,
    ) -> Constraint:
        """Load what `to_bytes` has made. As `load`; the bytes are used where they are and kept alive.

        Of a bytearray, or of another memory that can change, a copy is used. ``with_vocabulary``: as `to_bytes` was
        told; False: the vocabulary has to be given.
        """
        require_bool("from_bytes", "with_vocabulary", with_vocabulary)
        if vocabulary is None and not with_vocabulary:
            raise TypeError("from_bytes: bytes without a vocabulary need the one that they were compiled for")
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"from_bytes takes bytes, a bytearray or a memoryview, not {type(data).__name__}")
        view = memoryview(data)
        # A view of memory that its owner can change may be read-only itself.
        fixed = isinstance(view.obj, bytes) or (isinstance(view.obj, mmap.mmap) and memoryview(view.obj).readonly)
        in_place = fixed and view.c_contiguous
        own = None if grammar is None else data_of("from_bytes", grammar)
        memory = view if in_place else view.tobytes()
        return cls._stored(memory, "these bytes", vocabulary, own, verify, with_vocabulary)

    @classmethod
    def _stored(
        cls,
        memory: bytes | memoryview | mmap.mmap,
        name: str,
        vocabulary: Vocabulary | None,
        grammar: GrammarData | None,
        verify: bool,
        with_vocabulary: bool = True,
    ) -> Constraint:
        if vocabulary is not None:
            require("load", "vocabulary", vocabulary, Vocabulary)
        require_bool("load", "verify", verify)
        trie = None if vocabulary is None or with_vocabulary else native_trie(vocabulary)
        stored = StoredConstraint(memory, name, verify, trie)
        settings = stored.settings
        if vocabulary is not None and not (
            vocabulary.size == settings.size and vocabulary.fingerprint == settings.vocabulary
        ):
            raise ArtifactError(
                f"{name}: compiled for another vocabulary (of {settings.size} tokens, fingerprint "
                f"{settings.vocabulary[:12]}) than the one given (of {vocabulary.size} tokens, fingerprint "
                f"{vocabulary.fingerprint[:12]}); compile the grammar for this one and save that"
            )
        if grammar is not None and grammar.fingerprint != settings.grammar:
            raise ArtifactError(
                f"{name}: compiled from another grammar ({settings.name}, fingerprint {settings.grammar[:12]}) than "
                f"the one given (fingerprint {grammar.fingerprint[:12]}); compile this one and save that"
            )
        pdas = stored.pdas
        load_grammar = Once(stored.grammar) if grammar is None else (lambda: grammar)
        load_vocabulary = Once(stored.vocabulary) if vocabulary is None else (lambda: vocabulary)
        return cls(
            load_grammar,
            load_vocabulary,
            partial(_report_again, load_grammar, load_vocabulary),
            lambda: pdas,
            starts=settings.starts,
            empty=settings.empty,
            name=settings.name if grammar is None else called(grammar),
            size=settings.size,
            filter=stored.filter,
            loaded_bytes=0 if isinstance(memoryview(memory).obj, mmap.mmap) else memoryview(memory).nbytes,
        )

    @property
    def grammar(self) -> Grammar:
        """The grammar; of a loaded constraint, read from the file when it is first asked for."""
        return Grammar._of(self._on_demand or self._grammar())

    @property
    def builtin_name(self) -> str | None:
        """The name of the built-in grammar that this is a constraint of; None if it is of none of them."""
        return None if self._on_demand is not None else builtin_name(self._grammar())

    @property
    def report(self) -> DeterminismReport:
        """What ``check(grammar, vocabulary)`` finds, such as conflicts that ``conflicts="shift"`` settles.

        Made when it is first asked for, which costs what `check` does: some milliseconds to some seconds.
        """
        return with_pictures(self._report())

    def parse(self, text: str | bytes, start: str | None = None) -> Value:
        """The value that a sentence stands for, where the grammar knows one.

        Returns
        -------
        value
            Of `Grammar.from_type` an instance of the type, of `Grammar.from_tools` a `Call`; nothing is evaluated, and
            no class is called that the type does not name. Else what ``json.loads`` makes of it; of the built-in
            ``jsonl`` a list with the value of each line. Of `Grammar.compose` the ``lark.Tree`` of the outer grammar,
            with values, trees or else texts in the place of the inner ones; of `Grammar.escaped` what the text that is
            meant stands for, or is. A constraint that was loaded from a file knows types, and what it was composed of,
            only if the grammar was given to `load`.

        Raises
        ------
        ValueError
            The text is no sentence of the grammar, or a class refuses it, of which the message has the path and the
            reason.
        TypeError
            The grammar knows no values.
        RecursionError
            It is nested too deeply for ``json.loads``.
        """
        value: Value = values.parse(self, text, start)
        return value

    def partial(self) -> PartialValue[Value]:
        """The value of a text that is being written, as far as it has come.

        Feed it the text in pieces, cut anywhere. Of a type, what is whole is an instance, and of a class that is not
        whole there is an object with the attributes that have come.

        Raises
        ------
        TypeError
            The grammar has no values in JSON. For calls of tools see `reader`, whose ``arguments`` are such a value.

        Examples
        --------
        >>> import pdacon
        >>> partial = pdacon.compile(list[dict[str, int]], pdacon.Vocabulary.bytes()).partial()
        >>> partial.feed('[{"a": 1, "b": 2')
        >>> partial.value, partial.pointer, partial.at("/0/a")
        ([{'a': 1}], '/0/b', 1)
        """
        return values.partial_of(self)

    def reader(self, *, strip_leading_space: bool = False) -> AnswerReader:
        """A reader of an answer while it is generated, for grammars of `Grammar.from_tools` with a format.

        Parameters
        ----------
        strip_leading_space : bool
            As for `matcher`.

        Raises
        ------
        TypeError
            The grammar is none of answers; that of a constraint that was loaded from a file is known only if it was
            given to `load`.

        Examples
        --------
        >>> import pdacon
        >>> def weather(city: str) -> str: ...
        >>> grammar = pdacon.Grammar.from_tools([weather], format="hermes")
        >>> reader = pdacon.compile(grammar, pdacon.Vocabulary.bytes()).reader()
        >>> reader.feed('I look.\\n<tool_call>\\n{"name": "weather", "arguments": ')
        [AnswerEvent(kind='text', text='I look.', call=-1), AnswerEvent(kind='name', text='weather', call=0)]
        """
        return answer_reader(self, strip_leading_space)

    def __reduce__(self) -> tuple[Any, ...]:
        return Constraint.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Constraint:
        return self

    def __deepcopy__(self, memo: Any) -> Constraint:
        return self


def constraint_of(compiled: Compiled, grammar: Grammar | None = None) -> Constraint:
    """What was compiled, as a constraint; ``grammar`` is one with the same texts that stand for other values."""
    constraint = Constraint.__new__(Constraint)
    for name in Compiled.__slots__:
        if name != "__weakref__":
            setattr(constraint, name, getattr(compiled, name))
    if grammar is not None:
        constraint._grammar, constraint._on_demand = grammar._load, grammar._on_demand
        constraint._name = called(grammar._on_demand or grammar.data)
        constraint._grammar_bytes = None
    return constraint


def _require_tokenizer(name: str, stored: TokenFilter, tokenizer: Any, vocabulary: Vocabulary) -> None:
    """Raises ArtifactError if a filter from a file is not that of a tokenizer."""
    try:
        own = canonical_of(tokenizer, vocabulary, native_trie(vocabulary))
    except VocabularyError as error:
        raise ArtifactError(f"{name}: compiled with canonical, and this tokenizer is none for it: {error}") from error
    if own.fingerprint != stored.fingerprint:
        raise ArtifactError(
            f"{name}: compiled with canonical for another tokenizer (definition {stored.fingerprint[:12]}) than the "
            f"one given (definition {own.fingerprint[:12]}): with the same tokens, but it merges, splits or normalizes "
            "texts in another way, or has other scores: those of a Unigram can differ in their last digits once a "
            "tokenizer was written to a file and read again; compile the grammar for this one and save that"
        )


def _report_again(grammar: Callable[[], GrammarData], vocabulary: Callable[[], Vocabulary]) -> DeterminismReport:
    """The report of a grammar that was compiled before, within whatever limits."""
    return with_pictures(check_within(grammar(), vocabulary(), limits=Limits(states=1 << 60, bytes=1 << 60)))
