"""Makes a find small: leaves out whatever can go while the same kind of find remains."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from fuzz.case import EVERY_BYTE, Case
from fuzz.isolation import Caps, Result, run

PIECES = re.compile(r'"(?:\\.|[^"\\])*"i?|/(?!/)(?:\\/|\\\\|[^/])*?/[imslux]*|[^\s"/|()\[\]]+|[|()\[\]]|\s+')


def signature(find: dict[str, Any]) -> tuple[str, str, str]:
    """What makes two finds alike: kind, phase, and the first words of the message, numbers and texts left out."""
    message = re.sub(r"b?(['\"]).*?\1|\d[\d,.]*|\[.*?\]|\{.*?\}", "_", find["message"])
    phase = find["phase"]
    if find["kind"] in ("unsound mask", "incomplete mask", "completion", "exception"):
        phase = "check" if phase == "check" else "compile" if phase == "compile" else "any"
    return find["kind"], phase, message[:60]


def shrink(case: Case, find: dict[str, Any], caps: Caps, budget: int = 600) -> tuple[Case, int]:
    """The smallest case that was met with a find of the same signature, and how many were tried."""
    return Shrinker(find, caps, budget).shrink(case)


class Shrinker:
    """Greedy: each change that keeps the find is kept, until none does."""

    def __init__(self, find: dict[str, Any], caps: Caps, budget: int) -> None:
        self.wanted = signature(find)
        self.caps = caps
        self.budget = budget
        self.tried = 0
        self.seen: set[str] = set()

    def finds(self, case: Case) -> bool:
        key = case.to_json()
        if key in self.seen or self.tried >= self.budget:
            return False
        self.seen.add(key)
        self.tried += 1
        result = run(lambda: case, self.caps)
        return result.find is not None and signature(result.find) == self.wanted

    def shrink(self, case: Case) -> tuple[Case, int]:
        steps: list[Callable[[Case], Iterator[Case]]] = [
            simpler_surroundings,
            fewer_definitions,
            fewer_pieces,
            shorter_literals,
            fewer_tokens,
        ]
        changed = True
        while changed and self.tried < self.budget:
            changed = False
            for step in steps:
                case, better = self.follow(case, step)
                changed = changed or better
        return case, self.tried

    def follow(self, case: Case, step: Callable[[Case], Iterator[Case]]) -> tuple[Case, bool]:
        """Take the first simpler case that still shows it, again and again."""
        better = False
        going = True
        while going:
            going = False
            for simpler in step(case):
                if self.finds(simpler):
                    case, better, going = simpler, True, True
                    break
        return case, better


def with_texts(case: Case, find: dict[str, Any]) -> Case:
    """The case with the texts of its find, so that it depends less on chance."""
    texts = []
    for value in find["details"].values():
        try:
            text = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            continue
        if isinstance(text, bytes) and len(text) < 1000:
            texts.append(text)
    if "text" in find["details"]:
        parts = [find["details"].get(name, "b''") for name in ("text", "token", "completion")]
        with suppress(ValueError, SyntaxError, TypeError):
            texts.append(b"".join(ast.literal_eval(part) for part in parts))
    return case.but(texts=tuple(dict.fromkeys([*case.texts, *texts])))


def simpler_surroundings(case: Case) -> Iterator[Case]:
    if case.eos != (256,) or len(case.tokens) != 257:
        yield case.but(tokens=(*EVERY_BYTE, None), eos=(256,))
    for name in case.options:
        yield case.but(options={key: value for key, value in case.options.items() if key != name})
    if isinstance(case.options.get("start"), list) and len(case.starts) > 1:
        for start in case.starts:
            yield case.but(options={**case.options, "start": [start]})
    if case.limits:
        yield case.but(limits={})
    if case.indenter is not None:
        yield case.but(indenter=None)
        if "indent_len" in case.indenter:
            yield case.but(indenter={key: value for key, value in case.indenter.items() if key != "indent_len"})
        if case.indenter["tab_len"] != 8:
            yield case.but(indenter={**case.indenter, "tab_len": 8})
    for index in range(len(case.texts)):
        yield case.but(texts=case.texts[:index] + case.texts[index + 1 :])


def definitions(grammar: str) -> list[str]:
    """The grammar's definitions, each on one line."""
    return re.sub(r"\n\s*\|", " |", grammar).strip().split("\n")


