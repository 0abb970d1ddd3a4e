"""Every wrong request to the dashboard's API is told its status and its field in the one error
body, and harms nothing.
"""

import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import pytest
import requests
from harness import Dashboard, Suite, User
from harness.dashboard import ROOT

_NOBODY = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"
_GOOD = {"email": "a@example.com", "password": "a good password"}
_NEW_NAMES = {413: "Content Too Large"}  # RFC 9110's, which Python 3.11 does not know yet


@dataclass(frozen=True)
class Row:
    """A request, and what is said to it."""

    method: str
    path: str
    status: int
    mentions: str = ""
    body: Any = None
    headers: dict[str, str | None] = field(default_factory=dict)

    def __str__(self) -> str:
        content = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return f"{self.method} {self.path} {content[:60]!r} {self.headers or ''}"


_OPEN = [
    Row("POST", "/session", 400, "email is required"),
    Row("POST", "/session", 400, "password is required", {"email": "a@example.com"}),
    Row("POST", "/session", 400, "email must be an address", _GOOD | {"email": "nobody"}),
    Row("POST", "/session", 400, "email must be an address", _GOOD | {"email": "a b@example.com"}),
    Row("POST", "/session", 400, "email", _GOOD | {"email": "a" * 300 + "@example.com"}),
    Row("POST", "/session", 400, "control characters", _GOOD | {"email": "a@example.com\u0000"}),
    Row(
        "POST",
        "/session",
        400,
        "password must be a string, not a number",
        _GOOD | {"password": 12345678901},
    ),
    Row("POST", "/session", 400, "password must have", _GOOD | {"password": ""}),
    Row("POST", "/session", 400, "remember", _GOOD | {"remember": True}),
    Row("POST", "/session", 400, "not valid JSON", b"{"),
    Row("POST", "/session", 400, "", b"[]"),
    Row("POST", "/session?next=https://evil.example", 400, "next", _GOOD),
    Row(
        "POST",
        "/session",
        415,
        "Content-Type",
        b"email=a&password=b",
        {"Content-Type": "application/x-www-form-urlencoded"},
    ),
    Row(
        "POST",
        "/session",
        415,
        "Content-Type",
        json.dumps(_GOOD).encode(),
        {"Content-Type": "text/plain"},
    ),
    Row("POST", "/session", 413, "64 KiB", b" " * 70_000),
    Row(
        "POST",
        "/accounts",
        400,
        "password must have 10 to 200 characters, not 9",
        _GOOD | {"password": "123456789"},
    ),
    Row(
        "POST",
        "/accounts",
        400,
        "password must have 10 to 200 characters, not 201",
        _GOOD | {"password": "x" * 201},
    ),
    Row("POST", "/accounts", 400, "plan", _GOOD | {"plan": "premium"}),
    Row("POST", "/accounts", 400, "email is required", {}),
    Row(
        "POST",
        "/password-resets/confirm",
        400,
        "token is required",
        {"newPassword": "a good password"},
    ),
    Row(
        "POST",
        "/password-resets/confirm",
        400,
        "newPassword must have",
        {"token": "x", "newPassword": "short"},
    ),
    Row(
        "POST",
        "/password-resets/confirm",
        400,
        "token is not valid",
        {"token": "x", "newPassword": "a good password"},
    ),
    Row("GET", "/settings?x=1", 400, "x"),
]
_SIGNED_IN = [
    Row("GET", "/nothing", 404),
    Row("GET", "/", 404),
    Row("GET", "/keys/", 404),
    Row("PUT", "/keys", 405),
    Row("POST", "/events", 405),
    Row("DELETE", "/account", 405),
    Row("POST", "/keys", 400, "label is required", {}),
    Row("POST", "/keys", 400, "label must have 1 to 100 characters", {"label": ""}),
    Row("POST", "/keys", 400, "label must have 1 to 100 characters", {"label": "x" * 101}),
    Row("POST", "/keys", 400, "control characters", {"label": "a\u0007"}),
    Row("POST", "/keys", 400, "scope", {"label": "a", "scope": "all"}),
    Row("POST", "/keys", 400, "scopes must be an array", {"label": "a", "scopes": "emails:read"}),
    Row("POST", "/keys", 400, "scopes must have at least one of", {"label": "a", "scopes": []}),
    Row("POST", "/keys", 400, "scopes must be some of", {"label": "a", "scopes": ["emails"]}),
    Row("POST", "/keys", 400, "scopes[0]", {"label": "a", "scopes": [1]}),
    Row("POST", "/keys", 400, "tag must have 1 to 50 characters", {"label": "a", "tag": ""}),
    Row("POST", "/keys", 400, "tag must have 1 to 50 characters", {"label": "a", "tag": "x" * 51}),
    Row("POST", "/keys", 400, "tag must be", {"label": "a", "tag": ["ci"]}),
    Row(
        "POST",
        "/keys",
        400,
        "scopes must not have webhooks:read",
        {"label": "a", "tag": "ci", "scopes": ["emails:read", "webhooks:read"]},
    ),
    Row("POST", "/keys", 400, "expiresAt must be a time", {"label": "a", "expiresAt": "tomorrow"}),
    Row(
        "POST",
        "/keys",
        400,
        "expiresAt must be a time in the future",
        {"label": "a", "expiresAt": "2020-01-01T00:00:00Z"},
    ),
    Row("POST", "/keys", 400, "expiresAt must be", {"label": "a", "expiresAt": 4102444800}),
    Row("GET", "/keys?limit=5", 400, "limit"),
    Row("DELETE", "/keys/1", 400, "keyId"),
    Row("DELETE", f"/keys/{_NOBODY}", 404, "does not exist"),
    Row("DELETE", f"/keys/{_NOBODY}?force=1", 400, "force"),
    Row("GET", "/session?x=1", 400, "x"),
    Row("DELETE", "/session?x=1", 400, "x"),
    Row("DELETE", "/sessions?x=1", 400, "x"),
    Row("GET", "/events?inboxId=1", 400, "inboxId"),
    Row(
        "POST",
        "/account/password",
        400,
        "currentPassword is required",
        {"newPassword": "a good password"},
    ),
    Row(
        "POST",
        "/account/password",
        400,
        "newPassword must have 10 to 200",
        {"currentPassword": "x", "newPassword": "short"},
    ),
    Row(
        "POST",
        "/account/password",
        403,
        "currentPassword is wrong",
        {"currentPassword": "x", "newPassword": "a good password"},
    ),
    Row("POST", "/inboxes", 400, "ttlSeconds", {"ttlSeconds": 5}),
    Row("POST", "/inboxes", 415, "Content-Type", b"{}", {"Content-Type": "text/plain"}),
    Row("GET", "/inboxes?status=nothing", 400, "status"),
    Row("GET", "/emails/1", 400, "emailId"),
    Row("GET", "/rules/1", 400, "ruleId"),
    Row("POST", "/rules", 400, "name", {}),
]


