"""Tests that in the dashboard, too, what belongs to somebody else answers exactly like what never
was.
"""

from typing import Any

import pytest
from harness import Belongings, Suite, User
from harness.contract import dashboard_contract
from harness.dashboard import ROOT
from harness.timing import times_apart

_MAX_APART = 1.15  # as in test_isolation.py

_CALLS: list[tuple[str, str, Any]] = [
    ("GET", "/inboxes/{inboxId}", None),
    ("PATCH", "/inboxes/{inboxId}", {"name": "mine", "ttlSeconds": 60}),
    ("DELETE", "/inboxes/{inboxId}", None),
    ("GET", "/inboxes/{inboxId}/emails", None),
    ("GET", "/inboxes/{inboxId}/emails/wait?timeoutSeconds=1", None),
    ("DELETE", "/inboxes/{inboxId}/emails", None),
    ("GET", "/inboxes/{inboxId}/rejections", None),
    ("POST", "/inboxes/{inboxId}/capture", {}),
    ("POST", "/inboxes/{inboxId}/capture/rotate", {"graceSeconds": 60}),
    ("DELETE", "/inboxes/{inboxId}/capture", None),
    ("GET", "/inboxes/{inboxId}/faults", None),
    ("PUT", "/inboxes/{inboxId}/faults", {"steps": []}),
    ("DELETE", "/inboxes/{inboxId}/faults", None),
    ("GET", "/inboxes/{inboxId}/sender-report", None),
    ("GET", "/emails/{emailId}", None),
    ("PATCH", "/emails/{emailId}", {"isRead": True}),
    ("DELETE", "/emails/{emailId}", None),
    ("GET", "/emails/{emailId}/raw", None),
    ("GET", "/emails/{emailId}/timeline", None),
    ("GET", "/emails/{emailId}/attachments/{attachmentId}", None),
    ("GET", "/webhooks/{webhookId}", None),
    ("PATCH", "/webhooks/{webhookId}", {"isEnabled": False, "url": "https://example.com/mine"}),
    ("DELETE", "/webhooks/{webhookId}", None),
    ("POST", "/webhooks/{webhookId}/rotate-secret", {}),
    ("POST", "/webhooks/{webhookId}/test", {}),
    ("GET", "/webhooks/{webhookId}/deliveries", None),
    ("GET", "/webhooks/{webhookId}/deliveries/{deliveryId}", None),
    ("POST", "/webhooks/{webhookId}/deliveries/{deliveryId}/retry", {}),
    ("POST", "/webhooks/{webhookId}/replay", {"since": "2026-01-01T00:00:00Z"}),
    ("GET", "/rules/{ruleId}", None),
    ("PATCH", "/rules/{ruleId}", {"name": "mine", "isEnabled": True}),
    ("DELETE", "/rules/{ruleId}", None),
    ("DELETE", "/keys/{keyId}", None),
]
# Bodies that name somebody else's object.
_BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/rules", {"name": "a", "webhookId": "{webhookId}"}),
    ("PATCH", "/rules/{mine}", {"webhookId": "{webhookId}"}),
    ("POST", "/rules/test", {"emailId": "{emailId}"}),
]


@pytest.fixture(scope="module")
def theirs(suite: Suite) -> Belongings:
    """Makes the objects of another user."""
    return Belongings.make(suite)


@pytest.fixture(scope="module")
def user(suite: Suite) -> User:
    """Makes the user who must not find them."""
    return User.make(suite)


def _without_ids(text: str, ids: dict[str, str]) -> str:
    for name, known in ids.items():
        if name != "attachmentId":
            text = text.replace(known, "…")
    return text


def _assert_alike(user: User, theirs: Belongings, method: str, path: str, body: Any) -> int:
    """A foreign id and a missing one get the same answer; its status."""

    def ask(ids: dict[str, str]) -> tuple[int, str, set[str]]:
        given = {
            name: value.format(**ids) if isinstance(value, str) else value
            for name, value in (body or {}).items()
        }
        answer = user.dashboard.call(
            method, path.format(**ids), json=None if body is None else given
        )
        shown = _without_ids(answer.text, ids)
        return answer.status_code, shown, {name.lower() for name in answer.headers}

    foreign, missing = ask(theirs.ids), ask(theirs.missing)
    assert foreign == missing
    return foreign[0]


