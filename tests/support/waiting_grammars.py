"""Random small grammars in which matches wait: what has been read after them must be lexed again, or not.

Long terminals begin like short ones, go on for some bytes that the short ones match as well, in other ways and in
several contexts, and then have a letter that decides.
"""

from __future__ import annotations

from random import Random

from support.indented_grammars import TreeIndenter
from support.small_grammars import SmallGrammar

_LAYOUT_LONG = [r"/a(\n ?){1,3};/", r"/a\n *\n +;/", r"/;\n *\n *;/", r"/a(\n| ){1,3};/"]
_LAYOUT_NEWLINE = [r"/(\n *)+/", r"/\n *(;\n *)?/", r"/\n *(;{2}\n *)?/", r"/(\n *){1,2}/"]


def random_waiting_grammar(seed: int) -> SmallGrammar:
    """The grammar of a seed. Its rules part the terminals among contexts, or leave them in one."""
    random = Random(seed)
    letters = random.choice(["abc", "abc", "ab ", "aéc"])
    inner, last = letters[:2], letters[2]
    short = [f"S{i}" for i in range(random.randint(3, 4))]
    long = [f"L{i}" for i in range(random.randint(1, 3))]
    lines = [_rules(random, short, long)]
    lines.append(f"{short.pop()}: /[{inner}]{random.choice(['', '+', '{1,2}'])}/")
    for name in short:
        body = random.choice([f'"{random.choice(letters)}"', f"/{_piece(random, inner)}/", f"/[{inner}]+/"])
        lines.append(f"{name}{_priority(random)}: {body}")
    for name in long:
        pieces = f"({_piece(random, inner)}|{_piece(random, letters)})"
        count = random.choice(["{2}", "{3}", "{1,3}", "{2,4}", "{1,3}?"])
        end = random.choice([last, last, last, f"{inner[0]}{last}", f"(?={last})", "$"])
        lines.append(f"{name}{_priority(random)}: /{random.choice(inner)}{pieces}{count}{end}/")
    if random.random() < 0.3:
        lines.append(f"%ignore {random.choice(short)}")
    lookahead = random.choice(["reject", "commit"])
    options = {"lexer": "basic"} if random.random() < 0.15 else {}
    text = "\n".join(lines) + "\n"
    name = f"random-waiting-{seed}"
    return SmallGrammar(name, "chosen by chance", text, letters, options, conflicts="shift", lookahead=lookahead)


def random_waiting_layout(seed: int) -> SmallGrammar:
    """The grammar of a seed, in which newlines and their columns are read after a match that waits."""
    random = Random(seed)
    item = random.choice(['"a"', '"a" | ";"', '"a" | LONG', '"a" LONG?', '";" | LONG'])
    lines = [
        "start: _NL? tree+",
        f"tree: item _NL (_INDENT tree+ _DEDENT)?\nitem: {item}",
        f"_NL: {random.choice(_LAYOUT_NEWLINE)}\n%declare _INDENT _DEDENT",
    ]
    if "LONG" in item:
        lines.append(f"LONG{_priority(random)}: {random.choice(_LAYOUT_LONG)}")
    if random.random() < 0.3:
        lines.append('%ignore ";"' if '";"' not in item else '%ignore " "')
    text = "\n".join(lines) + "\n"
    name = f"random-waiting-layout-{seed}"
    options = {"postlex": TreeIndenter()}
    return SmallGrammar(name, "chosen by chance", text, "a\n ;", options, conflicts="shift")


def _rules(random: Random, short: list[str], long: list[str]) -> str:
    """All in one rule, or each after some others, so that contexts differ."""
    if random.random() < 0.6:
        return f"start: ({' | '.join([*short, *long])})*"
    bodies = [
        f"{name} {random.choice([*short, 'x'])} {random.choice(['', *short])}" for name in random.sample(short, 2)
    ]
    bodies += [f"{name} {random.choice(['', 'x', *short])}" for name in long]
    rest = " | ".join(random.sample([*short, *long], random.randint(1, 3)))
    return f"start: ({' | '.join(bodies)})*\nx: {rest}"


def _piece(random: Random, letters: str) -> str:
    return random.choice([*letters, f"[{letters[:2]}]", letters[:2], "."])


def _priority(random: Random) -> str:
    return random.choice(["", "", ".1", ".2"])
