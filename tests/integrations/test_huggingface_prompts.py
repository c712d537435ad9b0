"""What stands before a constrained text: prompts, chats, the beginning of the text; and who reads it meanwhile."""

from __future__ import annotations

import copy
from threading import Thread
from typing import Any

import pytest
import torch
from support.lark_oracle import accepts
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BatchEncoding,
    T5Config,
    T5ForConditionalGeneration,
    TextIteratorStreamer,
    TextStreamer,
)

import pdacon
from pdacon.errors import MatcherError
from pdacon.integrations.huggingface import PDALogitsProcessor, generate, generate_batch

LISTS = 'start: "[" [item ("," item)*] "]"\nitem: /[a-c]{1,3}/ | start\n'
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{{ mood }}{% endif %}"
)


@pytest.fixture(scope="module")
def lists(tokenizer: Any) -> pdacon.Constraint:
    ends = tokenizer.convert_tokens_to_ids(["<eos>", "<end>"])
    vocab = pdacon.Vocabulary.from_huggingface(tokenizer, eos_ids=ends, size=512)
    return pdacon.compile(pdacon.Grammar.from_lark(LISTS), vocab)


@pytest.fixture(scope="module")
def chatty(tokenizer: Any) -> Any:
    chatty = copy.deepcopy(tokenizer)
    chatty.chat_template = TEMPLATE
    return chatty


def encoder_decoder(architecture: str, tokenizer: Any, **generation: Any) -> Any:
    torch.manual_seed(0)
    ends = tokenizer.convert_tokens_to_ids(["<eos>", "<end>"])
    special = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": ends, "pad_token_id": tokenizer.pad_token_id}
    model: Any
    if architecture == "t5":
        special["decoder_start_token_id"] = tokenizer.pad_token_id
        config = T5Config(vocab_size=512, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, **special)
        model = T5ForConditionalGeneration(config)
    else:
        special["decoder_start_token_id"] = ends[0]
        one_layer = {
            f"{part}_{what}": number
            for part in ("encoder", "decoder")
            for what, number in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 32))
        }
        config = BartConfig(vocab_size=512, d_model=16, max_position_embeddings=64, **one_layer, **special)
        model = BartForConditionalGeneration(config)
    model.generation_config.update(**generation)
    return model.eval()


def test_a_grammar_may_be_given_as_it_is(model: Any, tokenizer: Any) -> None:
    for grammar in (LISTS, pdacon.Grammar.from_lark(LISTS)):
        (one,) = generate(model, tokenizer, "Hi", grammar=grammar, seed=0)
        assert one.complete
        assert accepts(pdacon.Grammar.from_lark(LISTS), one.text)
    (one,) = generate(model, tokenizer, "Hi", grammar='a: "x"\nb: "y"\n', start="b")
    assert one.text == "y"


def test_a_batch_answers_as_its_prompts_do(model: Any, tokenizer: Any, lists: Any) -> None:
    """Left padding changes nothing; a list of one is a batch of one."""
    prompts = ["Hello", "The quick brown fox", "1,"]
    batch = generate(model, tokenizer, prompts, grammar=lists, temperature=0, max_tokens=12)
    assert [one.prompt for one in batch] == [0, 1, 2]
    for prompt, answer in zip(prompts, batch, strict=True):
        (alone,) = generate(model, tokenizer, [prompt], grammar=lists, temperature=0, max_tokens=12)
        assert alone.token_ids == answer.token_ids


def test_chats_are_written_with_the_template(model: Any, chatty: Any, lists: Any) -> None:
    chat = [{"role": "user", "content": "a list"}]
    written = "<user>a list\n<assistant>"
    for options, text in (({}, written), ({"mood": "gladly "}, written + "gladly ")):
        (answer,) = generate(model, chatty, chat, grammar=lists, temperature=0, chat_options=options, max_tokens=9)
        (expected,) = generate(model, chatty, text, grammar=lists, temperature=0, max_tokens=9)
        assert answer == expected
    several = generate(model, chatty, [chat, "Hi", chat], grammar=lists, temperature=0, max_tokens=9)
    assert several[0].token_ids == several[2].token_ids


