"""Tests what tools/generate/kafka_acls.py prints; test_kafka_access runs its output on a broker."""

import json
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from dev.paths import ROOT
from generate import kafka_acls

_PROGRAM = ROOT / "tools" / "generate" / "kafka_acls.py"


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", str(_PROGRAM), "--bootstrap-server", "kafka:9093", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def _values(line: str, option: str) -> list[str]:
    words = shlex.split(line)
    return [words[at + 1] for at, word in enumerate(words) if word == option]


class Commands(unittest.TestCase):
    """Each command is one line of kafka-acls.sh."""

    def test_a_prefix_goes_before_every_topic_and_group(self) -> None:
        lines = _run("--prefix", "staging.").stdout.splitlines()
        named = [
            it for line in lines for kind in ("--topic", "--group") for it in _values(line, kind)
        ]

        self.assertTrue(named)
        self.assertEqual([it for it in named if not it.startswith("staging.")], [])

    def test_users_are_called_as_the_brokers_see_them(self) -> None:
        lines = _run("--principal", "User:CN={name},O=Mail", "gateway").stdout.splitlines()

        self.assertTrue(lines)
        for line in lines:
            self.assertEqual(_values(line, "--allow-principal"), ["User:CN=gateway,O=Mail"])
            self.assertEqual(_values(line, "--bootstrap-server"), ["kafka:9093"])
            self.assertEqual(_values(line, "--command-config"), [])

    def test_a_user_has_a_line_for_each_kind_of_rights(self) -> None:
        lines = _run("example-consumer").stdout.splitlines()
        found = {
            (*_values(line, "--resource-pattern-type"), *_values(line, "--operation")): (
                _values(line, "--group"),
                _values(line, "--topic"),
            )
            for line in lines
        }
        public = sorted(kafka_acls.Access.read().public_topics)

        self.assertEqual(
            found,
            {
                ("literal", "Describe", "Read"): ([], public),
                ("prefixed", "Describe", "Read"): (["example-"], []),
                ("prefixed", "Describe", "Read", "Write"): ([], ["example-"]),
            },
        )

    def test_a_user_that_is_not_in_the_file_is_named(self) -> None:
        done = _run("gateway", "getaway")

        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "no user is called getaway\n")

    def test_a_file_that_opens_what_is_internal_makes_no_commands(self) -> None:
        content = json.loads(kafka_acls.FILE.read_text(encoding="utf-8"))
        content["consumers"]["other"] = {"reads": ["account.state"], "namePrefix": "other."}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "access.json"
            file.write_text(json.dumps(content), encoding="utf-8")
            done = _run("--access", str(file))

        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "consumer other: account.state is no public topic\n")


if __name__ == "__main__":
    unittest.main()
