"""Tests that what belongs to somebody else answers exactly like what never was."""

import random
import re
import uuid
from typing import Any

import pytest
import requests
from harness import Account, Belongings, Suite, eventually
from harness.belongings import NOBODY
from harness.timing import times_apart

# Times as long, either way. One more look-up in the database makes a larger difference.
_MAX_APART = 1.15


@pytest.fixture(scope="module")
def theirs(suite: Suite) -> Belongings:
    """Makes the objects of another account."""
    return Belongings.make(suite)


_CALLS: list[tuple[str, str, Any]] = [
    ("GET", "/v1/inboxes/{inboxId}", None),
    ("PATCH", "/v1/inboxes/{inboxId}", {"name": "mine", "ttlSeconds": 60}),
    ("DELETE", "/v1/inboxes/{inboxId}", None),
    ("GET", "/v1/inboxes/{inboxId}/emails", None),
    ("GET", "/v1/inboxes/{inboxId}/emails?subject=private&include=text,codes,links", None),
    ("GET", "/v1/inboxes/{inboxId}/emails/wait?timeoutSeconds=1", None),
    ("DELETE", "/v1/inboxes/{inboxId}/emails", None),
    ("GET", "/v1/inboxes/{inboxId}/rejections", None),
    ("POST", "/v1/inboxes/{inboxId}/capture", {}),
    ("POST", "/v1/inboxes/{inboxId}/capture/rotate", {"graceSeconds": 60}),
    ("DELETE", "/v1/inboxes/{inboxId}/capture", None),
    ("GET", "/v1/inboxes/{inboxId}/faults", None),
    ("PUT", "/v1/inboxes/{inboxId}/faults", {"steps": []}),
    ("DELETE", "/v1/inboxes/{inboxId}/faults", None),
    ("GET", "/v1/inboxes/{inboxId}/sender-report", None),
    ("GET", "/v1/emails/{emailId}", None),
    ("PATCH", "/v1/emails/{emailId}", {"isRead": True}),
    ("DELETE", "/v1/emails/{emailId}", None),
    ("GET", "/v1/emails/{emailId}/raw", None),
    ("GET", "/v1/emails/{emailId}/timeline", None),
    ("GET", "/v1/emails/{emailId}/attachments/{attachmentId}", None),
    ("GET", "/v1/events?inboxId={inboxId}", None),
    ("GET", "/v1/webhooks/{webhookId}", None),
    ("PATCH", "/v1/webhooks/{webhookId}", {"isEnabled": False, "url": "https://example.com/mine"}),
    ("POST", "/v1/webhooks/{webhookId}/rotate-secret", {}),
    ("DELETE", "/v1/webhooks/{webhookId}", None),
    ("POST", "/v1/webhooks/{webhookId}/test", {}),
    ("GET", "/v1/webhooks/{webhookId}/deliveries", None),
    ("GET", "/v1/webhooks/{webhookId}/deliveries/{deliveryId}", None),
    ("POST", "/v1/webhooks/{webhookId}/deliveries/{deliveryId}/retry", {}),
    ("POST", "/v1/webhooks/{webhookId}/replay", {"since": "2026-01-01T00:00:00Z"}),
]


@pytest.mark.parametrize(
    ("method", "path", "body"), _CALLS, ids=[f"{method} {path}" for method, path, _ in _CALLS]
)
def test_a_foreign_id_answers_like_a_missing_one(
    theirs: Belongings, other_account: Account, method: str, path: str, body: Any
) -> None:
    more = {} if body is None else {"json": body}

    foreign_answer = other_account.api.call(method, path.format(**theirs.ids), **more)
    missing_answer = other_account.api.call(method, path.format(**theirs.missing), **more)

    assert foreign_answer.status_code == missing_answer.status_code == 404
    assert _shape(foreign_answer.text, theirs.ids) == _shape(missing_answer.text, theirs.missing)
    assert _names(foreign_answer.headers) == _names(missing_answer.headers)


_READS = [path for method, path, _ in _CALLS if method == "GET"]


@pytest.mark.parametrize("path", _READS)
def test_a_foreign_id_is_answered_as_fast_as_a_missing_one(
    theirs: Belongings, other_account: Account, path: str
) -> None:
    def seconds(ids: dict[str, str]) -> float:
        answer = other_account.api.call("GET", path.format(**ids))
        assert answer.status_code == 404
        return answer.elapsed.total_seconds()

    apart = times_apart(lambda: seconds(theirs.ids), lambda: seconds(theirs.missing), _MAX_APART)

    assert apart <= _MAX_APART


