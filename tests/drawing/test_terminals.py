"""Terminals: what is drawn finds the match that Python's ``re`` finds, is as small as can be, and is labelled right."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from random import Random

import lark
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lexer.regexes import LETTERS, regexes_of_size, rich_regexes, texts_over

from pdacon import DrawingError, Grammar, UnsupportedGrammarError
from pdacon.drawing.automaton import CharacterAutomaton, character_automaton
from pdacon.drawing.character_words import describe_set
from pdacon.regular.characters import ANY, complement, difference, union
from pdacon.regular.ordered import compile_pattern
from pdacon.regular.ordered.unicode_sets import unicode_set
from pdacon.regular.ordered.utf8 import Ranges

pytest.importorskip("graphlay")

from pdacon.drawing import Graph, draw_terminal, terminal_graph

PYTHON = Path(lark.__file__).parent / "grammars" / "python.lark"


def match_end(automaton: CharacterAutomaton, text: str) -> int | None:
    """Where the match at the start of a text ends, read off the automaton."""
    at, found = automaton.states[automaton.entries[0]], None
    for position, character in enumerate([*text, None]):
        if at.accepts is not None:
            found = position - at.accepts[1]
        if character is None:
            return found if at.accepts_at_end is None else position - at.accepts_at_end[1]
        point = ord(character)
        ways = [target for ranges, target in at.edges if any(low <= point <= high for low, high in ranges)]
        if not ways:
            return found
        (target,) = ways
        at = automaton.states[target]
    raise AssertionError


def disagreements(regexp: str, texts: list[str], flags: int = 0) -> list[tuple[str, int | None, int | None]]:
    automaton = character_automaton([compile_pattern(regexp, flags)])
    assert automaton.complete
    expected = [match and match.end() for match in map(re.compile(regexp, flags).match, texts)]
    found = [match_end(automaton, text) for text in texts]
    return [row for row in zip(texts, expected, found, strict=True) if row[1] != row[2]]


def test_small_patterns_match_what_re_matches() -> None:
    texts = texts_over("ab", 4)
    for size in (1, 2, 3):
        for regexp in regexes_of_size(size, ["a", "b", "."]):
            assert disagreements(regexp, texts) == [], regexp


@pytest.mark.parametrize("regexp", ["a(?!b)c?", "a(?=b|$)", "a(?!b)|ab", "(?:a|ab)(?=c)", "a+?(?=b)", "ab?$"])
def test_what_is_looked_at_belongs_to_what_follows(regexp: str) -> None:
    assert disagreements(regexp, texts_over("abc\n", 4)) == []


@pytest.mark.slow
@given(rich_regexes, st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_rich_patterns_match_what_re_matches(regexp: str, texts: list[str]) -> None:
    assert disagreements(regexp, texts) == []


def test_a_lazy_pattern_stops_at_its_first_match() -> None:
    graph = terminal_graph(Grammar.from_lark('start: C\nC: /"""(.|\\n)*?"""/').data, "C")
    (last,) = [node for node in graph.nodes if node.accepting]
    assert not [edge for edge in graph.edges if edge.source == last.id]


@pytest.mark.parametrize("regexp", [r'"([^"\\]|\\.)*"', r"\w+|[^\W\d]\w*!", r"(a|b)*abb", r"/\*(.|\n)*?\*/"])
def test_no_two_states_are_alike(regexp: str) -> None:
    states = character_automaton([compile_pattern(regexp)]).states
    different = {
        pair for pair in combinations(range(len(states)), 2) if states[pair[0]].accepts != states[pair[1]].accepts
    }
    while True:
        more = {
            (first, second)
            for first, second in set(combinations(range(len(states)), 2)) - different
            if any(
                after is None or other is None or tuple(sorted((after, other))) in different
                for after, other in pairs_of_successors(states[first].edges, states[second].edges)
                if after != other
            )
        }
        if not more:
            break
        different |= more
    assert len(different) == len(states) * (len(states) - 1) // 2


def pairs_of_successors(first: tuple, second: tuple) -> set[tuple[int | None, int | None]]:
    pairs: set[tuple[int | None, int | None]] = set()
    rest = [(ANY, None)]
    for ranges, _ in first:
        rest = [(difference(left, ranges), None) for left, _ in rest]
    other_rest = complement(union(*(ranges for ranges, _ in second)))
    for ranges, target in [*first, *rest]:
        for others, other in [*second, (other_rest, None)]:
            if difference(ranges, complement(others)):
                pairs.add((target, other))
    return pairs


# Several terminals

POOL = ('"a"', '"ab"', '"b"i', "/a+/", "/[ab]+/", "/a|ab/", "/ab+?/", "/a(?!b)/", "/(?:ab)+/", "/[a-c]+/i", '"ba"')


@pytest.mark.slow
@pytest.mark.parametrize("priority", ["", ".1"])
def test_of_several_terminals_the_one_that_lark_takes_wins(priority: str, scaled: Callable[[int], int]) -> None:
    texts = texts_over("abA", 3)[1:]
    every = list(combinations([*POOL, "/b$|ba/"], 3))
    for patterns in Random(1).sample(every, min(scaled(20), len(every))):
        text = "start: (T0 | T1 | T2)*\n" + "".join(
            f"T{k}{priority if k == 1 else ''}: {pattern}\n" for k, pattern in enumerate(patterns)
        )
        oracle = lark.Lark(text, parser="lalr", lexer="basic")
        picture = Picture(terminal_graph(Grammar.from_lark(text).data, "T2", "T0", "T1"))
        for written in texts:
            try:
                token = next(oracle.lex(written))
                expected = (token.type, len(token))
            except lark.UnexpectedCharacters:
                expected = None
            assert picture.first_lexeme(written) == expected, (patterns, written)


class Picture:
    """The picture of several terminals, to be read as a person does."""

    def __init__(self, graph: Graph) -> None:
        self.rows = {node.id: [row.text for row in node.rows[1:]] for node in graph.nodes}
        (self.start,) = [edge.target for edge in graph.edges if edge.source.startswith("entry")]
        self.ways: dict[str, list[tuple[Ranges, str]]] = {}
        for edge in graph.edges:
            if edge.labels:
                self.ways.setdefault(edge.source, []).append((read_label(" ".join(edge.labels)), edge.target))

    def first_lexeme(self, text: str) -> tuple[str, int] | None:
        """Its terminal and its length."""
        at: str | None = self.start
        found = None
        for position, character in enumerate([*text, None]):
            for row in self.rows[at]:
                sign = re.fullmatch(r"(\S+)( at the end)?(?:,? ends)?(?:,? (\d+) before)?", row)
                if sign and (not sign[2] or character is None):
                    found = (sign[1], position - int(sign[3] or 0))
            at = None if character is None else self.after(at, ord(character))
            if at is None:
                break
        return found

    def after(self, at: str, point: int) -> str | None:
        ways = [to for ranges, to in self.ways.get(at, ()) if any(low <= point <= high for low, high in ranges)]
        assert len(ways) < 2
        return ways[0] if ways else None


def test_a_keyword_names_the_lexeme_that_it_is() -> None:
    grammar = Grammar.from_lark('start: ("if" | NAME)+\nNAME: /[a-z]+/\n%ignore " "')
    graph = terminal_graph(grammar.data, "NAME", "if")
    picture = Picture(graph)
    assert picture.first_lexeme("if") == ('"if"', 2)
    assert picture.first_lexeme("iff") == ("NAME", 3)
    assert picture.first_lexeme("i") == ("NAME", 1)
    assert graph.title == 'NAME, "if"'
    assert "Tried in this order: NAME" in graph.legend
    assert 'A lexeme of NAME that is a keyword becomes "if"' in graph.legend


def test_which_terminal() -> None:
    with pytest.raises(DrawingError, match="which terminal"):
        terminal_graph(Grammar.builtin("json").data)


# Labels


def read_label(label: str) -> Ranges:
    """The set that a label names."""
    if label == "any":
        return ANY
    if label.startswith("not "):
        return complement(read_label(label.removeprefix("not ")))
    if " except " in label:
        whole, _, removed = label.partition(" except ")
        return difference(read_label(whole), read_label(removed))
    categories = {"\\w": "word", "\\d": "digit", "\\s": "space"}
    sets: list[Ranges] = []
    for item in re.findall(rf"{CHARACTER}(?:-{CHARACTER})?", label):
        if item in categories:
            sets.append(difference(unicode_set(categories[item]), ((0xD800, 0xDFFF),)))
            continue
        points = [ord(" ") if end == '" "' else ord(unescaped(end)) for end in re.findall(CHARACTER, item)]
        sets.append(((points[0], points[-1]),))
    return union(*sets)


CHARACTER = r'(?:" "|\\x..|\\u.{4}|\\U.{8}|\\.|[^ ])'


def unescaped(text: str) -> str:
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape") if len(text) > 1 else text


@pytest.mark.parametrize(
    ("regexp", "label"),
    [
        ("[0-9]", "0-9"),
        ("[a-zA-Z_]", "A-Z _ a-z"),
        (r"[\t ]", '\\t " "'),
        (r"\w", "\\w"),
        (r"[^\W\d]", "\\w except \\d"),
        (r"[^\"\\\x00-\x1f]", '\\x00-\\x1f " \\\\'),
        (".", "\\n"),
        (r"[\s\S]", "any"),
        ("[eE]", "E e"),
        ("[à-ÿ]", "à-ÿ"),
        ("é|日", "é \\u65e5"),
    ],
)
def test_labels(regexp: str, label: str) -> None:
    ((characters, _),) = character_automaton([compile_pattern(regexp)]).states[0].edges
    assert describe_set(characters) in (label, f"not {label}")
    assert read_label(describe_set(characters)) == characters


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(LETTERS), st.sampled_from(LETTERS)), min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_a_label_says_which_characters(borders: list[tuple[str, str]]) -> None:
    characters = difference(
        union(*([(min(map(ord, pair)), max(map(ord, pair)))] for pair in borders)), ((0xD800, 0xDFFF),)
    )
    for chosen in (characters, complement(characters)):
        label = describe_set(chosen)
        assert "..." in label or read_label(label) == chosen


def test_a_label_that_would_be_long_is_cut() -> None:
    scattered = tuple((point, point) for point in range(0x100, 0x200, 3))
    assert describe_set(scattered).endswith(f"... ({len(scattered)} characters)")


# What is drawn


def test_the_graph_of_a_number() -> None:
    graph = terminal_graph(Grammar.builtin("json").data, "NUMBER")
    assert graph.title == r"NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/"
    walked, accepting = walk(graph, ["-", "1-9", "0-9", ".", "0-9", "E e", "+ -", "0-9"])
    assert accepting == [False, False, True, True, False, True, False, False, True]
    assert walked == "8"


def walk(graph: Graph, labels: list[str]) -> tuple[str, list[bool]]:
    """Follow labels from the start; the last state, and for each on the way whether it accepts."""
    nodes = {node.id: node for node in graph.nodes}
    (at,) = [node.id for node in graph.nodes if node.start]
    accepting = [nodes[at].accepting]
    for label in labels:
        (at,) = [edge.target for edge in graph.edges if edge.source == at and edge.labels == (label,)]
        accepting.append(nodes[at].accepting)
    return at, accepting


def test_what_lies_behind_is_said() -> None:
    graph = terminal_graph(Grammar.from_lark("start: A B\nA: /a/\nB: /(?<=a)b/").data, "B")
    entries = {edge.labels for edge in graph.edges if edge.source.startswith("entry")}
    assert ("after a",) in entries
    assert len(entries) == 2


def test_a_large_automaton_is_cut_and_says_so() -> None:
    grammar = Grammar.from_lark("start: A\nA: /[ab]*a[ab]{6}/")
    graph = terminal_graph(grammar.data, "A", most=10)
    assert len([node for node in graph.nodes if node.shape in ("circle", "box")]) == 10
    (more,) = [node for node in graph.nodes if node.shape == "more"]
    assert more.rows[0].text == "118 more states"
    assert any("128 states" in line for line in graph.legend)
    assert any(edge.target == "more" for edge in graph.edges)


@pytest.mark.slow
def test_an_automaton_of_many_edges_is_cut_before_it_has_forty_states() -> None:
    grammar = Grammar.builtin("c")
    graph = terminal_graph(grammar.data, "NAME")
    assert len(graph.edges) <= 104  # with two arrows from nowhere, and what leads to the states left out
    assert 1 < len(graph.nodes) < 40
    assert len(terminal_graph(grammar.data, "NAME", most=1000).edges) > 200


def test_terminals_of_bytes() -> None:
    grammar = Grammar.from_lark(r"start: A" "\n" r"A: /[\x80-\xff]+[^a]./s", use_bytes=True)
    (edges,) = [{edge.labels for edge in graph.edges} for graph in [terminal_graph(grammar.data, "A")]]
    assert {("\\x80-\\xff",), ("any",)} <= edges
    regexp = grammar.data.terminals[0].pattern.regexp
    automaton = character_automaton([compile_pattern(regexp, use_bytes=True)], use_bytes=True)
    for text in texts_over("a\x80\xff", 5):
        match = re.match(regexp.encode("latin-1"), text.encode("latin-1"))
        assert match_end(automaton, text) == (match and match.end())


@pytest.mark.slow
def test_every_regex_of_python_can_be_drawn() -> None:
    grammar = Grammar.from_file(PYTHON, start="file_input", postlex="python", conflicts="shift")
    for terminal in grammar.data.terminals:
        if terminal.pattern is not None and terminal.pattern.kind == "re":
            assert draw_terminal(grammar.data, terminal.name).startswith("<svg")


def test_terminals_are_found_by_name_and_by_literal() -> None:
    grammar = Grammar.builtin("json")
    names = ["TRUE", '"true"', "true"]
    assert len({draw_terminal(grammar.data, name) for name in names}) == 1
    with pytest.raises(DrawingError, match=r"no terminal NUMBERS; did you mean NUMBER\?"):
        terminal_graph(grammar.data, "NUMBERS")
    with pytest.raises(DrawingError, match=r"there are: .*STRING"):
        terminal_graph(grammar.data, "zzz")


def test_what_has_no_automaton() -> None:
    grammar = Grammar.from_file(PYTHON, start="file_input", postlex="python", conflicts="shift")
    with pytest.raises(DrawingError, match="_INDENT has no pattern"):
        terminal_graph(grammar.data, "_INDENT")
    with pytest.raises(UnsupportedGrammarError, match="backreference"):
        terminal_graph(Grammar.from_lark(r"start: A" "\n" r"A: /(?P<x>a+)b(?P=x)/").data, "A")


def test_each_terminal_of_a_grammar_in_another_one() -> None:
    grammar = Grammar.compose('start: "(" y ")" /;+/ | "c"', y='start: /[a-z]+/ "c"\n%ignore /[;]/')
    assert any(terminal.in_place_of for terminal in grammar.data.terminals)
    for terminal in grammar.data.terminals:
        assert terminal.name in str(grammar.draw(terminal.name)) or terminal.literal
    assert "Tried in this order:" in str(grammar.draw(*(terminal.name for terminal in grammar.data.terminals)))


def test_the_title_has_what_the_author_wrote(tmp_path: Path) -> None:
    (tmp_path / "lib.lark").write_text('a: A\nA: B // not this\n  | "//"\nB: /b+/\n', encoding="utf-8")
    main = tmp_path / "main.lark"
    main.write_text(
        "start: a N WS_INLINE M\nN.2: _D+ # nor this\n_D: /[0-9]/\nM: /x/\n%extend M: /y/\n"
        "%import .lib.a\n%import common.WS_INLINE\n",
        encoding="utf-8",
    )
    grammar = Grammar.from_file(main)
    titles = {name: terminal_graph(grammar.data, name).title for name in ("N", "lib__A", "WS_INLINE", "M")}
    assert titles == {
        "N": "N: _D+",
        "lib__A": 'A: B | "//"',
        "WS_INLINE": 'WS_INLINE: (" "|/\\t/)+',
        "M": "M: /(?:y|x)/",  # an extended one has no text of its own
    }


def test_a_long_pattern_stands_below_the_title() -> None:
    pattern = f"/{'ab|' * 60}c/"
    graph = terminal_graph(Grammar.from_lark(f"start: A\nA: {pattern}\n").data, "A")
    assert graph.title == "A"
    assert "".join(graph.legend).startswith(pattern)
