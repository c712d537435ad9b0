"""The constraint of the artifact that is checked in, and what writes it and its layout.

python tests/composition/artifacts/sample.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from lark.indenter import Indenter

import pdacon

HERE = Path(__file__).resolve().parent
STARTS = ("start", "value")
# Something of all that has a section of its own: blocks, parentheses, keywords, a text that is lexed again, two starts.
GRAMMAR = r"""
start: (line | block)+
block: "if" value ":" _NL _INDENT (line | block)+ _DEDENT
line: "let" NAME "=" value _NL
value: NUMBER | NAME | "(" value ("," value)* ")" | COMMENT
NUMBER: /[0-9]+(\.[0-9]+)?/
NAME: /[a-z]+(?!!)/
COMMENT: /#[^#]{1,3}#/
_NL: /\n */
LPAR: "("
RPAR: ")"
%declare _INDENT _DEDENT
%ignore " "
"""
TEXTS = {"start": b"let a = 1\nif b:\n  let c = (d, 2.5)\nlet e = f\n", "value": b"(a, 12)"}


class BlockIndenter(Indenter):
    """With parentheses, tabs of four columns."""

    NL_type = "_NL"
    OPEN_PAREN_types = ["LPAR"]  # noqa: RUF012 (as in Lark's documentation)
    CLOSE_PAREN_types = ["RPAR"]  # noqa: RUF012
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 4


def compiled() -> pdacon.Constraint:
    """The constraint, with no mask but the first."""
    grammar = pdacon.Grammar.from_lark(GRAMMAR, start=STARTS, postlex=BlockIndenter())
    tokens = [bytes([byte]) for byte in range(256)]
    words = [b"let ", b"if", b"ab", b"\n  ", b"\n    ", b"12", b", "]
    vocabulary = pdacon.Vocabulary.from_tokens([*tokens, *words, None], eos_ids=[256 + len(words)])
    return pdacon.compile(grammar, vocabulary)


def written() -> bytes:
    """Its file, with the masks of a text for each start, so that some are stored and some are not."""
    constraint = compiled()
    for start, text in TEXTS.items():
        matcher = constraint.matcher(start)
        for byte in text:
            matcher.mask_id()
            assert matcher.accept_token(byte)
    return constraint.to_bytes()


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parents[1]))
    from composition.artifacts.layout import layout

    data = written()
    (HERE / "sample.pda").write_bytes(data)
    (HERE / "layout.txt").write_text(layout(data), encoding="utf-8")
