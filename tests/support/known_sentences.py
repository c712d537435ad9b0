"""Masks, ends and completions of a grammar of which all sentences up to a length are known."""

from __future__ import annotations

from random import Random

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine


def require_masks_of_sentences(
    grammar: Grammar,
    short: RegularSet,
    expected: set[bytes],
    random: Random,
    count: int,
    *,
    strange: bytes,
    has_shortest_completions: bool = False,
) -> None:
    """Along prefixes of sentences, in a constraint and in what is loaded from its file, and in a `Configuration`.

    Parameters
    ----------
    grammar : Grammar
    short : RegularSet
        The texts up to the length.
    expected : set of bytes
        All sentences among them.
    random : Random
        Draws tokens of several bytes, and prefixes.
    count : int
        How many prefixes are looked at.
    strange : bytes
        Tokens that are there beside the bytes of sentences.
    has_shortest_completions : bool
        Whether completions are as short as can be: without indentation.
    """
    tokens = [bytes([byte]) for byte in sorted({byte for one in expected for byte in one} | set(strange))]
    everything = sorted(expected, key=lambda one: (len(one), one))
    for _ in range(12):
        one = random.choice(everything)
        begin = random.randrange(len(one) + 1)
        piece = one[begin : begin + random.randint(2, 6)]
        tokens += [piece] if len(piece) > 1 and piece not in tokens else []
    vocabulary = pdacon.Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)])
    constraint = pdacon.compile(grammar & short, vocabulary)
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes())
    assert loaded.grammar.fingerprint == constraint.grammar.fingerprint
    machine = Machine(grammar.data, build_tables(grammar.data))
    prefixes = sorted({one[:k] for one in expected for k in range(len(one) + 1)})
    for prefix in random.sample(prefixes, min(count, len(prefixes))):
        rest = {one[len(prefix) :] for one in expected if one.startswith(prefix)}
        wanted = {t for t, token in enumerate(tokens) if any(one.startswith(token) for one in rest)}
        wanted |= {len(tokens)} if b"" in rest else set()
        for compiled in (constraint, loaded):
            matcher = compiled.matcher()
            assert matcher.accept_bytes(prefix), prefix
            assert set(matcher.allowed_tokens()) == wanted, prefix
            completion = matcher.shortest_completion()
            assert completion in rest, prefix
            assert not has_shortest_completions or len(completion) == min(map(len, rest)), prefix
        configuration = Configuration.initial(machine).read(prefix)
        assert configuration is not None
        assert configuration.ends() == (b"" in rest), prefix
