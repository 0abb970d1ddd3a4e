"""Mail that was sent with a login: events, rules and webhooks, repeats, outages, and the end of its
inbox.
"""

import subprocess
from datetime import UTC, datetime
from urllib.parse import urlsplit

from dev.ports import free_port
from harness import (
    SENDER,
    Account,
    Capture,
    MailIngest,
    Receiver,
    Relay,
    SmtpSession,
    Suite,
    Topic,
    eventually,
    queued_id,
)

_GOOD = "235 2.7.0 Authentication successful"
_BAD = "535 5.7.8 Authentication credentials invalid"
_ENDED = "421 4.7.0 Login is no longer valid"
_RECIPIENT_OK = "250 2.1.5 Recipient ok"
_MESSAGE = b"Message-ID: <1@sender.example>\r\nSubject: hi\r\n\r\nhi\r\n"


def _deliver(capture: Capture, *recipients: str) -> str:
    """Sends the message in a session of its own, which ends without QUIT behind the 250 that is
    returned.
    """
    with SmtpSession(capture.server()) as session:
        assert session.say(capture.auth()) == _GOOD
        assert session.address(*recipients) == [_RECIPIENT_OK] * len(recipients)
        return queued_id(session.data(_MESSAGE))


# At the other doors.


def test_a_mail_to_forty_is_one_event_and_one_webhook_by_a_rule_for_the_last(
    suite: Suite, account: Account, capture: Capture, other_account: Account
) -> None:
    theirs = other_account.api.new_inbox()
    begin = other_account.api.get("/v1/events")["nextCursor"]
    recipients = [theirs["emailAddress"], *(f"user{n}@list{n % 4}.example" for n in range(39))]
    with Receiver() as last, Receiver() as everything, Topic(suite, "email.received") as topic:
        for receiver, when in (
            (last, ("--when", f"to contains {recipients[-1]}")),
            (everything, ()),
        ):
            body = {"url": receiver.url, "events": ["email.received"]}
            webhook = capture.api.post("/v1/webhooks", body)["webhookId"]
            rule = ("--name", "route", "--webhook", webhook, *when)
            suite.operate("rule", "create", account.account_id, *rule)

        sent = _deliver(capture, *recipients)
        alone = _deliver(capture, "alone@shop.example")

        everything.wait_for(lambda it: it.webhook_id == alone, "the webhook of every mail")
        event = topic.wait_for(lambda it: it["email_id"] == alone, "the event behind it")
        assert event.fields["to"] == ["alone@shop.example"]
        (event,) = (it for it in topic.seen if it["email_id"] == sent)
        assert event.fields["to"] == recipients
        request = last.wait_for(lambda it: it.webhook_id == sent, "the webhook of the rule")
        assert request.json["data"] == {
            "emailId": sent,
            "inboxId": capture.inbox["inboxId"],
            "from": SENDER,
            "subject": "hi",
        }
        assert [it.webhook_id for it in last.requests] == [sent]
    after = other_account.api.get("/v1/events", after=begin)["events"]
    assert [it for it in after if it["payload"]["event"] == "email.received"] == []
    assert other_account.api.get(f"/v1/inboxes/{theirs['inboxId']}")["lastSequence"] == 0


def test_a_hundred_recipients_of_the_longest_names_are_in_the_event(
    suite: Suite, account: Account, capture: Capture
) -> None:
    domain = ".".join(["d" * 61] * 3)
    recipients = [f"{number:03}".ljust(64, "x") + f"@{domain}" for number in range(100)]
    assert {len(it) for it in recipients} == {250}
    with Receiver() as receiver, Topic(suite, "email.received") as topic:
        body = {"url": receiver.url, "events": ["email.received"]}
        webhook = account.api.post("/v1/webhooks", body)["webhookId"]
        rule = ("--name", "last", "--webhook", webhook, "--when", f"to contains {recipients[-1]}")
        suite.operate("rule", "create", account.account_id, *rule)

        sent = _deliver(capture, *recipients)

        receiver.wait_for(lambda it: it.webhook_id == sent, "the webhook of the rule")
        event = topic.wait_for(lambda it: it["email_id"] == sent, "the event")
    assert event.fields["to"] == recipients
    assert [it["recipients"] for it in capture.emails()] == [recipients]


# Repeats.


