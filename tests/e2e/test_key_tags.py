"""Tests that for a key with a tag only inboxes with the tag exist, and their emails."""

import re
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from harness import Account, Api, Suite, eventually
from harness.belongings import NOBODY
from harness.contract import contract
from harness.mail import send_raw

_MESSAGE = (
    b"Subject: private\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    b"--b\r\n\r\nhello\r\n--b\r\nContent-Type: text/csv\r\n"
    b"Content-Disposition: attachment; filename=list.csv\r\n\r\na,b\r\n--b--\r\n"
)
# Every operation that names an inbox or an email: one that is new is among them.
_NAMING = [
    (method, path)
    for method, path in contract().operations()
    if "{inboxId}" in path or "{emailId}" in path
]
_BODIES: dict[str, Any] = {
    "/v1/inboxes/{inboxId}": {"name": "mine", "ttlSeconds": 60},
    "/v1/emails/{emailId}": {"isRead": True},
}


@dataclass(frozen=True)
class _World:
    """An account with a key that may do everything and one with the tag `ci`, and an inbox with an
    email of each.
    """

    account: Account
    tagged: Api
    inside: dict[str, str]
    outside: dict[str, str]

    @property
    def all(self) -> Api:
        """Returns the API by the key that may do everything."""
        return self.account.api


def _key(suite: Suite, account: Account, tag: str, *options: str) -> Api:
    made = suite.operate(
        "key", "create", account.account_id, "--label", tag, "--tag", tag, *options
    )
    return Api(suite["API"], made["key"])


def _filled(suite: Suite, api: Api, **params: Any) -> dict[str, str]:
    """An inbox with an email that has an attachment, by the names of the paths."""
    inbox = api.new_inbox(**params)
    assert send_raw(suite, [inbox["emailAddress"]], _MESSAGE) == {}
    (email,) = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    (attachment,) = api.get(f"/v1/emails/{email['emailId']}")["attachments"]
    return {
        "inboxId": inbox["inboxId"],
        "emailAddress": inbox["emailAddress"],
        "emailId": email["emailId"],
        "attachmentId": attachment["attachmentId"],
    }


@pytest.fixture
def world(suite: Suite, account: Account) -> _World:
    """Makes a world of the test's own."""
    tagged = _key(suite, account, "ci")
    return _World(
        account,
        tagged,
        inside=_filled(suite, tagged),
        outside=_filled(suite, account.api, tags=["c", "other"]),
    )


@pytest.fixture(scope="module")
def shared(suite: Suite) -> _World:
    """Makes the world of tests that change nothing."""
    account = Account.make(suite)
    tagged = _key(suite, account, "ci")
    return _World(
        account,
        tagged,
        inside=_filled(suite, tagged),
        outside=_filled(suite, account.api, tags=["other"]),
    )


def _shape(text: str) -> str:
    return re.sub("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", text)


@pytest.mark.parametrize(("method", "path"), _NAMING, ids=[f"{m} {p}" for m, p in _NAMING])
def test_what_is_outside_the_tag_answers_like_what_never_was(
    shared: _World, method: str, path: str
) -> None:
    more = {"json": _BODIES[path]} if method == "PATCH" else {}
    missing = dict.fromkeys(shared.outside, NOBODY) | {"attachmentId": "1"}

    outside = shared.tagged.call(method, path.format(**shared.outside), **more)
    never = shared.tagged.call(method, path.format(**missing), **more)

    assert outside.status_code == never.status_code == 404
    assert _shape(outside.text) == _shape(never.text)
    assert shared.all.get(f"/v1/inboxes/{shared.outside['inboxId']}")["status"] == "active"
    assert shared.all.get(f"/v1/emails/{shared.outside['emailId']}")["subject"] == "private"


@pytest.mark.parametrize(
    "path", [path for method, path in _NAMING if method == "GET" and "wait" not in path]
)
def test_what_is_inside_the_tag_answers_as_ever(shared: _World, path: str) -> None:
    if path.endswith("/sender-report"):  # which an inbox has that has a login
        shared.all.post(f"/v1/inboxes/{shared.inside['inboxId']}/capture")
    assert shared.tagged.call("GET", path.format(**shared.inside)).status_code == 200


def test_what_somebody_else_read_before_stays_404(shared: _World) -> None:
    lists = f"/v1/inboxes/{shared.outside['inboxId']}/emails"
    raw = f"/v1/emails/{shared.outside['emailId']}/raw"
    first, again = shared.all.get(lists), shared.all.get(lists)  # from the gateway's cache
    etag = shared.all.call("GET", raw).headers["ETag"]

    assert first == again
    assert shared.tagged.call("GET", lists).status_code == 404
    assert shared.tagged.call("GET", raw, headers={"If-None-Match": etag}).status_code == 404


