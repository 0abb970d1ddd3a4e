"""What is repeated, how, and what is not."""

import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from scripted_server import Answer, Cut, ScriptedServer, Trickle, refusal

from tempinbox import (
    AsyncTempinbox,
    ConnectionFailed,
    Forbidden,
    NotFound,
    RateLimited,
    ServiceUnavailable,
    Tempinbox,
    TempinboxError,
    _calls,
    _waiting,
)

INBOX_ID = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"
INBOX: dict[str, Any] = {
    "inboxId": INBOX_ID,
    "emailAddress": "a@b.example",
    "name": None,
    "tags": [],
    "metadata": {},
    "status": "active",
    "emailCount": 0,
    "lastSequence": 0,
    "lastEmailAt": None,
    "createdAt": "2026-11-21T10:00:00.123Z",
    "expiresAt": "2026-11-21T11:00:00.123Z",
    "expiredAt": None,
}
DAY = {"X_RateLimit_Limit": "100", "X_RateLimit_Remaining": "0", "X_RateLimit_Reset": "1795305600"}


def test_a_call_goes_on_after_429_503_and_a_cut_under_one_key(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [
        refusal(429, "Too many in one second", Retry_After="1"),
        refusal(503, "Busy"),
        Cut(),
        Answer(201, INBOX),
    ]

    began = time.monotonic()
    inbox = scripted.create_inbox(name="x")

    assert inbox.inbox_id == INBOX_ID
    assert time.monotonic() - began >= 1
    keys = server.headers("Idempotency-Key")
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert keys[0]
    assert {path for _, path, _, _ in server.requests} == {"/prefix/v1/inboxes"}
    assert {body for _, _, _, body in server.requests} == {'{"name": "x"}'}


def test_two_calls_have_two_keys_unless_one_is_given(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [Answer(201, INBOX)]

    scripted.create_inbox()
    scripted.create_inbox()
    scripted.create_inbox(idempotency_key="mine")

    first, second, third = server.headers("Idempotency-Key")
    assert first != second
    assert third == "mine"


def test_a_wait_past_the_deadline_is_not_begun(server: ScriptedServer, scripted: Tempinbox) -> None:
    server.steps = [refusal(503, "Busy", Retry_After="6")]

    began = time.monotonic()
    with pytest.raises(ServiceUnavailable, match="Busy") as caught:
        scripted.get_inbox(INBOX_ID)

    assert time.monotonic() - began < 4
    assert caught.value.retry_after == 6
    assert len(server.requests) == 1


def test_a_date_as_retry_after_is_kept(server: ScriptedServer, scripted: Tempinbox) -> None:
    at = datetime.now(timezone.utc) + timedelta(hours=1)
    server.steps = [refusal(503, "Busy", Retry_After=format_datetime(at, usegmt=True))]

    with pytest.raises(ServiceUnavailable) as caught:
        scripted.get_account()

    assert caught.value.retry_after == pytest.approx(3600, abs=10)
    assert len(server.requests) == 1


@pytest.mark.parametrize("told", ["0", "Sat, 21 Nov 2020 10:00:00 GMT"])
def test_a_retry_after_that_is_over_is_no_loop_without_pause(
    server: ScriptedServer, told: str
) -> None:
    server.steps = [refusal(429, "Too many", Retry_After=told)]

    with (
        Tempinbox(base_url=server.url, api_key="x", timeout=1) as client,
        pytest.raises(RateLimited),
    ):
        client.get_account()

    assert 2 <= len(server.requests) <= 4


def test_a_used_up_day_is_told_at_once(server: ScriptedServer, scripted: Tempinbox) -> None:
    message = "The daily limit of 100 requests is used up; it resets at 2026-11-22T00:00:00.000Z"
    server.steps = [refusal(429, message, Retry_After="1", **DAY)]

    with pytest.raises(RateLimited, match="used up until 2026-11-22T00:00:00Z") as caught:
        scripted.get_account()

    assert caught.value.is_day_used_up
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "kind"), [(400, TempinboxError), (403, Forbidden), (500, TempinboxError)]
)
def test_other_answers_are_not_repeated(
    server: ScriptedServer, scripted: Tempinbox, status: int, kind: type[Exception]
) -> None:
    server.steps = [refusal(status, "No")]

    with pytest.raises(kind, match="No"):
        scripted.get_account()

    assert len(server.requests) == 1


