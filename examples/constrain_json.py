"""Ask a model for JSON, several prompts at a time, and parse what it answers.

pip install '.[huggingface]' && python examples/constrain_json.py
"""

import json

import pdacon
from pdacon.integrations.huggingface import generate, load_tiny, vocabulary

PROMPTS = ["Describe a person as JSON:", "Write a city as JSON:", "JSON for a recipe:"]


def main() -> None:
    model, tokenizer = load_tiny()
    grammar = pdacon.Grammar.builtin("json", start="object")
    constraint = pdacon.compile(grammar, vocabulary(model, tokenizer))
    answers = generate(model, tokenizer, PROMPTS, constraint=constraint, seed=1, max_tokens=400)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        if answer.complete:
            print(f"{prompt} {', '.join(json.loads(answer.text))}")
        else:  # the token budget came first: say what is missing instead of parsing half a text
            matcher = constraint.matcher()
            matcher.accept_bytes(answer.text.encode())
            print(f"{prompt} cut off; {matcher.shortest_completion()!r} would end it")


if __name__ == "__main__":
    main()