def test_a_new_inbox_gets_the_tag_by_itself(shared: _World) -> None:
    assert shared.tagged.new_inbox()["tags"] == ["ci"]
    assert shared.tagged.new_inbox(tags=["a", "b"])["tags"] == ["a", "b", "ci"]
    assert shared.tagged.new_inbox(tags=["ci"])["tags"] == ["ci"]

    full = shared.tagged.call("POST", "/v1/inboxes", json={"tags": [str(n) for n in range(10)]})
    assert full.status_code == 400
    assert "tags must have at most 9 items" in full.json()["message"]


def test_the_tag_stays_on_an_inbox(world: _World) -> None:
    path = f"/v1/inboxes/{world.inside['inboxId']}"

    for tags in (None, [], ["other"]):
        refused = world.tagged.call("PATCH", path, json={"tags": tags})
        assert refused.status_code == 400
        assert refused.json()["message"] == 'tags must have "ci", the tag of this API key'
    assert world.tagged.patch(path, {"tags": ["more", "ci"]})["tags"] == ["more", "ci"]
    assert world.tagged.patch(path, {"name": "CI"})["tags"] == ["more", "ci"]


def test_lists_and_searches_are_of_the_tag(world: _World) -> None:
    world.all.new_inbox(tags=["ci", "other"])
    mine = {it["inboxId"] for it in world.all.get("/v1/inboxes", tag="ci", status="all")["inboxes"]}

    def listed(**query: Any) -> set[str]:
        return {it["inboxId"] for it in world.tagged.get("/v1/inboxes", **query)["inboxes"]}

    assert len(mine) == 2
    assert listed() == listed(status="all") == listed(tag="ci") == mine
    assert len(listed(tag="other")) == 1
    assert listed(tag="other") < mine
    assert listed(address=world.inside["emailAddress"]) == {world.inside["inboxId"]}
    assert listed(address=world.outside["emailAddress"]) == set()
    for query in ({}, {"subject": "PRIVATE"}, {"include": "text,codes,links"}):
        emails = world.tagged.get("/v1/emails", **query)["emails"]
        assert [it["emailId"] for it in emails] == [world.inside["emailId"]]
    assert len(world.all.get("/v1/emails")["emails"]) == 2


def test_a_list_of_emails_by_another_tag_has_those_of_both_tags(
    suite: Suite, world: _World
) -> None:
    both = _filled(suite, world.tagged, tags=["other"])

    def listed(api: Api, **query: Any) -> set[str]:
        return {it["emailId"] for it in api.get("/v1/emails", **query)["emails"]}

    for query in ({}, {"text": "hello"}, {"subject": "private", "order": "asc"}):
        assert listed(world.tagged, tag="other", **query) == {both["emailId"]}
        inside = {world.inside["emailId"], both["emailId"]}
        assert listed(world.tagged, tag="ci", **query) == inside
        of_both = {world.outside["emailId"], both["emailId"]}
        assert listed(world.all, tag="other", **query) == of_both


