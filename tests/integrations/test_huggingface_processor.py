from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.finite_languages import SentenceConstraint

import pdacon
from pdacon.detokenizer import Vocabulary
from pdacon.errors import MatcherError, VocabularyError
from pdacon.integrations.huggingface import PDALogitsProcessor, vocabulary
from pdacon.integrations.huggingface.masks import ScoreMasks
from pdacon.integrations.huggingface.rows import common_prefix
from pdacon.integrations.torch import shift_out
from pdacon.integrations.widths import is_plausible

PROMPTS = ["Hello", "The quick brown fox jumps over", "1, 2,"]

LETTERS = SentenceConstraint(
    Vocabulary.from_tokens([b"a", b"b", b"ab", b"ba", None, None, None], eos_ids=[5, 6]),
    ["", "ab", "aba", "abab", "bb", "bbabba"],
)
PAD = 4


def texts_of(rows: torch.Tensor, start: int, constraint: SentenceConstraint) -> list[str]:
    texts = []
    for row in rows[:, start:].tolist():
        end = next((k for k, i in enumerate(row) if i in constraint.vocabulary.eos_ids), None)
        assert end is not None, "the row has no end token"
        texts.append(constraint.vocabulary.decode(row[:end]).decode())
    return texts


def generated(
    model: Any, tokenizer: Any, prompts: list[str], processor: PDALogitsProcessor, **options: Any
) -> list[str]:
    batch = tokenizer(prompts, return_tensors="pt", padding=True)
    rows = model.generate(**batch, logits_processor=[processor], max_new_tokens=40, **options)
    return texts_of(rows, batch["input_ids"].shape[1], processor.constraint)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("do_sample", [False, True])
def test_every_row_is_a_sentence(
    model: Any, tokenizer: Any, constraint: Any, dtype: torch.dtype, do_sample: bool
) -> None:
    texts = generated(model.to(dtype), tokenizer, PROMPTS, PDALogitsProcessor(constraint), do_sample=do_sample)
    model.to(torch.float32)
    assert len(texts) == len(PROMPTS)
    assert {text.encode() for text in texts} <= set(constraint.sentences)


def test_sampling_many_rows_reaches_many_sentences(model: Any, tokenizer: Any, constraint: Any) -> None:
    torch.manual_seed(1)
    texts = generated(
        model, tokenizer, PROMPTS, PDALogitsProcessor(constraint), do_sample=True, num_return_sequences=20, top_k=0
    )
    assert len(texts) == 60
    assert {text.encode() for text in texts} <= set(constraint.sentences)
    assert len(set(texts)) > 5


def test_beams_are_followed_by_content(model: Any, tokenizer: Any, constraint: Any) -> None:
    texts = generated(
        model, tokenizer, PROMPTS, PDALogitsProcessor(constraint), num_beams=3, num_return_sequences=2, do_sample=False
    )
    assert {text.encode() for text in texts} <= set(constraint.sentences)


@pytest.mark.parametrize("options", [{"do_sample": False}, {"do_sample": True, "num_return_sequences": 4}])
def test_real_constraints_are_followed(model: Any, tokenizer: Any, options: dict[str, Any]) -> None:
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary(model, tokenizer))
    batch = tokenizer(PROMPTS, return_tensors="pt", padding=True)
    processor = PDALogitsProcessor(constraint)
    rows = model.generate(**batch, logits_processor=[processor], max_new_tokens=30, **options)
    for row in rows[:, batch["input_ids"].shape[1] :].tolist():
        ids = [i for i in row if i != tokenizer.pad_token_id]
        assert constraint.matcher().validate_tokens(ids) == len(ids) > 0
        if ids[-1] in constraint.vocabulary.eos_ids:
            json.loads(constraint.vocabulary.decode(ids))


@pytest.mark.parametrize("helper", ["assistant_model", "prompt_lookup_num_tokens"])
def test_assisted_decoding_takes_candidates_back(model: Any, tokenizer: Any, constraint: Any, helper: str) -> None:
    ids = tokenizer("The quick brown fox jumps over The quick", return_tensors="pt")["input_ids"]
    options = {"max_new_tokens": 40, "do_sample": False}
    alone = model.generate(ids, logits_processor=[PDALogitsProcessor(constraint)], **options)
    options[helper] = model if helper == "assistant_model" else 3
    assisted = model.generate(ids, logits_processor=[PDALogitsProcessor(constraint)], **options)
    assert torch.equal(assisted, alone)


