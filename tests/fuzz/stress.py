"""Grammars that are small to write and large to compile: chains of empty rules, deep nests, long strings."""

from __future__ import annotations

from random import Random


def stress(rng: Random, features: set[str]) -> str:
    """One of the shapes, in a random size."""
    shape = rng.choice(SHAPES)
    features.add(f"stress: {shape.__name__}")
    return shape(rng)


def empty_chain(rng: Random) -> str:
    """A rule without text whose derivations have a size that is exponential in the number of rules."""
    # Stock Lark takes some seconds for each text of 18 rules, so that the long chains come once in a text.
    count, width = rng.choice(
        [(1, 2), (2, 3), (5, 2), (7, 3), (10, 2), (11, 3), (15, 2), (16, 2), (17, 2), (17, 2), (18, 2)]
    )
    heads = [f'start: "y" | a{count} "x"', f'start: a{count} "x"', f'start: "y" a{count} "x"?', f"start: a{count}"]
    if width**count < 5000:
        heads.append(f'start: ("y" a{count})*')
    lines = [f"a{index}: {' '.join([f'a{index - 1}'] * width)}" for index in range(count, 0, -1)]
    return "\n".join([rng.choice(heads), *lines, "a0:"]) + "\n"


def deep_nest(rng: Random) -> str:
    """Rules that lead to one another, one symbol each."""
    count = rng.choice([5, 20, 60, 150])
    opened, closed = rng.choice([('"("', '")"'), ('"a"', ""), ("", '"a"'), ("", ""), ('"a"', '"b"?')])
    lines = [
        "start: r0",
        *(f"r{index}: {opened} r{index + 1} {closed}" for index in range(count)),
        f'r{count}: "x" | "y" r0 "z"',
    ]
    return "\n".join(lines) + "\n"


def long_string(rng: Random) -> str:
    """A terminal that has to be read to its end before it is known which one it is."""
    count = rng.choice([10, 50, 200, 500, 2000, 6000])
    shape = rng.choice(
        [
            'start: A rest | B\nrest: C+\nA: "a"\nB: /a{N}b/\nC: /[a]/\n',
            'start: A+ | B\nA: "a"\nB: /a{N}b/\n',
            'start: (A | B)+\nA: "ab"\nB: /(ab){N}c/\n',
            'start: (A | B)+\nA: /a+/\nB: "' + "b" * count + '"\n',
            'start: A "b"\nA: /a{1,N}/\n',
            'start: (A | "b")+\nA: /a(ba){0,N}c/\n',
            'start: (A | "b")+\nA: /[ab]{N}/\n',
            'start: A+\nA: /x(a{0,N})/\n%ignore " "\n',
        ]
    )
    return shape.replace("N}", f"{count}}}")


def wide(rng: Random) -> str:
    """Many alternatives."""
    count = rng.choice([10, 40, 120])
    words = sorted({"".join(rng.choice("abc") for _ in range(rng.choice([2, 4, 6]))) for _ in range(count)})
    strings = " | ".join(f'"{word}"' for word in words)
    return rng.choice(
        [
            f"start: ({strings})+\n",
            f"start: (W | N)+\nW: {strings}\nN: /[abc]+;/\n",
            f'start: (k | N)*\nk: {strings}\nN: /[abc]+/\n%ignore " "\n',
            f'start: N ({strings}) N\nN: /[abc]+/\n%ignore " "\n',
        ]
    )


def repeated(rng: Random) -> str:
    """Repetitions that Lark writes out. Of choices it writes out all combinations."""
    count = rng.choice([5, 20, 49, 51, 120])
    return rng.choice(
        [
            f'start: ("a" | "b")~{rng.choice([3, 6, 8])}\n',
            f'start: item~1..{count}\nitem: "a" ["b"]\n',
            f'start: item~{count} "c"\nitem: /a|b/\n%ignore " "\n',
            f'start: ("a" item?)~0..{rng.choice([3, 5])}\nitem: "(" start ")"\n',
            f'start: one~0..{count}\none: "a" item?\nitem: "(" start ")"\n',
        ]
    )


def nested_pattern(rng: Random) -> str:
    """Quantifiers in quantifiers."""
    depth = rng.choice([2, 3, 4, 6])
    inner = rng.choice(["a", "[ab]", "a|b", "ab?"])
    for _ in range(depth):
        inner = f"(?:{inner}){rng.choice(['*', '+', '?', '{1,3}', '{2}', '*?', '+?'])}"
        if rng.random() < 0.3:
            inner = rng.choice(["a", "b", "[ab]"]) + inner
    return f'start: (A | "b")+\nA: /c?{inner}a/\n'


def recursive(rng: Random) -> str:
    """Recursion of all kinds: left, right, in the middle, hidden by empty rules."""
    return rng.choice(
        [
            'start: start "a" |\n',
            'start: "a" start |\n',
            'start: "a" start "b" | "c"\n',
            'start: e start "a" | "b"\ne: "x"?\n',
            'start: a\na: b "x" | "y"\nb: a "z" | c\nc: "w" a?\n',
            'start: "(" start ")" start |\n',
            'start: x+\nx: "a" | "b" x "c" | "d" x* "e"\n',
            'start: a b c d\na: "a"?\nb: "b"?\nc: "c"?\nd: "d"? a\n',
            'start: opt{A} opt{B} opt{A}\nopt{x}: x?\nA: "a"\nB: "b"\n',
        ]
    )


SHAPES = (empty_chain, empty_chain, deep_nest, long_string, wide, repeated, nested_pattern, recursive)
