"""The files of examples/deploy name what there is: options of the command, paths and figures of the server."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from pdacon.cli.app import app
from pdacon.serving.metrics import Metrics

DEPLOY = Path(__file__).parents[2] / "examples" / "deploy"
if not DEPLOY.is_dir():
    pytest.skip("the examples are not part of this distribution", allow_module_level=True)


def options_of_serve() -> set[str]:
    command: Any = typer.main.get_command(app)
    return {option for parameter in command.commands["serve"].params for option in parameter.opts}


def test_options_and_paths_are_there() -> None:
    deployment, service, budget = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))
    pod = deployment["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    given = dict(argument.split("=", 1) for argument in container["args"])
    docker = (DEPLOY / "Dockerfile").read_text("utf-8")
    entry = json.loads(re.findall(r"^ENTRYPOINT (.*)$", docker, re.MULTILINE)[0])
    assert entry[:2] == ["pdacon", "serve"]
    named = {
        *given,
        *(word for word in entry if word.startswith("--")),
        *re.findall(r"^#.* (--\w+)", docker, re.MULTILINE),
    }
    assert named <= options_of_serve()

    assert {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")} == {
        "/ready",
        "/health",
    }
    assert pod["metadata"]["annotations"]["prometheus.io/path"] == "/metrics"
    waits = float(given["--drain-delay"]) + float(given["--drain-seconds"])
    assert waits < pod["spec"]["terminationGracePeriodSeconds"]
    labels = pod["metadata"]["labels"]
    assert service["spec"]["selector"] == labels == budget["spec"]["selector"]["matchLabels"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {each["name"] for each in pod["spec"]["volumes"]}


def test_every_figure_of_the_board_is_counted() -> None:
    metrics = Metrics("a")
    metrics.follow_cache(lambda: defaultdict(int))
    counted = set(re.findall(r"^# TYPE (\w+) ", metrics.text("")[0].decode(), re.MULTILINE))
    board = (DEPLOY / "grafana.json").read_text("utf-8")
    assert json.loads(board)["panels"]
    named = set(re.findall(r"pdacon_\w+", board))
    assert named
    assert {name.removesuffix("_bucket") for name in named} <= counted
