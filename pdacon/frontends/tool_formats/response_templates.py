"""A tokenizer's response template -> the format of tool calls that it describes.

In: a tokenizer that has a ``response_template``, which says how transformers reads the answers of a model, and a chat
template, which says how the model writes them. Out: a `ToolFormat`. The one tells where the parts of an answer are, and
what a past call looks like there is what the other wrote, so that nothing has to be guessed of patterns that match more
than a model writes. A format is given out only if the tokenizer reads texts in it as what they were made of.

Source: "Response Parsing", https://huggingface.co/docs/transformers/main/chat_response_parsing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pdacon.base.cautions import caution
from pdacon.frontends.tool_formats.layouts import Reasoning
from pdacon.frontends.tool_formats.recognizing import (
    PROBE_ARGUMENTS,
    PROBE_NAME,
    PROBE_TOOL,
    format_of_tokenizer,
    rendered_calls,
    with_tokens_of,
)
from pdacon.frontends.tool_formats.records import Thought, ToolFormat
from pdacon.frontends.tool_formats.writing import written_answer

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_LINES = ("\n\n", "\n")
_SOURCE = "the tokenizer's response template"


class _UnlikeError(Exception):
    """The template describes no format of a kind that a record can have; the text says why."""


def format_of_response_template(tokenizer: Any, formats: Sequence[ToolFormat]) -> ToolFormat:
    """The format that a tokenizer's response template describes.

    Parameters
    ----------
    tokenizer : object
        A tokenizer or processor of transformers.
    formats : sequence of ToolFormat
        Those that there are; one of them is taken if chat template and response template both agree with it.

    Raises
    ------
    ValueError
        It has no response template, or one of which no format can be made.
    """
    tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
    kind, template = type(tokenizer).__name__, getattr(tokenizer, "response_template", None)
    if template is None:
        raise ValueError(
            f"this {kind} has no response_template; from_tools(tools, format=tokenizer) goes by its chat template"
        )
    fields = template.get("fields") if isinstance(template, Mapping) else None
    if not isinstance(fields, Mapping) or not isinstance(fields.get("tool_calls"), Mapping):
        raise ValueError(f"the response_template of this {kind} has no field tool_calls, so that it reads no calls")
    for name in fields:
        if name not in ("tool_calls", "content", *_THOUGHTS):
            caution(f"response_template: its field {name!r:.40} is none of tool calls, content and reasoning, so that "
                    "it never comes")  # fmt: skip
    advice = "give from_tools a ToolFormat, docs/agents.md shows one"
    with suppress(ValueError):
        known = format_of_tokenizer(tokenizer, formats)
        if _disagreement(tokenizer, known) is None:
            return known
        advice = f"its chat template writes the format {known.name}, from_tools(tools, format={known.name!r})"
    try:
        format = with_tokens_of(tokenizer, _Derivation(tokenizer, template, fields).format())
        refusal = _disagreement(tokenizer, format)
    except (_UnlikeError, re.error, ValueError, TypeError) as error:
        refusal = str(error)
    if refusal is not None:
        raise ValueError(f"no format can be made of the response_template of this {kind}: {refusal}; {advice}")
    return format


@dataclass(frozen=True)
class _Region:
    """A call in a rendered conversation: what begins and ends it, and what is within."""

    opening: str
    inner: str
    closing: str
    begin: int
    end: int


class _Derivation:
    """Makes a record of a response template, and of calls as the chat template writes them."""

    def __init__(self, tokenizer: Any, template: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        self._tokenizer, self._template, self._fields = tokenizer, template, fields
        self._end = str(getattr(tokenizer, "eos_token", None) or "\0")

    def format(self) -> ToolFormat:
        _, (only,) = self._regions(1)
        call, argument = self._templates(only)
        trigger = re.match(r"[^\s$]+", call)
        if trigger is None:
            raise _UnlikeError(f"a call begins with no mark: {call!r:.80}")
        thought_field = next((name for name in _THOUGHTS if name in self._fields), None)
        return ToolFormat(
            name="response_template", models=type(self._tokenizer).__name__, source=_SOURCE,
            call=call, argument=argument, separator=self._separator(only.opening), trigger=trigger[0],
            blanks=_LINES, text_begin=self._literal("content", "open") or "",
            thought=None if thought_field is None else self._thought(thought_field),
        )  # fmt: skip

    def _thought(self, field: str) -> Thought:
        begin, end = self._literal(field, "open"), self._literal(field, "close")
        if begin is None and end is not None:
            begin = self._last_mark_of_prompt()
        if not begin or not end:
            raise _UnlikeError(f"fields.{field} has no fixed text around it")
        return Thought(begin, end, begin_blanks=("\n",), end_blanks=("\n",), after=_LINES)

    def _last_mark_of_prompt(self) -> str | None:
        """The mark that begins a thought where the prompt has it."""
        prompt = _prompt(self._tokenizer)
        mark = re.search(r"<[^<>\s]+>\s*$", prompt)
        return mark.group().strip() if mark else None

    def _literal(self, field: str, side: str) -> str | None:
        """The text that begins or ends a field, without blanks around it; None if there is none, or not one."""
        described = self._fields.get(field, {})
        given = described.get(side)
        if isinstance(given, list):
            given = given[0] if len(given) == 1 else None
        if isinstance(given, str):
            return given
        pattern = described.get(f"{side}_pattern")
        if not isinstance(pattern, str):
            return None
        core = re.sub(r"^(\\s[*+])+|(\\s[*+])+$", "", pattern)
        plain = re.sub(r"\\([^0-9A-Za-z])", r"\1", core)
        return (
            plain
            if re.escape(plain) == re.escape(re.sub(r"\\(.)", r"\1", core)) and re.fullmatch(core, plain)
            else None
        )

    def _regions(self, count: int) -> tuple[str, list[_Region]]:
        """An answer with some calls as the chat template writes it, and these as the response template finds them."""
        opening, closing, errors = self._pattern("open"), self._pattern("close"), list[str]()
        for text in rendered_calls(self._tokenizer, count, errors):
            text = text[self._start(text) :]
            regions: list[_Region] = []
            at = 0
            while (first := opening.search(text, at)) and (last := closing.search(text, first.end())):
                at = last.end()
                begins = first.group().lstrip()
                ends = last.group().rstrip().removesuffix(self._end).rstrip()
                inner = text[first.end() : last.start()]
                regions.append(_Region(begins, inner, ends, first.end() - len(begins), last.start() + len(ends)))
            if len(regions) == count:
                return text, regions
        raise _UnlikeError(
            f"its chat template writes no {count} calls that it finds{f': {errors[0]}' if errors else ''}"
        )

    def _start(self, text: str) -> int:
        """Where the last answer begins."""
        anchor = self._template.get("start_anchor_pattern")
        if not isinstance(anchor, str):
            given = self._template.get("start_anchor", "")
            anchor = "|".join(re.escape(literal) for literal in ([given] if isinstance(given, str) else given))
        ends = [match.end() for match in re.finditer(anchor, text, re.DOTALL)]
        return ends[-1] if ends else 0

    def _pattern(self, side: str) -> re.Pattern[str]:
        field = self._fields["tool_calls"]
        pattern = field.get(f"{side}_pattern")
        if not isinstance(pattern, str):
            given = field.get(side)
            literals = [given] if isinstance(given, str) else given
            if not isinstance(literals, list) or not literals:
                raise _UnlikeError(f"fields.tool_calls has no {side}")
            pattern = "|".join(re.escape(literal) for literal in literals)
        return re.compile(pattern, re.DOTALL)

    def _templates(self, region: _Region) -> tuple[str, str]:
        """The templates of a call and of an argument; the latter empty if arguments are JSON."""
        field = self._fields["tool_calls"]
        content, options = field.get("content", "text"), field.get("content_args") or {}
        if content == "json" and not options.get("string_delims") and not options.get("unquoted_keys"):
            arguments = json.dumps(PROBE_ARGUMENTS)
            whole = region.opening + region.inner + region.closing
            return _filled(_filled(whole, arguments, "$arguments"), PROBE_NAME, "$name"), ""
        if content != "xml-inline" or not isinstance(options.get("tag_pattern"), str):
            raise _UnlikeError(
                f"fields.tool_calls: content {content!r:.40} with its content_args is no format that a record has"
            )
        matches = list(re.finditer(options["tag_pattern"], region.inner, re.DOTALL))
        if len(matches) != len(PROBE_ARGUMENTS):
            raise _UnlikeError(
                f"fields.tool_calls: its tag_pattern finds {len(matches)} arguments of {len(PROBE_ARGUMENTS)}"
            )
        first, second = (self._argument(match) for match in matches)
        before, after = region.inner[: matches[0].start()], region.inner[matches[1].end() :]
        between = region.inner[matches[0].end() : matches[1].start()]
        for cut in range(len(between), -1, -1):
            tail, lead = between[:cut], between[cut:]
            if first == second and after.startswith(tail) and before.endswith(lead):
                call = (
                    f"{region.opening}{before[: len(before) - len(lead)]}$arguments{after[len(tail) :]}{region.closing}"
                )
                return _filled(call, PROBE_NAME, "$name"), lead + first + tail
        raise _UnlikeError(f"fields.tool_calls: what is between arguments, {between!r:.40}, is not around each of them")

    def _argument(self, match: re.Match[str]) -> str:
        text, (begin, end) = match.group(), match.span("value")
        begin, end = begin - match.start(), end - match.start()
        return _filled(text[:begin], match.group("key"), "$key") + "$value" + text[end:]

    def _separator(self, opening: str) -> str:
        """What stands between two calls; nothing is known of it where the chat template writes one call only."""
        try:
            text, (first, second) = self._regions(2)
        except _UnlikeError:
            return ""
        if second.opening != opening:
            raise _UnlikeError(f"a second call begins with {second.opening!r:.60}, and the first with {opening!r:.60}")
        return text[first.end : second.begin]


def _filled(text: str, value: str, slot: str) -> str:
    """A text in which a value stands once, with a slot in its place."""
    if text.count(value) != 1 or "$" in text.replace("$arguments", ""):
        raise _UnlikeError(f"{value!r:.60} does not stand once in {text!r:.120}")
    return text.replace(value, slot)


def _disagreement(tokenizer: Any, format: ToolFormat) -> str | None:
    """What the tokenizer reads texts in a format as, if that is not what they were made of."""
    prompt = _prompt(tokenizer)
    begun = format.thought is not None and prompt.rstrip().endswith(format.thought.begin)
    reasoning: Reasoning = "begun" if begun else format.thought is not None
    given = {name: json.dumps(value) for name, value in PROBE_ARGUMENTS.items()}
    for thought, text, count in _samples(format, begun):
        calls = [format.write_call(k, PROBE_NAME, given) for k in range(count)]
        written = written_answer(format, reasoning, thought, text, calls, all_blanks=False)
        meant = thought, text, [(PROBE_NAME, dict(PROBE_ARGUMENTS))] * count
        read = [_read(tokenizer, prompt, written + end) for end in ("", str(getattr(tokenizer, "eos_token", "") or ""))]
        if meant not in read:
            return f"{written!r:.160} is read as {read[0]!r:.160}"
    return None


def _prompt(tokenizer: Any) -> str:
    """What the model's answer goes on from."""
    messages = [{"role": "user", "content": "How is it?"}]
    try:
        text = tokenizer.apply_chat_template(messages, tools=[PROBE_TOOL], tokenize=False, add_generation_prompt=True)
    except Exception:  # a template is a program of its own, which may raise anything
        return ""
    return text if isinstance(text, str) else ""


def _read(tokenizer: Any, prompt: str, text: str) -> tuple[str, str, list[tuple[Any, Any]]] | str:
    """The thought, the text and the calls that the tokenizer reads; why not, if it reads none."""
    try:
        message = tokenizer.parse_response(text, prefix=prompt, tools=[PROBE_TOOL])
    except Exception as error:  # what it raises is of its own making
        return f"{type(error).__name__}: {error}"
    functions = [call.get("function") for call in message.get("tool_calls") or ()]
    calls = [(each.get("name"), each.get("arguments")) for each in functions if isinstance(each, Mapping)]
    thought = next((message[name] for name in _THOUGHTS if message.get(name)), "")
    return str(thought).strip(), str(message.get("content") or "").strip(), calls


def _samples(format: ToolFormat, begun: bool) -> Iterator[tuple[str, str, int]]:
    """Thoughts, texts, and numbers of calls that answers are tried with."""
    thoughts = ["Hm."] if begun else ["", "Hm."] if format.thought is not None else [""]
    for thought in thoughts:
        yield thought, "A text.", 0
        yield thought, "", 1
        if format.messages is None:
            yield thought, "A text.", 1
            yield thought, "", 2
