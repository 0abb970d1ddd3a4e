"""Tests what a supervisor says of the processes it owns."""

import shutil
import tempfile
import time
import unittest
import warnings
from collections.abc import Callable
from pathlib import Path

from dev.children import ChildSpec
from dev.supervision import Supervision, crashes
from dev.waiting import wait_until


class Crashes(unittest.TestCase):
    """Real processes under a real supervisor."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        self.supervision = Supervision(self.folder)
        self.addCleanup(self.supervision.shutdown)
        with warnings.catch_warnings(
            action="ignore", category=ResourceWarning
        ):  # it is left to itself
            self.supervision.start(outlives_caller=False)

    def put(self, name: str, script: str) -> None:
        self.supervision.put(
            ChildSpec(name, ["sh", "-c", script], str(self.folder), str(self.logs / f"{name}.log"))
        )

    def wait_until(self, condition: Callable[[], object], what: str) -> None:
        wait_until(condition, time.monotonic() + 10, what, every=0.01)

    def test_are_told_of_processes_that_run_again_and_of_those_that_were_asked_to_end(self) -> None:
        self.put("inbox-1", "test -e again && exec sleep 60; : > again; kill -BUS $$")
        self.put("inbox-2", "trap 'kill -SEGV $$' TERM; : > ready; while :; do sleep 0.05; done")
        self.put("gateway-1", "exec sleep 60")
        self.put("gateway-2", "kill -KILL $$")
        self.wait_until(lambda: crashes(self.logs), "the first crash")
        self.wait_until((self.folder / "ready").exists, "the second is ready")

        self.supervision.shutdown()

        self.assertEqual(
            sorted(crashes(self.logs)), ["inbox-1 crashed (SIGBUS)", "inbox-2 crashed (SIGSEGV)"]
        )


if __name__ == "__main__":
    unittest.main()
