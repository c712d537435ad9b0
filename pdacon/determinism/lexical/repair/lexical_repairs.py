"""Other patterns and priorities for terminals: tried on the grammar's own tables before they are suggested.

A repair is suggested only if the terminals do what is claimed with it, and nothing else is wrong between lexemes that
was not wrong before. What it means for texts that were read before is said with it, with an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice, permutations
from typing import Literal, TypeAlias

from pdacon.base.once import memoized
from pdacon.determinism.deadline import ADVICE, REPAIR, Deadline, OutOfTimeError
from pdacon.determinism.lexical.matching_texts import difference
from pdacon.determinism.lexical.repair.continuations import Continuations
from pdacon.determinism.lexical.repair.suggested import definition, elsewhere, read, written
from pdacon.determinism.lexical.repair.trials import NOT_TRIED, Effect, Trial
from pdacon.determinism.lexical.truncations import Truncation, find_truncations
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.errors import PdaconError
from pdacon.grammar import GrammarData, Terminal
from pdacon.lalr import Tables
from pdacon.lexer import Collision, build_lexer, compile_terminal, find_collisions, find_unbounded_lookahead

_MOST_LINES = 6
_MOST_CHOICES = 3
_MOST_ORDERS = 24
_BORDER = re.compile(r"\\b\)")
_LOOK_AHEAD = re.compile(r"\(\?![^()]*(?:\([^()]*\)[^()]*)*\\b\)")
_OPTIONAL_END = re.compile(r"(?<!\\)([\])])([?*])$")
_CLASS_AT_END = re.compile(r"(\[(?:\\.|[^\]\\])+\]|\\w|\\d)[*+]\)*$")

Problem: TypeAlias = tuple[Literal["collision", "truncated", "never", "unbounded"], tuple[int, ...]]
"""What is wrong between lexemes, and of which terminals."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A terminal with another priority, and with another pattern if one is given: with its slashes and flags."""

    terminal: int
    priority: int
    pattern: str | None = None


