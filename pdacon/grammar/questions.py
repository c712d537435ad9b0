"""What can be asked of a grammar: the methods of `Grammar` that make none.

In: the data of a grammar. Out: answers: whether it accepts a text, sentences, pictures, names, the text for stock Lark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pdacon.above import ask
from pdacon.base.picture import Picture
from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import describing
from pdacon.grammar.model import GrammarData, Values

if TYPE_CHECKING:
    from pdacon.matching.explanation import Explanation


@dataclass(frozen=True, eq=False, repr=False)  # These are inherited.
class GrammarQuestions(GrammarData):
    """A grammar that can be asked; its subclasses, down to `Grammar`, add the ways to make one."""

    @classmethod
    def builtins(cls) -> dict[str, str]:
        """The names that :meth:`builtin` takes, sorted, each with a sentence that says what it is."""
        from pdacon.grammar.builtin import builtin_descriptions

        return builtin_descriptions()

    @property
    def builtin_name(self) -> str | None:
        """The name of the built-in grammar that this one is, whatever its options; None if it is none of them."""
        from pdacon.grammar.builtin import builtin_name

        return builtin_name(self)

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
        answer: bool = ask("accepts", self, text, start)
        return answer

    def write(self, value: Any) -> str:
        """The text of a value, for a prompt or a test: what `Constraint.parse` makes the same value of.

        Raises
        ------
        ValueError
            The value is not one of the grammar's type; the message has the path.
        TypeError
            The grammar was not made of a type, functions or tools.
        """
        return self._values("write").write(value)

    def describe(self) -> str:
        """What the values are, for a prompt: docstrings, fields with their types, bounds and descriptions.

        Raises
        ------
        TypeError
            The grammar was not made of a type, functions or tools.
        """
        return self._values("describe").describe()

    def _values(self, method: str) -> Values:
        if self.values is None:
            raise TypeError(f"{method}: only grammars of types, functions and tools know their values")
        return self.values

    def explain(self, text: str | bytes, start: str | None = None, *, lexemes: int | None = 10) -> Explanation:
        """How a text is read, or where and why it is refused: `Matcher.explain` at the start of a text.

        Errors and cost as of `accepts`, and those of `Matcher.explain`.
        """
        answer: Explanation = ask("explain", self, text, start, lexemes)
        return answer

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
        answer: list[str] = ask("samples", self, count, seed, size, start)
        return answer

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
        picture: Picture = ask("draw", self, names)
        return picture

    def _repr_svg_(self) -> str | None:
        try:
            return self.draw()._repr_svg_()
        except ModuleNotFoundError:  # the notebook shows the repr then
            return None

    def describe_symbol(self, symbol: int) -> str:
        """A symbol as its author writes it: a name, a literal such as ``"{"``, or a repetition such as ``(pair)+``."""
        return describing.describe_symbol(self, symbol)

    def describe_name(self, name: str) -> str:
        """A rule's or terminal's name as its author writes it: that of an imported file without Lark's prefix."""
        return describing.describe_name(self, name)

    def describe_production(self, production: int) -> str:
        """A production in the author's words: ``object: "{" pair "}"``."""
        return describing.describe_production(self, production)

    def to_lark(self) -> str:
        """The text in Lark's language. With :attr:`lark_options`, stock Lark gives it the meaning that pdacon does.

        That of a JSON Schema is written out, which can take a second.

        Raises
        ------
        UnsupportedGrammarError
            The sentences are those in a regular set (``&``), too; or the grammar has labels (``extensions=True``), or
            others in it that ignore other text.
        """
        if self.labels:
            raise UnsupportedGrammarError(
                f"{self.labels[0]} means nothing to stock Lark; the text itself is grammar.source", feature="extensions"
            )
        if self.language == "Lark" and self.options.extensions and self._has_sets():
            raise UnsupportedGrammarError(
                "the sets of texts in its patterns mean nothing to stock Lark; the text itself is grammar.source",
                feature="extensions",
            )
        if self.within:
            raise UnsupportedGrammarError(
                f"Lark's language has no way to say that a text is in {self.within[0].name} as well; print the grammar "
                "without `& regular_set`, and the set by itself: Grammar.from_set(...).to_lark()",
                feature="regular-set",
            )
        if any(terminal.pattern is not None and terminal.pattern.meant is not None for terminal in self.terminals):
            raise UnsupportedGrammarError(
                "its terminals read escaped texts, for whose order and keywords Lark's language has no words; print "
                "the grammar that was escaped",
                feature="escaped",
            )
        if self.islands:
            raise UnsupportedGrammarError(
                f"in {self.islands[0].name} other text is ignored than around it, and stock Lark ignores the same "
                "everywhere; print the grammars by themselves",
                feature="compose",
            )
        if self.language == "Lark":
            return self.source
        text: str = ask("to_lark", self)
        return text

    def _has_sets(self) -> bool:
        from pdacon.grammar.regular_groups import has_groups

        patterns = [terminal.pattern for terminal in self.terminals if terminal.pattern is not None]
        return any(pattern.automaton is not None for pattern in patterns) or has_groups(self.source)

    @property
    def lark_options(self) -> dict[str, Any]:
        """The keyword arguments for ``lark.Lark(grammar.to_lark(), **grammar.lark_options)``."""
        from pdacon.grammar.indentation import to_indenter

        options = self.options
        return {
            "parser": "lalr",
            "start": list(options.start),
            "lexer": options.lexer,
            "postlex": options.postlex and to_indenter(options.postlex),
            "g_regex_flags": options.g_regex_flags,
            "use_bytes": options.use_bytes,
            "priority": options.priority,
            "maybe_placeholders": options.maybe_placeholders,
            "source_path": options.import_base,
            "import_paths": list(options.import_paths),
        }
