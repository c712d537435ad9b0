"""Random small grammars over two or three letters, one per seed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

from lark.exceptions import LarkError

from support.indented_grammars import BraceIndenter, TreeIndenter, fixed
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark


def loadable_grammars(
    number: int, first_seed: int = 0, make: Callable[[int], SmallGrammar] | None = None
) -> Iterator[tuple[SmallGrammar, StockLark]]:
    """The first so many random grammars that stock Lark loads, with their oracles; `random_grammar` makes them."""
    found = 0
    for seed in count(first_seed):
        if found == number:
            return
        grammar = (make or random_grammar)(seed)
        try:
            oracle = StockLark(grammar)
        except (LarkError, AssertionError, AttributeError):  # the last one is interegular's, in Lark's own check
            continue
        found += 1
        yield grammar, oracle


def random_grammar(seed: int) -> SmallGrammar:
    """The grammar of a seed. Lark may refuse to load it."""
    random = Random(seed)
    letters = random.choice(["ab", "ab", "abc", "aé", "aA "])
    terminals = [f"T{i}" for i in range(random.randint(2, 4))]
    rules = ["start", *(f"r{i}" for i in range(random.randint(0, 3)))]
    if random.random() < 0.3:
        # The lexer alone: any terminals in any order, perhaps parted by strings.
        lines = [f"start: ({' | '.join(terminals)})*" + random.choice(["", "", f" {_string(random, letters)}"])]
    else:
        lines = [_rule(random, name, rules, terminals, letters) for name in rules]
    lines += [_terminal(random, name, letters) for name in terminals]
    if random.random() < 0.4:
        ignored = random.choice([*terminals, _string(random, letters), f"/{_regex(random, letters, 1)}/", '" "'])
        lines.append(f"%ignore {ignored}")
    options: dict[str, Any] = {"lexer": "basic"} if random.random() < 0.15 else {}
    lookahead = random.choice(["reject", "commit"])
    text = "\n".join(lines) + "\n"
    if random.random() < 0.1:
        options["use_bytes"] = True
        text = text.replace("é", r"\xe9")
    name = f"random-{seed}"
    return SmallGrammar(name, "chosen by chance", text, letters, options, conflicts="shift", lookahead=lookahead)


def random_grammar_with_starts(seed: int) -> SmallGrammar:
    """A random grammar each of whose rules is a start, the first rule included; some of them may have no sentence."""
    grammar = random_grammar(seed)
    starts = re.findall(r"^\??(start|r\d)(?=[.:])", grammar.text, re.MULTILINE)
    return replace(grammar, options={**grammar.options, "start": starts})


def random_conflicting_grammar(seed: int) -> SmallGrammar:
    """The grammar of a seed, most often with conflicts that Lark settles by shift or by the rules' priorities."""
    random = Random(seed)
    letters = random.choice(["ab", "ab", "abc"])
    rules = ["start", "x", "y"][: random.randint(1, 3)]
    lines = []
    for index, name in enumerate(rules):
        bodies = [random.choice([f'"{letter}"' for letter in letters])]
        for _ in range(random.randint(1, 3)):
            items = [
                (random.choice(rules) if random.random() < 0.55 else f'"{random.choice(letters)}"')
                + random.choices(["", "?", "*", "+"], [7, 2, 1, 1])[0]
                for _ in range(random.choice([1, 2, 2, 3, 3, 4]))
            ]
            bodies.append(" ".join(items))
        lines.append(f"{name}{f'.{index + 1}' if random.random() < 0.8 else ''}: {' | '.join(bodies)}")
    if random.random() < 0.3:  # terminals that collide, too
        lines.append(f"A: /[{letters}]/\nB: /[{letters[::-1]}]|{letters[:2]}/")
        lines[0] += " | A start | B"
    if random.random() < 0.1:
        lines.append(f'%ignore "{random.choice(letters)}"')
    text = "\n".join(lines) + "\n"
    return SmallGrammar(f"random-conflicting-{seed}", "chosen by chance", text, letters, conflicts="shift")


MANY = "many: m7 m0\n" + "".join(f"m{i}: m{i - 1} m{i - 1}\n" for i in range(7, 0, -1)) + "m0:\n"
"""A rule that matches nothing, and takes the parser more reduces than it follows one by one."""


