"""The capture of the demo account, by whose login programs send to the suite."""

import http.client
import json
import smtplib
from typing import Any

from dev import services
from dev.record import Account, Capture
from dev.suite import Suite
from dev.terminal import item

_TIMEOUT_SECONDS = 10


def ensure(suite: Suite) -> None:
    """Makes one unless the record has one that is good. What stands in its way is said, and the
    suite goes on without.
    """
    known = suite.record
    gateway = next(services.of("gateway", suite.replicas), None)
    submission = services.submission_of(suite.replicas)
    if not (known.account and gateway and submission):
        return
    if known.capture and not _is_refused(known.capture, submission.clear):
        return
    try:
        known.capture = _make(gateway.listener, known.account)
    except (OSError, http.client.HTTPException, ValueError, KeyError) as problem:
        known.capture = None
        item("login", f"none to send with: {problem}")
    known.save(suite.folder)


def _is_refused(capture: Capture, port: int) -> bool:
    """Whether it has ended, or its password was changed. One that cannot be tried is kept."""
    try:
        with smtplib.SMTP("127.0.0.1", port, timeout=_TIMEOUT_SECONDS) as client:
            client.login(capture.user, capture.password)
    except smtplib.SMTPAuthenticationError as refused:
        return refused.smtp_code == 535
    except OSError:
        return False
    return False


def _make(gateway: str, account: Account) -> Capture:
    limits = _call(gateway, account, "GET", "/v1/account")["limits"]
    body = {"capture": True, "ttlSeconds": limits["maxTtlSeconds"]}
    made = _call(gateway, account, "POST", "/v1/inboxes", body)["capture"]
    return Capture(made["user"], made["password"])


def _call(
    gateway: str, account: Account, method: str, path: str, body: dict[str, Any] | None = None
) -> Any:
    connection = http.client.HTTPConnection(gateway, timeout=_TIMEOUT_SECONDS)
    headers = {"X-API-Key": account.api_key, "Content-Type": "application/json"}
    try:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
    finally:
        connection.close()
    if response.status >= 400:
        raise ValueError(f"{method} {path}: {answer.get('message')}")
    return answer
