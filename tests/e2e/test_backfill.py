"""Events of the past, written again for a team that begins to read late."""

import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from harness import Account, Event, Suite, Topic, event_class, send


@pytest.fixture
def target(suite: Suite) -> Iterator[str]:
    """A topic of the other team's."""
    name = f"other-team.{uuid.uuid4().hex[:12]}"
    admin = AdminClient({"bootstrap.servers": suite["KAFKA"]})
    (made,) = admin.create_topics([NewTopic(name, 3, 1)]).values()
    made.result(timeout=15)
    yield name
    (gone,) = admin.delete_topics([name]).values()
    gone.result(timeout=15)


def _without_trace(event: Event) -> dict[str, bytes]:
    return {
        name: value
        for name, value in event.binary_headers.items()
        if name not in {"traceparent", "tracestate", "ce_backfill"}
    }


@pytest.mark.parametrize("kind", ["email.received", "inbox.created", "inbox.expired"])
def test_an_event_comes_again_with_its_id_time_and_bytes(
    suite: Suite, account: Account, target: str, kind: str
) -> None:
    with Topic(suite, kind) as topic:
        inbox = account.api.new_inbox()
        if kind == "email.received":
            send(suite, inbox["emailAddress"], subject="Your code is 482913, Ümlaut")
        elif kind == "inbox.expired":
            account.api.patch("/v1/inboxes/" + inbox["inboxId"], {"ttlSeconds": 7200})
            account.api.delete("/v1/inboxes/" + inbox["inboxId"])
        first = topic.wait_for(lambda it: it.key == inbox["inboxId"], "the event itself")
    backfill = ("events", "backfill", "--type", kind, "--to-topic", target, "--rate", "20000")

    with Topic(suite, target) as topic:
        done = suite.operate(*backfill)
        again = topic.wait_for(lambda it: it.key == inbox["inboxId"], "the event again")
        ids = [event.headers["ce_id"] for event in topic.seen]

    assert done["finished"]
    assert done["written"] >= 1
    assert again.value == first.value
    assert _without_trace(again) == _without_trace(first)
    assert again.headers["ce_backfill"] == "true"
    assert not {"traceparent", "tracestate"} & set(again.headers)
    assert len(ids) == len(set(ids)), "nothing is written twice"
    assert suite.operate(*backfill) == done, "what is finished is not done again"


def test_states_are_written_again_to_their_own_topic(suite: Suite, account: Account) -> None:
    state = event_class("inbox_state.proto")
    inbox = account.api.new_inbox()
    with Topic(suite, "inbox.state") as topic:
        suite.operate("events", "backfill", "--type", "inbox.state", "--rate", "20000", "--again")
        event = topic.wait_for(
            lambda it: it.key == inbox["inboxId"] and "ce_backfill" in it.headers, "the state"
        )

    assert getattr(state.FromString(event.value), "version") == 1  # noqa: B009 (made at run time)


@pytest.mark.parametrize("own", ["email.received", "inbox.created", "inbox.expired", "inbox.state"])
def test_topics_that_the_suite_reads_get_no_backfill(suite: Suite, own: str) -> None:
    with pytest.raises(AssertionError, match="--to-topic must not be"):
        suite.operate("events", "backfill", "--type", "inbox.created", "--to-topic", own)
