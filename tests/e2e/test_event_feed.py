"""Following the events of an account by GET /v1/events: each once, none skipped."""

import concurrent.futures
import json
import smtplib
import socket
import statistics
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests
from confluent_kafka import Producer
from dev.ports import free_port
from dev.waiting import delay_until
from harness import (
    SENDER,
    Account,
    Api,
    Event,
    Gateway,
    Receiver,
    Suite,
    Topic,
    eventually,
    in_force,
    send,
    status_is,
)


def _begin(api: Api) -> str:
    """The present place; begins the feed of a new account."""
    first = api.get("/v1/events")
    assert first["events"] == []
    assert not first["hasMore"]
    return str(first["nextCursor"])


def _follow(api: Api, after: str, count: int, **query: Any) -> tuple[list[dict[str, Any]], str]:
    """So many events, and the place behind them."""
    found: list[dict[str, Any]] = []
    end = time.monotonic() + 30
    while len(found) < count and time.monotonic() < end:
        page = api.get("/v1/events", after=after, waitSeconds=5, **query)
        found += page["events"]
        after = page["nextCursor"]
    assert len(found) == count
    return found, after


def _ids(events: list[dict[str, Any]]) -> list[str]:
    return [event["eventId"] for event in events]


def _ago(minutes: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60 * minutes))


def _sql(suite: Suite, statement: str) -> str:
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", suite["DATABASE"], "-c", statement]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _key(suite: Suite, account: Account, *options: str) -> Api:
    made = suite.operate("key", "create", account.account_id, "--label", "less", *options)
    return Api(suite["API"], made["key"])


@pytest.fixture
def api(account: Account) -> Api:
    """An account of the test's own: no other test makes events in it."""
    return account.api


@pytest.fixture
def pool() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    """Threads for requests that wait."""
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        yield threads


def test_the_feed_has_what_webhooks_get(suite: Suite, account: Account) -> None:
    api = account.api
    with Receiver() as receiver:
        api.post("/v1/webhooks", {"url": receiver.url})
        after = _begin(api)

        inbox, other = api.new_inbox(), api.new_inbox()
        sent = [send(suite, inbox["emailAddress"], subject=f"number {n}").email_id for n in "123"]
        api.delete("/v1/inboxes/" + other["inboxId"])

        events, _ = _follow(api, after, 6)
        requests = {it.webhook_id: it.body for it in receiver.wait_for_count(6)}
    assert {one["eventId"]: one["payload"] for one in events} == {
        name: json.loads(body) for name, body in requests.items()
    }
    # Byte for byte.
    page = api.call("GET", "/v1/events", params={"after": after})
    assert all(body in page.content for body in requests.values())
    mails = [one for one in events if one["payload"]["event"] == "email.received"]
    assert _ids(mails) == sent
    [ended] = [one for one in events if one["payload"]["event"] == "inbox.expired"]
    assert ended["payload"]["data"]["inboxId"] == other["inboxId"]


def test_a_wait_ends_with_the_event(
    suite: Suite, api: Api, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    inbox = api.new_inbox()
    after = _begin(api)
    # `inbox.created` may come behind the beginning: Kafka gives it back when it likes.
    waiting = pool.submit(
        api.get, "/v1/events", after=after, waitSeconds=30, types="email.received"
    )

    sent = send(suite, inbox["emailAddress"])

    answer = waiting.result(timeout=10)
    assert _ids(answer["events"])[-1] == sent.email_id


_TIMED_MAILS = 11
_BEHIND_WEBHOOK_SECONDS = 0.1


def test_a_wait_ends_when_the_webhook_comes(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    after = _begin(api)
    late = []
    with Receiver() as receiver, concurrent.futures.ThreadPoolExecutor(2) as threads:
        api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})

        def webhook(count: int) -> float:
            receiver.wait_for_count(count)
            return time.monotonic()

        def answer(after: str) -> tuple[float, str]:
            page = api.get("/v1/events", after=after, waitSeconds=30, types="email.received")
            return time.monotonic(), page["nextCursor"]

        for count in range(1, _TIMED_MAILS + 1):
            came, answered = threads.submit(webhook, count), threads.submit(answer, after)
            send(suite, inbox["emailAddress"])
            at, after = answered.result(timeout=30)
            late.append(at - came.result(timeout=30))

    # Of a busy machine the middle one counts.
    assert statistics.median(late) < _BEHIND_WEBHOOK_SECONDS


