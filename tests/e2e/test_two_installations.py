"""Two installations on one Kafka: the suite, and another one with a prefix and a database of its
own.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from dev import paths
from harness import (
    Account,
    Api,
    Cluster,
    Gateway,
    Inbox,
    MailIngest,
    RateLimit,
    Receiver,
    Suite,
    Topic,
    WebhookDispatcher,
    send,
)
from harness.suite import ROOT

_PREFIX = "second."
_PARTITIONS = "2"
# Long enough for an event that went to the wrong topic.
_SECONDS_OF_SILENCE = 1.0


@dataclass(frozen=True)
class _Installation:
    api: Api
    mail_server: str


def _operate(suite: Suite, settings: dict[str, str], *arguments: str) -> str:
    """Runs tempinboxctl against the second installation."""
    done = subprocess.run(
        [str(suite.program("tempinboxctl")), *arguments],
        env=paths.clean_environment()
        | {f"TEMPINBOX_{name.upper()}": value for name, value in settings.items()},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def second(suite: Suite, tmp_path: Path) -> Iterator[_Installation]:
    """Starts one replica of each service."""
    with contextlib.ExitStack() as running:
        database = running.enter_context(Cluster(suite)).dsn
        shared = {"database": database, "kafka_prefix": _PREFIX}
        topics = ["topics", "apply", str(ROOT / "deploy" / "kafka" / "topics.json")]
        around = shared | {
            "kafka_brokers": suite["KAFKA"],
            "rpc_token_file": Gateway.settings_of(suite)["TEMPINBOX_RPC_TOKEN_FILE"],
        }
        applied = _operate(suite, around, *topics, "--partitions", _PARTITIONS)
        assert _PREFIX + "email.received.dead-letter" in applied

        rate_limit = running.enter_context(RateLimit(suite, database=database))
        inbox = running.enter_context(Inbox(suite, **shared))
        dispatcher = running.enter_context(WebhookDispatcher(suite, **shared))
        ingest = running.enter_context(
            MailIngest(suite, spool_directory=str(tmp_path / "spool"), **shared)
        )
        gateway = running.enter_context(
            Gateway(
                suite,
                rate_limit_rpc=rate_limit.address,
                inbox_rpc=inbox.address,
                webhook_dispatcher_rpc=dispatcher.address,
                **shared,
            )
        )
        key_file, password_file = tmp_path / "key", tmp_path / "password"
        password_file.write_text("correct horse battery\n")
        bootstrap = ["bootstrap", "--domain", "second.example", "--email", "second@example.com"]
        bootstrap += ["--plan", "premium", "--password-file", str(password_file)]
        _operate(
            suite,
            around | {"inbox_rpc": inbox.address},
            *bootstrap,
            "--key-file",
            str(key_file),
        )
        api = Api(f"http://{gateway.address}", key_file.read_text().strip())
        yield _Installation(api, ingest.address)


def test_neither_of_two_installations_sees_the_events_of_the_other(
    suite: Suite, account: Account, second: _Installation
) -> None:
    with (
        Receiver() as of_first,
        Receiver() as of_second,
        Topic(suite, "email.received") as first_topic,
        Topic(suite, "email.received", prefix=_PREFIX) as second_topic,
    ):
        account.api.post("/v1/webhooks", {"url": of_first.url, "events": ["email.received"]})
        second.api.post("/v1/webhooks", {"url": of_second.url, "events": ["email.received"]})

        to_second = send(suite, second.api.new_inbox()["emailAddress"], server=second.mail_server)
        to_first = send(suite, account.api.new_inbox()["emailAddress"])

        assert to_first.is_accepted
        assert to_second.is_accepted
        of_first.wait_for(lambda it: it.webhook_id == to_first.email_id, "the first's webhook")
        of_second.wait_for(lambda it: it.webhook_id == to_second.email_id, "the second's webhook")
        first_topic.wait_for(lambda it: it.headers["ce_id"] == to_first.email_id, "the first's")
        event = second_topic.wait_for(
            lambda it: it.headers["ce_id"] == to_second.email_id, "the second's"
        )
        assert event.headers["ce_type"] == "email.received"
        for topic in (first_topic, second_topic):
            list(topic.events(_SECONDS_OF_SILENCE))  # into `seen`
        in_first = {it.headers["ce_id"] for it in first_topic.seen}
        in_second = {it.headers["ce_id"] for it in second_topic.seen}
    assert to_second.email_id not in in_first
    assert in_second == {to_second.email_id}
    assert {it.webhook_id for it in of_second.requests} == {to_second.email_id}
    assert to_second.email_id not in {it.webhook_id for it in of_first.requests}