@pytest.mark.parametrize(
    ("method", "path", "body"), _CALLS, ids=[f"{method} {path}" for method, path, _ in _CALLS]
)
def test_a_foreign_id_answers_like_a_missing_one(
    user: User, theirs: Belongings, method: str, path: str, body: Any
) -> None:
    assert _assert_alike(user, theirs, method, path, body) == 404


@pytest.mark.parametrize(
    ("method", "path", "body"), _BODIES, ids=[f"{method} {path}" for method, path, _ in _BODIES]
)
def test_a_foreign_id_in_a_body_answers_like_a_missing_one(
    user: User, theirs: Belongings, method: str, path: str, body: Any
) -> None:
    path = path.replace("{mine}", _own_rule(user))

    assert _assert_alike(user, theirs, method, path, body) == 404


def _own_rule(user: User) -> str:
    """The only one the account has, made when it is first asked for."""
    rules = user.dashboard.get("/rules")["rules"]
    if not rules:
        webhook = user.dashboard.post("/webhooks", {"url": "http://127.0.0.1:49151/mine"})
        rules = [user.dashboard.post("/rules", {"name": "a", "webhookId": webhook["webhookId"]})]
    return str(rules[0]["id"])


def test_a_draft_that_names_foreign_objects_tells_nothing_of_them(
    user: User, theirs: Belongings
) -> None:
    def outcome(ids: dict[str, str]) -> str:
        draft = {"id": ids["ruleId"], "webhookId": ids["webhookId"], "conditions": []}
        answer = user.dashboard.call("POST", "/rules/test", json={"subject": "x", "rules": [draft]})
        return _without_ids(f"{answer.status_code} {answer.text}", ids)

    assert outcome(theirs.ids) == outcome(theirs.missing)


def test_no_operation_on_an_object_is_left_out() -> None:
    """The contract has every route (test_documentation.py), so one that is added needs a row."""
    tried = {(method, ROOT + path.partition("?")[0]) for method, path, _ in _CALLS}
    on_objects = {
        (method, path) for method, path in dashboard_contract().operations() if "{" in path
    }

    assert on_objects == tried


def test_a_foreign_rule_is_answered_as_fast_as_a_missing_one(
    suite: Suite, theirs: Belongings
) -> None:
    """Reading rules is the dashboard's alone; test_isolation.py measures what it shares."""
    user = User.make(suite)

    def seconds(ids: dict[str, str]) -> float:
        answer = user.dashboard.call("GET", "/rules/{ruleId}".format(**ids))
        assert answer.status_code == 404
        return float(answer.elapsed.total_seconds())

    apart = times_apart(lambda: seconds(theirs.ids), lambda: seconds(theirs.missing), _MAX_APART)

    assert apart <= _MAX_APART


def test_lists_hold_only_what_is_the_account_s_own(user: User, theirs: Belongings) -> None:
    own = _own_rule(user)
    dashboard = user.dashboard

    assert dashboard.get("/inboxes", status="all")["inboxes"] == []
    assert dashboard.get("/emails")["emails"] == []
    assert dashboard.get("/keys")["keys"] == []
    assert [rule["id"] for rule in dashboard.get("/rules")["rules"]] == [own]
    webhooks = {webhook["webhookId"] for webhook in dashboard.get("/webhooks")["webhooks"]}
    assert theirs.ids["webhookId"] not in webhooks
    assert dashboard.call("DELETE", "/inboxes", params={"tag": "theirs"}).json() == {
        "deletedCount": 0
    }


def test_nothing_of_theirs_was_touched(theirs: Belongings) -> None:
    dashboard, ids = theirs.dashboard, theirs.ids

    inbox = dashboard.get("/inboxes/" + ids["inboxId"])
    assert (inbox["status"], inbox["name"], inbox["emailCount"]) == ("active", None, 1)
    assert dashboard.get("/emails/" + ids["emailId"])["isRead"] is False
    webhook = dashboard.get("/webhooks/" + ids["webhookId"])
    assert (webhook["isEnabled"], webhook["url"]) == (True, "http://127.0.0.1:49151/hook")
    (delivery,) = dashboard.get(f"/webhooks/{ids['webhookId']}/deliveries")["deliveries"]
    assert len(delivery["attempts"]) == 1
    rule = dashboard.get("/rules/" + ids["ruleId"])
    assert (rule["name"], rule["isEnabled"], rule["webhookId"]) == (
        "theirs",
        False,
        ids["webhookId"],
    )
    assert [key["keyId"] for key in dashboard.get("/keys")["keys"]] == [ids["keyId"]]
