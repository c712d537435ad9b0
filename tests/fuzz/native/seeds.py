"""Artifacts for the search to begin with: small grammars with everything that a file can hold.

python tests/fuzz/native/seeds.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from composition.artifacts.sample import BlockIndenter, written
from lark.indenter import Indenter

import pdacon

_TOKENS = (b"a", b"b", b"c", b" ", b"\n", b"(", b")", b",", b"1", b"ab", b"\n  ", b"a ", None)
_LAYOUT = "%declare _INDENT _DEDENT\n"
GRAMMARS: tuple[tuple[str, Indenter | None], ...] = (
    ('start: "a"', None),
    ('start: "(" [start ("," start)*] ")" | "a"', None),
    ('start: (NAME | NUMBER)+\nNAME: /[ab]+/\nNUMBER: /1+(?:,1+)?/\n%ignore " "', None),
    ('start: (KEY | NAME)+\nKEY: "ab"\nNAME: /[abc]+(?!1)/\n%ignore /[ \\n]+/', None),
    ('start: (A B | C)+\nA: "a"\nB: /b(?=c)/\nC: /c{1,3}/', None),
    ('start: item+\nitem: "a" _NL [_INDENT item+ _DEDENT]\n_NL: /\\n */\n' + _LAYOUT, BlockIndenter()),
    ('start: item+\nitem: "a" _NL [_INDENT item+ _DEDENT]\n_NL: /\\n {0,3}/\n' + _LAYOUT, BlockIndenter()),
    (
        'start: item+\nitem: ("a" | LPAR "b"+ RPAR) _NL [_INDENT item+ _DEDENT]\n_NL: /\\n *(,1*\\n *)*/\n'
        'LPAR: "("\nRPAR: ")"\n%ignore " "\n' + _LAYOUT,
        BlockIndenter(),
    ),
)


def seeds() -> list[bytes]:
    """The sample's file, and each grammar's before there is a mask, with all masks, and with those of a walk."""
    found = [written()]
    vocabulary = pdacon.Vocabulary.from_tokens(_TOKENS, eos_ids=[len(_TOKENS) - 1])
    for text, postlex in GRAMMARS:
        grammar = pdacon.Grammar.from_lark(text, postlex=postlex, conflicts="shift")
        for eager in (False, True):
            constraint = pdacon.compile(grammar, vocabulary, eager=eager)
            found.append(constraint.to_bytes())
        matcher = constraint.matcher()
        matcher.accept_bytes(matcher.shortest_completion())
        matcher.mask_id()
        found.append(constraint.to_bytes())
    labelled = pdacon.Grammar.from_lark('start: (IMAGE | "a")+\nIMAGE: /(?P<IMAGE>)/', extensions=True)
    found.append(pdacon.compile(labelled, vocabulary.with_labels(IMAGE=[10, 11]), eager=True).to_bytes())
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for number, data in enumerate(seeds()):
        (folder / f"artifact-{number:02}").write_bytes(data)
