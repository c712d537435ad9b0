"""`Grammar.compose` against the definition: sentences of the outer grammar with sentences of the inner ones in them.

Stock Lark says which texts either grammar has; the outer one is given a character for each hole. Texts are cut to a
length, as a set that the composed grammar has to be in, so that all sentences are known and with them every mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from random import Random
from typing import Any, Literal

import pytest
from lark import Lark, Token, Tree
from lark.exceptions import LarkError
from support.vocabularies import letters_and_short_texts

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.errors import EmptyLanguageError, NondeterministicGrammarError, UnsupportedGrammarError
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

LENGTH = 5
HOLES = {"h": "#", "k": "$"}
WORDS = 'start: A+\nA: "a"\n%ignore " "'
NESTED = 'start: A | "(" start ")"\nA: /a+/'

# The outer grammar, the inner ones, the alphabet.
CASES: dict[str, tuple[str, Mapping[str, str | RegularSet], str]] = {
    "inner ignores": ('start: "(" h ")"', {"h": WORDS}, "()a "),
    "outer ignores": ('start: "(" h ")" "b"\n%ignore " "', {"h": 'start: "a" "a"?'}, "()ab "),
    "both ignore the same": ('start: "(" h ")"\n%ignore " "', {"h": WORDS}, "()a "),
    "both ignore different": ('start: "(" h ")"\n%ignore "b"', {"h": WORDS}, "()ab "),
    "outer ignores more": ('start: "(" h ")"\n%ignore /[ b]+/', {"h": WORDS}, "()ab "),
    "inner ignores more": ('start: "(" h ")"\n%ignore " "', {"h": 'start: A+\nA: "a"\n%ignore /[ b]+/'}, "()ab "),
    "overlapping": ('start: "(" h ")"\n%ignore /[ b]+/', {"h": 'start: A+\nA: "a"\n%ignore /[ c]+/'}, "()abc "),
    "several of each": (
        'start: h "x"\n%ignore " "\n%ignore "b"',
        {"h": 'start: A+\nA: "a"\n%ignore "b"\n%ignore /c+/'},
        "xabc ",
    ),
    "terminal between two that are ignored": (
        'start: "(" h ")"',
        {"h": 'start: "ab"\n%ignore "a"\n%ignore /ac/'},
        "()abc",
    ),
    "ignored by itself and with more": (
        'start: "(" h ")"',
        {"h": 'start: "=="+\n%ignore "="\n%ignore /=#a*/'},
        "()=#a",
    ),
    "terminal between two that are ignored around": (
        'start: h "ab"\n%ignore "a"\n%ignore /ac/',
        {"h": 'start: "x"'},
        "xabc",
    ),
    "fence": ('start: "(" h " )"', {"h": 'start: A+\nA: "a"\n%ignore / +/'}, "()a "),
    "fence with more behind": (
        'start: "(" h " )" (" " "b")*',
        {"h": 'start: A+\nA: "a"\n%ignore / +/'},
        "()ab ",
    ),
    "same brackets": ('start: "(" h ")"', {"h": NESTED}, "()a"),
    "list": ('start: (h ";")*', {"h": WORDS}, ";a "),
    "optional": ('start: "x"? h? "y"?', {"h": 'start: "a" "b"*\n%ignore " "'}, "xyab "),
    "alone": ("start: h", {"h": WORDS}, "a "),
    "alone, outer ignores": ('start: h\n%ignore "b"', {"h": WORDS}, "ab "),
    "empty": ('start: "x" h "y"', {"h": 'start: "a"*\n%ignore " "'}, "xya "),
    "two": ('start: h ":" k', {"h": WORDS, "k": 'start: "b" k?\nk: "c"\n%ignore "."'}, "a :bc."),
    "two, side by side": ("start: h k", {"h": WORDS, "k": 'start: B+\nB: "b"'}, "ab "),
    "recursive": ('start: "[" start "]" | h', {"h": NESTED}, "[]()a"),
    "set before its end": ('start: "(" h "ab"', {"h": RegularSet.from_regex("(?!.*ab)[ab]*")}, "(ab"),
    "set, and what goes on": ('start: (h ",")* h', {"h": RegularSet.from_regex("a{1,2}")}, "a,"),
    "set and grammar": ('start: h " " k', {"h": RegularSet.from_choices(["a", ""]), "k": WORDS}, "a "),
}


def parses(lark: Lark, text: str) -> bool:
    try:
        lark.parse(text)
    except LarkError:
        return False
    return True


def texts_over(alphabet: str, length: int) -> list[str]:
    return ["".join(text) for size in range(length + 1) for text in product(alphabet, repeat=size)]


def trees_of(outer: str, inner: Mapping[str, str | RegularSet], alphabet: str) -> dict[str, list[Any]]:
    """By sentence: the outer grammar's tree with the inner ones' in the place of the holes, by stock Lark."""
    texts = texts_over(alphabet, 3)
    own: dict[str, dict[str, Any]] = {}
    for name, given in inner.items():
        if isinstance(given, RegularSet):
            own[name] = {text: text for text in texts if text in given}
        else:
            lark = Lark(given, parser="lalr")
            own[name] = {text: lark.parse(text) for text in texts if parses(lark, text)}
    marks = "".join(HOLES[name] for name in inner)
    lark = Lark(
        outer + "".join(f'\n?{name}: {name.upper()}_\n{name.upper()}_: "{HOLES[name]}"' for name in inner),
        parser="lalr",
    )
    found: dict[str, list[Any]] = {}
    for frame in texts_over(alphabet + marks, 4):
        if not parses(lark, frame):
            continue
        names = [name for character in frame for name in inner if HOLES[name] == character]
        for chosen in product(*(own[name].items() for name in names)):
            fillings = iter(chosen)
            text = "".join(next(fillings)[0] if character in marks else character for character in frame)
            values = iter([value for _, value in chosen])
            tree = filled(lark.parse(frame), {f"{name.upper()}_" for name in inner}, values)
            found.setdefault(text, []).append(tree)
    return found


def filled(tree: Any, types: set[str], values: Iterator[Any]) -> Any:
    """A tree with values in place of the tokens of some types, from left to right."""
    if isinstance(tree, Token):
        return next(values) if tree.type in types else tree
    return None if tree is None else Tree(tree.data, [filled(child, types, values) for child in tree.children])


@pytest.mark.parametrize("name", CASES)
def test_trees_have_the_inner_trees_in_the_place_of_the_holes(name: str) -> None:
    outer, inner, alphabet = CASES[name]
    grammar = Grammar.compose(outer, inner)
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    expected = trees_of(outer, inner, alphabet)
    assert expected
    for text in Random(name).sample(sorted(expected), min(60, len(expected))):
        assert constraint.parse(text) in expected[text], text
    with pytest.raises(ValueError, match="not a sentence"):
        constraint.parse("?")
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes(), grammar=grammar)
    text = min(expected)
    assert loaded.parse(text) == constraint.parse(text)


def sentences_of(outer: str, inner: Mapping[str, str | RegularSet], alphabet: str) -> set[str]:
    """All of them up to the length: a text of the outer grammar, with texts of the inner ones for its holes."""
    texts = texts_over(alphabet, LENGTH)
    marks = "".join(HOLES[name] for name in inner)
    own: dict[str, list[str]] = {}
    for name, given in inner.items():
        if isinstance(given, RegularSet):
            own[HOLES[name]] = [text for text in texts if text in given]
        else:
            lark = Lark(given, parser="lalr")
            own[HOLES[name]] = [text for text in texts if parses(lark, text)]
    holes = "".join(f'\n{name}: "{HOLES[name]}"' for name in inner)
    lark = Lark(outer + holes, parser="lalr")
    # A hole may be empty, so that the outer text can be longer than the whole: here by one.
    longest = LENGTH + any("" in one for one in own.values())
    frames = [
        text
        for text in texts_over(alphabet + marks, longest)
        if len(text) - sum(map(text.count, marks)) <= LENGTH and parses(lark, text)
    ]
    found = set()
    for frame in frames:
        pieces = [own.get(character, [character]) for character in frame]
        begun = [""]
        for piece in pieces:
            begun = [one + text for one in begun for text in piece if len(one) + len(text) <= LENGTH]
        found.update(begun)
    return found


@pytest.mark.parametrize("name", CASES)
def test_masks_are_those_of_sentences_in_sentences(
    name: str, monkeypatch: pytest.MonkeyPatch, scaled: Callable[[int], int]
) -> None:
    outer, inner, alphabet = CASES[name]
    monkeypatch.setattr(f"{__name__}.LENGTH", 5 if len(alphabet) < 5 else 4)
    expected = sentences_of(outer, inner, alphabet)
    assert expected
    grammar = Grammar.compose(outer, inner)
    short = RegularSet.from_choices([*alphabet]).repeat(0, LENGTH)
    random = Random(name)
    texts = texts_over(alphabet, LENGTH)
    tokens, vocabulary = letters_and_short_texts(alphabet, texts, random)
    whole = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    assert {text for text in texts if whole.accepts(text)} == expected & set(texts)
    constraint = pdacon.compile(grammar & short, vocabulary)
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes())
    assert loaded.grammar.fingerprint == constraint.grammar.fingerprint
    machine = Machine(grammar.data, build_tables(grammar.data))
    prefixes = sorted({text[:k] for text in expected for k in range(len(text) + 1)})
    for prefix in random.sample(prefixes, min(scaled(60), len(prefixes))):
        rest = {text[len(prefix) :] for text in expected if text.startswith(prefix)}
        wanted = {t for t, token in enumerate(tokens) if any(text.startswith(token) for text in rest)}
        wanted |= {len(tokens)} if "" in rest else set()
        for one in (constraint, loaded):
            matcher = one.matcher()
            assert matcher.accept(prefix), prefix
            assert set(matcher.allowed_tokens()) == wanted, prefix
            completion = min(rest, key=lambda text: (len(text), text))
            assert matcher.shortest_completion() == completion.encode(), prefix
        configuration = Configuration.initial(machine).read(prefix.encode())
        assert configuration is not None
        assert configuration.ends() == ("" in rest), prefix


SAME_WORDS = {
    "nothing is ignored": ('start: "(" h ")" | B\nB: /b+/', {"h": NESTED}, "()ab"),
    "both ignore the same": ('start: "(" h ")" | "b"\n%ignore " "', {"h": WORDS}, "()ab "),
    "keyword": (
        'start: h "if" h\n%ignore " "',
        {"h": 'start: NAME ("+" NAME)*\nNAME: /[fi]+/\n%ignore " "'},
        "if+ ",
    ),
    "line breaks": ('start: h ";"', {"h": "start: (/[ \\n]/ | /a\\\\\\n/ | /[.]\n/x)+"}, "a\\\n ;."),
    "flags": ('start: "F"i h\nOTHER: /x/', {"h": 'start: /[a-c]+/i "."? | "-" X?\nX.2: /a\\/b/s'}, "fFaA/.-"),
}


@pytest.mark.parametrize("name", SAME_WORDS)
def test_stock_lark_reads_what_is_printed(name: str) -> None:
    outer, inner, alphabet = SAME_WORDS[name]
    grammar = Grammar.compose(outer, inner)
    assert not grammar.data.islands
    lark = Lark(grammar.to_lark(), **grammar.lark_options)
    texts = texts_over(alphabet, 6 if name == "keyword" or len(alphabet) < 4 else 5 if len(alphabet) < 6 else 4)
    expected = {text for text in texts if parses(lark, text)}
    assert expected
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    assert {text for text in texts if constraint.accepts(text)} == expected


PATTERNS = [
    *('"a"', '"b"', '"ab"', '"aa"', '"ba"', '"abb"', '"c"', '"bc"', '"ca"', '"A"i', "/a+/", "/[ab]+/", "/ab*/"),
    *("/b+/", "/a|ab/", "/ba?/", "/bc*/", "/ac/", "/c+/", "/ca*/", "/[abc]/"),
]
RULES = ["X", "X+", "X*", "X Y?", "X | Y", "(X | Y)+", "X? Y", "Y start | X"]


def random_grammar(random: Random) -> str:
    """A grammar of two terminals that ignores one to four others, of all ranks in Lark's order."""
    patterns = random.sample(PATTERNS, 2 + random.randint(1, 4))
    priority = ["", "", "", ".1", ".-1"]
    named = random.random() < 0.5
    rule = random.choice(RULES)
    for name, pattern in zip("XY", patterns, strict=False):
        rule = rule if named else rule.replace(name, pattern)
    lines = [f"start: {rule}"]
    if named:
        lines += [f"{n}{random.choice(priority)}: {p}" for n, p in zip("XY", patterns, strict=False)]
    for name, pattern in zip("IWZK", patterns[2:], strict=False):
        if random.random() < 0.5:
            lines.append(f"%ignore {pattern}")
        else:
            lines += [f"{name}{random.choice(priority)}: {pattern}", f"%ignore {name}"]
    return "\n".join(lines)


