"""Backreferences and conditional groups, where they are regular: the tree of a pattern without them.

What a group has matched is not regular, unless that is one of a few texts. Then what follows the group in its sequence
is written once for each of them, as ordered alternatives: ``(?P<q>'|")x(?P=q)`` is ``'x'|"x"``. After an optional
group, or one in an alternative, it is written once more for where the group has matched nothing; that is all that a
conditional group asks for. A backtracking matcher tries the same things in the same order.

This is exact where what refers to a group stands behind it in the same sequence. Elsewhere it is refused: a group in a
loop keeps what it matched in an earlier round, and one inside look-around or an atomic group is settled before what
follows is looked at.

Source: CPython's ``Lib/re/_parser.py`` for the tree; ``Modules/_sre/sre_lib.h``, GROUPREF and GROUPREF_EXISTS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn, TypeAlias

from pdacon.errors import UnsupportedGrammarError
from pdacon.regular.ordered import sre
from pdacon.regular.ordered.classes import character_set
from pdacon.regular.ordered.matched import LONGEST, Node, Way, texts
from pdacon.regular.ordered.unicode_sets import unicode_set

Text: TypeAlias = tuple[int, ...]
"""Code points."""

Matched: TypeAlias = Mapping[int, Text | bool]
"""What groups have matched: a text, True where nobody asks which, False for nothing. Others are not known here."""

_MOST_TEXTS = 100
_MOST_COPIES = 1000

_CHARACTERS = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})
_FEW = "let its group match a few texts only, such as ={0,3} for =*, or write out as alternatives what may be repeated"
_PLACE = (
    "write its group before it in the same alternative, both of them within or without the same repetition, "
    "look-around or atomic group"
)
_CASED = "write out as alternatives what may be repeated, or leave the flag i out"


def without_references(tree: Any, regexp: str, flags: int) -> Any:
    """The tree of a pattern without backreferences and conditional groups; the same object if it has none.

    ``flags``: those in force at the start of the pattern.
    Raises UnsupportedGrammarError: one of them is not regular, or it is not seen to be; the message says where it is
    and what to write instead.
    """
    references = _references(tree.data) if tree.state.groups > 1 else set()
    return _Writer(tree, regexp, flags, references).written() if references else tree


_NAMES = {"GROUPREF": "backreference", "GROUPREF_EXISTS": "conditional_group"}


class _Writer:
    def __init__(self, tree: Any, regexp: str, flags: int, references: set[tuple[str, int]]) -> None:
        self._tree, self._regexp, self._flags = tree, regexp, flags
        self._asked = {group for _, group in references}
        self._repeated = {group for name, group in references if name == "GROUPREF"}
        self._copies = 0

    def written(self) -> Any:
        return self._pack(self._sequence(self._tree.data, self._flags, {}, looped=False))

    def _sequence(self, nodes: Sequence[Node], flags: int, matched: Matched, *, looped: bool) -> list[Node]:
        """Nodes without references; ``looped``: within a repetition."""
        written: list[Node] = []
        for index, (operator, argument) in enumerate(nodes):
            name, rest = operator.name, nodes[index + 1 :]
            if name == "GROUPREF":
                text = self._repeated_text(argument, matched)
                written += [(sre.FAILURE, ())] if text is None else self._literals(text, flags)
            elif name == "GROUPREF_EXISTS":
                group, then, otherwise = argument
                if group not in matched:
                    self._refuse(name, _PLACE)
                chosen, passed = (otherwise, then) if matched[group] is False else (then, otherwise)
                missing = set() if looped else self._groups(passed or ())
                matched = {**matched, **dict.fromkeys(missing, False)}
                return written + self._sequence([*(chosen or ()), *rest], flags, matched, looped=looped)
            elif name == "SUBPATTERN" and argument[0] in self._repeated:
                return [*written, self._one_for_each_text(argument, rest, flags, matched, looped)]
            elif name == "SUBPATTERN" and argument[0] in self._asked:
                written.append(self._inside((operator, argument), flags, matched, looped))
                matched = {**matched, argument[0]: True}
            elif ways := self._ways((operator, argument), rest, looped):
                branches = [
                    self._sequence([*way, *rest], flags, {**matched, **dict.fromkeys(missing, False)}, looped=looped)
                    for way, missing in ways
                ]
                return [*written, self._branch(branches)]
            else:
                written.append(self._inside((operator, argument), flags, matched, looped))
        return written

    def _one_for_each_text(
        self, group: tuple[int, int, int, Any], rest: Sequence[Node], flags: int, matched: Matched, looped: bool
    ) -> Node:
        number, _, _, body = group
        few = list(islice(self._texts(body.data, flags, matched), _MOST_TEXTS + 1))
        if len(few) > _MOST_TEXTS:
            self._refuse("GROUPREF", _FEW)
        return self._branch(
            [
                self._literals(text, flags) + self._sequence(rest, flags, {**matched, number: text}, looped=looped)
                for text in dict.fromkeys(few)
            ]
        )

    def _ways(self, node: Node, rest: Sequence[Node], looped: bool) -> list[tuple[Sequence[Node], set[int]]]:
        """The ways past a node with groups that the rest asks for, in order, each with those that match nothing on it.

        Empty if it has none, or none that can be seen from outside.
        """
        operator, argument = node
        if not self._groups([node]) & {group for _, group in _references(rest)}:
            return []
        if operator.name == "SUBPATTERN" and argument[1:3] == (0, 0):
            return [(argument[3].data, set())]
        ways: list[tuple[Sequence[Node], set[int]]] = []
        if operator.name in ("MAX_REPEAT", "MIN_REPEAT") and argument[:2] == (0, 1) and argument[2].getwidth()[0]:
            ways = [(argument[2].data, set()), ((), self._groups(argument[2].data))]
            ways = ways if operator.name == "MAX_REPEAT" else ways[::-1]
        elif operator.name == "BRANCH":
            every = self._groups([node])
            ways = [(branch.data, every - self._groups(branch.data)) for branch in argument[1]]
        # In a loop they may have matched in an earlier round.
        return [(way, set()) for way, _ in ways] if looped else ways

    def _inside(self, node: Node, flags: int, matched: Matched, looped: bool) -> Node:
        """A node in whose parts nothing refers to groups any more."""
        operator, argument = node
        if operator.name == "SUBPATTERN":
            flags = sre.scoped_flags(flags, argument[1], argument[2])
        looped = looped or (operator.name.endswith("REPEAT") and argument[1] > 1)
        return operator, _changed(
            argument, lambda part: self._pack(self._sequence(part.data, flags, matched, looped=looped))
        )

    def _repeated_text(self, group: int, matched: Matched) -> Text | None:
        """What a backreference reads; None if it fails, because its group has matched nothing."""
        text = matched.get(group, True)
        if text is True:
            self._refuse("GROUPREF", _PLACE)
        return None if text is False else text

    def _texts(self, nodes: Sequence[Node], flags: int, matched: Matched) -> Iterator[Text]:
        """What a sequence can match, in order."""
        nothing: Text = ()
        for text in texts(nodes, flags, lambda node, inside: self._ways_past(node, inside, matched), nothing):
            if len(text) > LONGEST:
                self._refuse("GROUPREF", _FEW)
            yield text

    def _ways_past(self, node: Node, flags: int, matched: Matched) -> Iterator[Way[Text]]:
        operator, argument = node
        name = operator.name
        if name in _CHARACTERS:
            for first, last in character_set(operator, argument, flags):
                yield from (((point,), (), flags) for point in range(first, last + 1))
        elif name == "BRANCH":
            yield from (((), branch.data, flags) for branch in argument[1])
        elif name == "SUBPATTERN" and argument[0] not in self._asked:
            yield (), argument[3].data, sre.scoped_flags(flags, *argument[1:3])
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and argument[1] <= _MOST_TEXTS and argument[2].getwidth()[0]:
            least, most, body = argument
            again = [*body.data, (operator, (max(least - 1, 0), most - 1, body))]
            ways: list[Way[Text]] = [((), again, flags)] if most else []
            ways += [((), (), flags)] if least == 0 else []
            yield from ways if name == "MAX_REPEAT" else reversed(ways)
        elif name == "GROUPREF":
            repeated = self._repeated_text(argument, matched)
            yield from () if repeated is None else ((repeated, (), flags),)
        else:
            self._refuse("GROUPREF", _FEW)

    def _literals(self, text: Text, flags: int) -> list[Node]:
        if flags & sre.IGNORECASE and any(first <= p <= last for p in text for first, last in unicode_set("cased")):
            self._refuse("GROUPREF", _CASED)
        return [(sre.LITERAL, point) for point in text]

    def _branch(self, branches: list[list[Node]]) -> Node:
        self._copies += len(branches)
        if self._copies > _MOST_COPIES:
            self._refuse(next(iter(_NAMES)), _FEW)
        return (sre.BRANCH, (None, list(map(self._pack, branches)))) if branches else (sre.FAILURE, ())

    def _groups(self, nodes: Sequence[Node]) -> set[int]:
        """The groups in these nodes that something refers to."""
        return {arg[0] for op, arg in _all(nodes) if op.name == "SUBPATTERN" and arg[0] in self._asked}

    def _pack(self, nodes: list[Node]) -> Any:
        return sre.sequence(self._tree, nodes)

    def _refuse(self, name: str, advice: str) -> NoReturn:
        construct = _NAMES[name]
        found = sre.first_of({construct, f"numbered_{construct}"}, self._regexp, self._flags)
        _, text, column = found or (construct, "", 1)
        feature = construct.replace("_", "-")
        place = f"at column {column} of the pattern {sre.quoted(self._regexp)}"
        raise UnsupportedGrammarError(f"the {feature} {text} {place} is not supported", feature=feature, advice=advice)


def _references(nodes: Sequence[Node]) -> set[tuple[str, int]]:
    """What refers to groups in these nodes: of which kind, and to which."""
    return {(op.name, arg if op.name == "GROUPREF" else arg[0]) for op, arg in _all(nodes) if op.name in _NAMES}


def _all(nodes: Sequence[Node]) -> Iterator[Node]:
    """These nodes, and those that they consist of."""
    pending: list[Any] = []
    for node in nodes:
        yield node
        pending.append(node[1])
    while pending:
        part = pending.pop()
        if sre.is_sequence(part):
            yield from part.data
            pending += [argument for _, argument in part.data]
        elif isinstance(part, (tuple, list)):
            pending += part


def _changed(argument: Any, change: Callable[[Any], Any]) -> Any:
    """What a node consists of, with its sequences changed."""
    if sre.is_sequence(argument):
        return change(argument)
    if isinstance(argument, (tuple, list)):
        return type(argument)(_changed(piece, change) for piece in argument)
    return argument
