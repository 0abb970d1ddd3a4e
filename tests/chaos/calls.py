"""The API calls of a chaos run: inboxes are made, read and deleted through gateways that die, and
mail is read; what was answered must stay true.
"""

import contextlib
import http.client
import itertools
import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dev.waiting import delay_until, wait_until

_CALL_SECONDS = 15.0
_INTERVAL_SECONDS = 0.1
# A call that is repeated until it is answered: past every restart of the run.
_TIMEOUT_SECONDS = 60.0
_DELETED_EVERY = 2
SETTLED = 500  # answers below are the API's word; 409 of a key whose first call goes on is not
TAG = "chaos"


@dataclass
class Inbox:
    """An inbox that a call was answered for, and whether its deletion was."""

    inbox_id: str
    is_deleted: bool = False


class Calls:
    """`rate` rounds a second through the gateways in turn: make an inbox, read one, read a mail,
    delete one of two. A POST carries an Idempotency-Key and is repeated until it is answered, so
    each key makes one inbox.
    """

    def __init__(
        self, gateways: list[str], key: str, rate: float, emails: Callable[[], list[str]]
    ) -> None:
        self._gateways = itertools.cycle(gateways)
        self._key = key
        self._rate = rate
        self._emails = emails  # answered 250 so far
        self.inboxes: list[Inbox] = []
        self.unanswered = 0
        self.answers: Counter[str] = Counter()
        self.violations: list[str] = []
        self._is_over = False

    def end(self) -> None:
        """No further calls are begun; from another thread."""
        self._is_over = True

    def begin_again(self) -> None:
        """After `end` and the return of `run`: the next `run` goes on with the same inboxes."""
        self._is_over = False

    def run(self, seconds: float) -> None:
        """Returns when the time is over and the last call was answered or given up."""
        began = time.monotonic()
        for number in itertools.count():
            due = began + number / self._rate
            if due >= began + seconds:
                return
            delay_until(due)
            if self._is_over or time.monotonic() >= began + seconds:
                return
            self._round(number)

    def _round(self, number: int) -> None:
        made = self._make(self._next_inbox(number))
        if made:
            self.inboxes.append(made)
        living = [inbox for inbox in self.inboxes if not inbox.is_deleted]
        if living:
            self._read(f"/v1/inboxes/{living[number * 7 % len(living)].inbox_id}")
        emails = self._emails()
        if emails:
            self._read(f"/v1/emails/{emails[-1 - number * 7 % min(len(emails), 20)]}")
        if made and number % _DELETED_EVERY == 0:
            self._delete(made)

    def _next_inbox(self, _number: int) -> dict[str, Any]:
        """Returns the fields of the next inbox."""
        return {"tags": [TAG]}

    def _make(self, params: dict[str, Any]) -> Inbox | None:
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        status, body = self._until_answered("POST", "/v1/inboxes", params, headers)
        if status == 0:
            self.unanswered += 1
            return None
        if status != 201:
            self.violations.append(f"POST /v1/inboxes was answered {status}: {body}")
            return None
        return Inbox(body["inboxId"])

    def _read(self, path: str) -> Any:
        """Tries once: an answer may fail to come while its processes die, but not be wrong. Returns
        the JSON of a 200, else None.
        """
        status, body = self._call("GET", path)
        if 0 < status < SETTLED and status != 200:
            self.violations.append(f"GET {path} was answered {status}: {body}")
        return body if status == 200 else None

    def _delete(self, inbox: Inbox) -> None:
        path = f"/v1/inboxes/{inbox.inbox_id}"
        status, body = self._until_answered("DELETE", path)
        # 404: an earlier try had done it, and its answer was lost.
        if status in (200, 404):
            inbox.is_deleted = True
        elif status:
            self.violations.append(f"DELETE {path} was answered {status}: {body}")

    def _until_answered(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        def settled() -> tuple[int, Any] | None:
            status, answer = self._call(method, path, body, headers)
            return (status, answer) if 0 < status < SETTLED and status != 409 else None

        deadline = time.monotonic() + _TIMEOUT_SECONDS
        try:
            return wait_until(settled, deadline, f"{method} {path}", every=_INTERVAL_SECONDS)
        except TimeoutError:
            return 0, None

    def _call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and JSON; 0 where no answer came."""
        connection = http.client.HTTPConnection(next(self._gateways), timeout=_CALL_SECONDS)
        status, answer = 0, None
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            content = None if body is None else json.dumps(body)
            own = {"X-API-Key": self._key, "Content-Type": "application/json"}
            connection.request(method, path, content, own | (headers or {}))
            response = connection.getresponse()
            answer = json.loads(response.read())
            status = response.status
        connection.close()
        self.answers[str(status) if status else "none"] += 1
        return status, answer


def check(
    calls: Calls,
    shown: Iterable[dict[str, Any]],
    created: Counter[str],
    expired: Counter[str],
) -> tuple[list[tuple[str, str]], list[str]]:
    """Facts and violations: `shown` are all inboxes of the calls as the API lists them at the end,
    the counters say how often an inbox has its event on Kafka.
    """
    violations = list(calls.violations)
    status = {inbox["inboxId"]: inbox["status"] for inbox in shown}
    answered = {inbox.inbox_id for inbox in calls.inboxes}
    if len(answered) < len(calls.inboxes):
        violations.append("two keys were answered with one inbox")
    for inbox in calls.inboxes:
        name = f"inbox {inbox.inbox_id}"
        expected = "expired" if inbox.is_deleted else "active"
        found = status.get(inbox.inbox_id)
        if found is None:
            violations.append(f"{name}: answered 201, not listed")
        # A deletion that was never answered may have been done.
        elif found != expected and (inbox.is_deleted or expired[inbox.inbox_id] == 0):
            violations.append(f"{name}: is {found}, not {expected}")
        if not created[inbox.inbox_id]:
            violations.append(f"{name}: inbox.created is not on Kafka")
        if inbox.is_deleted and not expired[inbox.inbox_id]:
            violations.append(f"{name}: inbox.expired is not on Kafka")
    strangers = len(status.keys() - answered)
    if strangers > calls.unanswered:
        violations.append(
            f"{strangers} inboxes more than were answered, of {calls.unanswered} unanswered calls"
        )
    deleted = sum(inbox.is_deleted for inbox in calls.inboxes)
    facts = [
        (
            "calls",
            f"{calls.answers.total()}: "
            + ", ".join(f"{what} x {times}" for what, times in sorted(calls.answers.items())),
        ),
        (
            "inboxes",
            (
                f"{len(calls.inboxes)} made, {deleted} of them deleted, {calls.unanswered} calls "
                f"unanswered; {len(status)} are listed"
            ),
        ),
    ]
    return facts, violations
