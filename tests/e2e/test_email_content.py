"""Emails are marked, deleted and downloaded, whole or by attachment."""

import base64
import email.message
import email.policy
import hashlib
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness import Account, Suite, send, send_raw

PICTURE = bytes(range(256)) * 8
NAME = "Größe 5.png"
LARGE_BYTES = 20 * 1024 * 1024


def _message() -> bytes:
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"] = "a@sender.example"
    message["Subject"] = "with a picture"
    message.set_content("see the picture")
    message.add_attachment(PICTURE, maintype="image", subtype="png", filename=NAME)
    message.add_attachment(
        b"<script>alert(1)</script>", maintype="text", subtype="html", filename="page.html"
    )
    return message.as_bytes()


@pytest.fixture(scope="module")
def received(suite: Suite) -> tuple[Account, dict[str, Any], bytes]:
    """An account, its email with two attachments, and the bytes that were sent."""
    account = Account.make(suite)
    inbox = account.api.new_inbox()
    sent = _message()
    assert send_raw(suite, [inbox["emailAddress"]], sent) == {}
    (summary,) = account.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    return account, account.api.get("/v1/emails/" + summary["emailId"]), sent


def test_an_email_is_marked_as_read_and_unread(
    received: tuple[Account, dict[str, Any], bytes],
) -> None:
    account, shown, _ = received
    path = "/v1/emails/" + shown["emailId"]

    marked = account.api.patch(path, {"isRead": True})

    assert (marked["emailId"], marked["isRead"]) == (shown["emailId"], True)
    assert account.api.get(path)["isRead"] is True
    assert account.api.patch(path, {"isRead": False})["isRead"] is False
    assert account.api.call("PATCH", path, json={}).status_code == 400


