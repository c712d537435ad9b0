"""`Grammar`: the data of a grammar, with the ways to make one of Lark's language; its base classes have the other ways
and what can be asked of it.

In: what the author gives: a text, a file, a ready ``lark.Lark`` or the name of a built-in grammar. Out: a `Grammar`.
What reads Lark's language is imported where it is called, because it brings lark along.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, cast, get_origin, overload

from pdacon.artifact import lowered_builtin
from pdacon.base.arguments import require_options
from pdacon.base.languages import BY_ENDING
from pdacon.base.snippets import shown_in
from pdacon.base.type_variables import OfForm, Value
from pdacon.front.given import is_builtin_name, refuse_instance, refuse_object
from pdacon.front.lark_options import LarkOptions
from pdacon.front.stages import keep_lowered
from pdacon.front.ways_in import GrammarWaysIn
from pdacon.grammar import GrammarData
from pdacon.grammar.builtin import builtin_options, builtin_source
from pdacon.grammar.model import ConflictPolicy, ImportPath, LexerKind, LookaheadPolicy, PriorityPolicy
from pdacon.regular import RegularSet

if TYPE_CHECKING:
    import lark
    from typing_extensions import TypeForm, Unpack

    from pdacon.base.cancelling import CancelEvent
    from pdacon.frontends.tool_formats import Answer
    from pdacon.frontends.types import Call

_Type = TypeVar("_Type")
_Form: TypeAlias = Literal["json", "python"]


class _TypeOptions(TypedDict, total=False):
    """The options of `Grammar.from_type`, for type checkers."""

    spelling: Any
    lax: bool
    strict: bool
    seconds: float
    cancel: CancelEvent | None


class _ToolOptions(TypedDict, total=False):
    """The options of all the ways from tools, for type checkers."""

    choice: str
    parallel: bool
    reasoning: bool | Literal["begun"]
    spelling: Any
    lax: bool
    strict: bool
    closed: bool
    seconds: float
    cancel: CancelEvent | None


class _CallOptions(_ToolOptions, total=False):
    """The options of `Grammar.from_tools` that do not decide what its sentences stand for."""

    content: Any
    tokens: Collection[str] | None
    arguments: str


class Grammar(GrammarWaysIn, Generic[Value]):
    """A grammar, with the ways to one and what can be asked of it.

    Of a type ``T`` it is a ``Grammar[T]`` to a type checker, which then knows what `Constraint.parse` gives.

    Equal are those with the same text, place and options; :attr:`fingerprint` compares meaning.

    Parameters
    ----------
    data : GrammarData
        Its symbols, rules, options and text as frozen records, as `pdacon.grammar.GrammarData` has them. The ways in
        make it; the rooms below, such as `pdacon.lalr` and `pdacon.drawing`, take it.
    """

    if TYPE_CHECKING:

        @overload
        @classmethod
        def from_type(
            cls, type: type[_Type], form: _Form = "json", **options: Unpack[_TypeOptions]
        ) -> Grammar[_Type]: ...
        @overload
        @classmethod
        def from_type(
            cls, type: TypeForm[OfForm], form: _Form = "json", **options: Unpack[_TypeOptions]
        ) -> Grammar[OfForm]: ...
        @overload
        @classmethod
        def from_type(cls, type: Any, form: _Form = "json", **options: Unpack[_TypeOptions]) -> Grammar[Any]: ...
        @classmethod
        def from_type(cls, type: Any, form: _Form = "json", **options: Any) -> Any: ...
        @classmethod  # no checker knows that `Self` is a `Grammar`
        def from_regex(  # type: ignore[override]
            cls, pattern: str | RegularSet, *, limits: Any = None
        ) -> Grammar[str]: ...
        @classmethod
        def from_choices(  # type: ignore[override]
            cls, strings: Iterable[str], *, limits: Any = None
        ) -> Grammar[str]: ...
        @overload
        @classmethod
        def from_tools(
            cls,
            tools: Sequence[Any],
            form: _Form = "json",
            *,
            format: None = None,
            several: Literal[False] = False,
            **options: Unpack[_CallOptions],
        ) -> Grammar[Call]: ...
        @overload
        @classmethod
        def from_tools(
            cls,
            tools: Sequence[Any],
            form: _Form = "json",
            *,
            format: None = None,
            several: Literal[True],
            **options: Unpack[_CallOptions],
        ) -> Grammar[list[Call]]: ...
        @overload
        @classmethod
        def from_tools(
            cls, tools: Sequence[Any], *, format: str, **options: Unpack[_CallOptions]
        ) -> Grammar[Answer]: ...
        @overload
        @classmethod
        def from_tools(
            cls,
            tools: Sequence[Any],
            form: _Form = "json",
            *,
            format: str | None = None,
            several: bool = False,
            **options: Unpack[_CallOptions],
        ) -> Grammar[Any]: ...
        @overload
        @classmethod
        def from_tools(
            cls, tools: Sequence[Any], *, format: object, **options: Unpack[_CallOptions]
        ) -> Grammar[Answer]: ...
        @classmethod
        def from_tools(cls, tools: Sequence[Any], form: _Form = "json", **options: Any) -> Any: ...
        @classmethod
        def from_response_template(  # type: ignore[override]
            cls, tokenizer: Any, tools: Sequence[Any], **options: Unpack[_ToolOptions]
        ) -> Grammar[Answer]: ...

    @classmethod
    def from_lark(
        cls,
        text_or_lark: str | lark.Lark,
        start: str | Sequence[str] = "start",
        lexer: LexerKind = "contextual",
        conflicts: ConflictPolicy = "error",
        lookahead: LookaheadPolicy = "reject",
        postlex: Any = None,
        g_regex_flags: int = 0,
        use_bytes: bool = False,
        priority: PriorityPolicy | None = "auto",
        maybe_placeholders: bool = True,
        source_path: str | os.PathLike[str] | None = None,
        import_paths: Sequence[ImportPath | os.PathLike[str]] = (),
        extensions: bool = False,
        sets: Mapping[str, Any] | None = None,
    ) -> Grammar:
        """Load a grammar that is written in Lark's language.

        Parameters
        ----------
        text_or_lark : str or lark.Lark
            The grammar's text, or a ready parser made with ``parser="lalr"``: its text and options are taken, so that
            of the options below only ``conflicts`` and ``lookahead`` may be given with it. What its ``transformer``
            makes of a tree, or raises, is no part of the language. Options at the head of a text are those of files
            (`from_file`), and say nothing here: a text may come from elsewhere.
        start : str or sequence of str
            The start rule or rules.
        lexer : {"contextual", "basic"}
            Which of Lark's lexers gives the grammar its meaning.
        conflicts : {"error", "shift"}
            "error" rejects at compile time what Lark settles silently; "shift" accepts and records it.
        lookahead : {"reject", "commit"}
            What to do with a terminal whose end cannot be known within bounded lookahead.
        g_regex_flags, use_bytes, postlex, priority, maybe_placeholders, source_path, import_paths
            As in Lark. With ``use_bytes`` the texts are bytes, of which each is a character. ``postlex`` is an
            instance or a subclass of ``lark.indenter.Indenter``, or of ``pdacon.FixedWidthIndenter``, that sets its
            attributes only, or ``"python"`` for Lark's ``PythonIndenter``, or ``"python4"`` for the same with blocks of
            four columns.
        extensions : bool
            Whether patterns may ask for one token of a set, as in ``(?P<PARAGRAPH_TOKEN>)``, or for a set of texts, as
            in ``(?P<SUBSTRING_OF>some text)``, and rules for the values of a JSON Schema, as in
            ``%json {"type": "integer"}``, which stock Lark does not know; docs/extensions.md has them.
        sets : mapping of str to RegularSet, optional
            With ``extensions`` sets of texts of your own: ``(?P<CITY>)`` stands for what ``CITY`` is here.

        Raises
        ------
        GrammarSyntaxError
            If Lark would not load the text; ``span`` is the place.
        UnsupportedGrammarError
            If it loads but uses something that pdacon does not do; ``feature`` names it.
        ValueError, TypeError
            If an option is not one of those listed.

        Notes
        -----
        Cost: Lark's loader, a few ms for a grammar like JSON, and about a tenth more. The first load in a process
        also builds the parser for Lark's own language.
        """
        from pdacon.grammar.lark_reading import read_lark, read_once, read_text
        from pdacon.grammar.settings import make_options

        options = make_options(
            start=start,
            lexer=lexer,
            conflicts=conflicts,
            lookahead=lookahead,
            postlex=postlex,
            g_regex_flags=g_regex_flags,
            use_bytes=use_bytes,
            priority=priority,
            maybe_placeholders=maybe_placeholders,
            import_paths=import_paths,
            source_path=source_path,
            extensions=extensions,
        )
        path = None if source_path is None else os.fspath(source_path)
        own_sets = None
        if extensions or sets is not None:
            from pdacon.frontends.pattern_sets import checked_pattern_sets

            own_sets = checked_pattern_sets(sets, extensions)
        if own_sets is not None and isinstance(text_or_lark, str) and "%json" in text_or_lark:
            from pdacon.frontends.insertion import with_inline_schemas

            with shown_in(text_or_lark, path):
                return cls(with_inline_schemas(text_or_lark, options, own_sets))
        if isinstance(text_or_lark, str):
            with shown_in(text_or_lark, path):
                if own_sets is None:
                    return cls(read_once(text_or_lark, options))
                return cls(read_text(text_or_lark, options, own_sets))
        return cls(read_lark(text_or_lark, options))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Unpack[LarkOptions]) -> Grammar:
        """Load a grammar from a UTF-8 file; relative imports start from it. Options as in :meth:`from_lark`.

        Its ending says what it is written in: ``.gbnf`` GBNF and ``.ebnf`` XGrammar's EBNF, with ``conflicts`` as only
        option, ``.json`` a JSON Schema, without options, and any other one Lark's language. Of the latter the comments
        at the file's head are read, such as ``// pdacon: --start program --conflicts shift``, as commands and editors
        do (docs/commands.md); an option that is given here goes before the one there. Errors are those of the way in
        that is taken, and OSError; what is wrong with the head is a GrammarSyntaxError with its place.
        """
        from pdacon.front.lark_files import lark_file_grammar
        from pdacon.grammar.lark_reading import read_source

        require_options("Grammar.from_file", options, LarkOptions.__annotations__)
        ending = PurePath(path).suffix.lower()
        if ending not in BY_ENDING:
            return lark_file_grammar(cls, read_source(path), path, dict(options))
        if foreign := [option for option in options if option not in BY_ENDING[ending].policies]:
            raise TypeError(
                f"Grammar.from_file: {foreign[0]} is an option of a grammar in Lark's language, not of "
                f"{ending} files; Grammar.{BY_ENDING[ending].way_in} has what they can have"
            )
        if ending == ".json":
            return cls(replace(cls.from_json_schema(Path(path)).data, source_path=os.fspath(path)))
        read: Any = getattr(cls, BY_ENDING[ending].way_in)
        return cast("Grammar", read(read_source(path), source_path=path, **options))

    @classmethod
    def builtin(cls, name: str, **options: Unpack[LarkOptions]) -> Grammar:
        """Load a grammar that comes with pdacon, such as ``"json"``; :meth:`builtins` lists them.

        One that needs a postlexer has it by itself. It is called by its name in reports. Without options each is loaded
        once in a process.

        Parameters
        ----------
        name : str
        **options
            As in :meth:`from_lark`: ``start``, for example, may be any rule of the grammar, such as ``"object"`` in
            ``json``.

        Raises
        ------
        ValueError
            If there is no such grammar; the message lists those there are.
        TypeError
            If the name is no str, or there is no such option.
        """
        require_options("Grammar.builtin", options, LarkOptions.__annotations__)
        text, path = builtin_source(name)
        if not options and cls is Grammar:
            return _builtin(name)
        return cls.from_lark(text, **{"source_path": path, **builtin_options(name), **options})

    @classmethod
    def compose(
        cls,
        template: str | os.PathLike[str] | Grammar,
        holes: Mapping[str, Any] | None = None,
        /,
        **named: Any,
    ) -> Grammar:
        """One grammar with others in it: each name that the outer one leaves open stands for a grammar.

        Inside of an inner grammar its own text is ignored, outside the outer grammar's; what comes before its first and
        after its last terminal may be either.

        Parameters
        ----------
        template : str, pathlib.Path or Grammar
            The outer grammar in Lark's language, in which rules or terminals are used that nothing defines; or one that
            was loaded with options, in which such terminals are ``%declare``'d. A file can have options at its head, as
            for `from_file`.
        holes, **named
            For each such name a grammar: whatever `compile` takes, a `RegularSet` or a type for example.

        Returns
        -------
        Grammar
            ``data.islands`` says where other text is ignored. Its options are those of the outer grammar.

        Raises
        ------
        UnsupportedGrammarError
            Indentation in the outer grammar, in two inner ones, or in one that does not stand between two terminals;
            labels or ``& regular_set`` in an inner grammar, options that differ, or an inner grammar of which nobody
            can tell where it ends; ``feature`` names it.
        ValueError
            A name is not used, or defined, or given twice.
        TypeError, GrammarError
            As the grammars' own ways in.

        Examples
        --------
        >>> import pdacon
        >>> template = 'start: "Answer: " answer "."'
        >>> grammar = pdacon.Grammar.compose(template, answer=pdacon.RegularSet.from_choices(["yes", "no"]))
        >>> grammar.accepts("Answer: yes.")
        True

        Notes
        -----
        The terminals of all meet in one lexer, by Lark's order and priorities, and are checked as those of one grammar.
        docs/composing.md says what follows from that.
        """
        given = {} if holes is None else holes
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise TypeError("compose: holes is a mapping of names to grammars, such as {'code': ...}")
        if twice := sorted(given.keys() & named.keys()):
            raise ValueError(f"compose: {twice[0]} is given twice")
        from pdacon.frontends.insertion import composed

        holes = {**given, **named}
        inner = {name: partial(data_of, f"compose: {name}", hole) for name, hole in holes.items()}
        if isinstance(template, os.PathLike):
            from pdacon.front.lark_files import composed_file

            return cls(composed_file(template, inner))
        return cls(composed(template.data if isinstance(template, Grammar) else template, inner))

    def escaped(
        self,
        notation: Literal["json"] = "json",
        *,
        escapes: Literal["needed", "ascii", "any"] = "needed",
        quotes: bool = False,
    ) -> Grammar:
        """The sentences as they stand between the quotes of a JSON string: what ``json.loads('"' + text + '"')`` reads.

        Parameters
        ----------
        notation : {"json"}
        escapes : {"needed", "ascii", "any"}
            How characters are written, as `Spelling` has it: as ``json.dumps(..., ensure_ascii=False)`` does; as
            ``json.dumps`` does by default; or in any way that JSON allows.
        quotes : bool
            Whether the quotes belong to the texts: then the grammar can be put where an outer one ignores blanks, which
            are not to get into the string.

        Returns
        -------
        Grammar
            With the same rules; terminals read escaped texts. Look-ahead sees the text that is meant, up to the quote,
            and an Indenter its lines.

        Raises
        ------
        UnsupportedGrammarError
            Labels, ``& regular_set``, ``use_bytes``, ``g_regex_flags``, indentation that is escaped twice, or, without
            indentation, a terminal that looks at the text before it; ``feature`` names it.
        ValueError
            There is no such notation, or no such way.
        LimitExceededError

        Examples
        --------
        >>> import pdacon
        >>> lists = pdacon.Grammar.from_lark('start: "[" (start ("," start)*)? "]" | /"[a-z]*"/')
        >>> grammar = lists.escaped("json", quotes=True)
        >>> print(grammar.sample(1, seed=3)[0])
        "[[]]"
        >>> grammar.accepts(r'"[\\"a\\",[]]"'), grammar.accepts('"["a"]"')
        (True, False)

        Notes
        -----
        Cost: that of lowering the terminals, and with ``escapes="any"`` some 40 ms for each class of letters of all
        scripts. Twice escaped is what stands in a string within a string.
        """
        from pdacon.frontends.insertion import escaped

        return type(self)(escaped(self.data, notation, escapes, quotes))

    def __and__(self, regular_set: Any) -> Grammar:
        """The grammar of those sentences that are in a `RegularSet`, the whole text over, ignored text included.

        Rules, terminals and their lexing stay as they are. `compile` raises EmptyLanguageError if nothing is left.
        Stock Lark has nothing of the kind: `to_lark` refuses.

        Raises
        ------
        EmptyLanguageError
            The set is empty.
        UnsupportedGrammarError
            The grammar is over bytes (``use_bytes``).
        LimitExceededError

        Notes
        -----
        Cost: the lexing automaton becomes its product with that of the set, as far as texts reach it.
        """
        from pdacon.frontends.narrowing import with_texts_within

        if not isinstance(regular_set, RegularSet):
            return NotImplemented
        return type(self)(with_texts_within(self.data, regular_set))

    __rand__ = __and__


@cache
def _builtin(name: str) -> Grammar:
    """A built-in grammar with its own options, as it lies in the package if that is of use."""
    if (lowered := lowered_builtin(name)) is not None:
        return Grammar(keep_lowered(lowered))
    text, path = builtin_source(name)
    return Grammar.from_lark(text, source_path=path, **builtin_options(name))


_Source = Grammar | RegularSet | str | os.PathLike[str] | Callable[..., Any]
if TYPE_CHECKING:
    GrammarSource: TypeAlias = _Source | type[Any] | TypeForm[Any]
else:
    GrammarSource = _Source | type | types.UnionType | types.GenericAlias
"""A `Grammar`, a `RegularSet`, the name of a built-in one, a `pathlib.Path`, a text in Lark's language, a type or a
function."""
Untyped = RegularSet | str | os.PathLike[str]
"""Those of them that are no types. To a type checker a str could be one, as in annotations: it is asked for this first.
"""


def grammar_of(caller: str, given: GrammarSource, start: str | Sequence[str] | None = None) -> Grammar:
    """Load what was given; a `Grammar` is returned as it is.

    Raises
    ------
    TypeError
        It is none of these.
    ValueError
        No built-in grammar has this name, a str looks like the path of a file, or ``start`` is given beside a
        `Grammar` that was loaded with another one.
    GrammarError, OSError
        See `Grammar.from_lark` and `Grammar.from_file`.
    """
    options: dict[str, Any] = {} if start is None else {"start": start}
    if isinstance(given, Grammar):
        return given
    if isinstance(given, str):
        if is_builtin_name(caller, given):
            return Grammar.builtin(given.strip(), **options)
        return Grammar.from_lark(given, **options)
    if isinstance(given, os.PathLike):
        return Grammar.from_file(given, **options)  # whose ending says what it is written in
    return _grammar_of_object(caller, given, options)


def data_of(caller: str, given: GrammarSource) -> GrammarData:
    """The data of what was given; see `grammar_of`."""
    return grammar_of(caller, given).data


def _grammar_of_object(caller: str, given: Any, options: dict[str, Any]) -> Grammar:
    """The grammar of a set, a type, calls of a function or a term of Outlines, whose front ends are imported here."""
    from pdacon.frontends.outlines_terms import is_term
    from pdacon.frontends.types import is_type

    if isinstance(given, RegularSet):
        return Grammar.from_regex(given)
    if is_term(given):
        return Grammar.from_type(given)
    if not callable(given) and get_origin(given) is None:
        refuse_object(caller, given)
    if options:
        raise ValueError(
            f"{caller}: a type has no rules, so that start={options['start']!r} says nothing; leave it out"
        )
    if is_type(given):
        return Grammar.from_type(given)
    if isinstance(given, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        return Grammar.from_tools([given])
    return refuse_instance(caller, given)
