"""Faults that the rehearsal must find: each a change of values, or of a copy of the chart."""

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dev.terminal import fail

from k8s import installation, layout


@dataclass(frozen=True)
class Sabotage:
    """Values laid over the rehearsal's, and what is replaced in the chart's templates; `seen_by`
    are the steps that must fail.
    """

    does: str
    seen_by: list[str]
    values: dict[str, Any] = field(default_factory=dict)
    # Patterns and what they become, in any template; each must be found.
    replaced: list[tuple[str, str]] = field(default_factory=list)


_DSN_AS_VARIABLE = (
    r"\1- {name: TEMPINBOX_DATABASE, valueFrom: {secretKeyRef: {name: database, key: uri}}}\n"
    r"\1- name: POD_NAME\n"
)
_PROBE_OF_DATABASE = (
    f"readinessProbe: {{tcpSocket: {{host: {layout.HOST_ADDRESS}, port: 5432}}, "
    "periodSeconds: 2, failureThreshold: 1}\n"
)
ALL = {
    "no-prestop": Sabotage(
        "pods end before they are out of their Services",
        ["roll"],
        {"defaults": {"preStopSeconds": 0}},
    ),
    "no-drain": Sabotage(
        "what is under way is cut off",
        ["roll"],
        {"defaults": {"settings": {"drain-timeout": "0s"}}},
    ),
    "no-pdb": Sabotage(
        "all pods of a service may be evicted at once",
        ["drain"],
        {"defaults": {"pdb": {"enabled": False}}},
    ),
    "fixed-rpc": Sabotage(
        "the gateway knows the addresses of today's inbox pods",
        ["scale"],
        # The certificates are for names.
        {"rpc": {"tls": {"existingSecret": ""}}},
        # The chart itself refuses to have these addresses set.
        [(r'"inbox-rpc" "nothing: [^"]*"', "")],
    ),
    "inline-database": Sabotage(
        "the DSN is an environment variable, which never changes",
        ["secrets"],
        {},
        [
            (r'"settings" \(dict "database-file" "uri"\)', '"settings" dict'),
            (
                r"( +)- name: POD_NAME\n",
                _DSN_AS_VARIABLE,
            ),
        ],
    ),
    "readiness-follows": Sabotage(
        "a pod is ready while PostgreSQL is",
        ["postgres"],
        {},
        [
            (
                r"readinessProbe:\n[^\n]*/readyz[^\n]*\n",
                _PROBE_OF_DATABASE,
            ),
        ],
    ),
}


def sabotaged_chart(chosen: Sabotage) -> Path:
    """The chart, or a copy with the fault in it."""
    if not chosen.replaced:
        return installation.CHART
    copy = layout.STATE / "sabotaged" / "tempinbox"
    shutil.rmtree(copy.parent, ignore_errors=True)
    shutil.copytree(installation.CHART, copy)
    for pattern, becomes in chosen.replaced:
        if not sum(_replace(template, pattern, becomes) for template in copy.glob("templates/*")):
            fail(f"the chart has nothing that looks like {pattern}: give the sabotage another")
    return copy


def _replace(template: Path, pattern: str, becomes: str) -> int:
    text, times = re.subn(pattern, becomes, template.read_text(encoding="utf-8"))
    if times:
        template.write_text(text, encoding="utf-8")
    return times
