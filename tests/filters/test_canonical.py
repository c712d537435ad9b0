"""Canonical filtering: masks hold just the tokens that the tokenizer itself makes of some text of the grammar.

The oracle is the tokenizer. Of a finite language every text is encoded, so the tokens that may follow a prefix are
known; of an infinite one texts are walked at random, and encoded again.
"""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from support.byte_level_tokenizers import STYLES, TOKENIZERS, merging
from support.canonical_oracle import (
    BLANKS,
    BLANKS_TEXTS,
    JSON_TEXTS,
    WORDS,
    followers,
    require_equal_masks,
    require_walks,
    spelled,
)
from support.real_vocabularies import coded
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

import pdacon
from pdacon import Vocabulary
from pdacon.errors import LimitExceededError, MatcherError, UnsupportedGrammarError, VocabularyError
from pdacon.front.sampling import sample, sample_tokens


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("style", STYLES)
def test_masks_of_words_are_those_of_their_tokenizations(style: str, name: str) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[style]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(WORDS[name]), vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(WORDS[name], encode, vocabulary.eos_ids[0]))


SMALL_WORLDS = [("a \n", 5), ("aA'l", 4), (" 1a.", 4), ("aé日 ", 4), ("\r\n /", 4), ("aB한d", 4)]


@pytest.mark.parametrize(("letters", "most"), SMALL_WORLDS)
@pytest.mark.parametrize("style", STYLES)
def test_masks_of_a_small_world_are_those_of_its_tokenizations(style: str, letters: str, most: int) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[style]
    constraint = pdacon.compile(pdacon.Grammar.from_regex(f"[{letters}]{{0,{most}}}"), vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(spelled(letters, most), encode, vocabulary.eos_ids[0]))


@pytest.mark.parametrize("style", STYLES)
def test_a_grammar_may_force_what_follows_a_token(style: str) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[style]
    constraint = pdacon.compile(BLANKS, vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(BLANKS_TEXTS, encode, vocabulary.eos_ids[0]))


@pytest.mark.parametrize("grammar", ["json", "sql"])
@pytest.mark.parametrize("style", ["gpt2", "gpt4o"])
def test_what_is_generated_is_what_the_tokenizer_makes_of_it(style: str, grammar: str) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[style]
    constraint = pdacon.compile(grammar, vocabulary, canonical=tokenizer)
    require_walks(constraint, encode, 6)


@pytest.mark.parametrize("style", STYLES)
def test_the_tokens_of_each_text_are_accepted(style: str) -> None:
    tokenizer, vocabulary, encode = TOKENIZERS[style]
    constraint = pdacon.compile("json", vocabulary, canonical=tokenizer)
    for text in JSON_TEXTS:
        assert constraint.matcher().validate_tokens([*encode(text), vocabulary.eos_ids[0]]) == len(encode(text)) + 1


@pytest.mark.slow
def test_tekken() -> None:
    known = coded("tekken")
    from importlib.resources import files

    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer = Tekkenizer.from_file(str(files("mistral_common") / "data" / "tekken_240911.json"))
    for words in WORDS.values():
        constraint = pdacon.compile(pdacon.Grammar.from_choices(words), known.vocabulary, canonical=tokenizer)
        require_equal_masks(constraint, followers(words, known.encode, known.vocabulary.eos_ids[0]))
    constraint = pdacon.compile("json", known.vocabulary, canonical=tokenizer)
    require_walks(constraint, known.encode, 4)
    for text in JSON_TEXTS:
        assert constraint.matcher().validate_tokens(known.encode(text)) == len(known.encode(text))


@pytest.mark.parametrize("style", STYLES)
def test_forced_tokens_are_those_of_the_tokenizer(style: str) -> None:
    """Coalescence: what is forced is appended as the tokenizer cuts it, up to where two tokens may come."""
    tokenizer, vocabulary, encode = TOKENIZERS[style]
    texts = ['{"name": "Amazon", "founded": 1994}', '{"name": "Alphabet", "founded": 2015}']
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    coded = [[*encode(text), vocabulary.eos_ids[0]] for text in texts]
    shared = next(at for at, (one, other) in enumerate(zip(*coded, strict=False)) if one != other)
    matcher = constraint.matcher()
    assert matcher.forced_tokens() == coded[0][:shared]
    for ids in coded:
        matcher.reset()
        assert all(map(matcher.accept_token, ids[: shared + 1]))
        forced = matcher.forced_tokens()
        assert [*forced, vocabulary.eos_ids[0]] == ids[shared + 1 :]
        few = matcher.forced_tokens(limit=5)
        assert few == forced[: len(few)]
        assert len(vocabulary.decode(few)) <= 5
        assert matcher.text == vocabulary.decode(ids[: shared + 1]).decode()


