"""Judges a webhook as receivers do: with webhook: the Standard Webhooks libraries of other
languages, each on its own clock.
"""

import base64
import datetime
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from standardwebhooks import Webhook, webhooks

from harness.receiver import Request
from harness.suite import ROOT

_NODE_PROGRAM = ROOT / "tests" / "e2e" / "node" / "verify.cjs"


@dataclass(frozen=True)
class Signed:
    """A webhook that is to be judged with a secret, so many seconds after it came."""

    secret: str
    body: bytes
    headers: dict[str, str]
    later: float = 0.0

    @classmethod
    def of(cls, request: Request, secret: str) -> "Signed":
        """Takes a request as it arrived."""
        return cls(
            secret,
            request.body,
            {name: value for name, value in request.headers.items() if name.startswith("webhook-")},
        )

    def but(self, **changed: Any) -> "Signed":
        """The same with something changed."""
        return replace(self, **changed)


def _by_python(signed: Signed) -> str:
    class LaterClock(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "LaterClock":
            moment = super().now(tz) + datetime.timedelta(seconds=signed.later)
            return cls.fromtimestamp(moment.timestamp(), tz)

    with mock.patch.object(webhooks, "datetime", LaterClock):
        try:
            Webhook(signed.secret).verify(signed.body, signed.headers)
        except webhooks.WebhookVerificationError as refused:
            return str(refused)
    return ""


def _by_node(signed: Signed) -> str:
    given = {
        "secret": signed.secret,
        "body": base64.b64encode(signed.body).decode(),
        "headers": signed.headers,
        "later": signed.later,
    }
    done = subprocess.run(
        ["node", str(_NODE_PROGRAM)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, f"node ended with {done.returncode}: {done.stderr}"
    return done.stdout


# Why the library of that registry refuses it; empty: it does not.
VERIFIERS: dict[str, Callable[[Signed], str]] = {"PyPI": _by_python, "npm": _by_node}
