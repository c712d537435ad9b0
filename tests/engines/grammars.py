"""Grammars of other engines beside these engines: are the same texts accepted?

    python grammars.py xgrammar llguidance     where these are installed
    ./run.sh grammars                          llama.cpp, in an environment of its own

For each grammar in `tests/support` that has a dialect's shape: sentences, and texts near them. Each engine is asked by
its own calls, byte for byte. A difference that is not among the judged ones is printed, and the exit status is 1.
"""

from __future__ import annotations

import ctypes
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.gbnf import Definition, mutated, texts_of
from support.gbnf_grammars import DETERMINISTIC, NOT_DETERMINISTIC
from support.llguidance_grammars import WRITTEN, random_grammar

import pdacon
from pdacon import Grammar
from pdacon.errors import PdaconError

COUNT = 60
"""Sentences of each grammar; about as many more are near them."""

Accepts: TypeAlias = Callable[[str], bool]
Case: TypeAlias = tuple[str, str, Grammar, list[str]]
"""A name, the text of a grammar, what pdacon makes of it, and the texts to ask about."""

_NOTHING_FIRST = "an alternative that begins with | for no text"
REFUSED: Mapping[str, Mapping[str, str]] = {
    "llama_cpp": {"left recursion": "left recursion", "ambiguous operators": "left recursion"},
    "xgrammar": {"json": _NOTHING_FIRST, "schema": _NOTHING_FIRST},
}
"""By engine the grammars that it does not take, and why."""
JUDGED: Mapping[str, Mapping[str, str]] = {
    "llguidance": {
        "random 1098": "a lexeme that went on and cannot be finished: its longest text up to there is taken here",
        "random 1187": "what a lazy rule and a terminal both match is the lazy rule's alone there, and both here",
    }
}
"""By engine the grammars with texts about which it says something else, and what docs/ways_in.md has about that."""


def gbnf_cases(read: Callable[[str], Grammar]) -> Iterator[Case]:
    for name, source in {**DETERMINISTIC, **NOT_DETERMINISTIC}.items():
        if name in DETERMINISTIC:
            yield name, source, read(source), texts_of(Definition.read(source), random.Random(name), COUNT)


def llguidance_cases() -> Iterator[Case]:
    for name, (source, texts) in WRITTEN.items():
        grammar = Grammar.from_llguidance(source)
        rng = random.Random(name)
        sentences = list(dict.fromkeys([*texts, *grammar.sample(COUNT, seed=1)]))
        alphabet = "".join(sorted(set("".join(sentences))))
        near = [mutated(text, alphabet, rng) for text in sentences]
        yield name, source, grammar, [text.strip() for text in (*sentences, *near) if len(text) < 200]
    for seed in range(1000, 1200):
        rng = random.Random(seed)
        source = random_grammar(rng)
        try:
            grammar = Grammar.from_llguidance(source)
            grammar.accepts("a")
        except PdaconError:
            continue  # refused by name
        alphabet = "abcabcxy" + (" " if "%ignore" in source else "")
        texts = ["".join(rng.choices(alphabet, k=rng.randint(0, 7))).strip() for _ in range(10)]
        texts += [one.strip() for one in grammar.sample(6, seed=seed)]
        yield f"random {seed}", source, grammar, [text for text in texts if len(text) < 30]


def with_llguidance() -> tuple[Callable[[str], Accepts], Iterator[Case]]:
    from llguidance import LLMatcher, LLTokenizer

    tokens = LLTokenizer("byte")

    def make(source: str) -> Accepts:
        first = LLMatcher(tokens, source, log_level=0)
        if first.get_error():
            raise ValueError(first.get_error())

        def accepts(text: str) -> bool:
            matcher, ids = first.deep_copy(), list(text.encode())
            if matcher.validate_tokens(ids) < len(ids):
                return False
            if ids:
                matcher.consume_tokens(ids)
            return bool(matcher.is_accepting())

        return accepts

    return make, llguidance_cases()


