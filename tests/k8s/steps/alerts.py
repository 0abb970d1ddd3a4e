"""The chart's alerts on a Prometheus that scrapes the pods: they fire, and resolve."""

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

from dev.terminal import fail

from k8s import host_services, installation, layout
from k8s.course import Course
from k8s.installation import CHART, NAMESPACE, Object, wait_for
from k8s.publishing import publish

_URL = f"http://{layout.HOST_ADDRESS}:{host_services.PROMETHEUS_PORT}/api/v1"
_FOR = re.compile(r"^(\s+for:) .*$", re.MULTILINE)
_HELD_EVENTS = 2_000
# The time a consumer may be behind in a rehearsal, and the chart's value.
_BEHIND_SECONDS, _BEHIND_PATTERN = 15, re.compile(r"(oldest_age_seconds\)) > 300\b")


def fire_and_resolve(course: Course) -> str:
    """Uses waits of seconds in place of minutes; the expressions are the chart's."""
    rules = _quick_rules()
    targets = [_target(pod) for pod in installation.ready_all()]
    host_services.start_prometheus(rules, targets)
    wait_for(lambda: _up() == len(targets), 60, f"Prometheus scrapes {len(targets)} pods")
    host_services.stop_database()
    try:
        wait_for(lambda: "DependencyAway" in _firing(), 90, "DependencyAway fires")
    finally:
        host_services.start_database()
    course.heal()
    wait_for(lambda: "DependencyAway" not in _firing(), 90, "DependencyAway resolves")
    _hold_consumer()
    wait_for(lambda: "ConsumerBehind" not in _firing(), 120, "ConsumerBehind resolves")
    course.load.wait_progress()
    return f"both fired and resolved; {len(rules)} files of rules, {len(targets)} pods scraped"


def _target(pod: Object) -> Object:
    """Returns a target with the labels that a PodMonitor gives; Debian's Prometheus cannot ask the
    API for pods.
    """
    labels = {
        "namespace": NAMESPACE,
        "pod": installation.name_of(pod),
        "container": pod["spec"]["containers"][0]["name"],
        "service": pod["metadata"]["labels"]["app.kubernetes.io/component"],
    }
    return {"targets": [f"{pod['status']['podIP']}:9090"], "labels": labels}


def _quick_rules() -> list[Path]:
    folder = host_services.FOLDER / "rules"
    folder.mkdir(exist_ok=True)
    made = []
    for file in sorted((CHART / "alerts").glob("[A-Z]*.yaml")):
        text = _FOR.sub(r"\1 5s", file.read_text(encoding="utf-8"))
        text = _BEHIND_PATTERN.sub(rf"\1 > {_BEHIND_SECONDS}", text)
        (folder / file.name).write_text(text, encoding="utf-8")
        made.append(folder / file.name)
    if not made:
        fail("the chart has no alerts")
    return made


def _ask(path: str) -> Any:
    with urllib.request.urlopen(f"{_URL}{path}", timeout=10) as answer:  # noqa: S310 - ours
        return json.load(answer)["data"]


def _up() -> int:
    try:
        return sum(it["health"] == "up" for it in _ask("/targets?state=active")["activeTargets"])
    except OSError:
        return 0


def _firing() -> set[str]:
    return {
        it["labels"]["alertname"] for it in _ask("/alerts")["alerts"] if it["state"] == "firing"
    }


def _hold_consumer() -> None:
    """A lock on what the dispatcher writes: it cannot go on, and falls behind."""
    lock = (
        "BEGIN; LOCK TABLE webhooks.events IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(100); COMMIT"
    )
    holder = host_services.in_background(lock)
    try:
        publish(_HELD_EVENTS)
        wait_for(lambda: "ConsumerBehind" in _firing(), 100, "ConsumerBehind fires")
    finally:
        holder.kill()
        holder.wait()
        host_services.end_statements("%LOCK TABLE webhooks.events%")
