"""Mail servers to compare with: a private Postfix on loopback, and smtp-sink.

Both are children of this process.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev.ports import free_port
from dev.waiting import wait_until

_POSTFIX_PROGRAMS = Path("/usr/lib/postfix/sbin")
_START_SECONDS = 20.0
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


def _wait_greeting(address: str, process: subprocess.Popen[bytes], name: str) -> None:
    host, _, port = address.rpartition(":")

    def greets() -> bool:
        if process.poll() is not None:
            raise SystemExit(f"{name} did not start")
        with (
            contextlib.suppress(OSError),
            socket.create_connection((host, int(port)), timeout=2) as connection,
        ):
            if connection.recv(512).startswith(b"220"):
                connection.sendall(b"QUIT\r\n")
                return True
        return False

    wait_until(greets, time.monotonic() + _START_SECONDS, f"{name} greets")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def sink() -> Iterator[Peer]:
    """smtp-sink: takes everything, keeps nothing."""
    address = f"127.0.0.1:{free_port()}"
    as_user = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = subprocess.Popen(["smtp-sink", *as_user, address, "1024"], stdin=subprocess.DEVNULL)
    try:
        _wait_greeting(address, process, "smtp-sink")
        yield Peer(address, process.pid)
    finally:
        _end(process)


@contextlib.contextmanager
def postfix(domain: str) -> Iterator[Peer]:
    """Debian's Postfix with folders and port of its own.

    It syncs every message to its queue before 250, as always, and then discards it.
    """
    folder = Path(tempfile.mkdtemp(prefix="tempinbox-bench-postfix-", dir="/var/tmp"))
    folder.chmod(0o755)
    port = free_port()
    process = None
    try:
        _configure(folder, port, domain)
        command = ["/usr/sbin/postfix", "-c", str(folder / "etc"), "check"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"postfix check: {done.stdout}{done.stderr}")
        environment = {**os.environ, "MAIL_CONFIG": str(folder / "etc")}
        master = [str(_POSTFIX_PROGRAMS / "master"), "-c", str(folder / "etc"), "-d"]
        process = subprocess.Popen(master, env=environment, stdin=subprocess.DEVNULL)
        address = f"127.0.0.1:{port}"
        _wait_greeting(address, process, "Postfix")
        yield Peer(address, process.pid, folder / "queue")
    finally:
        if process is not None:
            _end(process)
        shutil.rmtree(folder, ignore_errors=True)


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
        _wait_greeting(smtp, process, "Mailpit")
        yield Mailpit(smtp, f"http://{http}/api/v1/messages?limit=25", process.pid)
    finally:
        _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _configure(folder: Path, port: int, domain: str) -> None:
    for name in ("etc", "queue", "lib"):
        (folder / name).mkdir()
    shutil.chown(folder / "lib", "postfix", "postfix")
    main = {
        "compatibility_level": "3.6",
        "queue_directory": folder / "queue",
        "data_directory": folder / "lib",
        "daemon_directory": _POSTFIX_PROGRAMS,
        "command_directory": "/usr/sbin",
        "myhostname": f"postfix.{domain}",
        "mydestination": domain,
        "mynetworks": "127.0.0.0/8",
        "inet_interfaces": "127.0.0.1",
        "inet_protocols": "ipv4",
        "local_transport": "discard:",
        "local_recipient_maps": "",
        "alias_maps": "",
        "smtpd_peername_lookup": "no",
        # Nothing that would hold back one busy client.
        "smtpd_client_connection_count_limit": "0",
        "smtpd_client_connection_rate_limit": "0",
        "smtpd_error_sleep_time": "0",
        "in_flow_delay": "0",
        "message_size_limit": "0",
        "mailbox_size_limit": "0",
        "default_process_limit": "150",
    }
    (folder / "etc" / "main.cf").write_text(
        "".join(f"{name} = {value}\n" for name, value in main.items())
    )
    # service type private unpriv chroot wakeup maxproc command
    (folder / "etc" / "master.cf").write_text(
        f"127.0.0.1:{port} inet n - n - - smtpd\n"
        "pickup unix n - n 60 1 pickup\n"
        "cleanup unix n - n - 0 cleanup\n"
        "qmgr unix n - n 300 1 qmgr\n"
        "rewrite unix - - n - - trivial-rewrite\n"
        "bounce unix - - n - 0 bounce\n"
        "defer unix - - n - 0 bounce\n"
        "trace unix - - n - 0 bounce\n"
        "error unix - - n - - error\n"
        "retry unix - - n - - error\n"
        "discard unix - - n - - discard\n"
        "anvil unix - - n - 1 anvil\n"
    )