def test_roll_back_fork_and_reset() -> None:
    tokenizer, vocabulary, encode = TOKENIZERS["llama3"]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(WORDS["scripts"]), vocabulary, canonical=tokenizer)
    ids = encode("naïve café")
    matcher = constraint.matcher()
    masks = []
    for token in ids:
        masks.append(matcher.allowed_tokens())
        assert matcher.accept_token(token)
    fork = matcher.fork()
    matcher.rollback(len(ids))
    assert matcher.allowed_tokens() == masks[0]
    assert fork.allowed_tokens() == [vocabulary.eos_ids[0]]
    fork.reset()
    assert fork.allowed_tokens() == masks[0]


def test_the_filter_is_named_where_it_refuses() -> None:
    tokenizer, vocabulary, encode = TOKENIZERS["gpt2"]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(["Amazon"]), vocabulary, canonical=tokenizer)
    matcher = constraint.matcher()
    letter = vocabulary.tokens.index(b"A")
    assert letter not in encode("Amazon")
    explanation = matcher.explain(letter)
    assert not explanation.allowed
    assert explanation.reason.startswith("canonical: in no text")
    assert "canonical" not in matcher.explain(vocabulary.tokens.index(b"b")).reason


@pytest.mark.parametrize("special", ["b", "ab"])
def test_merges_with_special_tokens_are_never_made(special: str) -> None:
    tokenizer = merging([("a", "b"), ("ab", "c"), ("b", "c"), ("c", "a")])
    tokenizer.add_special_tokens([special])
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=0)
    texts = [text for text in spelled("abc", 5) if special not in text]
    if special == "b":
        with pytest.raises(VocabularyError, match="no token for the byte b'b'"):
            pdacon.compile(pdacon.Grammar.from_regex("[ac]"), vocabulary, canonical=tokenizer)
    else:
        made = pdacon.compile(pdacon.Grammar.from_regex("[abc]{0,5}"), vocabulary, canonical=tokenizer)
        require_equal_masks(made, followers(texts, lambda text: list(tokenizer.encode(text).ids), 0))


def test_a_merge_that_is_special_and_read_is_refused() -> None:
    """The text " a" is that token, and the text that it is found by another one."""
    tokenizer = merging([("Ġ", "a")])
    tokenizer.add_special_tokens(["Ġa"])
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=0)
    assert tokenizer.encode(" a").tokens == ["Ġa"]
    with pytest.raises(VocabularyError, match="'Ġ' and 'a' merge, and 'Ġa' has no text in the vocabulary"):
        pdacon.compile(pdacon.Grammar.from_regex(" a"), vocabulary, canonical=tokenizer)


def test_what_is_not_supported_is_refused() -> None:
    tokenizer, vocabulary, _ = TOKENIZERS["gpt2"]
    constraint = pdacon.compile("json", vocabulary, canonical=tokenizer)
    with pytest.raises(MatcherError, match="fill_bitmask"):
        constraint.matcher().mask_id()
    with pytest.raises(MatcherError, match="fill_bitmask"):
        pdacon.matching.mask_ids([constraint.matcher()])
    with pytest.raises(TypeError, match="tokenizer="):
        pdacon.compile("json", vocabulary, canonical=True)
    labelled = pdacon.Grammar.from_lark('start: "a" T\nT: /(?P<TEXT_TOKEN>)/', extensions=True)
    with pytest.raises(UnsupportedGrammarError, match="canonical"):
        pdacon.compile(labelled, vocabulary, canonical=tokenizer)
    other = Vocabulary.from_tokens([bytes([byte]) for byte in range(256)] + [None] * 300, eos_ids=[256])
    with pytest.raises(VocabularyError, match="another one in the vocabulary"):
        pdacon.compile("json", other, canonical=tokenizer)


