"""How many drafted tokens the tiny model accepts, and in how many passes it writes, with a constraint and without.

Run as ``python tests/benchmarks/speculation.py``; prints the table in docs/decoding.md. Greedy, so that all ways write
the same texts: `PROMPTS` each twice, 48 tokens at most.
"""

from __future__ import annotations

from typing import Any

from transformers.generation.candidate_generator import AssistedCandidateGenerator, PromptLookupCandidateGenerator

import pdacon
from pdacon.integrations.huggingface import Draft, generate, load_tiny

PROMPTS = [
    "Describe a person as JSON:",
    'Describe a person as JSON: {"name": "Anna", "age": 30}',
    "A list of numbers as JSON: [1, 2, 3]",
    "Write an arithmetic expression:",
]
_NUMBER = 10  # of drafted tokens

counted = {"drafted": 0, "accepted": 0, "passes": 0}


def count(kind: Any) -> None:
    """Count what a generator of candidates drafts, and how much of it is kept."""
    plain, update = kind.get_candidates, kind.update_candidate_strategy

    def get_candidates(self: Any, input_ids: Any, **options: Any) -> Any:
        found = plain(self, input_ids, **options)
        self.drafted = found[0].shape[1] - input_ids.shape[1]
        counted["drafted"] += self.drafted
        return found

    def update_candidate_strategy(self: Any, input_ids: Any, scores: Any, matches: int) -> None:
        counted["accepted"] += min(int(matches), self.drafted)
        counted["passes"] += 1
        update(self, input_ids, scores, matches)

    kind.get_candidates, kind.update_candidate_strategy = get_candidates, update_candidate_strategy


def main() -> None:
    model, tokenizer = load_tiny()
    made = pdacon.compile("json_dumps", tokenizer=tokenizer, model=model)
    free = None
    for kind in (PromptLookupCandidateGenerator, AssistedCandidateGenerator):
        count(kind)
    ways: list[tuple[str, Any, dict[str, Any]]] = [
        ("prompt lookup", free, {"prompt_lookup_num_tokens": _NUMBER}),
        ("prompt lookup", made, {"prompt_lookup_num_tokens": _NUMBER}),
        ("the model as its own assistant", free, {"assistant_model": model}),
        ("the model as its own assistant", made, {"assistant_model": model}),
        ("`Draft(constraint, tokenizer)`", made, {"draft": Draft(made, tokenizer, most=_NUMBER)}),
        ("`Draft(..., samples=200)`", made, {"draft": Draft(made, tokenizer, most=_NUMBER, samples=200)}),
    ]
    for name, constraint, options in ways:
        counted.update(dict.fromkeys(counted, 0))
        tokens = 0
        for prompt in PROMPTS * 2:
            answer = generate(model, tokenizer, prompt, grammar=[constraint], temperature=0, max_tokens=48, **options)
            tokens += len(answer.token_ids)
        draft = options.get("draft")
        found = counted if draft is None else {one: getattr(draft, one) for one in counted}
        share = found["accepted"] / max(found["drafted"], 1)
        rule = "none" if constraint is None else "json_dumps"
        print(f"| {name} | {rule} | {found['drafted']} | {share:.0%} | {tokens / found['passes']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
