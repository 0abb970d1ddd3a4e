"""Tests how much strangers and one account can take: known keys, other accounts and PostgreSQL go
on.

By hand at more than the modest load that the tests send:
TEMPINBOX_STRANGERS_A_SECOND=5000 TEMPINBOX_STRANGERS_SECONDS=20 ./dev test e2e --no-build \
"--only=-k=random_keys"
"""

import concurrent.futures
import os
import time
import uuid
from collections import Counter

import pytest
import requests
from harness import (
    Account,
    Api,
    Dashboard,
    Gateway,
    Strangers,
    Suite,
    User,
    eventually,
    in_time,
    outcome,
)

_A_SECOND = int(os.environ.get("TEMPINBOX_STRANGERS_A_SECOND", "600"))
_SECONDS = float(os.environ.get("TEMPINBOX_STRANGERS_SECONDS", "4"))
_ADDRESSES = 8
_ALLOWANCE = 60


def test_known_keys_are_answered_while_strangers_try_random_keys(
    suite: Suite, account: Account
) -> None:
    with Gateway(suite, database_connections="2", trusted_proxies="127.0.0.0/8") as gateway:
        api = Api(f"http://{gateway.address}", account.key)
        assert api.call("GET", "/v1/domains").status_code == 200
        looked_up = gateway.metric("tempinbox_gateway_key_lookups_total")

        answers: list[tuple[int, float]] = []
        with Strangers(gateway.address, _A_SECOND, _ADDRESSES) as strangers:
            began = time.monotonic()
            while (sent := time.monotonic()) - began < _SECONDS:
                status = api.call("GET", "/v1/domains").status_code
                answers.append((status, time.monotonic() - sent))
        looked_up = gateway.metric("tempinbox_gateway_key_lookups_total") - looked_up

    guessed = strangers.guessed
    print(
        f"{guessed.per_second:.0f} guesses a second: {guessed.statuses}; {looked_up:.0f} look-ups; "
        f"{len(answers)} requests with the known key: {Counter(status for status, _ in answers)}, "
        f"slowest {max(seconds for _, seconds in answers):.3f} s"
    )
    assert {status for status, _ in answers} == {200}
    assert set(guessed.statuses) <= {401, 429, 503}
    # Each address has its allowance in each minute there was, and the known key a few of its own.
    minutes = guessed.seconds // 60 + 2
    assert looked_up <= _ADDRESSES * _ALLOWANCE * minutes + 20


def test_an_address_past_its_allowance_has_the_keys_that_were_used_here(
    suite: Suite, account: Account, other_account: Account
) -> None:
    with Gateway(suite, trusted_proxies="127.0.0.0/8") as gateway:

        def ask(who: Account, address: str) -> tuple[int, str]:
            api = Api(f"http://{gateway.address}", who.key)
            headers = {"X-Forwarded-For": address}
            return outcome(api.call("GET", "/v1/domains", headers=headers))

        assert ask(account, "192.0.2.7") == (200, "")
        # The allowance begins anew with each minute.
        eventually(lambda: time.time() % 60 < 30, "the minute is not over soon", seconds=35)
        with Strangers(gateway.address, 400, 1):
            eventually(
                lambda: gateway.metric("tempinbox_gateway_key_lookups_total") >= _ALLOWANCE + 1,
                "the allowance is used",
            )
        used = [ask(account, "198.51.100.1"), ask(other_account, "198.51.100.1")]
        elsewhere = ask(other_account, "192.0.2.7")
        then = ask(other_account, "198.51.100.1")

    assert used == [(200, ""), (429, "authentication_limit")]
    assert elsewhere == then == (200, "")


