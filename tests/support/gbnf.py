"""What GBNF means, by its definition: a reader and a recognizer that share nothing with pdacon's.

In: the text of a grammar. Out: whether a text is derived from ``root``, by the least fixpoint of where each rule can
end that begins at each place; and random derivations. Slow, and right whatever the grammar is.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(
    r"""(?P<space>[ \t]+|\#[^\n]*)|(?P<line>\n)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<set>\[(?:[^\]\\]|\\.)*\])
    |(?P<is>::=)|(?P<name>[\w-]+)|(?P<count>\{[0-9]+,?[0-9]*\})|(?P<sign>[()|*+?.])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_MANY = 1 << 30


def _plain(written: str) -> list[tuple[str, bool]]:
    """Characters, each with whether it was escaped."""
    found: list[tuple[str, bool]] = []
    at = 0
    while at < len(written):
        escape = _ESCAPE.match(written, at)
        if escape is None:
            found.append((written[at], False))
            at += 1
        else:
            digits = escape[1] or escape[2] or escape[3]
            controls = {"n": "\n", "r": "\r", "t": "\t"}
            found.append((chr(int(digits, 16)) if digits else controls.get(escape[4], escape[4]), True))
            at = escape.end()
    return found


@dataclass
class Definition:
    """The rules of a grammar: ("text", str) | ("set", negative, ranges) | ("rule", name) | ("all", parts) |
    ("any", options) | ("repeat", body, least, most)."""

    rules: dict[str, Any]

    @classmethod
    def read(cls, text: str) -> Definition:
        """Read a grammar that is known to be well-formed."""
        tokens = [(m.lastgroup, m[0]) for m in _TOKEN.finditer(text) if m.lastgroup != "space"]
        assert "".join(m[0] for m in _TOKEN.finditer(text)) == text, "the test's reader does not know this"
        rules: dict[str, Any] = {}
        at = 0

        def choice(depth: int) -> Any:
            nonlocal at
            options = [[]]
            while at < len(tokens):
                kind, value = tokens[at]
                if kind == "line":
                    if depth == 0 and not (options[-1] == [] and len(options) > 1):
                        break
                    at += 1
                elif value == ")":
                    break
                elif kind == "sign" and value == "|":
                    options.append([])
                    at += 1
                elif kind == "count" or (kind == "sign" and value in "*+?"):
                    least, _, most = value.strip("{}").partition(",")
                    bounds = {"*": (0, _MANY), "+": (1, _MANY), "?": (0, 1)}.get(value)
                    if bounds is None:
                        bounds = int(least), int(least) if "," not in value else int(most) if most else _MANY
                    options[-1][-1] = ("repeat", options[-1][-1], *bounds)
                    at += 1
                else:
                    at += 1
                    if value == "(":
                        options[-1].append(choice(depth + 1))
                        at += 1
                    elif value == ".":
                        options[-1].append(("set", True, []))
                    elif kind == "text":
                        options[-1].append(("text", "".join(c for c, _ in _plain(value[1:-1]))))
                    elif kind == "set":
                        options[-1].append(_set(value[1:-1]))
                    else:
                        options[-1].append(("rule", value))
            return ("any", [("all", parts) for parts in options])

        while at < len(tokens):
            if tokens[at][0] == "line":
                at += 1
                continue
            name, at = tokens[at][1], at + 2
            while at < len(tokens) and tokens[at][0] == "line":
                at += 1
            rules[name] = choice(0)
        return cls(rules)

    def accepts(self, text: str) -> bool:
        """Whether the text is derived from ``root``."""
        ends: dict[tuple[str, int], set[int]] = {("root", 0): set()}
        changed = True

        def after(node: Any, starts: set[int]) -> set[int]:
            nonlocal changed
            kind = node[0]
            if kind == "text":
                return {at + len(node[1]) for at in starts if text.startswith(node[1], at)}
            if kind == "set":
                return {at + 1 for at in starts if at < len(text) and _in(node, text[at])}
            if kind == "all":
                for part in node[1]:
                    starts = after(part, starts)
                return starts
            if kind == "any":
                return set().union(*(after(option, starts) for option in node[1]))
            if kind == "rule":
                for at in starts:
                    if (node[1], at) not in ends:
                        ends[node[1], at] = set()
                        changed = True
                return set().union(*(ends[node[1], at] for at in starts)) if starts else set()
            _, body, least, most = node
            for _ in range(least):
                starts = after(body, starts)
            found, count, new = set(starts), least, starts
            while new and count < most:
                new = after(body, new) - found
                found |= new
                count += 1
            return found

        while changed:
            changed = False
            for name, at in list(ends):
                found = after(self.rules[name], {at})
                if not found <= ends[name, at]:
                    ends[name, at] |= found
                    changed = True
        return len(text) in ends["root", 0]

    def sample(self, rng: random.Random, depth: int = 12) -> str | None:
        """A random derivation, None if it got too deep."""

        def derive(node: Any, left: int) -> str:
            kind = node[0]
            if left < 0:
                raise RecursionError
            if kind == "text":
                return str(node[1])
            if kind == "set":
                return _some(node, rng)
            if kind == "rule":
                return derive(self.rules[node[1]], left - 1)
            if kind == "all":
                return "".join(derive(part, left) for part in node[1])
            if kind == "any":
                return derive(rng.choice(node[1]), left)
            _, body, least, most = node
            count = min(most, least + rng.choice((0, 0, 1, 1, 2, 3)))
            return "".join(derive(body, left) for _ in range(count))

        try:
            return derive(("rule", "root"), depth)
        except RecursionError:
            return None


def _set(written: str) -> Any:
    negative = written.startswith("^")
    characters = _plain(written[1:] if negative else written)
    ranges = []
    while characters:
        (first, _), characters = characters[0], characters[1:]
        last = first
        if len(characters) > 1 and characters[0] == ("-", False):
            last, characters = characters[1][0], characters[2:]
        ranges.append((first, last))
    return ("set", negative, ranges)


def _in(node: Any, character: str) -> bool:
    _, negative, ranges = node
    return any(first <= character <= last for first, last in ranges) != negative


def _some(node: Any, rng: random.Random) -> str:
    _, negative, ranges = node
    if not negative:
        first, last = rng.choice(ranges)
        return chr(rng.randint(ord(first), min(ord(last), ord(first) + 25)))
    while True:
        character = rng.choice('ab9 é\n"{}\\,x漢')
        if _in(node, character):
            return character


def mutated(text: str, alphabet: str, rng: random.Random) -> str:
    """A text with one or two characters more, less or other than before."""
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(["", rng.choice(alphabet)]) + text[at + rng.choice((0, 1)) :]
    return text


def texts_of(definition: Definition, rng: random.Random, count: int) -> list[str]:
    """Sentences, and texts near them."""
    sampled = (definition.sample(rng) for _ in range(20 * count))
    sentences = list(dict.fromkeys(text for text in sampled if text is not None and len(text) < 90))[:count]
    alphabet = "".join(sorted({*"".join(sentences), *' \n"(,)'}))
    return [*sentences, *(mutated(text, alphabet, rng) for text in sentences)]
