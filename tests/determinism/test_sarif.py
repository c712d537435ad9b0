"""SARIF logs: what the standard asks of the objects that are written, and what code scanning makes of them.

The JSON schema of the standard is not part of this repository, and packages for SARIF on PyPI do not bring it. With a
copy at hand, ``SARIF_SCHEMA=PATH pytest tests/determinism/test_sarif.py`` validates against it too.
Without one, sarif-om stands in for it: classes generated from that schema, with the names of all properties and which
are required. `LOG` below is the part of it that reports use, stricter: nothing optional that is not written, and no
other property.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs
import pytest
from support.finding_fixtures import FIXTURES, report_of

from pdacon.determinism import TITLES, Counterexample, Derivation, Failure, Finding, Witness
from pdacon.determinism.report.sarif import to_sarif
from pdacon.front.checking import check
from pdacon.front.grammar import Grammar
from pdacon.front.report import DeterminismReport
from pdacon.grammar import Span


def closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    properties = {**required, **optional}
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def several(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


TEXT = {"type": "string", "minLength": 1}
LINE = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = closed({"text": TEXT})
ARTIFACT = closed({"uri": {"type": "string", "format": "uri-reference", "pattern": r"^[^\\ <>\"{}]+$"}})
REGION = closed({"startLine": LINE}, startColumn=LINE, endLine=LINE, endColumn=LINE)
PLACE = closed({"artifactLocation": ARTIFACT, "region": REGION})
LOCATION = closed({"physicalLocation": PLACE})
RELATED = closed({"id": {"type": "integer", "minimum": 0}, "message": MESSAGE, "physicalLocation": PLACE})
RULE = closed(
    {
        "id": TEXT,
        "name": {"type": "string", "pattern": "^[A-Z][A-Za-z]+$"},
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": closed({"text": TEXT, "markdown": TEXT}),
        "defaultConfiguration": closed({"level": LEVEL}),
    }
)
RESULT = closed(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": {**several(LOCATION), "minItems": 1},
        "partialFingerprints": {"type": "object", "additionalProperties": TEXT},
        "properties": {"type": "object"},
    },
    relatedLocations=several(RELATED),
)
NOTIFICATION = closed({"level": LEVEL, "message": MESSAGE, "locations": several(LOCATION)})
RUN = closed(
    {
        "tool": closed({"driver": closed({"name": TEXT, "version": TEXT, "rules": several(RULE)})}),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "invocations": several(
            closed({"executionSuccessful": {"type": "boolean"}, "toolExecutionNotifications": several(NOTIFICATION)})
        ),
        "artifacts": {**several(closed({"location": ARTIFACT})), "uniqueItems": True},
        "results": several(RESULT),
    }
)
LOG = closed({"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": {**several(RUN), "minItems": 1}})

READING = Derivation("a", (Derivation("X"), Derivation("Y")))
INVENTED = DeterminismReport(
    "a folder/g#1.lark",
    (
        Finding(
            "PDA001",
            "error",
            "title",
            "message",
            Span("a folder/g#1.lark", 2, 3, 2, 9),
            ("X",),
            Witness(("X",), 1, b"\xff", b"x", (1, 2)),
            "repair",
            "ambiguous",
            Counterexample(True, READING, READING, 1, b"xy", b"xy"),
            (("the other one", Span("a folder/g#1.lark", 4, 1, 5, 1)),),
        ),
        Finding("PDA005", "note", "title", "message"),
        Finding("PDA005", "note", "title", "message"),
    ),
    "error",
    "reject",
)


def validate(log: dict[str, Any]) -> None:
    import jsonschema

    log = json.loads(json.dumps(log))
    jsonschema.validate(log, LOG, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


@pytest.mark.parametrize("folder", FIXTURES, ids=lambda folder: folder.name)
def test_reports_are_valid(folder: Path) -> None:
    report = report_of(folder / "grammar.lark")
    log = to_sarif([report], "1.0")
    validate(log)
    results = log["runs"][0]["results"]
    assert [(result["ruleId"], result["level"]) for result in results] == [(f.id, f.level) for f in report.findings]


def test_everything_that_a_finding_can_have_is_valid() -> None:
    log = to_sarif([INVENTED], "1.0", [Failure("bad.lark", "not a grammar", Span("bad.lark", 1, 1, 1, 1))])
    validate(log)
    (run,) = log["runs"]
    first = run["results"][0]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20folder/g%231.lark"},
        "region": {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 9},
    }
    assert first["relatedLocations"][0]["message"] == {"text": "the other one"}
    assert first["properties"]["cause"] == "ambiguous"
    assert not run["invocations"][0]["executionSuccessful"]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"] == {"text": "not a grammar"}


def test_no_two_results_have_one_fingerprint() -> None:
    results = to_sarif([INVENTED], "1.0")["runs"][0]["results"]
    assert len({json.dumps(result["partialFingerprints"]) for result in results}) == 3


def test_fingerprints_stay_when_lines_are_added_above() -> None:
    text = 'start: a | b\na: "x"\nb: "x"\n'
    before, after = (
        [
            result["partialFingerprints"]
            for result in to_sarif([check(Grammar.from_lark(t))], "1.0")["runs"][0]["results"]
        ]
        for t in (text, "// a remark\n\n" + text)
    )
    assert before == after


def test_every_id_is_a_rule_with_its_page() -> None:
    rules = to_sarif([], "1.0")["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(TITLES)
    assert all(rule["help"]["markdown"].startswith(f"# {rule['id']}: ") for rule in rules)


OBJECTS = {
    "runs": "Run",
    "tool": "Tool",
    "driver": "ToolComponent",
    "rules": "ReportingDescriptor",
    "shortDescription": "MultiformatMessageString",
    "fullDescription": "MultiformatMessageString",
    "help": "MultiformatMessageString",
    "defaultConfiguration": "ReportingConfiguration",
    "invocations": "Invocation",
    "toolExecutionNotifications": "Notification",
    "artifacts": "Artifact",
    "location": "ArtifactLocation",
    "artifactLocation": "ArtifactLocation",
    "results": "Result",
    "message": "Message",
    "locations": "Location",
    "relatedLocations": "Location",
    "physicalLocation": "PhysicalLocation",
    "region": "Region",
}
"""The class of sarif-om for each property that is an object or a list of objects."""


def require_known(name: str, value: dict[str, Any]) -> None:
    """Make sure that an object has the properties of its class, and those that it must have."""
    fields = attrs.fields(getattr(pytest.importorskip("sarif_om"), name))
    known = {field.metadata["schema_property_name"] for field in fields}
    required = {field.metadata["schema_property_name"] for field in fields if field.default is attrs.NOTHING}
    assert required <= value.keys() <= known, name
    for key, inner in value.items():
        for item in inner if isinstance(inner, list) else [inner]:
            if key in OBJECTS:
                require_known(OBJECTS[key], item)
            else:  # free to hold anything
                assert not isinstance(item, dict) or key in ("properties", "partialFingerprints"), key


@pytest.mark.slow
def test_properties_are_those_of_the_standard() -> None:
    reports = [INVENTED, *(report_of(folder / "grammar.lark") for folder in FIXTURES)]
    require_known("SarifLog", to_sarif(reports, "1.0", [Failure("bad.lark", "why")]))


def test_the_schema_of_the_standard_accepts_it() -> None:
    import jsonschema

    path = os.environ.get("SARIF_SCHEMA")
    if path is None:
        pytest.skip("no copy of the schema at hand: SARIF_SCHEMA is not set")
    schema = json.loads(Path(path).read_text(encoding="utf-8"))
    reports = [INVENTED, *(report_of(folder / "grammar.lark") for folder in FIXTURES)]
    log = json.loads(json.dumps(to_sarif(reports, "1.0", [Failure("bad.lark", "why")])))
    jsonschema.validators.validator_for(schema)(schema).validate(log)
