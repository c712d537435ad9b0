"""Formulas over facts about numbers -> languages of their spellings.

A number for which nothing but its type is asked may be spelled in any way that JSON allows. Where more is asked, it is
spelled as Python's ``json.dumps`` does, with trailing zeros allowed: a plain decimal, or an exponent where the number
is very large or very small; not beside ``multipleOf`` of many digits. Canonical spellings have neither.
"""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from pdacon.base.cancelling import every, look
from pdacon.base.graphs import Numbering
from pdacon.base.limits import Limits
from pdacon.frontends.json_schema.facts import Above, Among, Fact, Facts, Integral, Multiple, Number
from pdacon.frontends.json_schema.multiples import Divisor, multiples
from pdacon.frontends.json_schema.strings import STATES, Shape, choices_of
from pdacon.regular import FALSE, TRUE, Dfa, Formulas, Languages, Ranges, combined, parse_pattern
from pdacon.regular.automata import Bound, numbers_between, plain_pattern
from pdacon.regular.operations import of_ranges

ANY_INTEGER = r"(?:0|-?[1-9][0-9]*)"
CANONICAL_NUMBER = r"-?(?:[1-9][0-9]*(?:\.[0-9]*[1-9])?|0\.[0-9]*[1-9])|0"
r"""Patterns of Python's ``re`` too, in which ``\d`` would be a digit of any script."""
_EXPONENT_DIGITS = 4  # where digits are counted; floats need three
INFINITE = ("1e999", "-1e999")
"""What ``json.loads`` reads as an infinite float; as numbers these are finite, and integers."""
_PLAIN = r"-?(?:0|[1-9]\d*)(?:\.\d+)?"
_GREATEST = "7976931348623157"  # after "1.", the mantissa of the greatest double
_OF_308 = "|".join(
    [
        _GREATEST[:k] + (f"(?:[0-{int(d) - 1}]\\d{{0,{15 - k}}})?" if d != "0" else "")
        for k, d in enumerate(_GREATEST)
        if k
    ]
)
_OF_308 = rf"1(?:\.(?:[0-6]\d{{0,15}}|{_OF_308}|{_GREATEST}))?"
_EXPONENTS = {"+": r"(?:1[6-9]|[2-9]\d|[12]\d\d|30[0-7])", "-": r"(?:0[5-9]|[1-9]\d|[12]\d\d|3[01]\d|32[0-4])"}
_LARGE = rf"-?(?:[1-9](?:\.\d{{1,16}})?e\+{_EXPONENTS['+']}|{_OF_308}e\+308)"
_SMALL = rf"-?[1-9](?:\.\d+)?e\-{_EXPONENTS['-']}"
_SPELLED = re.compile(f"{_PLAIN}|{_LARGE}|{_SMALL}", re.ASCII)
_ZERO = r"-?0(?:\.0+)?"
_MOST_BYTES = 256 << 20  # of one automaton
LARGE = 10**16
"""Python writes floats from this one on with an exponent."""


def any_number(digits: int | None, *, exponents: bool = True) -> str:
    """All numbers, of at most so many digits before the point and after it, as a pattern."""
    if digits is None:
        return rf"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?{'(?:[eE][+-]?[0-9]+)?' if exponents else ''}"
    exponent = "" if not exponents else rf"(?:[eE][+-]?[0-9]{{1,{_EXPONENT_DIGITS}}})?"
    return rf"-?(?:0|[1-9][0-9]{{0,{digits - 1}}})(?:\.[0-9]{{1,{digits}}})?{exponent}"


def any_integer(digits: int | None, *, decimal: bool = False) -> str:
    """All integers, of at most so many digits; ``decimal``: also with ``.0``."""
    integer = ANY_INTEGER if digits is None else rf"(?:0|-?[1-9][0-9]{{0,{digits - 1}}})"
    return rf"{integer}(?:\.0)?" if decimal else integer


def canonical_number(digits: int | None) -> str:
    """The same of numbers with one spelling each."""
    if digits is None:
        return CANONICAL_NUMBER
    whole, fraction = rf"[1-9][0-9]{{0,{digits - 1}}}", rf"\.[0-9]{{0,{digits - 1}}}[1-9]"
    return rf"-?(?:{whole}(?:{fraction})?|0{fraction})|0"


