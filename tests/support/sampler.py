"""Sentences by derivation, from stock Lark's rules and terminals alone: nothing of pdacon takes part.

A sentence of the rules, spelled by texts of its terminals, need not be one for Lark: lexemes may run together or be cut
apart elsewhere. Those that Lark does not parse are near misses, and as welcome as the others.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from lark import Lark
from lark.exceptions import LarkError
from lark.grammar import NonTerminal, Rule, Symbol
from lark.indenter import Indenter

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as sre_parser
else:
    import sre_constants as sre
    import sre_parse as sre_parser

ASCII = [chr(code) for code in range(32, 127)]
OTHERS = [*"\t\n\r\x00\x1f\x7f", *"éßñ\u0301\u2028中文字\ud7ff\ue000", "😀", "\U0010ffff"]
CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}

# From Python 3.11 on.
ATOMIC = [getattr(sre, name) for name in ("ATOMIC_GROUP",) if hasattr(sre, name)]
REPEATS = [getattr(sre, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(sre, name)]

#: So often a text of a terminal is tried.
PATIENCE = 20


class TextSampler:
    """Random texts that a regular expression matches as a whole.

    Look-around, anchors and the order of alternatives are skipped over at first: a text that `re` does not match is
    tried again, and given all the same where none is found soon.
    """

    def __init__(self, regexp: str, flags: int, random: Random) -> None:
        self.random = random
        self.parsed = sre_parser.parse(regexp, flags)
        self._whole = re.compile(regexp, flags)
        self._groups: dict[int, str] = {}

    def text(self) -> str:
        for _ in range(PATIENCE):
            text = self._sequence(self.parsed, self.parsed.state.flags)
            match = self._whole.match(text)
            if match and match.end() == len(text) > 0:
                break
        return text

    def _sequence(self, items: Iterable[Any], flags: int) -> str:
        return "".join(self._item(op, argument, flags) for op, argument in items)

    def _item(self, op: Any, argument: Any, flags: int) -> str:
        if op is sre.LITERAL:
            return self._cased(chr(argument), flags)
        if op is sre.IN:
            return self._cased(self._member(argument), flags)
        if op is sre.NOT_LITERAL:
            return self._any_but(lambda character: ord(character) == argument)
        if op is sre.ANY:
            return self._any_but(lambda character: character == "\n" and not flags & re.DOTALL)
        if op is sre.BRANCH:
            return self._sequence(self.random.choice(argument[1]), flags)
        if op is sre.SUBPATTERN:
            group, added, removed, inner = argument
            text = self._sequence(inner, (flags | added) & ~removed)
            if group is not None:
                self._groups[group] = text
            return text
        if op is sre.GROUPREF:
            return self._groups.get(argument, "")
        if op in ATOMIC:
            return self._sequence(argument, flags)
        if op in REPEATS:
            least, most, inner = argument
            number = min(most, least + self.random.choice([0, 0, 1, 1, 2, 3, 6]))
            return "".join(self._sequence(inner, flags) for _ in range(number))
        return ""

    def _cased(self, character: str, flags: int) -> str:
        return character.swapcase() if flags & re.IGNORECASE and self.random.random() < 0.5 else character

    def _member(self, items: list[Any]) -> str:
        if items[0][0] is sre.NEGATE:
            return self._any_but(lambda character: any(_belongs(character, item) for item in items[1:]))
        op, argument = self.random.choice(items)
        if op is sre.LITERAL:
            return chr(argument)
        if op is sre.RANGE:
            return chr(self.random.randint(*argument))
        return self._any_but(lambda character: not _belongs(character, (op, argument)))

    def _any_but(self, excluded: Any) -> str:
        for _ in range(200):
            character = self.random.choice(ASCII if self.random.random() < 0.7 else OTHERS)
            if not excluded(character):
                return character
        return ""


def _belongs(character: str, item: tuple[Any, Any]) -> bool:
    op, argument = item
    if op is sre.LITERAL:
        return ord(character) == argument
    if op is sre.RANGE:
        return bool(argument[0] <= ord(character) <= argument[1])
    return re.match(CATEGORIES[argument], character) is not None


class Sampler:
    """Random derivations of a grammar that stock Lark has loaded.

    Parameters
    ----------
    lark
        Loaded with parser="lalr".
    depth
        From this depth on, a rule takes its expansion that ends soonest.
    """

    def __init__(self, lark: Lark, random: Random, depth: int = 8) -> None:
        self.random = random
        self.depth = depth
        self._expansions: dict[str, list[list[Symbol]]] = defaultdict(list)
        for rule in lark.rules:
            self._expansions[rule.origin.name].append(rule.expansion)
        self._height = _heights(lark.rules)
        flags = lark.options.g_regex_flags
        self._texts = {
            terminal.name: TextSampler(terminal.pattern.to_regexp(), flags, random) for terminal in lark.terminals
        }
        patterns = {terminal.name: terminal.pattern.to_regexp() for terminal in lark.terminals}
        indenter = lark.options.postlex
        self._layout = {indenter.INDENT_type, indenter.DEDENT_type} if isinstance(indenter, Indenter) else set()
        self._ignored = [name for name in lark.ignore_tokens if name in self._texts]
        self._blank = [name for name in self._ignored if re.fullmatch(patterns[name], " ", flags)]
        self._breaks = any(re.fullmatch(patterns[name], "\n", flags) for name in self._ignored)
        self._lark = lark

    def sentence(self, start: str = "start") -> str:
        """The texts of a random derivation's terminals, with ignored text here and there between them."""
        sentence = self._gap()
        for name in self._terminals(start):
            text = self._text(name)
            sentence += (self._space() if _run_together(sentence, text) else "") + text + self._gap()
        return sentence

    def _text(self, name: str) -> str:
        """A text of a terminal; with Lark's basic lexer one that it reads as that terminal, if one is found soon."""
        text = self._texts[name].text()
        for _ in range(PATIENCE if self._lark.options.lexer == "basic" else 0):
            if self._is_read_as(name, text):
                break
            text = self._texts[name].text()
        return text

    def _is_read_as(self, name: str, text: str) -> bool:
        try:
            return [token.type for token in self._lark.lex(text)] == [name]
        except AssertionError:
            return True  # the Indenter's, at a parenthesis that closes none; the lexer has read it
        except LarkError:
            return False

    def _terminals(self, start: str) -> Iterator[str]:
        """The terminals of a random derivation that have texts: those that ``%declare`` names have none."""
        pending: list[tuple[Symbol, int]] = [(NonTerminal(start), 0)]
        while pending:
            symbol, depth = pending.pop()
            if isinstance(symbol, NonTerminal):
                expansion = self._expansion(symbol.name, depth)
                pending.extend((part, depth + 1) for part in reversed(expansion))
            elif symbol.name in self._texts or symbol.name in self._layout:
                yield symbol.name

    def _expansion(self, rule: str, depth: int) -> list[Symbol]:
        expansions = self._expansions[rule]
        if depth < self.depth:
            # Rules before terminals, or most sentences would end at once.
            weights = [1 + 2 * sum(isinstance(part, NonTerminal) for part in expansion) for expansion in expansions]
            return self.random.choices(expansions, weights)[0]
        return min(expansions, key=lambda expansion: self._rank(expansion))

    def _rank(self, expansion: list[Symbol]) -> tuple[float, float]:
        return max((self._height.get(symbol.name, 0.0) for symbol in expansion), default=0.0), self.random.random()

    def _gap(self) -> str:
        if not self._ignored or self.random.random() < 0.8:
            return ""
        name = self.random.choice(self._ignored)
        end = "\n" if self._breaks and name not in self._blank and self.random.random() < 0.95 else self._space()
        return self._texts[name].text() + end

    def _space(self) -> str:
        """Blanks that keep two words apart and may end a comment; now and then none, for a near miss."""
        if not self._blank or self.random.random() < 0.05:
            return ""
        return self._texts[self.random.choice(self._blank)].text()


