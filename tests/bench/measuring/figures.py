"""Figures of a bench for `./dev bench --svg`, which draws them when the bench has ended."""

import json
import os
from pathlib import Path

from dev.charts import FIGURES_VARIABLE


def note(chart: str, unit: str, bar: str, value: float, part: str = "") -> None:
    """Notes a bar of a chart, or a part of a bar that has several."""
    target = os.environ.get(FIGURES_VARIABLE)
    if target:
        noted = {"chart": chart, "unit": unit, "bar": bar, "part": part, "value": value}
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(json.dumps(noted) + "\n")
