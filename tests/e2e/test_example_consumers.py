"""The programs of examples/consumers, side by side on one Kafka: killed and started again they have
all ids of the events, the same ones, and no work twice; what they cannot read is put away.
"""

import contextlib
import functools
import smtplib
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from dev.example_consumers import LANGUAGES, TOPICS, ExampleConsumer, dead_letter_topic
from harness import Account, Suite, eventually

_KILLS = 3
_MAILS_BETWEEN_KILLS = 40
_SECONDS = 120.0


def _make_dead_letter_topics(suite: Suite, groups: list[str]) -> None:
    admin = AdminClient({"bootstrap.servers": suite["KAFKA"]})
    made = admin.create_topics([NewTopic(dead_letter_topic(group), 1, 1) for group in groups])
    for each in made.values():
        each.result(timeout=30)


@pytest.fixture
def group(suite: Suite) -> str:
    """The name of a group; the topics for the dead letters of all three are there."""
    name = f"example-{uuid.uuid4()}"
    _make_dead_letter_topics(suite, [f"{name}-{language}" for language in LANGUAGES])
    return name


@pytest.fixture
def consumers(suite: Suite, group: str, tmp_path: Path) -> Iterator[list[ExampleConsumer]]:
    """All three, running."""
    with contextlib.ExitStack() as running:
        yield [
            running.enter_context(
                ExampleConsumer(suite["KAFKA"], language, f"{group}-{language}", tmp_path)
            )
            for language in LANGUAGES
        ]


def _read_all(suite: Suite, topic: str) -> list[tuple[str, bytes]]:
    """Id and value of every record that is in a topic now."""
    reader = Consumer(
        {
            "bootstrap.servers": suite["KAFKA"],
            "group.id": "unused",
            "enable.auto.commit": False,
        }
    )
    found: list[tuple[str, bytes]] = []
    try:
        for number in reader.list_topics(topic, timeout=15).topics[topic].partitions:
            partition = TopicPartition(topic, number)
            start, end = reader.get_watermark_offsets(partition, timeout=15)
            reader.assign([TopicPartition(topic, number, start)])
            at = start
            while at < end:
                record = reader.poll(10)
                assert record is not None, f"{topic}/{number} ends at {at}"
                assert record.error() is None, f"{topic}/{number} at {at}"
                offset = record.offset()
                assert offset is not None
                at = offset + 1
                headers = dict(record.headers() or [])
                event_id, value = headers.get("ce_id") or b"", record.value() or b""
                assert isinstance(event_id, bytes)
                assert isinstance(value, bytes)
                found.append((event_id.decode(), value))
    finally:
        reader.close()
    return found


def _send(suite: Suite, address: str, count: int) -> None:
    host, _, port = suite["SMTP"].rpartition(":")
    with smtplib.SMTP(host, int(port), local_hostname="sender.example", timeout=30) as connection:
        for number in range(count):
            message = f"From: robot@sender.example\r\nSubject: Mail {number}\r\n\r\nHello\r\n"
            connection.sendmail("robot@sender.example", [address], message)


def _has_more_than(consumer: ExampleConsumer, known: int) -> bool:
    return len(consumer.ids()) > known


def _have_all(consumers: list[ExampleConsumer], expected: set[str]) -> bool:
    for consumer in consumers:
        assert not consumer.ended_by_itself()
    return all(expected <= consumer.ids() for consumer in consumers)


def test_killed_consumers_lose_nothing_and_do_nothing_twice(
    suite: Suite, account: Account, group: str, consumers: list[ExampleConsumer]
) -> None:
    inboxes = [account.api.new_inbox() for _ in range(4)]
    for _ in range(_KILLS):
        before = [len(consumer.ids()) for consumer in consumers]
        for inbox in inboxes:
            _send(suite, inbox["emailAddress"], _MAILS_BETWEEN_KILLS // len(inboxes))
        for consumer, known in zip(consumers, before, strict=True):
            # In the middle of its work where it is slower than the mail.
            eventually(
                functools.partial(_has_more_than, consumer, known),
                "it goes on",
                seconds=_SECONDS,
            )
            consumer.kill()
        for inbox in inboxes:
            _send(suite, inbox["emailAddress"], 2)
        for consumer in consumers:
            consumer.start()
    for inbox in inboxes:
        account.api.delete("/v1/inboxes/" + inbox["inboxId"])

    mine = len(inboxes) * (_KILLS * (_MAILS_BETWEEN_KILLS // len(inboxes) + 2) + 2)
    ids = {inbox["inboxId"].encode() for inbox in inboxes}

    def published() -> set[str]:
        return {
            event_id
            for topic in TOPICS
            for event_id, value in _read_all(suite, topic)
            if any(it in value for it in ids)
        }

    expected = eventually(
        lambda: found if len(found := published()) >= mine else None,
        "every event is published",
        seconds=_SECONDS,
    )
    assert len(expected) == mine
    eventually(lambda: _have_all(consumers, expected), "all have all", seconds=_SECONDS)
    # Everything comes again to a group that is new: the ids drop all of it. What other tests wrote
    # and nobody can read comes again too, so these groups need their dead letters.
    again = [f"{group}-{language}-again" for language in LANGUAGES]
    _make_dead_letter_topics(suite, again)
    for consumer, name in zip(consumers, again, strict=True):
        consumer.stop()
        consumer.start(group=name)
    last = account.api.new_inbox()
    ids.add(last["inboxId"].encode())
    expected = eventually(
        lambda: found if len(found := published()) > mine else None, "one more", seconds=_SECONDS
    )
    eventually(lambda: _have_all(consumers, expected), "all have one more", seconds=_SECONDS)

    for consumer in consumers:
        consumer.stop()
        assert consumer.work() == len(consumer.ids())
    seen = [consumer.ids() for consumer in consumers]
    assert seen[0] == seen[1] == seen[2]


def test_what_they_cannot_read_is_put_away_and_keeps_nobody_waiting(
    suite: Suite, account: Account, group: str, consumers: list[ExampleConsumer]
) -> None:
    marked = str(uuid.uuid4())
    producer = Producer({"bootstrap.servers": suite["KAFKA"], "partitioner": "murmur2_random"})
    headers: list[tuple[str, str | bytes | None]] = [
        ("ce_id", marked.encode()),
        ("ce_type", b"email.received"),
    ]
    producer.produce("email.received", key="poison", value=b"\xff\xff\xff", headers=headers)
    assert producer.flush(20) == 0

    inbox = account.api.new_inbox()
    _send(suite, inbox["emailAddress"], 1)
    own = inbox["inboxId"].encode()
    expected = eventually(
        lambda: {
            event_id for event_id, value in _read_all(suite, "email.received") if own in value
        },
        "the mail's event",
        seconds=_SECONDS,
    )

    eventually(lambda: _have_all(consumers, expected), "the mail is counted", seconds=_SECONDS)
    for language in LANGUAGES:
        letters = eventually(
            functools.partial(_read_all, suite, dead_letter_topic(f"{group}-{language}")),
            f"{language} puts it away",
            seconds=_SECONDS,
        )
        assert (marked, b"\xff\xff\xff") in letters
    assert not any(marked in consumer.ids() for consumer in consumers)
