"""The alerts and the dashboard that the chart brings, as Prometheus reads them.

`python -m pytest tests/deploy/test_alerts.py` needs promtool and nothing that runs; that every
metric is there is asked of running services by tests/e2e/test_metrics.py.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

_ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(_ROOT / "tools"))

from dev import metric_names  # noqa: E402 - found by the line above
from generate import alert_pages  # noqa: E402 - likewise

_ALERTS = alert_pages.alerts()
_CASES = Path(__file__).with_name("alerts")
_MADE = metric_names.made()
_OF_WHOLE_SCHEMA = metric_names.of_whole_schema()


def _promtool(*arguments: str | Path) -> None:
    """Fails with what promtool says."""
    ran = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _expressions(alert: str) -> list[str]:
    return [rule["expr"] for rule in alert_pages.rules(alert)]


def _comparison(expression: str) -> tuple[str, float]:
    """The operator and the number that an expression ends with."""
    found = re.search(r"([<>]=?|==)\s*([\d.]+)\s*$", expression)
    assert found, f"no threshold at the end of: {expression}"
    return found[1], float(found[2])


def test_there_is_a_file_a_case_a_runbook_and_a_threshold_for_each_alert() -> None:
    cases = [path.name.removesuffix("_test.yaml") for path in sorted(_CASES.glob("*.yaml"))]
    runbooks = [path.stem for path in sorted(alert_pages.RUNBOOKS.glob("*.md"))]

    assert len(_ALERTS) == 22
    assert cases == _ALERTS
    assert runbooks == _ALERTS
    assert sorted({entry["alert"] for entry in alert_pages.thresholds()}) == _ALERTS


# All files in one run each: promtool takes longer to start than to check.
def test_the_rules_are_valid() -> None:
    files = [alert_pages.ALERTS / f"{alert}.yaml" for alert in _ALERTS]

    _promtool("check", "rules", "--lint=all", "--lint-fatal", *files)


def test_alerts_fire_and_resolve_as_their_cases_say() -> None:
    _promtool("test", "rules", *sorted(_CASES.glob("*.yaml")))


@pytest.mark.parametrize("alert", _ALERTS)
def test_the_cases_show_each_rule_fire_stay_silent_and_resolve(alert: str) -> None:
    tests = yaml.safe_load((_CASES / f"{alert}_test.yaml").read_text(encoding="utf-8"))["tests"]
    steps = {
        begin: [
            [at["exp_alerts"] for at in test["alert_rule_test"]]
            for test in tests
            if test["name"].startswith(begin)
        ]
        for begin in ("fires", "does not fire", "resolves")
    }
    rules = [rule["labels"] for rule in alert_pages.rules(alert)]
    fired = [one["exp_labels"] for test in steps["fires"] for at in test for one in at]

    assert sum(map(len, steps.values())) == len(tests), "a case has another name"
    assert all(any(labels.items() <= one.items() for one in fired) for labels in rules)
    assert steps["does not fire"]
    assert all(not at for test in steps["does not fire"] for at in test)
    assert steps["resolves"]
    assert all(test[0] and not test[-1] for test in steps["resolves"])


@pytest.mark.parametrize("alert", _ALERTS)
def test_the_rules_compare_with_the_thresholds_of_the_table(alert: str) -> None:
    operators = {"above": ">", "below": "<"}
    table = [
        (
            operators[entry["when"]],
            entry["threshold"],
            entry["for"],
            entry["severity"],
            entry.get("cause"),
        )
        for entry in alert_pages.thresholds()
        if entry["alert"] == alert
    ]
    rules = [
        (
            *_comparison(rule["expr"]),
            rule["for"],
            rule["labels"]["severity"],
            rule["labels"].get("cause"),
        )
        for rule in alert_pages.rules(alert)
    ]

    assert rules == table


@pytest.mark.parametrize("alert", _ALERTS)
def test_an_alert_says_what_is_wrong_and_where_help_is(alert: str) -> None:
    labels = []
    for rule in alert_pages.rules(alert):
        annotations = rule["annotations"]
        labels.append((rule["labels"]["severity"], rule["labels"].get("cause")))

        assert rule["alert"] == alert
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["labels"]["product"] == "tempinbox"
        assert annotations.keys() == {"summary", "description", "runbook_url"}
        assert "$labels.namespace" in annotations["summary"]
        assert "$value" in annotations["description"]
        assert annotations["runbook_url"] == f"docs/runbooks/{alert}.md"
        assert (_ROOT / annotations["runbook_url"]).is_file()
    assert len(set(labels)) == len(labels), "two rules make the same alert"


@pytest.mark.parametrize("alert", _ALERTS)
def test_each_installation_alerts_by_itself(alert: str) -> None:
    groupings = [
        found
        for text in _expressions(alert)
        for found in re.findall(r"\b(?:by|on) \(([^)]*)\)", text)
    ]

    assert groupings
    assert all("namespace" in found.split(", ") for found in groupings)


def test_the_pages_quote_the_table() -> None:
    ran = subprocess.run(
        [sys.executable, _ROOT / "tools" / "generate" / "alert_pages.py", "--check"],
        capture_output=True,
        text=True,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("alert", _ALERTS)
def test_a_runbook_answers_the_questions_of_whoever_is_woken(alert: str) -> None:
    text = (alert_pages.RUNBOOKS / f"{alert}.md").read_text(encoding="utf-8")

    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
        "What it means",
        "What users see",
        "How to look",
        "What to do",
        "When it is harmless",
    ]


@pytest.mark.parametrize("alert", _ALERTS)
def test_a_runbook_begins_with_the_metrics_of_its_alert(alert: str) -> None:
    text = (alert_pages.RUNBOOKS / f"{alert}.md").read_text(encoding="utf-8")
    table = text.partition("\n## ")[0]
    metrics = {name for text in _expressions(alert) for name in alert_pages.metrics_of(text)}

    assert metrics
    assert [name for name in metrics if f"`{alert_pages.family(name)}`" not in table] == []


def test_every_metric_is_made() -> None:
    unknown = {
        (where, name)
        for where, text in alert_pages.expressions()
        for name in alert_pages.metrics_of(text)
        if alert_pages.family(name) not in _MADE
    }

    assert unknown == set()


def test_gauges_of_a_whole_schema_are_never_added_up() -> None:
    assert len(_OF_WHOLE_SCHEMA) >= 5
    added_up = [
        (where, name)
        for where, text in alert_pages.expressions()
        for name in _OF_WHOLE_SCHEMA
        for found in re.finditer(rf"\b{name}\b", text)
        if not re.search(r"\b(max|min)( by \([^)]*\))? \(?$|\b(max|min)\($", text[: found.start()])
    ]

    assert added_up == []


def test_counters_are_read_as_rates() -> None:
    plain = [
        (where, name)
        for where, text in alert_pages.expressions()
        for name in alert_pages.metrics_of(text)
        if name.endswith(("_total", "_bucket", "_count", "_sum"))
        for found in re.finditer(rf"\b{name}\b", text)
        if not text[: found.start()].endswith(("rate(", "increase("))
    ]

    assert plain == []


def test_every_query_of_the_dashboard_parses(tmp_path: Path) -> None:
    expressions = alert_pages.dashboard_expressions()
    rules = [
        {"record": f"dashboard:query_{number}", "expr": text}
        for number, (_, text) in enumerate(expressions)
    ]
    file = tmp_path / "dashboard.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))

    assert len(expressions) > 50
    _promtool("check", "rules", file)


def test_the_dashboard_stands_alone_and_keeps_its_address() -> None:
    dashboard: dict[str, Any] = json.loads(alert_pages.DASHBOARD.read_text(encoding="utf-8"))
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    sources = {
        source["uid"] for panel in panels for source in (panel["datasource"], *_sources(panel))
    }

    assert dashboard["uid"] == "tempinbox"
    assert [one["name"] for one in dashboard["templating"]["list"]] == [
        "datasource",
        "namespace",
        "service",
    ]
    assert sources == {"${datasource}"}
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    assert all(
        'namespace=~"$namespace"' in target["expr"]
        for panel in panels
        for target in panel["targets"]
    )


def _sources(panel: dict[str, Any]) -> list[dict[str, str]]:
    return [target["datasource"] for target in panel["targets"]]


def test_no_panel_covers_another() -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in json.loads(alert_pages.DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        at = panel["gridPos"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                assert x < 24
                assert taken.setdefault((x, y), panel["title"]) == panel["title"]
