"""Bar charts as SVG: of the figures that a bench has noted, one line of JSON each
(tests/bench/measuring/figures.py).
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from dev.terminal import fail

FIGURES_VARIABLE = "TEMPINBOX_BENCH_FIGURES"  # names the file; without it nothing is noted
_WIDTH, _MARGIN, _GAP = 800, 16, 10
_ROW, _BAR, _CHARACTER = 26, 16, 7.6  # pixels; a character is as wide at most, on average
_HEAD, _LEGEND, _FOOT = 56, 24, 20
_VALUE_WIDTH = 80
# Told apart without color vision too, and from the ground by 3:1 at least: light, dark.
_COLORS = [
    ("#0f6b66", "#5ccfc0"),
    ("#b4530f", "#f0a868"),
    ("#5b4b9a", "#b3a6ee"),
    ("#7a6a00", "#dccb55"),
    ("#2f6ca8", "#7fbcf2"),
    ("#a02c54", "#f08fb0"),
    ("#66706c", "#a9b1ae"),
]
_FONTS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_STYLE = """
    .ground { fill: #ffffff }
    .ink { fill: #1c1f1e }
    .soft { fill: #5a625f; font-size: 13px }
    .name { fill: #1c1f1e; font-weight: 600; font-size: 16px }
    .axis { stroke: #8b928f }
"""
_DARK = """
      .ground { fill: #151817 }
      .ink, .name { fill: #f1f3f2 }
      .soft { fill: #a9b1ae }
      .axis { stroke: #7d8683 }
"""


@dataclass
class Bar:
    """One thing that was measured; of several parts where these make up the whole."""

    name: str
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Returns the length of the bar."""
        return sum(self.parts.values())


@dataclass
class Chart:
    """Bars of one unit, which begin at zero."""

    title: str
    unit: str
    bars: list[Bar] = field(default_factory=list)

    @property
    def parts(self) -> list[str]:
        """Returns the parts of all bars, in the order in which they first came; none if no bar is
        divided.
        """
        names = dict.fromkeys(name for bar in self.bars for name in bar.parts)
        return list(names) if any(names) else []

    @property
    def height(self) -> int:
        """Returns the height in pixels."""
        return _HEAD + _ROW * len(self.bars) + (_LEGEND if self.parts else 0) + _FOOT


def read(lines: Iterable[str]) -> list[Chart]:
    """A figure that was noted twice counts as noted last."""
    charts: dict[str, Chart] = {}
    bars: dict[tuple[str, str], Bar] = {}
    for line in lines:
        noted = json.loads(line)
        title, name = noted["chart"], noted["bar"]
        chart = charts.setdefault(title, Chart(title, noted["unit"]))
        if (title, name) not in bars:
            bars[title, name] = Bar(name)
            chart.bars.append(bars[title, name])
        bars[title, name].parts[noted["part"]] = float(noted["value"])
    return list(charts.values())


def write(charts: list[Chart], target: Path, bench: str) -> list[Path]:
    """All charts into one file where the target is an SVG, else each into one of the folder, named
    for the bench and the chart.
    """
    if not charts:
        fail(f"{bench} noted no figures: there is nothing to draw")
    if target.suffix == ".svg":
        texts = {target: svg(charts)}
    else:
        texts = {target / f"{bench}-{_slug(it.title)}.svg": svg([it]) for it in charts}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def number(value: float) -> str:
    """Three digits that count, at least."""
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{decimals}f}"


def svg(charts: list[Chart]) -> str:
    """The charts, one below the other."""
    height = sum(chart.height for chart in charts)
    title = "; ".join(f"{chart.title}, {chart.unit}" for chart in charts)
    colors = range(max(1, *(len(chart.parts) for chart in charts)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"',
        f'  aria-labelledby="title about" font-family="{_FONTS}" font-size="14">',
        f'  <title id="title">{escape(title)}</title>',
        f'  <desc id="about">{escape(" ".join(map(_as_text, charts)))}</desc>',
        f"  <style>{_STYLE.rstrip()}",
        *(f"    .part{it} {{ fill: {_COLORS[it % len(_COLORS)][0]} }}" for it in colors),
        f"    @media (prefers-color-scheme: dark) {{{_DARK.rstrip()}",
        *(f"      .part{it} {{ fill: {_COLORS[it % len(_COLORS)][1]} }}" for it in colors),
        "    }",
        "  </style>",
        f'  <rect class="ground" width="{_WIDTH}" height="{height}"/>',
    ]
    top = 0
    for chart in charts:
        lines += [f'  <g transform="translate(0 {top})">', *_draw(chart), "  </g>"]
        top += chart.height
    return "\n".join([*lines, "</svg>", ""])


def _as_text(chart: Chart) -> str:
    """Describes the chart for people who cannot see it."""
    bars = []
    for bar in chart.bars:
        parts = ", ".join(f"{name} {number(value)}" for name, value in bar.parts.items() if name)
        bars.append(f"{bar.name} {number(bar.total)}" + (f" ({parts})" if parts else ""))
    return f"{chart.title}, {chart.unit}: {'; '.join(bars)}."


def _draw(chart: Chart) -> list[str]:
    parts = chart.parts
    left = _MARGIN + _GAP + round(_CHARACTER * max(len(bar.name) for bar in chart.bars))
    scale = (_WIDTH - left - _VALUE_WIDTH) / (max(bar.total for bar in chart.bars) or 1.0)
    lines = [
        f'    <text class="name" x="{_MARGIN}" y="24">{escape(chart.title)}</text>',
        f'    <text class="soft" x="{_MARGIN}" y="44">{escape(chart.unit)}</text>',
    ]
    top = _HEAD
    if parts:
        lines += _legend(parts, top)
        top += _LEGEND
    for number_, bar in enumerate(chart.bars):
        y = top + _ROW * number_
        base = y + _BAR - 3
        lines.append(
            f'    <text class="ink" x="{left - _GAP}" y="{base}" text-anchor="end">'
            f"{escape(bar.name)}</text>"
        )
        x = float(left)
        for name, value in bar.parts.items():
            color = parts.index(name) if parts else 0
            lines.append(
                f'    <rect class="part{color}" x="{x:.1f}" y="{y}" width="{value * scale:.1f}" '
                f'height="{_BAR}"/>'
            )
            x += value * scale
        lines.append(f'    <text class="ink" x="{x + 6:.1f}" y="{base}">{number(bar.total)}</text>')
    bottom = top + _ROW * len(chart.bars)
    lines.append(f'    <path class="axis" d="M{left} {top - 4}V{bottom - 4}"/>')
    return lines


def _legend(parts: list[str], top: int) -> list[str]:
    lines = []
    x = float(_MARGIN)
    for number_, name in enumerate(parts):
        lines.append(
            f'    <rect class="part{number_}" x="{x:.1f}" y="{top - 4}" width="12" height="12"/>'
        )
        lines.append(
            f'    <text class="soft" x="{x + 18:.1f}" y="{top + 7}">{escape(name or "all")}</text>'
        )
        x += 34 + _CHARACTER * len(name or "all")
    return lines
