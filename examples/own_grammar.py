"""Write a grammar, constrain a model to it, and step through a text by hand.

pip install '.[huggingface]' && python examples/own_grammar.py
"""

import numpy as np

import pdacon
from pdacon.integrations.huggingface import PDALogitsProcessor, load_tiny, vocabulary

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

    model, tokenizer = load_tiny()
    words = vocabulary(model, tokenizer)
    constraint = pdacon.compile(grammar, words)

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
    bitmask = np.zeros((1, (len(words) + 31) // 32), np.int32)
    assert matcher.accept_bytes(b"2 l")
    matcher.fill_bitmask(bitmask)
    allowed = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little"))
    print("after '2 l':", sorted(words.tokens[token] for token in allowed))
    print("shortest way to the end:", matcher.shortest_completion().decode())


if __name__ == "__main__":
    main()
