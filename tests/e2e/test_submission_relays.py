"""Mail servers between an application and a capture, set up as docs/capture.md says."""

import os
import re
import smtplib
from pathlib import Path

import pytest
from dev import mail_servers, paths
from dev.mail_servers import MailServer
from harness import SENDER, Capture, eventually

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="Postfix and Exim are started by root alone"
)
_PAGE = (paths.ROOT / "docs" / "capture.md").read_text(encoding="utf-8")
_FOREIGN = [f"user{number}@shop{number}.example" for number in range(5)]


def _lines_of_page(title: str, capture: Capture) -> str:
    """The first block below a heading, with this capture's login."""
    block = re.search(rf"\n#+ {title}\n.*?\n```\w*\n(.*?)```\n", _PAGE, re.DOTALL)
    assert block, title
    lines = block[1]
    for shown, real in {
        "smtp.example.com": capture.host,
        "cap_k3v9x2m4t7q1": capture.user,
        "tic_…": capture.password,
    }.items():
        assert shown in lines, shown
        lines = lines.replace(shown, real)
    return lines


def _check_relayed(capture: Capture, relay: MailServer) -> None:
    host, _, port = relay.address.rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=30) as client:
        client.ehlo("staging.example")
        message = f"From: {SENDER}\r\nSubject: relayed\r\n\r\nhi\r\n"
        assert client.sendmail(SENDER, _FOREIGN, message) == {}

    try:
        (email,) = eventually(capture.emails, "the mail arrives")
    except TimeoutError as failure:
        raise AssertionError(relay.log()) from failure
    assert email["recipients"] == _FOREIGN
    assert email["envelope"]["mailFrom"] == SENDER
    capture.check_trace(email)


@pytest.mark.parametrize("port", ["STARTTLS_PORT", "TLS_PORT"])
def test_postfix_relays(capture: Capture, port: str) -> None:
    lines = _lines_of_page("Postfix", capture).splitlines()
    parameters = dict(line.split(" = ", 1) for line in lines)
    certificate = Path(capture.ca_file)
    parameters |= {
        "relayhost": f"[{capture.host}]:{capture.ports[port]}",
        "smtp_tls_CAfile": f"$config_directory/{certificate.name}",
        "smtp_dns_support_level": "disabled",  # the name is of this machine alone
    }
    if port == "TLS_PORT":
        parameters["smtp_tls_wrappermode"] = "yes"

    with mail_servers.postfix(parameters, files=(certificate,)) as relay:
        _check_relayed(capture, relay)


@pytest.mark.parametrize("port", ["STARTTLS_PORT", "TLS_PORT"])
def test_exim_relays(capture: Capture, port: str) -> None:
    certificate = Path(capture.ca_file)
    lines = _lines_of_page("Exim", capture)
    for shown, real in {
        "::587": f"::{capture.ports[port]}",
        # To this machine it sends only when it is told twice.
        "  no_more\n": "  no_more\n  self = send\n",
        "  driver = smtp\n": "  driver = smtp\n  allow_localhost\n"
        + ("  protocol = smtps\n" if port == "TLS_PORT" else ""),
        "/etc/ssl/certs/ca-certificates.crt": f"${{config_dir}}/{certificate.name}",
    }.items():
        assert lines.count(shown) == 1, shown
        lines = lines.replace(shown, real)

    with mail_servers.exim(lines, files=(certificate,)) as relay:
        _check_relayed(capture, relay)