def test_a_list_is_paged_through_the_tag_alone(world: _World) -> None:
    for _ in range(3):
        world.tagged.new_inbox()
        world.all.new_inbox()
    seen, cursor = [], None

    while True:
        page = world.tagged.get("/v1/inboxes", limit=1, **({"cursor": cursor} if cursor else {}))
        seen += [it["tags"] for it in page["inboxes"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break

    assert seen == [["ci"]] * 4


def test_bulk_deletion_ends_what_has_both_tags(world: _World) -> None:
    both = world.tagged.new_inbox(tags=["other"])["inboxId"]

    assert world.tagged.call("DELETE", "/v1/inboxes?tag=other").json() == {"deletedCount": 1}
    assert world.all.get(f"/v1/inboxes/{both}")["status"] == "expired"
    assert world.all.get(f"/v1/inboxes/{world.outside['inboxId']}")["status"] == "active"
    assert world.tagged.call("DELETE", "/v1/inboxes?tag=ci").json() == {"deletedCount": 1}
    assert world.all.get(f"/v1/inboxes/{world.outside['inboxId']}")["status"] == "active"


def test_account_and_usage_count_the_tag(suite: Suite, world: _World) -> None:
    world.all.post("/v1/webhooks", {"url": "http://127.0.0.1:49151/hook"})
    assert send_raw(suite, [world.outside["emailAddress"]], _MESSAGE) == {}

    mine, everything = (api.get("/v1/account") for api in (world.tagged, world.all))
    today, of_all = (api.get("/v1/account/usage")["days"][0] for api in (world.tagged, world.all))

    assert (mine["usage"]["liveInboxes"], everything["usage"]["liveInboxes"]) == (1, 2)
    assert (mine["usage"]["webhooks"], everything["usage"]["webhooks"]) == (0, 1)
    assert (today["emails"], of_all["emails"]) == (1, 3)
    assert today["deliveries"] == 0
    assert today["requests"] > 0


def test_there_are_no_webhooks(shared: _World) -> None:
    for method, path in contract().operations():
        if not path.startswith("/v1/webhooks"):
            continue
        ids = path.format(webhookId=NOBODY, deliveryId=NOBODY)
        answer = shared.tagged.call(method, ids)
        assert answer.status_code == 403, path
        assert re.fullmatch(
            "This operation needs an API key with the scope webhooks:(read|write), "
            "which a key with a tag cannot have",
            answer.json()["message"],
        )


def test_a_wait_gets_mail_of_the_tag(world: _World) -> None:
    path = f"/v1/inboxes/{world.inside['inboxId']}/emails/wait"

    matched = world.tagged.get(path, timeoutSeconds=5)

    assert matched["outcome"] == "matched"
    assert matched["email"]["emailId"] == world.inside["emailId"]


def test_a_wait_ends_with_404_once_the_inbox_lost_the_tag(suite: Suite, world: _World) -> None:
    path = f"/v1/inboxes/{world.inside['inboxId']}"
    answers = []
    waiting = threading.Thread(
        target=lambda: answers.append(
            world.tagged.call("GET", path + "/emails/wait", params={"after": 1})
        )
    )
    began = time.monotonic()
    waiting.start()
    eventually(lambda: _waits(suite) > 0, "it waits")
    # A read within a second is still answered: the key may do what it could when it was sent.
    eventually(lambda: time.monotonic() - began > 1.5, "it has waited for more than a second")

    world.all.patch(path, {"tags": []})
    assert send_raw(suite, [world.inside["emailAddress"]], _MESSAGE) == {}
    waiting.join()

    assert [answer.status_code for answer in answers] == [404]
    assert "private" not in answers[0].text


def _waits(suite: Suite) -> float:
    """Returns the number of waiting requests at all gateways."""
    texts = [
        requests.get(f"http://{admin}/metrics", timeout=10).text
        for admin in suite.of_each("gateway", "ADMIN")
    ]
    return sum(
        float(value)
        for text in texts
        for value in re.findall(r"^tempinbox_gateway_waiting_requests (\S+)$", text, re.MULTILINE)
    )


def test_an_inbox_is_gone_for_the_key_as_soon_as_it_lost_the_tag(world: _World) -> None:
    path = f"/v1/inboxes/{world.inside['inboxId']}"
    assert world.tagged.call("GET", path + "/emails").status_code == 200

    world.all.patch(path, {"tags": ["other"]})

    assert world.tagged.call("GET", path).status_code == 404
    assert world.tagged.call("GET", path + "/emails").status_code == 404
    assert world.tagged.call("GET", f"/v1/emails/{world.inside['emailId']}").status_code == 404
    assert world.tagged.get("/v1/inboxes")["inboxes"] == []
    world.all.patch(f"/v1/inboxes/{world.outside['inboxId']}", {"tags": ["ci"]})
    assert world.tagged.call("GET", f"/v1/emails/{world.outside['emailId']}").status_code == 200


def test_an_ended_inbox_stays_readable_for_its_tag(world: _World) -> None:
    path = f"/v1/inboxes/{world.inside['inboxId']}"
    world.tagged.delete(path)

    assert world.tagged.get(path)["status"] == "expired"
    assert world.tagged.call("DELETE", path).status_code == 404


def test_a_stored_response_is_not_given_again_once_its_inbox_lost_the_tag(world: _World) -> None:
    headers = {"Idempotency-Key": uuid.uuid4().hex}

    def make(api: Api) -> Any:
        return api.call("POST", "/v1/inboxes", headers=headers)

    of_all, first, again = make(world.all), make(world.tagged), make(world.tagged)
    assert first.json()["inboxId"] != of_all.json()["inboxId"]
    assert first.json()["tags"] == ["ci"]
    assert again.json() == first.json()
    world.all.patch(f"/v1/inboxes/{first.json()['inboxId']}", {"tags": []})

    refused = make(world.tagged)

    assert refused.status_code == 404
    assert first.json()["emailAddress"] not in refused.text
    assert make(world.all).json() == of_all.json()


def test_two_tags_do_not_see_each_other(suite: Suite, world: _World) -> None:
    other = _key(suite, world.account, "other")

    assert other.call("GET", f"/v1/inboxes/{world.inside['inboxId']}").status_code == 404
    assert other.call("GET", f"/v1/inboxes/{world.outside['inboxId']}").status_code == 200
    emails = other.get("/v1/emails")["emails"]
    assert [it["emailId"] for it in emails] == [world.outside["emailId"]]
