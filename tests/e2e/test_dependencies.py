"""A service may be started before what it stands on, and outlives its loss."""

import contextlib
from urllib.parse import urlsplit

import pytest
from harness import (
    Gateway,
    Inbox,
    MailIngest,
    RateLimit,
    Relay,
    Replica,
    Suite,
    WebhookDispatcher,
    eventually,
)

_BOTH = {"postgresql", "kafka"}
_DEPENDENCIES: dict[type[Replica], set[str]] = {
    RateLimit: {"postgresql"},
    Inbox: _BOTH,
    WebhookDispatcher: _BOTH,
    MailIngest: _BOTH,
    Gateway: _BOTH,
}


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


@pytest.mark.parametrize("kind", _DEPENDENCIES, ids=lambda kind: kind.service)
def test_a_service_waits_for_its_dependencies_and_lives_without_them_later(
    suite: Suite, kind: type[Replica]
) -> None:
    dsn = urlsplit(kind.settings_of(suite)["TEMPINBOX_DATABASE"])
    with contextlib.ExitStack() as running:
        database = running.enter_context(
            Relay(_address(dsn.netloc.rpartition("@")[2]), is_closed=True)
        )
        broker = running.enter_context(
            Relay(_address(suite["KAFKA"].partition(",")[0]), is_closed=True)
        )
        relayed = dsn._replace(
            netloc=f"{dsn.username}:{dsn.password}@127.0.0.1:{database.port}"
        ).geturl()
        service = kind(suite, database=relayed, kafka_brokers=f"127.0.0.1:{broker.port}")
        service.start()
        running.callback(service.kill)

        def waits_for(*conditions: str) -> bool:
            status, body = service.readiness()
            return (
                status == 503
                and not body["ready"]
                and set(conditions) == set(body["waiting"]) & _DEPENDENCIES[kind]
            )

        eventually(lambda: waits_for(*_DEPENDENCIES[kind]), "it runs and is unready", seconds=30)
        if "kafka" in _DEPENDENCIES[kind]:
            database.open()
            eventually(
                lambda: waits_for("kafka"), "PostgreSQL has answered, Kafka has not", seconds=30
            )
            broker.open()
        else:
            database.open()

        def is_whole() -> bool:
            status, body = service.readiness()
            return status == 200 and body["degraded"] == []

        # Ready at the first answer; of several clients of Kafka another may still be about to
        # connect.
        eventually(is_whole, "it is ready, with all it stands on", seconds=30)

        database.cut()
        status, body = eventually(
            lambda: (
                answer
                if "postgresql" in (answer := service.readiness())[1].get("degraded", [])
                else None
            ),
            "the loss shows",
            seconds=30,
        )

        assert status == 200
        assert body["ready"] is True
        assert body["reasons"]["postgresql"]
        service.terminate()
        assert service.wait() == 0