@pytest.mark.filterwarnings("ignore::pdacon.errors.GrammarWarning")
@pytest.mark.parametrize("conflicts", ["error", "shift"])
def test_what_is_ignored_has_its_place_in_the_order_of_the_lexer(
    conflicts: Literal["error", "shift"], scaled: Callable[[int], int]
) -> None:
    """At its borders, too: several ignored terminals, some of which terminals take for keywords."""
    random = Random(f"ignored texts, {conflicts}")
    texts = texts_over("abc", 5)
    vocabulary = pdacon.Vocabulary.bytes()
    for _ in range(scaled(40)):
        text = random_grammar(random)
        lark = Lark(text, parser="lalr")
        inner = Grammar.from_lark(text, conflicts=conflicts)
        try:
            pdacon.compile(inner, vocabulary)
        except (NondeterministicGrammarError, EmptyLanguageError):
            continue
        outer = Grammar.from_lark('start: "(" H ")"\n%declare H', conflicts=conflicts)
        wholes = {
            "({})": Grammar.compose(outer, H=inner),
            '"{}"': inner.escaped("json", quotes=True),
        }
        for shape, grammar in wholes.items():
            constraint = pdacon.compile(grammar, vocabulary)
            tables = build_tables(grammar.data)
            machine = Machine(grammar.data, tables)
            for one in random.sample(texts, 60):
                expected = parses(lark, one)
                whole = shape.format(one)
                assert constraint.accepts(whole) == expected, (text, whole)
                at = Configuration.initial(machine).read(whole.encode())
                assert (at is not None and at.ends()) == expected, (text, whole)


