"""Formats whose marks are special tokens of a vocabulary, wherever in the format they stand."""

from __future__ import annotations

import re
from random import Random

import pytest
from support.scaling import scaled
from support.tool_answers import SEARCH, accepted, encoded, random_answer, read, tools_of, vocabulary_of

import pdacon
from pdacon.errors import GrammarWarning
from pdacon.frontends.tool_formats import FORMATS, Answer
from pdacon.frontends.tool_formats.recognizing import with_tokens

_MARK = re.compile(r"</?[^<>$\s\"=]+>|<\|[^<>$\s]+|\[/?[A-Z_]+\]|｜DSML｜|</?[a-z:_]+|<｜[^｜]+｜>|\]<\]minimax\[>\[")
NAMES = [name for name, format in FORMATS.items() if any(_MARK.search(text) for text in format.fixed_texts)]


def special_tokens_of(name: str) -> tuple[str, ...]:
    """All that looks like a special token in the marks of a format."""
    found = {match[0] for text in FORMATS[name].fixed_texts for match in _MARK.finditer(text)}
    return tuple(sorted(found, key=lambda token: (-len(token), token)))


@pytest.mark.parametrize("which", ["all", "some", "one"])
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_written_taken_and_read_back(name: str, which: str) -> None:
    random, tokens = Random(name), special_tokens_of(name)
    if which != "all":
        tokens = tuple(random.sample(tokens, -(-len(tokens) // 2) if which == "some" else 1))
    has_thought = FORMATS[name].thought is not None
    grammar = pdacon.Grammar.from_tools(tools_of(FORMATS[name]), format=name, reasoning=has_thought, tokens=tokens)
    format = with_tokens(tokens, FORMATS[name])
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    count = 0
    assert bool(format.tokens) or name == "minimax_m3" or which == "one"
    assert set(tokens) == set(format.tokens) or not name.startswith("deepseek")
    for _ in range(scaled(8)):
        answer = random_answer(random, format, required=False)
        try:
            text = grammar.write(answer)
        except ValueError:  # a string with a mark in letters
            continue
        ids = encoded(format, text)
        if any(token in str(answer) for token in format.tokens):
            continue
        assert accepted(constraint, ids), text
        reader = constraint.reader()
        read(reader, ids)
        assert reader.answer.missing is None
        assert [(call.name, call.arguments) for call in reader.answer.calls] == [
            (call.name, call.arguments) for call in answer.calls
        ]
        assert (reader.answer.reasoning.strip(), reader.answer.text.strip()) == (
            answer.reasoning.strip(), answer.text.strip()
        )  # fmt: skip
        count += 1
    assert count


@pytest.mark.parametrize("name", ["deepseek_v3_2", "deepseek_v4", "deepseek_v4_1"])
@pytest.mark.parametrize("thought", [(), ("<think>", "</think>")])
def test_what_stands_before_a_token_in_a_mark_may_be_text(name: str, thought: tuple[str, ...]) -> None:
    """Beside a reading by hand: the token comes behind its lead alone, and text has no mark that is text."""
    grammar = pdacon.Grammar.from_tools([SEARCH], format=name, reasoning=True, tokens=("｜DSML｜", *thought))
    format = with_tokens(("｜DSML｜", *thought), FORMATS[name])
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    call = pdacon.Call("search", {"tags": ["\n\n<"]})
    whole = grammar.write(Answer("", "", (call,)))
    texts = ["", "a", "\n", "\n\n", "<", "\n\n<", "think>", "/think>", "｜", "</think>", "<think>"]
    random = Random(name)
    counted = {True: 0, False: 0}
    for _ in range(scaled(300)):
        text = "".join(random.choices(texts, k=random.randint(0, 6)))
        is_call = random.random() < 0.5
        ids = [*text.encode(), *(encoded(format, whole) if is_call else [])]
        expected = thought != () or not any(mark in text for mark in ("<think>", "</think>"))
        if not thought and text.startswith("<think>"):
            expected = "</think>" in text and not any(
                mark in text.partition("</think>")[2] for mark in ("<think>", "</think>")
            )
        assert accepted(constraint, ids) == expected, (text, is_call)
        counted[expected] += 1
        if expected and is_call:
            reader = constraint.reader()
            read(reader, ids)
            assert reader.answer.calls == (call,)
            assert reader.answer.text == (text if thought or not text.startswith("<think>") else reader.answer.text)
    assert counted[True]
    lead = "\n<" if name == "deepseek_v4" else "\n\n"
    assert not accepted(constraint, [*lead.encode(), *encoded(format, whole)[3:]])


def test_names_of_special_tokens_for_a_format_by_its_name() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), None, None, None]
    vocabulary = pdacon.Vocabulary.from_tokens(tokens, eos_ids=[256]).with_special_tokens(
        {"<tool_call>": 257, "</tool_call>": 258}
    )
    tool = {"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}, "additionalProperties": False}}
    options = {"format": "qwen3", "choice": "f"}
    with pytest.warns(GrammarWarning, match="tokens=vocabulary.special_tokens"):
        pdacon.compile(pdacon.Grammar.from_tools([tool], **options), vocabulary)  # type: ignore[arg-type]
    named = pdacon.Grammar.from_tools([tool], tokens=vocabulary.special_tokens, **options)  # type: ignore[arg-type]
    matcher = pdacon.compile(named, vocabulary).matcher()
    assert matcher.allowed_tokens() == [257]
    assert matcher.accept_token(257)
    assert matcher.accept('\n{"name": "f", "arguments": {"x": 1}}\n')
    assert matcher.allowed_tokens() == [258]
    reader = pdacon.compile(named, vocabulary).reader()
    read(reader, [257, *b'\n{"name": "f", "arguments": {"x": 1}}\n', 258])
    assert reader.answer == Answer("", "", (pdacon.Call("f", {"x": 1}),))
    for format in ("mistral", "kimi_k3"):  # none of their marks are tokens here, so that all are text
        spelled = pdacon.Grammar.from_tools([tool], format=format, tokens=vocabulary.special_tokens)
        pdacon.compile(spelled, vocabulary)


def test_tokens_are_about_a_format() -> None:
    with pytest.raises(ValueError, match="content and tokens are about a format"):
        pdacon.Grammar.from_tools([lambda: None], tokens=["<x>"])
    with pytest.raises(TypeError, match="tokens are names of special tokens"):
        pdacon.Grammar.from_tools([{"name": "f"}], format="qwen3", tokens="<x>")


def test_what_is_asked_of_texts_says_how_marks_are_text() -> None:
    grammar = pdacon.Grammar.from_tools([SEARCH], format="mistral")
    for ask in (lambda: grammar.accepts("hi"), lambda: grammar.explain("[TOOL_CALLS]")):
        with pytest.raises(pdacon.UnsupportedGrammarError, match=r"^\[TOOL_CALLS\] is a.* from_tools tokens="):
            ask()
    letters = pdacon.Grammar.from_tools([SEARCH], format="mistral", tokens=())
    assert letters.accepts('[TOOL_CALLS]search[ARGS]{"tags": []}')
