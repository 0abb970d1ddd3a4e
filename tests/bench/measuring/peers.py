"""Mail servers to compare with: a private Postfix on loopback, and smtp-sink.

Both are children of this process.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import mail_servers
from dev.mail_servers import end, wait_greeting
from dev.ports import free_port

_QUEUES = ("maildrop", "incoming", "active", "deferred", "defer", "bounce")


@dataclass(frozen=True)
class Peer:
    """A running mail server."""

    address: str
    pid: int
    queue: Path | None = None

    def is_idle(self) -> bool:
        """Returns whether nothing waits in its queue."""
        if self.queue is None:
            return True
        return not any(files for name in _QUEUES for _, _, files in os.walk(self.queue / name))


@contextlib.contextmanager
def sink() -> Iterator[Peer]:
    """smtp-sink: takes everything, keeps nothing."""
    address = f"127.0.0.1:{free_port()}"
    as_user = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = subprocess.Popen(["smtp-sink", *as_user, address, "1024"], stdin=subprocess.DEVNULL)
    try:
        wait_greeting(address, process, "smtp-sink")
        yield Peer(address, process.pid)
    finally:
        end(process)


@contextlib.contextmanager
def postfix(domain: str) -> Iterator[Peer]:
    """Debian's Postfix, which discards each message that it has in its queue."""
    parameters = {
        "myhostname": f"postfix.{domain}",
        "mydestination": domain,
        "local_transport": "discard:",
        "maillog_file": "",  # a line for each mail is no part of what is compared
        # Nothing that would hold back one busy client.
        "smtpd_client_connection_count_limit": "0",
        "smtpd_client_connection_rate_limit": "0",
        "smtpd_error_sleep_time": "0",
        "in_flow_delay": "0",
        "message_size_limit": "0",
        "mailbox_size_limit": "0",
        "default_process_limit": "150",
    }
    with mail_servers.postfix(parameters) as server:
        yield Peer(server.address, server.pid, server.queue)


@dataclass(frozen=True)
class Mailpit:
    """A running one."""

    smtp: str  # host:port
    url: str  # of its 25 newest emails
    pid: int


@contextlib.contextmanager
def mailpit(program: str) -> Iterator[Mailpit]:
    """Mailpit with a database file and ports of its own; as it comes, but for its look for new
    versions.
    """
    folder = Path(tempfile.mkdtemp(prefix="tempinbox-bench-mailpit-", dir="/var/tmp"))
    smtp, http = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    command = [
        program,
        "--smtp",
        smtp,
        "--listen",
        http,
        "--database",
        str(folder / "mail.db"),
        "--quiet",
        "--disable-version-check",
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_greeting(smtp, process, "Mailpit")
        yield Mailpit(smtp, f"http://{http}/api/v1/messages?limit=25", process.pid)
    finally:
        end(process)
        shutil.rmtree(folder, ignore_errors=True)
