"""Mistral's own tokenizers: past turns as mistral-common writes them, read from its tokens."""

from __future__ import annotations

import json
from importlib.resources import files
from random import Random
from typing import Any

import pytest
from support.real_vocabularies import coded, tekken_vocabulary
from support.tool_answers import TOOLS, merged, valid_arguments

import pdacon
from pdacon import Call
from pdacon.frontends.tool_formats import Answer

CALLS = (Call("get_weather", {"city": "Zürich ☕", "days": 3, "where": {"a": ["b"]}}), Call("get_time", {}))


def mistral_turn(model: str) -> tuple[list[int], int]:
    """The tokens of a turn with `CALLS`, and the token that begins them, as mistral-common encodes them."""
    tokenizers = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    messages = pytest.importorskip("mistral_common.protocol.instruct.messages")
    calls = pytest.importorskip("mistral_common.protocol.instruct.tool_calls")
    modes = pytest.importorskip("mistral_common.protocol.instruct.validator")
    request = pytest.importorskip("mistral_common.protocol.instruct.request")
    path = str(files("mistral_common") / "data" / model)
    tokenizer = tokenizers.MistralTokenizer.from_file(path, mode=modes.ValidationMode.finetuning)
    turn = [
        calls.ToolCall(function=calls.FunctionCall(name=call.name, arguments=json.dumps(call.arguments)))
        for call in CALLS
    ]
    asked = [messages.UserMessage(content="How is it?"), messages.AssistantMessage(content=None, tool_calls=turn)]
    encoded: Any = tokenizer.encode_chat_completion(request.ChatCompletionRequest(messages=asked))
    begin = tokenizer.instruct_tokenizer.tokenizer.get_special_token("[TOOL_CALLS]")
    return encoded.tokens[encoded.tokens.index(begin) : -1], begin


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tekken_240911.json", "mistral_instruct_tokenizer_240323.model.v3"])
def test_past_turns_of_mistral_common_are_accepted_and_read(model: str) -> None:
    tokens, begin = mistral_turn(model)
    vocabulary = coded("tekken" if model.startswith("tekken") else "SentencePiece").vocabulary
    grammar = pdacon.Grammar.from_tools(TOOLS, format="mistral_v3")
    constraint = pdacon.compile(grammar, vocabulary.with_special_tokens({"[TOOL_CALLS]": begin}))
    matcher, reader = constraint.matcher(), constraint.reader()
    events = []
    for token in tokens:
        assert matcher.accept_token(token), matcher.explain(token).render()
        events += reader.feed(token)
    assert matcher.is_accepting()
    assert reader.close() == []
    assert reader.answer == Answer("", "", CALLS)
    assert [event.kind for event in merged(events)] == ["name", "arguments", "end"] * 2


@pytest.mark.slow
def test_walks_over_tekken_give_valid_calls() -> None:
    """Random tokens that the mask allows, with calls that must come: each answer has valid arguments."""
    vocabulary = tekken_vocabulary().with_special_tokens({"[TOOL_CALLS]": 9, "[ARGS]": 32})
    grammar = pdacon.Grammar.from_tools(TOOLS, format="mistral", choice="required")
    constraint = pdacon.compile(grammar, vocabulary)
    ids = {bytes(text): token for token, text in enumerate(vocabulary.tokens) if text}
    ending = [ids[text] for text in (b'"', b"}", b"]", b"0", b":") if text in ids]
    for seed in range(6):
        random, matcher, reader = Random(seed), constraint.matcher(), constraint.reader()
        for step in range(300):
            if step > 30 and matcher.is_accepting():
                break
            allowed = [token for token in ending if matcher.is_allowed(token)] if step > 30 else []
            token = allowed[0] if allowed else int(random.choice(matcher.allowed_tokens()))
            assert matcher.accept_token(token)
            reader.feed(token)
            if matcher.is_terminated():
                break
        reader.close()
        assert reader.answer.missing is None
        assert reader.answer.calls
        for call in reader.answer.calls:
            valid_arguments(call)
