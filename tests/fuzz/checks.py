"""What is promised of a grammar, checked on one case: refusals, texts and masks against stock Lark."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import numpy
from fuzz import calls, stored
from fuzz.case import Case, Oracle
from fuzz.finds import Found, Outcome, Progress
from fuzz.texts import Derivations, enumerated, mutated
from fuzz.world import World
from lark import Lark
from lark.exceptions import GrammarError
from lark.parsers.lalr_analysis import LALR_Analyzer

import pdacon


class Refused(Exception):
    """The grammar is not compiled, and that is right as far as can be told."""

    def __init__(self, name: str, detail: str = "") -> None:
        super().__init__(name)
        self.name = name
        self.detail = detail


class Examination:
    """All checks of one case, in order; the first promise that does not hold is raised as `Found`."""

    def __init__(self, case: Case, progress: Progress, effort: float = 1.0) -> None:
        effort *= case.effort
        self.case = case
        self.rng = Random(f"checks {case.seed}")
        self.progress = progress
        self.outcome: Outcome = progress.outcome
        self.effort = effort
        self.oracle: Oracle | None = None

    @property
    def counts(self) -> Counter[str]:
        return self.outcome.counts

    def ask_lark(self) -> None:
        """Load the grammar with stock Lark. Whether that refuses it is known then."""
        with self.progress.phase("stock Lark loads"):
            try:
                self.oracle = Oracle(self.case, self.progress)
            except (MemoryError, RecursionError):
                raise
            except Exception as error:
                self.outcome.detail = f"{type(error).__name__}: {str(error)[:200]}"

    def run(self) -> None:
        try:
            if self.oracle is None:
                self.lark_refuses()
            else:
                self.lark_loads(self.oracle)
        except Refused as refused:
            self.outcome.name, self.outcome.detail = refused.name, refused.detail

    def lark_refuses(self) -> None:
        """What stock Lark does not load, pdacon does not compile."""
        with self.progress.phase("load"):
            try:
                grammar = self.case.load()
            except pdacon.GrammarError:
                raise Refused("stock Lark refuses it", self.outcome.detail) from None
        with self.progress.phase("check"):
            try:
                report = pdacon.check(grammar, seconds=0)
            except pdacon.LimitExceededError as error:
                raise Refused("default limit exceeded", str(error)) from None
        if report.ok:
            raise Found("loads what Lark refuses", self.outcome.detail)
        raise Refused("stock Lark refuses it", self.outcome.detail)

    def lark_loads(self, oracle: Oracle) -> None:
        grammar = self.load()
        vocabulary = self.case.vocabulary()
        report = self.check(grammar, vocabulary)
        constraint = self.compile(oracle, grammar, vocabulary, report)
        self.outcome.name = "compiled"
        for start in self.case.starts:
            self.explore(oracle, constraint, start)
        if self.rng.random() < 0.15:
            with self.progress.phase("to_lark"):
                self.compare_texts_of_to_lark(oracle, grammar)
        if self.rng.random() < 0.3 * self.effort:
            with self.progress.phase("report"):
                self.compare_reports(constraint, report)

    def load(self) -> pdacon.Grammar:
        with self.progress.phase("load"):
            try:
                return self.case.load()
            except pdacon.UnsupportedGrammarError as error:
                raise Refused("unsupported", f"{error.feature}: {error}") from None
            except pdacon.GrammarSyntaxError as error:
                raise Found("refuses what Lark loads", str(error)) from None

    def check(self, grammar: pdacon.Grammar, vocabulary: pdacon.Vocabulary) -> pdacon.DeterminismReport | None:
        with self.progress.phase("check"):
            seconds = self.rng.choice([0, 0, 0.05, 0.2])
            try:
                report = pdacon.check(grammar, vocabulary, seconds=seconds)
            except pdacon.LimitExceededError as error:
                self.outcome.detail = f"check: {error}"
                return None
            except pdacon.VocabularyError:
                self.expect_no_room_for_layout()
                return None
        if self.rng.random() < 0.3:
            with self.progress.phase("render"):
                if not report.render():
                    raise Found("empty report", "render() gave no text")
                json.dumps(report.to_dict())
        return report

    def expect_no_room_for_layout(self) -> None:
        """A vocabulary is refused only with an Indenter, and if it lacks a space or a newline."""
        ends = set(self.case.eos)
        tokens = {token for id, token in enumerate(self.case.tokens) if id not in ends}
        if self.case.indenter is None or {b" ", b"\n"} <= tokens:
            raise Found("vocabulary refused", "it has all that layout asks for")

    def compile(
        self,
        oracle: Oracle,
        grammar: pdacon.Grammar,
        vocabulary: pdacon.Vocabulary,
        report: pdacon.DeterminismReport | None,
    ) -> pdacon.Constraint:
        errors = {finding.id for finding in report.findings if finding.level == "error"} if report else set()
        with self.progress.phase("compile"):
            try:
                # Every mask beforehand takes as long as one lets it, so it is given a time.
                eager = "eager" in self.case.features
                given: dict[str, Any] = self.case.limits or ({"seconds": 8} if eager else {})
                constraint = pdacon.compile(grammar, vocabulary, limits=pdacon.Limits(**given), eager=eager)
            except pdacon.NondeterministicGrammarError as error:
                if error.report.ok or (report is not None and report.ok):
                    raise Found("refused without an error", str(error)) from None
                self.confirm_conflicts(oracle, errors)
                raise Refused("nondeterministic", " ".join(sorted(errors))) from None
            except pdacon.UnsupportedGrammarError as error:
                if report is not None and "PDA008" not in errors:
                    raise Found("refused without an error", str(error)) from None
                raise Refused("unsupported", f"{error.feature}: {error}") from None
            except pdacon.EmptyLanguageError as error:
                if report is not None and "PDA007" not in errors:
                    raise Found("refused without an error", str(error)) from None
                self.confirm_empty(oracle, self.case.starts)
                raise Refused("empty language") from None
            except pdacon.VocabularyError:
                self.expect_no_room_for_layout()
                raise Refused("vocabulary") from None
            except pdacon.LimitExceededError as error:
                raise Refused("limit exceeded" if self.case.limits else "default limit exceeded", str(error)) from None
        if errors:
            raise Found("compiled in spite of errors", " ".join(sorted(errors)))
        self.confirm_conflicts(oracle, errors)
        return constraint

    def confirm_conflicts(self, oracle: Oracle, errors: set[str]) -> None:
        """By default a shift/reduce conflict is an error if and only if Lark's strict mode refuses it."""
        if self.case.options.get("conflicts") == "shift" or (not errors and self.rng.random() < 0.5):
            return
        with self.progress.phase("strict Lark"):
            analyzer = LALR_Analyzer(oracle.parser.parser.parser_conf, strict=True)  # type: ignore[attr-defined]
            try:
                analyzer.compute_lalr()
                strict = False
            except GrammarError as error:
                strict = str(error).startswith("Shift/Reduce")
        if strict and not errors & {"PDA001", "PDA004"}:
            raise Found("shift/reduce conflict overlooked", "Lark's strict mode refuses it")
        if not strict and "PDA001" in errors:
            raise Found("shift/reduce conflict without need", "Lark's strict mode takes it")

    def confirm_empty(self, oracle: Oracle, starts: list[str]) -> None:
        """No text that the vocabulary can spell is a sentence of these starts."""
        if self.case.options.get("lookahead") == "commit":
            return
        for start in starts:
            for text in self.candidates(oracle, start, 150):
                if oracle.accepts(text, start):
                    world = World(self.case, [text])
                    if world.reachable(text, 0):
                        raise Found("empty language without need", "Lark parses a text", start=start, text=text)

    # Texts

    def candidates(self, oracle: Oracle, start: str, budget: int) -> list[bytes]:
        """Texts that might be sentences, and some that are nearly so."""
        rng = Random(f"texts {self.case.seed} {start}")
        derivations = Derivations(oracle.parser, self.case, rng)
        texts = list(self.case.texts)
        for _ in range(budget // 8):
            text = derivations.sentence(start, rng.choice([1, 2, 3, 5, 8]))
            if text is not None and len(text) < 400:
                texts.append(text)
        texts += [self.case.encode(text) for text in enumerated(rng, derivations.letters, budget * 5 // 8)]
        letters = self.case.encode(derivations.letters)
        good = [text for text in texts if oracle.accepts(text, start)] or texts
        texts += [mutated(rng, rng.choice(good), good, letters) for _ in range(budget // 4)]
        return list(dict.fromkeys(texts))

    def explore(self, oracle: Oracle, constraint: pdacon.Constraint, start: str) -> None:
        try:
            with self.progress.phase("matcher"):
                first = constraint.matcher(start)
        except pdacon.EmptyLanguageError:
            if len(self.case.starts) == 1:
                raise Found("compiled without a sentence", "matcher() says that the language is empty") from None
            self.confirm_empty(oracle, [start])
            return
        with self.progress.phase("stock Lark parses"):
            texts = self.candidates(oracle, start, round(360 * self.effort))
            accepted = [text for text in texts if oracle.accepts(text, start)]
        self.counts["texts"] += len(texts)
        self.counts["accepted texts"] += len(accepted)
        world = World(self.case, accepted)
        with self.progress.phase("accept_bytes"):
            self.compare_verdicts(oracle, first, start, texts)
        with self.progress.phase("masks of texts"):
            given = [text for text in self.case.texts if oracle.accepts(text, start)]
            for text in [*given, *self.rng.sample(accepted, min(len(accepted), round(10 * self.effort)))]:
                self.along(oracle, constraint, world, start, text)
        with self.progress.phase("walk"):
            for _ in range(max(1, round(4 * self.effort))):
                self.walk(oracle, constraint, world, start)
        if self.rng.random() < 0.35:
            with self.progress.phase("calls"):
                calls.play(self.rng, self.case, oracle, constraint, start, accepted)
                self.counts["sequences of calls"] += 1
        if self.rng.random() < 0.12:
            with self.progress.phase("artifact"):
                stored.compare(self.rng, self.case, constraint, start, accepted)
                self.counts["artifacts"] += 1

    def compare_verdicts(self, oracle: Oracle, first: pdacon.Matcher, start: str, texts: list[bytes]) -> None:
        subset = self.case.options.get("lookahead") == "commit"
        for text in texts:
            matcher = first.fork()
            try:
                ours = matcher.accept_bytes(text) and matcher.is_accepting()
            except pdacon.LimitExceededError:
                if not self.case.limits:
                    raise
                continue
            theirs = oracle.accepts(text, start)
            if ours and not theirs:
                raise Found("unsound text", "accepted, and Lark does not parse it", start=start, text=text)
            if theirs and not ours and not subset:
                raise Found("incomplete text", "Lark parses it, and it is refused", start=start, text=text)

    # Masks

    def mask(self, matcher: pdacon.Matcher) -> int:
        words = (len(self.case.tokens) + 31) // 32
        row = numpy.full(words + 1, -1, dtype=numpy.int32)
        matcher.fill_bitmask(row)
        self.counts["masks"] += 1
        value = int.from_bytes(row.tobytes(), "little")
        if value >> len(self.case.tokens):
            raise Found("spare bits", "bits past the vocabulary are set")
        return value

    def inspect(self, oracle: Oracle, matcher: pdacon.Matcher, world: World, start: str, text: bytes) -> list[int]:
        """Check one mask as far as the world is known; the tokens that it allows, end tokens aside."""
        mask = self.mask(matcher)
        sentence = oracle.accepts(text, start)
        subset = self.case.options.get("lookahead") == "commit"
        where = {"start": start, "text": text}
        if matcher.is_accepting() != sentence and not (subset and sentence):
            raise Found("is_accepting", f"{not sentence}, and Lark says {sentence}", **where)
        for end in self.case.eos:
            if mask >> end & 1 != matcher.is_accepting():
                raise Found("end token", f"allowed: {mask >> end & 1}, accepting: {matcher.is_accepting()}", **where)
        if not mask and not sentence:
            raise Found("empty mask", "nothing is allowed before the end", **where)
        if not subset:
            for id, token in world.tokens:
                if text + token in world.viable and not mask >> id & 1:
                    raise Found(
                        "incomplete mask",
                        f"token {token!r} is not allowed",
                        **where,
                        sentence=world.viable[text + token],
                    )
        for id, token in enumerate(self.case.tokens):
            if not token and id not in self.case.eos and mask >> id & 1:
                raise Found("token without text", f"{id} is allowed", **where)
        allowed = [id for id, _ in world.tokens if mask >> id & 1]
        for id in self.rng.sample(allowed, min(len(allowed), 3)):
            self.completes(oracle, matcher, start, text, id, world)
        if self.rng.random() < 0.1:
            for id in self.rng.sample(range(len(self.case.tokens)), min(len(self.case.tokens), 12)):
                if matcher.is_allowed(id) != bool(mask >> id & 1):
                    raise Found(
                        "is_allowed", f"token {id} {self.case.tokens[id]!r}: mask says {mask >> id & 1}", **where
                    )
        return allowed

    def completes(
        self, oracle: Oracle, matcher: pdacon.Matcher, start: str, text: bytes, id: int, world: World
    ) -> None:
        """An allowed token is accepted, and what then completes it is what Lark parses."""
        token = self.case.tokens[id]
        assert token is not None
        after = matcher.fork()
        where = {"start": start, "text": text, "token": token}
        if not after.accept_token(id):
            raise Found("accept_token", "refuses what the mask allows", **where)
        rest = after.shortest_completion()
        self.counts["completions"] += 1
        sentence = text + token + rest
        if not oracle.accepts(sentence, start):
            raise Found("unsound mask", "Lark does not parse the shortest completion", **where, completion=rest)
        world.check_shortest(text + token, rest, where)
        if not world.reachable(rest, 0):
            raise Found("completion", "the tokens cannot spell it", **where, completion=rest)

    def along(self, oracle: Oracle, constraint: pdacon.Constraint, world: World, start: str, text: bytes) -> None:
        """Accept a sentence token by token, in a random spelling."""
        spelling = world.spelling(self.rng, text)
        if spelling is None:
            return
        subset = self.case.options.get("lookahead") == "commit"
        matcher = constraint.matcher(start)
        so_far = b""
        for id in spelling[:30]:
            token = self.case.tokens[id]
            assert token is not None
            self.inspect(oracle, matcher, world, start, so_far)
            if not matcher.accept_token(id):
                if subset:
                    return
                raise Found(
                    "incomplete accept_token", f"token {token!r} is refused", start=start, text=so_far, sentence=text
                )
            so_far += token
        self.inspect(oracle, matcher, world, start, so_far)

    def walk(self, oracle: Oracle, constraint: pdacon.Constraint, world: World, start: str) -> None:
        """Go on by random allowed tokens, as a model might."""
        matcher = constraint.matcher(start)
        text = b""
        for _ in range(self.rng.choice([3, 6, 12, 20])):
            allowed = self.inspect(oracle, matcher, world, start, text)
            if self.rng.random() < 0.15:
                self.check_forced(matcher, world, start, text)
            if not allowed:
                return
            id = self.rng.choice(allowed)
            token = self.case.tokens[id]
            assert token is not None
            if not matcher.accept_token(id):
                raise Found("accept_token", "refuses what the mask allows", start=start, text=text, token=token)
            text += token
        rest = matcher.shortest_completion()
        if not oracle.accepts(text + rest, start):
            raise Found("unsound mask", "Lark does not parse the completion", start=start, text=text, completion=rest)
        if not matcher.accept_bytes(rest) or not matcher.is_accepting():
            raise Found("completion", "accept_bytes refuses it", start=start, text=text, completion=rest)

    def check_forced(self, matcher: pdacon.Matcher, world: World, start: str, text: bytes) -> None:
        forced = matcher.forced_bytes(limit=300)
        where = {"start": start, "text": text, "forced": forced}
        subset = self.case.options.get("lookahead") == "commit"
        if not subset:
            for sentence in world.sentences_from(text):
                if not sentence[len(text) :].startswith(forced):
                    raise Found("forced_bytes", "a sentence goes on in another way", **where, sentence=sentence)
        ids = matcher.forced_tokens(limit=300)
        if matcher.validate_tokens(ids) != len(ids):
            raise Found("forced_tokens", f"{ids} are not all accepted", **where)
        spelt = b"".join(self.case.tokens[id] or b"" for id in ids)
        if not forced.startswith(spelt):
            raise Found("forced_tokens", f"{ids} spell {spelt!r}", **where)
        if self.case.every_byte and len(forced) < 300:
            after = matcher.fork()
            if not after.accept_bytes(forced):
                raise Found("forced_bytes", "not accepted", **where)
            mask = self.mask(after)
            ways = {token[0] for id, token in world.tokens if mask >> id & 1}
            if not after.is_accepting() and len(ways) < 2:
                raise Found("forced_bytes", f"it could be longer: only {ways} may follow", **where)

    # Reports and texts of the grammar

    def compare_reports(self, constraint: pdacon.Constraint, report: pdacon.DeterminismReport | None) -> None:
        if report is None:
            return
        ours = {finding.id for finding in constraint.report.findings}
        # What a report had no time for is a note in it, where there is no sure finding.
        theirs = {finding.id for finding in report.findings if "not found out" not in finding.title}
        if not theirs - set(report.unfinished) <= ours | set(constraint.report.unfinished):
            raise Found("two reports", f"check has {sorted(theirs)}, the constraint {sorted(ours)}")

    def compare_texts_of_to_lark(self, oracle: Oracle, grammar: pdacon.Grammar) -> None:
        """``to_lark`` and ``lark_options`` mean the same to stock Lark."""
        start = self.case.starts[0]
        texts = self.candidates(oracle, start, 40)
        again = Oracle(self.case, self.progress)
        try:
            again.parser = Lark(grammar.to_lark(), **grammar.lark_options)
        except Exception as error:
            raise Found("to_lark", f"Lark does not load it: {error}") from None
        for text in texts:
            if oracle.accepts(text, start) != again.accepts(text, start):
                raise Found("to_lark", "Lark parses another language", text=text)
