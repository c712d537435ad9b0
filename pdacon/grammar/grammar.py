"""`Grammar`: the data of a grammar, with the ways to make one; what can be asked of it, its base class has.

In: what the author gives: a text, a file, a ready ``lark.Lark`` or the name of a built-in grammar. Out: a `Grammar`.
It lies above the readers of this room. They make the subclass of `GrammarData` that they are asked for, and so do not
import this one. They are imported where they are called, because they bring lark along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pdacon.above import ask
from pdacon.arguments import require_options
from pdacon.cancelling import CancelEvent
from pdacon.grammar.model import ConflictPolicy, ImportPath, LexerKind, LookaheadPolicy, PriorityPolicy
from pdacon.grammar.questions import GrammarQuestions

if TYPE_CHECKING:
    import os

    import lark
    from typing_extensions import Unpack

    from pdacon.grammar.options import LarkOptions


@dataclass(frozen=True, eq=False, repr=False)  # These are inherited.
class Grammar(GrammarQuestions):
    """A grammar as data. Equal are those with the same text, place and options; :attr:`fingerprint` compares meaning.

    Symbol ids: with T terminals, 0..T-1 are :attr:`terminals`, T is ``$END`` and T+1+k is ``nonterminals[k]``.

    Attributes
    ----------
    terminals, nonterminals, productions : tuple
        In Lark's order; ``%declare``'d terminals come last.
    ignore : frozenset of int
        Ids of the ``%ignore``'d terminals.
    starts : tuple of int
        Symbol ids of the start rules, in the order of ``options.start``.
    source : str
        The text that it was made from, in ``language``.
    source_path : str or None
        Where the text comes from.
    layout : Layout or None
        Indentation, if ``options.postlex`` says that newlines make any.
    unused : tuple of Definition
        Rules, templates and terminals that nothing leads to: no start, nothing ignored, no other of these. Lark drops
        them, and what only they need.
    imports : tuple of Import
        What other files define, as far as it was found there. Spans of it are in those files, unless they are packaged:
        then it is the place of the ``%import``.
    imported_files : tuple of (str, str)
        Path and text of each file with a definition in ``imports``.
    labels : tuple of Label
        The sets of tokens that patterns ask for, with ``extensions=True``.
    language : {"Lark", "JSON Schema", "Python values", "regular expression", "choices", "regular set", "GBNF",
        "EBNF", "several grammars"}
    unenforced : tuple of (str, str, str)
        What a JSON Schema asks for that this grammar, made with ``lax=True``, does not enforce, and what it says that
        has no meaning in JSON Schema: the JSON pointer of the schema, the keyword, and why. Of a type the path, such as
        ``Order.items[].price``, what is not enforced, such as a validator, and why.
    values : Values or None
        What makes instances of texts and texts of instances, of a type, of functions or tools. No file has it.
    within : tuple of TextSet
        Sets that every sentence is in, beside what the rules say: see ``&``.
    islands : tuple of Island
        Grammars that `compose` put into this one, where other text is ignored in them than outside.

    Raises
    ------
    ValueError
        If a symbol id is out of range or names the wrong kind of symbol.
    """

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
            makes of a tree, or raises, is no part of the language.
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
        from pdacon.grammar.reading import read_lark, read_text
        from pdacon.grammar.settings import checked_sets, make_options

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
        own_sets = checked_sets(sets, extensions)
        if extensions and isinstance(text_or_lark, str) and "%json" in text_or_lark:
            with_schemas: Grammar = ask("with_inline_schemas", text_or_lark, options, own_sets)
            return with_schemas
        if isinstance(text_or_lark, str):
            return read_text(text_or_lark, options, Grammar, own_sets)
        return read_lark(text_or_lark, options, Grammar)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Unpack[LarkOptions]) -> Grammar:
        """Load a grammar from a UTF-8 file; relative imports start from it. Options as in :meth:`from_lark`.

        Its ending says what it is written in: ``.gbnf`` GBNF, ``.ebnf`` XGrammar's EBNF, ``.json`` a JSON Schema, each
        without options, and any other one Lark's language. Errors are those of the way in that is taken, and OSError.
        """
        from pdacon.grammar.endings import read_file

        require_options("Grammar.from_file", options, cls.from_lark)
        grammar: Grammar = read_file(cls, path, options)
        return grammar

    @classmethod
    def builtin(cls, name: str, **options: Unpack[LarkOptions]) -> Grammar:
        """Load a grammar that comes with pdacon, such as ``"json"``; :meth:`builtins` lists them.

        One that needs a postlexer has it by itself. It is called by its name in reports.

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
        from pdacon.grammar.builtin import builtin_options, builtin_source

        require_options("Grammar.builtin", options, cls.from_lark)
        text, path = builtin_source(name)
        return cls.from_lark(text, **{"source_path": path, **builtin_options(name), **options})

    @classmethod
    def from_json_schema(
        cls,
        schema: Any,
        spelling: Any = None,
        lax: bool = False,
        registry: Any = None,
        formats: bool = True,
        *,
        closed: bool = False,
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Grammar:
        """The grammar of the JSON values that satisfy a schema, each in the spelling that is asked for.

        Parameters
        ----------
        schema : dict, bool, str, bytes or pathlib.Path
            A JSON Schema of draft 2020-12, or of 2019-09, 7, 6 or 4 if its ``$schema`` says so; or the text of one; or
            the file that has it.
        spelling : pdacon.Spelling, optional
            How values are written; as ``json.dumps`` writes them if it is not given, with the members of an object in
            the order in which the schema lists them. Members that it does not list may come anywhere.
        lax : bool
            Leave out what cannot be enforced, and say so in :attr:`unenforced`, where it would else be an error.
        registry : mapping or referencing.Registry, optional
            Other documents that ``$ref`` may lead to, by URI. Nothing is fetched.
        formats : bool
            Whether ``format`` is enforced, or is an annotation only.
        closed : bool
            Whether objects have only the ``properties`` listed, if any are, unless something is said of others.
        seconds : float
            Most time; 0: no limit. Give one to schemas from strangers.
        cancel : threading.Event, optional
            Stops the work, from another thread, when it is set.

        Raises
        ------
        UnsupportedSchemaError
            It is no JSON Schema, or says what cannot be enforced; ``pointer`` and ``keyword`` are the place.
        EmptyLanguageError
            No value satisfies it.
        LimitExceededError, CancelledError
            See above.

        Warns
        -----
        GrammarWarning
            A keyword or a format that there is not looks like one that there is; `unenforced` has it, too.

        Notes
        -----
        Where a schema leaves names free, a text may have the same name twice; the schema then holds of every member.
        """
        grammar: Grammar = ask("from_json_schema", schema, spelling, lax, registry, formats, closed, seconds, cancel)
        return grammar

    @classmethod
    def from_type(
        cls,
        type: Any,
        form: Literal["json", "python"] = "json",
        *,
        spelling: Any = None,
        lax: bool = False,
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Grammar:
        """The grammar of the values of a Python type; `Constraint.parse` makes instances of texts, `write` texts.

        Parameters
        ----------
        type : type
            As annotations write it: dataclasses, TypedDicts, named tuples, Enums, Pydantic models, msgspec Structs,
            attrs classes, and what ``typing`` makes of them; docs/ways_in.md has the list. Extra members of a model
            that would be ignored are not taken.
        form : {"json", "python"}
            JSON, or Python's literals and calls of constructors: ``Point(x=1, y=2)``.
        spelling : pdacon.Spelling, optional
            How JSON is written, as in :meth:`from_json_schema`.
        lax : bool
            Leave out what no schema can say, such as validators, and name it in :attr:`unenforced`, where it would else
            be an error. `Constraint.parse` still calls the class, so that a validator can refuse there.
        seconds, cancel
            As in :meth:`from_json_schema`.

        Raises
        ------
        UnsupportedTypeError
            A type has no values that can be written, or says what cannot be enforced; ``path`` is the place.
        EmptyLanguageError
            The type has no value.
        LimitExceededError, CancelledError
            See above.

        Examples
        --------
        >>> import pdacon
        >>> grammar = pdacon.Grammar.from_type(dict[str, int | None])
        >>> grammar.accepts('{"a": 1, "b": null}'), grammar.accepts('{"a": 1.5}')
        (True, False)
        """
        grammar: Grammar = ask("from_type", type, form, spelling, lax, seconds, cancel)
        return grammar

    @classmethod
    def from_function(
        cls,
        function: Any,
        form: Literal["json", "python"] = "json",
        *,
        spelling: Any = None,
        lax: bool = False,
        arguments: str = "arguments",
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Grammar:
        """The grammar of calls of a function: ``{"name": "f", "arguments": {"x": 1}}``, or ``f(x=1)`` in Python's form.

        Parameters
        ----------
        function : callable
            Each parameter has an annotation; those with defaults may be left out. ``**kwargs`` are other members.
        arguments : str
            The name of the member with the arguments.
        form, spelling, lax, seconds, cancel
            As in :meth:`from_type`. `Constraint.parse` gives a `Call`.

        Raises
        ------
        UnsupportedTypeError
            A parameter has no annotation, or no name in a call, as ``*args``; ``path`` is the place.
        """
        grammar: Grammar = ask("from_function", function, form, spelling, lax, arguments, seconds, cancel)
        return grammar

    @classmethod
    def from_tools(
        cls,
        tools: Sequence[Any],
        form: Literal["json", "python"] = "json",
        *,
        spelling: Any = None,
        lax: bool = False,
        arguments: str = "arguments",
        several: bool = False,
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Grammar:
        """The grammar of a call of one of some tools: the name decides which arguments there are.

        Parameters
        ----------
        tools : sequence
            Functions, classes (their fields are the arguments), and dicts that describe a tool as MCP
            (``inputSchema``), OpenAI and Hugging Face (``function``, ``parameters``) and others do.
        several : bool
            A list of at least one call, not a single one.
        form, spelling, lax, arguments, seconds, cancel
            As in :meth:`from_function`.

        Raises
        ------
        UnsupportedTypeError
            As :meth:`from_function`, or a dict's schema cannot be enforced.
        TypeError, ValueError
            There are no tools, one is none, or two have the same name.
        """
        grammar: Grammar = ask("from_tools", tools, form, spelling, lax, arguments, several, seconds, cancel)
        return grammar

    @classmethod
    def from_gbnf(cls, text: str, *, source_path: str | os.PathLike[str] | None = None) -> Grammar:
        """The grammar that a text in GBNF describes, the language of llama.cpp: the same texts, exactly.

        What is regular becomes terminals, as far as a lexer can find them without a doubt. A grammar for which no
        deterministic one is found has conflicts, which `check` explains in its own lines; `compile` raises them.

        Parameters
        ----------
        text : str
            A text is derived from the rule ``root``.
        source_path : path, optional
            What the text is called in messages.

        Raises
        ------
        GrammarSyntaxError
            It is no GBNF; ``span`` is the place.
        UnsupportedGrammarError
            It has tokens (``<think>``), which are no characters.
        EmptyLanguageError
            No text is derived.
        LimitExceededError
            Repetitions are counted too high.

        Notes
        -----
        Cost: some milliseconds for a grammar like JSON. Source:
        https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md.
        """
        grammar: Grammar = ask("from_gbnf", text, source_path)
        return grammar

    @classmethod
    def from_ebnf(
        cls, text: str, *, root_rule_name: str = "root", source_path: str | os.PathLike[str] | None = None
    ) -> Grammar:
        """The grammar that a text in XGrammar's EBNF describes: the same texts, exactly; see :meth:`from_gbnf`.

        Parameters
        ----------
        text : str
        root_rule_name : str
            The rule that a text is derived from.
        source_path : path, optional
            What the text is called in messages.

        Raises
        ------
        GrammarError, LimitExceededError
            As :meth:`from_gbnf`; or it has what is not about characters (macros, options of rules), or a look-ahead.

        Notes
        -----
        Source: https://xgrammar.mlc.ai/docs/defining_structures/ebnf_grammar.html.
        """
        grammar: Grammar = ask("from_ebnf", text, root_rule_name, source_path)
        return grammar

    @classmethod
    def json(
        cls,
        max_depth: int | None = None,
        max_items: int | None = None,
        max_properties: int | None = None,
        *,
        top: Literal["object", "array", "any"] = "object",
        spelling: Any = None,
    ) -> Grammar:
        """The grammar of JSON, or of JSON that is not nested deeply and has short lists.

        Parameters
        ----------
        max_depth : int, optional
            How many objects and arrays may lie in each other: at 1, only values without parts in one.
        max_items, max_properties : int, optional
            How many items an array, and how many members an object has at most.
        top : {"object", "array", "any"}
            What the text is.
        spelling : pdacon.Spelling, optional
            As for :meth:`from_json_schema`, which makes it.

        Raises
        ------
        ValueError
            A bound is negative, or leaves nothing; ``top`` is none of these.

        Notes
        -----
        Source: T. Koo, F. Liu and L. He, "Automata-based constraints for language model decoding" (2024), section 5.1,
        where such a truncated JSON is an automaton without a stack.
        """
        grammar: Grammar = ask("json", max_depth, max_items, max_properties, top, spelling)
        return grammar

    @classmethod
    def from_regex(cls, pattern: str, *, limits: Any = None) -> Grammar:
        """The grammar of the texts that ``re.fullmatch(pattern, text)`` matches.

        Parameters
        ----------
        pattern : str
            As for `RegularSet.from_regex`.
        limits : pdacon.Limits, optional
            How many ``states`` and ``bytes`` the automaton of the texts may take: 100,000 and 256 MiB by default.

        Raises
        ------
        UnsupportedGrammarError
            It is no regular expression, or none that is supported.
        EmptyLanguageError
            It matches nothing.
        LimitExceededError, TypeError
        """
        grammar: Grammar = ask("from_regex", pattern, limits)
        return grammar

    @classmethod
    def from_choices(cls, strings: Iterable[str], *, limits: Any = None) -> Grammar:
        """The grammar of some strings: each of them is a text, and nothing else.

        Parameters
        ----------
        strings : iterable of str
            In any order. One may be the beginning of another, or there twice; one may be empty.
        limits : pdacon.Limits, optional
            As for `from_regex`, but by default a million states.

        Raises
        ------
        TypeError, ValueError
            Not all of them are str, or it is one str; or one has a lone surrogate.
        EmptyLanguageError, LimitExceededError
            There are none, or too many.

        Notes
        -----
        Cost: some 50 ns a letter.
        """
        grammar: Grammar = ask("from_choices", strings, limits)
        return grammar

    @classmethod
    def from_set(cls, regular_set: Any) -> Grammar:
        """The grammar of the strings of a `RegularSet`. What takes a grammar takes a set in its place, too.

        Raises
        ------
        EmptyLanguageError, LimitExceededError, TypeError
            The set is empty, too large or none.
        """
        grammar: Grammar = ask("from_set", regular_set)
        return grammar

    @classmethod
    def from_structural_tag(
        cls,
        tag: Any,
        *,
        spelling: Any = None,
        registry: Any = None,
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Grammar:
        """Free text with calls of tools in it, or a thought and then an answer: what a structural tag describes.

        Parameters
        ----------
        tag : dict, str or an object with ``model_dump``
            As XGrammar and vLLM take it, ``{"type": "structural_tag", "format": ...}`` or a format alone; or as its
            JSON; or in the older form, with ``structures`` and ``triggers``.
        spelling : Spelling, optional
            How the values of JSON Schemas in it are written; as `from_json_schema` does if it is not given.
        registry : referencing.Registry, optional
            Other documents that these refer to.
        seconds, cancel
            As for `from_json_schema`.

        Raises
        ------
        UnsupportedGrammarError
            A format or a member is unknown or malformed, or nobody could tell where a part of the text ends; the
            message begins with the JSON pointer of the format.
        UnsupportedSchemaError
            A JSON Schema in it says what cannot be enforced.
        EmptyLanguageError, LimitExceededError, CancelledError
        TypeError

        Notes
        -----
        A token may end one part and begin the next one; the masks are those of one grammar. Cost, besides that of the
        schemas: 30 ms for two tools, 0.7 s for fifty, most of it for asking whether all borders can be found.

        Source: https://xgrammar.mlc.ai/docs/structural_tag/structural_tag.html.
        """
        grammar: Grammar = ask("from_structural_tag", tag, spelling, registry, seconds, cancel)
        return grammar

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
        behind its last terminal may be either.

        Parameters
        ----------
        template : str, pathlib.Path or Grammar
            The outer grammar in Lark's language, in which rules or terminals are used that nothing defines; or one that
            was loaded with options, in which such terminals are ``%declare``'d.
        holes, **named
            For each such name a grammar: whatever `compile` takes, a `RegularSet` or a type for example.

        Returns
        -------
        Grammar
            ``islands`` says where other text is ignored. Its options are those of the outer grammar.

        Raises
        ------
        UnsupportedGrammarError
            Indentation, labels or ``& regular_set`` in an inner grammar, options that differ, or an inner grammar of
            which nobody can tell where it ends; ``feature`` names it.
        ValueError
            A name is not used, or defined.
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
        grammar: Grammar = ask("compose", template, {**(holes or {}), **named})
        return grammar

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
        narrowed: Grammar | None = ask("within", self, regular_set)
        return NotImplemented if narrowed is None else narrowed

    __rand__ = __and__
