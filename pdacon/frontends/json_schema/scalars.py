"""Formulas over facts about strings and numbers -> terminals, and the productions of strings that are counted.

In: what is asked of a string, of a member's name or of a number. Out: terminals. Strings and numbers that formulas ask
for by name are terminals of their own; of the others each formula is an automaton.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import lru_cache, partial

from pdacon.base.cancelling import every, raise_if_out_of_time
from pdacon.errors import LimitExceededError, UnsupportedSchemaError
from pdacon.frontends.json_schema import numbers, strings
from pdacon.frontends.json_schema.counted import Counted, chunk_length
from pdacon.frontends.json_schema.excluded_texts import is_spelled_with, strings_with
from pdacon.frontends.json_schema.facts import Among, Integral, LongerThan, Matches, Multiple, Number
from pdacon.frontends.json_schema.keeping import Kept
from pdacon.frontends.json_schema.naming import bounds_name, shape_name, words_name
from pdacon.frontends.json_schema.printed_patterns import strings_pattern
from pdacon.frontends.json_schema.productions import PART, Productions, Text
from pdacon.frontends.json_schema.programs import all_but_automaton, number_program, string_program, words_program
from pdacon.frontends.json_schema.schema_formulas import Reader
from pdacon.frontends.json_schema.spelling import ANY_STRING, CHARACTER, Spelling, spelled
from pdacon.frontends.json_schema.strings import Shape, choice
from pdacon.regular import FALSE, TRUE, Dfa, Substitution
from pdacon.regular.ordered.escaping import Escapes
from pdacon.regular.ordered.program import Program, remembered_automaton, to_automaton
from pdacon.regular.records import Automaton

_LONG = 500
"""Strings of more characters are counted by the parser."""
_LARGE = 5_000
"""Also those for which an automaton has more states, if it counts them."""
_MOST_WORDS_APART = 64
"""Beside more words, strings that are counted are not told from them text by text."""
_FEW_WORDS = 16
"""Of no more words each is a terminal of its own, where those need not be told apart at once."""
_USUAL_NUMBERS: tuple[Number, ...] = (0, 1, Fraction(1, 2))
_NO_NUMBER_GOES_ON = "(?![0-9.eE+-])"


class Scalars:
    """Writes strings, names and numbers.

    Parameters
    ----------
    counts_apart : bool
        Whether the characters of strings are counted beside automata, of which there is one for all strings then.

    Attributes
    ----------
    end_of_name : str
        What follows a member's name in its terminal.
    """

    def __init__(self, out: Productions, reader: Reader, written: Spelling, *, counts_apart: bool = False) -> None:
        self._counts_apart = counts_apart
        self._out, self._reader, self._facts, self._spelling = out, reader, reader.facts, written
        self._families: dict[str, int] = {}
        self._excludes = written.excludes
        excluded = self._facts.holds(Matches(strings_with(written.excludes))) if written.excludes else FALSE
        self._allowed = self._facts.formulas.negation(excluded)  # what holds for the strings that may be written
        self.end_of_name = '"' if written.blanks is not None else f'"{written.colon}'

    def literal(self, name: str, text: str) -> int:
        """The terminal of one text."""
        return self._out.terminal(("literal", text), name, lambda: Text("str", text))

    def may_be_written(self, name: str) -> bool:
        """Whether no excluded text occurs in a name as it is spelled."""
        return not is_spelled_with(self._excludes, name)

    def name(self, name: str) -> int:
        """The terminal of a member's name, with the colon after it where that is fixed."""
        return self._strings_among("NAME", [name], self.end_of_name)

    def texts_of_names(self, names: Sequence[str]) -> list[bytes]:
        """The texts of the terminals of names, where each has one spelling; else none."""
        escapes, closing = self._spelling.escapes, self.end_of_name
        return [] if escapes == "any" else [f"{spelled(name, escapes)[:-1]}{closing}".encode() for name in names]

    def other_names(self, formula: int, excluded: frozenset[str]) -> int | None:
        """The terminal of the names for which a formula holds, but some; None if there are none."""
        formula = self._facts.formulas.conjunction(formula, self._allowed)
        return self._other_strings("NAME", formula, excluded, self.end_of_name)

    def names_told_apart(self, formula: int, listed: Sequence[str]) -> frozenset[str]:
        """The listed names that the terminal of a formula must not have, where such a name wins if both match.

        None, if whatever begins a name for which the formula holds begins infinitely many of them: then it begins some
        that is not listed, whichever listed names may come.
        """
        formula = self._facts.formulas.conjunction(formula, self._allowed)
        if formula == TRUE or not listed:
            return frozenset()
        _, automaton = self._automaton(
            formula, lambda one: strings.string_automaton(strings.shape_of(self._facts, one))
        )
        if automaton.goes_on_everywhere():
            return frozenset()
        return frozenset(name for name in every(listed) if automaton.accepts(name))

    def strings(self, value: Callable[[int], int], meanings: dict[int, int]) -> None:
        """Add the strings for which each of some formulas holds to the nonterminal of its question."""
        facts = self._facts
        if self._allowed != TRUE:
            conjunction = facts.formulas.conjunction
            meanings = {one: conjunction(formula, self._allowed) for one, formula in meanings.items()}
        if [*meanings.values()] == [TRUE]:  # nothing is asked, as in most schemas
            strings_all = self._counted(0, None) if self._counts_apart else self._every_string()
            self._out.add(value(*meanings), strings_all)
            return
        named = strings.named_strings(facts, list(meanings.values()))
        if self._counts_apart and self._strings_counted_apart(value, meanings, named):
            return
        for one, formula in meanings.items():
            words = sorted(strings.strings_among(facts, formula, named))
            if words and self._counts_apart and len(words) <= _FEW_WORDS and self._spelling.escapes != "any":
                self._add_words(value(one), words)
            elif words:
                self._out.add(value(one), self._strings_among("STRING", words, '"'))
            rest = strings.unnamed(facts, formula)
            counts = strings.counts_and_rest(facts, rest) if len(meanings) == 1 and not named else None
            if counts is not None and self._is_long(*counts):
                self._long_strings(value(one), *counts)
            elif rest != FALSE and (terminal := self._other_strings("STRING", rest, frozenset(named), '"')) is not None:
                self._out.add(value(one), terminal)

    def _add_words(self, value: int, words: list[str]) -> None:
        """Add strings, each as a terminal of its own."""
        for word in words:
            self._out.add(value, self.literal("STRING", spelled(word, self._spelling.escapes)))

    def _every_string(self) -> int:
        terminal = self._other_strings("STRING", TRUE, frozenset(), '"')
        assert terminal is not None
        return terminal

    def _strings_counted_apart(self, value: Callable[[int], int], meanings: dict[int, int], named: set[str]) -> bool:
        """Add the same, if but for few words only counts are asked for; where both match, a word is what is meant."""
        facts, escapes = self._facts, self._spelling.escapes
        if len(named) > _MOST_WORDS_APART or (named and escapes == "any"):
            return False
        words = {one: sorted(strings.strings_among(facts, formula, named)) for one, formula in meanings.items()}
        if sum(map(len, words.values())) != len(named):
            return False  # some may not come
        spans = {}
        for one, formula in meanings.items():
            rest = strings.unnamed(facts, formula)
            found = strings.counts_of(strings.shape_of(facts, rest))
            if found is None:
                return len(meanings) == 1 and not named and self._pattern_counted_apart(value(one), rest)
            spans[one] = found
        if named and not any(spans.values()):
            return False
        for one in meanings:
            self._add_words(value(one), words[one])
            for span in spans[one]:
                self._out.add(value(one), self._counted(*span))
        return True

    def _pattern_counted_apart(self, value: int, formula: int) -> bool:
        """Add the strings for which a formula holds, if it asks for a number of characters beside other things."""
        counts = strings.counts_and_rest(self._facts, formula)
        if counts is None or counts[:2] == (0, None):
            return False
        least, most, contents = counts
        lengths = strings.lengths_of(contents, least, most)
        if lengths is None:
            return False
        are_some, are_all = lengths
        if are_all and are_some:
            key = "strings", contents, '"'
            name = shape_name("STRING", contents)
            self._out.add(value, self._out.terminal(key, name, lambda: self._text(contents, '"')))
        elif are_some:
            self._out.add(value, self._counted(least, most, contents))
        return True

    def _counted(self, least: int, most: int | None, contents: Shape = True) -> int:
        """The strings of so many characters, which are counted beside the automaton of what else is asked of them."""
        key = "counted", least, most, contents
        return self._out.terminal(key, "STRING", lambda: Text("counted", "", counts=(least, most), contents=contents))

    def _strings_among(self, name: str, texts: list[str], closing: str) -> int:
        escapes = self._spelling.escapes
        if escapes != "any":
            return self.words(name, [f"{spelled(text, escapes)[:-1]}{closing}" for text in texts])
        key = "strings among", tuple(texts), closing
        shape = choice(Among(frozenset(texts)), True, False)
        return self._out.terminal(
            key, words_name(name, [spelled(text) for text in texts]), lambda: self._text(shape, closing)
        )

    def _is_long(self, least: int, most: int | None, contents: Shape) -> bool:
        """Whether the parser counts the characters of strings: where an automaton that does would be large."""
        longest = max(least, most or 0)
        if contents is True:
            return longest > _LONG
        try:
            return most is not None and longest * len(strings.string_automaton(contents)) > _LARGE
        except LimitExceededError as error:
            raise_if_out_of_time(error)
            return False  # it is the language that is too large

    def _long_strings(self, value: int, least: int, most: int | None, contents: Shape) -> None:
        """Strings of many characters, which the parser counts in chunks: the states are as many as the root of that.

        A chunk is so many characters without a quote, and what ends the string has fewer, so that both are never open.
        """
        out, escapes = self._out, self._spelling.escapes
        whole = bounds_name(shape_name("STRING", contents), least or None, most)
        counted: Counted | None = None
        family: tuple[int, ...] = ()
        pattern = ""
        if contents is True:
            size = math.isqrt(least if most is None else most) + 1
        else:
            assert most is not None
            counted = Counted.of(strings.string_automaton(contents), escapes)
            family = (self._families.setdefault(counted.family, len(self._families)),)
            size = chunk_length(most, len(counted.one))
            shape = choice(LongerThan(least - 1), contents, False) if least else contents
            pattern = strings_pattern(choice(LongerThan(most), False, shape)) if escapes == "needed" else ""

        def piece(name: str, low: int, high: int | None, closing: str) -> int:
            named = f"{whole}_{name}" if closing else whole
            if counted is None:
                some = _counted(low, high)
                return out.terminal((name, low, high), named, lambda: self._text(some, closing, opening=""))
            key = name, low, high, counted.family, pattern  # the whole string's, which is what is printed

            def text() -> Text:
                assert high is not None
                program = counted.rest(low, high) if closing else counted.chunk(high)
                return _of_program(pattern, program)

            return out.terminal(key, named, lambda: _TEXTS.get(key, text))

        before = out.nonterminal(PART, least, -1 if most is None else most, 0, *family)
        out.add(before, self.literal("QUOTE", '"'))
        for done in range(0, (least if most is None else most) + 1, size):
            low = max(0, least - done)
            if most is None and low < size:
                out.add(value, before, piece("END", low, None, '"'))
                break
            high = size - 1 if most is None else min(size - 1, most - done)
            if low <= high:
                out.add(value, before, piece("END", low, high, '"'))
            if most is None or done + size <= most:
                after = out.nonterminal(PART, least, -1 if most is None else most, done + size, *family)
                out.add(after, before, piece("CHUNK", size, size, ""))
                before = after

    def words(self, name: str, words: list[str], *, guarded: bool = False) -> int:
        """The terminal of some texts; ``guarded``: where no number goes on behind them."""
        if len(words) == 1 and not guarded:
            return self.literal(name, words[0])
        key = "words", tuple(words), guarded
        pattern = partial(_listed_pattern, key[1], guarded)

        def text() -> Text:
            return Text("automaton", "", to_automaton(words_program(words, guarded=guarded)), pattern)

        return self._out.terminal(key, words_name(name, words), text)

    def _other_strings(self, name: str, formula: int, excluded: frozenset[str], closing: str) -> int | None:
        """The terminal of the strings for which a formula holds, but some; None if there are none."""
        escapes = self._spelling.escapes
        if formula == TRUE and escapes != "any":
            key = "other strings", excluded, closing
            return self._out.terminal(key, name, lambda: self._all_but(excluded, closing))

        def shape_of(formula: int) -> Shape:
            shape = strings.shape_of(self._facts, formula)
            return choice(Among(excluded), False, shape) if excluded else shape

        formula, automaton = self._automaton(formula, lambda formula: strings.string_automaton(shape_of(formula)))
        if not len(automaton):
            return None
        shape = shape_of(formula)
        name = name if excluded else shape_name(name, shape)
        return self._out.terminal(("strings", shape, closing), name, lambda: self._text(shape, closing))

    def _all_but(self, excluded: frozenset[str], closing: str) -> Text:
        escapes = self._spelling.escapes
        pattern = ""
        if escapes == "needed":
            if not excluded and closing == '"':
                return Text("re", ANY_STRING)
            listed = "|".join(re.escape(spelled(text)[1:-1]) for text in sorted(excluded))
            not_listed = f'(?!(?:{listed})")' if excluded else ""
            pattern = f'"{not_listed}{CHARACTER}*{closing}'
        return Text("automaton", pattern, _all_but(excluded, escapes, closing))

    def _text(self, shape: Shape, closing: str, opening: str = '"') -> Text:
        """The strings for which a formula holds, between fixed texts."""
        escapes = self._spelling.escapes
        key = "strings", shape, escapes, opening, closing
        return _TEXTS.get(key, lambda: _string_text(shape, escapes, opening, closing))

    def numbers(self, value: Callable[[int], int], meanings: dict[int, int]) -> None:
        """The same for numbers."""
        facts, formulas = self._facts, self._facts.formulas
        integrals = [facts.holds(Integral(written)) for written in (False, True)]
        if len(meanings) == 1 and {*meanings.values()} <= {TRUE, *integrals}:  # nothing else is asked, as in most
            integral, decimal = TRUE not in meanings.values(), self._takes_decimals(*meanings.values())
            terminal = self._other_numbers(TRUE, set(), integral, decimal, False)
            assert terminal is not None
            self._out.add(value(*meanings), terminal)
            return
        if len(meanings) > 1:
            meanings = {one: formula for one, formula in meanings.items() if self._has_numbers(formula)}
        listed = self._listed_numbers(meanings)
        unlisted = strings.unnamed(facts, formulas.disjunction(*meanings.values()))
        integral = any(formulas.implies(unlisted, one) for one in integrals)
        decimal = integral and self._takes_decimals(unlisted)
        # A number that may stand there whether it is listed or not is written as others are.
        those, infinite = {*listed.values()}, self._infinite(meanings)
        free = {number for number in every(those if unlisted else ()) if numbers.number_holds(facts, unlisted, number)}
        fixed = those - free
        digits = self._spelling.digits
        places = math.inf if digits is None else numbers.most_places(strings.shape_of(facts, unlisted))

        def beside(text: str) -> bool:
            plain = numbers.is_whole(text.removesuffix(".0") if decimal else text)
            plain = plain if integral else numbers.is_decimal(text)
            return plain and numbers.has_few_digits(text, digits) and len(text.partition(".")[2]) <= places

        found: list[tuple[int, Callable[[bool], int | None]]] = []
        for one, formula in meanings.items():
            asked, certain = strings.narrowed(facts, formula, those)
            words = [
                text
                for text, number in every(listed.items())
                if number in asked and (number in fixed or not beside(text))
                if certain or self._takes(formula, text)
            ]
            words += [text for text in infinite if text not in words and self._takes(formula, text)]
            if words:
                found.append((one, lambda guarded, words=words: self.words("NUMBER", words, guarded=guarded)))  # type: ignore[misc]
            rest = self._beside_listed(formula, free)
            for variable in formulas.support(integrals) if integral else ():
                rest = formulas.restricted(rest, variable, True)
            if rest != FALSE:
                found.append((one, partial(self._other_numbers, rest, fixed, integral, decimal)))
        for one, make in found:
            terminal = make(len(found) > 1)
            if terminal is not None:
                self._out.add(value(one), terminal)

    def _has_numbers(self, formula: int) -> bool:
        """Whether some number satisfies a formula, so that how others are spelled may depend on it."""
        facts = self._facts
        listed = {number for _, fact in facts.among(formula) if isinstance(fact, Among) for number in fact.values}
        if any(
            numbers.number_holds(facts, formula, number, whole=whole)
            for number in every(listed)
            if not isinstance(number, str)
            for whole in (True, False)
        ):
            return True
        rest = strings.unnamed(facts, formula)
        if rest == FALSE:
            return False
        usual = [number for number in _USUAL_NUMBERS if number not in listed]
        if any(numbers.number_holds(facts, rest, number) for number in usual):
            return True  # without an automaton of them
        try:
            return len(self._number_spellings(set(listed), False, False, rest)) > 0  # type: ignore[arg-type]
        except LimitExceededError as error:
            raise_if_out_of_time(error)
            return True

    def _takes_decimals(self, formula: int) -> bool:
        """Whether integers for which a formula holds may be written with a fraction of zeros."""
        written = self._facts.holds(Integral(True))
        return self._spelling.integers == "decimal" and not self._facts.formulas.implies(formula, written)

    def _takes(self, formula: int, text: str) -> bool:
        """Whether a formula holds for the number that a text is."""
        whole = numbers.is_whole(text)
        return numbers.number_holds(self._facts, formula, int(text) if whole else Fraction(text), whole=whole)

    def _infinite(self, meanings: dict[int, int]) -> tuple[str, ...]:
        """How infinite floats are written, where any number may stand and it is only asked whether it is an integer."""
        facts, formulas = self._facts, self._facts.formulas
        plain = all(isinstance(fact, Integral) for _, fact in facts.among(*meanings.values()))
        takes_all = formulas.disjunction(*meanings.values()) == TRUE
        return numbers.INFINITE if plain and takes_all and self._spelling.has_any_exponents else ()

    def _listed_numbers(self, meanings: dict[int, int]) -> dict[str, Number]:
        """The texts of the numbers that formulas list, those of the schema among them; ascending."""
        canonical, exponents = self._spelling.numbers == "canonical", self._spelling.exponents != "none"
        listed: dict[str, Number] = {}
        for _, fact in self._facts.among(*meanings.values()):
            if isinstance(fact, Among):
                for number in every(sorted(fact.values)):
                    if isinstance(number, str):
                        continue
                    texts = numbers.spellings(number, canonical=canonical or not exponents)
                    listed.update(dict.fromkeys(texts, number))
                    if number.denominator == 1 and self._spelling.integers == "decimal":
                        listed[f"{texts[0]}.0"] = number
                for text in () if canonical else sorted(fact.texts):
                    if exponents or not re.search("[eE]", text):
                        listed.setdefault(text, Fraction(text))
        return {text: listed[text] for text in sorted(listed, key=listed.__getitem__)}

    def _beside_listed(self, formula: int, free: set[Number]) -> int:
        """What a formula says of the numbers that are listed nowhere, and of some others."""
        facts, formulas = self._facts, self._facts.formulas
        unnamed = strings.unnamed(facts, formula)
        told_apart = {
            number
            for number in every(free)
            for whole in (False, True)
            if numbers.number_holds(facts, formula, number, whole=whole)
            != numbers.number_holds(facts, unnamed, number, whole=whole)
        }
        if not told_apart:
            return unnamed

        def restricted(variable: int) -> int:
            fact = facts[variable]
            if not isinstance(fact, Among):
                return formulas.variable(variable)
            some = frozenset(number for number in told_apart if number in fact.values)
            return facts.holds(Among(some)) if some else FALSE

        return Substitution(formulas, restricted)(formula)

    def _other_numbers(
        self, formula: int, excluded: set[Number], integral: bool, decimal: bool, guarded: bool
    ) -> int | None:
        pattern = self._any_number(integral, decimal)
        if formula == TRUE and not excluded and not guarded and pattern is not None:
            key: Hashable = ("any integer", decimal) if integral else "any number"
            return self._out.terminal(key, "INTEGER" if integral else "NUMBER", lambda: Text("re", pattern))
        formula, automaton = self._automaton(formula, partial(self._number_spellings, excluded, integral, decimal))
        if not len(automaton):
            return None
        shape = strings.shape_of(self._facts, formula)
        name = shape_name("INTEGER" if integral else "NUMBER", shape)
        key = "numbers", shape, frozenset(excluded), integral, decimal, guarded
        spelling = self._spelling
        wanted = *key, spelling.numbers == "canonical", spelling.digits, spelling.exponents != "none"

        def text() -> Text:
            return _TEXTS.get(wanted, lambda: _of_program("", number_program(automaton, guarded=guarded)))

        return self._out.terminal(key, name, text)

    def _any_number(self, integral: bool, decimal: bool) -> str | None:
        """The pattern of all numbers, if they are not only those that ``json.dumps`` writes."""
        digits, spelling = self._spelling.digits, self._spelling
        if integral:
            return numbers.any_integer(digits, decimal=decimal)
        if spelling.numbers == "canonical":
            return numbers.canonical_number(digits)
        if spelling.exponents == "json.dumps":
            return None
        return numbers.any_number(digits, exponents=spelling.exponents != "none")

    def _number_spellings(self, excluded: set[Number], integral: bool, decimal: bool, formula: int) -> Dfa:
        """The spellings of the numbers for which a formula holds, but some."""
        shape, spelling = strings.shape_of(self._facts, formula), self._spelling
        canonical, exponents = spelling.numbers == "canonical", spelling.exponents != "none"
        return numbers.number_automaton(
            shape, frozenset(excluded), integral, canonical, spelling.digits, exponents=exponents, decimal=decimal
        )

    def _automaton(self, formula: int, make: Callable[[int], Dfa]) -> tuple[int, Dfa]:
        """The automaton of a formula, or of one that asks for less, if it gets too large and that is allowed."""
        try:
            return formula, make(formula)
        except LimitExceededError as error:
            raise_if_out_of_time(error)
            # Counts and multiples are what makes automata large.
            facts = self._facts.among(formula)
            variable, fact = next((one for one in facts if isinstance(one[1], (LongerThan, Multiple))), facts[0])
            pointer, keyword = self._reader.origins.get(fact, ("#", ""))
            beside = " with what else is asked" if len(facts) > 1 else ""
            why = f"the automaton for it{beside} gets too large; make its counts or its numbers smaller"
            self._reader.drop(UnsupportedSchemaError(pointer, keyword, why))
        formulas = self._facts.formulas
        both = (formulas.restricted(formula, variable, value) for value in (True, False))
        return self._automaton(formulas.disjunction(*both), make)


