"""In which format the model writes its thoughts and calls, and whether its chat template shows it the tools."""

from __future__ import annotations

import logging
from typing import Any

from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.errors import PdaconError, VocabularyError
from pdacon.front.compiling import compile
from pdacon.front.grammar import Grammar
from pdacon.frontends.tool_formats import FORMATS, ToolFormat, format_of, format_of_response_template, with_tokens_of
from pdacon.serving.accounts import Line

log = logging.getLogger("pdacon.serving")
AUTO, OTHERWISE = "auto", "json"
_NAME = "pdacon_probe_of_tools"
_TOOL = {
    "type": "function",
    "function": {"name": _NAME, "description": "Nothing.", "parameters": {"type": "object", "properties": {}}},
}


def chosen_format(name: str, tokenizer: Any) -> ToolFormat:
    """The format of a name; ``auto``: that of the tokenizer's response or chat template, or else JSON by itself.

    There is a warning in the log where the template does not show the model what tools there are, and where one that
    there is tells no format.
    """
    if not shows_tools(tokenizer):
        why = "its chat template does not show tools" if _has_template(tokenizer) else "it has no chat template"
        _warn(f"the model does not see the tools of requests: {why}; say in the messages what there is")
    if name != AUTO:
        return with_tokens_of(tokenizer, format_of(name))
    if not _has_template(tokenizer):
        return FORMATS[OTHERWISE]
    if getattr(tokenizer, "response_template", None) is not None:
        try:
            return format_of_response_template(tokenizer, tuple(FORMATS.values()))
        except ValueError as error:
            _warn(f"the response template is not used: {error}")
    try:
        return format_of(tokenizer)
    except ValueError as error:
        _warn(f"calls of tools are written as plain JSON: {error}; --tool-format names another format")
        return FORMATS[OTHERWISE]


def fitting_format(name: str, tokenizer: Any, vocabulary: Vocabulary, limits: Limits) -> ToolFormat:
    """The format of a name (see `chosen_format`), in which a model with this vocabulary can write a call.

    If it cannot, since it lacks a mark of the format or ends its text with one, each request with tools would be
    refused. A format that ``auto`` finds is then left for JSON by itself, with a warning.

    Raises VocabularyError: the model cannot write in the format that is named.
    """
    chosen = chosen_format(name, tokenizer)
    try:
        compile(Grammar.from_tools([_TOOL], format=chosen), vocabulary, limits=limits)
    except PdaconError as error:
        if name != AUTO:
            why = f"the model cannot write the format {chosen.name} of --tool-format: {error}"
            raise VocabularyError(f"{why}; give --tool-format {AUTO}, or another format") from error
        _warn(f"calls of tools are written as plain JSON: {error}; --tool-format names another format")
        return FORMATS[OTHERWISE]
    return chosen


def _warn(message: str) -> None:
    log.warning(Line(message=message))


def shows_tools(tokenizer: Any) -> bool:
    """Whether the tokenizer's chat template writes the tools that it is given."""
    if not _has_template(tokenizer):
        return False
    messages = [{"role": "user", "content": "?"}]
    try:
        return _NAME in tokenizer.apply_chat_template(messages, tools=[_TOOL], tokenize=False)
    except Exception:  # a template is a program of its own, which may raise anything
        return False


def _has_template(tokenizer: Any) -> bool:
    return getattr(tokenizer, "chat_template", None) is not None
