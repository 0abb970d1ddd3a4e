"""The gateway with a certificate of its own."""

import concurrent.futures
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from harness import Account, Gateway, Suite, eventually, make_certificate


@pytest.fixture
def gateway(suite: Suite, folder: Path) -> Iterator[Gateway]:
    """A replica that serves over TLS."""
    with Gateway(
        suite,
        tls_certificate_file=str(folder / "certificate.pem"),
        tls_key_file=str(folder / "key.pem"),
    ) as running:
        yield running


def _trusting(folder: Path) -> requests.Session:
    """A client that takes this certificate and no other."""
    session = requests.Session()
    session.trust_env = False  # a bundle named in the environment would win over `verify`
    session.verify = str(folder / "certificate.pem")
    return session


def _name_shown(gateway: Gateway) -> str:
    host, port = gateway.address.split(":")
    pem = ssl.get_server_certificate((host, int(port)))
    subject = subprocess.run(
        ["openssl", "x509", "-noout", "-subject"],
        input=pem,
        capture_output=True,
        text=True,
        check=True,
    )
    return subject.stdout.strip().rpartition("=")[2].strip()


def test_the_api_is_served_over_tls(gateway: Gateway, account: Account, folder: Path) -> None:
    session = _trusting(folder)
    session.headers["X-API-Key"] = account.key

    made = session.post(f"https://{gateway.address}/v1/inboxes", timeout=10)
    read = session.get(f"https://{gateway.address}/v1/inboxes/{made.json()['inboxId']}", timeout=10)

    assert (made.status_code, read.status_code) == (201, 200)
    assert read.json() == made.json()
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(f"https://{gateway.address}/v1/domains", timeout=10)  # nobody vouches for it


def test_http_1_1_is_agreed_on(gateway: Gateway) -> None:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    host, port = gateway.address.split(":")

    with (
        socket.create_connection((host, int(port)), timeout=10) as plain,
        context.wrap_socket(plain) as secure,
    ):
        assert secure.selected_alpn_protocol() == "http/1.1"
        assert secure.version() == "TLSv1.3"


def test_a_renewed_certificate_is_taken_without_a_restart(
    gateway: Gateway, folder: Path, account: Account
) -> None:
    old = _trusting(folder)
    assert old.get(
        f"https://{gateway.address}/v1/domains", headers={"X-API-Key": account.key}, timeout=10
    ).ok
    assert _name_shown(gateway) == "first.test"

    make_certificate(folder, "second.test")

    eventually(lambda: _name_shown(gateway) == "second.test", "the new certificate is shown")
    assert old.get(
        f"https://{gateway.address}/v1/domains", headers={"X-API-Key": account.key}, timeout=10
    ).ok, "the old connection goes on"


def test_a_drain_answers_those_who_wait_over_tls(
    gateway: Gateway, account: Account, folder: Path
) -> None:
    inbox = account.api.new_inbox()
    url = f"https://{gateway.address}/v1/inboxes/{inbox['inboxId']}/emails/wait"

    def wait() -> requests.Response:
        return requests.get(
            url,
            headers={"X-API-Key": account.key},
            verify=str(folder / "certificate.pem"),
            timeout=40,
        )

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(wait) for _ in range(4)]
        eventually(
            lambda: (
                "tempinbox_gateway_waiting_requests 4"
                in requests.get(f"http://{gateway.admin}/metrics", timeout=5).text
            ),
            "all wait",
        )

        gateway.terminate()

        answers = [answer.result(timeout=10) for answer in waiting]
    assert [(answer.status_code, answer.json()["outcome"]) for answer in answers] == [
        (200, "draining")
    ] * 4
    assert gateway.wait() == 0