def test_a_delete_whose_answer_was_cut_off_is_done(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [Cut(), refusal(404, "Inbox does not exist")]
    scripted.delete_inbox(INBOX_ID)

    with pytest.raises(NotFound):
        scripted.delete_inbox(INBOX_ID)


def test_a_repeat_waits_for_the_try_that_is_under_way(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [Cut(), refusal(409, "under way", Retry_After="1"), Answer(201, INBOX)]

    assert scripted.create_inbox().inbox_id == INBOX_ID


def test_cuts_without_end_name_the_service(server: ScriptedServer, scripted: Tempinbox) -> None:
    server.steps = [Cut()]

    with pytest.raises(ConnectionFailed, match=r"failed, \d times: .*TEMPINBOX_BASE_URL"):
        scripted.get_account()

    assert 1 < len(server.requests) <= 6


def test_unknown_fields_are_kept_aside(server: ScriptedServer, scripted: Tempinbox) -> None:
    server.steps = [Answer(200, INBOX | {"color": "red", "status": "sleeping"})]

    inbox = scripted.get_inbox(INBOX_ID)

    assert inbox.extra == {"color": "red"}
    assert str(inbox.status) == "sleeping"


def test_what_is_no_answer_of_the_api_is_said_to_be(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [Answer(200, [])]
    with pytest.raises(TempinboxError, match="no object"):
        scripted.get_account()

    server.steps = [Answer(200, {"inboxId": INBOX_ID})]
    with pytest.raises(TempinboxError, match="Inbox without emailAddress"):
        scripted.get_inbox(INBOX_ID)


def test_a_cut_wait_goes_on_after_the_same_position(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    nothing: dict[str, Any] = {"email": None, "lastSequence": 3, "waitedMs": 1, "nearMisses": []}
    miss = {"emailId": INBOX_ID, "field": "subject", "expected": "code", "actual": "Hi\u202e\n"}
    server.steps = [
        Cut(),
        Answer(200, nothing | {"outcome": "interrupted"}),
        Answer(200, nothing | {"outcome": "timeout", "nearMisses": [miss]}),
    ]

    with pytest.raises(TempinboxError) as caught:
        scripted.wait_for_email(INBOX_ID, subject="code", after=3, timeout=1.4)

    text = str(caught.value)
    assert 'asked for: subject: "code", after: 3' in text
    assert 'subject should be "code", is "Hi  "' in text
    assert f"{server.url}/dashboard/inboxes/{INBOX_ID}" in text
    paths = [path for _, path, _, _ in server.requests]
    assert len(paths) >= 2
    assert all("after=3" in path and "subject=code" in path for path in paths)


def test_a_wait_that_was_cut_asks_for_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch, scripted: Tempinbox
) -> None:
    clock = SimpleNamespace(now=1000.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(_calls, "time", clock)
    flow = _waiting.expect_no_email(_waiting.begin(scripted.settings, INBOX_ID, {}, None, 60))
    first = next(flow)
    assert isinstance(first, _calls.Send)
    assert "timeoutSeconds=60" in first.url

    clock.now += 50
    pause = flow.send(_calls.Cut("cut"))
    assert isinstance(pause, _calls.Sleep)
    clock.now += pause.seconds
    second = flow.send(None)

    assert isinstance(second, _calls.Send)
    assert "timeoutSeconds=10" in second.url
    assert second.seconds < 10 + 15


def test_an_answer_that_trickles_is_given_up_at_the_deadline(server: ScriptedServer) -> None:
    server.steps = [Trickle()]

    began = time.monotonic()
    with (
        Tempinbox(base_url=server.url, api_key="x", timeout=1) as client,
        pytest.raises(ConnectionFailed, match="no answer within 1 s"),
    ):
        client.get_account()

    assert time.monotonic() - began < 20


@pytest.mark.anyio
async def test_the_client_that_awaits_gives_up_at_the_deadline_as_well(
    server: ScriptedServer,
) -> None:
    server.steps = [Trickle()]

    began = time.monotonic()
    async with AsyncTempinbox(base_url=server.url, api_key="x", timeout=1) as client:
        with pytest.raises(ConnectionFailed, match="no answer within 1 s"):
            await client.get_account()

    assert time.monotonic() - began < 20


@pytest.mark.anyio
async def test_a_block_that_is_cancelled_ends_its_inbox_all_the_same(
    server: ScriptedServer,
) -> None:
    server.steps = [Answer(201, INBOX), Answer(200, {"inboxId": INBOX_ID, "deleted": True})]

    async with AsyncTempinbox(base_url=server.url, api_key="x", timeout=5) as client:
        with anyio.CancelScope() as scope:
            async with client.with_inbox():
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught

    assert [method for method, _, _, _ in server.requests] == ["POST", "DELETE"]


@pytest.mark.anyio
async def test_the_client_that_awaits_has_the_same_rules(server: ScriptedServer) -> None:
    server.steps = [refusal(503, "Busy"), Cut(), Answer(201, INBOX)]

    async with AsyncTempinbox(base_url=server.url, api_key="x", timeout=5) as client:
        inbox = await client.create_inbox()

    assert inbox.inbox_id == INBOX_ID
    assert len(set(server.headers("Idempotency-Key"))) == 1
