"""Each model's own format of tool calls -> the grammar of its answers, and a reader of them.

In: tools, as `pdacon.frontends.types` takes them, and the name of a format. Out: a `GrammarData` of whole answers (a
thought, text, calls), whose values are `Answer`, and `AnswerReader`, which gives the parts of an answer while it is
generated. A format is a record, `ToolFormat`: nothing else in this room knows how a model writes its calls, so that
what is constrained and what is read cannot differ.

The modules within, in the order in which data goes through them: ``records`` (what a format says), ``formats`` (the
formats of models), ``recognizing`` (which one a tokenizer's chat template writes), ``response_templates`` (what a
checkpoint says of its format), ``layouts`` (a format and the choices of a request as a tree), ``parameters`` (the
values of arguments that are tagged one by one), ``building`` (the tree as a grammar), ``reader_states`` (the tree as
states of a reader), ``reading`` (the reader), ``writing`` (answers as texts), ``answer_values`` (tools as users give
them, and what texts stand for).
"""

from pdacon.frontends.tool_formats.answer_values import (
    AnswerValues,
    ToolAnswers,
    answer_values,
    refuse_name,
    tool_answers,
)
from pdacon.frontends.tool_formats.building import INPUT
from pdacon.frontends.tool_formats.formats import FORMATS, format_of
from pdacon.frontends.tool_formats.layouts import Choice, Reasoning
from pdacon.frontends.tool_formats.reading import AnswerEvent, AnswerReader
from pdacon.frontends.tool_formats.recognizing import with_tokens_of
from pdacon.frontends.tool_formats.records import Messages, Thought, ToolFormat, ValueMarks
from pdacon.frontends.tool_formats.response_templates import format_of_response_template
from pdacon.frontends.tool_formats.scalars import overlap
from pdacon.frontends.tool_formats.whole_answers import Answer

__all__ = [
    "FORMATS",
    "INPUT",
    "Answer",
    "AnswerEvent",
    "AnswerReader",
    "AnswerValues",
    "Choice",
    "Messages",
    "Reasoning",
    "Thought",
    "ToolAnswers",
    "ToolFormat",
    "ValueMarks",
    "answer_values",
    "format_of",
    "format_of_response_template",
    "overlap",
    "refuse_name",
    "tool_answers",
    "with_tokens_of",
]
