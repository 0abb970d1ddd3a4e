"""Load while the rehearsal goes on: mails, calls of the API, a webhook for each mail.

What fails is noted with its time, so that each step can say what failed while it went on. Runs
inside.
"""

import contextlib
import http.client
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from chaos.calls import Calls
from chaos.checks import Mailboxes
from chaos.load import Inbox, Load, Mail, TurnedAway
from chaos.receiver import Receiver
from dev.terminal import fail
from dev.waiting import wait_until

from k8s import installation, layout

MAILS_A_SECOND = 50
_CONNECTIONS = 8
_CALLERS = 5
# The rounds of each caller; a round is four calls and a half.
_ROUNDS_A_SECOND = 4.5
_INBOXES = 32
_HOOK = "/hook"
_MAX_SECONDS = 3 * 3600
_CALL_SECONDS = 30.0
_SETTLING_SECONDS = 120.0
# Replies and outcomes that a fault may have; 421 is how SMTP says that a server ends, and any
# sender comes again.
PUT_OFF = "421"
OF_FAULTS = {"503", "451", "452", PUT_OFF, "cut", "refused"}


@dataclass(frozen=True)
class Failure:
    """A call or mail that failed: `kind` is a status or reply code, `refused` if no connection was
    made, or `cut` if it broke.
    """

    at: float
    kind: str
    what: str


def _kind(problem: BaseException) -> str:
    if isinstance(problem, TurnedAway):
        return str(problem)[:3]
    if isinstance(problem, ConnectionRefusedError):
        return "refused"
    if isinstance(problem, TimeoutError):
        return "timeout"
    return "cut"


