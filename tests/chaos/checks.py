"""Checks after a chaos run whether every mail answered 250 is there exactly once, whole, with its
event, and nothing else is.
"""

import concurrent.futures
import contextlib
import email
import http.client
import json
import re
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dev.terminal import fail
from dev.waiting import wait_until

from chaos.load import Capture, Inbox, Mail

_CE_ID = re.compile(r"\bce_id=([0-9a-f-]{36})")
BY_KEY = re.compile(r"^([0-9a-f-]{36}) ")  # of the topics of inboxes
_THREADS = 4
_ANSWER_SECONDS = 60.0
_TRACE = (b"return-path:", b"received:")


class Mailboxes:
    """The public API with one key.

    Each thread has a connection of its own; what is not answered is asked again for a while.
    """

    def __init__(self, gateway: str, key: str) -> None:
        self._gateway = gateway
        self._key = key
        self._own = threading.local()

    def _call(
        self, method: str, path: str, body: Any = None, accept: str = "application/json"
    ) -> tuple[int, bytes]:
        headers = {"X-API-Key": self._key, "Accept": accept, "Content-Type": "application/json"}
        text = None if body is None else json.dumps(body)
        answered = (503, b"")

        def is_answered() -> bool:
            nonlocal answered
            if getattr(self._own, "connection", None) is None:
                self._own.connection = http.client.HTTPConnection(self._gateway, timeout=30)
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._own.connection.request(method, path, text, headers)
                answer = self._own.connection.getresponse()
                content = answer.read()
                if answer.status < 500:
                    answered = (answer.status, content)
                    return True
            self._own.connection = None
            return False

        with contextlib.suppress(TimeoutError):
            wait_until(is_answered, time.monotonic() + _ANSWER_SECONDS, path, every=0.2)
        return answered

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the JSON of any request."""
        status, content = self._call(method, path, body)
        return status, json.loads(content or "null")

    def create(self, count: int) -> list[Inbox]:
        """Fresh inboxes."""
        made = [json.loads(self._call("POST", "/v1/inboxes", {})[1]) for _ in range(count)]
        return [Inbox(inbox["inboxId"], inbox["emailAddress"]) for inbox in made]

    def create_captures(self, count: int) -> list[Capture]:
        """Fresh inboxes with a login each."""
        body = {"capture": True}
        made = [json.loads(self._call("POST", "/v1/inboxes", body)[1]) for _ in range(count)]
        return [
            Capture(
                inbox["inboxId"],
                inbox["emailAddress"],
                inbox["capture"]["user"],
                inbox["capture"]["password"],
            )
            for inbox in made
        ]

    def add_webhook(self, url: str) -> None:
        """An endpoint that is told of every email."""
        body = {"url": url, "events": ["email.received"]}
        status, content = self._call("POST", "/v1/webhooks", body)
        if status != 201:
            fail(f"POST /v1/webhooks was answered {status}: {content.decode(errors='replace')}")

    def status(self, path: str) -> int:
        """Returns the status of a GET."""
        return self._call("GET", path)[0]

    def list(self, inbox: Inbox) -> list[dict[str, Any]]:
        """Every email of an inbox."""
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            status, content = self._call(
                "GET", f"/v1/inboxes/{inbox.inbox_id}/emails?limit=100{cursor}"
            )
            page = json.loads(content) if status == 200 else {"emails": []}
            found += page["emails"]
            if not page.get("nextCursor"):
                return found
            cursor = f"&cursor={page['nextCursor']}"

    def inboxes(self, tag: str = "") -> Iterator[dict[str, Any]]:
        """Every inbox, or every one with the tag, ended ones too."""
        chosen = f"&tag={tag}" if tag else ""
        cursor = ""
        while True:
            _, content = self._call("GET", f"/v1/inboxes?status=all&limit=100{chosen}{cursor}")
            page = json.loads(content)
            yield from page["inboxes"]
            if not page["nextCursor"]:
                return
            cursor = f"&cursor={page['nextCursor']}"

    def has_raw(self, email_id: str) -> bool:
        """Returns whether this API serves messages as received."""
        return self._call("GET", f"/v1/emails/{email_id}/raw", accept="message/rfc822")[0] == 200

    def raw(self, email_id: str) -> bytes | None:
        """The message as received, without the trace fields put before it."""
        status, content = self._call("GET", f"/v1/emails/{email_id}/raw", accept="message/rfc822")
        return _without_trace(content) if status == 200 else None

    def rebuilt(self, email_id: str) -> bytes | None:
        """The message put together from its view: exact for the plain mails of the load."""
        status, content = self._call("GET", f"/v1/emails/{email_id}")
        if status != 200:
            return None
        shown = json.loads(content)
        head = "".join(f"{header['name']}: {header['value']}\r\n" for header in shown["headers"])
        text = (shown["text"] or "").replace("\r\n", "\n").replace("\n", "\r\n")
        octets = (head + "\r\n" + text).encode()
        return octets if len(octets) == shown["sizeBytes"] else b""


def _without_trace(raw: bytes) -> bytes:
    while raw.lower().startswith(_TRACE):
        end = re.search(rb"\r?\n(?![ \t])", raw)
        raw = raw[end.end() :] if end else b""
    return raw


@dataclass
class Report:
    """The findings."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