def test_greedy_takes_the_best_of_what_is_allowed(model: Any, tokenizer: Any, constraint: Any) -> None:
    ids = tokenizer(PROMPTS[0], return_tensors="pt")["input_ids"]
    start = ids.shape[1]
    row = model.generate(ids, logits_processor=[PDALogitsProcessor(constraint)], max_new_tokens=40, do_sample=False)[0]
    for k in range(start, len(row)):
        logits = model(row[None, :k]).logits[0, -1]
        allowed = constraint.allowed(tuple(row[start:k].tolist()))
        assert row[k] == allowed[int(logits[allowed].argmax())]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_mask_depends_on_the_content_alone(data: st.DataObject) -> None:
    """Rows grow, shrink, change places and are copied; each mask is what the definition says of the row."""
    sentences = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4).filter(
        lambda ids: any(s.startswith(LETTERS.vocabulary.decode(ids)) for s in LETTERS.sentences)
    )
    processor = PDALogitsProcessor(LETTERS, prompt_length=2)
    for _ in range(data.draw(st.integers(1, 4))):
        drawn = data.draw(st.lists(sentences, min_size=1, max_size=3))
        length = min(map(len, drawn))
        contents = [row[:length] for row in drawn]
        scores = torch.zeros(len(contents), 40)
        masked = processor(torch.tensor([[9, 9, *row] for row in contents]), scores)
        for row, content in zip(masked, contents, strict=True):
            assert torch.isfinite(row).nonzero().flatten().tolist() == sorted(LETTERS.allowed(tuple(content)))
        assert torch.equal(scores, torch.zeros_like(scores))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_scores_given_are_not_changed(dtype: torch.dtype) -> None:
    scores = torch.randn(1, 33).to(dtype)
    before = scores.clone()
    masked = PDALogitsProcessor(LETTERS)(torch.tensor([[9]]), scores)
    assert torch.equal(scores, before)
    assert masked.dtype == dtype
    assert torch.equal(masked[0, :3], scores[0, :3])
    assert (masked[0, 7:] == -torch.inf).all()


def test_a_finished_row_repeats_its_end_and_harms_no_other() -> None:
    processor = PDALogitsProcessor(LETTERS)
    ids = torch.tensor([[9], [9]])
    for column in ([2, 1], [5, 1], [PAD, 0], [PAD, 1]):
        processor(ids, torch.zeros(2, 7))
        ids = torch.cat([ids, torch.tensor(column)[:, None]], dim=1)
    masked = processor(ids, torch.zeros(2, 7))
    assert torch.isfinite(masked[0]).nonzero().flatten().tolist() == [5, 6]
    assert torch.isfinite(masked[1]).nonzero().flatten().tolist() == LETTERS.allowed((1, 1, 0, 1)) == [1, 3]


def test_a_row_stopped_by_something_else_is_known_by_its_padding() -> None:
    def run(processor: PDALogitsProcessor) -> torch.Tensor:
        ids = torch.tensor([[9], [9]])
        for column in ([0, 1], [PAD, 1], [PAD, 0]):
            processor(ids, torch.zeros(2, 7))
            ids = torch.cat([ids, torch.tensor(column)[:, None]], dim=1)
        return processor(ids, torch.zeros(2, 7))

    masked = run(PDALogitsProcessor(LETTERS, pad_token_id=PAD))
    assert torch.isfinite(masked[0]).nonzero().flatten().tolist() == [PAD]
    assert torch.isfinite(masked[1]).nonzero().flatten().tolist() == LETTERS.allowed((1, 1, 0))
    message = r"row 0: token 4 \(no text\) is not allowed after 1 generated token, .* spell b'a'.* pad_token_id=4"
    with pytest.raises(MatcherError, match=message):
        run(PDALogitsProcessor(LETTERS))


def test_stop_strings_beside_rows_that_go_on(model: Any, tokenizer: Any, constraint: Any) -> None:
    batch = tokenizer(PROMPTS, return_tensors="pt", padding=True)
    processor = PDALogitsProcessor(constraint, pad_token_id=tokenizer.pad_token_id)
    torch.manual_seed(0)
    rows = model.generate(
        **batch,
        logits_processor=[processor],
        max_new_tokens=30,
        do_sample=True,
        num_return_sequences=8,
        stop_strings=["The", "12"],
        tokenizer=tokenizer,
    )
    texts = [
        constraint.vocabulary.decode(row).decode("utf-8", "ignore")
        for row in rows[:, batch["input_ids"].shape[1] :].tolist()
    ]
    assert all(any(s.startswith(text.encode()) for s in constraint.sentences) for text in texts)


