"""Mail that is refused: at the earliest command, with the code that makes the sender do the right
thing.
"""

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from harness import Account, Api, MailServer, SmtpSession, Suite, eventually, queued_id, send

_MEBIBYTE = 1024 * 1024
_SHORTEST_LIFE_SECONDS = 60
_MESSAGE = b"From: a@sender.example\r\nSubject: hi\r\n\r\nhi\r\n"


@pytest.fixture(scope="session", autouse=True)
def soon_ended(api: Api) -> dict[str, Any]:
    """An inbox with the shortest life, made before all tests so that it ends while they run."""
    return api.new_inbox(ttlSeconds=_SHORTEST_LIFE_SECONDS)


@pytest.fixture
def one_mebibyte(suite: Suite) -> Iterator[Account]:
    """An account whose plan takes messages of 1 MiB."""
    (plan,) = (row for row in suite.operate("plan", "list")["plans"] if row["plan"] == "business")
    suite.operate("plan", "set", "business", "--max-message-bytes", str(_MEBIBYTE))
    yield Account.make(suite, plan="business")
    suite.operate("plan", "set", "business", "--max-message-bytes", str(plan["maxMessageBytes"]))


@pytest.mark.parametrize(
    "ending", [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r.\r\n", b"\r\n.\r\r\n"]
)
def test_only_one_ending_ends_a_message(suite: Suite, api: Api, ending: bytes) -> None:
    inbox = api.new_inbox()
    smuggled = (
        b"MAIL FROM:<admin@sender.example>\r\nRCPT TO:<%s>\r\nDATA\r\n"
        b"Subject: smuggled\r\n\r\nhi\r\n"
    ) % inbox["emailAddress"].encode()

    with SmtpSession(suite["SMTP"]) as session:
        session.address(inbox["emailAddress"])
        answer = session.data(b"Subject: outer\r\n\r\nhi" + ending + smuggled)

        assert answer.startswith("550 5.5.2"), "one message, refused"
        assert session.say("NOOP").startswith("250 "), "nothing of it was taken for commands"
    assert api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"] == []


def test_a_bare_newline_is_refused_in_chunks_too(suite: Suite, api: Api) -> None:
    with SmtpSession(suite["SMTP"]) as session:
        session.address(api.new_inbox()["emailAddress"])
        message = b"Subject: x\n\r\nhi\r\n"
        session.write(b"BDAT %d LAST\r\n" % len(message) + message)
        assert session.reply().startswith("550 5.5.2")


def test_a_declared_size_over_the_plan_is_refused_at_rcpt(
    suite: Suite, one_mebibyte: Account
) -> None:
    inbox = one_mebibyte.api.new_inbox()

    def refused_at_rcpt() -> bool:
        with SmtpSession(suite["SMTP"]) as session:
            (answer,) = session.address(inbox["emailAddress"], parameters=f" SIZE={2 * _MEBIBYTE}")
        return answer.startswith("550 5.3.4")

    eventually(refused_at_rcpt, "the plan's limit is in force")
    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(inbox["emailAddress"], parameters=f" SIZE={len(_MESSAGE)}") == [
            "250 2.1.5 Recipient ok"
        ]
        queued_id(session.data(_MESSAGE))


def test_a_true_size_over_the_plan_is_refused_at_the_end(
    suite: Suite, one_mebibyte: Account
) -> None:
    inbox = one_mebibyte.api.new_inbox()

    with SmtpSession(suite["SMTP"]) as session:
        session.address(inbox["emailAddress"])
        answer = session.data(_MESSAGE + b"0123456789abcd\r\n" * (_MEBIBYTE // 16))
        assert answer.startswith("552 5.3.4")
        assert session.say("NOOP").startswith("250 ")
    assert one_mebibyte.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"] == []


def test_a_declared_size_over_every_plan_is_refused_at_mail(suite: Suite) -> None:
    with SmtpSession(suite["SMTP"]) as session:
        assert session.say(f"MAIL FROM:<a@sender.example> SIZE={26 * _MEBIBYTE}").startswith(
            "552 5.3.4"
        )


def test_a_full_inbox_takes_no_more(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    with MailServer(suite, inbox_max_emails="2") as server, SmtpSession(server.address) as session:
        for _ in range(2):
            session.address(inbox["emailAddress"])
            queued_id(session.data(_MESSAGE))
        (answer,) = session.address(inbox["emailAddress"])
        if answer.startswith("250 "):  # taken at RCPT from memory, refused by the commit
            answer = session.data(_MESSAGE)
        assert answer.startswith("550 5.2.2")
        session.say("RSET")
        assert session.address(inbox["emailAddress"])[0].startswith("550 5.2.2"), (
            "known from now on"
        )
    assert api.get("/v1/inboxes/" + inbox["inboxId"])["emailCount"] == 2


def test_an_inbox_takes_so_much_a_minute(suite: Suite, api: Api) -> None:
    busy, other = api.new_inbox(), api.new_inbox()

    with (
        MailServer(suite, inbox_rate_per_minute="1", inbox_rate_burst="2") as server,
        SmtpSession(server.address) as session,
    ):
        for _ in range(2):
            assert session.address(busy["emailAddress"]) == ["250 2.1.5 Recipient ok"]
            queued_id(session.data(_MESSAGE))
        assert session.address(busy["emailAddress"], other["emailAddress"]) == [
            "450 4.2.1 Mailbox receives too much mail just now",
            "250 2.1.5 Recipient ok",
        ], "the flood of one is nobody else's"
        queued_id(session.data(_MESSAGE))


def test_a_connection_serves_so_many_messages(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    with (
        MailServer(suite, messages_per_connection="2") as server,
        SmtpSession(server.address) as session,
    ):
        assert "LIMITS RCPTMAX=100 MAILMAX=2" in session.extensions
        for _ in range(2):
            session.address(inbox["emailAddress"])
            queued_id(session.data(_MESSAGE))
        assert session.say("MAIL FROM:<a@sender.example>").startswith("421 4.7.0")


def test_an_address_opens_so_many_connections(suite: Suite) -> None:
    with MailServer(suite, connections_per_address="1") as server, SmtpSession(server.address):
        second = SmtpSession(server.address)
        assert second.reply().startswith("421 4.7.0")


def test_a_server_without_a_certificate_offers_no_starttls(suite: Suite) -> None:
    with MailServer(suite) as server, SmtpSession(server.address) as session:
        assert "STARTTLS" not in session.extensions
        assert session.say("STARTTLS").startswith("502 5.5.1")


def test_the_operator_gets_postmaster_and_abuse(suite: Suite, account: Account) -> None:
    domain = f"{uuid.uuid4().hex[:12]}.example"
    suite.operate("domain", "add", domain, "--operator", account.account_id)

    def taken() -> list[str]:
        with SmtpSession(suite["SMTP"]) as session:
            return session.address(f"postmaster@{domain}", f"Abuse@{domain}")

    eventually(
        lambda: taken() == ["250 2.1.5 Recipient ok"] * 2,
        "the domain is known to the mail server",
        seconds=15,
    )
    sent = send(suite, f"abuse@{domain}", subject="please stop")
    assert sent.is_accepted, sent.transcript
    assert account.api.get("/v1/emails/" + sent.email_id)["subject"] == "please stop"


def test_a_domain_without_operator_has_no_postmaster(suite: Suite) -> None:
    with SmtpSession(suite["SMTP"]) as session:
        answers = session.address(f"postmaster@{suite['DOMAIN']}", f"abuse@{suite['DOMAIN']}")
    assert answers == ["550 5.1.1 No such mailbox here"] * 2


@pytest.mark.parametrize("recipient", ["somebody@elsewhere.example", "somebody@[127.0.0.1]"])
def test_nothing_is_relayed(suite: Suite, recipient: str) -> None:
    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(recipient) == ["550 5.7.1 Relaying denied"]


@pytest.mark.parametrize(
    "line", ["GET / HTTP/1.1", "POST /v1/inboxes HTTP/1.1", "CONNECT elsewhere.example:25 HTTP/1.1"]
)
def test_a_web_client_is_sent_away(suite: Suite, line: str) -> None:
    with SmtpSession(suite["SMTP"]) as session:
        assert session.say(line).startswith("521 5.5.1")
        assert session.reply() == ""


@pytest.mark.last
def test_an_ended_inbox_is_refused_at_rcpt(suite: Suite, soon_ended: dict[str, Any]) -> None:
    """A server that has it in memory refuses it, too, with the words for one that never was."""
    servers = [url.removeprefix("smtp://") for url in suite.of_each("mail-ingest", "URL")]

    def answers() -> set[str]:
        found = set()
        for server in servers:
            with SmtpSession(server) as session:
                found.update(session.address(soon_ended["emailAddress"]))
        return found

    eventually(
        lambda: answers() == {"550 5.1.1 No such mailbox here"},
        "refused by every server",
        seconds=_SHORTEST_LIFE_SECONDS + 10,
    )
    assert re.search(r"<\*\* 550 5\.1\.1", send(suite, soon_ended["emailAddress"]).transcript)


def test_a_download_sent_back_is_a_loop(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    with SmtpSession(suite["SMTP"]) as session:
        session.address(inbox["emailAddress"])
        email_id = queued_id(session.data(_MESSAGE))

        download = api.call(
            "GET", f"/v1/emails/{email_id}/raw", headers={"Accept": "message/rfc822"}
        ).content

        session.address(inbox["emailAddress"])
        assert session.data(download).startswith("554 5.4.6")
        session.address(inbox["emailAddress"])
        queued_id(session.data(_MESSAGE))
