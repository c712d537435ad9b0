"""What can be asked of a grammar: the methods of `Grammar` that make none.

In: the data of a grammar. Out: answers: whether it accepts a text, sentences, pictures, the text for stock Lark.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from pdacon.base.arguments import require_count
from pdacon.base.limits import Limits
from pdacon.base.once import Once
from pdacon.base.picture import Picture
from pdacon.errors import UnsupportedSchemaError
from pdacon.front.pictures import drawing
from pdacon.grammar import GrammarData
from pdacon.grammar.builtin import builtin_descriptions
from pdacon.grammar.model import Values

if TYPE_CHECKING:
    from typing_extensions import Self

    from pdacon.front.compiled import Compiled
    from pdacon.front.unreachable import Unreachable
    from pdacon.frontends.on_demand import OnDemand
    from pdacon.matching import Explanation


class GrammarQuestions:
    """A grammar that can be asked; its subclasses, down to `Grammar`, add the ways to make one."""

    _load: Callable[[], GrammarData]
    _on_demand: OnDemand | None  # if the grammar may be read on demand
    _for_bytes: Once[Compiled | None] | None  # and then compiled on demand: asked if it is refused as a whole

    def __init__(self, data: GrammarData) -> None:
        if not isinstance(data, GrammarData):
            raise TypeError(f"Grammar takes GrammarData, not {type(data).__name__}; see Grammar.from_lark")
        self.__dict__.update(_load=lambda: data, _on_demand=None, _for_bytes=None)

    @classmethod
    def _of(cls, made: GrammarData | OnDemand) -> Self:
        """The grammar of its data, or of what may be read on demand: its data is made when it is asked for."""
        if isinstance(made, GrammarData):
            return cls(made)
        grammar = cls.__new__(cls)
        grammar.__dict__.update(_load=made.data, _on_demand=made, _for_bytes=Once(lambda: _on_demand_for_bytes(made)))
        return grammar

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change; {name!r} cannot be set")

    @property
    def data(self) -> GrammarData:
        """Its symbols, rules, options and text; of a JSON Schema made when it is first asked for."""
        return self._load()

    def __eq__(self, other: object) -> bool:
        return self.data == other.data if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.data)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.data,)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What is missing, and where it is if the data has it: a room's function takes ``grammar.data``."""
            way = f"; give or ask its data: grammar.data.{name}" if _is_of_data(name) else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{way}")

    def __repr__(self) -> str:
        """What it is of, and how large it is; nothing is made for that which was not before."""
        if self._on_demand is None or self._on_demand.data.is_made:
            return repr(self.data)
        values = self._on_demand.values
        return f"<Grammar of {values.name}>" if values is not None else "<Grammar from a JSON Schema: read on demand>"

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the meaning: all but places, texts and what only shapes Lark's trees."""
        return self.data.fingerprint

    @property
    def unenforced(self) -> tuple[tuple[str, str, str], ...]:
        """What a JSON Schema or a type says that the grammar does not enforce, or is narrower than it may be meant.

        Of a schema the JSON pointer, the keyword, and why: what is left out with ``lax=True``, what has no meaning in
        JSON Schema, or a member that never comes. Of a type the path, such as ``Order.items[].price``, what is not
        enforced, such as a validator, and why.
        """
        known = None if self._on_demand is None else self._on_demand.unenforced
        return self.data.unenforced if known is None else known

    @classmethod
    def builtins(cls) -> dict[str, str]:
        """The names that :meth:`builtin` takes, sorted, each with a sentence that says what it is."""
        return builtin_descriptions()

    def accepts(self, text: str | bytes, start: str | None = None) -> bool:
        """Whether a text is a sentence: what ``lark.Lark(...).parse`` says, without a tree.

        Parameters
        ----------
        text : str or bytes
        start : str, optional
            Which of the start rules; the first if it is not given.

        Raises
        ------
        NondeterministicGrammarError, UnsupportedGrammarError, EmptyLanguageError, LimitExceededError
            As `compile` does.
        ValueError
            The grammar has no such start.

        Notes
        -----
        Cost: the first question to a grammar compiles it, for bytes; each then takes some 20 ns a byte.
        """
        return self._compiled().accepts(text, start)

    def write(self, value: Any) -> str:
        """The text of a value, for a prompt or a test: what `Constraint.parse` makes the same value of.

        Raises
        ------
        ValueError
            The value is not one of the grammar's type, or an answer that would be read as another one; the message has
            the path.
        TypeError
            The grammar was not made of a type, functions or tools.
        """
        values = self._values("write")
        text = values.write(value)
        for name, schema, arguments in getattr(values, "claims", _no_claims)(value):
            from pdacon.front.stages import has_text  # brings along what compiles

            if not has_text(schema, arguments):
                raise ValueError(f"{name}: these arguments are not what its schema takes: {arguments:.200}")
        return text

    def describe(self) -> str:
        """What the values are, for a prompt: docstrings, fields with their types, bounds and descriptions.

        Raises
        ------
        TypeError
            The grammar was not made of a type, functions or tools.
        """
        return self._values("describe").describe()

    def _values(self, method: str) -> Values:
        values = (self.data if self._on_demand is None else self._on_demand).values
        if values is None:
            raise TypeError(f"{method}: only grammars of types, functions and tools know their values")
        return values

    def _compiled(self) -> Compiled:
        """The grammar compiled for the 256 bytes. Imported here, as only questions about texts need it."""
        from pdacon.front.stages import compiled_for_bytes

        if self._for_bytes is not None and self._for_bytes.is_made and (made := self._for_bytes()) is not None:
            return made
        try:
            data = self.data
        except UnsupportedSchemaError:  # too large as a whole
            made = None if self._for_bytes is None else self._for_bytes()
            if made is None:
                raise
            return made
        return compiled_for_bytes(data)

    def explain(self, text: str | bytes, start: str | None = None, *, lexemes: int | None = 10) -> Explanation:
        """How a text is read, or where and why it is refused: `Matcher.explain` at the start of a text.

        Errors and cost as of `accepts`, and those of `Matcher.explain`.
        """
        return self._compiled().matcher(start).explain(text, lexemes=lexemes)

    def sample(
        self, count: int = 10, *, seed: int | None = None, size: int = 60, start: str | None = None
    ) -> list[str]:
        """Random sentences, all different; fewer only where no more are to be found.

        Where chance brings nothing new the rest is looked for, so that a grammar of few sentences shows all of them.
        Of those that differ only in more ignored text there may be fewer.

        Parameters
        ----------
        count : int
        seed : int, optional
            The same seed gives the same sentences, in the same version.
        size : int
            How long a sentence may grow, in bytes, before it is brought to its end.
        start : str, optional
            Which of the start rules; the first if it is not given.

        Raises
        ------
        ValueError
            A number is out of range. Else as `accepts`.
        """
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"sample: count is a number of texts, not {count!r:.40}")
        if count < 0:
            raise ValueError(f"count must not be negative, got {count}")
        from pdacon.front.sampling import sample_different

        if seed is not None:
            require_count("sample", "seed", seed)
        require_count("sample", "size", size)
        texts = sample_different(self._compiled(), seed, size=size, start=start)
        return list(islice(texts, count))

    def unreachable(self, tokenizer: Any, *, limits: Limits | None = None) -> Unreachable:
        """What of the grammar a tokenizer can never produce, because its normalizer changes it.

        Its first start rule is asked about.

        A model has never seen such texts, and whoever encodes them gets other ones back: upper case under
        ``Lowercase``, an accent beside its letter under ``NFC``, ligatures under the table of a SentencePiece model.
        The filter ``pdacon.filters.Normalized(tokenizer)`` leaves them out of a constraint, and ``canonical`` does.

        Parameters
        ----------
        tokenizer : transformers.PreTrainedTokenizerBase, tokenizers.Tokenizer, SentencePieceProcessor, ...
            See `pdacon.filters.Normalized`. The space that a tokenizer puts before texts does not count.
        limits : Limits, optional
            How much work it may cause.

        Returns
        -------
        Unreachable

        Raises
        ------
        VocabularyError
            A step of the normalizer is not known, or what is given is no tokenizer that says what it does.
        PdaconError
            The grammar cannot be compiled: see `compile`.

        Examples
        --------
        >>> import pdacon, tokenizers
        >>> tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
        >>> tokenizer.normalizer = tokenizers.normalizers.Lowercase()
        >>> grammar = pdacon.Grammar.from_lark('start: "SELECT " NAME\\nNAME: /[a-z]+/')
        >>> print(grammar.unreachable(tokenizer))
        the tokenizer changes every sentence (Lowercase), such as 'SELECT a', which becomes 'select a'
        <grammar>:1:8: "SELECT ": each text, such as 'SELECT '

        Notes
        -----
        Cost: that of compiling twice, once with the texts that are changed and once with the others. NFC and NFKC have
        5,000 states: JSON takes some seconds.
        """
        from pdacon.front.unreachable import unreachable

        return unreachable(self.data, tokenizer, limits)

    def draw(self, *names: str) -> Picture:
        """A picture: railroad diagrams of all rules, or of those named; of terminals, their automaton.

        Of a JSON Schema: what the schema says, or its parts at JSON pointers such as ``"#/$defs/node"``; of GBNF and
        EBNF the rules as they are written. The rules that these are lowered to have names, too: ``"start"``;
        `pdacon.drawing.draw_rules` draws them all.

        ``grammar.draw().save("rules.svg")``; a notebook shows it. Needs ``pip install 'pdacon[draw]'``;
        `pdacon.drawing` has more pictures.

        Raises
        ------
        DrawingError
            There is no such rule or terminal, or nothing at a pointer.
        ModuleNotFoundError
            What draws is not installed.
        """
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"draw takes names of rules or terminals, not {name!r:.40}")
        room = drawing()
        terminals = {name for terminal in self.data.terminals for name in (terminal.name, terminal.literal) if name}
        if names and terminals.issuperset(names):
            return Picture(room.draw_terminal(self.data, *names))
        return Picture(room.draw_source(self.data, names))

    def _repr_svg_(self) -> str | None:
        try:
            return self.draw()._repr_svg_()
        except ModuleNotFoundError:  # the notebook shows the repr then
            return None

    def to_lark(self) -> str:
        """The text in Lark's language. With :attr:`lark_options`, stock Lark gives it the meaning that pdacon does.

        That of a JSON Schema is written out, which can take a second.

        Raises
        ------
        UnsupportedGrammarError
            The sentences are those in a regular set (``&``), too; or the grammar has labels (``extensions=True``), or
            others in it that ignore other text.
        """
        from pdacon.grammar.printing import to_lark

        return to_lark(self.data)

    @property
    def lark_options(self) -> dict[str, Any]:
        """The keyword arguments for ``lark.Lark(grammar.to_lark(), **grammar.lark_options)``."""
        from pdacon.grammar.indentation import lark_options  # brings lark along

        return lark_options(self.data)


def _on_demand_for_bytes(on_demand: OnDemand) -> Compiled | None:
    """What may be read on demand, compiled so for the 256 bytes; imports as in `GrammarQuestions._compiled`."""
    from pdacon.detokenizer import Vocabulary
    from pdacon.front.stages import compiled_on_demand

    return compiled_on_demand(on_demand, Vocabulary.bytes())


def _is_of_data(name: str) -> bool:
    return not name.startswith("_") and (hasattr(GrammarData, name) or name in GrammarData.__dataclass_fields__)


def _no_claims(value: Any) -> tuple[()]:
    return ()