def test_a_wait_for_nothing_ends_with_the_place(api: Api) -> None:
    after = _begin(api)
    began = time.monotonic()

    answer = api.get("/v1/events", after=after, waitSeconds=1)

    assert 0.9 < time.monotonic() - began < 5
    assert answer == {"events": [], "nextCursor": after, "hasMore": False}


def test_pages_and_filters_go_on_behind_what_they_looked_at(suite: Suite, api: Api) -> None:
    after = _begin(api)
    inbox = api.new_inbox()
    for _ in range(3):
        send(suite, inbox["emailAddress"])
    api.delete("/v1/inboxes/" + inbox["inboxId"])
    events, end = _follow(api, after, 5)

    pages = []
    cursor = after
    for _ in range(3):
        pages.append(api.get("/v1/events", after=cursor, limit=2))
        cursor = pages[-1]["nextCursor"]
    assert [len(page["events"]) for page in pages] == [2, 2, 1]
    assert [page["hasMore"] for page in pages] == [True, True, False]
    assert [one for page in pages for one in _ids(page["events"])] == _ids(events)

    ended = api.get("/v1/events", after=after, types="inbox.expired")
    assert [one["payload"]["event"] for one in ended["events"]] == ["inbox.expired"]
    assert ended["nextCursor"] == end
    assert _ids(api.get("/v1/events", after="earliest", inboxId=inbox["inboxId"])["events"]) == (
        _ids(events)
    )
    # From an event of a webhook or a topic, and by time.
    assert _ids(api.get("/v1/events", after=events[2]["eventId"])["events"]) == _ids(events[3:])
    assert events[2]["cursor"] != events[3]["cursor"]
    assert _ids(api.get("/v1/events", after=events[2]["cursor"])["events"]) == _ids(events[3:])
    assert _ids(api.get("/v1/events", since=_ago(10))["events"]) == _ids(events)
    for query in ({"since": _ago(73 * 60)}, {"since": _ago(10), "after": after}):
        assert api.call("GET", "/v1/events", params=query).status_code == 400


def test_cursors_are_of_their_account(api: Api, other_account: Account) -> None:
    after = _begin(api)
    changed = after[:-1] + ("A" if after[-1] != "A" else "B")
    for key, cursor in ((other_account.api, after), (api, changed), (api, "x")):
        refused = key.call("GET", "/v1/events", params={"after": cursor})
        assert refused.status_code == 400
        assert refused.headers["X-Error-Code"] == "invalid_cursor"


def test_an_inbox_that_is_not_the_caller_s_does_not_exist(api: Api, other_account: Account) -> None:
    theirs = other_account.api.new_inbox()["inboxId"]
    for inbox in (theirs, str(uuid.uuid4())):
        refused = api.call("GET", "/v1/events", params={"inboxId": inbox})
        assert refused.status_code == 404
        assert refused.json()["statusCode"] == 404


def _lost(api: Api, cursor: str, code: str) -> requests.Response:
    """The refusal of a place that there is no going on from."""
    refused = api.call("GET", "/v1/events", params={"after": cursor})
    assert refused.status_code == 410
    assert refused.headers["X-Error-Code"] == code
    assert set(refused.json()) == {"statusCode", "error", "message"}
    return refused


def test_events_that_are_gone_are_counted_and_left_behind(suite: Suite, account: Account) -> None:
    api = account.api
    after = _begin(api)
    inbox = api.new_inbox()
    for _ in range(3):
        send(suite, inbox["emailAddress"])
    events, _ = _follow(api, after, 4)
    feed = f"account_id = '{account.account_id}'"
    _sql(suite, f"DELETE FROM webhooks.feed_events WHERE {feed} AND position <= 2")

    gone = _lost(api, after, "cursor_expired")

    assert gone.headers["X-Missed-Events"] == "2"
    assert "2" in gone.json()["message"]
    rest = api.get("/v1/events", after=gone.headers["X-Resume-After"])
    assert _ids(rest["events"]) == _ids(events[2:])
    tagged = _lost(_key(suite, account, "--tag", "ours"), after, "cursor_expired")
    assert "X-Missed-Events" not in tagged.headers