def test_a_prefix_is_the_beginning_of_the_text(model: Any, chatty: Any, lists: Any) -> None:
    """It is behind the prompt, it is constrained, and it is a part of what is returned."""
    chat = [{"role": "user", "content": "a list"}]
    for prompt, written in (("Hi", "Hi"), (chat, "<user>a list\n<assistant>")):
        (one,) = generate(model, chatty, prompt, grammar=lists, seed=0, prefix="[a,[b,[", max_tokens=40)
        assert one.text.startswith("[a,[b,[")
        assert one.complete
        assert accepts(lists.grammar, one.text)
        (greedy,) = generate(model, chatty, prompt, grammar=lists, temperature=0, prefix="[a,[", max_tokens=9)
        batch = chatty(written + "[a,[", return_tensors="pt")
        processor = PDALogitsProcessor(lists, prefix=b"[a,[")
        row = model.generate(**batch, logits_processor=[processor], max_new_tokens=9, do_sample=False)[0]
        assert greedy.token_ids == tuple(row[batch["input_ids"].shape[1] :].tolist())


@pytest.mark.parametrize("options", [{}, {"num_beams": 3, "temperature": 1.0}, {"num_return_sequences": 3}])
def test_each_prompt_may_have_its_prefix(model: Any, tokenizer: Any, lists: Any, options: dict[str, Any]) -> None:
    prefixes = ["[a,[b,[", "", "[[c]"]
    texts = generate(
        model,
        tokenizer,
        ["Hi", "Hello there", "x"],
        grammar=lists,
        seed=0,
        prefix=prefixes,
        max_tokens=100,
        **options,
    )
    for one in texts:
        assert one.text.startswith(prefixes[one.prompt])
        assert not one.complete or accepts(lists.grammar, one.text)
    assert {one.prompt for one in texts if one.complete} == {0, 1, 2}


def test_a_prefix_that_begins_no_sentence(model: Any, tokenizer: Any, lists: Any) -> None:
    with pytest.raises(ValueError, match=r"the prefix '\[a,d' is not .*: after '\[a,' the grammar does not allow 'd'"):
        generate(model, tokenizer, "Hi", grammar=lists, prefix="[a,d")
    with pytest.raises(ValueError, match="there is 1 prompt, but 2 prefixes"):
        generate(model, tokenizer, "Hi", grammar=lists, prefix=["[", "["])


def test_what_was_cut_is_continued(model: Any, tokenizer: Any, lists: Any) -> None:
    """In pieces of two tokens a greedy text is what it is in one piece, and the ids are."""
    prompts = ["Hi", "Hello there"]
    whole = generate(model, tokenizer, prompts, grammar=lists, temperature=0, max_tokens=12)
    texts = generate(model, tokenizer, prompts, grammar=lists, temperature=0, max_tokens=2)
    ends = lists.vocabulary.eos_ids
    for _ in range(5):
        open_ones = [one for one in texts if one.token_ids[-1] not in ends]
        if not open_ones:
            break
        more = generate(
            model,
            tokenizer,
            [prompts[one.prompt] for one in open_ones],
            grammar=lists,
            temperature=0,
            max_tokens=2,
            prefix=open_ones,
        )
        for old, new in zip(open_ones, more, strict=True):
            texts[old.prompt] = new
    assert [one.token_ids for one in texts] == [one.token_ids for one in whole]
    for one in texts:
        if one.token_ids[-1] in ends:
            with pytest.raises(ValueError, match="nothing to continue"):
                generate(model, tokenizer, "Hi", grammar=lists, prefix=one)


