"""What a key costs in the playground: CPU milliseconds until the next tokens of the new grammar, and until all of it.

Run as ``python tests/benchmarks/playground_keys.py [NAME...]``, of built-in grammars that the page has as examples. One
terminal more at the end of the grammar is the key; the text is the example's. Least of eight, and of a key in the text.
"""

from __future__ import annotations

import gc
import sys
from threading import Event
from time import thread_time

from pdacon import Vocabulary
from pdacon.grammar.builtin import builtin_source
from pdacon.playground.answers import Answers
from pdacon.playground.examples import EXAMPLES
from pdacon.playground.sources import Source

ROUNDS = 8


def main(names: list[str]) -> None:
    """Print a line for each grammar."""
    answers = Answers({"bytes": Vocabulary.bytes()})
    gc.freeze()
    for example in (one for one in EXAMPLES if one.builtin in names):
        first, whole, text_key = [], [], []
        for key in range(ROUNDS):
            changed = f'{builtin_source(example.builtin)[0]}\nADDED_{key}: "{key}"\n'
            source = Source(changed, "lark", builtin=example.builtin)

            def spent(topic: str, text: str, source: Source = source) -> float:
                asked = {"tokenizer": "bytes", "text": text, "wanted": "", "most": 0}
                begin = thread_time()
                assert "text" in answers.answer(topic, asked, source, Event())
                return 1000 * (thread_time() - begin)

            first.append(spent("mask", example.text))
            whole.append(first[-1] + spent("look", example.text))
            text_key.append(spent("look", example.text[:-1]))
        print(f"{example.builtin}: masks {min(first):.0f}, all {min(whole):.0f}; a key in the text {min(text_key):.0f}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["json", "sql", "python"])
