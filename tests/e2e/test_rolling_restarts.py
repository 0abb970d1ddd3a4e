"""A rolling restart of any service under load loses nothing and shows no 5xx."""

import concurrent.futures
import contextlib
import itertools
import smtplib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from harness import SENDER, Account, Api, Receiver, Suite, eventually, queued_id

SERVICES = ["rate-limit", "inbox", "webhook-dispatcher", "mail-ingest", "gateway"]
_WORKERS = 3
_INTERVAL_SECONDS = 0.02
_MORE = 15
_TRIES = 200


class _Load:
    """Clients that make an inbox, send it a mail, list it, look at the webhooks, and change and
    delete another inbox, again and again, at every gateway and mail server in turn. One that takes
    no connections is passed over, as a balancer would.
    """

    def __init__(self, suite: Suite, account: Account) -> None:
        self._gateways = suite.of_each("gateway", "URL")
        self._servers = [urlsplit(url).netloc for url in suite.of_each("mail-ingest", "URL")]
        self._key = account.key
        self._is_over = threading.Event()
        self._working: list[concurrent.futures.Future[None]] = []
        self.statuses: Counter[str] = Counter()
        self.refused: list[str] = []
        self.accepted: list[str] = []

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Ends with what is under way."""
        with concurrent.futures.ThreadPoolExecutor(_WORKERS) as pool:
            self._working = [pool.submit(self._work, number) for number in range(_WORKERS)]
            try:
                yield
            finally:
                self._is_over.set()
            for each in self._working:
                each.result(timeout=120)

    def goes_on(self) -> None:
        """Returns when some more mails were accepted."""
        expected = len(self.accepted) + _MORE

        def has_gone_on() -> bool:
            for each in self._working:
                if each.done():
                    each.result()
            return len(self.accepted) >= expected

        eventually(has_gone_on, "the load goes on", seconds=40)

    def _work(self, number: int) -> None:
        apis = itertools.cycle(
            [
                Api(url, self._key)
                for url in self._gateways[number % 2 :] + self._gateways[: number % 2]
            ]
        )
        servers = itertools.cycle(self._servers[number % 2 :] + self._servers[: number % 2])
        while not self._is_over.wait(_INTERVAL_SECONDS):
            inbox = self._call(apis, "POST", "/v1/inboxes")
            if "inboxId" not in inbox:
                continue
            email_id = self._send(servers, inbox["emailAddress"])
            listed = self._call(apis, "GET", f"/v1/inboxes/{inbox['inboxId']}/emails")
            if email_id and "emails" in listed:
                assert email_id in [email["emailId"] for email in listed["emails"]]
            self._call(apis, "GET", "/v1/webhooks")
            self._change(apis)

    def _change(self, apis: Iterator[Api]) -> None:
        """Makes changes of which a second one would be answered 404."""
        inbox = self._call(apis, "POST", "/v1/inboxes")
        if "inboxId" not in inbox:
            return
        path = "/v1/inboxes/" + inbox["inboxId"]
        self._call(apis, "PATCH", path, {"ttlSeconds": 7200})
        self._call(apis, "DELETE", path)

    def _call(
        self, apis: Iterator[Api], method: str, path: str, change: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        for _ in range(_TRIES):
            try:
                answer = next(apis).call(method, path, json=change)
            except requests.exceptions.ConnectionError as problem:
                if "refused" not in str(problem):
                    raise
                continue
            body: dict[str, Any] = answer.json()
            self.statuses[f"{answer.status_code} {method} {body.get('message', '')}"] += 1
            return body
        raise AssertionError("no gateway takes connections")

    def _send(self, servers: Iterator[str], to: str) -> str | None:
        """The id of the 250. What is put off is sent again, as a mail server would."""
        for _ in range(_TRIES):
            with contextlib.suppress(OSError):  # smtplib's own are of that kind
                host, _, port = next(servers).rpartition(":")
                with smtplib.SMTP(
                    host, int(port), local_hostname="sender.example", timeout=30
                ) as connection:
                    code, text = self._transact(connection, to)
                    if code == 250:
                        email_id = queued_id(f"250 {text}")
                        self.accepted.append(email_id)
                        return email_id
                    if code >= 500:
                        self.refused.append(f"{code} {text}")
                        return None
        raise AssertionError("no mail server takes the mail")

    def _transact(self, connection: smtplib.SMTP, to: str) -> tuple[int, str]:
        """The first reply that is no success, or the one to the final dot."""
        connection.ehlo()
        steps: list[Callable[[], tuple[int, bytes]]] = [
            lambda: connection.mail(SENDER),
            lambda: connection.rcpt(to),
            lambda: connection.data(b"Subject: Hello\r\n\r\nHello\r\n"),
        ]
        for step in steps:
            try:
                code, text = step()
            except smtplib.SMTPDataError as refusal:
                code, text = (
                    refusal.smtp_code,
                    refusal.smtp_error if isinstance(refusal.smtp_error, bytes) else b"",
                )
            if code != 250:
                break
        return code, text.decode()


@pytest.mark.parametrize("service", SERVICES)
def test_a_rolling_restart_under_load_loses_nothing(
    suite: Suite, account: Account, service: str
) -> None:
    with Receiver() as receiver:
        account.api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        load = _Load(suite, account)
        with load.running():
            load.goes_on()
            Suite.dev("restart", service)
            load.goes_on()

        assert {status[:3] for status in load.statuses} <= {"200", "201"}, load.statuses
        assert load.refused == []
        unread = [
            email_id
            for email_id in load.accepted
            if account.api.call("GET", "/v1/emails/" + email_id).status_code != 200
        ]
        assert unread == []
        eventually(
            lambda: set(load.accepted) <= {request.webhook_id for request in receiver.requests},
            "every mail is delivered",
            seconds=60,
        )
