"""Numbers as YAML 1.1 and YAML 1.2 both read them: with an exponent only behind a point, and with its sign.

In: spellings of JSON, as automata or texts. Out: the same of YAML, up to the end of the line.

Source: YAML 1.2.2, chapter 10.3; https://yaml.org/type/float.html for ``[eE][-+][0-9]+`` behind a point.
"""

from __future__ import annotations

import re

from pdacon.frontends.json_schema.yaml_strings import Rows, both, either, texts_matching
from pdacon.regular import Dfa, Ranges
from pdacon.regular.characters import difference, intersection

_READ_ALIKE = r"-?[0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?"
_WITHOUT_POINT = r"-?[0-9]+[eE][-+][0-9]+"
_EXPONENT: Ranges = ((0x45, 0x45), (0x65, 0x65))


def number_text(text: str) -> str:
    """A number of JSON as YAML writes it."""
    mantissa, sign, exponent = re.fullmatch(r"([^eE]*)(?:[eE]([-+]?)([0-9]+))?", text).groups()  # type: ignore[union-attr]
    if exponent is None:
        return text
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}e{sign or '+'}{exponent}"


def number_texts(spellings: Dfa) -> Dfa:
    """The numbers of an automaton, with the end of the line after each. Raises LimitExceededError."""
    alike = both(spellings, texts_matching(_READ_ALIKE))
    others = both(spellings, texts_matching(_WITHOUT_POINT))
    texts = either(alike, _with_point(others)) if len(others) else alike
    if not len(texts):
        return texts
    rows = Rows()
    own, end = rows.states(len(texts)), rows.state(accepts=True)
    for state, edges, accepts in zip(own, texts.edges(), texts.accepting(), strict=True):
        rows.edges[state] += [(ranges, own[target]) for target, ranges in edges.items()]
        if accepts:
            rows.word(state, "\n", end)
    return rows.automaton()


def _with_point(spellings: Dfa) -> Dfa:
    """Numbers without a point and with an exponent, with ``.0`` before that."""
    rows = Rows()
    own = rows.states(len(spellings))
    for state, edges, accepts in zip(own, spellings.edges(), spellings.accepting(), strict=True):
        rows.accepting[state] = accepts
        for target, ranges in edges.items():
            if letters := intersection(ranges, _EXPONENT):
                before = rows.state()
                rows.word(state, ".0", before)
                rows.edges[before].append((letters, own[target]))
            if others := difference(ranges, _EXPONENT):
                rows.edges[state].append((others, own[target]))
    return rows.automaton()
