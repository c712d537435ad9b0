"""The table that a run ends with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from fuzz.shrinking import signature


class Table:
    """Sums over the results of cases."""

    def __init__(self, known: re.Pattern[str] | None = None) -> None:
        self.is_known = known
        self.cases = 0
        self.outcomes: Counter[str] = Counter()
        self.features: Counter[str] = Counter()
        self.compiled: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.phases: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.finds: dict[str, list[int]] = {}
        self.known: dict[str, list[int]] = {}
        self.slowest: list[tuple[float, int, str]] = []
        self.largest: list[tuple[int, int]] = []
        self.seconds = 0.0

    def add(self, result: dict[str, Any]) -> None:
        self.cases += 1
        self.outcomes[result["outcome"]] += 1
        features = result["features"]
        self.features.update(features)
        if result["outcome"] == "compiled":
            self.compiled.update(features)
        elif result["outcome"] in ("unsupported", "nondeterministic"):
            self.refusals[f"{result['outcome']}: {result['detail'].partition(':')[0]}"] += 1
        self.counts.update(result["counts"])
        self.phases.update(result["phases"])
        self.seconds += result["seconds"]
        phase, longest = max(result["phases"].items(), key=lambda item: item[1], default=("", 0.0))
        self.slowest = sorted([*self.slowest, (longest, result["index"], phase)], reverse=True)[:10]
        self.largest = sorted([*self.largest, (result["megabytes"], result["index"])], reverse=True)[:10]
        if result["find"] is not None:
            kind, phase, message = signature(result["find"])
            name = f"{kind} in {phase}: {message}"
            finds = self.known if self.is_known is not None and self.is_known.search(name) else self.finds
            finds.setdefault(name, []).append(result["index"])

    @property
    def loaded(self) -> int:
        """Grammars that stock Lark loads."""
        return self.cases - self.outcomes["stock Lark refuses it"]

    def render(self) -> str:
        lines = [
            f"{self.cases:,} cases, {self.loaded:,} grammars that stock Lark loads, {self.seconds:,.0f} s of CPU time",
            "",
        ]
        lines += [
            "| outcome | grammars |",
            "|---|---|",
            *(f"| {name} | {count:,} |" for name, count in self.outcomes.most_common()),
        ]
        lines += [
            "",
            "| compared | number |",
            "|---|---|",
            *(f"| {name} | {count:,} |" for name, count in sorted(self.counts.items())),
        ]
        lines += ["", "| feature | grammars | compiled |", "|---|---|---|"]
        lines += [f"| {name} | {count:,} | {self.compiled[name]:,} |" for name, count in self.features.most_common()]
        lines += [
            "",
            "| refused for | grammars |",
            "|---|---|",
            *(f"| {name} | {count:,} |" for name, count in self.refusals.most_common(25)),
        ]
        lines += [
            "",
            "| phase | CPU seconds |",
            "|---|---|",
            *(f"| {name} | {seconds:,.1f} |" for name, seconds in self.phases.most_common()),
        ]
        lines += [
            "",
            "slowest: "
            + ", ".join(f"{seconds:.2f} s {phase} (case {index})" for seconds, index, phase in self.slowest),
        ]
        lines += ["largest: " + ", ".join(f"{size} MB (case {index})" for size, index in self.largest)]
        lines += ["", *_listed(self.finds, "finds")]
        if self.known:
            lines += _listed(self.known, "finds that are known")
        return "\n".join(lines)


def _listed(finds: dict[str, list[int]], what: str) -> Iterable[str]:
    if not finds:
        yield f"no {what}"
        return
    yield f"{sum(map(len, finds.values())):,} {what}, of {len(finds)} kinds"
    for name, indices in sorted(finds.items(), key=lambda item: -len(item[1])):
        yield f"  {len(indices):5d}  {name}  (cases {', '.join(map(str, indices[:4]))})"