def has_few_digits(text: str, digits: int | None) -> bool:
    """Whether a number, as it is written, has at most so many digits before its point and after it."""
    if digits is None:
        return True
    whole, _, fraction = re.split("[eE]", text)[0].lstrip("-").partition(".")
    return len(whole) <= digits and len(fraction) <= digits


def number_holds(facts: Facts, formula: int, number: Number, *, whole: bool = True) -> bool:
    """Whether a formula over facts about numbers holds for one number.

    ``whole`` says whether it is written without a fraction and an exponent, if it is an integer.
    """

    def holds(variable: int) -> bool:
        fact = facts[variable]
        if isinstance(fact, Among):
            return number in fact.values
        if isinstance(fact, Integral):
            return number.denominator == 1 and (whole or not fact.written)
        if isinstance(fact, Above):
            return number >= fact.bound if fact.inclusive else number > fact.bound
        assert isinstance(fact, Multiple)
        return (number / fact.of).denominator == 1

    return facts.formulas.evaluated(formula, holds)


@lru_cache(maxsize=256)
def number_automaton(
    shape: Shape,
    excluded: frozenset[Number],
    integral: bool,
    canonical: bool,
    digits: int | None = None,
    *,
    exponents: bool = True,
    decimal: bool = False,
) -> Dfa:
    """The spellings of the numbers for which a formula holds.

    Where nothing but bounds is asked, the core compares their digits. Else each fact is a combination of automata of
    which most are the same for every bound, and kept; the core makes their product.

    Parameters
    ----------
    excluded : frozenset of Fraction
        Numbers that are left out.
    integral : bool
        Only integers, without a fraction and an exponent.
    canonical : bool
        One spelling for each number, without an exponent.
    digits : int, optional
        So many digits there are at most before the point, and after it; or as many as a bound is written with. A
        multiple without an exponent has no more after it than it needs, or one zero.
    exponents : bool
        Whether there may be exponents.
    decimal : bool
        Whether integers may have ``.0``.

    Raises
    ------
    LimitExceededError
    """
    if not excluded and digits is None and not decimal and (integral or (exponents and not canonical)):
        between = _between_bounds(shape, integral)
        if between is not None:
            return between
    plain = integral or canonical or not exponents or not _takes_exponents(shape)
    languages = _Numbers(exponents=not plain)
    formulas = languages.formulas
    universe = f"(?:{_PLAIN}|{_LARGE}|{_SMALL})"
    if plain:
        universe = (
            any_integer(None, decimal=decimal) if integral else f"(?:{CANONICAL_NUMBER})" if canonical else _PLAIN
        )

    meant: dict[Shape, int] = {False: FALSE, True: TRUE}
    for choice in every(choices_of(shape), looks=1):
        meant[choice] = formulas.choice(languages.fact(choice.fact), meant[choice.then], meant[choice.otherwise])
    equal = [languages.equal(Fraction(number)) for number in every(excluded, looks=1)]
    whole = languages.text(universe)
    if digits is not None:
        before, after = _digits_of_bounds(shape, digits, plain)
        places = min(after, most_places(shape))
        few = languages.text(rf"-?\d{{1,{before}}}(?:(?:\.\d{{1,{places}}})?|(?:\.\d{{1,{after}}})?e[^]*)")
        whole = formulas.conjunction(whole, few)
    return languages.combined(
        formulas.conjunction(whole, meant[shape], *[formulas.negation(formula) for formula in equal]), STATES
    )


def _between_bounds(shape: Shape, integral: bool) -> Dfa | None:
    """The numbers for which a formula holds, if it is about nothing but bounds, whose digits the core compares."""
    choices = choices_of(shape)
    facts = {choice.fact for choice in choices}
    above = {fact for fact in facts if isinstance(fact, Above)}
    if not above or len(above) < len(facts):
        return None
    # Between two bounds that follow one another all numbers are alike.
    borders = sorted(above, key=lambda fact: (fact.bound, not fact.inclusive))
    ranks: dict[Fact, int] = {fact: rank for rank, fact in enumerate(borders)}
    rank_of = {choice: ranks[choice.fact] for choice in choices}
    ranges: list[tuple[Bound | None, Bound | None]] = []
    for passed, (lower, upper) in enumerate(every(pairwise([None, *borders, None]), looks=1)):
        part = shape
        while not isinstance(part, bool):
            part = part.then if rank_of[part] < passed else part.otherwise
        if part:
            least = None if lower is None else (_signed_decimal(lower.bound), lower.inclusive)
            most = None if upper is None else (_signed_decimal(upper.bound), not upper.inclusive)
            ranges.append((least, most))
    return numbers_between(ranges, integral=integral)


