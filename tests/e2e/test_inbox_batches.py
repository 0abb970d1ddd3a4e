"""Many inboxes by one request: each is created or refused for itself, and once."""

import contextlib
import signal
import threading
import uuid
from typing import Any

import pytest
import requests
from harness import Account, Api, Suite, Topic, eventually, in_time

BATCH = "/v1/inboxes:batch"


def _headers() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def _results(api: Api, inboxes: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    answer = api.call("POST", BATCH, json={"inboxes": inboxes}, **more)
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def _ids(results: list[dict[str, Any]]) -> list[str]:
    return [one["inbox"]["inboxId"] for one in results if one["inbox"]]


def test_a_hundred_inboxes_are_made_in_their_order(account: Account) -> None:
    requested = [{"name": f"n{number}", "ttlSeconds": 600 + number} for number in range(100)]

    results = _results(account.api, requested)

    assert [one["inbox"]["name"] for one in results] == [one["name"] for one in requested]
    assert len({one["inbox"]["emailAddress"] for one in results}) == 100
    listed = account.api.get("/v1/inboxes", limit=100)["inboxes"]
    # Not in their order: a batch may become several transactions, and a list goes by their times.
    assert {one["inboxId"] for one in listed} == set(_ids(results))
    assert account.api.get("/v1/account")["usage"]["liveInboxes"] == 100


def test_each_is_refused_for_itself(account: Account, other_account: Account) -> None:
    theirs = other_account.api.new_inbox()["emailAddress"].partition("@")[0]
    own = f"own-{uuid.uuid4().hex[:12]}"

    results = _results(
        account.api,
        [
            {"localPart": own, "tags": ["a"], "metadata": {"b": "c"}},
            {"localPart": theirs},
            {"localPart": own.upper()},
            {"domain": "elsewhere.example"},
            {},
        ],
    )

    assert [(one["error"] or {}).get("code") for one in results] == [
        None,
        "address_taken",
        "address_taken",
        "invalid_field",
        None,
    ]
    assert results[1]["error"]["statusCode"] == 409
    assert results[1]["error"]["error"] == "Conflict"
    assert "elsewhere.example" in results[3]["error"]["message"]
    assert results[0]["inbox"]["tags"] == ["a"]
    assert account.api.get("/v1/inboxes/" + _ids(results)[0])["metadata"] == {"b": "c"}


def test_a_form_that_is_wrong_creates_none(account: Account) -> None:
    def refused(body: Any) -> str:
        answer = account.api.call("POST", BATCH, json=body)
        assert answer.status_code == 400, answer.text
        return str(answer.json()["message"])

    assert "inboxes[1].ttlSeconds must" in refused({"inboxes": [{}, {"ttlSeconds": 1}]})
    assert "inboxes[1].nme is unknown here" in refused({"inboxes": [{}, {"nme": "x"}]})
    assert "1 to 100" in refused({"inboxes": []})
    assert "at most 100" in refused({"inboxes": [{}] * 101})
    assert "1 to 100" in refused({})
    assert account.api.call("POST", BATCH, data=b"x" * 70_000).status_code == 413
    assert account.api.get("/v1/inboxes")["inboxes"] == []


def test_the_plan_s_number_is_judged_for_each(suite: Suite) -> None:
    account = Account.make(suite, "pass7")
    limit = account.api.get("/v1/account")["limits"]["liveInboxes"]

    results = _results(account.api, [{}] * (limit + 3))

    assert [one["error"] and one["error"]["code"] for one in results] == [None] * limit + [
        "inbox_limit"
    ] * 3
    assert results[-1]["error"]["statusCode"] == 403


def test_a_batch_is_one_request_of_the_day_and_many_of_the_second(suite: Suite) -> None:
    account = Account.make(suite, "pass7")
    limits = account.api.get("/v1/account")["limits"]
    batch: dict[str, Any] = {"inboxes": [{}] * 100}

    def remaining(method: str, path: str, **more: Any) -> int:
        answer = account.api.call(method, path, **more)
        return -1 if answer.status_code == 429 else int(answer.headers["X-RateLimit-Remaining"])

    def attempt() -> tuple[int, int]:
        before = remaining("GET", "/v1/domains")
        return before, remaining("POST", BATCH, json=batch)

    before, after = in_time(suite, attempt)
    refused = account.api.call("GET", "/v1/domains")

    assert after == before - 1
    assert limits["burstPerSecond"] < 100
    assert refused.status_code == 429
    assert refused.headers["X-Error-Code"] == "burst"
    assert int(refused.headers["Retry-After"]) >= 1
    assert refused.headers["RateLimit"].startswith(
        f'"burst";r=0;t={refused.headers["Retry-After"]}'
    )
    eventually(
        lambda: account.api.call("GET", "/v1/domains").status_code == 200, "the burst has passed"
    )


def test_a_repeat_gets_the_first_results(account: Account) -> None:
    headers = _headers()
    reserved = {"localPart": "postmaster"}

    first = account.api.call("POST", BATCH, json={"inboxes": [{}, reserved]}, headers=headers)
    again = account.api.call("POST", BATCH, json={"inboxes": [{}, reserved]}, headers=headers)
    other = account.api.call("POST", BATCH, json={"inboxes": [{}]}, headers=headers)
    wrong = account.api.call("POST", BATCH, json={"inboxes": []}, headers=headers)

    assert again.json() == first.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, wrong.status_code) == (422, 400)
    assert len(account.api.get("/v1/inboxes")["inboxes"]) == 1


