"""Tests the reasons why mail did not arrive: what was refused for an inbox, for its owner alone."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from harness import Account, Api, MailIngest, MailServer, SmtpSession, Suite, eventually, queued_id

_MEBIBYTE = 1024 * 1024
_SENDER = "reports@sender.example"
_MESSAGE = b"From: a@sender.example\r\nSubject: hi\r\n\r\nhi\r\n"


@pytest.fixture
def one_mebibyte(suite: Suite) -> Iterator[Account]:
    """An account whose plan takes messages of 1 MiB."""
    (plan,) = (row for row in suite.operate("plan", "list")["plans"] if row["plan"] == "business")
    suite.operate("plan", "set", "business", "--max-message-bytes", str(_MEBIBYTE))
    yield Account.make(suite, plan="business")
    suite.operate("plan", "set", "business", "--max-message-bytes", str(plan["maxMessageBytes"]))


def _path(inbox: dict[str, Any]) -> str:
    return f"/v1/inboxes/{inbox['inboxId']}/rejections"


def _rejections(api: Api, inbox: dict[str, Any], attempts: int = 1) -> list[dict[str, Any]]:
    """Returns the rejections once they are so many attempts together."""

    def shown() -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = api.get(_path(inbox))["rejections"]
        return found if sum(row["attemptCount"] for row in found) >= attempts else None

    return eventually(shown, f"{attempts} attempts are shown")


def test_what_is_too_large_is_shown_with_sender_and_reply(
    suite: Suite, one_mebibyte: Account
) -> None:
    inbox = one_mebibyte.api.new_inbox()
    assert one_mebibyte.api.get(_path(inbox)) == {"rejections": []}
    begun = datetime.now(UTC).replace(microsecond=0)

    def refused() -> str | None:
        """The plan may be younger than what the mail server knows."""
        with SmtpSession(suite["SMTP"]) as session:
            (answer,) = session.address(
                inbox["emailAddress"], sender=_SENDER, parameters=f" SIZE={2 * _MEBIBYTE}"
            )
        return answer if answer.startswith("550 5.3.4") else None

    eventually(refused, "the plan's limit is in force")
    (first,) = _rejections(one_mebibyte.api, inbox)
    with SmtpSession(suite["SMTP"]) as session:
        session.address(inbox["emailAddress"], sender=_SENDER)
        reply = session.data(_MESSAGE + b"0123456789abcd\r\n" * (_MEBIBYTE // 16))
    (row,) = _rejections(one_mebibyte.api, inbox, attempts=2)

    assert first["reply"] == "550 5.3.4 Message is too large for this mailbox"
    assert first["attemptCount"] == 1
    assert (row["reason"], row["mailFrom"], row["reply"]) == ("too_large", _SENDER, reply)
    assert row["reply"].startswith("552 5.3.4")
    assert row["attemptCount"] == 2
    assert row["firstAt"] == first["firstAt"] == first["lastAt"]
    assert begun <= datetime.fromisoformat(row["firstAt"]) < datetime.fromisoformat(row["lastAt"])
    assert one_mebibyte.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"] == []


def test_a_full_inbox_shows_what_it_did_not_take(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()

    with MailServer(suite, inbox_max_emails="1") as server, SmtpSession(server.address) as session:
        session.address(inbox["emailAddress"])
        queued_id(session.data(_MESSAGE))
        (answer,) = session.address(inbox["emailAddress"], sender=_SENDER)
        if answer.startswith("250 "):  # taken at RCPT from memory, refused by the commit
            answer = session.data(_MESSAGE)
        (row,) = _rejections(account.api, inbox)

    assert answer.startswith("550 5.2.2")
    assert (row["reason"], row["mailFrom"], row["reply"]) == ("inbox_full", _SENDER, answer)


def test_an_inbox_over_its_rate_shows_it_and_the_others_nothing(
    suite: Suite, account: Account
) -> None:
    busy, other = account.api.new_inbox(), account.api.new_inbox()

    with (
        MailServer(suite, inbox_rate_per_minute="1", inbox_rate_burst="1") as server,
        SmtpSession(server.address) as session,
    ):
        session.address(busy["emailAddress"])
        queued_id(session.data(_MESSAGE))
        (answer, taken) = session.address(busy["emailAddress"], other["emailAddress"], sender="")
        session.say(f"RCPT TO:<{busy['emailAddress']}>")
        (row,) = _rejections(account.api, busy, attempts=2)

    assert answer.startswith("450 4.2.1")
    assert taken.startswith("250 ")
    assert (row["reason"], row["mailFrom"], row["reply"]) == ("over_rate", "", answer)
    assert row["attemptCount"] == 2
    assert account.api.get(_path(other)) == {"rejections": []}


def test_what_comes_after_an_inbox_ended_is_shown(
    suite: Suite, account: Account, other_account: Account
) -> None:
    inbox = account.api.new_inbox()
    never = f"{uuid.uuid4().hex[:20]}@{suite['DOMAIN']}"
    account.api.delete("/v1/inboxes/" + inbox["inboxId"])

    with SmtpSession(suite["SMTP"]) as session:
        answer, _ = session.address(inbox["emailAddress"], never, sender=_SENDER)
        if answer.startswith("250 "):  # not known to have ended yet
            answer = session.data(_MESSAGE)
    (row,) = _rejections(account.api, inbox)

    assert answer == "550 5.1.1 No such mailbox here"
    assert (row["reason"], row["mailFrom"], row["reply"]) == ("inbox_ended", _SENDER, answer)
    assert other_account.api.call("GET", _path(inbox)).status_code == 404


def test_an_address_that_never_was_leaves_nothing(suite: Suite, account: Account) -> None:
    local = f"never-{uuid.uuid4().hex[:12]}"
    ended = account.api.new_inbox()
    account.api.delete("/v1/inboxes/" + ended["inboxId"])

    with MailIngest(suite) as server:
        with SmtpSession(server.address) as session:
            answers = session.address(
                f"{local}@{suite['DOMAIN']}", ended["emailAddress"], sender=_SENDER
            )
        # Noted after the other one, and written with it or later.
        _rejections(account.api, ended)
        assert server.metric("tempinbox_mail_ingest_rejections_dropped_total") == 0

    assert answers == ["550 5.1.1 No such mailbox here"] * 2
    inbox = account.api.new_inbox(localPart=local)
    assert account.api.get(_path(inbox)) == {"rejections": []}


def test_senders_are_texts_whatever_they_are(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    account.api.delete("/v1/inboxes/" + inbox["inboxId"])
    senders = {'"<script>alert(1)</script>"@sender.example', "o'neil@sender.example"}

    with MailServer(suite) as server, SmtpSession(server.address) as session:
        for sender in senders:
            session.address(inbox["emailAddress"], sender=sender)
            session.say("RSET")
        rows = _rejections(account.api, inbox, attempts=len(senders))

    assert {row["mailFrom"] for row in rows} == senders


@pytest.mark.parametrize("query", ["limit=1", "cursor=x"])
def test_the_list_takes_no_parameters(account: Account, query: str) -> None:
    inbox = account.api.new_inbox()

    assert account.api.call("GET", f"{_path(inbox)}?{query}").status_code == 400


def test_an_id_that_is_none_is_refused(account: Account) -> None:
    assert account.api.call("GET", "/v1/inboxes/none/rejections").status_code == 400