def _digits_of_bounds(shape: Shape, digits: int, plain: bool) -> tuple[int, int]:
    """How many digits there are before a point and after it; without exponents a bound may need more than others."""
    before = after = digits
    for choice in choices_of(shape) if plain else ():
        number = choice.fact.bound if isinstance(choice.fact, Above) else None
        number = choice.fact.of if isinstance(choice.fact, Multiple) else number
        if number is not None:
            whole, _, fraction = _decimal(abs(number)).partition(".")
            before, after = max(before, len(whole)), max(after, len(fraction))
    return before, after


def most_places(shape: Shape) -> float:
    """How many digits after the point the numbers of a formula need at most; one zero has a place everywhere."""
    most: dict[Shape, float] = {False: 0, True: math.inf}
    for choice in choices_of(shape):
        then = most[choice.then]
        if isinstance(choice.fact, Multiple):
            then = min(then, Divisor.of(choice.fact.of).places)
        most[choice] = max(then, most[choice.otherwise])
    return max(1, most[shape])


def _takes_exponents(shape: Shape) -> bool:
    """Whether the multiples that a formula asks for can be told in numbers with exponents, too."""
    facts = (choice.fact for choice in choices_of(shape))
    return all(Divisor.of(fact.of).takes_exponents for fact in facts if isinstance(fact, Multiple))


@lru_cache(maxsize=256)
def _spelled(pattern: str) -> Dfa:
    """The texts that a pattern matches whole."""
    plain = plain_pattern(f"^(?:{pattern})$", STATES)
    if plain is not None:
        return plain
    languages = Languages()
    return languages.deterministic(languages.whole(parse_pattern(pattern)), STATES)