def test_each_inbox_has_its_event(suite: Suite, account: Account) -> None:
    with Topic(suite, "inbox.created") as topic:
        left = set(_ids(_results(account.api, [{}] * 20)))
        for event in topic.events(60):
            left.discard(event["inbox_id"])
            if not left:
                break

    assert not left


def test_a_key_with_a_tag_makes_and_sees_its_own(suite: Suite, account: Account) -> None:
    made = suite.operate("key", "create", account.account_id, "--label", "ci", "--tag", "ci")
    tagged = Api(suite["API"], made["key"])
    headers = _headers()

    results = _results(tagged, [{}, {"tags": ["b"]}], headers=headers)

    assert [sorted(one["inbox"]["tags"]) for one in results] == [["ci"], ["b", "ci"]]
    assert _results(tagged, [{}, {"tags": ["b"]}], headers=headers) == results
    account.api.patch("/v1/inboxes/" + _ids(results)[1], {"tags": ["b"]})
    again = tagged.call("POST", BATCH, json={"inboxes": [{}, {"tags": ["b"]}]}, headers=headers)
    assert again.status_code == 404


@pytest.mark.last
def test_a_batch_whose_service_died_is_made_once(suite: Suite, account: Account) -> None:
    headers = _headers()
    body = {"inboxes": [{"name": f"n{number}"} for number in range(100)]}

    def ask() -> requests.Response | None:
        with contextlib.suppress(requests.RequestException):
            return account.api.call("POST", BATCH, json=body, headers=headers)
        return None

    statuses: list[int] = []

    def repeat() -> requests.Response | None:
        answer = ask()
        if answer is not None:
            statuses.append(answer.status_code)
        return answer if answer is not None and answer.status_code == 200 else None

    caller = threading.Thread(target=ask)
    caller.start()
    for number in range(1, len(suite.of_each("inbox", "PID")) + 1):
        suite.signal("inbox", number, signal.SIGKILL)
    caller.join()
    answer = eventually(repeat, "the repeat is answered", seconds=60)

    assert set(statuses) <= {200, 409, 503}
    made = _ids(answer.json()["results"])
    assert len(set(made)) == 100

    def list_all() -> dict[str, Any] | None:
        found = account.api.call("GET", "/v1/inboxes", params={"limit": 100, "status": "all"})
        shown: dict[str, Any] = found.json()
        return shown if found.status_code == 200 else None

    listed = eventually(list_all, "they are listed")
    assert listed["nextCursor"] is None
    assert {one["inboxId"] for one in listed["inboxes"]} == set(made)