@pytest.mark.slow
def test_transformers() -> None:
    from pdacon.integrations.huggingface import PDALogitsProcessor, load_tiny

    model, tokenizer = load_tiny()
    constraint = pdacon.compile("json", tokenizer=tokenizer, model=model, canonical=True)
    inputs = tokenizer(["A person as JSON:"] * 3, return_tensors="pt")
    output = model.generate(
        **inputs, max_new_tokens=120, do_sample=False, logits_processor=[PDALogitsProcessor(constraint)]
    )
    for row in output[:, inputs["input_ids"].shape[1] :].tolist():
        ids = [token for token in row if constraint.vocabulary.tokens[token]]
        text = constraint.vocabulary.decode(ids).decode()
        encoded = tokenizer.encode(text, add_special_tokens=False)
        # The last token of a text that was cut off may be one that goes on.
        assert encoded == ids or (len(row) == 120 and encoded[:-3] == ids[: len(encoded) - 3])


def test_texts_are_drawn_as_without() -> None:
    tokenizer, vocabulary, _ = TOKENIZERS["gpt2"]
    constraint = pdacon.compile("json", vocabulary, canonical=tokenizer)
    with pytest.raises(ValueError, match="canonical"):
        next(sample_tokens(constraint, 1))
    assert constraint.accepts(next(sample(constraint, 1)))


def test_qwen() -> None:
    """The class of transformers: a normalizer, special tokens, and added ones that stand in texts."""
    from transformers import AddedToken as Added
    from transformers import Qwen2Tokenizer

    model = json.loads(TOKENIZERS["qwen"][0].to_str())["model"]
    words = {word: i for word, i in model["vocab"].items() if word != "<end>"}
    ids = {word: i for i, word in enumerate(words)}
    merges: Any = [tuple(merge) for merge in model["merges"]]
    tokenizer = Qwen2Tokenizer(vocab=ids, merges=merges)
    assert tokenizer.backend_tokenizer.normalizer is not None
    tokenizer.add_tokens(["<|im_start|>", "<|im_end|>"], special_tokens=True)
    tokenizer.add_tokens([Added(word, special=False, normalized=False) for word in ("<think>", "</think>")])

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False))

    constraint = pdacon.compile("json", tokenizer=tokenizer, canonical=True)
    require_walks(constraint, encode, 6)
    for text in [*JSON_TEXTS, '["<think>", "<|im_", "</think><think>"]']:
        assert constraint.matcher().validate_tokens(encode(text)) == len(encode(text))
        assert tokenizer.decode(encode(text)) == text
    assert not constraint.accepts('"<|im_end|>"')
    assert constraint.statistics()["canonical_searches_cut"] == 0


@pytest.mark.parametrize("style", STYLES)
def test_shortest_completions_and_ends_are_those_of_the_tokens(style: str) -> None:
    """Of all texts that go on with the tokens so far, the shortest; refused where the grammar's own is none of them."""
    tokenizer, vocabulary, encode = TOKENIZERS[style]
    texts = spelled("a \nA", 4)[1:] + WORDS["companies"] + WORDS["keywords"]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    coded_texts = {tuple(encode(text)): text.encode() for text in texts}
    refused = 0
    for prefix in {ids[:at] for ids in coded_texts for at in range(len(ids) + 1)}:
        matcher = constraint.matcher()
        assert all(map(matcher.accept_token, prefix))
        begun = vocabulary.decode(prefix)
        rests = [text[len(begun) :] for ids, text in coded_texts.items() if ids[: len(prefix)] == prefix]
        best = min(rests, key=lambda rest: (len(rest), rest))
        grammar = min(
            (t.encode()[len(begun) :] for t in texts if t.encode().startswith(begun)), key=lambda t: (len(t), t)
        )
        if best == grammar:
            assert matcher.shortest_completion() == best
        else:
            refused += 1
            with pytest.raises(MatcherError, match="canonical: the grammar's shortest completion is"):
                matcher.shortest_completion()
        assert matcher.explain(b"").may_end == (prefix in coded_texts) == matcher.is_accepting()
        for token in matcher.allowed_tokens():
            if vocabulary.tokens[token]:
                assert matcher.explain(token).may_end == ((*prefix, token) in coded_texts)
    assert refused


TEMPLATES = {
    "ChatML": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "Llama 3": "{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + "
    "message['content'] | trim + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
}
"""As Qwen 2's and Llama 3's tokenizers have them."""