def test_a_deleted_email_is_gone(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    sent = send(suite, inbox["emailAddress"]).email_id

    assert account.api.delete("/v1/emails/" + sent) == {"emailId": sent, "deleted": True}

    assert account.api.call("DELETE", "/v1/emails/" + sent).status_code == 404
    assert account.api.call("GET", f"/v1/emails/{sent}/raw").status_code == 404
    assert account.api.get("/v1/inboxes/" + inbox["inboxId"])["emailCount"] == 0


def test_the_message_is_given_back_as_it_came(
    received: tuple[Account, dict[str, Any], bytes],
) -> None:
    account, shown, sent = received

    raw = account.api.get(f"/v1/emails/{shown['emailId']}/raw")

    assert raw["emailId"] == shown["emailId"]
    assert base64.b64decode(raw["content"]) == sent


def test_the_download_carries_its_trace(received: tuple[Account, dict[str, Any], bytes]) -> None:
    account, shown, sent = received

    answer = account.api.call(
        "GET", f"/v1/emails/{shown['emailId']}/raw", headers={"Accept": "message/rfc822"}
    )

    assert answer.headers["Content-Type"] == "message/rfc822"
    assert answer.content.endswith(sent)
    trace = email.message_from_bytes(answer.content, policy=email.policy.default)
    assert trace.keys()[:2] == ["Return-Path", "Received"]
    assert trace["Return-Path"] == "<robot@sender.example>"
    assert shown["emailId"] in trace["Received"]
    assert f"for <{shown['recipients'][0]}>" in trace["Received"]


def test_a_second_recipient_is_never_named(suite: Suite, account: Account) -> None:
    first, second = account.api.new_inbox(), account.api.new_inbox()
    send_raw(
        suite, [first["emailAddress"], second["emailAddress"]], b"Subject: blind\r\n\r\ncopy\r\n"
    )
    (summary,) = account.api.get(f"/v1/inboxes/{first['inboxId']}/emails")["emails"]

    answer = account.api.call(
        "GET", f"/v1/emails/{summary['emailId']}/raw", headers={"Accept": "message/rfc822"}
    )

    assert b"for <" not in answer.content
    assert second["emailAddress"].encode() not in answer.content


def test_an_attachment_is_json_or_bytes(received: tuple[Account, dict[str, Any], bytes]) -> None:
    account, shown, _ = received
    picture = next(part for part in shown["attachments"] if part["contentType"] == "image/png")
    path = f"/v1/emails/{shown['emailId']}/attachments/{picture['attachmentId']}"

    as_json = account.api.call("GET", path)
    as_image = account.api.call("GET", path, headers={"Accept": "image/*"})
    as_bytes = account.api.call("GET", path, headers={"Accept": "application/octet-stream"})

    assert set(as_json.json()) == {
        "attachmentId",
        "filename",
        "contentType",
        "sizeBytes",
        "content",
    }
    assert (as_json.json()["filename"], as_json.json()["sizeBytes"]) == (NAME, len(PICTURE))
    assert base64.b64decode(as_json.json()["content"]) == PICTURE
    assert (as_image.content, as_image.headers["Content-Type"]) == (PICTURE, "image/png")
    assert (as_bytes.content, as_bytes.headers["Content-Type"]) == (
        PICTURE,
        "application/octet-stream",
    )
    assert (
        as_image.headers["Content-Disposition"]
        == "attachment; filename=\"Gr__e 5.png\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%205.png"
    )
    assert {
        answer.headers["X-Content-Type-Options"] for answer in (as_json, as_image, as_bytes)
    } == {"nosniff"}
    assert account.api.call("GET", path + "9").status_code == 404


def test_a_page_from_a_stranger_is_only_ever_saved(
    received: tuple[Account, dict[str, Any], bytes],
) -> None:
    account, shown, _ = received
    page = next(part for part in shown["attachments"] if part["filename"] == "page.html")

    answer = account.api.call(
        "GET",
        f"/v1/emails/{shown['emailId']}/attachments/{page['attachmentId']}",
        headers={"Accept": "text/html"},
    )

    assert answer.headers["Content-Type"] == "text/html"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_link_downloads_the_file_under_its_own_name(
    received: tuple[Account, dict[str, Any], bytes],
) -> None:
    account, shown, sent = received
    mail = f"/v1/emails/{shown['emailId']}"
    of_browsers = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

    raw = account.api.call("GET", f"{mail}/raw?download=1", headers=of_browsers)
    files = {
        part["filename"]: account.api.call(
            "GET", f"{mail}/attachments/{part['attachmentId']}?download=1", headers=of_browsers
        )
        for part in shown["attachments"]
    }

    assert raw.content.endswith(sent)
    assert raw.headers["Content-Type"] == "message/rfc822"
    assert raw.headers["Content-Disposition"] == f'attachment; filename="{shown["emailId"]}.eml"'
    assert (files[NAME].content, files[NAME].headers["Content-Type"]) == (PICTURE, "image/png")
    assert "filename*=UTF-8''Gr%C3%B6%C3%9Fe%205.png" in files[NAME].headers["Content-Disposition"]
    assert files["page.html"].headers["Content-Type"] == "text/html"
    for answer in (raw, *files.values()):
        assert answer.headers["Content-Disposition"].startswith("attachment; ")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert account.api.call("GET", f"{mail}/raw?download=true").status_code == 400


def test_curl_saves_an_attachment(
    received: tuple[Account, dict[str, Any], bytes], suite: Suite, tmp_path: Path
) -> None:
    account, shown, _ = received
    page = next(part for part in shown["attachments"] if part["filename"] == "page.html")
    address = f"{suite['API']}/v1/emails/{shown['emailId']}/attachments/{page['attachmentId']}"

    subprocess.run(
        ["curl", "-fsSOJ", "-H", f"X-API-Key: {account.key}", address + "?download=1"],
        cwd=tmp_path,
        check=True,
        timeout=30,
    )

    (saved,) = tmp_path.iterdir()
    assert saved.name == "page.html"
    assert hashlib.sha256(saved.read_bytes()).hexdigest() == page["sha256"]


def test_attachments_have_their_digest(received: tuple[Account, dict[str, Any], bytes]) -> None:
    _, shown, _ = received

    digests = {part["filename"]: part["sha256"] for part in shown["attachments"]}

    assert digests[NAME] == hashlib.sha256(PICTURE).hexdigest()


def test_a_hostile_name_leads_nowhere(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    sent = (
        b"Subject: x\r\nContent-Type: application/x-sh\r\nContent-Disposition: attachment;"
        b" filename*=UTF-8''..%2F..%2F.%0d%0aSet-Cookie%3a%20a%3db%22.bashrc\r\n\r\necho\r\n"
    )
    assert send_raw(suite, [inbox["emailAddress"]], sent) == {}
    (summary,) = account.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]

    answer = account.api.call("GET", f"/v1/emails/{summary['emailId']}/attachments/1?download=1")

    assert answer.headers["Content-Type"] == "application/x-sh"
    assert answer.headers["Content-Disposition"].startswith(
        'attachment; filename="_Set-Cookie: a=b_.bashrc"'
    )
    assert not {"/", "\\"} & set(answer.headers["Content-Disposition"])
    assert "Set-Cookie" not in answer.headers


def test_what_a_client_has_is_not_sent_again(
    received: tuple[Account, dict[str, Any], bytes],
) -> None:
    account, shown, _ = received
    for path in (
        f"/v1/emails/{shown['emailId']}/raw",
        f"/v1/emails/{shown['emailId']}/attachments/{shown['attachments'][0]['attachmentId']}",
    ):
        tag = account.api.call("GET", path).headers["ETag"]
        assert tag.startswith('"')

        again = account.api.call("GET", path, headers={"If-None-Match": f'"other", {tag}'})

        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert (
            account.api.call("GET", path, headers={"If-None-Match": '"other"'}).status_code == 200
        )
        refused = account.api.call("GET", path, headers={"Accept": "video/mp4"})
        assert (refused.status_code, refused.json()["error"]) == (406, "Not Acceptable")


def test_a_large_message_comes_back_whole(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    line = b"x" * 70 + b"\r\n"
    sent = b"Subject: large\r\n\r\n" + line * (LARGE_BYTES // len(line))
    assert send_raw(suite, [inbox["emailAddress"]], sent) == {}
    (summary,) = account.api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]

    as_json = account.api.get(f"/v1/emails/{summary['emailId']}/raw")
    as_mail = account.api.call(
        "GET", f"/v1/emails/{summary['emailId']}/raw", headers={"Accept": "message/rfc822"}
    )

    assert base64.b64decode(as_json["content"]) == sent
    assert as_mail.content.endswith(sent)
