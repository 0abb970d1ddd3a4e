"""Breaks parts of a suite in a chaos run, each at its time."""

import itertools
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from dev.suite import Suite
from dev.terminal import Failure, say
from dev.waiting import delay_until, wait_until

_BETWEEN_KILLS_SECONDS = 3.0
_RESTART_SECONDS = 60.0


@dataclass(frozen=True, order=True)
class Fault:
    """A signal to one process of the suite, so many seconds after the start."""

    at: float
    name: str
    sent: signal.Signals


def kills(
    replicas: dict[str, list[str]],
    seconds: int,
    seed: int,
    between: float = _BETWEEN_KILLS_SECONDS,
) -> list[Fault]:
    """A replica is killed every few seconds, of each service (`replicas` by its name) in turn."""
    order = random.Random(seed)  # noqa: S311 - the same faults for the same seed
    faults = []
    services = itertools.cycle(replicas)
    at = between
    while at < seconds:
        killed = order.choice(replicas[next(services)])
        faults.append(Fault(at, killed, signal.SIGKILL))
        at += between * order.uniform(0.5, 1.5)
    return faults


def schedule(
    replicas: dict[str, list[str]],
    seconds: int,
    seed: int,
    between: float = _BETWEEN_KILLS_SECONDS,
) -> list[Fault]:
    """Replicas as above; PostgreSQL crashes at once (SIGQUIT) and as by the kernel (SIGKILL), Kafka
    in between.
    """
    others = [
        Fault(0.30 * seconds, "postgres", signal.SIGQUIT),
        Fault(0.50 * seconds, "kafka-1", signal.SIGKILL),
        Fault(0.70 * seconds, "postgres", signal.SIGKILL),
    ]
    return sorted(others + kills(replicas, seconds, seed, between))


def carry_out(suite: Suite, faults: Iterable[Fault], began: float, counts: Counter[str]) -> None:
    """Sends the signals at their times; the supervisor starts again what dies."""
    for fault in faults:
        delay_until(began + fault.at)
        send(suite, fault, began, counts)


def send(suite: Suite, fault: Fault, began: float, counts: Counter[str]) -> int:
    """The signal now, whatever its time; answers the process that got it. One that is just down
    gets it when it runs.
    """
    pid = wait_until(
        partial(running_pid, suite, fault.name),
        time.monotonic() + _RESTART_SECONDS,
        f"{fault.name} runs",
    )
    try:
        os.kill(pid, fault.sent)
    except ProcessLookupError:
        return pid
    counts[f"{fault.name} {fault.sent.name}"] += 1
    say(f"  {time.monotonic() - began:5.1f} s  {fault.name}: {fault.sent.name}")
    return pid


def broken(counts: Counter[str], *signals: signal.Signals) -> set[str]:
    """The services, and what they stand on, that got one of the signals."""
    sent = {it.name for it in signals}
    return {
        name.rpartition("-")[0] or name
        for name, what in (count.split() for count in counts)
        if what in sent
    }


def running_pid(suite: Suite, name: str) -> int | None:
    """None while it is down."""
    try:
        pid = suite.supervision.status()[name]["pid"]
    except Failure:
        return None
    return int(pid) if pid else None