def test_a_stream_says_what_it_lost_and_ends(suite: Suite, account: Account) -> None:
    stream = _Stream(account.api)
    stream.frame()
    # As if five events had been there, and were dropped before the stream came to them.
    _sql(
        suite,
        "UPDATE webhooks.feeds SET last_position = last_position + 5 "
        f"WHERE account_id = '{account.account_id}'",
    )

    lost = stream.frame()

    assert lost["event"] == "error"
    error = json.loads(lost["data"])
    assert error["code"] == "cursor_expired"
    assert error["missed"] == 5
    assert account.api.get("/v1/events", after=error["resumeAfter"])["events"] == []
    assert stream.frame() == {"ended": ""}


def test_a_pause_is_a_loss(suite: Suite, account: Account) -> None:
    api = account.api
    after = _begin(api)
    inbox = api.new_inbox()
    _, after = _follow(api, after, 1)
    owner = f"account_id = '{account.account_id}'"
    # As a week without a reader does.
    _sql(
        suite,
        f"BEGIN; UPDATE webhooks.config_versions SET version = version + 1 WHERE {owner}; "
        f"UPDATE webhooks.feeds SET is_recording = false WHERE {owner}; COMMIT",
    )
    with Receiver() as receiver:
        api.post("/v1/webhooks", {"url": receiver.url})
        send(suite, inbox["emailAddress"])
        receiver.wait_for_count(1)

    paused = _lost(api, after, "cursor_expired")

    sent = send(suite, inbox["emailAddress"]).email_id
    _lost(api, after, "cursor_expired")
    events, _ = _follow(api, paused.headers["X-Resume-After"], 1)
    assert _ids(events) == [sent]


def test_after_a_restore_who_was_past_the_moment_is_told_so_once(
    suite: Suite, account: Account
) -> None:
    api = account.api
    after = _begin(api)
    inbox = api.new_inbox()
    for _ in range(3):
        send(suite, inbox["emailAddress"])
    kept, past = _follow(api, after, 4)
    before = kept[1]["cursor"]
    owner = f"account_id = '{account.account_id}'"
    # As it was behind the third event, on another timeline.
    _sql(
        suite,
        f"BEGIN; DELETE FROM webhooks.feed_events WHERE {owner} AND position > 3; "
        f"UPDATE webhooks.feeds SET server = 'restored' WHERE {owner}; COMMIT",
    )
    fresh = [send(suite, inbox["emailAddress"]).email_id for _ in range(2)]
    _follow(api, before, 3)

    reset = _lost(api, past, "cursor_reset")

    events, end = _follow(api, reset.headers["X-Resume-After"], 2)
    assert _ids(events) == fresh
    assert api.get("/v1/events", after=end)["events"] == []
    assert _ids(api.get("/v1/events", after=before)["events"]) == [kept[2]["eventId"], *fresh]


def test_a_key_sees_what_its_scopes_and_its_tag_allow(suite: Suite, account: Account) -> None:
    after = _begin(account.api)
    ours, theirs = (account.api.new_inbox(tags=[tag]) for tag in ("ours", "theirs"))
    for inbox in (ours, theirs):
        send(suite, inbox["emailAddress"])
    account.api.delete("/v1/inboxes/" + ours["inboxId"])
    events, _ = _follow(account.api, after, 5)

    mails = _key(suite, account, "--scope", "emails:read")
    assert {one["payload"]["event"] for one in mails.get("/v1/events", after=after)["events"]} == {
        "email.received"
    }
    refused = mails.call("GET", "/v1/events", params={"types": "inbox.created"})
    assert refused.status_code == 403
    assert refused.headers["X-Error-Code"] == "scope_required"

    tagged = _key(suite, account, "--tag", "ours")
    of_ours = [one for one in events if one["payload"]["data"]["inboxId"] == ours["inboxId"]]
    assert len(of_ours) == 3
    for key, query in ((tagged, {}), (account.api, {"tag": "ours"}), (tagged, {"tag": "ours"})):
        assert _ids(key.get("/v1/events", after=after, **query)["events"]) == _ids(of_ours)
    assert tagged.get("/v1/events", after=after, tag="theirs")["events"] == []
    [other, *_] = [one for one in events if one not in of_ours]
    assert tagged.call("GET", "/v1/events", params={"after": other["eventId"]}).status_code == 400
    hidden = tagged.call("GET", "/v1/events", params={"inboxId": theirs["inboxId"]})
    assert hidden.status_code == 404
    both = {"after": after, "inboxId": theirs["inboxId"]}
    assert len(account.api.get("/v1/events", tag="theirs", **both)["events"]) == 2
    assert account.api.get("/v1/events", tag="ours", **both)["events"] == []


