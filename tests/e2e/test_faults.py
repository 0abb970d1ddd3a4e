"""Faults on purpose: what an inbox plays to whoever sends, as senders see it."""

import json
import os
import smtplib
from typing import Any

import pytest
from dev.mail_servers import MailServer
from harness import (
    SENDER,
    Account,
    Capture,
    Faults,
    SmtpSession,
    Suite,
    eventually,
    postfix_to,
    queued_id,
    run_nodemailer,
)

_LATER = "451 4.7.1 Try again later"
_RECIPIENT_OK = "250 2.1.5 Recipient ok"
_MESSAGE = b"Message-ID: <1@sender.example>\r\nSubject: hi\r\n\r\nhi\r\n"
_FOREIGN = ["ann@shop.example", "bob@shop.example"]
_as_root = pytest.mark.skipif(os.geteuid() != 0, reason="Postfix is started by root alone")


def _mail_servers(suite: Suite) -> list[str]:
    return [url.removeprefix("smtp://") for url in suite.of_each("mail-ingest", "URL")]


def _send_through(relay: MailServer, *recipients: str) -> None:
    host, _, port = relay.address.rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=30) as client:
        client.ehlo("staging.example")
        assert client.sendmail(SENDER, recipients, _MESSAGE) == {}


@_as_root
@pytest.mark.parametrize("attempt", [1, 2])
def test_postfix_delivers_at_the_third_try_over_two_mail_servers(
    suite: Suite, account: Account, attempt: int
) -> None:
    servers = _mail_servers(suite)
    assert len(servers) > 1
    inbox = account.api.new_inbox()
    faults = Faults(suite, account.api, inbox)
    faults.set({"stage": "rcpt", "reply": _LATER, "times": 2})

    with postfix_to(*servers[:2]) as relay:
        _send_through(relay, inbox["emailAddress"])
        path = f"/v1/inboxes/{inbox['inboxId']}/emails"
        eventually(lambda: account.api.get(path)["emails"], "the mail arrives", seconds=60)

        assert relay.log().count(_LATER) >= 1, attempt
    assert faults.used() == [2]
    assert faults.refusals(2) == [(_LATER, 2)]
    report = faults.report(3)
    (message,) = report["messages"]
    assert [it["step"] for it in message["attempts"]] == [0, 0, None]
    assert message["state"] == "accepted"
    assert report["marks"]["retriesAfter4xx"]["value"] == "yes"
    assert report["marks"]["retriesAfter4xx"]["attempts"] == [1, 2, 3]


@_as_root
def test_postfix_retries_what_was_stored_before_the_cut_into_one_email(
    suite: Suite, account: Account
) -> None:
    inbox = account.api.new_inbox()
    faults = Faults(suite, account.api, inbox)
    faults.set({"stage": "end", "cut": "stored", "times": 1})

    with postfix_to(_mail_servers(suite)[0]) as relay:
        _send_through(relay, inbox["emailAddress"])
        eventually(lambda: "status=sent" in relay.log(), "Postfix got its 250", seconds=60)

        (email,) = account.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
        assert email["emailId"] in relay.log()
    assert faults.used() == [1]
    assert faults.report(2)["marks"]["duplicates"]["count"] == 0


def test_a_rate_refuses_exactly_what_is_past_it(suite: Suite, capture: Capture) -> None:
    faults = Faults(suite, capture.api, capture.inbox)
    slower = "421 4.7.0 Slower"
    faults.set({"stage": "mail", "reply": slower, "abovePerMinute": 30})

    replies = []
    for _ in range(40):
        with SmtpSession(capture.server()) as session:
            assert session.say(capture.auth()).startswith("235 ")
            replies.append(session.say(f"MAIL FROM:<{SENDER}>"))
            if replies[-1] == slower:
                assert session.reply() == "", "421 closes"

    assert replies == ["250 2.1.0 Sender ok"] * 30 + [slower] * 10
    assert faults.used() == [10]


