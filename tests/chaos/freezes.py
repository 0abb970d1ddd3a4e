"""The fault "Kafka frozen": all that publishes is killed, and soon after it the broker stands still
for so long that the controller takes its leaderships away and gives them back (as on a machine
without CPU time).

librdkafka takes a batch for written that is not where a leadership changes between two batches of a
producer that is new to the partition. So an inbox takes hundreds of mails a second from the freeze
on: then several batches of one partition are under way, and are its first.
"""

import random
import signal
from collections import Counter
from collections.abc import Iterable, Sequence

from dev.waiting import delay_until

from chaos import faults
from chaos.faults import Fault
from chaos.load import BusyInbox, Inbox, Mail

PUBLISHERS = ("gateway", "inbox", "mail-ingest")
_FROZEN_SECONDS = 4.0  # past broker.session.timeout.ms of tools/dev/kafka.py
# So long after the kills: the supervisor starts what was killed after a second, and soon after that
# its producers have written to every partition.
FRESH_SECONDS = (0.5, 2.5)
CATCHING_UP_SECONDS = 2.5
_LOADED_SECONDS = _FROZEN_SECONDS + CATCHING_UP_SECONDS
_ROUND_SECONDS = 12.0
# Mails and rounds of calls a second beside so many freezes: few, so that producers are new to most
# partitions for longer.
ROUNDS_RATE = 10
_SHARES = (0.1, 0.8)  # of the time of a run that breaks other things too


def seconds_of(rounds: int) -> int:
    """Returns how long so many freezes take if nothing else is broken between."""
    return round(rounds * _ROUND_SECONDS)


def moments(seconds: float, rounds: int | None) -> list[float]:
    """Returns when the freezes of a run begin, in seconds after its start."""
    if rounds:
        return [number * _ROUND_SECONDS + 1.0 for number in range(rounds)]
    return [share * seconds for share in _SHARES]


def freezes(publishers: Iterable[str], began: Iterable[float], seed: int) -> list[Fault]:
    """Kills and freezes from these moments on; `publishers` are names of replicas."""
    delays = random.Random(seed)  # noqa: S311 - the same faults for the same seed
    killed = sorted(publishers)
    planned = []
    for at in began:
        frozen = at + delays.uniform(*FRESH_SECONDS)
        planned += [Fault(at, name, signal.SIGKILL) for name in killed]
        planned.append(Fault(frozen, "kafka-1", signal.SIGSTOP))
        planned.append(Fault(frozen + _FROZEN_SECONDS, "kafka-1", signal.SIGCONT))
    return planned


def schedule(
    replicas: dict[str, list[str]],
    killed: Iterable[str],
    seconds: int,
    seed: int,
    between: float,
    rounds: int | None,
) -> list[Fault]:
    """All faults of a run: so many rounds of freezes alone, or two among all others. `replicas` by
    their service; `killed` are the services of which one is killed now and then.
    """
    began = moments(seconds, rounds)
    publishers = [name for service in PUBLISHERS for name in replicas[service]]
    frozen = freezes(publishers, began, seed)
    if rounds:
        return frozen
    others = faults.schedule({it: replicas[it] for it in killed}, seconds, seed, between)
    return sorted(frozen + [it for it in others if not _disturbs(it, began)])


def _disturbs(fault: Fault, began: Sequence[float]) -> bool:
    """A service that is killed once more would not write while the leaderships change."""
    is_service = not fault.name.startswith(("postgres", "kafka"))
    max_seconds = FRESH_SECONDS[1] + _LOADED_SECONDS
    return is_service and any(at <= fault.at < at + max_seconds for at in began)


def load_inboxes(
    servers: list[str], inboxes: Sequence[Inbox], planned: Iterable[Fault], start: float
) -> list[Mail]:
    """An inbox for each freeze is busy from its beginning on; `start` is the run's."""
    mails: list[Mail] = []
    frozen_at = [fault.at for fault in planned if fault.sent == signal.SIGSTOP]
    for inbox, at in zip(inboxes, frozen_at, strict=True):
        delay_until(start + at)
        mails += BusyInbox(servers, inbox, _LOADED_SECONDS).run()
    return mails


def fact(mails: list[Mail]) -> str:
    """Says what the busy inboxes took."""
    confirmed = sum(mail.email_id is not None for mail in mails)
    inboxes = len({mail.inboxes[0].inbox_id for mail in mails})
    return f"{confirmed} of {len(mails)} mails answered 250, of {inboxes}"


def check_course(counts: Counter[str], mails: list[Mail]) -> list[str]:
    """A run without a freeze, or whose freezes nobody wrote in, proves nothing."""
    violations = []
    if "kafka" not in faults.broken(counts, signal.SIGSTOP):
        violations.append("no kafka was frozen")
    if not any(mail.email_id for mail in mails):
        violations.append("no busy inbox took a mail")
    return violations
