"""Publishes `email.received` events as mail-ingest does.

A program of its own: it runs with the Kafka client of the test environment, see publishing.py.

Reads from stdin {"brokers", "accounts", "events", "rate"}: events go to the accounts in turn,
`rate` a second or, without one, as fast as they can be handed over. "properties" in place of
"brokers" are librdkafka's, for brokers that want a password. Prints the id of each event, in their
order, and when it was handed to the client, in nanoseconds of the Unix clock; fails unless the
broker has all of them.
"""

import itertools
import json
import os
import sys
import time
import uuid
from collections.abc import Iterator

from confluent_kafka import Producer

TIMEOUT_SECONDS = 120  # with a broker that is away
_MAX_RATE_OF_SINGLES = 100
_STEP_MS = 50


def uuid7() -> str:
    """A fresh one."""
    tail = os.urandom(10)
    head = int(time.time() * 1000).to_bytes(6, "big")
    return str(
        uuid.UUID(
            bytes=head + bytes([0x70 | (tail[0] & 15), tail[1], 0x80 | (tail[2] & 63)]) + tail[3:]
        )
    )


def text(field: int, value: str) -> bytes:
    """A protobuf field of fewer than 128 bytes."""
    octets = value.encode()
    return bytes([field << 3 | 2, len(octets)]) + octets


def event(account: str, number: int) -> tuple[str, str, bytes]:
    """Its id, its key and tempinbox.events.v1.EmailReceived."""
    email, inbox = uuid7(), uuid7()
    value = (
        text(1, email)
        + text(2, inbox)
        + text(3, account)
        + b"\x20\x01"
        + text(5, "robot@sender.example")
    )
    return (
        email,
        inbox,
        value
        + text(6, f"Your order {number} is on its way")
        + text(7, f"box{number}@inbox.example"),
    )


def moments(producer: Producer, events: int, rate: float) -> Iterator[int]:
    """Counts the events, each in its time; meanwhile the producer reports what arrived."""
    began = time.monotonic()
    for number in range(events):
        while rate and (left := began + number / rate - time.monotonic()) > 0:
            producer.poll(left)
        yield number


def main() -> None:
    request = json.load(sys.stdin)
    # At a high rate mail-ingest makes such steps, too: with a request for each event, what a broker
    # takes would be measured.
    linger = _STEP_MS if request["rate"] > _MAX_RATE_OF_SINGLES else 0 if request["rate"] else 5
    properties = request.get("properties") or {"bootstrap.servers": request["brokers"]}
    producer = Producer(
        properties
        | {
            "linger.ms": linger,
            "queue.buffering.max.messages": 1_000_000,
            "log_level": 2,  # a broker that is away is no news here
            "message.timeout.ms": 1000 * TIMEOUT_SECONDS,
        }
    )
    producer.list_topics("email.received", timeout=10)
    accounts = itertools.cycle(request["accounts"])
    made = (
        None
        if request["rate"]
        else [event(next(accounts), number) for number in range(request["events"])]
    )
    published = []
    refused: list[str] = []

    def confirm(error: object, _message: object) -> None:
        if error is not None:
            refused.append(str(error))

    for number in moments(producer, request["events"], request["rate"]):
        email, inbox, value = made[number] if made else event(next(accounts), number)
        headers: dict[str, str | bytes | None] = {
            "ce_specversion": "1.0",
            "ce_id": email,
            "ce_type": "email.received",
            "ce_source": "/tempinbox/bench",
            "ce_time": "2026-11-21T12:00:00.000Z",
            "content-type": "application/protobuf",
            "traceparent": f"00-{email.replace('-', '')}-00f067aa0ba902b7-00",
        }
        published.append((email, time.time_ns()))
        producer.produce("email.received", value, inbox, headers=headers, on_delivery=confirm)
        producer.poll(0)
    if producer.flush(TIMEOUT_SECONDS) != 0 or refused:
        raise SystemExit("events could not be published")
    sys.stdout.write("".join(f"{email} {at}\n" for email, at in published))


if __name__ == "__main__":
    main()
