"""The list of Debian packages can be read, and each has its reason."""

import unittest
from unittest import mock

from dev import debian, packages
from dev.packages import Package, read_list
from dev.terminal import Failure

_PER_RELEASE = "[run]\nbookworm:jre-17 trixie:jre-21 unless java # runs Kafka\n"


class List(unittest.TestCase):
    """The format of packages.txt."""

    def test_a_line(self) -> None:
        text = "# said to all\n[run]\nmaven unless mvn # brings jars\nkcat # reads topics\n"
        self.assertEqual(
            read_list(text, "bookworm"),
            [
                Package("maven", "run", "brings jars", "mvn"),
                Package("kcat", "run", "reads topics", None),
            ],
        )

    def test_each_release_has_its_name(self) -> None:
        for release, name in {"bookworm": "jre-17", "trixie": "jre-21"}.items():
            self.assertEqual(
                read_list(_PER_RELEASE, release), [Package(name, "run", "runs Kafka", "java")]
            )

    def test_a_line_that_lacks_a_release_is_refused(self) -> None:
        for line in ("bookworm:jre-17", "trixie:jre-21", "jre-17 trixie:jre-21", "sid:jre-25"):
            with self.subTest(line), self.assertRaises(Failure):
                read_list(f"[run]\n{line} # runs Kafka\n", "bookworm")

    def test_a_line_without_a_reason_is_refused(self) -> None:
        with self.assertRaises(Failure):
            read_list("[run]\nkcat\n", "bookworm")

    def test_the_projects_own_list(self) -> None:
        text = packages.LIST.read_text(encoding="utf-8")
        for release in debian.RELEASES:
            groups = {package.group for package in read_list(text, release)}
            expected = {"build", "run", "test", "bench", "check", "sanitize", "python", "root"}
            expected |= {"jars", "k8s"}
            self.assertEqual(groups, expected)


def _described(system: dict[str, str]) -> mock.Mock:
    return mock.Mock(return_value=system)


class Release(unittest.TestCase):
    """What release ./dev takes the machine for."""

    def _found(self, described: mock.Mock) -> str:
        debian.release.cache_clear()
        self.addCleanup(debian.release.cache_clear)
        with mock.patch("platform.freedesktop_os_release", described):
            return debian.release()

    def test_it_is_the_one_that_the_system_names(self) -> None:
        for name in debian.RELEASES:
            self.assertEqual(self._found(_described({"VERSION_CODENAME": name})), name)

    def test_any_other_system_is_taken_for_the_newest(self) -> None:
        self.assertEqual(self._found(_described({"VERSION_CODENAME": "forky"})), "trixie")
        self.assertEqual(self._found(_described({})), "trixie")
        self.assertEqual(self._found(mock.Mock(side_effect=OSError)), "trixie")

    def test_postgresql_is_that_of_the_release(self) -> None:
        for release, version in {"bookworm": "15", "trixie": "17"}.items():
            with mock.patch("dev.debian.release", return_value=release):
                self.assertEqual(packages.postgresql(), version)


if __name__ == "__main__":
    unittest.main()
