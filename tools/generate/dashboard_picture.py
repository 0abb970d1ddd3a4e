"""Draws the Grafana dashboard of the chart as SVG, from the answers of a Prometheus.

Usage: python3 tools/generate/dashboard_picture.py --prometheus http://127.0.0.1:9090 [--minutes 15]
       [--output docs/images/dashboard-grafana.svg]

Panels, titles, queries and units are those of the dashboard's file; Grafana has no part in it.
"""

import argparse
import json
import math
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

sys.path.append(str(Path(__file__).resolve().parents[1]))

from generate import alert_pages

_PICTURE = alert_pages.ROOT / "docs" / "images" / "dashboard-grafana.svg"
_POINTS = 60
_COLUMN, _ROW, _GAP = 48, 24, 6  # pixels of a unit of Grafana's grid, and between panels
_TOP = 44
_COLORS = ("#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#f2495c", "#b877d9", "#37872d", "#8ab8ff")
_STYLE = """
text { font: 10px 'DejaVu Sans', sans-serif; fill: #c7d0d9 }
.panel { fill: #181b1f; stroke: #2c3235 }
.title { font-size: 12px; fill: #e6e9ed }
.row { font-size: 14px; fill: #e6e9ed }
.stat { font-size: 26px; fill: #73bf69 }
.grid { stroke: #2c3235 }
.line { fill: none; stroke-width: 1.3 }
"""
_MAX_SERIES = 6  # in a panel's legend and drawing

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Series:
    """A line of a panel."""

    name: str
    points: Points


def _name(legend: str, labels: dict[str, str]) -> str:
    for label in re.findall(r"{{(\w+)}}", legend):
        legend = legend.replace("{{" + label + "}}", labels.get(label, ""))
    return legend


class Prometheus:
    """Answers range queries over the last minutes."""

    def __init__(self, address: str, minutes: int) -> None:
        self._address = address.rstrip("/")
        self.end = time.time()
        self.begin = self.end - minutes * 60

    def ask(self, expression: str, legend: str) -> list[Series]:
        """The series of a query, named as the legend says; numbers that are none are left out."""
        step = (self.end - self.begin) / _POINTS
        query = urllib.parse.urlencode(
            {"query": expression, "start": self.begin, "end": self.end, "step": step}
        )
        address = f"{self._address}/api/v1/query_range?{query}"
        with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - as given
            results = json.load(answer)["data"]["result"]
        return [
            Series(
                _name(legend, one["metric"]),
                [(at, float(text)) for at, text in one["values"] if math.isfinite(float(text))],
            )
            for one in results
        ]


def _shown(value: float, unit: str) -> str:
    """A value as Grafana would write it, roughly."""
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    if unit == "s":
        return _seconds(value)
    if unit == "bytes":
        power = min(3, int(math.log(value, 1024))) if value >= 1 else 0
        return f"{value / 1024**power:.3g} {('B', 'KiB', 'MiB', 'GiB')[power]}"
    suffix = {"mps": " msg/s", "reqps": " req/s"}.get(unit, "")
    return f"{value:.3g}{suffix}" if value < 1000 else f"{value / 1000:.3g} K{suffix}"


def _seconds(value: float) -> str:
    if value == 0:
        return "0 s"
    for bound, factor, name in ((1, 1e3, "ms"), (120, 1, "s"), (7200, 1 / 60, "min")):
        if value < bound:
            return f"{value * factor:.3g} {name}"
    return f"{value / 3600:.3g} h"


def _text(x: float, y: float, content: str, style: str = "", **attributes: str) -> str:
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    shown = f' class="{style}"' if style else ""
    return f'<text x="{x:g}" y="{y:g}"{shown}{more}>{escape(content)}</text>'


def _stacked(lines: Sequence[Series]) -> list[Series]:
    total: dict[float, float] = {}
    result = []
    for line in lines:
        for at, value in line.points:
            total[at] = total.get(at, 0) + value
        result.append(Series(line.name, [(at, total[at]) for at, _ in line.points]))
    return result


def _stat(lines: Sequence[Series], unit: str, width: float, height: float) -> list[str]:
    value = lines[0].points[-1][1] if lines and lines[0].points else None
    shown = "no data" if value is None else _shown(value, unit)
    return [_text(width / 2, height / 2 + 16, shown, "stat", text_anchor="middle")]


