"""A browser's view of the dashboard's API: cookies, the CSRF token, the headers a page sends."""

import contextlib
import ipaddress
import itertools
import json
import secrets
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from harness.contract import Answer, dashboard_contract
from harness.suite import Suite
from harness.waiting import eventually

ROOT = "/dashboard/api"
_SECONDS = 30.0
_FIRST_ADDRESS = int(ipaddress.IPv4Address("127.77.0.1")) + secrets.randbelow(1 << 15) * 2
_addresses = (str(ipaddress.IPv4Address(number)) for number in itertools.count(_FIRST_ADDRESS))


class _FromAddress(HTTPAdapter):
    """Connects from an address of loopback's many, since failures are counted by address."""

    def __init__(self, address: str) -> None:
        self._address = address
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **more: Any) -> None:
        super().init_poolmanager(*arguments, **more, source_address=(self._address, 0))


@dataclass(frozen=True)
class Event:
    """A server-sent event."""

    name: str
    data: Any
    identity: str


class Dashboard:
    """A browser; with a file of authorities, over TLS that trusts them alone.

    `call` answers the response whatever its status; `get`, `post`, `patch`, `delete` insist on
    success and answer the JSON.
    """

    def __init__(self, base: str, address: str | None = None, ca_file: Path | None = None) -> None:
        self.base = base
        self.address = address or next(_addresses)
        self.csrf: str | None = None
        self.browser = requests.Session()
        if ca_file:
            self.browser.trust_env = False  # its bundle would win over `verify`
            self.browser.verify = str(ca_file)
        for scheme in ("http://", "https://"):
            self.browser.mount(scheme, _FromAddress(self.address))
        self.browser.headers["Sec-Fetch-Site"] = "same-origin"

    def call(
        self, method: str, path: str, headers: dict[str, str | None] | None = None, **more: Any
    ) -> requests.Response:
        """Any request below the root, with the session's CSRF token unless `headers` say otherwise;
        None leaves a header out. Sent again where the account's requests of this second are used
        up (429), which is so on a fast machine.

        The answer is held against docs/dashboard-openapi.yaml.
        """
        chosen: dict[str, Any] = {"X-CSRF-Token": self.csrf} | (headers or {})

        def past_the_burst() -> list[requests.Response]:
            answer = self._send(method, path, chosen, **more)
            return [] if "requests in one second" in answer.text else [answer]

        return eventually(past_the_burst, "the account may ask again")[0]

    def _send(
        self, method: str, path: str, headers: dict[str, Any], **more: Any
    ) -> requests.Response:
        answer = self.browser.request(
            method,
            self.base + ROOT + path,
            headers=headers,
            timeout=_SECONDS,
            allow_redirects=False,
            **more,
        )
        _check(method, answer, answer.content)
        return answer

    def _insist(self, method: str, path: str, **more: Any) -> Any:
        answer = self.call(method, path, **more)
        assert answer.ok, f"{method} {path} answered {answer.status_code}: {answer.text}"
        return answer.json()

    def get(self, path: str, **query: Any) -> Any:
        """Query parameters by name."""
        return self._insist("GET", path, params=query)

    def post(self, path: str, body: Any = None) -> Any:
        """Sends a POST; without a body nothing is sent."""
        return self._insist("POST", path, json=body)

    def patch(self, path: str, body: Any) -> Any:
        """A JSON merge patch."""
        return self._insist("PATCH", path, json=body)

    def delete(self, path: str) -> Any:
        """The deleted object's id."""
        return self._insist("DELETE", path)

    def enter(self, method: str, path: str, body: Any) -> requests.Response:
        """A request that may open a session, whose token is kept."""
        answer = self.call(method, path, json=body)
        if answer.status_code in (200, 201):
            self.csrf = answer.json()["csrfToken"]
        return answer

    def sign_in(self, email: str, password: str) -> requests.Response:
        """Whatever comes of it."""
        return self.enter("POST", "/session", {"email": email, "password": password})

    @property
    def cookie(self) -> str:
        """The session's, as the browser holds it."""
        return str(self.browser.cookies["tempinbox_session"])

    @contextlib.contextmanager
    def events(self, headers: dict[str, str] | None = None) -> Iterator[Iterator[Event]]:
        """The stream of events; ends with the block."""
        with self.browser.get(
            self.base + ROOT + "/events", headers=headers, stream=True, timeout=_SECONDS
        ) as answer:
            assert answer.status_code == 200, answer.text
            _check("GET", answer, b"")
            yield _read_events(answer)


def _check(method: str, answer: requests.Response, body: bytes) -> None:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    path = urlsplit(answer.url).path
    dashboard_contract().check(Answer(method, path, answer.status_code, headers, body))


def _read_events(answer: requests.Response) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in answer.iter_lines(chunk_size=1, decode_unicode=True):
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield Event(fields["event"], json.loads(fields["data"]), fields.get("id", ""))
            fields = {}


@dataclass(frozen=True)
class User:
    """An account that somebody is signed in to."""

    account_id: str
    email: str
    password: str
    dashboard: Dashboard

    @classmethod
    def make(cls, suite: Suite, plan: str = "premium", base: str | None = None) -> "User":
        """Signs up, and is put on the plan by the operator."""
        email, password = f"{uuid.uuid4().hex[:12]}@example.com", secrets.token_urlsafe(12)
        dashboard = Dashboard(base or suite["API"])
        answer = dashboard.enter("POST", "/accounts", {"email": email, "password": password})
        assert answer.status_code == 201, answer.text
        account = answer.json()["accountId"]
        if plan != "free":
            suite.operate("account", "set-plan", account, "--plan", plan)
            eventually(lambda: dashboard.get("/session")["plan"] == plan, "the plan is in force")
        return cls(account, email, password, dashboard)
