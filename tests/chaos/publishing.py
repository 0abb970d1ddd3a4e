"""Events published straight to Kafka, for benches and chaos runs that need many."""

import json
import subprocess
from pathlib import Path

from dev import python_packages
from dev.terminal import fail

_PROGRAM = Path(__file__).with_name("event_source.py")


class Publisher:
    """Publishes so many `email.received` events for the accounts in turn, `rate` a second or at
    once.

    They are on their way from the start.
    """

    def __init__(self, brokers: str, accounts: list[str], events: int, rate: float = 0.0) -> None:
        request = {"brokers": brokers, "accounts": accounts, "events": events, "rate": rate}
        self._process = subprocess.Popen(
            [python_packages.python(), _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin
        self._process.stdin.write(json.dumps(request))
        self._process.stdin.close()

    def published(self) -> dict[str, int]:
        """Returns when each event was published (nanoseconds of the Unix clock), in their order,
        once the broker has them all.
        """
        assert self._process.stdout
        lines = self._process.stdout.read().splitlines()
        if self._process.wait() != 0:
            fail("the events could not be published")
        return {event: int(at) for event, at in (line.split() for line in lines)}