class _Numbers:
    """Sets of those spellings that are used where more is asked than the type: with exponents, or without.

    A set is a formula; each of its variables stands for an automaton.
    """

    def __init__(self, *, exponents: bool) -> None:
        self.formulas = Formulas()
        self._automata: list[Dfa] = []
        self._numbers: dict[Dfa, int] = {}
        self._exponents = exponents

    def _of(self, automaton: Dfa) -> int:
        number = self._numbers.setdefault(automaton, len(self._automata))
        if number == len(self._automata):
            self._automata.append(automaton)
        return self.formulas.variable(number)

    def text(self, pattern: str) -> int:
        """The texts that a pattern matches whole."""
        return self._of(_spelled(pattern))

    def combined(self, formula: int, limit: int) -> Dfa:
        """The automaton of a formula."""
        node = self.formulas.node
        number = {FALSE: FALSE, TRUE: TRUE}
        diagram: list[tuple[int, int, int]] = []
        pending = [formula]
        while pending:
            top = pending[-1]
            variable, then, otherwise = node(top) if top > TRUE else (0, top, top)
            missing = [below for below in (then, otherwise) if below not in number]
            if missing:
                pending += missing
                continue
            pending.pop()
            if top not in number:
                diagram.append((variable, number[then], number[otherwise]))
                number[top] = len(diagram) + 1
        if not diagram:
            diagram.append((0, formula, formula))
        return combined(self._automata, diagram, limit)

    def fact(self, fact: Fact) -> int:
        """The spellings of the numbers that a fact is about; of what is no spelling it says anything."""
        formulas = self.formulas
        if isinstance(fact, Among):
            numbers = sorted(Fraction(number) for number in fact.values if not isinstance(number, str))
            return self.text("|".join(map(self._spellings, every(numbers))))
        if isinstance(fact, Integral):
            if fact.written:
                return self.text(r"-?\d+")
            plain = self.text(r"-?\d+(?:\.0+)?")
            return formulas.disjunction(plain, self.text(_LARGE)) if self._exponents else plain
        if isinstance(fact, Multiple):
            return self._multiple_of(fact.of)
        assert isinstance(fact, Above)
        return self._above(fact.bound, fact.inclusive)

    def _above(self, bound: Fraction, inclusive: bool) -> int:
        """Numbers above a bound: with a sign, those whose magnitude is not above the other side."""
        formulas = self.formulas
        negative = self.text(r"-[^]*")
        zero = self.text(_ZERO)
        if bound > 0:
            return formulas.conjunction(formulas.negation(negative), self._larger(bound, inclusive))
        if bound == 0:
            positive = formulas.conjunction(formulas.negation(negative), formulas.negation(zero))
            return formulas.disjunction(positive, zero if inclusive else FALSE)
        within = formulas.negation(self._larger(-bound, not inclusive))
        return formulas.disjunction(formulas.negation(negative), zero, within)

    def _larger(self, bound: Fraction, inclusive: bool) -> int:
        """Spellings, with any sign, whose magnitude is above a bound greater than 0."""
        plain = self._plain_larger(bound, inclusive)
        if not self._exponents:
            return plain
        patterns = []
        exponent, digits = _scientific(bound)
        for sign, least, most, fraction in (("+", 16, 307, r"\.\d{1,16}"), ("-", 5, 324, r"\.\d+")):
            own = exponent if sign == "+" else -exponent
            # After "-" the larger number is the one with the smaller exponent.
            first, last = (max(own + 1, least), most) if sign == "+" else (least, min(own - 1, most))
            if first <= last:
                patterns.append(rf"-?[1-9](?:{fraction})?e\{sign}{_between(first, last)}")
            if least <= own <= most:
                mantissas = "|".join(_plain_above(digits, inclusive))
                patterns.append(rf"-?(?=[1-9](?:{fraction})?e)(?:{mantissas})e\{sign}{own:02}")
        if exponent < 308:
            patterns.append(rf"-?{_OF_308}e\+308")
        elif exponent == 308:
            patterns.append(rf"-?(?={_OF_308}e)(?:{'|'.join(_plain_above(digits, inclusive))})e\+308")
        return self.formulas.disjunction(plain, self.text("|".join(patterns) if patterns else r"[^\s\S]"))

    def _plain_larger(self, bound: Fraction, inclusive: bool) -> int:
        """Plain decimals, with any sign, whose magnitude is above a bound greater than 0: digit by digit.

        A state says how many digits are read, and whether they are greater than those of the bound, as great or less;
        after the point, only while all of them are the same. What is less there is not followed.
        """
        whole, _, fraction = _decimal(bound).partition(".")
        number = Numbering((0, 0))
        rows: list[list[tuple[Ranges, int]]] = []
        greater = (-1, 1)  # whatever follows
        behind = len(whole) + 1  # (behind + k, 0): so many digits after the point are the bound's

        def compared(digit: str, same: tuple[int, int], above: tuple[int, int], below: tuple[int, int] | None) -> None:
            point = ord(digit)
            row.append((((point, point),), number[same]))
            if digit != "9":
                row.append((((point + 1, 0x39),), number[above]))
            if digit != "0" and below is not None:
                row.append((((0x30, point - 1),), number[below]))

        accepting = []
        for state in every(number):
            read, sign = state
            row: list[tuple[Ranges, int]] = []
            if state == greater:
                row.append((((0x2E, 0x2E), (0x30, 0x39)), number[greater]))
            elif read >= behind:
                digits = fraction[read - behind :]
                compared(digits[0] if digits else "0", (read + bool(digits), 0), greater, None)
            else:
                if read == 0:
                    row.append((((0x2D, 0x2D),), number[(0, 0)]))
                if read == len(whole):
                    row.append((((0x30, 0x39),), number[greater]))
                    if sign >= 0:
                        row.append((((0x2E, 0x2E),), number[greater if sign else (behind, 0)]))
                elif sign:
                    row.append((((0x30, 0x39),), number[(read + 1, sign)]))
                else:
                    compared(whole[read], (read + 1, 0), (read + 1, 1), (read + 1, -1))
            rows.append(row)
            same = sign == 0 and read in ((len(whole), behind) if not fraction else (behind + len(fraction),))
            accepting.append(state == greater or (read == len(whole) and sign > 0) or (inclusive and same))
        return self._of(of_ranges(rows, accepting, Limits(states=STATES, bytes=_MOST_BYTES)))

    def equal(self, number: Fraction) -> int:
        """The spellings of one number."""
        return self.text(self._spellings(number))

    def _spellings(self, number: Fraction) -> str:
        sign = "-" if number < 0 else "-?" if number == 0 else ""
        whole, _, fraction = _decimal(abs(number)).partition(".")
        pattern = rf"{sign}{whole}\.{fraction}0*" if fraction else rf"{sign}{whole}(?:\.0+)?"
        if number and self._exponents:
            exponent, digits = _scientific(abs(number))
            if exponent >= 16 or exponent < -4:
                first, _, rest = _decimal(digits).partition(".")
                mantissa = rf"{first}\.{rest}0*" if rest else rf"{first}(?:\.0+)?"
                pattern += rf"|{sign}{mantissa}e\{'-' if exponent < 0 else '+'}{abs(exponent):02}"
        return pattern

    def _multiple_of(self, of: Fraction) -> int:
        divisor = Divisor.of(of)
        automata = [multiples(divisor, "plain")]
        if self._exponents:
            automata += [multiples(divisor, "large"), multiples(divisor, "small")]
        return self.formulas.disjunction(*map(self._of, automata))