def test_a_token_that_was_not_allowed_is_an_error() -> None:
    processor = PDALogitsProcessor(LETTERS)
    processor(torch.tensor([[9], [9]]), torch.zeros(2, 7))
    with pytest.raises(MatcherError, match=r"row 1: token 3 \(b'ba'\) is not allowed after 0 generated tokens"):
        processor(torch.tensor([[9, 0], [9, 3]]), torch.zeros(2, 7))


def test_an_id_beyond_the_vocabulary_is_an_error() -> None:
    processor = PDALogitsProcessor(LETTERS)
    processor(torch.tensor([[9]]), torch.zeros(1, 40))
    with pytest.raises(MatcherError, match="row 0: id 7 is not one of the 7 tokens"):
        processor(torch.tensor([[9, 7]]), torch.zeros(1, 40))


def test_an_end_token_that_was_not_allowed_is_an_error_too() -> None:
    processor = PDALogitsProcessor(LETTERS)
    processor(torch.tensor([[9, 9]]), torch.zeros(1, 7))
    processor(torch.tensor([[9, 9, 0]]), torch.zeros(1, 7))
    with pytest.raises(MatcherError, match=r"row 0: token 5 \(an end token\)"):
        processor(torch.tensor([[9, 9, 0, 5]]), torch.zeros(1, 7))


def test_without_an_end_token_a_complete_row_is_an_error() -> None:
    endless = SentenceConstraint(Vocabulary.from_tokens([b"a", b"b"]), ["ab"])
    processor = PDALogitsProcessor(endless)
    processor(torch.tensor([[9]]), torch.zeros(1, 2))
    processor(torch.tensor([[9, 0]]), torch.zeros(1, 2))
    with pytest.raises(MatcherError, match=r"row 0: no token is allowed after 2 .*eos_ids"):
        processor(torch.tensor([[9, 0, 1]]), torch.zeros(1, 2))


def test_another_processor_that_leaves_nothing_is_an_error(model: Any, tokenizer: Any) -> None:
    vocab = Vocabulary.from_huggingface(tokenizer)
    ids = tokenizer("Hello", return_tensors="pt")["input_ids"]
    for options in ({"suppress_tokens": [tokenizer.convert_tokens_to_ids("a")]}, {"min_new_tokens": 10}):
        processor = PDALogitsProcessor(SentenceConstraint(vocab, ["a"]))
        with pytest.raises(MatcherError, match="another logits processor"):
            model.generate(ids, logits_processor=[processor], max_new_tokens=10, do_sample=False, **options)


def test_a_processor_takes_a_constraint() -> None:
    matcher = pdacon.compile(
        pdacon.Grammar.builtin("json"), Vocabulary.from_tokens([*map(bytes, zip(range(256))), None], [256])
    ).matcher()
    with pytest.raises(TypeError, match=r"takes a pdacon\.Constraint, not Matcher"):
        PDALogitsProcessor(matcher)  # type: ignore[arg-type]


def test_scores_narrower_than_the_vocabulary_are_an_error() -> None:
    with pytest.raises(MatcherError, match="6 columns, but the constraint was compiled for 7 tokens"):
        PDALogitsProcessor(LETTERS)(torch.tensor([[9]]), torch.zeros(1, 6))


def test_one_processor_serves_many_generations(model: Any, tokenizer: Any, constraint: Any) -> None:
    processor = PDALogitsProcessor(constraint)
    fresh = {p: generated(model, tokenizer, [p], PDALogitsProcessor(constraint), do_sample=False) for p in PROMPTS}
    for prompt in [*PROMPTS, PROMPTS[-1], *PROMPTS]:
        assert generated(model, tokenizer, [prompt], processor, do_sample=False) == fresh[prompt]
    assert generated(model, tokenizer, PROMPTS, processor, do_sample=False)


def test_a_conversation_is_a_new_generation() -> None:
    processor = PDALogitsProcessor(LETTERS)
    for length in range(1, 5):
        processor(torch.tensor([[9, 2, 5, PAD][:length]]), torch.zeros(1, 7))
    masked = processor(torch.tensor([[9, 2, 5, 8, 8, 8]]), torch.zeros(1, 7))  # and more than one token later
    assert torch.isfinite(masked[0]).nonzero().flatten().tolist() == sorted(LETTERS.allowed(()))


def test_reset_makes_what_was_answered_a_prompt() -> None:
    processor = PDALogitsProcessor(LETTERS)
    processor(torch.tensor([[9]]), torch.zeros(1, 7))
    continued = processor(torch.tensor([[9, 1]]), torch.zeros(1, 7))
    processor.reset()
    anew = processor(torch.tensor([[9, 1]]), torch.zeros(1, 7))
    assert torch.isfinite(continued[0]).nonzero().flatten().tolist() == LETTERS.allowed((1,))
    assert torch.isfinite(anew[0]).nonzero().flatten().tolist() == sorted(LETTERS.allowed(()))


