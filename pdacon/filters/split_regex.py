r"""The regexes with which tokenizers split texts, as programs for a list of threads.

In: a regex as Oniguruma, fancy-regex and tiktoken read it. Out: a `Program`: instructions in the order in which a
backtracking matcher would try them. Supported is what such regexes consist of: alternatives, groups, sets with
``\p{...}``, repeats, ``(?i:...)``, a look-ahead of one character, and ``$`` where it means the end of the text. All
else is refused by name.

Source: Pike 1987 and Cox 2009, "Regular expression matching: the virtual machine approach" (the instructions).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pdacon.errors import VocabularyError
from pdacon.filters import characters
from pdacon.filters.characters import Set

try:
    from re import _constants as sre
    from re import _parser as sre_parser
except ImportError:  # Python 3.10
    import sre_constants as sre
    import sre_parse as sre_parser

CHARACTER, SPLIT, JUMP, MATCH, NEXT_IN, NEXT_NOT_IN, END = range(7)
"""Instructions: read a character of a set; go on in two places, the first is better; go on in another one; it is a
match; the next character is one of a set; there is none, or it is not one of a set; the text ends."""

_FIRST_PLACEHOLDER = 0xF0000  # for private use: no such regex has them
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))")
_MOST_INSTRUCTIONS = 4000


@dataclass(frozen=True, slots=True)
class Instruction:
    """One of the codes above, with the places to go on in, or the number of a set."""

    code: int
    first: int = -1
    second: int = -1


@dataclass(slots=True)
class Program:
    """Instructions, of which the first is the start, and their sets."""

    instructions: list[Instruction] = field(default_factory=list)
    sets: list[Set] = field(default_factory=list)


def program_of(pattern: str, *, dollar_is_end: bool) -> Program:
    """Compile a regex.

    ``dollar_is_end``: whether ``$`` is the end of the text, as in Rust; in Oniguruma it is the end of a line, which is
    refused.
    Raises VocabularyError: the regex has something that is not supported.
    """
    return _Compiler(pattern, dollar_is_end).compile()


class _Compiler:
    def __init__(self, pattern: str, dollar_is_end: bool) -> None:
        self._pattern = pattern
        self._dollar_is_end = dollar_is_end
        self._properties: list[Set] = []
        self._program = Program()
        self._numbers: dict[bytes, int] = {}

    def compile(self) -> Program:
        text = _PROPERTY.sub(self._placeholder, self._pattern)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # sets within sets mean something else here than there
                parsed = sre_parser.parse(text)
        except (re.error, Warning) as error:
            raise self._refusal(str(error)) from error
        self._sequence(list(parsed), bool(parsed.state.flags & re.IGNORECASE), ())
        self._emit(MATCH)
        return self._program

    def _placeholder(self, found: re.Match[str]) -> str:
        name = found[3] or found[4]
        codes = characters.category(name)
        if codes is None:
            raise self._refusal(f"the property {name}")
        self._properties.append(codes if (found[1] == "p") != bool(found[2]) else ~codes)
        return chr(_FIRST_PLACEHOLDER + len(self._properties) - 1)

    def _refusal(self, what: str) -> VocabularyError:
        return VocabularyError(
            f"canonical: the tokenizer splits texts with the regex {self._pattern!r:.200}, which has what is not "
            f"supported: {what}; compile without canonical"
        )

    def _emit(self, code: int, first: int = -1, second: int = -1) -> int:
        if len(self._program.instructions) >= _MOST_INSTRUCTIONS:
            raise self._refusal("more repeats than fit")
        self._program.instructions.append(Instruction(code, first, second))
        return len(self._program.instructions) - 1

    def _number(self, codes: Set) -> int:
        key = codes.tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self._program.sets)
            self._program.sets.append(codes)
        return self._numbers[key]

    def _sequence(self, items: list[Any], ignore_case: bool, follow: Iterable[Any]) -> None:
        """The items one after another; ``follow`` is what comes after them."""
        for at, item in enumerate(items):
            self._item(item, ignore_case, [*items[at + 1 :], *follow])

    def _item(self, item: Any, ignore_case: bool, follow: list[Any]) -> None:
        code, argument = item
        codes = self._set(item, ignore_case)
        if codes is not None:
            self._emit(CHARACTER, self._number(codes))
        elif code is sre.SUBPATTERN:
            _, added, removed, inner = argument
            self._sequence(list(inner), (ignore_case or bool(added & re.I)) and not removed & re.I, follow)
        elif code is sre.BRANCH:
            self._branches([list(branch) for branch in argument[1]], ignore_case, follow)
        elif code in (sre.MAX_REPEAT, sre.MIN_REPEAT) or str(code) == "POSSESSIVE_REPEAT":
            self._repeat(item, ignore_case, follow)
        elif code in (sre.ASSERT, sre.ASSERT_NOT) and argument[0] == 1 and len(argument[1]) == 1:
            codes = self._set(argument[1][0], ignore_case)
            if codes is None:
                raise self._refusal("a look-ahead of more than one character")
            self._emit(NEXT_IN if code is sre.ASSERT else NEXT_NOT_IN, self._number(codes))
        elif code is sre.AT and (argument is sre.AT_END_STRING or (argument is sre.AT_END and self._dollar_is_end)):
            self._emit(END)
        else:
            raise self._refusal(str(code if code is not sre.AT else argument).lower())

    def _branches(self, branches: list[list[Any]], ignore_case: bool, follow: list[Any]) -> None:
        jumps = []
        for branch in branches[:-1]:
            split = self._emit(SPLIT)
            self._sequence(branch, ignore_case, follow)
            jumps.append(self._emit(JUMP))
            self._set_places(split, split + 1, len(self._program.instructions))
        self._sequence(branches[-1], ignore_case, follow)
        for jump in jumps:
            self._set_places(jump, len(self._program.instructions), -1)

    def _set_places(self, at: int, first: int, second: int) -> None:
        self._program.instructions[at] = Instruction(self._program.instructions[at].code, first, second)

    def _repeat(self, item: Any, ignore_case: bool, follow: list[Any]) -> None:
        code, (least, most, inner) = item
        body = list(inner)
        if str(code) == "POSSESSIVE_REPEAT" and not self._gives_nothing_back(body, ignore_case, follow):
            raise self._refusal("a possessive repeat before what it could give back")
        lazy = code is sre.MIN_REPEAT
        for _ in range(least):
            self._sequence(body, ignore_case, [item, *follow])
        if most is sre.MAXREPEAT:
            split = self._emit(SPLIT)
            self._sequence(body, ignore_case, [item, *follow])
            self._emit(JUMP, split)
            self._leave(split, lazy)
            return
        splits = []
        for _ in range(most - least):
            splits.append(self._emit(SPLIT))
            self._sequence(body, ignore_case, [item, *follow])
        for split in splits:
            self._leave(split, lazy)

    def _leave(self, split: int, lazy: bool) -> None:
        end = len(self._program.instructions)
        self._set_places(split, end if lazy else split + 1, split + 1 if lazy else end)

    def _gives_nothing_back(self, body: list[Any], ignore_case: bool, follow: list[Any]) -> bool:
        """Whether a possessive repeat of one character is as a greedy one: what follows cannot begin in it."""
        codes = self._set(body[0], ignore_case) if len(body) == 1 else None
        if codes is None:
            return False
        for code, argument in follow:
            if code is sre.AT:
                continue  # the end of the text: nothing that is given back follows it
            next_codes = self._set((code, argument), ignore_case)
            least = 1
            if next_codes is None and "REPEAT" in str(code) and len(argument[2]) == 1:
                least, next_codes = argument[0], self._set(argument[2][0], ignore_case)
            if next_codes is None or bool((next_codes & codes).any()):
                return False
            if least > 0:
                return True
        return True

    def _set(self, item: Any, ignore_case: bool) -> Set | None:
        """The characters of an item that reads exactly one; None for all others."""
        code, argument = item
        if code is sre.LITERAL:
            codes = self._literal(argument)
        elif code is sre.NOT_LITERAL:
            return ~self._cased(self._literal(argument), ignore_case)
        elif code is sre.ANY:
            return ~characters.of([10])
        elif code is sre.IN:
            return self._members(argument, ignore_case)
        else:
            return None
        return self._cased(codes, ignore_case)

    def _members(self, items: Any, ignore_case: bool) -> Set:
        codes = characters.of([])
        for code, argument in items:
            if code is sre.LITERAL:
                codes |= self._cased(self._literal(argument), ignore_case)
            elif code is sre.RANGE:
                codes |= self._cased(characters.between(*argument), ignore_case)
            elif code is sre.CATEGORY:
                codes |= self._category(argument)
            elif code is not sre.NEGATE:
                raise self._refusal(str(code).lower())
        return ~codes if items and items[0][0] is sre.NEGATE else codes

    def _category(self, category: Any) -> Set:
        if category in (sre.CATEGORY_SPACE, sre.CATEGORY_NOT_SPACE):
            codes = characters.white_space()
        elif category in (sre.CATEGORY_DIGIT, sre.CATEGORY_NOT_DIGIT):
            found = characters.category("Nd")
            assert found is not None
            codes = found
        else:
            raise self._refusal(r"\w, which regex libraries do not agree about")
        return ~codes if "NOT" in str(category) else codes

    def _literal(self, code: int) -> Set:
        place = code - _FIRST_PLACEHOLDER
        return self._properties[place].copy() if 0 <= place < len(self._properties) else characters.of([code])

    @staticmethod
    def _cased(codes: Set, ignore_case: bool) -> Set:
        return characters.ignoring_case(codes) if ignore_case else codes