@pytest.fixture(scope="module")
def user(suite: Suite) -> User:
    """Makes a user on Premium."""
    return User.make(suite)


def _send(dashboard: Dashboard, row: Row) -> requests.Response:
    if isinstance(row.body, bytes):
        return dashboard.call(
            row.method,
            row.path,
            headers={"Content-Type": "application/json", **row.headers},
            data=row.body,
        )
    return dashboard.call(row.method, row.path, headers=row.headers, json=row.body)


def _check(answer: requests.Response, row: Row) -> None:
    assert answer.status_code == row.status, answer.text
    body = answer.json()
    assert set(body) == {"statusCode", "error", "message", "code"}
    assert body["statusCode"] == row.status
    assert body["error"] == _NEW_NAMES.get(row.status, HTTPStatus(row.status).phrase)
    assert row.mentions in body["message"]
    assert answer.headers["X-Request-Id"]
    assert "Set-Cookie" not in answer.headers
    assert "Location" not in answer.headers
    assert answer.status_code != 405 or answer.headers["Allow"]


@pytest.mark.parametrize("row", _OPEN, ids=str)
def test_a_wrong_request_at_the_door(suite: Suite, row: Row) -> None:
    _check(_send(Dashboard(suite["API"]), row), row)


@pytest.mark.parametrize("row", _SIGNED_IN, ids=str)
def test_a_wrong_request_of_somebody_signed_in(user: User, row: Row) -> None:
    _check(_send(user.dashboard, row), row)


def test_they_changed_nothing(user: User) -> None:
    assert user.dashboard.get("/keys")["keys"] == []
    assert user.dashboard.get("/inboxes")["inboxes"] == []
    assert user.dashboard.get("/session")["emailAddress"] == user.email


@pytest.mark.parametrize(
    "path", ["/keys", "/session", "/rules", "/events", "/nothing", "/inboxes", ""]
)
def test_nothing_is_there_for_who_is_not_signed_in(suite: Suite, path: str) -> None:
    answer = Dashboard(suite["API"]).call("GET", path)

    assert answer.status_code == 401
    assert answer.json()["error"] == "Unauthorized"


@pytest.mark.parametrize(
    "cookie", ["", "x", "x" * 43, "x" * 200, "a=b; c", '"quoted"', "; tempinbox_session=x"]
)
def test_a_cookie_of_somebody_s_making_opens_nothing(suite: Suite, cookie: str) -> None:
    answer = requests.get(
        suite["API"] + ROOT + "/session",
        headers={"Cookie": f"tempinbox_session={cookie}"},
        timeout=30,
    )

    assert answer.status_code == 401