def test_a_piece_of_ignored_text_keeps_its_place_in_files_and_in_further_grammars() -> None:
    inner = Grammar.from_lark('start: "ab"\n%ignore "a"\n%ignore /ac/')
    quoted = Grammar.compose('start: "(" h ")"', h=inner)
    twice = Grammar.compose('start: "<" k ">"', k=quoted)
    thrice = twice.escaped("json", quotes=True)
    same_name = Grammar.compose('start: "<" h ">"', h=quoted)
    assert not pdacon.compile(same_name, pdacon.Vocabulary.bytes()).accepts("<a(ab)>")
    for grammar, text in ((quoted, "(ab)"), (twice, "<(aab)>"), (thrice, '"<(acab)>"'), (same_name, "<(aab)>")):
        constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
        loaded = pdacon.Constraint.from_bytes(constraint.to_bytes())
        assert constraint.accepts(text)
        assert loaded.accepts(text)
        assert loaded.grammar.data.terminals == constraint.grammar.data.terminals
        assert loaded.grammar.fingerprint == grammar.fingerprint


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ('start: "(" h " )"\n%ignore "b"', WORDS),  # one blank after the other is ignored, and then none of them
        ('start: "(" h " )"', 'start: A*\nA: "a"\n%ignore " "'),
        ('start: h "b"\n%ignore " "', RegularSet.from_regex("(?!.*b)[ab ]*")),  # ignored, or in the set
        ("start: h A\nA: /a|b/", "start: A+\nA: /a/"),
    ],
)
def test_what_is_not_deterministic_is_refused(outer: str, inner: str | RegularSet) -> None:
    with pytest.raises(NondeterministicGrammarError):
        pdacon.compile(Grammar.compose(outer, h=inner), pdacon.Vocabulary.bytes())


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ('start: h "b" "a"', RegularSet.from_regex("a|aba")),  # abab and ab
        ('start: h "end"', RegularSet.from_regex("[a-z]+")),
        ('start: h ("b" | "c")', RegularSet.from_regex("(?!.*b)[ab]*c?")),
        ('start: (h) end\nend: " )"', "start: A\nA: /a/\n%ignore / +/"),  # not right after it
        ('start: "a" "b" | h\n%ignore " "', 'start: "a" "c"'),  # after "a" nobody knows what is ignored
    ],
)
def test_ends_that_nobody_can_tell_are_refused(outer: str, inner: str | RegularSet) -> None:
    with pytest.raises(UnsupportedGrammarError) as raised:
        pdacon.compile(Grammar.compose(outer, h=inner), pdacon.Vocabulary.bytes())
    assert raised.value.feature == "compose"
