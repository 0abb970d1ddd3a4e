"""`./dev chaos webhooks`: events while dispatchers are killed, added and removed and what they
stand on restarts; then every delivery is looked for.
"""

import contextlib
import http.client
import json
import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from dev import readiness, services
from dev.suite import Suite
from dev.terminal import fail, heading, item, paint, say
from dev.waiting import delay_until, wait_until

from chaos import faults
from chaos.publishing import Publisher
from chaos.receiver import Receiver

REPLICAS = "webhook-dispatcher=3"
_ACCOUNTS = 8
# Deliveries of a process that was killed are taken over when their lease has ended (30 s); a
# receiver's failure costs 5 s or the 15 s of an exchange more.
_SETTLING_SECONDS = 150
_REMOVALS = (
    (0.2, 0.4),
    (0.6, 0.8),
)  # when the last replica leaves and comes back, as shares of the time


def run(suite: Suite, events: int, seconds: int, seed: int) -> int:
    """The exit code is 0 when nothing is missing and nothing is stuck."""
    with Receiver(seed) as receiver:
        accounts = {
            _make_account(suite, f"{receiver.url}/hook/{number}"): f"/hook/{number}"
            for number in range(_ACCOUNTS)
        }
        heading("Breaking")
        publisher = Publisher(suite.cluster.brokers, list(accounts), events, events / seconds)
        _break(suite, seconds, seed)
        published = publisher.published()
        expected = {
            (path, event)
            for event, path in zip(
                published, _in_turn(list(accounts.values()), len(published)), strict=True
            )
        }
        item(
            "events",
            f"{len(published)} published in {seconds} s, {receiver.tries()} requests so far",
        )

        heading("Settling")
        started = time.monotonic()
        deadline = started + _SETTLING_SECONDS
        _wait(lambda: not readiness.lacking(suite.replicas), deadline)
        item("suite", f"ready again after {time.monotonic() - started:.1f} s")
        _wait(lambda: expected <= receiver.taken().keys(), deadline)
        _wait(lambda: _count(suite, "due_deliveries") == 0, deadline)
        _wait(lambda: _oldest_due(suite) == 0, min(deadline, time.monotonic() + 10))
        item("quiet", f"after {time.monotonic() - started:.1f} s")
        return _judge(suite, receiver, expected)


@dataclass(frozen=True)
class Findings:
    """The state when all is quiet, or time is over. A delivery is a path and a `webhook-id`."""

    expected: set[tuple[str, str]]
    taken: Counter[tuple[str, str]]  # how often each was answered 204
    waiting: int  # in the database, as the next three
    succeeded: int
    failed: int
    oldest_due: float

    def violations(self) -> list[str]:
        """Empty when every promise was kept."""
        found = [
            f"{event}: never arrived at {path}"
            for path, event in sorted(self.expected - self.taken.keys())
        ]
        found += [
            f"{event}: arrived at {path}, where it does not belong"
            for path, event in sorted(self.taken.keys() - self.expected)
        ]
        if not self.expected:
            found.append("no event was published")
        if self.waiting:
            found.append(f"{self.waiting} deliveries are still waiting")
        if self.succeeded != len(self.expected):
            found.append(
                f"{self.succeeded} deliveries are recorded as succeeded, not {len(self.expected)}"
            )
        if self.failed:
            found.append(f"{self.failed} deliveries are recorded as failed")
        if self.oldest_due:
            found.append(f"the oldest due delivery is said to wait for {self.oldest_due} s")
        return found

    def repeats(self) -> list[int]:
        """Returns of each delivery that arrived more than once, how often too often."""
        return [times - 1 for times in self.taken.values() if times > 1]


