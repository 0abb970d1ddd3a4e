"""What mail by login costs beside mail to named inboxes, and what a login costs by itself.

All of it in the clear, so TLS is no part of it.
"""

import asyncio
import os
import re
import statistics
import time
import urllib.request
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

from measuring import figures, mail_stream, processes, targets

_RATE = 800.0  # mails a second, the same either way, so that they share commits alike
_MIN_RATE = 0.9 * _RATE  # below it a mail costs more the later it is, whichever way it came
_SESSIONS = 16
_LOGINS_A_SECOND = 1000  # so many are counted for each second asked for
_MAX_TIMES_NAMED, _MIN_LOGINS_A_CORE = 1.05, 1000
_LOOKUPS = re.compile(
    r"^tempinbox_mail_ingest_login_lookups_total(?:\{[^}]*\})? (\S+)$", re.MULTILINE
)


@dataclass(frozen=True)
class Way:
    """How mail comes in: to which server and whom, and the sessions' responses of AUTH PLAIN."""

    name: str
    smtp: str
    addresses: Sequence[str]
    logins: Sequence[str] = ("",)


@dataclass(frozen=True)
class Measurement:
    """What is measured, by the processes behind it."""

    groups: dict[str, int]
    named: Way
    by_login: Way
    seconds: float  # of each part of a round

    def run(self, rounds: int) -> bool:
        """Measures all parts by turns, says what they cost, and whether the targets are met."""
        print("to warm up", flush=True)
        self._mail(self.named)
        self._mail(self.by_login)
        ratios, logins = [], []
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", flush=True)
            order = (self.named, self.by_login) if number % 2 == 0 else (self.by_login, self.named)
            found = {way.name: self._mail(way) for way in order}
            if min(rate for rate, _ in found.values()) >= _MIN_RATE:
                ratios.append(found[self.by_login.name][1] / found[self.named.name][1])
            logins.append(self._log_in())
        what = f"CPU of a mail {self.by_login.name}, times one {self.named.name}"
        print(f"{what}, of each round at the rate: {', '.join(f'{it:.3f}' for it in ratios)}")
        is_measured = 2 * len(ratios) > rounds
        if not is_measured:
            print(f"  {what}: not measured, the machine is too busy for {_RATE:.0f} mails a second")
        outcomes = [
            is_measured
            and targets.at_most(f"{what}, median", statistics.median(ratios), _MAX_TIMES_NAMED),
            targets.at_least(
                "logins a second a core, median", statistics.median(logins), _MIN_LOGINS_A_CORE
            ),
        ]
        return all(outcomes)

    def _mail(self, way: Way) -> tuple[float, float]:
        """Mails a second, and CPU of one in ms."""
        count = int(_RATE * self.seconds)
        sent = mail_stream.send(way.smtp, way.addresses, count, _RATE, _SESSIONS, way.logins)
        rate, used = self._measure(sent, count)
        parts = ", ".join(f"{name} {millis:.3f}" for name, millis in used.items())
        print(
            f"  mail {way.name:<16}  {sum(used.values()):.3f} ms of CPU ({parts}), {rate:.0f} a "
            "second",
            flush=True,
        )
        for part, millis in used.items():
            figures.note("CPU of a mail", "ms", way.name, millis, part)
        return rate, sum(used.values())

    def _log_in(self) -> float:
        """Logins a second a core of mail-ingest."""
        count = int(_LOGINS_A_SECOND * self.seconds)
        looked_up = _login_lookups()
        rate, used = self._measure(_log_in_often(self.by_login, count), count)
        millis = used["mail-ingest-1"]
        print(
            f"  logins: {rate:.0f} a second, {millis:.3f} ms of mail-ingest each: "
            f"{1000 / millis:,.0f} a second a core; {_login_lookups() - looked_up} looked up in "
            "PostgreSQL",
            flush=True,
        )
        figures.note("Logins", "a second a core", "cached", 1000 / millis)
        return 1000 / millis

    def _measure(self, load: Awaitable[float], count: int) -> tuple[float, dict[str, float]]:
        """What the load answers, and CPU of one of so many in ms, from quiet to quiet."""
        roots = list(self.groups.values())
        processes.wait_quiet(roots)
        before = {name: processes.cpu_seconds(pid) for name, pid in self.groups.items()}
        answer = asyncio.run(_awaited(load))
        processes.wait_quiet(roots)
        used = {
            name: 1000 * (processes.cpu_seconds(pid) - before[name]) / count
            for name, pid in self.groups.items()
        }
        return answer, used


async def _awaited(load: Awaitable[float]) -> float:
    return await load


async def _log_in_often(way: Way, count: int) -> float:
    """So many logins, each in a session of its own, of all users at once; how many a second."""
    began = time.monotonic()
    each = -(-count // len(way.logins))
    await asyncio.gather(*(_log_in_again(way.smtp, login, each) for login in way.logins))
    return each * len(way.logins) / (time.monotonic() - began)


async def _log_in_again(smtp: str, login: str, count: int) -> None:
    for _ in range(count):
        await mail_stream.close_session(*await mail_stream.open_session(smtp, login))


def _login_lookups() -> int:
    admin = os.environ["TEMPINBOX_MAIL_INGEST_1_ADMIN"]
    with urllib.request.urlopen(f"http://{admin}/metrics", timeout=5) as answer:
        return read_lookups(answer.read().decode())


def read_lookups(metrics: str) -> int:
    """How many logins mail-ingest has looked up in PostgreSQL, by its metrics."""
    found = _LOOKUPS.search(metrics)
    return int(float(found[1])) if found else 0
