"""Reads the topic inbox.state from its beginning to its end, as another team would.

A program of its own: it runs with the Kafka client of the test environment, see event_truth.py.

Reads {"brokers"} from stdin. Prints the table of inboxes by inboxId with the fields as the API
names them, the inboxes whose last record is out of date, how many records were read, and how many
were ever written.
"""

import json
import sys
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, TopicPartition
from harness.inbox_states import InboxTable

_TOPIC = "inbox.state"
_SECONDS = 20  # without a record or an end


def _text(part: str | bytes | None) -> str:
    return part.decode() if isinstance(part, bytes) else part or ""


def _take(table: InboxTable, record: Message) -> None:
    value = record.value() or b""
    assert isinstance(value, bytes)
    version = dict(record.headers() or []).get("inbox_version")
    table.take(_text(record.key()), value, {"inbox_version": _text(version)})


def read(brokers: str) -> dict[str, Any]:
    """Returns the table as it is now."""
    consumer = Consumer(
        {
            "bootstrap.servers": brokers,
            "group.id": "unused",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        unread = set(consumer.list_topics(_TOPIC, timeout=_SECONDS).topics[_TOPIC].partitions)
        consumer.assign([TopicPartition(_TOPIC, number, OFFSET_BEGINNING) for number in unread])
        table, records, written = InboxTable(), 0, 0
        while unread:
            record = consumer.poll(_SECONDS)
            if record is None:
                raise SystemExit(f"{_TOPIC}: no end of the partitions {sorted(unread)}")
            problem = record.error()
            if problem is None:
                _take(table, record)
                records += 1
            elif problem.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                unread.discard(record.partition())
                written += record.offset() or 0
            elif problem.fatal() or not problem.retriable():
                raise SystemExit(f"{_TOPIC}: {problem}")
    finally:
        consumer.close()
    return {
        "rows": table.rows(),
        "overtaken": sorted(table.overtaken),
        "records": records,
        "written": written,
    }


if __name__ == "__main__":
    json.dump(read(json.load(sys.stdin)["brokers"]), sys.stdout)
