"""Events that a consumer could not handle: put away with the reason, shown, and written back on an
operator's word.
"""

import uuid
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Producer
from harness import Account, Event, Receiver, Request, Suite, Topic, eventually, send

_LETTERS = "email.received.dead-letter"


def _write(suite: Suite, topic: str, key: str, value: bytes, headers: dict[str, str]) -> None:
    producer = Producer({"bootstrap.servers": suite["KAFKA"], "partitioner": "murmur2_random"})
    producer.produce(topic, key=key, value=value, headers=list(headers.items()))
    assert producer.flush(20) == 0


def _letters_of(suite: Suite, event: str) -> list[dict[str, Any]]:
    letters = suite.operate("dead-letter", "list", "--topic", "email.received", "--limit", "1000")[
        "deadLetters"
    ]
    return [letter for letter in letters if letter["eventId"] == event]


def _is_event(event_id: str, event: Event) -> bool:
    return event.headers["ce_id"] == event_id


def _is_of(event_id: str, request: Request) -> bool:
    return request.webhook_id == event_id


def _refused(suite: Suite, *arguments: str) -> str:
    """Returns what the command line says when it refuses."""
    with pytest.raises(AssertionError) as refusal:
        suite.operate(*arguments)
    return str(refusal.value)


def test_a_poison_event_is_put_away_with_its_reason_and_keeps_nobody_waiting(
    suite: Suite, account: Account
) -> None:
    event = str(uuid.uuid4())  # no version 7, and the value is no message
    headers = {
        "ce_id": event,
        "ce_type": "email.received",
        "ce_specversion": "1.0",
        "ce_time": "2026-11-21T10:00:00Z",
    }
    with Receiver() as receiver:
        account.api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        _write(suite, "email.received", "poison", b"\xff\xff\xff", headers)
        sent = send(suite, account.api.new_inbox()["emailAddress"])
        receiver.wait_for(lambda it: it.webhook_id == sent.email_id, "mail goes on")

    (letter,) = eventually(lambda: _letters_of(suite, event), "the letter", seconds=30)
    assert letter["topic"] == "email.received"
    assert letter["key"] == "poison"
    assert letter["reason"]
    assert letter["consumer"] == "webhook-dispatcher"
    assert letter["source"].startswith("email.received/")


def test_exactly_the_chosen_letters_go_back_to_their_topic(suite: Suite, account: Account) -> None:
    """Sound events that a consumer with a bug put away: once the bug is gone, the operator lets
    them come again.
    """
    with Topic(suite, "email.received") as topic:
        with Receiver() as early:  # once it has them, a webhook made later does not get them
            account.api.post("/v1/webhooks", {"url": early.url, "events": ["email.received"]})
            address = account.api.new_inbox()["emailAddress"]
            ids = [send(suite, address).email_id for _ in range(3)]
            for i in ids:
                early.wait_for(partial(_is_of, i), "handled")
        events = {
            event.headers["ce_id"]: event
            for event in (topic.wait_for(partial(_is_event, i), i) for i in ids)
        }
        for event in events.values():
            more = {
                "dead_letter_reason": "a bug",
                "dead_letter_consumer": "webhook-dispatcher",
                "dead_letter_source": "email.received/0/1",
            }
            _write(suite, _LETTERS, event.key, event.value, event.headers | more)
        letters = {
            i: eventually(partial(_letters_of, suite, i), "the letter", seconds=30)[0] for i in ids
        }

        with Receiver() as receiver:
            account.api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
            replayed = suite.operate(
                "dead-letter",
                "replay",
                "email.received",
                "--letter",
                letters[ids[0]]["letter"],
                "--event",
                ids[2],
            )

            assert {letter["eventId"] for letter in replayed["replayed"]} == {ids[0], ids[2]}
            for i in (ids[0], ids[2]):
                again = topic.wait_for(partial(_is_event, i), "back in its topic")
                assert (again.key, again.value) == (events[i].key, events[i].value)
                assert again.headers == events[i].headers, "without the reason"
                receiver.wait_for(partial(_is_of, i), "delivered")
            assert ids[1] not in {request.webhook_id for request in receiver.requests}


def test_a_replay_names_what_is_not_there_and_writes_nothing(suite: Suite) -> None:
    with Topic(suite, "email.received") as topic:
        assert "There is no dead letter at 0/99999999" in _refused(
            suite, "dead-letter", "replay", "email.received", "--letter", "0/99999999", "--all"
        )
        assert "which dead letters" in _refused(suite, "dead-letter", "replay", "email.received")
        assert "PARTITION/OFFSET" in _refused(
            suite, "dead-letter", "replay", "email.received", "--letter", "x"
        )
        assert list(topic.events(1.0)) == []


def test_the_operator_reads_the_log_and_sends_again(suite: Suite, account: Account) -> None:
    # Twice, since the next attempt is far then: the second comes after 5 s, the third after 30.
    with Receiver(answer=lambda number: 500 if number < 2 else 200) as receiver:
        webhook = account.api.post(
            "/v1/webhooks", {"url": receiver.url, "events": ["email.received"]}
        )["webhookId"]
        sent = send(suite, account.api.new_inbox()["emailAddress"])

        def pending() -> Any:
            return [
                it
                for it in suite.operate(
                    "delivery", "list", account.account_id, webhook, "--status", "pending"
                )["deliveries"]
                if len(it["attempts"]) == 2
            ]

        (delivery,) = eventually(pending, "two attempts failed", seconds=30)
        assert delivery["eventId"] == sent.email_id
        done = suite.operate(
            "delivery", "retry", account.account_id, webhook, delivery["deliveryId"]
        )

        assert done["status"] == "succeeded"
        assert done == account.api.get(f"/v1/webhooks/{webhook}/deliveries")["deliveries"][0]
        assert len(receiver.requests) == len(done["attempts"]) == 3
