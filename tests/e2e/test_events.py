"""The topics as another team reads them: a plain consumer, protoc, and proto-schemas/."""

import json
import re

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from harness import Api, Event, Suite, Topic, send
from harness.suite import ROOT

_UUID7 = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


_SCHEMAS = {
    "email.received": "tempinbox.events.v1.EmailReceived",
    "inbox.created": "tempinbox.events.v1.InboxCreated",
    "inbox.expired": "tempinbox.events.v1.InboxExpired",
}


def _assert_cloud_event(event: Event, source: str, account: str) -> None:
    headers, kind = event.headers, event.topic
    assert headers["ce_specversion"] == "1.0"
    assert headers["ce_type"] == kind
    assert headers["ce_source"] == source
    assert re.fullmatch(_UUID7, headers["ce_id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", headers["ce_time"])
    assert headers["content-type"] == "application/protobuf"
    assert headers["ce_dataschema"] == f"urn:tempinbox:schema:{_SCHEMAS[kind]}"
    assert headers["ce_accountid"] == account
    assert headers["ce_subject"] == headers["ce_partitionkey"] == event.key
    assert re.fullmatch(
        r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", headers["traceparent"]
    )


def test_email_received(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()
    local, _, domain = inbox["emailAddress"].partition("@")
    recipient = f"{local}+Tag@{domain}"

    with Topic(suite, "email.received") as topic:
        sent = send(suite, recipient, subject="Ümlaut 482913 is your code")
        event = topic.wait_for(lambda it: it["inbox_id"] == inbox["inboxId"], "the mail's event")

    assert event.key == inbox["inboxId"]
    _assert_cloud_event(event, "/tempinbox/mail-ingest", suite["ACCOUNT"])
    assert event.headers["ce_sequence"] == "0000000000000000001"
    assert event.headers["ce_id"] == event["email_id"] == sent.email_id
    assert event["account_id"] == suite["ACCOUNT"]
    assert event["sequence"] == "1"
    assert event["from"] == "robot@sender.example"
    assert event["subject"] == "Ümlaut 482913 is your code"
    assert event.fields["to"] == [recipient]
    assert int(event["size_bytes"]) == api.get("/v1/emails/" + sent.email_id)["sizeBytes"]
    assert "received_at" in event.fields


def test_inbox_created_and_expired(suite: Suite, api: Api) -> None:
    with (
        Topic(suite, "inbox.created") as created_topic,
        Topic(suite, "inbox.expired") as expired_topic,
    ):
        inbox = api.new_inbox()
        created = created_topic.wait_for(
            lambda it: it["inbox_id"] == inbox["inboxId"], "inbox.created"
        )
        api.delete("/v1/inboxes/" + inbox["inboxId"])
        expired = expired_topic.wait_for(
            lambda it: it["inbox_id"] == inbox["inboxId"], "inbox.expired"
        )

    for event in (created, expired):
        assert event.key == inbox["inboxId"]
        _assert_cloud_event(event, "/tempinbox/inbox", suite["ACCOUNT"])
        assert "ce_sequence" not in event.headers
        assert event["email_address"] == inbox["emailAddress"]
    assert expired["reason"] == "EXPIRY_REASON_DELETED"
    assert created.partition == expired.partition, "one inbox's events share a partition"


def test_one_inbox_stays_on_one_partition_in_order(suite: Suite, api: Api) -> None:
    inbox = api.new_inbox()

    with Topic(suite, "email.received") as topic:
        for _ in range(5):
            send(suite, inbox["emailAddress"])
        topic.wait_for(
            lambda it: it["inbox_id"] == inbox["inboxId"] and it["sequence"] == "5",
            "the last of five",
        )

    mine = [event for event in topic.seen if event["inbox_id"] == inbox["inboxId"]]
    assert len({event.partition for event in mine}) == 1
    assert [event["sequence"] for event in mine] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    "name",
    [
        "email.received",
        "inbox.created",
        "inbox.expired",
        "inbox.activity",
        "feed.activity",
        "account.state",
        "email.received.dead-letter",
    ],
)
def test_topics_are_made_as_declared(suite: Suite, name: str) -> None:
    declared = {
        row["name"]: row
        for row in json.loads((ROOT / "deploy" / "kafka" / "topics.json").read_text())["topics"]
    }
    admin = AdminClient({"bootstrap.servers": suite["KAFKA"]})
    resource = ConfigResource(ResourceType.TOPIC, name)
    (found,) = admin.describe_configs([resource]).values()

    values = {key: entry.value for key, entry in found.result(timeout=15).items()}
    assert {key: values[key] for key in declared[name]["config"]} == declared[name]["config"]