def read_events(
    brokers: str,
    expected: set[str],
    deadline: float,
    topic: str = "email.received",
    identity: re.Pattern[str] = _CE_ID,
) -> Counter[str]:
    """Counts how often each id was published to the topic: that of the event, which is the email's,
    or what else `identity` finds in key and headers (`KEY HEADERS`).

    Waits for the expected ones until the deadline, then for the end of the topic.
    """
    command = ["kcat", "-C", "-b", brokers, "-t", topic, "-o", "beginning", "-e", "-q"]
    command += ["-f", "%k %h\\n"]
    found: Counter[str] = Counter()

    def are_all_there() -> bool:
        nonlocal found
        done = subprocess.run(command, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        found = Counter(match[1] for match in map(identity.search, lines) if match)
        return done.returncode == 0 and not expected - found.keys()

    with contextlib.suppress(TimeoutError):
        wait_until(are_all_there, deadline, "events", every=0.5)
    return found


def stored(mails: list[Mail], mailboxes: Mailboxes) -> list[tuple[str, str]]:
    """Inbox and id of each email that is there, answered 250 or not."""
    inboxes = {inbox.inbox_id: inbox for mail in mails for inbox in mail.inboxes}
    with concurrent.futures.ThreadPoolExecutor(_THREADS) as pool:
        listed = zip(inboxes, pool.map(mailboxes.list, inboxes.values()), strict=True)
        return [(inbox_id, row["emailId"]) for inbox_id, rows in listed for row in rows]


def check(
    mails: list[Mail], emails: list[tuple[str, str]], mailboxes: Mailboxes, events: Counter[str]
) -> Report:
    """Compares what was answered with what is there."""
    report = Report()
    by_chaos_id = {mail.chaos_id: mail for mail in mails}
    with concurrent.futures.ThreadPoolExecutor(_THREADS) as pool:
        serves_raw = bool(emails) and mailboxes.has_raw(emails[0][1])
        read = mailboxes.raw if serves_raw else mailboxes.rebuilt
        contents = list(pool.map(read, (email_id for _, email_id in emails)))

    copies: defaultdict[tuple[str, str], list[str]] = defaultdict(list)  # by chaos id and inbox
    for (inbox_id, email_id), octets in zip(emails, contents, strict=True):
        mail = by_chaos_id.get(_chaos_id(octets or b""))
        if mail is None:
            report.violations.append(
                f"{email_id}: "
                f"{'not readable' if octets is None else 'no mail of this run, or not whole'}"
            )
            continue
        copies[mail.chaos_id, inbox_id].append(email_id)
        if octets != mail.octets:
            report.violations.append(f"{email_id}: differs from what was sent")
        if inbox_id not in {inbox.inbox_id for inbox in mail.inboxes}:
            report.violations.append(f"{email_id}: is in an inbox it was not sent to")
        if not events[email_id]:
            report.violations.append(f"{email_id}: is stored, but its event is not on Kafka")
    for mail in mails:
        report.violations += _check_copies(mail, copies)
    strangers = set(events) - {email_id for _, email_id in emails}
    report.violations += [
        f"{email_id}: has an event, but cannot be read" for email_id in sorted(strangers)
    ]

    unanswered = sum(
        any(copies[mail.chaos_id, inbox.inbox_id] for inbox in mail.inboxes)
        for mail in mails
        if mail.may_be_stored
    )
    report.facts = [
        (
            "emails",
            (
                f"{len(emails)} in {len({inbox_id for inbox_id, _ in emails})} inboxes, compared "
                f"{'byte for byte' if serves_raw else 'by their headers, text and size'}"
            ),
        ),
        (
            "unconfirmed",
            f"{sum(mail.may_be_stored for mail in mails)}, of which {unanswered} are stored",
        ),
        (
            "events",
            f"{events.total()} for {len(events)} emails: {events.total() - len(events)} repeated",
        ),
    ]
    return report


def _chaos_id(octets: bytes) -> str:
    return str(email.message_from_bytes(octets[:1000]).get("X-Chaos-Id", ""))


def _check_copies(mail: Mail, copies: dict[tuple[str, str], list[str]]) -> list[str]:
    found = []
    for inbox in mail.inboxes:
        here = copies.get((mail.chaos_id, inbox.inbox_id), [])
        if len(here) > 1:
            found.append(f"{mail.chaos_id}: {len(here)} times in {inbox.address}")
        elif mail.email_id and not here:
            found.append(
                f"{mail.chaos_id}: answered 250 as {mail.email_id}, not in {inbox.address}"
            )
        elif here and not mail.dot_was_sent:
            found.append(f"{mail.chaos_id}: stored as {here[0]} though its end was never sent")
    if mail.email_id and mail.email_id not in copies.get(
        (mail.chaos_id, mail.inboxes[0].inbox_id), []
    ):
        found.append(
            f"{mail.chaos_id}: answered 250 as {mail.email_id}, which is not its id in "
            f"{mail.inboxes[0].address}"
        )
    return found
