"""What a constraint says that it holds, against what the process grows by."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

import pdacon

PROGRAM = """
import ctypes, gc, json, re, sys, tempfile
from pathlib import Path
from random import Random
import pdacon
from pdacon.front import stages

words = pdacon.Vocabulary.from_tokens([*(bytes([b]) for b in range(256)),
    *(f"{a}{b}{c}".encode() for a in "aeimnr_ " for b in "abcdefghilmnoprst" for c in "aeiou1"), None], [1072])
trim = getattr(ctypes.CDLL(None), "malloc_trim", None)


def taken():
    gc.collect()
    if trim is not None:
        trim(0)
    return int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024


def schema(number):
    random = Random(number)
    kinds = [
        {"type": "integer", "minimum": -random.randrange(100), "maximum": random.randrange(1000)},
        {"type": "string", "maxLength": random.randrange(1, 30)},
        {"enum": [f"v{random.randrange(100)}" for _ in range(random.randrange(2, 9))]},
        {"type": "array", "items": {"type": "number"}, "maxItems": random.randrange(1, 5)},
        {"type": "string", "pattern": f"^[a-z]{{{random.randrange(1, 6)}}}-[0-9]+$"},
        {"type": "object", "properties": {f"p{number}": {"type": "boolean"}, "q": {"type": "null"}}},
    ]
    members = {f"m{number}_{i}": random.choice(kinds) for i in range(random.randrange(1, 6))}
    return pdacon.Grammar.from_json_schema({"type": "object", "properties": members, "required": [*members][:2]})


def lark(number):
    names = " | ".join(f'"word{number}x{k}"' for k in range(40))
    return pdacon.Grammar.from_lark(
        f'start: (pair | call)+\\npair: NAME "=" value ";"\\ncall: NAME "(" [value ("," value)*] ")" ";"\\n'
        f'value: NAME | NUMBER | call | "[" value* "]" | KEY\\nKEY: {names}\\nNAME.-1: /[a-z]+_{number}/\\n'
        'NUMBER: /[0-9]+/\\n%ignore " "\\n'
    )


def used(constraint):
    matcher = constraint.matcher()
    while not matcher.is_accepting() and matcher._length() < 200:
        matcher.accept(matcher.shortest_completion()[:1])
        matcher.mask_id()
    return constraint


def compiled(make, numbers):
    return [used(pdacon.compile(make(number), words)) for number in numbers]


def loaded(make, numbers):
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for number in numbers:
            path = Path(folder) / str(number)
            path.write_bytes(files[number])
            found.append(used(pdacon.Constraint.load(path, words)))
    return found


stages._keep = lambda *_: None  # what is kept of the last texts for other vocabularies is no constraint's
make, how = {"schema": schema, "lark": lark}[sys.argv[1]], sys.argv[2]
count = int(sys.argv[3])
files = {}
if how == "loaded":
    files = {n: pdacon.compile(make(n), words).to_bytes() for n in range(2 * count)}
ways = compiled if how == "compiled" else loaded
before = ways(make, range(count))  # what all need once is there then
start = taken()
kept = ways(make, range(count, 2 * count))
end = taken()
print(json.dumps([end - start, sum(one.nbytes for one in kept)]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read as Linux tells it")
@pytest.mark.parametrize(
    ("kind", "how", "count"), [("schema", "compiled", 100), ("lark", "compiled", 25), ("schema", "loaded", 100)]
)
def test_nbytes_is_what_a_process_grows_by(kind: str, how: str, count: int) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, kind, how, str(count)]
    grown, counted = eval(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert counted == pytest.approx(grown, rel=0.15)


def test_a_grammar_that_was_asked_is_let_go() -> None:
    def asked() -> list[weakref.ref[pdacon.Grammar]]:
        inner = pdacon.Grammar.from_lark('start: "a"+ "b"')
        outer = pdacon.Grammar.compose('start: "<" inner ">"', inner=inner)
        assert outer.accepts("<ab>")
        assert inner.accepts("ab")
        assert pdacon.compile(outer, pdacon.Vocabulary.bytes()).parse("<aab>").children
        assert len(inner.sample(3, seed=1)) == 3
        return [weakref.ref(inner), weakref.ref(outer)]

    left = asked()
    gc.collect()
    assert [grammar() for grammar in left] == [None, None]
