"""Tests that quick failures come before anything is compiled, with words that say what to do."""

import contextlib
import io
import socket
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dev import cli, dashboard, preflight, running, testing
from dev.suite import Suite, SuiteOptions
from dev.terminal import Failure


class Room(unittest.TestCase):
    def test_a_disk_with_too_little_room_is_named_with_what_is_needed(self) -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            self.assertRaisesRegex(Failure, rf"{folder} has .* GiB free; .*1024 GiB: make room"),
            mock.patch("shutil.disk_usage", return_value=mock.Mock(free=10)),
        ):
            preflight.check_room(Path(folder), 1024**4)

    def test_enough_room_is_enough(self) -> None:
        preflight.check_room(Path("/"), 1)


class Ports(unittest.TestCase):
    def test_a_taken_port_is_named_with_its_option(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with self.assertRaisesRegex(Failure, rf"port {port} .*--api-port.*is taken"):
                preflight.check_ports({"--smtp-port": None, "--api-port": port})


class Order(unittest.TestCase):
    """Uses a build that only notes that it began."""

    def setUp(self) -> None:
        self.built: list[object] = []
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.suite = Suite(Path(folder.name))
        for name, replaced in {
            "dev.packages.ensure": mock.DEFAULT,
            "dev.running.stop_on_signals": mock.DEFAULT,
            "dev.testing.stop_on_signals": mock.DEFAULT,
            "dev.build.build": lambda *given: self.built.append(given),
            "dev.kafka.ensure_jars": mock.DEFAULT,
        }.items():
            patched = mock.patch(name, replaced)
            patched.start()
            self.addCleanup(patched.stop)

    def _up(self, options: SuiteOptions) -> None:
        running.up(self.suite, options, detached=True, builds=True)

    def test_without_a_node_up_ends_before_it_builds(self) -> None:
        with (
            mock.patch.object(dashboard, "_BUILD_STAMP", self.suite.folder / "none"),
            mock.patch("dev.node_packages.ensure", side_effect=Failure("no Node.js")),
            self.assertRaisesRegex(Failure, "no Node.js"),
        ):
            self._up(SuiteOptions())
        self.assertEqual(self.built, [])

    def test_without_a_node_build_ends_before_it_builds(self) -> None:
        with (
            mock.patch.object(dashboard, "_BUILD_STAMP", self.suite.folder / "none"),
            mock.patch("dev.node_packages.ensure", side_effect=Failure("no Node.js")),
            mock.patch("sys.argv", ["./dev", "build"]),
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            self.assertEqual(cli.main(), 1)
        self.assertIn("no Node.js", said.getvalue())
        self.assertEqual(self.built, [])

    def test_with_a_taken_port_up_ends_before_it_builds(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with self.assertRaisesRegex(Failure, "--smtp-port"):
                self._up(SuiteOptions(smtp_port=taken.getsockname()[1]))
        self.assertEqual(self.built, [])

    def test_without_a_go_the_tests_end_before_they_build(self) -> None:
        with (
            mock.patch("dev.python_packages.python"),
            mock.patch("dev.node_packages.ensure"),
            mock.patch("dev.go_toolchain.ensure", side_effect=Failure("no Go")),
        ):
            code = testing.run(["e2e"], None, builds=True, arguments=[])
        self.assertEqual(code, 1)
        self.assertEqual(self.built, [])


if __name__ == "__main__":
    unittest.main()
