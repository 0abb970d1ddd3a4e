"""Clients that hold connections without using them take no place from others."""

import http.client
import os
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import requests
from dev.ports import free_port
from harness import Account, FarHost, Gateway, Suite, eventually

_CONNECTION_LIMIT = 40
_AN_ADDRESS = 20


@pytest.fixture(scope="module")
def gateway(suite: Suite) -> Iterator[Gateway]:
    """Starts a gateway with few connections that counts loopback like any network."""
    with Gateway(
        suite,
        connection_limit=str(_CONNECTION_LIMIT),
        connections_per_address=str(_AN_ADDRESS),
        exempt_networks="",
    ) as running:
        yield running


def _connect(gateway: Gateway, source: str) -> socket.socket:
    host, _, port = gateway.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=5, source_address=(source, 0))


def _ask(gateway: Gateway, source: str) -> int:
    """The status of a request on a connection of its own."""
    connection = http.client.HTTPConnection(gateway.address, timeout=5, source_address=(source, 0))
    try:
        connection.request("GET", "/openapi.json")
        return connection.getresponse().status
    finally:
        connection.close()


def _all_free(gateway: Gateway) -> bool:
    return gateway.metric('http_server_connections{server="api"}') == 0


def test_connections_without_a_word_make_room(gateway: Gateway) -> None:
    with ExitStack() as open_ones:
        idle = [
            open_ones.enter_context(_connect(gateway, f"127.0.0.{11 + number // _AN_ADDRESS}"))
            for number in range(_CONNECTION_LIMIT)
        ]
        eventually(
            lambda: gateway.metric('http_server_connections{server="api"}') == _CONNECTION_LIMIT,
            "all connections are taken",
        )

        assert [_ask(gateway, "127.0.0.20") for _ in range(5)] == [200] * 5
        assert idle[0].recv(1) == b""
    eventually(lambda: _all_free(gateway), "the connections are free again")


def test_a_slow_loris_has_the_places_of_its_address_and_no_more(gateway: Gateway) -> None:
    with ExitStack() as open_ones:
        slow = [
            open_ones.enter_context(_connect(gateway, "127.0.0.30")) for _ in range(_AN_ADDRESS)
        ]
        for connection in slow:
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: h\r\n")
        eventually(
            lambda: gateway.metric('http_server_connections{server="api"}') == _AN_ADDRESS,
            "all are connected",
        )

        with _connect(gateway, "127.0.0.30") as another:
            refusal = another.recv(4096)
        assert refusal.startswith(b"HTTP/1.1 503 ")
        assert b"Too many connections from this address" in refusal

        began = time.monotonic()
        ended: set[int] = set()
        took: list[float] = []
        while len(ended) < len(slow):
            assert time.monotonic() - began < 40, (
                f"{len(ended)} of {len(slow)} slow connections have ended"
            )
            started = time.monotonic()
            assert _ask(gateway, "127.0.0.31") == 200
            took.append(time.monotonic() - started)
            for number, connection in enumerate(slow):
                if number not in ended and not _dribble(connection):
                    ended.add(number)
        assert statistics.median(took) < 1
    eventually(lambda: _all_free(gateway), "the connections are free again")


def _dribble(connection: socket.socket) -> bool:
    """Sends one more byte of a header or body that never ends; false once it was answered 408."""
    connection.settimeout(0.01)
    try:
        connection.sendall(b"x")
        answer = connection.recv(4096)
    except TimeoutError:
        return True
    except ConnectionError:
        return False
    assert answer == b"" or answer.startswith(b"HTTP/1.1 408 ")
    return False


def test_slow_lorises_in_all_places_keep_nobody_out(gateway: Gateway) -> None:
    with ExitStack() as open_ones:
        slow = [
            open_ones.enter_context(_connect(gateway, f"127.0.0.{41 + number // _AN_ADDRESS}"))
            for number in range(_CONNECTION_LIMIT)
        ]
        for connection in slow:
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: h\r\n")
        eventually(
            lambda: gateway.metric('http_server_connections{server="api"}') == _CONNECTION_LIMIT,
            "all connections are taken",
        )
        before = gateway.metric("http_server_slow_connections_closed_total")

        assert [_ask(gateway, "127.0.0.43") for _ in range(10)] == [200] * 10

        assert gateway.metric("http_server_slow_connections_closed_total") > before
    eventually(lambda: _all_free(gateway), "the connections are free again")


