"""Every wrong request of the table is told its status, its field and what is allowed, in the one
error body, and harms nothing.
"""

import contextlib
import json
import re
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from harness import Account, Suite, send
from harness.contract import Answer, contract
from harness.raw import exchange, request_bytes
from wrong_requests import changes, fields, filters, headers, syntax, targets, transport
from wrong_requests.row import Row

_ROWS = [*syntax.ROWS, *fields.ROWS, *targets.ROWS, *changes.ROWS, *filters.ROWS, *headers.ROWS]
_NEW_NAMES = {
    413: "Content Too Large",
    422: "Unprocessable Content",
}  # RFC 9110's, which Python 3.11 does not know yet
_ALLOWANCE = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]
_MAX_MESSAGE = 600


@dataclass(frozen=True)
class Target:
    """Whom wrong requests are about: an account with an inbox, an email in it, and a webhook."""

    account: Account
    inbox: str
    email: str
    webhook: str
    webhook_before: dict[str, Any]


@pytest.fixture(scope="module")
def target(suite: Suite) -> Target:
    """Makes one target for the whole table, since no row may change it."""
    account = Account.make(suite)
    inbox = account.api.new_inbox()
    sent = send(suite, inbox["emailAddress"])
    webhook = account.api.post("/v1/webhooks", {"url": "https://hooks.example.com/mail"})
    del webhook["secret"]
    return Target(account, inbox["inboxId"], sent.email_id, webhook["webhookId"], webhook)


def _next_midnight() -> str:
    """Returns the next midnight in Unix seconds."""
    day = 24 * 60 * 60
    return str((int(time.time()) // day + 1) * day)


def _send(suite: Suite, target: Target, row: Row) -> Answer:
    path = row.target
    for name in ("inbox", "email", "webhook"):
        path = path.replace("{" + name + "}", str(getattr(target, name)))
    key = {"X-API-Key": target.account.key} if row.has_key else {}
    return exchange(suite["API"], request_bytes(row.method, path, {**key, **row.headers}, row.body))


def _assert_refused(answer: Answer, status: int) -> str:
    """The one error body; its message."""
    assert answer.status == status, f"{answer.status}: {answer.body[:300]!r}"
    contract().check_error(answer)
    assert answer.headers["x-request-id"]
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
    found = re.search(rb'"message":"(.*)"}$', answer.body)
    assert found
    name = _NEW_NAMES.get(status, HTTPStatus(status).phrase)
    assert f'"error":"{name}"'.encode() in answer.body
    return str(found[1].decode().replace('\\"', '"'))


def _begins_with_a_name(message: str, row: Row) -> bool:
    """Whether the message begins with the name of a parameter, a header or a field: one that the
    operation has or the request gave. A name that is not plain is quoted and shortened.
    """
    names = {"body", *row.headers} | contract().names(row.method, row.target)
    names |= {name for name, _ in parse_qsl(urlsplit(row.target).query, keep_blank_values=True)}
    with contextlib.suppress(ValueError):
        names |= set(json.loads(row.body))
    quoted = {'"' + re.sub(r"[\x00-\x1f\x7f]", " ", name)[:60] for name in names}
    plain = (f"{name}{end}" for name in names if name for end in " .[")
    return message.startswith((*quoted, *plain))


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.name[:90])
def test_a_wrong_request_is_refused_with_its_reason(suite: Suite, target: Target, row: Row) -> None:
    answer = _send(suite, target, row)

    message = _assert_refused(answer, row.status)
    contract().check(answer)
    for mention in row.mentions:
        assert mention in message
    assert row.code in ("", answer.headers["x-error-code"])
    if answer.headers["x-error-code"] == "invalid_field":
        assert _begins_with_a_name(message, row), message
    assert len(message) <= _MAX_MESSAGE, "what was given is shortened"
    assert all(name in answer.headers for name in _ALLOWANCE)


@pytest.mark.parametrize("row", transport.ROWS, ids=lambda row: row.name)
def test_what_is_no_sound_http_is_refused_and_cut(suite: Suite, row: transport.RawRow) -> None:
    before = _next_midnight()

    answer = exchange(suite["API"], row.request)

    _assert_refused(answer, row.status)
    assert answer.headers["connection"] == "close"
    assert [answer.headers[name] for name in _ALLOWANCE[:2]] == ["0", "0"]
    assert answer.headers["x-ratelimit-reset"] in (before, _next_midnight())


def test_the_table_is_large_and_has_no_row_twice() -> None:
    requests = [(row.method, row.target, row.body, str(row.headers), row.has_key) for row in _ROWS]

    assert len(requests) >= 150
    assert len(set(requests)) == len(requests)


def test_no_wrong_request_changed_anything(target: Target) -> None:
    api = target.account.api

    assert [inbox["inboxId"] for inbox in api.get("/v1/inboxes")["inboxes"]] == [target.inbox]
    assert [
        email["emailId"] for email in api.get(f"/v1/inboxes/{target.inbox}/emails")["emails"]
    ] == [target.email]
    assert api.get("/v1/webhooks")["webhooks"] == [target.webhook_before]
