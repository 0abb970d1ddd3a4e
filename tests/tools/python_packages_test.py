"""The lists of Python packages: each is locked, and what is asked for is in its lock. And the
environments that are made of them.
"""

import re
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from dev import python_packages

_LOCKED = re.compile(r"(?P<name>[\w.-]+)==\S+(?: --hash=sha256:[0-9a-f]{64})+")


def _requirements(path: Path) -> list[str]:
    """The entries of a list, each on one line and without comments."""
    text = path.read_text(encoding="utf-8").replace("\\\n", "")
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(("#", "-c "))]


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


_LOCKS = (
    python_packages.TESTS,
    python_packages.CLIENTS,
    python_packages.CHECKS,
    python_packages.NODE,
)


class Locks(unittest.TestCase):
    def test_every_package_has_a_version_and_hashes(self) -> None:
        for lock in _LOCKS:
            for entry in _requirements(lock):
                with self.subTest(lock.name, entry=entry[:40]):
                    self.assertRegex(entry, f"^{_LOCKED.pattern}$")

    def test_what_is_asked_for_is_locked(self) -> None:
        for lock in _LOCKS:
            locked = {_normalized(entry.split("==", 1)[0]) for entry in _requirements(lock)}
            # Without the extras in brackets, whose packages are locked by their own names.
            required = {
                _normalized(name.partition("[")[0])
                for name in _requirements(lock.with_suffix(".in"))
            }
            with self.subTest(lock.name):
                self.assertEqual(required - locked, set())

    def test_all_lists_name_the_same_version(self) -> None:
        locked: dict[str, set[str]] = {}
        for lock in _LOCKS:
            for entry in _requirements(lock):
                name, version = entry.split(" ", 1)[0].split("==", 1)
                locked.setdefault(_normalized(name), set()).add(version)

        self.assertEqual({name: found for name, found in locked.items() if len(found) > 1}, {})


class Environments(unittest.TestCase):
    def test_one_that_two_need_at_a_time_is_made_once(self) -> None:
        made: list[Path] = []

        def make(folder: Path, _: tuple[Path, ...]) -> None:
            made.append(folder)
            both_ask.wait()
            folder.mkdir(parents=True)
            (folder / "ready").touch()

        def ask_meanwhile() -> Path:
            both_ask.wait()
            return python_packages.python()

        both_ask = threading.Barrier(2, timeout=10)
        with (
            tempfile.TemporaryDirectory() as cache,
            mock.patch.dict("os.environ", {"XDG_CACHE_HOME": cache}),
            mock.patch.object(python_packages, "_make", make),
            ThreadPoolExecutor(2) as both,
        ):
            first = both.submit(python_packages.python)
            second = both.submit(ask_meanwhile)
            self.assertEqual(first.result(10), second.result(10))
        self.assertEqual(len(made), 1)

    def test_where_python_has_no_environments_debians_package_is_installed_first(self) -> None:
        order = mock.Mock()
        with (
            tempfile.TemporaryDirectory() as cache,
            mock.patch.dict("os.environ", {"XDG_CACHE_HOME": cache}),
            mock.patch("importlib.util.find_spec", return_value=None),
            mock.patch("dev.packages.ensure", order.install),
            mock.patch.object(python_packages, "_run", lambda command: self._make(command, order)),
            mock.patch.object(python_packages, "say"),
        ):
            python_packages.python()
        self.assertEqual(order.mock_calls[:2], [mock.call.install("python"), mock.call.venv()])

    @staticmethod
    def _make(command: list[str], order: mock.Mock) -> None:
        if "venv" in command:
            order.venv()
            Path(command[-1]).mkdir(parents=True)


if __name__ == "__main__":
    unittest.main()