def _counted(least: int, most: int | None) -> Shape:
    """Strings of so many characters."""
    few: Shape = True if most is None else choice(LongerThan(most), False, True)
    return choice(LongerThan(least - 1), few, False) if least else few


def _string_text(shape: Shape, escapes: Escapes, opening: str, closing: str) -> Text:
    """The strings for which a formula holds, between fixed texts."""
    program = string_program(strings.string_automaton(shape), escapes, opening.encode(), closing.encode())
    pattern = partial(_string_pattern, shape, escapes, opening, closing)
    return Text("automaton", "", remembered_automaton(program), pattern)


def _string_pattern(shape: Shape, escapes: Escapes, opening: str, closing: str) -> str:
    if escapes != "needed":
        return ""
    counts = strings.only_counts(shape)
    if counts is None:
        return strings_pattern(shape, closing[1:])
    least, most = counts
    return f"{opening}{CHARACTER}{{{least},{'' if most is None else most}}}{closing}"


def _listed_pattern(words: tuple[str, ...], guarded: bool) -> str:
    listed = "|".join(re.escape(word) for word in sorted(every(words), key=len, reverse=True))
    return f"(?:{listed}){_NO_NUMBER_GOES_ON if guarded else ''}"


def _of_program(pattern: str, program: Program) -> Text:
    return Text("automaton", pattern, remembered_automaton(program))


@lru_cache(maxsize=256)
def _all_but(excluded: frozenset[str], escapes: Escapes, closing: str) -> Automaton:
    """Every string but some, followed by a fixed text."""
    whole = _every_string(escapes, closing)
    words = [f'{spelled(name, escapes)[:-1]}"'.encode() for name in excluded]
    return all_but_automaton(whole, words) if words else remembered_automaton(whole)


@lru_cache(maxsize=8)
def _every_string(escapes: Escapes, closing: str) -> Program:
    return string_program(strings.string_automaton(True), escapes, after=closing.encode())


def text_size(text: Text) -> int:
    """The bytes of a terminal."""
    own = text.automaton
    parts = () if own is None else (own.kind, own.offset, own.lo, own.hi, own.target)
    return 500 + len(text.value) + sum(map(len, parts))


_TEXTS = Kept(32 << 20, text_size)
"""Terminals of strings and numbers by what they mean, such as those of formats."""
