"""A grammar that a front end made -> its text in Lark's language.

In: a `Grammar` whose terminals may be automata. Out: the text with which stock Lark means the same. An automaton
becomes a pattern by eliminating its states, unless its maker knew one.

Source: J. Brzozowski and E. McCluskey, "Signal Flow Graph Techniques for Sequential Circuit State Diagrams", IEEE
Transactions on Electronic Computers EC-12(2), 1963.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import groupby
from operator import attrgetter

from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.model import Pattern, Terminal
from pdacon.regular import character_class
from pdacon.regular.characters import complement, union
from pdacon.regular.groups import has_groups
from pdacon.regular.ordered.program import BYTES, MATCH, SPLIT, Edges, epsilon_closure, from_automaton
from pdacon.regular.ordered.utf8 import continuations
from pdacon.regular.records import Automaton

START, END = -1, -2
"""States of an automaton that is made into a pattern: where it begins and where it ends."""
_LONGEST = 1_000_000
"""Most characters of the pieces of a pattern."""


def to_lark(grammar: GrammarData) -> str:
    """The text in Lark's language that stock Lark gives the meaning of the grammar; see `Grammar.to_lark`.

    Raises UnsupportedGrammarError: stock Lark cannot say what the grammar says.
    """
    if grammar.labels:
        raise UnsupportedGrammarError(
            f"{grammar.labels[0]} means nothing to stock Lark; the text itself is grammar.data.source",
            feature="extensions",
        )
    if grammar.language == "Lark" and grammar.options.extensions and _has_sets(grammar):
        raise UnsupportedGrammarError(
            "the sets of texts in its patterns mean nothing to stock Lark; the text itself is grammar.data.source",
            feature="extensions",
        )
    if grammar.within:
        raise UnsupportedGrammarError(
            f"Lark's language has no way to say that a text is in {grammar.within[0].name} as well; print the grammar "
            "without `& regular_set`, and the set by itself: Grammar.from_regex(regular_set).to_lark()",
            feature="regular-set",
        )
    if any(terminal.pattern is not None and terminal.pattern.meant is not None for terminal in grammar.terminals):
        raise UnsupportedGrammarError(
            "its terminals read escaped texts, for whose order and keywords Lark's language has no words; print "
            "the grammar that was escaped",
            feature="escaped",
        )
    if grammar.islands:
        raise UnsupportedGrammarError(
            f"in {grammar.islands[0].name} other text is ignored than around it, and stock Lark ignores the same "
            "everywhere; print the grammars by themselves",
            feature="compose",
        )
    return grammar.source if grammar.language == "Lark" else written_out(grammar)


def _has_sets(grammar: GrammarData) -> bool:
    patterns = [terminal.pattern for terminal in grammar.terminals if terminal.pattern is not None]
    return any(pattern.automaton is not None for pattern in patterns) or has_groups(grammar.source)


def written_out(grammar: GrammarData) -> str:
    """The rules and terminals themselves in Lark's language, wherever they come from.

    Cost: a pattern can be much longer than the automaton that it stands for. Past a bound a LimitExceededError says so.
    """
    lines = []
    parts = _parts_of_texts(grammar)
    for lhs, productions in groupby(grammar.productions, key=attrgetter("lhs")):
        if lhs in parts:
            continue
        rules = list(productions)
        written = [rule.rhs[1:] if rule.rhs and rule.rhs[0] in parts else rule.rhs for rule in rules]
        alternatives = [
            " ".join(printed_name(grammar.symbol_name(symbol)) for symbol in rhs) for rhs in dict.fromkeys(written)
        ]
        priority = f".{rules[0].priority}" if rules[0].priority else ""
        lines.append(f"{printed_name(grammar.symbol_name(lhs))}{priority}: " + "\n    | ".join(alternatives))
    pattern_of = _words_pattern if grammar.language == "choices" else automaton_pattern
    for terminal in grammar.terminals:
        if terminal.pattern is None:  # no text is in it, and Lark never finds one that is only declared
            lines.append(f"%declare {printed_name(terminal.name)}")
            continue
        priority = f".{terminal.priority}" if terminal.priority else ""
        lines.append(f"{printed_name(terminal.name)}{priority}: {_written(terminal, terminal.pattern, pattern_of)}")
    lines += [f"%ignore {printed_name(grammar.terminals[k].name)}" for k in sorted(grammar.ignore)]
    return "\n".join(lines) + "\n"


def _parts_of_texts(grammar: GrammarData) -> frozenset[int]:
    """Nonterminals of texts that several lexemes of a family read: what stands before the last of these.

    Each of those has the pattern of the whole text, which is printed in place of all of them.
    """

    def in_family(symbol: int) -> bool:
        pattern = grammar.terminals[symbol].pattern if symbol < len(grammar.terminals) else None
        return pattern is not None and pattern.automaton is not None and bool(pattern.automaton.family)

    return frozenset(rule.rhs[0] for rule in grammar.productions if rule.rhs and in_family(rule.rhs[-1]))


def printed_name(name: str) -> str:
    """A name as Lark takes it: not one that it made up itself, with two underscores first. The order is kept."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{'Z' if name.isupper() else 'z'}{plain[1:]}" if plain.startswith("__") else plain