def test_the_measurement_tells_a_quarter_more_from_chance() -> None:
    """Times as they are on a busy machine: most alike, some many times as long."""
    chance = random.Random(1)  # noqa: S311 - the same times in every run

    def seconds(least: float) -> float:
        return least * (1 + chance.expovariate(4) + 10 * (chance.random() < 0.1))

    alike = times_apart(lambda: seconds(0.002), lambda: seconds(0.002), _MAX_APART)
    slower = times_apart(lambda: seconds(0.0025), lambda: seconds(0.002), _MAX_APART)
    faster = times_apart(lambda: seconds(0.002), lambda: seconds(0.0025), _MAX_APART)

    assert alike <= _MAX_APART
    assert slower > _MAX_APART
    assert faster > _MAX_APART


def test_the_measurement_would_see_that_something_was_read(theirs: Belongings) -> None:
    """The owner makes the difference, enough of one that a hundred pairs show it."""

    def seconds(ids: dict[str, str], status: int) -> float:
        answer = theirs.api.call("GET", "/v1/emails/{emailId}".format(**ids))
        assert answer.status_code == status
        return answer.elapsed.total_seconds()

    apart = times_apart(
        lambda: seconds(theirs.ids, 200), lambda: seconds(theirs.missing, 404), most=100.0
    )

    assert apart > _MAX_APART


def _shape(text: str, ids: dict[str, str]) -> str:
    for name in ("inboxId", "emailId", "webhookId"):
        text = text.replace(ids[name], "…")
    return text


def _names(headers: Any) -> set[str]:
    return {name.lower() for name in headers}


def test_no_operation_on_an_object_is_left_out(suite: Suite, other_account: Account) -> None:
    tried = {(method, path.partition("?")[0]) for method, path, _ in _CALLS}
    served = set()
    for path, operations in (
        requests.get(suite["API"] + "/openapi.json", timeout=30).json()["paths"].items()
    ):
        if not path.startswith("/v1/") or "{" not in path:
            continue
        missing = re.sub(r"\{\w+\}", NOBODY, path)
        for method in {"get", "post", "patch", "delete"} & set(operations):
            answer = other_account.api.call(method.upper(), missing, json={})
            if answer.status_code != 405 and "No such path" not in answer.text:
                served.add((method.upper(), path))

    assert served <= tried


def test_nothing_of_theirs_was_touched(theirs: Belongings) -> None:
    api = theirs.api

    inbox = api.get("/v1/inboxes/" + theirs.ids["inboxId"])
    assert (inbox["status"], inbox["name"], inbox["emailCount"]) == ("active", None, 1)
    assert api.get("/v1/emails/" + theirs.ids["emailId"])["isRead"] is False
    webhook = api.get("/v1/webhooks/" + theirs.ids["webhookId"])
    assert (webhook["isEnabled"], webhook["url"]) == (True, "http://127.0.0.1:49151/hook")
    (delivery,) = api.get(f"/v1/webhooks/{theirs.ids['webhookId']}/deliveries")["deliveries"]
    assert len(delivery["attempts"]) == 1


def test_lists_hold_only_what_is_the_account_s_own(theirs: Belongings, account: Account) -> None:
    address = theirs.api.get("/v1/inboxes/" + theirs.ids["inboxId"])["emailAddress"]

    assert account.api.get("/v1/inboxes", status="all")["inboxes"] == []
    assert account.api.get("/v1/inboxes", address=address, status="all")["inboxes"] == []
    assert account.api.get("/v1/emails")["emails"] == []
    assert account.api.get("/v1/webhooks")["webhooks"] == []
    assert account.api.call("DELETE", "/v1/inboxes", params={"tag": "theirs"}).json() == {
        "deletedCount": 0
    }


def test_a_foreign_address_is_refused_like_a_reserved_one(
    theirs: Belongings, account: Account
) -> None:
    local = theirs.api.get("/v1/inboxes/" + theirs.ids["inboxId"])["emailAddress"].partition("@")[0]

    taken = account.api.call("POST", "/v1/inboxes", json={"localPart": local})
    reserved = account.api.call("POST", "/v1/inboxes", json={"localPart": "postmaster"})

    assert taken.status_code == reserved.status_code == 409
    assert taken.json()["message"].replace(local, "…") == reserved.json()["message"].replace(
        "postmaster", "…"
    )


def test_a_foreign_idempotency_key_is_one_s_own(theirs: Belongings, account: Account) -> None:
    headers = {"Idempotency-Key": uuid.uuid4().hex}

    first = theirs.api.call("POST", "/v1/inboxes", headers=headers)
    second = account.api.call("POST", "/v1/inboxes", headers=headers)

    assert first.status_code == second.status_code == 201
    assert "Idempotency-Replayed" not in second.headers
    assert first.json()["inboxId"] != second.json()["inboxId"]
    eventually(lambda: account.api.get("/v1/inboxes")["inboxes"], "the own inbox is listed")
