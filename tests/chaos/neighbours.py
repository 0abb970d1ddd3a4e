"""A neighbour of those who misuse the suite: mail to another account all the time, and what that
notices in loud turns.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from dev import services
from dev.suite import Suite
from dev.terminal import item

from chaos.checks import Mailboxes
from chaos.load import Inbox, Load, Mail

_MAX_RATIO = 1.2
_NOISE_SECONDS = 0.005  # two commits differ by that much on any machine


@dataclass(frozen=True)
class Turns:
    """Time in turns of equal length, quiet and loud one after the other."""

    seconds: float
    pairs: int

    @property
    def length(self) -> float:
        """Of one turn."""
        return self.seconds / (2 * self.pairs)

    def is_loud(self, moment: float) -> bool:
        """Returns whether the turn at this time from the beginning is a loud one."""
        return int(moment / self.length) % 2 == 1

    def split(self, mails: list[Mail], rate: float) -> tuple[list[float], list[float]]:
        """How long the mails of quiet turns took, and those of loud ones. They were due in their
        order, so many a second.
        """
        quiet: list[float] = []
        loud: list[float] = []
        for number, mail in enumerate(mails):
            if mail.email_id:
                (loud if self.is_loud(number / rate) else quiet).append(mail.seconds)
        return quiet, loud


def percentile(times: list[float], share: float) -> float:
    """Of a list that is not empty, by the nearest rank."""
    ranked = sorted(times)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def check(what: str, mails: list[Mail], turns: Turns, rate: float) -> Iterator[str]:
    """Mail that was refused, and a p99 in loud turns of more than 1.2 times that in quiet ones."""
    refused = Counter(mail.refused for mail in mails if mail.refused)
    for reply, count in refused.items():
        yield f"{what}: {count} mails of the neighbour were answered {reply}"
    quiet, loud = turns.split(mails, rate)
    if not quiet or not loud:
        yield f"{what}: no mail of the neighbour was accepted"
        return
    before, during = percentile(quiet, 0.99), percentile(loud, 0.99)
    for name, times in ("quiet", quiet), ("loud", loud):
        item(
            f"neighbour, {name}",
            f"{len(times)} mails, p50 {percentile(times, 0.5) * 1000:.1f} ms, "
            f"p99 {percentile(times, 0.99) * 1000:.1f} ms",
        )
    if during > max(_MAX_RATIO * before, before + _NOISE_SECONDS):
        yield (
            f"{what}: the neighbour's p99 is {during * 1000:.1f} ms in loud turns, "
            f"{before * 1000:.1f} ms in quiet ones"
        )


class Neighbour:
    """The mail of an account that does nothing wrong; sent by a thread of its own while the block
    goes on.
    """

    def __init__(
        self, inboxes: list[Inbox], servers: list[str], rate: int, connections: int
    ) -> None:
        self._inboxes = inboxes
        self._servers = servers
        self._connections = connections
        self.rate = rate
        self.mails: list[Mail] = []  # once the block has ended

    def during(self, turns: Turns) -> "_Sending":
        """Use as a context manager; it ends when the turns are over."""
        load = Load(self._servers, self._inboxes, self.rate, turns.seconds, self._connections)
        return _Sending(self, load)


class _Sending:
    def __init__(self, neighbour: Neighbour, load: Load) -> None:
        self._neighbour = neighbour
        self._load = load
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self._neighbour.mails = self._load.run()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind:
            self._load.end()
        self._thread.join()


def make(suite: Suite, inboxes: int, rate: int, connections: int) -> Neighbour:
    """A neighbour with an account and so many inboxes, whose mail comes to all mail servers."""
    account = suite.operate_json(
        "account", "create", "--email", "neighbour@example.com", "--plan", "premium"
    )
    key = suite.operate_json("key", "create", account["accountId"], "--label", "chaos")["key"]
    gateway = next(services.of("gateway", suite.replicas)).listener
    servers = [it.listener for it in services.of("mail-ingest", suite.replicas)]
    return Neighbour(Mailboxes(gateway, key).create(inboxes), servers, rate, connections)
