"""Finding and ending the processes of a suite whose supervisor is gone."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from dev import children
from dev.paths import SUITE_VARIABLE


class Leftovers(unittest.TestCase):
    """Real processes that carry a suite's mark."""

    def start(self, suite: Path, name: str, script: str) -> "subprocess.Popen[bytes]":
        marks = {SUITE_VARIABLE: str(suite), children.CHILD_VARIABLE: name}
        process = subprocess.Popen(
            ["sh", "-c", f"{script}; echo ready; read forever"],
            env=os.environ | marks,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout
        process.stdout.readline()
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_only_the_suites_own_are_found(self) -> None:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            mine = self.start(Path(one), "inbox-1", ":")
            self.start(Path(other), "inbox-1", ":")

            self.assertEqual([it.pid for it in children.find(Path(one))], [mine.pid])

    def test_what_ignores_its_signal_is_killed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stubborn = self.start(Path(folder), "gateway-1", "trap '' TERM")
            polite = self.start(Path(folder), "kafka-1", ":")

            children.end(children.find(Path(folder)), grace_seconds=0.2)

            self.assertEqual((stubborn.wait(5), polite.wait(5)), (-9, -15))
            self.assertEqual(children.find(Path(folder)), [])

    def test_services_end_before_kafka_and_kafka_before_postgresql(self) -> None:
        self.assertGreater(children.layer("webhook-dispatcher-2"), children.layer("kafka-1"))
        self.assertGreater(children.layer("kafka-3"), children.layer("postgres"))


if __name__ == "__main__":
    unittest.main()
