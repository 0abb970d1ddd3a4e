"""Rendering the chart as an operator would, and reading what came out."""

import functools
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

from dev import kubernetes_tools  # noqa: E402
from generate import chart_files  # noqa: E402 - found by the line above

CHART = chart_files.CHART
SERVICES = chart_files.SERVICES
CASES = sorted(path.name.removesuffix(".values.yaml") for path in CHART.glob("ci/*.values.yaml"))
SETTINGS = json.loads((CHART / "files" / "settings.json").read_text(encoding="utf-8"))
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
# A name of 53 characters, the most that helm allows.
LONG_RELEASE = "a-release-whose-name-has-fifty-three-characters-in-it"

Object = dict[str, Any]
Values = Mapping[str, Any]


def values_file(case: str) -> Path:
    """Returns the path of one of the chart's examples, or of the values beside its own."""
    beside = CHART / f"values.{case}.yaml"
    return beside if beside.exists() else CHART / "ci" / f"{case}.values.yaml"


def _helm(*arguments: str, values: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(kubernetes_tools.helm()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=values)


@functools.cache
def _template(case: str, values: str, release: str) -> subprocess.CompletedProcess[str]:
    return _helm(
        *("template", release, str(CHART), "--namespace", "mail"),
        *("--values", str(values_file(case)), "--values", "-"),
        values=values,
    )


def text(case: str, values: Values | None = None, release: str = "tempinbox") -> str:
    """Returns what helm renders for an example with further values, as text."""
    ran = _template(case, json.dumps(values or {}, sort_keys=True), release)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def render(case: str, values: Values | None = None, release: str = "tempinbox") -> list[Object]:
    """The same as objects."""
    documents = yaml.load_all(text(case, values, release), Loader=yaml.CSafeLoader)
    return [document for document in documents if document]


def refusal(case: str, values: Values) -> str:
    """Returns helm's error message when it renders nothing."""
    ran = _template(case, json.dumps(values, sort_keys=True), "tempinbox")
    assert ran.returncode != 0, "helm took these values"
    return ran.stderr


def notes(case: str, values: Values | None = None) -> str:
    """Returns the notes that an operator reads after an installation."""
    ran = _helm(
        *("install", "tempinbox", str(CHART), "--namespace", "mail", "--dry-run=client"),
        *("--values", str(values_file(case)), "--values", "-"),
        values=json.dumps(values or {}),
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split("\nNOTES:\n", maxsplit=1)[1]


def lint(case: str) -> subprocess.CompletedProcess[str]:
    """`helm lint --strict` of an example."""
    return _helm("lint", "--strict", str(CHART), "--values", str(values_file(case)))


def find(objects: list[Object], kind: str, name: str) -> Object:
    """The one object of this kind and name."""
    found = [each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1, f"{len(found)} objects are {kind}/{name}"
    return found[0]


def of_kind(objects: list[Object], kind: str) -> list[Object]:
    """All objects of a kind."""
    return [each for each in objects if each["kind"] == kind]


def component(each: Object) -> str:
    """The part of the suite that an object belongs to; nothing for an operator's own."""
    return str(each["metadata"].get("labels", {}).get("app.kubernetes.io/component", ""))


def pod_templates(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """Every pod that the objects make: where it stands, and its metadata and spec."""
    for each in objects:
        where = f"{each['kind']}/{each['metadata']['name']}"
        if each["kind"] == "Pod":
            yield where, each
        elif each["kind"] in ("Deployment", "Job"):
            yield where, each["spec"]["template"]
        elif each["kind"] == "CronJob":
            yield where, each["spec"]["jobTemplate"]["spec"]["template"]


def environment(pod: Object) -> dict[str, Any]:
    """Variables of the first container by name; a source where there is no value."""
    variables = pod["spec"]["containers"][0]["env"]
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in variables}


def mebibytes(quantity: str) -> int:
    """512Mi or 2Gi in MiB."""
    unit = {"Mi": 1, "Gi": 1024}[quantity[-2:]]
    return int(quantity[:-2]) * unit
