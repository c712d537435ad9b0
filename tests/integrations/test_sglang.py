"""What pdacon does in SGLang, without SGLang: `tests/engines/run.sh sglang` starts the real one."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import pdacon
from pdacon.integrations import held
from pdacon.integrations.huggingface import load_tiny
from pdacon.integrations.sglang import register

WIDTH = 1536
BACKEND = "pdacon.integrations.sglang.backend"
SCHEMA = json.dumps({"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]})


class Base:
    """What a grammar object of SGLang begins with."""

    def __init__(self) -> None:
        self.finished = False
        self.grammar_stats = None


class Invalid(Base):
    def __init__(self, error_message: str) -> None:
        super().__init__()
        self.error_message = error_message


class BaseBackend:
    """As much of SGLang's back end as its scheduler calls."""

    def __init__(self) -> None:
        self.executor = ThreadPoolExecutor(2)

    def _init_value_dispatch(self, key: tuple[str, str], require_reasoning: bool) -> Any:
        kinds = {"full_assistant_ebnf": "ebnf"}
        return getattr(self, f"dispatch_{kinds.get(key[0], key[0])}")(key[1])


@pytest.fixture
def sglang(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The names of SGLang that pdacon imports, and what was registered with them."""
    registered: dict[str, Any] = {}
    for name in ("sglang", "sglang.srt", "sglang.srt.constrained"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    grammars = ModuleType("sglang.srt.constrained.base_grammar_backend")
    vars(grammars).update(
        BaseGrammarObject=Base,
        InvalidGrammarObject=Invalid,
        BaseGrammarBackend=BaseBackend,
        register_grammar_backend=registered.__setitem__,
    )
    choices = ["xgrammar", "llguidance"]
    arguments = ModuleType("sglang.srt.server_args")
    vars(arguments).update(GRAMMAR_BACKEND_CHOICES=choices, add_grammar_backend_choices=choices.extend)
    monkeypatch.setitem(sys.modules, grammars.__name__, grammars)
    monkeypatch.setitem(sys.modules, arguments.__name__, arguments)
    registered["choices"] = choices
    sys.modules.pop(BACKEND, None)
    yield registered
    sys.modules.pop(BACKEND, None)


@pytest.fixture
def engine(sglang: dict[str, Any]) -> Any:
    register()
    return sglang["pdacon"](None, load_tiny()[1], WIDTH, {1})


def made(engine: Any, kind: str, text: str) -> Any:
    value, known = engine.get_cached_or_future_value((kind, text), False)
    assert isinstance(value, Future) is not known
    return value if known else value.result(60)


def allowed(answer: Any) -> list[int]:
    mask = answer.allocate_vocab_mask(WIDTH, 3, "cpu")
    answer.fill_vocab_mask(mask, 1)
    assert (mask[[0, 2]] == -1).all(), "another request's row was written"
    return [int(token) for token in np.flatnonzero(np.unpackbits(mask[1].numpy().view(np.uint8), bitorder="little"))]


def test_sglang_finds_the_plugin() -> None:
    (found,) = [one for one in entry_points(group="sglang.srt.plugins") if one.name == "pdacon"]
    assert found.load() is register


def test_it_is_one_of_the_choices(sglang: dict[str, Any]) -> None:
    register()
    register()
    assert sglang["choices"] == ["xgrammar", "llguidance", "pdacon"]
    assert sglang["pdacon"] is import_module(BACKEND).create


FORMATS = [
    ("json", SCHEMA, '{"age": 7}'),
    ("json", "$$ANY$$", '{"a": [1]}'),
    ("regex", "[a-c]{2}", "ab"),
    ("ebnf", 'root ::= "yes" | "no"', "no"),
    ("full_assistant_ebnf", 'root ::= "yes" | "no"', "yes"),
    ("ebnf", 'start: "a"+', "aaa"),
    ("structural_tag", json.dumps({"type": "structural_tag", "format": {"type": "const_string", "value": "x"}}), "x"),
]


@pytest.mark.parametrize(("kind", "text", "sentence"), FORMATS, ids=lambda value: value[:12])
def test_an_answer_is_a_sentence(engine: Any, kind: str, text: str, sentence: str) -> None:
    _, tokenizer = load_tiny()
    ids = tokenizer.encode(sentence, add_special_tokens=False)
    for answer in (made(engine, kind, text), made(engine, kind, text).copy()):
        for token in ids:
            assert token in allowed(answer)
            answer.accept_token(token)
        assert not answer.is_terminated()
        (end,) = set(allowed(answer)) & {tokenizer.eos_token_id}
        answer.accept_token(end)
        assert answer.is_terminated()
        answer.rollback(len(ids) + 1)
        assert ids[0] in allowed(answer)


def test_how_json_is_written(sglang: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """As the engine's own options say, the environment, or a schema of itself."""
    register()

    def accepts(arguments: dict[str, Any], schema: str, text: str) -> bool:
        engine = sglang["pdacon"](SimpleNamespace(**arguments), load_tiny()[1], WIDTH, {1})
        return bool(made(engine, "json", schema).constraint.accepts(text))

    schema = '{"properties": {"a": {}}}'
    pattern, fixed = "constrained_json_whitespace_pattern", "constrained_json_disable_any_whitespace"
    for arguments, good, bad in (
        ({pattern: None, fixed: False}, '{"a": 1}', '{"a":1}'),
        ({fixed: True}, '{"a": 1}', '{"a":1}'),
        ({pattern: "[ ]?"}, '{ "a":1 }', '{"a":  1}'),
        ({pattern: ""}, '{"a":1}', '{"a": 1}'),
    ):
        assert accepts(arguments, schema, good)
        assert not accepts(arguments, schema, bad)
    own = '{"properties": {"a": {}}, "x-pdacon": {"whitespace": "usual", "closed": true}}'
    assert accepts({}, own, '{\n  "a": 1\n}')
    assert not accepts({}, own, '{"b": 1}')
    for arguments, why in (
        ({pattern: "[ ]*"}, "whitespace-pattern: .*for ever"),
        ({pattern: " ", fixed: True}, "say the same; give one"),
    ):
        with pytest.raises(ValueError, match=why):
            accepts(arguments, schema, "")
    monkeypatch.setenv("PDACON_SGLANG_JSON", '{"closed": true, "whitespace": "compact"}')
    assert accepts({}, schema, '{"a":1}')
    assert not accepts({}, schema, '{"b":1}')
    with pytest.raises(ValueError, match="PDACON_SGLANG_JSON and SGLang's"):
        accepts({fixed: True}, schema, "")


def test_what_is_known_is_not_made_again(engine: Any) -> None:
    first, known = engine.get_cached_or_future_value(("json", SCHEMA), False)
    assert not known
    first = first.result(60)
    second, known = engine.get_cached_or_future_value(("json", SCHEMA), False)
    assert known
    assert second.constraint is first.constraint
    beginning = allowed(first)
    for token in load_tiny()[1].encode('{"age"', add_special_tokens=False):
        first.accept_token(token)
    assert allowed(first) != beginning
    assert allowed(second) == beginning


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("json", '{"type": "nonsense"}', "nonsense"),
        ("json", "{", "JSON"),
        ("regex", "(", "regular expression|pattern"),
        ("ebnf", 'root ::= "a" other', "other"),
        ("ebnf", 'start: start start | "a"', "shift/reduce conflict"),
        ("structural_tag", '{"type": "structural_tag"}', "format"),
        ("json", '"' + "x" * (600 << 10) + '"', "at most"),
    ],
    ids=["schema", "json", "regex", "ebnf", "lark", "tag", "size"],
)
def test_what_cannot_be_held_to_is_refused(engine: Any, kind: str, text: str, reason: str) -> None:
    for _ in range(2):
        found = made(engine, kind, text)
        assert isinstance(found, Invalid)
        assert re.search(reason, found.error_message), found.error_message