def random_grammar_with_empty_rules(seed: int) -> SmallGrammar:
    """The grammar of a seed, whose rules match nothing in many ways; now and then so that reduces never end."""
    random = Random(seed)
    rules = ["start", "x", "y", "z"][: random.randint(2, 4)]
    lines = []
    for index, name in enumerate(rules):
        bodies = [""] if random.random() < 0.5 else []
        for _ in range(random.randint(1, 3)):
            size = random.choice([1, 2, 2, 3, 3, 4])
            bodies.append(" ".join(random.choice([*rules, "many", "m1", "m0", '"a"', '"b"']) for _ in range(size)))
        lines.append(f"{name}{f'.{index + 1}' if random.random() < 0.7 else ''}: {' | '.join(dict.fromkeys(bodies))}")
    text = "\n".join(lines) + f"\n{MANY}"
    return SmallGrammar(f"random-empty-{seed}", "chosen by chance", text, "ab", conflicts="shift")


_GUARDS = ["(?={})", "(?!{})", "(?<={})", "(?<!{})", "^", "$", r"\b", r"\B", r"\A", r"\Z"]


def random_guarded_grammar(seed: int) -> SmallGrammar:
    """The grammar of a seed, whose terminals look around, refer to groups, and have flags, some or all."""
    random = Random(seed)
    letters = random.choice(["ab", "ab ", "aé", "aA", "a\n"])
    written = letters.replace("\n", "")
    bodies = [random.choice(["A", "B", "A B", "C", "B C"]) for _ in range(random.randint(2, 4))]
    lines = [f"start: ({' | '.join(bodies)})*"]
    for name in "ABC":
        priority = random.choice(["", "", ".1", ".2"])
        flags = random.choice(["", "", "", "i", "s", "m", "x"])
        lines.append(f"{name}{priority}: /{_guarded(random, name, written)}/{flags}")
    if random.random() < 0.3:
        lines.append(f"%ignore /{_guarded(random, 'I', written)}/")
    options: dict[str, Any] = {}
    if random.random() < 0.2:
        options["g_regex_flags"] = int(random.choice([re.I, re.S, re.M, re.A, re.I | re.A, re.X]))
    if random.random() < 0.2:
        options["lexer"] = "basic"
    text = "\n".join(lines) + "\n"
    return SmallGrammar(f"random-guarded-{seed}", "chosen by chance", text, letters, options, conflicts="shift")


def _guarded(random: Random, name: str, letters: str) -> str:
    """A pattern of some parts, one of which looks around; now and then a group of a few texts comes again."""
    parts = [_regex(random, letters, random.choice([0, 1, 1, 2])) for _ in range(random.randint(1, 3))]
    for _ in range(random.choice([0, 1, 1, 2])):
        inner = "".join(random.choice([*letters, "."]) for _ in range(random.choice([1, 1, 2])))
        parts.insert(random.randint(0, len(parts)), random.choice(_GUARDS).format(inner))
    if random.random() < 0.15:
        parts = [
            f"(?P<in_{name}>",
            random.choice([letters[0], f"{letters[0]}|{letters[:2]}"]),
            ")",
            *parts,
            f"(?P=in_{name})",
        ]
    return "".join(parts)


_NEWLINES = [
    r"/(\r?\n[\t ]*)+/",
    r"/(\r?\n[\t ]*)+/",
    r"/\n */",
    r"/\n *(;\n *)?/",
    r"( /\n[\t ]*/ | /;[^\n]*/ )+",
    r"/[\n;]+ */",
    r"/\n/",
    r"/\n(  )*/",
]


_LINE_BEGINS = [r"\n", r"\n+", r"[\n;]+", r"(\r?\n)+", r"\n;*", r"\n[\n;]*", r";*\n", r";|\n", r"(;|\n)+"]
_LINE_ENDS = [
    " *",
    r"[ \t]*",
    r"\t* *",
    "[ ;]*",
    r"[\t ;]*",
    r" *(\t[ ;]*)?",
    r"\t*( [ ;]*)?",
    " *(;+ *)?",
    r" *(;*\n *)?",
    r" *(;[^\n]*)?",
    r" *(\n;* *)*",
]


def random_indented_grammar(seed: int) -> SmallGrammar:
    """The grammar of a seed, with an Indenter. Most are balanced; Lark may refuse to load it."""
    return _indented_grammar(seed, lambda random: random.choice(_NEWLINES))


def random_columns_grammar(seed: int) -> SmallGrammar:
    """The same, with a newline after which, more often than not, the column tells what may follow."""
    return _indented_grammar(seed, _newline)


def random_fixed_width_grammar(seed: int) -> SmallGrammar:
    """One of the latter, whose blocks are all of one width."""
    grammar = random_columns_grammar(seed)
    indenter = fixed(grammar.options["postlex"], Random(seed).choice([1, 1, 2, 3]))
    return replace(grammar, name=f"{grammar.name}-fixed", options={**grammar.options, "postlex": indenter})


