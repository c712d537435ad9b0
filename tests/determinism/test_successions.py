"""What is said never to follow never does, and what never follows is said: held against all texts of small grammars.

Stock Lark cuts the texts. A pair of terminals has been seen if Lark's lexer gives the one right after the other. What
the rules put together and no text does has to be named by a finding, and nothing else may be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from conftest import Tally
from support.languages import EVERY_BYTE
from support.lexemes import lexemes_of_configuration
from support.lowering import is_exact, load
from support.random_grammars import loadable_grammars, random_conflicting_grammar, random_guarded_grammar
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar
from support.stock_lark import StockLark, affordable_length, shared_lark

import pdacon
from pdacon.base.bit_sets import members
from pdacon.determinism import Finding
from pdacon.determinism.language.follow_sets import FollowSets
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.errors import PdaconError
from pdacon.front.grammar import Grammar
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer
from pdacon.pda import Configuration, Machine

SECONDS = 60.0
REACHED = 600  # texts, each of which leads somewhere else
LONGEST = 40  # characters of a text that is gone on with: longer ones of these grammars are nested more deeply, no more
FIRST = 100  # of these are held against Lark, whatever their lexemes are
BEGINNING = ""

TITLES = 'start: cmd ("then" cmd)*\ncmd: "play " TITLE | "stop"\nTITLE: /[a-z ]+/\n'


def pairs_by_rules(grammar: Grammar, never: Collection[str] = ()) -> set[tuple[str, str]]:
    """Terminals side by side in sentential forms, without some: by expanding ends of symbols until nothing is new."""
    productive = {k for k in range(grammar.data.end) if grammar.data.terminals[k].name not in never}
    used: set[int] = set(grammar.data.starts)
    empty: set[int] = set()
    for _ in grammar.data.nonterminals:
        productive |= {p.lhs for p in grammar.data.productions if productive.issuperset(p.rhs)}
        empty |= {p.lhs for p in grammar.data.productions if empty.issuperset(p.rhs)}
    rules = [p for p in grammar.data.productions if productive.issuperset(p.rhs)]
    for _ in grammar.data.nonterminals:
        used |= {symbol for p in rules if p.lhs in used for symbol in p.rhs}
    rules = [p for p in rules if p.lhs in used]
    beside = {(-1, start) for start in grammar.data.starts}
    for p in rules:
        for i, first in enumerate(p.rhs):
            for j in range(i + 1, len(p.rhs)):
                if empty.issuperset(p.rhs[i + 1 : j]):
                    beside.add((first, p.rhs[j]))
    pending = list(beside)
    while pending:
        first, second = pending.pop()
        more = set()
        for p in rules:
            for at, symbol in enumerate(p.rhs):
                if p.lhs == first and empty.issuperset(p.rhs[at + 1 :]):
                    more.add((symbol, second))
                if p.lhs == second and empty.issuperset(p.rhs[:at]):
                    more.add((first, symbol))
        pending += more - beside
        beside |= more
    names = [terminal.name for terminal in grammar.data.terminals]
    return {
        (BEGINNING if first < 0 else names[first], names[second])
        for first, second in beside
        if first < grammar.data.end and second < grammar.data.end
    }


class Seen:
    """The pairs of one grammar that texts show."""

    def __init__(self, grammar: SmallGrammar, oracle: StockLark, loaded: Grammar) -> None:
        self.read: set[tuple[str, str]] = set()
        self.in_sentences: set[tuple[str, str]] = set()
        self.shifted = {BEGINNING}
        self._grammar, self._oracle, self._loaded = grammar, oracle, loaded
        used = {loaded.data.symbol_name(symbol) for p in loaded.data.productions for symbol in p.rhs}
        self._dropped = {loaded.data.symbol_name(k) for k in loaded.data.ignore} - used
        self._reached: list[str] = []
        self._asked: set[str] = set()
        self._see(self._texts(loaded, affordable_length(grammar.alphabet, 400)))
        self._see(self._completed(self._reached))
        wanted = {(a, b) for a, b in pairs_by_rules(loaded) if a in self.shifted}
        self._see(self._completed(self._texts_for(wanted - self.in_sentences)))

    def _see(self, texts: Iterable[str]) -> None:
        for text in texts:
            if text in self._asked:
                continue
            self._asked.add(text)
            lexemes, whole = self._oracle.lexemes(text, self._grammar.starts[0])
            names = [BEGINNING, *(name for name, _, _ in lexemes if name not in self._dropped)]
            pairs = set(pairwise(names))
            self.read |= pairs
            self.shifted.update(names if whole else names[:-1])
            if whole:
                self.in_sentences |= pairs

    def _texts_for(self, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
        """Texts that end with one of each of two terminals, whether or not they are read so."""
        words = WitnessTexts(self._loaded.data, build_lexer(self._loaded.data, build_tables(self._loaded.data)))
        word_of = {
            terminal.name: self._grammar.decode(words.shortest(k) or b"") or ""
            for k, terminal in enumerate(self._loaded.data.terminals)
        }
        for first, second in pairs:
            for text in self._reached[:FIRST]:
                yield text + word_of[second]
                if first != BEGINNING:
                    yield text + word_of[first] + word_of[second]

    def _texts(self, loaded: Grammar, length: int) -> list[str]:
        """Short texts, and one for each last two lexemes and LR state after them."""
        letters = [*self._grammar.alphabet, *({"\n", " ", "c", "é", "1"} - set(self._grammar.alphabet))]
        machine = Machine(loaded.data, build_tables(loaded.data))
        first = Configuration.initial(machine, loaded.data.options.start.index(self._grammar.starts[0]))
        pending = [("", first)]
        known = {first}
        shown = [""]
        kinds: set[tuple[tuple[str, ...], int]] = set()
        for text, configuration in pending:
            for letter in letters if len(text) < LONGEST and len(pending) < REACHED else ():
                after = configuration.read(self._grammar.encode(letter))
                if after is None or len(pending) >= REACHED:
                    continue
                if after not in known or (len(text) < length and letter in self._grammar.alphabet):
                    known.add(after)
                    pending.append((text + letter, after))
                    kind = (tuple(name for name, _, _ in lexemes_of_configuration(after)[-2:]), after.stack.state)
                    if kind not in kinds or len(shown) < FIRST:
                        kinds.add(kind)
                        shown.append(text + letter)
        self._reached = [text for text, _ in pending]
        return shown + [text + letter for text in shown for letter in letters]

    def _completed(self, texts: Iterable[str]) -> Iterator[str]:
        """Each text, and what pdacon completes it to, which Lark is to judge."""
        constraint = pdacon.compile(self._loaded, EVERY_BYTE)
        for text in texts:
            yield text
            matcher = constraint.matcher(self._grammar.starts[0])
            if matcher.accept_bytes(self._grammar.encode(text)):
                sentence = self._grammar.decode(self._grammar.encode(text) + matcher.shortest_completion())
                if sentence is not None:
                    yield sentence


def is_succession(finding: Finding) -> bool:
    return finding.id == "PDA015" and "go on with" in finding.message and ", too, but" in finding.message


def named_pairs(report: pdacon.DeterminismReport, loaded: Grammar) -> set[tuple[str, str]]:
    """What findings say no text puts together, with what they say in other words."""
    terminals = {terminal.name for terminal in loaded.data.terminals}
    found = set()
    for finding in report.findings:
        if finding.id == "PDA015":
            at_beginning = finding.title.endswith("after the beginning")
            before, names = (BEGINNING, finding.symbols) if at_beginning else (finding.symbols[0], finding.symbols[1:])
            found |= {(before, name) for name in names if name in terminals}
    return found


def compare(grammar: SmallGrammar, oracle: StockLark, tally: Tally) -> None:
    grammar = replace(grammar, lookahead="reject", options={**grammar.options, "start": grammar.starts[0]})
    loaded = load(grammar)
    try:
        report = pdacon.check(loaded, seconds=SECONDS)
        if not is_exact(loaded) or loaded.data.layout is not None or not report.ok:
            return
    except PdaconError:
        return
    assert not report.unfinished
    seen = Seen(grammar, oracle, loaded)
    about = f"{grammar}{report.render()}"
    by_rules = pairs_by_rules(loaded)
    names = [terminal.name for terminal in loaded.data.terminals]
    assert by_rules == pairs_of(loaded, FollowSets(loaded.data)), about
    named = named_pairs(report, loaded)
    successions = [finding for finding in report.findings if is_succession(finding)]
    for finding in successions:
        said = named_pairs(replace(report, findings=(finding,)), loaded)
        assert said <= by_rules, about
        assert not said & seen.in_sentences, about
        tally(findings=1, pairs_said=len(said))
    never = {name for f in report.findings if f.id in ("PDA009", "PDA010") for name in f.symbols[:1]}
    wanted = pairs_by_rules(loaded, never)
    assert wanted == pairs_of(loaded, FollowSets(loaded.data, sum(1 << names.index(name) for name in never))), about
    repeated = {(name, name) for name in names}
    dead = {pair for pair in wanted - seen.read - repeated if pair[0] in seen.shifted}
    assert dead <= named, f"{about}\n{dead - named} was never seen"
    unseen = {pair for pair in by_rules - seen.in_sentences - repeated if pair[0] in seen.shifted} - never_with(
        never, names
    )
    assert not unseen or report.findings, f"{about}\n{unseen} is in no sentence"
    tally(grammars=1, pairs=len(by_rules), dead=len(dead))


def pairs_of(grammar: Grammar, follow: FollowSets) -> set[tuple[str, str]]:
    names = [terminal.name for terminal in grammar.data.terminals]
    return {
        *((BEGINNING, names[t]) for t in members(follow.at_start())),
        *(
            (names[a], names[b])
            for a in range(grammar.data.end)
            for b in members(follow.after(a))
            if b < grammar.data.end
        ),
    }


def never_with(never: set[str], names: list[str]) -> set[tuple[str, str]]:
    return {(a, b) for a in (BEGINNING, *names) for b in names if a in never or b in never}


@pytest.mark.parametrize("grammar", SMALL_GRAMMARS, ids=lambda grammar: grammar.name)
def test_curated_grammars(grammar: SmallGrammar, tally: Tally) -> None:
    compare(grammar, shared_lark(grammar), tally)


@pytest.mark.slow
@pytest.mark.parametrize("make", [None, random_guarded_grammar, random_conflicting_grammar])
def test_random_grammars(
    make: Callable[[int], SmallGrammar] | None, scaled: Callable[[int], int], tally: Tally
) -> None:
    for grammar, oracle in loadable_grammars(scaled(4), 720_000_000, make):
        compare(grammar, oracle, tally)


def successions(text: str, **options: str) -> list[Finding]:
    report = pdacon.check(Grammar.from_lark(text, **options))
    assert report.ok
    return [finding for finding in report.findings if finding.id == "PDA015"]


def test_one_way_of_several_is_lost() -> None:
    (finding,) = successions(TITLES)
    assert finding.title == 'lexical dead end: "then" after TITLE'
    assert finding.level == "note"
    assert finding.symbols[:2] == ("TITLE", "THEN")
    assert str(finding.span) == "<grammar>:1:8"
    assert '"athen" is read as one TITLE.' in finding.message
    assert '  start: cmd • ("then" cmd)+' in finding.message
    assert finding.witness is not None
    assert finding.witness.symbols == ('"play "', "TITLE", '"then"')
    assert (finding.witness.position, finding.witness.text) == (2, b"athen")
    assert finding.repair is not None
    assert "separator" in finding.repair


def test_one_finding_for_each_predecessor() -> None:
    text = 'start: (WORD | NUMBER | "!") ("end" | "stop" | "?")\nWORD: /[a-z]+/\nNUMBER: /[0-9]+x/\n'
    found = {finding.title: finding.symbols for finding in successions(text)}
    assert set(found) == {'lexical dead end: "end" after WORD', 'lexical dead end: "stop" after WORD'}
    assert found['lexical dead end: "end" after WORD'][:2] == ("WORD", "END")


def test_what_is_said_already_is_not_said_again() -> None:
    (finding,) = successions('start: "x" | WORD "end"\nWORD: /[a-z]{2,}/\n')
    assert not is_succession(finding)


def test_what_a_priority_takes_is_not_read_at_the_beginning() -> None:
    (finding,) = successions('start: (A | B) "!" B\nA.1: "a"\nB: /ab?/\n%ignore " "\n', conflicts="shift")
    assert finding.title == "lexical dead end: B after the beginning"
    assert finding.witness is not None
    assert finding.witness.symbols == ("B",)


def test_a_repetition_that_takes_all_at_once_is_fine() -> None:
    assert successions('start: (WS+ A)* \nWS: /[ ]+/\nA: "a"\n') == []
    (finding,) = successions('start: WS (WS "!")? A\nWS: /[ ]+/\nA: "a"\n')
    assert finding.title == "lexical dead end: WS after WS"
