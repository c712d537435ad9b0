"""Random sequences of a Matcher's calls, compared with a model that knows nothing but the text."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy
from fuzz.case import Case, Oracle
from fuzz.finds import Found

import pdacon


@dataclass
class Model:
    """A matcher, and what it should be: the texts after each accept, and how many of them it can take back."""

    matcher: pdacon.Matcher
    history: list[tuple[bytes, bool]]
    room: int | None
    can: int = 0

    @property
    def text(self) -> bytes:
        return self.history[-1][0]

    @property
    def ended(self) -> bool:
        return self.history[-1][1]

    def push(self, text: bytes, ended: bool) -> None:
        self.history.append((text, ended))
        self.can = self.can + 1 if self.room is None else min(self.room, self.can + 1)


class Play:
    """One sequence of calls."""

    def __init__(
        self, rng: Random, case: Case, oracle: Oracle, constraint: pdacon.Constraint, start: str, sentences: list[bytes]
    ) -> None:
        self.rng = rng
        self.case = case
        self.oracle = oracle
        self.constraint = constraint
        self.start = start
        self.sentences = sentences
        self.words = (len(case.tokens) + 31) // 32
        self.room = rng.choice([None, None, None, 0, 1, 3])
        self.keeps_text = rng.random() < 0.9
        self.log: list[str] = []
        self.models = [self.new_model()]

    def new_model(self) -> Model:
        matcher = self.constraint.matcher(self.start, max_rollback=self.room, keep_text=self.keeps_text)
        return Model(matcher, [(b"", False)], self.room)

    def mask(self, matcher: pdacon.Matcher) -> int:
        rows = numpy.full((2, self.words), -1, dtype=numpy.int32)
        matcher.fill_bitmask(rows, row=1)
        return int.from_bytes(rows[1].tobytes(), "little")

    def fail(self, message: str, model: Model) -> Found:
        return Found("calls", message, start=self.start, text=model.text, ended=model.ended, log=self.log[-25:])

    def fresh(self, model: Model) -> pdacon.Matcher:
        """Another matcher at the same text."""
        matcher = self.constraint.matcher(self.start)
        if not matcher.accept_bytes(model.text):
            raise self.fail("a new matcher refuses the text", model)
        if model.ended and not matcher.accept_token(self.case.eos[0]):
            raise self.fail("a new matcher refuses the end", model)
        return matcher

    def some_token(self, model: Model) -> int:
        rng = self.rng
        if rng.random() < 0.7:
            mask = self.mask(model.matcher)
            allowed = [id for id in range(len(self.case.tokens)) if mask >> id & 1]
            if allowed:
                return rng.choice(allowed)
        return rng.randrange(len(self.case.tokens))

    def some_bytes(self, model: Model) -> bytes:
        rng = self.rng
        going_on = [sentence for sentence in self.sentences if sentence.startswith(model.text)]
        if going_on and rng.random() < 0.8:
            rest = rng.choice(going_on)[len(model.text) :]
            return rest[: rng.randrange(len(rest) + 1)]
        return bytes(rng.choices(b"ab\n (\x80", k=rng.choice([0, 1, 2])))

    def compare(self, model: Model) -> None:
        """The matcher against a new one at the same text."""
        fresh = self.fresh(model)
        if self.mask(model.matcher) != self.mask(fresh):
            raise self.fail("the mask is another than that of a new matcher at the same text", model)
        for name in ("is_accepting", "is_terminated", "forced_bytes", "shortest_completion", "mask_id"):
            ours, theirs = getattr(model.matcher, name)(), getattr(fresh, name)()
            if ours != theirs:
                raise self.fail(f"{name}() is {ours!r}, of a new matcher {theirs!r}", model)

    def step(self) -> None:
        rng = self.rng
        model = rng.choice(self.models)
        name = rng.choice(
            ["token"] * 6
            + ["bytes"] * 3
            + ["rollback"] * 2
            + ["fork", "reset", "validate", "forced", "completion", "explain", "fill", "allowed", "batch", "compare"]
        )
        self.log.append(f"{self.models.index(model)}.{name}")
        getattr(self, f"do_{name}")(model)
        if model.matcher.is_terminated() != model.ended:
            raise self.fail("is_terminated", model)
        if model.ended:
            ends = sum(1 << end for end in self.case.eos)
            if self.mask(model.matcher) != ends:
                raise self.fail("a terminated matcher allows other than end tokens", model)

    def do_token(self, model: Model) -> None:
        id = self.some_token(model)
        self.log[-1] += f"({id} {self.case.tokens[id]!r})"
        allowed = bool(self.mask(model.matcher) >> id & 1)
        if model.matcher.accept_token(id) != allowed:
            raise self.fail(f"accept_token({id}), and the mask says {allowed}", model)
        if not allowed:
            return
        if id in self.case.eos:
            if not model.ended and not model.matcher.is_terminated():
                raise self.fail("an end token does not terminate", model)
            if not model.ended:
                model.push(model.text, True)
            else:
                # Nothing changes after the end; whether the call counts is left open: it can be taken back or not.
                self.models[self.models.index(model)] = self.new_model()
        else:
            model.push(model.text + (self.case.tokens[id] or b""), False)

    def do_bytes(self, model: Model) -> None:
        text = self.some_bytes(model)
        self.log[-1] += f"({text!r})"
        before = self.mask(model.matcher)
        if model.matcher.accept_bytes(text):
            if model.ended:
                if text:
                    raise self.fail("bytes are accepted behind the end", model)
                self.models[self.models.index(model)] = self.new_model()
                return
            model.push(model.text + text, False)
        elif self.mask(model.matcher) != before:
            raise self.fail("accept_bytes is False and the mask has changed", model)
        elif not text and not model.ended:
            raise self.fail("no bytes are refused", model)

    def do_rollback(self, model: Model) -> None:
        count = self.rng.choice([0, 1, 1, 2, 3, 9])
        self.log[-1] += f"({count})"
        try:
            model.matcher.rollback(count)
            done = True
        except pdacon.MatcherError:
            done = False
        if done != (count <= model.can):
            raise self.fail(f"rollback({count}) with {model.can} to take back: {done}", model)
        if done and count:
            del model.history[-count:]
            model.can -= count

    def do_fork(self, model: Model) -> None:
        if len(self.models) < 4:
            self.models.append(Model(model.matcher.fork(), list(model.history), model.room, model.can))

    def do_reset(self, model: Model) -> None:
        model.matcher.reset()
        model.history = [(b"", False)]
        model.can = 0

    def do_validate(self, model: Model) -> None:
        ids = [self.rng.randrange(len(self.case.tokens)) for _ in range(3)]
        ahead = model.matcher.fork()
        good: list[int] = []
        for _ in range(self.rng.choice([0, 1, 3])):
            mask = self.mask(ahead)
            allowed = [id for id in range(len(self.case.tokens)) if mask >> id & 1]
            if not allowed:
                break
            good.append(self.rng.choice(allowed))
            if not ahead.accept_token(good[-1]):
                raise self.fail("accept_token refuses what the mask allows", model)
        count = len(good)
        for id in ids:
            if not ahead.accept_token(id):
                break
            count += 1
        found = model.matcher.validate_tokens([*good, *ids])
        if found != count:
            raise self.fail(f"validate_tokens({[*good, *ids]}) is {found}, and {count} are accepted", model)

    def do_forced(self, model: Model) -> None:
        forced = model.matcher.forced_bytes()
        ids = model.matcher.forced_tokens()
        if not forced.startswith(b"".join(self.case.tokens[id] or b"" for id in ids)):
            raise self.fail(f"forced_tokens() {ids} do not spell {forced!r}", model)

    def do_completion(self, model: Model) -> None:
        if model.ended:
            return
        rest = model.matcher.shortest_completion()
        if not self.oracle.accepts(model.text + rest, self.start):
            raise self.fail(f"Lark does not parse the completion {rest!r}", model)

    def do_explain(self, model: Model) -> None:
        if not self.keeps_text:
            return
        id = self.some_token(model)
        explanation = model.matcher.explain(id)
        if explanation.allowed != model.matcher.is_allowed(id) or not explanation.render():
            raise self.fail(f"explain({id}).allowed is {explanation.allowed}", model)
        text = self.some_bytes(model)
        explanation = model.matcher.explain(text)
        ahead = model.matcher.fork()
        if not model.ended and explanation.allowed != ahead.accept_bytes(text):
            raise self.fail(f"explain({text!r}).allowed is {explanation.allowed}", model)
        if not explanation.reason or not explanation.render():
            raise self.fail("explain says nothing", model)
        if not model.ended and self.case.every_byte:
            count = max(n for n in range(len(text) + 1) if model.matcher.fork().accept_bytes(text[:n]))
            if explanation.viable != count:
                raise self.fail(f"explain({text!r}).viable is {explanation.viable}, not {count}", model)

    def do_fill(self, model: Model) -> None:
        id = model.matcher.mask_id()
        row = self.constraint.mask_table(start=self.start)[id]
        if int.from_bytes(row.tobytes(), "little") != self.mask(model.matcher):
            raise self.fail("the row of mask_id() in mask_table() is another mask", model)

    def do_allowed(self, model: Model) -> None:
        mask = self.mask(model.matcher)
        for id in range(len(self.case.tokens)):
            if model.matcher.is_allowed(id) != bool(mask >> id & 1):
                raise self.fail(f"is_allowed({id}), and the mask says {mask >> id & 1}", model)

    def do_batch(self, model: Model) -> None:
        rows = numpy.full((len(self.models) + 1, self.words), -1, dtype=numpy.int32)
        matchers = [each.matcher for each in self.models]
        pdacon.fill_bitmasks(matchers, rows)
        for each, row in zip(self.models, rows, strict=False):
            if int.from_bytes(row.tobytes(), "little") != self.mask(each.matcher):
                raise self.fail("fill_bitmasks differs from fill_bitmask", each)
        ids = pdacon.matching.mask_ids(matchers)
        if [int(id) for id in ids] != [matcher.mask_id() for matcher in matchers]:
            raise self.fail("mask_ids differs from mask_id", model)

    def do_compare(self, model: Model) -> None:
        self.compare(model)


def play(
    rng: Random, case: Case, oracle: Oracle, constraint: pdacon.Constraint, start: str, sentences: list[bytes]
) -> None:
    """Some calls on some matchers, and then each of them against a new one."""
    sequence = Play(rng, case, oracle, constraint, start, sentences)
    for _ in range(rng.choice([5, 15, 40])):
        sequence.step()
    for model in sequence.models:
        sequence.compare(model)
    if rng.random() < 0.5:
        strip_leading_space(case, constraint, start)


def strip_leading_space(case: Case, constraint: pdacon.Constraint, start: str) -> None:
    """The first token with text loses one space, and its mask counts that."""
    plain = constraint.matcher(start)
    try:
        stripped = constraint.matcher(start, strip_leading_space=True)
    except pdacon.EmptyLanguageError:
        if case.every_byte:
            raise Found("strip_leading_space", "the language is said to be empty", start=start) from None
        return
    words = (len(case.tokens) + 31) // 32
    row = numpy.zeros(words, dtype=numpy.int32)
    stripped.fill_bitmask(row)
    mask = int.from_bytes(row.tobytes(), "little")
    for id, token in enumerate(case.tokens):
        if id in case.eos or not token:
            continue
        text = token[1:] if token.startswith(b" ") else token
        expected = plain.fork().accept_bytes(text)
        if expected != bool(mask >> id & 1):
            raise Found("strip_leading_space", f"token {token!r}: the mask says {mask >> id & 1}", start=start)
