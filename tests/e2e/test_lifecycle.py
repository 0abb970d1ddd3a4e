"""Services end and come back; inboxes end for good."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from harness import Api, Suite, Topic, eventually, send

SERVICES = ["rate-limit", "inbox", "webhook-dispatcher", "mail-ingest", "gateway"]
_SHORTEST_LIFE_SECONDS = 60


@pytest.fixture(scope="session", autouse=True)
def short_lived(suite: Suite, api: Api) -> Iterator[tuple[dict[str, Any], Topic]]:
    """An inbox with the shortest life, made before all tests so that it ends while they run."""
    with Topic(suite, "inbox.expired") as topic:
        yield api.new_inbox(ttlSeconds=_SHORTEST_LIFE_SECONDS), topic


@pytest.mark.parametrize("service", SERVICES)
def test_sigterm_ends_a_service_with_0(suite: Suite, service: str) -> None:
    name = f"{service}-1"
    before = suite.status()[name]

    suite.signal(service, 1, signal.SIGTERM)

    after = eventually(
        lambda: _restarted(suite, name, before["restarts"]), f"{name} is back", seconds=40
    )
    assert after["lastExit"] == 0
    assert after["pid"] != before["pid"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_killed_service_is_started_again(suite: Suite, service: str) -> None:
    name = f"{service}-1"
    before = suite.status()[name]

    suite.signal(service, 1, signal.SIGKILL)

    after = eventually(
        lambda: _restarted(suite, name, before["restarts"]), f"{name} is back", seconds=40
    )
    assert after["lastExit"] == -signal.SIGKILL


def _restarted(suite: Suite, name: str, restarts: int) -> dict[str, Any] | None:
    row = suite.status()[name]
    return row if row["restarts"] > restarts and row["ready"] else None


def test_the_suite_works_after_all_of_that(suite: Suite, api: Api) -> None:
    inbox = eventually(
        lambda: api.call("POST", "/v1/inboxes").json().get("inboxId") and api.new_inbox(),
        "an inbox is made",
    )
    sent = send(suite, inbox["emailAddress"])

    assert sent.is_accepted, sent.transcript
    assert api.get("/v1/emails/" + sent.email_id)["subject"] == "Hello"


@pytest.mark.last
def test_an_inbox_expires_by_itself(
    suite: Suite, api: Api, short_lived: tuple[dict[str, Any], Topic]
) -> None:
    inbox, topic = short_lived

    event = topic.wait_for(
        lambda it: it.key == inbox["inboxId"],  # its text takes a program for each event
        "inbox.expired",
        seconds=_SHORTEST_LIFE_SECONDS + 10,
    )

    assert event["reason"] == "EXPIRY_REASON_TTL"
    shown = api.get("/v1/inboxes/" + inbox["inboxId"])
    assert (shown["status"], shown["emailCount"]) == ("expired", 0)
    assert inbox["inboxId"] not in {row["inboxId"] for row in api.get("/v1/inboxes")["inboxes"]}
    mail = api.call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails")
    assert (mail.status_code, mail.headers["X-Error-Code"]) == (404, "inbox_ended")
    sent = send(suite, inbox["emailAddress"])
    assert not sent.is_accepted
    assert "550 5.1.1" in sent.transcript