@pytest.mark.parametrize(("template", "style"), [("ChatML", "qwen"), ("Llama 3", "llama3"), ("ChatML", "gpt4o")])
def test_after_the_generation_prompt_of_a_chat_template(template: str, style: str) -> None:
    """What is generated there, and the prompt, are what the tokenizer makes of the whole conversation."""
    transformers = pytest.importorskip("transformers")
    made = Tokenizer.from_str(TOKENIZERS[style][0].to_str())
    made.add_special_tokens(["<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, chat_template=TEMPLATES[template], eos_token="<|im_end|>"
    )
    constraint = pdacon.compile("json_dumps", tokenizer=tokenizer, canonical=True)
    asked = [{"role": "user", "content": "A record, please.\n"}]
    before = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
    prompt = tokenizer.encode(before, add_special_tokens=False)
    for text in itertools.islice(sample(constraint, 2, size=30), 12):
        answer = tokenizer.encode(before + text, add_special_tokens=False)[len(prompt) :]
        assert tokenizer.encode(before + text, add_special_tokens=False)[: len(prompt)] == prompt
        assert constraint.matcher().validate_tokens([*answer, tokenizer.eos_token_id]) == len(answer) + 1
        assert constraint.vocabulary.decode(answer).decode() == text


def pairs_of_letters() -> tuple[Any, Vocabulary]:
    """A byte-level BPE that merges two letters, so that a word of n letters has n / 2 tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {word: i for i, word in enumerate(["<end>", *alphabet, "aa"])}
    tokenizer = Tokenizer(models.BPE(words, [("a", "a")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    return tokenizer, Vocabulary.from_huggingface(tokenizer, eos_ids=0)


@pytest.mark.slow
@pytest.mark.parametrize("letters", [2047, 2500])
def test_a_word_of_thousands_of_letters_is_no_dead_end(letters: int) -> None:
    tokenizer, vocabulary = pairs_of_letters()
    constraint = pdacon.compile(pdacon.Grammar.from_choices(["a" * letters]), vocabulary, canonical=tokenizer)
    ids = tokenizer.encode("a" * letters).ids
    matcher = constraint.matcher()
    assert list(matcher.allowed_tokens()) == [ids[0]]
    for token in ids[:-3]:
        matcher.accept_token(token)
    assert matcher.validate_tokens([*ids[-3:], 0]) == 4
    assert constraint.statistics()["canonical_searches_cut"] == 0


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("letters", [150, 161])
def test_a_long_search_answers_for_what_it_has_passed(letters: int, split: bool) -> None:
    """Words that part late and brackets around them: what one search finds is asked on other stacks and ways."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("a", "a"), ("a", "b"), ("b", ")"), (")", ")"), ("ab", "a"), ("a", ")")]
    words = ["<end>", *alphabet, *(left + right for left, right in merges)]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=0)
    longest = "a" * letters
    texts = [longest, longest[:-1] + "b", longest[:-9] + "baab", longest[:70] + "ba" * 40]
    alternatives = " | ".join(f'"{text}"' for text in texts)
    rules = [f'r{level}: WORD | "(" r{level + 1} ")" | "[" r{level + 1} ")"' for level in range(3)]
    grammar = "\n".join(["start: r0", *rules, "r3: WORD", f"WORD: {alternatives}", ""])
    sentences = [*texts]
    for _ in range(3):
        sentences = [*texts, *(f"{opening}{inner})" for opening in "([" for inner in sentences)]
    constraint = pdacon.compile(grammar, vocabulary, canonical=tokenizer)
    expected = followers(sentences, lambda text: list(tokenizer.encode(text).ids), 0)
    require_equal_masks(constraint, expected)


def doubled(times: int) -> str:
    """A grammar of few states whose only text is 2 ** times letters long."""
    rules = [f"r{level}: r{level + 1} r{level + 1}" for level in range(times)]
    return "\n".join(["start: r0", *rules, f'r{times}: "a"', ""])


def test_a_search_that_meets_its_bound_is_an_error_and_no_empty_mask() -> None:
    """By the first mask, when it is compiled: the way out is a limit."""
    tokenizer, vocabulary = pairs_of_letters()
    with pytest.raises(LimitExceededError, match=r"^states: 2,051 .*canonical: the search .*Limits\(states"):
        pdacon.compile(doubled(18), vocabulary, canonical=tokenizer, limits=pdacon.Limits(states=2050))
    constraint = pdacon.compile(doubled(13), vocabulary, canonical=tokenizer)
    assert list(constraint.matcher().allowed_tokens()) == tokenizer.encode("a" * 8192).ids[:1]


