"""A suite whose every inner connection is TLS: mutual between its services, with a password to
Kafka, verified to PostgreSQL.
"""

import contextlib
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest
from harness import (
    Api,
    Authority,
    Cluster,
    Gateway,
    RateLimit,
    Receiver,
    Replica,
    SecureKafka,
    SecureSuite,
    Suite,
    client_context,
    eventually,
    send,
)
from harness.secure_suite import HOST, Settings, by_name, rpc_tls_settings

_REQUEST = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True)
class _Secured:
    """The suite of this test, and what its certificates come from."""

    suite: Suite
    authority: Authority
    database: Cluster
    common: Settings  # PostgreSQL and Kafka
    services: SecureSuite


@pytest.fixture(scope="module")
def secured(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Secured]:
    """Ready, with a mail domain."""
    folder = tmp_path_factory.mktemp("secured")
    authority = Authority(folder / "authority")
    with contextlib.ExitStack() as running:
        broker = running.enter_context(SecureKafka(authority.issue("kafka", f"DNS:{HOST}")))
        database = running.enter_context(
            Cluster(suite, identity=authority.issue("postgres", "IP:127.0.0.1"))
        )
        common = {"database": database.dsn, **broker.settings}

        def settings_of(service: str) -> Settings:
            if service == "mail-ingest":
                return common | {"spool_directory": str(folder / "spool")}
            return common | rpc_tls_settings(authority.issue(service, f"DNS:{HOST}"))

        services = running.enter_context(SecureSuite(suite, settings_of))
        yield _Secured(suite, authority, database, common, services)


class _SteadyReads:
    """Reads a path again and again, each time through the gateway's calls to other services.

    Use as a context manager.
    """

    def __init__(self, api: Api, path: str) -> None:
        self._api = api
        self._path = path
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self.statuses: list[int] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(timeout=80)

    def _read(self) -> None:
        while not self._is_over.wait(0.02):
            try:
                self.statuses.append(self._api.call("GET", self._path).status_code)
            except OSError:
                self.statuses.append(0)


def _certificate_shown(service: Replica, context: ssl.SSLContext) -> bytes:
    host, _, port = service.address.rpartition(":")
    with (
        socket.create_connection((host, int(port)), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=HOST) as secure,
    ):
        return secure.getpeercert(binary_form=True) or b""


def _answer(service: Replica, context: ssl.SSLContext | None) -> bytes:
    """Returns what the port of the service answers to a request; nothing when it refuses."""
    host, _, port = service.address.rpartition(":")
    with (
        contextlib.suppress(ssl.SSLError, ConnectionError),
        socket.create_connection((host, int(port)), timeout=10) as plain,
    ):
        wire = context.wrap_socket(plain, server_hostname=HOST) if context else plain
        wire.sendall(_REQUEST)
        return wire.recv(4096)
    return b""


def test_a_mail_becomes_a_webhook_over_tls_while_a_certificate_is_replaced(
    secured: _Secured,
) -> None:
    services = secured.services
    key, base = services.make_key("premium", 1_000_000), f"http://{services.gateway.address}"
    api = Api(base, key)
    shown = client_context(secured.authority.ca_file, secured.authority.issue("test", "DNS:test"))
    with Receiver() as receiver:
        api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        inbox = api.new_inbox()

        def send_and_check(subject: str) -> None:
            sent = send(
                secured.suite,
                inbox["emailAddress"],
                subject=subject,
                server=services.ingest.address,
            )
            assert sent.is_accepted, sent.transcript
            assert api.get("/v1/emails/" + sent.email_id)["subject"] == subject
            receiver.wait_for(lambda it: it.webhook_id == sent.email_id, subject, seconds=30)

        send_and_check("Before")
        before = _certificate_shown(services.inbox, shown)
        with _SteadyReads(Api(base, key), f"/v1/inboxes/{inbox['inboxId']}") as reads:
            eventually(lambda: len(reads.statuses) > 5, "reads are under way")

            secured.authority.issue("inbox", f"DNS:{HOST}")

            eventually(
                lambda: _certificate_shown(services.inbox, shown) != before,
                "new connections get the new certificate",
                seconds=10,
            )
            send_and_check("After")
            count = len(reads.statuses)
            eventually(lambda: len(reads.statuses) > count + 5, "reads go on")
        assert set(reads.statuses) == {200}

    # Quota fails open: requests alone do not show that rate-limit was reached.
    calls, failed = (
        services.gateway.metric(f"tempinbox_gateway_quota_{name}_total")
        for name in ("calls", "calls_failed")
    )
    assert calls > failed
    unencrypted = secured.database.query(
        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
        "WHERE client_port IS NOT NULL AND NOT ssl"
    )
    assert unencrypted == "0"


