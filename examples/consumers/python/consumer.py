"""Counts the events of each inbox. Reads the topics of the Temporary Inbox Service as docs/events
says: work and the ids of its events are stored in one transaction, offsets are committed after it.

Settings: BROKERS, GROUP (default example-python), DATABASE (a SQLite file, default events.db).
"""

import os
import signal
import sqlite3

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from google.protobuf.message import DecodeError
from tempinbox.events.v1.email_received_pb2 import EmailReceived
from tempinbox.events.v1.inbox_created_pb2 import InboxCreated
from tempinbox.events.v1.inbox_expired_pb2 import InboxExpired

TOPICS = {
    "email.received": EmailReceived,
    "inbox.created": InboxCreated,
    "inbox.expired": InboxExpired,
}
BROKERS = os.environ["BROKERS"]
GROUP = os.environ.get("GROUP", "example-python")
TABLES = """
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, type TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS inboxes (id TEXT PRIMARY KEY, events INTEGER NOT NULL);
"""


def handle(database: sqlite3.Connection, record: Message) -> list[str]:
    """The work of one event, once, and what it was; ValueError where the record is none."""
    event_id = dict(record.headers() or []).get("ce_id", b"").decode()
    try:
        event = TOPICS[record.topic()].FromString(record.value() or b"")
    except DecodeError as error:
        raise ValueError(f"the value is no {record.topic()}") from error
    if not event_id or not event.inbox_id:
        raise ValueError("ce_id or inbox_id is missing")
    add = "INSERT OR IGNORE INTO events VALUES (?, ?)"
    if database.execute(add, (event_id, record.topic())).rowcount == 0:
        return []  # a duplicate: its work is done
    count = "INSERT INTO inboxes VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET events = events + 1"
    database.execute(count, (event.inbox_id,))
    return [f"{record.topic()} {event_id} inbox {event.inbox_id}"]


def put_away(producer: Producer, record: Message, reason: str) -> None:
    """Writes what cannot be read to the group's own topic, as it came."""
    source = f"{record.topic()}/{record.partition()}/{record.offset()}"
    why = [("dead_letter_reason", reason), ("dead_letter_source", source)]
    headers = [*(record.headers() or []), *why]
    topic = f"{GROUP}.dead-letter"
    producer.produce(topic, record.value(), record.key(), headers=headers, on_delivery=must_arrive)


def must_arrive(error: KafkaError | None, _: Message) -> None:
    """Raises from flush(), so that no offset is committed past a letter that was lost."""
    if error is not None:
        raise KafkaException(error)


def main() -> None:
    """Runs until SIGTERM or Ctrl-C."""
    stopped: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, _: stopped.append(number))
    database = sqlite3.connect(os.environ.get("DATABASE", "events.db"))
    database.executescript(TABLES)
    producer = Producer({"bootstrap.servers": BROKERS, "partitioner": "murmur2_random"})
    # With an instance id the partitions wait for a consumer that crashed and comes back.
    group = {"group.id": GROUP, "group.instance.id": f"{GROUP}-1", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": BROKERS, "auto.offset.reset": "earliest", **group})
    consumer.subscribe(list(TOPICS))
    while not stopped:
        batch = consumer.consume(500, timeout=0.5)
        records = [record for record in batch if record.error() is None]
        if not records:
            continue
        done: list[str] = []
        for record in records:
            try:
                done += handle(database, record)
            except ValueError as error:
                put_away(producer, record, str(error))
        producer.flush()
        database.commit()
        print("".join(f"{line}\n" for line in done), end="", flush=True)
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as error:  # the partitions moved: who has them drops duplicates
            print("offsets were not committed:", error, flush=True)
    consumer.close()


if __name__ == "__main__":
    main()
