"""Tests how ./dev reads its command line."""

import subprocess
import unittest

from dev import paths
from dev.cli import without_separator


class OperatorCommand(unittest.TestCase):
    def test_a_separator_in_front_is_for_dev_alone(self) -> None:
        self.assertEqual(
            without_separator(["--", "domain", "add", "a.example", "--operator", "me"]),
            ["domain", "add", "a.example", "--operator", "me"],
        )

    def test_one_further_on_is_for_the_program(self) -> None:
        self.assertEqual(
            without_separator(["domain", "show", "--", "--odd"]), ["domain", "show", "--", "--odd"]
        )

    def test_no_arguments_stay_none(self) -> None:
        self.assertEqual(without_separator([]), [])


class Bench(unittest.TestCase):
    def test_one_that_needs_no_suite_finds_what_it_imports(self) -> None:
        said = subprocess.run(
            [str(paths.ROOT / "dev"), "bench", "one-vm", "--help"], capture_output=True, text=True
        )

        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertIn("./dev bench one-vm", said.stdout)


if __name__ == "__main__":
    unittest.main()
