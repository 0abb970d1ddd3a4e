"""Following the events of an account."""

import itertools
from typing import Any

import anyio
import pytest
from scripted_server import Answer, Cut, ScriptedServer, refusal
from suite_tools import send

from tempinbox import AsyncTempinbox, CursorExpired, CursorReset, Tempinbox, types


def _page(cursor: str, *ids: str) -> Answer:
    payload: dict[str, Any] = {
        "event": "inbox.created",
        "timestamp": "2026-11-21T10:00:00.000Z",
        "data": {
            "inboxId": "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f",
            "emailAddress": "a@inbox.example.com",
            "createdAt": "2026-11-21T10:00:00.000Z",
            "expiresAt": "2026-11-21T11:00:00.000Z",
        },
    }
    events = [{"eventId": one, "cursor": "c" + one, "payload": payload} for one in ids]
    return Answer(200, {"events": events, "nextCursor": cursor, "hasMore": False})


def _serving(*steps: Answer | Cut) -> ScriptedServer:
    server = ScriptedServer()
    server.steps += steps
    return server


def test_events_of_the_suite_are_followed(client: Tempinbox) -> None:
    after = client.list_events().next_cursor
    with client.with_inbox() as inbox:
        events = client.events(after=after, inbox=inbox)
        send(inbox.email_address, "one", "Hello")

        created, email = itertools.islice(events, 2)

        assert isinstance(created.payload, types.InboxCreatedEvent)
        assert isinstance(email.payload, types.EmailReceivedEvent)
        assert email.payload.data.subject == "one"
        page = client.list_events(after=created.cursor, inbox=inbox, types_=["email.received"])
        assert [one.event_id for one in page.events] == [email.event_id]


def test_a_reader_goes_on_with_its_last_cursor() -> None:
    steps: list[Answer | Cut] = [
        _page("c0"),
        _page("c2", "1", "2"),
        refusal(503),
        Cut(),
        _page("c3", "3"),
    ]
    with _serving(*steps) as server, Tempinbox(base_url=server.url, api_key="x") as client:
        found = [one.event_id for one in itertools.islice(client.events(), 3)]

    assert found == ["1", "2", "3"]
    sent = [path.removeprefix("/prefix/v1/events") for _, path, _, _ in server.requests]
    assert sent[:2] == ["", "?after=c0&waitSeconds=55"]
    assert set(sent[2:]) == {"?after=c2&waitSeconds=55"}


def test_the_client_that_awaits_follows_too() -> None:
    async def first(url: str) -> str:
        async with AsyncTempinbox(base_url=url, api_key="x") as client:
            async for one in client.events(after="c0", types_=["inbox.created"]):
                return one.event_id
        return ""

    with _serving(_page("c1", "1")) as server:
        assert anyio.run(first, server.url) == "1"

    [(_, path, _, _)] = server.requests
    assert path == "/prefix/v1/events?after=c0&types=inbox.created"


def test_the_client_that_awaits_goes_on_after_a_refusal() -> None:
    async def first(url: str) -> str:
        async with AsyncTempinbox(base_url=url, api_key="x") as client:
            async for one in client.events():
                return one.event_id
        return ""

    with _serving(_page("c0"), refusal(503), _page("c1", "1")) as server:
        assert anyio.run(first, server.url) == "1"

    sent = [path.removeprefix("/prefix/v1/events") for _, path, _, _ in server.requests]
    assert sent == ["", *["?after=c0&waitSeconds=55"] * 2]


def test_what_is_lost_is_an_error_that_says_where_to_go_on() -> None:
    expired = {"X_Error_Code": "cursor_expired", "X_Resume_After": "AQE", "X_Missed_Events": "7"}
    reset = {"X_Error_Code": "cursor_reset", "X_Resume_After": "AQE"}
    with (
        _serving(refusal(410, "gone", **expired), refusal(410, "gone", **reset)) as server,
        Tempinbox(base_url=server.url, api_key="x") as client,
    ):
        with pytest.raises(CursorExpired) as lost:
            next(iter(client.events(after="AQA")))
        assert (lost.value.missed, lost.value.resume_after) == (7, "AQE")
        with pytest.raises(CursorReset) as back:
            client.list_events(after="AQA")
        assert back.value.resume_after == "AQE"
