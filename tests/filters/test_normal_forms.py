"""Normal forms of Unicode as automata, against `unicodedata`: one character, all pairs and triples that can matter."""

from __future__ import annotations

import random
import unicodedata
from functools import cache
from itertools import product

import pytest

from pdacon.filters.normal_forms import Form, normal_form

FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")


@cache
def characters() -> list[str]:
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


@cache
def marks() -> list[str]:
    """All that composes as the second one, and two characters of each combining class."""
    seconds = {
        part for c in characters() if unicodedata.decomposition(c) for part in unicodedata.normalize("NFD", c)[1:]
    }
    by_class: dict[int, list[str]] = {}
    for c in characters():
        if unicodedata.combining(c):
            by_class.setdefault(unicodedata.combining(c), []).append(c)
    return sorted(seconds | {c for some in by_class.values() for c in some[:2]} | set("가각각ᆨힸ"))


@cache
def starters() -> list[str]:
    """All that decomposes and what it begins with, but for Hangul's syllables, of which there are some."""
    decomposed = [c for c in characters() if unicodedata.decomposition(c)]
    return sorted({*decomposed, *(unicodedata.normalize("NFD", c)[0] for c in decomposed), *'\n"1가각힣ᄀ학日🙂'})


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_of_one_character(form: Form) -> None:
    automaton = normal_form(form)
    normal = [c for c in characters() if unicodedata.is_normalized(form, c)]
    assert automaton.accepts("\n".join(normal))
    for c in set(characters()) - set(normal):
        assert not automaton.accepts(c), ascii(c)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_of_two_characters(form: Form) -> None:
    """The characters of a pair are joined to one text where possible: a newline stands between pairs."""
    automaton = normal_form(form)
    for first in starters():
        normal = [first + second for second in marks() if unicodedata.is_normalized(form, first + second)]
        assert automaton.accepts("\n".join(normal)), first
        for second in marks() if len(normal) < len(marks()) else ():
            if first + second not in normal:
                assert not automaton.accepts(first + second), (first, second)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_of_three_characters(form: Form) -> None:
    automaton = normal_form(form)
    seconds = [c for c in marks() if unicodedata.is_normalized(form, c)]
    firsts = [c for c in starters() if unicodedata.is_normalized(form, c)]
    rng = random.Random(1)
    for first in [*rng.sample(firsts, 60), *"aâoơeêUữ각가ᄀ"]:
        for pair in product(rng.sample(seconds, 60), repeat=2):
            text = first + "".join(pair)
            assert automaton.accepts(text) == unicodedata.is_normalized(form, text), ascii(text)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_of_longer_texts(form: Form) -> None:
    automaton = normal_form(form)
    rng = random.Random(2)
    pool, others = marks(), starters()
    verdicts = set()
    for _ in range(20_000):
        text = "".join(rng.choice(others if rng.random() < 0.4 else pool) for _ in range(rng.randint(2, 6)))
        if rng.random() < 0.7:
            text = unicodedata.normalize(form, text)
        if rng.random() < 0.3:
            text += rng.choice(pool)
        verdict = unicodedata.is_normalized(form, text)
        verdicts.add(verdict)
        assert automaton.accepts(text) == verdict, ascii(text)
    assert verdicts == {False, True}
