"""The ways to a grammar from something else than Lark's language: schemas, types, regular expressions, other notations.

In: what :mod:`pdacon.frontends` reads. Out: a `Grammar`. Each front end is imported when it is first called, so that a
process loads those that it uses.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pdacon.base.cancelling import CancelEvent, Watch
from pdacon.base.limits import Limits
from pdacon.base.snippets import shown_in
from pdacon.front.questions import GrammarQuestions
from pdacon.regular import RegularSet

if TYPE_CHECKING:
    from typing_extensions import Self


class GrammarWaysIn(GrammarQuestions):
    """A grammar that can be asked; `Grammar` adds the ways from Lark's language."""

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
        asserted: Collection[str] = (),
        profile: Literal["openai"] | None = None,
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Self:
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
        asserted : collection of str
            Keywords that are enforced though the draft does not, in the schema itself: ``"contentEncoding"`` (base64,
            base64url, base32, base16), ``"contentMediaType"`` (text/plain), and draft 7's ``"dependencies"``.
        profile : {"openai"}, optional
            Refuse what that service refuses: "openai", what OpenAI's strict mode does not take.
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
            A keyword says nothing though it may be meant, as a misspelled one does; a member can never come; members
            have an order although any was asked for. `unenforced` has it, too.

        Notes
        -----
        Where a schema leaves names free, a text may have the same name twice; the schema then holds of every member.
        """
        from pdacon.frontends.json_schema import Schema
        from pdacon.frontends.on_demand import schema_on_demand

        with Watch(seconds, cancel):
            reading: dict[str, Any] = {"spelling": spelling, "lax": lax, "registry": registry, "formats": formats}
            given = Schema(schema, closed=closed, asserted=asserted, profile=profile, **reading)
            return cls._of(schema_on_demand(given) or given.grammar())

    @classmethod
    def yaml(cls, *, max_depth: int = 16) -> Self:
        """The grammar of YAML without a schema: any values that JSON has too, as `Spelling` writes them in YAML.

        Parameters
        ----------
        max_depth : int
            So many levels lines are indented at most.

        Examples
        --------
        >>> import pdacon
        >>> grammar = pdacon.Grammar.yaml()
        >>> grammar.accepts("a: [b]\\n"), grammar.accepts("a:\\n  - b\\n")
        (False, True)
        """
        from pdacon.frontends.json_schema import Spelling

        return cls.from_json_schema(True, Spelling(language="yaml", max_depth=max_depth))

    @classmethod
    def from_type(
        cls,
        type: Any,
        form: Literal["json", "python"] = "json",
        *,
        spelling: Any = None,
        lax: bool = False,
        strict: bool = False,
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Self:
        """The grammar of the values of a Python type; `Constraint.parse` makes instances of texts, `write` texts.

        Parameters
        ----------
        type : type
            As annotations write it: dataclasses, TypedDicts, named tuples, Enums, Pydantic models, msgspec Structs,
            attrs classes, and what ``typing`` makes of them; docs/ways_in.md has the list. Extra members of a model
            that would be ignored are not taken. Or an output type of Outlines, without options: ``Regex``, ``Choice``,
            ``JsonSchema``, ``CFG``, ``email`` and what ``"No. " + at_least(1, digit)`` makes of such. Patterns are
            read as Python's ``re``, a CFG as Lark's language, or llguidance's where it begins with ``%llguidance``.
        form : {"json", "python"}
            JSON, or Python's literals and calls of constructors: ``Point(x=1, y=2)``.
        spelling : pdacon.Spelling, optional
            How JSON is written, as in :meth:`from_json_schema`.
        strict : bool
            Refuse what only the class can see to, such as a validator or a ``__post_init__``. By default it is named in
            :attr:`unenforced`; `Constraint.parse` calls the class, which may refuse the value.
        lax : bool
            Leave out also what the grammar should enforce and cannot, such as bounds for a type without an order, and
            name it in :attr:`unenforced`, where it would else be an error.
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
        TypeError, ValueError
            It is a value and no type, or an option is not for it.
        GrammarError
            As the ways in for the parts of an output type of Outlines.

        Examples
        --------
        >>> import pdacon
        >>> grammar = pdacon.Grammar.from_type(dict[str, int | None])
        >>> grammar.accepts('{"a": 1, "b": null}'), grammar.accepts('{"a": 1.5}')
        (True, False)
        """
        from pdacon.frontends.outlines_terms import is_term, outlines_grammar
        from pdacon.frontends.types import type_grammar

        with Watch(seconds, cancel):
            if not is_term(type):
                return cls._of(type_grammar(type, form, spelling, lax, strict))
            if form != "json" or spelling is not None or lax or strict:
                why = "an output type of Outlines has no form, spelling, lax or strict; leave them out"
                raise ValueError(f"from_type: {why}")
            return cls(outlines_grammar(type))

    @classmethod
    def from_tools(
        cls,
        tools: Sequence[Any],
        form: Literal["json", "python"] = "json",
        *,
        format: Any = None,
        choice: str = "auto",
        parallel: bool = True,
        reasoning: bool | Literal["begun"] = False,
        content: Any = None,
        tokens: Collection[str] | None = None,
        spelling: Any = None,
        lax: bool = False,
        strict: bool = False,
        closed: bool = False,
        arguments: str = "arguments",
        several: bool = False,
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Self:
        """The grammar of a call of one of some tools: ``{"name": "f", "arguments": {"x": 1}}``, or ``f(x=1)``.

        The name decides which arguments there are. A function in place of a grammar is that of its calls, too. With
        ``format``: the grammar of whole answers of a model, with text and calls as that model writes them.

        Parameters
        ----------
        tools : sequence
            Functions, of which each parameter has an annotation; classes, whose fields are the arguments; and dicts
            that describe a tool as MCP (``inputSchema``), OpenAI and Hugging Face (``function``, ``parameters``) and
            others do. What has a default may be left out; ``**kwargs`` are other members.
        format : str, tokenizer or ToolFormat, optional
            The model's own format of tool calls, such as ``"hermes"`` or ``"qwen3_coder"``; docs/agents.md lists them.
            Of a tokenizer or processor of transformers: the one in which its chat template writes past calls.
        choice : {"auto", "required", "none"} or str
            With a format: whether calls may come, must come (and no text), or do not come; or the name of the tool that
            is called once.
        parallel : bool
            With a format: whether there may be several calls.
        reasoning : bool or "begun"
            With a format: whether a thought may come first, in the format's own marks; ``"begun"``: the prompt ends
            with the mark that begins it, so that a thought must come.
        content : Grammar, optional
            With a format: what text has to be. Then there is either such a text or calls; ``choice="none"``: such a
            text, and there may be no tools.
        tokens : collection of str, optional
            With a format: names of special tokens, such as ``vocabulary.special_tokens``. Where they stand in its
            marks, the token is meant, and elsewhere in them text; None: what the format lists, or the tokenizer tells.
        arguments : str
            The name of the member with the arguments.
        several : bool
            A list of at least one call, not a single one.
        closed : bool
            As in :meth:`from_json_schema`, of the schemas in dicts; what is a type is closed in any case, and so is a
            dict with ``"strict": True``, as OpenAI has it.
        form, spelling, lax, strict, seconds, cancel
            As in :meth:`from_type`. `Constraint.parse` gives a `Call`; with a format an `Answer`, and
            `Constraint.reader` reads one while it is generated.

        Raises
        ------
        UnsupportedTypeError
            A parameter has no annotation, or no name in a call, as ``*args``, ``path`` is the place; or a dict's schema
            cannot be enforced, or not in this format.
        TypeError, ValueError
            There are no tools, one is none, or two have the same name; or there is no such format or choice, the chat
            template writes calls in none, or options of a format were given without one.
        """
        if format is not None:
            from pdacon.frontends.tool_formats import tool_answers

            if form != "json" or arguments != "arguments" or several:
                raise ValueError(
                    "from_tools: a format says how calls are written; leave out form, arguments and several"
                )
            if content is not None and not isinstance(content, cls):
                raise TypeError(f"from_tools: content is a pdacon.Grammar, not {content!r:.60}")
            texts = content if content is None else content._on_demand or content.data
            with Watch(seconds, cancel):
                asked = tools, format, choice, parallel, reasoning, spelling, lax, strict, closed
                return cls._of(tool_answers(*asked, texts, tokens=tokens).grammar())
        others = content is not None or tokens is not None
        if choice != "auto" or parallel is not True or reasoning is not False or others:
            about = "choice, parallel, reasoning, content and tokens"
            raise ValueError(f"from_tools: {about} are about a format; give format=...")
        from pdacon.frontends.types import tools_grammar

        with Watch(seconds, cancel):
            return cls._of(tools_grammar(tools, form, spelling, lax, strict, arguments, several, closed))

    @classmethod
    def from_response_template(
        cls,
        tokenizer: Any,
        tools: Sequence[Any],
        *,
        choice: str = "auto",
        parallel: bool = True,
        reasoning: bool | Literal["begun"] = False,
        spelling: Any = None,
        lax: bool = False,
        strict: bool = False,
        closed: bool = False,
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Self:
        """The grammar of the answers that transformers reads by a checkpoint's ``response_template``.

        The response template says where calls, thought and text are, the chat template what a call looks like: so the
        format of a model that nobody has heard of is known, too. It is given out only if the tokenizer's
        ``parse_response`` reads answers in it as what they are.

        Parameters
        ----------
        tokenizer : object
            A tokenizer or processor of transformers with a ``response_template`` and a chat template.
        tools, choice, parallel, reasoning, spelling, lax, strict, closed, seconds, cancel
            As in :meth:`from_tools` with a format.

        Raises
        ------
        ValueError
            There is no response template, or one of which no format can be made: calls in Python's notation, say.
        UnsupportedTypeError, TypeError
            As in :meth:`from_tools`.
        """
        from pdacon.frontends.tool_formats import FORMATS, format_of_response_template, tool_answers

        with Watch(seconds, cancel):
            format = format_of_response_template(tokenizer, tuple(FORMATS.values()))
            asked = tools, format, choice, parallel, reasoning, spelling, lax, strict, closed
            return cls._of(tool_answers(*asked).grammar())

    @classmethod
    def from_gbnf(cls, text: str, *, source_path: str | os.PathLike[str] | None = None) -> Self:
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
        from pdacon.frontends.dialects import gbnf_grammar

        with shown_in(text, _path(source_path)):
            return cls(gbnf_grammar(text, _path(source_path)))

    @classmethod
    def from_ebnf(
        cls, text: str, *, root_rule_name: str = "root", source_path: str | os.PathLike[str] | None = None
    ) -> Self:
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
        from pdacon.frontends.dialects import ebnf_grammar

        with shown_in(text, _path(source_path)):
            return cls(ebnf_grammar(text, root_rule_name, _path(source_path)))

    @classmethod
    def from_llguidance(cls, text: str, *, source_path: str | os.PathLike[str] | None = None) -> Self:
        """The grammar that a text in llguidance's variant of Lark's language describes.

        Terminals are sets of texts: ``&``, ``~``, ``{2,5}``, ``%regex``, ``[lazy]`` and ``[suffix=...]`` are there, and
        patterns are Rust's. Rules may have ``%json {...}`` and the names of special tokens. A string literal is a
        keyword, and no name; llguidance follows both readings. docs/ways_in.md has the differences.

        Parameters
        ----------
        text : str
            A text is derived from the rule ``start``.
        source_path : path, optional
            What the text is called in messages.

        Raises
        ------
        GrammarSyntaxError
            It is no such grammar; ``span`` is the place.
        UnsupportedGrammarError
            It has what cannot be had: ``stop=``, ``max_tokens=``, ``temperature=``, tokens by number, other grammars
            (``@name``, ``%lark``), parameters, anchors and lazy repetitions in a pattern.
        EmptyLanguageError
            A terminal has no text.
        LimitExceededError

        Notes
        -----
        Cost: that of `RegularSet.from_regex` for each terminal. Source:
        https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md.
        """
        from pdacon.frontends.dialects import llguidance_grammar

        with shown_in(text, _path(source_path)):
            return cls(llguidance_grammar(text, _path(source_path)))

    @classmethod
    def from_regex(cls, pattern: str | RegularSet, *, limits: Any = None) -> Self:
        """The grammar of the texts that ``re.fullmatch(pattern, text)`` matches, or of those of a `RegularSet`.

        Parameters
        ----------
        pattern : str or RegularSet
            As for `RegularSet.from_regex`; or a set, which may be given in place of a grammar, too.
        limits : pdacon.Limits, optional
            How many ``states`` and ``bytes`` the automaton of a pattern may take: 100,000 and 256 MiB by default.

        Raises
        ------
        UnsupportedGrammarError
            It is no regular expression, or none that is supported.
        EmptyLanguageError
            It matches nothing.
        LimitExceededError, TypeError
        """
        from pdacon.frontends.string_sets import set_grammar

        if isinstance(pattern, RegularSet):
            return cls(set_grammar(pattern))
        return cls(set_grammar(RegularSet.from_regex(pattern, limits=limits), "regular expression"))

    @classmethod
    def from_choices(cls, strings: Iterable[str], *, limits: Any = None) -> Self:
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
        from pdacon.frontends.string_sets import choices_grammar
        from pdacon.regular.string_programs import checked_strings

        own = Limits(states=1_000_000) if limits is None else limits
        return cls(choices_grammar(checked_strings("from_choices", strings), own))

    @classmethod
    def from_sql_schema(
        cls,
        schema: Mapping[str, Iterable[str]],
        statements: Literal["query", "changes"] = "query",
        *,
        aliases: str = "[a-z]_?[0-9]*",
        labels: str = "[a-z]_?[0-9]*",
        functions: Iterable[str] | None = None,
        targets: Iterable[str] | None = None,
        double_quoted: Literal["text", "name"] = "text",
        bound_labels: bool = False,
        comments: bool = True,
        with_clause: bool = True,
    ) -> Self:
        """SQL, as SQLite reads it, that names the tables and columns of a schema, and names that it makes up itself.

        No access control: ``*`` reads all columns, and a made-up name may be that of a table which is not listed.

        Parameters
        ----------
        schema : mapping of str to iterable of str
            The columns of each table. Names are as SQLite has them: letters of ASCII have no case.
        statements : {"query", "changes"}
            One query, read-only; or one query, INSERT, UPDATE or DELETE.
        aliases : str
            A regular expression for the names that a text may make up for tables: aliases after FROM, WITH and WINDOW.
            Letters of ASCII have no case. Neither a reserved word nor the name of a table is ever an alias.
        labels : str
            The same for columns: what stands for a column in a query and is none of the schema.
        functions : iterable of str
            The functions that may be called, and no others; SQLite's own if it is not given.
            ``[*pdacon.frontends.SQL_FUNCTIONS, "mine"]`` adds one to those. With
            ``regexp`` among them its operator is there, too.
        targets : iterable of str, optional
            The tables that may be changed. Without it: all.
        double_quoted : {"text", "name"}
            SQLite takes what is in double quotes for a text if there is no column of that name. With ``"text"`` any
            text may stand there, other than SQLite's names for the ROWID, and so the name of a column that is not
            listed. With ``"name"`` only names that are known, and texts in single quotes.
        bound_labels : bool
            Any name may stand after AS, although only labels can be named again. With True only what can be named
            again: a label, a column of the schema, a text in double quotes.
        comments : bool
            Whether there may be comments.
        with_clause : bool
            Whether WITH may define tables. As long as it may, any alias stands for one after FROM and IN; with False
            only the tables of the schema do.

        Raises
        ------
        SchemaError
            There is no table, a table or a column of a table is named twice, a name cannot be one, or one of the
            targets is no table.
        ValueError, TypeError
            An argument is not one of those listed, or ``aliases`` or ``labels`` describes no names; the message says
            which.

        Notes
        -----
        What is bound and what is not: see docs/sql.md. Cost: some milliseconds for 100 tables of 20 columns; the first
        call in a process loads sql.lark, which takes 0.2 s.
        """
        from pdacon.frontends.sql.functions import SQL_FUNCTIONS
        from pdacon.frontends.sql.schema_grammar import sql_for_schema

        return cls(
            sql_for_schema(
                schema,
                statements,
                aliases=aliases,
                labels=labels,
                functions=SQL_FUNCTIONS if functions is None else functions,
                targets=targets,
                double_quoted=double_quoted,
                bound_labels=bound_labels,
                comments=comments,
                with_clause=with_clause,
            )
        )

    @classmethod
    def from_structural_tag(
        cls,
        tag: Any,
        *,
        spelling: Any = None,
        registry: Any = None,
        closed: bool = False,
        tokens: Collection[str] = (),
        seconds: float = 0.0,
        cancel: CancelEvent | None = None,
    ) -> Self:
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
        closed : bool
            Whether objects of these have only the ``properties`` listed, as for `from_json_schema`.
        tokens : collection of str
            Names of special tokens, such as ``vocabulary.special_tokens``: where they stand in the text of a begin, an
            end, a trigger, a separator or a ``const_string``, the token is meant, as XGrammar has it, and not its
            letters. Given with their ids, as there, these tell which ids in ``exclude_tokens`` are special tokens'.
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
        A token may end one part and begin the next one; the masks are those of one grammar. Where the next byte tells
        where each value ends, the tag is read on demand (docs/decisions/0050-schemas-on-demand.md): some 0.3 ms for
        each tool, and 0.6 for the first mask. Else, besides the cost of the schemas, 30 ms for two tools, 0.7 s for
        fifty, most of it for asking whether all borders can be found; where they cannot be found as the tag is
        written, three times that.

        Source: https://xgrammar.mlc.ai/docs/structural_tag/structural_tag.html.
        """
        from pdacon.frontends.structural_tags import structural_tag_grammar
        from pdacon.frontends.tool_formats.argument_styles import styled

        with Watch(seconds, cancel):
            return cls._of(structural_tag_grammar(tag, spelling, registry, closed, tokens, styled))


def _path(source_path: str | os.PathLike[str] | None) -> str | None:
    return None if source_path is None else os.fspath(source_path)
