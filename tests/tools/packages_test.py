"""The list of Debian packages can be read, and each has its reason."""

import unittest

from dev import packages
from dev.packages import Package, read_list
from dev.terminal import Failure


class List(unittest.TestCase):
    """The format of packages.txt."""

    def test_a_line(self) -> None:
        text = "# said to all\n[run]\nmaven unless mvn # brings jars\nkcat # reads topics\n"
        self.assertEqual(
            read_list(text),
            [
                Package("maven", "run", "brings jars", "mvn"),
                Package("kcat", "run", "reads topics", None),
            ],
        )

    def test_a_line_without_a_reason_is_refused(self) -> None:
        with self.assertRaises(Failure):
            read_list("[run]\nkcat\n")

    def test_the_projects_own_list(self) -> None:
        groups = {package.group for package in read_list(packages.LIST.read_text(encoding="utf-8"))}
        self.assertEqual(groups, {"build", "run", "test", "bench", "check", "sanitize", "k8s"})


if __name__ == "__main__":
    unittest.main()
