"""What senders did with an inbox, as its report marks them: the same sender, the same marks."""

import json
import os
import smtplib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from email.message import EmailMessage
from typing import Any

import pytest
from dev import mail_servers
from dev.mail_servers import MailServer
from harness import (
    SENDER,
    Account,
    Api,
    Capture,
    Faults,
    SmtpSession,
    Suite,
    eventually,
    postfix_to,
    queued_id,
    run_nodemailer,
)

_as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="Postfix and Exim are started by root alone"
)
_LATER = "451 4.7.1 Try again later"
_FULL = "452 4.2.2 Full"
_NO = "550 5.7.1 Not here"
_RECIPIENT_OK = "250 2.1.5 Recipient ok"
_MESSAGE = b"Message-ID: <1@sender.example>\r\nSubject: hi\r\n\r\nhi\r\n"
_SERVER_RETRIES_SECONDS = 60
_CLIENT_RETRIES_SECONDS = 20  # ten pass before a sender is said not to come again

# One story for each kind of message; who gets it says which.
_STORY: list[dict[str, Any]] = [
    {"stage": "rcpt", "reply": _LATER, "to": "deferred", "times": 2},
    {"stage": "end", "reply": _FULL, "to": "full", "times": 1},
    {"stage": "end", "cut": "stored", "to": "cut", "times": 1},
    {"stage": "rcpt", "reply": _NO, "to": "refused"},
    {"stage": "rcpt", "reply": _LATER, "to": "busy", "times": 1},
]
_MAILS = [["deferred"], ["full"], ["cut"], ["refused"], ["busy", "other"]]


def _report_of(api: Api, inbox: dict[str, Any]) -> dict[str, Any]:
    report: dict[str, Any] = api.get(f"/v1/inboxes/{inbox['inboxId']}/sender-report")
    return report


def _values(report: dict[str, Any]) -> dict[str, str]:
    return {name: mark["value"] for name, mark in report["marks"].items()}


def _marked(
    api: Api, inbox: dict[str, Any], expected: dict[str, str], seconds: float
) -> dict[str, Any]:
    """The report, once it has these marks."""
    latest: dict[str, Any] = {}

    def is_marked() -> bool:
        latest.update(_report_of(api, inbox))
        return _values(latest) == expected

    try:
        eventually(is_marked, "the marks are as they must be", seconds=seconds)
    except TimeoutError as failure:
        wrong = {
            name: mark for name, mark in latest["marks"].items() if mark["value"] != expected[name]
        }
        raise AssertionError(json.dumps([wrong, latest["messages"]], indent=1)) from failure
    return latest


def _states(report: dict[str, Any]) -> dict[str, str]:
    """How it ended for each kind of message."""
    return {
        next(kind for kind, *_ in _MAILS if any(kind in it for it in message["recipients"])): (
            message["state"]
        )
        for message in report["messages"]
    }


# Mail servers.

_EXIM_SOON = """
begin routers

suite:
  driver = manualroute
  route_list = * {host}::{port} byname
  transport = suite
  self = send
  no_more

begin transports

suite:
  driver = smtp
  allow_localhost

begin retry

* * G,2m,1s,2
"""


def _postfix(suite: Suite) -> AbstractContextManager[MailServer]:
    return postfix_to(suite["SMTP"])


@contextmanager
def _exim(suite: Suite) -> Iterator[MailServer]:
    host, _, port = suite["SMTP"].rpartition(":")
    with mail_servers.exim(_EXIM_SOON.format(host=host, port=port)) as relay:
        yield relay


_SERVER_MARKS = {
    "retriesAfter4xx": "yes",
    "backsOff": "yes",
    "stopsAfter5xx": "yes",
    "keepsOtherRecipients": "yes",
    "sameMessageId": "yes",
    "duplicates": "no",
    "pipelining": "yes",
    "quit": "yes",
    "size": "yes",
}