class IndentedSampler(Sampler):
    """Random derivations of a grammar with an Indenter: the blanks after each newline say what the derivation wants.

    Newlines that the derivation wants in parentheses are written all the same, where Lark drops them; others are put
    in. Lines that are empty or hold only a comment come in between.
    """

    def __init__(self, lark: Lark, random: Random, depth: int = 8) -> None:
        super().__init__(lark, random, depth)
        indenter = lark.options.postlex
        assert isinstance(indenter, Indenter)
        self.indenter = indenter

    def sentence(self, start: str = "start") -> str:
        indenter = self.indenter
        sentence = ""
        columns, parens = [0], 0
        names = list(self._terminals(start))
        for at, name in enumerate(names):
            if name in (indenter.INDENT_type, indenter.DEDENT_type):
                continue
            if name == indenter.NL_type:
                self._follow(names, at + 1, columns)
                sentence += self._newline(columns[-1])
                continue
            parens += (name in indenter.OPEN_PAREN_types) - (name in indenter.CLOSE_PAREN_types)
            text = self._text(name)
            # A blank at the beginning of a line would be one column more.
            gap = "" if sentence.endswith(("\n", " ", "\t")) else self._space() if _run_together(sentence, text) else ""
            sentence += gap + text
            if at + 1 < len(names) and names[at + 1] != indenter.NL_type:
                sentence += self._gap()
            if parens and self.random.random() < 0.1:
                sentence += self._texts[indenter.NL_type].text()
        return sentence

    def _follow(self, names: list[str], at: int, columns: list[int]) -> None:
        """Open or close the blocks that the derivation wants after a newline."""
        while at < len(names) and names[at] in (self.indenter.INDENT_type, self.indenter.DEDENT_type):
            if names[at] == self.indenter.INDENT_type:
                usual = getattr(self.indenter, "indent_len", 4)
                columns.append(columns[-1] + self.random.choice([1, 2, usual, usual, self.indenter.tab_len]))
            elif len(columns) > 1:
                columns.pop()
            at += 1

    def _newline(self, column: int) -> str:
        before = self._texts[self.indenter.NL_type].text() if self.random.random() < 0.2 else ""
        tabs = self.random.randrange(column // self.indenter.tab_len + 1) if self.random.random() < 0.3 else 0
        blanks = ["\t"] * tabs + [" "] * (column - tabs * self.indenter.tab_len)
        self.random.shuffle(blanks)
        return before.rstrip(" \t") + "\n" + "".join(blanks)


def _run_together(left: str, right: str) -> bool:
    """Whether two lexemes are likely to be read as one: two words, numbers, quotes or signs."""
    return left[-1:] == right[:1] != "" or ((left[-1:] + right[:1]).isalnum() and left != "")


def _heights(rules: Iterable[Rule]) -> dict[str, float]:
    """For each rule, the height of its lowest derivation."""
    rules = list(rules)
    heights = {rule.origin.name: float("inf") for rule in rules}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            height = 1 + max((heights.get(symbol.name, 0.0) for symbol in rule.expansion), default=0.0)
            if height < heights[rule.origin.name]:
                heights[rule.origin.name] = height
                changed = True
    return heights


def damaged(text: str, random: Random) -> str:
    """A text with one random change: characters taken out, doubled, swapped, replaced or put in."""
    begin = random.randrange(len(text) + 1)
    end = min(len(text), begin + random.choice([0, 1, 1, 1, 2, 5]))
    piece = text[begin:end]
    alphabet = text if text and random.random() < 0.7 else ASCII + OTHERS
    other = random.choice(
        ["", piece * 2, piece[::-1], random.choice(alphabet), random.choice(alphabet) + piece, piece.swapcase()]
    )
    return text[:begin] + other + text[end:]
