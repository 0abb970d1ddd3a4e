"""The file with Kafka's properties changes while a service works."""

from pathlib import Path

from harness import Account, MailIngest, Suite, Topic, eventually, send

_SETTING = '{setting="kafka-properties-file"}'
_CLIENTS = 3  # producer, consumer and reader of whole topics


def _replace(file: Path, text: str) -> None:
    """As Kubernetes does: never half written."""
    new = file.with_suffix(".new")
    new.write_text(text)
    new.rename(file)


def test_changed_properties_are_used_without_a_restart_and_rubbish_is_not(
    suite: Suite, account: Account, tmp_path: Path
) -> None:
    properties = tmp_path / "kafka.properties"
    properties.write_text("linger.ms=0.5\n")
    address = account.api.new_inbox()["emailAddress"]
    with (
        Topic(suite, "email.received") as topic,
        MailIngest(suite, kafka_properties_file=str(properties)) as ingest,
    ):

        def publish_one_mail() -> None:
            sent = send(suite, address, server=ingest.address)
            assert sent.is_accepted
            topic.wait_for(lambda it: it.headers["ce_id"] == sent.email_id, "the mail's event")

        publish_one_mail()

        _replace(properties, "linger.ms=1\n")
        eventually(
            lambda: ingest.metric("tempinbox_file_reloads_total" + _SETTING) == _CLIENTS,
            "every client has the new properties",
        )
        publish_one_mail()

        _replace(properties, "rubbish\n")
        eventually(
            lambda: ingest.metric("tempinbox_files_current" + _SETTING) == 0,
            "the rubbish is noticed",
        )
        publish_one_mail()
        # The reader of whole topics is current again, too.
        eventually(ingest.is_ready, "mail-ingest is ready")
