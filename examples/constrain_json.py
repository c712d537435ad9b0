"""Ask a model for JSON, several prompts at a time, and parse what it answers.

pip install '.[huggingface]' && python examples/constrain_json.py
"""

import pdacon
from pdacon.integrations.huggingface import load_tiny

PROMPTS = ["Describe a person as JSON:", "Write a city as JSON:", "JSON for a recipe:"]


def main() -> None:
    model, tokenizer = load_tiny()
    objects = pdacon.Grammar.builtin("json_dumps", start="object")
    write = pdacon.Generator(model, tokenizer, objects, max_new_tokens=400)
    answers = write(PROMPTS, seed=1)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        if answer.complete:
            print(f"{prompt} {', '.join(answer.value)}")
        else:  # the tokens came to their end first: say what is missing instead of parsing half a text
            matcher = write.constraint.matcher()
            matcher.accept(answer.text)
            print(f"{prompt} cut off; {matcher.completion()!r} would end it")


if __name__ == "__main__":
    main()
