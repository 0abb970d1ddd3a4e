"""STARTTLS with a certificate of the test's own."""

import os
import shutil
import smtplib
import ssl
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import MailServer, Suite, eventually, make_certificate


@pytest.fixture
def server(suite: Suite, folder: Path) -> Iterator[MailServer]:
    """It offers STARTTLS with them."""
    with MailServer(
        suite,
        tls_certificate_file=str(folder / "certificate.pem"),
        tls_key_file=str(folder / "key.pem"),
    ) as running:
        yield running


def _context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _certificate_shown(server: MailServer) -> bytes:
    host, _, port = server.address.rpartition(":")
    with smtplib.SMTP(host, int(port), local_hostname="sender.example", timeout=30) as client:
        client.starttls(context=_context())
        assert isinstance(client.sock, ssl.SSLSocket)
        return client.sock.getpeercert(binary_form=True) or b""


def _certificate_of(folder: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert((folder / "certificate.pem").read_text(encoding="ascii"))


def test_a_certificate_renewed_file_by_file_is_taken(
    server: MailServer, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first, renewed = _certificate_of(folder), tmp_path_factory.mktemp("renewed")
    make_certificate(renewed, "second.test")
    an_hour_ago = time.time() - 3600
    os.utime(renewed / "key.pem", (an_hour_ago, an_hour_ago))  # times need not grow
    assert _certificate_shown(server) == first

    second = _certificate_of(renewed)
    shutil.move(renewed / "certificate.pem", folder / "certificate.pem")
    looked_by = time.monotonic() + 1.5  # the server looks once a second
    eventually(
        lambda: _certificate_shown(server) == first and time.monotonic() > looked_by,
        "a certificate without its key is not taken",
    )
    shutil.move(renewed / "key.pem", folder / "key.pem")

    eventually(lambda: _certificate_shown(server) == second, "the new certificate is shown")


def test_tls_before_1_2_is_refused(server: MailServer) -> None:
    context = _context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version, context.maximum_version = (
            ssl.TLSVersion.TLSv1,
            ssl.TLSVersion.TLSv1_1,
        )
    host, _, port = server.address.rpartition(":")

    with (
        smtplib.SMTP(host, int(port), local_hostname="sender.example", timeout=30) as client,
        pytest.raises(ssl.SSLError) as refused,
    ):
        client.starttls(context=context)

    assert refused.value.reason == "TLSV1_ALERT_PROTOCOL_VERSION", "by the server"


def test_a_connection_ends_as_tls_says(server: MailServer) -> None:
    host, _, port = server.address.rpartition(":")
    with smtplib.SMTP(host, int(port), local_hostname="sender.example", timeout=30) as client:
        client.starttls(context=_context())
        assert isinstance(client.sock, ssl.SSLSocket)
        client.sock.suppress_ragged_eofs = False  # type: ignore[attr-defined] # typeshed has none

        assert client.docmd("QUIT")[0] == 221

        assert client.sock.recv(1) == b"", "after close_notify; without it, an error"