def test_a_tag_is_judged_when_the_answer_is_made(suite: Suite, account: Account) -> None:
    api, tagged = account.api, _key(suite, account, "--tag", "run")
    after = _begin(api)
    taken, kept = (api.new_inbox(tags=["run"]) for _ in range(2))
    for inbox in (taken, kept):
        send(suite, inbox["emailAddress"])
    events, end = _follow(api, after, 4, tag="run")
    assert _ids(tagged.get("/v1/events", after=after)["events"]) == _ids(events)

    api.patch("/v1/inboxes/" + taken["inboxId"], {"tags": []})

    rest = [one for one in events if one["payload"]["data"]["inboxId"] == kept["inboxId"]]
    assert len(rest) == 2
    for key, query in ((api, {"tag": "run"}), (tagged, {})):
        page = key.get("/v1/events", after=after, **query)
        assert (_ids(page["events"]), page["nextCursor"]) == (_ids(rest), end)
    api.patch("/v1/inboxes/" + kept["inboxId"], {"tags": []})
    for key, query in ((api, {"tag": "run"}), (tagged, {})):
        page = key.get("/v1/events", after=after, **query)
        assert page == {"events": [], "nextCursor": end, "hasMore": False}


def _repeated_events(suite: Suite) -> float:
    """How many records the dispatchers dropped, since the feed had their events."""
    name = 'tempinbox_feed_events_total{outcome="repeated"}'
    pages = [
        requests.get(f"http://{admin}/metrics", timeout=5).text.splitlines()
        for admin in suite.of_each("webhook-dispatcher", "ADMIN")
    ]
    return sum(float(line.split()[-1]) for page in pages for line in page if line.startswith(name))


def _produce_again(suite: Suite, event: Event) -> None:
    """Sends a record once more, as a producer does that did not hear of the first time."""
    producer = Producer({"bootstrap.servers": suite["KAFKA"]})
    producer.produce(
        event.topic,
        key=event.key,
        value=event.value,
        partition=event.partition,
        headers=list(event.binary_headers.items()),
    )
    assert producer.flush(30) == 0


def test_records_that_come_again_are_one_event(suite: Suite, account: Account) -> None:
    api = account.api
    after = _begin(api)
    before = _repeated_events(suite)
    again: list[str] = []
    with (
        Topic(suite, "inbox.created") as made,
        Topic(suite, "email.received") as mails,
        Topic(suite, "inbox.expired") as ended,
    ):
        inbox = api.new_inbox()
        sent = [send(suite, inbox["emailAddress"]).email_id for _ in range(2)]
        api.delete("/v1/inboxes/" + inbox["inboxId"])
        for topic in (made, mails, mails, ended):
            event = topic.wait_for(lambda it: it.key == inbox["inboxId"], "an event of the inbox")
            # One may come in the batch of the first, the other comes behind it.
            for _ in range(2):
                _produce_again(suite, event)
            again.append(event.headers["ce_id"])

    eventually(lambda: _repeated_events(suite) >= before + 2 * len(again), "the rest is dropped")
    events, end = _follow(api, after, 4)
    assert sorted(_ids(events)) == sorted(again)
    assert [one for one in _ids(events) if one in sent] == sent
    last = send(suite, api.new_inbox()["emailAddress"]).email_id
    behind, _ = _follow(api, end, 2)
    assert last in _ids(behind)


_UNREAD_MAILS = 500


def _send_many(suite: Suite, address: str, count: int) -> None:
    """In one session, a transaction each."""
    host, _, port = suite["SMTP"].rpartition(":")
    message = b"Subject: one of many\r\n\r\nHello\r\n"
    with smtplib.SMTP(host, int(port), local_hostname="sender.example", timeout=30) as server:
        for _ in range(count):
            assert server.sendmail(SENDER, [address], message) == {}


