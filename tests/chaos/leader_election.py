"""Has each partition's preferred broker elected its leader; prints how many leaderships moved.

A program of its own: it runs with the Kafka client of the test environment, see brokers.py.
Reads {"brokers"} from stdin.
"""

import json
import sys

from confluent_kafka import ElectionType, KafkaError
from confluent_kafka.admin import AdminClient

_SECONDS = 30
# A partition's leader is its preferred broker, or that one is away.
_NOT_MOVED = (KafkaError.ELECTION_NOT_NEEDED, KafkaError.PREFERRED_LEADER_NOT_AVAILABLE)


def main() -> None:
    brokers = json.load(sys.stdin)["brokers"]
    # Its limit is a property: confluent-kafka 2.16 fails on the parameter request_timeout.
    admin = AdminClient({"bootstrap.servers": brokers, "socket.timeout.ms": 1000 * _SECONDS})
    election = admin.elect_leaders(ElectionType.PREFERRED)
    moved = 0
    for partition, error in election.result(_SECONDS).items():
        if error is None:
            moved += 1
        elif error.args[0].code() not in _NOT_MOVED:
            raise SystemExit(f"{partition.topic}/{partition.partition}: {error}")
    print(moved)


if __name__ == "__main__":
    main()
