"""Writes the thresholds of the alerts into their runbooks, with the metrics that they compare.

Usage: python3 tools/generate/alert_pages.py [--check]

Each page of docs/runbooks holds a table between the lines `<!-- thresholds -->` and
`<!-- end of thresholds -->`; the rest of a page is written by hand.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import yaml

ROOT = Path(__file__).resolve().parents[2]
ALERTS = ROOT / "deploy" / "helm" / "tempinbox" / "alerts"
RUNBOOKS = ROOT / "docs" / "runbooks"
DASHBOARD = ALERTS.parent / "dashboards" / "tempinbox.json"

_BEGIN, _END = "<!-- thresholds -->\n", "<!-- end of thresholds -->\n"
_PERIODS = {"days": 86_400, "h": 3_600, "min": 60, "s": 1}
_LABELS = {"http_request_method", "http_route", "http_response_status_code"}
_FOR_UNITS = {"s": "s", "m": "min", "h": "h"}

Threshold = TypedDict(
    "Threshold",
    {
        "alert": str,
        "cause": NotRequired[str],
        "measures": str,
        "when": str,
        "threshold": float,
        "unit": str,
        "for": str,
        "severity": str,
        "why": str,
    },
)


def thresholds() -> list[Threshold]:
    """The entries of thresholds.yaml."""
    text = (ALERTS / "thresholds.yaml").read_text(encoding="utf-8")
    entries: list[Threshold] = yaml.safe_load(text)["thresholds"]
    return entries


def rules(alert: str) -> list[dict[str, Any]]:
    """The rules of an alert's file."""
    groups = yaml.safe_load((ALERTS / f"{alert}.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def alerts() -> list[str]:
    """The names of all alerts that have a file."""
    return sorted(path.stem for path in ALERTS.glob("[A-Z]*.yaml"))


def metrics_of(expression: str) -> set[str]:
    """The names of the services' metrics in an expression; those that rules record are left out."""
    without_strings = re.sub(r'"[^"]*"', '""', expression)
    found = re.findall(
        r"(?<![\w:])(?:tempinbox|http|messaging|process)_\w+(?!:)\b", without_strings
    )
    return set(found) - _LABELS


def dashboard_expressions() -> list[tuple[str, str]]:
    """The title and query of each series of the dashboard, with values for Grafana's variables."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return [
        (panel["title"], without_variables(target["expr"]))
        for panel in panels
        for target in panel.get("targets", [])
    ]


def expressions() -> list[tuple[str, str]]:
    """Returns the expressions of alerts and dashboard, with where they stand."""
    of_alerts = [(alert, rule["expr"]) for alert in alerts() for rule in rules(alert)]
    return of_alerts + dashboard_expressions()


def without_variables(expression: str, interval: str = "5m") -> str:
    """A query as Grafana sends it where every namespace and service is chosen."""
    values = {"$__rate_interval": interval, "$namespace": ".*", "$service": ".*"}
    for variable, value in values.items():
        expression = expression.replace(variable, value)
    return expression


def family(metric: str) -> str:
    """The name under which /metrics describes a series: a histogram's without its suffix."""
    return re.sub(r"_(bucket|count|sum)$", "", metric)


def _shown(entry: Threshold) -> str:
    number, unit = entry["threshold"], entry["unit"]
    if unit == "seconds" and number < 1:
        return f"{number * 1000:g} ms"
    if unit == "seconds":
        period = next(name for name, seconds in _PERIODS.items() if number % seconds == 0)
        return f"{number / _PERIODS[period]:g} {period}"
    if unit == "ratio":
        return f"{number * 100:g} %"
    if number == 0:
        return "0"
    return f"{number:g} {unit}"


def _for(entry: Threshold) -> str:
    number, unit = entry["for"][:-1], entry["for"][-1]
    return "at once" if number == "0" else f"{number} {_FOR_UNITS[unit]}"


def _metrics(expression: str) -> str:
    """The names to look for in /metrics, in the order of the expression."""
    names = sorted(metrics_of(expression), key=expression.index)
    return ", ".join(f"`{family(name)}`" for name in names)


def _table(entries: Sequence[Threshold], expressions_of_rules: Sequence[str]) -> str:
    columns = ["severity", "fires when", "metric", "for", "because"]
    lines = [columns, ["---"] * len(columns)]
    for entry, expression in zip(entries, expressions_of_rules, strict=True):
        condition = f"{entry['measures']}: {entry['when']} {_shown(entry)}"
        metrics = _metrics(expression)
        lines.append([entry["severity"], condition, metrics, _for(entry), entry["why"]])
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return text.replace("| --- ", "|---").replace("|--- |", "|---|") + "\n"


def _with_table(path: Path, table: str) -> str:
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        sys.exit(f"{path.relative_to(ROOT)}: no lines {_BEGIN.strip()} and {_END.strip()}")
    return before + begin + "\n" + table + "\n" + end + after


def pages() -> Iterable[tuple[Path, str]]:
    """Each page that quotes thresholds, as it should be."""
    entries = thresholds()
    for alert in dict.fromkeys(entry["alert"] for entry in entries):
        own = [entry for entry in entries if entry["alert"] == alert]
        path = RUNBOOKS / f"{alert}.md"
        yield path, _with_table(path, _table(own, [rule["expr"] for rule in rules(alert)]))


def main() -> int:
    """Exit code 1 with --check where a page is not up to date."""
    parser = argparse.ArgumentParser(description="Writes the alerts' thresholds into the runbooks.")
    parser.add_argument("--check", action="store_true", help="change nothing, name what differs")
    only_checks = parser.parse_args().check
    outdated = [(path, text) for path, text in pages() if path.read_text(encoding="utf-8") != text]
    for path, text in outdated:
        print(f"{path.relative_to(ROOT)}: {'not up to date' if only_checks else 'written'}")
        if not only_checks:
            path.write_text(text, encoding="utf-8")
    if outdated and only_checks:
        print("python3 tools/generate/alert_pages.py writes them anew")
    return 1 if outdated and only_checks else 0


if __name__ == "__main__":
    sys.exit(main())
