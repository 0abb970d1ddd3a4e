"""Counting what passed and failed, over test programs of different makers."""

import io
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_CATCH2_ALL = re.compile(r"^All tests passed \(.* in (\d+) test cases?\)", re.MULTILINE)
_CATCH2_SOME = re.compile(r"^test cases: +(\d+)((?: \| +\d+ [a-z ]*[a-z])+)", re.MULTILINE)
_NO_XML = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
)  # what messages of failed tests may hold all the same
_CATCH2_PART = re.compile(r"\| +(\d+) ([a-z ]+?)(?= \||$)")


@dataclass
class Tally:
    """Test cases by outcome."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: "Tally") -> None:
        """Sums both here."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def is_good(self) -> bool:
        """Something ran, and nothing failed."""
        return self.passed > 0 and self.failed == 0

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed" + (
            f", {self.skipped} skipped" if self.skipped else ""
        )


def of_catch2(output: str, exit_code: int) -> Tally:
    """Reads the closing line of Catch2's console reporter; a program that died before it counts as
    one failure.
    """
    if found := _CATCH2_ALL.search(output):
        tally = Tally(passed=int(found[1]))
    elif found := _CATCH2_SOME.search(output):
        parts = {name: int(count) for count, name in _CATCH2_PART.findall(found[2])}
        tally = Tally(
            passed=parts.get("passed", 0) + parts.get("failed as expected", 0),
            failed=parts.get("failed", 0),
        )
    else:
        tally = Tally()
    if exit_code != 0 and tally.failed == 0:
        tally.failed = 1
    return tally


def has_catch2_closing(output: str) -> bool:
    """Catch2 came to its end; a sanitizer or a signal ends a program before."""
    return bool(_CATCH2_ALL.search(output) or _CATCH2_SOME.search(output))


def of_junit(report: Path, exit_code: int) -> Tally:
    """Reads pytest's --junitxml ; a run that wrote none, or failed outside its tests, counts as one
    failure.
    """
    tally = Tally()
    if report.exists():
        root = ElementTree.parse(report).getroot()  # noqa: S314 - written by our own run of pytest
        for suite in root.iter("testsuite"):
            count = {
                name: int(suite.get(name, "0"))
                for name in ("tests", "failures", "errors", "skipped")
            }
            failed = count["failures"] + count["errors"]
            tally.add(
                Tally(max(0, count["tests"] - failed - count["skipped"]), failed, count["skipped"])
            )
    if exit_code != 0 and tally.failed == 0:
        tally.failed = 1
    return tally


def of_node(report: Path, exit_code: int) -> Tally:
    """Reads the junit report of `node --test`, where describe blocks are suites within suites; a
    run without one, or that was killed before its end, counts as one failure.
    """
    tally = Tally()
    if report.exists():
        text = _NO_XML.sub("", report.read_text(encoding="utf-8", errors="replace"))
        try:
            for _, case in ElementTree.iterparse(io.StringIO(text)):  # noqa: S314 - by our own run
                if case.tag != "testcase":
                    continue
                if case.find("failure") is not None or case.find("error") is not None:
                    tally.failed += 1
                elif case.find("skipped") is not None:
                    tally.skipped += 1
                else:
                    tally.passed += 1
        except ElementTree.ParseError:  # it ends early
            tally.failed += 1
    if exit_code != 0 and tally.failed == 0:
        tally.failed = 1
    return tally
