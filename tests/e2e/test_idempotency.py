"""A POST with an Idempotency-Key happens once, whatever dies in between."""

import contextlib
import signal
import subprocess
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from harness import Account, Api, Suite, eventually, in_time, outcome


def _headers() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def test_a_repeat_gets_the_first_answer(account: Account) -> None:
    headers = _headers()

    first = account.api.call("POST", "/v1/inboxes", json={"name": "CI"}, headers=headers)
    again = account.api.call("POST", "/v1/inboxes", json={"name": "CI"}, headers=headers)

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert len(account.api.get("/v1/inboxes")["inboxes"]) == 1


def test_a_repeat_counts_as_a_request(suite: Suite, account: Account) -> None:
    def attempt() -> list[int]:
        headers = _headers()
        answers = [account.api.call("POST", "/v1/inboxes", headers=headers) for _ in range(2)]
        return [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]

    first, again = in_time(suite, attempt)

    assert again == first - 1


def test_another_body_is_422_and_a_bad_key_400(account: Account) -> None:
    headers = _headers()
    account.api.call("POST", "/v1/inboxes", json={"name": "CI"}, headers=headers)

    other = account.api.call("POST", "/v1/inboxes", json={"name": "other"}, headers=headers)
    assert outcome(other) == (422, "idempotency_reused")
    assert (
        account.api.call("POST", "/v1/inboxes", headers={"Idempotency-Key": "x" * 256}).status_code
        == 400
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("{", id="no JSON"),
        pytest.param('{"nme": "x"}', id="unknown field"),
        pytest.param('{"ttlSeconds": 1}', id="out of range"),
        pytest.param('{"localPart": "a b"}', id="no local part"),
        pytest.param('{"domain": "elsewhere.example"}', id="unknown domain"),
    ],
)
def test_another_body_that_is_wrong_itself_is_400(account: Account, body: str) -> None:
    headers = _headers()
    first = account.api.call("POST", "/v1/inboxes", json={"name": "CI"}, headers=headers)

    wrong = account.api.call(
        "POST", "/v1/inboxes", data=body, headers={**headers, "Content-Type": "application/json"}
    )
    again = account.api.call("POST", "/v1/inboxes", json={"name": "CI"}, headers=headers)

    assert wrong.status_code == 400
    assert again.json() == first.json()
    assert len(account.api.get("/v1/inboxes")["inboxes"]) == 1


@pytest.mark.parametrize("url", ["nonsense", "http://10.0.0.1/hook"])
def test_another_webhook_that_is_wrong_itself_is_400(account: Account, url: str) -> None:
    headers = _headers()
    account.api.call(
        "POST", "/v1/webhooks", json={"url": "http://127.0.0.1:49151/hook"}, headers=headers
    )

    assert (
        account.api.call("POST", "/v1/webhooks", json={"url": url}, headers=headers).status_code
        == 400
    )
    assert len(account.api.get("/v1/webhooks")["webhooks"]) == 1


def test_what_was_refused_is_asked_anew(account: Account) -> None:
    headers = _headers()

    answers = [
        account.api.call("POST", "/v1/inboxes", json={"localPart": local}, headers=headers)
        for local in ("postmaster", "postmaster", f"free-{uuid.uuid4().hex[:12]}")
    ]

    assert [answer.status_code for answer in answers] == [409, 409, 201]
    assert not any("Idempotency-Replayed" in answer.headers for answer in answers)


def test_of_many_repeats_at_once_one_makes_the_object(suite: Suite, account: Account) -> None:
    headers = _headers()

    def ask(_number: int) -> requests.Response:
        return Api(suite["API"], account.key).call(
            "POST", "/v1/inboxes", json={"name": "once"}, headers=headers
        )

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(ask, range(20)))

    made = {answer.json()["inboxId"] for answer in answers if answer.status_code == 201}
    assert {outcome(answer) for answer in answers} <= {(201, ""), (409, "idempotency_in_progress")}
    assert {
        answer.headers.get("Retry-After") for answer in answers if answer.status_code == 409
    } <= {"1"}
    assert [row["inboxId"] for row in account.api.get("/v1/inboxes")["inboxes"]] == list(made)


def test_a_webhook_s_secret_comes_again_and_rests_sealed(suite: Suite, account: Account) -> None:
    headers = _headers()
    body = {"url": "http://127.0.0.1:49151/hook"}

    first = account.api.call("POST", "/v1/webhooks", json=body, headers=headers)
    again = account.api.call("POST", "/v1/webhooks", json=body, headers=headers)

    assert again.json()["secret"] == first.json()["secret"]
    stored = _query(
        suite,
        f"SELECT answer FROM accounts.idempotency_keys WHERE key = '{headers['Idempotency-Key']}'",
    )
    assert stored
    assert first.json()["secret"] not in stored
    assert "whsec" not in stored


def _query(suite: Suite, sql: str) -> str:
    done = subprocess.run(
        ["psql", "-X", "-A", "-t", "-d", suite["DATABASE"], "-c", sql],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return done.stdout.strip()


def _post_without_reading(api: Api, headers: dict[str, str]) -> None:
    # The gateway is killed while it answers.
    with contextlib.suppress(requests.RequestException):
        api.call("POST", "/v1/inboxes", json={"name": "crash"}, headers=headers)


@pytest.mark.last
def test_a_gateway_killed_between_store_and_call_makes_one_object(
    suite: Suite, account: Account
) -> None:
    headers = _headers()
    key = headers["Idempotency-Key"]
    find = f"SELECT object_id FROM accounts.idempotency_keys WHERE key = '{key}'"
    inboxes = range(1, len(suite.of_each("inbox", "PID")) + 1)
    for number in inboxes:
        suite.signal("inbox", number, signal.SIGSTOP)
    try:
        caller = threading.Thread(
            target=_post_without_reading, args=(Api(suite["API"], account.key), headers)
        )
        caller.start()
        chosen = eventually(lambda: _query(suite, find), "the key is stored")
        suite.signal("gateway", 1, signal.SIGKILL)
        caller.join()
    finally:
        for number in inboxes:
            suite.signal("inbox", number, signal.SIGCONT)

    statuses: list[int] = []

    def retry() -> dict[str, Any] | None:
        try:
            answer = account.api.call(
                "POST", "/v1/inboxes", json={"name": "crash"}, headers=headers
            )
        except requests.RequestException:
            return None
        statuses.append(answer.status_code)
        if answer.status_code == 409:
            assert answer.headers["Retry-After"] == "1"
        made: dict[str, Any] = answer.json()
        return made if answer.status_code == 201 else None

    made = eventually(retry, "the repeat makes the inbox", seconds=60)

    assert made["inboxId"] == chosen
    assert set(statuses) <= {201, 409, 503}
    assert [row["inboxId"] for row in account.api.get("/v1/inboxes", status="all")["inboxes"]] == [
        chosen
    ]