def _written(terminal: Terminal, pattern: Pattern, pattern_of: Callable[[Automaton], str]) -> str:
    flags = "".join(sorted(pattern.flags))
    if pattern.kind == "str":
        return json.dumps(pattern.value, ensure_ascii=False) + flags
    if pattern.automaton is not None and pattern.automaton.family and not pattern.value:
        raise UnsupportedGrammarError(
            f"terminal {terminal.name}: strings of this kind and length are read in several lexemes, for which Lark's "
            "language has no words; leave out their maxLength to print the rest",
            terminal.span,
            "maxLength",
        )
    value = pattern.value or pattern_of(pattern.automaton) if pattern.automaton else pattern.value
    # Lark makes characters of these escapes. It takes no NUL that is written, and no line break without the flag x, and
    # reads a carriage return as a line break.
    escapes = {"\0": r"\x00", "\r": r"\r", **({} if "x" in pattern.flags else {"\n": r"\n"})}
    written = f"[{''.join(escapes)}]"
    value = re.sub(rf"(\\[^{written[1:]})|\\?({written})", lambda match: match[1] or escapes[match[2]], value)
    return f"/{re.sub(_PAIR, _in_slashes, value, flags=re.DOTALL)}/{flags}"


_PAIR = r'\\\\"|\\.|/'
"""An escaped backslash and a quote, another escape, or a slash."""


def _in_slashes(match: re.Match[str]) -> str:
    """A slash would end the pattern, and Lark takes the quote after two backslashes for an escaped one."""
    return {"/": r"\/", r'\\"': r"\\\x22"}.get(match[0], match[0])


def _words_pattern(automaton: Automaton) -> str:
    """A pattern for an automaton of finitely many words: the longer ones first, since the first that fits is taken."""
    states = from_automaton(automaton).states()
    words: list[str] = []
    pending = [(0, b"")]
    while pending:
        state, text = pending.pop()
        for inner in epsilon_closure(states, state, set()):
            kind, edges = states[inner]
            if kind == MATCH:
                words.append(text.decode())
            pending += [(target, text + bytes([byte])) for lo, hi, target in edges for byte in range(lo, hi + 1)]
    words.sort(key=lambda word: (-len(word), word))
    letters = {letter: character_class([(ord(letter), ord(letter))]) for word in words for letter in word}
    return "|".join("".join(map(letters.__getitem__, word)) for word in words)


def automaton_pattern(automaton: Automaton) -> str:
    """A pattern of Python's ``re`` that matches what the automaton does, and the longest such text.

    An alternation takes the first branch that fits, not the longest one. So where an accepted text can go on to a
    longer one, as numbers can, the pattern asks that none of those characters follow, nor any that a pending state
    does not let follow.

    Raises LimitExceededError: the pattern would be very long.
    """
    found = eliminated(_arcs(from_automaton(automaton).states()), _LONGEST)
    return "(?!)" if found is None else found


def eliminated(arcs: Mapping[tuple[int, int], str], longest: int) -> str | None:
    """What leads from START to END, of the patterns on arcs between states; None if nothing does.

    The state with the fewest paths through it goes first. Cost: O(log n) for each arc that comes or goes, and the
    characters that are written.

    Raises LimitExceededError: the patterns on the arcs have more than ``longest`` characters.
    """
    ways: dict[int, int] = {}  # by state: paths that lead through it, by which the next one is chosen

    def count(state: int) -> None:
        if state >= 0:
            ways[state] = (len(into[state]) - (state in into[state])) * (len(out[state]) - (state in out[state]))
            heappush(waiting, (ways[state], -state))

    out: dict[int, dict[int, str]] = {state: {} for arc in arcs for state in arc}
    into: dict[int, dict[int, None]] = {state: {} for state in out}  # in the order of their arcs
    for (source, target), text in arcs.items():
        out[source][target] = text
        into[target][source] = None
    waiting: list[tuple[int, int]] = []
    for state in out:
        count(state)
    length = sum(map(len, arcs.values()))
    while waiting:
        product, negated = heappop(waiting)
        if ways.get(-negated) == product:
            del ways[-negated]
            longer, changed = _eliminate(out, into, -negated)
            length += longer
            if length > longest:
                raise LimitExceededError("characters of a pattern", length, longest, fixed=True)
            for state in changed:
                count(state)
    return out.get(START, {}).get(END)