def test_a_wrong_token_ends_the_request_alone(engine: Any) -> None:
    answer = made(engine, "regex", "ab")
    wrong = next(token for token in range(WIDTH) if token not in allowed(answer))
    with pytest.raises(ValueError, match=f"token {wrong} is not allowed here"):
        answer.accept_token(wrong)
    assert allowed(answer)


def test_an_error_is_kept_and_nothing_but_an_end_may_follow(engine: Any, caplog: pytest.LogCaptureFixture) -> None:
    answer = made(engine, "regex", "ab")
    answer.rollback(5)  # more than there is
    assert "only 0 accepts can be taken back" in caplog.text
    assert allowed(answer) == sorted(answer._held._ends)
    with pytest.raises(ValueError, match="only 0 accepts"):
        answer.accept_token(0)
    assert not answer.is_terminated()


def test_a_batch_is_filled_at_once(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes what its rows write one by one, also where one has failed or is wrapped, and nothing beside them."""
    answers = [made(engine, "regex", text) for text in ("ab", "b+", "[0-9]{3}", "c")]
    answers[0].accept_token(allowed(answers[0])[0])
    answers[1].rollback(5)
    wrapped = SimpleNamespace(fill_vocab_mask=lambda mask, row: answers[3].fill_vocab_mask(mask, row))
    rows = [4, 0, 2, 1]
    entries = [
        SimpleNamespace(row=row, grammar=answer) for row, answer in zip(rows, [*answers[:3], wrapped], strict=True)
    ]
    wanted = answers[0].allocate_vocab_mask(WIDTH, 6, "cpu")
    found = wanted.clone()
    for entry in entries:
        entry.grammar.fill_vocab_mask(wanted, entry.row)
    answers[0].fill_vocab_mask_batched([], found)
    assert (found == -1).all()
    calls: list[int] = []
    monkeypatch.setattr(held, "fill_bitmasks", lambda *asked: (calls.append(1), pdacon.fill_bitmasks(*asked)))
    answers[0].fill_vocab_mask_batched(entries, found)
    assert torch.equal(found, wanted)
    assert calls == [1]
    answers[2]._held._matcher = None  # fails where it is asked
    answers[0].fill_vocab_mask_batched(entries, found)
    answers[2].fill_vocab_mask(wanted, 2)
    assert torch.equal(found, wanted)
    assert answers[0]._held.failure is None


def test_masks_are_applied_in_place(engine: Any) -> None:
    answer = made(engine, "regex", "ab")
    mask = answer.allocate_vocab_mask(WIDTH, 2, "cpu")
    answer.fill_vocab_mask(mask, 1)
    logits = torch.zeros(2, WIDTH)
    answer.apply_vocab_mask(logits=logits, vocab_mask=answer.move_vocab_mask(mask, logits.device))
    assert torch.isfinite(logits[0]).all()
    assert torch.isfinite(logits[1]).nonzero().flatten().tolist() == allowed(answer)
    answer.reset_vocab_mask(mask)
    assert (mask == -1).all()


def test_a_tokenizer_without_an_end_is_refused(sglang: dict[str, Any]) -> None:
    register()
    words = load_tiny()[1].backend_tokenizer
    from transformers import PreTrainedTokenizerFast

    with pytest.raises(pdacon.VocabularyError):
        sglang["pdacon"](None, PreTrainedTokenizerFast(tokenizer_object=words), WIDTH, None)


def test_a_reasoning_parser_holds_the_constraint_back(sglang: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """SGLang puts its reasoning around its own back ends alone; where no thought ends, nothing waits."""
    wrapped: list[Any] = []

    class Reasoner:
        def __init__(self, backend: Any, parser: Any, tokenizer: Any, enable_strict_thinking: bool) -> None:
            wrapped.append((backend, parser.ends, enable_strict_thinking))

    def parser(model_type: str, stream_reasoning: bool, tokenizer: Any) -> Any:
        ends = [5] if model_type == "qwen3" else []
        return SimpleNamespace(ends=ends, detector=SimpleNamespace(get_think_end_token_ids=lambda tokenizer: ends))

    for name, value in (("constrained.reasoner_grammar_backend", Reasoner), ("parser.reasoning_parser", parser)):
        module = ModuleType(f"sglang.srt.{name}")
        vars(module)["ReasonerGrammarBackend" if value is Reasoner else "ReasoningParser"] = value
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "sglang.srt.parser", ModuleType("sglang.srt.parser"))
    create = import_module(BACKEND).create
    _, tokenizer = load_tiny()
    asked = SimpleNamespace(reasoning_parser="qwen3", enable_strict_thinking=True)
    assert isinstance(create(asked, tokenizer, WIDTH, None), Reasoner)
    ((backend, ends, is_strict),) = wrapped
    assert (ends, is_strict) == ([5], True)
    assert create(SimpleNamespace(reasoning_parser="other"), tokenizer, WIDTH, None).__class__ is backend.__class__
    mask = backend.allocate_vocab_mask(WIDTH, 2, "cpu")
    backend.set_token_filter(mask, [33, 2], 1)
    assert mask[1].tolist() == [4, 2, *[0] * (mask.shape[1] - 2)]
    backend.set_token_filter(mask, [33], 1, is_allowed=False, reset_vocab_mask=False)
    assert mask[1].tolist() == [4, *[0] * (mask.shape[1] - 1)]
    backend.set_token_filter(mask, [31], 1, is_allowed=False)
    assert mask[1].tolist()[:2] == [0x7FFFFFFF, -1]
    assert mask[0].eq(-1).all()


def test_an_answer_within_the_marks_of_a_message(engine: Any) -> None:
    """As SGLang frames answers of models whose messages have marks, which then are no text of the answer."""
    answer = made(engine, "regex", "[a-z<]+")
    (mark,) = [token for token, text in enumerate(answer.constraint.vocabulary.tokens) if text == b"<"]
    engine.reserve_framing_tokens([mark])
    framed = engine.compile_framed_grammar(answer, lambda content: {"type": "structural_tag", "format": {
        "type": "sequence", "elements": [content, {"type": "token", "token": mark}]}})  # fmt: skip
    assert mark not in allowed(framed)
    framed.accept_token(framed.constraint.vocabulary.tokens.index(b"a"))
    assert mark in allowed(framed)
    assert framed.current_token is not None
