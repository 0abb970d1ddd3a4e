"""The time that Kafka alone takes from a producer to a consumer.

Runs with the Kafka client of the test environment.

Usage: kafka_floor.py BROKERS COUNT RATE; prints the milliseconds of each record in order of size.
The records go to a topic nobody else reads.
"""

import sys
import time
import uuid

from confluent_kafka import OFFSET_END, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

TIMEOUT_SECONDS = 10.0


def main() -> None:
    brokers, count, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    topic = f"bench.floor.{uuid.uuid4().hex[:12]}"
    admin = AdminClient({"bootstrap.servers": brokers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(TIMEOUT_SECONDS)
    try:
        print(" ".join(f"{late:.3f}" for late in sorted(measure(brokers, topic, count, rate))))
    finally:
        admin.delete_topics([topic])[topic].result(TIMEOUT_SECONDS)


def measure(brokers: str, topic: str, count: int, rate: float) -> list[float]:
    producer = Producer({"bootstrap.servers": brokers, "linger.ms": 0})
    consumer = Consumer(
        {"bootstrap.servers": brokers, "group.id": topic, "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_END)])
    late = []
    for number in range(-5, count):  # the first ones find the way
        sent = time.monotonic()
        producer.produce(topic, b"x" * 300)
        producer.poll(0)
        while (message := consumer.poll(TIMEOUT_SECONDS)) is not None and message.error():
            pass
        if message is None and number >= 0:
            raise SystemExit("a record did not come back from Kafka")
        if number >= 0:
            late.append(1000 * (time.monotonic() - sent))
        producer.flush(TIMEOUT_SECONDS)
        while (left := sent + 1 / rate - time.monotonic()) > 0:
            producer.poll(left)
    consumer.close()
    return late


if __name__ == "__main__":
    main()