_STRANGERS = {
    "no key": b"POST /v1/inboxes HTTP/1.1",
    "an ill-formed key": b"POST /v1/inboxes HTTP/1.1\r\nX-API-Key: ti_live_guess",
    "no key for MCP": b"POST /mcp HTTP/1.1",
    "no session": b"POST /dashboard/api/inboxes HTTP/1.1",
}
_OTHER_SITES = {
    "MCP": b"POST /mcp HTTP/1.1\r\nOrigin: https://other.example",
    "signing in": b"POST /dashboard/api/session HTTP/1.1\r\nOrigin: https://other.example",
}


@pytest.mark.parametrize(
    ("head", "status"),
    [(head, b"401") for head in _STRANGERS.values()]
    + [(head, b"403") for head in _OTHER_SITES.values()],
    ids=[*_STRANGERS, *_OTHER_SITES],
)
def test_a_stranger_is_refused_before_the_body(
    gateway: Gateway, head: bytes, status: bytes
) -> None:
    length = b"Host: h\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n"
    with _connect(gateway, "127.0.0.50") as connection:
        connection.sendall(head + b"\r\n" + length)
        answer = connection.recv(4096)
    assert answer.startswith(b"HTTP/1.1 " + status), answer
    eventually(lambda: _all_free(gateway), "the place is free again")


def test_a_stranger_who_sends_the_body_too_sees_the_refusal(gateway: Gateway) -> None:
    for _ in range(20):
        response = requests.post(
            f"http://{gateway.address}/v1/inboxes", data=b"x" * 60_000, timeout=5
        )
        assert response.status_code == 401
        assert "X-API-Key is missing" in response.json()["message"]


def test_slow_bodies_with_a_key_end_by_their_rate_and_keep_nobody_out(
    gateway: Gateway, account: Account
) -> None:
    head = (
        f"POST /v1/inboxes HTTP/1.1\r\nHost: h\r\nX-API-Key: {account.key}\r\n"
        "Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n{"
    ).encode()
    with ExitStack() as open_ones:
        slow = [
            open_ones.enter_context(_connect(gateway, f"127.0.0.{51 + number // _AN_ADDRESS}"))
            for number in range(_CONNECTION_LIMIT)
        ]
        for connection in slow:
            connection.sendall(head)
        eventually(
            lambda: gateway.metric('http_server_connections{server="api"}') == _CONNECTION_LIMIT,
            "all connections are taken",
        )

        assert [_ask(gateway, "127.0.0.53") for _ in range(10)] == [200] * 10

        began = time.monotonic()
        last = slow[-1]
        while _dribble(last):
            assert time.monotonic() - began < 15, "a byte now and then keeps its place"
    eventually(lambda: _all_free(gateway), "the connections are free again")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces")
def test_clients_that_vanish_while_they_wait_hold_no_place(suite: Suite, account: Account) -> None:
    path = f"/v1/inboxes/{account.api.new_inbox()['inboxId']}/emails/wait?timeoutSeconds=10"
    with FarHost() as far, ExitStack() as programs:
        address = f"{far.here}:{free_port()}"
        with Gateway(
            suite,
            listen=address,
            connection_limit="4",
            waits_per_account="4",
            exempt_networks="",
        ) as gateway:
            for _ in range(4):
                client = programs.enter_context(
                    far.start(
                        ["curl", "-s", "-H", f"X-API-Key: {account.key}", f"http://{address}{path}"]
                    )
                )
                programs.callback(client.kill)
            eventually(
                lambda: gateway.metric("tempinbox_gateway_waiting_requests") == 4, "all wait"
            )
            far.vanish()

            eventually(
                lambda: gateway.metric("tempinbox_gateway_waiting_requests") == 0,
                "their waits have ended",
                seconds=30,
            )
            eventually(lambda: _status_at(address) == 200, "a place is free for others")
            gateway.terminate()
            assert gateway.wait() == 0


def _status_at(address: str) -> int:
    connection = http.client.HTTPConnection(address, timeout=5)
    try:
        connection.request("GET", "/openapi.json")
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):  # nobody answers in time
        return 0
    finally:
        connection.close()
