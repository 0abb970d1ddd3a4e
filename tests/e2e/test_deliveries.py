"""The log of deliveries, and everything that sends again."""

import signal
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from harness import Account, Receiver, Suite, eventually, outcome, send


def _hook(account: Account, receiver: Receiver, **more: Any) -> str:
    """The path of a new webhook."""
    webhook = account.api.post(
        "/v1/webhooks", {"url": receiver.url, "events": ["email.received"], **more}
    )
    return "/v1/webhooks/" + str(webhook["webhookId"])


def _an_hour_ago() -> str:
    return (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _log(account: Account, hook: str, **filters: Any) -> Any:
    return account.api.get(hook + "/deliveries", **filters)["deliveries"]


def _only(account: Account, hook: str, status: str) -> Any:
    """The one delivery there is, once it has this status."""

    def look() -> Any:
        deliveries = _log(account, hook)
        return (
            deliveries[0]
            if len(deliveries) == 1
            and deliveries[0]["status"] == status
            and deliveries[0]["attempts"]
            else None
        )

    return eventually(look, f"one delivery, {status}", seconds=30)


def test_the_log_tells_what_was_sent_and_answered(suite: Suite, account: Account) -> None:
    with Receiver(answer=lambda number: 503 if number == 0 else 204) as receiver:
        hook = _hook(account, receiver)
        sent = send(suite, account.api.new_inbox()["emailAddress"], subject="Logged")

        pending = _only(account, hook, "pending")
        assert pending["eventId"] == sent.email_id
        assert pending["event"] == "email.received"
        assert pending["nextAttemptAt"] > pending["attempts"][0]["at"]
        assert [attempt["statusCode"] for attempt in pending["attempts"]] == [503]

        done = _only(account, hook, "succeeded")
        assert done["deliveryId"] == pending["deliveryId"]
        assert [attempt["statusCode"] for attempt in done["attempts"]] == [503, 204]
        assert done["nextAttemptAt"] is None
        assert _log(account, hook, status="succeeded") == [done]
        assert _log(account, hook, status="failed") == []


def test_the_log_is_read_in_pages(suite: Suite, account: Account) -> None:
    with Receiver() as receiver:
        hook = _hook(account, receiver)
        address = account.api.new_inbox()["emailAddress"]
        sent = [send(suite, address).email_id for _ in range(5)]
        eventually(lambda: len(_log(account, hook, status="succeeded")) == 5, "five deliveries")

        seen: list[str] = []
        page = account.api.get(hook + "/deliveries", limit=2)
        while True:
            seen += [delivery["eventId"] for delivery in page["deliveries"]]
            if page["nextCursor"] is None:
                break
            page = account.api.get(hook + "/deliveries", limit=2, cursor=page["nextCursor"])
        assert seen == sent[::-1]

        oldest = account.api.get(hook + "/deliveries", limit=3, order="asc")
        rest = account.api.get(
            hook + "/deliveries", limit=3, order="asc", cursor=oldest["nextCursor"]
        )
        assert [
            delivery["eventId"] for delivery in oldest["deliveries"] + rest["deliveries"]
        ] == sent
        assert rest["nextCursor"] is None

        cursor = account.api.get(hook + "/deliveries", limit=2)["nextCursor"]
        other_order = account.api.call(
            "GET", hook + "/deliveries", params={"order": "asc", "cursor": cursor}
        )
        assert other_order.status_code == 400
        assert other_order.headers["X-Error-Code"] == "invalid_cursor"
        other_filter = account.api.call(
            "GET", hook + "/deliveries", params={"status": "failed", "cursor": cursor}
        )
        assert other_filter.status_code == 400
        assert "cursor" in other_filter.json()["message"]


def test_a_delivery_can_be_read_by_itself(account: Account) -> None:
    with Receiver(answer=lambda number: 200 if number else 500) as receiver:
        webhook = account.api.post("/v1/webhooks", {"url": receiver.url})
        hook = "/v1/webhooks/" + webhook["webhookId"]
        sent = account.api.post(hook + "/test")
        path = f"{hook}/deliveries/{sent['deliveryId']}"
        assert account.api.get(path) == sent

        again = account.api.post(path + "/retry")

        assert account.api.get(path) == again
        assert [attempt["statusCode"] for attempt in again["attempts"]] == [500, 200]
        account.api.delete(hook)
        gone = account.api.call("GET", path)
        assert (gone.status_code, gone.headers["X-Error-Code"]) == (404, "not_found")


def test_a_test_is_signed_and_logged(account: Account) -> None:
    with Receiver() as receiver:
        webhook = account.api.post("/v1/webhooks", {"url": receiver.url})
        hook = "/v1/webhooks/" + webhook["webhookId"]

        sent = account.api.post(hook + "/test")

        request = receiver.wait_for_count(1)[0]
        request.verify(webhook["secret"])
        assert request.webhook_id == sent["eventId"]
        assert request.json["event"] == "email.received"
        assert set(request.json["data"]) == {"emailId", "inboxId", "from", "subject"}
        assert sent["status"] == "succeeded"
        assert [attempt["statusCode"] for attempt in sent["attempts"]] == [200]
        assert _log(account, hook) == [sent]


def test_a_test_is_of_the_event_that_is_named(account: Account) -> None:
    with Receiver() as receiver:
        webhook = account.api.post(
            "/v1/webhooks", {"url": receiver.url, "events": ["email.received"]}
        )
        hook = "/v1/webhooks/" + webhook["webhookId"]
        events = ["email.received", "inbox.created", "inbox.expired"]

        sent = [account.api.post(hook + "/test", {"event": event}) for event in events]

        assert [delivery["event"] for delivery in sent] == events
        assert [request.json["event"] for request in receiver.wait_for_count(3)] == events
        other = {"Idempotency-Key": uuid.uuid4().hex}
        first = account.api.call("POST", hook + "/test", headers=other, json={"event": events[1]})
        again = account.api.call("POST", hook + "/test", headers=other, json={"event": events[2]})
        assert first.status_code == 200
        assert outcome(again) == (422, "idempotency_reused")


def test_a_test_says_what_went_wrong(account: Account) -> None:
    with Receiver(answer=lambda _number: 500) as receiver:
        hook = _hook(account, receiver)
    refused = account.api.post(hook + "/test")  # nobody listens any more

    assert refused["status"] == "failed"
    assert refused["attempts"][0]["statusCode"] is None
    assert refused["attempts"][0]["error"]


def test_tests_are_no_load_generator(account: Account) -> None:
    with Receiver() as receiver:
        hook = _hook(account, receiver)
        answers = [account.api.call("POST", hook + "/test") for _ in range(14)]

        refused = [answer for answer in answers if answer.status_code == 429]
        assert {outcome(answer) for answer in refused} == {(429, "manual_limit")}
        assert all(int(answer.headers["Retry-After"]) >= 1 for answer in refused)
        assert len(receiver.requests) == len(answers) - len(refused) <= 12


def test_a_test_repeated_with_its_key_is_sent_once(account: Account) -> None:
    with Receiver() as receiver:
        hook = _hook(account, receiver)
        headers = {"Idempotency-Key": uuid.uuid4().hex}

        first = account.api.call("POST", hook + "/test", headers=headers)
        again = account.api.call("POST", hook + "/test", headers=headers)

        assert first.json() == again.json()
        assert again.headers["Idempotency-Replayed"] == "true"
        assert len(receiver.requests) == 1


def test_a_delivery_is_sent_again_by_hand(suite: Suite, account: Account) -> None:
    answers = [500, 500, 200, 200]
    with Receiver(answer=lambda number: answers[min(number, 3)]) as receiver:
        hook = _hook(account, receiver)
        sent = send(suite, account.api.new_inbox()["emailAddress"])
        pending = _only(account, hook, "pending")

        failed = account.api.post(f"{hook}/deliveries/{pending['deliveryId']}/retry")
        assert failed["status"] == "pending", "it waits for its next attempt"
        assert len(failed["attempts"]) == 2
        done = account.api.post(f"{hook}/deliveries/{pending['deliveryId']}/retry")
        assert done["status"] == "succeeded"
        once_more = account.api.post(f"{hook}/deliveries/{pending['deliveryId']}/retry")
        assert once_more["status"] == "succeeded"

        assert {request.webhook_id for request in receiver.requests} == {sent.email_id}
        assert {request.body for request in receiver.requests} == {receiver.requests[0].body}
        assert [attempt["statusCode"] for attempt in once_more["attempts"]] == [500, 500, 200, 200]


def test_what_a_webhook_missed_is_replayed(suite: Suite, account: Account) -> None:
    with Receiver(answer=lambda number: 410 if number == 0 else 200) as receiver:
        hook = _hook(account, receiver)
        address = account.api.new_inbox()["emailAddress"]
        sent = [send(suite, address).email_id]
        eventually(lambda: account.api.get(hook)["isEnabled"] is False, "410 switches it off")
        sent += [send(suite, address).email_id for _ in range(4)]
        eventually(lambda: len(_log(account, hook, status="failed")) == 5, "all are kept as failed")
        refused = account.api.call("POST", hook + "/replay", json={"since": _an_hour_ago()})
        assert outcome(refused) == (409, "webhook_disabled")

        account.api.patch(hook, {"isEnabled": True})
        replayed = account.api.post(hook + "/replay", {"since": _an_hour_ago()})

        assert replayed == {"webhookId": hook.rpartition("/")[2], "replayedCount": 5}
        eventually(
            lambda: len(_log(account, hook, status="succeeded")) == 5,
            "all are delivered",
            seconds=30,
        )
        assert sorted(request.webhook_id for request in receiver.requests[1:]) == sorted(sent)
        assert account.api.post(hook + "/replay", {"since": _an_hour_ago()})["replayedCount"] == 0


def test_an_email_tells_why_it_went_where(suite: Suite, account: Account) -> None:
    with Receiver() as receiver:
        webhook_id = _hook(account, receiver).rpartition("/")[2]
        address = account.api.new_inbox()["emailAddress"]
        before = send(suite, address).email_id
        assert account.api.get("/v1/emails/" + before)["routing"] is None
        rules = [
            suite.operate(
                "rule",
                "create",
                account.account_id,
                "--name",
                word,
                "--webhook",
                webhook_id,
                "--when",
                f"subject contains {word}",
            )["id"]
            for word in ("invoice", "welcome")
        ]

        matched = send(suite, address, subject="Your invoice").email_id
        missed = send(suite, address, subject="Hello").email_id

        def routing(email: str) -> Any:
            return eventually(
                lambda: account.api.get("/v1/emails/" + email)["routing"], "the routing is known"
            )

        assert routing(matched) == [
            {"ruleId": rules[0], "isMatch": True},
            {"ruleId": rules[1], "isMatch": False},
        ]
        assert routing(missed) == [
            {"ruleId": rules[0], "isMatch": False},
            {"ruleId": rules[1], "isMatch": False},
        ]
        (delivery,) = [
            it for it in _log(account, "/v1/webhooks/" + webhook_id) if it["eventId"] == matched
        ]
        assert delivery["ruleIds"] == [rules[0]]


@pytest.fixture
def silent_dispatchers(suite: Suite) -> Iterator[None]:
    """Every dispatcher stands still."""
    numbers = range(1, len(suite.of_each("webhook-dispatcher", "PID")) + 1)
    for number in numbers:
        suite.signal("webhook-dispatcher", number, signal.SIGSTOP)
    try:
        yield
    finally:
        for number in numbers:
            suite.signal("webhook-dispatcher", number, signal.SIGCONT)


@pytest.mark.last
@pytest.mark.usefixtures("silent_dispatchers")
def test_an_email_is_read_while_no_dispatcher_answers(suite: Suite, account: Account) -> None:
    email = send(suite, account.api.new_inbox()["emailAddress"]).email_id

    took = []
    for _ in range(5):
        began = time.monotonic()
        assert account.api.get("/v1/emails/" + email)["routing"] is None
        took.append(time.monotonic() - began)

    assert min(took) < 2  # a call waits for 5 s where nothing else is said


@pytest.mark.last
def test_a_replay_survives_the_dispatcher(suite: Suite, account: Account) -> None:
    count = 60
    is_broken = True

    def answer(_number: int) -> int:
        return 410 if is_broken else 200

    with Receiver(answer=answer) as receiver:
        hook = _hook(account, receiver)
        address = account.api.new_inbox()["emailAddress"]
        sent = {send(suite, address).email_id}
        eventually(lambda: account.api.get(hook)["isEnabled"] is False, "410 switches it off")
        for _ in range(count - 1):
            sent.add(send(suite, address).email_id)
        eventually(
            lambda: len(_log(account, hook, status="failed", limit=100)) == count,
            "all are kept as failed",
            seconds=60,
        )
        is_broken = False
        account.api.patch(hook, {"isEnabled": True})

        assert (
            account.api.post(hook + "/replay", {"since": _an_hour_ago()})["replayedCount"] == count
        )
        receiver.wait_for_count(5)
        for number in range(1, len(suite.of_each("webhook-dispatcher", "PID")) + 1):
            suite.signal("webhook-dispatcher", number, signal.SIGKILL)

        def is_done() -> bool:
            found = account.api.call(
                "GET", hook + "/deliveries", params={"status": "succeeded", "limit": 100}
            )
            return found.status_code == 200 and len(found.json()["deliveries"]) == count

        eventually(is_done, "all are delivered", seconds=90)
        assert {request.webhook_id for request in receiver.requests} == sent