class _Calls(Calls):
    """Calls that note what failed."""

    def __init__(self, gateway: str, key: str, load: Load, noted: list[Failure]) -> None:
        super().__init__([gateway], key, _ROUNDS_A_SECOND, load.confirmed)
        self._noted = noted

    def _call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(next(self._gateways), timeout=_CALL_SECONDS)
        own = {"X-API-Key": self._key, "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body)
        status, answer, kind = 0, None, ""
        try:
            connection.request(method, path, content, own | (headers or {}))
            response = connection.getresponse()
            status, text = response.status, response.read()
            answer = json.loads(text)
        except (OSError, http.client.HTTPException, ValueError) as problem:
            status, answer, kind = 0, repr(problem), _kind(problem)
        finally:
            connection.close()
        if status == 429 or status >= 500:
            kind = str(status)
        if kind:
            summary = f"{method} {path}: {kind}: {answer}"
            self._noted.append(Failure(time.monotonic(), kind, summary[:300]))
        self.answers[kind or str(status)] += 1
        return status, answer


class ClusterLoad:
    """Use as a context manager: the receiver of webhooks listens as long."""

    def __init__(self) -> None:
        port = installation.WEBHOOK_PORT
        self._receiver = Receiver(seed=1, fails=False, host=layout.HOST_ADDRESS, port=port)
        self._noted: list[Failure] = []
        self._mails: list[Mail] = []
        self._working: list[threading.Thread] = []
        self._callers: list[_Calls] = []
        self._load: Load | None = None
        self.gateway = ""
        self.smtp = ""
        self.key = ""

    def __enter__(self) -> Self:
        self._receiver.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._receiver.__exit__()

    @property
    def is_running(self) -> bool:
        """Returns whether mails are being sent."""
        return bool(self._working)

    def start(self, key: str) -> None:
        """Starts the load on the Services of the release, with an account that may do as much."""
        self.key = key
        self.gateway = installation.service_address("gateway")
        self.smtp = installation.service_address("mail-ingest")
        mailboxes = Mailboxes(self.gateway, key)
        inboxes = mailboxes.create(_INBOXES)
        mailboxes.add_webhook(f"http://{layout.HOST}:{installation.WEBHOOK_PORT}{_HOOK}")
        load = Load([self.smtp], inboxes, MAILS_A_SECOND, _MAX_SECONDS, _CONNECTIONS)
        self._load = load
        self._callers = [_Calls(self.gateway, key, load, self._noted) for _ in range(_CALLERS)]
        self._working = [threading.Thread(target=lambda: self._mails.extend(load.run()))]
        self._working += [
            threading.Thread(target=it.run, args=(_MAX_SECONDS,)) for it in self._callers
        ]
        for each in self._working:
            each.daemon = True
            each.start()

    def stop(self) -> None:
        """Ends with what is under way."""
        if self._load:
            self._load.end()
        for caller in self._callers:
            caller.end()
        for each in self._working:
            each.join(timeout=90)
        if any(each.is_alive() for each in self._working):
            fail("the load does not come to its end")
        self._working = []

    def failures(self, since: float, until: float | None = None) -> list[Failure]:
        """Returns what failed in this time."""
        end = time.monotonic() if until is None else until
        mails = self._load.failures.copy() if self._load else []
        found = [
            Failure(at, _kind(problem), f"mail: {problem or repr(problem)}")
            for at, problem in mails
        ]
        return [it for it in [*found, *self._noted.copy()] if since <= it.at <= end]

    def progress(self) -> tuple[int, int]:
        """Mails answered 250 and calls answered so far."""
        mails = len(self._load.confirmed()) if self._load else 0
        return mails, sum(it.answers.total() for it in self._callers)

    def wait_progress(self, seconds: float = 30.0) -> None:
        """Returns when mails and calls have gone on; each step begins and ends so."""
        if not self.is_running:
            return
        mails, calls = self.progress()

        def has_gone_on() -> bool:
            now = self.progress()
            return now[0] >= mails + 20 and now[1] >= calls + 20

        installation.wait_for(has_gone_on, seconds, "mails and calls go on")

    def new_inboxes(self, count: int) -> list[Inbox]:
        """Makes inboxes for a step of its own."""
        return Mailboxes(self.gateway, self.key).create(count)

    def judge(self) -> tuple[str, list[str]]:
        """Judges after the end: returns what there is, and what was promised and is missing."""
        mailboxes = Mailboxes(self.gateway, self.key)
        confirmed = {mail.email_id for mail in self._mails if mail.email_id}
        listed = Counter(row["emailId"] for row in _listed(self._mails, mailboxes))
        lost = confirmed - listed.keys()
        violations = [f"{email_id}: answered 250, not there" for email_id in sorted(lost)]
        violations += [f"{it}: listed {count} times" for it, count in listed.items() if count > 1]
        hooked = set(listed)
        _wait_hooked(self._receiver, hooked)
        taken = {event for path, event in self._receiver.taken() if path == _HOOK}
        missed = hooked - taken
        violations += [f"{email_id}: never came to the webhook" for email_id in sorted(missed)]
        refused = [mail.refused for mail in self._mails if mail.refused.startswith("5")]
        violations += [f"a mail was refused for good: {it}" for it in refused]
        violations += [it for caller in self._callers for it in caller.violations]
        violations += _of_inboxes(self._callers, mailboxes)
        if not confirmed:
            violations.append("no mail was accepted")
        calls = sum((caller.answers for caller in self._callers), Counter())
        summary = ", ".join(f"{kind} x {count}" for kind, count in sorted(calls.items()))
        facts = (
            f"{len(confirmed)} mails answered 250, {len(lost)} lost; {len(hooked)} webhooks due, "
            f"{len(missed)} missed; calls: {summary}"
        )
        return facts, violations


def _listed(mails: list[Mail], mailboxes: Mailboxes) -> Iterator[dict[str, Any]]:
    inboxes = {inbox.inbox_id: inbox for mail in mails for inbox in mail.inboxes}
    return itertools.chain.from_iterable(mailboxes.list(inbox) for inbox in inboxes.values())


def _wait_hooked(receiver: Receiver, expected: set[str]) -> None:
    """Waits until all came, or for the deadline; what is missing then is counted."""
    with contextlib.suppress(TimeoutError):
        wait_until(
            lambda: expected <= {event for _, event in receiver.taken()},
            time.monotonic() + _SETTLING_SECONDS,
            "every webhook",
            every=0.5,
        )


def _of_inboxes(callers: list[_Calls], mailboxes: Mailboxes) -> list[str]:
    """Checks that inboxes are in the end as the calls were answered."""
    status = {inbox["inboxId"]: inbox["status"] for inbox in mailboxes.inboxes("chaos")}
    found = []
    for inbox in (inbox for caller in callers for inbox in caller.inboxes):
        expected = "expired" if inbox.is_deleted else "active"
        if status.get(inbox.inbox_id) != expected:
            found.append(f"inbox {inbox.inbox_id}: is {status.get(inbox.inbox_id)}, not {expected}")
    return found
