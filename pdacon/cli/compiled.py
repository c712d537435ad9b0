"""Files of ``pdacon compile``: what other commands take from them, and what is in them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pdacon import Constraint, compile
from pdacon.artifact import StoredConstraint, map_file
from pdacon.cli.grammars import artifact_of
from pdacon.cli.vocabularies import BYTES, load_vocabulary
from pdacon.detokenizer import Vocabulary
from pdacon.front.grammar import Grammar


def constraint_for(name: str, grammar: Grammar, vocabulary: Vocabulary | None) -> Constraint:
    """The constraint in the compiled file that a command was given for its grammar, if it has this vocabulary.

    Any other grammar is compiled, and so is that of a file for another vocabulary; that is said on standard error.
    None: no tokens are asked for, and one for each byte will do.
    """
    used = load_vocabulary(BYTES).vocabulary if vocabulary is None else vocabulary
    path = artifact_of(name)
    if path is None:
        return compile(grammar, used)
    settings = StoredConstraint(map_file(path), str(path), verify=False).settings
    if settings.vocabulary == used.fingerprint:
        return Constraint.load(path, used, grammar=grammar)
    if vocabulary is not None:
        lost = "with all tokens that spell its texts" if settings.canonical else "without the masks in the file"
        sys.stderr.write(
            f"pdacon: {path} is for another vocabulary ({settings.size:,} tokens) than the one that is used "
            f"({used.size:,} tokens): its grammar is compiled again, {lost}; `pdacon compile` makes a file for this "
            "one\n"
        )
    return compile(grammar, used)


def show_compiled(path: Path, *, json_format: bool) -> int:
    """Print what a file has, all of it verified.

    Raises ArtifactError, OSError.
    """
    stored = StoredConstraint(map_file(path), str(path), verify=True)
    settings = stored.settings
    starts = {
        start: {} if number in settings.empty else pda.statistics()
        for number, (start, pda) in enumerate(zip(settings.starts, stored.pdas, strict=True))
    }
    facts = {
        "bytes": path.stat().st_size,
        "pdacon": settings.pdacon,
        "unicode": settings.unicode,
        "grammar": settings.name,
        "grammar_fingerprint": settings.grammar,
        "tokens": settings.size,
        "eos_ids": list(settings.eos_ids),
        "vocabulary_fingerprint": settings.vocabulary,
        "canonical": bool(settings.canonical),
        "starts": starts,
    }
    print(json.dumps(facts) if json_format else "\n".join(_as_lines(path, facts)))  # noqa: T201
    return 0


def size_of(count: int) -> str:
    """Bytes, for people."""
    return f"{count / 1e6:.1f} MB" if count >= 1_000_000 else f"{count / 1e3:.1f} kB"


def masks_of(counts: dict[str, int]) -> str:
    """How many masks there are, and whether there can be others."""
    masks = counts["distinct_masks"]
    said = f"{masks:,} mask" if masks == 1 else f"{masks:,} masks"
    return said if counts["situations_left"] == 0 else f"{said} and others when they are needed"


def _as_lines(path: Path, facts: dict[str, Any]) -> list[str]:
    ends = ", ".join(map(str, facts["eos_ids"])) or "none"
    grammar, vocabulary = (facts[f"{what}_fingerprint"][:12] for what in ("grammar", "vocabulary"))
    lines = [
        f"{path}: {size_of(facts['bytes'])}, written by pdacon {facts['pdacon']}, verified",
        f"grammar:    {facts['grammar']}, fingerprint {grammar}, Unicode {facts['unicode']}",
        f"vocabulary: {facts['tokens']:,} tokens, end tokens {ends}, fingerprint {vocabulary}",
        *(["tokens:     only those that the tokenizer itself makes of a text"] if facts["canonical"] else []),
    ]
    for start, counts in facts["starts"].items():
        if not counts:
            lines.append(f"start {start}: no text is a sentence of it")
            continue
        lines.append(
            f"start {start}: {masks_of(counts)}; {counts['lexer_states']:,} lexer states, "
            f"{counts['parser_states']:,} LR states"
        )
    return lines
