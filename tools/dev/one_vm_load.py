"""Mail at a steady rate over SMTP with STARTTLS, and afterwards the look whether all of it is
there.

A program of its own, since it runs where Docker publishes ports; needs Python's standard library
alone. Its first argument is a JSON object: what `Plan` says.
"""

import base64
import contextlib
import http.client
import json
import os
import smtplib
import ssl
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dev.waiting import delay_until

_SENDERS = 8
_INBOXES = 40
_CALL_SECONDS = 30.0
_GIVE_UP_SECONDS = 180.0  # for one mail, again and again, while the suite comes back


@dataclass(frozen=True)
class Plan:
    """Where the suite is, and what to send: `ledger` names the file of the mails answered 250; with
    `seconds` 0 nothing is sent, and those of the ledger are looked for.
    """

    api: int
    smtp: int
    api_key: str
    authority: str
    ledger: str
    rate: float = 0.0
    seconds: float = 0.0
    size: int = 4096


@dataclass
class _Sent:
    """The mails answered 250, as (inbox id, subject), and how often none was."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    mails: list[tuple[str, str]] = field(default_factory=list)
    refused: int = 0


def arguments(plan: Plan) -> list[str]:
    """Returns what follows the interpreter on the command line."""
    return ["-B", "-m", "dev.one_vm_load", json.dumps(asdict(plan))]


def call(plan: Plan, method: str, path: str, body: Any = None) -> Any:
    """Calls the API until it answers with a success."""
    context = ssl.create_default_context(cafile=plan.authority)
    end = time.monotonic() + _GIVE_UP_SECONDS
    while True:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", plan.api, timeout=_CALL_SECONDS, context=context
        )
        try:
            headers = {"X-API-Key": plan.api_key, "Content-Type": "application/json"}
            connection.request(method, path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status < 300:
                return json.loads(said)
            problem = f"{answer.status}: {said.decode(errors='replace')[:300]}"
        except (OSError, http.client.HTTPException) as error:
            problem = repr(error)
        finally:
            connection.close()
        if time.monotonic() > end:
            sys.exit(f"{method} {path}: {problem}")
        delay_until(time.monotonic() + 0.5)


def _connect(plan: Plan) -> smtplib.SMTP:
    context = ssl.create_default_context(cafile=plan.authority)
    connection = smtplib.SMTP("127.0.0.1", plan.smtp, timeout=_CALL_SECONDS)
    connection.starttls(context=context)
    connection.ehlo()
    return connection


def _send_share(plan: Plan, share: int, inboxes: list[tuple[str, str]], sent: _Sent) -> None:
    """Sends every eighth mail at its time, each until it is answered 250."""
    began = time.monotonic()
    connection: smtplib.SMTP | None = None
    for number in range(share, int(plan.rate * plan.seconds), _SENDERS):
        delay_until(began + number / plan.rate)
        inbox, address = inboxes[number % len(inboxes)]
        subject = f"load {os.getpid()}-{number}"
        # Bytes that are not like each other: a body is stored compressed.
        body = base64.encodebytes(os.urandom(plan.size * 3 // 4)).decode().replace("\n", "\r\n")
        message = f"From: load@sender.test\r\nTo: {address}\r\nSubject: {subject}\r\n\r\n{body}"
        end = time.monotonic() + _GIVE_UP_SECONDS
        while True:
            try:
                connection = connection or _connect(plan)
                connection.sendmail("load@sender.test", address, message)
                break
            except (OSError, smtplib.SMTPException) as error:
                if connection:
                    with contextlib.suppress(OSError, smtplib.SMTPException):
                        connection.close()
                connection = None
                with sent.lock:
                    sent.refused += 1
                if time.monotonic() > end:
                    sys.exit(f"no 250 in {_GIVE_UP_SECONDS:.0f} s: {error!r}")
                delay_until(time.monotonic() + 0.2)
        with sent.lock:
            sent.mails.append((inbox, subject))


def send(plan: Plan) -> dict[str, float]:
    """Sends all of it; what was acknowledged is in the ledger."""
    made = call(plan, "POST", "/v1/inboxes:batch", {"inboxes": [{"name": "load"}] * _INBOXES})
    inboxes = [(one["inbox"]["inboxId"], one["inbox"]["emailAddress"]) for one in made["results"]]
    sent = _Sent()
    began = time.monotonic()
    threads = [
        threading.Thread(target=_send_share, args=(plan, share, inboxes, sent))
        for share in range(_SENDERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    if len(sent.mails) != int(plan.rate * plan.seconds):
        sys.exit("a sender gave up")
    Path(plan.ledger).write_text(json.dumps(sent.mails), encoding="utf-8")
    return {"acknowledged": len(sent.mails), "refused": sent.refused, "seconds": seconds}


def look_for(plan: Plan) -> dict[str, float]:
    """Counts the mails of the ledger that are not in their inboxes."""
    mails = json.loads(Path(plan.ledger).read_text(encoding="utf-8"))
    expected: dict[str, set[str]] = {}
    for inbox, subject in mails:
        expected.setdefault(inbox, set()).add(subject)
    missing = 0
    for inbox, subjects in expected.items():
        cursor = ""
        while True:
            page = call(plan, "GET", f"/v1/inboxes/{inbox}/emails?limit=100{cursor}")
            subjects -= {one["subject"] for one in page["emails"]}
            if not page.get("nextCursor"):
                break
            cursor = f"&cursor={page['nextCursor']}"
        missing += len(subjects)
    return {"acknowledged": len(mails), "missing": missing}


if __name__ == "__main__":
    plan = Plan(**json.loads(sys.argv[1]))
    print(json.dumps(send(plan) if plan.seconds else look_for(plan)))
