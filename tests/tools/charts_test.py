"""Bar charts of benches: what is read, drawn and written."""

import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path
from unittest import mock

from dev import charts
from dev.charts import Bar, Chart
from dev.terminal import Failure

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from measuring import figures

_SVG = "{http://www.w3.org/2000/svg}"
_RATES = Chart("Requests", "a second", [Bar("list", {"": 200.0}), Bar("create <x>", {"": 50.0})])
_CPU = Chart("CPU", "ms", [Bar("list", {"gateway": 0.25, "inbox": 0.5}), Bar("get", {"inbox": 1})])


def _drawn(*drawn: Chart) -> ET.Element:
    return ET.fromstring(charts.svg(list(drawn)))  # noqa: S314 - made here


def _bars(root: ET.Element) -> list[tuple[str, float, float]]:
    """Class, left end and width of each piece of a bar."""
    pieces = [it for it in root.iter(f"{_SVG}rect") if it.get("height") == "16"]
    return [
        (it.get("class", ""), float(it.get("x", "")), float(it.get("width", ""))) for it in pieces
    ]


class Drawing(unittest.TestCase):
    def test_bars_begin_at_one_line_and_are_as_long_as_their_values(self) -> None:
        [(_, left, long), (_, same_left, short)] = _bars(_drawn(_RATES))

        self.assertEqual(left, same_left)
        self.assertAlmostEqual(long / short, 4, places=2)

    def test_parts_of_a_bar_follow_each_other_in_colors_of_their_own(self) -> None:
        first, second, other = _bars(_drawn(_CPU))

        self.assertAlmostEqual(first[1] + first[2], second[1], places=0)
        self.assertEqual([it[0] for it in (first, second, other)], ["part0", "part1", "part1"])

    def test_everything_lies_inside(self) -> None:
        root = _drawn(_RATES, _CPU)
        width, height = (float(it) for it in root.get("viewBox", "").split()[2:])

        self.assertEqual(height, _RATES.height + _CPU.height)
        self.assertLess(max(left + long for _, left, long in _bars(root)), width)

    def test_who_cannot_see_it_is_told_all_values(self) -> None:
        root = _drawn(_RATES, _CPU)

        self.assertEqual(root.get("role"), "img")
        self.assertEqual(root.get("aria-labelledby"), "title about")
        self.assertEqual(root.findtext(f"{_SVG}title"), "Requests, a second; CPU, ms")
        self.assertEqual(
            root.findtext(f"{_SVG}desc"),
            "Requests, a second: list 200; create <x> 50.0. "
            "CPU, ms: list 0.750 (gateway 0.250, inbox 0.500); get 1.00 (inbox 1.00).",
        )

    def test_a_legend_stands_where_bars_have_parts(self) -> None:
        def texts(chart: Chart) -> list[str]:
            return [it.text or "" for it in _drawn(chart).iter(f"{_SVG}text")]

        self.assertIn("gateway", texts(_CPU))
        self.assertEqual(
            texts(_RATES), ["Requests", "a second", "list", "200", "create <x>", "50.0"]
        )

    def test_colors_of_both_schemes(self) -> None:
        text = charts.svg([_CPU])

        self.assertEqual(text.count(".part0"), 2)
        self.assertIn("prefers-color-scheme: dark", text)

    def test_nothing_but_zeros(self) -> None:
        self.assertEqual(_bars(_drawn(Chart("a", "b", [Bar("c", {"": 0.0})])))[0][2], 0)

    def test_numbers(self) -> None:
        self.assertEqual(
            list(map(charts.number, (0.0414, 1.204, 39.54, 1234.5))),
            ["0.041", "1.20", "39.5", "1,234"],
        )


class Figures(unittest.TestCase):
    def test_what_is_noted_is_drawn(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            noted = Path(folder, "figures")
            with mock.patch.dict(os.environ, {charts.FIGURES_VARIABLE: str(noted)}):
                figures.note("Requests", "a second", "list", 100)
                figures.note("CPU", "ms", "list", 0.25, "gateway")
                figures.note("CPU", "ms", "list", 0.5, "inbox")
                figures.note("CPU", "ms", "get", 1, "inbox")
                figures.note("Requests", "a second", "list", 200)
                figures.note("Requests", "a second", "create <x>", 50)
            self.assertEqual(
                charts.read(noted.read_text(encoding="utf-8").splitlines()), [_RATES, _CPU]
            )

    def test_without_a_file_nothing_is_noted(self) -> None:
        with mock.patch.dict(os.environ, {charts.FIGURES_VARIABLE: ""}):
            figures.note("Requests", "a second", "list", 100)

    def test_one_file_or_one_a_chart(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            one = Path(folder, "all.svg")
            self.assertEqual(charts.write([_RATES, _CPU], one, "api"), [one])
            self.assertEqual(one.read_text(encoding="utf-8"), charts.svg([_RATES, _CPU]))
            written = charts.write([_RATES, _CPU], Path(folder, "many"), "api")
            self.assertEqual([it.name for it in written], ["api-requests.svg", "api-cpu.svg"])
            self.assertEqual(written[1].read_text(encoding="utf-8"), charts.svg([_CPU]))

    def test_nothing_to_draw(self) -> None:
        with self.assertRaises(Failure):
            charts.write([], Path("nowhere"), "api")


if __name__ == "__main__":
    unittest.main()
