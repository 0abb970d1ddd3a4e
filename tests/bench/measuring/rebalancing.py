"""Measures what rebalance.py says: a program of its own, since it runs with the Kafka client of the
test environment.
"""

import os
import subprocess
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from dev.waiting import delay_until, wait_until

from measuring import figures
from measuring.percentiles import percentile

PARTITIONS = 12
STRATEGIES = ("range", "cooperative-sticky")
SETTINGS = {
    "enable.auto.commit": False,
    "auto.offset.reset": "latest",
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 500,
    "fetch.error.backoff.ms": 100,
}
RECORD_INTERVAL = 0.02
SETTLING_SECONDS = 4.0  # after each change; a group needs about one
REPLACED_AFTER_SECONDS = 1.0  # as Kubernetes starts a container again
BROKERS = os.environ["TEMPINBOX_KAFKA"]
Owners = dict[int, "Member"]
_MEMBER = "member"  # the argument of a process that is one


class Delays:
    """The oldest age in ms that each partition had since it was asked last."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._oldest: dict[int, float] = defaultdict(float)

    def note(self, partition: int, millis: float) -> None:
        with self._guard:
            self._oldest[partition] = max(self._oldest[partition], millis)

    def take(self) -> dict[int, float]:
        with self._guard:
            taken, self._oldest = self._oldest, defaultdict(float)
        return taken


class Member(threading.Thread):
    """Reads until it is told to leave."""

    def __init__(self, topic: str, group: str, strategy: str, delays: Delays) -> None:
        super().__init__(daemon=True)
        self.partitions: set[int] = set()
        self._delays = delays
        self._leaves = threading.Event()
        assignment = {"partition.assignment.strategy": strategy}
        self._consumer = Consumer(
            SETTINGS | assignment | {"bootstrap.servers": BROKERS, "group.id": group}
        )
        self._topic = topic

    def run(self) -> None:
        # Whoever has subscribed is a member, even before it reads.
        self._consumer.subscribe([self._topic], on_assign=self._gain, on_revoke=self._lose)
        next_commit = 0.0
        while not self._leaves.is_set():
            message = self._consumer.poll(0.1)
            if message is None or message.error():
                continue
            age = time.time() - float(message.value() or 0)
            self._delays.note(message.partition() or 0, 1000 * age)
            if time.monotonic() >= next_commit:
                self._consumer.commit(asynchronous=True)
                next_commit = time.monotonic() + 1
        self._consumer.close()

    def leave(self) -> None:
        self._leaves.set()
        self.join(30)

    def _gain(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.partitions |= {one.partition for one in partitions}

    def _lose(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        with suppress(KafkaException):  # nothing was read since the last commit
            consumer.commit(asynchronous=False)
        self.partitions -= {one.partition for one in partitions}


@contextmanager
def member_process(topic: str, group: str, strategy: str) -> Iterator[Callable[[], None]]:
    """A member that can be killed; yields how."""
    command = [sys.executable, "-m", "measuring.rebalancing", _MEMBER, topic, group, strategy]
    process = subprocess.Popen(command)

    def kill() -> None:
        process.kill()
        process.wait()

    try:
        yield kill
    finally:
        kill()


@contextmanager
def fed_topic() -> Iterator[str]:
    """A topic that gets records until it is left, and is deleted then."""
    admin = AdminClient({"bootstrap.servers": BROKERS})
    topic = f"bench.rebalance.{uuid.uuid4().hex[:8]}"
    for made in admin.create_topics([NewTopic(topic, PARTITIONS, 1)]).values():
        made.result()
    is_over = threading.Event()

    def feed() -> None:
        producer = Producer({"bootstrap.servers": BROKERS, "linger.ms": 0})
        while not is_over.wait(RECORD_INTERVAL):
            for partition in range(PARTITIONS):
                producer.produce(topic, repr(time.time()).encode(), partition=partition)
            producer.poll(0)
        producer.flush(10)

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        yield topic
    finally:
        is_over.set()
        feeding.join()
        for deleted in admin.delete_topics([topic]).values():
            deleted.result()


def owners(members: list[Member]) -> Owners:
    """Waits until each of them has partitions, and all are given; then a while."""
    wait_until(
        lambda: (
            all(it.partitions for it in members)
            and sum(len(it.partitions) for it in members) == PARTITIONS
        ),
        time.monotonic() + 60,
        "the group's new assignment",
    )
    return settled(members)


def settled(members: list[Member]) -> Owners:
    """Waits a while; who has what of these members."""
    delay_until(time.monotonic() + SETTLING_SECONDS)
    return {partition: it for it in members for partition in it.partitions}


def measure(topic: str, strategy: str, taken: dict[str, list[float]]) -> None:
    """A third member joins two others, and leaves them; one more is killed, and replaced."""
    delays = Delays()
    group = f"{topic}.{uuid.uuid4().hex[:8]}"
    members = [Member(topic, group, strategy, delays) for _ in range(2)]
    third = Member(topic, group, strategy, delays)
    for member in members:
        member.start()
    before = owners(members)

    def change(what: str, begin: Callable[[], None], remaining: list[Member]) -> None:
        nonlocal before
        delays.take()
        begin()
        after = owners(remaining)
        for partition, delay in delays.take().items():
            moved = "moved" if before.get(partition) is not after[partition] else "kept"
            taken[f"{what}, {moved}"].append(delay)
        before = after

    change("join", third.start, [*members, third])
    change("leave", third.leave, members)
    fourth = Member(topic, group, strategy, delays)
    with member_process(topic, group, strategy) as kill:
        wait_until(
            lambda: 0 < sum(len(it.partitions) for it in members) < PARTITIONS,
            time.monotonic() + 60,
            "a share of the process that will be killed",
        )
        before = settled(members)

        def replace() -> None:
            kill()
            delay_until(time.monotonic() + REPLACED_AFTER_SECONDS)
            fourth.start()

        change("kill", replace, [*members, fourth])
    for member in (*members, fourth):
        member.leave()


def main() -> int:
    if sys.argv[1] == _MEMBER:
        topic, group, strategy = sys.argv[2:]
        Member(topic, group, strategy, Delays()).run()
        return 0
    rounds = int(sys.argv[1])
    taken: dict[str, dict[str, list[float]]] = {it: defaultdict(list) for it in STRATEGIES}
    with fed_topic() as topic:
        for number in range(rounds):
            for strategy in STRATEGIES:
                measure(topic, strategy, taken[strategy])
            print(f"round {number + 1} of {rounds}", flush=True)
    for strategy, changes in taken.items():
        for what, delays in sorted(changes.items()):
            delays.sort()
            p50 = percentile(delays, 50)
            print(f"{strategy:<20} {what:<14} p50 {p50:6.0f} ms, max {delays[-1]:6.0f} ms")
            figures.note("delay of a partition, p50", "ms", f"{strategy}: {what}", p50)
    return 0


if __name__ == "__main__":
    sys.exit(main())