def with_xgrammar() -> tuple[Callable[[str], Accepts], Iterator[Case]]:
    import xgrammar

    end = 256
    known = xgrammar.TokenizerInfo(
        [*(bytes([byte]) for byte in range(256)), b"</s>"],
        vocab_type=xgrammar.VocabType.RAW,
        stop_token_ids=[end],
    )
    compiler = xgrammar.GrammarCompiler(known, max_threads=1)

    def make(source: str) -> Accepts:
        compiled = compiler.compile_grammar(xgrammar.Grammar.from_ebnf(source))

        def accepts(text: str) -> bool:
            matcher = xgrammar.GrammarMatcher(compiled)
            return all(matcher.accept_token(byte) for byte in text.encode()) and matcher.accept_token(end)

        return accepts

    return make, gbnf_cases(Grammar.from_ebnf)


def with_llama_cpp() -> tuple[Callable[[str], Accepts], Iterator[Case]]:
    import llama_cpp
    import tiny_gguf

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.gguf"
        tiny_gguf.write(path)
        llama = llama_cpp.Llama(str(path), n_ctx=64, verbose=False)
    model = llama.model
    vocabulary = llama_cpp.llama_model_get_vocab(model)
    pieces = {llama.detokenize([token]): token for token in range(llama.n_vocab())}
    of_byte = [pieces[bytes([byte])] for byte in range(256) if bytes([byte]) in pieces]

    def make(source: str) -> Accepts:
        sampler = llama_cpp.llama_sampler_init_grammar(vocabulary, source.encode(), b"root")
        if not sampler:
            raise ValueError("refused")

        def allowed(token: int) -> bool:
            data = (llama_cpp.llama_token_data * 1)(llama_cpp.llama_token_data(token, 0.0, 0.0))
            candidates = llama_cpp.llama_token_data_array(data, 1, -1, False)
            llama_cpp.llama_sampler_apply(sampler, ctypes.byref(candidates))
            return bool(np.isfinite(data[0].logit))

        def accepts(text: str) -> bool:
            llama_cpp.llama_sampler_reset(sampler)
            for byte in text.encode():
                token = pieces[bytes([byte])]
                if not allowed(token):
                    return False
                llama_cpp.llama_sampler_accept(sampler, token)
            return allowed(llama.token_eos())  # the model has to be there as long as this

        return accepts

    assert len(of_byte) == 256
    return make, gbnf_cases(Grammar.from_gbnf)


ENGINES = {
    "llama_cpp": (with_llama_cpp, "llama-cpp-python"),
    "xgrammar": (with_xgrammar, "xgrammar"),
    "llguidance": (with_llguidance, "llguidance"),
}


def compare(name: str) -> bool:
    """Whether an engine and pdacon agree; prints the counts, and where they do not."""
    begin, package = ENGINES[name]
    make, cases = begin()
    counts: Counter[str] = Counter()
    for case, source, grammar, texts in cases:
        try:
            accepts = make(source)
        except (RuntimeError, ValueError) as error:
            counts["refused by the engine"] += 1
            if not case.startswith("random") and case not in REFUSED.get(name, {}):
                print(f"{name} refuses {case}: {error!s:.200}")
                counts["not judged"] += 1
            continue
        counts["grammars"] += 1
        for text in dict.fromkeys(texts):
            theirs, ours = accepts(text), grammar.accepts(text)
            counts["texts"] += 1
            counts["accepted"] += ours
            if theirs != ours and case in JUDGED.get(name, {}):
                counts["judged"] += 1
            elif theirs != ours:
                counts["not judged"] += 1
                print(f"{case}: {text!r}: {name} says {theirs}, pdacon {ours}")
    print(f"{package} {version(package)}, pdacon {pdacon.__version__}: {dict(counts)}")
    return not counts["not judged"]


if __name__ == "__main__":
    agreed = [compare(name) for name in sys.argv[1:] or ["llama_cpp"]]
    sys.exit(not all(agreed))
