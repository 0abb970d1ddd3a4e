"""Mail servers of others, Postfix and Exim, each with folders and a port of its own on loopback.

They are children of this process. Both need root.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import mounts, packages
from dev.ports import free_port
from dev.waiting import wait_until

_POSTFIX_PROGRAMS = Path("/usr/lib/postfix/sbin")
EXIM_PACKAGE = "exim4-daemon-light"
_EXIM_USER = "Debian-exim"  # it runs under no other name
_START_SECONDS = 20.0
# service type private unpriv chroot wakeup maxproc command
# qmgr wakes up each second, not each 300: what it skips because a delivery still holds it
# ("skipped, still being delivered") goes back to the incoming queue, which a wake-up alone reads.
_POSTFIX_SERVICES = (
    "pickup unix n - n 60 1 pickup",
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 1 1 qmgr",
    "tlsmgr unix - - n 1000? 1 tlsmgr",
    "rewrite unix - - n - - trivial-rewrite",
    "bounce unix - - n - 0 bounce",
    "defer unix - - n - 0 bounce",
    "trace unix - - n - 0 bounce",
    "smtp unix - - n - - smtp",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "discard unix - - n - - discard",
    "anvil unix - - n - 1 anvil",
    "postlog unix-dgram n - n - 1 postlogd",
)


@dataclass(frozen=True)
class MailServer:
    """A running one, and the folder that is its own."""

    address: str  # host:port
    pid: int
    folder: Path

    @property
    def queue(self) -> Path:
        """Where mail waits."""
        return self.folder / "queue"

    def log(self) -> str:
        """Returns what it said."""
        return (self.folder / "log" / "main").read_text(encoding="utf-8", errors="replace")


def wait_greeting(address: str, process: subprocess.Popen[bytes], name: str) -> None:
    """Returns when the server at host:port greets; raises ChildProcessError once it has ended."""
    host, _, port = address.rpartition(":")

    def greets() -> bool:
        if process.poll() is not None:
            raise ChildProcessError(f"{name} did not start")
        with (
            contextlib.suppress(OSError),
            socket.create_connection((host, int(port)), timeout=2) as connection,
        ):
            if connection.recv(512).startswith(b"220"):
                connection.sendall(b"QUIT\r\n")
                return True
        return False

    wait_until(greets, time.monotonic() + _START_SECONDS, f"{name} greets")


def end(process: subprocess.Popen[bytes]) -> None:
    """Returns when it is gone."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _folder(name: str) -> Iterator[Path]:
    """A folder for a server with users of its own, who could not enter one of ours."""
    folder = Path(tempfile.mkdtemp(prefix=f"tempinbox-{name}-", dir="/var/tmp"))
    try:
        folder.chmod(0o755)
        for part in ("etc", "queue", "lib", "log"):
            (folder / part).mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _running(
    name: str, folder: Path, port: int, command: list[str], **environment: str
) -> Iterator[MailServer]:
    address = f"127.0.0.1:{port}"
    process = subprocess.Popen(command, env=os.environ | environment, stdin=subprocess.DEVNULL)
    try:
        wait_greeting(address, process, name)
        yield MailServer(address, process.pid, folder)
    finally:
        end(process)


@contextlib.contextmanager
def postfix(parameters: dict[str, str], *, files: tuple[Path, ...] = ()) -> Iterator[MailServer]:
    """Debian's Postfix with these parameters of main.cf. It syncs every message to its queue before
    250, as always.

    Of `files` it has copies that it may read: a parameter finds one in `$config_directory`.
    """
    with _folder("postfix") as folder:
        configuration = folder / "etc"
        port = free_port()
        shutil.chown(folder / "lib", "postfix", "postfix")
        main = {
            "compatibility_level": "3.6",
            "queue_directory": str(folder / "queue"),
            "data_directory": str(folder / "lib"),
            "daemon_directory": str(_POSTFIX_PROGRAMS),
            "command_directory": "/usr/sbin",
            "maillog_file": str(folder / "log" / "main"),
            "maillog_file_prefixes": str(folder),
            "myhostname": "postfix.example",
            "mynetworks": "127.0.0.0/8",
            "inet_interfaces": "127.0.0.1",
            "inet_protocols": "ipv4",
            "local_recipient_maps": "",
            "alias_maps": "",
            "smtpd_peername_lookup": "no",
        }
        text = "".join(f"{name} = {value}\n" for name, value in (main | parameters).items())
        (configuration / "main.cf").write_text(text, encoding="utf-8")
        services = (f"127.0.0.1:{port} inet n - n - - smtpd", *_POSTFIX_SERVICES)
        (configuration / "master.cf").write_text("\n".join(services) + "\n", encoding="utf-8")
        _copy(files, configuration)
        check = ["/usr/sbin/postfix", "-c", str(configuration), "check"]
        checked = subprocess.run(check, capture_output=True, text=True)
        if checked.returncode != 0:
            raise ChildProcessError(f"postfix check: {checked.stdout}{checked.stderr}")
        master = [str(_POSTFIX_PROGRAMS / "master"), "-c", str(configuration), "-d"]
        with _running("Postfix", folder, port, master, MAIL_CONFIG=str(configuration)) as server:
            yield server


@contextlib.contextmanager
def exim(configuration: str, *, files: tuple[Path, ...] = ()) -> Iterator[MailServer]:
    """Debian's Exim, unpacked, for installed it would drive out Postfix. The configuration is what
    follows the main section: routers, transports, authenticators. It takes mail for everybody.

    Of `files` it has copies that it may read, in its working folder.
    """
    with _folder("exim") as folder:
        port = free_port()
        # Where its user can run it, too.
        program = folder / "exim4"
        shutil.copy(packages.unpacked(EXIM_PACKAGE) / "usr" / "sbin" / "exim4", program)
        nobody = pwd.getpwnam("nobody")
        for part in ("queue", "log"):
            os.chown(folder / part, nobody.pw_uid, nobody.pw_gid)
        written = folder / "etc" / "exim.conf"
        written.write_text(
            f"exim_path = {program}\n"
            f"spool_directory = {folder}/queue\n"
            f"log_file_path = {folder}/log/%s\n"
            f"pid_file_path = {folder}/exim.pid\n"
            "primary_hostname = exim.example\n"
            "domainlist local_domains =\n"
            "local_interfaces = 127.0.0.1\n"
            f"daemon_smtp_ports = {port}\n"
            "tls_advertise_hosts =\n"
            "keep_environment =\n"
            "acl_smtp_rcpt = everybody\n"
            "begin acl\n"
            "everybody:\n"
            "  accept\n" + configuration,
            encoding="utf-8",
        )
        _copy(files, folder / "etc")
        known = {
            Path("/etc/passwd"): f"{nobody.pw_uid}:{nobody.pw_gid}::/nonexistent:/bin/false",
            Path("/etc/group"): f"{nobody.pw_gid}:",
        }
        shown = {path: folder / "etc" / path.name for path in known}
        for path, numbers in known.items():
            entries = path.read_text(encoding="utf-8")
            shown[path].write_text(f"{entries}{_EXIM_USER}:x:{numbers}\n", encoding="utf-8")
        daemon = [str(program), "-C", str(written), "-bdf", "-q2s"]
        command = mounts.seeing(shown, daemon)
        with _running("Exim", folder, port, command) as server:
            yield server


def _copy(files: tuple[Path, ...], into: Path) -> None:
    for file in files:
        shutil.copyfile(file, into / file.name)
        (into / file.name).chmod(0o644)
