"""Counting the outcomes of test programs: `python3 -m unittest discover -s tests/tools -p
'*_test.py'` with tools/ on the path.
"""

import tempfile
import unittest
from pathlib import Path

from dev.tally import Tally, has_catch2_closing, of_catch2, of_junit, of_node

_RULE = "=" * 79 + "\n"


class Catch2(unittest.TestCase):
    """The closing lines of its console reporter."""

    def test_all_passed(self) -> None:
        self.assertEqual(
            of_catch2(_RULE + "All tests passed (31 assertions in 12 test cases)\n", 0),
            Tally(12, 0),
        )
        self.assertEqual(
            of_catch2(_RULE + "All tests passed (1 assertion in 1 test case)\n", 0), Tally(1, 0)
        )

    def test_some_failed(self) -> None:
        line = "test cases: 5 | 3 passed | 2 failed\nassertions: 9 | 7 passed | 2 failed\n"
        self.assertEqual(of_catch2(_RULE + line, 2), Tally(3, 2))

    def test_an_expected_failure_is_none(self) -> None:
        self.assertEqual(
            of_catch2("test cases: 3 | 1 passed | 1 failed | 1 failed as expected\n", 1),
            Tally(2, 1),
        )

    def test_a_program_that_died_is_a_failure(self) -> None:
        self.assertEqual(
            of_catch2("ERROR: AddressSanitizer: heap-use-after-free\n", -6), Tally(0, 1)
        )
        self.assertEqual(
            of_catch2("All tests passed (1 assertion in 1 test case)\n", -11), Tally(1, 1)
        )

    def test_one_that_died_after_its_closing_line_is_told_from_one_that_died_before(self) -> None:
        self.assertTrue(has_catch2_closing("test cases: 2 | 1 passed | 1 failed\n"))
        self.assertTrue(has_catch2_closing("All tests passed (1 assertion in 1 test case)\n"))
        self.assertFalse(has_catch2_closing("ERROR: AddressSanitizer: heap-use-after-free\n"))

    def test_nothing_ran(self) -> None:
        self.assertFalse(of_catch2("No tests ran\n", 0).is_good())


class Junit(unittest.TestCase):
    """Reads what pytest writes."""

    def count(self, attributes: str, exit_code: int) -> Tally:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "report.xml")
            report.write_text(
                f'<testsuites><testsuite name="pytest" {attributes} /></testsuites>',
                encoding="utf-8",
            )
            return of_junit(report, exit_code)

    def test_outcomes(self) -> None:
        self.assertEqual(
            self.count('tests="9" failures="2" errors="1" skipped="1"', 1), Tally(5, 3, 1)
        )
        self.assertEqual(
            self.count('tests="9" failures="0" errors="0" skipped="0"', 0), Tally(9, 0)
        )

    def test_a_run_without_report_is_a_failure(self) -> None:
        self.assertEqual(of_junit(Path("/nonexistent"), 4), Tally(0, 1))


class Node(unittest.TestCase):
    """The junit report of `node --test`."""

    def count(self, cases: str, exit_code: int) -> Tally:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            report.write_text(f"<testsuites>{cases}</testsuites>", encoding="utf-8")
            return of_node(report, exit_code)

    def test_cases_count_wherever_they_stand(self) -> None:
        inner = (
            '<testsuite name="b"><testcase name="2"><failure/></testcase><testcase '
            'name="3"><skipped/></testcase></testsuite>'
        )
        self.assertEqual(
            self.count(
                f'<testcase name="0"/><testsuite name="a"><testcase name="1"/>{inner}</testsuite>',
                1,
            ),
            Tally(2, 1, 1),
        )

    def test_a_failure_outside_the_cases_counts(self) -> None:
        self.assertEqual(self.count('<testcase name="0"/>', 1), Tally(1, 1))

    def test_a_report_that_ends_early_counts_what_it_has(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            report.write_text('<testsuites><testsuite><testcase name="0"/>', encoding="utf-8")
            self.assertEqual(of_node(report, -9), Tally(1, 1))

    def test_colors_in_a_message_are_read_over(self) -> None:
        self.assertEqual(
            self.count(
                '<testcase name="0"><failure>\x1b[2m waiting\x1b[22m</failure></testcase>', 1
            ),
            Tally(0, 1),
        )

    def test_a_run_without_report_is_a_failure(self) -> None:
        self.assertEqual(of_node(Path("/nonexistent"), 7), Tally(0, 1))


class Sums(unittest.TestCase):
    """The closing line of ./dev test."""

    def test_words(self) -> None:
        total = Tally(2, 0)
        total.add(Tally(3, 1))
        self.assertEqual(str(total), "5 passed, 1 failed")
        total.add(Tally(0, 0, 2))
        self.assertEqual(str(total), "5 passed, 1 failed, 2 skipped")


if __name__ == "__main__":
    unittest.main()