def test_replicas_of_rate_limit_call_each_other_over_tls(secured: _Secured) -> None:
    key = secured.services.make_key("pro", 100)
    of_both = f"DNS:{HOST}"
    with contextlib.ExitStack() as running:
        asker = running.enter_context(
            RateLimit(
                secured.suite,
                **secured.common,
                **rpc_tls_settings(secured.authority.issue("asker", of_both)),
                rpc_tls_name=HOST,
            )
        )
        # A gateway that is started now has new connections only, and calls the other replica.
        settings = secured.common | secured.services.calls | {"rate_limit_rpc": by_name(asker)}
        second = running.enter_context(
            Gateway(
                secured.suite,
                **settings,
                **rpc_tls_settings(secured.authority.issue("second", of_both)),
            )
        )

        def statuses(gateway: Gateway, requests: int) -> Counter[int]:
            api = Api(f"http://{gateway.address}", key)
            return Counter(api.call("GET", "/v1/inboxes").status_code for _ in range(requests))

        assert statuses(second, 90) == {200: 90}
        assert statuses(secured.services.gateway, 1) == {200: 1}

        answers = statuses(second, 12)
        # The holder may be late (100 ms); it is asked again after a second, and gives back by
        # itself what was idle for 10.
        started = time.monotonic()
        while answers[200] < 9 and time.monotonic() - started < 8:
            answers += statuses(second, 1)

        # The rest of the other replica's block is reclaimed before a request is refused. On
        # a machine that stalls, a late call lets its request through, and may count it as well.
        both = (second, secured.services.gateway)
        let_through, late = (
            sum(int(gateway.metric(f"tempinbox_gateway_quota_{name}_total")) for gateway in both)
            for name in ("fail_open", "calls_failed")
        )
        assert 9 - late <= answers[200] <= 9 + let_through
        assert set(answers) == {200, 429}
        assert asker.metric("tempinbox_rate_limit_reclaims_total") > 0


def test_the_operators_certificate_is_good_for_each_replica(secured: _Secured) -> None:
    done = secured.services.run_operator("doctor", "--partitions", "2", "--replication", "1")

    for service in ("inbox", "rate-limit", "webhook-dispatcher"):
        port = secured.services.calls[f"{service.replace('-', '_')}_rpc"].rpartition(":")[2]
        assert f"{service} at 127.0.0.1:{port} answers" in done.stdout, done.stdout + done.stderr


def test_a_port_for_calls_refuses_whoever_lacks_what_the_services_have(
    secured: _Secured, tmp_path: Path
) -> None:
    inbox = secured.services.inbox
    ca_file = secured.authority.ca_file
    own = secured.authority.issue("test", "DNS:test")
    stranger = Authority(tmp_path / "strangers").issue("stranger", f"DNS:{HOST}")
    old = client_context(ca_file, own)
    old.maximum_version = ssl.TLSVersion.TLSv1_2

    assert _answer(inbox, client_context(ca_file, own)).startswith(b"HTTP/1.1 401")
    assert _answer(inbox, None) == b"", "plain HTTP"
    assert _answer(inbox, client_context(ca_file)) == b"", "no certificate"
    assert _answer(inbox, client_context(ca_file, stranger)) == b"", "another authority"
    assert _answer(inbox, old) == b"", "TLS 1.2"
