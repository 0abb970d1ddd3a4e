"""Waiting for mail: one call that ends when the mail is there."""

import concurrent.futures
import itertools
import os
import signal
import socket
import statistics
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from harness import Account, Api, Suite, eventually, in_force, in_time, send, send_raw, status_is

_FIELDS = {"outcome", "email", "matched", "emails", "lastSequence", "waitedMs", "nearMisses"}


@pytest.fixture
def pool() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    """Threads for requests that wait."""
    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        yield threads


def _wait(api: Api, inbox: dict[str, Any], **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails/wait", **query)
    assert set(answer) == _FIELDS
    return answer


def _message(subject: str, body: str = "hi") -> bytes:
    return (
        f"From: Zoë <a@sender.example>\r\nTo: all@lists.example\r\nSubject: {subject}\r\n\r\n"
        f"{body}\r\n"
    ).encode()


def _waiting_at(suite: Suite, number: int) -> int:
    metrics = requests.get(f"http://{suite[f'GATEWAY_{number}_ADMIN']}/metrics", timeout=5).text
    (line,) = (
        line
        for line in metrics.splitlines()
        if line.startswith("tempinbox_gateway_waiting_requests ")
    )
    return int(float(line.split()[1]))


def _eventually_waiting(suite: Suite, number: int, count: int) -> None:
    eventually(
        lambda: _waiting_at(suite, number) == count, f"{count} requests wait at gateway {number}"
    )


def test_mail_that_comes_ends_the_wait(
    suite: Suite, api: Api, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    inbox = api.new_inbox()
    before = _waiting_at(suite, 1)
    waiting = pool.submit(_wait, api, inbox, hasCode="true")
    _eventually_waiting(suite, 1, before + 1)

    sent = send(
        suite, inbox["emailAddress"], subject="Your code", body="Your verification code is 482913."
    )

    answer = waiting.result(timeout=10)
    assert answer["outcome"] == "matched"
    assert answer["email"] == api.get("/v1/emails/" + sent.email_id)
    assert answer["email"]["codes"][0]["value"] == "482913"
    assert answer["lastSequence"] == 1
    assert answer["nearMisses"] == []


def test_a_wait_takes_any_mail_or_only_with_a_code_or_only_without(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    for subject, text in (("plain", "hi"), ("code", "Your verification code is 482913.")):
        assert send_raw(suite, [inbox["emailAddress"]], _message(subject, text)) == {}

    def subject_of(**query: Any) -> str:
        return str(_wait(api, inbox, **query)["email"]["subject"])

    assert subject_of() == "plain"
    assert subject_of(hasCode="true") == "code"
    assert subject_of(hasCode="false") == "plain"
    none = _wait(api, inbox, after=1, hasCode="false", timeoutSeconds=1)
    (miss,) = none["nearMisses"]
    assert (miss["field"], miss["expected"], miss["actual"]) == ("hasCode", "false", "true")


def test_mail_that_is_there_counts_and_after_passes_it_over(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    for subject in ("one", "two"):
        assert send_raw(suite, [inbox["emailAddress"]], _message(subject)) == {}

    first = _wait(api, inbox)
    second = _wait(api, inbox, after=first["email"]["sequence"])
    none = _wait(api, inbox, after=second["email"]["sequence"], timeoutSeconds=1)

    assert (first["email"]["subject"], second["email"]["subject"]) == ("one", "two")
    assert (none["outcome"], none["email"], none["lastSequence"]) == ("timeout", None, 2)
    assert none["waitedMs"] >= 1000


@pytest.mark.parametrize(
    "query",
    [
        {"from_": "ZOË"},
        {"from_": "A@Sender"},
        {"to": "ALL@lists"},
        {"subject": "GRÜSSE"},
        {"subject": "grüße 2"},
    ],
)
def test_filters_contain_whatever_the_case(suite: Suite, api: Api, query: dict[str, str]) -> None:
    inbox = api.new_inbox()
    assert (
        send_raw(
            suite, [inbox["emailAddress"]], b"From: b@other.example\r\nSubject: other\r\n\r\nhi\r\n"
        )
        == {}
    )
    assert send_raw(suite, [inbox["emailAddress"]], _message("Grüße 2")) == {}

    answer = _wait(api, inbox, timeoutSeconds=5, **query)

    assert answer["email"]["subject"] == "Grüße 2"
    assert [miss["actual"] != "" for miss in answer["nearMisses"]] == [True]


def test_near_misses_name_the_condition(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    for number in range(12):
        assert send_raw(suite, [inbox["emailAddress"]], _message(f"mail {number}")) == {}

    answer = _wait(api, inbox, subject="mail 12", after=1, timeoutSeconds=1)

    assert answer["outcome"] == "timeout"
    assert [miss["actual"] for miss in answer["nearMisses"]] == [
        f"mail {number}" for number in range(11, 1, -1)
    ]
    emails = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    assert answer["nearMisses"][0] == {
        "emailId": emails[0]["emailId"],
        "field": "subject",
        "expected": "mail 12",
        "actual": "mail 11",
    }


def test_no_mail_can_be_what_is_expected(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    assert _wait(api, inbox, expect="none", timeoutSeconds=1)["outcome"] == "timeout"

    sent = send(suite, inbox["emailAddress"])

    answer = _wait(api, inbox, expect="none", timeoutSeconds=1)
    assert answer["outcome"] == "violated"
    assert answer["email"]["emailId"] == sent.email_id


def test_every_gateway_wakes_those_who_wait_there(
    suite: Suite, account: Account, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    gateways = [Api(url, account.key) for url in suite.of_each("gateway", "URL")]
    inbox = account.api.new_inbox()
    before = [_waiting_at(suite, number + 1) for number in range(len(gateways))]
    waiting = [pool.submit(_wait, gateway, inbox) for gateway in gateways for _ in range(3)]
    for number in range(len(gateways)):
        _eventually_waiting(suite, number + 1, before[number] + 3)

    sent = send(suite, inbox["emailAddress"])

    assert {answer.result(timeout=10)["email"]["emailId"] for answer in waiting} == {sent.email_id}


def test_every_gateway_hears_of_mail_before_it_looks(
    suite: Suite, account: Account, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    """Without events a gateway would find the mail by its poll of each second."""
    gateways = [Api(url, account.key) for url in suite.of_each("gateway", "URL")]
    inbox = account.api.new_inbox()
    seconds: list[list[float]] = [[] for _ in gateways]
    for number in range(8):
        before = [_waiting_at(suite, at + 1) for at in range(len(gateways))]
        waiting = [pool.submit(_timed_wait, gateway, inbox, number) for gateway in gateways]
        for at in range(len(gateways)):
            _eventually_waiting(suite, at + 1, before[at] + 1)

        assert send_raw(suite, [inbox["emailAddress"]], _message(f"mail {number}")) == {}
        accepted = time.monotonic()

        for at, answer in enumerate(waiting):
            seconds[at].append(answer.result(timeout=10) - accepted)

    assert max(statistics.median(of_one) for of_one in seconds) < 0.4, seconds


def _timed_wait(api: Api, inbox: dict[str, Any], after: int) -> float:
    """Returns when it was answered with the mail."""
    answer = _wait(api, inbox, after=after)
    assert answer["email"]["sequence"] == after + 1
    return time.monotonic()


def test_the_end_of_the_inbox_ends_the_wait(
    suite: Suite, api: Api, account: Account, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    inbox = api.new_inbox()
    before = _waiting_at(suite, 1)
    waiting = pool.submit(_wait, api, inbox)
    _eventually_waiting(suite, 1, before + 1)

    api.delete("/v1/inboxes/" + inbox["inboxId"])

    assert waiting.result(timeout=10)["outcome"] == "inbox_ended"
    path = f"/v1/inboxes/{inbox['inboxId']}/emails/wait"
    refused = api.call("GET", path)
    ended_at = api.get("/v1/inboxes/" + inbox["inboxId"])["expiredAt"]
    assert (refused.status_code, refused.headers["X-Error-Code"]) == (404, "inbox_ended")
    assert refused.json()["message"] == f"Inbox {inbox['inboxId']} ended at {ended_at}"
    assert (
        account.api.call("GET", f"/v1/inboxes/{api.new_inbox()['inboxId']}/emails/wait").status_code
        == 404
    )


def test_a_lost_broker_is_no_error(
    suite: Suite, api: Api, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    inbox = api.new_inbox()
    before = _waiting_at(suite, 1)
    waiting = pool.submit(_wait, api, inbox)
    _eventually_waiting(suite, 1, before + 1)

    os.kill(int(suite["KAFKA_PID"]), signal.SIGSTOP)
    try:
        sent = send(suite, inbox["emailAddress"])
        answer = waiting.result(timeout=5)
    finally:
        os.kill(int(suite["KAFKA_PID"]), signal.SIGCONT)

    assert answer["email"]["emailId"] == sent.email_id


def test_a_client_that_hangs_up_leaves_nothing_behind(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    before = _waiting_at(suite, 1)
    with pytest.raises(requests.exceptions.ReadTimeout):
        requests.get(
            f"{api.base}/v1/inboxes/{inbox['inboxId']}/emails/wait",
            headers=api.headers,
            timeout=0.5,
        )

    _eventually_waiting(suite, 1, before)


def test_a_client_that_breaks_off_leaves_nothing_behind(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    before = _waiting_at(suite, 1)
    host, _, port = api.base.removeprefix("http://").rpartition(":")
    head = (
        f"GET /v1/inboxes/{inbox['inboxId']}/emails/wait HTTP/1.1\r\nHost: {host}\r\n"
        f"X-API-Key: {api.headers['X-API-Key']}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=5) as client:
        client.sendall(head.encode())
        _eventually_waiting(suite, 1, before + 1)
        client.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )  # closed with RST, without FIN

    _eventually_waiting(suite, 1, before)


def test_a_wait_is_one_request(suite: Suite, account: Account) -> None:
    inbox = account.api.new_inbox()
    path = f"/v1/inboxes/{inbox['inboxId']}/emails/wait"

    def attempt() -> int:
        first, second = (
            account.api.call("GET", path, params={"timeoutSeconds": seconds}) for seconds in (2, 1)
        )
        before, after = (int(it.headers["X-RateLimit-Remaining"]) for it in (first, second))
        return before - after

    assert in_time(suite, attempt) == 1


def test_a_revoked_key_gets_no_mail_at_the_end_of_its_wait(
    suite: Suite, account: Account, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    inbox = account.api.new_inbox()
    before = _waiting_at(suite, 1)
    waiting = pool.submit(account.api.call, "GET", f"/v1/inboxes/{inbox['inboxId']}/emails/wait")
    _eventually_waiting(suite, 1, before + 1)
    (key,) = suite.operate("key", "list", account.account_id)["keys"]
    suite.operate("key", "revoke", account.account_id, key["keyId"])
    in_force([account.api], status_is(401), "the key is refused")

    assert send(suite, inbox["emailAddress"]).is_accepted

    assert waiting.result(timeout=10).status_code == 401


def test_a_restart_ends_waits_and_breaks_nothing(
    suite: Suite, account: Account, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    inbox = account.api.new_inbox()
    path = f"/v1/inboxes/{inbox['inboxId']}/emails/wait"
    urls = suite.of_each("gateway", "URL")
    for number, url in enumerate(urls, start=1):
        before = _waiting_at(suite, number)
        waiting = [pool.submit(Api(url, account.key).call, "GET", path) for _ in range(8)]
        _eventually_waiting(suite, number, before + 8)
        load = pool.submit(_steady_requests, [it for it in urls if it != url] + [url], account.key)

        began = time.monotonic()
        Suite.dev("restart", f"gateway-{number}")

        answers = [answer.result(timeout=20) for answer in waiting]
        assert {answer.status_code for answer in answers} == {200}
        assert {answer.json()["outcome"] for answer in answers} == {"draining"}
        assert {answer.headers.get("Connection", "").lower() for answer in answers} == {"close"}
        assert time.monotonic() - began < 20
        assert set(load.result(timeout=30)) == {200}


def _steady_requests(urls: list[str], key: str, seconds: float = 4.0) -> list[int]:
    """Statuses of requests sent to the gateways in turn over kept connections; one that does not
    take connections is passed over, as a balancer would.
    """
    gateways = itertools.cycle([Api(url, key) for url in urls])
    end = time.monotonic() + seconds
    statuses = []
    while time.monotonic() < end:
        try:
            statuses.append(next(gateways).call("GET", "/v1/domains").status_code)
        except requests.exceptions.ConnectionError as problem:
            if "refused" not in str(problem):
                raise
    return statuses
