"""Events that Kafka does not have, published again from the database."""

import subprocess
from datetime import UTC, datetime, timedelta

import pytest
import requests
from harness import Account, MailIngest, Suite, Topic, eventually, send


def _execute(suite: Suite, statement: str) -> list[str]:
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", suite["DATABASE"], "-c", statement]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)
    return done.stdout.split()


def _lose_events(suite: Suite, inbox: str) -> tuple[str, str]:
    """Gives an inbox of half an hour ago other events, which nobody sent; returns their ids."""
    made, ended = _execute(
        suite,
        "UPDATE mailbox.inboxes SET created_event_id = mailbox.new_event_id(),"
        " expired_event_id = mailbox.new_event_id(),"
        " created_at = created_at - interval '30 minutes',"
        " expired_at = expired_at - interval '30 minutes'"
        f" WHERE inbox_id = '{inbox}' RETURNING created_event_id || ' ' || expired_event_id",
    )
    return made, ended


def _follows_creations(server: MailIngest) -> bool:
    """Returns whether it takes each inbox.created from now on."""
    text = requests.get(f"http://{server.admin}/metrics", timeout=5).text
    return any(
        line.startswith("tempinbox_broadcast_lag_records") and '"inbox.created"' in line
        for line in text.splitlines()
    )


def test_an_ended_inbox_whose_events_are_repaired_takes_no_mail(
    suite: Suite, account: Account
) -> None:
    inbox = account.api.new_inbox()
    key, address = inbox["inboxId"], inbox["emailAddress"]
    account.api.delete("/v1/inboxes/" + key)
    made, ended = _lose_events(suite, key)
    since = datetime.now(UTC) - timedelta(minutes=40)
    verify = ("events", "verify", "--since", f"{since:%Y-%m-%dT%H:%M:%SZ}", "--type")
    with pytest.raises(AssertionError, match=made):
        suite.operate(*verify, "inbox.created")

    # It has not seen the inbox live, nor its end.
    with (
        MailIngest(suite) as server,
        Topic(suite, "inbox.created") as creations,
        Topic(suite, "inbox.expired") as ends,
    ):
        eventually(lambda: _follows_creations(server), "it reads inbox.created")
        done = suite.operate(*verify, "inbox.created", "--repair")
        created = creations.wait_for(lambda it: it.headers["ce_id"] == made, "its creation")
        end = ends.wait_for(lambda it: it.headers["ce_id"] == ended, "its end")
        answer = send(suite, address, server=server.address)

    assert made in done["missingIds"]
    assert done["repaired"] == done["missing"]
    assert created.key == end.key == key
    assert created.partition == end.partition
    assert "ce_backfill" not in created.headers
    assert "550 5.1.1" in answer.transcript
    assert suite.operate(*verify, "inbox.created")["missing"] == 0
    assert suite.operate(*verify, "inbox.expired")["missing"] == 0


def test_a_repaired_event_comes_late_into_the_feed_and_once(suite: Suite, account: Account) -> None:
    api = account.api
    after = api.get("/v1/events")["nextCursor"]
    inbox = api.new_inbox()["inboxId"]
    api.delete("/v1/inboxes/" + inbox)

    def ids() -> list[str]:
        return [one["eventId"] for one in api.get("/v1/events", after=after)["events"]]

    first = eventually(lambda: ids() if len(ids()) == 2 else None, "what was not lost is there")
    lost = _lose_events(suite, inbox)
    since = datetime.now(UTC) - timedelta(minutes=40)
    verify = ("events", "verify", "--since", f"{since:%Y-%m-%dT%H:%M:%SZ}", "--type")

    suite.operate(*verify, "inbox.created", "--repair")

    eventually(lambda: set(lost) <= set(ids()), "the lost events are there")
    assert suite.operate(*verify, "inbox.created", "--repair")["missing"] == 0
    last = send(suite, api.new_inbox()["emailAddress"]).email_id
    events = eventually(lambda: ids() if last in ids() else None, "mail goes on")
    assert events[:2] == first
    assert sorted(events[2:4]) == sorted(lost)
    assert len(events) == len(set(events))
