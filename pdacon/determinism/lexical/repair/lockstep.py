"""Whether a repair keeps every text, decided on lexemes: both lexers read all texts side by side.

In: the tables, which both grammars have, and the two lexing automata. Out: whether each text of the one grammar is
certain to be a text of the other one. What is decided: wherever a lexeme begins, in each context that both
parsers can be in together, both lexers commit the same terminal with the same bytes, whatever follows of which the one
grammar can make something. By induction both parsers then get the same terminals. Where the other lexer commits
another terminal for the same bytes, it is enough that the rules have each of them wherever they have the other one.

The parser is taken for the finite automaton of its LR states, so that a place where the two part may be one that no
text leads to: what is said to be kept is kept, and what is not has to be tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon.determinism.deadline import Deadline, OutOfTimeError
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables

_MOST_PAIRS = 60_000
_MOST_STEPS = 15_000

_DEAD = -1

Place: TypeAlias = tuple[int, int, int, int]
"""Where a lexeme begins: the context of the one lexer and that of the other, and the left context for each."""

Follow: TypeAlias = frozenset[tuple[int, int]]
"""What the one lexer can be in after a lexeme: a context and a state."""


def kept(tables: Tables, one: WitnessTexts, other: WitnessTexts, deadline: Deadline) -> bool:
    """Whether all texts of one grammar are texts of another one, which has the same rules and so the same tables.

    True is certain; False where that is not so, or could not be decided within the limits.

    Cost: the product of the two lexing automata, within a context each, and up to 15,000 steps where one of them
    commits a lexeme before the other one.
    """
    try:
        return _Comparison(tables, one, other, deadline).find()
    except (OutOfTimeError, OverflowError):
        return False


class _Comparison:
    def __init__(self, tables: Tables, one: WitnessTexts, other: WitnessTexts, deadline: Deadline) -> None:
        self._tables = tables
        self._one, self._other = one, other
        self._deadline = deadline
        self._steps = _MOST_STEPS
        columns = sorted(set(zip(one.classes, other.classes, strict=True)))
        self._next_one: NDArray[np.int32] = one.next[:, [a for a, _ in columns]]
        self._next_other: NDArray[np.int32] = other.next[:, [b for _, b in columns]]
        self._commits_one = _lengths(one)
        self._commits_other = _lengths(other)
        self._ignored = one.grammar.end + 1
        self._renamed: set[tuple[int, int]] = set()
        self._landed: dict[tuple[int, int], Follow] = {}

    def find(self) -> bool:
        while True:
            renamed = len(self._renamed)
            if not self._find():
                return False
            if len(self._renamed) == renamed:
                return True

    def _find(self) -> bool:
        """Whether the two never part, if terminals that are taken for each other already are the same."""
        after = self._contexts_after()
        beginning = {
            (int(self._one.lexer.context_of_state[k]), int(self._other.lexer.context_of_state[k]), 0, 0)
            for k in self._tables.start_states
        }
        known: set[Place] = set()
        pending = beginning
        while pending:
            self._deadline.require()
            known |= pending
            labels = self._compare(sorted(pending))
            if labels is None:
                return False
            pending = set()
            for label, renamed, *behind in labels:
                contexts = (
                    {(a, b) for a, b, _, _ in known} if label == self._ignored else after.get((label, renamed), ())
                )
                pending |= {(a, b, behind[0], behind[1]) for a, b in contexts}
            pending -= known
        return True

    def _contexts_after(self) -> dict[tuple[int, int], set[tuple[int, int]]]:
        """For each terminal, or two that are taken for each other, the contexts that both lexers may be in after it.

        Of LR states all pairs to which the same symbols lead, but for such two.
        """
        action, accessing = self._tables.action, self._tables.accessing
        contexts = list(
            zip(self._one.lexer.context_of_state.tolist(), self._other.lexer.context_of_state.tolist(), strict=True)
        )
        found: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for state, symbol in enumerate(accessing.tolist()):
            found.setdefault((symbol, symbol), set()).add(contexts[state])
        if not self._renamed:
            return found
        seeds = [
            (int(action[k, a]) - 1, int(action[k, b]) - 1)
            for a, b in self._renamed
            for k in np.flatnonzero((action[:, a] > 0) & (action[:, b] > 0)).tolist()
        ]
        goto = self._tables.goto.rows()
        pairs = set(seeds)
        for a, b in seeds:  # grows
            symbols = int(accessing[a]), int(accessing[b])
            found.setdefault(symbols, set()).add((contexts[a][0], contexts[b][1]))
            shifts = np.flatnonzero((action[a] > 0) & (action[b] > 0)).tolist()
            targets = [(int(action[a, k]) - 1, int(action[b, k]) - 1) for k in shifts]
            targets += [
                (int(action[a, k]) - 1, int(action[b, m]) - 1)
                for k, m in self._renamed
                if min(action[a, k], action[b, m]) > 0
            ]
            targets += [(goto[a][k], goto[b][k]) for k in goto[a].keys() & goto[b].keys()]
            for pair in targets:
                self._count()
                if pair not in pairs and pair[0] != pair[1]:
                    pairs.add(pair)
                    seeds.append(pair)
        return found

    def _compare(self, places: list[Place]) -> set[tuple[int, int, int, int]] | None:
        """The first lexemes of all texts in some places: what both commit there, each terminal with that of the other
        lexer and the left context for both; None if the two part."""
        width = len(self._next_other)
        all_pairs = width * len(self._next_one)
        entries: dict[Place, int] = {}
        for a, b, behind, there in places:
            mine = int(self._one.automaton.entries[a, behind])
            its = int(self._other.automaton.entries[b, there])
            if mine < 0:
                continue
            if its < 0:
                raise OverflowError
            entries[a, b, behind, there] = mine * width + its
        same: set[tuple[int, int, int, int]] = set()
        special: set[int] = set()
        edges: list[NDArray[np.int64]] = []
        frontier = np.unique(np.fromiter(entries.values(), np.int64, len(entries)))
        known = frontier
        while len(frontier):
            self._deadline.require()
            if len(known) > _MOST_PAIRS:
                raise OverflowError
            ours, theirs = self._next_one[frontier // width], self._next_other[frontier % width]
            both = (ours >= 0) & (theirs >= 0)
            committed, agree = (ours < -1) & (theirs < -1), np.zeros(ours.shape, np.bool_)
            commits = np.unique(np.stack([ours[committed], theirs[committed]], axis=1), axis=0)
            verdict = {}
            for m, i in commits.tolist():
                label, length, behind = self._commits_one[-2 - m]
                renamed, other_length, there = self._commits_other[-2 - i]
                verdict[m, i] = length == other_length and self._is_same(label, renamed)
                if verdict[m, i]:
                    same.add((label, renamed, behind, there))
            if len(commits):
                agree[committed] = [
                    verdict[pair] for pair in zip(ours[committed].tolist(), theirs[committed].tolist(), strict=True)
                ]
            rest = ~both & ~agree & (ours != _DEAD)
            special.update(frontier[rest.any(axis=1)].tolist())
            special.update(p for p in frontier.tolist() if not self._ends_alike(p // width, p % width, same))
            rows, columns = np.nonzero(both)
            targets = ours[rows, columns].astype(np.int64) * width + theirs[rows, columns]
            moves = np.unique(rows * all_pairs + targets)
            edges.append(np.stack([frontier[moves // all_pairs], moves % all_pairs], axis=1))
            frontier = np.setdiff1d(targets, known)
            known = np.union1d(known, frontier)
        if special and self._is_parted(entries, np.concatenate(edges), special, same):
            return None
        return same

    def _ends_alike(self, mine: int, its: int, same: set[tuple[int, int, int, int]]) -> bool:
        """Whether both make the same of a text that ends here, or the one makes nothing of it."""
        ending, other = int(self._one.automaton.ends[mine]), int(self._other.automaton.ends[its])
        if ending == _DEAD or ending == other == 0:
            return True
        if ending >= -1 or other >= -1:
            return False
        label, length, behind = self._commits_one[-2 - ending]
        renamed, other_length, there = self._commits_other[-2 - other]
        if length != other_length or not self._is_same(label, renamed):
            return False
        if length:
            same.add((label, renamed, behind, there))
        return True

    def _is_same(self, label: int, other: int) -> bool:
        """Whether the parser makes the same of two terminals."""
        return label == other or (label, other) in self._renamed

    def _is_parted(
        self,
        entries: dict[Place, int],
        edges: NDArray[np.int64],
        special: set[int],
        same: set[tuple[int, int, int, int]],
    ) -> bool:
        """Whether the two part, looked at one by one: from each place, the pairs of states in which they do not do the
        same at once."""
        before: dict[int, list[int]] = {}
        for source, target in edges.tolist():
            before.setdefault(target, []).append(source)
        leading = set(special)
        pending = list(special)
        while pending:
            for source in before.get(pending.pop(), ()):
                if source not in leading:
                    leading.add(source)
                    pending.append(source)
        return any(
            self._parts_from(place, entry, leading, same) for place, entry in entries.items() if entry in leading
        )

    def _parts_from(self, place: Place, entry: int, leading: set[int], same: set[tuple[int, int, int, int]]) -> bool:
        width = len(self._next_other)
        pending = [entry]
        known = {entry}
        later: dict[tuple[object, ...], None] = {}
        for pair in pending:  # grows
            mine, its = divmod(pair, width)
            ending, other = int(self._one.automaton.ends[mine]), int(self._other.automaton.ends[its])
            if (
                not self._ends_alike(mine, its, same)
                and self._may_end(place[0], ending)
                and not self._renaming(ending, other)
            ):
                return True
            for m, i in zip(self._next_one[mine].tolist(), self._next_other[its].tolist(), strict=True):
                if m == _DEAD:
                    continue
                self._count()
                if m >= 0 and i >= 0:
                    target = m * width + i
                    if target in leading and target not in known:
                        known.add(target)
                        pending.append(target)
                    continue
                state = self._apart(place, m, i)
                if state is None:
                    return True
                if state:
                    later[state] = None
        return self._parts_later(place, list(later), same)

    def _parts_later(
        self, place: Place, pending: list[tuple[object, ...]], same: set[tuple[int, int, int, int]]
    ) -> bool:
        """The same where one of the two has committed and the other one has not: all that may come then."""
        begun = set(pending)
        for state in pending:  # grows
            for at in range(-1, self._next_one.shape[1]):
                self._count()
                after = self._go_on(place, state, at, same)
                if after is None:
                    return True
                if after and after not in begun:
                    begun.add(after)
                    pending.append(after)
        return False

    def _apart(self, place: Place, mine: int, its: int) -> tuple[object, ...] | None:
        """What is known once one of the two has committed, or the other one can commit no more: () if the two do the
        same, or the one grammar makes nothing of the text; None if they part."""
        if mine >= 0:
            return "one", mine, None if its == _DEAD else self._commits_other[-2 - its]
        label, length, behind = self._commits_one[-2 - mine]
        follow = self._after(place[0], mine)
        if not follow:
            return ()
        if its >= 0:
            return "other", its, follow, label, length, behind
        if its == _DEAD:
            return None
        return self._settled((label, length, behind), self._commits_other[-2 - its])

    def _settled(self, one: tuple[int, int, int], other: tuple[int, int, int]) -> tuple[object, ...] | None:
        """Of two lexemes of a text that are known: () if they are the same, else None."""
        if one[1] != other[1]:
            return None
        if self._is_same(one[0], other[0]) or self._rename(one[0], other[0]):
            return ()
        return None

    def _go_on(
        self, place: Place, state: tuple[object, ...], at: int, same: set[tuple[int, int, int, int]]
    ) -> tuple[object, ...] | None:
        """One byte further, or the end of the text; as `_apart`."""
        if state[0] == "one":
            _, mine, goal = state
            assert isinstance(mine, int)
            after = int(self._next_one[mine, at]) if at >= 0 else int(self._one.automaton.ends[mine])
            back = 1 if at >= 0 else 0
            moved = None if goal is None else (goal[0], goal[1] + back, goal[2])  # type: ignore[index]
            if at >= 0 and after >= 0:
                return "one", after, moved
            if after >= -1 or not (self._after(place[0], after) if at >= 0 else self._may_end(place[0], after)):
                return ()
            own = self._commits_one[-2 - after]
            if moved is None or self._settled(own, moved) is None:
                return None
            same.add((own[0], moved[0], own[2], moved[2]))
            return ()
        _, its, follow, label, length, behind = state
        assert isinstance(its, int)
        assert isinstance(follow, frozenset)
        assert isinstance(label, int)
        assert isinstance(length, int)
        assert isinstance(behind, int)
        if at < 0:
            if not any(self._may_end(context, int(self._one.automaton.ends[s])) for context, s in follow):
                return ()
            after, back = int(self._other.automaton.ends[its]), 0
        else:
            follow = self._stepped(follow, at)
            if not follow:
                return ()
            after, back = int(self._next_other[its, at]), 1
            if after >= 0:
                return "other", after, follow, label, length + back, behind
        if after >= -1:
            return None
        own = label, length + back, behind
        if self._settled(own, self._commits_other[-2 - after]) is None:
            return None
        same.add((label, self._commits_other[-2 - after][0], behind, self._commits_other[-2 - after][2]))
        return ()

    def _after(self, context: int, commit: int) -> Follow:
        """What the one lexer can be in when it has committed a lexeme and read again what it gives back."""
        known = self._landed.get((context, commit))
        if known is None:
            label, behind, word = self._one.automaton.commit(commit)
            known = self._landed[context, commit] = frozenset(self._read_again(context, label, behind, word))
        return known

    def _read_again(self, context: int, label: int, behind: int, word: list[int]) -> Iterator[tuple[int, int]]:
        self._count()
        contexts: Iterable[int] = (context,) if label == self._ignored else self._one.lexer.contexts_after[label]
        for after in contexts:
            state = int(self._one.automaton.entries[after, behind])
            for at, cls in enumerate(word):
                if state < 0:
                    break
                state = int(self._one.next[state, cls])
                if state < -1:
                    then, there, rest = self._one.automaton.commit(state)
                    yield from self._read_again(after, then, there, [*rest, *word[at + 1 :]])
                    break
            else:
                if state >= 0:
                    yield after, state

    def _stepped(self, follow: Follow, at: int) -> Follow:
        found: set[tuple[int, int]] = set()
        for context, state in follow:
            self._count()
            after = int(self._next_one[state, at])
            if after >= 0:
                found.add((context, after))
            elif after < -1:
                found |= self._after(context, after)
        return frozenset(found)

    def _may_end(self, context: int, ending: int) -> bool:
        """Whether a text may end, as far as the one lexer knows, where this is what it makes of the end."""
        if ending >= -1:
            return ending == 0
        label, behind, word = self._one.automaton.commit(ending)
        if not word:
            return True
        return any(
            self._may_end(after, int(self._one.automaton.ends[state]))
            for after, state in self._read_again(context, label, behind, word)
        )

    def _renaming(self, ending: int, other: int) -> bool:
        """Whether two different ends of a text are lexemes that the parser makes the same of."""
        if ending >= -1 or other >= -1:
            return False
        return self._settled(self._commits_one[-2 - ending], self._commits_other[-2 - other]) is not None

    def _rename(self, label: int, other: int) -> bool:
        """Take the second terminal for the first one from now on, if the rules have it wherever they have the first."""
        grammar = self._one.grammar
        if max(label, other) >= grammar.end or self._tables.conflicts or not stands_for(grammar, label, other):
            return False
        self._renamed.add((label, other))
        return True

    def _count(self) -> None:
        self._steps -= 1
        if self._steps < 0:
            raise OverflowError


def stands_for(grammar: GrammarData, terminal: int, other: int) -> bool:
    """Whether each sentence is one with the other terminal in the place of the first one, as far as productions show.

    They do if each production has a twin with the other terminal in it, or is that terminal alone and its symbol
    derives the other one alone. Sufficient, and not necessary.
    """
    productions = {(production.lhs, tuple(production.rhs)) for production in grammar.productions}
    alone: set[int] = {other}
    size = 0
    while len(alone) != size:
        size = len(alone)
        alone.update(lhs for lhs, rhs in productions if len(rhs) == 1 and rhs[0] in alone)
    return all(
        (rhs == (terminal,) and lhs in alone) or (lhs, (*rhs[:at], other, *rhs[at + 1 :])) in productions
        for lhs, rhs in productions
        for at, symbol in enumerate(rhs)
        if symbol == terminal
    )


def _lengths(texts: WitnessTexts) -> list[tuple[int, int, int]]:
    """Of each commit the terminal, how many bytes it gives back, and the left context after it."""
    automaton = texts.automaton
    found = []
    for number in range(len(automaton.commits)):
        label, behind, word = automaton.commit(-2 - number)
        found.append((label, len(word), behind))
    return found
