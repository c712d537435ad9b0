"""A format, and what a request asks for, as a tree of the parts of an answer.

In: a `ToolFormat`; whether calls may or must come, and whether there is a thought. Out: a tree. The grammar of answers
and the states of their reader are both made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pdacon.frontends.tool_formats.records import Messages, Part, Thought, ToolFormat, parts_of_template
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, Tree

Choice: TypeAlias = Literal["auto", "required", "none"]
Reasoning: TypeAlias = "bool | Literal['begun']"


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed text. One of ``blanks`` may stand before it. ``in_text``: free text is before that."""

    text: str
    blanks: tuple[str, ...] = ()
    in_text: bool = True


@dataclass(frozen=True, slots=True)
class Blanks:
    """One of some blanks, or nothing. ``in_text``: free text follows, which could have them, too."""

    texts: tuple[str, ...]
    in_text: bool


@dataclass(frozen=True, slots=True)
class Free:
    """Free text that has none of ``stops``, and ends where what follows it begins.

    ``not_first`` is what it does not begin with, if that is not empty.
    """

    role: Literal["reasoning", "text"]
    stops: tuple[str, ...]
    not_first: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """A text of a grammar, in the place of free text."""


@dataclass(frozen=True, slots=True)
class CallParts:
    """A call of one of the tools: the parts of its template, the first of them without the trigger."""

    parts: tuple[Part, ...]


Leaf: TypeAlias = "Fixed | Blanks | Free | Content | CallParts"
Layout: TypeAlias = Tree[Leaf]
NOTHING: Layout = InOrder(())


def layout(
    format: ToolFormat, choice: Choice, parallel: bool, reasoning: Reasoning, has_content: bool = False
) -> Layout:
    """The parts of an answer.

    Parameters
    ----------
    choice : {"auto", "required", "none"}
        Whether there may be calls, must be one at least and nothing else, or is none.
    parallel : bool
        Whether there may be more than one.
    reasoning : bool or "begun"
        Whether a thought may come first; ``"begun"``: the prompt has begun it, so that the answer goes on with it.
    has_content : bool
        Whether a grammar says what text there is. Then there is either such a text or calls.
    """
    if reasoning and format.thought is None:
        raise ValueError(f"the format {format.name} has no thoughts; leave out reasoning={reasoning!r}")
    if format.messages is not None:
        return _of_messages(format, format.messages, choice, reasoning, has_content)
    if not reasoning or format.thought is None:
        return _body(format, choice, parallel, "" if format.text_begun else format.text_begin, has_content)
    body = _body(format, choice, parallel, format.text_begin, has_content)
    begun = reasoning == "begun"
    after = Blanks(format.thought.after, in_text=not (choice == "required" or format.text_begin or has_content))
    thought: Layout = InOrder((_thought(format.thought, begun=begun), after))
    return InOrder((thought if begun else Repeated(thought, 0, 1), body))


def _of_messages(
    format: ToolFormat, messages: Messages, choice: Choice, reasoning: Reasoning, has_content: bool
) -> Layout:
    """Thoughts and preambles, then a text or a call. Where a grammar says what the text is, there are no preambles."""
    thought, (begin, end) = format.thought, messages.preamble
    preamble: Layout = InOrder((Fixed(begin), Free("text", (end,)), Fixed(end)))
    before: list[Layout] = [] if has_content else [preamble]
    first: Layout = NOTHING
    if reasoning and thought is not None:
        before.insert(0, _thought(thought, begun=False))
        first = _thought(thought, begun=True) if reasoning == "begun" else NOTHING
    text: Layout = Content() if has_content else Free("text", format.marks)
    final: Layout = InOrder((Fixed(format.text_begin), text))
    calls: list[Layout] = [CallParts(parts_of_template(template)) for template in (format.call, *messages.calls)]
    last: list[Layout] = [] if choice == "required" else [final]
    last += [] if choice == "none" else calls
    return InOrder((first, Repeated(OneOf(tuple(before)), 0, None) if before else NOTHING, OneOf(tuple(last))))


def _thought(thought: Thought, *, begun: bool) -> Layout:
    inner = Free("reasoning", (thought.end,))
    parts = (Blanks(thought.begin_blanks, in_text=True), inner, Fixed(thought.end, thought.end_blanks))
    return InOrder(parts if begun else (Fixed(thought.begin, thought.before, in_text=False), *parts))


def _body(format: ToolFormat, choice: Choice, parallel: bool, text_begin: str, has_content: bool) -> Layout:
    free: Layout = Free("text", (format.text_end,) if format.text_end else format.marks)
    if format.calls_alone and not format.text_end:
        free = Free("text", (), format.trigger)
    if has_content:
        free = Content()
    text: Layout = InOrder((Fixed(text_begin), free, Fixed(format.text_end)))
    close = Fixed(format.close)
    if choice == "none":
        return InOrder((text, close))
    if choice == "required":
        without = Fixed("" if format.calls_alone else text_begin + format.text_end)
        return InOrder((without, *_calls(format, parallel, several=True), close))
    if has_content or format.calls_alone:
        without = Fixed("" if format.calls_alone else text_begin + format.text_end)
        calls: Layout = InOrder((without, *_calls(format, parallel, several=True)))
        return InOrder((OneOf((text, calls)), close))
    if format.text_end:
        return InOrder((text, Repeated(InOrder(_calls(format, parallel, several=True)), 0, 1), close))
    if format.text_after and parallel:
        calls = InOrder((free, *_calls(format, parallel, several=bool(format.begin))))
        return InOrder((Repeated(calls, 0, None), free, close))
    return OneOf((InOrder((free, *_calls(format, parallel, several=True), close)), InOrder((free, close))))


def _calls(format: ToolFormat, parallel: bool, *, several: bool) -> tuple[Layout, ...]:
    """Calls with what stands around them: one, or several with what is between two of them."""
    trigger, begin, template = format.trigger, format.begin, format.call
    marker, end = Fixed(trigger, format.blanks), Fixed(format.end)
    blank = Blanks(format.trigger_blanks, in_text=False)
    call = CallParts(parts_of_template(template if begin else template[len(trigger) :]))
    opening = Fixed(begin[len(trigger) :])
    if not (parallel and several):
        return marker, blank, opening, call, end
    if begin and not format.separator:
        return marker, blank, opening, Repeated(call, 1, None), end
    another: Layout = InOrder((Fixed(format.separator if begin else format.separator + trigger), call))
    return marker, blank, opening, call, Repeated(another, 0, None), end


def stops_of(tree: Layout, role: Literal["reasoning", "text"]) -> tuple[str, ...]:
    """The texts that a thought or a text of an answer never has."""
    if isinstance(tree, Free):
        return tree.stops if tree.role == role else ()
    items = tree.items if isinstance(tree, InOrder | OneOf) else (tree.item,) if isinstance(tree, Repeated) else ()
    return tuple(dict.fromkeys(stop for item in items for stop in stops_of(item, role)))