def _judge(suite: Suite, receiver: Receiver, expected: set[tuple[str, str]]) -> int:
    heading("Counting")
    succeeded, failed = (
        _count(suite, f"deliveries WHERE {what}")
        for what in ("state = 'succeeded'", "state <> 'succeeded'")
    )
    findings = Findings(
        expected,
        receiver.taken(),
        _count(suite, "due_deliveries"),
        succeeded,
        failed,
        _oldest_due(suite),
    )
    repeats = findings.repeats()
    item(
        "deliveries",
        f"{len(expected & findings.taken.keys())} of {len(expected)} arrived, {receiver.tries()} "
        "requests for them",
    )
    item(
        "repeated",
        f"{sum(repeats)} with the same webhook-id, of {len(repeats)} deliveries, at most "
        f"{max(repeats, default=0)} times each",
    )
    violations = findings.violations()
    for violation in violations[:20]:
        say(paint("violation: ", "red") + violation)
    say(f"\n{len(expected)} events, {len(violations)} violations")
    return 1 if violations else 0


def _break(suite: Suite, seconds: int, seed: int) -> None:
    """Kills and restarts by chance, and takes the last replica away and back; returns when the time
    is over.
    """
    names = [replica.name for replica in services.of("webhook-dispatcher", suite.replicas)]
    planned = faults.schedule({"webhook-dispatcher": names[:-1]}, seconds, seed)
    counts: Counter[str] = Counter()
    began = time.monotonic()
    scaling = threading.Thread(target=_scale, args=(suite, names[-1], seconds, began), daemon=True)
    scaling.start()
    faults.carry_out(suite, planned, began, counts)
    scaling.join()
    item(
        "faults",
        ", ".join(f"{what} x {times}" for what, times in sorted(counts.items()))
        + f", {names[-1]} removed and added x {len(_REMOVALS)}",
    )


def _scale(suite: Suite, name: str, seconds: int, began: float) -> None:
    replica = next(it for it in suite.replicas if it.name == name)
    for leaves, returns in _REMOVALS:
        for share, what in ((leaves, "removed"), (returns, "added")):
            delay_until(began + share * seconds)
            say(f"  {time.monotonic() - began:5.1f} s  {name}: {what}")
            if what == "removed":
                suite.supervision.remove([name])
            else:
                suite.supervision.put(services.spec(replica, suite.replicas, suite.context))


def _make_account(suite: Suite, url: str) -> str:
    """A Premium account whose mail is announced to the URL; its id."""
    account = suite.operate_json(
        "account", "create", "--email", f"{uuid.uuid4().hex[:12]}@example.com", "--plan", "premium"
    )["accountId"]
    key = suite.operate_json("key", "create", account, "--label", "chaos")["key"]
    gateway = next(services.of("gateway", suite.replicas)).listener
    connection = http.client.HTTPConnection(gateway, timeout=30)
    body = json.dumps({"url": url, "events": ["email.received"]})
    connection.request(
        "POST", "/v1/webhooks", body, {"X-API-Key": key, "Content-Type": "application/json"}
    )
    answer = connection.getresponse()
    if answer.status != 201:
        fail(f"POST /v1/webhooks answered {answer.status}: {answer.read().decode()}")
    return str(account)


def _in_turn(paths: list[str], count: int) -> list[str]:
    return [paths[number % len(paths)] for number in range(count)]


def _count(suite: Suite, what: str) -> int:
    command = [
        "psql",
        "-XAtq",
        "-d",
        suite.server.dsn(),
        "-c",
        f"SELECT count(*) FROM webhooks.{what}",  # noqa: S608 - names of this file
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else -1


def _oldest_due(suite: Suite) -> float:
    """The metric, the worst of the replicas; below zero where one does not answer."""
    found = []
    for replica in services.of("webhook-dispatcher", suite.replicas):
        connection = http.client.HTTPConnection(replica.admin, timeout=5)
        try:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode().splitlines()
        except (OSError, http.client.HTTPException):
            return -1.0
        finally:
            connection.close()
        found += [
            float(line.split()[-1])
            for line in lines
            if line.startswith("tempinbox_webhook_dispatcher_oldest_due_seconds ")
        ]
    return max(found, default=-1.0)


def _wait(is_so: Callable[[], bool], deadline: float) -> None:
    """Waits until it is so, or for the deadline: what is missing then is counted afterwards."""
    with contextlib.suppress(TimeoutError):
        wait_until(is_so, deadline, "it is so", every=0.25)
