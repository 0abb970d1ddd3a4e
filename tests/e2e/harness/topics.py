"""Reading Kafka as another team would: a plain consumer, protoc, and the schemas."""

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from confluent_kafka import (
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from harness.suite import ROOT, Suite
from harness.waiting import eventually

_SCHEMAS = ROOT / "proto-schemas"
_SCHEMA_ID = "__value_schema_id"  # the only header that is no text
_MESSAGES = {
    "email.received": (
        "tempinbox.events.v1.EmailReceived",
        "tempinbox/events/v1/email_received.proto",
    ),
    "inbox.created": (
        "tempinbox.events.v1.InboxCreated",
        "tempinbox/events/v1/inbox_created.proto",
    ),
    "inbox.expired": (
        "tempinbox.events.v1.InboxExpired",
        "tempinbox/events/v1/inbox_expired.proto",
    ),
}


@dataclass(frozen=True)
class Event:
    """A record; its value is decoded with nothing but proto-schemas, when it is read."""

    topic: str
    partition: int
    key: str
    headers: dict[str, str]  # those that are text
    value: bytes
    binary_headers: dict[str, bytes]  # all of them

    @cached_property
    def fields(self) -> dict[str, list[str]]:
        """The value's fields by name."""
        return decode(self.topic, self.value)

    def __getitem__(self, name: str) -> str:
        """A field that is set once; as protoc prints it, strings without their quotes."""
        return self.fields[name][0]


def decode(topic: str, value: bytes) -> dict[str, list[str]]:
    """The fields of the outermost message in protoc's text form."""
    message, schema = _MESSAGES[topic]
    command = ["protoc", f"--decode={message}", "-I", str(_SCHEMAS), str(_SCHEMAS / schema)]
    text = subprocess.run(command, input=value, capture_output=True, check=True).stdout.decode()
    found: dict[str, list[str]] = {}
    for name, quoted, plain in re.findall(
        r'^(\w+): (?:"((?:\\.|[^"\\])*)"|(\S+))$', text, re.MULTILINE
    ):
        found.setdefault(name, []).append(plain or _unescape(quoted))
    for name in re.findall(r"^(\w+) \{", text, re.MULTILINE):
        found.setdefault(name, []).append("{…}")
    return found


def _unescape(quoted: str) -> str:
    return (
        re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), quoted)
        .encode("latin-1")
        .decode()
        .replace('\\"', '"')
        .replace("\\\\", "\\")
    )


class Topic:
    """A reader of one topic from the moment it was made. Use as a context manager.

    `prefix` is that of another installation on the suite's Kafka.
    """

    def __init__(self, suite: Suite, name: str, prefix: str = "") -> None:
        self._name = name
        full = prefix + name
        self._consumer = Consumer(
            {
                "bootstrap.servers": suite["KAFKA"],
                "group.id": "unused",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 20,
            }
        )
        partitions = self._consumer.list_topics(full, timeout=15).topics[full].partitions
        self._consumer.assign(
            [self._end(TopicPartition(full, number, OFFSET_END)) for number in partitions]
        )
        self.seen: list[Event] = []

    def _end(self, partition: TopicPartition) -> TopicPartition:
        """Returns where the partition ends now: looked up here, since "from the end" is only looked
        up with the first fetch.
        """
        _, end = eventually(lambda: self._bounds(partition), f"the end of {partition}")
        return TopicPartition(partition.topic, partition.partition, end)

    def _bounds(self, partition: TopicPartition) -> tuple[int, int] | None:
        """None while the client asks a broker that does not lead the partition."""
        try:
            bounds: tuple[int, int] = self._consumer.get_watermark_offsets(partition, timeout=15)
        except KafkaException as problem:
            if problem.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION:
                raise
            return None
        return bounds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def events(self, seconds: float) -> Iterator[Event]:
        """Events as they come, until the time is over."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            record = self._consumer.poll(min(left, 0.2))
            if record is not None and record.error() is None:
                event = self._read(record)
                self.seen.append(event)
                yield event

    def wait_for(
        self, expected: Callable[[Event], bool], what: str, seconds: float = 60.0
    ) -> Event:
        """The first expected event."""
        for event in self.events(seconds):
            if expected(event):
                return event
        raise AssertionError(
            f"no event on {self._name} within {seconds} s: {what}; seen: "
            f"{[event.fields for event in self.seen]}"
        )

    def _read(self, record: Message) -> Event:
        octets = {name: _octets(value) for name, value in dict(record.headers() or []).items()}
        text = {name: value.decode() for name, value in octets.items() if name != _SCHEMA_ID}
        key, value = (_octets(part) for part in (record.key(), record.value()))
        return Event(self._name, record.partition() or 0, key.decode(), text, value, octets)


def _octets(part: str | bytes | None) -> bytes:
    """Text is only for who produces: the client reads bytes."""
    assert not isinstance(part, str)
    return part or b""
