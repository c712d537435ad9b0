"""A tokenizer's chat template -> the format of tool calls that the model was taught.

In: an object that renders messages, as those of transformers do. Out: the one of some formats in which the template
writes a past call. The template is run and not searched: what it writes is what the model saw, however it is put down.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from pdacon.frontends.tool_formats.records import ToolFormat
from pdacon.frontends.tool_formats.tokens_in_marks import lead_of, may_lead

PROBE_NAME = "tide_table"
PROBE_ARGUMENTS: Mapping[str, Any] = {"days": 3, "harbour": "Oslo"}  # sorted, as some templates write them
_IDS = "call00000", f"functions.{PROBE_NAME}:0"  # as Mistral's and Kimi's templates ask for
PROBE_TOOL = {
    "type": "function",
    "function": {
        "name": PROBE_NAME,
        "description": "When the tide is high.",
        "parameters": {
            "type": "object",
            "properties": {
                "days": {"type": "integer", "description": "How many."},
                "harbour": {"type": "string", "description": "Where."},
            },
            "required": ["days", "harbour"],
        },
    },
}


def format_of_tokenizer(tokenizer: Any, formats: Sequence[ToolFormat]) -> ToolFormat:
    """The format in which a tokenizer's chat template writes past calls.

    Parameters
    ----------
    tokenizer : object
        It has ``apply_chat_template``, as tokenizers and processors of transformers have.
    formats : sequence of ToolFormat
        Of which it is one; of those that write alike the first.

    Raises
    ------
    ValueError
        It has no chat template, its template writes no calls, or it writes them in none of the formats.
    """
    kind = type(tokenizer).__name__
    advice = f"; give format= the name of one: {', '.join(format.name for format in formats)}"
    errors: list[str] = []
    texts = list(rendered_calls(tokenizer, 1, errors))
    if not texts:
        raise ValueError(f"the chat template of this {kind} renders no call of a tool: {errors[0]:.200}{advice}")
    for text in texts:
        spelled = text, text.replace("▁", " ")  # as SentencePiece has blanks
        matches = [
            (len(written), format)
            for format in formats
            for written in _written(format)
            if any(written in given for given in spelled)
        ]
        if matches:
            return with_tokens_of(tokenizer, max(matches, key=lambda match: match[0])[1])
    value = str(PROBE_ARGUMENTS["harbour"])
    shown = next((text for text in texts if value in text), None)
    if shown is None:
        raise ValueError(f"the chat template of this {kind} leaves out calls of tools{advice}")
    shown = shown[max(0, shown.rindex(value) - 80) :]
    raise ValueError(
        f"the chat template of this {kind} writes calls in no format that there is: {shown!r:.200}{advice}"
    )


def with_tokens_of(tokenizer: Any, format: ToolFormat) -> ToolFormat:
    """A format whose marks are special tokens where they are in a tokenizer that tells them, and text elsewhere."""
    added = getattr(tokenizer, "added_tokens_decoder", None)
    if not isinstance(added, Mapping):
        return format
    words = {str(token) for token in added.values() if getattr(token, "special", False)}
    words |= {str(word) for word in getattr(tokenizer, "all_special_tokens", ()) or ()}
    return with_tokens(words, format)


def with_tokens(words: Collection[str], format: ToolFormat) -> ToolFormat:
    """A format in whose marks these names are special tokens, and no other names are.

    No free text has a special token in it. So a name stays text where it stands behind other text in a mark that ends a
    thought, or behind blanks that may be text; and in all marks of values that have only these to tell them apart.
    """
    marks, thought = format.value_marks, format.thought
    kept = () if marks is None or not marks.stop else (*marks.fixed_texts, format.call, format.begin, format.end)
    kept += (thought.begin,) if thought is not None and thought.before else ()
    named = (word for word in words if word and not any(word in text for text in kept))
    named = (word for word in named if any(word in text for text in format.fixed_texts))
    tokens = tuple(sorted(named, key=lambda word: (-len(word), word)))
    left: tuple[str, ...] = ()
    while left != tokens:
        left = tokens
        within = [text for text in format.marks if not text.startswith(left or "\0")]
        if _may_lead(format, left):
            within = [text for text in within if text not in (format.trigger, *format.reserved)]
        tokens = tuple(word for word in left if not any(word in text for text in within))
    return format if set(tokens) == set(format.tokens) else replace(format, tokens=tokens)


def _may_lead(format: ToolFormat, tokens: Collection[str]) -> bool:
    """Whether text may lead to the token in the mark of a call."""
    stops = (text for text in format.marks if not any(token in text for token in tokens))
    lead = lead_of(format.trigger, tokens)
    return bool(lead) and format.messages is None and not format.calls_alone and may_lead(lead, tuple(stops))


def rendered_calls(tokenizer: Any, count: int, errors: list[str]) -> Iterator[str]:
    """A conversation with some calls in its last answer, as a template writes it, in all that templates take."""
    spelled = (dict(PROBE_ARGUMENTS), json.dumps(PROBE_ARGUMENTS))
    for is_answered, arguments, content, id in product((False, True), spelled, ("", None), _IDS):
        call = {"type": "function", "id": id, "function": {"name": PROBE_NAME, "arguments": arguments}}
        messages = [
            {"role": "user", "content": "How is it?"},
            {"role": "assistant", "content": content, "tool_calls": [call] * count},
            *([{"role": "tool", "content": "At noon.", "name": PROBE_NAME, "tool_call_id": id}] if is_answered else []),
        ]
        try:
            text = tokenizer.apply_chat_template(messages, tools=[PROBE_TOOL], tokenize=False)
        except Exception as error:  # a template is a program of its own, which may raise anything
            errors.append(f"{type(error).__name__}: {error}")
            continue
        if isinstance(text, str):
            # A past call has an identifier that the model never writes.
            yield text.replace(f', "id": "{id}"', "").replace(f'"id": "{id}", ', "")
        else:
            errors.append(f"it renders {type(text).__name__} where a text was asked for")


def _written(format: ToolFormat) -> Iterator[str]:
    """The texts of the call in a format, with what is before it."""
    arguments = {name: json.dumps(value) for name, value in PROBE_ARGUMENTS.items()}
    begin, trigger = format.begin, format.trigger
    for index in (0, 1):
        for call in format.write_calls(index, PROBE_NAME, arguments):
            yield begin + call + format.end
            for blank in format.trigger_blanks if begin else ():
                yield trigger + blank + begin[len(trigger) :] + call + format.end
