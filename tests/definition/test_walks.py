"""Random walks: whatever a Matcher allows can be taken, completed, undone and repeated, in any order of calls."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.definition import mask_by_id, mask_of
from support.lark_oracle import accepts
from support.strategies import SmallWorld, small_world, small_worlds

import pdacon
from pdacon import Constraint, Grammar, Matcher, Vocabulary


class AnyOrderOfCalls(RuleBasedStateMachine):
    """A Matcher beside what it should be: the list of what it accepted, and the meaning of that text."""

    @initialize(world=small_worlds())
    def start(self, world: SmallWorld) -> None:
        self.world = world
        self.matcher = world.constraint.matcher()
        self.history: list[tuple[str, int | bytes]] = []

    @property
    def text(self) -> bytes:
        tiny = self.world.tiny
        return b"".join(what if isinstance(what, bytes) else tiny.text(what) for _, what in self.history)

    @property
    def ended(self) -> bool:
        return bool(self.history) and self.history[-1][1] in self.world.tiny.ends

    def replayed(self) -> Matcher:
        matcher = self.world.constraint.matcher()
        for call, what in self.history:
            assert getattr(matcher, call)(what)
        return matcher

    @rule(data=st.data())
    def accept_any_token(self, data: st.DataObject) -> None:
        token = data.draw(st.integers(0, self.world.tiny.size - 1))
        allowed = token in mask_of(self.matcher, self.world.tiny.size)
        assert self.matcher.is_allowed(token) == allowed
        assert self.matcher.validate_tokens([token]) == allowed
        assert self.matcher.accept_token(token) == allowed
        if allowed and not self.ended:
            self.history.append(("accept_token", token))
        elif allowed:
            self.matcher.rollback(1)

    @rule(data=st.data())
    def accept_an_allowed_token(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(sorted(mask_of(self.matcher, self.world.tiny.size))))
        assert self.matcher.accept_token(token)
        if not self.ended:
            self.history.append(("accept_token", token))
        else:
            self.matcher.rollback(1)

    @precondition(lambda self: not self.ended)
    @rule(data=st.data())
    def accept_the_bytes_of_a_token(self, data: st.DataObject) -> None:
        texts = [token for token, text in enumerate(self.world.tiny.texts()) if text]
        token = data.draw(st.sampled_from(texts))
        taken = self.matcher.accept_bytes(self.world.tiny.text(token))
        assert taken or not self.replayed().is_allowed(token)
        if taken:
            self.history.append(("accept_bytes", self.world.tiny.text(token)))

    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(0, len(self.history)))
        self.matcher.rollback(count)
        del self.history[len(self.history) - count :]

    @rule(on=st.booleans())
    def fork(self, on: bool) -> None:
        """Go on with the fork, or with the original; the other one is spoiled first."""
        kept, spoiled = (self.matcher.fork(), self.matcher) if on else (self.matcher, self.matcher.fork())
        for token in sorted(mask_of(spoiled, self.world.tiny.size))[:1]:
            assert spoiled.accept_token(token)
        spoiled.reset()
        self.matcher = kept

    @rule()
    def reset(self) -> None:
        self.matcher.reset()
        self.history = []

    @rule(data=st.data())
    def validate(self, data: st.DataObject) -> None:
        tokens = data.draw(st.lists(st.integers(0, self.world.tiny.size - 1), max_size=6))
        fork = self.matcher.fork()
        taken = next((i for i, token in enumerate(tokens) if not fork.accept_token(token)), len(tokens))
        assert self.matcher.validate_tokens(tokens) == taken

    @invariant()
    def is_what_a_new_matcher_becomes(self) -> None:
        if not hasattr(self, "world"):
            return
        size = self.world.tiny.size
        mask = mask_of(self.matcher, size)
        assert mask
        assert mask == mask_of(self.replayed(), size) == mask_by_id(self.world.constraint, self.matcher, size)
        meaning = self.world.meaning.read(self.text)
        assert meaning is not None
        assert self.matcher.is_terminated() == self.ended
        assert self.matcher.is_accepting() == meaning.ends()
        explanation = self.matcher.explain(b"")
        assert (explanation.before, explanation.may_end) == (self.text, meaning.ends())
        assert self.matcher.forced_bytes() == self.replayed().forced_bytes()
        assert self.matcher.shortest_completion().startswith(self.matcher.forced_bytes())
        completed = meaning.read(self.matcher.shortest_completion())
        assert completed is not None
        assert completed.ends()
        if self.ended:
            assert mask == set(self.world.tiny.ends)


AnyOrderOfCalls.TestCase.settings = settings(
    max_examples=120, stateful_step_count=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
TestAnyOrderOfCalls = pytest.mark.slow(AnyOrderOfCalls.TestCase)


def teardown_module() -> None:
    small_world.cache_clear()


@pytest.fixture(scope="module", params=["json", "arithmetic"])
def constraint(request: pytest.FixtureRequest, tekken: Vocabulary) -> Constraint:
    return pdacon.compile(Grammar.builtin(request.param), tekken)


def walk(matcher: Matcher, size: int, random: Random, steps: int) -> tuple[list[int], list[frozenset[int]]]:
    """Random allowed tokens, and the masks they were chosen from. Half of them are the choice among short ones."""
    tokens: list[int] = []
    masks: list[frozenset[int]] = []
    while len(tokens) < steps and not matcher.is_terminated():
        masks.append(mask_of(matcher, size))
        assert masks[-1], "dead end"
        tokens.append(random.choice(sorted(masks[-1])))
        assert matcher.accept_token(tokens[-1])
    return tokens, masks


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_walks_with_a_real_vocabulary(
    seed: int, constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    random = Random(seed)
    vocabulary = constraint.vocabulary
    size = len(vocabulary)
    other = pdacon.compile(constraint.grammar, vocabulary)  # with nothing cached
    for _ in range(scaled(2)):
        matcher = constraint.matcher()
        tokens, masks = walk(matcher, size, random, 30)
        text = vocabulary.decode([token for token in tokens if token not in vocabulary.eos_ids])
        completed = text + matcher.shortest_completion()
        assert accepts(constraint.grammar, completed), completed

        assert constraint.matcher().validate_tokens(tokens) == len(tokens)
        place = random.randrange(len(tokens))
        fork = matcher.fork()
        fork.rollback(len(tokens) - place)
        assert mask_of(fork, size) == masks[place]
        check_sample(fork, masks[place], vocabulary, random)
        for token, mask in zip(tokens[place:], masks[place:], strict=True):
            assert mask_of(fork, size) == mask
            assert fork.accept_token(token)
        assert fork.mask_id() == matcher.mask_id()

        fresh = other.matcher()
        assert all(fresh.accept_token(token) for token in tokens)
        assert mask_of(fresh, size) == mask_of(matcher, size)
        tally(walks=1, tokens=len(tokens))


def check_sample(matcher: Matcher, mask: frozenset[int], vocabulary: Vocabulary, random: Random) -> None:
    """For some tokens, allowed ones among them: every way to ask gives the answer of the mask."""
    for token in [*random.sample(range(len(vocabulary)), 40), *random.choices(sorted(mask), k=20)]:
        allowed = token in mask
        assert matcher.is_allowed(token) == allowed
        assert matcher.fork().accept_token(token) == allowed
        text = vocabulary.tokens[token]
        if token in vocabulary.eos_ids:
            assert allowed == matcher.is_accepting()
        elif text:
            by_token, by_bytes = matcher.fork(), matcher.fork()
            assert by_bytes.accept_bytes(text) == by_token.accept_token(token) == allowed
            assert by_bytes.mask_id() == by_token.mask_id()
