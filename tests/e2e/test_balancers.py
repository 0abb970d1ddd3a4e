"""Mail through HAProxy: a PROXY header says who the client is."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev.ports import free_port
from harness import Api, Capture, HAProxy, MailIngest, SmtpSession, Suite, eventually, send

_SEND = pytest.mark.parametrize("sends", ["send-proxy", "send-proxy-v2"])
_HEADERS = "tempinbox_mail_ingest_proxy_headers_total"
_REFUSED = "tempinbox_mail_ingest_proxy_headers_refused_total"
_WAITING = "tempinbox_mail_ingest_proxy_waiting_connections"
_TURNED_AWAY = "tempinbox_mail_ingest_connections_refused_total"
_LOOPBACK = "127.0.0.0/8"
_TOO_MANY = "421 4.7.0 Too many connections from your address"


class _Server:
    """A mail server with a listener for balancers, `proxied`."""

    def __init__(self, suite: Suite, folder: Path, networks: str) -> None:
        self.proxied = f"127.0.0.1:{free_port()}"
        self.replica = MailIngest(
            suite,
            proxy_listen=self.proxied,
            proxy_networks=networks,
            connections_per_address="2",
            exempt_networks=_LOOPBACK,
            spool_directory=str(folder / "spool"),
        )

    def metric(self, name: str) -> float:
        """Its sum over its labels."""
        return self.replica.metric(name)


@pytest.fixture
def server(suite: Suite, tmp_path: Path) -> Iterator[_Server]:
    """All of loopback is its balancers, and exempt from limits."""
    server = _Server(suite, tmp_path, _LOOPBACK)
    with server.replica:
        yield server


def _connect(address: str, source: str = "127.0.0.1") -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=30, source_address=(source, 0))


def _first_line(connection: socket.socket) -> str:
    """Empty when the server closes without a word."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while not received.endswith(b"\r\n") and (octets := connection.recv(1024)):
            received += octets
    return received.decode().removesuffix("\r\n")


@_SEND
@pytest.mark.parametrize("tls", [(), ("--tls",)], ids=["in the clear", "over STARTTLS"])
def test_mail_comes_from_the_announced_client(
    suite: Suite, api: Api, server: _Server, tmp_path: Path, sends: str, tls: tuple[str, ...]
) -> None:
    inbox = api.new_inbox()
    with HAProxy(tmp_path, server.proxied, sends) as balancer:
        sent = send(
            suite,
            inbox["emailAddress"],
            server=balancer.address,
            more=("--local-interface", "127.0.0.2", *tls),
        )

    assert sent.is_accepted, sent.transcript
    envelope = api.get("/v1/emails/" + sent.email_id)["envelope"]
    assert envelope["remoteAddress"] == "127.0.0.2"
    assert bool(envelope["tls"]) == bool(tls)


@pytest.mark.parametrize("listener", ["submission_proxy_listen", "submissions_proxy_listen"])
def test_mail_by_login_comes_from_the_announced_client(
    capture: Capture, tmp_path: Path, listener: str
) -> None:
    proxied = f"127.0.0.1:{free_port()}"
    settings = {listener: proxied, "spool_directory": str(tmp_path / "spool")}
    replica = MailIngest(capture.suite, proxy_networks=_LOOPBACK, **settings)
    is_tls_at_once = listener == "submissions_proxy_listen"
    tls = capture.trusting()

    with (
        replica,
        HAProxy(tmp_path, proxied) as balancer,
        SmtpSession(balancer.address, "127.0.0.2", tls=tls if is_tls_at_once else None) as session,
    ):
        if not is_tls_at_once:
            session.start_tls(tls)
        assert session.say(capture.auth()).startswith("235 ")
        assert session.address("alice@shop.example") == ["250 2.1.5 Recipient ok"]
        assert session.data(b"Subject: hi\r\n\r\nhi\r\n").startswith("250 ")

    (email,) = capture.emails()
    assert email["envelope"]["remoteAddress"] == "127.0.0.2"
    capture.check_trace(email)


@_SEND
def test_the_limit_by_address_counts_the_announced_address(
    server: _Server, tmp_path: Path, sends: str
) -> None:
    with contextlib.ExitStack() as stack:
        balancer = stack.enter_context(HAProxy(tmp_path, server.proxied, sends))

        def answer(source: str) -> str:
            """Returns the greeting of a further connection, which stays open."""
            return _first_line(stack.enter_context(_connect(balancer.address, source)))

        greetings = [answer("127.0.0.2")[:4] for _ in range(2)]
        refusal = answer("127.0.0.2")
        welcome = answer("127.0.0.3")[:4]

        assert greetings == ["220 ", "220 "]
        assert refusal == _TOO_MANY, "exempt-networks is not for who is announced"
        assert welcome == "220 "


def test_connections_without_a_balancer_keep_their_own_port(server: _Server) -> None:
    with SmtpSession(server.replica.address) as session:
        assert session.say("NOOP").startswith("250 ")


@_SEND
def test_health_checks_count_nothing(server: _Server, tmp_path: Path, sends: str) -> None:
    with HAProxy(tmp_path, server.proxied, sends):
        # A check ends with a reset, which may discard its header before it is read.
        eventually(lambda: server.metric(_HEADERS) >= 1, "a check of HAProxy was seen", seconds=60)
    with _connect(server.proxied):
        eventually(lambda: server.metric(_WAITING) == 1, "a silent connection waits")

    eventually(lambda: server.metric(_WAITING) == 0, "the silent connection is gone")
    eventually(lambda: server.metric("tempinbox_smtp_sessions_active") == 0, "no session is left")
    assert server.metric(_REFUSED) == 0
    assert server.metric(_TURNED_AWAY) == 0
    assert server.metric("tempinbox_smtp_transactions_total") == 0


def test_a_header_from_elsewhere_closes(suite: Suite, tmp_path: Path) -> None:
    server = _Server(suite, tmp_path, "10.0.0.0/8")
    with (
        server.replica,
        HAProxy(tmp_path, server.proxied) as balancer,
        _connect(balancer.address) as client,
    ):
        assert _first_line(client) == ""
        assert server.metric(_REFUSED + '{reason="network"}') >= 1
        assert server.metric(_HEADERS) == 0


def test_a_header_that_does_not_come_within_five_seconds_closes(server: _Server) -> None:
    with _connect(server.proxied) as connection:
        connection.sendall(b"PROXY TCP4 127.0.0.2")

        assert _first_line(connection) == ""

    assert server.metric(_REFUSED + '{reason="timeout"}') == 1
