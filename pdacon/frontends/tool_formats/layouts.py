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
    """Free text that has none of ``stops``, and ends where what follows it begins."""

    role: Literal["reasoning", "text"]
    stops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallParts:
    """A call of one of the tools: the parts of its template, the first of them without the trigger."""

    parts: tuple[Part, ...]


Leaf: TypeAlias = "Fixed | Blanks | Free | CallParts"
Layout: TypeAlias = Tree[Leaf]
NOTHING: Layout = InOrder(())


def layout(format: ToolFormat, choice: Choice, parallel: bool, reasoning: Reasoning) -> Layout:
    """The parts of an answer.

    Parameters
    ----------
    choice : {"auto", "required", "none"}
        Whether there may be calls, must be one at least and nothing else, or is none.
    parallel : bool
        Whether there may be more than one.
    reasoning : bool or "begun"
        Whether a thought may come first; ``"begun"``: the prompt has begun it, so that the answer goes on with it.
    """
    if reasoning and format.thought is None:
        raise ValueError(f"the format {format.name} has no thoughts; leave out reasoning={reasoning!r}")
    if format.messages is not None:
        return _of_messages(format, format.messages, choice, reasoning)
    if not reasoning or format.thought is None:
        return _body(format, choice, parallel, "" if format.text_begun else format.text_begin)
    body = _body(format, choice, parallel, format.text_begin)
    begun = reasoning == "begun"
    after = Blanks(format.thought.after, in_text=choice != "required" and not format.text_begin)
    thought: Layout = InOrder((_thought(format.thought, begun=begun), after))
    return InOrder((thought if begun else Repeated(thought, 0, 1), body))


def _of_messages(format: ToolFormat, messages: Messages, choice: Choice, reasoning: Reasoning) -> Layout:
    """Thoughts and preambles, then a text or a call."""
    thought, (begin, end) = format.thought, messages.preamble
    before: list[Layout] = [InOrder((Fixed(begin), Free("text", (end,)), Fixed(end)))]
    first: Layout = NOTHING
    if reasoning and thought is not None:
        before.insert(0, _thought(thought, begun=False))
        first = _thought(thought, begun=True) if reasoning == "begun" else NOTHING
    final: Layout = InOrder((Fixed(format.text_begin), Free("text", format.marks)))
    calls: list[Layout] = [CallParts(parts_of_template(template)) for template in (format.call, *messages.calls)]
    last: list[Layout] = [] if choice == "required" else [final]
    last += [] if choice == "none" else calls
    return InOrder((first, Repeated(OneOf(tuple(before)), 0, None), OneOf(tuple(last))))


def _thought(thought: Thought, *, begun: bool) -> Layout:
    inner = Free("reasoning", (thought.end,))
    parts = (Blanks(thought.begin_blanks, in_text=True), inner, Fixed(thought.end, thought.end_blanks))
    return InOrder(parts if begun else (Fixed(thought.begin, thought.before, in_text=False), *parts))


def _body(format: ToolFormat, choice: Choice, parallel: bool, text_begin: str) -> Layout:
    free = Free("text", (format.text_end,) if format.text_end else format.marks)
    text: Layout = InOrder((Fixed(text_begin), free, Fixed(format.text_end)))
    close = Fixed(format.close)
    if choice == "none":
        return InOrder((text, close))
    if choice == "required":
        without = Fixed(text_begin + format.text_end)
        return InOrder((without, *_calls(format, parallel, several=True), close))
    if format.text_end:
        return InOrder((text, Repeated(InOrder(_calls(format, parallel, several=True)), 0, 1), close))
    if format.text_after and parallel:
        calls: Layout = InOrder((free, *_calls(format, parallel, several=bool(format.begin))))
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
