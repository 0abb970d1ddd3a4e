"""Senders made by others: a mail server that tries again soon, and a library."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

from dev import mail_servers

from harness.capture import Capture
from harness.mail import SENDER
from harness.suite import ROOT

_NODEMAILER = ROOT / "tests" / "e2e" / "node" / "nodemailer.cjs"
_POSTFIX_SOON = {
    "minimal_backoff_time": "1s",
    "maximal_backoff_time": "2s",
    "queue_run_delay": "1s",
    "smtp_dns_support_level": "disabled",
    # What fails on a cached connection is tried at once on a fresh one, without a pause.
    "smtp_connection_cache_on_demand": "no",
}


@contextlib.contextmanager
def postfix_to(*servers: str) -> Iterator[mail_servers.MailServer]:
    """Postfix that hands its mail to the first of these servers (host:port) that takes it, and
    tries again within two seconds. Only root can start it.
    """
    hosts = [server.rpartition(":") for server in servers]
    relayhost = ", ".join(f"[{host}]:{port}" for host, _, port in hosts)
    with mail_servers.postfix(_POSTFIX_SOON | {"relayhost": relayhost}) as relay:
        yield relay


def run_nodemailer(
    capture: Capture, recipients: list[str], port: str = "STARTTLS_PORT", **options: Any
) -> subprocess.CompletedProcess[str]:
    """Sends one mail with the capture's login. It prints who was accepted and who was rejected; a
    mail that failed is exit code 1, and the code of the error on stderr.
    """
    transport = {
        "host": capture.host,
        "port": capture.ports[port],
        "secure": port == "TLS_PORT",
        "auth": {"user": capture.user, "pass": capture.password},
    } | options
    message = {"from": SENDER, "to": recipients, "subject": "Nodemailer", "text": "hi"}
    return subprocess.run(
        ["node", str(_NODEMAILER), json.dumps({"options": transport, "message": message})],
        env=os.environ | {"NODE_EXTRA_CA_CERTS": capture.ca_file},
        capture_output=True,
        text=True,
        timeout=60,
    )
