"""Reading an event from Kafka with what any team has: kcat for the bytes, protoc and proto-schemas
for their meaning.
"""

import re
import subprocess
import time
from dataclasses import dataclass

from dev import paths
from dev.waiting import wait_until

_SCHEMAS = "proto-schemas"
_SCHEMA = f"{_SCHEMAS}/tempinbox/events/v1/email_received.proto"
_MESSAGE = "tempinbox.events.v1.EmailReceived"
_TOPIC = "email.received"


@dataclass(frozen=True)
class FoundEvent:
    """One record: where it lies, its headers, its value as protoc prints it."""

    commands: list[str]
    headers: dict[str, str]
    text: str

    def field(self, name: str) -> str | None:
        """A string field of the value."""
        found = re.search(rf'^{name}: "(.*)"$', self.text, re.MULTILINE)
        return found[1] if found else None


def find_email_received(
    brokers: str, key: str, since_ms: int, seconds: float = 20.0
) -> FoundEvent | None:
    """The first event with the key since the time; None when it does not come."""
    try:
        return wait_until(
            lambda: _find(brokers, key, since_ms), time.monotonic() + seconds, "the event"
        )
    except TimeoutError:
        return None


def _find(brokers: str, key: str, since_ms: int) -> FoundEvent | None:
    listing = [
        "kcat",
        "-C",
        "-q",
        "-e",
        "-b",
        brokers,
        "-t",
        _TOPIC,
        "-o",
        f"s@{since_ms}",
        "-f",
        "%k|%p|%o|%h\n",
    ]
    for line in subprocess.run(
        listing, capture_output=True, text=True, timeout=60
    ).stdout.splitlines():
        found_key, partition, offset, headers = line.split("|", 3)
        if found_key == key:
            return _read(brokers, partition, offset, headers)
    return None


def _read(brokers: str, partition: str, offset: str, headers: str) -> FoundEvent:
    reading = [
        "kcat",
        "-C",
        "-q",
        "-e",
        "-b",
        brokers,
        "-t",
        _TOPIC,
        "-p",
        partition,
        "-o",
        offset,
        "-c",
        "1",
        "-D",
        "",
    ]
    decoding = ["protoc", "-I", _SCHEMAS, f"--decode={_MESSAGE}", _SCHEMA]
    value = subprocess.run(reading, capture_output=True, timeout=60, check=True).stdout
    text = subprocess.run(
        decoding, input=value, cwd=paths.ROOT, capture_output=True, check=True
    ).stdout.decode()
    pairs = dict(pair.split("=", 1) for pair in headers.split(",") if "=" in pair)
    shown = " ".join(part or "''" for part in reading)
    return FoundEvent([f"{shown} \\", "    | " + " ".join(decoding)], pairs, text)