def test_a_token_that_spells_no_character_does_not_stand_for_one_that_does() -> None:
    """The bytes C3 C3 are none; read as two of one character they would be é's class."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "Ã"), ("ĠÃ", "Ã"), ("ĠÃ", "©")]
    words = ["<end>", *alphabet, *(left + right for left, right in merges)]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, merges))
    split = pre_tokenizers.Split(Regex(r" ?\p{L}+"), "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=0)
    texts = [" é", " éé", "é", " b"]
    constraint = pdacon.compile(pdacon.Grammar.from_choices(texts), vocabulary, canonical=tokenizer)
    require_equal_masks(constraint, followers(texts, lambda text: tokenizer.encode(text).ids, 0))


def unsplit(merges: list[tuple[str, str]]) -> Tokenizer:
    """Bytes and these merges, over the whole text."""
    tokenizer = merging(merges)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return tokenizer


DEEP = {
    "json_compact": ["[" * 300 + "]" * 300, '{"a":' * 30 + "[]" + "}" * 30],
    "arithmetic": ["(" * 40 + "1" + ")" * 40],
}


@pytest.mark.parametrize("merges", [[], [("[", "[")], [("]", "]"), (")", ")")], [("(", "("), ("((", "(")]])
@pytest.mark.parametrize("grammar", DEEP)
def test_a_tokenizer_that_does_not_split_is_not_searched_to_the_ends_of_texts(
    grammar: str, merges: list[tuple[str, str]]
) -> None:
    tokenizer = unsplit(merges)
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=0)
    constraint = pdacon.compile(grammar, vocabulary, canonical=tokenizer)
    for text in DEEP[grammar]:
        matcher = constraint.matcher()
        for token in [*tokenizer.encode(text, add_special_tokens=False).ids, 0]:
            assert token in matcher.allowed_tokens(), matcher.text
            assert matcher.accept_token(token)
    require_walks(constraint, lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids), 6)
    assert constraint.statistics()["canonical_searches_cut"] == 0


@pytest.mark.parametrize("merges", [[], [("]", "]"), ("]]", "]]")]])
def test_a_deep_stack_that_no_mask_has_seen_before(merges: list[tuple[str, str]]) -> None:
    """Of its completion all that is left has to be followed once, and is known from then on."""
    tokenizer = unsplit(merges)
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=0)
    constraint = pdacon.compile("json_compact", vocabulary, canonical=tokenizer)
    matcher = constraint.matcher()
    matcher.accept_bytes(b"[" * 3000)
    rest = tokenizer.encode("1" + "]" * 3000, add_special_tokens=False).ids
    assert matcher.validate_tokens([*rest, 0]) == len(rest) + 1
    assert constraint.statistics()["canonical_searches_cut"] == 0


BRACKETS = {
    "forced ends": ('start: "[" start "]" | "0"', "[]0"),
    "two kinds": ('start: "[" start "]" | "(" start ")" | "0"?', "[]()0"),
    "lists": ('start: "[" (start ("," start)*)? "]"', "[],"),
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", BRACKETS)
def test_masks_of_nested_texts_without_a_split(name: str, seed: int) -> None:
    """All sentences up to a length, by which the last tokens of deep ones are known."""
    rules, letters = BRACKETS[name]
    rng = random.Random(f"{name}, {seed}")
    pairs = rng.sample([(a, b) for a in letters for b in letters], 2)
    (a, b), _ = pairs
    tokenizer = unsplit([*pairs, (a + b, rng.choice(letters)), (rng.choice(letters), a + b)][: 2 + seed % 3])
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=0)
    most = 7
    short = pdacon.RegularSet.from_choices([*letters]).repeat(0, most)
    constraint = pdacon.compile(pdacon.Grammar.from_lark(rules) & short, vocabulary, canonical=tokenizer)
    whole = pdacon.compile(pdacon.Grammar.from_lark(rules), vocabulary)
    texts = [text for text in spelled(letters, most) if whole.accepts(text)]
    expected = followers(texts, lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids), 0)
    require_equal_masks(constraint, expected)
