"""Find out why a text is refused: where, what was expected there, and what the parser had read.

pip install . && python examples/refused_token.py
"""

import pdacon

GRAMMAR = r"""
start: "on" date ("at" time)?
date: DAY MONTH
time: HOUR ":" MINUTE
DAY: /[1-9]|[12][0-9]|3[01]/   // wrong: the first alternative that matches wins, so 12 is a 1
MONTH: "March" | "May"
HOUR: /[01][0-9]|2[0-3]/
MINUTE: /[0-5][0-9]/
%ignore " "
"""


def main() -> None:
    grammar = pdacon.Grammar.from_lark(GRAMMAR)
    every_byte = pdacon.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])
    matcher = pdacon.compile(grammar, every_byte).matcher()

    why = matcher.explain(b"on 12 May")
    print(why)
    assert not why.allowed
    assert why.expected == ("MONTH", '" "')

    repaired = pdacon.Grammar.from_lark(GRAMMAR.replace("/[1-9]|[12][0-9]|3[01]/", "/[12][0-9]|3[01]|[1-9]/"))
    print()
    print(pdacon.compile(repaired, every_byte).matcher().explain(b"on 12 May"))


if __name__ == "__main__":
    main()