def test_an_account_that_nobody_follows_has_no_feed(
    suite: Suite, account: Account, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    quiet, followed = Account.make(suite), account.api
    unread = quiet.api.new_inbox()
    after = _begin(followed)
    with Receiver() as receiver:
        quiet.api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})

        sending = pool.submit(_send_many, suite, unread["emailAddress"], _UNREAD_MAILS)
        inbox = followed.new_inbox()
        sent = [send(suite, inbox["emailAddress"]).email_id for _ in range(3)]
        followed.delete("/v1/inboxes/" + inbox["inboxId"])
        sending.result(timeout=120)

        events, _ = _follow(followed, after, 5)
        # So the dispatchers had all of them.
        eventually(
            lambda: len({request.webhook_id for request in receiver.requests}) == _UNREAD_MAILS,
            "each mail has its webhook",
            seconds=60,
        )

    assert {one["payload"]["data"]["inboxId"] for one in events} == {inbox["inboxId"]}
    assert [name for name in _ids(events) if name in sent] == sent
    of_quiet = f"WHERE account_id = '{quiet.account_id}'"
    for table in ("feeds", "feed_events"):
        assert _sql(suite, f"SELECT count(*) FROM webhooks.{table} {of_quiet}") == "0"
    assert quiet.api.get("/v1/events", after="earliest")["events"] == []
    assert quiet.api.call("GET", "/v1/events", params={"after": sent[0]}).status_code == 400