@_as_root
@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize(
    ("server", "tls"), [(_postfix, "no"), (_exim, "yes")], ids=["postfix", "exim"]
)
def test_a_mail_server_does_all_as_it_must(
    suite: Suite, account: Account, server: Callable[[Suite], Any], tls: str, attempt: int
) -> None:
    inbox = account.api.new_inbox()
    Faults(suite, account.api, inbox).set(*_STORY)
    local, _, domain = inbox["emailAddress"].partition("@")

    with server(suite) as relay:
        host, _, port = relay.address.rpartition(":")
        with smtplib.SMTP(host, int(port), timeout=30) as client:
            client.ehlo("staging.example")
            for number, kinds in enumerate(_MAILS):
                message = _MESSAGE.replace(b"<1@", b"<%d.%d@" % (attempt, number))
                recipients = [f"{local}+{kind}@{domain}" for kind in kinds]
                assert client.sendmail(SENDER, recipients, message) == {}
        marks = _SERVER_MARKS | {"tls": tls}
        report = _marked(account.api, inbox, marks, _SERVER_RETRIES_SECONDS)

    assert _states(report) == {
        "deferred": "accepted",
        "full": "accepted",
        "cut": "accepted",
        "refused": "refused",
        "busy": "accepted",
    }
    assert report["marks"]["duplicates"]["count"] == 0
    assert report["marks"]["backsOff"]["section"] == "RFC 5321 4.5.4.1"
    assert report["marks"]["backsOff"]["note"], "pauses below a minute are noted"
    assert report["notApplied"] == []
    (deferred,) = (it for it in report["messages"] if "deferred" in it["recipients"][0])
    assert [(it["reply"], it["step"]) for it in deferred["attempts"][:2]] == [(_LATER, 0)] * 2
    assert deferred["attempts"][2]["reply"].endswith(deferred["emailIds"][0])
    assert len(deferred["delaysSeconds"]) == 2


# Libraries.


def _send_by_nodemailer(capture: Capture, recipients: list[str]) -> None:
    run_nodemailer(capture, recipients)  # what is refused, too: it must not try again


def _send_by_smtplib(capture: Capture, recipients: list[str]) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = SENDER, ", ".join(recipients), "hi"
    message["Message-ID"] = f"<{recipients[0]}>"
    message.set_content("hi\n")
    try:
        with smtplib.SMTP(capture.host, capture.ports["STARTTLS_PORT"], timeout=30) as client:
            client.starttls(context=capture.trusting())
            client.login(capture.user, capture.password)
            client.send_message(message)
    except smtplib.SMTPException:
        pass  # which it must not try again


_LIBRARY_MARKS = {
    "retriesAfter4xx": "no",
    "backsOff": "not_seen",
    "stopsAfter5xx": "yes",
    "keepsOtherRecipients": "yes",
    "sameMessageId": "not_seen",
    "duplicates": "no",
    "tls": "yes",
}


@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize(
    ("send", "marks"),
    [
        (_send_by_nodemailer, {"pipelining": "yes", "quit": "no", "size": "no"}),
        (_send_by_smtplib, {"pipelining": "no", "quit": "yes", "size": "yes"}),
    ],
    ids=["nodemailer", "smtplib"],
)
def test_a_library_leaves_what_is_deferred(
    suite: Suite,
    capture: Capture,
    send: Callable[[Capture, list[str]], None],
    marks: dict[str, str],
    attempt: int,
) -> None:
    Faults(suite, capture.api, capture.inbox).set(*_STORY)
    for kinds in _MAILS:
        send(capture, [f"{kind}@shop{attempt}.example" for kind in kinds])

    report = _marked(capture.api, capture.inbox, _LIBRARY_MARKS | marks, _CLIENT_RETRIES_SECONDS)

    assert _states(report) == {
        "deferred": "open",
        "full": "open",
        "cut": "accepted",
        "refused": "refused",
        "busy": "open",
    }
    assert report["marks"]["duplicates"]["count"] == 0
    assert {len(it["attempts"]) for it in report["messages"]} == {1}
    (busy,) = (it for it in report["messages"] if it["recipientCount"] == 2)
    assert [it["reply"] for it in busy["attempts"][0]["refused"]] == [_LATER]
    (email,) = (it for it in capture.emails() if "other" in it["recipients"][0])
    assert busy["emailIds"] == [email["emailId"]]