def test_a_message_for_a_neighbour_too_is_taken(
    suite: Suite, account: Account, other_account: Account
) -> None:
    ours = account.api.new_inbox()
    theirs = other_account.api.new_inbox()
    faults = Faults(suite, account.api, ours)
    faults.set({"stage": "end", "reply": "452 4.2.2 Full"})

    with SmtpSession(suite["SMTP"]) as session:
        replies = session.address(ours["emailAddress"], theirs["emailAddress"])
        assert replies == [_RECIPIENT_OK] * 2
        queued_id(session.data(_MESSAGE))
        assert session.address(ours["emailAddress"]) == [_RECIPIENT_OK]
        assert session.data(_MESSAGE) == "452 4.2.2 Full"

    for api, inbox in ((account.api, ours), (other_account.api, theirs)):
        assert api.get(f"/v1/inboxes/{inbox['inboxId']}")["emailCount"] == 1
    assert faults.used() == [1]


def test_nodemailer_does_not_retry_after_a_cut(suite: Suite, account: Account) -> None:
    played = []
    for pool in (False, True):
        capture = Capture(suite, account)
        faults = Faults(suite, capture.api, capture.inbox)
        faults.set({"stage": "end", "cut": "unstored"})
        sent = run_nodemailer(capture, _FOREIGN, pool=pool)
        assert sent.returncode == 1, pool
        assert sent.stderr.startswith("ECONNECTION: "), sent.stderr
        assert capture.emails() == [], pool
        played.append(faults)

    def marked() -> list[dict[str, Any]] | None:
        reports = [faults.report(1) for faults in played]
        marks = {report["marks"]["retriesAfter4xx"]["value"] for report in reports}
        return reports if marks == {"no"} else None

    # Ten seconds pass before a sender is said not to come again.
    for report in eventually(marked, "single and pool are marked", seconds=20):
        (message,) = report["messages"]
        (attempt,) = message["attempts"]
        assert (attempt["stage"], attempt["reply"], attempt["step"]) == ("end", None, 0)
        assert (message["state"], message["emailIds"]) == ("open", [])
    assert [faults.used() for faults in played] == [[1], [1]]


def test_nodemailer_sends_to_the_recipient_that_is_left(suite: Suite, capture: Capture) -> None:
    faults = Faults(suite, capture.api, capture.inbox)
    faults.set({"stage": "rcpt", "reply": _LATER, "to": "ann@"})

    sent = run_nodemailer(capture, _FOREIGN)

    assert json.loads(sent.stdout) == {"accepted": _FOREIGN[1:], "rejected": _FOREIGN[:1]}
    (email,) = capture.emails()
    assert email["recipients"] == _FOREIGN[1:]


def test_smtplib_and_a_story(suite: Suite, capture: Capture) -> None:
    faults = Faults(suite, capture.api, capture.inbox)
    faults.set(
        # smtplib answers a refusal of PLAIN with LOGIN.
        {"stage": "auth", "reply": "454 4.7.0 Not now", "times": 2},
        {"stage": "rcpt", "reply": _LATER, "times": 1},
        {"stage": "end", "reply": "452 4.2.2 Full", "times": 1},
    )
    with smtplib.SMTP(capture.host, capture.ports["STARTTLS_PORT"], timeout=30) as client:
        client.starttls(context=capture.trusting())
        client.ehlo()
        with pytest.raises(smtplib.SMTPAuthenticationError) as refused:
            client.login(capture.user, capture.password)
        assert refused.value.smtp_code == 454
        client.login(capture.user, capture.password)
        with pytest.raises(smtplib.SMTPRecipientsRefused) as deferred:
            client.sendmail(SENDER, _FOREIGN[:1], _MESSAGE)
        assert deferred.value.recipients[_FOREIGN[0]][0] == 451
        with pytest.raises(smtplib.SMTPDataError) as full:
            client.sendmail(SENDER, _FOREIGN[:1], _MESSAGE)
        assert full.value.smtp_code == 452
        assert client.sendmail(SENDER, _FOREIGN[:1], _MESSAGE) == {}

    assert faults.used() == [2, 1, 1]
    assert len(capture.emails()) == 1