def test_one_processor_continues_over_calls_of_generate(model: Any, tokenizer: Any, lists: Any) -> None:
    """And so does another one that is told where the prompt ends."""
    batch = tokenizer(["Hi", "Hello there"], return_tensors="pt", padding=True)
    options = {"do_sample": False, "pad_token_id": tokenizer.pad_token_id}
    length = batch["input_ids"].shape[1]
    whole = model.generate(**batch, logits_processor=[PDALogitsProcessor(lists)], max_new_tokens=12, **options)
    same = PDALogitsProcessor(lists, pad_token_id=tokenizer.pad_token_id)
    for fresh in (False, True):
        ids, mask = batch["input_ids"], batch["attention_mask"]
        for _ in range(4):
            processor = PDALogitsProcessor(lists, prompt_length=length) if fresh else same
            ids = model.generate(
                input_ids=ids, attention_mask=mask, logits_processor=[processor], max_new_tokens=3, **options
            )
            mask = torch.cat([mask, torch.ones(2, ids.shape[1] - mask.shape[1], dtype=mask.dtype)], dim=1)
        for row, other in zip(ids[:, length:].tolist(), whole[:, length:].tolist(), strict=True):
            end = next((k for k, i in enumerate(other) if i in lists.vocabulary.eos_ids), len(other))
            assert row[:end] == other[:end]
        same.reset()


def test_a_cache_is_continued(model: Any, tokenizer: Any, lists: Any) -> None:
    """What is not seen again is in the cache, and the ids are all there."""
    batch = tokenizer("Hi", return_tensors="pt")
    processor = PDALogitsProcessor(lists)
    first = model.generate(
        **batch, logits_processor=[processor], max_new_tokens=3, do_sample=False, return_dict_in_generate=True
    )
    second = model.generate(
        input_ids=first.sequences,
        past_key_values=first.past_key_values,
        logits_processor=[processor],
        max_new_tokens=3,
        do_sample=False,
    )
    whole = model.generate(**batch, logits_processor=[PDALogitsProcessor(lists)], max_new_tokens=6, do_sample=False)
    assert second.tolist()[0][: whole.shape[1]] == whole.tolist()[0]


def test_embeddings_in_place_of_ids(model: Any, tokenizer: Any, lists: Any) -> None:
    ids = tokenizer("Hi", return_tensors="pt")["input_ids"]
    rows = [
        model.generate(logits_processor=[PDALogitsProcessor(lists)], max_new_tokens=9, do_sample=False, **inputs)
        for inputs in ({"input_ids": ids}, {"inputs_embeds": model.get_input_embeddings()(ids)})
    ]
    assert rows[0][0, ids.shape[1] :].tolist() == rows[1][0].tolist()


@pytest.mark.parametrize("architecture", ["t5", "bart"])
@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 0},
        {"num_return_sequences": 3},
        {"num_beams": 3, "num_return_sequences": 3},
        {"num_beams": 3, "temperature": 1.0},
    ],
)
def test_encoder_decoders(tokenizer: Any, lists: Any, architecture: str, forced: bool, options: Any) -> None:
    """The text begins after the decoder's start token, and after a begin token that is forced."""
    begin = {"forced_bos_token_id": tokenizer.bos_token_id, "forced_eos_token_id": tokenizer.eos_token_id}
    model = encoder_decoder(architecture, tokenizer, **(begin if forced else {}))
    texts = generate(model, tokenizer, ["Hi", "a longer prompt"], grammar=lists, seed=0, max_tokens=20, **options)
    for one in texts:
        assert (one.token_ids[0] == tokenizer.bos_token_id) == forced
        assert lists.matcher().validate_tokens(list(one.token_ids[forced:])) == len(one.token_ids) - forced
        assert not one.complete or accepts(lists.grammar, one.text)
    cut = generate(model, tokenizer, "Hi", grammar=lists, temperature=0, max_tokens=4)[0]
    whole = generate(model, tokenizer, "Hi", grammar=lists, temperature=0, max_tokens=8)[0]
    if not cut.complete:
        more = generate(model, tokenizer, "Hi", grammar=lists, temperature=0, max_tokens=4, prefix=cut)[0]
        assert more == whole
    (one,) = generate(model, tokenizer, "Hi", grammar=lists, seed=0, prefix="[a,[", max_tokens=40)
    assert one.text.startswith("[a,[")
    texts = generate(model, tokenizer, ["Hi"], grammar=lists, seed=0, budget=pdacon.Budget(tokens=4), **options)
    assert all(one.complete for one in texts)
    with pytest.raises(ValueError, match="one prompt at a time"):
        generate(model, tokenizer, ["Hi", "Hi"], grammar=lists, prefix=["[a,[", "["])


