"""Mail from other people's clients: what they negotiate is offered, works, and shows on the API."""

import concurrent.futures
import hashlib
import smtplib
import ssl
from email.message import EmailMessage
from typing import Any

import pytest
from harness import SENDER, Api, SmtpSession, Suite, queued_id, send

_MEBIBYTE = 1024 * 1024


@pytest.fixture
def client(suite: Suite) -> smtplib.SMTP:
    """Python's own, connected."""
    host, _, port = suite["SMTP"].rpartition(":")
    return smtplib.SMTP(host, int(port), local_hostname="sender.example", timeout=60)


def _only_email(api: Api, inbox: dict[str, Any]) -> dict[str, Any]:
    (summary,) = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    email: dict[str, Any] = api.get("/v1/emails/" + summary["emailId"])
    return email


@pytest.mark.parametrize(
    "extension",
    [
        "PIPELINING",
        "SIZE 26214400",
        "8BITMIME",
        "SMTPUTF8",
        "ENHANCEDSTATUSCODES",
        "CHUNKING",
        "STARTTLS",
    ],
)
def test_an_extension_is_announced(suite: Suite, extension: str) -> None:
    with SmtpSession(suite["SMTP"]) as session:
        assert extension in session.extensions


def test_swaks_over_starttls(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    sent = send(suite, inbox["emailAddress"], more=("--tls",))

    assert sent.is_accepted, sent.transcript
    assert "TLS started with cipher" in sent.transcript
    assert api.get("/v1/emails/" + sent.email_id)["envelope"]["tls"].startswith("TLSv1")


def test_smtplib_over_starttls(suite: Suite, api: Api, client: smtplib.SMTP) -> None:
    inbox = api.new_inbox()

    with client:
        client.starttls(context=ssl.create_default_context(cafile=suite["SMTP_CA"]))
        client.ehlo()
        assert not client.has_extn("starttls"), "offered once"
        client.sendmail(SENDER, [inbox["emailAddress"]], b"Subject: sealed\r\n\r\nhi\r\n")

    email = _only_email(api, inbox)
    assert email["subject"] == "sealed"
    assert email["envelope"]["tls"] in ("TLSv1.2", "TLSv1.3")


def test_mail_in_the_clear_says_so(api: Api, client: smtplib.SMTP) -> None:
    inbox = api.new_inbox()

    with client:
        client.sendmail(SENDER, [inbox["emailAddress"]], b"Subject: open\r\n\r\nhi\r\n")

    assert _only_email(api, inbox)["envelope"]["tls"] is None


def test_what_was_sent_before_the_handshake_is_no_command_after_it(suite: Suite) -> None:
    with SmtpSession(suite["SMTP"]) as session:
        session.write(b"STARTTLS\r\nMAIL FROM:<injected@sender.example>\r\n")
        assert session.reply().startswith("554 5.5.0")
        assert session.reply() == "", "and the connection is closed"


def test_chunks_are_put_together(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    chunks = [b"Subject: in chu", b"nks\r\n\r\nfirst\r\n.\r\nsec", b"ond\r\n"]

    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(inbox["emailAddress"]) == ["250 2.1.5 Recipient ok"]
        for chunk in chunks:
            session.write(b"BDAT %d\r\n%s" % (len(chunk), chunk))
            assert session.reply().startswith("250 ")
        email_id = queued_id(session.say("BDAT 0 LAST"))

    email = api.get("/v1/emails/" + email_id)
    assert (email["subject"], email["text"].replace("\r\n", "\n")) == (
        "in chunks",
        "first\n.\nsecond\n",
    )
    assert email["sizeBytes"] == sum(map(len, chunks))


def test_pipelined_chunks_and_the_next_message(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    message = b"Subject: %d\r\n\r\nbody\r\n"
    envelope = f"MAIL FROM:<{SENDER}>\r\nRCPT TO:<{inbox['emailAddress']}>\r\n".encode()

    with SmtpSession(suite["SMTP"]) as session:
        session.write(
            b"".join(
                envelope + b"BDAT %d LAST\r\n" % len(message % number) + message % number
                for number in range(3)
            )
        )
        replies = [session.reply() for _ in range(9)]

    ids = [queued_id(reply) for reply in replies[2::3]]
    emails = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    assert [(email["emailId"], email["subject"]) for email in reversed(emails)] == list(
        zip(ids, "012", strict=True)
    )


def test_a_last_chunk_of_its_own_size(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    message = b"Subject: large chunk\r\n\r\n" + b"0123456789abcdef" * (_MEBIBYTE // 16) + b"\r\n"

    with SmtpSession(suite["SMTP"]) as session:
        session.address(inbox["emailAddress"], parameters=f" SIZE={len(message)}")
        session.write(b"BDAT %d LAST\r\n" % len(message) + message)
        email_id = queued_id(session.reply())

    assert api.get("/v1/emails/" + email_id)["sizeBytes"] == len(message)


def test_smtputf8_addresses_and_subject(api: Api, client: smtplib.SMTP) -> None:
    inbox = api.new_inbox()
    local, _, domain = inbox["emailAddress"].partition("@")
    recipient, sender, subject = f"{local}+grüße@{domain}", "用户@例え.example", "Ünïcödé ☃ 件名"
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, recipient, subject
    message.set_content("Привет\n")

    with client:
        assert client.send_message(message, sender, [recipient]) == {}

    email = _only_email(api, inbox)
    assert (email["subject"], email["from"], email["recipients"]) == (subject, sender, [recipient])
    assert email["to"] == [{"address": recipient, "name": ""}]
    assert email["text"].strip() == "Привет"
    assert email["envelope"]["mailFrom"] == sender


def test_a_utf8_address_needs_the_extension(suite: Suite, api: Api) -> None:
    local, _, domain = api.new_inbox()["emailAddress"].partition("@")

    with SmtpSession(suite["SMTP"]) as session:
        assert session.address(f"{local}+ü@{domain}") == ["553 5.6.7 Address needs SMTPUTF8"]


def test_swaks_pipelines(suite: Suite, api: Api) -> None:
    first, second = api.new_inbox(), api.new_inbox()

    sent = send(
        suite,
        f"{first['emailAddress']},{second['emailAddress']}",
        subject="grouped",
        more=("--pipeline",),
    )

    assert sent.is_accepted, sent.transcript
    assert [_only_email(api, inbox)["subject"] for inbox in (first, second)] == [
        "grouped",
        "grouped",
    ]


def test_8bit_bodies_arrive_as_they_were(api: Api, client: smtplib.SMTP) -> None:
    inbox = api.new_inbox()
    head = (
        b"Subject: 8bit\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
        b"Content-Transfer-Encoding: 8bit\r\n\r\n"
    )

    with client:
        client.sendmail(
            SENDER,
            [inbox["emailAddress"]],
            head + "Grüße aus Köln\r\n".encode("latin-1"),
            mail_options=["BODY=8BITMIME"],
        )

    assert _only_email(api, inbox)["text"].strip() == "Grüße aus Köln"


def test_a_mail_of_20_mebibytes(api: Api, client: smtplib.SMTP) -> None:
    inbox = api.new_inbox()
    content = hashlib.shake_128(b"any bytes").digest(15 * _MEBIBYTE)
    message = EmailMessage()
    message["From"], message["Subject"] = SENDER, "large"
    message.set_content("Your code is 271828.\n")
    message.add_attachment(
        content, maintype="application", subtype="octet-stream", filename="large.bin"
    )

    with client:
        assert client.send_message(message, SENDER, [inbox["emailAddress"]]) == {}

    email = _only_email(api, inbox)
    assert email["sizeBytes"] > 20 * _MEBIBYTE
    (attachment,) = email["attachments"]
    assert (attachment["filename"], attachment["sizeBytes"]) == ("large.bin", len(content))
    assert email["codes"][0]["value"] == "271828"


def test_one_mail_to_many_inboxes(api: Api, client: smtplib.SMTP) -> None:
    inboxes = [api.new_inbox() for _ in range(8)]
    local, _, domain = inboxes[0]["emailAddress"].partition("@")
    recipients = [inbox["emailAddress"] for inbox in inboxes] + [
        f"{local}+again@{domain}",
        f"nobody-at-all@{domain}",
    ]

    with client:
        refused = client.sendmail(SENDER, recipients, b"Subject: for all\r\n\r\nhi\r\n")

    assert {address: code for address, (code, _) in refused.items()} == {recipients[-1]: 550}
    emails = [_only_email(api, inbox) for inbox in inboxes]
    assert len({email["emailId"] for email in emails}) == len(inboxes)
    assert emails[0]["recipients"] == [inboxes[0]["emailAddress"], f"{local}+again@{domain}"], (
        "named twice: one email, both forms"
    )
    assert [email["recipients"] for email in emails[1:]] == [
        [inbox["emailAddress"]] for inbox in inboxes[1:]
    ]


def test_a_new_inbox_takes_mail_once_its_call_has_answered(suite: Suite, api: Api) -> None:
    servers = [url.removeprefix("smtp://") for url in suite.of_each("mail-ingest", "URL")]

    def deliver(number: int) -> str:
        with SmtpSession(servers[number % len(servers)]) as session:
            return session.address(api.new_inbox()["emailAddress"])[0]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(deliver, range(50)))

    assert answers == ["250 2.1.5 Recipient ok"] * 50


def test_a_session_serves_many_messages(api: Api, client: smtplib.SMTP) -> None:
    inbox = api.new_inbox()

    with client:
        for number in range(25):
            client.sendmail(SENDER, [inbox["emailAddress"]], b"Subject: %d\r\n\r\nhi\r\n" % number)

    emails = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails", limit=100)["emails"]
    assert [email["subject"] for email in reversed(emails)] == [str(number) for number in range(25)]