def test_the_end_of_a_prompt_can_be_constrained() -> None:
    masked = PDALogitsProcessor(LETTERS, prompt_length=1)(torch.tensor([[9, 1]]), torch.zeros(1, 7))
    assert torch.isfinite(masked[0]).nonzero().flatten().tolist() == LETTERS.allowed((1,))
    with pytest.raises(ValueError, match="prompt_length is -1"):
        PDALogitsProcessor(LETTERS, prompt_length=-1)


@given(st.integers(1, 100), st.data())
def test_shifting_out_is_the_definition(columns: int, data: st.DataObject) -> None:
    words = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=-(-columns // 32), max_size=-(-columns // 32))
    bitmask = np.array(data.draw(st.lists(words, min_size=1, max_size=3)), dtype=np.int32)
    expected = [[bool(row[t // 32] >> t % 32 & 1) for t in range(columns)] for row in bitmask.tolist()]
    assert shift_out(torch.from_numpy(bitmask), columns).tolist() == expected


@pytest.mark.slow
@given(
    st.booleans(),
    st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]),
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=6), max_size=12),
    st.data(),
)
def test_masks_select_as_asked(
    bounds: bool, dtype: torch.dtype, calls: list[list[int | None]], data: st.DataObject
) -> None:
    """Either way, whatever was asked for before, and however little is kept: key k allows the bits of 3k + 1."""
    most = max((len(set(keys) - {None}) for keys in calls), default=1)
    masks = ScoreMasks(5, torch.device("cpu"), dtype, max(most, 1), bounds=bounds)
    numbers = st.one_of(st.sampled_from([torch.inf, -torch.inf, torch.nan, -0.0]), st.floats(-9, 9, width=16))
    only = {key: tuple(bit for bit in range(5) if 3 * key + 1 >> bit & 1) for key in range(10)}
    for keys in calls:
        scores = torch.tensor(
            [data.draw(st.lists(numbers, min_size=5, max_size=5)) for _ in keys], dtype=torch.float64
        ).to(dtype)
        before = scores.clone()
        found = masks.find([None if key is None else only[key] for key in keys])
        assert masks.empty(found) == [index for index, key in enumerate(keys) if key is not None and not only[key]]
        masked, best = masks.apply(scores)
        allowed = torch.tensor([[key is None or bit in only[key] for bit in range(5)] for key in keys])
        wanted = torch.where(allowed, scores, -torch.inf)
        assert masked.dtype == dtype
        assert torch.equal(masked.nan_to_num(77.0, posinf=88.0), wanted.nan_to_num(77.0, posinf=88.0))
        assert torch.equal(best.isnan(), wanted.amax(-1).isnan())
        assert torch.equal(scores.nan_to_num(77.0), before.nan_to_num(77.0))


@pytest.mark.parametrize("bounds", [True, False])
def test_what_a_failed_call_has_written_is_not_taken_for_what_was_there(bounds: bool) -> None:
    masks = ScoreMasks(5, torch.device("cpu"), torch.float32, 1, bounds=bounds)
    scores = torch.zeros((1, 5))
    masks.find([(0,)])
    assert (masks.apply(scores)[0] == 0).tolist() == [[True, False, False, False, False]]
    with pytest.raises(ValueError, match="more different masks"):
        masks.find([(1,), (2,)])  # the first of them has taken the place
    masks.find([(1,)])
    assert (masks.apply(scores)[0] == 0).tolist() == [[False, True, False, False, False]]


@given(st.lists(st.integers(0, 1)), st.lists(st.integers(0, 1)))
def test_common_prefix(a: list[int], b: list[int]) -> None:
    length = common_prefix(a, b)
    assert a[:length] == b[:length]
    assert length in (len(a), len(b)) or a[length] != b[length]


def test_a_missing_host_is_named_with_its_extra() -> None:
    code = "import sys; sys.modules['torch'] = None; import pdacon; import pdacon.integrations.huggingface"
    process = subprocess.run([sys.executable, "-I", "-c", code], check=False, capture_output=True, text=True)
    assert process.stderr.splitlines()[-1].startswith("ImportError: pdacon.integrations.huggingface needs torch")
    assert "pip install 'pdacon[huggingface]'" in process.stderr


def test_pdacon_imports_no_host() -> None:
    code = "import sys, pdacon; sys.exit(bool({'torch', 'transformers', 'tokenizers'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-I", "-c", code], check=False).returncode == 0