def test_every_reader_gets_each_event_once(
    suite: Suite, api: Api, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    after = _begin(api)
    inboxes = [api.new_inbox() for _ in range(4)]
    readers = [
        pool.submit(_follow, Api(gateway, api.headers["X-API-Key"]), after, 44, limit=7)
        for gateway in suite.of_each("gateway", "URL")
        for _ in range(2)
    ]

    for inbox in inboxes:
        for number in range(10):
            send(suite, inbox["emailAddress"], subject=f"number {number}")

    read = [_ids(reader.result(timeout=60)[0]) for reader in readers]
    assert all(one == read[0] for one in read)
    assert len(set(read[0])) == 44
    eventually(lambda: api.get("/v1/events", after=after, limit=500)["events"], "the feed stays")


class _Stream:
    """An open stream of events, read line by line."""

    def __init__(self, api: Api, **more: Any) -> None:
        headers = {"Accept": "text/event-stream", **more.pop("headers", {})}
        # Not by Api.call, which reads a response to its end.
        self._response = requests.get(
            api.base + "/v1/events",
            params=more,
            headers={**api.headers, **headers},
            stream=True,
            timeout=30,
        )
        assert self._response.status_code == 200, self._response.text
        assert self._response.headers["Content-Type"] == "text/event-stream"
        self._lines = self._response.iter_lines(chunk_size=1)

    def frame(self) -> dict[str, str]:
        """The fields of the next event; a comment is the field ``."""
        fields: dict[str, str] = {}
        for line in self._lines:
            if not line:
                return fields
            name, _, value = line.decode().partition(": ")
            fields[name] = value
        return {"ended": ""}

    def events(self, count: int) -> list[dict[str, str]]:
        """So many frames with data."""
        found: list[dict[str, str]] = []
        while len(found) < count:
            frame = self.frame()
            assert "ended" not in frame
            if "data" in frame:
                found.append(frame)
        return found

    def close(self) -> None:
        """Hangs up."""
        self._response.close()


def test_a_stream_that_was_cut_goes_on_behind_the_last_id(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    stream = _Stream(api, types="email.received")
    assert stream.frame()["retry"] == "2000"
    sent = [send(suite, inbox["emailAddress"]).email_id for _ in range(3)]
    first = stream.events(1)[0]
    assert first["event"] == "email.received"
    assert json.loads(first["data"])["eventId"] == sent[0]
    stream.close()

    again = _Stream(api, types="email.received", headers={"Last-Event-ID": first["id"]})

    rest = [json.loads(frame["data"]) for frame in again.events(2)]
    assert _ids(rest) == sent[1:]
    page = api.get("/v1/events", after=first["id"], types="email.received")
    assert [one["payload"] for one in page["events"]] == [one["payload"] for one in rest]
    again.close()


def test_a_stream_is_kept_alive_and_moves_behind_what_it_leaves_out(
    suite: Suite, account: Account
) -> None:
    api = account.api
    stream = _Stream(api, types="email.received")
    begin = stream.frame()["id"]
    _store_events(suite, account, 1_000, _INBOX_EXPIRED)

    alive = stream.frame()

    assert alive[""] == "alive"
    assert alive["id"] != begin
    assert api.get("/v1/events", after=alive["id"])["events"] == []
    sent = send(suite, api.new_inbox()["emailAddress"]).email_id
    [frame] = stream.events(1)
    assert json.loads(frame["data"])["eventId"] == sent
    stream.close()
    again = _Stream(api, types="email.received", headers={"Last-Event-ID": alive["id"]})
    assert again.frame()["id"] == alive["id"]
    assert again.events(1) == [frame]
    again.close()


def test_a_stream_goes_on_at_another_gateway(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    with Gateway(suite) as gateway:
        other = Api(f"http://{gateway.address}", api.headers["X-API-Key"])
        stream = _Stream(other, types="email.received")
        stream.frame()
        sent = [send(suite, inbox["emailAddress"]).email_id]
        [first] = stream.events(1)
        gateway.terminate()
        assert stream.frame() == {"ended": ""}
        sent += [send(suite, inbox["emailAddress"]).email_id for _ in range(2)]

        again = _Stream(api, types="email.received", headers={"Last-Event-ID": first["id"]})

        rest = [json.loads(frame["data"]) for frame in again.events(2)]
        again.close()
    assert _ids([json.loads(first["data"]), *rest]) == sent


def test_a_stream_ends_when_its_key_is_revoked(suite: Suite, account: Account) -> None:
    made = suite.operate("key", "create", account.account_id, "--label", "short")
    stream = _Stream(Api(suite["API"], made["key"]))
    stream.frame()

    suite.operate("key", "revoke", account.account_id, made["keyId"])
    began = time.monotonic()

    assert stream.frame() == {"ended": ""}
    assert time.monotonic() - began < 2


def test_a_revoked_key_gets_no_event_that_it_waited_for(
    suite: Suite, account: Account, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    inbox = account.api.new_inbox()
    with Gateway(suite) as gateway:
        api = Api(f"http://{gateway.address}", account.key)
        after = _begin(api)
        query = {"after": after, "waitSeconds": 30, "types": "email.received"}
        waiting = pool.submit(api.call, "GET", "/v1/events", params=query)
        eventually(lambda: gateway.metric("tempinbox_gateway_waiting_requests") == 1, "it waits")
        (key,) = suite.operate("key", "list", account.account_id)["keys"]
        suite.operate("key", "revoke", account.account_id, key["keyId"])
        in_force([Api(f"http://{gateway.address}", account.key)], status_is(401), "it is refused")

        assert send(suite, inbox["emailAddress"]).is_accepted

        refused = waiting.result(timeout=40)
    assert refused.status_code == 401
    assert set(refused.json()) == {"statusCode", "error", "message"}


def test_without_a_dispatcher_events_are_unavailable(suite: Suite, api: Api) -> None:
    after = _begin(api)
    with Gateway(suite, webhook_dispatcher_rpc=f"127.0.0.1:{free_port()}") as gateway:
        alone = Api(f"http://{gateway.address}", api.headers["X-API-Key"])
        answers = [
            alone.call("GET", "/v1/events", params=query, headers={"Accept": accept})
            for query in ({}, {"after": after}, {"after": str(uuid.uuid4())})
            for accept in ("application/json", "text/event-stream")
        ]
        answers.append(alone.call("GET", "/v1/events", params={"after": after, "waitSeconds": 30}))

    for refused in answers:
        assert refused.status_code == 503
        assert refused.headers["X-Error-Code"] == "unavailable"
        assert int(refused.headers["Retry-After"]) > 0
    assert api.get("/v1/events", after=after)["events"] == []


def test_a_stream_refuses_what_belongs_to_a_page(api: Api) -> None:
    for query in ({"limit": 5}, {"waitSeconds": 5}):
        refused = api.call(
            "GET", "/v1/events", params=query, headers={"Accept": "text/event-stream"}
        )
        assert refused.status_code == 400


def test_one_waiting_reader_too_many_is_refused(
    suite: Suite, account: Account, pool: concurrent.futures.ThreadPoolExecutor
) -> None:
    key = account.api.headers["X-API-Key"]
    with Gateway(suite, waits_per_account="2") as gateway:
        api = Api(f"http://{gateway.address}", key)
        after = _begin(api)
        inbox = api.new_inbox()
        _, after = _follow(api, after, 1)
        waits = f"/v1/inboxes/{inbox['inboxId']}/emails/wait"
        waiting = [
            pool.submit(api.get, "/v1/events", after=after, waitSeconds=30),
            pool.submit(api.get, waits, timeoutSeconds=30),
        ]

        eventually(lambda: gateway.metric("tempinbox_gateway_waiting_requests") == 2, "both wait")
        page = api.call("GET", "/v1/events", params={"after": after, "waitSeconds": 5})
        stream = api.call("GET", "/v1/events", headers={"Accept": "text/event-stream"})
        # One that does not wait is none of them.
        assert api.get("/v1/events", after=after)["events"] == []
        send(suite, inbox["emailAddress"])
        for each in waiting:
            each.result(timeout=30)
        assert len(api.get("/v1/events", after=after, waitSeconds=1)["events"]) == 1

    for refused in (page, stream):
        assert refused.status_code == 429
        assert refused.headers["X-Error-Code"] == "wait_limit"
        assert int(refused.headers["Retry-After"]) > 0


def test_the_operator_sees_that_all_doors_show_the_same(
    suite: Suite, account: Account, pool: concurrent.futures.ThreadPoolExecutor, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_text(account.api.headers["X-API-Key"], encoding="ascii")
    key.chmod(0o600)
    command = ["--api", suite["API"], "--api-key-file", str(key), "--seconds", "8"]
    receiver = f"127.0.0.1:{free_port()}"
    comparing = pool.submit(
        suite.operate, "events", "compare-doors", *command, "--receiver", receiver
    )

    # From before it looks to after it has ended, so that there is something at both edges.
    made = 0
    while not comparing.done():
        inbox = account.api.new_inbox()
        send(suite, inbox["emailAddress"])
        if made % 3 == 0:
            account.api.delete("/v1/inboxes/" + inbox["inboxId"])
        made += 1
        delay_until(time.monotonic() + 0.2)

    doors = {each["door"]: each for each in comparing.result()["doors"]}
    assert set(doors) == {"topics", "webhook", "feed", "emails"}
    assert all(each["good"] and each["missing"] == 0 for each in doors.values())
    assert doors["feed"]["events"] > 10
    assert doors["emails"]["events"] > 0
    assert account.api.get("/v1/webhooks")["webhooks"] == []


# Types of events as they are stored.
_EMAIL_RECEIVED = 1
_INBOX_EXPIRED = 3
_STORED = 10_000
_BODY_BYTES = 2_000
_PAGE_BYTES = 256 * 1024
_SLOW_STREAMS = 16
# Of the heap, which gives back nothing of a busy moment.
_SPARE_BYTES = 8 * 1024 * 1024


def _store_events(suite: Suite, account: Account, count: int, kind: int = _EMAIL_RECEIVED) -> None:
    """Puts so many events of a type into the feed, as many mails would."""
    payload = f"""'{{"event":"email.received","is":"' || repeat('x', {_BODY_BYTES}) || '"}}'"""
    statement = (
        "INSERT INTO webhooks.feed_events (account_id, position, event_id, inbox_id, type, "
        f"recorded_at, body) SELECT f.account_id, n, gen_random_uuid(), gen_random_uuid(), {kind}, "
        f"now(), convert_to({payload}, 'UTF8') FROM webhooks.feeds AS f, "
        f"generate_series(1, {count}) AS n WHERE f.account_id = '{account.account_id}'"
    )
    _sql(suite, statement)


def test_a_stream_that_is_read_slowly_holds_one_page(suite: Suite, account: Account) -> None:
    after = _begin(account.api)
    _store_events(suite, account, _STORED)
    head = (
        f"GET /v1/events?after={after} HTTP/1.1\r\nHost: gateway\r\n"
        f"X-API-Key: {account.api.headers['X-API-Key']}\r\nAccept: text/event-stream\r\n\r\n"
    )
    with Gateway(suite) as gateway, ExitStack() as open_ones:
        # What a first page costs is paid before.
        # Not by Api, whose contract has no such payloads.
        page = requests.get(
            f"http://{gateway.address}/v1/events",
            params={"after": after, "limit": "500"},
            headers=account.api.headers,
            timeout=30,
        )
        assert page.json()["hasMore"]
        before = gateway.metric("process_resident_memory_bytes")
        host, _, port = gateway.address.rpartition(":")
        slow = []
        for _ in range(_SLOW_STREAMS):
            reader = open_ones.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(10)
            reader.connect((host, int(port)))
            reader.sendall(head.encode())
            slow.append(reader)
        for _ in range(4):
            for reader in slow:
                assert len(reader.recv(1)) == 1
            delay_until(time.monotonic() + 1)

        grown = gateway.metric("process_resident_memory_bytes") - before

    assert grown < _SLOW_STREAMS * _PAGE_BYTES + _SPARE_BYTES