def _chart(
    lines: Sequence[Series],
    panel: dict[str, Any],
    size: tuple[float, float],
    prometheus: Prometheus,
) -> list[str]:
    """Axes, lines and legend of a panel."""
    defaults = panel["fieldConfig"]["defaults"]
    unit, is_stacked = defaults["unit"], defaults["custom"]["stacking"]["mode"] == "normal"
    ranked = sorted(lines, key=lambda line: -max((value for _, value in line.points), default=0))
    drawn = ranked[:_MAX_SERIES]
    shapes = _stacked(drawn) if is_stacked else drawn
    width, height = size
    left, top, right, bottom = 62.0, 30.0, width - 10, height - 46
    most = max((value for line in shapes for _, value in line.points), default=0) * 1.05 or 1
    share = (right - left) / (prometheus.end - prometheus.begin)
    out = []
    for part in (0, 0.5, 1):
        y = bottom - (bottom - top) * part
        out.append(f'<path class="grid" d="M{left:g} {y:g}H{right:g}"/>')
        out.append(_text(left - 5, y + 4, _shown(most * part, unit), text_anchor="end"))

    def drawing_point(at: float, value: float) -> str:
        x = left + (at - prometheus.begin) * share
        return f"{x:.0f} {bottom - (bottom - top) * value / most:.0f}"

    for number, line in reversed(list(enumerate(shapes))):
        path = "L".join(drawing_point(*point) for point in line.points)
        color = _COLORS[number % len(_COLORS)]
        if path and is_stacked:
            begin, end = (left + (line.points[i][0] - prometheus.begin) * share for i in (0, -1))
            area = f"M{begin:.0f} {bottom:g}L{path}L{end:.0f} {bottom:g}Z"
            out.append(f'<path d="{area}" fill="{color}" fill-opacity=".5"/>')
        if path:
            out.append(f'<path class="line" stroke="{color}" d="M{path}"/>')
    if not drawn:
        out.append(_text((left + right) / 2, (top + bottom) / 2, "nothing", text_anchor="middle"))
    return out + _legend(drawn, width, height)


def _legend(lines: Sequence[Series], width: float, height: float) -> list[str]:
    """Draws the legend in two columns of three."""
    out = []
    for number, line in enumerate(lines):
        x = 12 + (width - 24) / 3 * (number % 3)
        y = height - 24 + 14 * (number // 3)
        most = int(width / 3 / 6.3) - 2
        name = line.name if len(line.name) <= most else line.name[: most - 1] + "…"
        out.append(f'<rect x="{x:g}" y="{y - 7:g}" width="8" height="3" fill="{_COLORS[number]}"/>')
        out.append(_text(x + 12, y, name))
    return out


def _panel(panel: dict[str, Any], prometheus: Prometheus) -> str:
    at = panel["gridPos"]
    x, y = at["x"] * _COLUMN, _TOP + at["y"] * _ROW
    title = panel["title"].replace("$service", "all services")
    if panel["type"] == "row":
        return _text(x + 8, y + 17, f"▾ {title}", "row")
    width, height = at["w"] * _COLUMN - _GAP, at["h"] * _ROW - _GAP
    lines = [
        series
        for target in panel["targets"]
        for series in prometheus.ask(
            alert_pages.without_variables(target["expr"], interval="1m"), target["legendFormat"]
        )
    ]
    if panel["type"] == "stat":
        shapes = _stat(lines, panel["fieldConfig"]["defaults"]["unit"], width, height)
    else:
        shapes = _chart(lines, panel, (width, height), prometheus)
    return "\n".join(
        [
            f'<g transform="translate({x} {y})">',
            f'<rect class="panel" width="{width}" height="{height}" rx="3"/>',
            _text(10, 18, title, "title"),
            *shapes,
            "</g>",
        ]
    )


def draw(dashboard: dict[str, Any], prometheus: Prometheus) -> str:
    """The whole picture."""
    panels = dashboard["panels"]
    width = 24 * _COLUMN
    height = _TOP + _ROW * max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in panels) + 8
    minutes = round((prometheus.end - prometheus.begin) / 60)
    heading = f"{dashboard['title']}: preview of the Grafana dashboard, {minutes} minutes"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(heading)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" fill="#111217"/>',
            _text(8, 28, heading, "row"),
            *(_panel(one, prometheus) for one in panels),
            "</svg>",
            "",
        ]
    )


def main() -> None:
    """Writes the picture."""
    parser = argparse.ArgumentParser(description="Draws the Grafana dashboard as SVG.")
    parser.add_argument("--prometheus", required=True, help="its address, such as http://host:9090")
    parser.add_argument("--minutes", type=int, default=15, help="how far back (default: 15)")
    parser.add_argument("--output", type=Path, default=_PICTURE)
    chosen = parser.parse_args()
    dashboard = json.loads(alert_pages.DASHBOARD.read_text(encoding="utf-8"))
    try:
        picture = draw(dashboard, Prometheus(chosen.prometheus, chosen.minutes))
    except urllib.error.HTTPError as error:
        parser.exit(1, f"{chosen.prometheus} refuses a query: {error.read().decode()}\n")
    except urllib.error.URLError as error:
        parser.exit(1, f"no Prometheus at {chosen.prometheus}: {error.reason}\n")
    chosen.output.write_text(picture, encoding="utf-8")
    print(f"{chosen.output}: {len(picture) // 1024} KiB")


if __name__ == "__main__":
    main()