def _eliminate(out: dict[int, dict[int, str]], into: dict[int, dict[int, None]], state: int) -> tuple[int, list[int]]:
    """Arcs that lead past a state take its place. How many characters more they are, and what has other arcs now."""
    after = out.pop(state)
    loop = after.pop(state, None)
    around = f"{_atom(loop)}*" if loop else ""
    longer = -len(loop or "") - sum(map(len, after.values()))
    sources = [source for source in into.pop(state) if source != state]
    rests = {target: around + _part(text) for target, text in after.items()}
    for target in rests:
        del into[target][state]
    for source in sources:
        text = out[source].pop(state)
        before = _part(text)
        longer -= len(text)
        for target, rest in rests.items():
            known = out[source].get(target)
            path = before + rest if known is None else _either(known, before + rest)
            longer += len(path) - len(known or "")
            out[source][target] = path
            into[target].setdefault(source)
    return longer, [*sources, *rests]


def _either(one: str, other: str) -> str:
    if not one or not other:
        return f"{_atom(one or other)}?"
    return f"{one}|{other}"


def _part(text: str) -> str:
    """A pattern that can stand in a sequence."""
    return f"(?:{text})" if _alternates(text) else text


def _atom(text: str) -> str:
    """A pattern that can be repeated."""
    return text if re.fullmatch(r"\[(?:[^\\\]]|\\.)*\]|\\?.", text, re.DOTALL) else f"(?:{text})"


def _alternates(text: str) -> bool:
    depth = 0
    for token in re.findall(r"\\.|\[(?:[^\\\]]|\\.)*\]|.", text, re.DOTALL):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "|" and depth == 0:
            return True
    return False


def _arcs(states: list[tuple[int, Edges]]) -> dict[tuple[int, int], str]:
    """The automaton over characters: patterns on its arcs, one start, one end."""
    arcs: dict[tuple[int, int], str] = {(START, 0): ""}
    pending = [0]
    seen = {0}
    while pending:
        state = pending.pop()
        by_target: dict[int, list[tuple[int, int]]] = {}
        not_next: list[tuple[int, int]] | None = None
        for inner in epsilon_closure(states, state, set()):
            kind, edges = states[inner]
            if kind == MATCH:
                not_next = []
            elif kind == BYTES:
                for first, last, target in _characters(states, edges):
                    by_target.setdefault(target, []).append((first, last))
            else:
                not_next = [*complement(union((first, last) for first, last, _ in _characters(states, edges)))]
        if not_next is not None:
            further = union(not_next, *by_target.values())
            arcs[state, END] = f"(?!{character_class(further)})" if further else ""
        for target, ranges in by_target.items():
            arcs[state, target] = character_class(ranges)
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return arcs


def _characters(states: list[tuple[int, Edges]], edges: Edges) -> Iterator[tuple[int, int, int]]:
    """Ranges of code points, and the state after each, of edges that read the first bytes of characters."""
    for lo, hi, target in edges:
        if lo < 0x80:
            yield lo, hi, target
            continue
        for lead in range(lo, hi + 1):
            length = len(continuations(lead))
            payload = lead & (0x1F, 0x0F, 0x07)[length - 1]
            pending = [(payload, payload, target, length)]
            while pending:
                first, last, state, missing = pending.pop()
                if missing == 0:
                    yield first, last, state
                    continue
                kind, after = states[state]
                assert kind != SPLIT
                for low, high, then in after:
                    if first == last:
                        pending.append((first << 6 | low & 0x3F, first << 6 | high & 0x3F, then, missing - 1))
                    elif (low, high) == (0x80, 0xBF):
                        pending.append((first << 6, last << 6 | 0x3F, then, missing - 1))
                    else:
                        pending += [
                            (one << 6 | low & 0x3F, one << 6 | high & 0x3F, then, missing - 1)
                            for one in range(first, last + 1)
                        ]
