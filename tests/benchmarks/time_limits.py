"""Hostile inputs at every door, under a limit of time: what each takes, and by how much it is over.

    python tests/benchmarks/time_limits.py [--seconds 1] [--most 30] [PART OF A NAME ...]

Limit and overrun are CPU time of the thread that works, so that what else the machine does is not counted. Each case
runs in a process of its own, which ends after ``--most`` seconds of CPU time. Ends with 1 if an overrun is more than
10 % of the limit and more than 0.1 s.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import random
import resource
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import pdacon
from pdacon import Grammar, Limits, RegularSet, Spelling, Vocabulary
from pdacon.base.cancelling import Watch

MANY = Limits(states=50_000_000)  # so that it is the time that ends


@lru_cache
def small_tokenizer() -> Any:
    from transformers import AutoTokenizer  # here, since the other cases do without

    return AutoTokenizer.from_pretrained(Path(pdacon.__file__).parent / "models" / "tiny")


def every_byte() -> Vocabulary:
    return Vocabulary.bytes()


def chosen_words(count: int, length: int) -> list[str]:
    letters = random.Random(5)
    return ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=length)) for _ in range(count)]


NESTED = 'root ::= (("a" | "b"){0,400}){0,400}'
DEEP_NESTED = 'root ::= (("a" | "b"){0,1000}){0,1000}'
FOUR_LONG = "root ::= a b c d\n" + "\n".join(f'{name} ::= ("{name}" | "x"){{0,2000}}' for name in "abcd")
KNOT = """e ::= "" | [a] (root{2,} ) "a"
x1 ::= "aba" [^ab] | "b" "ba" | e "a" [b]{2} | root{0,3} e
root ::= "aa"{2,} [ab] (( x1{2,} x1 | [ab]{1,3} )? [b] | "aab" "a" ) | "b"? [^a]{0,4} root{1,4} x1{0,3} | [a-b] e{2,4}
"""


def compile_whole(schema: dict[str, Any]) -> object:
    return pdacon.compile(Grammar.from_json_schema(schema), every_byte(), eager=True)


LOOK_AHEADS = "start: A\nA: /" + "".join(f"(?=.*{chr(97 + k)})" for k in range(12)) + ".+/"
ENUMS: dict[str, Any] = {"enum": [f"{number:x}" for number in range(40_000)]}
PATTERNS: dict[str, Any] = {
    "anyOf": [{"type": "string", "pattern": f"^(a|b)*{'ab'[k % 2]}(a|b){{{k}}}$"} for k in range(14)]
}
OPTIONAL: dict[str, Any] = {
    "type": "object",
    "properties": {f"member{k}": {"type": "integer"} for k in range(12)},
    "additionalProperties": False,
}


def nested_schema(depth: int) -> dict[str, Any]:
    """Alternatives of negations of alternatives."""
    schema: dict[str, Any] = {"type": "string", "pattern": "^(a|b)*a(a|b){5}$"}
    for k in range(depth):
        schema = {"anyOf": [{"not": schema}, {"type": "string", "pattern": f"^[a-z]*{k}[a-z]*$"}]}
    return schema


def named_alike(count: int) -> dict[str, Any]:
    """Members whose names many patterns may match at once, each with an automaton of its own."""
    return {"type": "object", "patternProperties": {f"^[a-z]*{k}[a-z]*$": {"maximum": k} for k in range(count)}}


def read(schema: Any, text: str) -> None:
    """Every mask along a text, on demand."""
    matcher = pdacon.compile(Grammar.from_json_schema(schema), every_byte()).matcher()
    for byte in text.encode():
        matcher.allowed_mask()
        if not matcher.accept_token(byte):
            return


def complete(schema: Any) -> bytes:
    """What only the whole automaton answers."""
    return pdacon.compile(Grammar.from_json_schema(schema), every_byte()).matcher().shortest_completion()


def chained_gbnf(count: int) -> str:
    return "\n".join(['root ::= r0 "."', *(f'r{k} ::= "a" r{k + 1} | "b"' for k in range(count)), f'r{count} ::= "c"'])


def chained_lark(count: int) -> str:
    return "\n".join(["start: r0", *(f'r{k}: "a" r{k + 1}' for k in range(count)), f'r{count}: "c"'])


def crossed_terminals(count: int) -> str:
    lines = [f"T{k}: /[a-z]*{k}[a-z]*/" for k in range(count)]
    return "start: " + " | ".join(f"T{k}" for k in range(count)) + "\n" + "\n".join(lines)


def many_rules(count: int) -> str:
    rules = [f'r{k}: "a{k}" r{(7 * k + 1) % count} | "b{k}" r{(11 * k + 3) % count} "c" | "d{k}"' for k in range(count)]
    return "start: r0\n" + "\n".join(rules)


CASES: dict[str, Callable[[], object]] = {
    "from_gbnf {0,400} nested": lambda: Grammar.from_gbnf(NESTED),
    "from_gbnf {0,1000} nested": lambda: Grammar.from_gbnf(DEEP_NESTED),
    "from_gbnf four of {0,2000}": lambda: Grammar.from_gbnf(FOUR_LONG),
    "from_gbnf 20,000 chained rules": lambda: Grammar.from_gbnf(chained_gbnf(20_000)),
    "from_gbnf 5,000 chained rules": lambda: Grammar.from_gbnf(chained_gbnf(5_000)),
    "from_gbnf a literal of 300,000": lambda: Grammar.from_gbnf('root ::= "' + "ab" * 150_000 + '"'),
    "from_gbnf 20,000 alternatives": lambda: Grammar.from_gbnf(
        "root ::= " + " | ".join(f'"{word}"' for word in chosen_words(20_000, 8))
    ),
    "from_gbnf 300,000 brackets": lambda: Grammar.from_gbnf("root ::= " + "(" * 300_000 + '"a"' + ")" * 300_000),
    "from_gbnf unions of rules": lambda: Grammar.from_gbnf(
        "root ::= "
        + " ".join(f"(a{k} | b{k})" for k in range(1_000))
        + "\n"
        + "\n".join(f'a{k} ::= [a-z]* "{k}"\nb{k} ::= [a-z]* "x{k}"' for k in range(1_000))
    ),
    "from_gbnf (a|b)* a (a|b){30}": lambda: Grammar.from_gbnf('root ::= [ab]* "a" [ab]{30}'),
    "from_ebnf the knot": lambda: Grammar.from_ebnf(KNOT),
    "from_ebnf 20,000 chained rules": lambda: Grammar.from_ebnf(chained_gbnf(20_000)),
    "from_ebnf {0,1000} nested": lambda: Grammar.from_ebnf(DEEP_NESTED),
    "from_llguidance 5,000 chained rules": lambda: Grammar.from_llguidance(chained_lark(5_000)),
    "from_llguidance {0,1000} nested": lambda: Grammar.from_llguidance(
        'start: ((A | B){0,1000}){0,1000}\nA: "a"\nB: "b"'
    ),
    "from_llguidance terminal {0,2000} nested": lambda: Grammar.from_llguidance(
        'start: A\nA: (("a" | "b"){0,2000}){0,2000}'
    ),
    "from_llguidance 40 conjunctions": lambda: Grammar.from_llguidance(
        "start: T\nT: " + " & ".join(f"/(a|b)*{'a' if k % 2 else 'b'}(a|b){{{k}}}/" for k in range(8, 40))
    ),
    "from_llguidance %json of 3,000 keys": lambda: Grammar.from_llguidance(
        'start: %json {"type": "object", "properties": {'
        + ", ".join(f'"{word}": {{"type": "string"}}' for word in chosen_words(3_000, 8))
        + "}}"
    ),
    "from_lark 20,000 chained rules": lambda: Grammar.from_lark(chained_lark(20_000)),
    "from_lark 5,000 rules": lambda: Grammar.from_lark(many_rules(5_000)),
    "from_lark ~0..2000 of two": lambda: Grammar.from_lark('start: a~0..2000 a~0..2000\na: "a" | "b"'),
    "from_lark ~0..400 nested": lambda: Grammar.from_lark('start: (("a"|"b")~0..400)~0..400'),
    "from_lark 16 optional parts": lambda: Grammar.from_lark("start: " + " ".join(f'"{k}"?' for k in range(16))),
    "from_lark 20,000 alternatives": lambda: Grammar.from_lark(
        "start: " + " | ".join(f'"{word}"' for word in chosen_words(20_000, 8))
    ),
    "from_lark 10,000 terminals": lambda: Grammar.from_lark(crossed_terminals(10_000)),
    "from_regex (a|b)*a(a|b){30}": lambda: Grammar.from_regex("(a|b)*a(a|b){30}", limits=MANY),
    "from_regex nested counts": lambda: Grammar.from_regex("((a{0,300}b){0,300}c){0,300}", limits=MANY),
    "from_regex 300,000 letters": lambda: Grammar.from_regex("ab" * 150_000),
    "from_regex 100,000 groups": lambda: Grammar.from_regex("(a)" * 100_000),
    "from_regex look-aheads": lambda: Grammar.from_regex("".join(f"(?=.*{chr(97 + k)})" for k in range(20)) + ".*"),
    "from_regex wide classes": lambda: Grammar.from_regex(r"(\w\W\d\D){2000}", limits=MANY),
    "from_choices 200,000 words": lambda: Grammar.from_choices(chosen_words(200_000, 12)),
    "from_choices one of 3,000,000": lambda: Grammar.from_choices(["ab" * 1_500_000]),
    "RegularSet.repeat(20_000)": lambda: RegularSet.from_regex("ab|c").repeat(20_000),
    "RegularSet.repeat(0, 20_000)": lambda: RegularSet.from_regex("ab|c").repeat(0, 20_000),
    "RegularSet.repeat(10**9)": lambda: RegularSet.from_regex("ab|c").repeat(10**9),
    "RegularSet.repeat(0, 10**9)": lambda: RegularSet.from_regex("ab|c").repeat(0, 10**9),
    "RegularSet.repeat of itself": lambda: RegularSet.from_regex("(a|b)*a(a|b){6}").repeat(50),
    "delimited_subsequence_of 3,000": lambda: RegularSet.delimited_subsequence_of(chosen_words(3_000, 6), ", "),
    "delimited_subsequence_of 300": lambda: RegularSet.delimited_subsequence_of(chosen_words(300, 6), ", "),
    "delimited_list of choices": lambda: RegularSet.delimited_list(
        RegularSet.from_choices(chosen_words(50_000, 10)), ", "
    ),
    "concatenation of 3,000 sets": lambda: RegularSet.from_regex("a*").concatenation(
        *(RegularSet.from_regex(f"[a-z]*{k}") for k in range(3_000))
    ),
    "union of 3,000 sets": lambda: RegularSet.from_regex("a*").union(
        *(RegularSet.from_regex(f"[a-z]*{k}[a-z]*") for k in range(3_000))
    ),
    "intersection of 14 sets": lambda: RegularSet.from_regex(".*").intersection(
        *(RegularSet.from_regex(f"(.{{{n}}})*") for n in (2, 3, 5, 7, 11, 13, 17, 19, 23))
    ),
    "complement of words": lambda: ~RegularSet.from_choices(chosen_words(100_000, 10)),
    "substring_of 1,000,000": lambda: RegularSet.substring_of("".join(chosen_words(1, 1_000_000))).automaton,
    "escaped": lambda: RegularSet.from_choices(chosen_words(50_000, 10)).escaped("json"),
    "text_until": lambda: RegularSet.text_until("ab" * 30_000),
    "count and strings": lambda: RegularSet.from_regex("(a|b){2000}").strings(30_000),
    "count": lambda: RegularSet.from_regex("(a|b|cd){20000}").count(),
    "subset": lambda: RegularSet.from_regex("(a|b)*a(a|b){14}") <= RegularSet.from_regex("(a|b)*b(a|b){14}"),
    "grammar & set": lambda: pdacon.compile(Grammar.builtin("json") & RegularSet.from_regex(".{0,3000}"), every_byte()),
    "structural tag of 500 tags": lambda: Grammar.from_structural_tag(
        {
            "type": "structural_tag",
            "format": {
                "type": "triggered_tags",
                "triggers": ["<f"],
                "tags": [
                    {
                        "type": "tag",
                        "begin": f"<f={word}>",
                        "content": {
                            "type": "json_schema",
                            "json_schema": {
                                "type": "object",
                                "properties": {name: {"type": "integer"} for name in chosen_words(20, 6)},
                            },
                        },
                        "end": "</f>",
                    }
                    for word in chosen_words(500, 8)
                ],
            },
        }
    ),
    "structural tag of regexes": lambda: Grammar.from_structural_tag(
        {
            "type": "structural_tag",
            "format": {
                "type": "sequence",
                "elements": [{"type": "regex", "pattern": f"(a|b)*a(a|b){{{k % 12}}}"} for k in range(300)],
            },
        }
    ),
    "structural tag of a GBNF": lambda: Grammar.from_structural_tag(
        {"type": "structural_tag", "format": {"type": "grammar", "grammar": DEEP_NESTED}}
    ),
    "compose 500 holes": lambda: Grammar.compose(
        "start: " + " ".join(f'"{k}:" h{k}' for k in range(500)),
        **{f"h{k}": Grammar.from_regex(f"[a-z]{{1,9}}{k}") for k in range(500)},
    ),
    "compose a large one": lambda: Grammar.compose('start: "(" h ")"', h=Grammar.from_lark(many_rules(1_000))),
    "escaped grammar": lambda: Grammar.from_lark(many_rules(1_000)).escaped("json"),
    "to_lark of a large one": lambda: Grammar.from_lark(many_rules(2_000)).to_lark(),
    "compile GBNF {0,400} nested": lambda: pdacon.compile(Grammar.from_gbnf(NESTED), every_byte()),
    "compile 100 nested": lambda: pdacon.compile(
        Grammar.from_gbnf('root ::= (("a" | "b"){0,100}){0,100}'), every_byte()
    ),
    "compile 5,000 rules": lambda: pdacon.compile(Grammar.from_lark(many_rules(3_000)), every_byte()),
    "compile 1,000 crossed terminals": lambda: pdacon.compile(
        Grammar.from_lark(crossed_terminals(1_000)), every_byte()
    ),
    "compile (a|b)*a(a|b){16}": lambda: pdacon.compile(
        Grammar.from_lark("start: A\nA: /(a|b)*a(a|b){16}/"), every_byte(), limits=MANY
    ),
    "compile look-aheads": lambda: pdacon.compile(Grammar.from_lark(LOOK_AHEADS), every_byte()),
    "compile nested counts": lambda: pdacon.compile(
        Grammar.from_lark("start: A\nA: /((a{0,90}b){0,90}c){0,90}d/"), every_byte(), limits=MANY
    ),
    "compile ambiguous expressions": lambda: pdacon.compile(
        Grammar.from_lark(
            'start: e\ne: "x" | ' + " | ".join(f'e "{chr(33 + k)}" e' for k in range(60) if chr(33 + k) not in '"\\x')
        ),
        every_byte(),
    ),
    "compile eager": lambda: pdacon.compile(Grammar.builtin("arithmetic"), every_byte(), eager=True),
    "compile a long chain": lambda: pdacon.compile(Grammar.from_gbnf(chained_gbnf(2_000)), every_byte()),
    "check 1,000 crossed terminals": lambda: pdacon.check(Grammar.from_lark(crossed_terminals(1_000))),
    "check many rules": lambda: pdacon.check(Grammar.from_lark(many_rules(3_000))),
    "check 4,000 words": lambda: pdacon.check(Grammar.from_choices(chosen_words(4_000, 12))),
    "check ambiguous expressions": lambda: pdacon.check(
        Grammar.from_lark(
            'start: e\ne: "x" | ' + " | ".join(f'e "{chr(33 + k)}" e' for k in range(60) if chr(33 + k) not in '"\\x')
        )
    ),
    "check python": lambda: pdacon.check("python"),
    "check look-aheads": lambda: pdacon.check(Grammar.from_lark(LOOK_AHEADS)),
    "schema in any order": lambda: Grammar.from_json_schema(OPTIONAL, spelling=Spelling(order="any")),
    "schema of 40,000 values": lambda: Grammar.from_json_schema(ENUMS),
    "schema of patterns": lambda: Grammar.from_json_schema({"allOf": [PATTERNS, {"not": PATTERNS["anyOf"][3]}]}),
    "schema of nested negations": lambda: Grammar.from_json_schema(nested_schema(30)),
    "schema of a small multiple": lambda: Grammar.from_json_schema({"type": "number", "multipleOf": 0.000_123_457}),
    "schema of long strings": lambda: Grammar.from_json_schema(
        {"type": "array", "items": {"type": "string", "minLength": 5_000, "maxLength": 9_000}, "maxItems": 9_000}
    ),
    "schema of at least 15,000 items": lambda: compile_whole({"type": "array", "minItems": 15_000}),
    "schema of at most 15,000 items": lambda: compile_whole({"type": "array", "maxItems": 15_000}),
    "masks of patterns": lambda: read({"allOf": [PATTERNS, {"not": PATTERNS["anyOf"][3]}]}, '"abababababbbabab"'),
    "masks of nested negations": lambda: read(nested_schema(30), '"abcdefgh"'),
    "masks of 20 names of patterns": lambda: read(named_alike(20), '{"a12b3c": 1}'),
    "masks of 200 names of patterns": lambda: read(named_alike(200), '{"a12b3c": 1}'),
    "masks of names of large patterns": lambda: read(
        {"type": "object", "patternProperties": {f"^(a|b)*a(a|b){{{k}}}$": {"maximum": k} for k in range(8, 20)}},
        '{"abababab": 1}',
    ),
    "masks of large patterns": lambda: read(
        {"allOf": [{"type": "string", "pattern": f"^(a|b)*a(a|b){{{k}}}(c|d)*$"} for k in range(8, 20)]}, '"ababab"'
    ),
    "masks of large patterns under not": lambda: read(
        {"anyOf": [{"not": {"pattern": f"^(a|b)*a(a|b){{{k}}}(c|d)*$"}} for k in range(8, 20)]}, '"ababab"'
    ),
    "masks of open alternatives": lambda: read(
        {"anyOf": [{"properties": {f"p{k}": {"type": "integer"}}, "required": [f"p{k}"]} for k in range(300)]},
        '{"p7": 1, "p8": "x", "p9": 2}',
    ),
    "masks of 40,000 values": lambda: read(ENUMS, '"1abc"'),
    "completion of patterns": lambda: complete({"allOf": [PATTERNS, {"not": PATTERNS["anyOf"][3]}]}),
    "completion of nested negations": lambda: complete(nested_schema(30)),
    "completion of names of patterns": lambda: complete(named_alike(20)),
    "type of 20,000 values": lambda: Grammar.from_type(Literal[tuple(chosen_words(20_000, 8))]),
    "accepts a long text": lambda: Grammar.builtin("json").accepts("[" + "1," * 3_000_000 + "1]"),
    "explain a long text": lambda: Grammar.builtin("json").explain("[" + "1," * 300_000 + "x]"),
    "sample": lambda: Grammar.from_regex("(a|b){100000}").sample(500),
    "sample of JSON": lambda: Grammar.builtin("json").sample(3_000, seed=1),
    "samples that are few": lambda: Grammar.from_regex("[α-ω]").sample(1_000),
    "parse a long text": lambda: pdacon.compile("json", every_byte()).parse("[" + "1," * 1_000_000 + "1]"),
    "unreachable": lambda: Grammar.builtin("python").unreachable(small_tokenizer()),
}


def prepare() -> None:
    """Import and make what is made once for a process: it is not what is measured."""
    Grammar.builtin("json").accepts("1")
    Grammar.from_ebnf('root ::= "a"')
    Grammar.from_llguidance('start: "a"')
    Grammar.from_json_schema({"type": "string", "pattern": "a"})
    Grammar.from_structural_tag({"type": "any_text"})
    pdacon.check("arithmetic")
    small_tokenizer()
    gc.collect()
    gc.freeze()  # else Python's collector of cycles looks through all of it again and again


def measured(name: str, seconds: float, most: int, answers: Any) -> None:
    """Runs a case in this process, which is ended by the kernel if it takes too long."""
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    begin = time.thread_time()
    outcome = "done"
    try:
        with Watch(seconds, clock=time.thread_time):
            CASES[name]()
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    spent = time.thread_time() - begin
    answers.put((outcome, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10))


def main() -> int:
    """Prints the table, worst first, and says whether all limits were kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--most", type=int, default=30)
    given = parser.parse_args()
    prepare()
    rows = []
    context = multiprocessing.get_context("fork")
    for name in CASES:
        if given.names and not any(part in name for part in given.names):
            continue
        answers = context.Queue()
        process = context.Process(target=measured, args=(name, given.seconds, given.most, answers))
        process.start()
        process.join()
        row = ("ended by the kernel", float(given.most), 0) if answers.empty() else answers.get()
        rows.append((row[1] - given.seconds, name, *row))
        print(f"{row[1]:8.2f} s  {row[2]:6,} MB  {name}: {row[0][:150]}", flush=True)
    allowed = max(0.1, 0.1 * given.seconds)
    late = sorted((row for row in rows if row[0] > allowed), reverse=True)
    print(f"\n{len(rows)} cases under a limit of {given.seconds:g} s; {len(late)} over it by more than {allowed:g} s")
    for over, name, outcome, spent, _ in late:
        print(f"  {spent:6.2f} s ({over:+.2f})  {name}: {outcome[:80]}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
