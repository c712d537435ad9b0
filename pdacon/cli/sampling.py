"""``pdacon sample``: random sentences of a grammar, to see what it means or to test what reads it."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from pdacon import Constraint
from pdacon.cli.failures import BadInput, enough_is_enough
from pdacon.cli.several import TextWriter
from pdacon.cli.vocabularies import Tokens
from pdacon.front.sampling import different, sample_different, sample_tokens


@dataclass(frozen=True)
class Sample:
    """A sentence, and its tokens if it was drawn by tokens."""

    text: str
    tokens: tuple[int, ...] | None = None


def draw(constraint: Constraint, tokens: Tokens | None, size: int | None, seed: int) -> Iterator[Sample]:
    """Sentences, drawn by the constraint's tokens, then without end, if there are names of them."""
    vocabulary = constraint.vocabulary
    if tokens is not None and not vocabulary.eos_ids:
        raise BadInput(f"{tokens.source} names no end token, so no text can be ended")
    if tokens is None:
        texts = sample_different(constraint, seed) if size is None else sample_different(constraint, seed, size=size)
        return map(Sample, texts)
    walker = partial(sample_tokens, constraint, seed, strip_leading_space=vocabulary.strip_leading_space)
    walks = walker() if size is None else walker(size=size)
    strip, encoding = b" " if vocabulary.strip_leading_space else b"", constraint.grammar.data.options.encoding
    return (Sample(vocabulary.decode(ids).removeprefix(strip).decode(encoding), tuple(ids)) for ids in walks)


@enough_is_enough
def show_samples(
    constraint: Constraint,
    tokens: Tokens | None,
    *,
    count: int,
    size: int | None,
    seed: int | None,
    json_lines: bool,
    null: bool,
) -> int:
    """Print different sentences; fewer than ``count`` if the grammar does not seem to have more."""
    chosen = secrets.randbelow(2**31) if seed is None else seed
    written, texts = 0, TextWriter(count, null=null)
    drawn = different(draw(constraint, tokens, size, chosen), lambda sentence: sentence.text)
    for sentence in islice(drawn, count):
        if json_lines:
            ids = {} if sentence.tokens is None else {"tokens": sentence.tokens}
            sys.stdout.write(f"{json.dumps({'text': sentence.text, **ids}, ensure_ascii=False)}\n")
            sys.stdout.flush()
        else:
            shown = sentence.text if null else sentence.text.removesuffix("\n")
            texts.whole(shown, lines=sentence.text.rstrip("\n").count("\n") + 1)
        written += 1
    notes = [] if written == count else [f"no more than {written} different texts found"]
    notes += [] if seed is not None else [f"--seed {chosen} repeats this"]
    if notes:
        sys.stderr.write("; ".join(notes) + "\n")
    return 0
