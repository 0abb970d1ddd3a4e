"""Frozen records are read by code that was generated from the schemas of the baseline, and by code
generated from those of today.
"""

import hashlib
import importlib
import json
import re
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from dev.paths import ROOT
from google.protobuf.json_format import MessageToDict

_HERE = Path(__file__).resolve().parent
_GOLDEN = _HERE / "golden"
_SCHEMAS = Path("tempinbox") / "events" / "v1"


@dataclass(frozen=True)
class _Record:
    topic: str
    revision: int
    headers: dict[str, str]
    value: bytes
    fields: dict[str, Any]


def _records() -> list[_Record]:
    found = []
    for path in sorted(_GOLDEN.glob("*.record")):
        topic, _, revision = path.stem.rpartition(".")
        head, _, value = path.read_text(encoding="utf-8").partition("\n\n")
        headers = dict(line.split(": ", 1) for line in head.splitlines())
        fields = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        found.append(_Record(topic, int(revision), headers, bytes.fromhex(value), fields))
    return found


def _baseline_schemas(folder: Path) -> Path:
    """proto-schemas/ as the baseline has it."""
    baseline = (ROOT / "deploy" / "baseline").read_text(encoding="ascii").strip()
    command = ["git", "archive", baseline, "proto-schemas"]
    archived = subprocess.run(command, cwd=ROOT, capture_output=True)
    if archived.returncode != 0:
        raise unittest.SkipTest(f"this clone has no commit {baseline}: git fetch --unshallow")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archived.stdout, check=True)
    return folder / "proto-schemas"


class _Generated:
    """Python code that protoc makes of a folder of schemas, apart from what other tests load."""

    def __init__(self, schemas: Path, name: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        # A package of its own, since one process may know a message's name once only.
        for path in (schemas / _SCHEMAS).glob("*.proto"):
            text = path.read_text(encoding="utf-8")
            text = text.replace("package tempinbox.", f"package {name}.")
            copy = Path(self._folder.name) / name / path.name
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(text, encoding="utf-8")
        files = [str(it) for it in sorted((Path(self._folder.name) / name).glob("*.proto"))]
        command = ["protoc", "-I", self._folder.name, f"--python_out={self._folder.name}", *files]
        subprocess.run(command, check=True)
        sys.path.insert(0, self._folder.name)
        self._name = name

    def messages(self) -> dict[str, Any]:
        """The class of each topic's values."""
        found = {}
        for path in sorted((Path(self._folder.name) / self._name).glob("*_pb2.py")):
            module: ModuleType = importlib.import_module(f"{self._name}.{path.stem}")
            topic = path.stem.removesuffix("_pb2").replace("_", ".")
            found[topic] = getattr(module, topic.title().replace(".", ""))
        return found

    def close(self) -> None:
        """Nothing of it is left."""
        sys.path.remove(self._folder.name)
        self._folder.cleanup()


def _read(message: Any, value: bytes) -> dict[str, Any]:
    parsed = message.FromString(value)
    return MessageToDict(parsed, preserving_proto_field_name=True)


class GoldenBytes(unittest.TestCase):
    """Both generations."""

    records = _records()

    def test_they_are_as_they_were(self) -> None:
        lines = (_HERE / "frozen.sha256").read_text(encoding="ascii").splitlines()
        frozen = {name: digest for digest, name in (line.split() for line in lines)}
        found = {
            f"golden/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
            for path in _GOLDEN.iterdir()
        }

        self.assertEqual(found, frozen)

    def test_every_event_of_the_contract_has_one(self) -> None:
        schemas = (ROOT / "proto-schemas" / _SCHEMAS).glob("*.proto")
        topics = {path.stem.replace("_", ".") for path in schemas}

        self.assertEqual({record.topic for record in self.records}, topics)

    def test_the_newest_record_of_an_event_has_every_field(self) -> None:
        newest = {record.topic: record for record in self.records}  # the last of each
        for topic, record in newest.items():
            path = ROOT / "proto-schemas" / _SCHEMAS / (topic.replace(".", "_") + ".proto")
            message = path.read_text(encoding="utf-8").partition("\nmessage ")[2]
            fields = set(re.findall(r"^  [\w. ]+ (\w+) = \d+;", message, re.MULTILINE))
            with self.subTest(topic):
                self.assertEqual(set(record.fields), fields)

    def test_code_of_this_checkout_reads_all_of_them(self) -> None:
        today = _Generated(ROOT / "proto-schemas", "today")
        self.addCleanup(today.close)
        messages = today.messages()
        for record in self.records:
            with self.subTest(f"{record.topic} {record.revision}"):
                self.assertEqual(_read(messages[record.topic], record.value), record.fields)

    def test_code_of_the_baseline_reads_all_of_them(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            old = _Generated(_baseline_schemas(Path(folder)), "baseline")
        self.addCleanup(old.close)
        messages = old.messages()
        self.assertIn("email.received", messages)
        for record in self.records:
            if record.topic not in messages:
                continue  # a topic that is newer
            message = messages[record.topic]
            known = {field.name for field in message.DESCRIPTOR.fields}
            with self.subTest(f"{record.topic} {record.revision}"):
                expected = {name: it for name, it in record.fields.items() if name in known}
                self.assertEqual(_read(message, record.value), expected)

    def test_code_of_the_baseline_keeps_what_it_does_not_know(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            old = _Generated(_baseline_schemas(Path(folder)), "older")
        self.addCleanup(old.close)
        received = next(it for it in self.records if it.topic == "email.received")
        unknown = received.value + bytes.fromhex("ca3e03") + b"new"  # field 1001, a text

        parsed = old.messages()["email.received"].FromString(unknown)

        self.assertEqual(parsed.email_id, received.fields["email_id"])
        self.assertEqual(parsed.SerializeToString(), unknown)


if __name__ == "__main__":
    unittest.main()
