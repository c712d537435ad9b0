"""``pdacon compile``: a grammar and a tokenizer into one file."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pdacon import Constraint, Limits, compile
from pdacon.artifact import require_place
from pdacon.cli.compiled import masks_of, size_of
from pdacon.cli.display import tell
from pdacon.cli.failures import BadInput
from pdacon.cli.grammars import is_artifact
from pdacon.cli.vocabularies import Tokens, asked_tokenizer
from pdacon.cli.waiting import waiting
from pdacon.determinism import rule_findings
from pdacon.front.grammar import Grammar


def compile_to_file(
    grammar: Grammar,
    tokens: Tokens,
    out: Path,
    *,
    eager: bool,
    canonical: bool = False,
    limits: Limits | None = None,
    json_format: bool = False,
) -> int:
    """Write the constraint of a grammar and a vocabulary; say on standard error what it is, or print it as JSON.

    Raises BadInput: if there is a file already that is no compiled grammar: the grammar's text, perhaps; or with
    ``canonical`` the tokenizer cannot be asked. OSError: if nothing can be written there; before anything is compiled.
    """
    place = require_place(out)
    if place.exists() and place.stat().st_size > 0 and not is_artifact(place):
        raise BadInput(f"{out}: there is a file already that is no compiled grammar; give another name, or remove it")
    begin = time.perf_counter()
    limits = Limits() if limits is None else limits
    tokenizer = asked_tokenizer(tokens) if canonical else None
    with waiting("computing every mask" if eager else "compiling", limits.seconds):
        constraint = compile(grammar, tokens.vocabulary, eager=eager, limits=limits, canonical=tokenizer)
    spent = time.perf_counter() - begin
    constraint.save(out)
    Constraint.load(out, tokens.vocabulary, grammar=None if canonical else grammar, verify=True)
    counts = [constraint.statistics(start) for start in grammar.data.options.start]
    keys = ("masks_computed", "distinct_masks", "situations_left")
    sums = {key: sum(count[key] for count in counts) for key in keys}
    if json_format:
        findings = [finding.to_dict() for finding in rule_findings(grammar.data)]
        told = {"file": str(out), "bytes": out.stat().st_size, "vocabulary": tokens.source, "seconds": round(spent, 3)}
        sys.stdout.write(json.dumps({**told, "tokens": len(tokens.vocabulary), **sums, "findings": findings}) + "\n")
        return 0
    tell(
        f"{out}: {size_of(out.stat().st_size)}, for {tokens.source} ({len(tokens.vocabulary):,} tokens), "
        f"{masks_of(sums)}{_left_out(sums) if eager else ''}, compiled in {spent:.2f} s"
    )
    if not tokens.vocabulary.eos_ids:
        tell(
            f"{tokens.source} names no end token: no mask has one, so that nothing but a limit ends a text. "
            "A tokenizer_config.json beside the tokenizer names it as eos_token."
        )
    _tell_of_rules(grammar)
    return 0


def _tell_of_rules(grammar: Grammar) -> None:
    """Name what is wrong with the rules, where that is known at once; `pdacon check` looks for more."""
    found = rule_findings(grammar.data)
    for finding in found:
        place = grammar.data.source_path or "<grammar>" if finding.span is None else finding.span
        tell(f"{place}: {finding.level}[{finding.id}]: {finding.title}")
    if found:
        tell("`pdacon check` explains it, and looks for more.")


def _left_out(sums: dict[str, int]) -> str:
    """What was not computed beforehand, if anything."""
    if sums["situations_left"] <= 0:
        return ""
    return f" ({sums['masks_computed']:,} situations have theirs, {sums['situations_left']:,} or more have not)"
