"""The promise of the product: an address in one call, the mail in the next, its code already
found.
"""

import re

from harness import Api, Suite, eventually, send, send_raw

_INBOX_FIELDS = {
    "inboxId",
    "emailAddress",
    "name",
    "tags",
    "metadata",
    "status",
    "emailCount",
    "lastSequence",
    "lastEmailAt",
    "createdAt",
    "expiresAt",
    "expiredAt",
    "renewOnUse",
    "retention",
    "capture",
}
_SUMMARY_FIELDS = {
    "emailId",
    "inboxId",
    "sequence",
    "from",
    "fromName",
    "to",
    "recipients",
    "subject",
    "preview",
    "receivedAt",
    "sizeBytes",
    "attachmentCount",
    "isRead",
}
_EMAIL_FIELDS = _SUMMARY_FIELDS | {
    "bcc",
    "cc",
    "replyTo",
    "messageId",
    "date",
    "headers",
    "text",
    "html",
    "attachments",
    "codes",
    "links",
    "authentication",
    "envelope",
    "routing",
    "defects",
}


def test_an_inbox_is_made_in_one_call(suite: Suite, api: Api) -> None:
    answer = api.call("POST", "/v1/inboxes")

    assert answer.status_code == 201
    inbox = answer.json()
    assert set(inbox) == _INBOX_FIELDS
    assert inbox["status"] == "active"
    assert inbox["emailAddress"].endswith("@" + suite["DOMAIN"])
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", inbox["inboxId"]
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", inbox["createdAt"])
    assert answer.headers["Location"] == "/v1/inboxes/" + inbox["inboxId"]
    assert api.get("/v1/inboxes/" + inbox["inboxId"]) == inbox


def test_a_mail_is_read_with_its_code(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    sent = send(
        suite,
        inbox["emailAddress"],
        subject="Your code",
        body="Your verification code is 482913. It ends in ten minutes.",
    )

    assert sent.is_accepted, sent.transcript
    (summary,) = eventually(
        lambda: api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"], "the mail is listed"
    )
    assert set(summary) == _SUMMARY_FIELDS
    assert summary["emailId"] == sent.email_id
    assert (summary["sequence"], summary["subject"], summary["from"]) == (
        1,
        "Your code",
        "robot@sender.example",
    )
    email = api.get("/v1/emails/" + summary["emailId"])
    assert set(email) == _EMAIL_FIELDS
    assert email["codes"][0]["value"] == "482913"
    assert "482913" in email["text"]
    assert email["recipients"] == summary["recipients"] == [inbox["emailAddress"]]
    assert set(email["envelope"]) == {"mailFrom", "remoteAddress", "helo", "tls", "login"}


def test_the_mail_is_there_when_250_is(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    sent = send(suite, inbox["emailAddress"])

    assert api.call("GET", "/v1/emails/" + sent.email_id).status_code == 200
    after = api.get("/v1/inboxes/" + inbox["inboxId"])
    assert (after["emailCount"], after["lastSequence"]) == (1, 1)


def test_plus_tags_and_letter_case_land_in_the_same_inbox(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    local, _, domain = inbox["emailAddress"].partition("@")

    sent = send(suite, f"{local.upper()}+signup@{domain.upper()}")

    assert sent.is_accepted, sent.transcript
    assert api.get("/v1/emails/" + sent.email_id)["inboxId"] == inbox["inboxId"]


def test_mail_over_starttls(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    sent = send(suite, inbox["emailAddress"], more=("--tls",))

    assert sent.is_accepted, sent.transcript
    assert api.get("/v1/emails/" + sent.email_id)["envelope"]["tls"].startswith("TLS")


def test_an_attachment_is_described(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    sent = send(
        suite,
        inbox["emailAddress"],
        more=("--attach-type", "text/csv", "--attach-name", "list.csv", "--attach", "a,b"),
    )

    email = api.get("/v1/emails/" + sent.email_id)
    (attachment,) = email["attachments"]
    assert (attachment["filename"], attachment["contentType"], attachment["isInline"]) == (
        "list.csv",
        "text/csv",
        False,
    )
    assert email["attachmentCount"] == 1


def test_one_mail_to_two_inboxes_is_one_email_in_each(suite: Suite, api: Api) -> None:
    first, second = api.new_inbox(), api.new_inbox()
    message = b"From: a@sender.example\r\nSubject: both\r\n\r\nfor two\r\n"

    assert send_raw(suite, [first["emailAddress"], second["emailAddress"]], message) == {}

    for inbox in (first, second):
        (email,) = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
        assert email["recipients"] == [inbox["emailAddress"]], (
            "another inbox's recipient must not show"
        )


def test_a_dotted_and_encoded_message_arrives_as_sent(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    message = (
        b"From: a@sender.example\r\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\r\n\r\n.\r\n..two dots\r\n"
        b".end\r\n"
    )

    send_raw(suite, [inbox["emailAddress"]], message)

    (summary,) = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    assert summary["subject"] == "Grüße"
    email = api.get("/v1/emails/" + summary["emailId"])
    assert email["text"].replace("\r\n", "\n") == ".\n..two dots\n.end\n"
