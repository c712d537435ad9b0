"""Grammars with token terminals, by brute force against the definition.

The language of text and labels is that of stock Lark, with a letter in the place of each label that no text has. A
sequence of tokens is read from its first one: a token as text, if some sentence begins with what was read and its text;
else as the first label that has it and with which some sentence begins so. A mask has the tokens that can be read.
"""

from __future__ import annotations

import itertools
import re

import lark
import pytest

import pdacon
from pdacon import Grammar, Vocabulary

_ALPHABET = "ab\n"
_LONGEST = 6
_DEPTH = 4
_SYMBOLS = {"PARAGRAPH_TOKEN": "P", "TEXT_TOKEN": "T", "IMAGE": "I", "OTHER": "O", "<|call|>": "C"}

VOCABULARY = (
    Vocabulary.from_tokens([b"a", b"b", b"\n", b"ab", b"ba", b"b\n", b"aa", None, None, None, b"\xf5", None], [11])
    .with_special_tokens({"<|call|>": 9})
    .with_labels(IMAGE=[7, 8], OTHER=[8, 9, 3])
)

GRAMMARS = {
    "one label": r"start: T" "\n" r"T: /(?P<IMAGE>)/",
    "as printed": r"start: S" "\n" r"S: /a(\n(?P<PARAGRAPH_TOKEN>)+){1,2}/",
    "text and then labels": r"start: /a+/ T*" "\n" r"T: /(?P<IMAGE>)b?/",
    "labels in a list": r'start: "a" (T "b")+' "\n" r"T: /(?P<PARAGRAPH_TOKEN>)\n/",
    "a special token": r"start: /[ab]/ C A" "\n" r"C: /(?P<TOKEN><|call|>)/" "\n" r"A: /a*\n/",
    "text before the label": r"start: A | T" "\n" r"A: /ab\n/" "\n" r"T: /(?P<TEXT_TOKEN>)\n\n/",
    "labels in a class": r"start: T" "\n" r"T: /(?:a|(?P<IMAGE>)|b)+\n/",
    "ignored": r"start: T T" "\n" r"T: /(?P<IMAGE>)/" "\n" r"%ignore /\n+/",
    "nested": r'start: "a" inner "b" | T' "\n" r'inner: "b" T "a" | T "a"' "\n" r"T: /(?P<PARAGRAPH_TOKEN>)/",
    "lazy": r"start: T B" "\n" r"T: /(?P<TEXT_TOKEN>)+?\n/" "\n" r"B: /b/",
    "two labels apart": r'start: T "a" O | "b" O' "\n" r"T: /(?P<IMAGE>)/" "\n" r"O: /(?P<OTHER>)/",
    "look-behind": r"start: T" "\n" r"T: /(?P<IMAGE>)(?<!a)[ab](?P<IMAGE>)?(?!b)\n/",
    "keyword": r"start: (K | N) T" "\n" r'K: "ab"' "\n" r"N: /[ab]+/" "\n" r"T: /(?P<IMAGE>)+\n/",
    "case": r"start: T" "\n" r"T: /A(?P<IMAGE>)B/i",
}
_LONG_ENDS = {"nested": 0, "keyword": 4}
SHARED = {
    "an alternative": r"start: T | O" "\n" r"T: /(?P<IMAGE>)a/" "\n" r"O: /(?P<OTHER>)b/",
    "in one pattern": r"start: T" "\n" r"T: /(?:(?P<OTHER>)|(?P<IMAGE>)\n)*b/",
}


