"""Explanations in the small world: the answer, how far the text is viable, and which lexemes end in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from random import Random

import pytest
from support.definition import Completions
from support.lark_oracle import lark_parser
from support.lowering import load
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark, affordable_length, shared_lark
from support.strategies import EXACT, SmallWorld, small_world

import pdacon
from pdacon import Constraint, Matcher

BYTES = pdacon.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])


def reached(world: SmallWorld, number: int) -> list[tuple[bytes, Matcher]]:
    """So many texts that tokens spell, short ones first, each with a matcher after it."""
    pending: list[tuple[bytes, Matcher]] = [(b"", world.constraint.matcher())]
    for text, matcher in pending:
        for token in range(world.tiny.size):
            if len(pending) < number and world.tiny.text(token) and matcher.is_allowed(token):
                following = matcher.fork()
                assert following.accept_token(token)
                pending.append((text + world.tiny.text(token), following))
    return pending


def asked_about(world: SmallWorld) -> list[int]:
    """All tokens but those of bytes that the grammar does not speak of, which are all alike: of these a few."""
    letters = b"".join(world.grammar.letters)
    tokens = range(world.tiny.size)
    foreign = [token for token in tokens if not set(world.tiny.text(token)) <= set(letters)]
    few = Random(world.grammar.name).sample(foreign, min(4, len(foreign)))
    return [token for token in tokens if token in few or token not in foreign]


@pytest.mark.parametrize("grammar", EXACT, ids=lambda grammar: grammar.name)
def test_what_explanations_say(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    oracle = shared_lark(grammar)
    length = grammar.length or affordable_length(grammar.alphabet, scaled(200))
    letters = grammar.letters
    prefixes = Completions.enumerate(oracle, grammar.starts[0], length, letters).shortest
    counts: Counter[str] = Counter()
    kinds = Random(grammar.name).sample(range(5), min(5, scaled(1)))  # of vocabularies
    worlds = [world for kind in kinds if (world := small_world(grammar.name, kind)) is not None]
    bytewise = pdacon.compile(load(grammar), BYTES) if worlds else None
    for world in worlds:
        for text, matcher in reached(world, scaled(3)):
            for asked in [*asked_about(world), *(text + letter for letter in letters)]:
                explanation = matcher.explain(asked)
                spelled = asked if isinstance(asked, bytes) else world.tiny.text(asked)
                about = f"{grammar}{world.tiny}\nafter {text!r}, asked about {spelled!r}:\n{explanation}"
                assert (explanation.before, explanation.text) == (text, spelled), about
                allowed = matcher.fork().accept_bytes(asked) if asked is spelled else matcher.is_allowed(asked)
                assert explanation.allowed == allowed, about
                check_viable(bytewise, oracle, prefixes, text, spelled, explanation.viable, about)
                if allowed and spelled:
                    assert explanation.viable == len(spelled), about
                assert explanation.reason, about
                counts["explanations"] += 1
                counts["refusals"] += not allowed
    tally(grammars=1, **counts)


def check_viable(
    bytewise: Constraint,
    oracle: StockLark,
    prefixes: object,
    text: bytes,
    spelled: bytes,
    viable: int,
    about: str,
) -> None:
    """Some sentence, found by Lark, begins with the viable bytes; none that is known begins with one more."""
    matcher = bytewise.matcher()
    assert matcher.accept_bytes(text + spelled[:viable]), about
    assert oracle.accepts(text + spelled[:viable] + matcher.shortest_completion()), about
    if viable < len(spelled):
        assert text + spelled[: viable + 1] not in prefixes, about  # type: ignore[operator]


@pytest.mark.parametrize("grammar", EXACT, ids=lambda grammar: grammar.name)
def test_lexemes_are_those_of_lark(grammar: SmallGrammar, scaled: Callable[[int], int]) -> None:
    world = small_world(grammar.name, 1)
    oracle = shared_lark(grammar)
    if world is None:
        assert not list(islice(oracle.sentences(6), 1))
        return
    loaded = world.constraint.grammar
    names = {
        loaded.data.symbol_name(terminal): loaded.data.describe_symbol(terminal) for terminal in range(loaded.data.end)
    }
    for sentence in islice(oracle.sentences(6), scaled(15)):
        matcher = world.constraint.matcher()
        text = grammar.encode(sentence)
        parser = lark_parser(loaded).parse_interactive(
            text if loaded.data.options.use_bytes else sentence, start=grammar.starts[0]
        )
        tokens = [
            (names[token.type], grammar.encode(str(token)) if isinstance(token.value, str) else token.value)
            for token in parser.iter_parse()
        ]
        seen: list[tuple[str, bytes]] = []
        for letter in range(len(text)):
            for cut in matcher.explain(text[letter : letter + 1]).cuts:
                assert cut.fate != "refused"
                seen.extend([(cut.terminal, cut.text)] if cut.fate == "shifted" else [])
            assert matcher.accept_bytes(text[letter : letter + 1])
        at_once = world.constraint.matcher().explain(text).cuts
        assert [(cut.terminal, cut.text) for cut in at_once if cut.fate == "shifted"] == tokens[: len(seen)]
        # What is left waits for the end.
        assert seen == tokens[: len(seen)], f"{grammar}{sentence!r}"