class Repairs:
    """Repairs of one grammar's terminals. Without tables, or when time is over, none is found."""

    def __init__(self, grammar: GrammarData, tables: Tables, texts: WitnessTexts, deadline: Deadline) -> None:
        self._grammar = grammar
        self._tables = tables
        self._texts = texts
        self._deadline = deadline
        self._made: dict[tuple[Edit, ...], WitnessTexts] = {}
        self._effects: dict[tuple[Edit, ...], Effect | None] = {}
        self._trial = Trial(texts, tables, deadline)
        self._continuations = Continuations(grammar)

    def of_collisions(self, collisions: Sequence[Collision]) -> tuple[str | None, tuple[Edit, ...]]:
        """What ends some collisions at once, and the edits by which it does; None and nothing if nothing was found.

        Together they have to be all that are connected: what parts two terminals may let one of them meet a third.
        """
        pairs = [(collision.first, collision.second) for collision in collisions]
        group = list(dict.fromkeys(k for pair in pairs for k in pair))
        goals: list[Problem] = [*(("collision", pair) for pair in pairs), *(("never", (k,)) for k in group)]
        hints = tuple(collision.witness for collision in collisions)
        strict = ([edit] for pair in pairs for edit in self._stricter(*pair))
        chosen = [found] if (found := self._best(strict, goals, hints, group)) else []
        if not chosen and len(group) == 2:
            ((first, second),) = pairs
            for raised, other in ((second, first), (first, second)):
                edits = ([edit] for edit in self._raised(raised, [other]))
                chosen += [found] if (found := self._best(edits, goals, hints, group)) else []
        elif not chosen:
            chosen = [found] if (found := self._best(self._in_order(group), goals, hints, group)) else []
        # Who parts two terminals may want the other texts, but does not want to have fewer.
        chosen = [edits for edits in chosen if self._loses_nothing(edits) or self._gains(edits)]
        if not chosen:
            return None, ()
        shown = " or\n".join(self._shown(edits, *pairs[0]) for edits in chosen)
        told = [self.told(edits, hints) for edits in chosen]
        names = ["The first: ", "The second: "] if len(chosen) > 1 else [""]
        lines = [shown, *(name + line for name, line in zip(names, told, strict=True) if line)]
        return "\n".join(lines), tuple(edit for edits in chosen for edit in edits)

    def of_unmatched(self, loser: int, winner: int, text: bytes) -> str | None:
        """What makes a terminal that is never matched because of another one, which takes this text, matched."""
        goal: Problem = "never", (loser,)
        edits = chain(self._stricter(winner, loser), self._raised(loser, [winner]))
        found = self._best(([edit] for edit in edits), [goal], [text], [loser, winner])
        return None if found is None else f"{self._shown(found, loser)}\n{self.told(found, [text])}"

    def of_truncations(self, truncations: Sequence[Truncation]) -> str | None:
        """What keeps terminals of higher priority from cutting the texts of another."""
        chosen = []
        for truncation in truncations[:_MOST_LINES]:
            terminal = self._grammar.terminals[truncation.higher]
            goal: Problem = "truncated", (truncation.higher, truncation.lower)
            patterns = self._ending(truncation.higher, [truncation.lower])
            edits = ([Edit(truncation.higher, terminal.priority, pattern)] for pattern in patterns)
            found = self._best(edits, [goal], [truncation.text], [truncation.higher, truncation.lower])
            if found is None:
                return None
            chosen += found
        texts = [truncation.text for truncation in truncations]
        if len(chosen) > 1 and not self._helps(chosen, [], texts, [truncations[0].lower]):
            return None
        more = f"\nand so on for {len(truncations) - len(chosen)} more" if len(truncations) > len(chosen) else ""
        lower = self._grammar.describe_symbol(truncations[0].lower)
        told = self.told(chosen, texts)
        shown = self._shown(chosen, truncations[0].higher)
        return f"let no more of a {lower} follow:\n{shown}{more}\n{told}".rstrip("\n")

    def of_reserving(self, terminal: int, pattern: str, overtaken: Sequence[int], hints: Iterable[bytes]) -> str | None:
        """What to write so that a terminal has a pattern, before which others are to be tried; None if it does harm."""
        own = self._grammar.terminals[terminal].priority
        edit = Edit(terminal, own, pattern)
        raised = [Edit(k, max(own, self._grammar.terminals[k].priority) + 1) for k in overtaken]
        choices = [[edit], [edit, *raised]] if raised else [[edit]]
        found = next((edits for edits in choices if self._helps(edits, [], hints, [terminal])), None)
        return None if found is None else f"{self._shown(found, terminal)}\n{self.told(found, hints)}"

    def is_harmless(
        self, terminal: int, pattern: str, hints: Iterable[bytes] = (), priority: int | None = None
    ) -> bool:
        """Whether nothing new is wrong between lexemes if a terminal has another pattern, and some texts are left;
        False if it takes long."""
        return self._helps([self._edit(terminal, pattern, priority)], [], hints, [terminal])

    def pattern_told(self, terminal: int, pattern: str, hints: Iterable[bytes], priority: int | None = None) -> str:
        """What becomes of texts if a terminal has another pattern."""
        return self.told([self._edit(terminal, pattern, priority)], hints)

    def _edit(self, terminal: int, pattern: str, priority: int | None) -> Edit:
        return Edit(terminal, self._grammar.terminals[terminal].priority if priority is None else priority, pattern)

    def other_told(self, after: WitnessTexts, hints: Iterable[bytes]) -> str:
        """What becomes of texts with a lexer that has been made already."""
        effect = self._trial.effect(after, hints, loses=True)
        return NOT_TRIED if effect is None else effect.sentence()

    def told(self, edits: Iterable[Edit], hints: Iterable[bytes]) -> str:
        """What becomes of texts with some edits, as a sentence."""
        effect = self._effect(tuple(edits), hints)
        return NOT_TRIED if effect is None else effect.sentence()

    def _effect(self, edits: tuple[Edit, ...], hints: Iterable[bytes], about: Iterable[int] = ()) -> Effect | None:
        """What some edits do; ``about``: terminals that they are for, beside those that they change."""
        if edits not in self._effects:
            after = None if self._after(edits) is None else self._made.get(edits)
            concerned = frozenset(about).union(edit.terminal for edit in edits)
            self._effects[edits] = None if after is None else self._trial.effect(after, hints, concerned)
        return self._effects[edits]

    def _best(
        self, choices: Iterable[Sequence[Edit]], goals: Sequence[Problem], hints: Iterable[bytes], about: Sequence[int]
    ) -> list[Edit] | None:
        """Of the first edits that help those that lose nothing, if there are such; else the first; None if none do."""
        helpful = (list(edits) for edits in choices if self._helps(edits, goals, hints, about))
        some = list(islice(helpful, _MOST_CHOICES))
        return next((edits for edits in some if self._loses_nothing(edits)), some[0] if some else None)

    def _gains(self, edits: Sequence[Edit]) -> bool:
        effect = self._effects.get(tuple(edits))
        return effect is not None and effect.gained is not None

    def _loses_nothing(self, edits: Sequence[Edit]) -> bool:
        """As far as is known; what cannot be tried is said with it."""
        effect = self._effects.get(tuple(edits))
        return effect is None or effect.lost is None

    def _stricter(self, *terminals: int) -> Iterator[Edit]:
        """A pattern that asks for its optional end, or whose words end where the rest of it cannot go on."""
        for k, other in (terminals, terminals[::-1]):
            terminal = self._grammar.terminals[k]
            assert terminal.pattern is not None
            if terminal.pattern.kind != "re":
                continue
            value, flags = terminal.pattern.value, terminal.pattern.flags
            again = _repeated_at_end(value)
            if again is not None and _LOOK_AHEAD.search(value):
                border = f"(?!{again}))"
                yield Edit(k, terminal.priority, written(border.join(_BORDER.split(value)), flags))
            if _OPTIONAL_END.search(value) and "|" not in value:
                stricter = _OPTIONAL_END.sub(lambda m: m.group(1) + ("+" if m.group(2) == "*" else ""), value)
                pattern = written(stricter, flags)
                if self._loses_only(k, pattern, other):
                    yield Edit(k, terminal.priority, pattern)

    def _loses_only(self, terminal: int, pattern: str, other: int) -> bool:
        """Whether a pattern is a terminal's own but for texts of another terminal."""
        grammar = self._grammar
        try:
            new = read(grammar, pattern)
            old, taken = (compile_terminal(grammar, grammar.terminals[k]) for k in (terminal, other))
            return (
                difference(old, compile_terminal(new, new.terminals[0]), taken, use_bytes=grammar.options.use_bytes)
                is None
            )
        except (PdaconError, OverflowError):
            return False

    def _raised(self, higher: int, lower: Sequence[int]) -> Iterator[Edit]:
        """A priority above that of other terminals; as it stands, or so that it takes no part of the others' texts."""
        above = max(self._grammar.terminals[k].priority for k in (higher, *lower)) + 1
        yield Edit(higher, above)
        for pattern in self._ending(higher, lower):
            yield Edit(higher, above, pattern)

    def _in_order(self, group: Sequence[int]) -> Iterator[list[Edit]]:
        """Priorities for several terminals, each of which ends only where neither it nor one after it has more."""
        lowest = max(self._grammar.terminals[k].priority for k in group)
        for order in islice(permutations(group), _MOST_ORDERS):
            edits = []
            for at, terminal in enumerate(order[:-1]):
                pattern = next(iter(self._ending(terminal, order[at + 1 :])), None)
                edits.append(Edit(terminal, lowest + len(order) - 1 - at, pattern))
            yield edits

    def _ending(self, higher: int, lower: Sequence[int]) -> Iterator[str]:
        """The pattern of one terminal so that it matches only where no more of it or of others follows."""
        terminal = self._grammar.terminals[higher]
        if terminal.pattern is None or any(self._grammar.terminals[k].pattern is None for k in lower):
            return
        if self._deadline.passed():
            return  # nobody would try it
        try:
            further = self._continuations.pattern(higher, lower)
        except PdaconError:
            return
        if further:
            literal = terminal.pattern.kind == "str"
            value = re.escape(terminal.pattern.value) if literal else terminal.pattern.value
            value = f"(?:{value})" if "|" in value and not _is_one_group(value) else value
            yield written(f"{value}(?!{further})", terminal.pattern.flags)

    def _helps(
        self, edits: Sequence[Edit], goals: Iterable[Problem], hints: Iterable[bytes] = (), about: Iterable[int] = ()
    ) -> bool:
        """Whether what the edits are for is gone, nothing new is wrong, and it is known that not all texts are lost."""
        after = self._after(tuple(edits))
        if after is None or after.intersection(goals) or not after <= (self._after(()) or frozenset()):
            return False
        effect = self._effect(tuple(edits), hints, about)
        return effect is None or (effect.is_known and not effect.ends)

    @memoized
    def _after(self, edits: tuple[Edit, ...]) -> frozenset[Problem] | None:
        """What is wrong with some edits; None if they make no lexer, or it takes too long."""
        if not self._deadline.passed():
            with suppress(PdaconError, OutOfTimeError):
                return self._problems(edits)
        return None

    def _problems(self, edits: tuple[Edit, ...]) -> frozenset[Problem]:
        grammar, texts = self._grammar, self._texts
        if edits:
            edited = {edit.terminal: _edited(grammar, edit) for edit in edits}
            grammar = _with_terminals(grammar, edited)
            texts = WitnessTexts(grammar, build_lexer(grammar, self._tables, REPAIR))
            self._made[edits] = texts
        collisions = find_collisions(texts.lexer, ADVICE)
        found: set[Problem] = {("collision", (c.first, c.second)) for c in collisions}
        found |= {("collision", (second, first)) for _, (first, second) in list(found)}
        found |= {("truncated", (one.higher, one.lower)) for one in find_truncations(texts, self._deadline)}
        found |= {("never", (terminal,)) for terminal in texts.never_matched}
        found |= {
            ("unbounded", () if one.terminal is None else (one.terminal,))
            for one in find_unbounded_lookahead(texts.lexer)
        }
        return frozenset(found)

    def _shown(self, edits: Iterable[Edit], *places: int) -> str:
        """Lines for a finding whose place is that of the first of some terminals that has one."""
        home = next((span.path for k in places if (span := self._grammar.terminals[k].span) is not None), None)
        lines = []
        for edit in edits:
            terminal = self._grammar.terminals[edit.terminal]
            pattern = edit.pattern or terminal.literal or _as_it_is(terminal)
            where = elsewhere(self._grammar, edit.terminal, home)
            lines += [f"{where.removeprefix(', ')}:"] if where else []
            lines.append(f"  {definition(self._grammar, edit.terminal, pattern, edit.priority, home)}")
        return "\n".join(lines)


