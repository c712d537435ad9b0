"""llama.cpp with pdacon: constrained texts of the tiny model as a GGUF file, and everything that might fail open."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llama_cpp
import tiny_gguf
from asked import HOSTILE, Asked, requests, verdict
from llama_cpp import Llama
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

import pdacon
from pdacon._native.embedding import include_folder, library
from pdacon.base.limits import Limits
from pdacon.integrations.answer_formats import Kind, grammar_kind
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.llama_cpp import chat, check_sampler, complete, hold, sampler, vocabulary

EXAMPLE = Path(__file__).parents[2] / "examples" / "llama_sampler.c"
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
        return FormatCompiler(vocabulary(self.llama), LIMITS, self._cache).constraint(kind, text)

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
    """A text whose logits processor fails after some tokens: it must end there, and raise."""
    held = hold(llama, "json")
    calls: list[int] = []

    class Matcher:
        def __getattr__(self, name: str) -> Any:
            return getattr(matcher, name)

        def allowed_mask(self) -> Any:
            calls.append(1)
            if len(calls) > after:
                raise error
            return matcher.allowed_mask()

    matcher, held._matcher = held._matcher, Matcher()
    answer: Any = llama.create_completion(PROMPT, logits_processor=held, max_tokens=50, temperature=0.0, stream=stream)
    pieces = [piece["choices"][0] for piece in answer] if stream else [answer["choices"][0]]
    written = len(llama.tokenize("".join(piece["text"] for piece in pieces).encode(), add_bos=False))
    if written > after or pieces[-1]["finish_reason"] != "stop":
        return f"the text went on: {pieces}"
    held.check()
    return pieces


def deep(llama: Llama, stream: bool) -> object:
    """A text whose sampler fails under way, since its stack may not become so deep: it must end there, and raise."""
    grammar = pdacon.Grammar.from_lark('start: "((" start "]" | "x"')
    constraint = pdacon.compile(grammar, vocabulary(llama), limits=Limits(depth=12))
    bias = dict.fromkeys(llama.tokenize(b"((", add_bos=False), 100.0)
    answer = complete(llama, PROMPT, constraint, logit_bias=bias, temperature=0.0, max_tokens=60, stream=stream)
    return list(answer) if stream else answer


def processed(llama: Llama, asked: Asked, asker: Asker) -> str:
    """What comes of a request by logits processors."""
    held = hold(llama, asker.constraint(asked.outputs))
    options: dict[str, Any] = {"max_tokens": MAX_TOKENS, "temperature": asked.temperature, "seed": asked.seed}
    choice = llama.create_completion(PROMPT, logits_processor=held, **options)["choices"][0]
    held.check()
    return verdict(asked, choice["text"], choice["finish_reason"])


def sampled(llama: Llama, asked: Asked, asker: Asker) -> str:
    """What comes of a request in a chain of one's own, half of it by a clone of the chain."""
    chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
    llama_cpp.llama_sampler_chain_add(chain, sampler(llama, asker.constraint(asked.outputs)))
    llama_cpp.llama_sampler_chain_add(chain, llama_cpp.llama_sampler_init_top_k(40))
    llama_cpp.llama_sampler_chain_add(chain, llama_cpp.llama_sampler_init_dist(asked.seed))
    llama.reset()
    llama.eval(llama.tokenize(PROMPT.encode()))
    tokens: list[int] = []
    ending = "length"
    while len(tokens) < MAX_TOKENS:
        token = llama_cpp.llama_sampler_sample(chain, llama.ctx, -1)
        if llama_cpp.llama_vocab_is_eog(llama._model.vocab, token):
            ending = "stop"
            break
        tokens.append(token)
        llama.eval([token])
        if len(tokens) == 3:
            twin = llama_cpp.llama_sampler_clone(chain)
            llama_cpp.llama_sampler_free(chain)
            chain = twin
    check_sampler(llama_cpp.llama_sampler_chain_get(chain, 0))
    llama_cpp.llama_sampler_free(chain)
    return verdict(asked, llama.detokenize(tokens).decode(errors="ignore"), ending)


def twice(llama: Llama) -> object:
    """One constraint for two texts."""
    held = hold(llama, "json")
    llama.create_completion(PROMPT, logits_processor=held, max_tokens=5)
    llama.create_completion("Another text", logits_processor=held, max_tokens=5)
    held.check()
    return held


def in_c(llama: Llama, model: Path) -> str:
    """What comes of the example in C, which is built against the llama.cpp that is installed; it writes a JSON text."""
    package, built = Path(llama_cpp.__file__).parent, model.with_name("llama_sampler")
    constraint = model.with_name("json.pda")
    pdacon.compile("json", vocabulary(llama)).save(constraint)
    libraries = package / "lib", library().parent
    command = ["cc", "-std=c99", EXAMPLE, f"-I{package.parent / 'include'}", f"-I{include_folder()}"]
    command += [f"{word}{folder}" for folder in libraries for word in ("-L", "-Wl,-rpath,")]
    subprocess.run([*command, "-lllama", "-lpdacon", "-o", built], check=True)
    done = subprocess.run([built, model, constraint, PROMPT], capture_output=True, text=True)
    try:
        json.loads(done.stdout)
    except ValueError:
        return f"{done.stdout!r}, {done.stderr!r}"
    other = subprocess.run([built, model, __file__, PROMPT], capture_output=True, text=True)
    return "valid" if not done.returncode and other.returncode and "artifact" in other.stderr else f"{done}, {other}"


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
        whole = [one for one in requests(count // 2, 2) if one.way == "whole"]
        others = {
            "with drafts": Counter(Asker(drafting).ask(one) for one in requests(count // 4, 3)),
            "in a chain of one's own": Counter(sampled(llama, one, asker) for one in whole),
            "in C": Counter([in_c(llama, path)]),
            "by logits processors": Counter(processed(llama, one, asker) for one in whole),
        }
        raised = Counter(
            [
                fails("processors with drafts", ValueError, lambda: hold(drafting, "json")),
                fails("logit_bias beside processors", TypeError, lambda: llama.create_completion(
                    PROMPT, logits_processor=hold(llama, "json"), logit_bias={5: 1.0})),
                fails("two texts", pdacon.MatcherError, lambda: twice(llama)),
                fails("no text", pdacon.MatcherError, lambda: hold(llama, "json").check()),
                *(fails(f"{error!r}", type(error), lambda e=error, s=stream: broken(llama, e, 3, s))
                  for error in (RuntimeError("x"), KeyboardInterrupt()) for stream in (False, True)),
                *(fails("a deep stack", pdacon.LimitExceededError, lambda s=stream: deep(llama, s))
                  for stream in (False, True)),
            ]
        )  # fmt: skip
        again = Counter(asker.ask(one) for one in requests(10, 2) if one.way != "cancel")
    good = set(refusals) == {"refused"} and set(raised) == {"raised"} and set(again) <= {"valid", "cut"}
    good &= all(set(found) <= {"valid", "cut", "left"} for found in (results, *others.values()))
    print(f"{count} requests: {dict(results)}; {len(said)} bad ones: {dict(refusals)}; failures: {dict(raised)}")
    print("  " + "; ".join(f"{way}: {dict(found)}" for way, found in others.items()))
    print(f"  afterwards {dict(again)}; {took:.1f} s of CPU time for the requests")
    print("all as it has to be" if good else "NOT as it has to be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
