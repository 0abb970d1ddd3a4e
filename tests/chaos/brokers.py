"""The brokers of a chaos run: killed or restarted one at a time, and never before all copies of
every partition are in sync again. With two of three away no write is promised.
"""

import itertools
import json
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dev import python_packages, services
from dev.kafka import Cluster
from dev.suite import Suite
from dev.terminal import fail, say
from dev.waiting import delay_until, wait_until

from chaos import concurrent_tasks, faults, freezes
from chaos.faults import Fault
from chaos.load import BusyInbox, Inbox, Mail

COUNT = 3
_BETWEEN_SECONDS = 3.0
_BACK_SECONDS = 120.0
_CHANGED_SECONDS = 1.5  # from the order until leaderships change
_METADATA_TIMEOUT_SECONDS = 5
_SHOWN = 5
_ELECTION = Path(__file__).with_name("leader_election.py")


def seconds_of(rounds: int) -> int:
    """Returns more seconds than so many rolling restarts take."""
    return rounds * COUNT * round(_BACK_SECONDS)


@dataclass
class Breaking:
    """Breaks the brokers in turn, until the run is over.

    A restart comes just after all that publishes was killed, and with an inbox that takes hundreds
    of mails a second: freezes.py says why. An election of the preferred leaders follows in the same
    way.
    """

    suite: Suite
    seed: int
    goes_on: Callable[[], bool]
    make_inbox: Callable[[], Inbox]
    counts: Counter[str]
    back_after: list[float] = field(default_factory=list)  # seconds, of each broker
    mails: list[Mail] = field(default_factory=list)  # of the busy inboxes

    def run(self, began: float, rounds: int | None) -> None:
        """Kills one, restarts the next, and so on; or so many rolling restarts and nothing else."""
        order = list(range(1, COUNT + 1))
        draws = random.Random(self.seed)  # noqa: S311 - the same order for the same seed
        draws.shuffle(order)
        steps = itertools.cycle([self._restart] if rounds else [self._kill, self._restart])
        numbers = itertools.islice(itertools.cycle(order), rounds and rounds * COUNT)
        for number, step in zip(numbers, steps, strict=False):
            delay_until(time.monotonic() + _BETWEEN_SECONDS)
            if not self.goes_on():
                return
            step(f"kafka-{number}", began, draws)

    def _kill(self, name: str, began: float, _draws: random.Random) -> None:
        self._end(name, signal.SIGKILL, began)

    def _restart(self, name: str, began: float, draws: random.Random) -> None:
        for change in (
            partial(self._end, name, signal.SIGTERM, began),
            partial(self._elect_leaders, began),
        ):
            if self.goes_on():
                inbox = self.make_inbox()
                self._have_fresh_producers(began, draws)
                self._change_under_load(change, inbox, draws)

    def _change_under_load(
        self, change: Callable[[], None], inbox: Inbox, draws: random.Random
    ) -> None:
        """The load begins before the leaderships change, or while they do."""
        servers = [it.listener for it in services.of("mail-ingest", self.suite.replicas)]
        busy = BusyInbox(servers, inbox, 2 * _BACK_SECONDS)
        begins = time.monotonic() + draws.uniform(0.0, _CHANGED_SECONDS)

        def load() -> None:
            delay_until(begins)
            self.mails.extend(busy.run())

        def carry_out() -> None:
            try:
                change()
                delay_until(max(begins, time.monotonic()) + freezes.CATCHING_UP_SECONDS)
            finally:
                busy.end()

        concurrent_tasks.run_all([load, carry_out], busy.end)

    def _have_fresh_producers(self, began: float, draws: random.Random) -> None:
        """Returns before they have written everywhere, some of them before they run."""
        for service in freezes.PUBLISHERS:
            for replica in services.of(service, self.suite.replicas):
                fault = Fault(time.monotonic() - began, replica.name, signal.SIGKILL)
                faults.send(self.suite, fault, began, self.counts)
        delay_until(time.monotonic() + draws.uniform(*freezes.FRESH_SECONDS))

    def _end(self, name: str, how: signal.Signals, began: float) -> None:
        """Returns when it is back and in sync, or the run over."""
        ended = time.monotonic()
        pid = faults.send(self.suite, Fault(ended - began, name, how), began, self.counts)
        _wait_back(self.suite, name, pid, self.goes_on)
        if self.goes_on():
            self.back_after.append(time.monotonic() - ended)

    def _elect_leaders(self, began: float) -> None:
        done = subprocess.run(
            [python_packages.python(), _ELECTION],
            input=json.dumps({"brokers": self.suite.cluster.brokers}),
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            fail(f"no leaders could be elected: {done.stderr[-2000:]}")
        self.counts["leaders ELECTED"] += int(done.stdout)
        say(f"  {time.monotonic() - began:5.1f} s  leaders elected: {done.stdout.strip()}")


def _wait_back(suite: Suite, name: str, ended: int, goes_on: Callable[[], bool]) -> None:
    def is_back() -> bool:
        pid = faults.running_pid(suite, name)
        return pid not in (None, ended) and not behind(suite.cluster)

    try:
        wait_until(
            lambda: is_back() or not goes_on(),
            time.monotonic() + _BACK_SECONDS,
            "it is back",
            every=0.25,
        )
    except TimeoutError:
        shown = ", ".join(behind(suite.cluster)[:_SHOWN])
        fail(f"{name} was ended, and {_BACK_SECONDS:.0f} s later is not in sync: {shown}")


def behind(cluster: Cluster) -> list[str]:
    """Lists what is not in sync, as any of the brokers sees it. One that was killed answers again
    only once it knows that it was away, so none speaks from before its end.
    """
    return [
        lacking
        for number, (listener, _) in enumerate(cluster.ports, start=1)
        for lacking in out_of_sync(_ask(f"127.0.0.1:{listener}"), number, cluster.replication)
    ]


def _ask(broker: str) -> Any:
    """Returns what kcat lists; None if it gets no answer."""
    command = ["kcat", "-L", "-J", "-m", str(_METADATA_TIMEOUT_SECONDS), "-b", broker]
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
