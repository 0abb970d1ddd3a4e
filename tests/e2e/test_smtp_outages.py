"""Mail while PostgreSQL is away: put off, never refused, and senders sent away when it lasts."""

import time
from urllib.parse import urlsplit

from harness import Api, MailServer, Relay, SmtpSession, Suite, eventually, queued_id

_MESSAGE = b"From: a@sender.example\r\nSubject: hi\r\n\r\nhi\r\n"
_SENT_AWAY_AFTER_SECONDS = 5


def _greeting(server: MailServer) -> str:
    return SmtpSession(server.address).reply()


def test_without_postgresql_mail_is_put_off_and_later_senders_are_sent_away(
    suite: Suite, api: Api
) -> None:
    inbox = api.new_inbox()
    dsn = urlsplit(suite["DATABASE"])
    host, _, port = dsn.netloc.rpartition("@")[2].rpartition(":")

    with Relay((host, int(port))) as database:
        relayed = dsn._replace(
            netloc=f"{dsn.username}:{dsn.password}@127.0.0.1:{database.port}"
        ).geturl()
        with MailServer(suite, database=relayed) as server:
            with SmtpSession(server.address) as session:
                assert session.address(inbox["emailAddress"]) == ["250 2.1.5 Recipient ok"]
                stored = [queued_id(session.data(_MESSAGE))]

                cut_at = time.monotonic()
                database.cut()
                assert session.address(inbox["emailAddress"]) == ["250 2.1.5 Recipient ok"], (
                    "known from before"
                )
                assert session.data(_MESSAGE).startswith("451 4.3.0 ")
                assert session.address(f"somebody-else@{suite['DOMAIN']}")[0].startswith(
                    "451 4.3.0 "
                )

            eventually(
                lambda: _greeting(server).startswith("421 4.3.2 "),
                "senders are sent away",
                seconds=30,
            )
            assert time.monotonic() - cut_at > _SENT_AWAY_AFTER_SECONDS

            database.open()
            eventually(
                lambda: _greeting(server).startswith("220 "),
                "senders are welcome again",
                seconds=30,
            )
            with SmtpSession(server.address) as session:
                session.address(inbox["emailAddress"])
                stored.append(queued_id(session.data(_MESSAGE)))

    emails = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    assert [email["emailId"] for email in emails] == stored[::-1]