def test_a_ninth_wait_through_sessions_is_429(suite: Suite) -> None:
    with Gateway(suite) as gateway:
        user = User.make(suite, base=f"http://{gateway.address}")
        inbox = user.dashboard.post("/inboxes", {})["inboxId"]
        path = f"/inboxes/{inbox}/emails/wait"
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            waits = [
                pool.submit(user.dashboard.call, "GET", path, params={"timeoutSeconds": 15})
                for _ in range(8)
            ]
            eventually(
                lambda: gateway.metric("tempinbox_gateway_waiting_requests") == 8, "eight wait"
            )
            ninth = user.dashboard.call("GET", path, params={"timeoutSeconds": 1})
            answers = [wait.result().status_code for wait in waits]

    assert ninth.status_code == 429
    assert ninth.headers["Retry-After"] == "1"
    assert "8 requests" in ninth.json()["message"]
    assert answers == [200] * 8


def test_an_account_waits_no_more_than_its_share(suite: Suite, account: Account) -> None:
    with Gateway(suite, waits_per_account="2") as gateway:
        api = Api(f"http://{gateway.address}", account.key)
        inbox = api.new_inbox()["inboxId"]
        path = f"/v1/inboxes/{inbox}/emails/wait"
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            waits = [
                pool.submit(
                    Api(api.base, account.key).call, "GET", path, params={"timeoutSeconds": 15}
                )
                for _ in range(2)
            ]
            eventually(
                lambda: gateway.metric("tempinbox_gateway_waiting_requests") == 2, "two wait"
            )
            third = api.call("GET", path, params={"timeoutSeconds": 1})
            answers = [wait.result().status_code for wait in waits]

    assert third.status_code == 429
    assert "2 requests" in third.json()["message"]
    assert answers == [200] * 2


def test_the_sessions_of_an_account_have_one_day_at_all_gateways(suite: Suite) -> None:
    with (
        Gateway(suite, session_requests_per_day="30") as first,
        Gateway(suite, session_requests_per_day="30") as second,
    ):

        def attempt() -> tuple[list[int], requests.Response]:
            user = User.make(suite, plan="free", base=f"http://{first.address}")
            here, there = user.dashboard, Dashboard(f"http://{second.address}")
            assert there.sign_in(user.email, user.password).status_code == 200
            statuses = [
                (here, there)[turn % 2].call("GET", "/session").status_code for turn in range(34)
            ]
            return statuses, here.call("GET", "/session")

        statuses, refused = in_time(suite, attempt, first, second)
        other = User.make(suite, plan="free", base=f"http://{second.address}")

        assert statuses == [200] * 30 + [429] * 4
        assert 0 < int(refused.headers["Retry-After"]) <= 86400
        assert "30 requests" in refused.json()["message"]
        assert other.dashboard.call("GET", "/session").status_code == 200


def test_an_account_has_its_number_of_idempotency_keys(suite: Suite, account: Account) -> None:
    with Gateway(suite, idempotency_keys_per_day="3") as gateway:
        api = Api(f"http://{gateway.address}", account.key)

        def make(key: str, **body: object) -> tuple[int, str]:
            headers = {"Idempotency-Key": key}
            return outcome(api.call("POST", "/v1/inboxes", json=body, headers=headers))

        keys = [uuid.uuid4().hex for _ in range(5)]
        refused = [make(uuid.uuid4().hex, ttlSeconds=1) for _ in range(5)]
        made = [make(key) for key in keys]
        repeated = [make(key) for key in keys[:3]]

        assert refused == [(400, "invalid_field")] * 5
        assert made == [(201, "")] * 3 + [(429, "idempotency_limit")] * 2
        assert repeated == [(201, "")] * 3
        assert len(api.get("/v1/inboxes")["inboxes"]) == 3


@pytest.mark.parametrize("body", ["{", '{"ttlSeconds": 1}'])
def test_after_a_refusal_a_key_is_as_new(account: Account, body: str) -> None:
    headers = {"Idempotency-Key": uuid.uuid4().hex}

    wrong = account.api.call(
        "POST", "/v1/inboxes", data=body, headers={**headers, "Content-Type": "application/json"}
    )
    right = account.api.call("POST", "/v1/inboxes", json={"name": "CI"}, headers=headers)

    assert (wrong.status_code, right.status_code) == (400, 201)
    assert "Idempotency-Replayed" not in right.headers
