"""Inboxes are changed, ended together and emptied; lists of inboxes are narrowed."""

import uuid

import pytest
from harness import Account, Suite, send

PATCH_TYPES = ["application/json", "application/merge-patch+json"]


def test_a_merge_patch_changes_what_it_names(account: Account) -> None:
    inbox = account.api.new_inbox(
        name="first", tags=["a"], metadata={"run": "7", "branch": "main"}, ttlSeconds=600
    )

    changed = account.api.patch(
        "/v1/inboxes/" + inbox["inboxId"],
        {"ttlSeconds": 7200, "tags": ["b", "c"], "metadata": {"run": None, "try": "2"}},
    )

    assert changed["name"] == "first"
    assert changed["tags"] == ["b", "c"]
    assert changed["metadata"] == {"branch": "main", "try": "2"}
    assert changed["expiresAt"] > inbox["expiresAt"]
    assert account.api.get("/v1/inboxes/" + inbox["inboxId"]) == changed


@pytest.mark.parametrize("content_type", PATCH_TYPES)
def test_both_types_of_a_patch_are_taken(account: Account, content_type: str) -> None:
    inbox = account.api.new_inbox()

    answer = account.api.call(
        "PATCH",
        "/v1/inboxes/" + inbox["inboxId"],
        data='{"name":"CI"}',
        headers={"Content-Type": content_type},
    )

    assert (answer.status_code, answer.json()["name"]) == (200, "CI")


def test_a_life_is_extended_as_often_as_requested(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox(ttlSeconds=60)
    path = "/v1/inboxes/" + inbox["inboxId"]

    shorter = account.api.patch(path, {"ttlSeconds": 60})
    longer = account.api.patch(path, {"ttlSeconds": 30 * 24 * 3600})

    assert inbox["expiresAt"] <= shorter["expiresAt"] < longer["expiresAt"]
    assert send(suite, inbox["emailAddress"]).is_accepted
    refused = account.api.call("PATCH", path, json={"ttlSeconds": 30 * 24 * 3600 + 1})
    assert (refused.status_code, "ttlSeconds" in refused.json()["message"]) == (400, True)


def test_an_ended_inbox_is_not_changed(account: Account) -> None:
    inbox = account.api.new_inbox()
    account.api.delete("/v1/inboxes/" + inbox["inboxId"])

    assert (
        account.api.call("PATCH", "/v1/inboxes/" + inbox["inboxId"], json={"name": "x"}).status_code
        == 404
    )


def test_the_end_of_a_test_run(account: Account, other_account: Account) -> None:
    tag = "run " + uuid.uuid4().hex
    tagged = [account.api.new_inbox(tags=[tag, "ci"]) for _ in range(3)]
    kept, foreign = account.api.new_inbox(tags=["ci"]), other_account.api.new_inbox(tags=[tag])

    answer = account.api.call("DELETE", "/v1/inboxes", params={"tag": tag})
    again = account.api.call("DELETE", "/v1/inboxes", params={"tag": tag})

    assert (answer.status_code, answer.json()) == (200, {"deletedCount": 3})
    assert again.json() == {"deletedCount": 0}
    assert {account.api.get("/v1/inboxes/" + inbox["inboxId"])["status"] for inbox in tagged} == {
        "expired"
    }
    assert account.api.get("/v1/inboxes/" + kept["inboxId"])["status"] == "active"
    assert other_account.api.get("/v1/inboxes/" + foreign["inboxId"])["status"] == "active"
    assert account.api.call("DELETE", "/v1/inboxes").status_code == 400


def test_an_inbox_is_emptied_and_its_sequence_goes_on(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"
    sent = [send(suite, inbox["emailAddress"]).email_id for _ in range(2)]

    emptied = account.api.delete(path)

    assert emptied == {"inboxId": inbox["inboxId"], "deletedCount": 2}
    assert account.api.get(path) == {"emails": [], "nextCursor": None}
    assert [account.api.call("GET", "/v1/emails/" + email).status_code for email in sent] == [
        404,
        404,
    ]
    shown = account.api.get("/v1/inboxes/" + inbox["inboxId"])
    assert (shown["emailCount"], shown["lastSequence"]) == (0, 2)
    send(suite, inbox["emailAddress"])
    assert account.api.get(path)["emails"][0]["sequence"] == 3


def test_inboxes_are_narrowed_by_status_tag_and_address(account: Account) -> None:
    live, ended = account.api.new_inbox(tags=["x"]), account.api.new_inbox(tags=["x"])
    account.api.delete("/v1/inboxes/" + ended["inboxId"])

    def ids(**query: str) -> list[str]:
        return [row["inboxId"] for row in account.api.get("/v1/inboxes", **query)["inboxes"]]

    assert ids() == [live["inboxId"]]
    assert ids(status="expired") == [ended["inboxId"]]
    assert ids(status="all", tag="x") == [ended["inboxId"], live["inboxId"]]
    assert ids(tag="y") == []
    assert ids(address=live["emailAddress"].upper()) == [live["inboxId"]]
    assert ids(address=ended["emailAddress"]) == []
    assert ids(address=ended["emailAddress"], status="all") == [ended["inboxId"]]


def test_pages_of_inboxes_have_no_gaps_and_their_cursors_belong_to_them(
    account: Account, other_account: Account
) -> None:
    made = [account.api.new_inbox(tags=["paged"])["inboxId"] for _ in range(5)]

    seen: list[str] = []
    cursor: str | None = None
    first = account.api.get("/v1/inboxes", limit=2)["nextCursor"]
    while True:
        page = account.api.get("/v1/inboxes", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [row["inboxId"] for row in page["inboxes"]]
        if not (cursor := page["nextCursor"]):
            break

    assert seen == list(reversed(made))
    oldest = account.api.get("/v1/inboxes", limit=3, order="asc")
    rest = account.api.get("/v1/inboxes", limit=3, order="asc", cursor=oldest["nextCursor"])
    assert [row["inboxId"] for row in oldest["inboxes"] + rest["inboxes"]] == made
    assert rest["nextCursor"] is None
    for api, query in [
        (account.api, {"tag": "paged"}),
        (account.api, {"order": "asc"}),
        (other_account.api, {}),
        (account.api, {"address": "a@b.example"}),
    ]:
        assert api.call("GET", "/v1/inboxes", params={"cursor": first, **query}).status_code == 400
    assert (
        account.api.call("GET", "/v1/inboxes", params={"cursor": first[:-2] + "AA"}).status_code
        == 400
    )
