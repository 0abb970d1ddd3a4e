"""What the examples of the chart render, as files that a person can review: `minimal` whole, each
other example as its difference from `minimal`, object by object. Objects of several services that
differ alike are shown once.
"""

import copy
import difflib
import re
from pathlib import Path

import yaml
from chart import Object, render

FOLDER = Path(__file__).with_name("golden")
WHOLE = "minimal"


def path_of(case: str) -> Path:
    """The file of an example."""
    return FOLDER / (f"{case}.yaml" if case == WHOLE else f"{case}.diff")


def make(case: str) -> str:
    """The content that the file should have."""
    if case == WHOLE:
        return "---\n".join(_texts(case).values())
    before, now = _texts(WHOLE), _texts(case)
    objects_of: dict[str, list[str]] = {}
    for name in sorted({*before, *now}):
        for hunk in _hunks(before.get(name, ""), now.get(name, "")):
            anonymous = _without_names(name, hunk, now.get(name) or before[name])
            objects_of.setdefault(anonymous, []).append(name)
    return "\n".join(
        "".join(f"=== {name}\n" for name in names) + hunk for hunk, names in objects_of.items()
    )


def _texts(case: str) -> dict[str, str]:
    objects = sorted(
        (_shown(each) for each in render(case)),
        key=lambda each: (each["kind"], each["metadata"]["name"]),
    )
    return {
        f"{each['kind']}/{each['metadata']['name']}": yaml.dump(
            each, Dumper=yaml.CSafeDumper, sort_keys=True, width=100
        )
        for each in objects
    }


def _shown(rendered: Object) -> Object:
    """An object without versions and without what other files of the chart hold."""
    shown = copy.deepcopy(rendered)
    labels = shown["metadata"].get("labels", {})
    labels.pop("helm.sh/chart", None)
    labels.pop("app.kubernetes.io/version", None)
    if shown["kind"] == "PrometheusRule":
        del shown["spec"]
    elif "-dashboard-" in shown["metadata"]["name"]:
        del shown["data"]
    return shown


def _hunks(before: str, now: str) -> list[str]:
    """The hunks of a unified diff, without line numbers: these change with every line before."""
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), n=1, lineterm="")
    text = "\n".join(list(lines)[2:]) + "\n"
    return [hunk for hunk in re.split(r"^@@.*\n", text, flags=re.MULTILINE) if hunk.strip()]


def _without_names(name: str, hunk: str, rendered: str) -> str:
    """The hunk with placeholders for the name and the component of its object."""
    component = re.search(r"app.kubernetes.io/component: (\S+)", rendered)
    hunk = hunk.replace(name.split("/")[1], "<name>")
    if component:
        hunk = re.sub(rf"(?<![a-z]){component[1]}(?![a-z])", "<component>", hunk)
    return hunk