def _between(first: int, last: int) -> str:
    """A pattern of the exponents from one to another, in two digits or more."""
    if (first, last) in ((16, 307), (5, 324)):
        return _EXPONENTS["+" if first == 16 else "-"]
    return f"(?:{'|'.join(f'{number:02}' for number in range(first, last + 1))})"


def _decimal(number: Fraction) -> str:
    """A number not less than 0 as a plain decimal, which it must have."""
    places = 0
    while (number * 10**places).denominator != 1:
        look()
        places += 1
    digits = str(int(number * 10**places)).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def _signed_decimal(number: Fraction) -> str:
    return f"{'-' if number < 0 else ''}{_decimal(abs(number))}"


def _scientific(number: Fraction) -> tuple[int, Fraction]:
    """Exponent and mantissa, from 1 to below 10, of a number greater than 0."""
    exponent = len(_decimal(number).partition(".")[0]) - 1 if number >= 1 else -1
    while number < Fraction(10) ** exponent:
        look()
        exponent -= 1
    return exponent, number / Fraction(10) ** exponent


def _plain_above(bound: Fraction, inclusive: bool) -> list[str]:
    """Patterns of the plain decimals, without a sign, above a bound greater than 0."""
    whole, _, fraction = _decimal(bound).partition(".")
    rest = r"(?:\.\d+)?"
    patterns = [rf"[1-9]\d{{{len(whole)}}}\d*{rest}"]
    for k, digit in enumerate(whole):
        if digit != "9":
            patterns.append(rf"{whole[:k]}[{chr(ord(digit) + 1)}-9]\d{{{len(whole) - k - 1}}}{rest}")
    for k, digit in enumerate(fraction):
        if digit != "9":
            patterns.append(rf"{whole}\.{fraction[:k]}[{chr(ord(digit) + 1)}-9]\d*")
    beyond = rf"{whole}\.{fraction}0*[1-9]\d*"
    equal = rf"{whole}\.{fraction}0*" if fraction else rf"{whole}(?:\.0+)?"
    return [*patterns, beyond, *([equal] if inclusive else [])]


def is_whole(text: str) -> bool:
    """Whether a number is written without a fraction and an exponent."""
    return text.lstrip("-").isdigit()


def is_decimal(text: str) -> bool:
    """Whether a number is written as numbers are of which more than the type is asked."""
    return _SPELLED.fullmatch(text) is not None


def spellings(number: Number, *, canonical: bool) -> list[str]:
    """How a number that a schema lists is spelled: as a plain decimal, and as Python writes that float."""
    if isinstance(number, int) and abs(number) < LARGE:
        return [str(number)]
    number = Fraction(number)
    sign = "-" if number < 0 else ""
    plain = sign + _decimal(abs(number))
    if canonical:
        return [plain]
    if number.denominator == 1:
        rounded = float(number) if abs(number) <= sys.float_info.max else 0.0
        return [plain, repr(rounded)] if abs(number) >= LARGE and Fraction(repr(rounded)) == number else [plain]
    exponent, digits = _scientific(abs(number))
    return [plain, f"{sign}{_decimal(digits)}e-{-exponent:02}"] if exponent < -4 else [plain]