class Oracle:
    """What the definition says, for texts up to a length."""

    def __init__(self, grammar: str, vocabulary: Vocabulary) -> None:
        named = re.findall(r"\(\?P<TOKEN>(.*?)\)|\(\?P<(\w+)>\)", grammar)
        self.vocabulary = vocabulary
        self.labels = list(dict.fromkeys(token or label for token, label in named))
        ids = {**vocabulary.special_tokens}
        self.tokens_of = {label: [ids[label]] if label in ids else vocabulary.ids_of(label) for label in self.labels}
        letters = {label: _SYMBOLS[label] for label in self.labels}
        text = re.sub(r"\(\?P<TOKEN>(.*?)\)", lambda found: f"(?-i:{letters[found[1]]})", grammar)
        text = re.sub(r"\(\?P<(\w+)>\)", lambda found: f"(?-i:{letters[found[1]]})", text)
        parser = lark.Lark(text, parser="lalr")
        alphabet = _ALPHABET + "".join(letters.values())
        self.sentences = set()
        self.longest = _LONGEST if len(alphabet) < 5 else _LONGEST - 1
        for length in range(1, self.longest + 1):
            for word in map("".join, itertools.product(alphabet, repeat=length)):
                try:
                    parser.parse(word)
                except lark.exceptions.LarkError:
                    continue
                self.sentences.add(word)
        self.viable = {word[:end] for word in self.sentences for end in range(len(word) + 1)}

    def read(self, before: str, token: int) -> str | None:
        """What was read after a token; None: it is not allowed."""
        text = self.vocabulary.tokens[token]
        if text and text.isascii() and before + text.decode() in self.viable:
            return before + text.decode()
        for label in self.labels:
            if token in self.tokens_of[label] and before + _SYMBOLS[label] in self.viable:
                return before + _SYMBOLS[label]
        return None

    def mask(self, before: str) -> list[int]:
        return [
            token
            for token in range(self.vocabulary.size)
            if (before in self.sentences if token in self.vocabulary.eos_ids else self.read(before, token) is not None)
        ]


def _compare(constraint: pdacon.Constraint, oracle: Oracle, end: int = 3) -> int:
    """Compare every mask of sequences whose readings are short enough to be known; how many there were."""
    compared = 0
    pending: list[tuple[str, tuple[int, ...]]] = [("", ())]
    while pending:
        before, tokens = pending.pop()
        matcher = constraint.matcher()
        assert matcher.validate_tokens(tokens) == len(tokens)
        assert all(map(matcher.accept_token, tokens))
        expected = oracle.mask(before)
        assert matcher.allowed_tokens() == expected, (before, tokens)
        assert matcher.is_accepting() == (before in oracle.sentences)
        fork = matcher.fork()
        for token in range(oracle.vocabulary.size):
            assert matcher.is_allowed(token) == fork.accept_token(token) == (token in expected), (tokens, token)
            if token in expected:
                fork.rollback(1)
                if token not in oracle.vocabulary.eos_ids and len(tokens) < _DEPTH:
                    after = oracle.read(before, token)
                    assert after is not None
                    if len(after) <= oracle.longest - end:  # after it: a token of two letters, and what ends the text
                        pending.append((after, (*tokens, token)))
        assert expected, (before, tokens)
        compared += 1
    return compared


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_are_those_of_the_definition(name: str) -> None:
    oracle = Oracle(GRAMMARS[name], VOCABULARY)
    grammar = Grammar.from_lark(GRAMMARS[name], extensions=True)
    constraint = pdacon.compile(grammar, VOCABULARY)
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes(), VOCABULARY, verify=True)
    for each in (constraint, loaded):
        assert _compare(each, oracle, _LONG_ENDS.get(name, 3)) > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_of_labels_that_share_tokens_the_first_one_wins(name: str) -> None:
    with pytest.raises(pdacon.NondeterministicGrammarError) as refused:
        pdacon.compile(Grammar.from_lark(SHARED[name], extensions=True), VOCABULARY)
    assert {finding.id for finding in refused.value.report.findings if finding.level == "error"} == {"PDA022"}
    grammar = Grammar.from_lark(SHARED[name], extensions=True, conflicts="shift")
    assert _compare(pdacon.compile(grammar, VOCABULARY), Oracle(SHARED[name], VOCABULARY)) > 2


@pytest.mark.parametrize(
    "grammar",
    [
        r"start: A+ T B" "\n" r"A: /a/" "\n" r"T: /(?P<X>)/" "\n" r"B: /b/",  # a is always text, and b never comes
        r"start: T" "\n" r"T: /(a|b|\n)*(?P<TEXT_TOKEN>)b{3}/",
    ],
)
def test_a_label_that_text_may_hide_is_refused(grammar: str) -> None:
    vocabulary = VOCABULARY.with_labels(X=[0])
    with pytest.raises(pdacon.NondeterministicGrammarError) as refused:
        pdacon.compile(Grammar.from_lark(grammar, extensions=True), vocabulary)
    report = refused.value.report
    assert {finding.id for finding in report.findings if finding.level == "error"} == {"PDA021"}
    assert not pdacon.check(Grammar.from_lark(grammar, extensions=True), vocabulary).ok