def _newline(random: Random) -> str:
    body = random.choice(_LINE_BEGINS) + random.choice(_LINE_ENDS)
    return "/" + random.choice(["{}", "{}", "({})+"]).format(body) + "/"


def _indented_grammar(seed: int, make_newline: Callable[[Random], str]) -> SmallGrammar:
    random = Random(seed)
    rules = ["start", *(f"r{i}" for i in range(random.randint(1, 3)))]
    lines = []
    for name in rules:
        bodies = [" ".join(_indented(random, rules, 2)) for _ in range(random.randint(1, 3))]
        lines.append(f"{name}: " + " | ".join(bodies))
    newline = make_newline(random)
    lines += [f"_NL: {newline}", "%declare _INDENT _DEDENT"]
    if random.random() < 0.4:
        lines.append("%ignore " + random.choice(['" "', "/ +/", r"/\s/", "/;[^\n]*/", "_NL* /;/"]))
    options: dict[str, Any] = {"postlex": random.choice([TreeIndenter(), BraceIndenter(), BraceIndenter()])}
    if random.random() < 0.1:
        options["lexer"] = "basic"
    alphabet = "a\n " + random.choice(["()", "(){", ";", "\t", "(;"])
    name = f"random-indented-{seed}"
    return SmallGrammar(name, "chosen by chance", "\n".join(lines) + "\n", alphabet, options, conflicts="shift")


def _indented(random: Random, rules: list[str], depth: int) -> list[str]:
    """The items of an expansion."""
    items: list[str] = []
    for _ in range(random.choice([1, 1, 2, 2, 3])):
        kind = random.random()
        if depth and kind < 0.25:
            items += ["_NL", "_INDENT", *_indented(random, rules, depth - 1), "_DEDENT"]
        elif depth and kind < 0.45:
            items += ['"("', *_indented(random, rules, depth - 1), '")"']
        elif kind < 0.65:
            items.append(random.choice(rules))
        elif kind < 0.85:
            items.append('"a"')
        elif kind < 0.99:
            items.append("_NL")
        else:
            items.append(random.choice(["_INDENT", "_DEDENT", '"("', '")"', '"{"']))
    at = random.randrange(len(items))
    if random.random() < 0.5 and items[at] in (*rules, '"a"', "_NL"):
        items[at] += random.choice("?*+")
    return items


def _rule(random: Random, name: str, rules: list[str], terminals: list[str], letters: str) -> str:
    head = name + (f".{random.randint(1, 3)}" if random.random() < 0.25 else "")
    return f"{head}: " + " | ".join(_expansion(random, rules, terminals, letters) for _ in range(random.randint(1, 3)))


def _expansion(random: Random, rules: list[str], terminals: list[str], letters: str) -> str:
    items = []
    for _ in range(random.choice([0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4])):
        kind = random.random()
        if kind < 0.35:
            symbol = random.choice(rules)
        elif kind < 0.8:
            symbol = random.choice(terminals)
        else:
            symbol = _string(random, letters)
        items.append(symbol + random.choices(["", "?", "*", "+"], [12, 2, 1, 1])[0])
    return " ".join(items)


def _terminal(random: Random, name: str, letters: str) -> str:
    head = name + (f".{random.randint(-1, 2)}" if random.random() < 0.25 else "")
    kind = random.random()
    flags = "i" if random.random() < 0.12 else ""
    if kind < 0.35:
        body = _string(random, letters) + flags
    elif kind < 0.85:
        body = f"/{_regex(random, letters, 2)}/{flags}"
    else:
        body = " ".join(random.choice([_string(random, letters), f"/{_regex(random, letters, 1)}/"]) for _ in range(2))
        body = body if random.random() < 0.5 else body.replace(" ", " | ", 1)
    return f"{head}: {body}"


def _string(random: Random, letters: str) -> str:
    return '"' + "".join(random.choice(letters) for _ in range(random.choice([1, 1, 1, 2, 2, 3]))) + '"'


def _regex(random: Random, letters: str, depth: int) -> str:
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return random.choice([*letters, *letters, ".", f"[{letters[:2]}]", f"[^{letters[0]}]"])
    if kind < 0.55:
        return "".join(_regex(random, letters, depth - 1) for _ in range(random.randint(2, 3)))
    if kind < 0.75:
        return "(" + "|".join(_regex(random, letters, depth - 1) for _ in range(2)) + ")"
    quantifier = random.choice(["*", "+", "?", "*?", "+?", "??", "{1,2}", "{1,2}?", "{2}"])
    return f"(?:{_regex(random, letters, depth - 1)}){quantifier}"