# Who does it wrong, and what could not be played.


def test_a_sender_that_does_all_wrong_is_marked_so(suite: Suite, account: Account) -> None:
    api = account.api
    inbox = api.new_inbox()
    address = inbox["emailAddress"]
    faults = Faults(suite, api, inbox)
    faults.set(
        {"stage": "end", "reply": _FULL, "times": 1},
        {"stage": "end", "reply": "554 5.6.0 Not this", "to": "refused"},
    )
    refused = address.replace("@", "+refused@")

    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(address) == [_RECIPIENT_OK]
        assert session.data(_MESSAGE) == _FULL
        for number in 2, 3:  # another Message-ID each time, at once
            session.address(address)
            queued_id(session.data(_MESSAGE.replace(b"<1@", b"<%d@" % number)))
        session.address(address)
        queued_id(session.data(_MESSAGE.replace(b"<1@", b"<3@")))
        for _ in range(2):
            session.address(refused)
            refusal = session.data(b"Message-ID: <4@sender.example>\r\n\r\nno\r\n")
            assert refusal == "554 5.6.0 Not this"

    def values() -> dict[str, str] | None:
        found = _values(_report_of(api, inbox))
        return found if found["stopsAfter5xx"] != "not_seen" else None

    marks = eventually(values, "what came after the 554 is marked")
    assert marks["stopsAfter5xx"] == "no"
    assert marks["duplicates"] == "yes"
    assert marks["sameMessageId"] == "no"
    assert marks["quit"] == "no"
    assert _report_of(api, inbox)["marks"]["duplicates"]["count"] == 1


def test_a_fault_of_a_shared_message_is_said_not_to_be_played(
    suite: Suite, account: Account, other_account: Account
) -> None:
    ours = account.api.new_inbox()
    theirs = other_account.api.new_inbox()
    Faults(suite, account.api, ours).set({"stage": "end", "reply": _FULL})

    with SmtpSession(suite["SMTP"]) as session:
        session.address(ours["emailAddress"], theirs["emailAddress"])
        sent = queued_id(session.data(_MESSAGE))

    report = eventually(
        lambda: (it := _report_of(account.api, ours))["notApplied"] and it, "it is reported"
    )
    (not_applied,) = report["notApplied"]
    (message,) = report["messages"]
    assert (not_applied["stage"], not_applied["reason"]) == ("end", "sharedTransaction")
    assert not_applied["attempt"] == message["attempts"][0]["number"] == 1
    assert (message["state"], message["emailIds"]) == ("accepted", [sent])
    assert message["recipients"] == [ours["emailAddress"]], "the neighbour's is not ours to see"


def test_only_inboxes_that_are_tried_have_a_report(
    account: Account, other_account: Account, capture: Capture
) -> None:
    plain = account.api.new_inbox()
    path = "/v1/inboxes/{}/sender-report"

    of_plain = account.api.call("GET", path.format(plain["inboxId"]))
    assert of_plain.status_code == 404
    assert "has no report on its senders" in of_plain.json()["message"]
    theirs = path.format(capture.inbox["inboxId"])
    of_others = other_account.api.call("GET", theirs)
    assert of_others.status_code == 404
    assert "does not exist" in of_others.json()["message"]
    empty = _report_of(account.api, capture.inbox)
    assert (empty["messages"], empty["notApplied"]) == ([], [])
    assert set(_values(empty).values()) == {"not_seen"}
    catch_all = account.api.new_inbox(localPart="*")
    assert _report_of(account.api, catch_all)["messages"] == []
