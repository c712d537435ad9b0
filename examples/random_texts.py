"""Feed a parser with random texts of its grammar.

pip install . && python examples/random_texts.py
"""

from itertools import islice

import lark

import pdacon
from pdacon.front.sampling import sample

GRAMMAR = r"""
start: assignment+
assignment: NAME "=" sum ";"
?sum: product | sum "+" product
?product: atom | product "*" atom
?atom: NUMBER | NAME | "(" sum ")"
NAME: /[a-z_]+/
NUMBER: /[0-9]+/
%ignore " "
"""


def main() -> None:
    every_byte = pdacon.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])
    constraint = pdacon.compile(pdacon.Grammar.from_lark(GRAMMAR), every_byte)
    parser = lark.Lark(GRAMMAR, parser="lalr")  # the parser under test
    names = 0
    for number, text in enumerate(islice(sample(constraint, 1, size=80), 200)):
        tree = parser.parse(text)
        names += sum(token.type == "NAME" for token in tree.scan_values(lambda value: True))
        if number < 5:
            print(text)
    print(f"200 texts parsed, with {names} names")


if __name__ == "__main__":
    main()
