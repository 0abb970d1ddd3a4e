"""Captures: inboxes with a login, by which an application sends all of its mail."""

import re
import uuid
from typing import Any

import pytest
from harness import Account, Suite

_USER = re.compile(r"cap_[a-z0-9]{12}")
_PASSWORD = re.compile(r"tic_[A-Za-z0-9]{38}")


def _headers() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def _path(inbox: dict[str, Any], more: str = "") -> str:
    return f"/v1/inboxes/{inbox['inboxId']}/capture{more}"


def test_a_capture_is_all_that_an_application_is_set_up_with(
    suite: Suite, account: Account
) -> None:
    capture = account.api.new_inbox(capture=True)["capture"]

    assert _USER.fullmatch(capture["user"])
    assert _PASSWORD.fullmatch(capture["password"])
    assert capture["host"]
    assert capture["ports"] == {
        "starttls": [int(suite["SUBMISSION_STARTTLS_PORT"])],
        "tls": [int(suite["SUBMISSION_TLS_PORT"])],
        "clear": [int(suite["SUBMISSION_PORT"])],
    }
    assert capture["url"] == (
        f"smtps://{capture['user']}:{capture['password']}"
        f"@{capture['host']}:{capture['ports']['tls'][0]}"
    )
    assert capture["createdAt"]
    assert capture["lastUsedAt"] is None
    assert capture["previousValidUntil"] is None


def test_the_password_is_shown_once_and_in_repeats_of_the_request(account: Account) -> None:
    headers = _headers()
    body = {"capture": True}
    first = account.api.call("POST", "/v1/inboxes", json=body, headers=headers)
    again = account.api.call("POST", "/v1/inboxes", json=body, headers=headers)
    inbox = first.json()

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == inbox
    assert again.headers["Idempotency-Replayed"] == "true"
    shown = {
        name: value for name, value in inbox["capture"].items() if name not in ("password", "url")
    }
    assert account.api.get(f"/v1/inboxes/{inbox['inboxId']}")["capture"] == shown
    assert account.api.get("/v1/inboxes")["inboxes"][0]["capture"] == shown
    changed = account.api.patch(f"/v1/inboxes/{inbox['inboxId']}", {"ttlSeconds": 600})
    assert changed["capture"] == shown


def test_captures_of_a_batch_have_a_password_each(account: Account) -> None:
    body = {"inboxes": [{"capture": True}, {}, {"capture": True}]}

    results = account.api.post("/v1/inboxes:batch", body)["results"]

    first, plain, last = (one["inbox"]["capture"] for one in results)
    assert plain is None
    assert _PASSWORD.fullmatch(first["password"])
    assert first["password"] != last["password"]
    assert first["user"] != last["user"]


def test_an_inbox_gets_a_login_later_and_gives_it_up(account: Account) -> None:
    inbox = account.api.new_inbox()
    assert inbox["capture"] is None

    made = account.api.call("POST", _path(inbox))
    second = account.api.call("POST", _path(inbox))
    ended = account.api.call("DELETE", _path(inbox))

    assert made.status_code == 201
    assert made.headers["Location"] == f"/v1/inboxes/{inbox['inboxId']}"
    assert _PASSWORD.fullmatch(made.json()["password"])
    assert (second.status_code, second.headers["X-Error-Code"]) == (409, "capture_exists")
    assert ended.json() == {"inboxId": inbox["inboxId"], "deleted": True}
    assert account.api.get(f"/v1/inboxes/{inbox['inboxId']}")["capture"] is None
    assert account.api.call("DELETE", _path(inbox)).status_code == 404
    assert account.api.call("POST", _path(inbox, "/rotate")).status_code == 404
    assert account.api.post(_path(inbox))["user"] != made.json()["user"]


def test_a_rotation_changes_the_password_alone(account: Account) -> None:
    inbox = account.api.new_inbox(capture=True)
    headers = _headers()
    body = {"graceSeconds": 60}

    rotated = account.api.call("POST", _path(inbox, "/rotate"), json=body, headers=headers)
    again = account.api.call("POST", _path(inbox, "/rotate"), json=body, headers=headers)
    at_once = account.api.post(_path(inbox, "/rotate"))

    assert rotated.status_code == 200
    assert again.json() == rotated.json()
    passwords = {
        one["password"] for one in (inbox["capture"], rotated.json(), at_once) if one["password"]
    }
    assert len(passwords) == 3
    assert rotated.json()["user"] == inbox["capture"]["user"]
    assert rotated.json()["previousValidUntil"] > rotated.json()["createdAt"]
    assert at_once["previousValidUntil"] is None


@pytest.mark.parametrize("grace", [-1, 86_401, "60", 1.5])
def test_a_grace_past_a_day_is_refused(account: Account, grace: Any) -> None:
    inbox = account.api.new_inbox(capture=True)

    refused = account.api.call("POST", _path(inbox, "/rotate"), json={"graceSeconds": grace})

    assert refused.status_code == 400
    assert "graceSeconds must be an integer from 0 to 86400" in refused.json()["message"]


def test_a_plan_has_a_number_of_captures(suite: Suite) -> None:
    account = Account.make(suite, plan="pass7")
    assert account.api.get("/v1/account")["limits"]["captures"] == 2
    first = account.api.new_inbox(capture=True)
    account.api.new_inbox(capture=True)

    refused = account.api.call("POST", "/v1/inboxes", json={"capture": True})
    plain = account.api.new_inbox()
    later = account.api.call("POST", _path(plain))
    account.api.delete(f"/v1/inboxes/{first['inboxId']}")

    assert (refused.status_code, refused.headers["X-Error-Code"]) == (403, "capture_limit")
    assert (later.status_code, later.headers["X-Error-Code"]) == (403, "capture_limit")
    assert account.api.get("/v1/account")["usage"]["liveInboxes"] == 2
    assert account.api.post(_path(plain))["password"]
    ended = account.api.get(f"/v1/inboxes/{first['inboxId']}")
    assert (ended["status"], ended["capture"]) == ("expired", None)


def test_a_foreign_login_does_not_exist(account: Account, other_account: Account) -> None:
    inbox = account.api.new_inbox(capture=True)
    plain = account.api.new_inbox()

    answers = [
        other_account.api.call("POST", _path(plain)),
        other_account.api.call("POST", _path(inbox, "/rotate")),
        other_account.api.call("DELETE", _path(inbox)),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert account.api.get(f"/v1/inboxes/{inbox['inboxId']}")["capture"]
