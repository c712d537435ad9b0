"""Search for the most probable texts of a grammar: beam search, and what it finds beside greedy decoding.

pip install '.[huggingface]' && python examples/beams.py
"""

import pdacon
from pdacon.integrations.huggingface import generate, load_tiny, vocabulary

GRAMMAR = r"""
start: "{" pair (", " pair)~0..3 "}"
pair: KEY ": " value
value: STRING | NUMBER
KEY: /"[a-z_]{2,12}"/
STRING: /"[A-Za-z ]{1,20}"/
NUMBER: /0|[1-9][0-9]{0,3}/
"""
PROMPT = "Describe a person as JSON:"


def main() -> None:
    model, tokenizer = load_tiny()
    constraint = pdacon.compile(pdacon.Grammar.from_lark(GRAMMAR), vocabulary(model, tokenizer))

    (greedy,) = generate(model, tokenizer, PROMPT, grammar=constraint, temperature=0, max_tokens=80)
    print("greedy: ", greedy.text)
    for found in generate(
        model, tokenizer, PROMPT, grammar=constraint, num_beams=5, num_return_sequences=3, max_tokens=80
    ):
        print("beam:   ", found.text)
    for found in generate(
        model, tokenizer, PROMPT, grammar=constraint, num_beams=5, temperature=1.0, seed=0, max_tokens=80
    ):
        print("sampled:", found.text)


if __name__ == "__main__":
    main()
