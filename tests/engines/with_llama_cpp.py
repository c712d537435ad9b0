"""llama.cpp with pdacon: constrained texts of the tiny model as a GGUF file, and everything that might fail open."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tiny_gguf
from asked import HOSTILE, Asked, requests, verdict
from llama_cpp import Llama
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

import pdacon
from pdacon.composition import Limits
from pdacon.formats import Kind, compile_format, grammar_kind
from pdacon.integrations.llama_cpp import chat, complete, hold, vocabulary

PROMPT = "Describe a person as JSON:"
MAX_TOKENS = 120
LIMITS = Limits(seconds=10.0)


class Asker:
    """Asks one model."""

    def __init__(self, llama: Llama) -> None:
        self.llama = llama
        self._cache = pdacon.CompileCache()

    def constraint(self, outputs: dict[str, Any]) -> pdacon.Constraint:
        ((name, said),) = outputs.items()
        names: dict[str, Kind] = {"json": "schema", "grammar": grammar_kind(str(said)), "json_object": "json_object"}
        kind = names.get(name, name)
        text = said if isinstance(said, str) else "" if said is True else json.dumps(said)
        return compile_format(self._cache, kind, text, vocabulary(self.llama), LIMITS)

    def ask(self, asked: Asked) -> str:
        """What came of a request."""
        held = self.constraint(asked.outputs)
        options = {"max_tokens": MAX_TOKENS, "temperature": asked.temperature, "seed": asked.seed}
        if asked.seed % 3 == 0 and asked.way == "whole":
            answer = chat(self.llama, [{"role": "user", "content": PROMPT}], held, **options)
            choice = answer["choices"][0]
            text, ending = choice["message"]["content"], choice["finish_reason"]
        elif asked.way == "whole":
            choice = complete(self.llama, PROMPT, held, **options)["choices"][0]
            text, ending = choice["text"], choice["finish_reason"]
        else:
            text, ending = "", None
            for piece in complete(self.llama, PROMPT, held, stream=True, **options):
                text += piece["choices"][0]["text"]
                ending = piece["choices"][0]["finish_reason"]
                if asked.way == "cancel" and text:
                    return "left"
        return verdict(asked, text, ending)

    def offend(self, name: str, said: dict[str, Any]) -> str:
        """What came of a bad request."""
        try:
            self.constraint(said["structured_outputs"])
        except pdacon.PdaconError as error:
            return "refused" if str(error) else f"{name}: no reason"
        return f"{name}: it was taken"


def fails(what: str, kind: type[BaseException], run: Callable[[], object]) -> str:
    """Whether something raises what it has to."""
    try:
        found = run()
    except kind:
        return "raised"
    except BaseException as error:
        return f"{what}: {type(error).__name__}: {error}"
    return f"{what}: nothing was raised, but {found}"


def broken(llama: Llama, error: BaseException, after: int, stream: bool) -> object:
    """A text whose constraint fails after some tokens: it must end there, and raise."""
    held = hold(llama, "json")
    fill, calls = held._matcher.fill_bitmask, []

    class Matcher:
        def __getattr__(self, name: str) -> Any:
            return getattr(matcher, name)

        def fill_bitmask(self, words: Any) -> None:
            calls.append(1)
            if len(calls) > after:
                raise error
            fill(words)

    matcher, held._matcher = held._matcher, Matcher()
    answer: Any = llama.create_completion(PROMPT, logits_processor=held, max_tokens=50, temperature=0.0, stream=stream)
    pieces = [piece["choices"][0] for piece in answer] if stream else [answer["choices"][0]]
    written = len(llama.tokenize("".join(piece["text"] for piece in pieces).encode(), add_bos=False))
    if written > after or pieces[-1]["finish_reason"] != "stop":
        return f"the text went on: {pieces}"
    held.check()
    return pieces


def twice(llama: Llama) -> object:
    """One constraint for two texts."""
    held = hold(llama, "json")
    llama.create_completion(PROMPT, logits_processor=held, max_tokens=5)
    llama.create_completion("Another text", logits_processor=held, max_tokens=5)
    held.check()
    return held


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    print(
        f"llama-cpp-python {version('llama-cpp-python')}, pdacon {version('pdacon')}, Python {sys.version.split()[0]}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.gguf"
        tiny_gguf.write(path)
        options: dict[str, Any] = {"n_ctx": 512, "n_threads": 1, "verbose": False}
        llama = Llama(str(path), **options)
        asker = Asker(llama)
        began = time.process_time()
        results = Counter(asker.ask(one) for one in requests(count, 1))
        took = time.process_time() - began
        said = [one for one in HOSTILE if len(one[1]["structured_outputs"]) == 1 and len(one[1]) == 1]
        refusals = Counter(asker.offend(*one) for one in said)
        drafting = Llama(str(path), draft_model=LlamaPromptLookupDecoding(), **options)
        raised = Counter(
            [
                fails("a draft model", ValueError, lambda: hold(drafting, "json")),
                fails("logit_bias", TypeError, lambda: complete(llama, PROMPT, "json", logit_bias={5: 1.0})),
                fails("logit_bias beside it", TypeError, lambda: llama.create_completion(
                    PROMPT, logits_processor=hold(llama, "json"), logit_bias={5: 1.0})),
                fails("two texts", pdacon.MatcherError, lambda: twice(llama)),
                fails("no text", pdacon.MatcherError, lambda: hold(llama, "json").check()),
                *(fails(f"{error!r}", type(error), lambda e=error, s=stream: broken(llama, e, 3, s))
                  for error in (RuntimeError("x"), KeyboardInterrupt()) for stream in (False, True)),
            ]
        )  # fmt: skip
        again = Counter(asker.ask(one) for one in requests(10, 2) if one.way != "cancel")
    good = set(results) <= {"valid", "cut", "left"} and set(refusals) == {"refused"} and set(raised) == {"raised"}
    print(f"{count} requests: {dict(results)}; {len(said)} bad ones: {dict(refusals)}; failures: {dict(raised)}")
    print(f"  afterwards {dict(again)}; {took:.1f} s of CPU time for the requests")
    good &= set(again) <= {"valid", "cut"}
    print("all as it has to be" if good else "NOT as it has to be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
