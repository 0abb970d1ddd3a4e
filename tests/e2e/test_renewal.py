"""Inboxes that live on for as long as they are used."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from harness import Account, SmtpSession, Suite, User, eventually, plain_response

_LIFE = timedelta(seconds=60)  # the shortest that there is; a tenth of it is six seconds


def _path(inbox: dict[str, Any]) -> str:
    return f"/v1/inboxes/{inbox['inboxId']}"


def _end(inbox: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(inbox["expiresAt"])


def _log_in(suite: Suite, capture: dict[str, Any]) -> None:
    auth = plain_response(capture["user"], capture["password"])
    server = f"{suite['SUBMISSION_HOST']}:{suite['SUBMISSION_PORT']}"
    with SmtpSession(server) as session:
        assert session.say(f"AUTH PLAIN {auth}").startswith("235 ")


def test_captures_are_renewed_unless_somebody_chose(account: Account) -> None:
    api = account.api
    plain, capture = api.new_inbox(), api.new_inbox(capture=True)
    chosen = api.new_inbox(capture=True, renewOnUse=False)

    assert [one["renewOnUse"] for one in (plain, capture, chosen)] == [False, True, False]
    assert api.patch(_path(chosen), {"renewOnUse": True})["renewOnUse"]
    api.post(_path(plain) + "/capture")
    assert api.get(_path(plain))["renewOnUse"]


@pytest.mark.parametrize("given", [None, 1, "true"])
def test_renewal_is_true_or_false(account: Account, given: Any) -> None:
    inbox = account.api.new_inbox()

    refused = account.api.call("PATCH", _path(inbox), json={"renewOnUse": given})

    assert refused.status_code == 400
    assert "renewOnUse must be true or false" in refused.json()["message"]


def test_a_plan_without_the_api_renews_nothing(suite: Suite) -> None:
    dashboard = User.make(suite, plan="starter").dashboard
    inbox = dashboard.post("/inboxes", {})
    path = f"/inboxes/{inbox['inboxId']}"

    made = dashboard.call("POST", "/inboxes", json={"capture": True, "renewOnUse": True})
    changed = dashboard.call("PATCH", path, json={"renewOnUse": True, "name": "kept out"})

    for refused in (made, changed):
        assert (refused.status_code, refused.headers["X-Error-Code"]) == (403, "plan_required")
        assert refused.json()["message"] == "renewOnUse is not part of the plan starter"
    assert dashboard.get("/inboxes")["inboxes"] == [inbox], "nothing was made, nothing was changed"
    assert dashboard.patch(path, {"renewOnUse": False})["renewOnUse"] is False
    assert dashboard.post("/inboxes", {"capture": True})["renewOnUse"] is False


def test_an_inbox_that_is_read_lives_on_once_a_tenth_of_its_life_has_passed(
    account: Account,
) -> None:
    api = account.api
    inbox = api.new_inbox(ttlSeconds=60, renewOnUse=True)
    fixed = api.new_inbox(ttlSeconds=60)

    def is_renewed() -> bool:
        api.get(_path(fixed) + "/emails")
        return _end(api.get(_path(inbox))) > _end(inbox)

    eventually(is_renewed, "the end of the inbox moves", seconds=30)

    moved = _end(api.get(_path(inbox))) - _end(inbox)
    assert _LIFE / 10 <= moved < _LIFE
    assert _end(api.get(_path(fixed))) == _end(fixed)
    first = _end(api.get(_path(inbox)))
    eventually(
        lambda: bool(api.get(_path(inbox) + "/emails")) and _end(api.get(_path(inbox))) > first,
        "it moves again",
        seconds=30,
    )


def test_logins_keep_a_capture_alive_and_neither_reads_nor_mail_do(
    suite: Suite, account: Account
) -> None:
    api = account.api
    used = api.new_inbox(capture=True, ttlSeconds=60)
    idle = api.new_inbox(capture=True, ttlSeconds=60)
    _log_in(suite, idle["capture"])

    def is_renewed() -> bool:
        _log_in(suite, used["capture"])
        with SmtpSession(suite["SMTP"]) as session:
            assert session.address(idle["emailAddress"])[0].startswith("250 ")
            assert session.data(b"Subject: hi\r\n\r\nhello\r\n").startswith("250 ")
        api.get(_path(idle) + "/emails")
        return _end(api.get(_path(used))) > _end(used)

    eventually(is_renewed, "the end of the capture moves", seconds=40)

    assert _end(api.get(_path(used))) - _end(used) >= _LIFE / 10
    assert _end(api.get(_path(idle))) == _end(idle)
    _log_in(suite, used["capture"])


def test_a_renewal_is_another_state_of_the_inbox(account: Account) -> None:
    """The feed has no second `inbox.created`."""
    api = account.api
    begin = api.get("/v1/events")["nextCursor"]
    inbox = api.new_inbox(ttlSeconds=60, renewOnUse=True)
    eventually(
        lambda: _end(api.get(_path(inbox))) > _end(inbox), "the end of the inbox moves", seconds=30
    )
    api.delete(_path(inbox))

    seen: list[str] = []

    def has_ended() -> bool:
        nonlocal begin
        page = api.get("/v1/events", after=begin, waitSeconds=5)
        begin = page["nextCursor"]
        seen.extend(event["payload"]["event"] for event in page["events"])
        return "inbox.expired" in seen

    eventually(has_ended, "the feed has the end of the inbox", seconds=30)
    assert seen == ["inbox.created", "inbox.expired"]
