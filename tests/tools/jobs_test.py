"""Jobs run in their order, one that needs another waits for it, and each is counted."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from dev.jobs import Board, Job, Result, read_failures, read_tally, table, what_failed
from dev.tally import Tally


class ClosingLine(unittest.TestCase):
    """The last line of a ./dev says what passed and failed."""

    def test_the_last_line_counts(self) -> None:
        text = "9 passed, 0 failed\nmore\n\n41 passed, 2 failed, 3 skipped\n"
        self.assertEqual(read_tally(text, 1, counts=True), Tally(41, 2, 3))

    def test_one_that_ended_without_it_failed(self) -> None:
        self.assertEqual(
            read_tally("1 passed, 0 failed\nkilled\n", 0, counts=True), Tally(failed=1)
        )
        self.assertEqual(read_tally("", 0, counts=True), Tally(failed=1))
        self.assertEqual(read_tally("0 passed, 0 failed\n", 0, counts=True), Tally(failed=1))

    def test_the_exit_code_is_believed_over_the_line(self) -> None:
        self.assertEqual(read_tally("5 passed, 0 failed\n", 1, counts=True), Tally(5, 1))

    def test_a_build_has_none(self) -> None:
        self.assertEqual(read_tally("Building\n", 0, counts=False), Tally())
        self.assertEqual(read_tally("Building\n", 1, counts=False), Tally(failed=1))


class Failures(unittest.TestCase):
    """Whoever has only the end of an output reads there what failed."""

    def test_lines_that_name_a_failure_are_kept(self) -> None:
        text = (
            "a line\ntests/a_test.cpp:7: FAILED:\nFAILED tests/e2e/test_a.py::test_b - no\n"
            "FAILED tests/e2e/test_a.py::test_b - no\n  python               not good\nend\n"
        )
        self.assertEqual(
            read_failures(text),
            [
                "tests/a_test.cpp:7: FAILED:",
                "FAILED tests/e2e/test_a.py::test_b - no",
                "python               not good",
            ],
        )

    def test_a_sanitizers_report_and_an_early_end_are_named(self) -> None:
        text = (
            "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010\n"
            "    #0 0x55 in operator delete(void*) (/build/tests+0x55)\n"
            "    #1 0x56 in run() /libs/a.cpp:7:9\n"
            "SUMMARY: AddressSanitizer: heap-use-after-free /libs/a.cpp:7:9 in run()\n"
            "integration: ended before its closing line, with exit code 1; the last it said:\n"
            "All tests passed (9 assertions in 3 test cases)\n"
        )
        lines = text.splitlines()
        self.assertEqual(read_failures(text), [lines[0], *(line.strip() for line in lines[2:5])])

    def test_of_an_output_without_any_the_last_lines_are(self) -> None:
        self.assertEqual(read_failures("one\ntwo\n\nthree\n"), ["one", "two", "three"])

    def test_every_line_has_the_name_of_its_job(self) -> None:
        failed = Result(1.0, Tally(1, 1), ["a.cpp:7: FAILED:"])
        shown = what_failed({"unit": failed, "fuzz": Result(1.0, Tally(1))})
        self.assertEqual(shown.split(), ["unit", "a.cpp:7:", "FAILED:"])


class Order(unittest.TestCase):
    """Real children: two verbs of ./dev that end at once."""

    def run_jobs(self, *jobs: Job, brief: bool = False) -> tuple[dict[str, Result], str]:
        shown = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(shown):
            results = Board(list(jobs), Path(folder), workers=2, brief=brief).run()
        return results, shown.getvalue()

    def test_every_job_runs_and_shows_what_it_said(self) -> None:
        results, shown = self.run_jobs(
            Job("slow", ["--help"], is_background=True, counts=False),
            Job("quick", ["test", "--help"], after=["slow"], counts=False),
        )
        self.assertEqual(
            {name: it.tally for name, it in results.items()}, {"slow": Tally(), "quick": Tally()}
        )
        self.assertLess(shown.index("===== slow"), shown.index("===== quick"))
        self.assertIn("usage: ./dev test", shown)

    def test_what_needs_a_job_that_failed_is_a_failure_itself(self) -> None:
        results, shown = self.run_jobs(
            Job("build", ["no such verb"], is_background=True, counts=False),
            Job("tests", ["--help"], after=["build"]),
        )
        self.assertEqual(results["build"].tally, Tally(failed=1))
        self.assertEqual(results["tests"].tally, Tally(failed=1))
        self.assertIn("tests: not run, since build failed", shown)

    def test_in_brief_only_a_failure_shows_what_it_said(self) -> None:
        _, shown = self.run_jobs(
            Job("good", ["test", "--help"], counts=False),
            Job("bad", ["no such verb"], counts=False),
            brief=True,
        )
        self.assertNotIn("usage: ./dev test", shown)
        self.assertRegex(shown, r"good +0 min +\d+ s   done")
        self.assertIn("===== bad =====", shown)
        self.assertIn("invalid choice", shown)

    def test_a_job_says_how_long_it_is_expected_to_take(self) -> None:
        _, shown = self.run_jobs(Job("long", ["--help"], counts=False, minutes=14))
        self.assertIn("long ... (about 14 min)", shown)

    def test_the_longest_comes_first_in_the_table(self) -> None:
        shown = table({"a": Result(61.0, Tally(1)), "b": Result(3600.0, Tally(2, 1))})
        self.assertEqual([line.split()[0] for line in shown.splitlines()], ["b", "a"])
        self.assertIn("1 min  1 s   1 passed, 0 failed", shown)


if __name__ == "__main__":
    unittest.main()
