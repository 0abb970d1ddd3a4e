"""A private PostgreSQL, the release's own unless another is named: its own data, port and password;
under root its own OS user.
"""

import os
import shutil
import subprocess
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev import packages
from dev.children import ChildSpec
from dev.terminal import fail, warn
from dev.waiting import wait_until

PROGRAMS = Path("/usr/lib/postgresql") / packages.postgresql() / "bin"
ROLE = "tempinbox"
OS_USER = "postgres"  # PostgreSQL refuses to run as root


@dataclass(frozen=True)
class Server:
    """A cluster: where it is, how to reach it, and whose programs run it. Its clients are Debian's,
    which can talk to every version.
    """

    data: Path
    port: int
    password: str
    # Holds what tests write and nothing else: it does not sync to disk, and replicates logically,
    # which a server that is measured must not pay for.
    is_scratch: bool = False
    programs: Path = PROGRAMS

    def dsn(self, database: str = ROLE) -> str:
        """The URI libpq takes."""
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{self.port}/{database}"

    def spec(self, logs: Path) -> ChildSpec:
        """Returns how the supervisor runs it."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "max_connections": 300,
            "shared_buffers": "256MB",
            "max_wal_size": "2GB",
            "log_checkpoints": "off",
            "log_timezone": "UTC",
            "fsync": "off" if self.is_scratch else "on",
            "wal_level": "logical" if self.is_scratch else "replica",
        }
        argv = [str(self.programs / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            argv += ["-c", f"{name}={value}"]
        return ChildSpec(
            "postgres",
            argv,
            folder=str(self.data),
            log=str(logs / "postgres.log"),
            user=_user(),
            grace_seconds=20.0,
        )

    def wait_ready(self, seconds: float = 30.0) -> None:
        """Returns when it takes connections."""
        command = [str(PROGRAMS / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        try:
            wait_until(
                lambda: subprocess.run(command).returncode == 0,
                time.monotonic() + seconds,
                "PostgreSQL takes connections",
            )
        except TimeoutError:
            fail(f"PostgreSQL did not get ready in {seconds:.0f} s")

    def ensure_database(self, name: str = ROLE) -> None:
        """Creates the database unless it is there."""
        find = f"SELECT 1 FROM pg_database WHERE datname = '{name}'"  # noqa: S608 - a name of ours
        if self.query(find) != "1":
            self.query(f'CREATE DATABASE "{name}"')

    def query(self, statement: str, database: str = "postgres") -> str:
        """Runs one statement and answers its rows as text."""
        command = [
            str(PROGRAMS / "psql"),
            "-XAtq",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            self.dsn(database),
            "-c",
            statement,
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"psql: {done.stderr.strip()}")
        return done.stdout.strip()


def find_programs(folder: str | None) -> Path:
    """Returns the folder of PostgreSQL's programs that somebody named, or the release's own."""
    if not folder:
        return PROGRAMS
    programs = Path(folder).resolve()
    if not (programs / "initdb").exists():
        fail(f"{programs} has no initdb: name a folder of PostgreSQL's programs")
    return programs


def _user() -> str | None:
    return OS_USER if os.geteuid() == 0 else None


def _as_user() -> dict[str, Any]:
    return {"user": OS_USER, "group": OS_USER, "extra_groups": []} if os.geteuid() == 0 else {}


def choose_folder(suite: Path) -> Path:
    """Returns the folder of a suite's cluster: with the rest, or where its OS user reaches it."""
    preferred = suite / "postgres"
    preferred.mkdir(parents=True, exist_ok=True)
    if _can_use(preferred):
        return preferred
    preferred.rmdir()
    name = f"tempinbox-postgres-{zlib.crc32(str(suite).encode()):08x}"
    elsewhere = Path("/var/tmp") / name  # noqa: S108 - a link put there by others is refused below
    warn(f"the OS user {OS_USER} cannot enter {suite}: PostgreSQL keeps its data in {elsewhere}")
    elsewhere.mkdir(exist_ok=True)
    if elsewhere.is_symlink() or not _can_use(elsewhere):
        fail(f"the OS user {OS_USER} cannot use {elsewhere} either")
    return elsewhere


def make_folder(folder: Path) -> None:
    """A folder for PostgreSQL's OS user alone, beside the data."""
    folder.mkdir(exist_ok=True)
    if not _can_use(folder):
        fail(f"the OS user {OS_USER} cannot use {folder}")


def run_as_its_user(command: list[str], folder: Path) -> None:
    """Runs a program as the OS user whose files the data are; a failure of it is ours."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **_as_user())
    if done.returncode != 0:
        fail(f"{Path(command[0]).name} failed ({done.returncode}): {done.stderr.strip()}")


def _can_use(folder: Path) -> bool:
    if os.geteuid() != 0:
        return os.access(folder, os.W_OK | os.X_OK)
    shutil.chown(folder, OS_USER, OS_USER)
    folder.chmod(0o700)
    return (
        subprocess.run(
            ["sh", "-c", 'cd "$0"', str(folder)], cwd="/", stderr=subprocess.DEVNULL, **_as_user()
        ).returncode
        == 0
    )


def initialize(folder: Path, password: str, programs: Path = PROGRAMS) -> None:
    """Makes the cluster unless it is there."""
    if (folder / "PG_VERSION").exists():
        return
    secret = folder.with_name(folder.name + ".password")
    secret.touch(mode=0o600)
    secret.write_text(password + "\n", encoding="ascii")
    if os.geteuid() == 0:
        shutil.chown(secret, OS_USER, OS_USER)
    command = [
        str(programs / "initdb"),
        "-D",
        str(folder),
        "-U",
        ROLE,
        "--auth=scram-sha-256",
        f"--pwfile={secret}",
    ]
    command += ["--encoding=UTF8", "--locale=C.UTF-8"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **_as_user())
    finally:
        secret.unlink()
    if done.returncode != 0:
        fail("initdb: " + done.stderr.strip())