def fewer_definitions(case: Case) -> Iterator[Case]:
    lines = definitions(case.grammar)
    for index in range(len(lines)):
        yield case.but(grammar="\n".join(lines[:index] + lines[index + 1 :]) + "\n")


def fewer_pieces(case: Case) -> Iterator[Case]:
    lines = definitions(case.grammar)
    for index, line in enumerate(lines):
        head, colon, body = line.partition(": ")
        if not colon:
            continue
        alternatives = split_alternatives(body)
        changed = [
            " | ".join(alternatives[:place] + alternatives[place + 1 :])
            for place in range(len(alternatives))
            if len(alternatives) > 1
        ]
        pieces = PIECES.findall(body)
        spans = [(begin, begin + length) for length in (6, 3, 2, 1) for begin in range(len(pieces) - length + 1)]
        changed += ["".join(pieces[:begin] + pieces[end:]) for begin, end in spans]
        changed += [
            "".join([*pieces[:place], piece.rstrip("?*+"), *pieces[place + 1 :]])
            for place, piece in enumerate(pieces)
            if piece.rstrip("?*+") != piece and piece.rstrip("?*+")
        ]
        for text in changed:
            if text != body:
                lines[index] = head + colon + text
                yield case.but(grammar="\n".join(lines) + "\n")
        lines[index] = line


def split_alternatives(body: str) -> list[str]:
    """The alternatives of a definition, apart from those in parentheses."""
    depth, parts, current = 0, [], ""
    for piece in PIECES.findall(body):
        depth += (piece in "([") - (piece in ")]") if len(piece) == 1 else 0
        if piece == "|" and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += piece
    return [*parts, current.strip()]


def shorter_literals(case: Case) -> Iterator[Case]:
    pieces = PIECES.findall(case.grammar)
    for index, piece in enumerate(pieces):
        if piece[0] not in '"/' or len(piece) < 4:
            continue
        end = piece.rfind(piece[0])
        inner, flags = piece[1:end], piece[end + 1 :]
        texts = [
            inner[:begin] + inner[begin + length :]
            for length in (12, 6, 4, 3, 2, 1)
            for begin in range(len(inner) - length + 1)
        ]
        for text in texts:
            yield case.but(grammar="".join([*pieces[:index], piece[0] + text + piece[0] + flags, *pieces[index + 1 :]]))
        if flags:
            yield case.but(grammar="".join([*pieces[:index], piece[: end + 1], *pieces[index + 1 :]]))


def fewer_tokens(case: Case) -> Iterator[Case]:
    if case.tokens == (*EVERY_BYTE, None):
        return
    for length in (32, 8, 1):
        for begin in range(0, len(case.tokens), length):
            removed = range(begin, begin + length)
            if set(removed) & set(case.eos):
                continue
            kept = [id for id in range(len(case.tokens)) if id not in removed]
            yield case.but(tokens=tuple(case.tokens[id] for id in kept), eos=tuple(kept.index(id) for id in case.eos))


def show(case: Case, result: Result) -> str:
    """A find for people."""
    assert result.find is not None
    lines = [f"{result.find['kind']} in {result.find['phase']}: {result.find['message']}"]
    lines += [f"  {name}: {value}" for name, value in result.find["details"].items() if name != "traceback"]
    lines += [f"  options: {case.options}"]
    if case.indenter is not None:
        lines.append(f"  indenter: {case.indenter}")
    if case.limits:
        lines.append(f"  limits: {case.limits}")
    tokens = "every byte" if case.tokens == (*EVERY_BYTE, None) else repr(case.tokens)[:300]
    lines += [f"  tokens: {tokens}", *("    " + line for line in case.grammar.strip().split("\n"))]
    return "\n".join(lines)
