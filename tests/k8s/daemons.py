"""Long-running programs of the cluster: a log and a file with the pid for each. All run inside."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from dev.waiting import wait_until

from k8s import layout


def _pid_file(name: str) -> Path:
    return layout.RUN / f"{name}.pid"


def pid(name: str) -> int | None:
    """Returns the pid of a program that runs."""
    try:
        number = int(_pid_file(name).read_text())
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, ValueError):
        return None
    return None if state == "Z" else number


def start(name: str, argv: list[str], user: str | None = None, folder: Path | None = None) -> None:
    """Starts it unless it runs."""
    if pid(name):
        return
    with open(layout.LOGS / f"{name}.log", "ab") as log:
        process = subprocess.Popen(
            argv,
            env=layout.environment(),
            cwd=folder or layout.STATE,
            user=user,
            group=user,
            extra_groups=[] if user else None,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _pid_file(name).write_text(str(process.pid))


def stop(name: str, sent: signal.Signals = signal.SIGTERM, seconds: float = 30.0) -> None:
    """Returns when it has ended."""
    number = pid(name)
    if number is None:
        return
    os.kill(number, sent)

    def has_ended() -> bool:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(number, os.WNOHANG)  # where it is a child of this process
        return pid(name) != number

    wait_until(has_ended, time.monotonic() + seconds, f"the end of {name}")


def last_lines(name: str, count: int = 15) -> str:
    """The end of its log."""
    log = layout.LOGS / f"{name}.log"
    if not log.exists():
        return ""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])


def write(path: Path, text: str) -> None:
    """Writes a file only where it differs: kube-proxy ends when its own is written again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