def test_the_same_bytes_to_another_person_are_another_email(capture: Capture) -> None:
    first = _deliver(capture, "ann@shop.example")
    second = _deliver(capture, "bob@shop.example")
    repeat = _deliver(capture, "ann@shop.example")
    both = _deliver(capture, "ann@shop.example", "bob@shop.example")

    assert second != first
    assert repeat == first, "nobody heard of the first 250"
    assert both not in (first, second)
    assert [(it["emailId"], it["recipients"]) for it in capture.emails()] == [
        (first, ["ann@shop.example"]),
        (second, ["bob@shop.example"]),
        (both, ["ann@shop.example", "bob@shop.example"]),
    ]


# Outages.


def test_without_postgresql_no_login_is_wrong(suite: Suite, capture: Capture) -> None:
    dsn = urlsplit(suite["DATABASE"])
    host, _, port = dsn.netloc.rpartition("@")[2].rpartition(":")
    address = f"127.0.0.1:{free_port()}"
    mail = f"MAIL FROM:<{SENDER}>"

    with Relay((host, int(port))) as database:
        relayed = dsn._replace(
            netloc=f"{dsn.username}:{dsn.password}@127.0.0.1:{database.port}"
        ).geturl()
        with (
            MailIngest(suite, database=relayed, submission_clear_listen=address),
            SmtpSession(address) as logged_in,
            SmtpSession(address) as waiting,
        ):
            assert logged_in.say(capture.auth()) == _GOOD

            database.cut()

            def is_put_off() -> bool:
                reply = logged_in.say(mail)
                if reply.startswith("250 "):
                    logged_in.say("RSET")
                    return False
                assert reply.startswith("451 4.3.0 "), reply
                return True

            eventually(is_put_off, "MAIL is put off")
            assert waiting.say(capture.auth()).startswith("454 4.7.0 ")

            database.open()
            eventually(lambda: not is_put_off(), "MAIL is taken again")

            def is_good() -> bool:
                reply = waiting.say(capture.auth())
                assert reply == _GOOD or reply.startswith("454 4.7.0 "), reply
                return reply == _GOOD

            eventually(is_good, "the login is good again")
            assert waiting.address("ann@shop.example") == [_RECIPIENT_OK]
            sent = queued_id(waiting.data(_MESSAGE))
    assert [it["emailId"] for it in capture.emails()] == [sent]


# The end.


def _end_soon(suite: Suite, capture: Capture, seconds: float) -> datetime:
    """Lets the inbox end as if it had been made long ago; returns when."""
    statement = (
        "UPDATE mailbox.inboxes"
        f" SET expires_at = date_trunc('milliseconds', now() + interval '{seconds} s')"
        f" WHERE inbox_id = '{capture.inbox['inboxId']}'"
    )
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", suite["DATABASE"], "-c", statement]
    subprocess.run(command, check=True, timeout=30)
    shown = capture.api.get(f"/v1/inboxes/{capture.inbox['inboxId']}")
    return datetime.fromisoformat(shown["expiresAt"])


def test_a_session_is_ended_within_a_second_of_its_inbox(suite: Suite, capture: Capture) -> None:
    path = f"/v1/inboxes/{capture.inbox['inboxId']}"
    capture.api.patch(path, {"renewOnUse": False})
    end = _end_soon(suite, capture, 3)
    with (
        SmtpSession(capture.server()) as session,
        SmtpSession(capture.server()) as under_way,
    ):
        for each in (session, under_way):
            assert each.say(capture.auth()) == _GOOD
        assert under_way.address("ann@shop.example") == [_RECIPIENT_OK]
        assert under_way.say("DATA").startswith("354 ")

        def has_ended() -> bool:
            said = datetime.now(UTC)
            reply = session.say(f"MAIL FROM:<{SENDER}>")
            if reply == _ENDED:
                assert datetime.now(UTC) >= end
                return True
            assert reply.startswith("250 "), reply
            assert (said - end).total_seconds() < 1
            session.say("RSET")
            return False

        eventually(has_ended, "the session is ended")
        assert session.reply() == ""
        with SmtpSession(capture.server()) as late:
            assert late.say(capture.auth()) == _BAD
        under_way.write(_MESSAGE + b".\r\n")
        assert under_way.reply().startswith("550 "), "there is no inbox to keep it"
    assert capture.api.get(path)["status"] == "expired"