@pytest.mark.parametrize("architecture", ["t5", "bart"])
def test_assisted_encoder_decoders(tokenizer: Any, lists: Any, architecture: str) -> None:
    model = encoder_decoder(architecture, tokenizer)
    alone = generate(model, tokenizer, "[a,[b,[a,[b", grammar=lists, temperature=0, max_tokens=12)
    for options in ({"assistant_model": model}, {"prompt_lookup_num_tokens": 3}):
        assert alone == generate(
            model, tokenizer, "[a,[b,[a,[b", grammar=lists, temperature=0, max_tokens=12, **options
        )


def test_an_assistant_that_would_force_an_end(tokenizer: Any, lists: Any) -> None:
    """The assistant's candidates end with what its own configuration forces, unless that is switched off."""
    model = encoder_decoder("bart", tokenizer)
    assistant = encoder_decoder("bart", tokenizer, forced_eos_token_id=tokenizer.eos_token_id)
    common: dict[str, Any] = {"grammar": lists, "temperature": 0, "max_tokens": 12, "prefix": "[a,["}
    alone = generate(model, tokenizer, "Hi", **common)
    assert alone == generate(model, tokenizer, "Hi", assistant_model=assistant, **common)
    assert assistant.generation_config.forced_eos_token_id == tokenizer.eos_token_id


def test_an_end_that_is_forced_where_it_is_not_allowed_is_an_error(tokenizer: Any, lists: Any) -> None:
    """`generate` switches it off; whoever forces an end there gets an error and no half sentence."""
    model = encoder_decoder("bart", tokenizer, forced_eos_token_id=tokenizer.eos_token_id)
    batch = tokenizer("Hi", return_tensors="pt")
    processor = PDALogitsProcessor(lists, prefix="[a,[")
    with pytest.raises(MatcherError, match="forced_eos_token_id"):
        model.generate(**batch, logits_processor=[processor], max_new_tokens=1)
    (cut,) = generate(model, tokenizer, "Hi", grammar=lists, prefix="[a,[", max_tokens=1)
    assert not cut.complete


