"""The ways to a grammar of answers with calls of tools: tools in a model's own format, and structural tags.

In: what :mod:`pdacon.frontends` reads. Out: a `Grammar`. Each front end is imported when it is first called, so that a
process loads those that it uses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pdacon.base.cancelling import CancelEvent, Watch
from pdacon.front.questions import GrammarQuestions

if TYPE_CHECKING:
    from typing_extensions import Self

    from pdacon.frontends.structural_tags.pieces import Piece
    from pdacon.frontends.structural_tags.styles import StyledArguments


class ToolWaysIn(GrammarQuestions):
    """A grammar that can be asked, with the ways from tools; `GrammarWaysIn` adds others."""

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

        with Watch(seconds, cancel):
            return cls._of(structural_tag_grammar(tag, spelling, registry, closed, tokens, _styled))


def _styled(asked: StyledArguments) -> Piece:
    """Arguments in a style other than JSON: tool formats are loaded where a tag has such."""
    from pdacon.frontends.tool_formats.argument_styles import styled

    return styled(asked)
