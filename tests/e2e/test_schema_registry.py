"""Events that name their schema: another team's deserializer finds it in a registry, with nothing
of this repository. The registry is the test's own: none that runs here knows GUIDs in headers.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from harness import (
    Account,
    Event,
    MailIngest,
    SchemaRegistry,
    Suite,
    Topic,
    eventually,
    message_class,
    send,
)

_HEADER = "__value_schema_id"
_SUBJECT = "email.received-value"


def _publish(suite: Suite, registry: SchemaRegistry, file: Path, *options: str) -> None:
    suite.operate("schemas", "publish", "--registry", registry.url, "--to", str(file), *options)


def _deserialize(event: Event, registry: SchemaRegistry) -> Any:
    """Reads a record as a consumer does that knows the topic's name and the registry."""
    read = ProtobufDeserializer(
        message_class(registry.schemas[_SUBJECT]),
        {"use.deprecated.format": False},
        SchemaRegistryClient({"url": registry.url}),
    )
    headers: list[tuple[str, str | bytes | None]] = list(event.binary_headers.items())
    return read(event.value, SerializationContext(event.topic, MessageField.VALUE, headers))


def test_a_deserializer_reads_a_mails_event_by_the_schema_that_its_header_names(
    suite: Suite, account: Account, tmp_path: Path
) -> None:
    ids = tmp_path / "schema-ids.json"
    address = account.api.new_inbox()["emailAddress"]
    with SchemaRegistry() as registry:
        _publish(suite, registry, ids)
        with (
            Topic(suite, "email.received") as topic,
            MailIngest(suite, kafka_schema_ids_file=str(ids)) as ingest,
        ):
            sent = send(suite, address, subject="Hello", server=ingest.address)
            event = topic.wait_for(
                lambda it: it.headers["ce_id"] == sent.email_id, "the mail's event"
            )
        found = _deserialize(event, registry)

    assert (found.email_id, found.subject, found.sequence) == (sent.email_id, "Hello", 1)
    framing = b"\x01" + registry.guid(_SUBJECT).bytes + b"\x00"
    assert event.binary_headers[_HEADER] == framing
    assert event["subject"] == "Hello", "the value is as it was without a registry"


def test_ids_that_change_are_used_without_a_restart(
    suite: Suite, account: Account, tmp_path: Path
) -> None:
    ids = tmp_path / "schema-ids.json"
    ids.write_text('{"schemas":[]}')
    address = account.api.new_inbox()["emailAddress"]
    with (
        SchemaRegistry() as registry,
        Topic(suite, "email.received") as topic,
        MailIngest(suite, kafka_schema_ids_file=str(ids)) as ingest,
    ):

        def header_of_a_mail() -> bytes | None:
            sent = send(suite, address, server=ingest.address)
            event = topic.wait_for(
                lambda it: it.headers["ce_id"] == sent.email_id, "the mail's event"
            )
            return event.binary_headers.get(_HEADER)

        assert header_of_a_mail() is None
        _publish(suite, registry, ids)
        eventually(
            lambda: ingest.metric("tempinbox_file_reloads_total") == 1, "the ids are read again"
        )
        assert header_of_a_mail() is not None


def test_a_registry_gets_every_schema_once_and_only_by_its_user(
    suite: Suite, tmp_path: Path
) -> None:
    ids, password = tmp_path / "schema-ids.json", tmp_path / "password"
    with SchemaRegistry(password="right") as registry:  # noqa: S106  # only here
        password.write_text("wrong\n")
        login = ("--user", "publisher", "--password-file", str(password))
        with pytest.raises(AssertionError, match="401 Unauthorized"):
            _publish(suite, registry, ids, *login)
        assert not ids.exists()

        password.write_text("right\n")
        _publish(suite, registry, ids, *login)
        first = ids.read_text()
        _publish(suite, registry, ids, *login)

    assert ids.read_text() == first
    published = json.loads(first)["schemas"]
    assert {one["topic"] for one in published} >= {
        "email.received",
        "inbox.created",
        "inbox.expired",
    }
    assert {one["subject"] for one in published} == set(registry.schemas)
    for one in published:
        assert one["guid"] == str(registry.guid(one["subject"]))