@pytest.mark.parametrize("options", [{}, {"prompt_lookup_num_tokens": 3}])
def test_streamers(model: Any, tokenizer: Any, lists: Any, options: dict[str, Any], capsys: Any) -> None:
    """Those of transformers say the same text; `on_text` does, and what it continues is not said again."""
    prompt = "[a,[b,[a,[b"
    common: dict[str, Any] = {"grammar": lists, "seed": 2, "max_tokens": 30, **options}
    streamer = TextIteratorStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True, timeout=30)
    pieces: list[str] = []
    answers: list[Any] = []
    thread = Thread(
        target=lambda: answers.extend(generate(model, tokenizer, prompt, streamer=streamer, **common)), daemon=True
    )
    thread.start()
    streamed = "".join(streamer)
    thread.join()
    (one,) = generate(model, tokenizer, prompt, on_text=pieces.append, **common)
    assert streamed == "".join(pieces) == one.text == answers[0].text
    generate(model, tokenizer, prompt, streamer=TextStreamer(tokenizer, skip_prompt=True), **common)
    assert one.text in capsys.readouterr().out
    pieces.clear()
    (one,) = generate(model, tokenizer, prompt, on_text=pieces.append, prefix="[a,", **common)
    assert "[a," + "".join(pieces) == one.text


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"prompt": None}, TypeError, "a text or a list of messages .* not None"),
        ({"prompt": 3}, TypeError, "a text or a list of messages .* not 3"),
        ({"prompt": b"Hi"}, TypeError, r"not bytes; give prompt\.decode\(\)"),
        ({"prompt": {"role": "user", "content": "Hi"}}, TypeError, r"give \[message\]"),
        ({"prompt": BatchEncoding({"input_ids": [[1]]})}, TypeError, "logits_processor="),
        ({"prompt": {"Hi": 1}}, TypeError, "a text or a list of messages"),
        ({"prompt": {"Hi", "Ho"}}, TypeError, r"a set has not both; give list\(prompts\)"),
        ({"prompt": iter(["Hi"])}, TypeError, r"a list_iterator has not both; give list\(prompts\)"),
        ({"prompt": (word for word in ["Hi"])}, TypeError, r"a generator has not both"),
        ({"prompt": ["Hi", None]}, TypeError, "a text or a list of messages .* not None"),
        ({"prompt": [3]}, TypeError, "a text or a list of messages"),
        ({"prompt": [["Hi"]]}, TypeError, "a text or a list of messages"),
        ({"constraint": LISTS}, TypeError, "no option constraint; give it as grammar"),
        ({"grammar": None}, TypeError, "needs a grammar"),
        ({"max_new_tokens": 3, "max_tokens": 3}, TypeError, "two names of one number"),
        ({"max_new_tokens": 0}, ValueError, "max_new_tokens is 0"),
        ({"max_length": 3}, TypeError, "sets max_length itself; give max_tokens"),
        ({"do_sample": True, "temperature": 0}, ValueError, "do_sample=True contradicts temperature=0"),
        ({"do_sample": False, "temperature": 1}, ValueError, "do_sample=False contradicts temperature=1"),
        ({"num_beams": 0}, ValueError, "num_beams is 0"),
        ({"num_beams": 2, "num_return_sequences": 3}, ValueError, "2 beams cannot give 3 texts"),
        ({"on_text": print, "streamer": object()}, TypeError, "on_text is a streamer"),
        ({"on_text": print, "prompt": ["a", "b"]}, ValueError, "one text only"),
        ({"start": "nobody"}, ValueError, "'nobody' is not a start"),
    ],
)
def test_arguments_that_make_no_sense(
    model: Any, tokenizer: Any, lists: Any, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    arguments = {"prompt": "Hi", "grammar": lists, **arguments}
    with pytest.raises(error, match=words):
        generate(model, tokenizer, arguments.pop("prompt"), **arguments)


@pytest.mark.parametrize("run", [generate, generate_batch])
def test_no_prompts_have_no_answers(model: Any, tokenizer: Any, lists: Any, run: Any) -> None:
    assert run(model, tokenizer, [], grammar=lists) == []
    assert run(model, tokenizer, (), grammar=[]) == []
    with pytest.raises(ValueError, match="there are 0 prompts, but 1 grammars"):
        run(model, tokenizer, [], grammar=[lists])


def test_processor_arguments_that_make_no_sense(lists: Any) -> None:
    for arguments in ({"num_beams": 0}, {"prefix": []}, {"prompt_length": -1}, {"prefix": "x"}, {"start": "x"}):
        with pytest.raises(ValueError):
            PDALogitsProcessor(lists, **arguments)
    three = PDALogitsProcessor(lists, prefix=["[", "", "[a"])
    with pytest.raises(MatcherError, match="4 rows, but 3 prefixes"):
        three(torch.zeros((4, 1), dtype=torch.int64), torch.zeros(4, 512))
    with pytest.raises(MatcherError, match="1 columns of ids, but prompt_length is 2"):
        PDALogitsProcessor(lists, prompt_length=2)(torch.zeros((1, 1), dtype=torch.int64), torch.zeros(1, 512))