def _as_it_is(terminal: Terminal) -> str:
    """The pattern of a terminal in Lark's language."""
    assert terminal.pattern is not None
    value, flags = terminal.pattern.value, terminal.pattern.flags
    if terminal.pattern.kind == "re":
        return written(value, flags)
    quoted = value.encode("unicode_escape").decode("ascii") if not value.isprintable() else value.replace("\\", "\\\\")
    return '"' + quoted.replace('"', '\\"') + '"' + "".join(sorted(flags))


def _edited(grammar: GrammarData, edit: Edit) -> Terminal:
    terminal = replace(grammar.terminals[edit.terminal], priority=edit.priority)
    return (
        terminal
        if edit.pattern is None
        else replace(terminal, pattern=read(grammar, edit.pattern).terminals[0].pattern)
    )


def _with_terminals(grammar: GrammarData, edited: Mapping[int, Terminal]) -> GrammarData:
    terminals = tuple(edited.get(k, terminal) for k, terminal in enumerate(grammar.terminals))
    return replace(grammar, terminals=terminals)


def _repeated_at_end(value: str) -> str | None:
    """The character class or the group that a pattern repeats at its end; None if it is nothing so simple."""
    found = _CLASS_AT_END.search(value)
    if found is not None:
        return found.group(1)
    if not value.endswith((")*", ")+")):
        return None
    for begin in (m.start() for m in re.finditer(r"\(", value)):
        try:
            re.compile(value[begin:-1])
        except re.error:
            continue
        if _depths(value[begin:-1]) == 1:
            return value[begin:-1]
    return None


def _depths(group: str) -> int:
    """How often a pattern that begins with a group is back at its outside; escapes and classes are left out."""
    plain = re.sub(r"\\.|\[(?:\\.|[^\]\\])+\]", "", group)
    depth = outside = 0
    for character in plain:
        depth += (character == "(") - (character == ")")
        outside += depth == 0
    return outside


def _is_one_group(value: str) -> bool:
    """Whether a pattern is a group and nothing else."""
    return re.fullmatch(r"\((?:\?:)?(?:\\.|[^()\\])*\)", value) is not None
