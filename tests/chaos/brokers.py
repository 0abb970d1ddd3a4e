"""The brokers of a chaos run: killed one at a time, and never before all copies of every partition
are in sync again. With two of three away no write is promised.
"""

import itertools
import json
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from dev.kafka import Cluster
from dev.suite import Suite
from dev.terminal import fail
from dev.waiting import pause_until, wait_until

from chaos import faults
from chaos.faults import Fault

COUNT = 3
_BETWEEN_KILLS_SECONDS = 3.0
_BACK_SECONDS = 120.0
_ASKED_SECONDS = 5
_SHOWN = 5


def kill_in_turn(
    suite: Suite, seed: int, began: float, goes_on: Callable[[], bool], counts: Counter[str]
) -> list[float]:
    """Returns when the run is over; answers how long each took to be back, in seconds."""
    order = list(range(1, COUNT + 1))
    random.Random(seed).shuffle(order)  # noqa: S311 - the same order for the same seed
    numbers = itertools.cycle(order)
    taken: list[float] = []
    pause_until(began + _BETWEEN_KILLS_SECONDS)
    while goes_on():
        killed = time.monotonic()
        fault = Fault(killed - began, f"kafka-{next(numbers)}", signal.SIGKILL)
        pid = faults.send(suite, fault, began, counts)
        _wait_back(suite, fault.name, pid, goes_on)
        if goes_on():
            taken.append(time.monotonic() - killed)
        pause_until(time.monotonic() + _BETWEEN_KILLS_SECONDS)
    return taken


def _wait_back(suite: Suite, name: str, killed: int, goes_on: Callable[[], bool]) -> None:
    def is_back() -> bool:
        pid = faults.running_pid(suite, name)
        return pid not in (None, killed) and not behind(suite.cluster)

    try:
        wait_until(
            lambda: is_back() or not goes_on(),
            time.monotonic() + _BACK_SECONDS,
            "it is back",
            every=0.25,
        )
    except TimeoutError:
        shown = ", ".join(behind(suite.cluster)[:_SHOWN])
        fail(f"{name} was killed, and {_BACK_SECONDS:.0f} s later is not in sync: {shown}")


def behind(cluster: Cluster) -> list[str]:
    """What is not in sync, as any of the brokers sees it. One that was killed answers again only
    once it knows that it was away, so none speaks from before its end.
    """
    return [
        lacking
        for number, (listener, _) in enumerate(cluster.ports, start=1)
        for lacking in out_of_sync(_ask(f"127.0.0.1:{listener}"), number, cluster.replication)
    ]


def _ask(broker: str) -> Any:
    """What kcat lists; None where it gets no answer."""
    command = ["kcat", "-L", "-J", "-m", str(_ASKED_SECONDS), "-b", broker]
    done = subprocess.run(command, capture_output=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def out_of_sync(listing: Any, number: int, copies: int) -> list[str]:
    """The partitions that a broker lists with fewer copies in sync; the broker itself where it was
    another that answered.
    """
    if listing is None or listing["originating_broker"]["id"] != number:
        return [f"kafka-{number} does not answer"]
    return [
        f"{topic['topic']}/{partition['partition']}"
        for topic in listing["topics"]
        for partition in topic["partitions"]
        if len(partition["isrs"]) < copies
    ]
