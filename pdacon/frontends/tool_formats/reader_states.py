"""The tree of an answer as the states of a reader.

In: a layout, and how its special tokens are spelled in what is read. Out: the first `State`. A state says what may come
next: free text up to one of some texts, one of these texts at once, or a value of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from typing import Any, Literal, TypeAlias

from pdacon.frontends.tool_formats.layouts import Blanks, CallParts, Content, Fixed, Free, Layout
from pdacon.frontends.tool_formats.records import Open, Part, Slot, ToolFormat, ValueMarks, parts_of_template
from pdacon.grammar.expressions import InOrder, OneOf, Repeated

Role: TypeAlias = Literal[
    "fixed",  # one of the exits comes at once, or else what `otherwise` says
    "reasoning", "text", "name", "index", "key", "type", "is_string",  # text up to an exit
    "raw",  # the same: a string as it is
    "whole",  # the same: a value that is looked at when all of it is there; `then` once it is certain to be a string
    "json",  # a value of JSON, then `then`
    "marked",  # arguments in a notation of the format's own, then `then`
    "value",  # the value of an argument: one of `values`
    "end",  # a call ends here; the reader goes on with `then` at once
]  # fmt: skip


_CAPTURED: dict[Slot, Role] = {"name": "name", "index": "index", "key": "key", "type": "type", "is_string": "is_string"}
"""What is left open in templates and read up to what follows it."""


@dataclass(eq=False, slots=True)
class State:
    """Where a reader stands.

    Attributes
    ----------
    exits : dict of str to State
        Texts that may come, and where they lead.
    may_end : bool
        Whether the answer may end here.
    """

    role: Role
    exits: dict[str, State] = field(default_factory=dict)
    may_end: bool = False
    otherwise: State | None = None
    then: State | None = None
    values: dict[str, State] = field(default_factory=dict)
    marks: ValueMarks | None = None
    ordered: tuple[str, ...] = ()
    first_characters: tuple[str, ...] = ()


def states_of(format: ToolFormat, layout: Layout, spelled: Mapping[str, str]) -> State:
    """The first state of a reader of answers.

    Parameters
    ----------
    spelled : mapping
        Of each special token of the format what stands for it in what is read.
    """
    builder = _Builder(format, spelled)
    start = builder.state(layout, builder.added(State("fixed", may_end=True)))
    for state in builder.all:
        state.ordered = tuple(sorted(state.exits, key=len, reverse=True))
        state.first_characters = tuple(sorted({text[0] for text in state.exits}))
    return start


class _Builder:
    """Makes the states from the end of the tree to its beginning: each knows the one that follows it."""

    def __init__(self, format: ToolFormat, spelled: Mapping[str, str]) -> None:
        self._format, self._spelled = format, spelled
        self.all: list[State] = []

    def added(self, state: State) -> State:
        self.all.append(state)
        return state

    def state(self, layout: Layout, follow: State) -> State:
        """The state where a part of the tree begins, which `follow` comes after."""
        if isinstance(layout, Fixed):
            return self._fixed(layout.text, layout.blanks, follow)
        if isinstance(layout, Blanks):
            exits = dict.fromkeys(layout.texts, follow)
            return self._either(self.added(State("fixed", exits)), follow) if exits else follow
        if isinstance(layout, Free):
            return self._text(layout.role, follow)
        if isinstance(layout, Content):
            return self._text("text", follow)
        if isinstance(layout, CallParts):
            return self._call(layout.parts, follow)
        if isinstance(layout, OneOf):
            return reduce(self._either, [self.state(item, follow) for item in layout.items])
        if isinstance(layout, Repeated):
            return self._repeated(layout.item, layout.least, layout.most, follow)
        assert isinstance(layout, InOrder)
        for item in reversed(layout.items):
            follow = self.state(item, follow)
        return follow

    def _repeated(self, item: Layout, least: int, most: int | None, follow: State) -> State:
        """Something any number of times, at least once, or once at most."""
        if most is not None:
            return self._either(self.state(item, follow), follow)
        again = self.added(State("fixed"))
        first = self.state(item, again)
        both = self._either(first, follow)
        for name in ("role", "exits", "may_end", "otherwise", "then", "values"):
            setattr(again, name, getattr(both, name))
        return first if least else again

    def _either(self, first: State, second: State) -> State:
        """Two states as one. Where both have free text, it is the same, and goes on as either does."""
        if first.role == "fixed" and second.role == "fixed":
            otherwise = first.otherwise or second.otherwise
            if first.otherwise and second.otherwise:
                otherwise = self._either(first.otherwise, second.otherwise)
            may_end = first.may_end or second.may_end
            return self.added(State("fixed", {**second.exits, **first.exits}, may_end, otherwise))
        if first.role == second.role:
            may_end = first.may_end or second.may_end
            return self.added(State(first.role, {**second.exits, **first.exits}, may_end))
        fixed, free = (first, second) if first.role == "fixed" else (second, first)
        assert fixed.role == "fixed"
        otherwise = free if fixed.otherwise is None else self._either(fixed.otherwise, free)
        return self.added(State("fixed", fixed.exits, fixed.may_end or free.may_end, otherwise))

    def _fixed(self, text: str, blanks: Sequence[str], follow: State) -> State:
        text = self._spell(text)
        return self.added(State("fixed", {blank + text: follow for blank in ("", *blanks)})) if text else follow

    def _text(self, role: Role, follow: State) -> State:
        """Free text: it goes on up to what may come after it."""
        assert follow.role == "fixed"
        return self.added(State(role, follow.exits, follow.may_end))

    def _call(self, parts: Sequence[Part], follow: State) -> State:
        follow = self.added(State("end", then=follow))
        for part in reversed(parts):
            if isinstance(part, str):
                follow = self._fixed(part, (), follow)
            elif self._format.messages is not None and (texts := self._format.messages.texts(part.slot)):
                follow = reduce(self._either, [self._fixed(text, (), follow) for text in texts])
            elif part.slot in _CAPTURED:
                follow = self._text(_CAPTURED[part.slot], follow)
            elif self._format.value_marks is not None:
                follow = self.added(State("marked", then=follow, marks=self._marks(self._format.value_marks)))
            elif self._format.tagged:
                follow = self._arguments(follow)
            else:
                follow = self.added(State("json", then=follow))
        return follow

    def _marks(self, marks: ValueMarks) -> ValueMarks:
        """Marks as they are spelled in what is read."""
        spelled: dict[str, Any] = {
            each.name: tuple(map(self._spell, value)) if isinstance(value, tuple) else self._spell(value)
            for each in fields(marks)
            if not isinstance(value := getattr(marks, each.name), bool)
        }
        return replace(marks, **spelled)

    def _spell(self, text: str) -> str:
        for token, spelled in self._spelled.items():
            text = text.replace(token, spelled)
        return text

    def _arguments(self, follow: State) -> State:
        """Arguments that are tagged one by one."""
        again = self.added(State("fixed"))
        state: State = again
        for text in reversed(self._format.value_end):
            state = self._fixed(text, (), state)
        state = self._value(state)
        for part in reversed(parts_of_template(self._format.argument.partition("$value")[0])):
            state = self._text(_CAPTURED[part.slot], state) if isinstance(part, Open) else self._fixed(part, (), state)
        both = self._either(state, follow)
        nothing = self._fixed(self._format.no_arguments, (), follow)
        if nothing is not follow:
            both = self._either(both, nothing)
        again.exits, again.may_end = both.exits, both.may_end
        return again

    def _value(self, follow: State) -> State:
        values = {"raw": self._text("raw", follow), "whole": self._text("whole", follow)}
        values["whole"].then = values["raw"]
        values["json"] = self.added(State("json", then=follow))
        return self.added(State("value", values=values))
