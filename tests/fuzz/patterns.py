"""Random terminals: patterns of Python's `re` with all that it has, strings, and terminals made of terminals."""

from __future__ import annotations

import re
import sys
from random import Random

if sys.version_info >= (3, 11):
    from re import _parser as sre_parser
else:
    import sre_parse as sre_parser

POSSESSIVE = sys.version_info >= (3, 11)
ESCAPED = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "/": r"\/", '"': '"', "\x0c": r"\f"}


def escaped(letter: str) -> str:
    """A letter in a pattern between slashes."""
    if letter in ESCAPED:
        return ESCAPED[letter]
    if letter.isalnum() or letter == "_" or ord(letter) > 127:
        return letter
    return "\\" + letter


def in_class(letter: str) -> str:
    """A letter in a class of characters."""
    if letter in ESCAPED:
        return ESCAPED[letter]
    return "\\" + letter if letter in "]^-\\[&~|" else letter


def quoted(text: str) -> str:
    """A string of Lark's language."""
    inner = "".join(
        {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\x0c": r"\f"}.get(letter, letter)
        for letter in text
    )
    return f'"{inner}"'


def width(pattern: str, flags: str = "") -> tuple[int, int] | None:
    """The least and the greatest width, None where it is no pattern at all."""
    try:
        least, most = sre_parser.parse(f"(?{flags}:{pattern})" if flags else pattern).getwidth()
    except (re.error, RecursionError, OverflowError):
        return None
    return int(least), int(most)


class PatternMaker:
    """Random patterns over some letters.

    ``looking`` says whether look-ahead, look-behind, word boundaries, anchors and possessive quantifiers may be there.
    """

    def __init__(self, rng: Random, letters: str, looking: bool, features: set[str], unicode: bool = True) -> None:
        self.rng = rng
        self.letters = letters
        self.looking = looking
        self.features = features
        self.unicode = unicode
        self.groups = 0
        self.open: list[str] = []

    def letter(self) -> str:
        return self.rng.choice(self.letters)

    def terminal(self, depth: int = 2) -> tuple[str, str]:
        """A pattern that matches no empty text, and its flags."""
        rng = self.rng
        flags = ""
        if rng.random() < 0.12:
            flags = rng.choice(["i", "s", "m", "i", "is", "x"] + (["a", "u"] if self.unicode else []))
        for _ in range(8):
            self.open = []
            pattern = self.alternatives(depth)
            size = width(pattern, flags)
            if size is not None and size[0] > 0 and "//" not in pattern:
                break
            if size is not None and size[0] == 0:
                pattern = self._unless_empty(pattern)
                size = width(pattern, flags)
                if size is not None and size[0] > 0:
                    break
        else:
            pattern = escaped(self.letter())
        if flags:
            self.features.add("flags")
        return pattern, flags

    def _unless_empty(self, pattern: str) -> str:
        letter = escaped(self.letter())
        if "|" in pattern:
            pattern = f"(?:{pattern})"
        return letter + pattern if self.rng.random() < 0.6 else pattern + letter

    def alternatives(self, depth: int) -> str:
        count = self.rng.choice([1, 1, 1, 2, 2, 3]) if depth else 1
        if count > 1:
            self.features.add("ordered alternation")
        return "|".join(self.sequence(depth) for _ in range(count))

    def sequence(self, depth: int) -> str:
        groups = len(self.open)
        text = "".join(self.piece(depth) for _ in range(self.rng.choice([1, 1, 2, 2, 3])))
        # What a group of one alternative matched is not known in another.
        del self.open[groups:]
        return text

    def piece(self, depth: int) -> str:
        rng = self.rng
        if self.looking and rng.random() < 0.22:
            return self.looking_around(depth)
        atom = self.atom(depth)
        roll = rng.random()
        if roll < 0.55:
            return atom
        self.features.add("quantifier")
        quantifier = rng.choice(["?", "*", "+", "+", "*", "{2}", "{1,2}", "{2,}", "{0,2}", "{1,3}", "{,2}"])
        if "{" in quantifier:
            self.features.add("bounded repetition")
            if rng.random() < 0.03:
                quantifier = f"{{{rng.choice([5, 9, 17, 40, 100])}}}"
        roll = rng.random()
        if roll < 0.2:
            self.features.add("lazy quantifier")
            return atom + quantifier + "?"
        if roll < 0.3 and self.looking and POSSESSIVE:
            self.features.update(("possessive", "look-around"))
            return atom + quantifier + "+"
        return atom + quantifier

    def atom(self, depth: int) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.5 or (depth == 0 and roll < 0.7):
            return escaped(self.letter())
        if roll < 0.68 or depth == 0:
            return self.character_class()
        if roll < 0.73:
            self.features.add("any character")
            return "."
        if roll < 0.76 and self.open:
            self.features.add("backreference")
            name = rng.choice(self.open)
            if rng.random() < 0.25:
                return f"(?({name}){escaped(self.letter())}|{escaped(self.letter())})"
            return f"(?P={name})"
        if roll < 0.81:
            return self.named_group(depth - 1)
        if roll < 0.84 and POSSESSIVE and self.looking:
            self.features.update(("atomic group", "look-around"))
            return f"(?>{self.alternatives(depth - 1)})"
        if roll < 0.86:
            self.features.add("inline flags")
            return f"(?{rng.choice(['i', 's', '-i', 'i-s'])}:{self.alternatives(depth - 1)})"
        if roll < 0.87:
            return "(?#comment)" + escaped(self.letter())
        return f"({rng.choice(['?:', '?:', ''])}{self.alternatives(depth - 1)})"

    def named_group(self, depth: int) -> str:
        # A name that two terminals have does not load where both are in one context: rare, but it has to be tried.
        self.groups += 1
        name = "q" if self.rng.random() < 0.05 else f"g{self.groups}"
        groups = len(self.open)
        inner = self.alternatives(depth)
        del self.open[groups:]
        self.open.append(name)
        self.features.add("named group")
        return f"(?P<{name}>{inner})"

    def character_class(self) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.2:
            self.features.add("class escape")
            return rng.choice([r"\w", r"\d", r"\s", r"\W", r"\D", r"\S"])
        if roll < 0.25:
            letter = self.letter()
            if ord(letter) < 256:
                return f"\\x{ord(letter):02x}"
            return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
        members = [in_class(self.letter()) for _ in range(rng.choice([1, 2, 2, 3]))]
        if rng.random() < 0.2:
            first, last = sorted((self.letter(), self.letter()))
            if first.isalnum() and last.isalnum():
                members.append(f"{first}-{last}")
        if rng.random() < 0.08:
            members.append(rng.choice([r"\w", r"\s", r"\d"]))
        self.features.add("character class")
        return f"[{'^' if rng.random() < 0.3 else ''}{''.join(members)}]"

    def looking_around(self, depth: int) -> str:
        rng = self.rng
        self.features.add("look-around")
        roll = rng.random()
        if roll < 0.16:
            self.features.add("word boundary")
            return rng.choice([r"\b", r"\b", r"\B"])
        if roll < 0.3:
            self.features.add("anchor")
            return rng.choice(["^", "$", "$", r"\A", r"\Z"])
        inside = self.looking
        self.looking = inside and rng.random() < 0.25
        try:
            if roll < 0.72:
                self.features.add("look-ahead")
                return f"(?{rng.choice('=!')}{self.alternatives(max(0, depth - 1))})"
            self.features.add("look-behind")
            kind = rng.choice(["<=", "<!"])
            for _ in range(4):
                inner = self.alternatives(max(0, depth - 1))
                size = width(inner)
                if size is not None and size[0] == size[1] and size[1] < 20:
                    return f"(?{kind}{inner})"
            return f"(?{kind}{escaped(self.letter())})"
        finally:
            self.looking = inside


class TextMaker:
    """Random texts that a pattern might match: what looks around is passed over, so that some do not."""

    def __init__(self, rng: Random, letters: str) -> None:
        self.rng = rng
        self.letters = letters or "a"

    def text(self, pattern: str, flags: int = 0) -> str:
        tree = sre_parser.parse(pattern, flags)
        self._groups: dict[int, str] = {}
        self._left = 60
        return self._sequence(tree, flags)

    def _sequence(self, items: object, flags: int) -> str:
        return "".join(self._item(str(op), argument, flags) for op, argument in items)  # type: ignore[attr-defined]

    def _item(self, op: str, argument: object, flags: int) -> str:
        return getattr(self, f"_{op.lower()}", self._nothing)(argument, flags)  # type: ignore[no-any-return]

    def _nothing(self, argument: object, flags: int) -> str:
        return ""

    def _literal(self, code: int, flags: int) -> str:
        letter = chr(code)
        if flags & re.IGNORECASE and self.rng.random() < 0.4:
            swapped = letter.swapcase()
            return swapped if len(swapped) == 1 else letter
        return letter

    def _not_literal(self, code: int, flags: int) -> str:
        return self.rng.choice([letter for letter in self.letters if letter != chr(code)] or ["~"])

    def _any(self, argument: object, flags: int) -> str:
        return self.rng.choice([letter for letter in self.letters if letter != "\n"] or ["~"])

    def _in(self, members: list[tuple[object, object]], flags: int) -> str:
        negated = str(members[0][0]) == "NEGATE"
        candidates = [letter for letter in self.letters if self._in_class(letter, members) != negated]
        if not candidates:
            candidates = [letter for letter in "a0 _\n~\u00e9" if self._in_class(letter, members) != negated]
        if not candidates and not negated:
            op, argument = self.rng.choice(members)
            candidates = [chr(argument if str(op) == "LITERAL" else argument[0])] if str(op) != "CATEGORY" else ["0"]  # type: ignore[index, arg-type]
        return self._literal(ord(self.rng.choice(candidates or ["~"])), flags)

    def _in_class(self, letter: str, members: list[tuple[object, object]]) -> bool:
        code = ord(letter)
        for op, argument in members:
            kind = str(op)
            if kind == "LITERAL" and code == argument:
                return True
            if kind == "RANGE" and argument[0] <= code <= argument[1]:  # type: ignore[index]
                return True
            if kind == "CATEGORY" and self._in_category(letter, str(argument)):
                return True
        return False

    @staticmethod
    def _in_category(letter: str, category: str) -> bool:
        kind = category.rpartition("_")[2].lower()[0]
        return bool(re.match("\\" + (kind.upper() if "NOT" in category else kind), letter))

    def _max_repeat(self, argument: tuple[int, int, object], flags: int) -> str:
        least, most, items = argument
        most = min(int(most), int(least) + self.rng.choice([0, 0, 1, 1, 2, 3]))
        count = self.rng.randint(int(least), max(int(least), most))
        if self._left <= 0:
            count = int(least)
        self._left -= count
        if count > 50:
            return self._sequence(items, flags) * count
        return "".join(self._sequence(items, flags) for _ in range(count))

    _min_repeat = _possessive_repeat = _max_repeat

    def _subpattern(self, argument: tuple[int | None, int, int, object], flags: int) -> str:
        group, added, removed, items = argument
        text = self._sequence(items, (flags | added) & ~removed)
        if group is not None:
            self._groups[group] = text
        return text

    def _atomic_group(self, items: object, flags: int) -> str:
        return self._sequence(items, flags)

    def _branch(self, argument: tuple[object, list[object]], flags: int) -> str:
        return self._sequence(self.rng.choice(argument[1]), flags)

    def _groupref(self, group: int, flags: int) -> str:
        return self._groups.get(group, "")

    def _groupref_exists(self, argument: tuple[int, object, object], flags: int) -> str:
        group, yes, no = argument
        chosen = yes if group in self._groups else no
        return self._sequence(chosen, flags) if chosen else ""

    def _assert(self, argument: tuple[int, object], flags: int) -> str:
        # What a look-ahead asks for is sometimes written, so that what follows may begin with it.
        return self._sequence(argument[1], flags) if argument[0] > 0 and self.rng.random() < 0.3 else ""
