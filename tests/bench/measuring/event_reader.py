"""Reads email.received whole, as another team's program does, and prints how old each record was.

Runs with the Kafka client of the test environment.

Usage: event_reader.py BROKERS TOPIC COUNT; prints "ready" once it reads, then, after COUNT records,
the milliseconds from the time in ce_time (the email was stored) to the moment the record was read,
in order of size. Ends with what it has when nothing came for 10 s.
"""

import sys
import time
from datetime import datetime

from confluent_kafka import OFFSET_END, Consumer, TopicPartition

_TIMEOUT_SECONDS = 10.0
_BATCH = 500


def main() -> None:
    brokers, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    consumer = Consumer(
        {"bootstrap.servers": brokers, "group.id": "bench-events", "enable.auto.commit": False}
    )
    partitions = consumer.list_topics(topic, timeout=_TIMEOUT_SECONDS).topics[topic].partitions
    ends = []
    for number in partitions:
        at_end = TopicPartition(topic, number, OFFSET_END)
        _, at_end.offset = consumer.get_watermark_offsets(at_end, timeout=_TIMEOUT_SECONDS)
        ends.append(at_end)
    consumer.assign(ends)
    consumer.consume(1, timeout=1.0)  # the connections are made
    print("ready", flush=True)
    late: list[float] = []
    while len(late) < count:
        first = consumer.poll(_TIMEOUT_SECONDS)
        if first is None:
            break
        now = time.time()
        for record in [first, *consumer.consume(_BATCH, timeout=0)]:
            stored = dict(record.headers() or [])["ce_time"]
            assert isinstance(stored, bytes)
            late.append(1000 * (now - datetime.fromisoformat(stored.decode()).timestamp()))
    consumer.close()
    print(" ".join(f"{each:.1f}" for each in sorted(late)))


if __name__ == "__main__":
    main()
