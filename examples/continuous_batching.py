"""A server's loop in small: requests with grammars of their own share the steps of one model.

pip install '.[huggingface]' && python examples/continuous_batching.py
"""

from transformers import ContinuousBatchingConfig, GenerationConfig

import pdacon
from pdacon.integrations.huggingface import constrain, load_tiny, vocabulary

GRAMMARS = {
    "json": pdacon.Grammar.builtin("json"),
    "arithmetic": pdacon.Grammar.builtin("arithmetic"),
    "yes or no": pdacon.Grammar.from_lark('start: "yes" | "no"'),
}
PROMPTS = {
    "json": ["Describe a person as JSON:", "Write an order as JSON:"],
    "arithmetic": ["Write an arithmetic expression:"],
    "yes or no": ["Is this a question?"],
}


def main() -> None:
    model, tokenizer = load_tiny()
    words = vocabulary(model, tokenizer)
    settings = GenerationConfig(
        max_new_tokens=300, do_sample=True, temperature=0.7, eos_token_id=tokenizer.eos_token_id
    )
    # On a GPU transformers finds out by itself how much memory there is.
    memory = ContinuousBatchingConfig(num_blocks=32, max_batch_tokens=128, seed=0)
    manager = model.init_continuous_batching(settings, memory)
    constrain(manager, {name: pdacon.compile(grammar, words) for name, grammar in GRAMMARS.items()})
    manager.start()
    try:
        names = {}
        for name, prompts in PROMPTS.items():
            for prompt in prompts:
                names[manager.add_request(tokenizer(prompt)["input_ids"], constraint=name)] = name
        for _ in range(len(names)):
            result = manager.get_result(timeout=120)
            if result is None or result.error is not None:
                raise SystemExit(f"no answer: {result and result.error}")
            text = tokenizer.decode(result.generated_tokens, skip_special_tokens=True)
            print(f"{names[result.request_id]}: {text}")
    finally:
        manager.stop()


if __name__ == "__main__":
    main()