def test_greylisting_defers_each_recipient_once(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    address = inbox["emailAddress"]
    tagged = address.replace("@", "+tag@")
    faults = Faults(suite, account.api, inbox)
    faults.set({"stage": "rcpt", "reply": _LATER, "times": 1, "per": "recipient"})

    replies = []
    for server in _mail_servers(suite)[:2]:
        with SmtpSession(server) as session:
            replies.append(session.address(address, tagged, address.upper()))

    assert replies == [[_LATER] * 3, [_RECIPIENT_OK] * 3]
    assert faults.used() == [2]


def test_faults_end_with_delete(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    path = f"/v1/inboxes/{inbox['inboxId']}/faults"
    Faults(suite, account.api, inbox).set({"stage": "rcpt", "reply": "550 5.7.1 No"})
    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(inbox["emailAddress"]) == ["550 5.7.1 No"]

    gone = {"inboxId": inbox["inboxId"], "deleted": True}
    assert account.api.delete(path) == gone
    assert account.api.delete(path) == gone

    assert account.api.get(path) == {"steps": []}
    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(inbox["emailAddress"]) == [_RECIPIENT_OK]


def test_delays_of_an_account_hold_nobody_else(
    suite: Suite, account: Account, other_account: Account
) -> None:
    ours = account.api.new_inbox()
    theirs = other_account.api.new_inbox()
    faults = Faults(suite, account.api, ours)
    faults.set({"stage": "end", "delaySeconds": 300})
    sessions = []
    try:
        for _ in range(300):
            session = SmtpSession(_mail_servers(suite)[0])
            sessions.append(session)
            session.__enter__()
            assert session.address(ours["emailAddress"]) == [_RECIPIENT_OK]
            session.write(b"DATA\r\n")
            assert session.reply().startswith("354 ")
            session.write(_MESSAGE + b".\r\n")
        eventually(lambda: faults.used() == [300], "all came to the fault", seconds=30)

        with SmtpSession(_mail_servers(suite)[0]) as neighbour:
            assert neighbour.address(theirs["emailAddress"]) == [_RECIPIENT_OK]
            queued_id(neighbour.data(_MESSAGE))
        # Ten wait, the others do not.
        for session in sessions[10:]:
            queued_id(session.reply())
    finally:
        for session in sessions:
            session.__exit__()


def test_steps_that_are_none_say_what_is_allowed(account: Account) -> None:
    inbox = account.api.new_inbox()
    path = f"/v1/inboxes/{inbox['inboxId']}/faults"
    fine = {"stage": "rcpt", "reply": _LATER}
    refused: list[tuple[list[dict[str, Any]], str]] = [
        ([fine | {"reply": "250 2.0.0 Ok"}], "steps[0].reply must be a 4xx or 5xx code"),
        ([fine | {"reply": f"{_LATER}\r\n250 2.0.0 Ok"}], "steps[0].reply must"),
        ([fine, fine | {"delaySeconds": 301}], "steps[1].delaySeconds must be an integer from 0"),
        ([fine] * 21, "steps must be an array of at most 20 objects"),
        ([fine | {"stage": "connect"}], "steps[0].stage must be one of auth, mail, rcpt, data"),
        ([fine | {"stage": "mail"}], "steps[0].stage must be rcpt, data or end, not mail"),
        ([{"stage": "rcpt", "cut": "stored"}], "steps[0].cut must be unstored at rcpt"),
        ([fine | {"times": 1, "every": 2}], "steps[0] must have at most one of times"),
        ([fine | {"chance": 0.5}], "steps[0].chance is unknown here"),
    ]
    for steps, message in refused:
        answer = account.api.call("PUT", path, json={"steps": steps})
        assert answer.status_code == 400, steps
        assert answer.json()["message"].startswith(message), answer.text
    assert account.api.get(path) == {"steps": []}
