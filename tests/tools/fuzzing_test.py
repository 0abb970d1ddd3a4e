"""Tests that ./dev fuzz finds what it runs: every target is built, and begins with inputs and
words.
"""

import re
import unittest

from dev import paths
from fuzz import run as fuzzing

_FOLDER = paths.ROOT / "tests" / "fuzz"


class FuzzingTest(unittest.TestCase):
    """The sources, the list for CMake, the corpus and the dictionaries agree."""

    def test_every_source_is_built(self) -> None:
        built = re.findall(
            r"^tempinbox_fuzzer\((\w+)",
            (_FOLDER / "CMakeLists.txt").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        self.assertEqual(sorted(built), fuzzing.targets())

    def test_every_target_has_inputs_and_words(self) -> None:
        for kind, of in (("corpus", "*"), ("dictionaries", "*.dict")):
            self.assertEqual(
                sorted(path.stem for path in (_FOLDER / kind).glob(of)), fuzzing.targets()
            )

    def test_inputs_are_small(self) -> None:
        for kept in (_FOLDER / "corpus").glob("*/*"):
            self.assertLess(kept.stat().st_size, 4_096, kept.name)

    def test_the_last_number_of_a_report_counts(self) -> None:
        self.assertEqual(fuzzing._last(r" cov: (\d+)", "#1 cov: 5 ft\n#2 cov: 17 ft\n"), 17)
        self.assertEqual(fuzzing._last(r" cov: (\d+)", "nothing"), 0)


if __name__ == "__main__":
    unittest.main()