def _byte_constraint() -> pdacon.Constraint:
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    return pdacon.compile(
        pdacon.Grammar.from_lark('start: "a"+'), Vocabulary.from_tokens([*tokens, None], eos_ids=[256])
    )


@pytest.mark.parametrize(
    ("columns", "size"),
    # What published models have, the tokens of their tokenizers after it.
    [
        (128, 7),
        (512, 300),
        (384, 259),
        (384, 384),
        (32_064, 32_011),  # Phi-3
        (32_128, 32_100),  # T5
        (51_200, 50_295),  # Phi-2
        (50_688, 50_277),  # Pythia 12B
        (102_400, 100_015),  # DeepSeek LLM
        (129_280, 128_815),  # DeepSeek V3
        (152_064, 151_665),  # Qwen2.5 72B
        (201_088, 200_019),  # gpt-oss
        (262_208, 262_145),  # Gemma 3
    ],
)
def test_padding_of_models_is_plausible(columns: int, size: int) -> None:
    assert is_plausible(columns, size)


@pytest.mark.parametrize(
    ("columns", "size"),
    [
        (129, 7),
        (1536, 257),
        (1024, 257),
        (50_257, 257),
        (128_256, 32_000),
        (32_000, 32_001),
        (151_936, 128_256),
        (64_000, 50_257),
    ],
)
def test_widths_of_other_models_are_not(columns: int, size: int) -> None:
    assert not is_plausible(columns, size)


def test_scores_far_wider_than_the_vocabulary_are_an_error() -> None:
    with pytest.raises(MatcherError, match="1536 columns, but the constraint was compiled for 257 tokens"):
        PDALogitsProcessor(_byte_constraint())(torch.zeros((1, 1), dtype=torch.long), torch.zeros(1, 1536))


def test_a_constraint_of_another_tokenizer_is_refused(model: Any, tokenizer: Any) -> None:
    other = _byte_constraint()
    for given_ in ({"tokenizer": tokenizer}, {"model": model}, {"model": model, "tokenizer": tokenizer}):
        with pytest.raises(VocabularyError, match="compiled for another vocabulary, of 257 tokens"):
            PDALogitsProcessor(other, **given_)


def test_a_constraint_of_the_tokenizer_is_taken(model: Any, tokenizer: Any) -> None:
    whole = vocabulary(model, tokenizer)
    few = Vocabulary.from_tokens([*whole.tokens[:100]], eos_ids=[99])
    grammar = pdacon.Grammar.from_lark('start: "a"')
    for given_ in ({"tokenizer": tokenizer}, {"model": model}, {"model": model, "tokenizer": tokenizer}):
        assert generated(model, tokenizer, ["x"], PDALogitsProcessor(pdacon.compile(grammar, whole), **given_))
    with pytest.raises(MatcherError, match="512 columns, but the constraint was compiled for 100 tokens"):
        PDALogitsProcessor(pdacon.compile(grammar, few))(torch.zeros((1, 1), dtype=torch.long), torch.zeros(1, 512))
    processor = PDALogitsProcessor(pdacon.compile(grammar, few), tokenizer=tokenizer)
    scores = processor(torch.zeros((1, 1), dtype=torch.long), torch.zeros(1, 512))
    assert (scores > -torch.inf).any()
    assert not (scores[:, 100:] > -torch.inf).any()


@pytest.mark.parametrize("failed", [b"[}", b"[1,]"])
@pytest.mark.parametrize("scores", ["refused", "columns"])
def test_after_an_error_the_text_goes_on_where_it_began(failed: bytes, scores: str) -> None:
    """What comes after an error is not taken for a prompt, after which a text would begin anew in its middle."""
    constraint = pdacon.compile("json", pdacon.Vocabulary.bytes())
    size = constraint.vocabulary.size
    processor = PDALogitsProcessor(constraint, num_beams=1)

    def masked(text: bytes, columns: int = size) -> torch.Tensor:
        return processor(torch.tensor([[1, 2, *text]]), torch.zeros(1, columns))

    def expected(text: bytes) -> list[bool]:
        matcher = constraint.matcher()
        assert matcher.accept_bytes(text)
        return [matcher.is_allowed(token) for token in range(size)]

    for length in range(len(failed)):
        masked(failed[:length])
    for _ in range(2):
        with pytest.raises(pdacon.MatcherError):
            masked(failed) if scores == "refused" else masked(failed[:-1] + b"1", size - 1)
    for text in (failed[:-1], failed[:-1] + b"1", b"[", b"", b"{"):
        assert torch.isfinite(masked(text))[0].tolist() == expected(text)
