"""Reports as a SARIF log, for code scanning.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from pdacon.determinism.report.findings import TITLES, Failure, Finding
from pdacon.determinism.report.pages import first_paragraph, page
from pdacon.determinism.report.rendering import plain_message, unfinished_line
from pdacon.determinism.report.report import Report
from pdacon.grammar import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_RULES = list(TITLES)
_NOTES = ("PDA003", "PDA011", "PDA012", "PDA016", "PDA017", "PDA018", "PDA020", "PDA023")
_WARNINGS = ("PDA009", "PDA010", "PDA013", "PDA014", "PDA015", "PDA019")


def to_sarif(reports: Sequence[Report], version: str, failures: Sequence[Failure] = ()) -> dict[str, Any]:
    """One log with one run; JSON-ready.

    ``reports``: paths in them become URIs as they are: relative to the root of the repository, as code scanning wants
    them, if they were given so. ``version``: of pdacon. ``failures``: grammars that could not be checked: notifications
    of the run. So is what a report has not been finished for.
    """
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "pdacon", "version": version, "rules": [_rule(id) for id in _RULES]}},
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": not failures,
                        "toolExecutionNotifications": [
                            *(_notification(failure) for failure in failures),
                            *(_unfinished(report) for report in reports if report.unfinished),
                        ],
                    }
                ],
                "artifacts": [{"location": _artifact(path)} for path in dict.fromkeys(r.subject for r in reports)],
                "results": [result for report in reports for result in _results(report)],
            }
        ],
    }


def _rule(id: str) -> dict[str, Any]:
    return {
        "id": id,
        "name": "".join(word.capitalize() for word in TITLES[id].replace("/", " ").split()),
        "shortDescription": {"text": TITLES[id]},
        "fullDescription": {"text": first_paragraph(id)},
        "help": {"text": page(id), "markdown": page(id)},
        "defaultConfiguration": {"level": "note" if id in _NOTES else "warning" if id in _WARNINGS else "error"},
    }


def _results(report: Report) -> Iterable[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for finding in report.findings:
        fingerprint = _fingerprint(finding)
        seen[fingerprint] += 1
        result: dict[str, Any] = {
            "ruleId": finding.id,
            "ruleIndex": _RULES.index(finding.id),
            "level": finding.level,
            "message": {"text": f"{finding.title}.\n{plain_message(finding)}"},
            "locations": [{"physicalLocation": _location(finding.span, report.subject)}],
            "partialFingerprints": {"pdaconFinding/v1": f"{fingerprint}:{seen[fingerprint]}"},
            "properties": {
                "symbols": list(finding.symbols),
                **({} if finding.cause is None else {"cause": finding.cause}),
                **({} if finding.witness is None else {"witness": finding.witness.to_dict()}),
                **({} if finding.counterexample is None else {"counterexample": finding.counterexample.to_dict()}),
            },
        }
        if finding.related:
            result["relatedLocations"] = [
                {"id": k, "message": {"text": label}, "physicalLocation": _location(span, report.subject)}
                for k, (label, span) in enumerate(finding.related, 1)
            ]
        yield result


def _fingerprint(finding: Finding) -> str:
    """What makes a finding the same one when lines above it have come or gone."""
    what = json.dumps([finding.id, finding.title, finding.symbols, finding.cause])
    return hashlib.sha256(what.encode()).hexdigest()[:32]


def _notification(failure: Failure) -> dict[str, Any]:
    location = {"physicalLocation": _location(failure.span, failure.path)}
    return {"level": "error", "message": {"text": failure.message}, "locations": [location]}


def _unfinished(report: Report) -> dict[str, Any]:
    location = {"physicalLocation": _location(None, report.subject)}
    return {"level": "note", "message": {"text": unfinished_line(report)}, "locations": [location]}


def _location(span: Span | None, path: str) -> dict[str, Any]:
    """A place; the first line where none is known, for code scanning shows nothing without a line."""
    if span is None:
        return {"artifactLocation": _artifact(path), "region": {"startLine": 1}}
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {"artifactLocation": _artifact(span.path or path), "region": region}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path.replace("\\", "/"))}
