"""Accounts with webhooks and rules made for a bench, events for them, and the receiver of what
comes of it.
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import resource
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.waiting import wait_until

from measuring import many_rows

_ROOT = Path(__file__).resolve().parents[3]
_SERVICE = "/tempinbox.webhooks.v1.WebhookService/"
_EVENTS = "/tempinbox.webhooks.v1.EventService/"
_CALLERS = 4
_LIMITS = {"apiAccess": True, "webhooks": 5, "routingRules": 20}


@dataclass(frozen=True)
class Receipt:
    """A webhook as it arrived; `kind` is the first letter of its path."""

    event: str
    at: int
    kind: str


class Sink:
    """The running receiver."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._port = port

    def _get(self, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        connection.request("GET", path)
        content = connection.getresponse().read().decode()
        connection.close()
        return content

    def count(self) -> int:
        """Returns how many webhooks came since the last reset."""
        return int(self._get("/count"))

    def unanswered(self) -> int:
        """Returns how many of /slow wait for their answer."""
        return int(self._get("/unanswered"))

    def reset(self) -> None:
        """Forgets what came."""
        self._get("/reset")

    def receipts(self) -> list[Receipt]:
        """All of them, in the order they came."""
        rows = (line.split() for line in self._get("/receipts").splitlines())
        return [Receipt(event, int(at), kind) for event, at, kind in rows]


@contextlib.contextmanager
def sink(preset: str) -> Iterator[Sink]:
    """The receiver of tests/bench/webhook_sink, built before."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    program = _ROOT / "build" / preset / "bin" / "bench-webhook-sink"
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield Sink(int(process.stdout.readline()))
        finally:
            process.kill()


class Accounts:
    """Accounts of the webhook dispatcher alone: it is told of them as a gateway would, nobody else
    knows them.
    """

    def __init__(self) -> None:
        self._own = threading.local()
        self._made: list[str] = []

    def _call(self, method: str, body: dict[str, Any], service: str = _SERVICE) -> None:
        if getattr(self._own, "connection", None) is None:
            self._own.connection = http.client.HTTPConnection(
                os.environ["TEMPINBOX_WEBHOOK_DISPATCHER_1_RPC"], timeout=30
            )
        headers = {
            "Content-Type": "application/json",
            "Authorization": "Bearer " + os.environ["TEMPINBOX_RPC_TOKEN"],
        }

        def request() -> http.client.HTTPResponse:
            self._own.connection.request("POST", service + method, json.dumps(body), headers)
            response: http.client.HTTPResponse = self._own.connection.getresponse()
            return response

        try:
            answer = request()
        except ConnectionError:
            # The dispatcher ends idle connections. A call names what it makes, so it can be sent
            # again, on a connection that opens by itself.
            self._own.connection.close()
            answer = request()
        content = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{method} answered {answer.status}: {content.decode()}")

    def make(self, urls: list[str], rules: int = 0) -> str:
        """Makes an account with a webhook for each URL and so many rules of five conditions for the
        first, of which the last one matches every mail.
        """
        account = _state_of(str(uuid.uuid4()))
        webhooks = [str(uuid.uuid4()) for _ in urls]
        for webhook, url in zip(webhooks, urls, strict=True):
            self._call(
                "CreateWebhook",
                {
                    "account": account,
                    "webhookId": webhook,
                    "url": url,
                    "events": ["email.received"],
                },
            )
        for number in range(rules):
            conditions = [
                {"field": "subject", "operator": "contains", "value": "order"} for _ in range(5)
            ]
            if number != rules - 1:
                conditions[-1]["value"] = f"never said {number}"
            rule = {
                "account": account,
                "ruleId": str(uuid.uuid4()),
                "name": f"rule {number}",
                "webhookId": webhooks[0],
            }
            self._call("CreateRule", {**rule, "conditions": conditions, "isEnabled": True})
        self._made.append(str(account["accountId"]))
        return self._made[-1]

    def make_many(self, count: int, url: str, rules: int = 0) -> list[str]:
        """Makes so many accounts with one webhook each."""
        with concurrent.futures.ThreadPoolExecutor(_CALLERS) as pool:
            return list(
                pool.map(lambda number: self.make([f"{url}/{number}"], rules), range(count))
            )

    def follow(self, account: str | None = None) -> str:
        """Switches the feed on of an account of these, or of a new one."""
        followed = account or str(uuid.uuid4())
        self._call("OpenFeed", {"account": _state_of(followed)}, _EVENTS)
        if account is None:
            self._made.append(followed)
        return followed

    def delete_all(self) -> None:
        """Deletes them, so that nothing is sent for them any more."""
        for made in _chunks(self._made, 1000):
            ids = "ARRAY['" + "','".join(made) + "']::uuid[]"
            for table in (
                "rules",
                "due_deliveries",
                "endpoints",
                "feeds",
                "feed_events",
                "config_versions",
            ):
                many_rows.psql(
                    os.environ["TEMPINBOX_DATABASE"],
                    f"DELETE FROM webhooks.{table} WHERE account_id = ANY({ids})",
                )


def _state_of(account: str) -> dict[str, Any]:
    """The account as a gateway tells of it."""
    return {"accountId": account, "plan": "premium", "limits": _LIMITS, "version": "1"}


def _chunks(ids: list[str], size: int) -> Iterator[list[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


def wait_count(receiver: Sink, expected: int, seconds: float) -> int:
    """Waits until so many webhooks have come or the time is over; returns how many did."""
    with contextlib.suppress(TimeoutError):
        deadline = time.monotonic() + seconds
        wait_until(lambda: receiver.count() >= expected, deadline, f"{expected} webhooks")
    return receiver.count()
