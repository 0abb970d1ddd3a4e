"""What the machine can do at most: nginx with a file, PostgreSQL with one prepared row."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_START_SECONDS = 10.0
_PGBENCH = ["pgbench", "/usr/lib/postgresql/15/bin/pgbench"]


@dataclass(frozen=True)
class Nginx:
    """A running one."""

    url: str
    pid: int


@contextlib.contextmanager
def nginx(answer: bytes) -> Iterator[Nginx]:
    """One worker that serves the bytes from a file; settings, port and folders of its own."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = int(held.getsockname()[1])
    folder = Path(tempfile.mkdtemp(prefix="tempinbox-bench-nginx-"))
    (folder / "answer.json").write_bytes(answer)
    folder.chmod(0o755)
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"""worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    open_file_cache max=10;
    keepalive_requests 1000000000;
    default_type application/json;
    {temporary}
    server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
""",
        encoding="utf-8",
    )
    command = ["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log"), "-g", "daemon off;"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_open(port, process)
        yield Nginx(f"http://127.0.0.1:{port}/answer.json", process.pid)
    finally:
        process.terminate()
        process.wait(timeout=10)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_open(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("nginx did not start")
        time.sleep(0.05)


def pgbench(dsn: str, statement: str, connections: int, seconds: float) -> float:
    """Prepared executions a second."""
    program = next(filter(None, map(shutil.which, _PGBENCH)), None)
    if program is None:
        raise SystemExit("pgbench is not installed")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(statement + ";\n")
        script.flush()
        command = [program, "-n", "-M", "prepared", "-f", script.name, "-c", str(connections), "-j", "1", "-T", str(max(1, round(seconds))), dsn]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ}, timeout=seconds + 60)
    found = re.search(r"tps = ([\d.]+) \(without", done.stdout)
    if done.returncode != 0 or not found:
        raise SystemExit(f"pgbench: {done.stdout}{done.stderr}")
    return float(found[1])
