"""Write a grammar, constrain a model to it, and step through a text by hand.

pip install '.[huggingface]' && python examples/own_grammar.py
"""

import pdacon
from pdacon.integrations.huggingface import PDALogitsProcessor, load_tiny

GRAMMAR = r"""
start: order (", " order)* "."
order: COUNT " " (SIZE " ")? DRINK
COUNT: /[1-9]/
SIZE: "small" | "large"
DRINK: "tea" | "coffee" | "water"
"""


def main() -> None:
    grammar = pdacon.Grammar.from_lark(GRAMMAR)
    print(pdacon.check(grammar).render())
    print("some sentences:", *grammar.sample(3, seed=1))

    model, tokenizer = load_tiny()
    constraint = pdacon.compile(grammar, tokenizer=tokenizer, model=model)

    # Inside a model's own loop.
    # (No %ignore here: a model that may write spaces for ever sometimes does.)
    inputs = tokenizer(["Two guests: ", "A party of five orders: "], return_tensors="pt", padding=True)
    output = model.generate(
        **inputs, max_new_tokens=40, do_sample=False, logits_processor=[PDALogitsProcessor(constraint)]
    )
    for row in output[:, inputs.input_ids.shape[1] :]:
        print("model:", tokenizer.decode(row, skip_special_tokens=True))

    # Step by step: what may come next, and the shortest way out.
    matcher = constraint.matcher()
    assert matcher.accept("2 l")
    tokens = constraint.vocabulary.tokens
    print("after '2 l':", sorted(tokens[token] for token in matcher.allowed_tokens()))
    print("shortest way to the end:", matcher.completion())
    print(matcher.explain("emonade").reason)


if __name__ == "__main__":
    main()
