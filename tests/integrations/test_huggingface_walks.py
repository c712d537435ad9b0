"""Random walks through `generate`: any grammar, any mode, any options together."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.lark_oracle import accepts

import pdacon
from pdacon.errors import MatcherError
from pdacon.integrations.huggingface import generate

GRAMMARS = [
    'start: "[" [item ("," item)*] "]"\nitem: /[a-c]{1,3}/ | start\n',
    'start: "abc"\n',
    'start: ("a" | "ab" | "b")+ "."\n',
    'start: ["a"] ["b"] ["c"]\n',
    'start: "(" start? ")" | "x"\n',
    'start: statement+\nstatement: "if" " " NAME ";" | NAME "=" NAME ";"\nNAME: /[a-z]+/\n',
    'start: /[éà🙂]{1,3}/ "!"\n',
    'start: /a.*?b/ "c"\n',
    "start: /-?[0-9]+(\\.[0-9]+)?/\n",
]
PROMPTS = ["Hi", "abc abc a", "x", "[a,[a,b", "The quick brown"]
# Options that rule tokens out, so that they can contradict a grammar.
FORBIDDING: dict[str, Any] = {"no_repeat_ngram_size": 3, "min_new_tokens": 2, "bad_words_ids": [[68]]}
ANYWHERE: dict[str, Any] = {
    "repetition_penalty": 1.4,
    "renormalize_logits": True,
    "remove_invalid_values": True,
    "exponential_decay_length_penalty": (2, 1.5),
    "cache_implementation": "static",
    "sequence_bias": [[[70], 5.0]],
    "prefill_chunk_size": 2,
}
SAMPLED: dict[str, Any] = {"top_k": 3, "top_p": 0.3, "min_p": 0.2, "typical_p": 0.5, "epsilon_cutoff": 0.1}


def draw(rng: random.Random, model: Any) -> tuple[list[str], dict[str, Any]]:
    """Prompts and options that `generate` takes together."""
    options: dict[str, Any] = {
        "num_beams": rng.choice([1, 1, 2, 3, 5]),
        "temperature": rng.choice([0, 0.5, 1.0, 3.0]),
        "max_tokens": rng.randint(1, 14),
        "seed": rng.randrange(10**6),
    }
    possible = {**ANYWHERE, **FORBIDDING, **(SAMPLED if options["temperature"] else {})}
    prompts = rng.choices(PROMPTS, k=rng.randint(1, 3))
    if options["num_beams"] > 1:
        options["num_return_sequences"] = rng.randint(1, options["num_beams"])
        options["early_stopping"] = rng.choice([True, False, "never"])
        options["length_penalty"] = rng.choice([-1.0, 0.0, 1.0, 2.0])
    elif len(prompts) == 1 and rng.random() < 0.5:
        options.update(rng.choice([{"assistant_model": model}, {"prompt_lookup_num_tokens": rng.randint(1, 6)}]))
        for name in ("cache_implementation", "prefill_chunk_size"):  # not with candidates
            possible.pop(name)
    elif options["temperature"]:
        options["num_return_sequences"] = rng.randint(1, 4)
    return prompts, {**options, **{name: value for name, value in possible.items() if rng.random() < 0.12}}


@pytest.mark.slow
@pytest.mark.parametrize("lark", GRAMMARS)
def test_whatever_is_returned_is_right(
    model: Any, tokenizer: Any, lark: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    grammar = pdacon.Grammar.from_lark(lark)
    ends = tokenizer.convert_tokens_to_ids(["<eos>", "<end>"])
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.from_huggingface(tokenizer, eos_ids=ends, size=512))
    rng = random.Random(lark)
    for _ in range(scaled(6)):
        prompts, options = draw(rng, model)
        forbidding = bool(FORBIDDING.keys() & options.keys())
        try:
            texts = generate(model, tokenizer, prompts, grammar=constraint, **options)
        except (MatcherError, RuntimeError) as error:
            # Normalized, a beam that has nothing left has scores that are no numbers, which torch does not draw from.
            if not (forbidding and (isinstance(error, MatcherError) or "renormalize_logits" in options)):
                raise
            tally(contradictions=1)
            continue
        tally(texts=len(texts), complete=sum(one.complete for one in texts))
        assert {one.prompt for one in texts} == set(range(len(prompts)))
        for one in texts:
            assert constraint.matcher().validate_tokens(list(one.token_ids)) == len(one.token_ids)
            assert not one.complete or accepts(grammar, one.text), (one, options)
