"""The ways to a grammar from something else than Lark's language: schemas, types, regular expressions, other notations.

In: what :mod:`pdacon.frontends` reads. Out: a `Grammar`. Each front end is imported when it is first called, so that a
process loads those that it uses.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pdacon.base.arguments import require, require_instance
from pdacon.base.cancelling import CancelEvent, Watch
from pdacon.base.limits import Limits
from pdacon.base.snippets import shown_in
from pdacon.front.tool_ways_in import ToolWaysIn
from pdacon.grammar import GrammarData
from pdacon.grammar.model import ConflictPolicy, LookaheadPolicy
from pdacon.regular import RegularSet

if TYPE_CHECKING:
    from typing_extensions import Self


class GrammarWaysIn(ToolWaysIn):
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
    def from_gbnf(
        cls, text: str, *, conflicts: ConflictPolicy = "error", source_path: str | os.PathLike[str] | None = None
    ) -> Self:
        """The grammar that a text in GBNF describes, the language of llama.cpp: the same texts, exactly.

        What is regular becomes terminals, as far as a lexer can find them without a doubt. A grammar for which no
        deterministic one is found has conflicts, which `check` explains in its own lines; `compile` raises them.

        Parameters
        ----------
        text : str
            A text is derived from the rule ``root``.
        conflicts : {"error", "shift"}
            What `compile` does where the rules leave open how to go on: refuse the grammar, or shift, and record it.
            The texts that need the other way are refused then, which a finding says; no other text comes in.
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
            return cls(_with_policies(gbnf_grammar(text, _path(source_path)), conflicts=conflicts))

    @classmethod
    def from_ebnf(
        cls,
        text: str,
        *,
        root_rule_name: str = "root",
        conflicts: ConflictPolicy = "error",
        source_path: str | os.PathLike[str] | None = None,
    ) -> Self:
        """The grammar that a text in XGrammar's EBNF describes: the same texts, exactly; see :meth:`from_gbnf`.

        Parameters
        ----------
        text : str
        root_rule_name : str
            The rule that a text is derived from.
        conflicts : {"error", "shift"}
            As in :meth:`from_gbnf`.
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

        require_instance("Grammar.from_ebnf", "root_rule_name", root_rule_name, str, "the name of a rule")
        with shown_in(text, _path(source_path)):
            return cls(_with_policies(ebnf_grammar(text, root_rule_name, _path(source_path)), conflicts=conflicts))

    @classmethod
    def from_llguidance(
        cls,
        text: str,
        *,
        conflicts: ConflictPolicy = "error",
        lookahead: LookaheadPolicy = "reject",
        source_path: str | os.PathLike[str] | None = None,
    ) -> Self:
        """The grammar that a text in llguidance's variant of Lark's language describes.

        Terminals are sets of texts: ``&``, ``~``, ``{2,5}``, ``%regex``, ``[lazy]`` and ``[suffix=...]`` are there, and
        patterns are Rust's. Rules may have ``%json {...}`` and the names of special tokens. A string literal is a
        keyword, and no name; llguidance follows both readings. docs/ways_in.md has the differences.

        Parameters
        ----------
        text : str
            A text is derived from the rule ``start``.
        conflicts : {"error", "shift"}
            As in :meth:`from_gbnf`.
        lookahead : {"reject", "commit"}
            As in `Grammar.from_lark`.
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
            read = llguidance_grammar(text, _path(source_path))
            return cls(_with_policies(read, conflicts=conflicts, lookahead=lookahead))

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
        require("Grammar.from_choices", "limits", own, Limits)
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


def _with_policies(grammar: GrammarData, **policies: Any) -> GrammarData:
    """The grammar with options that say what is an error.

    Raises ValueError: there is no such policy.
    """
    from pdacon.grammar.settings import require_accepted

    require_accepted(policies)
    return replace(grammar, options=replace(grammar.options, **policies))


def _path(source_path: str | os.PathLike[str] | None) -> str | None:
    return None if source_path is None else os.fspath(source_path)
