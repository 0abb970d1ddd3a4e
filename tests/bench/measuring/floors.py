"""Measures what the machine can do at most: nginx with a file, PostgreSQL with one prepared row."""

import contextlib
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import postgres
from dev.nginx import Nginx
from dev.ports import free_port
from dev.waiting import wait_until

_START_SECONDS = 10.0
_PGBENCH = ["pgbench", str(postgres.PROGRAMS / "pgbench")]


@dataclass(frozen=True)
class FileServer:
    """A running nginx."""

    url: str
    pid: int


@contextlib.contextmanager
def nginx(answer: bytes) -> Iterator[FileServer]:
    """Runs one worker that serves the bytes from a file, with settings, port and folders of its
    own.
    """
    port = free_port()
    folder = Path(tempfile.mkdtemp(prefix="tempinbox-bench-nginx-"))
    (folder / "answer.json").write_bytes(answer)
    folder.chmod(0o755)
    http = "sendfile on; open_file_cache max=10; keepalive_requests 1000000000;"
    server = f"listen 127.0.0.1:{port}; root {folder}; default_type application/json;"
    process = Nginx(folder, port, f"{http}\nserver {{ {server} }}\n")
    try:
        wait_until(process.is_listening, time.monotonic() + _START_SECONDS, "nginx listens")
        yield FileServer(f"http://127.0.0.1:{port}/answer.json", process.pid)
    finally:
        process.end()
        shutil.rmtree(folder, ignore_errors=True)


def _run_pgbench(arguments: list[str], statement: str, seconds: float) -> str:
    """Returns what it printed."""
    program = next(filter(None, map(shutil.which, _PGBENCH)), None)
    if program is None:
        raise SystemExit("pgbench is not installed")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(statement + ";\n")
        script.flush()
        command = [
            program,
            "-n",
            "-M",
            "prepared",
            "-f",
            script.name,
            "-T",
            str(max(1, round(seconds))),
            *arguments,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60)
    if done.returncode != 0:
        raise SystemExit(f"pgbench: {done.stdout}{done.stderr}")
    return done.stdout


def pgbench(dsn: str, statement: str, connections: int, seconds: float) -> float:
    """Prepared executions a second."""
    said = _run_pgbench(["-c", str(connections), "-j", "1", dsn], statement, seconds)
    found = re.search(r"tps = ([\d.]+) \(without", said)
    if not found:
        raise SystemExit(f"pgbench: {said}")
    return float(found[1])


def pgbench_paced(dsn: str, statement: str, rate: float, seconds: float) -> list[float]:
    """The milliseconds each execution took at so many a second on one connection, sorted."""
    with tempfile.TemporaryDirectory(prefix="tempinbox-bench-pgbench-") as folder:
        _run_pgbench(
            ["-c", "1", "-R", str(rate), "-l", "--log-prefix", f"{folder}/log", dsn],
            statement,
            seconds,
        )
        lines = [
            line.split() for log in Path(folder).iterdir() for line in log.read_text().splitlines()
        ]
    # Client, transaction, microseconds since it was due, file, time (two), microseconds late.
    return sorted((int(line[2]) - int(line[6])) / 1000 for line in lines)
